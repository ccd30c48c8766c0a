"""Whether a value surely ends without a gradient, by uses that are all in sight."""

from __future__ import annotations

import ast

from rlint.rule import (
    EffectKind,
    SemanticModel,
    Trait,
    TypeTag,
    arguments_of,
    gradient_rules,
    gradient_sinks,
    models,
)
from rlint.rules.networks._shared.network_traces import doubt_about_network
from rlint.rules.networks._shared.operands import ENDS

_ENDS = (
    ENDS
    | models.having(Trait.NEEDS_NO_GRADIENT, TypeTag.TENSOR)
    | models.having(Trait.DETACHES, TypeTag.DISTRIBUTION)
)
_DETACHES = models.having(Trait.DETACHES, TypeTag.TENSOR, "torch")
_END_FUNCTIONS = models.having(Trait.GIVES_INDEX | Trait.COMPARES, "torch")
_CONVERTS = models.having(Trait.TO_NUMBER, "builtins")
_MEASURES = models.having(Trait.MEASURES, TypeTag.TENSOR)
_NO_VIEW = Trait.ELEMENTWISE | Trait.REDUCES | Trait.COPIES | Trait.TO_HOST | Trait.GIVES_NUMBER | Trait.JOINS
_MAKES_NEW = (
    models.having(_NO_VIEW, TypeTag.TENSOR, "torch")
    | models.having(Trait.NEEDS_NO_GRADIENT, TypeTag.TENSOR)
    | {"cpu", "detach"}
)
"""Methods and functions whose result is no view of a tensor."""
_DEPTH = 12


def surely_ends(value: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> bool:
    """Whether all uses of a value are operations that end its graph, directly or after operations that only
    compute. Stricter than `model.gradients.sinks`, which follows values as far as is likely: nothing is kept
    in containers, passed to other code or networks, or changed in place.
    """
    if depth == 0:
        return False
    around = model.parent(value)
    match around:
        case ast.Attribute(attr=name) if name in _MEASURES:
            return _is_of_tensors(name, value, model)
        case ast.Attribute(attr="data") if model.types.type_of(value).tag is TypeTag.TENSOR:
            return _is_left_detached(around, model, depth)
        case ast.Attribute(attr=name):
            call = model.parent(around)
            if not isinstance(call, ast.Call) or call.func is not around:
                return False
            if name in _DETACHES:
                return _is_of_tensors(name, value, model) and _is_left_detached(call, model, depth)
            if name in _ENDS:
                return _is_of_tensors(name, value, model)
            known = models.method_fact(TypeTag.TENSOR, name) or models.method_fact(TypeTag.DISTRIBUTION, name)
            computes = known is not None and known.effect.does_only(EffectKind.DRAWS)
            if not computes or models.is_in_place(name) or _may_use_other_kernel(name, call):
                return False
            return surely_ends(call, model, depth - 1)
        case ast.Subscript(value=owner, ctx=ast.Load()) if owner is value:
            return surely_ends(around, model, depth - 1)
        case ast.Compare():
            return True
        case ast.BinOp(op=ast.MatMult()):
            return False  # without autograd, it may be computed by another kernel
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
        case ast.Assert(test=test):
            return test is value
        case ast.Expr() | ast.If() | ast.While():
            return True
    return False


def _is_of_tensors(name: str, owner: ast.expr, model: SemanticModel) -> bool:
    """Whether a method is surely that of a tensor, not of a class of the program with a method so named."""
    return not model.index.defines_method(name) or model.types.type_of(owner).tag is TypeTag.TENSOR


def _may_use_other_kernel(name: str, call: ast.Call) -> bool:
    """Whether a function or method may compute other last digits without autograd."""
    return gradient_rules.uses_other_kernel(name) or any(
        isinstance(part, ast.Constant) and isinstance(part.value, str)  # `norm("nuc")`
        for part in arguments_of(call)
    )


def _is_left_detached(value: ast.expr, model: SemanticModel, depth: int) -> bool:
    """Whether a detached tensor leaves its statement as it is, or computed with. A view of it must not: views
    that are made without autograd cannot be changed in place later by values with a gradient.
    """
    if model.types.type_of(value).tag in gradient_rules.HAVE_NO_GRADIENT:
        return True
    around = model.parent(value)
    match around:
        case ast.BinOp() | ast.UnaryOp() | ast.IfExp():
            return _is_left_detached(around, model, depth)
        case ast.Attribute(attr=name) if isinstance(call := model.parent(around), ast.Call):
            if call.func is around and name in _MAKES_NEW:
                return _is_left_detached(call, model, depth)
            return surely_ends(value, model, depth)
        case ast.Subscript() | ast.Attribute():
            return surely_ends(value, model, depth)
        case ast.Call() if value in around.args:
            qualified = model.names.qualified(around.func) or ""
            if qualified in _MAKES_NEW:
                return _is_left_detached(around, model, depth)
            return not qualified.startswith("torch.") or surely_ends(around, model, depth)
        case ast.List() | ast.Tuple() | ast.Starred() | ast.keyword():
            return not isinstance(model.parent(around), ast.Call) or surely_ends(value, model, depth)
    return True


def _ends_in_call(value: ast.expr, call: ast.Call, model: SemanticModel, depth: int) -> bool:
    qualified = model.names.qualified(call.func) or ""
    if qualified in _END_FUNCTIONS or qualified in _CONVERTS or qualified == "builtins.len":
        return True
    if qualified in _DETACHES:
        return _is_left_detached(call, model, depth)
    if model.types.type_of(call.func).tag is TypeTag.MODULE:  # another forward pass
        if doubt_about_network(call.func, model) or model.nn.architecture(call.func).in_place:
            return False
        return surely_ends(call, model, depth - 1)
    if model.types.call_targets(call):
        left = {one.label for one in model.gradients.sinks(value)}
        return model.effects.call_effect(call).quiet and left <= gradient_sinks.ENDS
    known = models.callable_fact(qualified)
    if known is None or not qualified.startswith("torch.") or known.result.tag is TypeTag.MODULE:
        return False
    if (call.keywords and _writes(call)) or _may_use_other_kernel(qualified, call):
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
    if any(isinstance(use, ast.AugAssign) for use in map(model.parent, model.names.uses(target.id, scope))):
        return False  # a view made without autograd cannot be changed by values with a gradient
    return all(surely_ends(read, model, depth - 1) for read in model.analysis.reads_of(target, scope))
