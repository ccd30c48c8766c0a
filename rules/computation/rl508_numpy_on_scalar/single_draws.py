"""Single draws by `numpy.random` of one number, or of one item of a list."""

from __future__ import annotations

import ast

from rlint.rule import (
    Applicability,
    Edit,
    Fix,
    SemanticModel,
    TypeTag,
    descendants,
    frozen,
    is_constant,
    last_name,
    last_names,
    regex,
)
from rlint.rules.computation.rl508_numpy_on_scalar.scalar_calls import LONG, is_plain, is_single

_CHOICE, _UNIFORM = "numpy.random.choice", "numpy.random.uniform"
DRAWS = last_names(_CHOICE, _UNIFORM)
_NAMES_ACTIONS = regex(
    r"^_?((legal|valid|possible|available)_)?(actions|moves|action_space|availables|choices)(_list)?$"
)
"""Names of lists of actions; `n_actions` is a number."""


@frozen
class SingleDraw:
    """What a call draws, and what to do instead. `often` says that it takes microseconds: only a draw in each
    step is worth a finding. `assumes` is what must hold of a value of unknown type.
    """

    message: str
    advice: str
    fix: Fix | None
    often: bool = False
    assumes: str | None = None


def single_draw(call: ast.Call, model: SemanticModel) -> SingleDraw | None:
    """Return a draw of one number or item, for which numpy converts its arguments to arrays."""
    if any(isinstance(given, ast.Starred) for given in call.args):
        return None
    qualified = model.names.qualified(call.func)
    if qualified == _UNIFORM:
        return _number_between(call, model)
    return _item_by_weight(call, model) or _item(call, model) if qualified == _CHOICE else None


def _number_between(call: ast.Call, model: SemanticModel) -> SingleDraw | None:
    """Match `np.random.uniform()`, `np.random.uniform(low, high)`."""
    bounds: dict[str | None, ast.expr] = dict(zip(("low", "high", "size"), call.args, strict=False))
    bounds.update({keyword.arg: keyword.value for keyword in call.keywords})
    if len(bounds) != len(call.args) + len(call.keywords) or bounds.keys() - {"low", "high"}:
        return None
    if not all(is_single(bound, model) for bound in bounds.values()):
        return None
    called = model.source.text(call.func)
    message = f"`{called}` converts its bounds to arrays to draw one number"
    if not (_is_number(bounds.get("low"), 0) and _is_number(bounds.get("high"), 1)):
        return SingleDraw(message, "Write `low + (high - low) * np.random.random()`", None, often=True)
    random = _named(call, "random", model)
    fix = None
    if random is not None and model.edit.is_relocatable(call):
        reason = "code that replaces `np.random.uniform` no longer reaches this draw"
        edit = model.edit.replace(call, f"{random}()")
        fix = Fix(f"Use `{random}`", Applicability.UNSAFE, (edit,), reason)
    return SingleDraw(message, "Use `np.random.random()`, which draws the same number", fix, often=True)


def _is_number(bound: ast.expr | None, default: int) -> bool:
    """True for a bound that is left out, or written as its default."""
    return bound is None or (
        isinstance(bound, ast.Constant) and type(bound.value) in (int, float) and bound.value == default
    )


def _item_by_weight(call: ast.Call, model: SemanticModel) -> SingleDraw | None:
    """Match `np.random.choice([a, b], p=weights)`, `np.random.choice(range(n), p=weights)`."""
    match call:
        case ast.Call(args=[items], keywords=[ast.keyword(arg="p", value=weights)]):
            pass
        case _:
            return None
    if is_constant(weights, None) or not (_is_list(items, model) or _is_range(items, model)):
        return None
    if _is_range(items, model) and not _is_computed(weights, model):
        return None  # `choice-for-indices` says that the sums can be kept
    called = model.source.text(call.func)
    return SingleDraw(
        f"`{called}` converts {_shown(items, model)} to an array, and checks and sums `p`, to pick one item",
        "Pick the index with `np.searchsorted(np.cumsum(p), np.random.random(), side='right')`, or use "
        "`random.choices(items, weights=p)[0]`",
        None,
    )


