"""Work done while a lock is held, though it could be done before or after."""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterator

from rlint.rule import (
    BindingKind,
    EffectKind,
    LockSection,
    SemanticModel,
    TypeTag,
    descendants,
    frozen,
    last_name,
)

_SAMPLES = frozenset({"sample", "sample_batch", "sample_transitions", "get_batch"})
_STORES = frozenset({TypeTag.UNKNOWN, TypeTag.INSTANCE, TypeTag.REPLAY_BUFFER})
_WAITS = (
    EffectKind.SLEEPS
    | EffectKind.NETWORK
    | EffectKind.COMMUNICATES
    | EffectKind.FILE_IO
    | EffectKind.LOADS_MODEL
)
_JOINS = frozenset(
    f"{package}.{name}"
    for package, names in {
        "numpy": "concatenate stack vstack hstack array asarray copy",
        "torch": "cat stack tensor as_tensor",
        "copy": "deepcopy",
    }.items()
    for name in names.split()
)
_SLEEPS = frozenset({"time.sleep", "asyncio.sleep"})
_LEARNS = frozenset({"backward"})


class WorkKind(enum.Enum):
    """Kinds of work under a lock."""

    SAMPLE = "samples a whole batch"
    COPY = "copies arrays"
    FORWARD = "runs a network"
    LEARN = "computes gradients"
    WAIT = "waits for I/O or a timer"


@frozen
class LockedWork:
    """A call that works while the lock of `section` is held."""

    section: LockSection
    call: ast.Call
    sort: WorkKind


def work_under(section: LockSection, model: SemanticModel) -> LockedWork | None:
    """Return the first call of a section that works on nothing that the lock guards, or draws a batch."""
    guarded = model.threads.guarded_names(section)
    for statement in section.body:
        for node in descendants(statement):
            if isinstance(node, ast.Call) and section in model.threads.locks_held(node):
                sort = _sort_of(node, guarded, section, model)
                if sort is not None:
                    return LockedWork(section, node, sort)
    return None


def _sort_of(
    call: ast.Call, guarded: frozenset[str], section: LockSection, model: SemanticModel
) -> WorkKind | None:
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    qualified = model.names.qualified(call.func)
    if method in _SAMPLES and owner is not None and qualified is None and (call.args or call.keywords):
        return WorkKind.SAMPLE if model.types.type_of(owner).tag in _STORES else None
    if set(_names_in(call, model)) & guarded or _shares_name_with_lock(call, section):
        return None  # the lock guards the object of this work
    if qualified in _JOINS and not _is_small(call):
        return WorkKind.COPY
    if method in _LEARNS and not call.keywords and not call.args:
        return WorkKind.LEARN
    if model.types.type_of(call.func).tag is TypeTag.MODULE:
        return WorkKind.FORWARD
    if not model.effects.call_effect(call).kind & _WAITS or (qualified is None and owner is not None):
        return None
    return None if qualified in _SLEEPS and _is_rate_limit(call, guarded, model) else WorkKind.WAIT


def _names_in(call: ast.Call, model: SemanticModel) -> Iterator[str]:
    """Yield the names of state in a call, without variables that the function has bound itself."""
    for node in descendants(call):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name) and not all(
            b.kind is BindingKind.ASSIGN for b in model.dataflow.definitions(node)
        ):
            yield node.id


def _is_rate_limit(call: ast.Call, guarded: frozenset[str], model: SemanticModel) -> bool:
    """Whether the duration of a sleep is computed from what the lock guards, as in a rate limiter."""
    names = (node for node in descendants(call) if isinstance(node, ast.Name))
    values = (binding.value for name in names for binding in model.dataflow.definitions(name))
    return any(
        isinstance(node, ast.Attribute) and node.attr in guarded
        for value in values
        if value is not None
        for node in descendants(value)
    )


def _shares_name_with_lock(call: ast.Call, section: LockSection) -> bool:
    """Whether the lock is named after the object of the work: `with self.model_lock: self.model(states)`."""
    words = set(section.name.lower().strip("_").split("_")) - {"lock", "mutex"}
    subject = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    names = {(last_name(subject) or "").lower().strip("_"), (last_name(call.func) or "").lower().strip("_")}
    return any(word in name.split("_") for word in words if len(word) > 1 for name in names)


def _is_small(call: ast.Call) -> bool:
    """Whether an array of a few constants or names is created, as by `np.array([a, b])`, which is cheap."""
    match call.args:
        case [ast.Constant() | ast.List(elts=[] | [_] | [_, _])]:
            return True
    return not call.args
