"""Shared fixtures: the `--accept` option and a workspace for programs."""

from __future__ import annotations

import compileall
import itertools
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from fixture_folders import Expected
    from workspaces import Workspace

# How fast hypothesis creates and tries inputs depends on the load of the machine, not on rlint.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


_ROOT = Path(__file__).parents[1]


def pytest_configure(config: pytest.Config) -> None:
    """Compile rlint once: hundreds of tests start it, and without writable bytecode each process would
    compile it again.
    """
    if hasattr(config, "workerinput"):
        return  # done by the process that started this worker
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for folder in ("rlint", "rules"):
        compileall.compile_dir(_ROOT / folder, quiet=2)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--accept`, which records rlint's output instead of comparing it."""
    parser.addoption(
        "--accept",
        action="store_true",
        help="rewrite findings.txt, after.py and generated parts of pages; then read the diff",
    )


@pytest.hookimpl(optionalhook=True)  # only pytest-xdist calls it
def pytest_xdist_auto_num_workers() -> int:
    """Start one worker more than there are processors: many tests wait for child processes."""
    return (os.cpu_count() or 1) + 1


@pytest.fixture
def expected(request: pytest.FixtureRequest) -> Expected:
    """Compares with files that `--accept` rewrites."""
    from fixture_folders import Expected

    return Expected(accept=request.config.getoption("--accept"))


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Mapping[str, bytes]], Workspace]:
    """Writes a program to a new folder."""
    from workspaces import Workspace  # the tests of a part must run while the engine is broken

    # Thousands of tests use this fixture: a `tmp_path` for each would double the work for the file system.
    folders = (tmp_path_factory.getbasetemp() / f"program{number}" for number in itertools.count())

    def build(files: Mapping[str, bytes]) -> Workspace:
        return Workspace(next(folders), files)

    return build
