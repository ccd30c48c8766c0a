"""Equal values in summaries are stored once."""

from __future__ import annotations

from pathlib import Path

from rlint.engine.worker import Worker
from rlint.models.value_type import Type, TypeTag
from rlint.run_data import FileTask
from rlint.semantics.interprocedural.interning import Interner

LEARNER = """
import helpers

def learn(agent, batch):
    helpers.log(agent, batch)
    helpers.log(agent, batch)
"""


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
