"""The result of a comparison, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from comparing.executed import reached
from comparing.fixing import Fix, Fixes
from comparing.running import Run
from comparing.suites import Outcome, Suite
from comparing.trainings import Training

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Comparison:
    """A project before and after fixing."""

    project: str
    options: tuple[str, ...]
    fixes: Fixes
    suites: tuple[Suite, ...]
    trainings: tuple[Training, ...]
    linked: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether a test or a training differs."""
        return any(suite.different for suite in self.suites) or any(
            each.difference for each in self.trainings
        )

    def reached(self, runs: Sequence[Run]) -> tuple[Fix, ...] | None:
        """The fixes whose places ran before fixing; None if no run recorded lines."""
        measured = [run for run in runs if run.measured]
        if not measured and self.fixes.applied:
            return None
        lines = {path: set[int]() for path in self.fixes.before}
        for run in measured:
            if run.fixed:
                continue
            for path, found in run.lines.items():
                lines[path] |= found
        return reached(self.fixes, lines)

    @property
    def runs(self) -> list[Run]:
        """All runs."""
        compared: list[Suite | Training] = [*self.suites, *self.trainings]
        return [run for each in compared for run in each.runs]


def table(found: Comparison) -> str:
    """The comparison, to be read."""
    rules = ", ".join(f"{code} {count}" for code, count in found.fixes.by_code().items())
    lines = [
        f"project     {found.project}",
        f"command     {' '.join(('rlint fix', *found.options))}",
        f"fixes       {len(found.fixes.applied)} in {len(found.fixes.after)} files"
        + (f": {rules}" if rules else ""),
    ]
    lines += [f"linked      {path} (not copied)" for path in found.linked]
    for suite in found.suites:
        lines += ["", f"tests       {suite.command}", *_suite(suite), *_executed(found, suite.runs)]
    for training in found.trainings:
        lines += [
            "",
            f"training    {training.command}",
            *_training(training),
            *_executed(found, training.runs),
        ]
    lines += ["", *_missed(found), f"verdict     {'DIFFERENT' if found.differs else 'the same'}"]
    return "\n".join(lines) + "\n"


def _suite(suite: Suite) -> list[str]:
    endings = ", ".join(f"{count} {ending}" for ending, count in sorted(suite.endings.items()))
    lines = [
        f"  before    {endings} ({_seconds(suite.runs)})",
        f"  compared  {suite.same} the same, {len(suite.different)} different, {len(suite.flaky)} flaky",
    ]
    for each in suite.different[:_SHOWN]:
        often = "" if each.times == each.runs else f" (in {each.times} of {each.runs} runs)"
        lines += [
            f"  DIFFERENT {each.test}",
            f"    before  {each.before}",
            f"    after   {each.after}{often}",
        ]
    lines += [f"  flaky     {name}" for name in suite.flaky[:_SHOWN]]
    hidden = max(0, len(suite.different) - _SHOWN) + max(0, len(suite.flaky) - _SHOWN)
    return [*lines, f"  ... and {hidden} more (--json has all)"] if hidden else lines


def _training(training: Training) -> list[str]:
    what = f"{training.lines} lines without times, {training.parts} values and tensors"
    lines = [
        f"  compared  {what}; {len(training.varying)} vary by themselves ({_seconds(training.runs)})",
        f"  DIFFERENT {training.difference}" if training.difference else "  compared  identical to the bit",
    ]
    return lines + [f"  varies    {name}" for name in training.varying[:5]]


def _executed(found: Comparison, runs: Sequence[Run]) -> list[str]:
    ran = found.reached(runs)
    if ran is None:
        return ["  executed  not measured: coverage.py is not there, or was not asked for"]
    return [f"  executed  {len(ran)} of {len(found.fixes.applied)} fixed places"]


def _missed(found: Comparison) -> list[str]:
    ran = found.reached(found.runs)
    if ran is None:
        return []
    missed = [fix for fix in found.fixes.applied if fix not in set(ran)]
    lines = [f"executed    {len(ran)} of {len(found.fixes.applied)} fixed places in all"]
    lines += [f"  not run   {fix}" for fix in missed[:_SHOWN]]
    return [*lines, f"  ... and {len(missed) - _SHOWN} more"] if len(missed) > _SHOWN else lines


def _seconds(runs: Sequence[Run]) -> str:
    return ", ".join(f"{run.ran.seconds:.0f} s{' fixed' if run.fixed else ''}" for run in runs)


def as_json(found: Comparison) -> dict[str, Any]:
    """The comparison, to be read by programs."""
    ran = found.reached(found.runs)
    return {
        "version": 1,
        "project": found.project,
        "options": list(found.options),
        "same": not found.differs,
        "fixes": [
            {
                "code": fix.code,
                "safety": fix.safety,
                "path": fix.path.as_posix(),
                "line": fix.line,
                "executed": None if ran is None else fix in set(ran),
            }
            for fix in found.fixes.applied
        ],
        "not_copied": list(found.linked),
        "tests": [
            {
                "command": suite.command,
                "before": dict(suite.endings),
                "same": suite.same,
                "different": [
                    {
                        "test": each.test,
                        "before": _ending(each.before),
                        "after": _ending(each.after),
                        "times": each.times,
                        "runs": each.runs,
                    }
                    for each in suite.different
                ],
                "flaky": list(suite.flaky),
                **_ran(found, suite.runs),
            }
            for suite in found.suites
        ],
        "trainings": [
            {
                "command": training.command,
                "identical": training.difference is None,
                "difference": training.difference,
                "lines": training.lines,
                "parts": training.parts,
                "varying": list(training.varying),
                **_ran(found, training.runs),
            }
            for training in found.trainings
        ],
    }


def _ending(outcome: Outcome) -> dict[str, str]:
    return {"ending": outcome.ending, "message": outcome.message}


def _ran(found: Comparison, runs: Sequence[Run]) -> dict[str, Any]:
    ran = found.reached(runs)
    return {
        "executed": None if ran is None else len(ran),
        "runs": [{"fixed": run.fixed, "seconds": round(run.ran.seconds, 3)} for run in runs],
    }
