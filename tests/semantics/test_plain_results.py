"""Items of the tuples that functions return which carry no gradient, beside others that do."""

from __future__ import annotations

import ast
import textwrap

import pytest

from project_builder import build, expression, model_of
from rlint.semantics.nn.gradient_sinks import SinkKind

POLICY = """
    import torch
    from torch import nn
    from torch.distributions import Categorical

    STATE = nn.Linear(3, 3)(torch.ones(1, 3))

    class Policy(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(3, 3)

        def act(self, x):
            dist = Categorical(logits=self.body(x))
            action = dist.sample()
            return action, dist.log_prob(action), self.body(x)

        def act_array(self, x, hidden):
            out = self.body(x)
            return out.detach().cpu().numpy(), out, hidden, STATE

        def either(self, x, greedy):
            out = self.body(x)
            action = out if greedy else out.detach()
            return action, out

        def whole(self, x):
            return [self.body(x), x.detach()]
"""


@pytest.mark.parametrize(
    ("body", "sinks"),
    [
        (
            "action, log_prob, value = policy.act(x)\n    keep(action)\n    return log_prob.item()",
            {"DETACHED"},
        ),
        ("action, log_prob, value = policy.act(x)\n    keep(log_prob)", {"DETACHED", "HANDED"}),
        ("keep(policy.act(x)[0])", {"DETACHED"}),
        ("keep(policy.act(x)[1])", {"HANDED"}),
        ("action, *rest = policy.act(x)\n    keep(action)", {"DETACHED"}),
        ("action, out, hidden, state = policy.act_array(x, x)\n    keep(action)", {"DETACHED"}),
        ("action, out, hidden, state = policy.act_array(x, x)\n    keep(hidden)", {"DETACHED", "HANDED"}),
        ("action, out, hidden, state = policy.act_array(x, x)\n    keep(state)", {"DETACHED", "HANDED"}),
        ("action, out = policy.either(x, True)\n    keep(action)", {"HANDED"}),
        ("out, state = policy.whole(x)\n    keep(state)", {"HANDED"}),
    ],
)
def test_items_without_gradient(body: str, sinks: set[str]) -> None:
    """Sampled and converted actions end the gradient, whatever becomes of them."""
    program = textwrap.dedent(POLICY) + f"\npolicy = Policy()\n\ndef run(x):\n    {body}\n"
    model = model_of(program)
    calls = [
        node
        for node in ast.walk(model.syntax.module)
        if isinstance(node, ast.Call) and model.source.text(node).startswith("policy.")
    ]
    found = {left.label.name for left in model.gradients.sinks(calls[0])} - {SinkKind.NUMBER.name}
    assert found == sinks


def test_items_of_functions_in_other_files() -> None:
    """The items are known across files, and of all methods that may run."""
    caller = """
        import torch
        from policies import Policy

        class Greedy(Policy):
            def act(self, x):
                out = self.body(x)
                return out, out, out

        def run(x, policy: Policy):
            action, log_prob, value = policy.act(x)
            keep(action)
    """
    models = build({"policies.py": POLICY, "run.py": caller})
    call = expression(models["run.py"], "policy.act(x)")
    assert {left.label for left in models["run.py"].gradients.sinks(call)} == {SinkKind.HANDED}
    alone = caller.replace("return out, out, out", "return out.detach(), out, out")
    models = build({"policies.py": POLICY, "run.py": alone})
    call = expression(models["run.py"], "policy.act(x)")
    assert {left.label for left in models["run.py"].gradients.sinks(call)} == {SinkKind.DETACHED}
