"""A whole `rlint prove`: plan, record, replay, verdicts."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import rlint
from rlint.engine.api import Fixer
from rlint.errors import RlintError
from rlint.evidence.results import BUSY, Ratio
from rlint.findings import Finding
from rlint.harness.machine import busy
from rlint.harness.processes import process
from rlint.harness.processes.job import Message
from rlint.harness.processes.start import ForkServers
from rlint.harness.program import AFTER, BEFORE, Subject
from rlint.prove import judging
from rlint.prove.interruptions import Interruptions
from rlint.prove.plan.fix_plans import ChangedPlace, FixPlan, ProofPlan, make_plan
from rlint.prove.plan.regions import RegionUse
from rlint.prove.proof import (
    DIFFERENT,
    FASTER,
    NO_CHANGE,
    NO_FIX,
    NOT_REACHED,
    NOT_RECORDED,
    SLOWER,
    Proof,
    ProvenFix,
    WholeRun,
)
from rlint.prove.recording_run import ProveLimits, RecordedRun, RegionCounts, record
from rlint.prove.replay.replay_job import Replayed, ReplayJob
from rlint.prove.whole_run import alternate
from rlint.run_data import FixId
from rlint.source.files import Source, read_source

_LONGEST_CALL = 5.0
"""Maximum seconds of a call that is replayed: longer ones would repeat a whole training."""
_MOST_RECORDS = 8
_SILENCE = 300.0
_ORDER = (DIFFERENT, SLOWER, NO_CHANGE, FASTER)
"""The verdict on several places is the worst of them."""


@dataclass(frozen=True)
class ProveOptions:
    """The options of `rlint prove`."""

    limits: ProveLimits = field(default_factory=ProveLimits)
    budget: float = 4.0
    """Seconds for timing one fix."""
    processes: int = 3
    pairs: int = 0
    """How often the command itself runs before and after the fixes."""
    estimates: Callable[[Sequence[Finding]], Mapping[Finding, Expected]] = lambda _: {}
    """The expected gains of fixes."""
    memory: int = 8 * 2**30
    runner: process.JobRunner = field(default_factory=process.OnThisMachine)


@dataclass(frozen=True)
class Expected:
    """The estimate for a finding before measurements on the run."""

    impact: str = ""
    saved: Ratio | None = None
    """The fraction of the run that the fix would save, according to a profile."""


@dataclass
class Outcome:
    """The result at one place of a fix."""

    use: RegionUse | None = None
    counts: RegionCounts = field(default_factory=RegionCounts)
    replayed: Replayed | None = None
    reasons: dict[str, None] = field(default_factory=dict)

    @property
    def reached(self) -> bool:
        """Whether the run came there."""
        return self.counts.calls > 0


def prove(
    fixer: Fixer,
    command: Sequence[str],
    options: ProveOptions,
    tell: Callable[[str], None] = lambda _: None,
    requested: Interruptions | None = None,
) -> Proof:
    """Record the command, and prove every fix that the fixer offers on the recorded calls.

    An interrupt ends the command, and then the replays; the results so far are returned. Raises RlintError if
    there is nothing to prove, or the command cannot be started.
    """
    if requested is None:
        requested = Interruptions()
        with requested.taken():
            return prove(fixer, command, options, tell, requested)
    plan = make_plan(fixer, tell)
    if not plan.single:
        raise RlintError("there is nothing to prove: no finding has a fix")
    roots = _roots(plan)
    with requested.folder() as folder:
        tell("recording")
        run = record(command, plan.files(), folder, roots, options.limits, requested)
        _check_run(run, plan)
        with contextlib.closing(ForkServers()) as servers:
            return _Proving(fixer, plan, run, roots, options, servers, tell).proof()


def _roots(plan: ProofPlan) -> tuple[str, ...]:
    """Return the folders whose modules are the program's own."""
    folders = {str(Path(path).parent) for path in plan.before}
    folders.add(os.getcwd())
    spelled = {*folders, *map(os.path.realpath, folders)}  # files may be named through links
    return tuple(sorted(one.rstrip(os.sep) + os.sep for one in spelled))


