"""Comparisons of whole weights: the expressions, and the uses of their results."""

from __future__ import annotations

import ast
import itertools

from rlint.rule import (
    Applicability,
    Binding,
    BindingKind,
    Fix,
    Function,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    last_name,
    models,
)
from rlint.rules.debugging._shared import copies, log_calls, removal, traces

_COMPARING = models.names_having(Trait.DIFFERS, "torch", "numpy", "torch.testing", TypeTag.TENSOR)
# operations on weights that return weights, or one number for all of them
_CHAIN = models.having(
    Trait.KEEPS_VALUES | Trait.RESHAPES | Trait.REDUCES | Trait.TO_HOST, TypeTag.TENSOR, TypeTag.NDARRAY
) | {"abs", "square"}
_WRAPPERS = (
    models.having(Trait.REDUCES | Trait.COPIES, "copy", "torch", "numpy")
    | {"builtins.float", "builtins.sum", "numpy.linalg.norm", "torch.linalg.norm"}
    | {"numpy.abs", "numpy.asarray", "torch.abs", "torch.cat"}
    | {"torch.nn.utils.parameters_to_vector"}
)
_HASHES = models.having(Trait.HASHES, "binascii", "builtins", "hashlib", "zlib")
_MAY_COMPARE = frozenset({ast.BinOp, ast.Compare, ast.Call})
_DISTANCES = "torch.nn.functional."
_CHANGES = models.having(Trait.OVERWRITES, TypeTag.TENSOR) | {"step", "backward", "load_state_dict"}
_CHANGES |= models.having(Trait.INSERTS, TypeTag.LIST) | {"add_"}
_DEPTH = 8
_NONE: frozenset[Function] = frozenset()


def comparison_in(expression: ast.expr, model: SemanticModel) -> ast.expr | None:
    """Return the outermost part of an expression that compares weights with weights, or hashes them."""
    for node in descendants(expression):
        if node.__class__ in _MAY_COMPARE and _is_comparison(node, model):
            around = itertools.takewhile(lambda parent: parent is not expression, model.ancestors(node))
            if node is expression or not any(
                isinstance(parent, ast.Lambda) for parent in (*around, expression)
            ):
                assert isinstance(node, ast.expr)
                return node
    return None


def _is_comparison(node: ast.AST, model: SemanticModel, opened: frozenset[Function] = _NONE) -> bool:
    if isinstance(node, ast.Call):
        return bool(node.args) and (_compares_arguments(node, model) or is_by_helper(node, model, opened))
    match node:
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _are_weights(left, right, model)
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
            return _are_weights(left, right, model)
    return False


def _compares_arguments(call: ast.Call, model: SemanticModel) -> bool:
    func, first = call.func, call.args[0]
    qualified = model.names.qualified(func)
    if qualified is not None and qualified.startswith(_DISTANCES) and len(call.args) > 1:
        return _are_weights(first, call.args[1], model)
    if qualified in _HASHES:
        parts = (part for part in descendants(first) if isinstance(part, ast.expr))
        return any(copies.is_weights(part, model) for part in parts)
    if not isinstance(func, ast.Attribute) or func.attr not in _COMPARING:
        return False
    if len(call.args) > 1:
        return qualified is not None and _are_weights(first, call.args[1], model)
    return _are_weights(func.value, first, model)


def is_by_helper(call: ast.expr, model: SemanticModel, opened: frozenset[Function] = _NONE) -> bool:
    """Whether a call runs a function of this file that compares weights: `same_weights(net, target)`. The
    call is part of the functions `opened`, whose answers are not known yet.
    """
    if not isinstance(call, ast.Call) or call.keywords or not call.args or len(opened) > _DEPTH:
        return False
    if not isinstance(call.func, (ast.Name, ast.Attribute)):
        return False
    made = [model.types.definition(target) for target in model.types.call_targets(call)]
    return bool(made) and all(
        each is not None and each not in opened and model.once(_only_compares, (each, opened))
        for each in made
    )


def _only_compares(candidate: tuple[Function, frozenset[Function]], model: SemanticModel) -> bool:
    """Whether a function compares weights, and calls no other code that does something with networks."""
    function, opened = candidate
    if not any(map(_is_return, descendants(function))):
        return False
    found = False
    for node in descendants(function):
        if isinstance(node, ast.Call) and last_name(node.func) in _CHANGES:
            return False
        if node.__class__ in _MAY_COMPARE:
            found = found or _is_comparison(node, model, opened | {function})
    return found


def _is_return(node: ast.AST) -> bool:
    return isinstance(node, ast.Return) and node.value is not None


def _are_weights(left: ast.expr, right: ast.expr, model: SemanticModel) -> bool:
    return _comes_of_weights(left, model, _DEPTH) and _comes_of_weights(right, model, _DEPTH)