def _item(call: ast.Call, model: SemanticModel) -> SingleDraw | None:
    """Match `np.random.choice([a, b])`."""
    match call:
        case ast.Call(args=[items], keywords=[]) if _is_list(items, model):
            called = model.source.text(call.func)
            return SingleDraw(
                f"`{called}` converts {_shown(items, model)} to an array to pick one item",
                "Pick an index with `randint`, and take the item from the list",
                _pick_by_index(call, items, model),
            )
        case ast.Call(args=[ast.Attribute() | ast.Name() as items], keywords=[]) if not model.types.type_of(
            items
        ) and _NAMES_ACTIONS.search((last_name(items) or "").lower()):
            called, shown = model.source.text(call.func), _shown(items, model)
            return SingleDraw(
                f"`{called}` converts {shown} to an array to pick one item",
                "Pick an index with `randint`, and take the item from the list",
                None,
                often=True,
                assumes=f"{shown} is a list",
            )
    return None


def _is_list(items: ast.expr, model: SemanticModel) -> bool:
    if isinstance(items, (ast.List, ast.Tuple)):
        return bool(items.elts) and not any(isinstance(item, ast.Starred) for item in items.elts)
    kind = model.types.type_of(items)
    return kind.tag in (TypeTag.LIST, TypeTag.TUPLE) and not kind.optional


def _is_range(items: ast.expr, model: SemanticModel) -> bool:
    return isinstance(items, ast.Call) and model.names.qualified(items.func) == "builtins.range"


def _is_computed(weights: ast.expr, model: SemanticModel) -> bool:
    """True if the weights are computed for this draw."""
    if not isinstance(weights, ast.Name):
        return not isinstance(weights, ast.Attribute) and any(
            isinstance(part, (ast.Name, ast.Attribute)) for part in descendants(weights)
        )
    loops = model.frequency.loops(weights)
    around = model.function(weights)
    inside = set(descendants(loops[0])) if loops else None
    bindings = model.dataflow.definitions(weights)
    return bool(bindings) and all(
        binding.statement in inside if inside is not None else model.function(binding.node) is around
        for binding in bindings
    )


def _shown(items: ast.expr, model: SemanticModel) -> str:
    text = " ".join(model.source.text(items).split())
    return f"`{text}`" if len(text) < LONG else "the list"


def _named(call: ast.Call, name: str, model: SemanticModel) -> str | None:
    """Return how another function of `numpy.random` is written here."""
    if isinstance(call.func, ast.Attribute):
        return f"{model.source.text(call.func.value)}.{name}"
    return model.names.spelled(f"numpy.random.{name}", call)


def _pick_by_index(call: ast.Call, items: ast.expr, model: SemanticModel) -> Fix | None:
    """Return the fix `items[np.random.randint(len(items))]`."""
    if isinstance(model.parent(call), ast.Attribute) or not model.edit.is_relocatable(call):
        return None
    randint = _named(call, "randint", model)
    if randint is None:
        return None
    text = model.source.text(items)
    if isinstance(items, (ast.List, ast.Tuple)):
        if not all(is_plain(item) and model.effects.effect_of(item).quiet for item in items.elts):
            return None
        picked = f"{text}[{randint}({len(items.elts)})]"
    elif isinstance(items, (ast.Name, ast.Attribute)) and model.names.scope(call).lookup("len") is None:
        picked = f"{text}[{randint}(len({text}))]"
    else:
        return None
    edits: tuple[Edit, ...] = (model.edit.replace(call, picked),)
    reason = "the result is the item itself, where NumPy returned a copy in the common dtype"
    return Fix("Pick the item by its index", Applicability.UNSAFE, edits, reason)
