"""Sources of tensors in a loop (for RL304): the network, and the access."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, SemanticModel, TypeTag, frozen
from rlint.rules.networks.rl304_looped_target_update.blends import MOVED, bare

_SAME_ITEMS = frozenset({"builtins.list", "builtins.tuple", "builtins.iter", "builtins.reversed"})
_LISTS = frozenset({"builtins.list", "builtins.tuple"})
_READ_BY = _SAME_ITEMS | {"builtins.zip", "builtins.enumerate", "builtins.len"}
_DICTS = frozenset({"builtins.dict", "collections.OrderedDict"})
_DEPTH = 6


@frozen
class BlendedPart:
    """Tensors of `network`, one per iteration: its parameters, or all entries of its state dict (`state`).

    They come in the order of the network, or `backward`; not `complete` if code may take some out, or change
    their order, before the loop.
    """

    network: ast.expr
    state: bool
    backward: bool = False
    complete: bool = True


def source_of(tensor: ast.expr, model: SemanticModel) -> BlendedPart | None:
    """Return the source of a tensor in a loop; None if it is not known."""
    while (
        isinstance(tensor, ast.Call) and isinstance(tensor.func, ast.Attribute) and tensor.func.attr in MOVED
    ):
        tensor = tensor.func.value
    access = bare(tensor)
    return taken_from(access, model) if access is not None else None


def taken_from(access: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> BlendedPart | None:
    """Return the same for an access to the tensor."""
    if depth <= 0:
        return None
    match access:
        case ast.Name():
            bindings = model.dataflow.definitions(access)
            value = bindings[0].value if len(bindings) == 1 else None
            if value is None:
                return None
            (binding,) = bindings
            if binding.kind in (BindingKind.FOR, BindingKind.COMPREHENSION):
                return _iterated(value, binding.path, model, depth - 1)
            if binding.kind is BindingKind.ASSIGN and not binding.path:
                inner = bare(value)
                return taken_from(inner, model, depth - 1) if inner is not None else None
            match value, binding.path:
                case ast.Tuple(elts=elements), (place,) if 0 <= place < len(elements):
                    inner = bare(elements[place])  # `old, new = target.data, param.data`
                    return taken_from(inner, model, depth - 1) if inner is not None else None
        case ast.Subscript(value=owner):
            return _item(owner, model, depth - 1)
        case ast.Call(func=ast.Attribute(value=network, attr="get_parameter")):
            return BlendedPart(network, state=False)
    return None


def _iterated(
    iterable: ast.expr, path: tuple[int, ...], model: SemanticModel, depth: int
) -> BlendedPart | None:
    """Return what is at `path` of each item of an iterable."""
    if depth <= 0:
        return None
    match iterable, path:
        case ast.Call(func=ast.Attribute(value=network, attr="parameters")), ():
            return BlendedPart(network, state=False)
        case ast.Call(func=ast.Attribute(value=network, attr="named_parameters")), (1,):
            return BlendedPart(network, state=False)
        case ast.Call(func=ast.Attribute(value=weights, attr="items"), args=[]), (1,):
            return _item(weights, model, depth)
        case ast.Call(func=ast.Attribute(value=weights, attr="values"), args=[]), ():
            return _item(weights, model, depth)
        case ast.Call(func=func, args=args), _:
            callee = model.names.qualified(func)
            if callee == "builtins.zip" and path and 0 <= path[0] < len(args):
                return _iterated(args[path[0]], path[1:], model, depth - 1)
            if callee == "builtins.enumerate" and args and path[:1] == (1,):
                return _iterated(args[0], path[1:], model, depth - 1)
            if callee in _SAME_ITEMS and len(args) == 1:
                part = _iterated(args[0], path, model, depth - 1)
                if part is None or callee != "builtins.reversed":
                    return part
                return BlendedPart(part.network, part.state, not part.backward, part.complete)
        case ((ast.Name() | ast.Attribute()), _):
            value = _value(iterable, model)
            if value is not None:
                part = _iterated(value, path, model, depth - 1)
                if part is None or _is_only_read(iterable, value, model):
                    return part
                return BlendedPart(part.network, part.state, part.backward, complete=False)
            if model.types.type_of(iterable).tag is TypeTag.PARAMETERS and not path:
                return BlendedPart(iterable, state=False)
    return None


def _item(weights: ast.expr, model: SemanticModel, depth: int) -> BlendedPart | None:
    """Return the content of a dict of weights."""
    if depth <= 0:
        return None
    match weights:
        case ast.Call(func=ast.Attribute(value=network, attr="state_dict"), args=[]):
            return BlendedPart(network, state=True)
        case ast.Call(func=func, args=[pairs]) if model.names.qualified(func) in _DICTS:
            return _iterated(pairs, (1,), model, depth - 1)
        case ast.DictComp(value=held):
            inner = bare(held)
            return taken_from(inner, model, depth - 1) if inner is not None else None
        case ast.Name() | ast.Attribute():
            value = _value(weights, model)
            if value is not None:
                return _item(value, model, depth - 1)
            if model.types.type_of(weights).tag is TypeTag.STATE_DICT:
                return BlendedPart(weights, state=True)
    return None


def _value(access: ast.Name | ast.Attribute, model: SemanticModel) -> ast.expr | None:
    """Return the only value of a variable, or of an attribute of `self`."""
    if isinstance(access, ast.Name):
        bindings = model.dataflow.definitions(access)
        if len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGN and not bindings[0].path:
            return bindings[0].value
        return None
    if not (isinstance(access.value, ast.Name) and access.value.id == "self"):
        return None
    stores = [use for use in model.names.attribute_uses(access.attr) if isinstance(use.ctx, ast.Store)]
    if len(stores) != 1 or model.class_of(stores[0]) is not model.class_of(access):
        return None
    return model.names.assigned(stores[0])


def _is_only_read(access: ast.Name | ast.Attribute, value: ast.expr, model: SemanticModel) -> bool:
    """Whether a variable still holds all items of its value, in their order, wherever it is read: it is read
    once, or it is a list or tuple that no code modifies.
    """
    if isinstance(access, ast.Name):
        scope = model.names.scope(access).lookup(access.id)
        uses: list[ast.expr] = [*model.names.reads(access.id, scope)] if scope is not None else []
        if len(uses) == 1:
            return True
    else:
        uses = [use for use in model.names.attribute_uses(access.attr) if isinstance(use.ctx, ast.Load)]
        if model.program.is_read_in_other_file(access.attr):
            return False
    is_list = isinstance(value, ast.Call) and model.names.qualified(value.func) in _LISTS
    return is_list and bool(uses) and all(_only_reads(use, model) for use in uses)


def _only_reads(use: ast.expr, model: SemanticModel) -> bool:
    """Whether the place where a list is used leaves it as it is."""
    match model.parent(use):
        case ast.For() | ast.comprehension():
            return True
        case ast.Subscript(ctx=ast.Load()):
            return True
        case ast.Call(func=func) as call if func is not use:
            callee = model.names.qualified(func)
            is_made = model.types.type_of(call).tag is TypeTag.OPTIMIZER  # which copies the list
            return callee is not None and (callee in _READ_BY or is_made)
    return False
