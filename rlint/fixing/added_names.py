"""Variables that a fix adds to a module, in programs that would observe them."""

from __future__ import annotations

from dataclasses import replace

from rlint.edit.deferred_edit import new_code
from rlint.findings import Fix
from rlint.fixing.compiled_functions import definitions
from rlint.regex import regex
from rlint.semantics.effects.namespace_writes import ANY_NAME
from rlint.semantics.effects.observed_code import ANY_FUNCTION
from rlint.semantics.model import SemanticModel

_BOUND = regex(r"^(?:class |def |import )?([^\W\d]\w*)\b(?! import)", 8)
"""Names that lines of new code bind at module level. In multiline mode."""
_ASSIGNED = regex(r"^\s*([^\W\d]\w*) = ", 8)


def added_name_reason(fix: Fix, model: SemanticModel) -> str | None:
    """Return why other code would see, use or miss a variable that a fix adds to the module."""
    added = [name for edit in fix.edits if edit.shared for name in _BOUND.findall(new_code(edit))]
    module = model.symbols.module.module
    if not added:
        if model.index.observed_names.is_observed(module) and (name := _added_in_place(fix, model)):
            return f"`{name}` would be one of the variables of the module, which other code iterates over"
        return None
    if model.index.observed_names.is_observed(module):
        return f"`{added[-1]}` would be one of the variables of the module, which other code iterates over"
    taken = sorted(_functions(fix, model))
    if taken and model.index.observed_names.is_observed(*taken, ANY_FUNCTION):
        return f"the code of the function also runs in another namespace, which has no `{added[-1]}`"
    for name in added:
        set_by_others = model.index.overwritten_names.names_in(module)
        if (
            name in set_by_others
            or ANY_NAME in set_by_others
            or "__getattr__" in model.symbols.module.functions
            or model.program.is_imported_anywhere(f"{module}.{name}")
            or (_is_exported(name, model) and model.program.is_imported(name))
            or model.program.is_read_in_other_file(name)
        ):
            return f"other code may use a variable `{name}` of this module"
    return None


def _is_exported(name: str, model: SemanticModel) -> bool:
    """Whether `from module import *` imports a name that a fix adds."""
    return not name.startswith("_") and "__all__" not in model.syntax.scopes[model.syntax.module].bindings


def _added_in_place(fix: Fix, model: SemanticModel) -> str | None:
    """Return a new variable that a fix binds at module level, outside of functions and classes."""
    for edit in fix.edits:
        if not edit.shared and not any(True for _ in definitions(replace(fix, edits=(edit,)), model)):
            for name in _ASSIGNED.findall(new_code(edit)):
                if name not in model.syntax.scopes[model.syntax.module].bindings:
                    return str(name)
    return None


def _functions(fix: Fix, model: SemanticModel) -> set[str]:
    """Return the paths of the functions and classes that a fix changes."""
    return {
        f"{model.symbols.module.module}.{model.syntax.qualname(node)}" for node in definitions(fix, model)
    }
