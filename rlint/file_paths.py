"""Paths in the form that rlint stores."""

from __future__ import annotations

import os
from pathlib import Path


def absolute(path: str | Path) -> Path:
    """Return `path` from the root, without `..` and, unlike `Path.resolve`, without following links."""
    return Path(os.path.abspath(path))
