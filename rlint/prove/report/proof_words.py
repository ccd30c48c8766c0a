"""The texts and figures of a proof, the same in each format."""

from __future__ import annotations

from collections.abc import Iterator

from rlint.evidence.results import Ratio
from rlint.prove.proof import (
    DIFFERENT,
    FASTER,
    NO_CHANGE,
    NO_FIX,
    NOT_REACHED,
    NOT_RECORDED,
    PROVEN,
    SLOWER,
    Proof,
    ProvenFix,
)

COLUMNS = ("Fix", "Replayed", "Verdict", "Cases", "Before / after", "Share of run", "Gain of run", "Expected")
NUMBERS = ("Cases", "Share of run")
STYLES = {FASTER: "green", NO_CHANGE: "", SLOWER: "yellow", DIFFERENT: "red"}
_NOTHING = "–"
_MUCH_MEMORY = 0.1


def cells(one: ProvenFix) -> tuple[str, ...]:
    """Return the row of a fix."""
    named = label(one)
    ratio = ratio_text(one.ratio) if one.ratio else _NOTHING
    if one.memory is not None and abs(one.memory.value - 1) > _MUCH_MEMORY:
        ratio += f", memory {one.memory.value:.2f}×"
    if one.waits:
        ratio += f", waits {one.waits[0]:g} → {one.waits[1]:g}"
    cases = f"{one.cases}" + (f" + {one.sequences}" if one.sequences else "")
    return (
        named,
        f"{one.where}, {one.calls:,} calls" if one.where else _NOTHING,
        one.verdict,
        cases,
        ratio,
        percent(one.share),
        gain_text(one.gain) if one.verdict != DIFFERENT else _NOTHING,
        expected(one),
    )


def label(one: ProvenFix) -> str:
    """Return the label of a fix."""
    return f"{one.code} {one.path}:{one.line}" if one.code else one.message


def ratio_text(ratio: Ratio) -> str:
    """Return a ratio with its interval: `1.51× [1.36, 1.65]`."""
    return f"{ratio.value:.2f}× [{ratio.low:.2f}, {ratio.high:.2f}]"


def percent(share: float) -> str:
    """Return a share: `3.1 %`."""
    return f"{share:.1%}".replace("%", " %")


def gain_text(gain: Ratio | None) -> str:
    """Return a gain of the run with its interval."""
    if gain is None:
        return _NOTHING
    return f"{percent(gain.value)} [{percent(gain.low)}, {percent(gain.high)}]"


def expected(one: ProvenFix) -> str:
    """Return rlint's estimate before the proof."""
    parts = []
    if one.estimate is not None:
        parts.append(f"{percent(one.estimate.low)} to {percent(one.estimate.high)}")
    if one.impact:
        parts.append(f"{one.impact} impact")
    return ", ".join(parts) or _NOTHING


def sentences(proof: Proof) -> Iterator[str]:
    """Yield the sentences below the table."""
    yield from differing(proof)
    yield from listed(proof)
    yield ""
    yield summary(proof)
    yield recording(proof)
    if whole(proof):
        yield whole(proof)


def differing(proof: Proof) -> Iterator[str]:
    """Yield the first differences of each fix that does not keep the results."""
    for one in (*proof.fixes, *([proof.together] if proof.together else [])):
        for each in one.differences[:3]:
            when = f" {each['when']}" if each.get("when") else ""
            values = f"{each['before']} before, {each['after']} after"
            yield f"{label(one)}: {each['kind']} of `{each['path']}`{when}: {values}"


def listed(proof: Proof) -> Iterator[str]:
    """Yield the findings without a verdict, each with the reason."""
    titles = {
        NOT_RECORDED: "Not proven, because recording or replay failed:",
        NOT_REACHED: "Not reached by this run:",
        NO_FIX: "Without a fix:",
    }
    for verdict, title in titles.items():
        ones = [one for one in (*proof.fixes, *proof.others) if one.verdict == verdict]
        if ones:
            yield ""
            yield title
        for one in ones:
            reason = f": {one.reason}" if one.reason and verdict != NOT_REACHED else ""
            yield f"  {one.code} {one.path}:{one.line}{reason}"


def whole(proof: Proof) -> str:
    """Return the times of the whole command before and after; "" if it did not run."""
    run = proof.whole_run
    if run is None:
        return f"whole run: not measured: {proof.whole_problem}" if proof.whole_problem else ""
    ratio = f"{run.ratio.value:.3f}× [{run.ratio.low:.3f}, {run.ratio.high:.3f}]"
    output = {
        None: "its output varies from run to run and was not compared",
        True: "it printed and saved the same output",
        False: "it printed or saved different output",
    }[run.same_output]
    times = f"{run.before:.2f} s before, {run.after:.2f} s after"
    return f"whole run: {times} ({ratio}, {run.pairs} pairs); {output}"


def summary(proof: Proof) -> str:
    """Return the counts in one sentence."""
    reached = proof.reached
    proven = [one for one in reached if one.verdict in PROVEN]
    words = [
        f"{sum(one.verdict == verdict for one in proven)} {verdict}"
        for verdict in PROVEN
        if any(one.verdict == verdict for one in proven)
    ]
    counts = f": {', '.join(words)}" if words else ""
    described = f"{len(reached)} reached by the run, {len(proven)} of these with a verdict{counts}"
    fixes = "1 fix" if len(proof.fixes) == 1 else f"{len(proof.fixes)} fixes"
    return f"{fixes}, {described}"


def seconds(proof: Proof) -> str:
    """Return the duration of the recorded run: `5.7 s`."""
    return f"{proof.seconds:.1f} s"


def ending(proof: Proof) -> str:
    """Return how the recorded run ended, in brackets; "" if it ended normally."""
    return " (ended early)" if proof.stopped else f" (exit status {proof.status})" if proof.status else ""


def recording(proof: Proof) -> str:
    """Return a description of the recorded run."""
    run = f"recorded {seconds(proof)} of `{' '.join(proof.command)}`{ending(proof)}"
    return f"{run}; recording made it {proof.overhead:.2f} times as long"
