"""Trial of fixes: the command runs without and with them; those that cause failures are found and left
out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rlint.engine.api import Fixer
from rlint.errors import RlintError
from rlint.findings import Finding
from rlint.run_data import Changed, FixId, FixReport
from rlint.trial.copying import NotCopied
from rlint.trial.ddmin import ddmin
from rlint.trial.place import TrialPlace
from rlint.trial.scratch import Scratch
from rlint.trial.speed import Speed, compare
from rlint.trial.user_command import Ran, run_command

FIRST_LIMIT = 3600.0
"""Maximum seconds of the command before any fix, if no limit is given."""
_PATIENCE, _LEAST_LIMIT = (
    10,
    60.0,
)  # with fixes: this multiple of the time before, and at least this many seconds
_BROKEN = b"this file is broken on purpose: does the command notice? (\n"


@dataclass(frozen=True, slots=True)
class TrialOrder:
    """The parameters of a trial. `timeout` is in seconds, for one run."""

    command: str
    timeout: float | None = None
    require_faster: bool = False


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A minimal set of fixes with which the command fails or is slower."""

    ids: tuple[FixId, ...]
    findings: tuple[Finding, ...]
    ran: Ran
    speed: Speed | None
    """Set if it is slower, and does not fail."""


@dataclass(frozen=True, slots=True)
class Tried:
    """The result of a trial. `fixes` are those that remain."""

    command: str
    fixes: FixReport
    before: tuple[Ran, ...] = ()
    after: Ran | None = None
    left_out: tuple[LeftOut, ...] = ()
    dependent: tuple[tuple[FixId, Finding], ...] = ()
    """Fixes that depend on others which were left out."""
    speed: Speed | None = None
    runs: int = 0
    noticed: bool = True
    """Whether the command fails if the fixed files are broken; if not, it does not test them."""
    not_copied: tuple[NotCopied, ...] = ()


def try_fixes(
    fixer: Fixer,
    everything: FixReport,
    order: TrialOrder,
    place: TrialPlace,
    *,
    unsafe: bool,
    tell: Callable[[str], None],
) -> Tried:
    """Return those of the fixes in `everything` with which the command passes. Only a copy of the tree is
    changed.

    Raises RlintError if the command fails before any fix, then takes too long, or is not deterministic on the
    same files.
    """
    if not everything.changed:
        return Tried(order.command, everything)
    files = {changed.source.path: place.inside(changed.source.path) for changed in everything.changed}
    with Scratch(place.root, set(files.values())) as scratch:
        return _Trial(fixer, order, place, scratch, everything, unsafe=unsafe, tell=tell).result()


