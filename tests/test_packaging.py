"""What a user installs: the wheel, built as a release is built, and an editable checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from fixture_folders import FIXTURES, ROOT, RULES, default_codes

pytestmark = [
    pytest.mark.xdist_group("packaging"),  # one worker builds the wheel, once
    pytest.mark.slow,  # to build and install it takes a minute
]

SHIPPED = ("pyproject.toml", "README.md", "LICENSE", "rlint", "rules", "fixtures")
STALE = "rlint/rules/buffers/rl999_deleted_rule.py"


@dataclass(frozen=True)
class Environment:
    """An empty virtual environment."""

    folder: Path

    @property
    def programs(self) -> Path:
        """Where its commands are."""
        return self.folder / ("Scripts" if os.name == "nt" else "bin")

    def install(self, *what: str) -> None:
        """Create it and install a package with the pip of this environment: installing pip takes seconds."""
        venv.create(self.folder)
        pip = [sys.executable, "-m", "pip", "--python", str(self.programs / "python"), "install", "-q"]
        self._run([*pip, *what], self.folder, 0)

    def run(self, *command: str, cwd: Path, status: int = 0) -> str:
        """Run one of its commands in `cwd` and return its output."""
        return self._run([str(self.programs / command[0]), *command[1:]], cwd, status)

    def _run(self, command: list[str], cwd: Path, status: int) -> str:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        done = subprocess.run(
            command,
            cwd=cwd,
            env={**environment, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == status, (
            f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        )
        return done.stdout

    def has(self, *modules: str) -> list[str]:
        """Which of these modules it can import."""
        script = "import importlib.util, sys; print(*filter(importlib.util.find_spec, sys.argv[1:]))"
        return self.run("python", "-c", script, *modules, cwd=self.folder).split()


def copy_of_checkout(folder: Path) -> Path:
    """The files of the build, with leftovers of a working checkout."""
    for name in SHIPPED:
        place = ROOT / name
        if place.is_dir():
            shutil.copytree(place, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            folder.mkdir(exist_ok=True)
            shutil.copy(place, folder / name)
    leftovers = [
        f"{path.parent.relative_to(ROOT)}/__pycache__/{path.stem}.pyc" for path in FIXTURES.rglob("*.py")
    ]
    for name in [*leftovers, f"build/lib/{STALE}"]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"")
    return folder


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, by way of the source distribution."""
    folder = tmp_path_factory.mktemp("wheel")
    checkout = copy_of_checkout(folder / "checkout")
    build = [sys.executable, "-m", "build", "--outdir", folder / "dist", checkout]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    [built] = (folder / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """A new environment with the wheel and its dependencies, without extras."""
    environment = Environment(tmp_path_factory.mktemp("installed") / "venv")
    environment.install(str(wheel))
    return environment


def test_the_wheel_holds_everything_and_nothing_else(wheel: Path) -> None:
    """The rules and the fixtures are inside rlint; there is no bytecode, no deleted rule, and no other
    package.
    """
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {"rlint"}
    assert {name for name in names if name.endswith(".pyc") or "__pycache__" in name} == set()
    assert STALE not in names

    wanted = {"rlint/py.typed"}
    for top, place in (("rlint", "rlint"), ("rules", "rlint/rules"), ("fixtures", "rlint/fixtures")):
        for path in (ROOT / top).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc":
                wanted.add(f"{place}/{path.relative_to(ROOT / top).as_posix()}")
    assert {name for name in names if ".dist-info/" not in name} == wanted
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_nothing_is_installed_next_to_rlint(installed: Environment) -> None:
    """`import rules` and `import fixtures` do not find rlint's packages."""
    assert installed.has("rlint", "rules", "fixtures", "tests") == ["rlint"]


def test_linting_needs_neither_torch_nor_numpy(installed: Environment, tmp_path: Path) -> None:
    """The installed program, run in another folder without torch and numpy, reports the fixture of every
    rule.
    """
    assert installed.has("torch", "numpy", "pygls", "pytest") == []
    script = (
        "import shutil, sys; from importlib.resources import as_file, files\n"
        "with as_file(files('rlint.fixtures')) as shipped: shutil.copytree(shipped, sys.argv[1])"
    )
    installed.run("python", "-c", script, "shipped", cwd=tmp_path)
    assert {path.name for path in (tmp_path / "shipped").iterdir()} >= {entry.name for entry in RULES}
    for path in (tmp_path / "shipped").rglob("*.py"):
        if path.name != "before.py":  # other programs, whose settings would count for the whole project
            path.unlink()

    for command in (["rlint"], ["python", "-m", "rlint"]):
        said = installed.run(*command, "check", "--output-format", "json", "shipped", cwd=tmp_path, status=1)
        found = {(Path(finding["filename"]).parent.name, finding["code"]) for finding in json.loads(said)}
        assert found >= {(entry.name, entry.code) for entry in RULES if entry.code in default_codes()}


def test_the_installed_program_makes_pages(installed: Environment, tmp_path: Path) -> None:
    """The templates and style sheets of pages are in the wheel."""
    (tmp_path / "a.py").write_text("x = 1\n")
    assert "</style>" in installed.run("rlint", "check", "--output-format", "html", ".", cwd=tmp_path)
    installed.run("rlint", "site", "site", cwd=tmp_path)
    assert "</style>" in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")


def test_the_installed_program_fixes(installed: Environment, tmp_path: Path) -> None:
    """`rlint fix` from the wheel turns before.py into after.py."""
    for entry in RULES[:3]:
        program = tmp_path / f"{entry.name}.py"
        shutil.copy(FIXTURES / entry.name / "before.py", program)
        fix = ["fix", "--isolated", "--unsafe-fixes", "--exit-zero", "--select", entry.code]
        installed.run("rlint", *fix, program.name, cwd=tmp_path)
        assert program.read_bytes() == (FIXTURES / entry.name / "after.py").read_bytes()


def test_the_root_of_a_checkout_runs_the_checkout(installed: Environment, tmp_path: Path) -> None:
    """`python -m rlint` in a checkout never mixes its files with the installed ones."""
    checkout = copy_of_checkout(tmp_path / "checkout")
    script = "import rlint, rlint.rules; print(rlint.__file__); print(rlint.rules.__file__)"
    assert installed.run("python", "-c", script, cwd=checkout).splitlines() == [
        str(checkout / "rlint" / "__init__.py"),
        str(checkout / "rules" / "__init__.py"),
    ]
    assert "rlint" in installed.run("python", "-m", "rlint", "--version", cwd=checkout)


def test_an_editable_checkout_is_live(tmp_path: Path) -> None:
    """After `pip install -e .`, a rule that is added to the checkout is there once the index is generated."""
    checkout = copy_of_checkout(tmp_path / "checkout")
    environment = Environment(tmp_path / "venv")
    environment.install("-e", str(checkout))

    rule = checkout / "rules" / "buffers" / "rl199_made_up_rule.py"
    rule.write_text('"""A rule made up by a test."""\n')
    other_edits = tmp_path / "elsewhere"
    other_edits.mkdir()
    environment.run("python", "-m", "rlint.registry.make_rule_index", cwd=other_edits)
    assert "made-up-rule" in environment.run("rlint", "rules", cwd=other_edits)
    script = "from importlib.resources import files; print(files('rlint.fixtures'))"
    assert Path(environment.run("python", "-c", script, cwd=other_edits).strip()).samefile(
        checkout / "fixtures"
    )


def test_importing_the_rules_by_another_name_is_refused() -> None:
    """With the root of a checkout on the path, `import rules` fails with advice: each rule class has one
    name.
    """
    done = subprocess.run(
        [sys.executable, "-c", "import rules"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "import rlint.rules instead of rules" in done.stderr
