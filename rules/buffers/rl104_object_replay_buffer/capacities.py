"""The known capacity of a replay buffer, and how its deque is read."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.rule import Impact, ImpactLevel, ProgramScale, SemanticModel, TypeTag
from rlint.rules.buffers._shared.observed import are_frames

_LITTLE_MEMORY = 10_000
_LITTLE_WITHOUT_IMAGES = 100_000
"""So many transitions of a few numbers take some ten megabytes."""
_ONE_BY_ONE = "each batch is built from objects one by one"
_MAXLEN = 1
_CAPACITIES = ("buffer_size", "memory_size", "replay_size", "capacity")


def stated_impact(uses: Sequence[ast.Name | ast.Attribute], model: SemanticModel) -> Impact | None:
    """Return the impact for a buffer whose transitions take little memory in any form, or whose transitions
    share the frames that they consist of: then it is the work for each batch that counts. None for larger
    ones, or if the capacity is not known.
    """
    if are_frames(model):
        return Impact(ImpactLevel.MEDIUM, f"{_ONE_BY_ONE} (two transitions share each frame in memory)")
    capacity = capacity_of(uses, model)
    small = model.program.scale() in (ProgramScale.SMALL, ProgramScale.SIMULATED)
    if capacity is None or not 0 < capacity <= (_LITTLE_WITHOUT_IMAGES if small else _LITTLE_MEMORY):
        return None
    return Impact(
        ImpactLevel.MEDIUM,
        f"{_ONE_BY_ONE} ({capacity:,} transitions take little memory in any form)",
    )


def capacity_of(uses: Sequence[ast.Name | ast.Attribute], model: SemanticModel) -> int | None:
    """Return the likely largest number of items of a buffer: of its deque, or by the settings of the
    program.
    """
    for use in uses:
        made = model.names.assigned(use) if isinstance(use.ctx, ast.Store) else None
        if not isinstance(made, ast.Call) or model.names.qualified(made.func) != "collections.deque":
            continue
        given = {keyword.arg: keyword.value for keyword in made.keywords}
        size = given.get("maxlen") or (made.args[_MAXLEN] if len(made.args) > _MAXLEN else None)
        if size is not None and (number := model.sizes.number(size)) is not None:
            return number
    found = (model.sizes.setting(name) for name in _CAPACITIES)
    return next((number for number in found if number is not None), None)


def scans_deque(draw: ast.AST, model: SemanticModel) -> bool:
    """Whether `random.sample` draws from a deque, where it walks to each item from the nearer end."""
    match draw:
        case ast.Call(func=func, args=[drawn, *_]):
            is_sample = model.names.qualified(func) in ("random.sample", "random.choices")
            return is_sample and model.types.type_of(drawn).tag is TypeTag.DEQUE
    return False
