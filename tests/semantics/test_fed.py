"""What is only ever added to: attributes that nothing in the project looks at."""

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
    """Adding and emptying are no looks; whatever gives something of it is one."""
    assert model_of(WORKER.replace("USE", use)).program.is_write_only("memory") is only


def test_other_files_look_at_it() -> None:
    """A look in any file of the project counts, however the object came there."""
    files = {"worker.py": WORKER.replace("USE", "pass"), "main.py": "def f(w):\n    return w.memory[0]\n"}
    assert not build(files)["worker.py"].program.is_write_only("memory")
    files["main.py"] = "def f(w):\n    w.memory.append(1)\n"
    assert build(files)["worker.py"].program.is_write_only("memory")
