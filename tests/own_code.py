"""The syntax trees of rlint's own modules, which several tests read."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

ON_ONE_WORKER = pytest.mark.xdist_group("own_code")
"""For test files that read all modules: a worker parses each module once."""


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the tree of a module, which no test changes."""
    return ast.parse(path.read_bytes())
