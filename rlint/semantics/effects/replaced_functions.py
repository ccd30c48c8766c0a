"""What the files of a project put in the place of its functions and methods while it runs."""

from __future__ import annotations

import ast

from rlint.models.value_type import TypeTag
from rlint.semantics.effects.namespace_writes import ANY_NAME
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.summary import ANY_CLASS

_MAY_BE_CALLED = frozenset(
    {TypeTag.CLASS, TypeTag.FUNCTION, TypeTag.INSTANCE, TypeTag.MODULE, TypeTag.UNKNOWN}
)


def replaced_in(analysis: FileAnalysis) -> frozenset[str]:
    """Return the dotted names of what a file sets in modules and classes, and the methods that it sets in
    objects: `package.module.Scorer.parse`, or `*.parse` where it is not known of what class the object
    is.
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
    return frozenset(found)


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
        return kind.of.removesuffix("()")  # of a class that other files may define
    return kind.of if kind.of and kind.tag in (TypeTag.INSTANCE, TypeTag.MODULE) else ANY_CLASS
