"""Results of library functions, depending on their arguments."""

from __future__ import annotations

import textwrap

import pytest

from project_builder import expression, model_of
from rlint.models.value_type import TypeTag

_PROGRAM = """
import copy
import random
import typing
from collections import deque
from functools import partial
import numpy as np
import torch

def learn(counts: list[int], t: torch.Tensor, rows: np.ndarray, unknown):
    memory = deque(maxlen=9)
    memory.append((t, rows, 3))
    by_name = {"obs": t, "rows": rows}
"""


def _tag(lines: str, used: str) -> TypeTag:
    model = model_of(_PROGRAM + textwrap.indent(lines, "    ") + f"\n    print({used})\n")
    return model.types.type_of(expression(model, used, last=True)).tag


@pytest.mark.parametrize(
    ("used", "tag"),
    [
        ("max(1, 2.5)", TypeTag.FLOAT),
        ("max(counts)", TypeTag.INT),
        ("min(3, len(counts))", TypeTag.INT),
        ("max(1, unknown)", TypeTag.UNKNOWN),
        ("sum(counts)", TypeTag.INT),
        ("sum(t.exp() for _ in counts)", TypeTag.TENSOR),
        ("sum(unknown)", TypeTag.UNKNOWN),
        ("abs(t)", TypeTag.TENSOR),
        ("round(2.5)", TypeTag.INT),
        ("round(2.5, 1)", TypeTag.FLOAT),
        ("typing.cast(torch.Tensor, unknown)", TypeTag.TENSOR),
        ("random.choice(counts)", TypeTag.INT),
        ("random.sample(memory, 4)[0][0]", TypeTag.TENSOR),
        ("copy.copy(memory)", TypeTag.DEQUE),
        ("t.max(1)[0]", TypeTag.TENSOR),
        ("t.max(dim=1).values", TypeTag.TENSOR),
        ("torch.min(t, t)", TypeTag.TENSOR),
        ("torch.min(t, unknown)", TypeTag.UNKNOWN),
        ("t.any(dim=1)", TypeTag.TENSOR),
        ("t.float().item()", TypeTag.FLOAT),
        ("t.long().item()", TypeTag.INT),
        ("t.item()", TypeTag.UNKNOWN),
        ("np.maximum(rows, 0)", TypeTag.NDARRAY),
        ("np.maximum(unknown, 0)", TypeTag.UNKNOWN),
        ("np.sqrt(2.0)", TypeTag.NUMPY_SCALAR),
        ("by_name.get('obs')", TypeTag.TENSOR),
        ("by_name.get('rows', None)", TypeTag.NDARRAY),
        ("by_name.pop('rows')", TypeTag.NDARRAY),
        ("by_name[unknown]", TypeTag.UNKNOWN),
        ("memory.popleft()[1]", TypeTag.NDARRAY),
        ("partial(torch.zeros, dtype=torch.float32)(3)", TypeTag.TENSOR),
        ("partial(torch.zeros, 3)(3)", TypeTag.UNKNOWN),
    ],
)
def test_a_call_gives_what_its_arguments_decide(used: str, tag: TypeTag) -> None:
    """Numbers give numbers, tensors give tensors, containers give items; unknown arguments give unknown
    results.
    """
    assert _tag("", used) is tag


@pytest.mark.parametrize(
    ("lines", "used", "tag"),
    [
        ("states, arrays, numbers = zip(*memory)", "states[0]", TypeTag.TENSOR),
        ("states, arrays, numbers = zip(*random.sample(memory, 4))", "arrays[0]", TypeTag.NDARRAY),
        ("states, arrays, numbers = map(np.array, zip(*memory))", "numbers", TypeTag.NDARRAY),
        ("for number, row in list(zip(counts, [rows])): pass", "row", TypeTag.NDARRAY),
        ("for place, each in list(enumerate([t])): pass", "each", TypeTag.TENSOR),
        ("for name, each in {'a': t}.items(): pass", "each", TypeTag.TENSOR),
        ("halves = list(map(lambda row: np.array(row), unknown))", "halves[0]", TypeTag.NDARRAY),
        ("states, arrays, numbers = zip(*unknown)", "states", TypeTag.TUPLE),
    ],
)
def test_rows_are_taken_apart_into_columns(lines: str, used: str, tag: TypeTag) -> None:
    """`zip(*rows)` gives each column, and mapped columns keep their positions."""
    assert _tag(lines, used) is tag
