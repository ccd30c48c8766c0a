"""Sessions of `rlint verify`, built by hand, for tests of their reports."""

from __future__ import annotations

from collections.abc import Sequence

from rlint.evidence.results import (
    Behaviour,
    Difference,
    Machine,
    Measurement,
    Ratio,
    RuleOutcome,
    Session,
    Verdict,
)

MACHINE = Machine(
    "Linux 6.1",
    "AMD EPYC 7B13",
    2,
    8_200_000_000,
    "3.11.2",
    {"rlint": "0.1.0", "torch": "2.13.0+cpu", "numpy": "2.4.0"},
)
HOSTILE = "</script><script>document.title='broken'</script><img src=x onerror=alert(1)>|`*@everyone"
"""Text that every format has to escape."""


def measured(
    claim: str,
    size: int | None,
    before: float,
    after: float,
    interval: tuple[float, float] | None = None,
    verdict: Verdict = Verdict.FASTER,
    *,
    claimed: bool = True,
) -> Measurement:
    """One cost; the interval is a point, if none is given."""
    unit = {"time": "s", "cpu": "s", "mem": "bytes", "exp": "exponent"}.get(claim, "count")
    value = before / after if after else float("inf")
    low, high = interval or (value, value)
    if claim == "exp":
        middle = before - after
        difference = Ratio(middle, middle - 0.04, middle + 0.04)
        return Measurement(
            claim, None, before, after, unit, None, verdict, claimed, difference=difference, samples=30
        )
    control = Ratio(1.003, 0.985, 1.02) if unit == "s" else None
    ratio = Ratio(value, low, high)
    return Measurement(claim, size, before, after, unit, ratio, verdict, claimed, control=control, samples=30)


def times(
    sizes: Sequence[int],
    before: Sequence[float],
    after: Sequence[float],
    spread: float = 0.03,
    verdict: Verdict = Verdict.FASTER,
    *,
    claimed: bool = True,
) -> tuple[Measurement, ...]:
    """Wall times at several sizes, each interval `spread` to either side of its ratio."""
    return tuple(
        measured("time", size, one, other, _around(one / other, spread), verdict, claimed=claimed)
        for size, one, other in zip(sizes, before, after, strict=True)
    )


def _around(value: float, spread: float) -> tuple[float, float]:
    return value * (1 - spread), value * (1 + spread)


def same(cases: int = 160, notes: tuple[str, ...] = ()) -> Behaviour:
    """Behaviour in which nothing differs."""
    return Behaviour(20, (0, 1, 2, 7, 100), cases, notes=notes)


def outcome(
    subject: str,
    name: str,
    workload: str,
    verdict: Verdict,
    measurements: tuple[Measurement, ...] = (),
    *,
    device: str = "cpu",
    unit: str = "transitions",
    typical: int = 10_000,
    claims: tuple[str, ...] = ("time",),
    behaviour: Behaviour | None = None,
    reason: str | None = None,
    failed: bool = False,
    estimate: dict[str, object] | None = None,
) -> RuleOutcome:
    """One workload on one device."""
    title = f"What {workload.replace('-', ' ')} does"
    return RuleOutcome(
        subject, name, workload, title, device, unit, typical, verdict, claims, reason, behaviour,
        measurements, estimate, failed,
    )  # fmt: skip


SIZES = (100, 1_000, 10_000, 100_000)

FASTER = outcome(
    "RL101",
    "concat-grown-buffer",
    "append-states",
    Verdict.FASTER,
    (
        *times(SIZES, (80e-6, 1.2e-3, 48e-3, 4.1), (70e-6, 0.6e-3, 9.16e-3, 0.091)),
        measured("mem", 10_000, 410_000_000, 205_000_000),
        measured("exp", None, 1.98, 1.02),
    ),
    claims=("time", "mem", "exp"),
    behaviour=same(notes=("`Buffer._rows` is new",)),
    estimate={"claim": "time", "low": 10, "high": 50, "source": 'S0.1: "ten to fifty times"'},
)
CPU = outcome(
    "RL401",
    "busy-wait-sleep",
    "actor-queue",
    Verdict.FASTER,
    (
        *times((64,), (0.21,), (0.206,), 0.03, Verdict.NO_CHANGE, claimed=False),
        measured("cpu", 64, 0.2025, 0.015, (12.0, 15.0)),
    ),
    unit="batches",
    typical=64,
    claims=("cpu",),
    behaviour=same(60),
)
NO_CHANGE = outcome(
    "RL201",
    "blocking-transfer",
    "batch-to-device",
    Verdict.NO_CHANGE,
    times((256, 1024, 4096, 16384), (1e-5, 4e-5, 1.6e-4, 6.5e-4), (1e-5, 3.9e-5, 1.57e-4, 6.4e-4), 0.03,
          Verdict.NO_CHANGE),
    unit="rows",
    typical=4096,
    behaviour=same(),
    reason="on the host a copy blocks in any case",
)  # fmt: skip
SLOWER = outcome(
    "RL207",
    "pin-memory",
    "loader-epoch",
    Verdict.SLOWER,
    times((512, 2048), (1.2e-3, 4.8e-3), (1.45e-3, 5.78e-3), 0.03, Verdict.SLOWER),
    unit="rows",
    typical=2048,
    behaviour=same(),
)
DIFFERENT = outcome(
    "RL301",
    "cached-parameter",
    "softplus-scale",
    Verdict.DIFFERENT,
    typical=128,
    unit="rows",
    behaviour=Behaviour(
        20,
        (0, 1, 2, 7, 128),
        100,
        (
            *(Difference("gradient", "inputs[0].scale", seed, 7, "tensor([0.1234])", "None", "unsafe")
              for seed in range(12)),
            Difference("exception", "result", 3, 1, "no exception", f"ValueError: {HOSTILE}", "safe"),
        ),
    ),
)  # fmt: skip
CUDA = outcome(
    "RL201", "blocking-transfer", "batch-to-device", Verdict.NOT_RUN,
    device="cuda", unit="rows", typical=4096, claims=("time", "sync"), reason="no GPU that torch can use",
)  # fmt: skip
FAILED = outcome(
    "src/agents/learner.py", "", "learn-step", Verdict.NOT_RUN,
    typical=32, unit="updates", reason="was killed at its limit of 60 s", failed=True,
)  # fmt: skip
COUNTS = outcome(
    "RL203",
    "item-in-loop",
    "log-losses",
    Verdict.FASTER,
    (
        *times((1_000,), (0.0102,), (0.01,), 0.03, Verdict.NO_CHANGE, claimed=False),
        measured("sync", 1_000, 1_000, 1),
        measured("alloc", 1_000, 2_000, 0),
    ),
    unit="steps",
    typical=1_000,
    claims=("sync", "alloc"),
    behaviour=same(),
)


def session(
    *outcomes: RuleOutcome, quick: bool = False, interrupted: bool = False, seconds: float = 183.4
) -> Session:
    """A run on a machine without a GPU."""
    return Session(MACHINE, "2026-03-01T12:30:00+00:00", seconds, quick, outcomes, interrupted)


EVERYTHING = session(FASTER, CPU, NO_CHANGE, COUNTS, SLOWER, DIFFERENT, CUDA, FAILED)
