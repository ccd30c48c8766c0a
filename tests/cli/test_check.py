from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["clean.py"], 0),
        (["fixable.py"], 1),
        (["."], 1),
        ([], 1),
        (["--exit-zero"], 0),
        (["gone.py"], 2),
        (["--exit-zero", "gone.py"], 2),
        (["gone.py", "clean.py"], 1),
        (["gone.py", "clean.py", "--exit-zero"], 0),
        (["broken.py"], 2),
        (["broken.py", "clean.py"], 1),
        (["--ignore", "ALL", "fixable.py"], 0),
        (["--select", "RL999"], 2),
        (["--output-format", "xml"], 2),
        (["--no-such-option"], 2),
        (["--exit-zero", "--exit-non-zero-on-fix"], 2),
        (["--config", "fixx = true"], 2),
        (["--config", "gone.toml"], 2),
        (["--config", "rlint.toml", "--isolated"], 2),
        (["--config", "rlint.toml", "--config", "pyproject.toml"], 2),
        (["--isolated"], 0),
        (["-j", "0"], 2),
        (["--per-file-ignores", "RL1"], 2),
    ],
)
def test_exit_status(run: Run, folder: Path, arguments: list[str], status: int) -> None:
    """Exit status: 0 without findings, 1 for findings or files that could not be checked, 2 if nothing could
    be checked.
    """
    (folder / "broken.py").write_text("def f(:\n") if "broken.py" in arguments else None
    (folder / "pyproject.toml").write_text("")
    assert run("check", *arguments).exit_code == status


def test_the_report_ends_with_a_summary(run: Run) -> None:
    """People see how much was found and what `rlint fix` can do about it."""
    found = run("check")
    assert "fixable.py:1:8" in found.stdout
    assert "Found 2 findings." in found.stdout
    assert "1 safe fix: `rlint fix`" in found.stdout
    assert run("check", "clean.py").stdout == "All checks passed!\n"


def test_checking_only_tests_reports_that_they_are_not_checked(run: Run, folder: Path) -> None:
    """Such as `test.py`, with which many projects evaluate their agent."""
    (folder / "test.py").write_text("steps = 3\n")
    nothing = "Nothing to check: tests and documentation are parsed but not checked.\n"
    assert run("check", "test.py").stdout == nothing
    assert run("check", "test.py", "clean.py").stdout == "All checks passed!\n"


def test_quiet_silent_and_verbose(run: Run, folder: Path) -> None:
    """-q omits the summary, -s everything except errors, -v reports what is done."""
    quiet = run("check", "-q", "--output-format", "concise")
    assert quiet.stdout.count("\n") == 2
    assert run("check", "-q", "clean.py").output == ""
    silent = run("check", "-s", ".", "gone.py")
    assert (silent.exit_code, silent.stdout) == (1, "")
    assert "gone.py" in silent.stderr
    assert "rlint.toml" in run("check", "-v").stderr


def test_selection_options(run: Run) -> None:
    """The options that select rules work as in ruff."""

    def codes(*options: str) -> set[str]:
        return {entry["code"] for entry in json.loads(run("check", "--output-format=json", *options).stdout)}

    assert codes() == {"RL900", "RL901"}
    assert codes("--select", "RL901,RL101") == {"RL901"}
    assert codes("--ignore", "unused-suppression") == {"RL901"}
    assert codes("--isolated", "--extend-select", "RL900") == {"RL900"}
    assert codes("--config", 'select = ["RL901"]') == {"RL901"}
    assert codes("--per-file-ignores", "un*.py:RL901,*ar*:RL9") == {"RL900"}
    assert codes("--exclude", "unfixable.py") == {"RL900"}
    assert codes("--exclude", "un*,fix*") == set()


