"""The architecture of networks in one file, as plain data for the summaries."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from rlint import models
from rlint.enums import Enum
from rlint.frozen import frozen
from rlint.models import vocabulary
from rlint.models.parameters import PARAMETERS
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag, alternatives
from rlint.semantics.dataflow.reaching_definitions import MAX_DEFINITIONS
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.syntax_index import FUNCTIONS, TRIES
from rlint.syntax.walk import is_in_block

if TYPE_CHECKING:
    from rlint.semantics.file_analysis import FileAnalysis

_DEPTH = 12
CONTAINERS = models.having(
    Trait.CONTAINS, "torch.nn", "torch.nn.parallel", "torch.nn.utils", "torch.nn.utils.parametrizations"
)
_HANDS_ON = (
    models.having(Trait.SAME_ITEMS | Trait.PAIRS_ITEMS, "builtins")
    | models.having(Trait.COPIES | Trait.WRAPS, "copy", "torch", "torch.jit") - {"torch.clone"}
    | {"builtins.dict", "collections.OrderedDict", "functools.partial"}
)
"""Calls that return their arguments, wrapped or copied."""
_SAME_NETWORK = (
    models.having(Trait.RETURNS_SELF, TypeTag.MODULE)
    | models.having(Trait.TAKES_OUT | Trait.COPIES, TypeTag.DICT)
    | {"items", "keys", "values"}
    | {"children", "modules"}
)
"""Methods that return the network itself, or the items of a container."""
GROWS = {
    name: int(name in ("insert", "add_module", "register_module"))
    for name in models.having(Trait.INSERTS | Trait.INSERTS_ALL, TypeTag.MODULE) | {"update"}
}
_MAY_HOLD_NETWORKS = frozenset(
    {TypeTag.UNKNOWN, TypeTag.NONE, TypeTag.MODULE, TypeTag.FUNCTION, TypeTag.CLASS, TypeTag.LIST,
     TypeTag.TUPLE, TypeTag.DICT, TypeTag.ITERATOR, TypeTag.INSTANCE}
)  # fmt: skip
_OF_TENSORS = frozenset({"dtype", "ndim", "shape"})
"""Attributes of tensors, arrays and spaces that networks do not have."""
_DROPOUT_OF = {
    name.removeprefix("torch.nn."): parameters.index("dropout")
    for name, parameters in PARAMETERS.items()
    if name.startswith("torch.nn.") and "dropout" in parameters
}
"""Layers that contain dropout, with the position of its rate among the arguments (never read so far back)."""
_DROPS_BY_DEFAULT = frozenset({"Transformer", "TransformerDecoderLayer", "TransformerEncoderLayer"})


class PartKind(Enum):
    """How a part of a network is known."""

    LAYER = "layer"
    """A class or function of torch."""
    MADE = "made"
    """The result of a function, class or constant of the project for `arguments`."""
    NAMED = "named"
    """A function, class or constant of the project that is not called: `activation=swish`."""
    PARAMETER = "parameter"
    """The argument that the function receives for it."""
    ATTRIBUTE = "attribute"
    """An attribute of `self`, or of the object created from the argument ""."""
    METHOD = "method"
    """The result of a method of `self`."""
    INSTANCE = "instance"
    """An instance of a class, created elsewhere."""
    UNKNOWN = "unknown"


@frozen
class NetworkPart:
    """One part of a network.

    `name` is that of the layer, class, function, attribute or parameter. `sure` says that it is part of the
    network unconditionally. `width` is the smaller side of a linear layer, 0 if it is not known. `in_place`:
    it may write its result to its input.
    """

    kind: PartKind
    name: str = ""
    sure: bool = True
    arguments: tuple[tuple[str, tuple[NetworkPart, ...]], ...] = ()
    width: int = 0
    in_place: bool = False
    _hash: int | None = field(default=None, init=False, compare=False, repr=False)
    """Parts are nested, and shared by several: each is visited once."""

    def __hash__(self) -> int:
        if self._hash is None:
            own = (self.kind, self.name, self.sure, self.arguments, self.width, self.in_place)
            object.__setattr__(self, "_hash", hash(own))
        return self._hash  # type: ignore[return-value]

    def __reduce__(self) -> tuple[Any, ...]:  # another process hashes strings differently
        return NetworkPart, (self.kind, self.name, self.sure, self.arguments, self.width, self.in_place)

    def given(self, arguments: tuple[tuple[str, tuple[NetworkPart, ...]], ...]) -> NetworkPart:
        """Return the same part for other arguments."""
        return replace(self, arguments=arguments)

    def unsure(self) -> NetworkPart:
        """Return the same part, marked as conditional."""
        return replace(self, sure=False)


UNKNOWN = NetworkPart(PartKind.UNKNOWN)
DROPOUT = "torch.nn.Dropout"


class NetworkParts:
    """Extracts the parts of networks from the expressions of one file that build them."""

    def __init__(self, analysis: FileAnalysis) -> None:
        self.analysis = analysis
        self.syntax = analysis.syntax
        self._grown: dict[object, list[ast.expr]] | None = None
        self._open: set[object] = set()
        self._known: dict[ast.expr, tuple[NetworkPart, ...]] = {}

    def of(self, expression: ast.expr) -> tuple[NetworkPart, ...]:
        """Return the parts of a network (or a list of layers, or a factory of one); empty for other
        values.
        """
        known = self._known.get(expression)
        if known is None:
            if len(self._open) > _DEPTH:
                return (UNKNOWN,)
            # a recursive read adds nothing
            look = self._LOOKS.get(type(expression))
            known = tuple(look(self, expression)) if look is not None else ()
            known = self._known[expression] = known if len(known) < 2 else tuple(dict.fromkeys(known))
        return known

    def _of_display(self, node: ast.Tuple | ast.List | ast.Set) -> Iterator[NetworkPart]:
        return self._each(node.elts)

    def _of_dict(self, node: ast.Dict) -> Iterator[NetworkPart]:
        return self._each(node.values)

    def _of_value(self, node: ast.Starred | ast.NamedExpr | ast.DictComp) -> Iterator[NetworkPart]:
        return iter(self.of(node.value))

    def _of_lambda(self, node: ast.Lambda) -> Iterator[NetworkPart]:
        return iter(self.of(node.body))

    def _of_choice(self, node: ast.IfExp) -> Iterator[NetworkPart]:
        return unsure(self._each([node.body, node.orelse]))

    def _of_alternatives(self, node: ast.BoolOp) -> Iterator[NetworkPart]:
        return unsure(self._each(node.values))

    def _of_operation(self, node: ast.BinOp) -> Iterator[NetworkPart]:
        joins = isinstance(node.op, (ast.Add, ast.Mult))
        return self._each([node.left, node.right]) if joins else iter(())

    def _of_comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Iterator[NetworkPart]:
        return iter(self.of(node.elt))

    def _of_item(self, node: ast.Subscript) -> Iterator[NetworkPart]:
        return unsure(self.of(node.value))

    def _of_suspension(self, _: ast.Await | ast.Yield | ast.YieldFrom) -> Iterator[NetworkPart]:
        return iter((UNKNOWN,))

    def _each(self, nodes: Iterable[ast.expr]) -> Iterator[NetworkPart]:
        for node in nodes:
            yield from self.of(node)

    # -- references ----------------------------------------------------------------------------

    def _of_reference(self, node: ast.Name | ast.Attribute) -> Iterator[NetworkPart]:
        qualified = self.analysis.names.qualified(node)
        if qualified is not None:
            yield from _mentioned(qualified)
            return
        kind = self.analysis.types.type_of(node)
        if kind.tag not in _MAY_HOLD_NETWORKS:
            return
        if isinstance(node, ast.Attribute):
            if node.attr in _OF_TENSORS:
                return  # `self.conv(x).shape[1]`
            if self.analysis.names.is_self(node.value):
                yield NetworkPart(PartKind.ATTRIBUTE, node.attr)
            elif node.attr == "module":  # of a network wrapped for several devices
                yield from self.of(node.value)
            else:
                yield NetworkPart(PartKind.ATTRIBUTE, node.attr, arguments=(("", self.of(node.value)),))
            return
        bindings = self.analysis.definitions.reaching(node)
        if not bindings or len(bindings) > MAX_DEFINITIONS:
            yield UNKNOWN
            bindings = []
        for binding in bindings:
            if self._begin(binding):
                found = tuple(self._of_binding(binding, node, alone=len(bindings) == 1))
                self._open.discard(binding)
                yield from found
        for added in self._added_to(node):
            if self._begin(added):
                found = self.of(added)
                self._open.discard(added)
                yield from unsure(found) if self.is_conditional(added) else found

    def _begin(self, what: object) -> bool:
        """Start to read a place, unless it is being read already: lists may extend themselves."""
        if what in self._open:
            return False
        self._open.add(what)
        return True

    def _of_binding(self, binding: Binding, node: ast.Name, *, alone: bool) -> Iterator[NetworkPart]:
        kind = self.analysis.types.binding_kind(binding)
        if (
            binding.kind in (BindingKind.ASSIGN, BindingKind.WALRUS, BindingKind.AUGMENT)
            and binding.value is not None
        ):
            found = self.of(binding.value)
            conditional = self.is_conditional(binding.statement, seen_from=node if alone else None)
            yield from unsure(found) if binding.path or conditional else found
        elif binding.kind in (BindingKind.FOR, BindingKind.COMPREHENSION) and binding.value is not None:
            yield from unsure(self.of(binding.value))
        elif isinstance(binding.statement, ast.Lambda):
            return  # arguments of callers are read at the calls
        elif kind.tag is TypeTag.MODULE and kind.of and not kind.of.startswith("torch."):
            each_of = alternatives(kind.of)
            for each in each_of:
                yield NetworkPart(PartKind.INSTANCE, each, sure=len(each_of) == 1)
        elif binding.kind is BindingKind.PARAMETER and binding.statement is self.syntax.function(node):
            yield NetworkPart(PartKind.PARAMETER, binding.name)
        else:
            yield UNKNOWN

    def is_conditional(self, node: ast.AST, seen_from: ast.AST | None = None) -> bool:
        """Whether a condition in the function around a node decides whether it runs. Conditions that also
        decide whether `seen_from` runs, such as `if __name__ == "__main__":` around both, are ignored.
        """
        child = node
        for ancestor in self.syntax.ancestors(node):
            block = self.syntax.block(child)[0] if isinstance(child, ast.stmt) else []
            if seen_from is not None and is_in_block(seen_from, block):
                return False
            if isinstance(ancestor, FUNCTIONS):
                return False
            if isinstance(ancestor, (ast.If, ast.IfExp, ast.Match, *TRIES)):
                return True
            child = ancestor
        return False

    def _added_to(self, node: ast.Name) -> list[ast.expr]:
        """Return what is appended to a local list or container: `layers.append(nn.ReLU())`."""
        scope = self.syntax.scope(node).lookup(node.id)
        return self._all_grown().get((scope, node.id), []) if scope is not None else []

    def _all_grown(self) -> dict[object, list[ast.expr]]:
        if self._grown is not None:
            return self._grown
        grown: dict[object, list[ast.expr]] = {}
        for call in self.syntax.written.calls_of(GROWS):
            match call.func:
                case ast.Attribute(value=ast.Name(id=name) as owner, attr=method):
                    if len(call.args) > GROWS[method]:
                        scope = self.syntax.scope(owner).lookup(name)
                        grown.setdefault((scope, name), []).append(call.args[GROWS[method]])
        for target in self.syntax.written.item_stores:
            parent = self.syntax.parents[target]
            stored = isinstance(target.ctx, ast.Store) and isinstance(target.value, ast.Name)
            if stored and isinstance(parent, ast.Assign):
                assert isinstance(target.value, ast.Name)
                scope = self.syntax.scope(target).lookup(target.value.id)
                grown.setdefault((scope, target.value.id), []).append(parent.value)
        self._grown = grown
        return grown

    # -- calls ---------------------------------------------------------------------------------

    def _of_call(self, call: ast.Call) -> Iterator[NetworkPart]:
        qualified = self.analysis.names.qualified(call.func)
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if qualified is not None:
            if qualified in CONTAINERS or qualified in _HANDS_ON:
                yield from self._each(given)
            elif qualified == "builtins.getattr":
                yield from self._looked_up(call)
            elif is_layer(qualified):
                if not _is_off(call, qualified):
                    width, in_place = self._width(call, qualified), _is_in_place(call, qualified)
                    yield NetworkPart(PartKind.LAYER, qualified, width=width, in_place=in_place)
                yield from self._inner_dropout(call, qualified)
            elif qualified.startswith("builtins."):
                return
            else:
                fact = models.callable_fact(qualified)
                if fact is None:
                    yield NetworkPart(PartKind.MADE, qualified, arguments=self.arguments(call))
                elif fact.result.tag is TypeTag.MODULE:
                    yield UNKNOWN
            return
        if isinstance(call.func, ast.Attribute) and not self._is_stored_callable(call.func):
            if call.func.attr in _SAME_NETWORK:
                yield from self._each([call.func.value, *call.args[1:]])
            elif self.analysis.names.is_self(call.func.value):
                yield NetworkPart(PartKind.METHOD, call.func.attr, arguments=self.arguments(call))
            elif self.analysis.types.type_of(call).tag in _MAY_HOLD_NETWORKS:
                yield UNKNOWN
            return
        made = self.of(call.func)
        with_arguments = self.arguments(call) if any(part.kind == PartKind.MADE for part in made) else ()
        for part in made:
            yield part.given(with_arguments) if part.kind == PartKind.MADE else part
        if not made or (isinstance(call.func, ast.Name) and self._is_local_lambda(call.func)):
            yield from self._each(given)

    def _is_stored_callable(self, func: ast.Attribute) -> bool:
        """Whether a call is that of a stored callable, `self.activation()`: less certain than a method."""
        return (
            False
            if self.analysis.names.is_self(func.value)
            else self.analysis.types.type_of(func).tag is TypeTag.CLASS
        )

    def _is_local_lambda(self, name: ast.Name) -> bool:
        return any(
            isinstance(binding.value, ast.Lambda) for binding in self.analysis.definitions.reaching(name)
        )

    def _looked_up(self, call: ast.Call) -> Iterator[NetworkPart]:
        """Yield the parts of `getattr(nn, "ReLU")`."""
        match call.args:
            case [owner, ast.Constant(value=str(name)), *_]:
                base = self.analysis.names.qualified(owner)
                yield from _mentioned(models.canonical(f"{base}.{name}")) if base else (UNKNOWN,)
            case _:
                yield UNKNOWN

    def _width(self, call: ast.Call, qualified: str) -> int:
        """Return the smaller side of `nn.Linear(1024, size)` with literal sizes, or variables bound to
        literals.
        """
        if qualified != "torch.nn.Linear":
            return 0
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        sizes = [*call.args[:2], *(given[name] for name in ("in_features", "out_features") if name in given)]
        return min(map(self._number, sizes)) if len(sizes) == 2 else 0

    def _number(self, size: ast.expr) -> int:
        if isinstance(size, ast.Name):
            bindings = self.analysis.definitions.reaching(size)
            plain = len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGN and not bindings[0].path
            value = bindings[0].value if plain else None
            return self._number(value) if isinstance(value, ast.Constant) else 0
        return size.value if isinstance(size, ast.Constant) and isinstance(size.value, int) else 0

    def _inner_dropout(self, call: ast.Call, qualified: str) -> Iterator[NetworkPart]:
        """Yield the dropout that a recurrent layer or a transformer contains, unless it is written `p=0`."""
        name = qualified.rpartition(".")[2]
        place = _DROPOUT_OF.get(name)
        if place is None:
            return
        rate = next((keyword.value for keyword in call.keywords if keyword.arg == "dropout"), None)
        if rate is None and len(call.args) > place:
            rate = call.args[place]
        if rate is None:
            if name in _DROPS_BY_DEFAULT:
                yield NetworkPart(PartKind.LAYER, DROPOUT)
        elif not (isinstance(rate, ast.Constant) and rate.value == 0):
            yield NetworkPart(PartKind.LAYER, DROPOUT, sure=isinstance(rate, ast.Constant))

    def arguments(self, call: ast.Call) -> tuple[tuple[str, tuple[NetworkPart, ...]], ...]:
        """Return the arguments of a call by position or name, as far as they may be networks or create
        them.
        """
        found: list[tuple[str, tuple[NetworkPart, ...]]] = []
        for position, value in enumerate(call.args):
            if isinstance(value, ast.Starred):
                found.append(("*", (UNKNOWN,)))
                break
            found.append((str(position), self.of(value)))
        found += [
            (keyword.arg or "*", self.of(keyword.value) if keyword.arg else (UNKNOWN,))
            for keyword in call.keywords
        ]
        return tuple(found)

    _LOOKS: ClassVar[dict[type[ast.AST], Callable[..., Iterator[NetworkPart]]]] = {
        ast.Attribute: _of_reference,
        ast.Await: _of_suspension,
        ast.BinOp: _of_operation,
        ast.BoolOp: _of_alternatives,
        ast.Call: _of_call,
        ast.Dict: _of_dict,
        ast.DictComp: _of_value,
        ast.GeneratorExp: _of_comprehension,
        ast.IfExp: _of_choice,
        ast.Lambda: _of_lambda,
        ast.List: _of_display,
        ast.ListComp: _of_comprehension,
        ast.Name: _of_reference,
        ast.NamedExpr: _of_value,
        ast.Set: _of_display,
        ast.SetComp: _of_comprehension,
        ast.Starred: _of_value,
        ast.Subscript: _of_item,
        ast.Tuple: _of_display,
        ast.Yield: _of_suspension,
        ast.YieldFrom: _of_suspension,
    }
    """Maps the type of an expression that may hold a network to the method that returns its parts."""


def is_layer(qualified: str) -> bool:
    """Whether this is a class of torch.nn."""
    owner, _, name = qualified.rpartition(".")
    return owner in ("torch.nn", "torch.nn.parallel") and name[:1].isupper() and name not in _NO_LAYERS


def _is_off(call: ast.Call, qualified: str) -> bool:
    """Whether an expression is `nn.Dropout(0.0)`."""
    rates = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "p")]
    is_dropout = "Dropout" in qualified
    return is_dropout and any(isinstance(rate, ast.Constant) and rate.value == 0 for rate in rates)


def _is_in_place(call: ast.Call, qualified: str) -> bool:
    """Whether a layer may write its result to its input: `nn.ReLU(inplace=True)`, `nn.ReLU(True)`."""
    if any(
        keyword.arg in ("inplace", None)
        and not (isinstance(keyword.value, ast.Constant) and not keyword.value.value)
        for keyword in call.keywords
    ):
        return True
    has_weights = any(word in qualified for word in vocabulary.LAYERS_WITH_WEIGHTS)
    return not has_weights and any(
        isinstance(given, ast.Starred) or (isinstance(given, ast.Constant) and given.value is True)
        for given in call.args
    )


_NO_LAYERS = models.names_having(Trait.HOLDS_PARTS, "torch.nn")


def _mentioned(qualified: str) -> Iterator[NetworkPart]:
    """Yield the parts for a class or function that is named but not called: `activation=nn.ReLU`,
    `F.relu`.
    """
    if is_layer(qualified):
        yield NetworkPart(PartKind.LAYER, qualified)
    elif qualified.startswith(("torch.", "builtins.", "numpy.", "math.")):
        if "dropout" in qualified:
            yield NetworkPart(PartKind.LAYER, DROPOUT)
        elif holds_no_network(qualified):
            yield NetworkPart(PartKind.MADE, qualified)
    elif models.callable_fact(qualified) is None:
        yield NetworkPart(PartKind.NAMED, qualified)


def holds_no_network(qualified: str) -> bool:
    """Whether a class is one of distributions, whose instances have parameters, but no layers."""
    fact = models.callable_fact(qualified)
    return fact is not None and fact.result.tag is TypeTag.DISTRIBUTION


def unsure(parts: Iterable[NetworkPart]) -> Iterator[NetworkPart]:
    """Yield the same parts, marked as conditional."""
    return (part.unsure() for part in parts)
