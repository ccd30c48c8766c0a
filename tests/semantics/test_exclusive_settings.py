"""Settings for which a constructor raises an error."""

from __future__ import annotations

import ast

import pytest

from tests.project_builder import build, find

AGENT = """\
class Agent:
    def __init__(self, config):
        self.loss = str(config.loss)
        self.graph = bool(config.graph)
        self.slots = self.graph and config.mode == "slots"
        CHECK

    def update(self, batch):
        if self.slots:
            self.run(batch)
        if self.loss == "decoder":
            self.learn(batch)


Agent(read()).update(0)
"""


@pytest.mark.parametrize(
    ("check", "excluded"),
    [
        ('if self.graph and self.loss != "decoder": raise ValueError', True),
        ('if self.slots and not self.loss == "decoder": raise ValueError', True),
        ('assert self.loss == "decoder" or not self.graph', True),
        ('if self.graph and self.loss != "other": raise ValueError', False),
        ('if self.graph and self.loss == "decoder": raise ValueError', False),
        ('if self.graph and self.loss != "decoder" and config.strict: raise ValueError', False),
        ('if self.graph and self.loss != "decoder": self.loss = "decoder"', False),
        ("self.check()", False),
    ],
)
def test_what_a_constructor_excludes(check: str, excluded: bool) -> None:
    """By a branch that raises, or an assertion, on settings that the given ones imply."""
    model = build({"agent.py": AGENT.replace("CHECK", check)})["agent.py"]
    tests = [each.test for each in model.syntax.of_type(ast.If) if model.function(each).name == "update"]
    call = find(model, "self.run(batch)")
    assert model.branches.excludes([(tests[1], False), *model.branches.tests_before(call)]) is excluded
