"""Print the results of `rlint verify`: one module per format, loaded when it is used.

Answers how measurements are displayed to users and programs. Measures nothing, and makes no verdicts.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from rlint.evidence.results import Session

_MODULES = {"table": "table", "json": "verify_json", "markdown": "markdown", "html": "page"}

FORMATS: tuple[str, ...] = tuple(_MODULES)
"""The names that `--output-format` accepts, the default first."""


def render(session: Session, format: str, *, color: bool = False, width: int | None = None) -> str:  # noqa: A002 - the option's name
    """Return a session in one of FORMATS, final line end included.

    Colour and width only affect the table. `width` counts columns of the terminal; None means unlimited, for
    a file or a pipe.
    """
    reporter: Callable[..., str] = importlib.import_module(f"{__name__}.{_MODULES[format]}").render
    return reporter(session, color=color, width=width)
