"""Check that the measurement detects planted changes, and nothing else, on this machine.

    python benchmarks/planted.py [--experiments N]

Programs that are 10 % slower or faster, spin instead of waiting, or grow with another power are timed as
`rlint verify` does it, and ten programs are compared with themselves. Prints each verdict, and exits with 1
if a planted change was missed, or if more than 5 % of the comparisons of a program with itself gave another
verdict than "no change". Run it on an idle machine, because other load changes times; for this reason it is
not a test.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from rlint.evidence.results import Measurement, Verdict
from rlint.harness.measure import verdicts
from rlint.harness.processes import process
from rlint.harness.processes.job import TIMING, BenchJob, Message
from rlint.harness.program import Subject
from rlint.harness.session_options import THOROUGH

PROGRAM = """
import random
import re
import time
from collections import deque

import numpy as np

ROWS = np.random.default_rng(3).random((256, 64))
WORDS = ("the answer is 42 because of the reward " * 30).split()
NUMBER = re.compile(r"[0-9]+")
STEPS = 3000

def sums(): return sum(i * i for i in range(STEPS))
def lists(): return [i * i for i in range(2000)]
def words():
    counts = {}
    for word in WORDS:
        counts[word] = counts.get(word, 0) + 1
    return counts
def patterns(): return [NUMBER.findall(word) for word in WORDS]
def sampling(): return random.sample(range(5000), 200)
def ordering(): return sorted(WORDS, key=len)
def buffers():
    buffer = deque(maxlen=500)
    for i in range(1500):
        buffer.append((i, i + 1.0))
    return len(buffer)
def arrays(): return (ROWS * 2 + ROWS).sum()
def products(): return ROWS @ ROWS.T
def small_arrays(): return [np.argmax(row) for row in ROWS[:64]]
"""
NAMES = "sums lists words patterns sampling ordering buffers arrays products small_arrays".split()

ALL_OF_THEM = "from rlint.harness import Workload\n" + "".join(
    f'''
class {name.title().replace("_", "")}(Workload):
    """{name}."""
    sizes = (1,)
    def run(self, program, inputs):
        return program.{name}()
'''
    for name in NAMES
)

ONE_OF_THEM = '''
from rlint.harness import Workload

class Planted(Workload):
    """Planted."""
    sizes = {sizes}
    claims = {claims}
    def prepare(self, program, case):
        return case.size
    def run(self, program, size):
        return program.run(size)
'''


def write(folder: Path, before: str, after: str, workload: str) -> Subject:
    """Write a program and its workloads."""
    program, driver = folder / "instrument_program.py", folder / "instrument_workload.py"
    program.write_text(before, encoding="utf-8")
    driver.write_text(workload, encoding="utf-8")
    fixed = {str(program): after}
    texts = {"before": {}, "safe": fixed, "after": fixed}
    return Subject(str(program), program.stem, (str(folder),), str(driver), texts)


def results(job: BenchJob, hash_seed: int = 0) -> dict[str, list[Any]]:
    """Run a job in a separate process, and return what it reports for each workload."""
    found: dict[str, list[Any]] = {}

    def take(message: Message) -> None:
        if message.kind == "failed":
            raise RuntimeError(message.data)
        if message.kind == "result":
            found[message.workload] = message.data

    process.run(job, process.ProcessLimits(60, 2**31), take, threads=1, hash_seed=hash_seed)
    return found


def timed(
    subject: Subject,
    names: Iterable[str],
    measure: Callable[[list[Any]], tuple[Measurement, ...]],
    *,
    budget: float,
    typical: int,
    experiment: int = 0,
) -> dict[str, tuple[Measurement, ...]]:
    """Time workloads in as many processes as `rlint verify` does, and in more while they are undecided."""
    rounds: dict[str, list[Any]] = defaultdict(list)
    found: dict[str, tuple[Measurement, ...]] = {}
    left = tuple(names)
    for number in range(THOROUGH.processes + THOROUGH.more):
        job = BenchJob(TIMING, subject, left, budget=budget, round=number)
        for name, data in results(job, hash_seed=10 * experiment + number).items():
            rounds[name] += data
            found[name] = measure(rounds[name])
        if number + 1 >= THOROUGH.processes:
            left = tuple(name for name in left if verdicts.undecided(found[name], typical=typical))
        if not left:
            break
    return found


def alarms(folder: Path, experiments: int) -> int:
    """Compare each program with itself, and count how often that is not called "no change"."""
    subject = write(folder, PROGRAM, PROGRAM, ALL_OF_THEM)
    count = 0
    for experiment in range(experiments):
        found = timed(
            subject,
            [name.replace("_", "-") for name in NAMES],
            lambda rounds: verdicts.measurements(rounds, claims=("time",), device="cpu"),
            budget=0.1,
            typical=1,
            experiment=experiment,
        )
        for name, measured in found.items():
            verdict, _ = verdicts.judge(None, measured, declared=("time",), device="cpu", typical=1)
            if verdict is not Verdict.NO_CHANGE:
                count += 1
                print(f"  {name}: {verdict.value}, {measured[0].ratio}, control {measured[0].control}")
    return count


def planted(
    folder: Path, before: str, after: str, claims: tuple[str, ...], sizes: tuple[int, ...] = (1000,)
) -> tuple[tuple[Measurement, ...], Verdict]:
    """Time one program before and after a change, and judge it."""
    subject = write(folder, before, after, ONE_OF_THEM.format(sizes=sizes, claims=claims))
    found = timed(
        subject,
        ["planted"],
        lambda rounds: verdicts.measurements(rounds, claims=claims, device="cpu"),
        budget=0.5,
        typical=sizes[-1],
    )["planted"]
    return found, verdicts.judge(None, found, declared=claims, device="cpu", typical=sizes[-1])[0]


LOOP = "def run(n):\n    total = 0\n    for i in range({steps}):\n        total += i * i\n    return total\n"
LESS, MORE = LOOP.format(steps=2000), LOOP.format(steps=2200)
SPINS = """
import time
def run(n):
    end = time.perf_counter() + 0.005
    while time.perf_counter() < end: pass
