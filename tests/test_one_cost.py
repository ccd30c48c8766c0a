"""Findings that share one cost: the first keeps its impact, and the others have a low one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from test_impact import findings_in

COPIED = """\
import torch
from torch.utils.data import DataLoader


def train(net: torch.nn.Module, optimizer, dataset, device: torch.device):
    loader = DataLoader(dataset, batch_size=256, pin_memory=True)
    for x, y, states, rewards in loader:
        LINES
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
BEGINS = 7
"""The lines of the program before the first that a test inserts."""


def levels_by_line(tmp_path: Path, code: str, text: str, lines: str) -> dict[int, str]:
    """Return the impact of the findings of a rule, by the inserted line (from 1)."""
    (tmp_path / "train.py").write_text(text.replace("LINES", lines.replace("\n", "\n        ")))
    found = findings_in(tmp_path, code)
    return {each["location"]["row"] - BEGINS: level_of(each) for each in found}


def level_of(found: dict[str, Any]) -> str:
    """Return "low" for a low impact by the place, else "not low"."""
    return "not low" if found["impact"]["basis"].startswith("not measured on a GPU") else "low"


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        ("x = x.to(device)\ny = y.to(device)\nloss = net(x, y)", {1}),
        ("rewards = rewards.to(device)\nstates = states.to(device)\nloss = net(states, rewards)", {2}),
        ("x = x.to(device)\nprint(y.shape)\ny = y.to(device)\nloss = net(x, y)", {1}),
        ("x = x.to(device)\nfound = net(x)\ny = y.to(device)\nloss = (found - y).mean()", {1, 3}),
        ("x = x.to(device)\nfor _ in range(3):\n    print(x)\ny = y.to(device)\nloss = net(x, y)", {1, 4}),
    ],
    ids=["adjacent", "largest first", "statement between", "network between", "loop between"],
)
def test_adjacent_copies_of_a_batch_are_one_cost(lines: str, kept: set[int], tmp_path: Path) -> None:
    """The host waits at the first copy of a batch, and one change mends all; after a network it waits
    again.
    """
    levels = levels_by_line(tmp_path, "RL201", COPIED, lines)
    assert len(levels) == 2
    assert {line for line, level in levels.items() if level == "not low"} == kept


PADDED = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor):
        n = len(x)
        k = x.shape[1]
        LINES
        return x, y


def train(net: Net, optimizer, batches, device: torch.device):
    net.to(device)
    for x, y in batches:
        loss = net(x, y)[0].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
ZEROS = "torch.zeros(n, 9 - k, 4).to(x.device)"


@pytest.mark.parametrize(
    ("lines", "kept", "count"),
    [
        (f"x = x + {ZEROS}\ny = y + {ZEROS}", {1}, 2),
        (f"x = torch.cat((x, {ZEROS}))\ny = torch.cat((y, {ZEROS} - 1))", {2}, 2),
        (f"x = x + {ZEROS}\ny = y + torch.randn(n, k, 4).to(x.device)", {1, 2}, 2),
        (f"x = x + {ZEROS}\nk = k + 1\nk = k + 1\nk = k + 1\ny = y + {ZEROS}", {1, 5}, 2),
    ],
    ids=["adjacent", "arithmetic first", "another function", "far from each other"],
)
def test_adjacent_creations_are_one_cost(lines: str, kept: set[int], count: int, tmp_path: Path) -> None:
    """One change mends tensors that neighbouring lines create and move in the same way."""
    levels = levels_by_line(tmp_path, "RL205", PADDED, lines)
    assert len(levels) == count
    assert {line for line, level in levels.items() if level == "not low"} == kept


UPDATED = """\
import torch


class Learner:
    def __init__(self, actor: torch.nn.Module, optimizer):
        self.actor = actor.to("cuda")
        self.optimizer = optimizer

    def best(self, states: torch.Tensor):
        found = []
        for row in range(states.shape[0]):
            found.append(self.actor(states[row]).max().item())
        return torch.tensor(found)

    def update(self, states: torch.Tensor, shows: bool):
        states = states.to("cuda")
        values, targets = self.actor(states), []
        LINES
        loss = values.mean()
        entropy, ratio = values.exp().mean(), values.std()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item(), entropy.item(), ratio.item(), values.max().item(), values.norm().item()


def train(learner: Learner, batches):
    for number, states in enumerate(batches):
        print(learner.update(states, number % 100 == 0), targets)
"""


@pytest.mark.parametrize(
    ("lines", "outweighed"),
    [
        ("pass", False),
        ("targets = self.best(states)", True),
        ("for row in range(len(values)):\n    targets.append(values[row].max().item())", True),
        (
            "if shows:\n    for row in range(len(values)):\n        targets.append(values[row].item())",
            False,
        ),
        ("for part in range(3):\n    targets.append(values[part].max().item())", False),
    ],
    ids=["no loop", "loop of a called method", "loop", "loop on a condition", "few iterations"],
)
def test_reads_cost_little_where_a_loop_reads_each_row(lines: str, outweighed: bool, tmp_path: Path) -> None:
    """A few reads once per update do not count beside one for each row of the batch."""
    text = UPDATED.replace("LINES", lines.replace("\n", "\n        "))
    (tmp_path / "train.py").write_text(text)
    found = [each for each in findings_in(tmp_path, "RL202") if "each synchronise" in each["message"]]
    assert ["beside the loop" in each["impact"]["basis"] for each in found] == [outweighed]
