"""Spaces, and arrays of limits, that hot code creates from settings, constants or the ends of a space."""

from __future__ import annotations

import ast

from rlint.rule import (
    BindingKind,
    SemanticModel,
    Trait,
    TypeTag,
    last_name,
    models,
    regex,
    root_of,
)
from rlint.rules.computation.rl507_per_call_clip_bounds.bounds import (
    is_end,
    is_never_changed,
    is_of_fixed_space,
)

SPACES = models.giving(TypeTag.SPACE, "gym.spaces", "gymnasium.spaces")
_ARRAYS = models.having(Trait.FROM_DATA | Trait.JOINS | Trait.LEGACY, "numpy", "torch")
_FILLS = models.having(Trait.FILLS | Trait.REPEATS, "numpy", "torch")
_TO_NUMBER = models.having(Trait.TO_NUMBER, "builtins") | models.giving(TypeTag.NUMPY_SCALAR, "numpy")
_LIMIT = regex(r"(^|_)(low|high|lower|upper|min|max|minimum|maximum|bounds?|limits?)(er|s)?(_|$)")
_CASTS = models.having(Trait.CASTS_TO, TypeTag.NDARRAY) | {"new_tensor", "to"}
_SEQUENCES = frozenset({TypeTag.LIST, TypeTag.TUPLE, TypeTag.NDARRAY})
_DEPTH = 8


def made_again(call: ast.Call, model: SemanticModel) -> str | None:
    """Return what a call creates again from values that never change: "a space", "an array of limits"."""
    is_space = _is_space(call, model)
    if not (_has_bounds(call) if is_space else _of_limits(call, model)):
        return None
    if _is_kept(call, model) or _is_part(call, model) or not _settled(call, model, _DEPTH):
        return None
    return "a space" if is_space else "an array of limits"


def _is_space(call: ast.Call, model: SemanticModel) -> bool:
    return model.names.qualified(call.func) in SPACES


def _has_bounds(call: ast.Call) -> bool:
    return bool(call.args or call.keywords)


def _is_kept(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the result is stored in an attribute or item, which other code may read later."""
    statement = model.syntax.statement(call)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return isinstance(statement, (ast.ClassDef, ast.FunctionDef)) or any(
        isinstance(target, (ast.Attribute, ast.Subscript)) for target in targets
    )


def _is_part(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call is an argument of another one that is examined as a whole."""
    for above in model.ancestors(call):
        if isinstance(above, ast.Call) and (_is_space(above, model) or _of_limits(above, model)):
            return True
        if not isinstance(above, (ast.expr, ast.keyword)):
            return False
    return False


def _of_limits(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call converts limits: ends of a space in a list, or an item of a constant or a setting
    of that name. `recomputed-constant` covers the conversion of a setting by a library function.
    """
    name = model.names.qualified(call.func)
    converts = name in _ARRAYS or (
        name is None and isinstance(call.func, ast.Attribute) and call.func.attr == "new_tensor"
    )
    if not converts or not call.args:
        return False
    given = call.args[0]
    if isinstance(given, (ast.List, ast.Tuple)):
        return any(is_end(part, model) for part in given.elts)
    if isinstance(given, ast.Subscript):
        return isinstance(given.slice, ast.Constant) and bool(_LIMIT.search(str(given.slice.value).lower()))
    if name is not None or not isinstance(given, ast.Attribute) or is_end(given, model):
        return False
    is_sequence = model.types.type_of(given).tag in _SEQUENCES
    return is_sequence and bool(_LIMIT.search((last_name(given) or "").lower()))


def _settled(value: ast.expr, model: SemanticModel, depth: int) -> bool:
    """Whether a value is the same each time: it consists of constants, settings and ends of spaces."""
    if depth <= 0:
        return False
    match value:
        case ast.Constant():
            return True
        case ast.UnaryOp(operand=operand):
            return _settled(operand, model, depth - 1)
        case ast.BinOp(left=left, right=right):
            return _settled(left, model, depth - 1) and _settled(right, model, depth - 1)
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return all(_settled(part, model, depth - 1) for part in parts)
        case ast.Subscript(value=inner, slice=ast.Constant()):
            return _settled(inner, model, depth - 1)
        case ast.Name():
            return _name_is_settled(value, model, depth)
        case ast.Attribute():
            return _attribute_is_settled(value, model)
        case ast.Call(func=func, args=args, keywords=keywords):
            name = model.names.qualified(func)
            makes = name in SPACES or name in _ARRAYS or name in _FILLS or name in _TO_NUMBER
            given = [*args, *(each.value for each in keywords)]
            if name is None and isinstance(func, ast.Attribute) and func.attr in _CASTS:
                makes = True
                given += [] if func.attr == "new_tensor" else [func.value]
            return makes and all(_settled(part, model, depth - 1) for part in given)
    return False


def _name_is_settled(name: ast.Name, model: SemanticModel, depth: int) -> bool:
    bindings = model.names.bindings(name)
    if not bindings:
        return model.names.qualified(name) is not None
    if any(binding.kind is not BindingKind.ASSIGN for binding in bindings):
        return (
            all(binding.kind in (BindingKind.IMPORT, BindingKind.CLASS) for binding in bindings)
            and model.names.qualified(name) is not None
        )
    if len(bindings) > 1 or bindings[0].path:
        return False
    scope = model.names.scope(name).lookup(name.id)
    if scope is not None and isinstance(scope.node, ast.Module):
        return name.id.isupper()
    made = bindings[0].value
    return made is not None and _settled(made, model, depth - 1)


def _attribute_is_settled(attribute: ast.Attribute, model: SemanticModel) -> bool:
    if attribute.attr in ("device", "dtype") or model.names.qualified(attribute) is not None:
        return True
    if is_end(attribute, model):
        root = root_of(attribute)
        is_own = isinstance(root, ast.Name) and model.names.is_self(root)
        return is_own and is_of_fixed_space(attribute, model)
    return model.types.is_setting(attribute) and is_never_changed(attribute, model)
