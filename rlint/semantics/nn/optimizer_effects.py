"""Implicit effects of optimizer steps and backward passes: they modify weights and gradients that they are
not passed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from rlint import models
from rlint.models import vocabulary
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.regex import regex
from rlint.semantics.dataflow.aliasing import MEMORY, lenders
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.frequency.drivers import Driver
from rlint.syntax.last_names import last_name
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.walk import children, descendants

_STEPS = frozenset({"step", "optimizer_step", "minimize"})
_NO_STEPS = frozenset({TypeTag.SCHEDULER, TypeTag.ENVIRONMENT, TypeTag.WRITER, TypeTag.LOGGER})
_GRADIENT = regex(r"grad|backward|^unscale_$", re.IGNORECASE)
"""Names of functions that modify gradients, and of values that depend on them."""
_MAY_BE_WEIGHTS = frozenset(
    {
        TypeTag.UNKNOWN,
        TypeTag.TENSOR,
        TypeTag.MODULE,
        TypeTag.INSTANCE,
        TypeTag.NDARRAY,
        TypeTag.PARAMETERS,
        TypeTag.STATE_DICT,
    }
)
_WRAPS = models.names_having(Trait.PARAMETERS, "torch.nn")
"""Classes whose objects share the memory of the tensors that they are passed."""
_TAKES_OVER = (*_WRAPS, "from_pretrained", "vector_to_parameters")
_LEAF_MAKERS = _WRAPS | {"requires_grad_", "parameters"}
_PROPERTIES = frozenset({"device", "dtype", "is_cuda", "ndim", "requires_grad", "shape"})
"""Attributes of a tensor that hold no memory of it."""


class OptimizerEffects:
    """The weights of one file, and the calls in it that train them."""

    def __init__(self, analysis: FileAnalysis) -> None:
        self.analysis = analysis

    def changes(self, expression: ast.expr, call: ast.Call) -> bool:
        """Whether `call` may change the value of `expression` by training what it depends on, although it is
        not passed to the call.
        """
        if self._is_step(call):
            return self._names_weights(expression) or self._depends_on_weights(expression)
        if _GRADIENT.search(last_name(call.func) or "") and (
            any(_GRADIENT.search(name) for name in _identifiers(expression))
            or (self._is_read_by_project(expression) and self._depends_on_weights(expression))
        ):
            return True
        # a project function, or an unknown one, is assumed to do so only if some code surely does
        return (
            not self.analysis.is_library_call(call)
            and not self.analysis.effects.call_effect(call).quiet
            and self._names_weights(expression)
        )

    def is_likely_data(self, expression: ast.expr) -> bool:
        """Whether all that the expression reads was computed by the function, selected by it with an index,
        or has the name of a value of a batch. An optimizer holds weights as a whole; a tensor whose rows a
        function selects is a batch.
        """
        if self._names_weights(expression) or self._runs_project(expression):
            return False
        return all(
            _is_of_batch(place)
            or (isinstance(place, ast.Name) and (self._is_result(place) or self._is_cut(place)))
            for place in self._read(expression)
            if self.analysis.types.type_of(place).tag in _MAY_BE_WEIGHTS
        )

    def _is_cut(self, name: ast.Name) -> bool:
        """Whether a local variable is bound to a part of another, perhaps converted by methods: `x[:,
        t].view(-1)`.
        """
        scope, bindings = self.analysis.names.bindings(name)
        if scope is None or scope.node is not self.analysis.syntax.function(name):
            return False
        return all(
            binding.kind is BindingKind.ASSIGN
            and not binding.path
            and binding.value is not None
            and _cuts(binding.value)
            for binding in bindings
        )

    def _is_step(self, call: ast.Call) -> bool:
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in _STEPS:
            return False
        driver = self.analysis.loops.driver_of(call)
        if driver is not None:
            return driver is Driver.GRADIENT_STEP
        name = (last_name(call.func.value) or "").lower()
        return self.analysis.types.type_of(call.func.value).tag not in _NO_STEPS and "sched" not in name

    def _names_weights(self, expression: ast.expr) -> bool:
        """Whether the expression names a value that this file makes an autograd leaf, or passes to an
        optimizer, or whose memory it lets a parameter share.
        """
        if not self._leaves and not self._sharing:
            return False
        for node in descendants(expression):
            if isinstance(node, (ast.Name, ast.Attribute)) and last_name(node) in self._leaves:
                return True
            if isinstance(node, ast.Name) and self._shares_memory(node):
                return True
            if isinstance(node, ast.Attribute) and (None, node.attr) in self._sharing:
                return True
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                for binding in self.analysis.definitions.reaching(node):
                    value = binding.value
                    if _is_alias(binding) and value is not None and self._leaves & set(_places(value)):
                        return True
        return False

    def _shares_memory(self, name: ast.Name) -> bool:
        """Whether a variable may hold a tensor whose memory a parameter shares."""
        if not self._sharing:
            return False
        scope = self.analysis.syntax.scope(name).lookup(name.id)
        names = (name.id, *lenders(name, self.analysis))
        return any((scope, each) in self._sharing for each in names)

    @cached_property
    def _sharing(self) -> frozenset[tuple[object, str]]:
        """Return the variables, with their scopes, and attributes (with None) whose memory parameters share:
        `nn.Parameter(flat.view(2, 3))`, `layer.weight.data = flat[:6]`.
        """
        tree = self.analysis.syntax
        given: list[ast.expr] = []
        for call in tree.written.calls_of(_TAKES_OVER):
            given += [*call.args[:1], *(each.value for each in call.keywords if each.arg in ("data", "vec"))]
        for store in tree.written.attribute_stores:
            value = getattr(tree.parents.get(store), "value", None)
            if store.attr == "data" and isinstance(value, ast.expr):
                given.append(value)
        given += [each.value for each in tree.of_type(ast.keyword) if each.arg == "_weight"]
        found: set[tuple[object, str]] = set()
        for value in given:
            for shared in self._lenders_of(value):
                if isinstance(shared, ast.Attribute):
                    found.add((None, shared.attr))
                    continue
                scope = tree.scope(shared).lookup(shared.id)
                found.update((scope, each) for each in (shared.id, *lenders(shared, self.analysis)))
        return frozenset(found)

    def _lenders_of(self, value: ast.expr) -> Iterator[ast.Name | ast.Attribute]:
        """Yield the variables and attributes whose memory a tensor, or a list of tensors, may share."""
        is_display = isinstance(value, (ast.List, ast.Tuple, ast.Dict))
        if not is_display and self.analysis.types.type_of(value).fresh:
            return
        match value:
            case ast.Name() if self.analysis.types.type_of(value).tag in (TypeTag.UNKNOWN, *MEMORY):
                yield value
            case ast.Attribute(value=owner) if self.analysis.types.type_of(owner).tag in MEMORY:
                yield from self._lenders_of(owner)
            case ast.Attribute() if self.analysis.names.qualified(value) is None:
                if self.analysis.types.type_of(value).tag in MEMORY:
                    yield value
            case ast.Subscript(value=owner) | ast.Starred(value=owner):
                yield from self._lenders_of(owner)
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Dict(values=parts):
                for part in parts:
                    yield from self._lenders_of(part)
            case ast.Call(func=func, args=args):
                if isinstance(func, ast.Attribute) and self.analysis.names.qualified(func) is None:
                    yield from self._lenders_of(func.value)
                for argument in args[:1]:
                    yield from self._lenders_of(argument)

    def _depends_on_weights(self, expression: ast.expr) -> bool:
        """Whether any value in the expression may be a weight, or hold one."""
        return any(self._may_be_weight(place) for place in self._read(expression))

    def _may_be_weight(self, place: ast.expr) -> bool:
        if self.analysis.types.type_of(place).tag not in _MAY_BE_WEIGHTS:
            return False
        return not (isinstance(place, ast.Name) and self._is_result(place))

    def _is_result(self, name: ast.Name) -> bool:
        """Whether the value was computed in this function, so that no optimizer holds it."""
        scope, bindings = self.analysis.names.bindings(name)
        if scope is None or scope.node is not self.analysis.syntax.function(name):
            return False
        return all(
            binding.kind is BindingKind.ASSIGN and not binding.path and self._is_computed(binding.value)
            for binding in bindings
        )

    def _is_computed(self, value: ast.expr | None) -> bool:
        if isinstance(value, ast.Call):
            return self.analysis.types.type_of(value).fresh and self.analysis.is_library_call(value)
        return isinstance(value, (ast.BinOp, ast.UnaryOp, ast.Compare))

    def _is_read_by_project(self, expression: ast.expr) -> bool:
        """Whether a project function reads a value in the expression. It may read gradients."""
        calls = (node for node in descendants(expression) if isinstance(node, ast.Call))
        return any(
            isinstance(call.func, ast.Name) or self.analysis.effects.path_of(call) is not None
            for call in calls
            if not self.analysis.is_library_call(call)
        )

    def _runs_project(self, expression: ast.expr) -> bool:
        """Whether the expression calls a function of the project or an unknown one."""
        index, module = self.analysis.index, self.analysis.name
        for call in descendants(expression):
            if not isinstance(call, ast.Call) or self.analysis.is_library_call(call):
                continue
            path = self.analysis.effects.path_of(call)
            if isinstance(call.func, ast.Name) or index is None or (path and index.callables(path, module)):
                return True
        return False

    def _read(self, expression: ast.expr) -> Iterator[ast.expr]:
        """Yield the variables, attributes and items that an expression reads, each as a whole."""
        stack: list[ast.AST] = [expression]
        while stack:
            node = stack.pop()
            if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
                if self.analysis.names.qualified(node) is None:
                    yield node
                if isinstance(node, ast.Subscript):
                    stack.append(node.slice)
                continue
            if isinstance(node, ast.Call) and not isinstance(node.func, ast.Name):
                owner = node.func.value if isinstance(node.func, ast.Attribute) else node.func
                pure = self.analysis.effects.call_effect(node).pure
                if not (pure and isinstance(owner, ast.Name) and owner.id in ("self", "cls")):
                    stack.append(owner)
                stack += [*node.args, *node.keywords]
                continue
            if isinstance(node, ast.Call):
                stack += [*node.args, *node.keywords]
                continue
            stack.extend(children(node))

    @cached_property
    def _leaves(self) -> frozenset[str]:
        """Return the last names of values that this file makes leaves of autograd, or passes to an
        optimizer.
        """
        found: set[str] = set()
        tree, types = self.analysis.syntax, self.analysis.types
        for assignment in tree.of_type(ast.Assign):
            if _makes_leaf(assignment.value):
                found.update(filter(None, map(last_name, assignment.targets)))
        for node in tree.of_type(ast.Attribute):
            stored = node.attr == "requires_grad" and isinstance(node.ctx, ast.Store)
            if stored or node.attr == "requires_grad_":
                found.update(filter(None, [last_name(node.value)]))
        for call in tree.of_type(ast.Call):
            if call.args and types.type_of(call).tag is TypeTag.OPTIMIZER:
                found.update(_places(call.args[0]))
        return frozenset(found - {"self", "parameters"})


def _cuts(value: ast.expr) -> bool:
    """Whether an expression selects rows or columns of a variable, and applies methods to them. An item
    selected by an index alone may be a weight in a list of them.
    """
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        value = value.func.value
    if not isinstance(value, ast.Subscript) or not isinstance(value.value, ast.Name):
        return False
    index = value.slice
    return any(
        isinstance(part, ast.Slice) for part in (index.elts if isinstance(index, ast.Tuple) else [index])
    )


def _is_of_batch(place: ast.expr) -> bool:
    """Whether a variable, attribute or entry has the name of a value of a batch: `batch.masks`."""
    match place:
        case ast.Subscript(slice=ast.Constant(value=str(key))):
            return key.lower() in vocabulary.OF_BATCHES
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.lower() in vocabulary.OF_BATCHES
    return False


def _is_alias(binding: Binding) -> bool:
    """Whether a variable is bound to a value that may be shared, or a view of it."""
    return binding.kind in (BindingKind.ASSIGN, BindingKind.FOR) and not isinstance(
        binding.value, (ast.BinOp, ast.Compare)
    )


def _makes_leaf(value: ast.expr) -> bool:
    if isinstance(value, ast.Attribute) and value.attr in _PROPERTIES:
        return False  # `device = next(self.parameters()).device`
    for node in descendants(value):
        if isinstance(node, ast.keyword) and node.arg == "requires_grad":
            return not (isinstance(node.value, ast.Constant) and node.value.value is False)
        if isinstance(node, ast.Call) and last_name(node.func) in _LEAF_MAKERS:
            return True
    return False


def _places(value: ast.expr) -> Iterator[str]:
    """Yield the last names of all variables and attributes in a value."""
    for node in descendants(value):
        if isinstance(node, (ast.Name, ast.Attribute)):
            name = last_name(node)
            if name is not None:
                yield name


def _identifiers(expression: ast.expr) -> Iterator[str]:
    for node in descendants(expression):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
