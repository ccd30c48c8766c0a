"""A project with old findings starts to use rlint today."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]

PATTERNS = """\
from torch import nn


def first(a: nn.Module, b: nn.Module) -> None:
    a.load_state_dict({k: v.clone() for k, v in b.state_dict().items()})


def second(c: nn.Module, d: nn.Module, again: bool) -> None:
    c.load_state_dict({k: v.clone() for k, v in d.state_dict().items()})
    if again:
        c.load_state_dict({k: v.clone() for k, v in d.state_dict().items()})
"""
NEW = """\


def third(e: nn.Module, f: nn.Module) -> None:
    e.load_state_dict({k: v.clone() for k, v in f.state_dict().items()})
"""


@pytest.fixture
def project(folder: Path) -> Path:
    """A project with three findings, all in its own program."""
    for name in ("fixable.py", "unfixable.py", "clean.py"):
        (folder / name).unlink()
    (folder / "rlint.toml").write_text('select = ["RL305"]\nunsafe-fixes = true\n')
    (folder / "nets.py").write_text(PATTERNS)
    return folder


def found(result: Result) -> list[tuple[str, int]]:
    """The findings of a JSON report."""
    return [(Path(one["filename"]).name, one["location"]["row"]) for one in json.loads(result.stdout)]


def check(run: Run, *arguments: str) -> list[tuple[str, int]]:
    """What is found."""
    return found(run("check", "--output-format", "json", *arguments))


def test_known_findings_are_hidden_and_new_ones_are_not(run: Run, project: Path) -> None:
    """Write the baseline once; afterwards only new findings count, even if known ones move to other lines."""
    written = run("check", "--write-baseline", "known.json")
    assert (written.exit_code, written.stdout) == (0, "")
    assert "Wrote 3 findings to known.json." in written.stderr

    hidden = run("check", "--baseline", "known.json")
    assert (hidden.exit_code, hidden.stdout) == (0, "All checks passed!\n")
    assert "3 findings hidden by known.json." in hidden.stderr

    (project / "nets.py").write_text("# moved\n\n" + PATTERNS.replace("def second", "# a\ndef second") + NEW)
    changed = run("check", "--baseline", "known.json", "--output-format", "json")
    assert changed.exit_code == 1
    assert found(changed) == [("nets.py", 18)]
    assert check(run, "--baseline", "known.json", "--no-baseline") != check(run, "--baseline", "known.json")


def test_more_of_the_same_is_new(run: Run, project: Path) -> None:
    """A known line that now occurs twice is one new finding."""
    (project / "nets.py").write_text(PATTERNS + NEW)
    run("check", "--write-baseline", "known.json")
    (project / "nets.py").write_text(PATTERNS + NEW + NEW.splitlines()[-1] + "\n")
    assert check(run, "--baseline", "known.json") == [("nets.py", 16)]


def test_the_file_is_made_for_small_diffs(run: Run, project: Path) -> None:
    """Sorted, a line for each finding, relative paths; writing it again changes nothing."""
    (project / "a").mkdir()
    (project / "a" / "zeichen_ä.py").write_text(PATTERNS.replace("again", "nochmäl"))
    run("check", "--write-baseline", "known.json")
    text = (project / "known.json").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if "path" in line]
    assert len(rows) == 4
    assert rows == sorted(rows)
    assert json.loads(text)["findings"][0] == {
        "path": "a/zeichen_ä.py",
        "code": "RL305",
        "function": "first",
        "line": "a.load_state_dict({k: v.clone() for k, v in b.state_dict().items()})",
        "count": 1,
    }
    (project / "nets.py").write_text("\n\n" + PATTERNS)
    run("check", "--write-baseline=known.json")
    assert (project / "known.json").read_text(encoding="utf-8") == text
    assert not list(project.glob(".rlint-*"))


def test_entries_that_are_not_needed_are_named_and_taken_out(run: Run, project: Path) -> None:
    """A finding that was fixed is new if it comes back."""
    run("check", "--write-baseline", "known.json")
    (project / "nets.py").write_text(
        PATTERNS.replace("v in b.", "v in a.").replace("v.clone() for k, v in a", "v for k, v in a")
    )
    said = run("check", "--baseline", "known.json", "-v").stderr
    assert "1 finding in known.json is no longer found; `rlint check --write-baseline` removes it." in said
    assert "gone: nets.py: RL305 in first: a.load_state_dict" in said
    assert "(1 finding gone)" in run("check", "--write-baseline", "known.json").stderr
    assert "gone" not in run("check", "--baseline", "known.json").stderr
    (project / "nets.py").unlink()
    (project / "other.py").write_text("x = 1\n")
    assert "2 findings in known.json are no longer found" in run("check", "--baseline", "known.json").stderr


def test_what_was_not_checked_keeps_its_entries(run: Run, project: Path) -> None:
    """A run over one file or one rule leaves the entries of others unchanged."""
    (project / "other.py").write_text(PATTERNS)
    (project / "broken.py").write_text(PATTERNS)
    run("check", "--write-baseline", "known.json")
    before = (project / "known.json").read_text()
    (project / "broken.py").write_text("def f(:\n")
    for arguments in (["other.py"], ["--select", "RL101"], ["broken.py", "other.py"]):
        assert "gone" not in run("check", "--baseline", "known.json", *arguments).stderr
        run("check", "--write-baseline", "known.json", *arguments)
        assert (project / "known.json").read_text() == before


def test_the_configuration_names_it(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are relative to the configuration file, whatever the working folder, also when the baseline is
    written.
    """
    (project / "rlint.toml").write_text('select = ["RL305"]\nbaseline = "ci/known.json"\n')
    missing = run("check")
    assert missing.exit_code == 2
    assert "ci/known.json: no such baseline" in missing.stderr
    assert "--write-baseline" in missing.stderr
    (project / "src").mkdir()
    (project / "src" / "more.py").write_text(PATTERNS)
    assert run("check", "--write-baseline").exit_code == 0
    assert len(json.loads((project / "ci" / "known.json").read_text())["findings"]) == 4
    monkeypatch.chdir(project / "src")
    assert run("check").exit_code == 0
    assert run("check", "..").exit_code == 0
    assert run("check", "--no-baseline").exit_code == 1


