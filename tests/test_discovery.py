from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from rlint.config.options import option_layer
from rlint.config.settings import SettingsResolver
from rlint.source.discovery import discover
from rlint.source.gitignore import IgnoreRules

Tree = Callable[..., Path]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Create files, with the given texts."""

    def make(*names: str, **texts: str) -> Path:
        for name, text in {**dict.fromkeys(names, ""), **texts}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return make


def found(root: Path, *paths: str, **options: Any) -> list[str]:
    """The files found, relative to `root`; nothing may be a problem."""
    layer = option_layer({key.replace("_", "-"): value for key, value in options.items()}, root)
    result = discover(paths or (".",), SettingsResolver(root, overrides=[layer]))
    assert result.problems == ()
    return [path.relative_to(root).as_posix() for path in result.files]


def test_a_folder_gives_the_python_files_below_it_in_order(tree: Tree) -> None:
    """`rlint check src` checks every .py file below src, always in the same order."""
    root = tree("b.py", "a/z.py", "a/b/c.py", "notes.md", "a.pyc", "stub.pyi", ".hidden.py")
    assert found(root) == [".hidden.py", "a/b/c.py", "a/z.py", "b.py"]
    assert found(root, "a") == ["a/b/c.py", "a/z.py"]


def test_caches_builds_and_environments_are_passed_over(tree: Tree) -> None:
    """Generated and installed code is not checked."""
    skipped = [
        "build/lib/a.py",
        "dist/a.py",
        "venv/x.py",
        ".venv/lib/x.py",
        "node_modules/x.py",
        "lib/site-packages/x.py",
        ".tox/x.py",
        ".git/hooks/x.py",
        "__pycache__/x.py",
        ".ipynb_checkpoints/x.py",
        "my-env/pyvenv.cfg",
        "my-env/lib/x.py",
        "conda/conda-meta/history",
        "conda/lib/x.py",
        "env/bin/python",
        "env/lib/x.py",
    ]
    assert found(tree("kept.py", *skipped)) == ["kept.py"]


def test_a_package_called_env_is_checked(tree: Tree) -> None:
    """A folder `env` with RL environments is not a virtual environment."""
    assert found(tree("env/cartpole.py", "envs/bin/tool.py")) == ["env/cartpole.py", "envs/bin/tool.py"]


def test_files_named_by_the_user_are_checked_whatever_they_are_called(tree: Tree) -> None:
    """An excluded, ignored or oddly named file is checked if it is named itself."""
    root = tree("build/a.py", "script", **{".gitignore": "b.py\n", "b.py": ""})
    assert found(root, "build/a.py", "b.py", "script") == ["b.py", "build/a.py", "script"]
    assert found(root, "build") == ["build/a.py"]


def test_force_exclude_holds_for_named_files(tree: Tree) -> None:
    """With --force-exclude (as pre-commit needs it) exclusion wins over naming."""
    root = tree("build/deep/a.py", "b.py")
    assert found(root, "build/deep/a.py", "b.py", force_exclude=True) == ["b.py"]


def test_exclude_replaces_and_extend_exclude_adds(tree: Tree) -> None:
    """As in ruff: `exclude` replaces the default, `extend-exclude` adds to it."""
    root = tree("build/a.py", "old/b.py", "new/b.py", "new/b_test.py")
    assert found(root, exclude=["old"]) == ["build/a.py", "new/b.py", "new/b_test.py"]
    assert found(root, extend_exclude=["old"]) == ["new/b.py", "new/b_test.py"]
    assert found(root, extend_exclude=["new/*_test.py", "./old/"]) == ["new/b.py"]
    assert found(root, extend_exclude=["**/{b,c}.py"]) == ["new/b_test.py"]


def test_gitignore_is_respected_with_and_without_a_repository(tree: Tree) -> None:
    """Nested files, negation, anchors and folders have the same meaning as in git."""
    root = tree(
        "a.py",
        "logs/x.py",
        "pkg/gen.py",
        "pkg/keep_gen.py",
        "pkg/top.py",
        "sub/pkg/top.py",
        **{".gitignore": "logs/\n*gen.py\n/pkg/top.py\n", "pkg/.gitignore": "!keep_gen.py\n"},
    )
    kept = ["a.py", "pkg/keep_gen.py", "sub/pkg/top.py"]
    assert found(root) == kept
    assert found(root, "pkg") == ["pkg/keep_gen.py"]
    assert len(found(root, respect_gitignore=False)) == 6
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    assert found(root) == kept
    (root / ".git" / "info" / "exclude").write_text("a.py\n")
    assert found(root) == kept[1:]


def test_gitignore_of_the_repository_holds_in_a_folder_below(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a nested working folder, rlint reads the .gitignore files up to the repository's root."""
    root = tree("proj/a/b/x.py", "proj/a/b/y.py", **{"proj/.gitignore": "y.py", ".gitignore": "x.py"})
    subprocess.run(["git", "init", "-q", str(root / "proj")], check=True)
    below = root / "proj" / "a" / "b"
    assert found(below) == ["x.py"]


