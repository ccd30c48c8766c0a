"""How a storage is used: written row by row, read as float32, or otherwise."""

from __future__ import annotations

import ast

from rlint.rule import (
    FUNCTIONS,
    EffectKind,
    SemanticModel,
    Trait,
    TypeTag,
    Use,
    UseKind,
    array_growth,
    descendants,
    element_types,
    legacy_tensors,
    models,
)

_TYPED = models.having(Trait.FROM_DATA, "torch", "numpy")
_KEEPS = frozenset({"torch.from_numpy", "torch.tensor", "torch.as_tensor", "numpy.take"}).union(
    models.having(Trait.KEEPS_ORDER, "numpy"),
    models.having(Trait.PERMUTES, "numpy"),
    models.having(Trait.MIRRORS, "numpy"),
    models.having(Trait.COPIES, "numpy"),
    models.having(Trait.FROM_DATA, "numpy"),
)
_JOINS = models.having(Trait.JOINS, "numpy", "torch")
"""These return their elements with the same dtype, unless they are given another one."""
_TWINS = models.having(Trait.COPIES, "numpy") | models.having(Trait.FILLS_LIKE, "numpy") | {"numpy.array"}
_MEASURES = models.FORM_ATTRIBUTES
_WANTED = ("float32", element_types.DEFAULT)
_SAVES = models.doing(EffectKind.FILE_IO, "numpy", "torch", "pickle")
_LIBRARIES = ("torch.", "numpy.", "builtins.")
OTHER = "another"
"""Result of `read_as` for rows that a condition converts to one of several dtypes."""
HANDED_OUT = "returned"
"""Result of `read_as` for rows that a function returns unconverted."""


def is_row_written(use: ast.expr, model: SemanticModel) -> bool:
    """Whether a statement is `storage[i] = row`, `storage[i][j] = row` or `np.copyto(storage[i], row)`."""
    part = _outermost(use, model)
    if part is use:
        return False
    if isinstance(getattr(part, "ctx", None), ast.Store):
        return not isinstance(model.parent(part), ast.AugAssign)
    return _is_copied_to(part, model)


def _outermost(use: ast.expr, model: SemanticModel) -> ast.expr:
    """Return `storage[i][j]` of `storage`, or `storage` itself if it is not indexed."""
    part = use
    while isinstance(parent := model.parent(part), ast.Subscript) and parent.value is part:
        part = parent
    return part


def _is_copied_to(rows: ast.expr, model: SemanticModel) -> bool:
    """Whether rows are the destination of `np.copyto`."""
    call = model.parent(rows)
    return (
        isinstance(call, ast.Call)
        and call.args[:1] == [rows]
        and model.names.qualified(call.func) == "numpy.copyto"
    )


def is_counted_up(use: ast.expr, model: SemanticModel) -> bool:
    """Whether a statement computes in the storage, like `storage[i] += 1`."""
    part = _outermost(use, model)
    change = model.parent(part)
    return isinstance(change, ast.AugAssign) and change.target is part


def read_as(use: ast.expr, model: SemanticModel, *, twins: bool = True) -> str | None:
    """Return the dtype to which all reads convert the storage, or rows of it; `HANDED_OUT` if rows are
    returned; "" if they are used otherwise; None if they are not read, or only saved. With `twins`, a copy
    that becomes another storage is read as that one.
    """
    if not isinstance(getattr(use, "ctx", None), ast.Load) or _is_saved(use, model):
        return None
    match model.parent(use):
        case ast.Subscript(value=owner, ctx=context) as part if owner is use:
            if not isinstance(context, ast.Load) or _is_saved(part, model) or is_row_written(use, model):
                return None
            if _is_copied_along(part, model) or _is_copied_to(part, model) or _is_shifted(part, model):
                return None
            return _becomes(part, model) or (HANDED_OUT if _is_handed_out(part, model) else "")
        case ast.Attribute(attr=attribute) if attribute in _MEASURES:
            return None
        case ast.Call(func=func) if model.names.qualified(func) == "builtins.len":
            return None
    if _is_shifted(use, model):
        return None
    if twins and (twin := _twin_of(use, model)) is not None:
        reads = {read_as(each, model, twins=False) for each in model.names.attribute_uses(twin.attr)} - {None}
        return reads.pop() if len(reads) == 1 else "" if reads else None
    return _becomes(use, model) or ""


