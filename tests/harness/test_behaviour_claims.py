"""Limits of the comparison: unjustified verdicts, allowed differences, and state that it restores."""

from __future__ import annotations

import logging
import math
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from compared_programs import WORKLOAD, compare, only, subject
from fixture_folders import ROOT
from rlint.evidence.results import LEAST_SEEDS
from rlint.harness.compare import behaviour
from rlint.harness.program import WorkloadError

HEAD = "def inputs(case): return [(i + 1) / 9 for i in range(case.size)]\n"
SINGLE_CALLS = WORKLOAD + "    excludes = {'again': 'the test', 'changed': 'the test'}\n"
PLAIN = HEAD + "def run(rows): return sum(rows)\n"


def with_(declarations: str) -> str:
    """The usual workload with further declarations."""
    return WORKLOAD.replace("import Workload", "import Tolerance, Workload").replace(
        "    sizes = (3,)\n", f"    sizes = (3,)\n    {declarations}\n"
    )


class TestRefusals:
    def test_a_program_that_differs_from_itself_is_not_judged(self, tmp_path: Path) -> None:
        """Random numbers from the operating system always differ, independently of the fix."""
        text = HEAD + "import os\ndef run(rows): return len(rows), os.urandom(8)\n"
        with pytest.raises(
            WorkloadError, match=r"is not deterministic: value of `result\[1\]` at seed 0, size 1"
        ):
            compare(tmp_path, text, text)

    def test_a_program_that_sometimes_differs_from_itself_is_found_by_repeating(self, tmp_path: Path) -> None:
        """If a case differs, the unchanged program must give equal results for it."""
        text = HEAD + (
            "import random, os\n"
            "def run(rows): return os.urandom(8) if random.random() < 0.2 and len(rows) == 3 else 0\n"
        )
        with pytest.raises(WorkloadError, match="is not deterministic"):
            compare(tmp_path, text, text + "\n")

    def test_a_workload_of_which_every_run_raises_is_refused(self, tmp_path: Path) -> None:
        """Two failing runs do not count as equal behaviour."""
        text = HEAD + "def run(rows): return rows.shape\n"
        with pytest.raises(WorkloadError, match=r"every run raised.*'list' object has no attribute 'shape'"):
            compare(tmp_path, text, text)

    def test_a_failing_preparation_is_the_workloads_fault(self, tmp_path: Path) -> None:
        """It is reported with its line, and not compared."""
        text = "def run(rows): return 0\n\ndef inputs(case):\n    raise OSError('no such file')\n"
        with pytest.raises(WorkloadError, match=r"program\.py:4: `prepare` raised OSError: no such file"):
            compare(tmp_path, text, text)

    def test_a_failing_outcome_is_the_workloads_fault(self, tmp_path: Path) -> None:
        """The same for the compared objects."""
        outcome = WORKLOAD + "\n    def outcome(self, program, inputs, result): return {'x': result.x}\n"
        with pytest.raises(WorkloadError, match=r"workload\.py:\d+: `outcome` raised AttributeError"):
            compare(tmp_path, PLAIN, PLAIN, workload=outcome)

    def test_too_many_objects_are_refused_with_advice(self, tmp_path: Path) -> None:
        """A million lists are not compared."""
        text = HEAD + "def run(rows): return [[i] for i in range(400_000)]\n"
        with pytest.raises(WorkloadError, match="more than 500,000 objects; override `outcome`"):
            compare(tmp_path, text, text)

    def test_a_fix_that_breaks_the_import_is_a_difference(self, tmp_path: Path) -> None:
        """The program before the fix could be imported."""
        found = only(tmp_path, PLAIN, "import nowhere_to_be_found\n" + PLAIN)
        assert (found.kind, found.path, found.before) == ("exception", "import", "no exception")
        assert "nowhere_to_be_found" in found.after