def test_fix_leaves_known_findings_alone(run: Run, project: Path) -> None:
    """Findings that the baseline hides are not fixed."""
    run("check", "--write-baseline", "known.json")
    (project / "nets.py").write_text(PATTERNS + NEW)
    diff = run("check", "--diff", "--baseline", "known.json").stdout
    assert [line for line in diff.splitlines() if line.startswith("-  ")] == [
        "-    e.load_state_dict({k: v.clone() for k, v in f.state_dict().items()})"
    ]
    fixed = run("fix", "--baseline", "known.json")
    assert fixed.exit_code == 0
    text = (project / "nets.py").read_text()
    assert text == PATTERNS + NEW.replace("v.clone()", "v")
    assert run("fix", "--no-baseline").exit_code == 0
    assert "3 findings in known.json are no longer found" in run("check", "--baseline", "known.json").stderr


def test_a_fix_in_the_line_of_a_known_finding_does_not_bring_it_back_at_once(run: Run, project: Path) -> None:
    """A known finding whose line a fix changes is not fixed in the same run, but shown from then on."""
    old = "a.load_state_dict({k: v.clone() for k, v in b.state_dict().items()})"
    new = "c.load_state_dict({k: v.clone() for k, v in d.state_dict().items()})"
    body = (
        "from torch import nn\n\n\ndef f(a: nn.Module, b: nn.Module, c: nn.Module, d: nn.Module) -> None:\n"
    )
    (project / "nets.py").write_text(f"{body}    {old}\n")
    run("check", "--write-baseline", "known.json")
    (project / "nets.py").write_text(f"{body}    {old}\n    {new}; {new}\n    {old}; {new}\n")
    assert run("fix", "--baseline", "known.json").exit_code == 0
    fixed = new.replace("v.clone()", "v")
    unknown = old.replace("v.clone()", "v")
    assert (
        project / "nets.py"
    ).read_text() == f"{body}    {old}\n    {fixed}; {fixed}\n    {unknown}; {fixed}\n"

    (project / "nets.py").write_text(f"{body}    {old}; {new}\n")
    run("check", "--write-baseline", "known.json")
    known = (project / "known.json").read_text()
    (project / "known.json").write_text(known.replace('"count": 2', '"count": 1'))
    shown = run("check", "--fix", "--baseline", "known.json", "--output-format", "json")
    assert found(shown) == [("nets.py", 5)]
    assert (project / "nets.py").read_text() == f"{body}    {old}; {fixed}\n"


