"""Terminal features: colours, and a line that is replaced during work."""

from __future__ import annotations

import os
import sys
from typing import IO


def is_plain(stream: IO[str]) -> bool:
    """Whether a stream is not a terminal, or one without control sequences."""
    return not stream.isatty() or os.environ.get("TERM") == "dumb"


def wants_color(requested: str, *, to_file: bool = False, stream: IO[str] | None = None) -> bool:
    """Whether to colour output to `stream` (standard output, if not given).

    The first of these that applies decides: `--color always` or `never`; a file as destination (no colours);
    `NO_COLOR`, `FORCE_COLOR` and `CLICOLOR_FORCE`, unless empty (the last two also unless 0); `CLICOLOR=0`,
    and whether it is a terminal that supports colours.
    """
    if requested != "auto":
        return requested == "always"
    if to_file or os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name) not in (None, "", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return os.environ.get("CLICOLOR") != "0" and not is_plain(stream or sys.stdout)