class TestAllowedDifferences:
    ROUNDED = HEAD + "def run(rows): return {'loss': sum(rows) * 0.3, 'steps': len(rows)}\n"
    OTHERWISE = (
        HEAD + "def run(rows): return {'loss': sum((r * 0.3 for r in rows), 0.0), 'steps': len(rows)}\n"
    )

    def test_without_a_tolerance_the_last_bit_counts(self, tmp_path: Path) -> None:
        """Exact is the default."""
        found = only(tmp_path, self.ROUNDED, self.OTHERWISE)
        assert (found.kind, found.path) == ("value", "result['loss']")

    def test_a_tolerance_that_is_needed_is_noted_with_its_reason(self, tmp_path: Path) -> None:
        """The report says that the comparison was not exact there, and why."""
        workload = with_("tolerances = {\"result['loss']\": Tolerance('sums round otherwise', rtol=1e-12)}")
        found = compare(tmp_path, self.ROUNDED, self.OTHERWISE, workload=workload)
        assert found.same
        assert found.notes == ("`result['loss']` agrees within rtol=1e-12: sums round otherwise",)

    def test_a_tolerance_that_is_not_needed_is_not_mentioned(self, tmp_path: Path) -> None:
        """If the values were exactly equal, no tolerance is mentioned."""
        workload = with_("tolerances = {'result': Tolerance('sums round otherwise', rtol=1e-12)}")
        found = compare(tmp_path, PLAIN, PLAIN + "\n", workload=workload)
        assert (found.same, found.notes) == (True, ())

    def test_a_tolerance_allows_no_more_than_it_says(self, tmp_path: Path) -> None:
        """Numbers outside the tolerance, and values other than numbers, still differ."""
        workload = with_("tolerances = {'result': Tolerance('sums round otherwise', rtol=1e-12)}")
        found = only(tmp_path, self.ROUNDED, self.OTHERWISE.replace("0.3", "0.3000001"), workload)
        assert found.path == "result['loss']"
        found = only(
            tmp_path, self.ROUNDED, self.OTHERWISE.replace("len(rows)", "float(len(rows))"), workload
        )
        assert (found.kind, found.path) == ("type", "result['steps']")

    def test_arrays_may_agree_within_a_tolerance(self, tmp_path: Path) -> None:
        """As for numbers, element by element; the first that is too far is shown."""
        text = """
        import numpy as np
        import torch

        def inputs(case): return None

        def run(_): return np.array([1.0, 2.0, np.nan]) * FACTOR, torch.ones(2, 2) * FACTOR
        """
        workload = with_("tolerances = {'result': Tolerance('another order of sums', rtol=1e-3)}")
        before, near, far = (text.replace("FACTOR", factor) for factor in ("1", "1.0001", "1.5"))
        assert compare(tmp_path, before, near, workload=workload).same
        found = compare(tmp_path, before, far, workload=workload).differences
        assert [(one.path, one.after) for one in found] == [
            ("result[0][0]", "1.5"),
            ("result[1][0, 0]", "1.5"),
        ]

    def test_an_allowed_difference_is_noted_when_it_shows_and_not_otherwise(self, tmp_path: Path) -> None:
        """The fix may remove the output that it is meant to remove; everything else is compared."""
        before = HEAD + "def run(rows): print('debugging'); return len(rows)\n"
        after = HEAD + "def run(rows): return len(rows)\n"
        workload = with_("allowed = {'printed': 'the fix removes debugging output'}")
        found = compare(tmp_path, before, after, workload=workload)
        assert found.same
        assert found.notes == ("`printed` may differ, and does: the fix removes debugging output",)
        assert compare(tmp_path, before, before + "\n", workload=workload).notes == ()
        worse = after.replace("len(rows)", "len(rows) + 1")
        assert [one.path for one in compare(tmp_path, before, worse, workload=workload).differences] == [
            "result"
        ]

    def test_what_varies_by_itself_can_be_named_and_is_said_not_to_be_compared(self, tmp_path: Path) -> None:
        """A program that prints its duration is compared by everything else."""
        text = HEAD + "import time\ndef run(rows): print(time.perf_counter_ns()); return len(rows)\n"
        workload = with_("allowed = {'printed': 'it prints the time'}")
        found = compare(tmp_path, text, text + "\n", workload=workload)
        assert found.same
        assert "`printed` is not compared, as it varies from run to run before the fix" in found.notes


