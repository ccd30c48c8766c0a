"""Verifies every fixture against itself repeatedly: every reported change is then a false alarm.

    python benchmarks/measure_nothing.py --runs 200 [--thorough] [RULES]...

Prints each alarm, and the number of alarms and of judged workloads. Exits with 1 if there was any.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from rlint.evidence.results import Verdict
from rlint.harness.program import AFTER, BEFORE, SAFE
from rlint.harness.session_options import SessionOptions
from rlint.harness.subjects import Experiment, fixtures_of
from rlint.harness.verify_session import verify
from rlint.registry import catalogue

UNJUDGED = (Verdict.NOT_RUN, Verdict.NOT_ENOUGH)


def against_itself(experiment: Experiment) -> Experiment:
    """The same program in all arms."""
    text = experiment.subject.texts[BEFORE]
    return replace(
        experiment, subject=replace(experiment.subject, texts=dict.fromkeys((BEFORE, SAFE, AFTER), text))
    )


def main() -> int:
    """Run until the requested number of workloads was judged."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rules", nargs="*")
    parser.add_argument("--runs", type=int, default=200, help="workloads to judge")
    parser.add_argument("--thorough", action="store_true", help="measure as long as for evidence")
    queried = parser.parse_args()
    entries = [catalogue.find(rule) for rule in queried.rules] or [
        e for e in catalogue.catalogue() if e.module
    ]
    options = SessionOptions(devices=("cpu",), quick=not queried.thorough)
    judged, alarms = 0, 0
    while judged < queried.runs:
        with fixtures_of(entries) as experiments:
            session = verify([against_itself(one) for one in experiments], options)
        for outcome in session.outcomes:
            if outcome.verdict in UNJUDGED:
                continue
            judged += 1
            if outcome.verdict is not Verdict.NO_CHANGE:
                alarms += 1
                seen = [
                    one
                    for one in outcome.measurements
                    if one.claimed and one.verdict is not Verdict.NO_CHANGE
                ]
                print(f"{outcome.subject} {outcome.workload}: {outcome.verdict.value}")
                for one in seen:
                    print(f"    {one.claim} at {one.size}: {one.ratio or one.difference}")
        print(f"{alarms} of {judged}", flush=True)
    return 1 if alarms else 0


if __name__ == "__main__":
    sys.exit(main())
