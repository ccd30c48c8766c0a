"""All planted wrong fixes are detected, and correct ones are not refused."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import pytest
from planted_program import PROGRAM, RIGHT, WRONG
from text_fixer import TextFixer

from rlint.prove.proof import DIFFERENT, FASTER, NO_CHANGE, SLOWER, ProvenFix
from rlint.prove.proving import ProveOptions, prove

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("planted_fixes"),  # they share one proof, which takes long
]


@pytest.fixture(scope="module")
def proven(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, ProvenFix]:
    """The verdict on each planted fix, after one run of the program."""
    folder = tmp_path_factory.mktemp("planted")
    program = folder / "train.py"
    program.write_text(PROGRAM)
    fixer = TextFixer(program, {**WRONG, **RIGHT})
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        options = ProveOptions(budget=0.3, processes=1)
        found = prove(fixer, [sys.executable, "train.py"], options)  # type: ignore[arg-type]
    return {one.code: one for one in found.fixes}


@pytest.mark.parametrize("code", WRONG)
def test_a_wrong_fix_is_refused(proven: Mapping[str, ProvenFix], code: str) -> None:
    """Each causes a difference."""
    assert (proven[code].verdict, proven[code].reason) == (DIFFERENT, "")


@pytest.mark.parametrize("code", RIGHT)
def test_a_right_fix_is_not_refused(proven: Mapping[str, ProvenFix], code: str) -> None:
    """The gain does not matter, because a busy machine may hide it."""
    assert proven[code].verdict in (FASTER, NO_CHANGE, SLOWER), proven[code]
    assert proven[code].cases > 2
