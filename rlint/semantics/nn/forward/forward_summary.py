"""Effects of the methods of networks, as plain data for the summaries."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING

from rlint import models
from rlint.frozen import mutable
from rlint.models.effect import EffectKind
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.semantics.nn.architecture import DROPOUT, NetworkParts
from rlint.semantics.nn.forward.escaping_tensors import EscapingTensors
from rlint.semantics.nn.forward.implicit_uses import ImplicitUses
from rlint.syntax.last_names import last_name
from rlint.syntax.scopes import BindingKind
from rlint.syntax.syntax_index import Function

if TYPE_CHECKING:
    from rlint.semantics.file_analysis import FileAnalysis

_DRAWING_METHODS = models.doing(EffectKind.DRAWS, TypeTag.TENSOR, TypeTag.DISTRIBUTION)
_MUTATES = models.mutators(TypeTag.LIST, TypeTag.DICT, TypeTag.SET, TypeTag.DEQUE) | {
    "copy_",
    "zero_",
    "fill_",
}
_CALLS_BACK = models.having(Trait.CALLS_BACK, "builtins")
_RUNS_ITS_ARGUMENTS = frozenset({"torch.utils.checkpoint.checkpoint", "torch.func.functional_call"})
_CONTAINERS = models.having(Trait.HOLDS_PARTS, "torch.nn")
"""Modules that run the layers passed to their constructor: `nn.Sequential(self.first, self.second)(x)`."""
_KEEPS = models.having(Trait.ADDS_PART, TypeTag.MODULE) | {"__setattr__"}
"""Methods by which a module keeps what it is passed: `self.register_buffer("hidden", hidden)`."""
_DROPOUTS = frozenset(
    f"torch.nn.functional.{name}dropout{size}"
    for name in ("", "alpha_", "feature_alpha_")
    for size in ("", "1d", "2d", "3d")
)
_DIFFERENTIATES = ("torch.autograd.", "torch.func.", "torch.enable_grad", "torch.set_grad_enabled")
_LEARNS = frozenset({"backward", "requires_grad_", "retain_grad", "register_hook"})
_AUTOGRAD_STATE = ("requires_grad", "grad_fn", "is_leaf")
_READS_MODE = ("is_grad_enabled", "is_inference_mode_enabled", "is_inference")
"""Functions and methods whose result depends on the autograd mode."""
_BATCH_NORMS = frozenset({"torch.nn.functional.batch_norm", "torch.nn.functional.instance_norm"})


@mutable
class ForwardSummary:
    """The effects of a function that matter if it belongs to a network.

    `uses` are the attributes of `self` that it calls, each with the method ("" for a plain call); `implicit`
    the attributes that it reads on `self` and its parts, which may be properties, and the parts on which it
    uses operators (see implicit_uses.py); `own` the methods that it calls, and the properties that it reads,
    through `super()`; `calls` the functions of the project; `keeps` the attributes that
    it sets or modifies; `layers` the functions of torch.nn.functional that act like a layer, with whether
    they surely do. `opaque`: it calls unknown code, takes gradients, depends on the autograd mode, or stores
    a value where other code finds it. `escapes`: tensors may be seen other than by the result and `keeps`
    (stored, printed, modified in place), as strictly as a safe fix needs.
    """

    uses: set[tuple[str, str]] = field(default_factory=set)
    implicit: set[tuple[str, str]] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)
    keeps: set[str] = field(default_factory=set)
    layers: dict[str, bool] = field(default_factory=dict)
    reads_training: bool = False
    draws: bool = False
    hooks: bool = False
    opaque: bool = False
    escapes: bool = False


def forward_summaries(
    analysis: FileAnalysis, parts: NetworkParts, *, has_tests: bool = False
) -> dict[str, ForwardSummary]:
    """Return the effects of the functions of a file, by qualified name; functions without effects are left
    out. Functions that a test runner calls are not analysed: no network calls them, or the worst is assumed.
    """
    return _Reader(analysis, parts, has_tests=has_tests).read()


class _Reader:
    def __init__(self, analysis: FileAnalysis, parts: NetworkParts, *, has_tests: bool) -> None:
        self.analysis = analysis
        self._has_tests = has_tests
        self.syntax = analysis.syntax
        self.parts = parts
        self.found: dict[str, ForwardSummary] = {}
        self._of_function: dict[ast.AST, ForwardSummary] = {}
        self._enclosing_definitions: dict[Function | None, Function | None] = {}
        self._escaping = EscapingTensors(analysis)

    def read(self) -> dict[str, ForwardSummary]:
        for call in self.syntax.of_type(ast.Call):
            function = self._enclosing_definition(call)
            if function is not None:
                self._read_call(call, function)
        for node in self.syntax.written.attribute_stores:
            if self.parts.analysis.names.is_self(node.value):
                self._note_kept(node.attr, node)
        for node in self.syntax.written.attributes.get("training", ()):
            function = self._enclosing_definition(node) if isinstance(node.ctx, ast.Load) else None
            if function is not None:
                self._forward_summary(function).reads_training = True
        attributes, calls = self.syntax.written.attributes, self.syntax.written.calls_of(_READS_MODE)
        read = (each for state in _AUTOGRAD_STATE for each in attributes.get(state, ()))
        looks = [each for each in read if isinstance(each.ctx, ast.Load)]
        nodes: tuple[ast.AST, ...] = (*looks, *calls, *self.syntax.of_type(ast.Global))
        for evidence in nodes:
            function = self._enclosing_definition(evidence)
            if function is not None:
                self._forward_summary(function).opaque = True
        for item in self.syntax.written.item_stores:
            function = self._enclosing_definition(item)
            if function is None:
                continue
            for attribute in self._roots(item.value) or ():
                self._note_kept(attribute, item)
            if self._is_of_others(item.value):
                self._forward_summary(function).opaque = True
        for function in self._escaping.functions(self._enclosing_definition):
            self._forward_summary(function).escapes = True
        self._read_properties()
        for function, path, name in ImplicitUses(self.analysis, self._roots).all(self._enclosing_definition):
            self._forward_summary(function).implicit.add((path, name))
        return self.found

    def _read_properties(self) -> None:
        """Record reads of properties of `self`: they run the code of the property."""
        for name, function in self.syntax.functions.items():
            if function.decorator_list and self.syntax.class_of(function) is not None:
                for read in self.syntax.written.attributes.get(name.rpartition(".")[2], ()):
                    if not self.parts.analysis.names.is_self(read.value):
                        continue
                    user = self._enclosing_definition(read)
                    if user is not None and isinstance(read.ctx, ast.Load):
                        self._forward_summary(user).uses.add((read.attr, ""))
        for call in self.syntax.written.calls_of(("super",)):
            read_of = self.syntax.parents.get(call)
            user = self._enclosing_definition(call)
            if user is not None and isinstance(read_of, ast.Attribute):
                self._forward_summary(user).own.add(read_of.attr)

    def _enclosing_definition(self, node: ast.AST) -> Function | None:
        """Return the function at module level or in a class that runs a node, including nodes of nested
        functions.
        """
        function = self.syntax.function(node)
        if function not in self._enclosing_definitions:
            outermost = function
            while outermost is not None and (outer := self._outer_function(outermost)) is not None:
                outermost = outer
            if self._has_tests and outermost is not None and outermost.name.startswith("test"):
                self._forward_summary(outermost).opaque = True
                outermost = None
            self._enclosing_definitions[function] = outermost
        return self._enclosing_definitions[function]

    def _outer_function(self, function: Function) -> Function | None:
        """Return the function that a nested function belongs to; None for methods, also of local classes."""
        is_method = isinstance(self.syntax.parents.get(function), ast.ClassDef)
        return None if is_method else self.syntax.function(function)

    def _forward_summary(self, function: Function) -> ForwardSummary:
        known = self._of_function.get(function)
        if known is None:
            known = self._of_function[function] = ForwardSummary()
            self.found[self.syntax.qualname(function)] = known
        return known

    def _is_of_others(self, value: ast.expr) -> bool:
        """Whether a value belongs to the module rather than to a network, such as a global list."""
        while isinstance(value, (ast.Attribute, ast.Subscript)):
            value = value.value
        if not isinstance(value, ast.Name) or self.analysis.names.qualified(value) is not None:
            return False
        scope, _ = self.analysis.names.bindings(value)
        return scope is not None and scope.parent is None

    def _note_kept(self, attribute: str, node: ast.AST) -> None:
        function = self._enclosing_definition(node)
        if function is not None:
            self._forward_summary(function).keeps.add(attribute)

    # -- calls ---------------------------------------------------------------------------------

    def _read_call(self, call: ast.Call, function: Function) -> None:
        qualified = self.analysis.names.qualified(call.func)
        if qualified is not None:
            self._library_call(call, qualified, function)
        elif isinstance(call.func, ast.Attribute):
            self._method_call(call, call.func, function)
        else:
            self._value_call(call.func, function)

    def _library_call(self, call: ast.Call, qualified: str, function: Function) -> None:
        if self._escaping.escapes_by_library(call, qualified):
            self._forward_summary(function).escapes = True
        if qualified.startswith("builtins."):
            if qualified in _CALLS_BACK:
                done = self._forward_summary(function)
                done.calls.update(self._functions_in_arguments(call))
                self._uses_in_arguments(call, done)
            return
        fact = models.callable_fact(qualified)
        name = qualified.rpartition(".")[2]
        if qualified.startswith(_DIFFERENTIATES) and qualified != "torch.func.functional_call":
            self._forward_summary(function).opaque = True
        if qualified in _DROPOUTS:
            training = _keyword(call, "training", 2)
            if training is None or _constant(training) is True:
                self._forward_summary(function).draws = True
            elif _constant(training) is not False:
                self._forward_summary(function).layers[DROPOUT] = not self.parts.is_conditional(call)
        elif qualified in _BATCH_NORMS:
            self._forward_summary(function).layers["torch.nn.BatchNorm1d"] = False
        elif name in ("scaled_dot_product_attention", "multi_head_attention_forward"):
            done = self._forward_summary(function)
            done.layers["torch.nn.MultiheadAttention"] = False
            if name[0] == "m" or _constant(_keyword(call, "dropout_p", 4)) not in (None, 0):
                done.layers.setdefault(DROPOUT, False)
        elif fact is not None:
            draws = bool(fact.effect.kind & EffectKind.DRAWS) and fact.result.tag is not TypeTag.MODULE
            if draws and not qualified.startswith("torch.nn.init."):
                self._forward_summary(function).draws = True
        elif not qualified.startswith(("torch.", "numpy.", "math.", "einops.")):
            done = self._forward_summary(function)
            done.calls.add(qualified)
            self._uses_in_arguments(call, done)
        if qualified in _RUNS_ITS_ARGUMENTS | _CONTAINERS:
            self._uses_in_arguments(call, self._forward_summary(function))

    def _method_call(self, call: ast.Call, func: ast.Attribute, function: Function) -> None:
        method, owner = func.attr, func.value
        if method in _KEEPS:
            self._note_registered(call, owner, function)
        if self.parts.analysis.names.is_self(owner):
            done = self._forward_summary(function)
            done.uses.add((method, ""))
            self._uses_in_arguments(call, done)
            return
        if isinstance(owner, ast.Call) and getattr(owner.func, "id", "") == "super":
            self._forward_summary(function).own.add(method)
            return
        if method in _LEARNS or (method in _MUTATES and self._is_of_others(owner)):
            self._forward_summary(function).opaque = True
        if method in ("register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook"):
            self._forward_summary(function).hooks = True
        kind = self.analysis.types.type_of(owner)
        known = models.method_fact(kind.tag, method) if kind else None
        if method in _DRAWING_METHODS and (known is None or known.effect.kind & EffectKind.DRAWS):
            self._forward_summary(function).draws = True
        mutates = _mutates(method)
        may_be_network = known is None or kind.tag is TypeTag.MODULE
        roots = self._roots(owner) if mutates or may_be_network else None
        if roots and mutates:
            self._forward_summary(function).keeps.update(roots)
        if roots and may_be_network:
            self._forward_summary(function).uses.update((root, method) for root in roots)
        if self._escaping.escapes_by_method(owner, method, of_network=bool(roots) and may_be_network):
            self._forward_summary(function).escapes = True

    def _note_registered(self, call: ast.Call, owner: ast.expr, function: Function) -> None:
        """Record a tensor or module that a method of the network registers: it may keep its graph."""
        by_super = isinstance(owner, ast.Call) and last_name(owner.func) == "super"
        is_own = by_super or self.parts.analysis.names.is_self(owner)
        name = _constant(call.args[0]) if call.args else None
        kept = {name if isinstance(name, str) else "*"} if is_own else self._roots(owner)
        if kept and function.name != "__init__":
            self._forward_summary(function).keeps.update(kept)

    def _value_call(self, func: ast.expr, function: Function) -> None:
        if self.parts.analysis.names.is_self(func):
            self._forward_summary(function).uses.add(("forward", ""))
            return
        roots = self._roots(func)
        if self._is_bound_mutator(func):
            self._forward_summary(function).escapes = True
        if roots is None or (isinstance(func, ast.Subscript) and not roots):
            self._forward_summary(function).opaque = True  # an item of a module's dict may be any function
        else:
            self._forward_summary(function).uses.update((root, "") for root in roots)

    def _is_bound_mutator(self, func: ast.expr) -> bool:
        """Whether a called variable holds a method that modifies its object: `add = self.rows.append`."""
        reaching = self.analysis.definitions.reaching(func) if isinstance(func, ast.Name) else ()
        return any(
            isinstance(binding.value, ast.Attribute) and _mutates(binding.value.attr) for binding in reaching
        )

    def _functions_in_arguments(self, call: ast.Call) -> Iterator[str]:
        """Yield the functions passed to a builtin that calls them: `map(score, rows)`."""
        for value in (*call.args, *(keyword.value for keyword in call.keywords)):
            qualified = self.analysis.names.qualified(value) if isinstance(value, ast.Name) else None
            if qualified is not None and self.analysis.types.type_of(value).tag is TypeTag.FUNCTION:
                yield qualified

    def _uses_in_arguments(self, call: ast.Call, done: ForwardSummary) -> None:
        """Record the attributes among the arguments of a call, which may call them: `checkpoint(self.block,
        x)`.
        """
        for value in (*call.args, *(keyword.value for keyword in call.keywords)):
            if not (isinstance(value, ast.Attribute) and self.parts.analysis.names.is_self(value.value)):
                continue
            if self.analysis.types.type_of(value).tag in (TypeTag.UNKNOWN, TypeTag.MODULE):
                done.uses.add((value.attr, "?"))

    def _roots(self, expression: ast.expr) -> set[str] | None:
        """Return the attributes of `self` that a value comes from: `layer` in `for layer in self.layers`.
        None if it may come from anything else; empty if it is not a part of a network.
        """
        return self._roots_of(expression, 6)

    def _roots_of(self, node: ast.expr, depth: int) -> set[str] | None:
        if depth == 0:
            return None
        match node:
            case ast.Attribute(value=owner, attr=attribute):
                if self.parts.analysis.names.is_self(owner):
                    return {attribute}
                return self._roots_of(owner, depth - 1)
            case ast.Subscript(value=owner) | ast.Call(func=ast.Attribute(value=owner)):
                return self._roots_of(owner, depth - 1)
            case ast.Call(func=ast.Name(), args=args):
                return self._joined(self._roots_of(value, depth - 1) for value in args)
            case ast.Name():
                return self._roots_of_name(node, depth)
            case ast.IfExp(body=first, orelse=second):
                return self._joined(self._roots_of(value, depth - 1) for value in (first, second))
            case ast.Lambda() | ast.Constant():
                return set()
        return None

    def _roots_of_name(self, name: ast.Name, depth: int) -> set[str] | None:
        if self.parts.analysis.names.is_self(name):
            return None  # `self.children()`, `self(x)`
        if self.analysis.names.qualified(name) is not None:
            return set()
        found: set[str] = set()
        for binding in self.analysis.definitions.reaching(name):
            if binding.kind is BindingKind.FUNCTION:
                continue
            if binding.kind is BindingKind.PARAMETER or binding.value is None:
                return None
            inner = self._roots_of(binding.value, depth - 1)
            if inner is None:
                return None
            found |= inner
        return found

    def _joined(self, several: Iterator[set[str] | None]) -> set[str] | None:
        found: set[str] = set()
        for one in several:
            if one is None:
                return None
            found |= one
        return found


def _mutates(method: str) -> bool:
    """Whether a method of this name modifies a container or a tensor."""
    return method in _MUTATES or models.is_in_place(method)


def _keyword(call: ast.Call, name: str, place: int) -> ast.expr | None:
    found = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
    return found if found is not None or len(call.args) <= place else call.args[place]


def _constant(value: ast.expr | None) -> object:
    """Return the value of a literal; ... for other expressions, None if there is no expression."""
    if isinstance(value, ast.Constant):
        return value.value
    return None if value is None else ...
