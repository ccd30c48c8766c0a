"""Generated expressions: the time of rlint is linear in their size."""

from __future__ import annotations

import ast
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import forms
import hostile
from rlint.engine import api
from rlint.findings import Finding, Problem
from rlint.registry import catalogue
from rlint.run_data import Target
from rlint.semantics.model import SemanticModel
from rlint.source.files import source_from_text
from rlint.syntax.too_deep import DEEPEST, TOO_DEEP

CODES = frozenset(entry.code for entry in catalogue.catalogue())
KINDS = {**hostile.KINDS, **dict(forms.of_fixtures())}
NOWHERE = "rlint-test-nowhere"
LONG = ["conditions with reads", "tuple of calls", "nested torch calls", "and with reads", "reshapes"]


def target(text: str) -> Target:
    """A program as the only file of a folder that does not exist."""
    source = source_from_text(text.encode(), "program.py", Path(tempfile.gettempdir(), NOWHERE, "program.py"))
    assert not isinstance(source, Problem)
    return Target(source, source.path, source.name, CODES)


def steps(kind: str, size: int) -> int:
    """The number of function calls while a program of some kind and size is checked."""
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
        api.check([checked], jobs=1)
    finally:
        sys.setprofile(before)
    return entered


def growth(kind: str, small: int = 150) -> float:
    """The ratio of the work for a program to that for a third of it, after warming up."""
    steps(kind, 1)
    return steps(kind, 3 * small) / steps(kind, small)


def test_work_grows_as_a_sum_does() -> None:
    """Each term of a sum may be examined, but not once for each other term."""
    assert growth("sums of items") < 4


@pytest.mark.slow
@pytest.mark.parametrize("kind", LONG)
def test_work_grows_as_an_expression_does(kind: str) -> None:
    """The same for conditions, displays, calls in calls and chains of them."""
    assert growth(kind) < 4.5


def test_the_rest_of_a_file_is_checked_next_to_a_deep_expression() -> None:
    """Code that is nested too deep is skipped; the rest of the file and of the expression is checked."""
    text = hostile.KINDS["sums of items"](3 * DEEPEST)
    assert isinstance(text, str)
    text += "        z = torch.zeros(3).cuda()\n"
    report = api.check([target(text)], jobs=1)
    assert report.problems == ()
    assert {finding.start.line for finding in report.findings if finding.code == "RL205"} == {
        text.count("\n")
    }


@pytest.mark.parametrize("kind", ["and with reads", "or", "comparisons", "conditions with reads"])
def test_long_conditions_are_checked(kind: str) -> None:
    """Comparisons share operator nodes, which have no position."""
    text = hostile.KINDS[kind](2 * DEEPEST)
    assert isinstance(text, str)
    assert api.check([target(text)], jobs=1).problems == ()


FLAT = {
    "ifs in a row": 1_000,
    "ifs that change a value": 1_000,
    "ifs that leave": 1_000,
    "elifs that change a value": 400,
    "elifs that leave": 1_000,
    "augmented in a row": 3_000,
    "copies in a row": 300,
    "method calls": 500,
    "attributes passed to one another": 40,
    "sums": 900,
    "and": 1_000,
    "dict": 300,
    "nested lists": 1_000,
    "functions that return one another": 1_000,
    "functions in a chain": 1_000,
    "classes in a line": 250,
    "classes with constructors in a line": 200,
}
"""Long programs without deep nesting, and the number of repetitions."""


LONGER = {"classes in a line": 400, "classes with constructors in a line": 400}
"""More repetitions, for which the slow tests have time."""


@pytest.mark.parametrize(
    ("kind", "count"),
    [*FLAT.items(), *(pytest.param(*each, marks=pytest.mark.slow) for each in LONGER.items())],
)
def test_what_is_long_and_flat_is_checked(kind: str, count: int) -> None:
    """A long sequence of statements, calls or bases is no deep nesting, and the rest of the file is
    checked.
    """
    text = hostile.KINDS[kind](count)
    assert isinstance(text, str)
    text += "\n\ndef last(env):\n    for t in range(99):\n        env.step(torch.zeros(3).cuda())\n"
    report = api.check([target(text)], jobs=1)
    assert report.problems == ()
    assert ("RL205", text.count("\n")) in {(each.code, each.start.line) for each in report.findings}


