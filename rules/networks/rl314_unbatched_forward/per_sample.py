"""Whether a network in a loop runs on samples that the loop draws one after the other."""

from __future__ import annotations

import ast

from rlint.rule import AnyLoop, Binding, BindingKind, SemanticModel, TypeTag, descendants, is_in

_DRAWS = frozenset({"sample", "rsample"})
_TRAINS = frozenset({"step", "backward", "load_state_dict", "copy_"})
_LEAVES = (ast.Break, ast.Return, ast.Yield, ast.YieldFrom, ast.Await)


def draws_each_input(call: ast.Call, loop: AnyLoop, model: SemanticModel) -> ast.expr | None:
    """Return the distribution that each iteration draws the input of a call from, if the loop leaves the
    distribution, all other inputs and the weights alone: `for _ in range(k): q(state, dist.sample())`.
    """
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
        return None
    if model.names.qualified(loop.iter.func) != "builtins.range" or _ends(loop):
        return None
    drawn: ast.expr | None = None
    for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
        if isinstance(argument, ast.Starred):
            return None
        source = _source(argument, model)
        if source is not None and not _changes(source, loop, model):
            drawn = source
        elif _changes(argument, loop, model):
            return None
    return drawn if drawn is None or not model.nn.takes_gradient_steps(loop) else None


def _ends(loop: ast.For) -> bool:
    """Whether a loop may change weights by a method of torch, or stop early."""
    return any(
        isinstance(node, _LEAVES) or (isinstance(node, ast.Attribute) and node.attr in _TRAINS)
        for node in descendants(loop)
    )


def _source(value: ast.expr, model: SemanticModel) -> ast.expr | None:
    """Return the distribution that a value is a sample of, itself or as a variable."""
    if isinstance(value, ast.Name):
        bindings = model.dataflow.definitions(value)
        if len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGN or bindings[0].path:
            return None
        bound = bindings[0].value
        return _source(bound, model) if isinstance(bound, ast.Call) else None
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Name() | ast.Attribute() as source, attr=method), args=[]):
            is_drawn = method in _DRAWS and not value.keywords
            return source if is_drawn and _may_be_distribution(source, model) else None
    return None


def _may_be_distribution(source: ast.expr, model: SemanticModel) -> bool:
    """Whether a value with a method `sample` may be a distribution, rather than an agent or its memory."""
    if model.names.is_self(source):
        return False
    return model.types.type_of(source).tag in (TypeTag.DISTRIBUTION, TypeTag.UNKNOWN)


def _changes(value: ast.expr, loop: ast.For, model: SemanticModel) -> bool:
    """Whether an iteration binds a variable of an expression, or the expression calls anything."""
    for node in descendants(value):
        if isinstance(node, ast.Call):
            return True
        if (
            isinstance(node, ast.Name)
            and model.names.qualified(node) is None
            and any(_is_inside(binding, loop) for binding in model.dataflow.definitions(node))
        ):
            return True
    return False


def _is_inside(binding: Binding, loop: ast.For) -> bool:
    return is_in(binding.node, loop)
