"""Types of values on their way through library functions, named tuples, unpacked arguments and aliases."""

from __future__ import annotations

import textwrap

import pytest

from project_builder import both
from rlint.models.value_type import Device, TypeTag

IMPORTS = """
import dataclasses
from collections import namedtuple
from typing import Dict, List, NamedTuple, Sequence, Union

import einops
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

"""


def sure_and_likely(text: str, source: str) -> tuple[TypeTag, TypeTag]:
    """Return the tags of the sure and the likely type of an expression."""
    sure, likely = both(IMPORTS + textwrap.dedent(text), source)
    return sure.tag, likely.tag


@pytest.mark.parametrize(
    "source",
    [
        "done.nonzero(as_tuple=False)",
        "done.nonzero(as_tuple=True)[0]",
        "torch.nonzero(done, as_tuple=False)",
        "done.unique(return_counts=True)[1]",
        "torch.unique(done, return_inverse=False)",
        'einops.rearrange(done, "a b -> b a")',
        "max(done, done)",
        "nn.LSTM(2, 2)(done)[1][0]",
        "nn.GRU(2, 2)(done)[0]",
        "nn.LSTMCell(2, 2)(anything)[1]",
        "nn.MultiheadAttention(2, 1)(done, done, done)[0]",
        "nn.Linear(2, 2).forward(anything)",
    ],
)
def test_a_library_call_gives_a_tensor(source: str) -> None:
    """Keywords and the module decide which of several results is a tensor."""
    text = f"def f(anything):\n    done = torch.zeros(3, 2)\n    use({source})\n"
    assert sure_and_likely(text, source)[0] is TypeTag.TENSOR


@pytest.mark.parametrize(
    "source",
    [
        "done.nonzero(as_tuple=flag)",
        "done.unique(return_counts=flag)",
        "done.nonzero(**flag)",
        "nn.GRU(2, 2)(flag)[0]",
        "max(done, flag)",
    ],
)
def test_what_a_library_call_gives_depends_on_an_unknown_value(source: str) -> None:
    """There is no sure type if the deciding argument is not known."""
    text = f"def f(flag):\n    done = torch.zeros(3, 2)\n    use({source})\n"
    assert sure_and_likely(text, source)[0] is TypeTag.UNKNOWN


@pytest.mark.parametrize(
    "source",
    [
        "torch.as_tensor([1.0, 2.0])",
        "torch.as_tensor(np.array(anything)[None, None])",
        "torch.as_tensor(np.asarray(anything)[np.newaxis])",
        "torch.normal(0.0, 1.0, size=(3,))",
        "torch.normal(mean=torch.zeros(3), std=torch.ones(3))",
    ],
)
def test_a_tensor_is_created_in_host_memory(source: str) -> None:
    """Lists, arrays and numbers are on the host, and so is a tensor made from them."""
    sure, _ = both(f"{IMPORTS}def f(anything):\n    use({source})\n", source)
    assert (sure.tag, sure.device) == (TypeTag.TENSOR, Device.HOST)


NAMED = """
class Batch(NamedTuple):
    states: torch.Tensor
    actions: torch.Tensor

Columns = namedtuple("Columns", "states actions")

def f(batch: Batch, rows):
    states, actions = batch
    parts = [part for part in batch]
    columns = Columns(*[torch.as_tensor(column) for column in zip(*rows)])
    made = Columns._make([torch.zeros(3), torch.ones(3)])
    use(actions, parts[0], columns.actions, made.states)
"""


@pytest.mark.parametrize("source", ["actions", "parts[0]", "columns.actions", "made.states"])
def test_fields_of_a_named_tuple_keep_their_types(source: str) -> None:
    """Also when it is iterated over, unpacked, or made from a list."""
    assert sure_and_likely(NAMED, source)[0] is TypeTag.TENSOR


PASSED = """
def positions(first, second, third):
    use(first, second, third)

def names(loss, step):
    use(loss, step)

def shifted(values, after):
    use(values, after)

def f(rows):
    pair = (torch.zeros(3), np.zeros(3))
    positions(*pair, 3)
    names(**{"loss": torch.zeros(1), "step": 3})
    shifted(*rows, torch.zeros(3))
"""


@pytest.mark.parametrize(
    ("source", "tag"),
    [
        ("first", TypeTag.TENSOR),
        ("second", TypeTag.NDARRAY),
        ("third", TypeTag.INT),
        ("loss", TypeTag.TENSOR),
        ("step", TypeTag.INT),
        ("values", TypeTag.UNKNOWN),
        ("after", TypeTag.UNKNOWN),
    ],
)
def test_unpacked_arguments_reach_their_parameters(source: str, tag: TypeTag) -> None:
    """`f(*pair, 3)` and `f(**options)`; after values of unknown length, no position is known."""
    sure, _ = both(IMPORTS + textwrap.dedent(PASSED), source)
    assert sure.tag is tag


ANNOTATED = """
Tensors = Dict[str, torch.Tensor]

@dataclasses.dataclass
class Sample:
    states: torch.Tensor

def f(named: Tensors, rows: Sequence[torch.Tensor], sample: Sample):
    changed = dataclasses.replace(sample, states=sample.states + 1)
    for row in rows:
        use(row, named["x"], changed.states)
"""


@pytest.mark.parametrize(
    ("source", "sure"),
    [("row", TypeTag.UNKNOWN), ('named["x"]', TypeTag.TENSOR), ("changed.states", TypeTag.TENSOR)],
)
def test_aliases_and_protocols_in_annotations(source: str, sure: TypeTag) -> None:
    """A sequence is only likely a list."""
    assert sure_and_likely(ANNOTATED, source) == (sure, TypeTag.TENSOR)


