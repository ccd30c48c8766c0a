"""The fast implementation agrees with a slow reference run, which skips and caches nothing."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from fixture_folders import FIXTURES, RULES
from rlint.engine import api, worker
from rlint.engine.cache.store import Cache
from rlint.engine.dispatch import NodeDispatch
from rlint.findings import Finding
from rlint.run_data import Target
from rlint.semantics.model_frequency import FrequencyQueries

CODES = frozenset(entry.code for entry in RULES)


def targets(names: str, folder: Path) -> list[Target]:
    """Copies of fixture files, to be checked for every rule, without other files around them."""
    (folder / "rlint.toml").touch()
    found = []
    for path in sorted(FIXTURES.glob(names)):
        name = path.relative_to(FIXTURES).as_posix()
        copy = folder / name
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(path.read_bytes())
        found.append(Target(None, copy, name, CODES))
    return found


def always(*_: object) -> bool:
    """No rule is left out, whatever the text."""
    return True


def reference(files: list[Target], monkeypatch: pytest.MonkeyPatch) -> tuple[Finding, ...]:
    """The findings in one process, with every rule visiting every node of every file."""
    every: dict[int, object] = {}

    def all_nodes(model: FrequencyQueries, kind: type[ast.AST]) -> list[ast.AST]:
        every[id(model)] = model
        return model._syntax.of_type(kind)

    def all_calls(visits: NodeDispatch, names: object, *, is_cold: bool) -> list[ast.AST]:
        every[id(visits)] = visits
        return list(visits._syntax.of_type(ast.Call))

    with monkeypatch.context() as patched:
        patched.setattr(worker, "_triggered", always)
        patched.setattr(FrequencyQueries, "warm_nodes", all_nodes)
        patched.setattr(NodeDispatch, "_calls_of", all_calls)
        findings = api.check(files, jobs=1).findings
    assert every, "nothing of this was used: the reference is none"
    return findings


@pytest.mark.parametrize("names", ["[a-c]*/before.py", pytest.param("*/*.py", marks=pytest.mark.slow)])
def test_a_fast_run_finds_what_a_slow_one_finds(
    names: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one process and in two, with an empty cache and with a full one."""
    files = targets(names, tmp_path)
    wanted = reference(files, monkeypatch)
    assert wanted
    assert api.check(files, jobs=1).findings == wanted
    cache = Cache(tmp_path / "cache")
    assert api.check(files, jobs=2, cache=cache).findings == wanted
    assert api.check(files, jobs=2, cache=cache).findings == wanted
