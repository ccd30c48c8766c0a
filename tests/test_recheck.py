"""After a change, only affected files are checked again."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import pytest

from project_builder import build
from rlint.engine import api
from rlint.engine.cache.seen_files import StatCache
from rlint.engine.cache.store import QUERIES, Cache
from rlint.engine.incremental.dependencies import Dependencies
from rlint.engine.incremental.query_recorder import PARTS, QueryRecorder
from rlint.engine.incremental.recheck import Recheck
from rlint.findings import Finding
from rlint.registry.catalogue import catalogue
from rlint.run_data import Report, Target
from rlint.semantics.interprocedural.whole_program import WholeProgram

CODES = frozenset(entry.code for entry in catalogue())

LOOP = "from agent import Agent\n\n\ndef main(env):\n    agent = Agent()\n    obs, _ = env.reset()\n"
LOOP += "    for step in range(1000):\n        obs, *_ = env.step(agent.act(obs))\n"
AGENT = "from heads import decode\nimport memory\n\n\nclass Agent:\n    def act(self, obs):\n"
AGENT += "        memory.store(obs)\n        first = decode(obs)\n        return first, decode(obs)\n"
HEADS = "import re\n\n\ndef decode(text):\n    return re.search('(a+)b', text).group(1)\n"
MEMORY = "import torch\n\nkept = []\n\n\ndef store(obs):\n    kept.append(torch.ones(3).to('cuda'))\n"
APART = "import agent\n\n\ndef show(x):\n    print(x)\n"


class Project:
    """A small project, checked with a cache after each change."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.checked: list[str] | None = []
        """The files that the last run checked again; None without an earlier run."""
        self._cache = Cache(folder / ".rlint_cache")
        check = Recheck.check

        def watched(recheck: Recheck, group):  # type: ignore[no-untyped-def]
            found = check(recheck, group)
            self.checked = None if found is None else sorted(result.name for result in found.new)
            return found

        monkeypatch.setattr(Recheck, "check", watched)
        texts = {"train": LOOP, "agent": AGENT, "heads": HEADS, "memory": MEMORY, "apart": APART}
        for name, text in texts.items():
            (folder / f"{name}.py").write_text(text)
        self.run()

    def run(self) -> tuple[Finding, ...]:
        """Check all files; the findings are those of a run without a cache."""
        self.checked = []
        found = self._report(self._cache)
        assert found == self._report(None)
        return found.findings

    def _report(self, cache: Cache | None) -> Report:
        targets = [Target(None, path, path.name, CODES) for path in sorted(self.folder.glob("*.py"))]
        seen = StatCache(cache)
        report = api.check(targets, jobs=1, cache=cache, seen=seen)
        seen.save()
        return report

    def write(self, name: str, text: str) -> None:
        """Write a file."""
        (self.folder / f"{name}.py").write_text(text)

    def replace(self, name: str, old: str, new: str) -> list[str] | None:
        """Change a file; return the files that are checked again."""
        path = self.folder / f"{name}.py"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        self.run()
        return self.checked


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A training loop, its agent, the agent's callee, and an unused module."""
    return Project(tmp_path, monkeypatch)


def test_the_queries_of_every_part_are_recorded() -> None:
    """A part without a stand-in would be missing in every run with a cache."""
    program = WholeProgram([])
    lazy = {name for name, part in vars(WholeProgram).items() if isinstance(part, cached_property)}
    assert {*vars(program), *lazy} <= set(PARTS)


def test_nothing_is_checked_without_a_change(project: Project) -> None:
    """All is known."""
    project.run()
    assert project.checked == []


def test_a_comment_concerns_its_own_file(project: Project) -> None:
    """A change that does not affect the summary has no effect on other files."""
    assert project.replace("heads", "group(1)\n", "group(1)\n# the first one\n") == ["heads.py"]


def test_a_callee_concerns_its_callers(project: Project) -> None:
    """A function that is no longer pure must not be called once instead of twice."""
    assert any(finding.code == "RL501" for finding in project.run())
    checked = project.replace("heads", "    return", "    print(text)\n    return")
    assert checked is not None
    assert {"agent.py", "heads.py"} <= set(checked)
    assert not {"apart.py", "memory.py"} & set(checked)
    assert not any(finding.code == "RL501" for finding in project.run())


def test_a_caller_concerns_its_callees(project: Project) -> None:
    """Without the loop nothing is hot."""
    hot = [finding for finding in project.run() if finding.path == "memory.py"]
    assert hot
    checked = project.replace("train", "    for step in range(1000):\n    ", "    if env:\n    ")
    assert checked is not None
    assert "memory.py" in checked
    assert "apart.py" not in checked
    assert [finding for finding in project.run() if finding.path == "memory.py"] != hot


