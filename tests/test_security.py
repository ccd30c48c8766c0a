"""Guarantees of docs/security.md: what checked code, and files around it, cannot do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import rlint
from patience import PATIENCE
from rlint.config.patterns import PathPatterns
from rlint.engine.cache.store import Cache
from rlint.plain_data import pack, unpack
from rlint.run_data import FileResult

ROOT = Path(rlint.__file__).resolve().parents[1]
PATTERN = """import re


def reward(completions):
    return [re.search(r"a+", text) for text in completions]
"""
posix = pytest.mark.skipif(os.name == "nt", reason="pipes, links and modes of POSIX")


def run(
    folder: Path, *arguments: str, program: tuple[str, ...] = ("-m", "rlint"), **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run rlint as a process."""
    return subprocess.run(
        [sys.executable, *program, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    """The names of all modules of Python and of packages that checking and fixing import."""
    seen = tmp_path_factory.mktemp("seen")
    (seen / "a.py").write_text(PATTERN)
    (seen / ".gitignore").write_text("logs/*.py\n")  # more than a name or an ending
    script = (
        "import sys, atexit\n"
        "atexit.register(lambda: print('\\n', *sys.modules, file=open('names', 'w')))\n"
        "from rlint.cli import main\nmain()\n"
    )
    names: set[str] = set()
    for command in (("check", "-j", "2"), ("fix", "--diff")):
        run(seen, *command, ".", program=("-c", script))
        names |= {name.partition(".")[0] for name in (seen / "names").read_text().split()}
    return frozenset(names - {"rlint", "__main__", "__mp_main__"})


FURTHER = set("libcst rich jinja2 markupsafe torch numpy sitecustomize usercustomize rules conftest".split())
SPAWNED = """import multiprocessing, sys
import rlint.engine.pool.workers
rlint.engine.pool.workers._METHOD = "spawn"
if __name__ == "__main__":
    from rlint.cli import main
    main()
"""


@pytest.mark.parametrize(
    "how", ["command", *(pytest.param(how, marks=pytest.mark.slow) for how in ("module", "spawned"))]
)
def test_nothing_is_imported_from_the_tree(tmp_path: Path, how: str, imported: frozenset[str]) -> None:
    """No checked code is imported: by the command, by `python -m`, or by forked or spawned workers."""
    names = imported | FURTHER
    assert {"click", "ast", "json", "pathspec"} <= names
    if how == "module":
        # Others are imported by Python itself, before rlint, from the working folder.
        names -= set(sys.stdlib_module_names) - {"ast", "json", "tempfile", "multiprocessing", "pickle"}
    tree, sprung = tmp_path / "tree", tmp_path / "sprung"
    tree.mkdir()
    trap = f"open({str(sprung)!r}, 'a').write(__name__ + ' ')\n"
    for name in names:
        (tree / f"{name}.py").write_text(trap)
    (tree / "libcst.py").unlink()
    (tree / "libcst").mkdir()
    (tree / "libcst" / "__init__.py").write_text(trap)
    (tree / "a.py").write_text(PATTERN)
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "rlint"
    script.write_text(SPAWNED if how == "spawned" else SPAWNED.replace('"spawn"', '"fork"'))
    program = ("-m", "rlint") if how == "module" else (str(script),)
    done = run(tree, "check", "-j", "2", "--select", "RL502", "--no-cache", ".", program=program)
    assert (done.returncode, done.stderr) == (1, "")
    assert "Found 1 finding." in done.stdout
    assert run(tree, "fix", ".", program=program).returncode == 0
    assert run(tree, "check", "--output-format", "json", ".", program=program).stdout == "[]\n"
    assert "All checks passed!" in run(tree, "check", "--output-format", "html", ".", program=program).stdout
    assert not sprung.exists()


@posix
def test_what_is_no_file_holds_nothing_up(tmp_path: Path) -> None:
    """Pipes in place of code, settings and .gitignore files, loops of links, devices, endless files."""
    (tmp_path / "a.py").write_text("x = 1\n")
    for name in ("pipe.py", ".gitignore", "rlint.toml", "pyproject.toml"):
        os.mkfifo(tmp_path / name)
    (tmp_path / ".git" / "info").mkdir(parents=True)
    os.mkfifo(tmp_path / ".git" / "info" / "exclude")
    (tmp_path / "loop.py").symlink_to("loop.py")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "up").symlink_to("..")
    (tmp_path / "zero.py").symlink_to("/dev/zero")
    with (tmp_path / "huge.py").open("wb") as huge:
        huge.truncate(50 << 30)  # takes no room
    (tmp_path / "large.py").write_bytes(b"x = 1\n" * 1_000_000)
    done = run(tmp_path, "check", ".")
    assert done.returncode == 1
    assert (
        "huge.py: not checked: the file is too large (53687.1 MB) (files of up to 4 MB are checked;"
        in done.stderr
    )
    assert "large.py: not checked: the file is too large (6.0 MB)" in done.stderr
    named = run(tmp_path, "check", "pipe.py", "zero.py", "loop.py", "sub/up/a.py")
    assert "pipe.py: cannot be read: it is not a regular file" in named.stderr
    assert "zero.py: cannot be read: it is not a regular file" in named.stderr
    assert "loop.py" in named.stderr


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("rlint.toml", "select = " + "[" * 50_000, "nested too deeply"),
        ("rlint.toml", "# " + "x" * 2_000_000, "larger than 1 MB"),
        ("pyproject.toml", "[tool.rlint]\na = " + "{a=" * 50_000, "nested too deeply"),
        ("rlint.toml", 'exclude = ["' + "{a,b}" * 12 + '"]', "expand to more than 1000 patterns"),
        ("rlint.toml", 'cache-dir = "../elsewhere"', "`cache-dir` is outside"),
        ("rlint.toml", 'cache-dir = "/elsewhere"', "`cache-dir` is outside"),
        ("rlint.toml", 'ignore = ["\\u001b]0;owned\\u0007"]', r"\x1b]0;owned\x07"),
    ],
    ids=str.split(
        "nested large nested-tables patterns parent absolute escapes"
    ),  # processes get the id of a test
)
def test_hostile_settings_are_an_error(tmp_path: Path, name: str, text: str, said: str) -> None:
    """Decompression bombs and paths out of the project: status 2, a message, and no crash."""
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / name).write_text(text)
    done = run(tmp_path, "check", ".")
    assert done.returncode == 2
    assert said in done.stderr
    assert "internal error" not in done.stderr
    assert not (tmp_path.parent / "elsewhere").exists()


