"""The calls that write to a log: printed lines, log records, points of a curve."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rlint.rule import SemanticModel, Trait, TypeTag, descendants, last_name, last_names, models

_METHODS = frozenset(name for name in models.methods_of(TypeTag.WRITER) if name.startswith("add_"))
"""Of a summary writer, and of nothing else."""
_LEVELS = models.having(Trait.REPORTS, TypeTag.LOGGER) | {"success"}
_LOGGERS = ("logging.", "loguru.logger.", "absl.logging.")
_TRACKERS = models.having(Trait.REPORTS, "mlflow", "rich", "swanlab", "tqdm.tqdm", "wandb") | {
    "wandb.run.log"
}
NAMES = _METHODS | _LEVELS | {"log"} | last_names("builtins.print", *_TRACKERS)
"""The last names of all calls that may write to a log."""


def is_log_write(call: ast.Call, model: SemanticModel) -> bool:
    """Does a call write to a log at once, rather than collect what will be written?"""
    qualified = model.names.qualified(call.func)
    if qualified is not None:
        prefix, _, name = qualified.rpartition(".")
        if f"{prefix}." in _LOGGERS:
            return name in _LEVELS
        if qualified == "builtins.print":
            return not _goes_on(call)
        return qualified in _TRACKERS
    if not isinstance(call.func, ast.Attribute):
        return False
    method = call.func.attr
    if method in _METHODS:
        return not model.types.call_targets(call)
    if method not in _LEVELS and method != "log":
        return False
    kind = model.types.type_of(call.func.value)
    if not kind and method in _LEVELS:
        return (last_name(call.func.value) or "").lower().strip(
            "_"
        ) == "logger" and not model.types.call_targets(call)
    return kind.tag is (TypeTag.WRITER if method == "log" else TypeTag.LOGGER)


def _goes_on(call: ast.Call) -> bool:
    """Does `print` leave the line open: to overwrite it (a progress line), or to write more into it?"""
    ends = [keyword.value for keyword in call.keywords if keyword.arg == "end"]
    return any(not (isinstance(end, ast.Constant) and "\n" in str(end.value)) for end in ends)


def log_write(statement: ast.stmt, model: SemanticModel) -> ast.Call | None:
    """The call of a statement that does nothing but write to a log."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return None
    return statement.value if is_log_write(statement.value, model) else None


def writes_together(statement: ast.stmt, model: SemanticModel) -> list[ast.stmt]:
    """The statements that write to a log right one after the other, from their first on; empty where the
    statement is not the first.
    """
    block, first = model.syntax.block(statement)
    if first > 0 and log_write(block[first - 1], model) is not None:
        return []
    last = first
    while last + 1 < len(block) and log_write(block[last + 1], model) is not None:
        last += 1
    return block[first : last + 1]


def writes_rare_values(run: Sequence[ast.stmt], model: SemanticModel) -> bool:
    """Does one of the statements write a dict that a condition in the loop puts more into now and then, as
    the return of an episode when it is over?
    """
    loop = model.frequency.driving_loop(run[0])
    if loop is None:
        return False
    names = {node.id for statement in run for node in descendants(statement) if isinstance(node, ast.Name)}
    for _ in range(2):  # `log.update(episode_log)`: what goes into it counts as well
        names |= {
            given.id
            for owner, call in _updates(loop)
            if owner in names
            for given in call.args
            if isinstance(given, ast.Name)
        }
    placed = [*_updates(loop), *_entries(loop)]
    return any(name in names and _is_conditional(node, loop, run, model) for name, node in placed)


def _updates(loop: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    for node in descendants(loop):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="update")):
                yield owner, node


def _entries(loop: ast.AST) -> Iterator[tuple[str, ast.Subscript]]:
    for node in descendants(loop):
        match node:
            case ast.Subscript(value=ast.Name(id=owner), ctx=ast.Store()):
                yield owner, node


def _is_conditional(node: ast.AST, loop: ast.AST, run: Sequence[ast.stmt], model: SemanticModel) -> bool:
    """Does a node stand behind a condition in the loop that the statements do not stand behind?"""
    around = set(model.ancestors(run[0]))
    for parent in model.ancestors(node):
        if parent is loop or parent in around:
            return False
        if isinstance(parent, ast.If):
            return True
    return False