@pytest.mark.parametrize("kind", ["ifs that change a value", "elifs that leave", "copies in a row"])
def test_what_is_long_and_flat_is_fixed(kind: str) -> None:
    """The same for the fixes of such a file."""
    text = hostile.KINDS[kind](300)
    assert isinstance(text, str)
    text += "\n\ndef last(env):\n    for t in range(99):\n        env.step(torch.zeros(3).cuda())\n"
    fixed = api.fix([target(text)], unsafe=True, jobs=1)
    assert fixed.report.problems == ()
    assert 'env.step(torch.zeros(3, device="cuda"))' in fixed.changed[0].text


def test_what_is_nested_too_deep_costs_one_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a rule exceeds Python's stack at one place, it continues with the next."""
    text = forms.HEAD + forms.LOOP + "        a = torch.zeros(1).cuda()\n        b = torch.zeros(2).cuda()\n"
    (rule,) = catalogue.load({"RL205"})
    check = rule.check

    def too_deep_at_first(node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        if "torch.zeros(1)" in model.source.text(node):
            raise RecursionError
        return check(node, model)

    monkeypatch.setattr(rule, "check", too_deep_at_first)
    report = api.check([replace(target(text), codes=frozenset({"RL205"}))], jobs=1)
    assert (report.problems, [found.start.line for found in report.findings]) == ((), [text.count("\n")])


def test_arrays_that_grow_in_one_loop_are_fixed_together() -> None:
    """Any number of arrays is fixed in one pass: each has its own list."""
    text = forms.grown(60)
    fixed = api.fix([target(text)], unsafe=True, jobs=1)
    assert len([each for each in fixed.applied if each.code == "RL101"]) == 60
    assert fixed.changed[0].text.count("_parts = []\n") == 60
    compile(fixed.changed[0].text, "program.py", "exec")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["arrays grown in one loop", "classes in pairs", "ifs that change a value"])
def test_work_grows_as_a_file_does(kind: str) -> None:
    """Each array, class or branch may be examined, but not once for each other one."""
    assert growth(kind, 100) < 4.5


def test_a_long_chain_is_fixed_at_once() -> None:
    """Of any number of consecutive shape changes, the last remains, and fixing again changes nothing."""
    text = hostile.KINDS["reshapes"](127)
    assert isinstance(text, str)
    [changed] = api.fix([target(text)], unsafe=True, jobs=1).changed
    assert changed.text.count("reshape") == 1
    assert "x.reshape(-1, 126)" in changed.text
    assert api.fix([target(changed.text)], unsafe=True, jobs=1).changed == ()


def test_what_is_far_too_deep_is_left_alone() -> None:
    """Fixing layer by layer would take as many passes as there are layers."""
    text = hostile.KINDS["reshapes"](TOO_DEEP)
    assert isinstance(text, str)
    report = api.fix([target(text)], unsafe=True, jobs=1)
    assert report.changed == ()
    assert report.report.problems == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["whiles", "nested calls", "prints", "logs", "augmented assignments", "forward of one"]
)
def test_work_grows_as_a_program_does(kind: str) -> None:
    """The same for statements repeated in one loop."""
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
    """Three times as many of them take about three times the work."""
    assert growth(kind, small) < most


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["recomputed-constant", "replot-per-episode", "repeated-string-work", "shared-counter-lock"]
)
def test_work_grows_as_what_a_function_repeats(name: str) -> None:
    """The same for programs of fixtures with repeated statements."""
    assert growth(f"{name} in a function", 600) < 6


def test_parameters_that_are_global_too_are_read() -> None:
    """Python parses such a program, but does not run it."""
    text = (
        hostile.HEAD
        + "def fit(size, made, optimizer):\n    for x in made:\n        optimizer.step()\n    global size\n"
    )
    assert api.check([target(text)], jobs=1).problems == ()
