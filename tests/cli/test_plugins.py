"""Plugins as users use them: installed by pip, named in a configuration, run by real processes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fixture_folders import ROOT
from rlint.cli import cli
from rlint.registry import catalogue

Run = Callable[..., Result]

GUIDE = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
FILE = re.compile(r"^<!-- file: (\S+) -->\n(`{3,})\w+\n(.*?)^\2$", re.MULTILINE | re.DOTALL)
PROGRAM = """\
def wait(env):
    info = {}
    while "episode" not in list(info.keys()):
        _, _, _, _, info = env.step(env.action_space.sample())
    return info
"""
OFFLINE = ("--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "--no-index")
NAMED = 'plugins = ["acme-rlint"]\n'


def write_example(folder: Path) -> Path:
    """The plugin that the guide shows."""
    for name, _, text in FILE.findall(GUIDE):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def installed(project: Path, target: Path) -> Path:
    """Install a project into a folder, as `pip install --target` does, without a network."""
    command = [sys.executable, "-m", "pip", "install", *OFFLINE, "--target", target, project]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return target


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which the guide's plugin is installed."""
    folder = tmp_path_factory.mktemp("plugin")
    return installed(write_example(folder / "acme-rlint"), folder / "site")


@pytest.fixture
def run(example: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """`run("check")` is `rlint check` in the project, in this process, with the plugin installed."""
    monkeypatch.chdir(project)
    monkeypatch.syspath_prepend(example)
    monkeypatch.setattr(catalogue, "_added", {})
    catalogue.catalogue.cache_clear()
    yield lambda *arguments: CliRunner().invoke(cli, list(arguments), catch_exceptions=False)
    catalogue.catalogue.cache_clear()
    for module in [name for name in sys.modules if name.partition(".")[0] == "acme_rlint"]:
        del sys.modules[module]


@pytest.fixture
def site(example: Path, tmp_path: Path) -> Path:
    """A copy of the installed plugin that a test may change."""
    return Path(shutil.copytree(example, tmp_path / "site"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that names the plugin, with a program in which it finds something."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "rlint.toml").write_text(NAMED)
    (folder / "train.py").write_text(PROGRAM)
    return folder


def rlint(
    *arguments: str, cwd: Path, path: tuple[Path, ...] = (), module: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run rlint as its console script does, or as `python -m rlint`, with folders on the import path."""
    start = ["-m", "rlint"] if module else ["-c", SCRIPT]
    return subprocess.run(
        [sys.executable, *start, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, *path)))},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


SCRIPT = (
    "import sys; sys.path[:] = [entry for entry in sys.path if entry]; from rlint.cli import main; main()"
)


def codes(done: Result | subprocess.CompletedProcess[str]) -> list[str | None]:
    """The codes of a report in JSON."""
    assert done.stdout, done.stderr
    return [entry["code"] for entry in json.loads(done.stdout)]


def test_an_installed_plugin_finds_and_fixes(example: Path, project: Path) -> None:
    """Once the configuration names a plugin, its rules are checked, shown and fixed like any others."""
    done = rlint("check", cwd=project, path=(example,))
    assert (done.returncode, done.stderr) == (1, "")
    assert "ACME101 [*] key-in-list: `list(info.keys())` is created to search for one key" in done.stdout
    assert "fix: Search the keys directly (safe: `rlint fix` applies it)" in done.stdout
    done = rlint("fix", cwd=project, path=(example,))
    assert (done.returncode, done.stderr) == (0, "")
    assert (project / "train.py").read_text() == PROGRAM.replace("list(info.keys())", "info.keys()")


def test_a_folder_may_name_a_plugin_that_the_run_does_not(example: Path, project: Path) -> None:
    """Processes that were started before file discovery get its rules, too."""
    done = rlint("check", "--no-cache", "--jobs", "2", cwd=project.parent, path=(example,))
    assert (done.returncode, done.stderr) == (1, "")
    assert "ACME101" in done.stdout


def test_a_plugin_that_is_not_named_is_not_used(run: Run, project: Path) -> None:
    """An installed plugin that is not named provides no rules, and its codes in comments are not reported."""
    (project / "rlint.toml").write_text('extend-select = ["RL900", "RL901"]\n')
    (project / "train.py").write_text(PROGRAM.replace(":\n", ":  # noqa: ACME999\n"))
    done = run("check")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "unknown rule `ACME101`" in run("rule", "ACME101").stderr
    done = run("check", "--select", "ACME101")
    assert done.exit_code == 2
    assert "unknown rule `ACME101` in `--select`" in done.stderr


def test_each_folder_has_the_plugins_that_its_configuration_names(run: Run, project: Path) -> None:
    """In one run, a plugin checks only the files whose nearest configuration names it."""
    (project / "other").mkdir()
    (project / "other" / "rlint.toml").write_text("")
    (project / "other" / "train.py").write_text(PROGRAM)
    done = run("check", "--output-format", "json", ".")
    assert [(e["code"], Path(e["filename"]).parent.name) for e in json.loads(done.stdout)] == [
        ("ACME101", "project")
    ]
    (project / "other" / "rlint.toml").write_text('extend = "../rlint.toml"\n')
    done = run("check", "--output-format", "json", ".")
    assert codes(done) == ["ACME101", "ACME101"]


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--select", "ACME"], ["ACME101"]),
        (["--select", "acme1"], ["ACME101"]),
        (["--select", "key-in-list"], ["ACME101"]),
        (["--select", "RL"], []),
        (["--ignore", "ACME1"], []),
        (["--per-file-ignores", "train.py:ACME101"], []),
        (["--config", 'plugins = ["ACME_rlint"]', "--isolated"], ["ACME101"]),
        (["--isolated"], []),
    ],
)
def test_selectors_mean_rules_of_plugins(options: list[str], found: list[str], run: Run) -> None:
    """A plugin's codes, prefixes and rule names are selected and ignored like rlint's own."""
    done = run("check", "--output-format", "json", *options, "train.py")
    assert (codes(done), done.stderr) == (found, "")


@pytest.mark.parametrize(
    "comment", ["noqa: ACME101", "noqa: ACME1", "rlint: ignore[ACME]", "noqa: E501, ACME101"]
)
def test_comments_hide_findings_of_plugins(comment: str, run: Run, project: Path) -> None:
    """`noqa` and `rlint: ignore` take a plugin's codes, and are of use when they hide one of its findings."""
    (project / "train.py").write_text(PROGRAM.replace("()):\n", f"()):  # {comment}\n", 1))
    options = ["--extend-select", "RL900,RL901"]
    done = run("check", *options)
    assert (done.exit_code, done.stdout) == (0, "All checks passed!\n")


def test_comments_with_codes_that_a_plugin_lacks_are_reported(run: Run, project: Path) -> None:
    """Comments with an unknown code of a plugin's prefix, and those that suppress nothing, are reported."""
    text = "x = 1  # noqa: ACME102\ny = 2  # rlint: ignore[ACME101]\nz = 3  # noqa: ACM101, E501\n"
    (project / "train.py").write_text(text)
    options = ["--extend-select", "RL900,RL901", "--output-format", "concise"]
    done = run("check", *options)
    assert done.stdout.splitlines()[:2] == [
        "train.py:1:8: RL901 unknown rule `ACME102`; did you mean `ACME101`?",
        "train.py:2:8: RL900 [*] `rlint: ignore` suppresses no finding of `ACME101`",
    ]
    assert "train.py:3" not in done.stdout


def test_pages_and_lists_say_where_a_rule_comes_from(run: Run, project: Path) -> None:
    """`rlint rule` and `rlint rules` show a plugin's rules, with its name and version."""
    page = run("rule", "ACME101").stdout
    assert page.startswith("# key-in-list (ACME101)\n\nA key that is searched for in a list of all keys.\n")
    assert "(Provided by the plugin acme-rlint 1.0.)" in page
    assert "## Measured\nNot yet" in page
    rows = run("rules").stdout.splitlines()
    assert rows[1].split()[:5] == ["ACME101", "key-in-list", "acme-rlint", "1.0", "episodes"]
    assert rows[2].split()[:3] == ["RL101", "concat-grown-buffer", "rlint"]
    data = json.loads(run("rule", "acme101", "--output-format", "json").stdout)
    assert (data["origin"], data["evidence"]["devices"]) == ("acme-rlint 1.0", [])


def test_a_plugins_fixture_is_verified(example: Path, run: Run, project: Path) -> None:
    """`rlint verify` runs a plugin's fixture before and after its fix, and reports that nothing is
    recorded.
    """
    pytest.importorskip("psutil")
    options = ["verify", "ACME101", "--device", "cpu", "-q", "--quick", "--output-format", "json"]
    done = rlint(*options, cwd=project, path=(example,))
    assert done.returncode == 0, done.stderr
    [outcome] = json.loads(done.stdout)["outcomes"]
    assert (outcome["subject"], outcome["workload"], outcome["verdict"]) == ("ACME101", "rollout", "faster")
    assert outcome["behaviour"]["differences"] == []
    missing = run("verify", "ACME", "--check-evidence")
    assert (missing.exit_code, missing.stdout) == (
        1,
        "ACME101 key-in-list: no evidence is recorded for cpu "
        "(`rlint verify ACME101 --device cpu --record` measures it)\n",
    )


def kept_results(project: Path) -> list[bytes]:
    """The cached results."""
    return sorted(path.read_bytes() for path in (project / ".rlint_cache").rglob("run-*.json"))


def test_results_are_kept_for_one_state_of_the_plugin(site: Path, project: Path) -> None:
    """A changed plugin is run again, even if size and time of its files are the same."""
    rule = site / "acme_rlint" / "episodes" / "acme101_key_in_list.py"
    for said in ("is created", "is 4reated"):
        before = rule.stat()
        rule.write_text(rule.read_text().replace("is created to search", f"{said} to search"))
        os.utime(rule, ns=(before.st_atime_ns, before.st_mtime_ns))
        shutil.rmtree(rule.parent / "__pycache__", ignore_errors=True)
        for _ in range(2):
            done = rlint("check", cwd=project, path=(site,))
            assert f"`list(info.keys())` {said} to search for one key" in done.stdout
    (site / "acme_rlint-1.0.dist-info").rename(site / "acme_rlint-1.1.dist-info")
    metadata = site / "acme_rlint-1.1.dist-info" / "METADATA"
    metadata.write_text(metadata.read_text().replace("Version: 1.0", "Version: 1.1"))
    kept = [kept_results(project)]
    for _ in range(2):
        rlint("check", cwd=project, path=(site,))
        kept.append(kept_results(project))
    assert kept[0] != kept[1] == kept[2]


# --- broken plugins ---

EPISODES = "acme_rlint/episodes"
RULE_FILE = f"{EPISODES}/acme101_key_in_list.py"
POINTS = "acme_rlint-1.0.dist-info/entry_points.txt"
NO_PACKAGE = "[rlint.rules]\nacme = acme_rlint:Rules\n"

BROKEN = {
    "no-package": (POINTS, NO_PACKAGE, "must name a package of rules, not `acme_rlint:Rules`"),
    "no-group": (POINTS, "[other]\nacme = acme_rlint\n", 'no entry point in the group "rlint.rules"'),
    "no-folder": (POINTS, "[rlint.rules]\nacme = gone.rules\n", "`gone.rules` is not where it was installed"),
    "no-metadata": (POINTS, "[rlint.rules]\nnothing\n", "its metadata cannot be read"),
    "no-rules": (RULE_FILE, None, "it has no rules"),
    "code-twice": (f"{EPISODES}/acme101_other_name.py", "", "two of its rules have the code CODETWICE101"),
    "name-twice": (f"{EPISODES}/acme102_key_in_list.py", "", "two of its rules have the name key-in-list"),
    "no-python": (f"{EPISODES}/acme102_broken.py", "def broken(:\n", "is not valid Python"),
    "two-prefixes": (f"{EPISODES}/bcme102_other.py", "", "its codes begin with BCME and TWOPREFIXES"),
    "known-name": (
        f"{EPISODES}/acme102_busy_wait_sleep.py",
        "",
        "is called busy-wait-sleep, as is RL401 of rlint",
    ),
    "no-import": (RULE_FILE, "raise ImportError('no such luck')\n", "ImportError: no such luck"),
    "exits": (RULE_FILE, "import sys; sys.exit(3)\n", "SystemExit: 3"),
    "no-class": (RULE_FILE, "x = 1\n", "must define one subclass of Rule, not 0"),
    "no-parent": ("acme_rlint/__init__.py", "import gone_for_ever\n", "No module named 'gone_for_ever'"),
    "not-there": ("", None, "it is not installed; run `pip install not-there`"),
}
"""Plugins with one broken file, by name: the file (deleted if it has no text), and the message."""


def variant(example: Path, site: Path, name: str) -> None:
    """Copy the plugin to a folder under another name, with different names for all its parts."""
    package, prefix = name.replace("-", "_"), name.replace("-", "")
    for path in sorted(example.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts and path.name != "RECORD":
            place = (
                str(path.relative_to(example)).replace("acme_rlint", package).replace("acme1", f"{prefix}1")
            )
            if name != "name-twice":
                place = place.replace("key_in_list", f"{package}_key")
            text = path.read_text().replace("acme-rlint", name).replace("acme_rlint", package)
            text = text.replace("ACME", prefix.upper())
            if name != "name-twice":
                text = text.replace("key-in-list", f"{name}-key")
            (site / place).parent.mkdir(parents=True, exist_ok=True)
            (site / place).write_text(text)


@pytest.fixture(scope="module")
def met(example: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The standard error of two runs with all broken plugins at once."""
    folder = tmp_path_factory.mktemp("broken")
    site, project = folder / "site", folder / "project"
    project.mkdir()
    for name, (file, text, _) in BROKEN.items():
        if not file:
            continue
        variant(example, site, name)
        package = name.replace("-", "_")
        place = file.replace("acme_rlint", package).replace("acme1", f"{name.replace('-', '')}1")
        if name != "name-twice":
            place = place.replace("key_in_list", f"{package}_key")
        if text is None:
            (site / place).unlink()
        else:
            (site / place).write_text(text)
    (project / "rlint.toml").write_text(f"plugins = {json.dumps([*BROKEN, 'acme-rlint'])}\n")
    write_programs(project)
    said = []
    for _ in range(2):  # the cache of the first run does not hide the second message
        done = rlint("check", "--output-format", "json", cwd=project, path=(site, example))
        assert done.returncode == 1
        assert [code for code in codes(done) if code] == ["RL101", "ACME101"]
        said.append(done.stderr)
    return said


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_plugin_is_named_and_left_out(name: str, met: list[str]) -> None:
    """A broken plugin is named with the reason, and all other findings are unchanged."""
    for errors in met:
        [line] = [line for line in errors.splitlines() if f"plugin `{name}`" in line]
        assert line.startswith("error: ")
        assert BROKEN[name][2] in line


def write_programs(project: Path) -> None:
    """A program with a finding of rlint's own, and one with a finding of the plugin."""
    (project / "grows.py").write_text(
        "import numpy as np\n\n\ndef collect(env, steps):\n    rewards = np.empty(0, dtype=np.float32)\n"
        "    for _ in range(steps):\n        _, reward, _, _, _ = env.step(env.action_space.sample())\n"
        "        rewards = np.append(rewards, np.float32(reward))\n    return rewards\n"
    )
    (project / "train.py").write_text(PROGRAM)


def test_selectors_of_a_missing_plugin_are_left_out(run: Run, project: Path) -> None:
    """A selector that may belong to the missing plugin is no error; an unknown code of rlint's is."""
    (project / "rlint.toml").write_text('plugins = ["gone"]\nextend-select = ["GONE101", "gone-rule"]\n')
    done = run("check", "--statistics")
    assert done.exit_code == 1
    assert "no enabled rule matches `GONE101`, `gone-rule`, which is ignored" in done.stderr
    (project / "rlint.toml").write_text('plugins = ["gone"]\nextend-select = ["RL999"]\n')
    assert "unknown rule `RL999`" in run("check").stderr


def test_the_nearest_installed_plugin_is_named(run: Run, project: Path) -> None:
    """For a misspelt name, the similar one is suggested, also in commands that only show rules."""
    (project / "rlint.toml").write_text('plugins = ["acme-rlnt"]\n')
    for command in (["check"], ["rule", "RL900"]):
        errors = run(*command).stderr
        assert "rlint.toml: plugin `acme-rlnt` cannot be used, its rules are skipped: " in errors
        assert "it is not installed; did you mean `acme-rlint`?" in errors


@pytest.mark.parametrize(("prefix", "said"), [("rl", "rlint"), ("rlx", "rlint"), ("all", "the selector")])
def test_a_prefix_that_is_taken_is_refused(prefix: str, said: str, site: Path, run: Run) -> None:
    """`--select RL` must not select rules of plugins."""
    (site / RULE_FILE).rename(site / EPISODES / f"{prefix}998_key_in_list.py")
    sys.path[:] = [str(site), *sys.path]
    errors = run("check").stderr
    assert f"its codes begin with {prefix.upper()}" in errors
    assert f", a prefix that {said}" in errors


def test_of_two_plugins_with_one_prefix_the_first_is_used(
    example: Path, site: Path, run: Run, project: Path
) -> None:
    """The later one is reported as broken, with the plugin that it conflicts with."""
    variant(example, site, "other-rlint")
    (site / "other_rlint/episodes/otherrlint101_other_rlint_key.py").rename(
        site / "other_rlint/episodes/acme201_other_key.py"
    )
    sys.path[:] = [str(site), *sys.path]
    (project / "rlint.toml").write_text('plugins = ["acme-rlint", "other-rlint"]\n')
    done = run("check", "--output-format", "json")
    assert [code for code in codes(done) if code] == ["ACME101"]
    assert "plugin `other-rlint` cannot be used" in done.stderr
    assert "a prefix that acme-rlint 1.0 already uses" in done.stderr


def test_a_rule_that_fails_is_a_bug_of_its_plugin(site: Path, run: Run, project: Path) -> None:
    """An exception in a rule is reported with the plugin's name, so that users know whom to inform."""
    rule = site / RULE_FILE
    rule.write_text(rule.read_text().replace('"""Yield a finding', "raise ValueError(7)\n        ''" + '"""'))
    sys.path[:] = [str(site), *sys.path]
    write_programs(project)
    done = run("check", "--output-format", "json")
    assert [code for code in codes(done) if code] == ["RL101"]
    assert "rlint failed checking ACME101: ValueError: 7" in done.stderr
    assert "a bug in acme-rlint 1.0" in done.stderr


# --- no checked-out code is run ---


def test_a_checkout_cannot_bring_a_plugin(example: Path, project: Path, tmp_path: Path) -> None:
    """A configuration that names a package of its own repository runs no code of it, however rlint is
    started.
    """
    trace = tmp_path / "trace"
    shutil.copytree(example, project, dirs_exist_ok=True)
    for path in (project / "acme_rlint").rglob("*.py"):
        path.write_text(f"open({str(trace)!r}, 'w').write('run')\n")
    (project / ".git").mkdir()
    (project / "sub").mkdir()
    (project / "sub" / "rlint.toml").write_text(NAMED)
    for module, path, folder in (
        (True, (), project),
        (False, (project,), project),
        (False, (project,), project / "sub"),
        (False, (project / "sub" / ".."), project / "sub"),
    ):
        paths = path if isinstance(path, tuple) else (path,)
        done = rlint("check", "--output-format", "json", "--no-cache", cwd=folder, path=paths, module=module)
        assert "ACME101" not in codes(done)
        assert done.returncode in (1, 2)
        missing = "it is not installed" if module else f"it is in {project}, next to the checked code"
        assert missing in done.stderr
    assert not trace.exists()


def test_an_installed_plugin_is_not_replaced_by_a_module_of_the_checkout(
    example: Path, project: Path, tmp_path: Path
) -> None:
    """The installed rules are run, even if the working folder comes first on the path."""
    trace = tmp_path / "trace"
    (project / "acme_rlint").mkdir()
    for name in ("acme_rlint/__init__.py", "sneaky.py"):
        (project / name).write_text(f"open({str(trace)!r}, 'w').write('run')\n")
    site = Path(shutil.copytree(example, tmp_path / "site"))
    rule = site / RULE_FILE
    rule.write_text(rule.read_text().replace("import ast\n", "import ast\nimport sneaky\n"))
    done = rlint("check", "--output-format", "json", cwd=project, path=(example,), module=True)
    assert codes(done) == ["ACME101"]
    done = rlint("check", cwd=project, path=(site,), module=True)
    assert "No module named 'sneaky'" in done.stderr
    assert not trace.exists()


@pytest.mark.slow
def test_a_plugin_in_an_environment_of_its_own(project: Path, tmp_path: Path) -> None:
    """Installed into the environment of rlint, plainly or as editable from within the project, it is used;
    its evidence is recorded in its own folder, and shown.
    """
    environment = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    packages = [ROOT, *(entry for entry in sys.path if "site-packages" in entry)]
    source = write_example(project / "tools" / "acme-rlint")

    def started(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [python, *arguments],
            cwd=project,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, packages))},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )

    for editable in ([], ["-e"]):
        done = started("-m", "pip", "install", *OFFLINE, *editable, source)
        assert done.returncode == 0, done.stdout + done.stderr
        done = started("-c", SCRIPT, "check", "--output-format", "json", "train.py")
        assert codes(done) == ["ACME101"], done.stderr
    done = started("-c", SCRIPT, "verify", "-q", "--record", "--device", "cpu", "ACME101")
    assert done.returncode == 0, done.stderr
    assert (source / "acme_rlint" / "fixtures" / "key-in-list" / "evidence" / "cpu.json").is_file()
    assert "as fast" in started("-c", SCRIPT, "rule", "ACME101").stdout
    shown = started("-c", SCRIPT, "check", "train.py").stdout
    assert re.search(r"^measured: .* as fast.* on cpu \(1 workload\)$", shown, re.MULTILINE)
