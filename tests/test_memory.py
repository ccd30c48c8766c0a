"""Finished files are freed: a run keeps the trees of only a few files at a time."""

from __future__ import annotations

import ast
import gc
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from rlint.engine.gc_control import GarbageSweep, GcControl
from rlint.engine.worker import Worker
from rlint.registry import catalogue
from rlint.run_data import FileTask

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
    """The tree of a file is freed: shared operator nodes do not refer to it."""
    monkeypatch.setattr("rlint.engine.worker.KEPT_BYTES", 0)
    jobs = []
    for number in range(3):
        path = tmp_path / f"learner_{number}.py"
        path.write_text(EVERY_OPERATOR)
        name = f"learner_{number}"
        jobs.append(FileTask(path, path.name, name, "", frozenset({"RL101"}), None, len(EVERY_OPERATOR)))
    before = _trees()
    worker = Worker()
    assert len(worker.summarise(jobs)) == 3
    after = _trees()
    assert after == before


@pytest.fixture
def without_collector() -> Iterator[None]:
    """Existing garbage is collected; later garbage stays if it is in a cycle."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.enable()


@pytest.mark.usefixtures("without_collector")
@pytest.mark.parametrize("most", [0, 3_000_000], ids=["parsed-again", "kept"])
def test_a_file_that_was_checked_needs_no_collector_to_go(most: int, monkeypatch) -> None:
    """Searching for cycles took a twelfth of a run. So the analyses of a file are released after its
    check.
    """
    monkeypatch.setattr("rlint.engine.worker.KEPT_BYTES", most)
    codes = frozenset(entry.code for entry in catalogue.catalogue())
    folder = Path(__file__).parents[1] / "fixtures"
    before, made = _nodes(), 0
    for path in sorted(folder.glob("*/before.py"))[::4]:
        module = path.parent.name.replace("-", "_")
        worker = Worker()
        group = worker.summarise(
            [FileTask(path, f"{module}.py", module, "", codes, None, path.stat().st_size)]
        )
        assert worker.check([group], ignore_suppressions=False)[0].findings
        made += sum(1 for _ in ast.walk(ast.parse(path.read_text())))
    assert _nodes() - before < made / 5  # nested functions keep references to some examined nodes


class _Cyclic:
    """An object that only the collector can free."""

    def __init__(self) -> None:
        self.own = self


@pytest.mark.usefixtures("without_collector")
def test_the_garbage_of_a_large_group_is_collected_while_it_is_checked() -> None:
    """What is in use then may be garbage after the group, and is freed as well."""
    sweep, garbage = GarbageSweep(), GcControl()
    unused, used = _Cyclic(), _Cyclic()
    first, second = weakref.ref(unused), weakref.ref(used)
    del unused
    sweep.add(1_000_000)
    assert first() is not None
    sweep.add(1_000_000)
    assert first() is None
    assert second() is not None
    del used
    garbage.add(4_000_000)
    garbage.collect()
    assert second() is None


def _nodes() -> int:
    return sum(
        issubclass(type(thing), ast.AST) for thing in gc.get_objects()
    )  # some pretend to be of a class


def _trees() -> int:
    gc.collect()
    return sum(type(thing) is ast.Module for thing in gc.get_objects())