def test_what_could_not_be_checked_is_said_on_standard_error(run: Run, folder: Path) -> None:
    """A file that cannot be parsed is named with its line, the others are checked; JSON lists it, too."""
    (folder / "broken.py").write_text("x = 1\ndef f(:\n")
    (folder / "latin.py").write_bytes(b"x = '\xe9'\n")
    found = run("check", ".", "gone.py", "--output-format", "json")
    assert "broken.py:2:" in found.stderr
    assert "latin.py:1:6" in found.stderr
    assert "gone.py" in found.stderr
    entries = json.loads(found.stdout)
    assert {Path(entry["filename"]).name for entry in entries if entry["code"] is None} == {
        "broken.py",
        "latin.py",
        "gone.py",
    }
    assert {"RL900", "RL901"} < {entry["code"] for entry in entries}


def test_no_files_is_a_warning(run: Run, folder: Path) -> None:
    """An empty folder gives a warning, not an error."""
    (folder / "empty").mkdir()
    found = run("check", "empty")
    assert found.exit_code == 0
    assert "no Python files" in found.stderr
    assert run("check", "empty", "--output-format=json").stdout.strip() == "[]"


def test_a_selection_of_nothing_is_a_warning(run: Run) -> None:
    """A prefix of only opt-in rules selects nothing, with a message."""
    assert "no rules are selected" in run("check", "--select", "RL9").stderr


def test_show_files_and_settings(run: Run, folder: Path) -> None:
    """What would be checked, and with which settings, can be seen without checking."""
    shown = run("check", "--show-files", "--exclude", "clean.py")
    assert shown.stdout.split() == [str(folder / "fixable.py"), str(folder / "unfixable.py")]
    assert shown.exit_code == 0
    assert (
        'output-format = "json"  # command line'
        in run("check", "--show-settings", "--output-format=json").stdout
    )


def test_the_report_can_go_into_a_file(run: Run, folder: Path) -> None:
    """-o writes the report, with its folder, and leaves standard output empty."""
    found = run("check", "--output-format", "json", "-o", "out/report.json")
    assert found.stdout == ""
    assert len(json.loads((folder / "out" / "report.json").read_text())) == 2
    failed = run("check", "-o", "clean.py/report")
    assert (failed.exit_code, "cannot write" in failed.stderr) == (2, True)


def test_statistics(run: Run) -> None:
    """--statistics counts the findings of each rule."""
    assert "unused-suppression" in run("check", "--statistics").stdout
    counts = json.loads(run("check", "--statistics", "--output-format=json").stdout)
    assert {entry["code"]: entry["count"] for entry in counts} == {"RL900": 1, "RL901": 1}


def test_colors(run: Run) -> None:
    """Output is coloured on a terminal, or on request."""
    assert "\x1b[" not in run("check").output
    assert "\x1b[" in run("check", "--color", "always").output


def test_add_noqa_changes_nothing_where_nothing_is_found(run: Run, folder: Path) -> None:
    """The engine's own findings about comments are not hidden by further comments."""
    before = (folder / "unfixable.py").read_text()
    found = run("check", "--add-noqa", "clean.py", "fixable.py")
    assert "Added 0" in found.stderr
    assert (folder / "unfixable.py").read_text() == before
    assert run("check", "--add-noqa", "-").exit_code == 2


def test_a_cache_is_accepted_and_not_made(run: Run, folder: Path) -> None:
    """--no-cache is accepted, as in ruff."""
    before = sorted(path.name for path in folder.iterdir())
    assert run("check", "--no-cache", "clean.py").exit_code == 0
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["chek"], "did you mean `check`?"),
        (["clean.py"], "run `rlint check clean.py`"),
        (["check", "--selct", "RL1"], "--select"),
        (["check", "--select", "unused-supression"], "did you mean `unused-suppression`?"),
        (["rule", "unused-supression"], "did you mean `unused-suppression`?"),
        (["config", "gone"], "gone: no such file or folder"),
    ],
)
def test_mistakes_name_what_was_meant(run: Run, arguments: list[str], hint: str) -> None:
    """A typing error is answered with the nearest name."""
    found = run(*arguments)
    assert found.exit_code == 2
    assert hint in found.stderr
