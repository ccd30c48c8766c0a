"""Matching of a profile, possibly from another machine, to source files and functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlint.profiles.call_profile import ProfileEntry, ProfileGraph
from rlint.profiles.located import Located
from rlint.profiles.paths import match_files
from rlint.profiles.profile_model import Frame
from rlint.profiles.stacks import Stacks

TREE = (
    "train.py",
    "agents/__init__.py",
    "agents/dqn.py",
    "agents/utils.py",
    "envs/__init__.py",
    "envs/utils.py",
)


@pytest.fixture
def tree(tmp_path: Path) -> dict[str, Path]:
    """A project with packages, in a folder whose name occurs in no profile."""
    for name in TREE:
        (tmp_path / "checkout" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "checkout" / name).write_text("def work():\n    pass\n")
    return {name: tmp_path / "checkout" / name for name in TREE}


@pytest.mark.parametrize(
    ("seen", "meant"),
    [
        ("/app/agents/dqn.py", "agents/dqn.py"),
        ("/home/her/Project/agents/utils.py", "agents/utils.py"),
        ("/usr/lib/python3.11/site-packages/agents/dqn.py", "agents/dqn.py"),
        (r"C:\work\envs\utils.py", "envs/utils.py"),
        ("/app/AGENTS/dqn.py", "agents/dqn.py"),
        ("train.py", "train.py"),
        ("agents/dqn.py", "agents/dqn.py"),
        ("/app/train.py", "train.py"),
        ("/app/other/dqn.py", None),  # the package is another
        ("utils.py", None),  # any of two
        ("torch/agents/dqn.py", None),  # a module of a library, by its whole name
        ("/x/site-packages/torch/train.py", None),
        ("/usr/lib/python3.11/train.py", None),
        ("<frozen importlib._bootstrap>", None),
        ("", None),
    ],
)  # fmt: skip
def test_files_of_other_machines(tree: dict[str, Path], seen: str, meant: str | None) -> None:
    """A container, another checkout, an installed package, Windows: files are matched by the end of the path,
    or not at all.
    """
    found, _ = match_files([seen], list(tree.values()), lambda _file, _source: True)
    assert found == ({seen: tree[meant]} if meant else {})


def test_a_link_is_what_it_leads_to(tree: dict[str, Path], tmp_path: Path) -> None:
    """A profile that names the file by another path on this machine."""
    link = tmp_path / "link.py"
    link.symlink_to(tree["train.py"])
    assert match_files([str(link)], [tree["train.py"]], lambda _f, _s: False)[0] == {
        str(link): tree["train.py"]
    }


def test_ambiguous_files_are_refused_unless_the_others_decide(tmp_path: Path) -> None:
    """Of two scripts with one name, the one whose neighbours are also in the profile; without neighbours,
    none.
    """
    sources = [tmp_path / "a" / "train.py", tmp_path / "b" / "train.py", tmp_path / "b" / "buffer.py"]
    for source in sources:
        source.parent.mkdir(exist_ok=True)
        source.touch()

    def fits(_file: str, _source: Path) -> bool:
        return True

    assert match_files(["/app/train.py"], sources[:2], fits) == ({}, ("/app/train.py",))
    found, several = match_files(["/app/train.py", "/app/buffer.py"], sources, fits)
    assert (found["/app/train.py"], several) == (sources[1], ())


def located(folder: Path, source: str, frames: list[Frame], **options: bool) -> tuple[Located, Path]:
    """A profile in which each frame took a second, matched to one file."""
    path = folder / "train.py"
    path.write_text(source)
    if options:
        profile = Stacks(frames, {(n,): 1.0 for n in range(len(frames))}, format="test", **options)
        return Located(profile, [path]), path
    return Located(ProfileGraph(frames, [ProfileEntry(1, 1.0, 1.0)] * len(frames), []), [path]), path


TWO = "class A:\n    def act(self):\n        pass\n\n\nclass B:\n    def act(self):\n        pass\n"


def test_functions_of_one_name_are_distinguished_by_their_lines(tmp_path: Path) -> None:
    """Functions are matched even if lines were inserted above them."""
    frames = [Frame("train.py", "act", 2), Frame("train.py", "act", 7)]
    for above in ("", "# one\n# two\n"):
        found, path = located(tmp_path, above + TWO, frames)
        file = found.files[path]
        assert {each.qualname: numbers for each, numbers in file.frames.items()} == {
            "A.act": {0},
            "B.act": {1},
        }
        assert file.moved == bool(above)


def test_qualified_names_count_more_than_lines(tmp_path: Path) -> None:
    """Names as py-spy writes them for newer Pythons."""
    found, path = located(tmp_path, TWO, [Frame("train.py", "B.act", 3)])
    assert [each.qualname for each in found.files[path].frames] == ["B.act"]


def test_lines_count_only_while_they_are_those_of_the_source(tmp_path: Path) -> None:
    """If a sampler's lines are outside of their function, the whole file is matched by names."""
    frames = [Frame("train.py", "act", 3), Frame("train.py", "act", 8)]
    found, path = located(tmp_path, TWO, frames, may_have_lines=True)
    assert found.files[path].has_lines
    found, path = located(tmp_path, "\n" * 20 + TWO, frames, may_have_lines=True)
    assert not found.files[path].has_lines
    assert found.files[path].moved


def test_a_file_with_other_functions_is_another_file(tmp_path: Path) -> None:
    """The name alone is not enough."""
    found, _ = located(tmp_path, "def other():\n    pass\n", [Frame("/app/train.py", "learn", 1)])
    assert found.files == {}