def _comes_of_weights(value: ast.expr, model: SemanticModel, depth: int) -> bool:
    """Whether a value is weights, a copy of weights, or one number computed from all of them."""
    if depth == 0:
        return False
    match value:
        case ast.Attribute(value=owner, attr="data" | "T"):
            return _comes_of_weights(owner, model, depth - 1)
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in _CHAIN:
            if model.names.qualified(value.func) is None and _comes_of_weights(owner, model, depth - 1):
                return True
    match value:
        case ast.Call(func=func, args=[first, *_]) if model.names.qualified(func) in _WRAPPERS:
            return _comes_of_weights(first, model, depth - 1)
        case ast.ListComp(elt=each) | ast.GeneratorExp(elt=each):
            return _comes_of_weights(each, model, depth - 1)
        case ast.Name():
            bound = [binding.value for binding in model.dataflow.definitions(value)]
            if len(bound) == 1 and bound[0] is not None and copies.copy_of(bound[0], model) is not None:
                return True
            if len(bound) == 1 and isinstance(bound[0], ast.Call):
                made = model.dataflow.definitions(value)[0]
                if made.kind is BindingKind.ASSIGN and not made.path:
                    return _comes_of_weights(bound[0], model, depth - 1)
        case ast.Subscript(value=ast.Name() as state):
            bound = [each.value for each in model.dataflow.definitions(state) if not each.path]
            if len(bound) == 1 and bound[0] is not None and copies.is_parameters(bound[0], model):
                return True
        case ast.Call(func=ast.Attribute(value=owner, attr="get_parameter")):
            return model.types.type_of(owner).tag is TypeTag.MODULE
    weights: bool = copies.is_weights(value, model)
    return weights


class _Together(traces.LoggedTrace):  # type: ignore[misc]  # mypy sees the rules by another name
    """The code that depends on several comparisons in one message."""

    def __init__(self, binding: Binding, others: list[Binding], model: SemanticModel) -> None:
        self._others = others
        super().__init__(binding, model)

    def _follow(self, binding: Binding) -> bool:
        if not super()._follow(binding):
            return False
        waiting, self._others = self._others, []
        for other in waiting:
            self.statements[self.model.syntax.statement(other.node)] = None
        return all(self._follow(other) for other in waiting)


def traced(
    statement: ast.stmt, name: str, model: SemanticModel
) -> tuple[traces.LoggedTrace, Fix | None] | None:
    """Return what depends on the comparison that a statement binds to a name (or adds to it), and the fix
    that removes it; None if other code needs the result.
    """
    binding = _binding_of(statement, name, model)
    if binding is None or model.program.is_imported(name):
        return None
    trace = traces.LoggedTrace(binding, model)
    if trace.escapes:
        return None
    fix = _without(trace, model)
    others = [] if fix is not None else _logged_with(trace, model)
    if others:
        together = _Together(binding, others, model)
        fix = None if together.escapes else _without(together, model)
    return trace, fix


def _binding_of(statement: ast.AST, name: str, model: SemanticModel) -> Binding | None:
    scope = model.names.scope(statement).lookup(name)
    bindings: list[Binding] = scope.bindings[name] if scope is not None and not scope.is_class else []
    return next((each for each in bindings if each.statement is statement), None)


def _logged_with(trace: traces.LoggedTrace, model: SemanticModel) -> list[Binding]:
    """Return the other comparisons in the same messages."""
    found: dict[Binding, None] = {}
    for log in trace.logs:
        for name in descendants(log):
            for binding in model.dataflow.definitions(name) if isinstance(name, ast.Name) else ():
                compares = binding.value is not None and comparison_in(binding.value, model) is not None
                if compares and binding not in trace.values:
                    found[binding] = None
    return [*found]


def _without(trace: traces.LoggedTrace, model: SemanticModel) -> Fix | None:
    """Remove a comparison, with all code that is only there for it."""
    if trace.checked or trace.tangled:
        return None
    removed, shorter = model.edit.delete_statements(trace.statements), removal.trimmed(trace.parts, model)
    if removed is None or shorter is None:
        return None
    lines = ", ".join(str(line) for line in sorted({log.lineno for log in trace.logs}))
    reason = f"the comparison is no longer logged (line {lines})" if lines else ""
    title = "Remove the comparison and its part of the log" if lines else "Remove the comparison"
    return Fix(
        title,
        Applicability.UNSAFE,
        (*removed, *shorter),
        reason or "the comparison is no longer available for inspection",
    )


def is_only_logged(
    statement: ast.stmt, comparison: ast.expr, model: SemanticModel
) -> tuple[bool, Fix | None]:
    """Whether a statement only logs a comparison or complains about it. Returned with the fix that removes
    it.
    """
    log = log_calls.log_of(statement, model)
    if log is not None:
        pieces = log_calls.pieces(log)
        informative = [piece for piece in pieces if comparison_in(piece, model) is not None]
        others = [
            piece for piece in pieces if piece not in informative and not log_calls.identifies_step(piece)
        ]
        if log_calls.complains(log) or is_by_helper(comparison, model):
            return True, None
        edits = (
            removal.trimmed(dict.fromkeys(informative, log), model)
            if others
            else model.edit.delete_statements([statement])
        )
        reason = f"the comparison is no longer logged (line {log.lineno})"
        title = "Remove the comparison from the log" if others else "Remove the log of the comparison"
        return True, Fix(title, Applicability.UNSAFE, tuple(edits), reason) if edits else None
    match statement:
        case ast.If(test=test, body=body, orelse=[]) if comparison in descendants(test):
            return all(log_calls.log_of(child, model) is not None for child in body), None
    return False, None
