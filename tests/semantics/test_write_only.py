"""Write-only attributes, which no code of the project reads."""

from __future__ import annotations

import pytest

from project_builder import build, model_of

WORKER = """
class Worker:
    def __init__(self, capacity):
        self.memory = []

    def run(self, transition):
        self.memory.append(transition)
        USE
"""


@pytest.mark.parametrize(
    ("use", "only"),
    [
        ("pass", True),
        ("self.memory.clear()", True),
        ("self.memory = []", True),
        ("return len(self.memory)", False),
        ("first = self.memory.pop()", False),
        ("kept = self.memory.append(1)", False),
        ("send(self.memory)", False),
        ("return getattr(self, 'memory')", False),
    ],
)
def test_any_look_at_it_counts(use: str, only: bool) -> None:
    """Adding and clearing do not read a container; anything that returns a part of it does."""
    assert model_of(WORKER.replace("USE", use)).program.is_write_only("memory") is only


def test_other_files_look_at_it() -> None:
    """A read in any file of the project counts, however the object is accessed."""
    files = {"worker.py": WORKER.replace("USE", "pass"), "main.py": "def f(w):\n    return w.memory[0]\n"}
    assert not build(files)["worker.py"].program.is_write_only("memory")
    files["main.py"] = "def f(w):\n    w.memory.append(1)\n"
    assert build(files)["worker.py"].program.is_write_only("memory")
