"""Loop variables: counts, keys, or elements of the iterated object."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from rlint import models
from rlint.enums import Enum
from rlint.frozen import frozen
from rlint.models.trait import Trait
from rlint.semantics.frequency.loops import BOUNDED, AnyLoop
from rlint.syntax.syntax_index import COMPREHENSIONS
from rlint.syntax.walk import descendants

_SAME_ITEMS = models.having(Trait.SAME_ITEMS, "builtins", "tqdm") | {"tqdm.rich.tqdm", "rich.progress.track"}


class ItemKind(Enum):
    """Relation of a loop variable to the object that the loop iterates over."""

    COUNT = "count"  # 0, 1, 2, … of `range` and `enumerate`
    KEY = "key"  # of a dictionary
    ELEMENT = "element"  # of the iterable, or a part of one


@frozen
class LoopItem:
    """The meaning of one loop variable.

    `over` is the iterated object, without `enumerate`, `zip`, progress bars and `.items()`: `states` for the
    `s` of `for i, (s, a) in enumerate(zip(states, actions))`. `is_part` says that the variable is only a part
    of an element (`reward` of `for state, reward in batch`).
    """

    name: str
    sort: ItemKind
    over: ast.expr
    is_part: bool = False


Qualified = Callable[[ast.expr], "str | None"]


def items_of(loop: AnyLoop, qualified: Qualified) -> dict[str, LoopItem]:
    """Return the variables of a `for` loop or comprehension, by name; of several comprehension clauses, those
    of the last. Empty for `while`.
    """
    if isinstance(loop, ast.While):
        return {}
    clause = loop.generators[-1] if isinstance(loop, COMPREHENSIONS) else loop
    assert isinstance(clause, (ast.For, ast.AsyncFor, ast.comprehension))
    return {item.name: item for item in _pairs(clause.target, clause.iter, qualified)}


def is_short(loop: AnyLoop, qualified: Qualified) -> bool:
    """Whether a loop iterates over a short display, or a small constant number of times."""
    if isinstance(loop, ast.While):
        return False
    iterable = loop.generators[-1].iter if isinstance(loop, COMPREHENSIONS) else loop.iter
    while isinstance(iterable, ast.Call) and iterable.args:
        path = qualified(iterable.func) or ""
        if path == "builtins.range":
            ends = [argument.value for argument in iterable.args if isinstance(argument, ast.Constant)]
            return len(ends) == len(iterable.args) and all(
                isinstance(end, int) and abs(end) <= BOUNDED for end in ends
            )
        if path == "builtins.zip":
            return any(isinstance(part, (ast.Tuple, ast.List, ast.Set, ast.Dict)) for part in iterable.args)
        if path != "builtins.enumerate" and path not in _SAME_ITEMS:
            return False
        iterable = iterable.args[0]
    return isinstance(iterable, (ast.Tuple, ast.List, ast.Set, ast.Dict))


def _pairs(target: ast.expr, iterable: ast.expr, qualified: Qualified) -> Iterator[LoopItem]:
    if isinstance(iterable, ast.Call):
        path = qualified(iterable.func) or ""
        parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
        if path == "builtins.range":
            if isinstance(target, ast.Name) and len(iterable.args) < 3:
                yield LoopItem(target.id, ItemKind.COUNT, iterable)
            elif isinstance(target, ast.Name):
                yield LoopItem(target.id, ItemKind.KEY, iterable)  # the starts of slices
            return
        if path == "builtins.enumerate" and len(parts) == 2 and iterable.args:
            if isinstance(parts[0], ast.Name):
                yield LoopItem(parts[0].id, ItemKind.COUNT, iterable.args[0])
            yield from _pairs(parts[1], iterable.args[0], qualified)
            return
        if path == "builtins.zip" and len(parts) == len(iterable.args):
            for part, argument in zip(parts, iterable.args, strict=True):
                if not isinstance(argument, ast.Starred) and not isinstance(part, ast.Starred):
                    yield from _pairs(part, argument, qualified)
            return
        if path in _SAME_ITEMS and iterable.args:
            yield from _pairs(target, iterable.args[0], qualified)
            return
        if isinstance(iterable.func, ast.Attribute) and not iterable.args and not iterable.keywords:
            owner, method = iterable.func.value, iterable.func.attr
            if method == "items" and len(parts) == 2:
                if isinstance(parts[0], ast.Name):
                    yield LoopItem(parts[0].id, ItemKind.KEY, owner)
                yield from _pairs(parts[1], owner, qualified)
                return
            if method == "keys" and isinstance(target, ast.Name):
                yield LoopItem(target.id, ItemKind.KEY, owner)
                return
            if method == "values":
                yield from _pairs(target, owner, qualified)
                return
    for node in descendants(target):
        if isinstance(node, ast.Name):
            yield LoopItem(node.id, ItemKind.ELEMENT, iterable, is_part=node is not target)
