"""Collections of constants that a function builds on each call, only to look up a value in them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.rule import Edit, SemanticModel, frozen, last_name
from rlint.rules.computation._shared.regex_constants import exported

_SETS = frozenset({"builtins.set", "builtins.frozenset"})
_FEWEST = 3
"""Fewer items than this are built as fast as a global name is read."""
_MAY_COLLECT = (ast.Call, ast.List, ast.Set, ast.Dict)
_FEWEST_IN_LIST = 8


@frozen
class Searched:
    """A collection that is only searched: its kind, and how to build it once (None: by hand).

    `name` is its name in the program, or "" if it is written in the expression that searches it; `constant`
    its name at module level.
    """

    what: str
    name: str
    constant: str
    edits: tuple[Edit, ...] | None


def bound(statement: ast.Assign | ast.AnnAssign, model: SemanticModel) -> Searched | None:
    """Return the collection that a statement binds to a local variable which is only searched."""
    value = statement.value
    if not isinstance(value, _MAY_COLLECT):
        return None
    match statement:
        case ast.Assign(targets=[ast.Name() as target]) | ast.AnnAssign(target=ast.Name() as target):
            what = _collection(value, model)
        case _:
            return None
    if not what:
        return None
    scope = model.names.scope(target)
    if not scope.is_function or target.id in scope.globals | scope.nonlocals:
        return None
    reads = model.names.reads(target.id, scope)
    if (
        not reads
        or len(model.names.uses(target.id, scope)) != len(reads) + 1
        or model.names.is_captured(target.id, scope)
    ):
        return None
    for read in reads:
        if (
            not _is_search(read, model, keyed=what == "dict")
            or model.dataflow.between(statement, read) is None
        ):
            return None
    name = model.importer.fresh_name(
        exported(target.id.upper().lstrip("_") or "CONSTANTS", model), str(model.source.span(target))
    )
    made = _defined(
        name,
        value,
        model,
        after=model.source.trailing_comment(statement),
        above=model.source.own_comment(statement),
    )
    deleted = model.edit.delete_statement(statement, comment=True)
    edits = None
    if made is not None and deleted is not None and all(model.edit.is_relocatable(read) for read in reads):
        edits = (*made, deleted, *(model.edit.replace(read, name) for read in reads))
    return Searched(what, target.id, name, edits)


def in_place(display: ast.Dict, model: SemanticModel) -> Searched | None:
    """Return the dict of constants that is written in the expression that looks up a value in it."""
    if not _is_search(display, model, keyed=True) or _collection(display, model) != "dict":
        return None
    if model.function(display) is None:
        return None
    name = model.importer.fresh_name(
        exported(_table_name(display, model), model), str(model.source.span(display))
    )
    made = _defined(name, display, model) if model.edit.is_relocatable(display) else None
    edits = (*made, model.edit.replace(display, name)) if made is not None else None
    return Searched("dict", "", name, edits)


def membership(compare: ast.Compare, model: SemanticModel) -> list[tuple[ast.Call, Edit | None]]:
    """Return the calls of `set` on constants to the right of `in`, each with its edit to a display, which
    Python compiles to a constant.
    """
    found: list[tuple[ast.Call, Edit | None]] = []
    for operator, right in zip(compare.ops, compare.comparators, strict=True):
        if not isinstance(operator, (ast.In, ast.NotIn)) or not isinstance(right, ast.Call):
            continue
        given = _made_set_of(right, model)
        if given is not None and given.elts:
            found.append((right, _as_display(right, given, model)))
    return found


def _made_set_of(value: ast.expr, model: SemanticModel) -> ast.List | ast.Tuple | ast.Set | None:
    """Return the constants in `set(...)` or `frozenset(...)`."""
    match value:
        case ast.Call(func=func, args=[ast.List() | ast.Tuple() | ast.Set() as given], keywords=[]):
            if model.names.qualified(func) in _SETS and all(_is_constant(item) for item in given.elts):
                return given
    return None


def _as_display(call: ast.Call, given: ast.List | ast.Tuple | ast.Set, model: SemanticModel) -> Edit | None:
    text = model.source.text(given)
    if text[:1] not in "[({" or not model.edit.is_relocatable(call):
        return None
    return model.edit.replace(call, f"{{{text[1:-1]}}}")


def _collection(value: ast.expr, model: SemanticModel) -> str:
    """Return the kind of a value: a list, set or dict with enough constants that building it matters, or
    "".
    """
    match value:
        case ast.List(elts=items):
            enough = len(items) >= _FEWEST_IN_LIST
            return "list" if enough and all(map(_is_constant, items)) else ""
        case ast.Set(elts=items):
            return "set" if len(items) >= _FEWEST and all(map(_is_constant, items)) else ""
        case ast.Dict(keys=keys, values=values):
            parts = [*keys, *values]
            constant = all(part is not None and _is_constant(part) for part in parts)
            return "dict" if constant and len(keys) >= _FEWEST else ""
    given = _made_set_of(value, model)
    return "set" if given is not None and len(given.elts) >= _FEWEST else ""


def _is_constant(value: ast.expr) -> bool:
    """Whether this is an immutable literal."""
    match value:
        case ast.Constant():
            return True
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float())):
            return True
        case ast.Tuple(elts=items):
            return all(map(_is_constant, items))
    return False


def _is_search(read: ast.expr, model: SemanticModel, *, keyed: bool) -> bool:
    """Whether an expression only looks up a value in the collection that it reads."""
    match model.parent(read):
        case ast.Compare(ops=operators, comparators=right) if read in right:
            # between two other operators, it would be compared with the next operand, too
            return isinstance(operators[-1], (ast.In, ast.NotIn)) and read is right[-1]
        case ast.Subscript(value=owner, ctx=ast.Load()) if owner is read:
            return keyed
        case ast.Attribute(attr="get") as method:
            return keyed and model.syntax.call_of(method) is not None
    return False


def _defined(
    name: str, value: ast.expr, model: SemanticModel, *, after: str = "", above: Sequence[str] = ()
) -> tuple[Edit, ...] | None:
    """Define the constant at module level, with the comments `after` and `above` it."""
    return model.importer.module_constant(
        name,
        model.source.text(value) + after,
        user=value,
        comment=above,
        indentation=model.source.indentation(model.syntax.statement(value)),
    )


def _table_name(display: ast.Dict, model: SemanticModel) -> str:
    """Return a name for a table: `REWARD_BY_LEVEL` for `reward = {...}[level]`."""
    parent = model.parent(display)
    key: ast.expr | None = None
    if isinstance(parent, ast.Subscript):
        key = parent.slice
    elif isinstance(parent, ast.Attribute):
        parent = model.parent(parent)
        key = parent.args[0] if isinstance(parent, ast.Call) and parent.args else None
    by = last_name(key) if key is not None else None
    match model.parent(parent) if parent is not None else None:
        case ast.Assign(targets=[ast.Name() | ast.Attribute() as target]):
            what = last_name(target)
        case _:
            what = None
    function = model.function(display)
    words = (what or (function.name if function is not None else "") or "table").strip("_")
    return (f"{words}_BY_{by.strip('_')}" if by and by != words else f"{words}_TABLE").upper()
