"""What all tests share: the `--accept` option and a place to try programs in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from fixture_folders import Expected
    from workspaces import Workspace

# How quickly inputs are made says something about what else the machine does, and nothing about rlint.
settings.register_profile("patient", suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--accept`, which writes down what rlint says instead of comparing it."""
    parser.addoption(
        "--accept",
        action="store_true",
        help="rewrite findings.txt, after.py and the generated parts of README.md; read the diff afterwards",
    )


@pytest.fixture
def expected(request: pytest.FixtureRequest) -> Expected:
    """Compares with files that `--accept` rewrites."""
    from fixture_folders import Expected

    return Expected(accept=request.config.getoption("--accept"))


@pytest.fixture
def workspace(tmp_path: Path) -> Callable[[Mapping[str, bytes]], Workspace]:
    """Puts a program into an empty folder of its own."""
    from workspaces import Workspace  # the tests of a part run while the engine is broken

    def build(files: Mapping[str, bytes]) -> Workspace:
        folder = tmp_path / f"program{len(list(tmp_path.iterdir()))}"
        return Workspace(folder, files)

    return build