def test_a_gitignore_that_git_would_not_understand_does_no_harm(tree: Tree) -> None:
    """An invalid line is skipped, the others apply."""
    root = tree("a.py", "b.py", **{".gitignore": "!\n///\na.py\n[\n[z-a#]\n"})
    assert found(root) == ["b.py"]


PARTS = st.sampled_from(
    ["a", "a.so", ".so", "build", "x.egg-info", "b_1", "-", "é", ".", "*", "**", "?", "[ab]"]
)
LINES = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "", "", "*", "/", "!", "#", " "]),
    PARTS,
    st.sampled_from(["", "", "/a", "a", "*"]),
    st.sampled_from(["", "", "/", " "]),
)
PATHS = st.lists(
    st.sampled_from(["a", "b.so", "a.so", "build", "x.egg-info", "b_1", "é", "aa"]), min_size=1, max_size=3
)


@given(st.lists(LINES, max_size=5), PATHS, st.booleans())
def test_plain_lines_mean_what_they_mean_to_the_library(
    lines: list[str], parts: list[str], folder: bool
) -> None:
    """Plain names and suffixes, at any depth, of files and folders."""
    rules = IgnoreRules("/root", lines, None, lambda _: {})
    path = "/".join(parts)
    try:
        spec = GitIgnoreSpec.from_lines(lines)
    except ValueError:
        return
    expected = bool(spec.check_file(path + "/" if folder else path).include)
    assert rules.ignores(os.path.join("/root", *parts), folder=folder) == expected


def test_links_in_circles_do_not_hang_and_files_are_found_once(tree: Tree) -> None:
    """Linked folders are not entered, linked files are read, and no file is checked twice."""
    root = tree("pkg/a.py")
    (root / "pkg" / "loop").symlink_to(root, target_is_directory=True)
    (root / "self.py").symlink_to(root / "self.py")
    (root / "aaa.py").symlink_to(root / "pkg" / "a.py")
    (root / "dead.py").symlink_to(root / "gone.py")
    assert found(root, ".", "pkg", "pkg/a.py", "./pkg/../pkg/a.py") == ["pkg/a.py"]
    assert found(root, "aaa.py") == ["aaa.py"]


def test_what_is_named_but_not_there_is_a_problem(tree: Tree) -> None:
    """A mistyped path is reported, the others are still checked."""
    root = tree("a.py", "book.ipynb")
    (root / "dead.py").symlink_to(root / "gone.py")
    result = discover(["a.py", "nope", "dead.py", "book.ipynb", "a.py/b"], SettingsResolver(root))
    assert [path.name for path in result.files] == ["a.py", "book.ipynb"]
    assert [problem.path for problem in result.problems] == ["nope", "dead.py", "a.py/b"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_an_unreadable_folder_is_a_problem(tree: Tree) -> None:
    """A folder without permission is reported, the rest is checked."""
    root = tree("a.py", "closed/b.py")
    (root / "closed").chmod(0)
    try:
        result = discover(["."], SettingsResolver(root))
    finally:
        (root / "closed").chmod(0o755)
    assert len(result.files) == len(result.problems) == 1


def test_nested_configuration_excludes_in_its_own_folder(tree: Tree) -> None:
    """`exclude` of a nested rlint.toml is relative to its folder."""
    root = tree("a/gen/x.py", "a/y.py", "b/gen/x.py", **{"a/rlint.toml": 'extend-exclude = ["gen/*"]'})
    assert found(root) == ["a/y.py", "b/gen/x.py"]
