"""Uses by callers and other methods count for the escape of a value."""

from __future__ import annotations

import pytest

from project_builder import expression, model_of
from rlint.semantics.dataflow.escape import EscapeLevel

CALLED = """\
import torch

def build():
    return torch.zeros(3)

def main():
    values = build()
    {}

main()
"""


@pytest.mark.parametrize(
    ("used", "escape_level"),
    [
        ("values += 1", EscapeLevel.CHANGED),
        ("values[0] = 1", EscapeLevel.CHANGED),
        ("values.add_(1)", EscapeLevel.CHANGED),
        ("print(values)", EscapeLevel.KEPT),
    ],
)
def test_what_callers_do_with_a_result_is_seen(used: str, escape_level: EscapeLevel) -> None:
    """A returned value is kept, and is changed if a caller changes it in place."""
    model = model_of(CALLED.format(used))
    assert model.dataflow.use_of(expression(model, "torch.zeros(3)")).escape_level is escape_level


@pytest.mark.parametrize(
    ("used", "escape_level"),
    [("self.seen[0] = 1", EscapeLevel.CHANGED), ("print(self.seen)", EscapeLevel.KEPT)],
)
def test_what_methods_do_with_an_attribute_is_seen(used: str, escape_level: EscapeLevel) -> None:
    """A value in an attribute is changed if another method changes it."""
    model = model_of(
        "import torch\n\nclass Agent:\n    def reset(self):\n        self.seen = torch.zeros(3)\n\n"
        f"    def step(self):\n        {used}\n"
    )
    assert model.dataflow.use_of(expression(model, "torch.zeros(3)")).escape_level is escape_level


@pytest.mark.parametrize("before", ["None", "0", "False"])
def test_what_a_variable_held_before_says_nothing_about_a_value(before: str) -> None:
    """A variable that begins as a number or `None` may hold a tensor later, which `+=` writes to."""
    model = model_of(
        f"import torch\n\ndef total(rows):\n    start = {before}\n    if rows:\n"
        "        start = torch.zeros(3)\n    value = start\n    value += 1\n    return value\n"
    )
    found = model.dataflow.use_of(expression(model, "torch.zeros(3)"))
    assert found.escape_level is EscapeLevel.CHANGED
