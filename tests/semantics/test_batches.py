"""Loaders, their batches, and devices of tensors."""

from __future__ import annotations

import ast

import pytest

from project_builder import build, expression, model_of
from rlint.models.value_type import Device, Type, TypeTag
from rlint.semantics.types import batches

_IMPORTS = """
import io, itertools
import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset
from tqdm import tqdm
from transformers import AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained('x')
"""


def type_of(program: str, used: str) -> Type:
    """The type of the last `used` in a program."""
    model = model_of(_IMPORTS + program)
    return model.types.type_of(expression(model, used, last=True))


@pytest.mark.parametrize(
    ("arguments", "pinned", "plain"),
    [
        ("data", False, True),
        ("data, 32, True, pin_memory=False", False, True),
        ("data, pin_memory=True", True, True),
        ("data, pin_memory=torch.cuda.is_available()", True, True),
        ("data, collate_fn=collate", False, False),
        ("data, pin_memory=True, collate_fn=collate", True, False),
        ("data, batch_size=None", False, False),
        ("data, None", False, False),
        ("data, **settings", False, False),
    ],
)
def test_a_loader_shows_what_its_batches_are(arguments: str, pinned: bool, plain: bool) -> None:
    """Batches are in host memory, pinned if the loader pins them, and are tensors unless there is a collate
    function.
    """
    kind = type_of(f"for batch in DataLoader({arguments}):\n    print(batch)\n", "batch")
    assert (kind.tag, kind.device) == (TypeTag.BATCH, Device.HOST)
    assert (batches.is_pinned(kind), batches.is_plain(kind)) == (pinned, plain)


@pytest.mark.parametrize(
    "program",
    [
        "for x, y in DataLoader(data):\n    print(x)",
        "for i, (x, y) in enumerate(tqdm(DataLoader(data))):\n    print(x)",
        "bar = tqdm(enumerate(DataLoader(data)))\nfor i, (x, y) in bar:\n    print(x)",
        "with tqdm(DataLoader(data)) as bar:\n    for x, y in bar:\n        print(x)",
        "batches = iter(DataLoader(data))\nx, y = next(batches)\nprint(x)",
        "x = next(iter(DataLoader(data)))['x'].float()\nprint(x)",
        "for batch in itertools.cycle(DataLoader(data)):\n    x = batch.x\n    print(x)",
        "for batch in DataLoader(data):\n    for name, x in batch.items():\n        print(x)",
        "def rows(dl):\n    yield from dl\nfor x, y in rows(DataLoader(data)):\n    print(x)",
        "def train(train_loader):\n    for x, y in train_loader:\n        print(x)",
        "for x in DataLoader(data, collate_fn=f):\n    if isinstance(x, torch.Tensor):\n        print(x)",
        "for batch in DataLoader(TensorDataset(torch.zeros(3))):\n    x = batch[0]\n    print(x)",
        "x = tokenizer(texts, return_tensors='pt')['input_ids']\nprint(x)",
        "x = tokenizer.encode(text, return_tensors='pt')\nprint(x)",
        "x = torch.load(io.BytesIO(message))['x']\nprint(x)",
        "x = torch.stack([torch.from_numpy(row) for row in rows])\nprint(x)",
        "x = torch.utils.data.default_collate(rows)[0]\nprint(x)",
    ],
)
def test_parts_of_batches_are_tensors_on_the_host(program: str) -> None:
    """The parts of a batch are known, however it is accessed."""
    kind = type_of(program, "x")
    assert (kind.tag, kind.device) == (TypeTag.TENSOR, Device.HOST)


@pytest.mark.parametrize(
    "program",
    [
        "for batch in DataLoader(data):\n    batch = batch.to(device)\n    x = batch[0]\n    print(x)",
        "for x, y in DataLoader(TensorDataset(a.to(device), b.cuda())):\n    print(x)",
        "a = a.cuda()\nfor x, y in DataLoader(TensorDataset(a, b)):\n    print(x)",
        "for x in DataLoader(data):\n    x = x.cuda()\n    print(x)",
        "train_loader = accelerator.prepare(DataLoader(data))\nfor x, y in train_loader:\n    print(x)",
        "x = torch.load(io.BytesIO(message), map_location='cuda')['x']\nprint(x)",
        "x = torch.load(path)['x']\nprint(x)",
        "x = tokenizer(texts)['input_ids']\nprint(x)",
        "x = torch.nn.Parameter(torch.zeros(3))\nprint(x)",
    ],
)
def test_what_may_be_on_the_device_is_not_called_a_tensor_on_the_host(program: str) -> None:
    """Moved, prepared or loaded tensors may be on any device."""
    assert type_of(program, "x").device is not Device.HOST


