"""The data types and the numbers of dimensions of arrays and tensors."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from project_builder import build, expression, model_of
from rlint.semantics.types.dtypes import DEFAULT, fits_single

SETUP = """
import numpy as np
import torch
from torch.nn import functional as F
n, k = 4, 2
rows = np.zeros((4, 3), dtype=np.float32)
frames = np.zeros((4, 8, 8), dtype="uint8")
doubles = np.ones((4, 3))
counts = np.arange(4)
x = torch.ones(4, 3)
b = torch.zeros((4, 3), dtype=torch.uint8)
index = np.array([0, 1])
device = "cpu"
"""

KNOWN = [
    ("np.zeros(3)", "float64", 1),
    ("np.zeros(n)", "float64", 1),
    ("np.zeros((n, 3), np.float32)", "float32", 2),
    ("np.ones([n, 3], dtype='f4')", "float32", 2),
    ("np.empty(shape=(n, 3), dtype=bool)", "bool", 2),
    ("np.full((2, 3), 0.5)", "float64", 2),
    ("np.full((2, 3), 1)", "int64", 2),
    ("np.full((2, 3), 1, dtype=np.int32)", "int32", 2),
    ("np.full((2, 3), 1, np.int32, 'F')", "int32", 2),
    ("np.zeros_like(rows, np.int64)", "int64", 2),
    ("np.full_like(rows, 1, np.int64)", "int64", 2),
    ("np.cumsum(rows, 0, np.float64)", "float64", 2),
    ("np.cumsum(rows)", "float32", 1),
    ("rows.cumsum(axis=1)", "float32", 2),
    ("rows.cumsum(axis=None)", "float32", 1),
    ("rows.flatten('F')", "float32", 1),
    ("np.zeros_like(rows)", "float32", 2),
    ("np.zeros_like(rows, dtype=int)", "int64", 2),
    ("np.arange(n)", "int64", 1),
    ("np.linspace(0, 1, 5)", "float64", 1),
    ("np.eye(3)", "float64", 2),
    ("np.array([1.0, 2.0])", "float64", 1),
    ("np.array([[1, 2], [3, -4]])", "int64", 2),
    ("np.array([True, False])", "bool", 1),
    ("np.array([1, 2], dtype=np.float32)", "float32", 1),
    ("np.array([{}, {}])", "object", 1),
    ("np.array([[{} for _ in range(2)] for _ in range(3)])", "object", 2),
    ("np.empty(3, dtype=object)", "object", 1),
    ("np.empty(3, dtype='O')", "object", 1),
    ("np.full(3, None, dtype=np.object_)", "object", 1),
    ("np.array([rows, rows])", "float32", 3),
    ("np.array([rows[0], rows[1]])", "float32", 2),
    ("np.array([row for row in rows])", "float32", 2),
    ("np.array([rows[0, 0], rows[0, 1]])", "float32", 1),
    ("np.asarray(rows)", "float32", 2),
    ("np.asarray(rows, dtype=None)", "float32", 2),
    ("np.stack([rows, rows])", "float32", 3),
    ("np.concatenate([rows, rows])", "float32", 2),
    ("np.concatenate([rows, rows], axis=None)", "float32", 1),
    ("np.vstack([rows[0], rows[1]])", "float32", 2),
    ("np.hstack([rows[0], rows[1]])", "float32", 1),
    ("np.expand_dims(rows, 0)", "float32", 3),
    ("np.clip(rows, -1, 1)", "float32", 2),
    ("np.tanh(rows)", "float32", 2),
    ("rows.astype(np.float64)", "float64", 2),
    ("rows.astype('int32')", "int32", 2),
    ("rows.astype(doubles.dtype)", "float64", 2),
    ("rows.astype(np.dtype('uint8'))", "uint8", 2),
    ("rows.T", "float32", 2),
    ("rows.reshape(-1, 3, 1)", "float32", 3),
    ("rows.reshape((2, -1))", "float32", 2),
    ("rows.reshape(-1)", "float32", 1),
    ("rows.flatten()", "float32", 1),
    ("rows.copy()", "float32", 2),
    ("rows[0]", "float32", 1),
    ("rows[-1]", "float32", 1),
    ("rows[1:3]", "float32", 2),
    ("rows[:, 0]", "float32", 1),
    ("rows[None]", "float32", 3),
    ("rows[..., np.newaxis, :]", "float32", 3),
    ("rows[index]", "float32", 2),
    ("rows[[0, 1], [1, 2]]", "float32", 1),
    ("rows[rows > 0]", "float32", None),
    ("frames[index, 1:3]", "uint8", 3),
    ("rows[0, 1]", "float32", 0),
    ("rows + rows", "float32", 2),
    ("rows * 2.0", "float32", 2),
    ("frames / 255.0", "float64", 3),
    ("frames / 255", "float64", 3),
    ("counts * 2", "int64", 1),
    ("-rows", "float32", 2),
    ("rows > 0", "bool", 2),
    ("torch.zeros(n, 3)", DEFAULT, 2),
    ("torch.zeros((n, 3))", DEFAULT, 2),
    ("torch.zeros(n)", DEFAULT, 1),
    ("torch.zeros(n, dtype=torch.long)", "int64", 1),
    ("torch.full((n,), 0.5)", DEFAULT, 1),
    ("torch.randint(0, 4, (n, k))", "int64", 2),
    ("torch.randint(4, size=(n,))", "int64", 1),
    ("torch.randperm(4)", "int64", 1),
    ("torch.arange(4)", "int64", 1),
    ("torch.tensor([1.0, 2.0])", DEFAULT, 1),
    ("torch.tensor([1, 2])", "int64", 1),
    ("torch.tensor(1.5, dtype=torch.double)", "float64", 0),
    ("torch.tensor(rows)", "float32", 2),
    ("torch.tensor([rows[0], rows[1]])", "float32", 2),
    ("torch.from_numpy(frames)", "uint8", 3),
    ("torch.as_tensor(rows, dtype=torch.float64)", "float64", 2),
    ("torch.FloatTensor(doubles)", "float32", 2),
    ("torch.LongTensor(counts)", "int64", 1),
    ("torch.LongTensor([1, 2])", "int64", 1),
    ("torch.FloatTensor(n, 3)", "float32", 2),
    ("torch.Tensor(rows)", DEFAULT, 2),
    ("torch.stack([x, x])", DEFAULT, 3),
    ("torch.cat([x, x], dim=1)", DEFAULT, 2),
    ("torch.cat((b, b))", "uint8", 2),
    ("torch.relu(x)", DEFAULT, 2),
    ("F.softmax(x, dim=-1)", DEFAULT, 2),
    ("torch.where(x > 0, x, x)", DEFAULT, None),
    ("b.float()", "float32", 2),
    ("b.to(torch.float16)", "float16", 2),
    ("b.to(dtype=torch.long)", "int64", 2),
    ("b.to(device)", "uint8", 2),
    ("b.to('cpu', torch.float32)", "float32", 2),
    ("b.to(x)", DEFAULT, 2),
    ("b.type_as(x)", DEFAULT, 2),
    ("b.bool()", "bool", 2),
    ("b.cpu().numpy()", "uint8", 2),
    ("b.unsqueeze(0)", "uint8", 3),
    ("b.squeeze()", "uint8", None),
    ("b.view(-1)", "uint8", 1),
    ("b.view(n, -1, 1)", "uint8", 3),
    ("b.flatten(1)", "uint8", 2),
    ("b.permute(1, 0)", "uint8", 2),
    ("b.new_zeros(3, 4)", "uint8", 2),
    ("x.detach().clone()", DEFAULT, 2),
    ("x.mean()", DEFAULT, 0),
    ("x.sum(dim=1)", DEFAULT, 1),
    ("x.sum(1, keepdim=True)", DEFAULT, None),
    ("x[0]", DEFAULT, 1),
    ("x[:, None]", DEFAULT, 3),
    ("x[torch.tensor([0, 1])]", DEFAULT, 2),
    ("b[b > 0]", "uint8", None),
    ("x * 2", DEFAULT, 2),
    ("b / 255.0", DEFAULT, 2),
    ("b + 1", "uint8", 2),
    ("b == 1", "bool", 2),
    ("x.data", DEFAULT, 2),
]

SILENT = [
    "np.zeros(shape)[0]",
    "torch.zeros(*shape)",
    "torch.zeros(shape)",
    "np.array(shape)",
    "rows.astype(kind)",
    "b.to(kind)",
    "rows.view(kind)",
    "rows.reshape(*shape)",
    "np.array([rows, doubles[0]])",
]


@pytest.mark.parametrize(("made", "dtype", "rank"), KNOWN)
def test_what_is_known_of_elements_is_so(made: str, dtype: str, rank: int | None) -> None:
    """Dtype and rank are inferred correctly from constructors, casts, shapes, indices and operators."""
    model = model_of(f"{SETUP}made = {made}\nprint(made)\n")
    kind = model.types.type_of(expression(model, "made", last=True))
    assert (kind.dtype, kind.rank) == (dtype, rank)
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a list of arrays is slow
        exec(f"{SETUP}made = {made}\n", names)
    assert str(names["made"].dtype).removeprefix("torch.") == ("float32" if dtype == DEFAULT else dtype)
    assert rank in (None, names["made"].ndim)


@pytest.mark.parametrize("made", SILENT)
def test_what_is_not_certain_is_not_reported(made: str) -> None:
    """If the source does not determine the shape or type, rank or dtype are unknown."""
    model = model_of(f"{SETUP}shape, kind = read()\nmade = {made}\nprint(made)\n")
    kind = model.types.type_of(expression(model, "made", last=True))
    assert kind.rank is None or not kind.dtype


def test_what_differs_between_branches_is_dropped() -> None:
    """A variable that is float32 or float64, depending on a condition, is an array of unknown dtype."""
    model = model_of(f"{SETUP}if n:\n    y = rows\nelse:\n    y = doubles[0]\nprint(y)\n")
    kind = model.types.type_of(expression(model, "y", last=True))
    assert (kind.tag.name, kind.dtype, kind.rank) == ("NDARRAY", "", None)


@pytest.mark.parametrize(
    ("annotation", "dtype"),
    [
        ("torch.LongTensor", "int64"),
        ("torch.Tensor", ""),
        ("NDArray[np.float32]", "float32"),
        ("NDArray", ""),
        ("np.ndarray[Any, np.dtype[np.uint8]]", "uint8"),
        ("np.ndarray", ""),
    ],
)
def test_annotations_show_the_dtype(annotation: str, dtype: str) -> None:
    """`NDArray[np.float32]` and `torch.LongTensor` declare the dtype."""
    model = model_of(
        "from typing import Any\nimport numpy as np\nimport torch\nfrom numpy.typing import NDArray\n"
        f"def f(x: {annotation}):\n    print(x)\n"
    )
    assert model.types.type_of(expression(model, "x", last=True)).dtype == dtype


def test_attributes_keep_their_elements_across_files() -> None:
    """The dtype of an allocated buffer is known in other files that read it."""
    models = build(
        {
            "buffer.py": """
                import numpy as np
                class Replay:
                    def __init__(self, capacity: int):
                        self.frames = np.zeros((capacity, 84, 84), dtype=np.uint8)
                        self.rewards = np.zeros(capacity)
                """,
            "train.py": """
                from buffer import Replay
                memory = Replay(3)
                print(memory.frames[[1, 2]], memory.rewards)
                """,
        }
    )
    model = models["train.py"]
    frames = model.types.type_of(expression(model, "memory.frames[[1, 2]]"))
    assert (frames.dtype, frames.rank, frames.fresh) == ("uint8", 3, True)
    rewards = model.types.type_of(expression(model, "memory.rewards"))
    assert (rewards.dtype, rewards.rank) == ("float64", 1)


@pytest.mark.parametrize(
    ("made", "dtype", "rank"),
    [
        ("torch.masked_select(torch.zeros(3, 4), mask)", "float", 1),
        ("torch.bincount(torch.arange(3))", "", 1),
        ("torch.argmax(torch.zeros(3, 4), dim=1)", "int64", 1),
        ("torch.zeros(3, 4).argmin()", "int64", 0),
        ("torch.argmax(given, dim=1)", "int64", None),
    ],
)
def test_what_selects_and_counts(made: str, dtype: str, rank: int | None) -> None:
    """The results of these have one dimension, or one less than their argument."""
    model = model_of(f"import torch\nmask = load()\ngiven = load()\nprint({made})\n")
    kind = model.types.type_of(expression(model, made, last=True))
    assert (kind.dtype, kind.rank) == (dtype, rank)


@pytest.mark.parametrize(
    "number", [0.0, 255.0, 127.5, 0.1, 1 / 3, 2.0**-20, 3e38, 1e39, 16_777_217, -0.25, 1e30]
)
def test_numbers_fit_single_precision_or_not(number: float) -> None:
    """As in numpy, a number is rounded to the dtype."""
    import numpy as np

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert fits_single(number) == (float(np.float32(number)) == number)
