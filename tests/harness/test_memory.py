"""The memory of a run is measured correctly: of Python objects, numpy arrays and PyTorch tensors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measured_programs import LOG, NAME, write
from rlint.evidence.results import Verdict
from rlint.harness.measure import memory
from rlint.harness.measure.memory import MemoryUse, peak_of
from rlint.harness.measure.verdicts import measurements

MB = 1_000_000

TAKES = {
    "python": "def run(n): return [None] * (n // 8)",
    "numpy": "import numpy as np\ndef run(n): return np.ones(n, dtype=np.uint8)",
    "torch": "import torch\ndef run(n): return torch.ones(n, dtype=torch.uint8)",
}


@pytest.fixture(autouse=True)
def _empty_log() -> Iterator[None]:
    LOG.clear()
    yield
    LOG.clear()


def uses_of(folder: Path, before: str, after: str | None = None, size: int = 1) -> list[MemoryUse]:
    """Measure a program's memory."""
    return memory.measure(write(folder, before, after), NAME, "cpu", sizes=(size,))


def peaks(found: list[MemoryUse], arm: str) -> list[int]:
    """The peaks on the host of one arm's runs."""
    return [one.peak_host for one in found if one.arm == arm]


@pytest.mark.parametrize("library", TAKES)
def test_fifty_megabytes_more_are_seen(tmp_path: Path, library: str) -> None:
    """A fix that takes 50 MB more is measured to within 5 %, whichever library allocates them."""
    text = TAKES[library].replace("def run(", "def take(")
    before, after = (f"{text}\ndef run(n): return take({count * MB})" for count in (10, 60))
    found = uses_of(tmp_path, before, after)
    assert [one.arm for one in found] == ["before"] * 3 + ["after"] * 3
    for low, high in zip(peaks(found, "before"), peaks(found, "after"), strict=True):
        assert high - low == pytest.approx(50 * MB, rel=0.05)


@pytest.mark.parametrize("library", ["numpy", "python"])
def test_ten_per_cent_more_memory_are_a_change(tmp_path: Path, library: str) -> None:
    """Eleven megabytes instead of ten give the verdict slower, the reverse faster."""
    text = TAKES[library].replace("def run(", "def take(")
    small, large = (f"{text}\ndef run(n): return take({count * MB})" for count in (10, 11))

    def verdict(before: str, after: str) -> Verdict:
        uses = uses_of(tmp_path, before, after)
        return next(
            one.verdict for one in measurements([], uses, claims=("mem",), device="cpu") if one.claim == "mem"
        )

    assert verdict(small, large) is Verdict.SLOWER
    assert verdict(large, small) is Verdict.FASTER


@pytest.mark.parametrize("library", TAKES)
def test_what_was_freed_in_between_is_not_added_up(tmp_path: Path, library: str) -> None:
    """Twenty megabytes twice, one after the other, are a peak of twenty."""
    text = TAKES[library].replace("def run(", "def take(") + (
        "\n\ndef run(n):\n    take(20_000_000)\n    take(20_000_000)\n    return None\n"
    )
    for peak in peaks(uses_of(tmp_path, text), "before"):
        assert peak == pytest.approx(20 * MB, rel=0.05)


@pytest.mark.parametrize("library", TAKES)
def test_what_is_made_once_does_not_count(tmp_path: Path, library: str) -> None:
    """A table that the program keeps from its first run on does not count for later runs."""
    text = TAKES[library].replace("def run(", "def take(") + (
        "\nKEPT = []\ndef run(n):\n    if not KEPT:\n        KEPT.append(take(20_000_000))\n"
    )
    assert max(peaks(uses_of(tmp_path, text), "before")) < 1 * MB


@pytest.mark.parametrize("library", TAKES)
def test_inputs_do_not_count(tmp_path: Path, library: str) -> None:
    """A buffer that is created before the run does not count, even if each run gets a new one."""
    text = TAKES[library].replace("def run(", "def take(") + (
        "\ndef inputs(case): return [take(20_000_000)]\ndef run(rows): rows.append(1)\n"
    )
    assert max(peaks(uses_of(tmp_path, text), "before")) < 1 * MB


def test_tensors_that_are_allocated_are_counted(tmp_path: Path) -> None:
    """Seven sums of tensors are seven allocations; sums in place are none."""
    text = (
        "import torch\ndef inputs(case): return torch.ones(100), torch.ones(100)\n"
        "def run(pair):\n    a, b = pair\n    for _ in range(7):\n        a + b\n"
    )
    found = uses_of(tmp_path, text, text.replace("a + b", "a.add_(b)"))
    assert [one.allocations for one in found] == [7, 7, 7, 0, 0, 0]


def test_a_program_without_torch_is_measured_all_the_same(tmp_path: Path) -> None:
    """The count of tensors is 0 there, and on the CPU there is no device memory."""
    found = uses_of(tmp_path, "def run(n): return bytearray(5_000_000)")
    assert {(one.allocations, one.peak_device) for one in found} == {(0, None)}
    assert all(one.peak_host == pytest.approx(5 * MB, rel=0.01) for one in found)


def test_sizes_with_too_many_allocations_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loop over millions of small tensors does not fill the memory with records."""
    text = "import torch\ndef run(n):\n    for _ in range(n):\n        torch.ones(1)\n"
    subject = write(tmp_path, text, declarations="sizes = (100, 50_000)")
    monkeypatch.setattr(memory, "MOST_ALLOCATIONS", 5_000)
    found = memory.measure(subject, NAME, "cpu", sizes=(100, 50_000))
    assert {one.size for one in found} == {100}
    assert memory.measure(subject, NAME, "cpu", sizes=(50_000,)) == []


# --- the peak, from allocations and frees ---

changes = st.lists(st.integers(-100, 100)).map(list)


@given(changes)
def test_a_peak_is_the_highest_sum_of_what_happened_so_far(sizes: list[int]) -> None:
    """Events are added up in the order of their times, in whatever order they arrive."""
    events = list(enumerate(sizes))
    sums = [sum(sizes[: count + 1]) for count in range(len(sizes))]
    assert peak_of(events) == peak_of(reversed(events)) == max([0, *sums])