def _check_run(run: RecordedRun, plan: ProofPlan) -> None:
    """Raise RlintError if the run is not usable."""
    import sys

    own = {os.path.realpath(sys.executable), sys.executable}
    others = {one for one in run.executables if one not in own and os.path.realpath(one) not in own}
    if others:
        raise RlintError(
            f"the command runs in {min(others)}, and rlint in {sys.executable}: install rlint where the"
            " command runs (`pip install 'rlint[verify]'`)"
        )
    if run.status and not run.stopped and not any(one.calls for one in run.regions.values()):
        raise RlintError(
            f"the command failed (exit status {run.status}) before it reached any code that a fix changes"
        )
    for each in plan.report.changed:
        now = read_source(each.source.path, each.source.name)
        if not isinstance(now, Source) or now.text != each.source.text:  # outputs of notebooks may change
            what = f"{each.source.name} changed while it was proven"
            raise RlintError(f"{what}; run `rlint prove` again while no program edits it")


class _Proving:
    def __init__(
        self,
        fixer: Fixer,
        plan: ProofPlan,
        run: RecordedRun,
        roots: tuple[str, ...],
        options: ProveOptions,
        servers: ForkServers,
        tell: Callable[[str], None],
    ) -> None:
        self._fixer = fixer
        self._plan, self._run, self._roots, self._options = plan, run, roots, options
        self._servers, self._report = servers, tell
        self._expected: Mapping[Finding, Expected] = {}
        self._clock = judging.PROCESSOR if busy() > BUSY else judging.WALL

    def proof(self) -> Proof:
        fixes: list[ProvenFix] = []
        together = whole = None
        problem = ""
        try:
            self._expected = self._options.estimates(
                [*self._plan.report.applied, *self._plan.report.report.findings]
            )
            for number, plan in enumerate(self._plan.single, start=1):
                finding = plan.findings[0]
                place = f"{finding.code} at {finding.path}:{finding.start.line}"
                self._report(f"replaying {place} ({number} of {len(self._plan.single)})")
                fixes.append(self._proven(plan, plan.ids[0], finding))
            kept, together = self._all(fixes)
            try:
                whole = self._whole(kept)
            except RlintError as error:  # the verdicts are reported nevertheless
                problem = str(error)
        except KeyboardInterrupt:
            for plan in self._plan.single[len(fixes) :]:
                known = self._known(plan, plan.ids[0], plan.findings[0])
                fixes.append(
                    dataclasses.replace(known, reason="rlint was interrupted before it was replayed")
                )
        digests = {
            each.source.name: self._plan.digests[os.path.abspath(each.source.path)]
            for each in self._plan.report.changed
        }
        return Proof(
            self._run.command,
            datetime.now(timezone.utc).isoformat(timespec="seconds"),
            rlint.__version__,
            dataclasses.asdict(self._options.runner.describe("")),
            self._run.status,
            self._run.stopped,
            self._run.seconds,
            self._run.overhead,
            tuple(fixes),
            together,
            tuple(self._without_fix(finding, name) for finding, name in self._left()),
            digests,
            whole,
            problem,
        )

    def _all(self, fixes: Sequence[ProvenFix]) -> tuple[list[ProvenFix], ProvenFix | None]:
        """Return the fixes to apply, and the result of replaying them together."""
        kept = [one for one in fixes if one.is_proven]
        kept = kept if len(kept) > 1 else [one for one in fixes if one.verdict in (FASTER, NO_CHANGE, SLOWER)]
        together = None
        if len(kept) > 1:
            self._report(f"replaying {len(kept)} fixes together")
            names = frozenset(one.name for one in kept)
            what = (
                "the proven fixes together"
                if kept[0].is_proven
                else "the fixes that keep the results together"
            )
            together = self._together(self._plan.combined(self._fixer, names), what)
        return kept, together

    def _whole(self, kept: Sequence[ProvenFix]) -> WholeRun | None:
        """Run the command itself before and after the proven fixes."""
        if not self._options.pairs or not kept:
            return None
        names = frozenset(one.name for one in kept)
        changed = self._fixer.fix(unsafe=True, allowed=names.__contains__).changed
        texts = {each.source.path: each.source.encode(each.text) for each in changed}
        return alternate(self._run.command, texts, self._options.pairs, self._report, busy=busy() > BUSY)

    def _left(self) -> list[tuple[Finding, FixId | None]]:
        """Return the remaining findings, with their places before all fixes."""
        report = self._plan.report
        names = report.left or (None,) * len(report.report.findings)
        return list(zip(report.report.findings, names, strict=True))

    def _without_fix(self, finding: Finding, name: FixId | None) -> ProvenFix:
        return ProvenFix(
            finding.code,
            finding.path,
            name.line if name is not None else finding.start.line,
            name.column if name is not None else finding.start.column,
            finding.message,
            NO_FIX,
            reason=finding.no_fix or "",
            impact=self._expected.get(finding, Expected()).impact,
        )

    # --- one fix ---

    def _known(self, plan: FixPlan, name: FixId, finding: Finding) -> ProvenFix:
        """Return what is known of a fix before it is replayed."""
        assert finding.fix is not None
        return ProvenFix(
            finding.code,
            finding.path,
            name.line,
            name.column,
            finding.message,
            NOT_RECORDED,
            safety=finding.fix.safety.value,
            title=finding.fix.title,
            ordinal=name.ordinal,
            impact=self._expected.get(finding, Expected()).impact,
            estimate=self._expected.get(finding, Expected()).saved,
            notes=tuple(
                f"proven together with {one.code} at line {one.line}, without which it is not found"
                for one in plan.needs
            ),
        )

    def _proven(self, plan: FixPlan, name: FixId, finding: Finding) -> ProvenFix:
        known = self._known(plan, name, finding)
        if plan.problem and not plan.places:
            return dataclasses.replace(known, reason=plan.problem)
        outcomes = [self._place(plan, place) for place in plan.places]
        return self._judged(known, outcomes)

    def _together(self, plan: FixPlan, what: str) -> ProvenFix:
        known = ProvenFix("", "", 0, 0, f"{what} ({len(plan.ids)})", NOT_RECORDED)
        outcomes = [self._place(plan, place) for place in plan.places]
        reached = [one for one in outcomes if one.reached]
        return self._judged(known, [one for one in reached if one.replayed] or outcomes)

    def _judged(self, known: ProvenFix, outcomes: Sequence[Outcome]) -> ProvenFix:
        reached = [one for one in outcomes if one.reached]
        calls = max((one.counts.calls for one in outcomes), default=0)
        if not reached:
            return dataclasses.replace(
                known, verdict=NOT_REACHED, reason="the run did not reach the code that it changes"
            )
        verdicts: list[str] = []
        found = []
        for one in reached:
            times = judging.times(one.replayed.rounds, self._clock) if one.replayed else None
            verdict = judging.verdict_of(one.replayed, times) if one.replayed else ""
            verdicts.append(verdict)
            found.append((one, times))
        reasons = list(dict.fromkeys(reason for one in reached for reason in one.reasons))
        wheres = dict.fromkeys(one.use.region.where for one in reached if one.use)
        base = dataclasses.replace(
            known,
            where=", ".join(wheres),
            calls=calls,
            cases=sum(one.replayed.cases for one in reached if one.replayed),
            sequences=sum(one.replayed.sequences for one in reached if one.replayed),
            notes=tuple(
                dict.fromkeys(note for one in reached if one.replayed for note in one.replayed.notes)
            ),
            differences=tuple(
                {name: str(value) for name, value in dataclasses.asdict(each).items()}
                for one in reached
                if one.replayed
                for each in one.replayed.differences
            ),
            share=min(1.0, sum(self._share(one) for one in reached)),
        )
        if not reasons and base.cases and "" in verdicts:
            reasons = ["every recorded call raised an exception, so that there was nothing to time"]
        if DIFFERENT not in verdicts and "" in verdicts:
            return dataclasses.replace(base, reason="; ".join(reasons) or "nothing could be replayed")
        worst = next((one for one in _ORDER if one in verdicts), "")
        timed = [(one, times) for one, times in found if times is not None]
        base = dataclasses.replace(base, verdict=worst, reason="; ".join(reasons))
        if not timed:
            return base
        return self._with_times(base, timed)

    def _with_times(self, base: ProvenFix, timed: Sequence[tuple[Outcome, Any]]) -> ProvenFix:
        """Add times, of several places weighted by the time that the run spends there."""
        shares = [max(self._share(one), 1e-9) for one, _ in timed]
        pairs = [judging.ratios(times) for _, times in timed]
        before, after = (
            sum(judging.medians(times)[index] * one.counts.calls for one, times in timed)
            / max(1, sum(one.counts.calls for one, _ in timed))
            for index in (0, 1)
        )
        ratio = _weighted([ratio for ratio, _ in pairs], shares)
        control = _weighted([control for _, control in pairs], shares)
        verdict = base.verdict
        if len(timed) > 1 and verdict != DIFFERENT:
            verdict = judging.verdict_of_times(ratio, control)
        return dataclasses.replace(
            base,
            verdict=verdict,
            ratio=ratio,
            control=control,
            before=before,
            after=after,
            memory=next((judging.memory_ratio(one.replayed) for one, _ in timed if one.replayed), None),
            waits=next((_waits(one.replayed) for one, _ in timed if one.replayed), ()),
        )

    def _share(self, one: Outcome) -> float:
        """Return the fraction of the run that a place takes."""
        took = max(self._run.seconds - self._run.spent, 1e-6)
        return min(1.0, one.counts.seconds / took)

    # --- one place ---

    def _place(self, plan: FixPlan, place: ChangedPlace) -> Outcome:
        """Prove a fix at one place, by the best region with enough records."""
        outcome = Outcome()
        for use in place.uses:
            counts = self._run.regions.get(use.number)
            if counts is None or not counts.calls:
                continue
            if not outcome.reached:
                outcome.counts = counts
            if counts.longest > _LONGEST_CALL:
                outcome.reasons[f"one call of {use.region.where} takes {counts.longest:.0f} s"] = None
                continue
            if not counts.records:
                outcome.reasons |= dict.fromkeys(counts.failures)
                continue
            replayed = self._replayed(plan, place.path, use, counts, outcome)
            if replayed is None:
                continue
            outcome.reasons |= dict.fromkeys(replayed.left_out)
            if not replayed.cases:
                continue
            if not replayed.differences or outcome.replayed is None:
                outcome.use, outcome.counts, outcome.replayed = use, counts, replayed
            if not replayed.differences or use.region.whole:
                break
        if outcome.replayed is not None:
            outcome.reasons.clear()
        return outcome

    def _replayed(
        self, plan: FixPlan, path: str, use: RegionUse, counts: RegionCounts, outcome: Outcome
    ) -> Replayed | None:
        records = counts.records[:_MOST_RECORDS]
        processes = self._options.processes
        found: Replayed | None = None
        for number in range(processes):
            job = ReplayJob(
                use.region,
                path,
                self._roots,
                self._plan.before,
                {**self._plan.before, **plan.texts},
                tuple(records),
                self._run.key,
                budget=self._options.budget / processes,
                decorators=True,
                round=number,
                only=None if found is None else found.good,
                made=tuple(plan.made),
            )
            given = self._run_job(job, outcome)
            if given is None:
                return found
            if found is None:
                found = given
                if not found.rounds:
                    return found
            else:
                found.rounds += given.rounds
        return found

    def _run_job(self, job: ReplayJob, outcome: Outcome) -> Replayed | None:
        results: list[Replayed] = []

        def take(message: Message) -> None:
            if message.kind == "result":
                results.append(message.data)
            elif message.kind == "failed":
                outcome.reasons[message.data] = None

        texts = {BEFORE: self._plan.before, AFTER: {}}
        start = self._servers.start_for(Subject("", "", (), "", texts), "cpu")
        limits = process.ProcessLimits(_SILENCE, self._options.memory)
        try:
            self._options.runner.run(job, limits, take, threads=1, hash_seed=0, start=start)
        except process.EndedError as error:
            outcome.reasons[f"replaying it {error}"] = None
        return results[0] if results else None


def _waits(replayed: Replayed) -> tuple[float, ...]:
    """Return the number of device synchronisations of calls, before and after."""
    found = [replayed.waits.get(name, []) for name in (BEFORE, AFTER)]
    return tuple(statistics.fmean(each) for each in found) if all(found) else ()


def _weighted(found: Sequence[Ratio], shares: Sequence[float]) -> Ratio:
    """Return the mean ratio of several places, weighted by the time that is spent there."""
    whole = sum(shares)
    values = []
    for name in ("value", "low", "high"):
        after = sum(share / getattr(ratio, name) for ratio, share in zip(found, shares, strict=True))
        values.append(whole / after)
    return Ratio(*values)
