"""Imports and first uses that each check needs, done once before the process is forked. For a small
repository they take eight times as long as the check itself.
"""

from __future__ import annotations

import contextlib
import gc
import os
import tempfile
from pathlib import Path

from rlint.cli.rule_figures import rule_figures
from rlint.errors import RlintError
from rlint.registry.catalogue import catalogue, load
from rlint.survey.checked_part import CHECK, do
from rlint.survey.tool_digest import tool_digest

_PROGRAM = """\
import re

import numpy as np
import torch


class Buffer:
    def __init__(self):
        self.rows = np.zeros((0, 4))

    def add(self, row):
        self.rows = np.concatenate([self.rows, row[None]])


def train(env, net, device, optimizer):
    buffer = Buffer()
    row = env.reset()
    for step in range(10_000):
        noise = torch.zeros(4).to(device)
        action = net(torch.as_tensor(row)) + noise
        row, reward, done, info = env.step(action)
        buffer.add(row)
        loss = torch.nn.functional.mse_loss(action, noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def get_ready() -> None:
    """Check a small program, and read the measurements of all rules."""
    codes = {entry.code for entry in catalogue() if entry.module}
    load(codes)
    rule_figures(codes, None)
    with tempfile.TemporaryDirectory(prefix="rlint-survey-") as name, contextlib.suppress(RlintError):
        top = Path(name, "program")
        top.mkdir()
        (top / "train.py").write_text(_PROGRAM, encoding="utf-8")
        do(_job(str(top)), Path(name))
        os.chdir(os.sep)
    gc.collect()
    gc.freeze()  # forks share objects that are not scanned


def _job(top: str) -> dict[str, object]:
    return {
        "what": CHECK,
        "repository": {"name": top, "location": top},
        "part": 0,
        "parts": 1,
        "content": "",
        "tool": tool_digest(),
        "overrides": {},
        "configured": False,
        "part_size": 10**9,
    }
