"""Tries many examples, and reports for each rule how many fixes were offered and how many changed a program.

    python tests/properties/campaign.py --examples 200 --seed 7 --rule RL101 --rule RL501 --keep found/

Without `--seed`, examples differ each time. `--forever` goes on until it is interrupted.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from properties.examples import Verdict, example, judged  # noqa: E402 - a script finds its modules
from properties.seeds import SAFE_RULES  # noqa: E402
from properties.server import Comparer  # noqa: E402

_ROUNDS = 10
"""Number of examples after which the table is shown, with `--forever`."""
COLUMNS = ("programs", "offered", "compared", "reached", "varying", "stopped", "misused", "different")


def tallied(verdict: Verdict, tally: Counter[str]) -> None:
    """Count one example."""
    tally["programs"] += 1
    if verdict.outcome is None:
        return
    outcome = verdict.outcome
    tally["offered"] += 1
    tally["stopped"] += bool(outcome.error)
    tally["varying"] += not outcome.deterministic
    tally["compared"] += not outcome.error and outcome.deterministic
    tally["reached"] += outcome.reached
    tally["misused"] += bool(outcome.misused)
    tally["different"] += bool(outcome.differences)


def table(tallies: dict[str, Counter[str]]) -> str:
    """The tallies, a line for each rule."""
    lines = ["rule    " + "".join(f"{column:>11}" for column in COLUMNS)]
    whole: Counter[str] = Counter()
    for code, tally in sorted(tallies.items()):
        whole.update(tally)
        lines.append(f"{code:8}" + "".join(f"{tally[column]:>11,}" for column in COLUMNS))
    lines.append(f"{'all':8}" + "".join(f"{whole[column]:>11,}" for column in COLUMNS))
    return "\n".join(lines)


def main() -> int:
    """Run as a program; the exit status is 1 where something differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--examples", type=int, default=20, help="for each rule")
    parser.add_argument("--seed", type=int, help="the same examples each time")
    parser.add_argument("--rule", action="append", help="a code; all rules with safe fixes unless given")
    parser.add_argument("--keep", type=Path, help="a folder for the programs that differ")
    parser.add_argument("--forever", action="store_true")
    options = parser.parse_args()
    rules = [rule for rule in SAFE_RULES if not options.rule or rule.code in options.rule]
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    comparer, tallies = Comparer(), defaultdict[str, Counter[str]](Counter)
    rounds = itertools.count() if options.forever else range(options.examples)
    try:
        for number, rule in ((number, rule) for number in rounds for rule in rules):
            made = example(rule, random.Random(f"{seed} {number} {rule.code}"))
            verdict = judged(made, comparer)
            tallied(verdict, tallies[rule.code])
            if verdict.outcome is not None and verdict.outcome.differences:
                report = f"seed {seed}, number {number}: {verdict.report()}"
                if options.keep is None:
                    print(report)
                else:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    (options.keep / f"{rule.code}-{seed}-{number}.txt").write_text(report, encoding="utf-8")
            if options.forever and rule is rules[-1] and number % _ROUNDS == _ROUNDS - 1:
                print(table(tallies), flush=True)
    except KeyboardInterrupt:
        pass
    print(table(tallies))
    return int(any(tally["different"] for tally in tallies.values()))


if __name__ == "__main__":
    sys.exit(main())