class _Trial:
    def __init__(
        self,
        fixer: Fixer,
        order: TrialOrder,
        place: TrialPlace,
        scratch: Scratch,
        everything: FixReport,
        *,
        unsafe: bool,
        tell: Callable[[str], None],
    ) -> None:
        self._fixer = fixer
        self._order = order
        self._place = place
        self._scratch = scratch
        self._everything = everything
        self._findings = dict(zip(everything.ids, everything.applied, strict=True))
        self._unsafe = unsafe
        self._report = tell
        self._environment = place.environment(scratch.folder, [c.source.path for c in everything.changed])
        self._limit: float | None = order.timeout
        self._runs = 0
        self._reports = {frozenset(everything.ids): everything}
        self._seen: dict[frozenset[tuple[Path, bytes]], Ran] = {}
        self._compared: dict[frozenset[tuple[Path, bytes]], Speed] = {}
        # As they were read: the tree may have changed since.
        self._originals = {place.inside(c.source.path): c.source.raw for c in everything.changed}

    def result(self) -> Tried:
        before = self._run_before()
        left_out: list[LeftOut] = []
        allowed = list(self._everything.ids)
        self._check_all(allowed)
        while not self._passes(allowed):
            culprits = ddmin(allowed, lambda some: not self._passes(some))
            left_out.append(self._failing(culprits))
            allowed = [name for name in allowed if name not in culprits]
        speed = None
        while self._order.require_faster and allowed:
            speed = self._speed(allowed)
            if not speed.is_slower:
                break
            culprits = ddmin(allowed, self._fails_or_is_slower)
            ran = self._ran(self._contents(culprits))
            left_out.append(self._left_out(culprits, ran, self._speed(culprits) if ran.passed else None))
            allowed = [name for name in allowed if name not in culprits]
        fixes = self._fixed(allowed)
        contents = self._contents(allowed)
        return Tried(
            self._order.command,
            fixes,
            before,
            self._ran(contents) if contents else None,
            tuple(left_out),
            tuple((name, self._findings[name]) for name in allowed if name not in set(fixes.ids)),
            speed,
            self._runs,
            noticed=not contents or not self._run(dict.fromkeys(contents, _BROKEN)).passed,
            not_copied=self._scratch.left,
        )

    def _run_before(self) -> tuple[Ran, ...]:
        command = self._order.command
        if self._limit is None:
            self._limit = FIRST_LIMIT
        # Twice: a different result on the same files says nothing about fixes.
        before = (self._run({}), self._run({}))
        if any(ran.timed_out for ran in before):
            raise RlintError(
                f"`{command}` did not end within {self._limit:g} s before any fix; nothing was changed"
                " (`--verify-timeout SECONDS` allows more)" + _quoted(before[0])
            )
        if len({ran.passed for ran in before}) > 1:
            failed = next(ran for ran in before if not ran.passed)
            raise self._flaky("before any fix", failed)
        if not before[0].passed:
            raise RlintError(
                f"`{command}` fails before any fix ({before[0].ending}); nothing was changed."
                " It runs in a copy of the tree" + _quoted(before[0])
            )
        if self._order.timeout is None:
            self._limit = max(_LEAST_LIMIT, _PATIENCE * max(ran.seconds for ran in before))
        took = ", ".join(f"{ran.seconds:.1f} s" for ran in before)
        self._report(f"verify: `{command}` passes before any fix ({took})")
        return before

    def _check_all(self, names: Sequence[FixId]) -> None:
        ran = self._ran(self._contents(names))
        files = len(self._everything.changed)
        what = f"{_count(len(names), 'fix')} in {_count(files, 'file')}"
        if ran.passed:
            self._report(f"verify: passes with {what} ({ran.seconds:.1f} s)")
            return
        self._report(f"verify: fails with {what} ({ran.ending}); searching for the fixes that cause it")
        self._confirm(names)

    def _failing(self, culprits: Sequence[FixId]) -> LeftOut:
        if len(culprits) < len(self._everything.ids):
            self._confirm(culprits)
        return self._left_out(culprits, self._ran(self._contents(culprits)), None)

    def _confirm(self, names: Sequence[FixId]) -> None:
        """Run once more with fixes that fail: a flaky command blames none."""
        again = self._run(self._contents(names))
        if again.passed:
            raise self._flaky("with the same fixes", self._ran(self._contents(names)))

    def _flaky(self, when: str, failed: Ran) -> RlintError:
        return RlintError(
            f"`{self._order.command}` is flaky: {when} it passed once and failed once ({failed.ending});"
            " nothing was changed" + _quoted(failed)
        )

    def _left_out(self, culprits: Sequence[FixId], ran: Ran, speed: Speed | None) -> LeftOut:
        named = ", ".join(f"{name.code} at {name.path}:{name.line}" for name in culprits)
        self._report(f"verify: dropped {named}")
        return LeftOut(tuple(culprits), tuple(self._findings[name] for name in culprits), ran, speed)

    def _passes(self, names: Sequence[FixId]) -> bool:
        contents = self._contents(names)
        return not contents or self._ran(contents).passed

    def _fails_or_is_slower(self, names: Sequence[FixId]) -> bool:
        return not self._passes(names) or (bool(self._contents(names)) and self._speed(names).is_slower)

    def _fixed(self, names: Iterable[FixId]) -> FixReport:
        key = frozenset(names)
        if key not in self._reports:
            self._reports[key] = self._fixer.fix(unsafe=self._unsafe, allowed=key.__contains__)
        return self._reports[key]

    def _contents(self, names: Sequence[FixId]) -> dict[Path, bytes]:
        fixed = self._fixed(names)
        return {self._place.inside(c.source.path): _encoded(c) for c in fixed.changed}

    def _ran(self, contents: Mapping[Path, bytes]) -> Ran:
        """Return the result of the command with these contents of fixed files, running it at most once."""
        key = frozenset(contents.items())
        if key not in self._seen:
            self._seen[key] = self._run(contents)
        return self._seen[key]

    def _speed(self, names: Sequence[FixId]) -> Speed:
        contents = self._contents(names)
        key = frozenset(contents.items())
        if key not in self._compared:
            self._report(f"verify: timing {_count(len(names), 'fix')}")
            self._compared[key] = compare(lambda: self._timed({}), lambda: self._timed(contents))
        return self._compared[key]

    def _timed(self, contents: Mapping[Path, bytes]) -> float:
        ran = self._run(contents)
        if not ran.passed:
            raise self._flaky("with the same fixes", ran)
        return ran.seconds

    def _run(self, contents: Mapping[Path, bytes]) -> Ran:
        self._scratch.renew({**self._originals, **contents})
        self._runs += 1
        try:
            return run_command(
                self._order.command,
                self._scratch.folder / self._place.working,
                self._environment,
                timeout=self._limit,
                started=self._scratch.note,
            )
        finally:
            self._scratch.note(0)


def _count(number: int, noun: str) -> str:
    plural = f"{noun}es" if noun.endswith("x") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


def _encoded(changed: Changed) -> bytes:
    try:
        return changed.source.encode(changed.text)
    except UnicodeEncodeError:
        return changed.source.raw  # it cannot be written either, which is reported then


def _quoted(ran: Ran) -> str:
    """Return the end of a run's output, as part of a message."""
    return "".join(f"\n  | {line}" for line in ran.tail(20))
