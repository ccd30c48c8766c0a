"""Variables that a fix adds to a module, in programs that would observe them."""

from __future__ import annotations

import ast

from rlint.edit.deferred_edit import new_code
from rlint.findings import Fix
from rlint.regex import regex
from rlint.semantics.effects.namespace_writes import ANY_NAME
from rlint.semantics.model import SemanticModel

_BOUND = regex(r"^(?:class |def |import )?([^\W\d]\w*)\b(?! import)", 8)
"""Names that lines of new code bind at module level. In multiline mode."""


def added_name_reason(fix: Fix, model: SemanticModel) -> str | None:
    """Return why other code would see, use or miss a variable that a fix adds to the module."""
    added = [name for edit in fix.edits if edit.shared for name in _BOUND.findall(new_code(edit))]
    if not added:
        return None
    module = model.symbols.module.module
    if model.index.is_observed(module):
        return f"`{added[-1]}` would be one of the variables of the module, which other code iterates over"
    taken = sorted(_functions(fix, model))
    if taken and model.index.is_observed(*taken):
        return f"the code of the function is also run elsewhere, where there is no `{added[-1]}`"
    for name in added:
        set_elsewhere = model.index.names_set_elsewhere(module)
        if (
            name in set_elsewhere
            or ANY_NAME in set_elsewhere
            or "__getattr__" in model.symbols.module.functions
            or model.program.is_imported_anywhere(f"{module}.{name}")
            or model.program.is_read_elsewhere(name)
        ):
            return f"other code may use a variable `{name}` of this module"
    return None


def _functions(fix: Fix, model: SemanticModel) -> set[str]:
    """Return the paths of the functions and classes that a fix changes."""
    found = set()
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for node in (each for kind in kinds for each in model.syntax.of_type(kind)):
        start, end = model.source.span(node)
        if any(start <= edit.start <= end for edit in fix.edits if not edit.shared):
            found.add(f"{model.symbols.module.module}.{model.syntax.qualname(node)}")
    return found
