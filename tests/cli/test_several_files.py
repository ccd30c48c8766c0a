"""Fixes that change several files: all of them, or none."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from rlint.engine import api
from rlint.fixing import transaction
from rlint.run_data import Target

Run = Callable[..., Result]

SETTINGS = '''"""What the experiments are told."""


def get_env_config():
    return {"frames": 4}


def get_run_config():
    return {"seed": 1}


def get_model_cfg(width=32):
    return {"width": width}


class Policy:
    def get_policy_cfg(self):
        return {**get_model_cfg(), **get_run_config()}
'''
POLICIES = """from project.settings import Policy


class Recurrent(Policy):
    def get_policy_cfg(self):
        return {**super().get_policy_cfg(), "memory": 64}
"""
MAIN = """import project.settings
from project import get_model_cfg as model
from project.policies import Recurrent

policy = Recurrent()
print(model(8), project.settings.get_model_cfg(), policy.get_policy_cfg())
"""
FILES = {
    "project/__init__.py": "from .settings import get_env_config, get_model_cfg\n",
    "project/settings.py": SETTINGS,
    "project/policies.py": POLICIES,
    "main.py": MAIN,
}
FIX = ("fix", "--unsafe-fixes")


@pytest.fixture
def project(folder: Path) -> Path:
    """A program of four files, two of which use other words in accessor names than the rest."""
    for name in ("fixable.py", "unfixable.py", "clean.py"):
        (folder / name).unlink()
    (folder / "rlint.toml").write_text('select = ["RL801"]\n')
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


def texts(folder: Path) -> dict[str, str]:
    """The contents of the program's files."""
    return {name: (folder / name).read_text() for name in FILES}


def renamed(text: str) -> str:
    """The text with the new names."""
    return text.replace("get_model_cfg", "get_model_config").replace("get_policy_cfg", "get_policy_config")


