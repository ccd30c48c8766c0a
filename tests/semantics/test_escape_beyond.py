"""Uses by callers and other methods count for the escape of a value."""

from __future__ import annotations

import pytest

from project_builder import expression, model_of
from rlint.semantics.dataflow.escape import Fate

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
    ("used", "fate"),
    [
        ("values += 1", Fate.CHANGED),
        ("values[0] = 1", Fate.CHANGED),
        ("values.add_(1)", Fate.CHANGED),
        ("print(values)", Fate.KEPT),
    ],
)
def test_what_callers_do_with_a_result_is_seen(used: str, fate: Fate) -> None:
    """A returned value is kept, and is changed if a caller changes it in place."""
    model = model_of(CALLED.format(used))
    assert model.dataflow.use_of(expression(model, "torch.zeros(3)")).fate is fate


@pytest.mark.parametrize(
    ("used", "fate"), [("self.seen[0] = 1", Fate.CHANGED), ("print(self.seen)", Fate.KEPT)]
)
def test_what_methods_do_with_an_attribute_is_seen(used: str, fate: Fate) -> None:
    """A value in an attribute is changed if another method changes it."""
    model = model_of(
        "import torch\n\nclass Agent:\n    def reset(self):\n        self.seen = torch.zeros(3)\n\n"
        f"    def step(self):\n        {used}\n"
    )
    assert model.dataflow.use_of(expression(model, "torch.zeros(3)")).fate is fate