def _twin_of(storage: ast.expr, model: SemanticModel) -> ast.Attribute | None:
    """Return the attribute that is assigned a copy of a storage, or another array of its form:
    `self.next_rows = np.array(self.rows)`, `self.next_rows = np.zeros_like(self.rows)`.
    """
    made = model.parent(storage)
    match made:
        case ast.Attribute(attr="copy"):
            made = model.syntax.call_of(made)
        case ast.Call(args=[first], keywords=[]) if first is storage:
            if model.names.qualified(made.func) not in _TWINS:
                return None
        case _:
            return None
    match model.parent(made) if made is not None else None:
        case ast.Assign(targets=[ast.Attribute() as twin]):
            return twin
    return None


def _is_saved(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is an argument of a call that writes it to a file."""
    call = model.parent(value)
    if isinstance(call, ast.keyword):
        call = model.parent(call)
    return isinstance(call, ast.Call) and model.names.qualified(call.func) in _SAVES


def _is_handed_out(rows: ast.expr, model: SemanticModel) -> bool:
    """Whether a function returns rows, directly or through a variable or list."""
    uses = _uses_of_rows(rows, model)
    return bool(uses) and all(
        use.kind is UseKind.RETURNED or isinstance(use.at, (ast.Yield, ast.YieldFrom)) for use in uses
    )


def _uses_of_rows(rows: ast.expr, model: SemanticModel) -> list[Use]:
    """Return the uses of rows, and of the tuples and local lists that contain them."""
    found: list[Use] = []
    for use in model.dataflow.uses(rows):
        match use.kind, use.at:
            case UseKind.ELEMENT, (ast.Tuple() | ast.Dict() | ast.DictComp()) as parts:
                found += _uses_of_container(parts, model)
            case UseKind.ARGUMENT, ast.Call() as call if _is_record(call, model):
                found += _uses_of_container(call, model)
            case UseKind.ARGUMENT, ast.Call(func=ast.Attribute(value=ast.Name() as store, attr="append")):
                kept = [each for read in _other_reads(store, model) for each in _uses_of_rows(read, model)]
                found += kept or [use]
            case _ if not _reads_nothing(use):
                found.append(use)
    return found


def _is_record(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call puts its arguments into a dict, or into an object that only holds them."""
    if model.names.qualified(call.func) == "builtins.dict":
        return True
    kind = model.types.type_of(call)
    if kind.tag is TypeTag.TUPLE:
        return True
    made = model.types.class_of_value(call) if kind.tag is TypeTag.INSTANCE else None
    return made is not None and "__init__" not in made.methods


def _uses_of_container(container: ast.expr, model: SemanticModel) -> list[Use]:
    """Return the uses of a tuple or dict of rows, except those that add other items or only read its keys."""
    return [use for use in model.dataflow.uses(container) if not _reads_nothing(use)]


def _reads_nothing(use: Use) -> bool:
    match use.kind, use.at:
        case UseKind.ITEM, ast.Subscript(ctx=ast.Store()):
            return True
        case UseKind.METHOD, ast.Call(func=ast.Attribute(attr="keys" | "update" | "setdefault")):
            return True
    return False


def _is_copied_along(rows: ast.Subscript, model: SemanticModel) -> bool:
    """Whether rows are copied to the same storage of another object: `self.rows[:n] = other.rows[:n]`."""
    value: ast.expr = rows
    match model.parent(rows):
        case ast.Attribute(attr="copy") as called if (call := model.syntax.call_of(called)) is not None:
            value = call
    match model.parent(value), rows.value:
        case ast.Assign(targets=[ast.Subscript(value=ast.Attribute(attr=kept))]), ast.Attribute(attr=read):
            return kept == read
    return False


def _is_shifted(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a storage is assigned its own elements, moved: `self.rows = np.roll(self.rows, -1)`."""
    stored = value.value if isinstance(value, ast.Subscript) else value
    if isinstance(stored, ast.Subscript):
        stored = stored.value
    match model.parent(value):
        case ast.Call(func=func, args=[first, *_]) as call if first is value:
            if model.names.qualified(func) not in _KEEPS:
                return False
        case _:
            return False
    match model.parent(call):
        case ast.Assign(targets=[target], value=assigned) if assigned is call:
            while isinstance(target, ast.Subscript):
                target = target.value
            return isinstance(target, (ast.Name, ast.Attribute)) and array_growth.same_place(target, stored)
    return False


def _other_reads(store: ast.Name, model: SemanticModel) -> list[ast.Name]:
    """Return the reads of a local list except those that append to it."""
    scope = model.names.scope(store).lookup(store.id)
    if scope is None or not scope.is_function:
        return []
    return [read for read in model.names.reads(store.id, scope) if not _is_appended_to(read, model)]


def _is_appended_to(read: ast.Name, model: SemanticModel) -> bool:
    parent = model.parent(read)
    return isinstance(parent, ast.Attribute) and parent.attr == "append"


def _becomes(value: ast.expr, model: SemanticModel) -> str:
    """Return the dtype to which all uses convert a value, "" if they differ or do not convert it."""
    return _converted(value, model, set()) or ""


def _converted(value: ast.expr, model: SemanticModel, seen: set[ast.expr]) -> str | None:
    """Return the dtype to which all uses convert a value. A value may reach itself (`batch["next"] =
    batch["states"][1:]`): None if it was seen already, with all of its uses.
    """
    if value in seen:
        return None
    seen.add(value)
    uses = model.dataflow.uses(value)
    found = {made for use in uses if (made := _made_of(use, model, seen)) is not None}
    if uses and not found:
        return None
    return found.pop() if len(found) == 1 else ""


def _made_of(use: Use, model: SemanticModel, seen: set[ast.expr]) -> str | None:
    match use.kind, use.at:
        case UseKind.ATTRIBUTE, ast.expr() as part:
            return _converted(part, model, seen)
        case UseKind.METHOD, ast.Call(func=ast.Attribute(attr=method)) as call:
            return _cast(call, method, model) or _converted(call, model, seen)
        case UseKind.ARGUMENT, ast.Call(func=func) as call:
            if use.node not in call.args:
                return _of_collection(call, model)
            called = model.names.qualified(func)
            made = _made(call, model)
            if made or called in _KEEPS:
                return made or _converted(call, model, seen)
            return _by_project(call, model)
        case UseKind.ITEM, ast.Subscript(ctx=ast.Load()) as part:
            return _converted(part, model, seen)
        case UseKind.ELEMENT, (ast.List() | ast.Tuple()) as parts if (
            joined := _joining(parts, model)
        ) is not None:
            return _converted(joined, model, seen)
        case UseKind.ELEMENT, (ast.Dict() | ast.Tuple()) as parts:
            return _of_collection(parts, model)
    return ""


def _joining(parts: ast.AST, model: SemanticModel) -> ast.Call | None:
    """Return the call that concatenates the arrays of a display."""
    call = model.parent(parts)
    if not isinstance(call, ast.Call) or call.args[:1] != [parts]:
        return None
    return call if model.names.qualified(call.func) in _JOINS else None


def _by_project(call: ast.Call, model: SemanticModel) -> str:
    """Return the dtype of the tensor that a function of the project, or a lambda, creates."""
    made = model.types.type_of(call)
    if made.tag is not TypeTag.TENSOR or (model.names.qualified(call.func) or "").startswith(_LIBRARIES):
        return ""
    return made.dtype


def _made(call: ast.Call, model: SemanticModel) -> str:
    maker = model.names.qualified(call.func) or ""
    if maker in legacy_tensors.CLASSES:
        return legacy_tensors.class_dtype(maker)
    if maker not in _TYPED:
        return ""
    named = [keyword.value for keyword in call.keywords if keyword.arg == "dtype"]
    named += call.args[1:2] if maker.startswith("numpy.") else []
    return _dtype(named[0], model) if named else ""


def _dtype(given: ast.expr, model: SemanticModel) -> str:
    """Return the dtype that an argument names, `OTHER` if a condition selects one of several."""
    if isinstance(given, ast.IfExp):
        first, second = _dtype(given.body, model), _dtype(given.orelse, model)
        return first if first == second else OTHER
    found: str = model.analysis.types.dtype_of(given)
    return found


def _cast(call: ast.Call, method: str, model: SemanticModel) -> str:
    if method in element_types.CASTS and not call.args:
        return element_types.CASTS[method]
    if method in ("to", "astype", "type"):
        named = [keyword.value for keyword in call.keywords if keyword.arg == "dtype"]
        for argument in (*named, *call.args):
            found = model.analysis.types.dtype_of(argument)
            if found:
                return found
    return ""


def _of_collection(node: ast.AST, model: SemanticModel) -> str:
    """Return the dtype to which a comprehension of the same function converts all parts of the dict or
    tuple.
    """
    around = next((parent for parent in model.ancestors(node) if isinstance(parent, FUNCTIONS)), None)
    if around is None or not _is_dict(node, model):
        return ""
    found = set()
    for inner in descendants(around):
        match inner:
            case ast.DictComp(value=ast.Call() as made) | ast.ListComp(elt=ast.Call() as made):
                found.add(_made(made, model) or _by_project(made, model))
    return found.pop() if len(found) == 1 else ""


def _is_dict(node: ast.AST, model: SemanticModel) -> bool:
    if isinstance(node, ast.Call):
        return model.names.qualified(node.func) == "builtins.dict"
    return isinstance(node, (ast.Dict, ast.Tuple))


def is_float32(dtype: str | None) -> bool:
    """Whether a dtype is float32, or torch's default dtype, which usually is float32."""
    return dtype in _WANTED
