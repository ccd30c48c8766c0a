"""Gradient sources: walk backwards from a value to the calls, parameters and attributes that it was computed
from.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from rlint import models
from rlint.frozen import frozen
from rlint.models import gradient_rules as facts
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.semantics.nn.autograd import Autograd
from rlint.syntax.queries import root_of
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.syntax_index import COMPREHENSIONS

if TYPE_CHECKING:
    from rlint.semantics.file_analysis import FileAnalysis
    from rlint.semantics.nn.gradient_flow import GradientFlow

_MOST = 400  # maximum number of places examined for one value
_PLAIN = facts.HAVE_NO_GRADIENT | {TypeTag.DEVICE, TypeTag.DTYPE}
_ENDING_ATTRIBUTES = facts.ENDING_ATTRIBUTES | facts.SHOWING_ATTRIBUTES
_ENDING_METHODS = facts.GIVES_NUMBER | facts.COMPARES | facts.GIVES_INDEX | facts.DETACHES
_ENDING_FUNCTIONS = (
    facts.COMPARES
    | facts.GIVES_INDEX
    | facts.DETACHES
    | models.names_having(Trait.FROM_DATA | Trait.FROM_NUMBERS | Trait.ALLOCATES, "torch")
    | {"from_numpy"}
) - {"as_tensor", "asarray"}  # which return a tensor that they are given, with its graph
_ONLY_OF_TENSORS = models.having(Trait.ONLY_ONE_KIND, TypeTag.TENSOR) & models.methods_of(TypeTag.TENSOR)
_OF_VALUES = models.methods_of(TypeTag.TENSOR) | models.methods_of(TypeTag.DISTRIBUTION)
_OBJECTS = frozenset({TypeTag.MODULE, TypeTag.OPTIMIZER, TypeTag.ENVIRONMENT})
"""Objects that a function is passed to compute with, and that are no part of a graph themselves."""
_FOLLOWED = frozenset({TypeTag.MODULE, TypeTag.INSTANCE, TypeTag.REPLAY_BUFFER, TypeTag.ENVIRONMENT})


@frozen
class GradientSources:
    """The sources of the gradient of a value: `calls` of networks or of functions of the project, the
    `parameters` of the enclosing function, and attributes and items that were `kept` from elsewhere, and
    `leaves`: weights of networks, and tensors created with `requires_grad`. `items` are the items of the
    results of the calls, -1 for a whole result.
    """

    calls: tuple[ast.Call, ...] = ()
    parameters: tuple[ast.Name, ...] = ()
    kept: tuple[ast.expr, ...] = ()
    leaves: tuple[ast.expr, ...] = ()
    items: tuple[tuple[ast.Call, int], ...] = ()

    def items_of(self, call: ast.Call) -> frozenset[int]:
        """Return the items of a call's result that are sources; -1 if the whole result is."""
        return frozenset(item for each, item in self.items if each is call)


