"""Reports for other programs: where they are written, and what they contain for a real run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from fixture_folders import ROOT
from rlint.output import FORMATS

Run = Callable[..., Result]


def test_the_environment_may_name_the_format(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable sets the format of all commands; the command line overrides it, and a wrong value is an
    error.
    """
    monkeypatch.setenv("RLINT_OUTPUT_FORMAT", "gitlab")
    assert {one["check_name"] for one in json.loads(run("check").stdout)} == {"RL900", "RL901"}
    assert run("check", "--output-format", "concise", "clean.py").stdout == "All checks passed!\n"
    monkeypatch.setenv("RLINT_OUTPUT_FORMAT", "gitlub")
    result = run("check")
    assert (result.exit_code, "RLINT_OUTPUT_FORMAT" in result.stderr) == (2, True)
    monkeypatch.setenv("RLINT_OUTPUT_FORMAT", "")
    assert "Found 2 findings." in run("check").stdout


@pytest.mark.parametrize("format_", FORMATS)
def test_every_format_can_be_written_to_a_file(run: Run, folder: Path, format_: str) -> None:
    """A new folder is created, an old report is replaced as a whole, and no other file is left."""
    target = folder / "reports" / "rlint.out"
    for _ in range(2):
        result = run("check", "--output-format", format_, "--output-file", str(target))
        assert (result.exit_code, result.stdout) == (1, "")
        assert "RL90" in target.read_text(encoding="utf-8")
        assert [path.name for path in target.parent.iterdir()] == ["rlint.out"]
        target.write_text("old" * 100_000)


def test_a_link_and_a_mode_stay(run: Run, folder: Path) -> None:
    """A link to the report, and its permissions, are kept."""
    (folder / "real.json").write_text("old")
    (folder / "real.json").chmod(0o640)
    (folder / "link.json").symlink_to("real.json")
    run("check", "--output-format", "json", "-o", "link.json")
    assert (folder / "link.json").is_symlink()
    assert len(json.loads((folder / "real.json").read_text())) == 2
    assert (folder / "real.json").stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.name == "nt", reason="there are no such devices")
def test_a_device_stays_what_it_is(folder: Path) -> None:
    """`-o /dev/stdout` prints; a device or a pipe is written to, never replaced by a file."""
    done = subprocess.run(
        [sys.executable, "-m", "rlint", "check", "--output-format", "json", "-o", "/dev/stdout"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, len(json.loads(done.stdout))) == (1, 2), done.stderr
    os.mkfifo(folder / "pipe")
    with subprocess.Popen(["cat", "pipe"], cwd=folder, stdout=subprocess.PIPE, text=True) as reader:
        subprocess.run(
            [sys.executable, "-m", "rlint", "check", "-q", "--output-format", "concise", "-o", "pipe"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=False,
        )
        assert reader.communicate()[0].count("\n") == 2
    assert not (folder / "pipe").is_file()


def test_a_report_that_cannot_be_written_is_an_error(run: Run, folder: Path) -> None:
    """The message names the file; its earlier content is kept."""
    (folder / "taken").mkdir()
    for target in ("clean.py/report.json", "taken"):
        result = run("check", "-o", target)
        assert (result.exit_code, target.split("/")[0] in result.stderr) == (2, True)
    assert (folder / "clean.py").read_text() == "z = 3\n"


def test_sarif_of_a_real_run(run: Run, folder: Path) -> None:
    """Rule pages and findings hidden by comments and a baseline are included, skipped files are not."""
    line = "    a.load_state_dict({k: v.clone() for k, v in b.state_dict().items()})"
    head = "from torch import nn\n\n\ndef copy(a: nn.Module, b: nn.Module) -> None:\n"
    (folder / "known.py").write_text(f"{head}{line}\n")
    run("check", "--write-baseline", "known.json", "known.py")
    (folder / "nets.py").write_text(f"{head}{line}\n{line}  # noqa: RL305\n")
    (folder / "vendored.py").write_text(f"# rlint: skip-file\n{head}{line}\n")
    found = run("check", "--output-format", "sarif", "--baseline", "known.json", "--extend-select", "RL305")
    assert found.exit_code == 1
    (done,) = json.loads(found.stdout)["runs"]
    results = [
        (
            one["ruleId"],
            one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            [each["kind"] for each in one["suppressions"]],
        )
        for one in done["results"]
    ]
    assert results == [
        ("RL900", "fixable.py", []),
        ("RL305", "known.py", ["external"]),
        ("RL305", "nets.py", []),
        ("RL305", "nets.py", ["inSource"]),
        ("RL901", "unfixable.py", []),
    ]
    rules = {rule["id"]: rule for rule in done["tool"]["driver"]["rules"]}
    assert "## Fix safety" in rules["RL305"]["help"]["markdown"]
    assert "## Measured" in rules["RL305"]["help"]["markdown"]
    assert rules["RL305"]["helpUri"].startswith("https://")
    assert done["results"][2]["properties"]["measured"]
    plain = json.loads(run("check", "--output-format", "json").stdout)
    shown = [each for each in results if not each[2]]
    assert sorted(
        (one["code"], Path(one["filename"]).name) for one in plain if one["filename"].find("known") < 0
    ) == [(code, name) for code, name, _ in sorted(shown)]
