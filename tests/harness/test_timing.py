"""Timing runs three arms in alternation, on correct inputs, and reports each round."""

from __future__ import annotations

import gc
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from measured_programs import LOG, NAME, write
from rlint.harness import machine_devices
from rlint.harness.measure import timing
from rlint.harness.measure.timing import Round
from rlint.harness.program import Subject

LOGGED = "import sys, time\nfrom measured_programs import LOG\n"


@pytest.fixture(autouse=True)
def _empty_log() -> Iterator[None]:
    LOG.clear()
    yield
    LOG.clear()


def rounds_of(
    subject: Subject, *, sizes: tuple[int, ...] = (1,), budget: float = 0.1, process: int = 0
) -> list[Round]:
    """Time a program as one measuring process does."""
    return list(timing.measure(subject, NAME, "cpu", sizes=sizes, budget=budget, seed=3, round=process))


def test_every_round_has_all_arms_and_sizes_take_turns(tmp_path: Path) -> None:
    """A round times the program, the program again and the fixed one; a slow minute affects all sizes."""
    found = rounds_of(
        write(tmp_path, "def run(n): return sum(range(n))"), sizes=(1, 10, 100), process=4, budget=3
    )
    assert [one.size for one in found[:6]] == [1, 10, 100, 1, 10, 100]
    assert {one.process for one in found} == {4}
    for size in (1, 10, 100):
        assert sum(one.size == size for one in found) >= timing.LEAST_ROUNDS
    assert all(cost.wall > 0 for one in found for cost in (one.before, one.control, one.after))


def test_the_fixed_text_is_what_is_timed_as_after(tmp_path: Path) -> None:
    """The arm `after` runs the fixed program, the others the program as it is."""
    subject = write(
        tmp_path, "import time\ndef run(n): time.sleep(0.02)", "import time\ndef run(n): time.sleep(0)"
    )
    for one in rounds_of(subject):
        assert min(one.before.wall, one.control.wall) >= 0.02
    assert min(one.after.wall for one in rounds_of(subject)) < min(
        one.before.wall for one in rounds_of(subject)
    )


def test_the_order_of_the_arms_changes_from_round_to_round(tmp_path: Path) -> None:
    """No arm is always the second: all six orders take turns."""
    subject = write(tmp_path, LOGGED + "def run(n): LOG.append(id(run)); time.sleep(0.002)")
    found = rounds_of(subject, budget=2)
    timed = LOG[-3 * len(found) :]
    orders = [tuple(timed[at : at + 3]) for at in range(0, len(timed), 3)]
    assert len(set(orders[:6])) == 6
    assert all(len(set(order)) == 3 for order in orders)
    assert orders[6:9] == orders[:3]


def test_short_runs_are_timed_in_batches(tmp_path: Path) -> None:
    """A run of a microsecond is not timed alone, because the clock would cost as much."""
    found = rounds_of(write(tmp_path, LOGGED + "def run(n): LOG.append(0)"), budget=0.05)
    assert len(LOG) > 100 * 3 * len(found)


def test_inputs_that_runs_change_are_prepared_again(tmp_path: Path) -> None:
    """A program that empties its queue gets a filled one in each run, independently of the fixed program."""
    text = "def inputs(case): return [1, 2, 3]\ndef run(queue):\n    assert len(queue) == 3\n"
    emptied = text + "    queue.clear()\n"
    rounds_of(write(tmp_path, emptied, text))
    rounds_of(write(tmp_path, text, emptied))


def test_inputs_that_cannot_be_compared_are_prepared_again(tmp_path: Path) -> None:
    """A generator is exhausted by the first run: the next one gets a new one."""
    text = "def inputs(case): return iter(range(3))\ndef run(numbers): assert list(numbers) == [0, 1, 2]\n"
    rounds_of(write(tmp_path, text))


def test_gradients_that_runs_leave_count_as_a_change(tmp_path: Path) -> None:
    """Gradients are not accumulated between runs."""
    text = (
        "import torch\n"
        "def inputs(case): return torch.nn.Linear(2, 1)\n"
        "def run(net):\n"
        "    assert net.weight.grad is None\n"
        "    net(torch.ones(2)).sum().backward()\n"
    )
    rounds_of(write(tmp_path, text))


def test_inputs_that_stay_as_they_are_are_shared(tmp_path: Path) -> None:
    """A filled buffer is filled once for each arm, not for each run."""
    text = (
        LOGGED + "def inputs(case): LOG.append('new'); return [0] * 1000\ndef run(rows): return sum(rows)\n"
    )
    rounds_of(write(tmp_path, text))
    assert LOG == ["new"] * 3


