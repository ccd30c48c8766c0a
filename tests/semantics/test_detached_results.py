"""Results of calls whose gradient ends in the caller, so that the callee need not keep a graph."""

from __future__ import annotations

import textwrap

import pytest

from project_builder import build, find

NETS = """
import copy

class Target:
    def __init__(self, model):
        self.model = copy.deepcopy(model)

    def ahead(self, states):
        return self.model(states)
"""
UPDATE = """
import torch
from nets import Target

def update(critic, target: Target, optimizer, batch):
    ahead = target.ahead(batch.following)
    ahead[batch.dones == 1.0] = 0.0
    wanted = batch.rewards + 0.99 * ahead
    loss = torch.nn.functional.mse_loss(critic(batch.states), {wanted})
    loss.backward()
    optimizer.step()
    return wanted.detach()
"""


@pytest.mark.parametrize(("wanted", "ends"), [("wanted.detach()", (-1,)), ("wanted", ())])
def test_a_result_that_is_detached_before_the_loss_ends_there(wanted: str, ends: tuple[int, ...]) -> None:
    """Also after its items were changed; not if the loss takes it as it is."""
    models = build({"nets.py": NETS, "update.py": textwrap.dedent(UPDATE).format(wanted=wanted)})
    callers = models["nets.py"].usage.call_sites(find(models["nets.py"], "self.model(states)"))
    assert [site.ends for _, site in callers] == [ends]


OF_TWO = """
import torch
from nets import Target

def update(critic, actor, target: Target, other, batch):
    wanted = batch.rewards + {wanted}
    loss = torch.nn.functional.mse_loss(critic(batch.states), wanted)
    loss.backward()
    chosen = -critic(actor(batch.states))
    chosen.mean().backward()
"""


@pytest.mark.parametrize(
    ("wanted", "learned"),
    [
        ("target.ahead(batch.following)", True),
        ("0.99 * target.ahead(batch.following).amax(1)", True),
        ("target.ahead(batch.following).detach()", False),
        ("other(target.ahead(batch.following)).detach()", False),
    ],
)
def test_a_caller_learns_only_from_what_reaches_its_loss(wanted: str, learned: bool) -> None:
    """Not from a result that is passed to another call, whose result it detaches."""
    models = build({"nets.py": NETS, "update.py": OF_TWO.format(wanted=wanted)})
    run = find(models["nets.py"], "self.model(states)")
    assert models["nets.py"].gradients.training_caller(run) == ("update" if learned else None)