@pytest.mark.parametrize(
    "pattern", ["*a" * 25 + "b", "**/a" * 25 + "/b", "{*a,*b}" * 6 + "c", "[a]*" * 25 + "b"]
)
def test_patterns_take_no_time(tmp_path: Path, pattern: str) -> None:
    """A pattern with many stars is matched as fast as one with few, in settings and for git."""
    path = "/x/" + "a" * 200 + "/a" * 500
    assert not PathPatterns((pattern,), "/x").match(path)  # or this does not end
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text(pattern + "\nkept.py\n")
    (tmp_path / ("a" * 200 + ".py")).write_text("x = 1\n")
    (tmp_path / "kept.py").write_text("def f(:\n")
    assert run(tmp_path, "check", ".").stdout == "All checks passed!\n"


class TestCache:
    @pytest.fixture
    def tree(self, tmp_path: Path) -> Path:
        """A folder with a finding, and its results."""
        folder = tmp_path / "tree"
        folder.mkdir()
        (folder / "a.py").write_text(PATTERN)
        return folder

    def check(self, tree: Path, *arguments: str, **environment: str) -> list[str]:
        """The reported codes; another user has another `XDG_CACHE_HOME`."""
        done = run(tree, "check", "--output-format", "json", *arguments, **environment)
        return [found["code"] for found in json.loads(done.stdout)]

    def test_results_of_other_users_are_not_believed(self, tree: Path, tmp_path: Path) -> None:
        """A cache that came with the code hides nothing, even if rlint has created it."""
        other = {"XDG_CACHE_HOME": str(tmp_path / "other")}
        assert self.check(tree, **other) == ["RL502"]
        (result,) = (tree / ".rlint_cache" / rlint.__version__).glob("run-*.json")
        signature, _, content = result.read_bytes().partition(b"\n")
        forged = json.loads(content)
        ((key, (packed,)),) = forged.items()
        forged[key] = [pack(replace(unpack(packed, FileResult), findings=()))]
        result.write_bytes(signature + b"\n" + json.dumps(forged).encode())
        assert self.check(tree, **other) == ["RL502"]
        assert result.read_bytes().startswith(signature)  # written by this run
        before = result.read_bytes()
        assert self.check(tree) == ["RL502"]
        assert result.read_bytes() != before  # ours now

    @posix
    def test_a_link_leads_nowhere(self, tree: Path, tmp_path: Path) -> None:
        """If the cache folder is a link, nothing is written or deleted at its target."""
        home = tmp_path / "home"
        (home / "1.0").mkdir(parents=True)
        (home / "documents").mkdir()
        for name in ("1.0/x.json", "documents/x.json", "documents/letter.txt"):
            (home / name).write_text("mine")
        before = sorted(home.rglob("*"))
        (tree / ".rlint_cache").symlink_to(home)
        assert self.check(tree) == ["RL502"]
        (tree / ".rlint_cache").unlink()
        (tree / ".rlint_cache").mkdir()
        (tree / ".rlint_cache" / rlint.__version__).symlink_to(home / "documents")
        (tree / ".rlint_cache" / "0.0.1").symlink_to(home / "documents")
        assert self.check(tree) == ["RL502"]
        assert sorted(home.rglob("*")) == before
        # a folder that the user names may be a link
        (tmp_path / "link").symlink_to(home)
        self.check(tree, "--cache-dir", str(tmp_path / "link"))
        assert list((home / rlint.__version__).glob("*.json"))

    @posix
    @pytest.mark.parametrize("name", [".gitignore", "CACHEDIR.TAG", rlint.__version__, "."])
    def test_a_link_to_nowhere_makes_no_file(self, tree: Path, tmp_path: Path, name: str) -> None:
        """A dangling link in place of a file or folder of the cache: its target is not created."""
        (tmp_path / "home").mkdir()
        place = tree / ".rlint_cache" / name if name != "." else tree / ".rlint_cache"
        place.parent.mkdir(exist_ok=True)
        place.symlink_to(tmp_path / "home" / "ignore")
        for _ in range(2):
            assert self.check(tree) == ["RL502"]
        assert list((tmp_path / "home").iterdir()) == []
        assert place.is_symlink()

    @posix
    def test_results_reached_through_links_are_neither_read_nor_written(
        self, tree: Path, tmp_path: Path
    ) -> None:
        """If a cache file is a link, a hard link, a pipe or a folder, it is replaced or ignored."""
        first = self.check(tree)
        home = tmp_path / "home"
        home.mkdir()
        kept = tree / ".rlint_cache" / rlint.__version__
        files = {path: path.read_bytes() for path in kept.iterdir()}
        assert files
        for how in ("link", "dangling", "hard", "pipe", "folder"):
            for path, content in files.items():
                other = home / path.name
                if path.is_dir():
                    path.rmdir()
                else:
                    path.unlink(missing_ok=True)
                other.write_bytes(content)
                os.utime(other, (1, 1))
                if how == "link":
                    path.symlink_to(other)
                elif how == "dangling":
                    path.symlink_to(home / f"{path.name}.made")
                elif how == "hard":
                    os.link(other, path)
                elif how == "pipe":
                    os.mkfifo(path)
                else:
                    path.mkdir()
            before = {path: path.read_bytes() for path in home.iterdir()}
            (tree / "b.py").write_text(f"x = {how!r}\n")  # so that results are written, too
            assert self.check(tree) == first
            assert {path: path.read_bytes() for path in home.iterdir()} == before
            if how != "hard":  # a hard link is the file itself, and reading it updates its time
                assert {path.stat().st_mtime for path in home.iterdir()} == {1}

    def test_a_folder_with_other_things_is_no_cache(self, tree: Path) -> None:
        """A configuration cannot hide a folder from git, or have its files deleted."""
        (tree / "src" / "1.0").mkdir(parents=True)
        (tree / "src" / "1.0" / "data.json").write_text("{}")
        for folder in ("src", "."):
            (tree / "rlint.toml").write_text(f'cache-dir = "{folder}"\n')
            self.check(tree)
            assert not (tree / folder / ".gitignore").exists()
            assert (tree / folder / rlint.__version__).is_dir()
        assert (tree / "src" / "1.0" / "data.json").exists()

    def test_only_results_are_tidied_away(self, tree: Path) -> None:
        """In a configured folder with other content, that content is kept."""
        (tree / ".rlint_cache" / "0.0.1").mkdir(parents=True)
        (tree / ".rlint_cache" / "notes").mkdir()
        for name in ("0.0.1/x.json", "0.0.1/x.txt", "notes/x.json"):
            (tree / ".rlint_cache" / name).write_text("")
        self.check(tree)
        left = {path.relative_to(tree / ".rlint_cache").as_posix() for path in tree.rglob("x.*")}
        assert left == {"0.0.1/x.txt", "notes/x.json"}

    def test_without_a_place_for_the_key_nothing_is_kept(self, tree: Path, tmp_path: Path) -> None:
        """A read-only home folder only costs time."""
        (tmp_path / "file").write_text("")
        assert self.check(tree, XDG_CACHE_HOME=str(tmp_path / "file")) == ["RL502"]
        assert not (tree / ".rlint_cache").exists()
        assert Cache(tree / ".rlint_cache").is_usable


