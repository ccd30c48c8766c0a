"""Whether a value surely ends without a gradient, by uses that are all in sight."""

from __future__ import annotations

import ast

from rlint.rule import EffectKind, SemanticModel, Trait, TypeTag, gradient_sinks, models
from rlint.rules.networks._shared.operands import ENDS

_ENDS = (
    ENDS
    | models.having(Trait.NEEDS_NO_GRADIENT, TypeTag.TENSOR)
    | models.having(Trait.DETACHES, TypeTag.DISTRIBUTION)
)
_END_FUNCTIONS = models.having(Trait.GIVES_INDEX | Trait.COMPARES | Trait.DETACHES, "torch")
_CONVERTS = models.having(Trait.TO_NUMBER, "builtins")
_MEASURES = models.having(Trait.MEASURES, TypeTag.TENSOR)
_DEPTH = 12


def surely_ends(value: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> bool:
    """Whether all uses of a value are operations that end its graph, directly or after operations that only
    compute. Stricter than `model.gradients.sinks`, which follows values as far as is likely: nothing is kept
    in containers, passed to other code, or written into another tensor.
    """
    if depth == 0:
        return False
    around = model.parent(value)
    match around:
        case ast.Attribute(attr=name) if name in _MEASURES:
            return True
        case ast.Attribute(attr="data") if model.types.type_of(value).tag is TypeTag.TENSOR:
            return True
        case ast.Attribute(attr=name):
            call = model.parent(around)
            if not isinstance(call, ast.Call) or call.func is not around:
                return False
            if name in _ENDS:
                return True
            known = models.method_fact(TypeTag.TENSOR, name) or models.method_fact(TypeTag.DISTRIBUTION, name)
            computes = known is not None and known.effect.does_only(EffectKind.DRAWS)
            return computes and not models.is_in_place(name) and surely_ends(call, model, depth - 1)
        case ast.Subscript(value=owner) if owner is value and isinstance(around.ctx, ast.Load):
            return surely_ends(around, model, depth - 1)
        case ast.Subscript():
            return True  # an index
        case ast.Compare():
            return True
        case ast.BinOp() | ast.UnaryOp() | ast.IfExp():
            return surely_ends(around, model, depth - 1)
        case ast.Call() if value in around.args:
            return _ends_in_call(value, around, model, depth)
        case ast.List() | ast.Tuple() if isinstance(outer := model.parent(around), ast.Call):
            return _ends_in_call(value, outer, model, depth)
        case ast.keyword():
            call = model.parent(around)
            return isinstance(call, ast.Call) and _ends_in_call(value, call, model, depth)
        case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
            return _ends_as(target, model, depth)
        case ast.Expr() | ast.If() | ast.While() | ast.Assert():
            return True
    return False


def _ends_in_call(value: ast.expr, call: ast.Call, model: SemanticModel, depth: int) -> bool:
    qualified = model.names.qualified(call.func) or ""
    if qualified in _END_FUNCTIONS or qualified in _CONVERTS or qualified == "builtins.len":
        return True
    if model.types.type_of(call.func).tag is TypeTag.MODULE:
        return surely_ends(call, model, depth - 1)  # another forward pass
    if model.types.call_targets(call):
        left = {one.label for one in model.gradients.sinks(value)}
        return model.effects.call_effect(call).quiet and left <= gradient_sinks.ENDS
    known = models.callable_fact(qualified)
    if known is None or not qualified.startswith("torch.") or (call.keywords and _writes(call)):
        return False
    return known.effect.does_only(EffectKind.DRAWS) and surely_ends(call, model, depth - 1)


def _writes(call: ast.Call) -> bool:
    return any(keyword.arg in (None, "out", "inplace") for keyword in call.keywords)


def _ends_as(target: ast.expr, model: SemanticModel, depth: int) -> bool:
    """Whether the same is true of all reads of a local variable, or of each part that is unpacked."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return all(_ends_as(part, model, depth) for part in target.elts)
    if not isinstance(target, ast.Name):
        return False
    scope = model.names.scope(target).lookup(target.id)
    if scope is None or model.names.is_captured(target.id, scope):
        return False
    if scope.parent is None and model.program.is_imported(target.id):
        return False
    return all(
        surely_ends(read, model, depth - 1)
        for read in model.names.reads(target.id, scope)
        if any(binding.node is target for binding in model.dataflow.definitions(read))
    )
