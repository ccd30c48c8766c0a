"""Figures for users, never with more digits than the measurement supports."""

from __future__ import annotations

import datetime as dt
import math

from rlint.evidence.results import Measurement, Ratio

_EXACT = 1e-9  # an interval that is narrower, relative to its value, is that of a count
_SECONDS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
_MOST_DECIMALS = 2  # a gain of less than a hundredth does not matter


def ratio_text(ratio: Ratio) -> str:
    """Return "5.24× (5.1–5.4)", or "2.0×" if the interval is a point."""
    value, low, high = ratio.value, ratio.low, ratio.high
    if not math.isfinite(value):
        return "∞×" if value > 0 else "–"
    if not (math.isfinite(low) and math.isfinite(high)):
        return f"{_exact(value)}× ({_bound(low)}–{_bound(high)})"
    below, above = value - low, high - value
    if below + above <= _EXACT * abs(value):
        return f"{_exact(value)}×"
    # A bound has the first digit of its distance from the value. The value has the digits of the nearer
    # bound, and one more if that digit is a 1.
    near = min(below, above) if min(below, above) > 0 else max(below, above)
    decimals = _decimals(near)
    finer = min(decimals + 1, _MOST_DECIMALS) if near * 10.0**decimals < 2 else decimals
    first, last = _decimals(below or near), _decimals(above or near)
    first = max(first, _decimals(low)) if low > 0 else first  # no ratio is 0
    bounds = f"{_fixed(_down(low, first), first)}–{_fixed(_up(high, last), last)}"
    return f"{_fixed(value, finer)}× ({bounds})"


def _decimals(distance: float) -> int:
    """Return the number of decimals that show the first digit of a distance; negative for large ones."""
    return min(-math.floor(math.log10(distance)), _MOST_DECIMALS)


def amount(value: float, unit: str) -> str:
    """Return a cost in `unit` ("s", "bytes", "count", "exponent") as "1.21 ms", "410 MB", "1,024"."""
    if not math.isfinite(value):
        return _bound(value)
    if unit == "s":
        return _scaled(value, _SECONDS)
    if unit == "bytes":
        return _scaled(value, (("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("bytes", 1.0)))
    return count(value) if unit == "count" else _fixed(value, 2)


def change(before: float, after: float, unit: str) -> str:
    """Return "410 → 2.1 MB", "1.21 ms → 83 µs"."""
    first, second = amount(before, unit), amount(after, unit)
    first_number, _, first_unit = first.partition(" ")
    return f"{first_number} → {second}" if first_unit == second.partition(" ")[2] else f"{first} → {second}"


def exponents(growth: Measurement) -> tuple[str, str]:
    """Return the exponents before and after, with the decimals that their difference supports."""
    decimals = 2
    if growth.difference is not None:
        half = (growth.difference.high - growth.difference.low) / 2
        if math.isfinite(half) and half > 0:
            decimals = max(0, min(2, -math.floor(math.log10(half))))
    return _fixed(growth.before, decimals), _fixed(growth.after, decimals)


def count(value: float) -> str:
    """Return "10,000", or "2.5" if a median is between two counts."""
    return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"


def short_count(value: float) -> str:
    """Return "10k", "2.5M": for axes."""
    for unit, factor in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= factor:
            return f"{value / factor:g}{unit}"
    return f"{value:g}"


def round_seconds(value: float) -> str:
    """Return "20 µs", "1 s": for axes, whose values are round."""
    unit, factor = _unit_of(value, _SECONDS)
    return f"{value / factor:g} {unit}"


def size(number: int, unit: str) -> str:
    """Return "10,000 transitions"."""
    return f"{number:,} {unit}".rstrip()


def seconds(value: float) -> str:
    """Return a duration, in whole seconds unless it is short."""
    return f"{value:.1f} s" if value < 10 else f"{value:.0f} s"


def date(iso: str) -> str:
    """Return "2026-03-01 12:30 UTC" for an ISO 8601 date in UTC, and anything else unchanged."""
    try:
        moment = dt.datetime.fromisoformat(iso.replace("Z", "+00:00"))
    except ValueError:
        return iso
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment.utcoffset() == dt.timedelta() else iso


def _exact(value: float) -> str:
    return _fixed(value, 2 if abs(value) < 2 else 1 if abs(value) < 100 else 0)


def _bound(value: float) -> str:
    if math.isfinite(value):
        return _exact(value)
    return "?" if math.isnan(value) else "∞" if value > 0 else "-∞"


def _fixed(value: float, decimals: int) -> str:
    rounded = round(value, decimals) + 0.0  # no "-0"
    return f"{rounded:,.{max(decimals, 0)}f}"


# Bounds are rounded outwards, so that the interval does not look narrower than it is. The tiny shift keeps
# short decimals (0.1) from being moved by their binary representation.


def _down(value: float, decimals: int) -> float:
    return math.floor(value * 10.0**decimals + 1e-9) / 10.0**decimals


def _up(value: float, decimals: int) -> float:
    return math.ceil(value * 10.0**decimals - 1e-9) / 10.0**decimals


def _unit_of(value: float, units: tuple[tuple[str, float], ...]) -> tuple[str, float]:
    """Return the largest unit of which there is at least one, after rounding; else the smallest."""
    return next((unit for unit in units if abs(value) >= unit[1] * 0.9995), units[-1])


def _scaled(value: float, units: tuple[tuple[str, float], ...]) -> str:
    """Return three digits in a suitable unit."""
    unit, factor = _unit_of(value, units)
    if not value:
        return next(f"0 {unit}" for unit, factor in units if factor == 1.0)
    scaled = value / factor
    if unit == "bytes":
        return f"{scaled:.0f} {unit}"
    decimals = max(0, 2 - math.floor(math.log10(abs(scaled) * 1.0005)))
    return f"{scaled:,.{min(decimals, 2)}f} {unit}"
