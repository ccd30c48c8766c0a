"""Bounds of actions and observations that are recomputed each time from constants."""

from __future__ import annotations

import ast
from dataclasses import field

from rlint.rule import (
    LOOPS,
    AnyLoop,
    BindingKind,
    EscapeLevel,
    Heat,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    last_name,
    last_names,
    models,
    mutable,
    numbers,
    root_of,
)

CLIPS = models.names_having(Trait.LIMITS, "torch", "numpy", TypeTag.TENSOR)
_ENDS = frozenset({"low", "high", "minimum", "maximum", "nvec"})
_MAKERS = (
    models.having(
        Trait.FROM_DATA | Trait.LEGACY | Trait.ALLOCATES | Trait.JOINS | Trait.REPEATS, "torch", "numpy"
    )
    | {f"{library}.{name}" for library in ("numpy", "torch") for name in ("abs", "max", "mean", "min")}
    | {
        f"{library}.{name}"
        for library in ("numpy", "torch")
        for name in ("add", "divide", "multiply", "subtract")
    }
    | {"numpy.atleast_1d", "numpy.float32", "torch.atleast_1d", "torch.from_numpy"}
)
_METHODS = models.having(
    Trait.KEEPS_VALUES | Trait.KEEPS_ORDER | Trait.REPEATS, TypeTag.TENSOR, TypeTag.NDARRAY
) | {"max", "mean", "min"}
_PLAIN = models.having(Trait.TO_NUMBER, "builtins") | {"builtins.abs", "builtins.max", "builtins.min"}
MAKERS = last_names(*_MAKERS, *_PLAIN) | _METHODS
"""Functions that create bounds, by last name."""
_NUMBERS = frozenset(
    {
        TypeTag.INT,
        TypeTag.FLOAT,
        TypeTag.BOOL,
        TypeTag.STR,
        TypeTag.NONE,
        TypeTag.TUPLE,
        TypeTag.RANGE,
        TypeTag.NUMPY_SCALAR,
    }
)
_DEPTH = 5


@mutable
class ClipBound:
    """An expression that computes the same bounds each time.

    `arrays` are the attributes that it converts, `names` the variables of the function that it reads, `loose`
    the devices and dtypes that it takes from arguments. Names in `inlined` are replaced by attributes.
    """

    node: ast.expr
    arrays: list[ast.Attribute] = field(default_factory=list)
    names: list[ast.Name] = field(default_factory=list)
    loose: list[ast.Attribute] = field(default_factory=list)
    inlined: list[ast.Name] = field(default_factory=list)
    made: list[ast.expr] = field(default_factory=list)
    loop: AnyLoop | None = None


def bound_at(node: ast.expr, model: SemanticModel) -> ClipBound | None:
    """Return the bounds that an expression recomputes, with the loop before which they could be created."""
    found = ClipBound(node)
    if not _stays(node, found, model, _DEPTH) or not found.arrays or not found.made:
        return None
    loops = model.frequency.loops(node)
    if loops and not isinstance(loops[0], LOOPS):
        return None
    for loop in loops:
        if not isinstance(loop, LOOPS) or not _unbound_in(loop, found, model):
            break
        found.loop = loop
    if found.loop is not None:
        return found
    function = model.function(node)
    if found.names or function is None or model.class_of(node) is None:
        return None
    return found if model.frequency.heat_of(function.body[0]).level is Heat.HOT else None


def has_ends(model: SemanticModel) -> bool:
    """Whether the file names the bounds of any space."""
    return model.once(_names_ends, model.syntax.module)


def _names_ends(_module: ast.Module, model: SemanticModel) -> bool:
    return any(map(model.names.attribute_uses, _ENDS))


def is_end(node: ast.expr, model: SemanticModel) -> bool:
    """Whether an expression is an array of bounds from a space: `self.action_space.low`."""
    if not isinstance(node, ast.Attribute) or node.attr not in _ENDS:
        return False
    named = last_name(node.value) or ""
    return model.types.type_of(node.value).tag is TypeTag.SPACE or named.endswith("space")


def _unbound_in(loop: AnyLoop, found: ClipBound, model: SemanticModel) -> bool:
    inside = set(descendants(loop))
    if any(binding.node in inside for name in found.names for binding in model.dataflow.definitions(name)):
        return False
    attributes = {part.attr for array in found.arrays for part in _chain(array)}
    return not any(
        use in inside and not isinstance(use.ctx, ast.Load)
        for attribute in sorted(attributes)
        for use in model.names.attribute_uses(attribute)
    )


