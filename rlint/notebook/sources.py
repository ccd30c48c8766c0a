"""The code of a notebook, concatenated without analysis: enough to scan its imports."""

from __future__ import annotations

import re
from pathlib import Path

from rlint.regex import regex

_RUN = regex(r"^[ \t]*%run[ \t].*?\b([\w/]+)\.py\b.*$", re.MULTILINE)


def source_of(path: Path, content: bytes) -> bytes:
    """Return the Python code of a file; except for notebooks, that is its content."""
    if path.suffix != ".ipynb":
        return content
    from rlint.notebook.document import NotebookError, read_document

    try:
        cells = read_document(content.decode("utf-8-sig")).cells
    except (UnicodeDecodeError, NotebookError):
        return b""
    code = "\n".join(cell.source for cell in cells if cell.kind == "code")
    return _RUN.sub(lambda match: f"from {match[1].replace('/', '.')} import *", code).encode(
        "utf-8", "surrogatepass"
    )
