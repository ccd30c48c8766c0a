"""Functions whose tensors can be seen other than by their results, so that it shows whether they have a
gradient.

The test is strict, because safe fixes rest on it: a tensor escapes unless all code of the function is known
to compute only.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from rlint import models
from rlint.models import gradient_rules
from rlint.models.effect import EffectKind
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.semantics.interprocedural.call_targets import arguments_of
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.syntax_index import Function

if TYPE_CHECKING:
    from rlint.semantics.file_analysis import FileAnalysis

_PLAIN = gradient_rules.HAVE_NO_GRADIENT | {
    *(TypeTag.BYTES, TypeTag.RANGE, TypeTag.DEVICE, TypeTag.DTYPE, TypeTag.CLASS, TypeTag.FUNCTION)
}
"""Types whose values have no gradient."""
_FACTS = frozenset({"shape", "dtype", "device", "ndim", "layout", "is_cuda", "__name__", "__class__"})
"""Attributes of a tensor that are the same with and without autograd."""
_LOOKS = gradient_rules.LOOKED_AT - gradient_rules.SHOWN_BY_BUILTINS - gradient_rules.CONVERTS
_SHOWS = (
    gradient_rules.SHOWN_BY_BUILTINS
    | gradient_rules.CONVERTS
    | models.having(Trait.REFLECTS, "builtins")
    | {"builtins.format"}
) - _LOOKS
"""Builtins that show a tensor, convert it with a warning, or look into it."""
_ALTERS = models.mutators(TypeTag.LIST, TypeTag.DICT, TypeTag.SET, TypeTag.DEQUE)
_TRANSPARENT = ("builtins.staticmethod", "builtins.classmethod", "builtins.property", "abc.abstractmethod")
_TRANSPARENT_FAMILIES = ("torch.no_grad", "torch.inference_mode", "torch.jit.", "torch.compile", "typing")
"""Decorators that keep nothing of a call."""
_HARMLESS = EffectKind.DRAWS | EffectKind.READS_CLOCK | EffectKind.WAITS
_DEPTH = 8


class EscapingTensors:
    """Answers, for single nodes of a file, whether a tensor of the enclosing function escapes there."""

    def __init__(self, analysis: FileAnalysis) -> None:
        self._analysis = analysis
        self._syntax = analysis.syntax
        self._names = analysis.names
        self._own_from: dict[tuple[object, str], int | None] = {}

    def functions(self, enclosing: Callable[[ast.AST], Function | None]) -> Iterator[Function]:
        """Yield the functions with statements and displays through which tensors escape; some repeatedly.
        `enclosing` gives the function to which a node counts.
        """
        for node in self._places():
            function = enclosing(node)
            if function is not None:
                yield function
        for function in self._syntax.functions.values():
            if not all(map(self._is_transparent, function.decorator_list)):
                yield enclosing(function) or function

    def _places(self) -> Iterator[ast.AST]:
        yield from self._syntax.of_type(ast.Nonlocal)
        for store in self._syntax.written.attribute_stores:
            if not self._names.is_self(store.value):
                yield store
        for item in self._syntax.written.item_stores:
            if not self.is_own(item.value):
                yield item
        for changed in self._syntax.of_type(ast.AugAssign):
            if isinstance(changed.target, ast.Name) and not self._is_number_or_own(changed):
                yield changed
        for part in self._syntax.of_type(ast.FormattedValue):
            if not self.is_plain(part.value):
                yield part
        for product in self._syntax.of_type(ast.BinOp):
            if isinstance(product.op, ast.MatMult) and not self._is_parameter(product.right):
                yield product

    def _is_parameter(self, factor: ast.expr | None) -> bool:
        """Whether a factor is an attribute of `self`, which requires grad in each mode if it is a parameter:
        products with other tensors may use another kernel without autograd.
        """
        return isinstance(factor, ast.Attribute) and self._names.is_self(factor.value)

    def escapes_by_library(self, call: ast.Call, qualified: str) -> bool:
        """Whether a call of a library function shows, keeps or modifies a tensor."""
        name = qualified.rpartition(".")[2]
        if qualified.startswith("builtins."):
            shows = qualified in _SHOWS or name.endswith(("Error", "Exception", "Warning"))
            return shows and not all(map(self.is_plain, arguments_of(call)))
        fact = models.callable_fact(qualified)
        if fact is not None and not fact.effect.does_only(_HARMLESS | EffectKind.MUTATES):
            return True
        if qualified.startswith("copy."):
            return True  # only leaves can be copied
        if gradient_rules.uses_other_kernel(qualified) and not self._is_parameter(
            call.args[-1] if call.args else None
        ):
            return True
        in_place = name.endswith("_") or _is_true(_keyword(call, "inplace"))
        written = [call.args[0]] if in_place and call.args else []
        written += [each for each in (_keyword(call, "out"),) if each is not None]
        return not all(map(self.is_own, written))

    def escapes_by_method(self, owner: ast.expr, method: str, *, of_network: bool) -> bool:
        """Whether a call of a method shows, keeps or modifies a tensor. `of_network`: it may belong to a part
        of the network, which is examined elsewhere.
        """
        if models.is_in_place(method) or method in _ALTERS:
            return not self.is_own(owner)
        if gradient_rules.uses_other_kernel(method):
            return True
        kind = self._analysis.types.type_of(owner)
        fact = models.method_fact(kind.tag, method) if kind else None
        if fact is None:
            fact = None if kind else models.method_fact(TypeTag.TENSOR, method)
            return fact is None and not of_network
        return not fact.effect.does_only(_HARMLESS) and not of_network

    def is_plain(self, node: ast.expr) -> bool:
        """Whether a value surely has no gradient, and is the same in each mode."""
        match node:
            case ast.Constant() | ast.JoinedStr():
                return True
            case ast.Attribute(attr=attribute) if attribute in _FACTS:
                return True
            case ast.Attribute(value=owner, attr=attribute) if self._names.is_self(owner):
                return attribute not in self._methods  # it was there before, or is recorded as kept
            case ast.Subscript(value=value) | ast.Starred(value=value):
                return self.is_plain(value)
            case ast.Call(func=ast.Name() as func) if self._names.qualified(func) in _LOOKS:
                return True
            case ast.Call(func=ast.Attribute(attr="size" | "dim" | "numel" | "tolist" | "item")):
                return True
            case ast.BinOp(left=left, right=right):
                return self.is_plain(left) and self.is_plain(right)
        return self._analysis.types.type_of(node).tag in _PLAIN

    @cached_property
    def _methods(self) -> frozenset[str]:
        return frozenset(name.rpartition(".")[2] for name in self._syntax.functions)

    def is_own(self, node: ast.expr) -> bool:
        """Whether the function itself surely made a value, so that no other code sees changes of it."""
        return self._is_own(node, _DEPTH)

    def _is_own(self, node: ast.expr, depth: int) -> bool:
        if depth == 0:
            return False
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=method)) if models.method_fact(
                TypeTag.TENSOR, method
            ) and not self._names.qualified(node.func):
                return self._is_own(owner, depth - 1)  # it may be a view, or the tensor itself
            case ast.Call(func=ast.Attribute(attr="pop" | "get" | "setdefault" | "values" | "items")):
                return False
            case ast.Attribute() if self._names.is_self(node.value):
                return False
            case ast.Attribute(value=owner) | ast.Subscript(value=owner) | ast.Starred(value=owner):
                return self._is_own(owner, depth - 1)
            case ast.IfExp(body=first, orelse=second):
                return self._is_own(first, depth - 1) and self._is_own(second, depth - 1)
            case ast.NamedExpr(value=value):
                return self._is_own(value, depth - 1)
            case ast.Name():
                return self._is_own_name(node, depth)
        return True

    def _is_own_name(self, name: ast.Name, depth: int) -> bool:
        scope, _ = self._names.bindings(name)
        if scope is None or scope is not self._syntax.scope(name):
            return False
        reaching = self._analysis.definitions.reaching(name)
        return bool(reaching) and all(self._is_own_binding(each, depth) for each in reaching)

    def _is_own_binding(self, binding: Binding, depth: int) -> bool:
        if binding.kind not in (BindingKind.ASSIGN, BindingKind.FOR, BindingKind.AUGMENT):
            return False
        if binding.kind is BindingKind.AUGMENT:
            return True  # reported at the statement if it changes a value of other code
        return binding.value is not None and self._is_own(binding.value, depth - 1)

    def _is_number_or_own(self, changed: ast.AugAssign) -> bool:
        """Whether `x += y` changes no tensor of other code: `x` is a number, or was assigned a new value."""
        assert isinstance(changed.target, ast.Name)
        scope, bindings = self._names.bindings(changed.target)
        if scope is None or scope is not self._syntax.scope(changed.target):
            return False
        key = (scope, changed.target.id)
        if key not in self._own_from:  # asked for each of many changes of one variable
            self._own_from[key] = self._line_of_own_value(bindings, self._syntax.function(changed))
        line = self._own_from[key]
        return line is not None and line < changed.lineno

    def _line_of_own_value(self, bindings: list[Binding], function: Function | None) -> int | None:
        """Return the line from which on a variable surely holds a value that the function made, 0 for all
        lines; None if there is none.
        """
        given = [binding for binding in bindings if binding.kind is BindingKind.PARAMETER]
        if not all(self._is_own_binding(each, _DEPTH) for each in bindings if each not in given):
            return None
        if not given:
            return 0
        return next(
            (
                each.lineno
                for each in (function.body if function is not None else ())
                if isinstance(each, ast.Assign)
                and any(
                    isinstance(target, ast.Name) and target.id == given[0].name for target in each.targets
                )
            ),
            None,
        )

    def _is_transparent(self, decorator: ast.expr) -> bool:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        qualified = self._names.qualified(called) or ""
        return qualified in _TRANSPARENT or qualified.startswith(_TRANSPARENT_FAMILIES)


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _is_true(value: ast.expr | None) -> bool:
    return value is not None and not (isinstance(value, ast.Constant) and not value.value)
