"""Calls that create tensors and arrays, and the expressions around them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    last_name,
    last_names,
    models,
    vocabulary,
)

OF_DATA = models.having(Trait.FROM_DATA | Trait.LEGACY, "torch", "numpy")
FILLED = frozenset(
    f"{library}.{name}" for library in ("torch", "numpy") for name in ("zeros", "ones", "full")
)
_OF_DISPLAYS = models.having(Trait.RESHAPES | Trait.REPEATS | Trait.JOINS, "numpy")
"""Functions that create an array from a list written in the call: `np.expand_dims([1, 2], axis=1)`."""
MAKERS = OF_DATA | FILLED | models.having(Trait.FROM_NUMBERS, "torch", "numpy")
CALLED = MAKERS | _OF_DISPLAYS
HELPERS = last_names(*OF_DATA, "torch.from_numpy") | vocabulary.CONVERTS_TO_TENSOR
"""Names of functions of programs that create a tensor from their argument."""
ARRAYS = (TypeTag.TENSOR, TypeTag.NDARRAY)
_AT_ONCE = FILLED | {"numpy.arange"}
_STOPS = (
    *(ast.Lambda, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp, ast.Compare, ast.BoolOp),
    *(ast.Dict, ast.Set, ast.NamedExpr, ast.IfExp, ast.FormattedValue, ast.JoinedStr),
)
_FEW = 3
_LIBRARIES = ("torch.", "numpy.")


def is_maker(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call creates a tensor or an array from its arguments."""
    qualified = model.names.qualified(call.func) or ""
    if is_helper(call, model):
        return True
    if qualified in _OF_DISPLAYS:
        return bool(call.args) and isinstance(call.args[0], (ast.List, ast.Tuple)) and _is_of_numbers(call)
    if qualified not in MAKERS:
        return False
    if not qualified.endswith("Tensor"):
        return True
    # `torch.FloatTensor(3, 4)` is a size
    match call.args:
        case [ast.Attribute(attr="high" | "low")]:
            return True  # of a space
    return bool(call.args) and isinstance(call.args[0], (ast.List, ast.Tuple, ast.ListComp))


def is_helper(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call is that of a function of the program that only creates a tensor from its arguments:
    `ptu.from_numpy(values)`. Functions that fill memory are cheap.
    """
    if last_name(call.func) not in HELPERS or not call.args or isinstance(call.args[0], ast.Starred):
        return False
    if (model.names.qualified(call.func) or "").startswith(_LIBRARIES):
        return False
    targets = model.types.call_targets(call)
    return (
        bool(targets)
        and not any("." in target.qualname for target in targets)
        and model.types.type_of(call).tag is TypeTag.TENSOR
        and model.effects.call_effect(call).quiet
    )


def _is_of_numbers(call: ast.Call) -> bool:
    """Whether the display in the argument contains numbers, not arrays to concatenate."""
    return all(
        isinstance(part, (ast.Constant, ast.List, ast.Tuple, ast.UnaryOp, ast.unaryop, ast.expr_context))
        for part in descendants(call.args[0])
    )


def is_computed_maker(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call computes a whole tensor or array, or copies numbers to a device, rather than creating
    one from a few literals or filling memory.
    """
    qualified = model.names.qualified(call.func) or ""
    if qualified in OF_DATA and qualified.startswith("numpy.") and _is_moved(call, model):
        return True
    if qualified in FILLED or not takes_time(call, model):
        return False
    if qualified not in OF_DATA:
        return True
    if qualified.startswith("numpy."):
        return False
    return any(keyword.arg == "device" for keyword in call.keywords) or _is_moved(call, model)


def _is_moved(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the result is moved to a device, directly or wrapped: `Variable(torch.tensor(1.0)).cuda()`."""
    for around in model.ancestors(call):
        if not isinstance(around, (ast.Call, ast.Attribute)):
            return False
        if isinstance(around, ast.Attribute) and around.attr in ("to", "cuda"):
            return True
    return False


def takes_time(call: ast.Call, model: SemanticModel) -> bool:
    """Whether it is expensive: not `np.array([0.0])`, `np.arange(n)` and tensors that are only filled."""
    qualified = model.names.qualified(call.func) or ""
    if qualified in _AT_ONCE:
        return False
    if qualified in _OF_DISPLAYS:
        return True
    match call.args:
        case [ast.List(elts=[]) | ast.Tuple(elts=[]), *_]:
            return False
        case [ast.List(elts=elements) | ast.Tuple(elts=elements), *_] if qualified.startswith("numpy."):
            return len(elements) >= _FEW or any(isinstance(part, (ast.List, ast.Tuple)) for part in elements)
        case [ast.Constant(), *_] if qualified.startswith("numpy."):
            return qualified not in OF_DATA
    return True


def indexes_tensor(made: ast.expr, model: SemanticModel) -> bool:
    """Whether a consecutive array of numpy selects rows of a tensor, which converts it and copies it to the
    device each time: `rows = np.arange(n)`, `values[rows, actions]`.
    """
    if not isinstance(made, ast.Call) or model.names.qualified(made.func) != "numpy.arange":
        return False
    reads: list[ast.expr] = [made]
    match model.parent(made):
        case ast.Assign(targets=[ast.Name() as target]):
            scope = model.names.scope(target).lookup(target.id)
            reads = [*model.names.reads(target.id, scope)] if scope is not None else []
    return any(_is_index_of_tensor(read, model) for read in reads)


def _is_index_of_tensor(read: ast.expr, model: SemanticModel) -> bool:
    index = read
    outer = model.parent(read)
    if isinstance(outer, ast.Tuple):
        index, outer = outer, model.parent(outer)
    match outer:
        case ast.Subscript(value=owner, slice=used, ctx=ast.Load()) if used is index:
            return model.types.type_of(owner).tag is TypeTag.TENSOR
    return False


def around(call: ast.Call, model: SemanticModel) -> Iterator[ast.expr]:
    """Yield the expressions that contain a call, from the inside, as long as they are evaluated once at their
    position.
    """
    child: ast.AST = call
    for node in model.ancestors(call):
        if isinstance(node, (ast.keyword, ast.Slice, ast.Starred)):
            child = node
            continue
        if not isinstance(node, ast.expr) or isinstance(node, _STOPS):
            return
        called = model.syntax.call_of(node) is not None
        if not called and not (isinstance(node, ast.Subscript) and node.slice is child):
            yield node
        child = node
