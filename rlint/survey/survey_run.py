"""A whole survey: distributing tasks, repeating lost ones, and collecting the results."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from rlint.errors import RlintError
from rlint.survey.executors import Executor, LostWorkError
from rlint.survey.repository_list import SurveyedRepository
from rlint.survey.run_task import run_task
from rlint.survey.task_data import CHANGED, KEPT, LEFT, SPLIT, UNFIT, SurveyOptions, SurveyTask, TaskOutcome

_AHEAD = 2
"""Number of tasks submitted per CPU core: one runs, the others wait at the node."""
_MOST_CHANGES = 2
"""How often a repository that changes during its check is restarted."""


class SurveyProgress(Protocol):
    """Receives the progress of a survey."""

    def advance(self, steps: int = 1) -> None:
        """Record completed repositories."""


@dataclass
class SurveyedResult:
    """The result for one repository."""

    repository: SurveyedRepository
    commit: str = ""
    results: list[str] = field(default_factory=list)
    """The names under which the findings of its parts are stored."""
    reason: str = ""
    """Why it was not checked; "" if it was."""
    seconds: float = 0.0
    """Approximate processor time of its tasks."""
    kept: bool = True
    """Whether all of it was known from an earlier run."""
    reused: int = 0
    lost: int = 0
    """Number of its tasks that were lost with workers or nodes."""


def survey(
    repositories: Sequence[SurveyedRepository],
    options: SurveyOptions,
    executor: Executor,
    *,
    retries: int = 3,
    progress: SurveyProgress | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> list[SurveyedResult]:
    """Check repositories, and return their results, in order.

    Tasks that are lost with a worker or node are repeated, up to a limit. Ctrl-C stops all tasks: completed
    results are stored, and reused by the next run.
    """
    run = _Run(repositories, options, executor, retries, tell)
    try:
        return run.all(progress)
    except BaseException:
        executor.stop()
        raise


class _Run:
    def __init__(
        self,
        repositories: Sequence[SurveyedRepository],
        options: SurveyOptions,
        executor: Executor,
        retries: int,
        tell: Callable[[str], None],
    ) -> None:
        self._repositories, self._options, self._executor = repositories, options, executor
        self._retries, self._report = retries, tell
        self._left = deque(SurveyTask(number, each) for number, each in enumerate(repositories))
        self._running: dict[object, tuple[SurveyTask, int]] = {}
        """Each task with the attempt at its repository that it belongs to."""
        self._lost: dict[tuple[int, int, int], int] = {}
        self._changes: dict[int, int] = {}
        self._parts: dict[int, dict[int, TaskOutcome]] = {}
        self._results: dict[int, SurveyedResult] = {}

    def all(self, progress: SurveyProgress | None) -> list[SurveyedResult]:
        while self._left or self._running:
            room = _AHEAD * self._executor.slots - len(self._running)
            for _ in range(min(room, len(self._left))):
                task = self._left.popleft()
                if task.number not in self._results:  # a part of it has failed meanwhile
                    ticket = self._executor.submit(run_task, task, self._options)
                    self._running[ticket] = task, self._changes.get(task.number, 0)
            done = len(self._results)
            for ticket, outcome in self._executor.finished():
                task, attempt = self._running.pop(ticket)
                if task.number not in self._results and attempt == self._changes.get(task.number, 0):
                    self._take(task, outcome)
            if progress is not None and len(self._results) > done:
                progress.advance(len(self._results) - done)
        return [self._results[number] for number in range(len(self._repositories))]

    def _take(self, task: SurveyTask, outcome: TaskOutcome | LostWorkError) -> None:
        if isinstance(outcome, LostWorkError):
            self._again(task, str(outcome))
        elif outcome.status == UNFIT:
            raise RlintError(f"{outcome.reason}; install the same on all nodes")
        elif outcome.status == LEFT:
            self._leave(task, outcome.reason, outcome.commit)
        elif outcome.status == CHANGED:
            self._restart(task)
        elif outcome.status == SPLIT:
            self._parts[task.number] = {}
            first = replace(task, parts=outcome.parts, commit=outcome.commit, content=outcome.content)
            self._left.extendleft(replace(first, part=part) for part in reversed(range(outcome.parts)))
        else:
            self._add(task, outcome)

    def _add(self, task: SurveyTask, outcome: TaskOutcome) -> None:
        parts = self._parts.setdefault(task.number, {})
        parts[task.part] = outcome  # a part that was checked twice counts once
        if len(parts) < task.parts:
            return
        ordered = [parts[number] for number in range(task.parts)]
        self._results[task.number] = SurveyedResult(
            task.repository,
            outcome.commit,
            [each.result for each in ordered],
            seconds=sum(each.seconds for each in ordered),
            kept=all(each.status == KEPT for each in ordered),
            reused=sum(each.reused for each in ordered),
            lost=self._lost_of(task),
        )

    def _again(self, task: SurveyTask, reason: str) -> None:
        key = (task.number, task.part, task.parts)
        self._lost[key] = self._lost.get(key, 0) + 1
        if self._lost[key] > self._retries:
            self._leave(task, f"{reason}, {self._lost[key]} times", task.commit)
        else:
            self._left.append(task)

    def _restart(self, task: SurveyTask) -> None:
        self._changes[task.number] = self._changes.get(task.number, 0) + 1
        self._parts.pop(task.number, None)
        if self._changes[task.number] > _MOST_CHANGES:
            self._leave(task, "it changed while it was checked", "")
            return
        others = [each for each in self._left if each.number != task.number]
        self._left = deque([*others, SurveyTask(task.number, task.repository)])

    def _leave(self, task: SurveyTask, reason: str, commit: str) -> None:
        self._results[task.number] = SurveyedResult(
            task.repository, commit, reason=reason, kept=False, lost=self._lost_of(task)
        )
        self._report(f"{task.repository.shown}: not checked: {reason}")

    def _lost_of(self, task: SurveyTask) -> int:
        return sum(count for key, count in self._lost.items() if key[0] == task.number)


def counted(results: Sequence[SurveyedResult]) -> Mapping[str, int]:
    """Return the numbers of repositories that were checked now, known before, and not checked."""
    left = sum(1 for each in results if each.reason)
    kept = sum(1 for each in results if each.kept and not each.reason)
    return {"checked": len(results) - left - kept, "kept": kept, "left": left}