"""
SLEEPS = "import time\ndef run(n): time.sleep(0.005)\n"
SQUARE = "def run(n):\n    rows = list(range(n))\n    return sum(-i not in rows for i in range(1, n))\n"
LINEAR = SQUARE.replace("list(", "set(")

PLANTED: tuple[tuple[str, str, str, str, tuple[int, ...], Verdict], ...] = (
    ("10 % more steps", LESS, MORE, "time", (1000,), Verdict.SLOWER),
    ("10 % fewer steps", MORE, LESS, "time", (1000,), Verdict.FASTER),
    ("waiting without spinning, processor time", SPINS, SLEEPS, "cpu", (1000,), Verdict.FASTER),
    ("waiting without spinning, time", SPINS, SLEEPS, "time", (1000,), Verdict.NO_CHANGE),
    ("the size instead of its square", SQUARE, LINEAR, "exp", (200, 400, 800, 1600), Verdict.FASTER),
    ("the square of the size twice", SQUARE, SQUARE, "exp", (200, 400, 800, 1600), Verdict.NO_CHANGE),
)
"""For each change: a description, the program before and after, the claim, the sizes, and the correct
verdict.
"""


def main() -> int:
    """Look for each planted change once, then compare programs with themselves."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--experiments", type=int, default=20, help="comparisons of each program with itself")
    queried = parser.parse_args()
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        for title, before, after, claim, sizes, expected in PLANTED:
            found, verdict = planted(Path(folder), before, after, (claim,), sizes)
            missed += verdict is not expected
            seen = next(one for one in found if one.claim == claim)
            print(
                f"{title}: {verdict.value}, expected {expected.value}: {seen.before:.4g} to {seen.after:.4g}"
            )
        count = alarms(Path(folder), queried.experiments)
    print(f"{count} of {queried.experiments * len(NAMES)} comparisons of a program with itself seem a change")
    return 1 if missed or count > 0.05 * queried.experiments * len(NAMES) else 0


if __name__ == "__main__":
    sys.exit(main())
