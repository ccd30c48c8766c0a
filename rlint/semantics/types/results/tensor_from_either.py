"""Tensors made from a value that may be an array or a tensor: `from_numpy(x) if is_array(x) else x`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from rlint import models
from rlint.models.value_type import Device, Type, TypeTag
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.syntax_index import Function

_KEEP_DEVICE = models.giving(TypeTag.TENSOR, TypeTag.TENSOR) - {"to", "cuda", "cpu", "type_as"}
_MOST_STATEMENTS = 8
_DEPTH = 4


class _Paths:
    """The values that an expression may have: bindings as they are, and bindings that torch's constructors
    copy or wrap in host memory.
    """

    def __init__(
        self, definitions: Callable[[ast.Name], list[Binding]], type_of: Callable[[ast.expr], Type]
    ) -> None:
        self.definitions = definitions
        self.type_of = type_of
        self.kept: list[Binding] = []
        self.made: list[tuple[Binding, ast.Name]] = []

    def follow(self, value: ast.expr, depth: int = _DEPTH) -> bool:
        """Collect the values of an expression; False if it may have any other."""
        match value:
            case ast.Name():
                bindings = self.definitions(value) if depth else []
                return bool(bindings) and all(self._bound(each, depth) for each in bindings)
            case ast.IfExp(body=body, orelse=orelse) if depth:
                return self.follow(body, depth - 1) and self.follow(orelse, depth - 1)
            case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in _KEEP_DEVICE and depth:
                return self.follow(owner, depth - 1)
            case ast.Call(args=[ast.Name() as array, *_]):
                kind = self.type_of(value)
                if kind.tag is not TypeTag.TENSOR or kind.device is not Device.HOST:
                    return False
                inner = _Paths(self.definitions, self.type_of)
                if not inner.follow(array, depth - 1) or inner.made:
                    return False
                self.made += [(each, array) for each in inner.kept]
                return True
        return False

    def _bound(self, binding: Binding, depth: int) -> bool:
        value = binding.value
        if binding.kind is BindingKind.ASSIGN and value is not None and not binding.path:
            if isinstance(value, (ast.Name, ast.IfExp, ast.Call)) and self.follow(value, depth - 1):
                return True
        elif binding.kind is not BindingKind.PARAMETER:
            return False
        self.kept.append(binding)
        return True


def array_of_either(
    values: Iterable[ast.expr],
    definitions: Callable[[ast.Name], list[Binding]],
    type_of: Callable[[ast.expr], Type],
) -> tuple[Binding, ast.Name] | None:
    """Return the binding of `x`, with a use of it, if these expressions are host tensors made from `x`, or
    `x` itself, depending on what it is.
    """
    paths = _Paths(definitions, type_of)
    if not all(paths.follow(value) for value in values) or not paths.made:
        return None
    first, use = paths.made[0]
    is_same = all(each is first for each in paths.kept) and all(each is first for each, _ in paths.made)
    return (first, use) if is_same and paths.kept else None


def parameter_of_either(
    function: Function,
    returned: list[ast.expr],
    definitions: Callable[[ast.Name], list[Binding]],
    type_of: Callable[[ast.expr], Type],
) -> str:
    """Return the parameter of a small function that it returns as a host tensor if it is an array, and
    unchanged otherwise; "" if it does anything else.
    """
    if not returned or len(function.body) > _MOST_STATEMENTS:
        return ""
    found = array_of_either(returned, definitions, type_of)
    if found is None or found[0].kind is not BindingKind.PARAMETER or found[0].statement is not function:
        return ""
    return found[0].name
