"""What is done with is freed: a run holds the trees of few files at a time."""

from __future__ import annotations

import ast
import gc
from pathlib import Path

from rlint.runs import Job
from rlint.worker import Worker

EVERY_OPERATOR = """
import torch

def learn(self, a, b):
    flags = [a == b, a != b, a < b, a <= b, a > b, a >= b, a is b, a is not b, a in b, a not in b]
    sums = [a + b, a - b, a * b, a @ b, a / b, a // b, a % b, a ** b, a << b, a >> b, a | b, a ^ b, a & b]
    others = [a and b, a or b, not a, ~a, +a, -a]
    a += 1
    del b
    for _ in range(10):
        if len(flags) == 3:
            self.loss.backward()
"""


def test_the_trees_of_a_share_are_freed_once_they_are_summarised(tmp_path: Path, monkeypatch) -> None:
    """Whatever is kept of a file, its tree goes: no operator, which all files share, leads to it."""
    monkeypatch.setattr("rlint.worker.LARGE_BYTES", 0)
    jobs = []
    for number in range(3):
        path = tmp_path / f"learner_{number}.py"
        path.write_text(EVERY_OPERATOR)
        name = f"learner_{number}"
        jobs.append(Job(path, path.name, name, "", frozenset({"RL101"}), None, len(EVERY_OPERATOR)))
    before = _trees()
    worker = Worker()
    assert len(worker.summarise(jobs)) == 3
    after = _trees()
    assert after == before


def _trees() -> int:
    gc.collect()
    return sum(type(thing) is ast.Module for thing in gc.get_objects())  # some pretend to be of a class
