"""The advice on reads from a device fits what is read, and what it saves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rlint.cli import cli

STEP = """\
import torch
from torch import nn


class Learner:
    def __init__(self, net: nn.Linear, optimizer, device="cuda"):
        self.net = net.to(device)
        self.optimizer = optimizer
        self.losses, self.errors = [], []

    def learn(self, batches):
        for states in batches:
            states = states.to("cuda")
            loss = self.net(states).square().mean()
            errors = self.net(states)
            valid = errors > 0
            tiny = errors.abs() < 1e-6
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            LINES
"""


def found_in(tmp_path: Path, code: str, lines: str, text: str = STEP) -> dict[str, Any]:
    """Return the only finding of a rule in a step of learning with some lines."""
    (tmp_path / "learner.py").write_text(text.replace("LINES", lines.replace("\n", "\n            ")))
    options = ["--isolated", "--no-cache", "--select", code, "--output-format", "json"]
    ran = CliRunner().invoke(cli, ["check", *options, str(tmp_path)])
    (found,) = json.loads(ran.output)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("lines", "advice"),
    [
        (
            "self.losses.append(loss.item())\nself.errors.append(errors.mean().item())",
            "Keep the tensors (`.detach()`) and read them where they are written or averaged, all at once: "
            "`torch.stack((...)).tolist()`",
        ),
        (
            "low = errors.cpu().numpy()\nhigh = states.exp().cpu().numpy()\nself.save(low, high)",
            "Read them at once: `torch.stack((...)).cpu().numpy()`, if they have the same shape",
        ),
        (
            "low = errors[:, 0].cpu()\nhigh = errors[:, 1].cpu()\nself.save(low, high)",
            "Read all of it once, and take the parts from that: `errors.cpu()`",
        ),
        (
            "for i in range(8):\n    if valid[:, i].sum() == 0:\n        continue\n    self.fit(i)",
            "Compute it for all iterations at once, and read the result before the loop: "
            "`(valid.sum(0) == 0).tolist()`",
        ),
    ],
)
def test_reads_of_a_step(lines: str, advice: str, tmp_path: Path) -> None:
    """One list of numbers, one array, one copy of the whole, one computation for all columns."""
    assert found_in(tmp_path, "RL202", lines)["advice"] == advice


@pytest.mark.parametrize(
    ("lines", "advice"),
    [
        (
            "self.save(states[valid], errors[valid], loss + errors[valid].mean())",
            "Compute the indices once, and use them in its place: `kept = valid.nonzero(as_tuple=True)`",
        ),
        (
            "done = valid[:, 0]\nself.save(states[done], states[done, 0], errors[done, 1])",
            "Compute the indices once, for a mask with one dimension: `kept = done.nonzero().squeeze(1)`, "
            "then `x[kept]` and `x[kept, 0]`",
        ),
    ],
)
def test_indices_of_masks(lines: str, advice: str, tmp_path: Path) -> None:
    """A tuple of indices is no index beside others."""
    found = found_in(tmp_path, "RL212", lines)
    assert "The boolean mask" in found["message"]
    assert (found["advice"] or "kept = valid.nonzero(as_tuple=True)") in advice


@pytest.mark.parametrize(("test", "is_rare"), [("tiny.any()", True), ("loss > 1", False)])
def test_masks_of_exceptions(test: str, is_rare: bool, tmp_path: Path) -> None:
    """Lines that run only if there are exceptions have a low impact."""
    lines = f"if {test}:\n    self.save(states[tiny], errors[tiny], states[tiny] * errors[tiny])"
    basis = found_in(tmp_path, "RL212", lines)["impact"]["basis"]
    assert ("which is an exception" in basis) == is_rare


@pytest.mark.parametrize(("create", "draws"), [("torch.randn(64, 8)", True), ("torch.zeros(64, 8)", False)])
def test_random_numbers_of_the_device(create: str, draws: bool, tmp_path: Path) -> None:
    """The advice says that other numbers are drawn."""
    lines = f"noise = {create}.to(states.device)\nself.save(noise.add_(1), noise)"
    found = found_in(tmp_path, "RL205", lines)
    advice = found["advice"] or found["fix"]["message"]
    assert ("random stream" in json.dumps(found)) == draws, advice


ROWS = """\
import torch


def collect(policy: torch.nn.Module, games: list, steps: int):
    policy.cuda()
    for _ in range(steps):
        rows = policy(torch.randn(64, 8, device="cuda"))
        kept_list = [policy(torch.randn(8, device="cuda")) for _ in games]
        for place, game in enumerate(games):
            if game.moves == 0:
                rows[place] = 0
            LINES
        loss = policy(torch.randn(64, 8, device="cuda")).mean()
        loss.backward()
"""


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ("game.kept[0] = rows[place].cpu().numpy()", "rows.cpu().numpy()"),
        ("game.kept[0] = kept_list[place].cpu().numpy()", "torch.stack(kept_list).cpu().numpy()"),
    ],
)
def test_advice_on_rows_that_a_loop_counts(tmp_path: Path, lines: str, code: str) -> None:
    """All rows are read in the form in which each is used, and a list of tensors is stacked first."""
    found = found_in(tmp_path, "RL202", lines, ROWS)
    assert found["advice"] == f"Read all of it before the loop: `{code}`"