@posix
def test_baselines_do_not_lead_out_of_the_tree(tmp_path: Path) -> None:
    """Neither a name in a configuration nor a link creates or changes a file outside."""
    tree, home = tmp_path / "tree", tmp_path / "home"
    for folder in (tree, home):
        folder.mkdir()
    (tree / "a.py").write_text(PATTERN)
    (home / "empty").write_text("")
    for name in (str(home / "new.json"), "../home/new.json", "linked/new.json"):
        (tree / "linked").unlink(missing_ok=True)
        (tree / "linked").symlink_to(home)
        (tree / "rlint.toml").write_text(f'baseline = "{name}"\n')
        done = run(tree, "check", "--write-baseline")
        assert done.returncode == 2
        assert "is outside" in done.stderr
    (tree / "rlint.toml").unlink()
    for end in ("new.json", "empty"):
        (tree / "rlint-baseline.json").unlink(missing_ok=True)
        (tree / "rlint-baseline.json").symlink_to(home / end)
        for arguments in (["--write-baseline"], ["--write-baseline=rlint-baseline.json"]):
            assert run(tree, "check", *arguments).returncode == 2
    assert {path.name: path.read_text() for path in home.iterdir()} == {"empty": ""}
    with (tree / "huge.json").open("wb") as huge:
        huge.truncate(50 << 30)
    (tree / "rlint.toml").write_text('baseline = "huge.json"\n')
    assert "it is larger than 200 MB" in run(tree, "check").stderr


