"""Expressions that only a program writes: rlint's time grows with them as they grow, and no faster."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest

import forms
import hostile
from rlint import engine, registry
from rlint.files import source_from_text
from rlint.findings import Problem
from rlint.runs import Target
from rlint.syntax.depth import DEEPEST, TOO_DEEP

CODES = frozenset(entry.code for entry in registry.catalogue())
KINDS = {**hostile.KINDS, **dict(forms.of_fixtures())}
NOWHERE = "rlint-test-nowhere"
LONG = ["conditions with reads", "tuple of calls", "nested torch calls", "and with reads", "reshapes"]


def target(text: str) -> Target:
    """A program as the only file of a folder that is not there: nothing lies around it."""
    source = source_from_text(text.encode(), "program.py", Path(tempfile.gettempdir(), NOWHERE, "program.py"))
    assert not isinstance(source, Problem)
    return Target(source, source.path, source.name, CODES)


def steps(kind: str, size: int) -> int:
    """How many functions run while a program of some kind and size is checked."""
    made = KINDS[kind](size)
    assert isinstance(made, str)
    entered = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal entered
        entered += event in ("call", "c_call")

    checked = target(made)
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        engine.check([checked], jobs=1)
    finally:
        sys.setprofile(before)
    return entered


def growth(kind: str, small: int = 150) -> float:
    """How many times the work of a program is that of one that is a third of it, once both are warmed up."""
    steps(kind, 1)
    return steps(kind, 3 * small) / steps(kind, small)


def test_work_grows_as_a_sum_does() -> None:
    """Each term of a sum may be looked at, but not from each of the others."""
    assert growth("sums of items") < 4


@pytest.mark.slow
@pytest.mark.parametrize("kind", LONG)
def test_work_grows_as_an_expression_does(kind: str) -> None:
    """The same for conditions, displays, calls in calls and chains of them."""
    assert growth(kind) < 4.5


def test_the_rest_of_a_file_is_checked_beside_a_deep_expression() -> None:
    """What lies too deep is left alone; all else of the file and of the expression is not."""
    text = hostile.KINDS["sums of items"](3 * DEEPEST)
    assert isinstance(text, str)
    text += "        z = torch.zeros(3).cuda()\n"
    report = engine.check([target(text)], jobs=1)
    assert report.problems == ()
    assert {finding.start.line for finding in report.findings if finding.code == "RL205"} == {
        text.count("\n")
    }


@pytest.mark.parametrize("kind", ["and with reads", "or", "comparisons", "conditions with reads"])
def test_long_conditions_are_checked(kind: str) -> None:
    """Comparisons share their operators, which belong to none of them."""
    text = hostile.KINDS[kind](2 * DEEPEST)
    assert isinstance(text, str)
    assert engine.check([target(text)], jobs=1).problems == ()


def test_a_long_chain_is_fixed_at_once() -> None:
    """However many changes of shape stand in a row, the last is left, and fixing again changes nothing."""
    text = hostile.KINDS["reshapes"](127)
    assert isinstance(text, str)
    [changed] = engine.fix([target(text)], unsafe=True, jobs=1).changed
    assert changed.text.count("reshape") == 1
    assert "x.reshape(-1, 126)" in changed.text
    assert engine.fix([target(changed.text)], unsafe=True, jobs=1).changed == ()


def test_what_is_far_too_deep_is_left_alone() -> None:
    """Fixing layer by layer would take as many rounds as there are layers."""
    text = hostile.KINDS["reshapes"](TOO_DEEP)
    assert isinstance(text, str)
    report = engine.fix([target(text)], unsafe=True, jobs=1)
    assert report.changed == ()
    assert report.report.problems == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["whiles", "nested calls", "prints", "logs", "augmented assignments", "forward of one"]
)
def test_work_grows_as_a_program_does(kind: str) -> None:
    """The same for what stands in one loop again and again."""
    assert growth(kind, 400) < 4.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "small", "most"),
    [
        pytest.param("locks", 400, 3.5, id="sections of one lock"),
        pytest.param("concat grown", 400, 3.5, id="arrays that grow in one loop"),
        pytest.param("backwards", 400, 3.5, id="uses of one variable"),
        pytest.param("elif", 400, 3.5, id="conditions around one another"),
        pytest.param("functions", 100, 3.5, id="functions whose parameters bear one name"),
        pytest.param("methods", 100, 3.5, id="methods whose parameters bear one name"),
        pytest.param("classes", 100, 3.5, id="classes whose methods bear one name"),
        pytest.param("classes in a line", 100, 5, id="classes, each derived from all before"),
        pytest.param("classes in pairs", 100, 6, id="classes, each derived from two ways to all before"),
    ],
)
def test_what_is_known_of_one_is_not_sought_for_each(kind: str, small: int, most: float) -> None:
    """Three times as many of them make three times the work, or hardly more."""
    assert growth(kind, small) < most


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["recomputed-constant", "replot-per-episode", "repeated-string-work", "shared-counter-lock"]
)
def test_work_grows_as_what_a_function_repeats(name: str) -> None:
    """The same for the programs of fixtures that do each thing again and again."""
    assert growth(f"{name} in a function", 600) < 6


def test_parameters_that_are_global_too_are_read() -> None:
    """Python does not run such a program, but parses it."""
    text = (
        hostile.HEAD
        + "def fit(size, made, optimizer):\n    for x in made:\n        optimizer.step()\n    global size\n"
    )
    assert engine.check([target(text)], jobs=1).problems == ()
