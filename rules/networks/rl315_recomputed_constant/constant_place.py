"""Places where a constant tensor can be built once: before a loop, in the constructor, in the module."""

from __future__ import annotations

import ast

from rlint.rule import (
    FUNCTIONS,
    AnyLoop,
    Enum,
    Function,
    Heat,
    SemanticModel,
    TypeTag,
    descendants,
    frozen,
    trip_count,
)
from rlint.rules.networks.rl315_recomputed_constant.constant import Hoisted
from rlint.rules.networks.rl315_recomputed_constant.makers import is_computed_maker, is_maker

_FEW_PASSES = 2


class ConstantPlaceKind(Enum):
    """The places where a constant can be built."""

    LOOP = "before a loop"
    OBJECT = "in the constructor"
    NETWORK = "as a buffer of a network"
    MODULE = "at module level"


@frozen
class ConstantPlace:
    """Where a constant is built; `loop` is the loop before which it is built."""

    kind: ConstantPlaceKind
    loop: AnyLoop | None = None


def constant_place(found: Hoisted, model: SemanticModel) -> ConstantPlace | None:
    """Return a place where a constant is built less often; None if there is none."""
    loop = _outermost(found, model)
    if found.names:
        return ConstantPlace(ConstantPlaceKind.LOOP, loop) if loop is not None else None
    function = model.function(found.node)
    often = function is not None and model.frequency.heat_of(function.body[0]).level is Heat.HOT
    if not often:
        return ConstantPlace(ConstantPlaceKind.LOOP, loop) if loop is not None else None
    cls = model.class_of(found.node)
    if cls is not None and (_is_made_per_step(cls, model) or _is_constructor(function)):
        depends = found.settings or found.devices or not _is_costly(found, model)
        return None if depends else ConstantPlace(ConstantPlaceKind.MODULE)
    if cls is None or (not found.settings and not found.devices and _takes_no_self(found, model)):
        return ConstantPlace(ConstantPlaceKind.MODULE)
    tensor = model.types.type_of(found.node).tag is TypeTag.TENSOR
    summary = model.module.classes.get(model.syntax.qualname(cls))
    network = summary is not None and model.index.class_kind(summary).tag is TypeTag.MODULE
    return ConstantPlace(ConstantPlaceKind.NETWORK if network and tensor else ConstantPlaceKind.OBJECT)


def _takes_no_self(found: Hoisted, model: SemanticModel) -> bool:
    function = model.function(found.node)
    if function is None or not function.args.args:
        return True
    uses = model.names.reads(function.args.args[0].arg, model.syntax.scopes[function])
    return not any(model.names.is_self(use) for use in uses)


def _is_constructor(function: Function | None) -> bool:
    return function is not None and function.name == "__init__"


def _is_costly(found: Hoisted, model: SemanticModel) -> bool:
    """Whether the tensor is computed or copied to a device, which is worth keeping outside of the object."""
    return any(
        isinstance(part, ast.Call) and is_maker(part, model) and is_computed_maker(part, model)
        for part in descendants(found.node)
    )


def _is_made_per_step(cls: ast.ClassDef, model: SemanticModel) -> bool:
    """Whether an object is created per step, as distributions are."""
    summary = model.module.classes.get(model.syntax.qualname(cls))
    bases = model.index.ancestry(summary) if summary is not None else []
    return any(isinstance(base, str) and base.startswith("torch.distributions.") for base in bases)


def _outermost(found: Hoisted, model: SemanticModel) -> AnyLoop | None:
    """Return the outermost loop of the function out of which the expression, which runs in each iteration,
    can be moved.
    """
    outermost = None
    child: ast.AST = found.node
    for node in model.ancestors(found.node):
        if isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            break
        if isinstance(node, (ast.If, ast.IfExp, ast.Try, ast.BoolOp, ast.Match)) and child is not getattr(
            node, "test", None
        ):
            break
        if isinstance(node, (ast.For, ast.While, ast.ListComp)) and node in model.frequency.loops(found.node):
            if not _stays(found, node, model):
                break
            outermost = node if _is_long(node, model) else outermost
        child = node
    return outermost


def _is_long(loop: AnyLoop, model: SemanticModel) -> bool:
    count = trip_count.passes(loop, model)
    return not trip_count.over_components(loop, model) and (count is None or count > _FEW_PASSES)


def _stays(found: Hoisted, loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether the loop binds or sets nothing that the expression reads."""
    inside = set(descendants(loop))
    names = [*found.names, *found.selected, *(name for device in found.devices for name in _names_in(device))]
    if any(binding.node in inside for name in names for binding in model.dataflow.definitions(name)):
        return False
    return not any(
        use in inside and not isinstance(use.ctx, ast.Load)
        for attribute in found.loose
        for use in model.names.attribute_uses(attribute.attr)
    )


def _names_in(expression: ast.expr) -> list[ast.Name]:
    return [node for node in descendants(expression) if isinstance(node, ast.Name)]
