"""Fixes that change a constructor together with the methods that read its attributes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache

import pytest
from text_fixer import TextFixer

from rlint.prove.proof import DIFFERENT, NOT_RECORDED, PROVEN, ProvenFix
from rlint.prove.proving import ProveOptions, prove

pytestmark = pytest.mark.xdist_group("made_objects")  # they share one proof, which takes long

PROGRAM = """\
import numpy as np


class Buffer:
    def __init__(self, size):
        self.scale = 0.5
        self.rows = []
        self.size = size
        self.add(np.ones(3))

    def add(self, row):
        self.rows.append(row * self.scale)

    def sample(self, count):
        rows = np.array(self.rows)
        return rows[np.random.randint(0, len(rows), count)]


class Outside:
    def __init__(self):
        self.values = []

    def add(self, value):
        self.values.append(value)

    def mean(self):
        return sum(self.values) / max(1, len(self.values))


def main():
    np.random.seed(0)
    buffer, outside = Buffer(64), Outside()
    for step in range(40):
        buffer.scale = 1.0 + step
        buffer.add(np.random.rand(3))
        outside.values.insert(0, float(step))
        outside.add(0.5)
        outside.mean()
        if step > 9 and step % 5 == 0:
            buffer.sample(4)


if __name__ == "__main__":
    main()
"""

RIGHT = """\
        self.rows = np.zeros((size, 3))
        self.count = 0
        self.size = size
        self.add(np.ones(3))

    def add(self, row):
        self.rows[self.count] = row * self.scale
        self.count += 1

    def sample(self, count):
        rows = self.rows[: self.count]
"""
FIRST = PROGRAM.index("        self.rows = []")
BEFORE = PROGRAM[FIRST : PROGRAM.index("        return rows[")]
OUTSIDE = PROGRAM[PROGRAM.index("        self.values = []") : PROGRAM.index("    def mean")]
FIXES = {
    "right": (BEFORE, RIGHT),
    "stale": (BEFORE, RIGHT.replace("row * self.scale", "row * 0.5")),
    "dtype": (BEFORE, RIGHT.replace("(size, 3))", "(size, 3), np.float32)")),
    "off by one": (BEFORE, RIGHT.replace("[: self.count]", "[: self.count - 1]")),
    "outside": (OUTSIDE, OUTSIDE.replace("[]", "[0.0]").replace(".append(value)", ".append(value + 0)")),
}


@pytest.fixture(scope="module")
def proven(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], ProvenFix]:
    """Returns the verdict on one of these fixes; each is proven once."""

    @cache
    def of(code: str) -> ProvenFix:
        folder = tmp_path_factory.mktemp("made")
        (folder / "train.py").write_text(PROGRAM)
        fixer = TextFixer(folder / "train.py", {code: FIXES[code]})
        options = ProveOptions(budget=0.3, processes=1)
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            [found] = prove(fixer, [sys.executable, "train.py"], options).fixes  # type: ignore[arg-type]
        return found

    return of


def test_objects_are_made_as_the_fix_makes_them(proven: Callable[[str], ProvenFix]) -> None:
    """Its constructor and each of its earlier calls are replayed."""
    right = proven("right")
    assert (right.verdict in PROVEN and right.verdict != DIFFERENT, right.differences) == (True, ()), right
    assert {"Buffer.add", "Buffer.sample"} <= set(right.where.split(", "))


@pytest.mark.parametrize(
    "code", ["stale", *(pytest.param(each, marks=pytest.mark.slow) for each in ("dtype", "off by one"))]
)
def test_wrong_ones_are_refused(proven: Callable[[str], ProvenFix], code: str) -> None:
    """The results of methods show the state of the objects."""
    found = proven(code)
    assert (found.verdict, found.reason) == (DIFFERENT, "")


def test_what_other_code_sets_is_not_guessed(proven: Callable[[str], ProvenFix]) -> None:
    """The calls of the changed methods do not determine such an attribute."""
    outside = proven("outside")
    assert (outside.verdict, "code outside the changed methods sets" in outside.reason) == (
        NOT_RECORDED,
        True,
    ), outside
