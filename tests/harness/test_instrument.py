"""The instrument as a whole, in real processes: it sees what is planted, and nothing else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from rlint.evidence.results import Measurement, Verdict
from rlint.harness.measure import verdicts
from rlint.harness.processes import process
from rlint.harness.processes.job import MEMORY, TIMING, BenchJob, Message
from rlint.harness.program import Subject
from rlint.harness.session_options import THOROUGH

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("instrument")]

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
    """Run a job in a process of its own, and give what it reports for each workload."""
    found: dict[str, list[Any]] = {}

    def take(message: Message) -> None:
        assert message.kind != "failed", message.data
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


def test_two_hundred_comparisons_with_itself_raise_ten_alarms_at_most(tmp_path: Path) -> None:
    """A program against itself is "no change" in at least 190 of 200 experiments."""
    subject = write(tmp_path, PROGRAM, PROGRAM, ALL_OF_THEM)
    names = [name.replace("_", "-") for name in NAMES]
    alarms = []
    for experiment in range(20):
        found = timed(
            subject,
            names,
            lambda rounds: verdicts.measurements(rounds, claims=("time",), device="cpu"),
            budget=0.1,
            typical=1,
            experiment=experiment,
        )
        for name, measured in found.items():
            verdict, _ = verdicts.judge(None, measured, declared=("time",), device="cpu", typical=1)
            if verdict is not Verdict.NO_CHANGE:
                alarms.append((experiment, name, verdict, measured[0].ratio, measured[0].control))
    assert len(alarms) <= 10, alarms


def planted(
    folder: Path, before: str, after: str, claims: tuple[str, ...], sizes: tuple[int, ...] = (1000,)
) -> tuple[tuple[Measurement, ...], tuple[Verdict, str | None]]:
    """Time one program before and after a change, and judge it."""
    subject = write(folder, before, after, ONE_OF_THEM.format(sizes=sizes, claims=claims))
    memory = results(BenchJob(MEMORY, subject, ("planted",), quick=True))["planted"]
    found = timed(
        subject,
        ["planted"],
        lambda rounds: verdicts.measurements(rounds, memory, claims=claims, device="cpu"),
        budget=0.5,
        typical=sizes[-1],
    )["planted"]
    return found, verdicts.judge(None, found, declared=claims, device="cpu", typical=sizes[-1])


LOOP = "def run(n):\n    total = 0\n    for i in range({steps}):\n        total += i * i\n    return total\n"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [(2000, 2200, Verdict.SLOWER), (2200, 2000, Verdict.FASTER), (2000, 2000, Verdict.NO_CHANGE)],
    ids=["more", "less", "the same"],
)
def test_ten_per_cent_more_steps_are_found(
    tmp_path: Path, before: int, after: int, expected: Verdict
) -> None:
    """A loop of 2,200 steps instead of 2,000 is slower, the other way round faster.

    Two of three tries count: on a machine that others use, an interval of 95 % is now and then too wide.
    """
    tries = []
    for _ in range(3):
        found, (verdict, _) = planted(
            tmp_path, LOOP.format(steps=before), LOOP.format(steps=after), ("time",)
        )
        tries.append((verdict, found))
        verdicts_so_far = [one for one, _ in tries]
        if verdicts_so_far.count(expected) == 2:
            return
    raise AssertionError(tries)


@pytest.mark.parametrize(
    "taking",
    [
        "import numpy as np\ndef run(n): return np.ones({count}, dtype=np.uint8)",
        "def run(n): return [None] * ({count} // 8)",
    ],
    ids=["numpy", "python"],
)
def test_ten_per_cent_more_memory_are_found(tmp_path: Path, taking: str) -> None:
    """Eleven megabytes instead of ten are more memory."""
    texts = [taking.format(count=count) for count in (10_000_000, 11_000_000)]
    assert planted(tmp_path, *texts, ("mem",))[1][0] is Verdict.SLOWER
    assert planted(tmp_path, *reversed(texts), ("mem",))[1][0] is Verdict.FASTER


def test_spinning_is_seen_in_processor_time_alone(tmp_path: Path) -> None:
    """Waiting without spinning takes as long, and saves the processor."""
    spins = (
        "import time\ndef run(n):\n"
        "    end = time.perf_counter() + 0.005\n"
        "    while time.perf_counter() < end: pass\n"
    )
    sleeps = "import time\ndef run(n): time.sleep(0.005)\n"
    found, verdict = planted(tmp_path, spins, sleeps, ("cpu",))
    assert verdict[0] is Verdict.FASTER
    by_claim = {one.claim: one for one in found}
    assert by_claim["cpu"].ratio is not None
    assert by_claim["cpu"].ratio.value > 5
    assert by_claim["time"].before == pytest.approx(by_claim["time"].after, rel=0.2)


def test_the_square_of_the_size_is_told_from_the_size(tmp_path: Path) -> None:
    """A buffer that is searched for each row grows with exponent 2, one that is looked up with 1."""
    before = "def run(n):\n    rows = list(range(n))\n    return sum(-i not in rows for i in range(1, n))\n"
    after = before.replace("list(", "set(")
    found, verdict = planted(tmp_path, before, after, ("exp",), sizes=(200, 400, 800, 1600))
    growth = next(one for one in found if one.claim == "exp")
    assert verdict[0] is Verdict.FASTER
    assert growth.before == pytest.approx(2, abs=0.4)
    assert growth.after == pytest.approx(1, abs=0.4)
    assert planted(tmp_path, before, before, ("exp",), sizes=(200, 400, 800, 1600))[1][0] is Verdict.NO_CHANGE