def test_the_names_of_a_star_import_concern_the_importer(project: Project) -> None:
    """What `*` brings decides what a file means; other changes of that module concern only itself."""
    project.write(
        "heads", "from patterns import *\n\n\ndef decode(text):\n    return search('(a+)b', text)\n"
    )
    project.write("patterns", "from re import search\n")
    assert [found.code for found in project.run() if found.path.endswith("heads.py")] == ["RL502"]
    project.write("patterns", "from re import search\n\n_LIMIT = 3\n")
    project.run()
    assert project.checked == ["patterns.py"]
    project.write("patterns", "from os.path import join as search\n")
    assert not [found for found in project.run() if found.path.endswith("heads.py")]


def test_what_a_loader_does_concerns_the_modules_that_it_may_load(project: Project) -> None:
    """It is no part of the program, but may list the variables of one of its modules."""
    load = "import importlib, sys\n\nmodule = importlib.import_module(sys.argv[1])\n"
    project.write("run", f"{load}print(module.decode('ab'))\n")
    before = project.run()
    project.write("run", f"{load}print(dir(module))\n")
    after = project.run()
    assert [finding.code for finding in before] == [finding.code for finding in after]
    assert before != after


def test_files_come_and_go(project: Project) -> None:
    """A name may start or cease to be defined."""
    first = project.run()
    (project.folder / "memory.py").unlink()
    assert project.run() != first
    assert project.checked is not None
    assert "agent.py" in project.checked
    assert "apart.py" not in project.checked
    (project.folder / "memory.py").write_text(MEMORY)
    assert project.run() == first


def test_a_file_without_known_data_is_removed(project: Project) -> None:
    """Its summary was deleted from the cache: queries about it are answered again."""
    first = project.run()
    (project.folder / "heads.py").unlink()
    for path in project.folder.glob(".rlint_cache/*/*.summary"):
        path.unlink()
    assert project.run() != first


def test_a_file_that_cannot_be_parsed_shows_nothing(project: Project) -> None:
    """And they are checked again when it can be parsed."""
    first = project.run()
    assert project.replace("heads", "def decode(", "def decode((") is not None
    assert project.replace("heads", "def decode((", "def decode(") is not None
    assert project.run() == first


def test_what_is_left_of_a_damaged_file_does_not_count(project: Project) -> None:
    """A cache file signed by another user is ignored: everything is checked."""
    for path in project.folder.glob(f".rlint_cache/*/*{QUERIES}"):
        path.write_bytes(path.read_bytes()[:-9])
    assert project.replace("heads", "group(1)\n", "group(1)\n# the first one\n") is None


def test_the_selected_rules_count(project: Project) -> None:
    """Files that were checked for other rules are checked again."""
    targets = [
        Target(None, path, path.name, frozenset({"RL502"})) for path in sorted(project.folder.glob("*.py"))
    ]
    found = api.check(targets, jobs=1, cache=Cache(project.folder / ".rlint_cache"))
    assert {finding.code for finding in found.findings} == {"RL502"}
    assert project.checked is None or set(project.checked) == {target.name for target in targets}


def test_the_answers_of_a_file_are_those_of_its_group() -> None:
    """Two groups in one run make the same query, and get different answers."""
    queried = Dependencies()
    for name, text in (("first.py", "from numpy import ma\n"), ("second.py", "import numpy\n")):
        [model] = build({name: text}).values()
        questions = QueryRecorder(WholeProgram([model.module]), queried.of_a_group())
        with questions.stand_in(name) as known:
            known.program_symbols.is_imported("numpy.ma")
    first, second = queried.of(["first.py"]).answers, queried.of(["second.py"]).answers
    assert first.keys() == second.keys()
    assert first != second


def test_a_file_is_checked_again_if_other_programs_begin_to_train(project: Project) -> None:
    """Though it shares no import with them."""
    (project.folder / "requirements.txt").write_text("")
    loop = "    for step in range(1000):\n        env.step(Normal(step, 1.0).rsample())\n"
    project.write("old", f"from torch.distributions import Normal\n\n\ndef act(env):\n{loop}")

    def reasons() -> set[str | None]:
        return {found.minor for found in project.run() if found.path == "old.py"}

    assert reasons() == {None}
    project.replace("train", "    for", "    env.loss.backward()\n    for")
    assert reasons() == {None}
    project.write("train", (project.folder / "train.py").read_text() + "\n\nmain(input())\n")
    assert reasons() == {"no script of this project reaches `old`"}