class TestSafety:
    DECLARED = with_("allowed = {'printed': 'debugging'}; tolerances = {'*': Tolerance('any', rtol=1)}")

    def test_safe_fixes_are_held_to_exactness(self, tmp_path: Path) -> None:
        """Allowed differences apply to unsafe fixes only; a safe fix must change nothing at all."""
        safe = HEAD + "def run(rows): return sum(rows) + 1e-12 if rows else 0\n"
        unsafe = HEAD + "def run(rows): return sum(rows) + 2e-12 if rows else 0\n"
        found = compare(tmp_path, PLAIN, unsafe, safe=safe, workload=self.DECLARED).differences
        assert [(one.path, one.safety) for one in found] == [("result", "safe")]

    def test_what_only_the_unsafe_fixes_change_is_called_unsafe(self, tmp_path: Path) -> None:
        """If the safe fixes alone cause no difference, the difference is attributed to the unsafe ones."""
        safe = HEAD + "def run(rows): return sum(list(rows))\n"
        unsafe = HEAD + "def run(rows): return 0\n"
        found = compare(tmp_path, PLAIN, unsafe, safe=safe).differences
        assert [(one.path, one.safety) for one in found] == [("result", "unsafe")]

    def test_where_all_fixes_are_safe_the_workloads_allowed_differences_apply(self, tmp_path: Path) -> None:
        """Both arms have the same text then; the notes say which allowances were needed."""
        after = HEAD + "def run(rows): print('x'); return sum(rows) + 1\n"
        found = compare(tmp_path, PLAIN, after, safe=after, workload=with_("allowed = {'printed': 'why'}"))
        assert [(one.path, one.safety) for one in found.differences] == [("result", "safe")]
        assert found.notes == ("`printed` may differ, and does: why",)


