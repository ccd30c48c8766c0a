"""Copies of a network's weights to the host, one after the other, in whatever form."""

from __future__ import annotations

import ast

from rlint.rule import COMPREHENSIONS, SemanticModel, Trait, TypeTag, frozen, last_name, models, vocabulary
from rlint.rules.transfers.rl203_blocking_publish.published import Moved, move_in

_ALL_WEIGHTS = frozenset(
    {"state_dict", *(f"{of}{kind}" for of in ("", "named_") for kind in ("parameters", "buffers"))}
)
_PAIRS = frozenset({"items", "values"})
_CASTS = models.having(Trait.CASTS | Trait.COPIES | Trait.SAME_VALUES, TypeTag.TENSOR)
_COMPUTES = models.names_having(
    Trait.REDUCES | Trait.DIFFERS | Trait.HASHES, "torch", TypeTag.TENSOR, "hashlib", "zlib"
) | {"copy_", "load_state_dict", "item", "tobytes"}
_DEPTH = 3


@frozen
class MovedWeights:
    """`move` copies one weight of the network `owner` to the host, each time that `around` iterates."""

    move: Moved
    around: ast.AST
    owner: ast.expr


def moved_one_by_one(move: ast.Call, model: SemanticModel) -> MovedWeights | None:
    """Return what the outermost `x.cpu()` or `x.to("cpu")` of an expression copies, if `x` is a weight that a
    loop, comprehension or mapped function takes from a network; also `copy.deepcopy(net).cpu()`.
    """
    moved = move_in(move, model)
    if moved is None or moved.node is not move or _is_other_rule(move, model):
        return None
    source = _without_casts(moved.owner)
    if isinstance(source, ast.Call) and model.names.qualified(source.func) == "copy.deepcopy" and source.args:
        network = source.args[0]
        is_network = model.types.type_of(network).tag is TypeTag.MODULE
        return MovedWeights(moved, move, network) if is_network else None
    if isinstance(source, ast.Subscript):
        return _of_item(source, moved, model)
    if not isinstance(source, ast.Name):
        return None
    return _of_loop(source, moved, model) or _of_lambda(source, moved, model)


def _is_other_rule(move: ast.Call, model: SemanticModel) -> bool:
    """Whether a copy is the source of `copy_`, or part of what is loaded: both copy from any device. Or
    whether something is only computed from it (`(mine.cpu() - theirs).norm()`), or compared.
    """
    for above in model.ancestors(move):
        if isinstance(above, ast.stmt):
            return isinstance(above, ast.AugAssign)
        if isinstance(above, (ast.BinOp, ast.Compare)):
            return True
        if isinstance(above, ast.Call) and last_name(above.func) in _COMPUTES:
            return True
    return False


def _without_casts(tensor: ast.expr) -> ast.expr:
    while True:
        match tensor:
            case ast.Attribute(value=inner, attr="data"):
                tensor = inner
            case ast.Call(func=ast.Attribute(value=inner, attr=method), args=[]) if method in _CASTS:
                tensor = inner
            case _:
                return tensor


def _of_loop(name: ast.Name, moved: Moved, model: SemanticModel) -> MovedWeights | None:
    for above in model.ancestors(name):
        if isinstance(above, ast.For):
            target, iterable = above.target, above.iter
        elif isinstance(above, COMPREHENSIONS) and len(above.generators) == 1:
            target, iterable = above.generators[0].target, above.generators[0].iter
        elif isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return None
        else:
            continue
        part = _part_of(target, name.id)
        if part is None:
            continue
        if isinstance(iterable, ast.Call) and model.names.qualified(iterable.func) == "builtins.zip":
            iterable = iterable.args[part[0]] if part and part[0] < len(iterable.args) else iterable
        owner = network_of(iterable, model)
        return MovedWeights(moved, above, owner) if owner is not None else None
    return None


def _part_of(target: ast.expr, name: str) -> tuple[int, ...] | None:
    """Return the path to a name in the target of a loop."""
    match target:
        case ast.Name(id=found):
            return () if found == name else None
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for place, part in enumerate(parts):
                below = _part_of(part, name)
                if below is not None:
                    return (place, *below)
    return None


def _of_item(item: ast.Subscript, moved: Moved, model: SemanticModel) -> MovedWeights | None:
    """Return the copy of `state[name]` in a loop over the names of a state, or of `pair[1]` in a lambda."""
    if isinstance(item.value, ast.Name) and isinstance(item.slice, ast.Constant):
        return _of_lambda(item.value, moved, model) or _of_loop(item.value, moved, model)
    if not isinstance(item.slice, ast.Name):
        return None
    owner = network_of(item.value, model)
    for above in model.ancestors(item):
        if isinstance(above, ast.For) and _part_of(above.target, item.slice.id) is not None:
            return MovedWeights(moved, above, owner) if owner is not None else None
    return None


def _of_lambda(name: ast.Name, moved: Moved, model: SemanticModel) -> MovedWeights | None:
    """Return the copy in `map(lambda pair: pair[1].cpu(), net.named_parameters())`."""
    for above in model.ancestors(name):
        if isinstance(above, ast.Lambda):
            mapping = model.parent(above)
            if not isinstance(mapping, ast.Call) or last_name(mapping.func) not in vocabulary.MAPS_PARTS:
                return None
            if [each.arg for each in above.args.args] != [name.id] or mapping.args[:1] != [above]:
                return None
            owner = network_of(mapping.args[1], model) if len(mapping.args) == 2 else None
            return MovedWeights(moved, mapping, owner) if owner is not None else None
    return None


def network_of(iterable: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> ast.expr | None:
    """Return the network whose weights an expression iterates over, also through a variable for its state."""
    match iterable:
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in _ALL_WEIGHTS:
            return owner
        case ast.Call(func=ast.Attribute(value=state, attr=method), args=[]) if method in _PAIRS and depth:
            return network_of(state, model, depth - 1)
        case ast.Call(func=func, args=[state]) if depth and model.names.qualified(func) in (
            "builtins.list",
            "builtins.dict",
            "builtins.enumerate",
        ):
            return network_of(state, model, depth - 1)
        case ast.Name() if depth:
            bound = model.dataflow.definitions(iterable)
            value = bound[0].value if len(bound) == 1 and not bound[0].path else None
            return network_of(value, model, depth - 1) if isinstance(value, ast.Call) else None
    return None