class GradientOrigins:
    """One backward walk."""

    def __init__(self, gradients: GradientFlow, without: Collection[ast.expr] = ()) -> None:
        self.gradients = gradients
        self.without = frozenset(without)
        self.syntax = gradients.syntax
        self.analysis = gradients.analysis
        self.calls: dict[ast.Call, None] = {}
        self.parameters: dict[ast.Name, None] = {}
        self.kept: dict[ast.expr, None] = {}
        self.leaves: dict[ast.expr, None] = {}
        self._seen: set[object] = set()
        self._items: dict[tuple[ast.Call, int], None] = {}

    def of(self, expression: ast.expr) -> GradientSources:
        """Walk backwards from an expression."""
        pending: list[ast.expr] = [expression]
        while pending and len(self._seen) <= _MOST:
            node = pending.pop()
            if node not in self._seen:
                self._seen.add(node)
                if isinstance(node, ast.Call):
                    self._items[node, -1] = None
                pending.extend(self._made_of(node))
        return GradientSources(
            tuple(self.calls),
            tuple(self.parameters),
            tuple(self.kept),
            tuple(self.leaves),
            tuple(each for each in self._items if each[0] in self.calls),
        )

    def _made_of(self, node: ast.expr) -> Iterator[ast.expr]:
        if node in self.without:
            return
        match node:
            case ast.Name():
                if self.analysis.types.type_of(node).tag not in _OBJECTS:
                    yield from self._bound_to(node)
            case ast.Attribute():
                yield from self._attribute(node)
            case ast.Call():
                if self.gradients.here.at(node) is not Autograd.OFF:
                    yield from self._called(node)
            case ast.Subscript(value=value):
                yield from self._item_of(value, node)
            case ast.Constant():
                return
            case ast.BinOp(left=left, right=right):
                if self.gradients.here.at(node) is not Autograd.OFF:
                    yield left
                    yield right
            case ast.UnaryOp(operand=operand, op=op) if not isinstance(op, ast.Not):
                yield operand
            case ast.IfExp(body=body, orelse=orelse):
                yield body
                yield orelse
            case ast.BoolOp(values=values) | ast.Tuple(elts=values) | ast.List(elts=values):
                yield from values
            case ast.Dict(values=values):
                yield from values
            case ast.Starred(value=value) | ast.NamedExpr(value=value) | ast.Await(value=value):
                yield value
            case ast.ListComp(elt=element) | ast.SetComp(elt=element) | ast.GeneratorExp(elt=element):
                yield element
            case ast.DictComp(value=value):
                yield value

    def _bound_to(self, name: ast.Name) -> Iterator[ast.expr]:
        if name.id in self._made_leaves:
            self.leaves[name] = None
        for binding in self.analysis.definitions.reaching(name):
            if binding in self._seen:
                continue
            self._seen.add(binding)
            value = binding.value
            if binding.kind is BindingKind.PARAMETER:
                self.parameters[name] = None
            elif value is None:
                continue
            elif binding.kind is BindingKind.AUGMENT:
                yield value
                yield from self._augmented(binding)
            elif self._is_index(value, binding.path):
                continue
            elif binding.path and isinstance(value, ast.Call):
                yield from self._item_of_call(value, binding.path[0])
            else:
                yield value
                yield from self._put_into(name, binding)

    def _item_of_call(self, call: ast.Call, item: int) -> Iterator[ast.expr]:
        """Yield what one item of a call's result is computed from: nothing, if it carries no gradient."""
        if item in self.gradients.plain_items(call):
            return
        is_new = not any((call, each) in self._items for each in (-1, item))
        self._items[call, item] = None
        if is_new:
            yield from self._made_of(call)

    def _augmented(self, binding: Binding) -> Iterator[ast.expr]:
        """Yield the earlier values of a variable that is updated in place, possibly thousands of times,
        oldest first.
        """
        walks: list[tuple[Iterator[Binding], ast.expr | None]] = [(self._before(binding), None)]
        while walks:
            earlier = next(walks[-1][0], None)
            if earlier is None:
                _, value = walks.pop()
                if value is not None:
                    yield value
            elif earlier not in self._seen:
                self._seen.add(earlier)
                if earlier.kind is BindingKind.AUGMENT:
                    walks.append((self._before(earlier), earlier.value))
                elif earlier.value is not None:
                    yield earlier.value

    def _before(self, binding: Binding) -> Iterator[Binding]:
        scope = self.syntax.scope(binding.statement)
        return iter(self.analysis.definitions.before(binding.name, binding.statement, scope))

    @functools.cached_property
    def _made_leaves(self) -> frozenset[str]:
        """Return the names of variables that become leaves after their creation: `x.requires_grad = True`."""
        written = self.syntax.written
        stores = [store for store in written.attribute_stores if store.attr == "requires_grad"]
        calls = [call.func for call in written.calls_of(("requires_grad_",))]
        owners = (each.value for each in (*stores, *calls) if isinstance(each, ast.Attribute))
        return frozenset(owner.id for owner in owners if isinstance(owner, ast.Name))

    def _put_into(self, name: ast.Name, binding: Binding) -> Iterator[ast.expr]:
        """Yield the values inserted into a list that a variable holds."""
        empty = (ast.List, ast.Dict, *COMPREHENSIONS)
        if not isinstance(binding.value, empty) and not isinstance(binding.value, ast.Call):
            return
        yield from self.gradients.put_into(name.id, self.syntax.scope(name).lookup(name.id))

    def _attribute(self, node: ast.Attribute) -> Iterator[ast.expr]:
        if node.attr in _ENDING_ATTRIBUTES or self.analysis.names.qualified(node) is not None:
            return
        root = root_of(node.value)
        kind = self.analysis.types.type_of(node)
        if isinstance(root, ast.Name) and self._is_receiver(root):
            if kind.tag not in _PLAIN:
                self.kept[node] = None
        elif self.analysis.types.type_of(node.value).tag is TypeTag.MODULE and kind.tag not in _PLAIN:
            self.leaves[node] = None  # a weight: `net.weight`
        else:
            yield node.value

    def _is_receiver(self, name: ast.Name) -> bool:
        return name.id in ("self", "cls")

    def _item_of(self, value: ast.expr, subscript: ast.Subscript) -> Iterator[ast.expr]:
        index = subscript.slice
        path = (index.value,) if isinstance(index, ast.Constant) and isinstance(index.value, int) else ()
        if not self._is_index(value, path):
            yield value

    def _is_index(self, value: ast.expr, path: tuple[int, ...]) -> bool:
        """Whether the item at a path of the value is the second of values and indices."""
        if path[:1] != (1,) or not isinstance(value, ast.Call):
            return False
        name = getattr(value.func, "attr", None) or getattr(value.func, "id", "")
        return name in facts.INDICES_SECOND and gives_indices(value, self.analysis)

    def _called(self, call: ast.Call) -> Iterator[ast.expr]:
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        qualified = self.gradients.library_function(call)
        name = qualified.rpartition(".")[2]
        if qualified in facts.LOOKED_AT or qualified.startswith(("numpy.", "math.")):
            return
        if _makes_leaf(call, name):
            self.leaves[call] = None
        if qualified in facts.WRAPS_DETACHED:
            return
        if qualified.startswith("torch."):
            if name not in _ENDING_FUNCTIONS:
                yield from arguments
            return
        if qualified in facts.CARRIED_BY_BUILTINS:
            yield from arguments
            return
        if isinstance(call.func, ast.Attribute) and not qualified:
            name = call.func.attr
            if name == "requires_grad_":
                self.leaves[call] = None
            drawn = name == "sample" and not self._made_of_gradient(call.func.value)
            if (name in _ENDING_METHODS and not drawn) or name in facts.NEEDS_NO_GRADIENT:
                return
            owner = self.analysis.types.type_of(call.func.value)
            is_tensor = owner.tag in (TypeTag.TENSOR, TypeTag.DISTRIBUTION) or (
                not owner and name in _ONLY_OF_TENSORS
            )
            if is_tensor or (self._made_of_gradient(call.func.value) and not self._is_of_item(call.func)):
                yield call.func.value
                yield from arguments
                return
        if self.gradients.gives_numbers(call):
            return
        self.calls[call] = None
        yield from (each for each in arguments if not self.gradients.ends_in_function(call, each))

    def _is_of_item(self, method: ast.Attribute) -> bool:
        """Whether a method that neither tensors nor distributions have belongs to an item of a container:
        `agent.act` in `[agent.act(x) for agent, x in zip(agents, xs)]`, `self.agents[0].act`.
        """
        if method.attr in _OF_VALUES:
            return False
        if isinstance(method.value, ast.Subscript):
            return True
        if not isinstance(method.value, ast.Name):
            return False
        bindings = self.analysis.definitions.reaching(method.value)
        return any(each.kind is BindingKind.COMPREHENSION for each in bindings)

    def _made_of_gradient(self, expression: ast.expr) -> bool:
        """Whether the receiver of a method is a computed value rather than an object."""
        match expression:
            case ast.Call():
                return True
            case ast.BinOp() | ast.UnaryOp() | ast.Subscript():
                return True
            case ast.Name():
                if self.analysis.types.type_of(expression).tag in _FOLLOWED:
                    return False
                bindings = self.analysis.definitions.reaching(expression)
                return bool(bindings) and all(
                    isinstance(b.value, (ast.Call, ast.BinOp, ast.Subscript))
                    and b.kind is not BindingKind.FOR
                    for b in bindings
                )
        return False


def _makes_leaf(call: ast.Call, function: str) -> bool:
    """Whether a torch function creates a tensor whose gradient is computed: a leaf of the graph."""
    return function == "Parameter" or any(
        keyword.arg == "requires_grad" and getattr(keyword.value, "value", True) for keyword in call.keywords
    )


def gives_indices(call: ast.Call, analysis: FileAnalysis) -> bool:
    """Whether `max` or a similar call returns values and indices along a dimension: not the builtin, nor the
    larger elements of two tensors (`torch.max(first, second)`).
    """
    qualified = analysis.names.qualified(call.func) or ""
    if qualified.startswith("builtins."):
        return False
    if any(keyword.arg in ("dim", "axis", "k") for keyword in call.keywords):
        return True
    given = call.args[1:] if qualified else call.args
    second = given[0] if given else next((each.value for each in call.keywords if each.arg == "other"), None)
    if second is None:
        return True
    kind = analysis.types.type_of(second)
    return kind.tag is TypeTag.INT or (not kind and isinstance(second, (ast.Name, ast.UnaryOp)))