NESTED = """
Tree = Union[torch.Tensor, Dict[str, "Tree"]]
Rows = List["Rows"]

def f(tree: Tree, rows: Rows):
    use(tree, rows)
"""


@pytest.mark.parametrize(("source", "tag"), [("tree", TypeTag.UNKNOWN), ("rows", TypeTag.LIST)])
def test_aliases_that_name_themselves(source: str, tag: TypeTag) -> None:
    """An alias that contains itself ends the search for its type."""
    sure, _ = both(IMPORTS + NESTED, source)
    assert sure.tag is tag


OVERRIDDEN = """
class Trainer:
    def loss(self, batch):
        raise NotImplementedError

    def step(self, batch):
        value = self.loss(batch)
        use(value)

class Cloning(Trainer):
    def loss(self, batch):
        return F.mse_loss(batch, batch)
"""


def test_an_abstract_method_likely_returns_what_its_overrides_return() -> None:
    """The base class alone does not say what it is."""
    assert sure_and_likely(OVERRIDDEN, "value") == (TypeTag.UNKNOWN, TypeTag.TENSOR)


SUMMED = """
def f(batches):
    total = 0.0
    for batch in batches:
        total = total + F.mse_loss(batch, batch)
    total = total / len(batches)
    use(total)
"""


def test_a_sum_that_begins_as_a_float_is_likely_a_tensor() -> None:
    """There may be no iteration."""
    assert sure_and_likely(SUMMED, "total") == (TypeTag.UNKNOWN, TypeTag.TENSOR)


COLLATED = """
from torch.utils.data import DataLoader

def there(rows):
    return torch.stack([row[0] for row in rows]).cuda()

class Stacked:
    def __call__(self, rows):
        return torch.tensor([row[0] for row in rows])

def f(dataset):
    for moved in DataLoader(dataset, batch_size=4, collate_fn=there):
        use(moved[0])
    for kept in DataLoader(dataset, batch_size=4, collate_fn=Stacked()):
        use(kept[0])
"""


@pytest.mark.parametrize(("source", "device"), [("moved[0]", Device.UNKNOWN), ("kept[0]", Device.HOST)])
def test_a_collate_function_may_move_the_batches(source: str, device: Device) -> None:
    """The batches of its loader are not in host memory then."""
    sure, _ = both(IMPORTS + textwrap.dedent(COLLATED), source)
    assert (sure.tag, sure.device) == (TypeTag.TENSOR, device)


ROUGH = """
from typing import Dict

class Memory:
    def __init__(self):
        self.frames = np.zeros((100, 84, 84), dtype=np.uint8)

    def sample(self, rows: np.ndarray) -> Dict[str, np.ndarray]:
        return dict(frames=self.frames[rows], rows=rows, weights=anything(rows))

class Agent:
    def __init__(self):
        self.memory = Memory()

    def update(self):
        batch = self.memory.sample(np.random.randint(0, 100, 32))
        self.loss(batch)

    def loss(self, batch: Dict[str, np.ndarray]):
        use(batch["frames"])
"""


def test_a_rough_annotation_is_made_precise_by_what_is_passed_and_returned() -> None:
    """The annotation does not name the dtype."""
    sure, _ = both(IMPORTS + textwrap.dedent(ROUGH), 'batch["frames"]')
    assert (sure.tag, sure.dtype) == (TypeTag.NDARRAY, "uint8")


PERHAPS = """
from typing import Optional

def play(net, games, size: int) -> {annotation}:
    if not games:
        return None
    actions = torch.multinomial(net(games), 1)
    return actions, {second}

def collect(net, games):
    played = play(net, games, 2)
    if played is None:
        return
    actions, second = played
    use(actions[:])
"""


@pytest.mark.parametrize(
    ("annotation", "second", "tag"),
    [
        ("Optional[tuple]", "size", TypeTag.TENSOR),
        ("tuple | None", "size", TypeTag.TENSOR),
        ("Optional[tuple[torch.Tensor, int]]", "size", TypeTag.TENSOR),
        # one of the two is wrong
        ("Optional[list]", "size", TypeTag.UNKNOWN),
    ],
)
def test_a_rough_annotation_that_allows_none_is_made_precise(
    annotation: str, second: str, tag: TypeTag
) -> None:
    """Values other than `None` show what the tuple holds."""
    text = textwrap.dedent(PERHAPS).format(annotation=annotation, second=second)
    sure, _ = both(IMPORTS + text, "actions[:]")
    assert sure.tag is tag


LANGUAGE_MODEL = """
from transformers import AutoModelForCausalLM

class Trainer:
    def __init__(self):
        self.model = AutoModelForCausalLM.from_pretrained("gpt2").cuda()

    def step(self, tokens, mask):
        out = self.model(input_ids=tokens, attention_mask=mask)
        self.log(out.logits, out.loss)
        drawn = self.model.generate(tokens, max_new_tokens=8)
        more = self.model.generate(tokens, return_dict_in_generate=True)
        use(out.logits[:, :-1], out.loss, drawn, more, out.hidden_states)

    def log(self, logits, loss):
        use(logits)
"""


@pytest.mark.parametrize(
    ("source", "tag"),
    [
        ("out.logits[:, :-1]", TypeTag.TENSOR),
        ("out.loss", TypeTag.TENSOR),
        ("logits", TypeTag.TENSOR),
        ("drawn", TypeTag.TENSOR),
        ("more", TypeTag.UNKNOWN),
        ("out.hidden_states", TypeTag.UNKNOWN),
    ],
)
def test_what_a_pretrained_model_returns(source: str, tag: TypeTag) -> None:
    """Its output holds tensors under known names; `generate` returns tokens."""
    assert sure_and_likely(LANGUAGE_MODEL, source)[0] is tag