def test_preparing_that_takes_long_leaves_single_runs(tmp_path: Path) -> None:
    """If preparing inputs takes far longer than the run, batches are short, so that there are more rounds."""
    text = (
        LOGGED
        + "def inputs(case): time.sleep(0.03); LOG.append('new'); return [0]\ndef run(rows): rows.append(1)\n"
    )
    found = rounds_of(write(tmp_path, text), budget=0.1)
    assert len(found) == timing.LEAST_OF_VERY_LONG
    assert len(LOG) == 3 * (len(found) + 4)  # one for the first run, one to warm up, two batches to settle


def test_each_batch_begins_with_the_same_random_numbers(tmp_path: Path) -> None:
    """All arms draw the same numbers: none has longer episodes by chance."""
    text = (
        "import random, time\nimport numpy as np\nimport torch\nfrom measured_programs import LOG\n"
        "def run(n):\n"
        "    LOG.append((random.random(), np.random.random(), torch.rand(()).item()))\n"
        "    time.sleep(0.003)\n"
    )
    rounds_of(write(tmp_path, text))
    assert len(set(LOG)) == 1


def test_long_runs_get_three_rounds(tmp_path: Path) -> None:
    """A run that takes a quarter of the budget is still compared three times."""
    found = rounds_of(
        write(tmp_path, "import time\ndef run(n): time.sleep(0.1 if n else 0)"), sizes=(0, 1), budget=0.33
    )
    assert sum(one.size == 1 for one in found) == timing.LEAST_OF_VERY_LONG
    assert sum(one.size == 0 for one in found) >= timing.LEAST_ROUNDS


def test_what_a_program_prints_is_discarded(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Output of a program is not shown while it is timed."""
    rounds_of(write(tmp_path, "import sys\ndef run(n): print('loud'); print('louder', file=sys.stderr)"))
    assert capfd.readouterr() == ("", "")


def test_what_a_program_raises_is_raised(tmp_path: Path) -> None:
    """A failing program is an error, not a timing."""
    with pytest.raises(ZeroDivisionError):
        rounds_of(write(tmp_path, "def run(n): 1 / 0"))


def test_late_imports_give_the_arms_own_module(tmp_path: Path) -> None:
    """A project module that is imported during a run belongs to the arm that runs."""
    (tmp_path / "late_part.py").write_text("VALUE = []\n", encoding="utf-8")
    text = LOGGED + "def run(n):\n    import late_part\n    LOG.append(id(late_part.VALUE))\n"
    rounds_of(write(tmp_path, text), budget=0.03)
    assert len(set(LOG)) == 3
    assert "late_part" not in sys.modules


def test_the_process_is_left_as_it_was(tmp_path: Path) -> None:
    """For the next workload in the process, the garbage collector tracks all objects again."""
    rounds_of(write(tmp_path, "def run(n): return n"))
    assert gc.get_freeze_count() == 0
    assert gc.isenabled()


# --- devices and their clocks ---


def test_a_missing_device_is_explained() -> None:
    """The CPU always exists; for other devices, the reason for their absence is given."""
    found = machine_devices.available()
    assert found["cpu"] is None
    assert set(found) == set(machine_devices.KINDS)
    assert all(why is None or "GPU" in why or "PyTorch" in why for why in found.values())
    assert machine_devices.describe("cpu").strip()


def test_looking_for_devices_works_without_torch() -> None:
    """Without PyTorch, that is the reason, and nothing fails."""
    code = (
        "import sys, importlib.util; sys.modules['torch'] = None\n"
        "from rlint.harness.machine_devices import available; print(available()['cuda'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "PyTorch" in done.stdout


def test_waiting_takes_no_processor_time() -> None:
    """A sleeping thread is distinguished from a spinning one."""
    clock = machine_devices.Clock("cpu")
    clock.start()
    time.sleep(0.1)
    wall, cpu = clock.stop()
    assert wall >= 0.1
    assert cpu < 0.1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not add up the time of ended children")
def test_processor_time_of_ended_children_counts() -> None:
    """Processor time of child processes is counted."""
    clock = machine_devices.Clock("cpu")
    clock.start()
    subprocess.run([sys.executable, "-c", "sum(range(3_000_000))"], check=True)
    assert clock.stop()[1] > 0.01


def test_seeding_leaves_nothing_to_chance_across_processes() -> None:
    """A seeded stream gives the same numbers in every process."""
    code = (
        "import random\nfrom rlint.harness.measure.timed_batches import seed_streams\n"
        "from rlint.harness import Case\n"
        "seed_streams(Case(3, 10)); print(random.random())"
    )
    described = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert len(described) == 1
    random.seed()