class TestCases:
    def test_sizes_are_the_small_ones_and_the_first_measured_with_twenty_seeds_each(
        self, tmp_path: Path
    ) -> None:
        """Fewer seeds cannot be requested, and progress counts up to the number of compared cases."""
        workload = WORKLOAD.replace("    small_sizes = (1, 2)\n", "").replace("(3,)", "(10, 1000)")
        described: list[tuple[int, int]] = []
        made = subject(tmp_path, PLAIN, PLAIN + "\n", workload=workload)
        found = behaviour.compare(
            made, "example", "cpu", seeds=2, progress=lambda *now: described.append(now)
        )
        assert (found.seeds, found.sizes, found.fewest) == (20, (0, 1, 2, 7, 10), 20)
        assert found.larger == (1000,)
        assert found.variants == ("again", "changed", "nan", "infinity", "negative zero", "empty")
        assert found.cases == 100 + 1 + 12
        assert (described[0][0], described[-1]) == (0, (found.cases, found.cases))
        assert found.notes == ()

    def test_when_time_is_over_the_largest_sizes_lose_seeds_and_a_note_says_so(self, tmp_path: Path) -> None:
        """One case of each size remains, and all twenty seeds at one."""
        found = compare(tmp_path, PLAIN, PLAIN + "\n", budget=0)
        assert found.cases == 1 + 20 + 1 + 12
        assert (found.fewest, found.enough) == (1, False)
        assert found.notes == (
            "size 1: 1 of 20 seeds, because the time was up",
            "size 3: 1 of 20 seeds, because the time was up",
        )

    def test_at_most_five_differences_are_reported_smallest_cases_first(self, tmp_path: Path) -> None:
        """A difference in all cases is reported once, with the smallest case that shows it."""
        before = HEAD + "def run(rows): return {name: 0 for name in 'abcdefgh'}\n"
        found = compare(tmp_path, before, before.replace(": 0", ": 1")).differences
        assert [one.path for one in found] == [f"result['{name}']" for name in "abcde"]
        assert {(one.seed, one.size) for one in found} == {(0, 1)}

    def test_caches_of_a_module_do_not_leak_from_case_to_case(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Each case runs a newly loaded program, so that its first call is always a first call."""
        monkeypatch.setattr(behaviour, "_SLOW", math.inf)
        text = HEAD + "calls = []\ndef run(rows): calls.append(1); return len(calls)\n"
        after = HEAD + "def run(rows): return 1\n"
        assert compare(tmp_path, text, after, workload=SINGLE_CALLS).same

    def test_a_program_that_loads_slowly_is_used_again_and_judged_by_single_runs(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A difference that only occurs after earlier cases is a note."""
        monkeypatch.setattr(behaviour, "_SLOW", -math.inf)
        slow = HEAD + "calls = []\n"
        before = slow + "def run(rows): return len(rows)\n"
        after = slow + "def run(rows): calls.append(1); return len(rows) + len(calls) // 3\n"
        workload = SINGLE_CALLS + "    allowed = {'program.calls': 'the test'}\n"
        found = compare(tmp_path, before, after, workload=workload)
        assert found.same
        assert found.notes[0].endswith("but only after other runs in the same process")
        worse = slow + "def run(rows): return -1\n"
        assert [one.path for one in compare(tmp_path, before, worse).differences] == ["result"]

    def test_unwritten_rows_are_the_same_in_each_run(self, tmp_path: Path) -> None:
        """A buffer of which some rows are still empty can be compared."""
        text = """
        import numpy as np
        import torch

        def inputs(case):
            return np.empty((8, 2)), torch.empty(4, 3), np.empty(3, np.int64)

        def run(buffers):
            buffers[0][0] = 1.0
            return [np.empty(1000)]
        """
        assert compare(tmp_path, text, text + "\n").same

    def test_what_is_printed_once_in_a_process_is_captured_in_each_run(self, tmp_path: Path) -> None:
        """Otherwise PyTorch would warn only the arm that runs first."""
        text = HEAD + (
            "import numpy as np, torch\n"
            "def run(rows):\n"
            "    row = np.ones(2)\n"
            "    row.flags.writeable = len(rows) < 3\n"
            "    return torch.from_numpy(row)\n"
        )
        assert compare(tmp_path, text, text + "\n").same
        found = only(tmp_path, text, text.replace("from_numpy(row)", "from_numpy(row.copy())"))
        assert (found.kind, found.size) == ("warned", 3)
        assert "not writable" in found.before

    def test_what_is_drawn_at_import_is_the_same_in_each_run(self, tmp_path: Path) -> None:
        """A module that draws its weights when it is imported can be compared."""
        text = HEAD + "import numpy as np\nW = np.random.rand(3)\ndef run(rows): return W\n"
        assert compare(tmp_path, text, text + "\n").same

    def test_memory_that_is_not_cleared_any_more_is_caught(self, tmp_path: Path) -> None:
        """Fresh memory is often zero; a fix that relies on this is detected."""
        text = "import numpy as np\ndef inputs(case): return None\ndef run(_): return np.zeros((2, 2))\n"
        found = only(tmp_path, text, text.replace("zeros", "empty"))
        assert (found.path, found.before, found.after) == ("result[0, 0]", "0.0", "nan")


def test_the_process_is_left_as_it_was(tmp_path: Path) -> None:
    """Changes that a program makes do not affect later runs or the harness."""
    text = HEAD + (
        "import logging, os, sys, io, warnings, torch, numpy as np\n"
        "def run(rows):\n"
        "    sys.stdout = io.StringIO()\n"
        "    os.environ['AGENT'] = 'x'; os.chdir('/'); sys.setrecursionlimit(5000)\n"
        "    torch.set_grad_enabled(False); torch.set_default_dtype(torch.float64)\n"
        "    torch.use_deterministic_algorithms(False); np.seterr(all='ignore')\n"
        "    logging.getLogger('agent').setLevel('DEBUG'); warnings.simplefilter('error')\n"
        "    logging.getLogger('agent').addHandler(logging.StreamHandler())\n"
        "    return len(rows)\n"
    )
    import numpy as np
    import torch

    def state() -> list[object]:
        return [
            sys.stdout, sys.stderr, dict(os.environ), os.getcwd(), sys.getrecursionlimit(), np.geterr(),
            torch.is_grad_enabled(), torch.get_default_dtype(), torch.get_deterministic_debug_mode(),
            warnings.filters[:], logging.lastResort, logging.StreamHandler.emit, np.empty,
        ]  # fmt: skip

    before = state()
    assert compare(tmp_path, text, text + "\n").same
    assert state() == before
    assert logging.getLogger("agent").level == logging.NOTSET
    assert logging.getLogger("agent").handlers == []


def test_a_program_without_torch_and_numpy_needs_neither(tmp_path: Path) -> None:
    """Comparing loads no package that the program does not use."""
    script = (
        "import pathlib, sys\n"
        "from compared_programs import compare\n"
        f"text = {PLAIN!r}\n"
        f"found = compare(pathlib.Path({str(tmp_path)!r}), text, text.replace('sum(rows)', 'len(rows)'))\n"
        "print([str(one) for one in found.differences])\n"
        "assert not {'torch', 'numpy'} & sys.modules.keys()\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(root / "tests")])},
    )
    assert done.stderr == ""
    assert done.stdout.startswith("['type of `result` at seed 0, size 1: 0.1111")


def test_the_readme_promises_the_seeds_that_are_compared() -> None:
    """The number is defined once in the code, and the documents repeat it."""
    readme, page = (ROOT / name for name in ("README.md", "docs/verify.md"))
    assert f"at least {LEAST_SEEDS} seeds at each size" in " ".join(readme.read_text("utf-8").split())
    assert f"at least {LEAST_SEEDS} seeds each" in page.read_text("utf-8")
    assert f"before {LEAST_SEEDS} seeds were compared at each size" in page.read_text("utf-8")
