"""Edits that LibCST writes: only if they are shown, and the same from the cache."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import layouts
from fixture_folders import FIXTURES

_RUN = """\
import sys
from collections import Counter
from rlint.__main__ import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    status = end.code
print("libcst" in sys.modules, file=sys.stderr)
"""
PROGRAM = """\
import torch


def collect(env, policy: torch.nn.Module, device: torch.device):
    for step in range(1000):
        batch = torch.zeros(4).to(device)
        env.step(policy(batch)); env.render()
"""


def uses_libcst(folder: Path, *options: str) -> tuple[str, bool]:
    """The output of a run, and whether it imported LibCST."""
    command = [sys.executable, "-c", _RUN, "check", "--isolated", "--select", "ALL", "-j", "1", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.stderr.split()[-1] in ("True", "False"), done.stderr
    return done.stdout, done.stderr.split()[-1] == "True"


@pytest.mark.parametrize("options", [["--output-format", "concise"], ["--statistics"]])
@pytest.mark.parametrize("step", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_what_shows_no_edits_does_not_import_libcst(options: list[str], step: int, tmp_path: Path) -> None:
    """Importing LibCST takes longer than checking many files: over a sample of the fixtures, and over all."""
    programs = [path / "before.py" for path in sorted(FIXTURES.iterdir()) if (path / "before.py").exists()]
    for path in programs[::step]:
        (tmp_path / f"{path.parent.name.replace('-', '_')}.py").write_bytes(path.read_bytes())
    printed, imported = uses_libcst(tmp_path, "--no-cache", *options, ".")
    assert printed.count("\n") > 30 / step
    assert not imported


def test_edits_are_kept_from_one_run_to_the_next(tmp_path: Path) -> None:
    """A run that shows edits writes those that an earlier run omitted; the next takes them from the cache."""
    (tmp_path / "train.py").write_text(PROGRAM)
    shown: list[object] = []
    for form, imports in (("concise", False), ("json", True), ("json", False), ("concise", False)):
        printed, imported = uses_libcst(tmp_path, "--output-format", form, ".")
        assert imported is imports, form
        shown.append(json.loads(printed) if form == "json" else printed)
    assert shown[0] == shown[3]
    assert shown[1] == shown[2]
    assert "non_blocking=True" in str(shown[1]) or "device=device" in str(shown[1])


SHARED_LINES = """\
import torch


def collect(env, policy: torch.nn.Module, device: torch.device):
    for step in range(1000):
        batch = torch.zeros(4); batch = batch.to(device)  # why
        batch = torch.zeros(  # one
            4).to(device)  # two
        env.step(policy(batch)); env.render()
"""


@pytest.mark.parametrize("step", [60, pytest.param(5, marks=pytest.mark.slow)])
def test_all_formats_mark_the_same_as_fixable(tmp_path: Path, step: int) -> None:
    """Also in layouts in which some fixes are refused once LibCST has written them."""
    given = [(path, text) for path, text in layouts.programs(FIXTURES) if path.endswith("before.py")][::step]
    programs = [SHARED_LINES]
    for _, text in given:
        programs += [variant.text for variant in layouts.variants(text, list(layouts.LAYOUTS), 1)]
    for number, text in enumerate(programs):
        (tmp_path / f"program_{number}.py").write_text(text)
    options = ["--no-cache", "--unsafe-fixes", "--output-format"]
    concise, _ = uses_libcst(tmp_path, *options, "concise", ".")
    printed, _ = uses_libcst(tmp_path, *options, "json", ".")
    marks = re.compile(r"(?m)^(.+?:\d+:\d+): (RL\d+) \[\*\]")
    marked = Counter((match[1], match[2]) for match in marks.finditer(concise))
    fixed = Counter(
        (
            f"{Path(each['filename']).name}:{each['location']['row']}:{each['location']['column']}",
            each["code"],
        )
        for each in json.loads(printed)
        if each["fix"]
    )
    assert marked.total() > 500 / step
    assert marked == fixed
