"""Compaction of summaries: it changes nothing but the memory that they take."""

from __future__ import annotations

import pickle
from copy import deepcopy
from pathlib import Path

import pytest

from rlint.engine.worker import Worker
from rlint.models.value_type import Type, TypeTag
from rlint.parsing.grammar import Reading
from rlint.parsing.parse import parse
from rlint.run_data import FileTask
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.compaction import Compactor, Interner
from rlint.semantics.interprocedural.summarise import summarise
from rlint.semantics.interprocedural.summary import ModuleSummary

LEARNER = """
import helpers

def learn(agent, batch):
    helpers.log(agent, batch)
    helpers.log(agent, batch)
"""
FILES = sorted((Path(__file__).parents[2] / "rlint" / "harness").rglob("*.py"))


def summary_of(number: int) -> ModuleSummary:
    """Return the summary of one of rlint's own files."""
    path = FILES[number]
    text = path.read_text()
    reading = parse(text, path.name)
    assert isinstance(reading, Reading)
    return summarise(FileAnalysis(text, reading, path.stem, ""), path.name)


@pytest.mark.parametrize("number", range(0, len(FILES), 7))
def test_a_compacted_summary_says_the_same(number: int) -> None:
    """All fields are equal."""
    summary = summary_of(number)
    before = deepcopy(summary)
    Compactor().compact(summary)
    assert summary == before


def test_equal_values_are_kept_once() -> None:
    """Of two summaries of the same file, the second one hardly takes memory."""
    first, second = summary_of(0), summary_of(0)
    compactor = Compactor()
    compactor.compact(first)
    compactor.compact(second)
    assert len(pickle.dumps([first, second])) < 1.5 * len(pickle.dumps([first]))


def test_numbers_of_different_types_are_not_exchanged() -> None:
    """`(1,)` equals `(True,)`, and stays another tuple."""
    first, second = summary_of(0), summary_of(1)
    first.cells, second.cells = ((1, 0),), ((True, False),)
    compactor = Compactor()
    compactor.compact(first)
    compactor.compact(second)
    assert [type(part) for part in (*first.cells[0], *second.cells[0])] == [int, int, bool, bool]


def test_equal_values_become_one() -> None:
    """For an equal value, the first one is returned."""
    equal = Interner()
    first, second = Type(TypeTag.TENSOR, dtype="float32"), Type(TypeTag.TENSOR, dtype="float32")
    assert first is not second
    assert equal(first) is first
    assert equal(second) is first
    assert equal(Type(TypeTag.STR)) is not first


def test_calls_of_several_files_share_what_they_pass(tmp_path: Path) -> None:
    """A worker stores equal arguments of calls in all of its files once."""
    jobs = []
    for name in ("one", "two"):
        path = tmp_path / f"{name}.py"
        path.write_text(LEARNER)
        jobs.append(FileTask(path, path.name, name, "", frozenset({"RL101"}), None, len(LEARNER)))
    summaries = Worker().summarise(jobs)
    calls = [call for each in summaries.values() for call in each.functions["learn"].calls]
    assert len(calls) == 4
    assert len({id(call.arguments) for call in calls}) == 2  # arguments of two functions
    assert len({id(call.names) for call in calls}) == 1
