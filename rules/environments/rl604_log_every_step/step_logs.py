"""Calls that write to a log: printed lines, log records, points of a curve."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rlint.rule import (
    Function,
    Guard,
    GuardKind,
    SemanticModel,
    Trait,
    descendants,
    frozen,
    last_name,
    models,
    regex,
)
from rlint.rules.environments.rl604_log_every_step.given_loggers import is_given_metrics

_METHOD = regex(r"^_?(add|log|logkv|print|record|report|track|write)(_|$)")
"""Names of the methods of custom loggers."""
_REDRAWS = models.names_having(Trait.REDRAWS, "tqdm.tqdm")
_BAR = regex(r"(^|_)(p?bar|progress)(_|$)|progress_?bar$")
"""Names of custom progress bars."""

_TURNS_ON = regex(
    r"(^|[._ ])(use_?|enable_?|with_?)?(logs?|logging|loggers?|writers?|tensorboard|tb(oard)?|wandb|mlflow"
    r"|comet|track|callbacks?)(_\w+)?( is not None)?$"
)
"""Conditions that turn on the curves of a run."""
_OF_LOGGER = regex(r"^isinstance\(.*(logger|callback|wandb|tensorboard|summarywriter|tracker)\w*\)$")
"""Conditions that select the parts of a program that write the curves of a run."""
_OFF = regex(r"verbos|debug|interval|every|freq|period|should|need|grad|hist|video|image|print|eval|test")
_PART = regex(
    r"^(self\.|agent\.)?_?\w*(actor|critic|net|network|policy|value|encoder|decoder|discriminator|model"
    r"|target|optimi[sz]er|scheduler|alpha|q\d)\d?( is not None)?$"
)
"""Conditions that ask whether an agent has an optional part."""


@frozen
class LogCall:
    """A call that writes to a log. It is `own` if a logger of the project does so."""

    call: ast.Call
    own: bool = False


def is_switch(guard: Guard) -> bool:
    """Whether a condition turns on the log for a whole run (`self.use_wandb`), or asks for an optional part
    of an agent (`self.q2 is not None`).
    """
    if guard.kind not in (GuardKind.SWITCH, GuardKind.PRESENT, GuardKind.OTHER, GuardKind.CLASS):
        return False
    text = guard.text.lower().replace("is not none", "is not None")
    if guard.kind is GuardKind.CLASS:
        return bool(_OF_LOGGER.search(text)) and not _OFF.search(text)
    return bool(_TURNS_ON.search(text) or _PART.search(text)) and not _OFF.search(text)


def log_write(statement: ast.stmt, model: SemanticModel) -> LogCall | None:
    """Return the call of a statement that only writes to a log."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return None
    call = statement.value
    if model.effects.writes_log(call):
        return LogCall(call)
    if not isinstance(call.func, ast.Attribute):
        return None
    if is_given_metrics(call, model):
        return LogCall(call, own=True)
    named = _METHOD.search(call.func.attr) or _BAR.search((last_name(call.func.value) or "").lower())
    if not named and not model.effects.is_called_like_relay(call.func.attr):
        return None
    if model.names.is_self(call.func.value) and _writes_itself(call, model):
        return None  # its own line is reported
    return LogCall(call, own=True) if model.effects.writes_log_by_method(call) else None


def _writes_itself(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a method of this file writes to a log that is turned on for a whole run, or not at all:
    `if self.logger: self.logger.log_metrics(…)`.
    """
    found = (model.types.definition(target) for target in model.types.call_targets(call))
    return any(function is not None and model.once(_is_switched_on, function) for function in found)


def _is_switched_on(function: Function, model: SemanticModel) -> bool:
    for node in descendants(function):
        if isinstance(node, ast.Call) and model.effects.writes_log(node):
            guards = model.frequency.conditions(node)
            if guards and all(is_switch(guard) for guard in guards):
                return last_name(node.func) != "print" and not model.effects.relays_log(node)
    return False


def counts(statement: ast.stmt) -> bool:
    """Whether a statement advances a progress bar of the project, which has to know of each step."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(call := statement.value, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and not _METHOD.search(call.func.attr)
        and bool(_BAR.search((last_name(call.func.value) or "").lower()))
    )


def redraws_bars(run: Sequence[ast.stmt], model: SemanticModel) -> list[ast.Call]:
    """Return the calls of the statements if all of them draw a progress bar; empty otherwise."""
    calls = [
        statement.value
        for statement in run
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    ]
    drawn = all(last_name(call.func) in _REDRAWS and model.effects.writes_log(call) for call in calls)
    return calls if len(calls) == len(run) and drawn else []


def writes_together(statement: ast.stmt, model: SemanticModel) -> list[ast.stmt]:
    """Return the consecutive statements that write to a log, including the first; empty if the statement is
    not the first.
    """
    block, first = model.syntax.block(statement)
    if first > 0 and log_write(block[first - 1], model) is not None:
        return []
    last = first
    while last + 1 < len(block) and log_write(block[last + 1], model) is not None:
        last += 1
    return block[first : last + 1]


def whole_choice(statement: ast.stmt, model: SemanticModel) -> ast.stmt:
    """Return the outermost `if` around a statement whose branches both write, so that it always writes."""
    parent = model.parent(statement)
    while isinstance(parent, ast.If) and all(
        any(log_write(part, model) is not None for part in branch) for branch in (parent.body, parent.orelse)
    ):
        statement, parent = parent, model.parent(parent)
    return statement


def writes_rare_values(run: Sequence[ast.stmt], model: SemanticModel) -> bool:
    """Whether one of the statements writes a dict that a condition in the loop adds values to, such as the
    return of an episode at its end.
    """
    loop = model.frequency.driving_loop(run[0])
    if loop is None:
        return False
    names = {node.id for statement in run for node in descendants(statement) if isinstance(node, ast.Name)}
    for _ in range(2):  # `log.update(episode_log)`: the content of the argument counts as well
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
    """Whether a node is under a condition in the loop that does not guard the statements."""
    around = set(model.ancestors(run[0]))
    for parent in model.ancestors(node):
        if parent is loop or parent in around:
            return False
        if isinstance(parent, ast.If):
            return True
    return False