@pytest.mark.parametrize(
    ("made", "device"),
    [
        ("'cpu'", Device.HOST),
        ("'cuda:1'", Device.CUDA),
        ("'cuda' if torch.cuda.is_available() else 'cpu'", Device.UNKNOWN),
        ("torch.device('mps')", Device.OTHER),
        ("torch.zeros(3).device", Device.HOST),
        ("f'cuda:{rank}'", Device.CUDA),
    ],
)
def test_devices_are_known_by_their_names(made: str, device: Device) -> None:
    """A variable with the name of a device denotes that device."""
    model = model_of(f"{_IMPORTS}device = {made}\nprint(device)\n")
    used = expression(model, "device", last=True)
    assert model.types.device_of(used) is device
    assert model.types.is_device(used)


@pytest.mark.parametrize(
    ("used", "named"),
    [
        ("args.device", True),
        ("self.train_device", True),
        ("config['device']", True),
        ("local_rank", True),
        ("gpu_id", True),
        ("other", False),
        ("dtype", False),
        ("args.precision", False),
        ("*device", False),
    ],
)
def test_what_nothing_is_known_of_is_a_device_if_it_is_called_so(used: str, named: bool) -> None:
    """`x.to(args.device)` moves, `x.to(other)` may do anything."""
    model = model_of(
        f"def move(self, x, args, config, local_rank, gpu_id, other, dtype, device):\n    x.to({used})\n"
    )
    assert model.types.is_device(expression(model, used, last=True)) is named


def test_the_default_of_a_field_is_no_certain_device() -> None:
    """The fields of a dataclass may have other values than the defaults."""
    model = model_of(
        "class Config:\n    device: str = 'cuda'\ndef move(x, config: Config):\n    x.to(config.device)\n"
    )
    used = expression(model, "config.device")
    assert (model.types.device_of(used), model.types.is_device(used)) == (Device.UNKNOWN, True)


def test_a_helper_knows_what_its_callers_move() -> None:
    """A function that calls itself for the parts of a batch gets batches and tensors; so says its summary."""
    models = build(
        {
            "helper.py": """
                import torch
                def move(batch, device):
                    if isinstance(batch, torch.Tensor):
                        return batch.to(device)
                    return [move(part, device) for part in batch]
                """,
            "buffer.py": """
                import torch
                class Rows:
                    def __init__(self):
                        self.a = torch.zeros(3)
                        self.b = torch.zeros(3)
                    def sample(self, i) -> tuple[torch.Tensor, torch.Tensor]:
                        return self.a[i], self.b[i]
                """,
            "train.py": """
                from torch.utils.data import DataLoader
                from helper import move
                from buffer import Rows
                def train(data):
                    for batch in DataLoader(data):
                        move(batch, 'cuda')
                a, b = Rows().sample(3)
                print(b)
                """,
        }
    )
    moved = models["helper.py"].types.type_of(expression(models["helper.py"], "batch", last=False))
    assert moved.tag is TypeTag.BATCH
    call = expression(models["helper.py"], "batch.to(device)")
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Attribute)
    tensor = models["helper.py"].types.type_of(call.func.value)
    assert (tensor.tag, tensor.device) == (TypeTag.TENSOR, Device.HOST)
    sampled = models["train.py"].types.type_of(expression(models["train.py"], "b", last=True))
    assert (sampled.tag, sampled.device) == (TypeTag.TENSOR, Device.HOST)


@pytest.mark.parametrize(
    ("item", "device"),
    [
        ("tuple(map(lambda rows: rows[i].to(self.device), self.data))", Device.UNKNOWN),
        ("self.data[i].cuda()", Device.UNKNOWN),
        ("self.data[i].to(torch.float32)", Device.HOST),
        ("self.data[i].to('cpu')", Device.HOST),
    ],
)
def test_a_dataset_may_move_its_items(item: str, device: Device) -> None:
    """Batches are where the dataset of the loader puts its items."""
    program = (
        "class Stored(torch.utils.data.Dataset):\n"
        "    def __init__(self, data, device):\n        self.data, self.device = data, device\n"
        f"    def __getitem__(self, i):\n        return {item}\n"
        "def train(data, device):\n"
        "    for states, actions in DataLoader(Stored(data, device), 32):\n        print(states)\n"
    )
    assert type_of(program, "states").device is device
