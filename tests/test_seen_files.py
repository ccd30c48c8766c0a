"""Unchanged files are not read again; changed ones are, even if metadata hardly differs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rlint.config.settings import SettingsResolver
from rlint.engine.cache import seen_files
from rlint.engine.cache.seen_files import StatCache
from rlint.engine.cache.store import Cache
from rlint.semantics.imports.import_scan import ImportScan, glance_at_file
from rlint.source.discovery import discover

OLD = 1_000_000_000_123_456_789


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that are read."""
    read: list[Path] = []

    def look(path: Path, *_: object) -> ImportScan:
        read.append(path)
        return glance_at_file(path)

    monkeypatch.setattr(seen_files, "glance_at_file", look)
    return read


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """All files are old enough for their times to be believed."""
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 10_000_000_000)


def looked(tmp_path: Path, path: Path) -> ImportScan:
    """The cached status of a file after a run."""
    seen = StatCache(Cache(tmp_path / "cache"))
    glance = seen.glance(path)
    seen.save()
    return glance


@pytest.mark.usefixtures("settled")
def test_an_unchanged_file_is_read_once(tmp_path: Path, reads: list[Path]) -> None:
    """The second scan returns the same data."""
    path = tmp_path / "a.py"
    path.write_text("import torch\nfrom . import b\nfrom ..c import (d,\n  e)\n\nx = 'reward'\n")
    first = looked(tmp_path, path)
    assert looked(tmp_path, path) == first == glance_at_file(path)
    assert reads == [path]


def _rewrite_at_once(path: Path) -> None:
    path.write_text("import b\n")


def _replace(path: Path) -> None:
    other = path.with_suffix(".new")
    other.write_text("import b\n")
    status = path.stat()
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(path)


def _rewrite_and_set_back(path: Path) -> None:
    status = path.stat()
    path.write_text("import b\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("change", [_rewrite_at_once, _replace, _rewrite_and_set_back])
def test_a_changed_file_is_read_again(
    tmp_path: Path, reads: list[Path], change: Callable[[Path], None]
) -> None:
    """Its size and time of change may be the same."""
    path = tmp_path / "a.py"
    path.write_text("import a\n")
    os.utime(path, ns=(OLD, OLD))
    assert looked(tmp_path, path).imports == ("a",)
    change(path)
    assert looked(tmp_path, path).imports == ("b",)
    assert reads == [path, path]


def test_a_file_that_was_just_written_is_not_believed(tmp_path: Path, reads: list[Path]) -> None:
    """A file may be written again within one tick of the file system's clock."""
    path = tmp_path / "a.py"
    path.write_text("import a\n")
    seen = StatCache(Cache(tmp_path / "cache"))
    seen.glance(path)
    seen.save()
    looked(tmp_path, path)
    assert reads == [path, path]


def test_what_git_ignores_is_decided_once_and_again_when_rules_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second walk evaluates no pattern, and a changed `.gitignore` takes effect at once."""
    for name in ("a.py", "b.py", "below/c.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / ".gitignore").write_text("b.*\n")

    def walk() -> list[str]:
        seen = StatCache(Cache(tmp_path / ".rlint_cache"))
        found = discover(["."], SettingsResolver(tmp_path, isolated=True), seen.decisions)
        seen.save()
        return [path.name for path in found.files]

    assert walk() == ["a.py", "c.py"]
    with monkeypatch.context() as patched:
        patched.setattr("pathspec.GitIgnoreSpec.from_lines", lambda *_: pytest.fail("asked again"))
        assert walk() == ["a.py", "c.py"]
    (tmp_path / ".gitignore").write_text("b.*\n!b.py\n")
    assert walk() == ["a.py", "b.py", "c.py"]
    (tmp_path / "below" / ".gitignore").write_text("*\n")
    assert walk() == ["a.py", "b.py"]
