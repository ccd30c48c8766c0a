"""Likely sinks of gradients: loss functions, activations and environments of unknown class."""

from __future__ import annotations

import ast
import textwrap

import pytest

from project_builder import model_of
from rlint.parsing.grammar import Reading
from rlint.parsing.parse import parse
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.summarise import summarise
from rlint.semantics.interprocedural.whole_program import WholeProgram
from rlint.semantics.likely_models import LikelyModels
from rlint.semantics.model import SemanticModel

AGENT = """
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Agent:
        def __init__(self, criterion, act_fn, env):
            self.net = nn.Linear(3, 3)
            self.smooth = F.smooth_l1_loss
            self.criterion, self.act_fn, self.env = criterion, act_fn, env

        def run(self, x, y):
            {body}
"""


def _sinks(body: str, *, likely: bool) -> set[str]:
    text = textwrap.dedent(AGENT).format(body=body.replace("\n", "\n        "))
    model = model_of(text)
    if likely:
        reading = parse(text, "train.py")
        assert isinstance(reading, Reading)
        analysis = FileAnalysis(text, reading, "train", "")
        program = WholeProgram([summarise(analysis, "train.py")])
        sure = SemanticModel("train.py", analysis.linked(program.index), program)
        model = LikelyModels(sure, program).all
    call = next(node for node in model.syntax.of_type(ast.Call) if ast.unparse(node) == "self.net(x)")
    assert isinstance(call, ast.Call)
    return {left.label.value for left in model.gradients.sinks(call)}


@pytest.mark.parametrize(
    ("body", "sure", "likely"),
    [
        ("self.criterion(self.net(x), y).backward()", {"handed"}, {"learned"}),
        ("return self.act_fn(self.net(x)).item()", {"handed"}, {"number"}),
        ("return self.smooth(self.net(x), y).item()", {"number"}, {"number"}),
        ("return self.env.step(self.net(x))", {"handed"}, {"detached"}),
        ("return self.store(self.net(x), y)", {"handed"}, {"handed"}),
        ("q = self.net(x)\nq.volatile = True\nreturn q.item()", {"number"}, {"number"}),
        ("q = self.net(x)\nq.label = None\nreturn q.item()", {"handed", "number"}, {"handed", "number"}),
    ],
)
def test_sinks_of_unknown_callables(body: str, sure: set[str], likely: set[str]) -> None:
    """Functions that an attribute holds are known; unknown ones only compute, judging by their names."""
    assert _sinks(body, likely=False) == sure
    assert _sinks(body, likely=True) == likely
