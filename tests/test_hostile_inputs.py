"""rlint keeps its promises for hostile inputs (trust/ has the long runs of the same)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

import hostile
import inputs
from mutate import differences
from promises import CODES, broken_promises
from rlint.engine import api
from rlint.run_data import Target
from rlint.source.files import Source, source_from_text
from trying import Mutator
from variants import VARIANTS

SOME = list(hostile.KINDS)[::12]
EACH = 2
"""Number of mutated inputs of each kind other than programs."""


def mutants(seed: int, programs: int) -> Iterator[bytes]:
    """Inputs of all kinds, changed."""
    mutator, rng = Mutator(), random.Random(seed)  # noqa: S311 - not used for secrets
    seeds = list(inputs.seeds())
    for name in inputs.KINDS:
        known = [data for data in seeds if data.startswith(name.encode() + b"\n")]
        for _ in range(programs if name == "python" else EACH):
            yield mutator.mutated(rng.choice(known), 4_000, rng.randrange(2**31))


def broken(data: bytes, folder: Path) -> list[str]:
    """The broken promises of one input."""
    return [f"{failure.key}\n{failure.detail}" for failure in inputs.run(data, folder)]


def broken_by(kind: str, size: int, folder: Path) -> list[str]:
    """The broken promises of a program of some kind."""
    made = hostile.KINDS[kind](size)
    files = {"program.py": made} if isinstance(made, str) else made
    failures = broken_promises({name: text.encode() for name, text in files.items()}, folder, formats=False)
    return [f"{failure.key}\n{failure.detail}" for failure in failures]


def test_changed_inputs_of_all_kinds_break_no_promise(tmp_path: Path) -> None:
    """Programs, notebooks, configurations, baselines, profiles, cache and evidence files: checked and fixed,
    or refused with what is wrong.
    """
    for data in mutants(seed=1, programs=10):
        assert broken(data, tmp_path) == [], data


@pytest.mark.slow
def test_many_changed_inputs_break_no_promise(tmp_path: Path) -> None:
    """The same, for more programs."""
    for data in mutants(seed=2, programs=80):
        assert broken(data, tmp_path) == [], data


@pytest.mark.parametrize("kind", SOME)
def test_repeated_forms_break_no_promise(kind: str, tmp_path: Path) -> None:
    """Nested, chained or repeated code: nothing fails, and a second fix changes nothing."""
    assert broken_by(kind, 7, tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", hostile.KINDS)
def test_all_repeated_forms_break_no_promise(kind: str, tmp_path: Path) -> None:
    """The same, for all forms and larger sizes."""
    assert broken_by(kind, 12, tmp_path) == []


def test_programs_written_otherwise_are_found_the_same() -> None:
    """Comments, blank lines, line ends, quotes, line breaks, names of modules, another order of methods:
    each promise holds for all variants of a program, and equivalent variants have the same findings.
    """
    for rule in ("list-as-queue",):
        text = (inputs.FIXTURES / rule / "before.py").read_text(encoding="utf-8")
        assert list(differences(text, [each for each in VARIANTS if each.name != "renamed"])) == []


def test_fixes_that_would_leave_nothing_of_a_block_wait_for_one_another(tmp_path: Path) -> None:
    """Each fix alone is valid: the file is fixed completely, and parses."""
    switched_on = b"    torch.autograd.set_detect_anomaly(True)\n"
    train = b"def train(model, loader):\n    for x in loader:\n        loss(x).backward()\n"
    text = b"import torch\n\n\n" + train + b"\n\nwhile more:\n" + 5 * switched_on
    assert broken(b"python\n" + text, tmp_path) == []
    source = source_from_text(text, "program.py", tmp_path / "program.py")
    assert isinstance(source, Source)
    target = Target(source, source.path, source.name, CODES)
    [changed] = api.fix([target], unsafe=True, jobs=1).changed
    assert changed.text.endswith("while more:\n    pass\n")


def test_each_rule_has_seeds() -> None:
    """The initial inputs of the fuzzer cover all kinds."""
    first = {data.partition(b"\n")[0].decode() for data in islice(inputs.seeds(), 1_000)}
    assert first == set(inputs.KINDS)
