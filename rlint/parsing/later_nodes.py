"""Classes for the nodes of newer Pythons, whichever Python runs. The tree of a newer file is that of the
newest Python.
"""

from __future__ import annotations

import ast
from typing import Any


def _node(name: str, base: type[ast.AST], *fields: str) -> Any:
    """Return the class of the running Python, or one like it."""
    known = getattr(ast, name, None)
    return known if known is not None else type(name, (base,), {"_fields": fields, "__module__": "ast"})


_TYPE_PARAM = _node("type_param", ast.AST)
if not _TYPE_PARAM._attributes:
    _TYPE_PARAM._attributes = ast.expr._attributes

TYPE_ALIAS = _node("TypeAlias", ast.stmt, "name", "type_params", "value")
TYPE_VAR = _node("TypeVar", _TYPE_PARAM, "name", "bound", "default_value")
PARAM_SPEC = _node("ParamSpec", _TYPE_PARAM, "name", "default_value")
TYPE_VAR_TUPLE = _node("TypeVarTuple", _TYPE_PARAM, "name", "default_value")
TEMPLATE_STR = _node("TemplateStr", ast.expr, "values")
INTERPOLATION = _node("Interpolation", ast.expr, "value", "str", "conversion", "format_spec")

TYPE_PARAMETERS = (TYPE_VAR, PARAM_SPEC, TYPE_VAR_TUPLE)

LATER_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef), ("type_params",)),
    **dict.fromkeys(TYPE_PARAMETERS, ("default_value",)),
}
"""Fields of node classes in newer Pythons."""


def with_field(node: ast.AST, name: str, value: object) -> None:
    """Set a field that the node's class may lack in the running Python."""
    setattr(node, name, value)
    if name not in node._fields:
        vars(node)["_fields"] = (*node._fields, name)