def printed(folder: Path) -> str:
    """The output of the program."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "main.py"], cwd=folder, capture_output=True, text=True, check=True, env=environment
    )
    return done.stdout


def test_definitions_imports_calls_and_overriding_methods_change_together(run: Run, project: Path) -> None:
    """The program does the same with the new names, a second run changes nothing, and all files are named."""
    before = printed(project)
    done = run(*FIX)
    assert texts(project) == {name: renamed(text) for name, text in FILES.items()}
    assert printed(project) == before
    assert done.exit_code == 0
    for name in FILES:
        assert name in done.stdout + done.stderr
    again = run(*FIX)
    assert (again.exit_code, texts(project)) == (0, {name: renamed(text) for name, text in FILES.items()})


def test_difference_and_json_show_all_files(run: Run, project: Path) -> None:
    """`--diff` has a part for each file and writes none; the JSON report says which others a fix changes."""
    shown = run("check", "--diff", "--unsafe-fixes").stdout
    assert [line for line in shown.splitlines() if line.startswith("+++")] == [
        f"+++ {name}" for name in sorted(FILES)
    ]
    assert texts(project) == FILES
    listed = json.loads(run("check", "--output-format", "json").stdout)
    others = {
        Path(each["filename"]).name: {Path(other).name for other in each["fix"]["other_files"]}
        for each in listed
        if "get_model_cfg" in each["message"]
    }
    assert others == {"settings.py": {"main.py", "__init__.py"}}


def test_a_cached_result_offers_the_same(run: Run, project: Path) -> None:
    """Findings from the cache are the same; a change of another file is noticed."""
    first, second = (run("check", "--output-format", "json").stdout for _ in range(2))
    assert first == second
    assert "other_files" in first
    (project / "project/policies.py").write_text(POLICIES + "\nNAMES = 'get_policy_cfg'\n")
    found = json.loads(run("check", "--output-format", "json").stdout)
    assert [each["fix"] is None for each in found if "get_policy_cfg" in each["message"]] == [True, True]
    assert [each["fix"] is None for each in found if "get_model_cfg" in each["message"]] == [False]


def test_a_file_that_only_mentions_the_name_forbids_it(run: Run, project: Path) -> None:
    """Even without an import: a call on an unknown object may run one of the methods."""
    (project / "plugin.py").write_text("def describe(agent):\n    return agent.get_policy_cfg()\n")
    run(*FIX)
    assert "get_policy_cfg" in (project / "project/settings.py").read_text()
    assert "get_model_cfg" not in (project / "project/settings.py").read_text()


HELD_BACK: dict[str, Callable[[Path], object]] = {
    "not under the given paths": lambda folder: (folder / "rlint.toml").write_text(
        'select = ["RL801"]\nextend-exclude = ["main.py"]\n'
    ),
    "not checked for the rule": lambda folder: (folder / "rlint.toml").write_text(
        'select = ["RL801"]\n[per-file-ignores]\n"main.py" = ["RL801"]\n'
    ),
    "left out by a comment": lambda folder: (folder / "main.py").write_text(f"# rlint: skip-file\n{MAIN}"),
    "hidden where it is called": lambda folder: (folder / "main.py").write_text(
        MAIN.replace("policy.get_policy_cfg())", "policy.get_policy_cfg())  # noqa: RL801")
    ),
    "not readable": lambda folder: (folder / "main.py").write_bytes(MAIN.encode() + b"# \xff\n"),
}


@pytest.mark.parametrize("why", HELD_BACK)
def test_a_file_that_must_stay_keeps_all_others(run: Run, project: Path, why: str) -> None:
    """If one of the files is not checked for the rule, the fix is not offered."""
    HELD_BACK[why](project)
    before = {name: (project / name).read_bytes() for name in FILES}
    done = run(*FIX)
    assert {name: (project / name).read_bytes() for name in FILES} == before
    assert done.exit_code == 1
    assert "get_model_cfg" in done.stdout


def test_one_file_of_several_is_named(run: Run, project: Path) -> None:
    """`rlint fix FILE` changes that file only; so it does not apply fixes that would change other files."""
    run(*FIX, "project/settings.py")
    assert texts(project) == FILES


def test_standard_input_is_one_file(run: Run, project: Path) -> None:
    """Standard input is printed unchanged if other files would have to change with it."""
    done = run(*FIX, "--stdin-filename", "project/settings.py", "-", stdin=SETTINGS.encode())
    assert done.stdout.startswith(SETTINGS)
    assert texts(project) == FILES


def fixed(folder: Path) -> api.FixReport:
    """The fixes of all files, in memory."""
    targets = [Target(None, folder / name, name, frozenset({"RL801"})) for name in FILES]
    return api.fix(targets, unsafe=True, jobs=1)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_to(project: Path) -> None:
    """No file is written if the system refuses to write one of them."""
    found = fixed(project)
    (project / "project").chmod(0o500)
    try:
        problems = transaction.write(found.changed)
    finally:
        (project / "project").chmod(0o700)
    assert set(problems) == set(FILES)
    assert texts(project) == FILES


def test_a_read_only_file(run: Run, project: Path) -> None:
    """None of the files is written, and each says why."""
    (project / "main.py").chmod(stat.S_IRUSR)
    done = run(*FIX)
    assert texts(project) == FILES
    assert "main.py: not written: the file is read-only" in done.stderr
    assert "project/settings.py: not written: it shares a fix with main.py" in done.stderr
    assert done.exit_code == 1


def test_a_file_that_an_editor_saves_meanwhile(project: Path) -> None:
    """No file is written if the content of one has changed."""
    found = fixed(project)
    (project / "project/policies.py").write_text(POLICIES + "\n# saved\n")
    problems = transaction.write(found.changed)
    assert set(problems) == set(FILES)
    assert "changed on disk" in problems["project/policies.py"].message
    assert texts(project) == {**FILES, "project/policies.py": POLICIES + "\n# saved\n"}


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_between_two_files(
    project: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    """Written files are restored if the disk is full or the user interrupts."""
    from rlint.fixing import apply_fixes

    found = fixed(project)
    real, calls = apply_fixes.replace_file, []

    def replace_file(target: Path, data: bytes, **others: object) -> bool:
        calls.append(target)
        if len(calls) == 3:
            raise failure
        return real(target, data, **others)  # type: ignore[arg-type]

    monkeypatch.setattr(apply_fixes, "replace_file", replace_file)
    if isinstance(failure, OSError):
        assert set(transaction.write(found.changed)) == set(FILES)
    else:
        with pytest.raises(KeyboardInterrupt):
            transaction.write(found.changed)
    assert len(calls) == 3
    assert texts(project) == FILES


def test_files_without_a_fix_in_common_are_written_nevertheless(run: Run, project: Path) -> None:
    """Other files are written even if some cannot be."""
    (project / "alone.py").write_text(
        "def get_one_config():\n    pass\n\n\ndef get_two_config():\n    pass\n\n\n"
        "def get_three_cfg():\n    pass\n"
    )
    (project / "main.py").chmod(stat.S_IRUSR)
    run(*FIX)
    assert "get_three_config" in (project / "alone.py").read_text()
    assert texts(project) == FILES
