"""Statements that run after a tensor is created and before it is moved."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import FUNCTIONS, TRIES, Binding, SemanticModel, TypeTag, descendants, models
from rlint.rules.transfers._shared.creations import Creation

_DEVICE_READS = ("device", "is_cuda")
_LEAVE = (ast.Return, ast.Raise, ast.Break, ast.Continue, ast.Assert)
_OF_SEVERAL = (TypeTag.TUPLE, TypeTag.LIST, TypeTag.TENSOR, TypeTag.NDARRAY)
UNAVAILABLE = "the device must be available: otherwise the error is raised before `{}`"
_MOVED = "`{}` returns the new device"
_LONGEST_SHOWN = 40


def doubts_between(creation: Creation, model: SemanticModel) -> Iterator[str]:
    """Yield the conditions of the fix because of what runs in between: other code may observe where the
    tensor is, or that an error is raised earlier.
    """
    first, move = creation.made.calls[0], creation.move.call
    if creation.binding is None and not creation.made.is_named:
        return
    parts = model.dataflow.between(first, move) or []
    moved = set(descendants(move))
    statement = model.syntax.statement(move)
    around = set(model.ancestors(move))
    before = [
        node
        for node in descendants(statement)
        if isinstance(node, (ast.Call, ast.Attribute)) and node not in moved and node not in around
        if model.source.span(node) < model.source.span(move)
    ]
    is_handled = any(isinstance(node, TRIES) for node in around)
    for acting in (part for part in (*parts, *before) if _shows(part, model, is_handled=is_handled)):
        yield UNAVAILABLE.format(_shown(acting, model))
        break
    handler = _own_handler(move, model)
    if handler is not None:
        yield UNAVAILABLE.format(_shown(handler, model))
    holders = _holders(creation.move.source, model)
    for read in (use for name in _DEVICE_READS for use in model.names.attribute_uses(name)):
        if read not in moved and _reads_device(read, holders, model):
            yield _MOVED.format(model.source.text(read))
            break


def _shows(part: ast.AST, model: SemanticModel, *, is_handled: bool) -> bool:
    """Whether running a statement or expression shows that an error of the move has not been raised yet: it
    does more than compute values and bind local variables, or leaves the block. Where errors are handled,
    local variables show it, too.
    """
    if isinstance(part, FUNCTIONS):
        given = (*part.decorator_list, *part.args.defaults, *filter(None, part.args.kw_defaults))
        return is_handled or any(not isinstance(each, (ast.Constant, ast.Name)) for each in given)
    if any(isinstance(node, _LEAVE) for node in descendants(part)):
        return True
    match part:
        case ast.ClassDef() | ast.Import() | ast.ImportFrom() | ast.Global() | ast.Nonlocal():
            return True
        case ast.stmt() if is_handled and not isinstance(part, (ast.Expr, ast.Pass)):
            return True
        case ast.Assign(targets=[ast.Tuple() | ast.List()], value=value):
            if model.types.type_of(value).tag not in _OF_SEVERAL:
                return True
    if any(
        isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in model.syntax.declared
        for node in descendants(part)
    ):
        return True
    return isinstance(part, (ast.stmt, ast.expr)) and not model.analysis.effects.effect_of(part).quiet


def _own_handler(move: ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return the context manager around a move that may handle the error: one of a class of the program."""
    for around in model.ancestors(move):
        if isinstance(around, FUNCTIONS):
            return None
        for item in around.items if isinstance(around, (ast.With, ast.AsyncWith)) else ():
            entered = item.context_expr
            made = model.names.qualified(entered.func) if isinstance(entered, ast.Call) else None
            if made is None or not models.is_library(made.partition(".")[0]):
                return entered
    return None


def _holders(source: ast.expr, model: SemanticModel) -> list[Binding]:
    """Return the assignments of the variables through which the tensor gets to its move."""
    found: list[Binding] = []
    waiting: list[ast.AST] = [source]
    while waiting:
        for node in descendants(waiting.pop()):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                if model.names.qualified(node) is not None:
                    continue  # a library
                new = [binding for binding in model.dataflow.definitions(node) if binding not in found]
                found += new
                waiting += [binding.value for binding in new if binding.value is not None]
    return found


def _reads_device(node: ast.Attribute, holders: list[Binding], model: SemanticModel) -> bool:
    """Whether a node reads the device of one of the variables."""
    match node:
        case ast.Attribute(value=ast.Name() as owner, attr=name, ctx=ast.Load()) if name in _DEVICE_READS:
            return any(binding in holders for binding in model.dataflow.definitions(owner))
    return False


def _shown(part: ast.AST, model: SemanticModel) -> str:
    text = " ".join(model.source.text(part).split())
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"
