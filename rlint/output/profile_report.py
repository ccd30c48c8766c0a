"""Profile data in a report: shares, gains, and hot functions that no rule explains."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rlint.output.terminal import Paint, TextStyle, printable
from rlint.profiles.heated import Basis
from rlint.profiles.ratios import Known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rlint.output import ReportOptions
    from rlint.profiles.heated import GainInterval, Heated, Heating, HotFunction

_CLAIMS = {
    "mem": "memory",
    "alloc": "allocations",
    "cpu": "processor time",
    "sync": "synchronisations",
    "exp": "growth",
}


def share_line(heated: Heated, heating: Heating) -> str:
    """Return "23 % of the run (these lines and what they call)"."""
    called = f"; the function was called {_times(heated.calls)}" if heated.calls else ""
    if heated.basis is Basis.NOT_SEEN:
        return _not_seen(heated, heating)
    if heated.basis is Basis.OTHER_PLACE:
        return "not in the profile: this is set up here, but the time is spent elsewhere"
    if heated.share is None:
        return "not in the profile: the file cannot be distinguished from others"
    what = {
        Basis.LINES: "these lines and their calls",
        Basis.FUNCTION: "the function and its calls",
    }.get(heated.basis, "the calls on these lines, and at most the function's own time")
    return f"{percent(heated.share)} of the run ({what}{called})"


def gain_line(heated: Heated) -> str | None:
    """Return "4–12 % less with the fix …", or why that is not known."""
    if heated.known is Known.MEASURED and heated.ratio is not None:
        if heated.saved is None or heated.saved.high <= 0:
            return None
        low, high = _figure(heated.ratio.low), _figure(heated.ratio.high)
        ratio = f"{high}×" if low == high else f"{low}–{high}×"
        return f"{percent(heated.saved)} less time if it is fixed (this share, measured {ratio} as fast)"
    if heated.basis is Basis.NOT_SEEN:
        return None
    if heated.known is Known.NO_GAIN:
        return "no gain: none was measured for this rule"
    if heated.known is Known.OTHER:
        named = [
            _CLAIMS[name] for name in (claim.partition(":")[0] for claim in heated.claims) if name in _CLAIMS
        ]
        saves = " and ".join(dict.fromkeys(named)) or "something else"
        return f"the rule was measured to save {saves}, not time"
    return "not measured for this rule"


def short(heated: Heated) -> str:
    """Return "[23 % of the run]" for reports with a line for each finding."""
    if heated.basis is Basis.NOT_SEEN:
        return "[did not run]" if heated.calls == 0 else "[not seen]"
    return f"[{percent(heated.share)} of the run]" if heated.share is not None else "[share unknown]"


def section(heating: Heating, options: ReportOptions) -> str:
    """Return the part of the report about the run as a whole; ends in an empty line unless it is empty."""
    paint = Paint(color=options.color)
    lines = [f"{paint(TextStyle.LABEL, 'profile')}: {printable(note)}" for note in heating.notes]
    if heating.hot:
        lines += (
            ["", "Hot in the profile, but not reported by any rule:"]
            if lines
            else ["Hot in the profile, but not reported by any rule:"]
        )
        for function in heating.hot:
            lines += _hot(function, paint)
    return "".join(line + "\n" for line in lines) + "\n" if lines else ""


def sums(heating: Heating, options: ReportOptions) -> str:
    """Return the time that fixing saves, and how much was left out, in a line each."""
    lines = []
    if heating.left_out:
        lines.append(f"{heating.left_out} below `--min-share` hidden.")
    if heating.fixed is not None:
        lines.append(_sum("What was fixed takes", heating.fixed, heating.unmeasured_fixed))
    saved, unmeasured = heating.saved_safe, heating.unmeasured_safe
    command = "rlint fix"
    if options.unsafe_fixes:
        saved, unmeasured, command = heating.saved_all, heating.unmeasured_all, "rlint fix --unsafe-fixes"
    if heating.fixed is None and (saved.high > 0 or unmeasured):
        lines.append(_sum(f"`{command}` would take", saved, unmeasured))
    if not options.unsafe_fixes and heating.saved_all.high > saved.high:
        lines.append(
            _sum("With `--unsafe-fixes`, it would be", heating.saved_all, heating.unmeasured_all, off="")
        )
    lines = [
        f"{line} Run: {amount(heating)}, {heating.format}." if line == lines[-1] else line for line in lines
    ]
    return "".join(line + "\n" for line in lines)


def as_json(heated: Heated | None) -> dict[str, Any] | None:
    """Return the profile data of one finding, shares and savings as fractions of 1."""
    if heated is None:
        return None
    return {
        "basis": heated.basis.value,
        "share": _bounds(heated.share),
        "calls": heated.calls,
        "evidence": heated.known.value,
        "ratio": _bounds(heated.ratio),
        "saved": _bounds(heated.saved),
    }


def run_as_json(heating: Heating) -> dict[str, Any]:
    """Return the profile data of the run as a whole."""
    return {
        "format": heating.format,
        "total": heating.total,
        "unit": heating.unit,
        "threads": heating.threads,
        "saved_by_safe_fixes": _bounds(heating.saved_safe),
        "saved_by_all_fixes": _bounds(heating.saved_all),
        "safe_fixes_without_known_gain": heating.unmeasured_safe,
        "all_fixes_without_known_gain": heating.unmeasured_all,
        "saved_by_applied_fixes": _bounds(heating.fixed),
        "left_out": heating.left_out,
        "hot_functions": [asdict(function) for function in heating.hot],
        "notes": list(heating.notes),
    }


def percent(part: GainInterval) -> str:
    """Return "23 %", "4–12 %", "at most 9 %"."""
    low, high = _percent(part.low), _percent(part.high)
    if low == high:
        return f"{high} %"
    return f"at most {high} %" if part.low <= 0 and low == "0" else f"{low}–{high} %"


def amount(heating: Heating) -> str:
    """Return "12.3 s" or "1,204 samples"."""
    return f"{heating.total:,.1f} s" if heating.unit == "s" else f"{heating.total:,.0f} {heating.unit}"


def _not_seen(heated: Heated, heating: Heating) -> str:
    if heated.calls == 0:
        return "none of the run: the function was not called while the profile was recorded"
    if heated.calls:
        called = f"though the function was called {_times(heated.calls)}"
        return f"none of the run: these lines took no time, {called}"
    return f"no samples here ({amount(heating)})"


def _hot(function: HotFunction, paint: Paint) -> Iterator[str]:
    share = f"{_percent(function.inclusive)} %"
    own = f"own {_percent(function.own)} %"
    called = f", called {_times(function.calls)}" if function.calls else ""
    place = f" {printable(function.place)}" if function.place else ""
    name = paint(TextStyle.PATH, printable(function.name))
    yield f"{share:>7}  {name}{place} ({own}{called})"
    if function.symptom is not None:
        yield f"         {function.symptom}: {function.advice}"


def _sum(what: str, saved: GainInterval, unmeasured: int, off: str = " off the run") -> str:
    known = f"{percent(saved)}{off}" if saved.high > 0 else f"nothing measured{off}"
    more = f", and {unmeasured} of unknown gain" if unmeasured else ""
    return f"{what} {known}{more}."


def _times(calls: int | None) -> str:
    return "once" if calls == 1 else f"{calls:,} times"


def _percent(part: float) -> str:
    value = part * 100
    if abs(value) >= 9.95:
        return f"{value:.0f}"
    if value == 0:
        return "0"
    return f"{value:.1f}" if abs(value) >= 0.05 else "<0.1" if value > 0 else "0"


def _figure(value: float) -> str:
    return f"{value:.2f}" if value < 2 else f"{value:.1f}" if value < 10 else f"{value:.0f}"


def _bounds(part: GainInterval | None) -> dict[str, float] | None:
    return {"low": round(part.low, 6), "high": round(part.high, 6)} if part is not None else None
