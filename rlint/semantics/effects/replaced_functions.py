"""Functions and methods of a project that its files replace at run time."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.models.value_type import TypeTag
from rlint.semantics.effects.namespace_writes import ANY_NAME
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.summary import ANY_CLASS
from rlint.syntax.scopes import BindingKind
from rlint.syntax.walk import descendants

_MAY_BE_CALLED = frozenset(
    {TypeTag.CLASS, TypeTag.FUNCTION, TypeTag.INSTANCE, TypeTag.MODULE, TypeTag.UNKNOWN}
)


def replaced_in(analysis: FileAnalysis) -> frozenset[str]:
    """Return the dotted names that a file sets in modules and classes, and the methods that it sets in
    objects: `package.module.Scorer.parse`, or `*.parse` if the class of the object is unknown.
    """
    found = set(analysis.names.replaced)
    tree = analysis.syntax
    for store in tree.written.attribute_stores:
        statement = tree.parents.get(store)
        value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
        if value is None or isinstance(value, ast.Constant) or analysis.names.qualified(store) is not None:
            continue
        if analysis.types.type_of(value).tag in _MAY_BE_CALLED:
            found.add(f"{_class_of(store.value, analysis)}.{store.attr}")
    for owner, name in analysis.names.writes:
        if owner is not None and name != ANY_NAME and analysis.names.qualified(owner) is None:
            found.add(f"{_class_of(owner, analysis)}.{name}")
    found.update(_wrapped_by_name(analysis))
    found.update(_rebound_in_classes(analysis))
    found.update(_overridden_by_call(analysis))
    return frozenset(found)


def _wrapped_by_name(analysis: FileAnalysis) -> Iterator[str]:
    """Yield `package.module.Base.*` if a class replaces methods by names known only at run time:
    `setattr(self, name, traced(getattr(self, name)))`.
    """
    for call in analysis.syntax.written.calls_of(("setattr", "__setattr__")):
        name, value = (call.args[-2], call.args[-1]) if len(call.args) in (2, 3) else (None, None)
        if name is None or value is None or isinstance(name, ast.Constant):
            continue
        owner = call.args[0] if len(call.args) == 3 else getattr(call.func, "value", None)
        path = _class_of(owner, analysis) if isinstance(owner, ast.expr) else ANY_CLASS
        if path != ANY_CLASS and _is_function(value, analysis):
            yield f"{path}.{ANY_NAME}"


def _is_function(value: ast.expr, analysis: FileAnalysis) -> bool:
    """Whether a value is surely a function, or created from one that is looked up by name."""
    if isinstance(value, ast.Lambda) or analysis.types.type_of(value).tag is TypeTag.FUNCTION:
        return True
    looks_up = (node for node in descendants(value) if isinstance(node, ast.Call))
    return any(isinstance(call.func, ast.Name) and call.func.id == "getattr" for call in looks_up)


def _rebound_in_classes(analysis: FileAnalysis) -> Iterator[str]:
    """Yield the methods whose names a class body rebinds: `parse = traced(parse)`."""
    for cls in analysis.syntax.of_type(ast.ClassDef):
        for name, bindings in analysis.syntax.scopes[cls].bindings.items():
            kinds = {binding.kind for binding in bindings}
            if BindingKind.FUNCTION in kinds and BindingKind.ASSIGN in kinds:
                yield f"{analysis.name}.{analysis.syntax.qualname(cls)}.{name}"


def _overridden_by_call(analysis: FileAnalysis) -> Iterator[str]:
    """Yield the methods that a class created by a call overrides: `type("Traced", (Reward,), {"parse":
    f})`.
    """
    for call in analysis.syntax.written.calls_of(("type",)):
        match call.args:
            case [_, ast.Tuple(elts=bases), ast.Dict(keys=keys)]:
                names = [
                    each.value
                    for each in keys
                    if isinstance(each, ast.Constant) and isinstance(each.value, str)
                ]
                for base in filter(None, map(analysis.names.qualified, bases)):
                    yield from (f"{base}.{name}" for name in names)


def _class_of(owner: ast.expr, analysis: FileAnalysis) -> str:
    cls = analysis.names.class_of_self(owner) if isinstance(owner, ast.Name) else None
    if cls is not None:
        return f"{analysis.name}.{analysis.syntax.qualname(cls)}"
    if isinstance(owner, ast.Call) and isinstance(owner.func, ast.Name) and owner.func.id == "type":
        is_tensor = any(analysis.types.type_of(each).tag is TypeTag.TENSOR for each in owner.args)
        return "torch.Tensor" if is_tensor else ANY_CLASS
    kind = analysis.types.type_of(owner)
    if "{" in kind.of:
        return ANY_CLASS  # one of several
    if kind.tag is TypeTag.UNKNOWN and kind.of.endswith("()"):
        return kind.of.removesuffix("()")  # bases may be defined in other files
    return kind.of if kind.of and kind.tag in (TypeTag.INSTANCE, TypeTag.MODULE) else ANY_CLASS
