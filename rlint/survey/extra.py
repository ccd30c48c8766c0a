"""The packages of the extra `rlint[ray]`, imported when a survey needs them."""

from __future__ import annotations

import importlib
from typing import Any

from rlint.errors import RlintError


def needed(module: str) -> Any:
    """Return a module of the extra. Raises RlintError if it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise RlintError(
            f"this needs `{package}`, which cannot be imported ({error}): `pip install 'rlint[ray]'`"
        ) from error
