"""Generators and coroutines, which let other code run while they are recorded."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from text_fixer import TextFixer

from rlint.prove.proof import DIFFERENT, NOT_RECORDED, PROVEN, ProvenFix
from rlint.prove.proving import ProveOptions, prove

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("suspended_calls"),  # they share one proof, which takes long
]

PROGRAM = """\
import asyncio

import numpy as np


class Buffer:
    def __init__(self):
        self.rows = np.random.rand(32, 4)

    def batches(self, size):
        order = np.random.permutation(32)
        for start in range(0, 32, size):
            yield self.rows[order[start : start + size]]
        self.rows += 1

    def reused(self, size):
        found = np.zeros((size, 4))
        for start in range(0, 32, size):
            found = found.copy()
            found[:] = self.rows[start : start + size]
            yield found


def running_mean():
    total, count = 0.0, 0
    while True:
        value = yield total / max(count, 1)
        if value is None:
            return total
        total += value
        count += 1


async def answer(n):
    await asyncio.sleep(0)
    return np.full(3, float(n))


async def collect(count):
    found = []
    for n in range(count):
        found.append(await answer(n))
    return np.stack(found)


async def failing(count):
    try:
        await answer(count + count)
        await asyncio.wait_for(asyncio.Event().wait(), 0.001)
    except asyncio.TimeoutError:
        return count + 1


def main():
    np.random.seed(0)
    buffer = Buffer()
    for epoch in range(8):
        inner = buffer.reused(8)
        for number, batch in enumerate(buffer.batches(8)):
            batch *= 2
            next(inner)
            if epoch == 5 and number == 1:
                break
        mean = running_mean()
        next(mean)
        for value in range(5):
            mean.send(float(value))
        asyncio.run(collect(4))
        asyncio.run(failing(4))


if __name__ == "__main__":
    main()
"""

FIXES = {
    "right generator": (
        "self.rows[order[start : start + size]]",
        "self.rows.take(order[start : start + size], 0)",
    ),
    "other values": ("self.rows[order[start : start + size]]", "self.rows[order[start : start + size]] * 2"),
    "other order": ("range(0, 32, size):\n            yield", "range(24, -1, -size):\n            yield"),
    "left undone": ("        self.rows += 1\n", "        self.rows += 2\n"),
    "reused": ("            found = found.copy()\n", ""),
    "right sends": ("        total += value\n", "        total = value + total\n"),
    "wrong sends": ("        total += value\n", "        total += 2 * value\n"),
    "right coroutine": ("    return np.stack(found)\n", "    return np.array(found)\n"),
    "wrong coroutine": ("    return np.stack(found)\n", "    return np.stack(found) + 1\n"),
    "other question": ("await answer(n))", "await answer(n + 1))"),
    "thrown": ("wait(), 0.001)", "wait(), 0.002)"),
}


@pytest.fixture(scope="module")
def proven(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, ProvenFix]:
    """The verdict on each fix after one run."""
    folder = tmp_path_factory.mktemp("suspended")
    (folder / "train.py").write_text(PROGRAM)
    fixer = TextFixer(Path(folder / "train.py"), FIXES)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        options = ProveOptions(budget=0.3, processes=1)
        found = prove(fixer, [sys.executable, "train.py"], options)  # type: ignore[arg-type]
    return {one.code: one for one in found.fixes}


@pytest.mark.parametrize("code", ["right generator", "right sends", "right coroutine"])
def test_right_fixes_keep_the_results(proven: Mapping[str, ProvenFix], code: str) -> None:
    """They receive the values that were sent to them, or awaited, in the run."""
    one = proven[code]
    assert (one.verdict in PROVEN and one.verdict != DIFFERENT, one.differences) == (True, ()), one
    assert one.cases > 2


@pytest.mark.parametrize(
    "code",
    [
        "other values",
        "other order",
        "left undone",
        "reused",
        "wrong sends",
        "wrong coroutine",
        "other question",
    ],
)
def test_wrong_fixes_are_refused(proven: Mapping[str, ProvenFix], code: str) -> None:
    """Differences are found in yielded values and their state, in final state, and in awaited objects."""
    assert (proven[code].verdict, proven[code].reason) == (DIFFERENT, "")


def test_exceptions_from_outside_are_a_reason(proven: Mapping[str, ProvenFix]) -> None:
    """They cannot be recorded."""
    one = proven["thrown"]
    assert (one.verdict, "raises an exception in it" in one.reason) == (NOT_RECORDED, True), one
