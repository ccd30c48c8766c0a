"""Statements that only inform: prints, log messages, points of a summary writer."""

from __future__ import annotations

import ast
import re

from rlint.rule import EffectKind, SemanticModel, Trait, TypeTag, descendants, models, regex, vocabulary

_METHODS = vocabulary.LOGS
_RECEIVER = regex(
    r"(^|_)(log|logs|logger|logging|loggers|writer|wandb|tb|tensorboard|mlflow|neptune|console|tqdm|pbar|bar|progress|"
    r"swanlab|run|summary|recorder|tracker|aim)(_|$)"
)
_COMPLAINS = models.having(Trait.COMPLAINS, TypeTag.LOGGER)
_TROUBLE = regex(r"warn|error|fail|mismatch|did not|didn't|not (updat|chang|sync|match)", re.IGNORECASE)
_COUNTER = regex(
    r"(^|_)(steps?|episodes?|epochs?|iter|iters|iterations?|ids?|idx|index|rank|i|j|k|t|n|names?|worker|agent|actor|"
    r"learner|updates?|turns?|rounds?|game|layer|key|device|label|tag|prefix|interval|version|num)$"
)


def log_of(statement: ast.AST, model: SemanticModel) -> ast.Call | None:
    """Return the call of a statement that only logs or prints."""
    match statement:
        case ast.Expr(value=ast.Call() as call) if not _writes_a_file(call):
            pass
        case _:
            return None
    effect = model.effects.call_effect(call)
    if effect.acts and effect.does_only(EffectKind.WRITES_OUTPUT):
        return call
    match call.func:
        case ast.Attribute(value=owner, attr=method) if method in _METHODS:
            name = _last(owner)
            return call if name is not None and _RECEIVER.search(name.lower()) else None
    return None


def _writes_a_file(call: ast.Call) -> bool:
    return any(keyword.arg in ("file", None) for keyword in call.keywords)


def complains(call: ast.Call) -> bool:
    """Whether a log call reports a problem."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in _COMPLAINS:
        return True
    texts = (node.value for node in descendants(call) if isinstance(node, ast.Constant))
    return any(isinstance(text, str) and _TROUBLE.search(text) for text in texts)


def identifies_step(expression: ast.expr) -> bool:
    """Whether an expression only identifies the step, agent or layer of a message."""
    match expression:
        case ast.Constant():
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return bool(_COUNTER.search(name.lower()))
        case ast.BinOp(left=left, right=right):
            return identifies_step(left) and identifies_step(right)
        case ast.Call(func=ast.Name(id="int" | "str" | "len"), args=[argument]):
            return identifies_step(argument)
    return False


def pieces(call: ast.Call) -> list[ast.expr]:
    """Return the expressions whose values a message shows, from f-strings, formatting and displays."""
    found: list[ast.expr] = []
    stack: list[ast.expr] = [*call.args, *(keyword.value for keyword in call.keywords)]
    while stack:
        node = stack.pop()
        match node:
            case ast.JoinedStr(values=values):
                stack += [value.value for value in values if isinstance(value, ast.FormattedValue)]
            case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod(), right=right):
                stack.append(right)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                stack += elements
            case ast.Dict(values=values):
                stack += values
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str()), attr="format"), args=args):
                stack += [*args, *(keyword.value for keyword in node.keywords)]
            case _:
                found.append(node)
    return found


def _last(expression: ast.expr) -> str | None:
    match expression:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=func):
            return _last(func)
    return None
