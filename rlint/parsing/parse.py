"""Parse text to a syntax tree, or report why that is not possible."""

from __future__ import annotations

import symtable
import sys
import warnings

from rlint.findings import Problem
from rlint.parsing.grammar import NEWEST, Reading
from rlint.parsing.marimo_cells import with_cells_opened
from rlint.parsing.python_2 import is_python_2


def parse(text: str, name: str) -> Reading | Problem:
    """Parse `text`, the decoded source of the file with the displayed name `name`.

    Parses the syntax of the Python that runs rlint, and of newer ones. Never raises, and never warns about
    the source (invalid escapes and similar).
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            # without the name: Python would count columns in the file of that name, not in the text
            return with_cells_opened(NEWEST.read(text), text)
        except SyntaxError as error:
            return _problem(error, text, name)
        except (RecursionError, MemoryError):
            return Problem(name, "SyntaxError: expressions are nested too deeply to be read")
        except (
            ValueError,
            OverflowError,
        ) as error:  # null bytes on old Pythons, lone surrogates, huge integers
            return Problem(name, f"SyntaxError: {error}")


def problem_in(text: str, name: str) -> Problem | None:
    """Return why `parse` cannot parse a text; None if it can. Valid text is compiled without building a
    tree.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            symtable.symtable(text, "", "exec")  # parses a text as `ast.parse` does, with further checks
        except (SyntaxError, RecursionError, MemoryError, ValueError, OverflowError):
            reading = parse(text, name)
            return reading if isinstance(reading, Problem) else None
    return None


def _problem(error: SyntaxError, text: str, name: str) -> Problem:
    message = error.msg or "invalid syntax"
    hint = None
    if is_python_2(text, error):
        hint = "written for Python 2, which rlint does not support"
    elif "f-string" not in message and "invalid syntax" in message:
        hint = f"read as Python {sys.version_info.major}.{sys.version_info.minor}"
    column = error.offset if error.offset and error.offset > 0 else None
    line = error.lineno if error.lineno and error.lineno > 0 else None
    return Problem(name, f"SyntaxError: {message}", line, column, hint)
