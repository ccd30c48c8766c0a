"""Functions that copy their parameters to a device: `return torch.as_tensor(x, device=device)`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from rlint import models
from rlint.models import vocabulary
from rlint.models.trait import Trait
from rlint.models.value_type import Device, TypeTag
from rlint.semantics.types.devices import is_device
from rlint.semantics.types.infer import TypeInference
from rlint.syntax.last_names import last_name
from rlint.syntax.queries import target_of_move
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.syntax_index import Function, SyntaxIndex
from rlint.syntax.walk import descendants

_FROM_DATA = models.having(Trait.FROM_DATA, "torch", "numpy") | {
    "torch.from_numpy",
    "torch.autograd.Variable",
}
_KEEPS = (
    models.giving(TypeTag.TENSOR, TypeTag.TENSOR) | models.giving(TypeTag.NDARRAY, TypeTag.NDARRAY) | {"to"}
)
_LEGACY = "torch.cuda."
_DEPTH = 6
_MOVES = ("to", "cuda")
_ITEM = "[]"
"""Stands in the access path of an item over which a loop iterates."""
_LOOPED = (BindingKind.FOR, BindingKind.COMPREHENSION)


def copied_to_device(call: ast.Call, types: TypeInference) -> ast.expr | None:
    """Return what a call copies to a device that is not known to be the host: `x` in `x.cuda()`,
    `x.to(device)`, `x.to(**options)` and `torch.as_tensor(x, device=device)`.
    """
    match call:
        case ast.Call(func=ast.Attribute(value=source, attr="cuda")) if not _is_name_of_module(source, types):
            return source
        case ast.Call(func=ast.Attribute(value=source, attr="to")):
            target = target_of_move(call)
            if target is not None:
                is_named = is_device(target, types.type_of(target))
                return source if is_named and types.device_of(target) is not Device.HOST else None
            return source if any(word.arg is None for word in call.keywords) else None
        case ast.Call(args=[given, *_]):
            called = types.names.qualified(call.func) or ""
            if called.startswith(_LEGACY) and called.endswith("Tensor"):
                return given
            named = [word.value for word in call.keywords if word.arg == "device"]
            if named and called in _FROM_DATA:
                return given if types.device_of(named[0]) is not Device.HOST else None
    return None


def _is_name_of_module(source: ast.expr, types: TypeInference) -> bool:
    return types.names.qualified(source) is not None


def parameters_copied(
    function: Function,
    syntax: SyntaxIndex,
    types: TypeInference,
    definitions: Callable[[ast.Name], list[Binding]],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the parameters of a function that it copies to a device, as tensors made of them; and those that
    it only copies if they are no tensors: `if not torch.is_tensor(x): x = torch.tensor(x).to(device)`.
    """
    found: set[str] = set()
    converted: set[str] = set()
    for call in _copies_in(function, syntax):
        source = copied_to_device(call, types)
        copied = _parameters_of(source, function, types, definitions, _DEPTH) if source is not None else ()
        if source is not None and copied:
            (converted if _is_no_tensor(source, types) else found).update(copied)
    return tuple(sorted(found)), tuple(sorted(converted - found))


def _is_no_tensor(source: ast.expr, types: TypeInference) -> bool:
    """Whether a test shows that a variable is not a tensor where something made of it is copied."""
    tests = types.evidence.class_tests
    return any(
        tests.exclude_tensor(part) or tests.exclude_tensor_after(part)
        for part in descendants(source)
        if isinstance(part, ast.Name) and tests.is_tested(part.id)
    )


def items_copied(
    function: Function,
    syntax: SyntaxIndex,
    types: TypeInference,
    definitions: Callable[[ast.Name], list[Binding]],
) -> tuple[str, ...]:
    """Return the access paths of the items that a function gets from code in other files, in a loop, and
    copies to a device, whole or in parts: `data.loader()[]`.
    """
    found: set[str] = set()
    for call in _copies_in(function, syntax):
        source = copied_to_device(call, types)
        values = [source] if source is not None else []
        if isinstance(source, ast.Name):
            looped = (each.value for each in definitions(source) if each.kind in _LOOPED)
            values += [part for value in looped if value is not None for part in _containers(value)]
        kinds = (types.type_of(value) for value in values)
        found.update(kind.of for kind in kinds if not kind and _ITEM in kind.of)
    return tuple(sorted(found))


def _copies_in(function: Function, syntax: SyntaxIndex) -> Iterable[ast.Call]:
    """Return the calls of a function that may copy to a device."""
    calls = syntax.written.calls_of(_MOVES)
    placed = [
        syntax.parents[word]
        for word in syntax.of_type(ast.keyword)
        if word.arg == "device" and isinstance(syntax.parents[word], ast.Call)
    ]
    every = [*calls, *(call for call in placed if isinstance(call, ast.Call))]
    return [call for call in every if syntax.function(call) is function]


def _containers(iterable: ast.expr) -> list[ast.expr]:
    """Return the containers over whose items, or values, a loop iterates: `data` in `data.items()`, or the
    values themselves: `states` and `actions` in `(states, actions)`.
    """
    match iterable:
        case ast.Call(func=ast.Attribute(value=owner, attr="items" | "values"), args=[]):
            return [owner]
        case ast.Tuple(elts=values) | ast.List(elts=values):
            return values
    return [iterable]


def _parameters_of(
    source: ast.expr,
    function: Function,
    types: TypeInference,
    definitions: Callable[[ast.Name], list[Binding]],
    depth: int,
) -> set[str]:
    """Return the parameters from whose data a tensor is made, without computation."""
    while True:
        match source:
            case ast.Call(func=ast.Attribute(value=owner, attr=method)) if (
                method in _KEEPS and types.names.qualified(source.func) is None
            ):
                source = owner
            case ast.Call(func=func, args=[first, *_]) if (
                types.names.qualified(func) in _FROM_DATA or last_name(func) in vocabulary.CONVERTS_TO_TENSOR
            ):
                source = first
            case ast.Attribute(value=owner, attr="data" | "T"):
                source = owner
            case _:
                break
    if not isinstance(source, ast.Name) or depth <= 0:
        return set()
    found: set[str] = set()
    for binding in definitions(source):
        if binding.kind is BindingKind.PARAMETER and binding.statement is function:
            found.add(binding.name)
        elif binding.kind is BindingKind.ASSIGN and binding.value is not None:
            value = binding.value  # with a path, a part of it: `states, actions = batch`
            if not isinstance(value, ast.Name) or value.id != source.id:
                found |= _parameters_of(value, function, types, definitions, depth - 1)
        elif binding.kind in _LOOPED and binding.value is not None:
            for container in _containers(binding.value):
                found |= _parameters_of(container, function, types, definitions, depth - 1)
    return found
