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
