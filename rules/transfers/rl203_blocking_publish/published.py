"""State dicts that are moved to the host, and the moves in them."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, Device, SemanticModel, frozen, weight_sync

_MAKES_A_DICT = frozenset({"builtins.dict", "collections.OrderedDict"})
_SAME_TENSOR = frozenset({"detach", "contiguous"})


@frozen
class Moved:
    """`node` moves `original` to the host; the tensors are those of the network `owner` (or the tensor)."""

    node: ast.Call
    original: ast.expr
    owner: ast.expr

    @property
    def shown(self) -> str:
        """The move as the program writes it."""
        return ".cpu()" if getattr(self.node.func, "attr", "") == "cpu" else ".to(...)"


def move_in(value: ast.expr, model: SemanticModel) -> Moved | None:
    """The move to the host in `v.detach().cpu()`."""
    found: tuple[ast.Call, ast.expr] | None = None
    while True:
        match value:
            case ast.Call(func=ast.Attribute(value=inner, attr="cpu"), args=[], keywords=[]):
                found = found or (value, inner)
            case ast.Call(func=ast.Attribute(value=inner, attr="to"), args=[target], keywords=[]) if (
                model.types.device_of(target) is Device.HOST
            ):
                found = found or (value, inner)
            case ast.Call(func=ast.Attribute(value=inner, attr=method), args=[], keywords=[]) if (
                method in _SAME_TENSOR
            ):
                pass
            case ast.Attribute(value=inner, attr="data"):
                pass
            case _:
                return Moved(*found, value) if found else None
        value = inner


def moved_state(given: ast.expr, model: SemanticModel) -> Moved | None:
    """The move in an expression that is the state of a network, each tensor moved under its own key."""
    match given:
        case ast.DictComp(key=ast.Name(id=key), value=value, generators=[generator]):
            return _moved_items(key, value, generator, model)
        case ast.Call(func=func, args=[ast.GeneratorExp() | ast.ListComp() as pairs], keywords=[]):
            match pairs.elt:
                case ast.Tuple(elts=[ast.Name(id=key), value]) if len(pairs.generators) == 1:
                    if model.names.qualified(func) in _MAKES_A_DICT:
                        return _moved_items(key, value, pairs.generators[0], model)
    return None


def _moved_items(key: str, value: ast.expr, items: ast.comprehension, model: SemanticModel) -> Moved | None:
    if items.ifs or items.is_async:
        return None
    return _moved_item(key, value, items.target, items.iter, model)


def _moved_item(
    key: str, value: ast.expr, target: ast.expr, iterable: ast.expr, model: SemanticModel
) -> Moved | None:
    """`key: v.cpu()` for `key, v in net.state_dict().items()`, or for `key in net.state_dict()`."""
    moved = move_in(value, model)
    if moved is None:
        return None
    root = moved.owner
    match target, iterable:
        case (
            ast.Tuple(elts=[ast.Name(id=first), ast.Name(id=second)]),
            ast.Call(func=ast.Attribute(value=state, attr="items"), args=[], keywords=[]),
        ):
            same = first == key and isinstance(root, ast.Name) and root.id == second
        case ast.Name(id=first), _:
            match iterable:
                case ast.Call(func=ast.Attribute(value=inner, attr="keys"), args=[], keywords=[]):
                    state = inner
                case _:
                    state = iterable
            match root:
                case ast.Subscript(value=taken_from, slice=ast.Name(id=index)):
                    same = first == key == index and ast.dump(taken_from) == ast.dump(state)
                case _:
                    same = False
        case _:
            return None
    owner = weight_sync.state_owner(state, model) if same else None
    return Moved(moved.node, moved.original, owner) if owner is not None else None


def filled_by_loop(argument: ast.expr, load: ast.Call, model: SemanticModel) -> Moved | None:
    """The move in a loop that fills an empty dict with the state, which is loaded and used for nothing else:
    `for k, v in net.state_dict().items(): state[k] = v.cpu()`.
    """
    if not isinstance(argument, ast.Name):
        return None
    scope = model.names.scope(argument).lookup(argument.id)
    bindings = model.names.bindings(argument)
    if scope is None or len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGN:
        return None
    if not _is_empty_dict(bindings[0].value, model) or model.names.is_captured(argument.id, scope):
        return None
    others = [use for use in model.names.reads(argument.id, scope) if use is not argument]
    if len(others) != 1 or model.frequency.loops(bindings[0].statement) != model.frequency.loops(load):
        return None
    stored = model.parent(others[0])
    assignment = model.parent(stored) if stored is not None else None
    loop = model.parent(assignment) if assignment is not None else None
    match stored, assignment, loop:
        case (
            ast.Subscript(slice=ast.Name(id=key)),
            ast.Assign(targets=[target], value=value),
            ast.For(target=variables, iter=iterable, body=[_]),
        ) if target is stored:
            return _moved_item(key, value, variables, iterable, model)
    return None


def _is_empty_dict(value: ast.expr | None, model: SemanticModel) -> bool:
    match value:
        case ast.Dict(keys=[]):
            return True
        case ast.Call(func=func, args=[], keywords=[]):
            return model.names.qualified(func) in _MAKES_A_DICT
    return False
