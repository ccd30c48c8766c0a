"""Distribution of tasks: lost ones are repeated, large repositories are split, and each is reported once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlint.errors import RlintError
from rlint.survey.executors import LostWorkError
from rlint.survey.repository_list import SurveyedRepository
from rlint.survey.survey_run import counted, survey
from rlint.survey.task_data import (
    CHANGED,
    CHECKED,
    KEPT,
    LEFT,
    SPLIT,
    UNFIT,
    SurveyOptions,
    SurveyTask,
    TaskOutcome,
)

OPTIONS = SurveyOptions("store", "tool")
ESCAPE_LEVELS = (
    "checked",
    "kept",
    "left",
    "split",
    "changed",
    "lost once",
    "lost always",
    "part lost",
    "part left",
)


class Playing:
    """Simulates results of tasks for each repository, in random order."""

    slots = 3

    def __init__(self, escape_levels: list[str], order: Any) -> None:
        self._escape_levels, self._order = escape_levels, order
        self._waiting: list[tuple[object, SurveyTask]] = []
        self.given: Counter[tuple[int, int, int]] = Counter()
        self.stopped = False

    def submit(self, _: object, *arguments: Any) -> object:
        """Take a task."""
        task = arguments[0]
        assert len(self._waiting) < 2 * self.slots
        ticket = object()
        self._waiting.append((ticket, task))
        return ticket

    def finished(self) -> list[tuple[object, Any]]:
        """Answer some task."""
        ticket, task = self._waiting.pop(self._order(len(self._waiting)))
        self.given[task.number, task.part, task.parts] += 1
        return [(ticket, self._answer(task))]

    def stop(self) -> None:
        """End."""
        self.stopped = True

    def _answer(self, task: SurveyTask) -> Any:
        escape_level = self._escape_levels[task.number]
        times = self.given[task.number, task.part, task.parts]
        name = f"{task.number}/{task.part}"
        if escape_level == "lost always" or (escape_level == "lost once" and times == 1):
            return LostWorkError("the node died")
        if escape_level == "left":
            return TaskOutcome(LEFT, reason="took more than 1 s")
        if escape_level == "kept":
            return TaskOutcome(KEPT, name)
        if escape_level == "unfit":
            return TaskOutcome(UNFIT, reason="a has another rlint")
        if task.parts == 1 and (
            escape_level == "split"
            or escape_level.startswith("part")
            or (escape_level == "changed" and times > 1)
        ):
            return TaskOutcome(SPLIT, parts=3, content="c")
        if task.parts > 1:
            assert task.content == "c"
            if escape_level == "part lost" and task.part == 1 and times <= 2:
                return LostWorkError("the worker process died")
            if escape_level == "part left" and task.part == 1:
                return TaskOutcome(LEFT, reason="ran out of memory")
        if escape_level == "changed" and times == 1 and task.part != 2:
            return TaskOutcome(CHANGED)
        return TaskOutcome(CHECKED, name)


def repositories(count: int) -> list[SurveyedRepository]:
    """Repositories with numbers for names."""
    return [SurveyedRepository(str(number), str(number)) for number in range(count)]


@given(st.lists(st.sampled_from(ESCAPE_LEVELS), min_size=1, max_size=8), st.data())
def test_each_repository_counts_once(escape_levels: list[str], data: st.DataObject) -> None:
    """With any losses and any order of answers, each repository has its results once, or a reason."""
    executor = Playing(escape_levels, lambda count: data.draw(st.integers(0, count - 1)))
    results = survey(repositories(len(escape_levels)), OPTIONS, executor, retries=3)
    assert [each.repository.name for each in results] == [str(number) for number in range(len(escape_levels))]
    for number, (escape_level, result) in enumerate(zip(escape_levels, results, strict=True)):
        names = [f"{number}/{part}" for part in range(3)]
        if escape_level in ("checked", "kept", "lost once"):
            assert result.results == names[:1]
            assert result.kept == (escape_level == "kept")
            assert result.lost == (escape_level == "lost once")
        elif escape_level in ("split", "part lost"):
            assert result.results == names
            assert result.lost == (2 if escape_level == "part lost" else 0)
        elif escape_level == "changed":
            assert result.results == names or result.reason == "it changed while it was checked"
        else:
            reason = {"left": "took more than 1 s", "part left": "ran out of memory"}
            assert result.reason == reason.get(escape_level, "the node died, 4 times")
            assert result.results == []
    numbers = counted(results)
    assert sum(numbers.values()) == len(escape_levels)
    assert numbers["kept"] == escape_levels.count("kept")


def test_a_node_with_another_rlint_ends_the_survey() -> None:
    """Findings of two versions are not mixed: the message says what to do, and no task goes on."""
    executor = Playing(["checked", "unfit"], lambda _: 0)
    with pytest.raises(RlintError, match="another rlint; install the same on all nodes"):
        survey(repositories(2), OPTIONS, executor)
    assert executor.stopped


def test_progress_and_remarks() -> None:
    """Repositories that are given up are reported at once, and progress counts repositories, not tasks."""
    said: list[str] = []

    class Steps:
        """Counts."""

        done = 0

        def advance(self, steps: int = 1) -> None:
            """Count."""
            self.done += steps

    steps = Steps()
    executor = Playing(["split", "left", "lost once"], lambda _: 0)
    survey(repositories(3), OPTIONS, executor, progress=steps, tell=said.append)
    assert steps.done == 3
    assert said == ["1: not checked: took more than 1 s"]


def test_an_interrupt_stops_all_tasks(tmp_path: Path) -> None:
    """Ctrl-C ends running tasks."""

    class Interrupted(Playing):
        """Is interrupted."""

        def finished(self) -> list[tuple[object, Any]]:
            """Press Ctrl-C."""
            raise KeyboardInterrupt

    executor = Interrupted(["checked"], lambda _: 0)
    with pytest.raises(KeyboardInterrupt):
        survey(repositories(1), OPTIONS, executor)
    assert executor.stopped