@posix
def test_a_linked_file_is_not_fixed_outside_of_its_tree(tmp_path: Path) -> None:
    """If a configuration enables fixing, the target of a link is checked, but not written."""
    tree, home = tmp_path / "tree", tmp_path / "home"
    for folder in (tree / "pkg", home):
        folder.mkdir(parents=True)
    program = "import numpy as np\n\n\ndef f(env, n):\n    rows = np.empty(0)\n    for _ in range(n):\n"
    program += "        rows = np.append(rows, np.float32(env.step(0)))\n    return rows\n"
    for path in (home / "mine.py", tree / "own.py"):
        path.write_text(program)
    (tree / "pkg" / "linked.py").symlink_to(home / "mine.py")
    (tree / "pkg" / "inside.py").symlink_to("../own.py")
    (tree / "rlint.toml").write_text("fix = true\nunsafe-fixes = true\n")
    done = run(tree, "check", "--allow-dirty", ".")
    assert done.returncode == 1
    assert "pkg/linked.py: not written: it is a symbolic link to a file outside its project" in done.stderr
    assert (home / "mine.py").read_text() == program
    assert (tree / "own.py").read_text() != program
    assert run(home, "fix", "mine.py").returncode == 0
    assert (home / "mine.py").read_text() != program


@posix
def test_nothing_takes_the_terminal_over(tmp_path: Path) -> None:
    """Escape sequences in names, code and comments are escaped in every report for users."""
    evil = "\x1b]0;owned\x07"
    bidi = "\u202e"
    (tmp_path / f"{evil}{bidi}.py").write_text(PATTERN.replace("a+", f"a{evil}{bidi}"))
    (tmp_path / f"broken{evil}.py").write_text(f"def f(: # {evil}\n")
    for output_format in ("full", "concise", "github"):
        for extra in [
            ("--verbose",),
            *([("--diff", "--color", "always")] if output_format == "full" else []),
        ]:
            done = run(tmp_path, "check", "--output-format", output_format, *extra, ".")
            assert evil not in done.stdout + done.stderr
            assert bidi not in done.stdout + done.stderr
    done = run(tmp_path, "fix", "--show-fixes", ".")
    assert "owned" in done.stdout
    assert evil not in done.stdout + done.stderr
