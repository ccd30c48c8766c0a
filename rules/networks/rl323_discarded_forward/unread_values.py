"""Log-probabilities and entropies that no code reads: neither their function nor any of its callers."""

from __future__ import annotations

import ast

from rlint.rule import FUNCTIONS, SemanticModel, descendants, frozen, is_in, is_in_block

COMPUTED = frozenset({"log_prob", "entropy"})
_MOST = 12
"""Maximum number of variables that are followed from one value."""


@frozen
class Unread:
    """A value that is never read, or (`returned_by`) that a function returns to callers that drop it."""

    name: str
    returned_by: str = ""


def unread_value(call: ast.Call, model: SemanticModel) -> Unread | None:
    """Return the variable that a log-probability or an entropy is computed for, if no code reads it."""
    called = call.func
    if not isinstance(called, ast.Attribute) or called.attr not in COMPUTED:
        return None
    statement, function = model.syntax.statement(call), model.function(call)
    places: frozenset[int] | None = None
    name = model.source.text(called)
    match statement:
        case ast.Assign(targets=[ast.Name() as target]) if not target.id.startswith("_"):
            places, name = _places_returned(target, model), target.id
        case ast.Return(value=ast.Tuple(elts=items)):
            places = _places_of(call, items)
    if function is None or places is None or _has_better_place(call, statement, model):
        return None
    if not places:
        return Unread(name)
    summary = model.symbols.function_at(statement)
    read = model.dataflow.items_read(summary) if summary is not None else None
    return Unread(name, function.name) if read is not None and not places & read else None


def only_branch(call: ast.Call, model: SemanticModel) -> ast.If | None:
    """Return the branch after a statement whose body alone reads the log-probability or the entropy that the
    statement computes: `if log_metrics:`.
    """
    called = call.func
    if not isinstance(called, ast.Attribute) or called.attr not in COMPUTED:
        return None
    statement = model.syntax.statement(call)
    match statement:
        case ast.Assign(targets=[ast.Name() as target]) if not _has_better_place(call, statement, model):
            return _reading_branch(target, statement, model)
    return None


def _reading_branch(target: ast.Name, statement: ast.stmt, model: SemanticModel) -> ast.If | None:
    scope = model.names.scope(target).lookup(target.id)
    binding = model.syntax.variables.bound_at(target)
    if scope is None or binding is None or model.names.is_captured(target.id, scope):
        return None
    reads = model.analysis.readers(binding, scope)
    block, index = model.syntax.block(statement)
    for branch in block[index + 1 :]:
        if isinstance(branch, ast.If) and any(is_in_block(read, branch.body) for read in reads):
            is_only = all(is_in_block(read, branch.body) for read in reads)
            return branch if is_only else None
    return None


def _places_of(node: ast.expr, items: list[ast.expr]) -> frozenset[int]:
    """Return the positions of the items that contain a node."""
    return frozenset(place for place, item in enumerate(items) if is_in(node, item))


def _has_better_place(call: ast.Call, statement: ast.stmt, model: SemanticModel) -> bool:
    """Whether another call in the statement is the better place for a finding: an earlier one of the same
    kind, or a network.
    """
    for node in descendants(statement):
        if not isinstance(node, ast.Call):
            continue
        if model.nn.network_run(node) is not None:
            return True
        is_of_kind = isinstance(node.func, ast.Attribute) and node.func.attr in COMPUTED
        if is_of_kind and model.source.span(node) < model.source.span(call):
            return True
    return False


def _places_returned(target: ast.Name, model: SemanticModel) -> frozenset[int] | None:
    """Return the items of a returned tuple that a variable is only used for, directly or by other variables;
    empty if it is not read. None if it is used in another way.
    """
    pending, seen, places = [target], {target}, set[int]()
    while pending:
        bound = pending.pop()
        scope = model.names.scope(bound).lookup(bound.id)
        if scope is None or not isinstance(scope.node, FUNCTIONS) or model.names.is_captured(bound.id, scope):
            return None
        binding = model.syntax.variables.bound_at(bound)
        for use in model.analysis.readers(binding, scope) if binding is not None else ():
            match model.syntax.statement(use):
                case ast.Return(value=ast.Tuple(elts=items)):
                    places |= _places_of(use, items)
                case (
                    ast.Assign(targets=[ast.Name() as following])
                    | ast.AugAssign(target=ast.Name() as following)
                ):
                    if following not in seen:
                        seen.add(following)
                        pending.append(following)
                case _:
                    return None
        if len(seen) > _MOST:
            return None
    return frozenset(places)