def test_fixing_and_writing(run: Run, project: Path) -> None:
    """The baseline contains the findings that remain after fixing."""
    written = run("fix", "--write-baseline", "known.json")
    assert "Wrote 0 findings" in written.stderr
    assert ".clone()" not in (project / "nets.py").read_text()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "known.json:1: the baseline is damaged: it is not JSON"),
        (b'{"version": 1, "findings": [\n{"path": ', "known.json:2: the baseline is damaged: it is not JSON"),
        (
            b"{\n<<<<<<< HEAD\n=======\n>>>>>>> x\n}",
            "known.json:2: the baseline is damaged: it holds marks of a merge",
        ),
        (b"\xff\xfe", "it is not UTF-8"),
        (b"[]", "is not an rlint baseline"),
        (b'{"findings": []}', "is not an rlint baseline"),
        (b'{"version": 2, "findings": []}', "version 2"),
        (b'{"version": 1, "findings": [1]}', "finding 1 is not an object"),
        (
            b'{"version": 1, "findings": [{"path": "a", "code": 3}]}',
            "finding 1 has a `code` that is not a string",
        ),
        (
            b'{"version": 1, "findings": [{"path":"a","code":"b","function":"","line":"","count":0}]}',
            "finding 1 has a `count`",
        ),
    ],
)
def test_a_damaged_file_is_an_error_and_is_not_overwritten(
    run: Run, project: Path, content: bytes, said: str
) -> None:
    """A damaged baseline hides no finding and loses no entry; the message says what is wrong, where, and what
    to do.
    """
    (project / "known.json").write_bytes(content)
    for arguments in (["check"], ["fix"]):
        result = run(*arguments, "--baseline", "known.json")
        assert (result.exit_code, result.stdout) == (2, "")
        assert said in result.stderr
    assert (project / "nets.py").read_text() == PATTERNS
    if content:
        assert run("check", "--write-baseline", "known.json").exit_code == 2
        assert (project / "known.json").read_bytes() == content


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--write-baseline=nets.py"], "is checked as Python"),
        (["--write-baseline=new.py"], "is checked as Python"),
        (["--write-baseline=notes.txt"], "name another file for the baseline"),
        (["--write-baseline", "package.json"], "name another file for the baseline"),
        (["--write-baseline=sub"], "is a folder"),
        (["--write-baseline", "--diff"], "exclude each other"),
        (["--write-baseline", "known.json", "--since", "HEAD"], "exclude each other"),
        (["--write-baseline", "known.json", "--add-noqa"], "exclude each other"),
        (["--write-baseline", "known.json", "--stdin-filename", "a.py"], "exclude each other"),
        (["--baseline", "sub"], "cannot read the baseline"),
        (["--baseline", "gone.json"], "no such baseline"),
    ],
)
def test_mistakes_are_reported(run: Run, project: Path, arguments: list[str], said: str) -> None:
    """A missing file name never overwrites a program or data; contradictory options are refused."""
    (project / "sub").mkdir()
    for name in ("notes.txt", "package.json"):
        (project / name).write_text('{"name": "notes"}\n')
    result = run("check", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert "delete" not in result.stderr
    assert (project / "nets.py").read_text() == PATTERNS
    assert (project / "package.json").read_text() == '{"name": "notes"}\n'
    assert not (project / "new.py").exists()


@pytest.mark.parametrize("named", ["nets.py", ".", "sub"])
def test_what_is_to_be_checked_is_not_taken_for_the_baseline(run: Run, project: Path, named: str) -> None:
    """A word after `--write-baseline` is a path, unless it ends in `.json`; with `=`, it is the file."""
    (project / "sub").mkdir()
    (project / "sub" / "inner.py").write_text(PATTERNS)
    written = run("check", "--write-baseline", named)
    assert written.exit_code == 0
    assert " findings to rlint-baseline.json." in written.stderr
    checked = {
        entry["path"] for entry in json.loads((project / "rlint-baseline.json").read_text())["findings"]
    }
    assert (
        checked == {"nets.py": {"nets.py"}, ".": {"nets.py", "sub/inner.py"}, "sub": {"sub/inner.py"}}[named]
    )
    assert (project / "nets.py").read_text() == PATTERNS
    assert run("check", "--write-baseline=known", "nets.py").exit_code == 0
    assert len(json.loads((project / "known").read_text())["findings"]) == 2  # one of them twice
    assert run("fix", "--write-baseline", "--", "nets.py").exit_code == 0


def test_a_damaged_baseline_may_be_deleted_and_nothing_else(run: Run, project: Path) -> None:
    """The advice to delete a file is given only for files that rlint has written."""
    run("check", "--write-baseline", "known.json")
    text = (project / "known.json").read_text()
    (project / "known.json").write_text(text[:-20])
    assert "delete it first if it can be overwritten" in run("check", "--write-baseline", "known.json").stderr
    (project / "known.json").write_text("x = 1\n")
    said = run("check", "--baseline", "known.json").stderr
    assert "is not an rlint baseline" in said
    assert "anew" not in said


def test_a_merge_may_leave_an_entry_twice(run: Run, project: Path) -> None:
    """If two branches wrote the same line, the merged baseline hides the same findings as one of them."""
    run("check", "--write-baseline", "known.json")
    data = json.loads((project / "known.json").read_text())
    data["findings"] *= 2
    (project / "known.json").write_text(json.dumps(data))
    assert run("check", "--baseline", "known.json").exit_code == 0
    (project / "nets.py").write_text(PATTERNS + PATTERNS.splitlines()[-1] + "\n")
    assert run("check", "--baseline", "known.json").exit_code == 1


def test_nothing_is_written_where_nothing_could_be_checked(run: Run, project: Path) -> None:
    """A broken project does not lose its baseline."""
    (project / "nets.py").write_text("def f(:\n")
    assert run("check", "--write-baseline", "known.json").exit_code == 2
    assert not (project / "known.json").exists()
    (project / "good.py").write_text("x = 1\n")
    assert run("check", "--write-baseline", "known.json").exit_code == 1


def test_comments_are_added_to_new_findings_only(run: Run, project: Path) -> None:
    """`--add-noqa` is about what the report shows."""
    run("check", "--write-baseline", "known.json")
    (project / "nets.py").write_text(PATTERNS + NEW)
    run("check", "--add-noqa", "--baseline", "known.json")
    assert (project / "nets.py").read_text() == PATTERNS + NEW.rstrip("\n") + "  # noqa: RL305\n"
