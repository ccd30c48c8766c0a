"""The README shows real output."""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fixture_folders import ROOT, Expected
from rlint.evidence import recorded
from rlint.output import evidence_lines
from rlint.registry import catalogue

README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")
RULES = ROOT / "docs" / "rules.md"
VERIFY = ROOT / "docs" / "verify.md"


def block(mark: str, language: str, text: str = TEXT) -> str:
    """The fenced block below the comment `mark`."""
    match = re.search(rf"^<!-- {mark} -->\n```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert match, f"there is no block {mark!r}"
    return match.group(1)


def with_generated(mark: str, text: str) -> bytes:
    """The page of all rules with `text` between its marker comments."""
    found = re.compile(rf"(?<=<!-- {mark} -->\n).*?(?=<!-- end of {mark} -->)", re.DOTALL)
    real, times = found.subn(lambda _: text, RULES.read_bytes().decode())
    assert times == 1
    return real.encode()


def rlint(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run rlint in another folder."""
    command = [sys.executable, "-m", "rlint", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, encoding="utf-8", check=False)


def test_the_example_output_is_real(tmp_path: Path, expected: Expected) -> None:
    """The first report is rlint's output for the program above it."""
    (tmp_path / "train.py").write_text(block("example program", "python"), encoding="utf-8")
    done = rlint("check", "--isolated", "--color", "never", "train.py", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    shown = f"<!-- example output -->\n```text\n{block('example output', 'text')}```"
    real = f"<!-- example output -->\n```text\n{done.stdout}```"
    expected.compare(README, README.read_bytes().replace(shown.encode(), real.encode()))


def test_the_example_workload_runs(tmp_path: Path) -> None:
    """The workload runs the program above it, whose fix behaves the same; a busy machine may hide its
    gain.
    """
    (tmp_path / "train.py").write_text(block("example program", "python"), encoding="utf-8")
    (tmp_path / "workload.py").write_text(
        block("example workload", "python", VERIFY.read_text("utf-8")), encoding="utf-8"
    )
    done = rlint(
        "verify",
        "--isolated",
        "--quick",
        "--workload",
        "workload.py",
        "train.py",
        "--output-format",
        "json",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    [outcome] = json.loads(done.stdout)["outcomes"]
    assert outcome["verdict"] in ("faster", "no change")
    assert outcome["behaviour"]["differences"] == []
    assert outcome["behaviour"]["seeds"] >= 20


def test_the_table_lists_the_rules(expected: Expected) -> None:
    """Every rule is in the table, with the data of its page and its file."""
    rows = ["| code | name | fix | measured | finds |\n|---|---|---|---|---|\n"]
    for entry in catalogue.catalogue():
        fix = entry.fixes.replace("none", "advice") + (", opt-in" if entry.opt_in else "")
        gain = evidence_lines.cell(recorded.of(entry))
        rows.append(f"| {entry.code} | {entry.name} | {fix} | {gain} | {entry.summary} |\n")
    expected.compare(RULES, with_generated("rules", "".join(rows)))


@pytest.mark.parametrize("mark", ["setup and first check", "setup and tests"])
def test_setup_is_one_line(mark: str) -> None:
    """Each of the two commands can be copied into a shell."""
    [line] = block(mark, "sh").splitlines()
    assert line.startswith("python3 -m venv .venv && .venv/bin/pip install ")


def test_ci_runs_the_command_of_the_readme() -> None:
    """`.ci/run` takes its setup from the README."""
    script = (ROOT / ".ci" / "run").read_text()
    [extraction] = re.findall(r"^setup_and_tests=\$\((.*)\)$", script, re.MULTILINE)
    done = subprocess.run(["bash", "-c", extraction], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == block("setup and tests", "sh")
    assert 'bash -c "$setup_and_tests"' in script


@pytest.mark.slow
def test_the_first_command_shows_a_screen() -> None:
    """The examples have few findings, one for each purpose."""
    done = rlint("check", "--exit-zero", "--no-cache", "--color", "never", "examples/", cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert "RL103 tensor-from-array-list" in done.stdout
    assert len(done.stdout.splitlines()) <= 80


def test_links_lead_to_files() -> None:
    """A link within the repository is not broken."""
    for name in re.findall(r"\]\((?!https?:|#)([^)#]+)", TEXT):
        assert (ROOT / name).exists(), name


def test_the_configuration_is_accepted(tmp_path: Path) -> None:
    """The example of a configuration is valid."""
    (tmp_path / "pyproject.toml").write_text(block("configuration", "toml"))
    done = rlint("config", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "agents.base.Agent.learn" in done.stdout


@functools.cache
def help_of(command: str) -> str:
    """What `rlint COMMAND --help` prints."""
    return rlint(command, "--help", cwd=ROOT).stdout


@pytest.mark.parametrize("option", sorted(set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", TEXT)) - {"--dist"}))
def test_options_exist(option: str) -> None:
    """Every option that the README names exists."""
    assert option in "".join(
        help_of(command) for command in ("check", "fix", "verify", "profile", "prove", "survey", "init")
    )


def test_the_readme_is_short() -> None:
    """The README is short."""
    assert len(TEXT.splitlines()) <= 150
    assert len((ROOT / ".github" / "CONTRIBUTING.md").read_text().splitlines()) <= 120