def _chain(node: ast.expr) -> list[ast.Attribute]:
    found = []
    while isinstance(node, ast.Attribute):
        found.append(node)
        node = node.value
    return found


def _stays(node: ast.expr, found: ClipBound, model: SemanticModel, depth: int) -> bool:
    """Whether it consists of constants, settings and the bounds of spaces."""
    if depth <= 0:
        return False
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp(operand=operand):
            if model.types.type_of(operand).tag not in _NUMBERS and not numbers.is_number(operand, model):
                found.made.append(node)
            return _stays(operand, found, model, depth - 1)
        case ast.BinOp(left=left, right=right):
            if not numbers.is_number(node, model):
                found.made.append(node)
            return _stays(left, found, model, depth - 1) and _stays(right, found, model, depth - 1)
        case ast.Name():
            return _name_stays(node, found, model, depth)
        case ast.Attribute():
            return model.names.qualified(node) is not None or _attribute_stays(node, found, model)
        case ast.Subscript(value=value, slice=ast.Constant() | ast.Slice(lower=None, upper=None)):
            return _stays(value, found, model, depth - 1)
        case ast.Call():
            return _call_stays(node, found, model, depth)
    return False


def _call_stays(call: ast.Call, found: ClipBound, model: SemanticModel, depth: int) -> bool:
    qualified = model.names.qualified(call.func)
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if any(keyword.arg in (None, "out", "requires_grad") for keyword in call.keywords):
        return False
    if qualified in _MAKERS:
        found.made.append(call)
    elif qualified is None and isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS:
        found.made.append(call)
        given.append(call.func.value)
    elif qualified not in _PLAIN:
        return False
    return all(_stays(part, found, model, depth - 1) for part in given)


def _attribute_stays(node: ast.Attribute, found: ClipBound, model: SemanticModel) -> bool:
    if node.attr in ("device", "dtype") and not model.types.is_setting(node):
        found.loose.append(node)
        return isinstance(node.value, (ast.Name, ast.Attribute))
    root = root_of(node)
    if not isinstance(root, ast.Name):
        return False
    own = model.names.is_self(root)
    if not own:
        found.names.append(root)
    if is_end(node, model):
        found.arrays.append(node)
        return is_of_fixed_space(node, model)
    if not own or not model.types.is_setting(node):
        return False
    kind = model.types.type_of(node)
    if kind.tag in (TypeTag.NDARRAY, TypeTag.LIST) and not kind.optional:
        found.arrays.append(node)
        return is_never_changed(node, model)
    return kind.tag in _NUMBERS | {TypeTag.DEVICE, TypeTag.DTYPE} or numbers.is_number(node, model)


def is_of_fixed_space(end: ast.Attribute, model: SemanticModel) -> bool:
    """Whether the space of a bound stays the same, if it belongs to the object itself."""
    space = _chain(end)[-1]
    if not model.names.is_self(space.value):
        return True
    return model.types.is_setting(space) or _is_inherited(space, model)


def _is_inherited(space: ast.Attribute, model: SemanticModel) -> bool:
    """Whether a wrapper has its space from the library's class: no code of this file sets the attribute."""
    cls = model.class_of(space)
    summary = model.module.classes.get(model.syntax.qualname(cls)) if cls is not None else None
    if summary is None or model.index.class_kind(summary).tag is not TypeTag.ENVIRONMENT:
        return False
    return all(isinstance(use.ctx, ast.Load) for use in model.names.attribute_uses(space.attr))


def _name_stays(name: ast.Name, found: ClipBound, model: SemanticModel, depth: int) -> bool:
    """Whether a name keeps its value: `low` after `low, high = self.action_space.low,
    self.action_space.high`; else a variable that is bound before the loop.
    """
    if model.names.qualified(name) is not None:
        return True
    definitions = model.dataflow.definitions(name)
    match definitions:
        case [only] if (
            only.kind is BindingKind.ASSIGN and not only.path and isinstance(only.value, ast.Attribute)
        ):
            inner = ClipBound(name)
            if _stays(only.value, inner, model, depth - 1) and inner.arrays and not inner.names:
                found.arrays += inner.arrays
                found.inlined.append(name)
                return True
    return False


def is_never_changed(attribute: ast.Attribute, model: SemanticModel) -> bool:
    """Whether no use of an attribute's name in this file changes the value in place."""
    uses = model.names.attribute_uses(attribute.attr)
    return all(model.dataflow.use_of(use).escape_level is not EscapeLevel.CHANGED for use in uses)
