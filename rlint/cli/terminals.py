"""Terminal features: colours, and a line that is replaced during work."""

from __future__ import annotations

import os
import sys
from typing import IO


def is_plain(stream: IO[str]) -> bool:
    """Whether a stream is not a terminal, or one without control sequences."""
    return not stream.isatty() or os.environ.get("TERM") == "dumb"


def wants_color(asked: str, *, to_file: bool = False, stream: IO[str] | None = None) -> bool:
    """Whether to colour output to `stream` (standard output, if not given).

    `--color always` and `never` decide; then a file, which gets none; then `NO_COLOR`, `FORCE_COLOR` and
    `CLICOLOR_FORCE`, each unless empty (the last two unless 0, too); then whether it is a terminal that
    supports colours, and `CLICOLOR=0`.
    """
    if asked != "auto":
        return asked == "always"
    if to_file or os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name) not in (None, "", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return os.environ.get("CLICOLOR") != "0" and not is_plain(stream or sys.stdout)
