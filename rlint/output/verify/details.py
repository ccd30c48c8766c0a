"""Details about one workload on one device, besides its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlint.evidence.results import Verdict
from rlint.output.verify import figures, rows

if TYPE_CHECKING:
    from rlint.evidence.results import Behaviour, Measurement, RuleOutcome

COLUMNS = ("Measure", "Size", "Before", "After", "Before / after", "Against itself", "Verdict", "Samples")


def is_wrong(outcome: RuleOutcome) -> bool:
    """Whether an outcome needs attention."""
    return outcome.failed or outcome.verdict in (Verdict.DIFFERENT, Verdict.SLOWER, Verdict.NOT_ENOUGH)


def compared(behaviour: Behaviour) -> str:
    """Return how often behaviour was compared, and with what."""
    sizes = ", ".join(f"{size:,}" for size in behaviour.sizes)
    text = f"{behaviour.cases:,} runs compared: {behaviour.seeds} seeds, sizes {sizes}"
    if behaviour.larger:
        text += f"; once at {', '.join(f'{size:,}' for size in behaviour.larger)}"
    if behaviour.variants:
        text += f"; also {', '.join(behaviour.variants)}"
    return text


def notes(behaviour: Behaviour) -> list[str]:
    """Return notes on the comparison."""
    left_out = (f"not compared, {what}: {why}" for what, why in behaviour.excluded.items())
    return [*behaviour.notes, *left_out]


def cells(measured: Measurement, outcome: RuleOutcome) -> list[str | None]:
    """Return the texts of COLUMNS for a measurement."""
    growth = measured.claim == "exp"
    before, after = (
        figures.exponents(measured)
        if growth
        else (figures.amount(measured.before, measured.unit), figures.amount(measured.after, measured.unit))
    )
    name = rows.NOUNS.get(measured.claim, measured.claim)
    return [
        name if measured.claimed else f"{name} (not claimed)",
        figures.size(measured.size, outcome.unit) if measured.size is not None else "all",
        before,
        after,
        rows.NOTHING if growth else rows.gain_words(measured, named=False),
        figures.ratio_text(measured.control) if measured.control else rows.NOTHING,
        rows.measured_words(measured),
        f"{measured.samples:,}",
    ]
