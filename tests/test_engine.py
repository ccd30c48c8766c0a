"""The engine on real files: what it reads, which errors it handles, and what it never does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from rlint.engine import api
from rlint.findings import Applicability, Finding, Problem
from rlint.run_data import Report, Target

CODES = frozenset({"RL305", "RL502"})

CLONED = """\
from torch import nn
source, target = nn.Linear(4, 2), nn.Linear(4, 2)


def copy_weights() -> None:
    target.load_state_dict({k: v.clone() for k, v in source.state_dict().items()})
"""


def check(*paths: Path, codes: frozenset[str] = CODES, jobs: int | None = 1) -> Report:
    """Check files as the command line does."""
    return api.check([Target(None, path, path.name, codes) for path in paths], jobs=jobs)


@pytest.mark.parametrize(
    ("content", "message", "line"),
    [
        (b'print "hello"\n', "Missing parentheses", 1),
        (b"def f(:\n    pass\n", "invalid syntax", 1),
        (b"x = 1\nif x:\n", "expected an indented block", 2),
        (b"x = 1\0\n", "null bytes", 1),
        ("# caf\xe9\n".encode("latin-1"), "not valid UTF-8", 1),
        (b"x = " + b"(" * 500 + b")" * 500 + b"\n", "too many nested parentheses", 1),
    ],
)
def test_a_file_that_cannot_be_read_is_named_and_the_others_are_checked(
    tmp_path: Path, content: bytes, message: str, line: int | None
) -> None:
    """Whatever is wrong with one file, the message says what and where, and other files are checked."""
    (tmp_path / "bad.py").write_bytes(content)
    (tmp_path / "good.py").write_text(CLONED)
    report = check(tmp_path / "bad.py", tmp_path / "good.py")
    (problem,) = report.problems
    assert problem.path == "bad.py"
    assert message in problem.message
    assert problem.line == line
    assert [finding.path for finding in report.findings] == ["good.py"]


@pytest.mark.parametrize(
    "content",
    [
        b"x = " + b" + ".join([b"a"] * 20_000) + b"\n",
        b"x = a" + b".b" * 20_000 + b"\n",
        b"x = a" + b"()" * 5_000 + b"\n",
        b"x = " + b"not " * 3_000 + b"a\n",
        b"if x: pass\n" + b"elif x: pass\n" * 20_000,
    ],
)
def test_deep_nesting_is_read_or_named(tmp_path: Path, content: bytes) -> None:
    """If code is nested too deep for the running Python, the message says so; other files are not
    affected.
    """
    (tmp_path / "deep.py").write_bytes(content)
    (tmp_path / "good.py").write_text(CLONED)
    report = check(tmp_path / "deep.py", tmp_path / "good.py")
    assert all("nested too deeply" in problem.message for problem in report.problems)
    assert [finding.path for finding in report.findings] == ["good.py"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"# only a comment",
        b"\xef\xbb\xbf" + CLONED.encode(),
        CLONED.replace("\n", "\r\n").encode(),
        CLONED.replace("    ", "\t").encode(),
        CLONED.replace("\n\n\n", "\n\x0c\n").encode(),
        CLONED.rstrip().encode(),
        b"# -*- coding: latin-1 -*-\n# caf\xe9\n" + CLONED.encode(),
        b'x = "\\ud800 \\d"\n' + CLONED.encode(),
        b"D = {\n" + b"".join(b'    "k%d": %d,\n' % (i, i) for i in range(50_000)) + b"}\n",
        b"def f(x):\n" + b"    x = g(x)\n" * 5_000,
        b"def f(x, y):\n" + b"    x = x + y\n    if x:\n        y = x\n" * 2_000,
        b"x = " + b"[" * 90 + b"]" * 90 + b"\n",
    ],
)
def test_unusual_files_are_checked_without_a_problem(tmp_path: Path, content: bytes) -> None:
    """Encodings, line ends, marks, form feeds, tabs, large and deep files are all plain Python."""
    (tmp_path / "odd.py").write_bytes(content)
    report = check(tmp_path / "odd.py")
    assert report.problems == ()
    assert report.checked == 1
    assert len(report.findings) == (1 if b"load_state_dict" in content else 0)


def test_nothing_that_is_read_is_executed(tmp_path: Path) -> None:
    """Neither checking nor fixing imports or runs a file of the tree, whatever its name."""
    trace = tmp_path / "trace"
    plant = f"open({str(trace)!r}, 'w').write('executed')\n{CLONED}"
    names = ["train.py", "conftest.py", "setup.py", "__init__.py", "sitecustomize.py", "torch.py", "rlint.py"]
    paths = []
    for name in names:
        (tmp_path / name).write_text(plant)
        paths.append(tmp_path / name)
    assert len(check(*paths).findings) == len(names) - 1  # `conftest.py` is read, and not checked
    targets = [Target(None, path, path.name, CODES) for path in paths]
    assert len(api.fix(targets, unsafe=True).changed) == len(names) - 1
    assert not trace.exists()


def test_one_process_and_several_find_the_same(tmp_path: Path) -> None:
    """How the work is shared changes nothing."""
    (tmp_path / "loop.py").write_text(
        "from score import score\nfor step in range(9):\n    env.step(0)\n    score('x')\n"
    )
    (tmp_path / "score.py").write_text("import re\ndef score(text):\n    return re.search(r'a+b', text)\n")
    for number in range(6):
        (tmp_path / f"copy{number}.py").write_text(CLONED)
    paths = sorted(tmp_path.glob("*.py"))
    alone, shared = check(*paths, jobs=1), check(*paths, jobs=3)
    assert alone.findings == shared.findings
    assert {finding.code for finding in alone.findings} == {"RL305", "RL502"}


def test_a_single_file_is_checked_with_the_project_around_it(tmp_path: Path) -> None:
    """A pre-commit run on one changed file has the findings of a run on everything."""
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "loop.py").write_text(
        "from score import score\nfor step in range(9):\n    env.step(0)\n    score('x')\n"
    )
    (tmp_path / "score.py").write_text("import re\ndef score(text):\n    return re.search(r'a+b', text)\n")
    both = check(tmp_path / "loop.py", tmp_path / "score.py")
    alone = check(tmp_path / "score.py")
    assert [f.code for f in alone.findings] == ["RL502"]
    assert [f.message for f in alone.findings] == [f.message for f in both.findings]
    assert [f.heat for f in alone.findings] == [f.heat for f in both.findings]
    assert alone.checked == 1


SCORE = "import re\n\n\n# rlint: hot\ndef score(text):\n    return re.search(r'a+b', text)\n"


@pytest.mark.parametrize(
    ("done", "safety"),
    [
        ("print(sorted(vars(module)))", Applicability.UNSAFE),
        ("print(module.score())", Applicability.SAFE),
    ],
)
def test_what_a_loader_does_to_any_module_counts(tmp_path: Path, done: str, safety: Applicability) -> None:
    """No import connects a file with the modules that it loads by a name from the command line."""
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "score.py").write_text(SCORE)
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "run.py").write_text(
        f"import importlib, sys\nmodule = importlib.import_module(sys.argv[1])\n{done}\n"
    )
    for number in range(6):
        (tmp_path / f"copy{number}.py").write_text(CLONED)
    alone = check(tmp_path / "score.py")
    every = check(*sorted(tmp_path.rglob("*.py")), jobs=3)
    for report in (alone, every):
        [fix] = [found.fix for found in report.findings if found.code == "RL502"]
        assert fix is not None
        assert fix.safety is safety
    assert (alone.checked, every.checked) == (1, 8)


def test_loaders_of_tests_and_of_other_projects_do_not_count(tmp_path: Path) -> None:
    """A test may load and change any module, and a project only loads its own."""
    for folder in ("first", "second", "first/tests"):
        (tmp_path / folder).mkdir()
    (tmp_path / "first" / "pyproject.toml").write_text("")
    (tmp_path / "second" / "pyproject.toml").write_text("")
    (tmp_path / "first" / "score.py").write_text(SCORE)
    for folder in ("second", "first/tests"):
        (tmp_path / folder / "run.py").write_text(
            "import importlib, sys\nprint(sorted(vars(importlib.import_module(sys.argv[1]))))\n"
        )
    [finding] = check(*sorted(tmp_path.rglob("*.py"))).findings
    assert finding.fix is not None
    assert finding.fix.safety is Applicability.SAFE


def test_environments_in_a_folder_called_env_belong_to_the_project(tmp_path: Path) -> None:
    """A package `env` is read for what it shows about a checked file; a virtual environment is not."""
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "loop.py").write_text(
        "from score import score\nfor step in range(9):\n    env.step(0)\n    score('x')\n"
    )
    (tmp_path / "score.py").write_text("import re\ndef score(text):\n    return re.search(r'a+b', text)\n")
    assert [f.code for f in check(tmp_path / "score.py").findings] == ["RL502"]
    (tmp_path / "env" / "pyvenv.cfg").write_text("")
    assert not check(tmp_path / "score.py").findings


def test_fixing_keeps_every_other_byte_and_settles(tmp_path: Path) -> None:
    """The new text differs only at the fixed place, and fixing it again changes nothing."""
    path = tmp_path / "sync.py"
    path.write_bytes(b"\xef\xbb\xbf" + CLONED.replace("\n", "\r\n").encode())
    (changed,) = api.fix([Target(None, path, "sync.py", CODES)], unsafe=False).changed
    assert changed.text == CLONED.replace("v.clone()", "v").replace("\n", "\r\n")
    path.write_bytes(changed.source.encode(changed.text))
    assert api.fix([Target(None, path, "sync.py", CODES)], unsafe=True).changed == ()


def test_a_fix_report_says_what_remains(tmp_path: Path) -> None:
    """Findings that were not fixed are in the report, at their places in the new text."""
    path = tmp_path / "sync.py"
    path.write_text(CLONED + "def broken(:\n")
    report = api.fix([Target(None, path, "sync.py", CODES)], unsafe=True)
    assert report.changed == ()
    assert isinstance(report.report.problems[0], Problem)


def test_only_chosen_findings_are_fixed(tmp_path: Path) -> None:
    """A selector may exclude findings from fixing in every pass; the report still has them."""
    path = tmp_path / "sync.py"
    path.write_text(CLONED + "\n\n" + CLONED.replace("copy_weights", "copy_more").split("\n\n\n")[1])
    seen: list[str] = []

    def wanted(name: str, text: str, findings: Sequence[Finding]) -> list[Finding]:
        seen.append(text)
        assert name == "sync.py"
        return [finding for finding in findings if finding.start.line > 9]

    fixed = api.fix([Target(None, path, "sync.py", CODES)], unsafe=True, wanted=wanted)
    assert [finding.start.line for finding in fixed.applied] == [10]
    assert [finding.start.line for finding in fixed.report.findings] == [6]
    assert [*dict.fromkeys(seen)] == [path.read_text(), fixed.changed[0].text]


def test_the_same_fix_has_the_same_name_whatever_others_are_applied(tmp_path: Path) -> None:
    """Leaving one fix out does not change the identities of the others, although all lines below have
    moved.
    """
    path = tmp_path / "sync.py"
    path.write_text("import re\n\n\n" + "".join(_searching(number) for number in range(4)))
    fixer = api.Fixer([Target(None, path, "sync.py", CODES)])
    everything = fixer.fix(unsafe=True)
    assert len(set(everything.ids)) == len(everything.ids) == 8
    assert path.read_text().splitlines()[everything.ids[-1].line - 1].strip() == "if re.findall(r'b+', text):"
    for left_out in everything.ids:
        rest = fixer.fix(unsafe=True, allowed=lambda name, out=left_out: name != out)
        assert set(rest.ids) == set(everything.ids) - {left_out}
    assert fixer.fix(unsafe=True) == everything
    assert fixer.fix(unsafe=True, allowed=set().__contains__).changed == ()


def _searching(number: int) -> str:
    return (
        f"def reward_{number}(completions):\n"
        "    for text in completions:\n"
        f"        if re.search(r'a{{{number + 1}}}', text):\n"
        "            print(text)\n"
        "        if re.findall(r'b+', text):\n"
        "            print(text)\n\n\n"
    )
