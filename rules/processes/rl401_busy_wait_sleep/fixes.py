"""Conditions shared by the fixes of waits."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Applicability, Edit, Fix, SemanticModel, Type, TypeTag

_KILLED = "a process that is killed during the wait may leave the internal lock held forever"
_SIGNALLED = (
    "a signal handler that sets the event may deadlock on the lock that its own thread holds in `wait`"
)
_ENDINGS = frozenset({"terminate", "kill"})


def repeatable(subject: ast.expr, model: SemanticModel) -> bool:
    """Whether an expression can be evaluated once more, and its source inserted elsewhere."""
    return bool(model.effects.effect_of(subject).quiet and model.edit.is_relocatable(subject))


def hazards(kind: Type, model: SemanticModel) -> Iterator[str]:
    """Yield the hazards of locks in events and queues: a killed process never releases those shared between
    processes, and a signal handler runs in the thread that may hold them.
    """
    managed = kind.of.startswith("multiprocessing.managers.")
    if kind.of.startswith("multiprocessing.") and not managed and _kills(model):
        yield _KILLED
    if kind.tag is TypeTag.EVENT and not managed and _handles_signals(model):
        yield _SIGNALLED


def overridden(subject: ast.expr, methods: tuple[str, ...], model: SemanticModel) -> Iterator[str]:
    """Yield the condition if classes of the project override methods that a fix calls."""
    if model.types.may_override(subject, *methods):
        names = " and ".join(f"`{name}`" for name in methods)
        yield (
            f"{names} of `{shown(subject, model)}` must be the library's methods, but classes in this "
            "project override them"
        )


def _kills(model: SemanticModel) -> bool:
    """Whether the project kills processes."""
    return any(
        call.method in _ENDINGS
        for module in model.index.modules.values()
        for function in module.functions.values()
        for call in function.calls
    )


def _handles_signals(model: SemanticModel) -> bool:
    """Whether the program handles signals: also in another file, whose handler may set the event."""
    return model.program.mentions("signal", "add_signal_handler") or any(
        model.names.qualified(call.func) == "signal.signal" for call in model.syntax.of_type(ast.Call)
    )


def fix_of(title: str, edits: list[Edit | None], reasons: list[str]) -> Fix | None:
    """Return a fix that is safe if there is no condition; None if one of the edits is impossible."""
    made = [edit for edit in edits if edit is not None]
    if len(made) != len(edits):
        return None
    return Fix(
        title,
        Applicability.UNSAFE if reasons else Applicability.SAFE,
        tuple(made),
        "; ".join(reasons) or None,
    )


def shown(expression: ast.expr, model: SemanticModel) -> str:
    """Return the text of an expression, short enough for a message."""
    text = " ".join(model.source.text(expression).split())
    return text if len(text) <= 50 else f"{text[:47]}..."
