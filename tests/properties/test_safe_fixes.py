"""Safe fixes preserve behaviour: programs are generated, fixed, and run before and after.

`campaign.py` tries any number of programs, and counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from properties.examples import example, judged
from properties.jobs import Job
from properties.plans import Plan
from properties.seeds import SAFE_RULES, lines_of, programs_of
from properties.server import Comparer
from rlint.registry.catalogue import RuleEntry

pytestmark = pytest.mark.xdist_group("generated programs")  # one server for all

_LOADS_LONG = ("optim", "distributions", "multiprocessing")
"""Modules that take seconds to load."""
_SOME = settings(derandomize=True, database=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def comparer() -> Iterator[Comparer]:
    """Runs programs in processes of their own."""
    found = Comparer()
    yield found
    found.close()


def hold(rule: RuleEntry, rng: Random, comparer: Comparer, *, quick: bool) -> None:
    """Make an example, and compare."""
    made = example(rule, rng)
    assume(not (quick and any(word in made.text for word in _LOADS_LONG)))
    verdict = judged(made, comparer, seeds=(0, 1))
    assert verdict.outcome is None or not verdict.outcome.differences, verdict.report()


@settings(_SOME, max_examples=8)
@given(rule=st.sampled_from(SAFE_RULES), rng=st.randoms(use_true_random=False))
def test_a_safe_fix_changes_nothing_that_a_program_does(
    comparer: Comparer, rule: RuleEntry, rng: Random
) -> None:
    """With any distractor, the behaviour is the same, or there is no fix."""
    hold(rule, rng, comparer, quick=True)


@pytest.mark.slow
@settings(_SOME, max_examples=50)
@given(rule=st.sampled_from(SAFE_RULES), rng=st.randoms(use_true_random=False))
def test_many_safe_fixes_change_nothing_that_a_program_does(
    comparer: Comparer, rule: RuleEntry, rng: Random
) -> None:
    """The same, with many more programs, and those that train networks."""
    hold(rule, rng, comparer, quick=False)


@pytest.mark.slow
@pytest.mark.parametrize("rule", SAFE_RULES, ids=lambda rule: rule.name)
def test_every_safe_fix_has_programs_to_be_tried_on(rule: RuleEntry) -> None:
    """Without a program for its pattern, a rule would pass untested."""
    assert any(lines_of(rule, text) for text in programs_of(rule))


_SAME = "import random, numpy as np, torch\nnp.seterr(all='ignore')\nx = torch.zeros(2)\n"


@pytest.mark.parametrize(
    ("before", "after", "described"),
    [
        ("print(1)", "print(2)", "printed"),
        ("y = [1]", "y = [2]", "globals['y']"),
        ("y = [1]", "pass", "globals['y']"),
        ("y = x", "y = x.clone()", "aliasing"),
        ("y = x[:1]", "y = x[:1].clone()", "aliasing"),
        ("y = x.double()", "y = x.clone()", "dtype"),
        ("y = x.reshape(1, 2)", "y = x.reshape(2, 1)", "shape"),
        ("y = x.clone().requires_grad_()", "y = x.clone()", "requires_grad"),
        ("random.random()", "pass", "random.python"),
        ("np.random.rand()", "pass", "random.numpy"),
        ("torch.rand(1)", "pass", "random.torch"),
        ("raise KeyError(1)", "raise IndexError(1)", "KeyError"),
        ("raise KeyError('one')", "raise KeyError('two')", "one"),
        ("import warnings; warnings.warn('hm')", "import warnings", "warned"),
        ("class A:\n    y = 1", "class A:\n    y = 2", "classes['A']"),
        ("def f(y=1): pass", "def f(y=2): pass", "functions['f']"),
        ("print(1)\nprint(2)", "print(1)\nprint(2)", ""),
        ("torch.zeros = torch.ones", "torch.zeros = torch.ones", ""),
    ],
)  # fmt: skip
def test_what_differs_is_noticed(comparer: Comparer, before: str, after: str, described: str) -> None:
    """The comparison detects planted differences."""
    job = Job(f"{_SAME}{before}\n", f"{_SAME}{after}\n", Plan((), {}, {}), (0,))
    outcome = comparer.compare(job)
    assert not outcome.error
    assert outcome.deterministic
    assert described in "\n".join(outcome.differences)
    assert bool(outcome.differences) == bool(described)


def test_a_program_that_never_ends_is_given_up(comparer: Comparer) -> None:
    """Generated programs may wait for ever."""
    outcome = comparer.compare(Job("while True: pass\n", "", Plan((), {}, {}), (0,)), seconds=0.5)
    assert outcome.error == "took too long"
    assert not outcome.differences


def test_one_that_draws_from_the_system_is_not_compared(comparer: Comparer) -> None:
    """Values that vary by themselves are not compared."""
    outcome = comparer.compare(Job("import os\ny = os.urandom(8)\n", "y = 1\n", Plan((), {}, {}), (0,)))
    assert not outcome.deterministic
    assert not outcome.differences
