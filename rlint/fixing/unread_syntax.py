"""New code of fixes that another reader of the file may not accept: TorchScript, numba, Python 2."""

from __future__ import annotations

import ast

from rlint.edit.deferred_edit import new_code
from rlint.findings import Fix
from rlint.fixing.compiled_functions import changes_compiled_code
from rlint.models import since
from rlint.semantics.model import SemanticModel

_OF_PYTHON_2 = frozenset({"absolute_import", "division", "print_function", "unicode_literals"})
"""Features that only a file for Python 2 imports from `__future__`."""


def unread_syntax_reason(fix: Fix, model: SemanticModel) -> str | None:
    """Return why a compiler or an old Python that reads the file may not accept what a fix changes."""
    if changes_compiled_code(fix, model):
        return "the function is compiled (`torch.jit.script`, numba), which accepts only a part of Python"
    text = model.syntax.text
    added = next(
        (
            token
            for token in since.SYNTAX
            if any(token in new_code(each) and token not in text[each.start : each.end] for each in fix.edits)
        ),
        None,
    )
    if added is None:
        return None
    if _is_for_python_2(model):
        return f"the file imports from `__future__` for Python 2, which has no `{added}`"
    return None


def _is_for_python_2(model: SemanticModel) -> bool:
    return any(
        node.module == "__future__" and any(alias.name in _OF_PYTHON_2 for alias in node.names)
        for node in model.syntax.of_type(ast.ImportFrom)
    )
