"""Likely types by use: only tensors have `backward`, only networks `parameters`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from rlint import models
from rlint.models.trait import Trait
from rlint.models.value_type import PLAIN, Choice, Type, TypeTag
from rlint.semantics.dataflow.reaching_definitions import ReachingDefinitions
from rlint.semantics.interprocedural.qualified_names import QualifiedNames
from rlint.semantics.types.class_tests import ClassTests
from rlint.semantics.types.dtypes import library_dtype, named_dtype
from rlint.syntax.scopes import BindingKind, Scope
from rlint.syntax.syntax_index import SyntaxIndex

_SHOWN_BY_METHOD = {
    name: PLAIN[tag]
    for tag in (TypeTag.TENSOR, TypeTag.MODULE)
    for name in models.having(Trait.ONLY_ONE_KIND, tag)
}
_MOSTLY = models.having(Trait.MOSTLY_ONE_KIND, TypeTag.TENSOR)
_OF_NUMBERS = _MOSTLY & models.having(Trait.ELEMENTWISE | Trait.CASTS, TypeTag.TENSOR)
"""Methods without arguments that other classes than that of tensors rarely have: `x.exp()`."""
_IN_PLACE = frozenset(
    name for name in models.methods_of(TypeTag.TENSOR) if name.endswith("_") and name != "requires_grad_"
)
_SHOWN_BY_METHOD |= dict.fromkeys(_MOSTLY | _IN_PLACE, PLAIN[TypeTag.TENSOR])
_FUNCTIONAL = "torch.nn.functional."
_OF_TENSORS = models.methods_of(TypeTag.TENSOR)
_TAKE_TWO = models.having(Trait.SAME_KIND, TypeTag.TENSOR) & models.having(
    Trait.ONLY_ONE_KIND, TypeTag.TENSOR
)
"""Methods of tensors that take a dimension or a mask, and more: other classes also have a
`gather(values)`.
"""
_DIFFERENTIATES = "backward"
_TAKE_ONE = (
    models.having(Trait.MEASURES, TypeTag.TENSOR) & models.having(Trait.ONLY_ONE_KIND, TypeTag.TENSOR)
) | (models.having(Trait.PAIRWISE, TypeTag.TENSOR) & _MOSTLY)
"""Methods that take one dimension or number: `x.size(0)`."""
_MOVES = models.having(Trait.CASTS | Trait.RELOCATES, TypeTag.MODULE)
_OF_MODES = frozenset({"eval", "train"})
"""Methods of networks that agents have as well, but not those that are called like functions."""
_SHOWN_BY_METHOD |= dict.fromkeys(_OF_MODES, PLAIN[TypeTag.MODULE])
_TESTS = models.names_having(Trait.TESTS_CLASS, "builtins", "torch")
_FLOAT = Choice(PLAIN[TypeTag.FLOAT], is_read=True)
_INT = Choice(PLAIN[TypeTag.INT], is_read=True)
_ARRAY = Choice(PLAIN[TypeTag.NDARRAY], is_read=True)


class UseEvidence:
    """Types by use, in one file. A use implies the type wherever the same binding may be read; the uses of a
    variable whose type is tested imply nothing.
    """

    def __init__(self, syntax: SyntaxIndex, names: QualifiedNames, definitions: ReachingDefinitions) -> None:
        self._syntax = syntax
        self._names = names
        self._definitions = definitions
        self.class_tests = ClassTests(syntax, names, definitions)
        self._shown: dict[tuple[str, Scope, frozenset[int]], dict[Type, int]] = {}

    def of(self, expression: ast.expr) -> Choice | None:
        """Return the likely type of an expression, with the line that shows it, if that is elsewhere."""
        number = _number_read(expression)
        if number is not None:
            return number
        if not self._concerned:
            return None
        if isinstance(expression, ast.Call) and (array := self._array_of(expression)) is not None:
            return array
        if isinstance(expression, ast.Name):
            return self._of_name(expression)
        shown = self._shown_by(expression)
        return Choice(shown) if shown is not None else None

    def of_attribute(self, cls: ast.ClassDef, name: str) -> tuple[Type, int] | None:
        """Return the likely type of an attribute, judging by its class's methods, with the line that shows
        it.
        """
        if not self._concerned:
            return None
        found: tuple[Type, int] | None = None
        for use, kind in self._uses_of_attributes.get(name, ()):
            owner = use.value
            if isinstance(owner, ast.Name) and self._names.class_of_self(owner) is cls:
                if found is not None and found[0] != kind:
                    return None
                found = found or (kind, use.lineno)
        return found

    def _array_of(self, call: ast.Call) -> Choice | None:
        """Return the array that a call likely gives: `np.load(path)` of plain numbers, and
        `x.astype(np.float32)` in a file without data frames.
        """
        if not isinstance(call.func, ast.Attribute):
            return None
        if call.func.attr == "load" and self._names.qualified(call.func) == "numpy.load":
            may_be_pickled = any(word.arg in ("allow_pickle", None) for word in call.keywords)
            return None if may_be_pickled else _ARRAY
        if call.func.attr != "astype" or len(call.args) != 1 or "pandas" in self._syntax.text:
            return None
        match call.args[0]:
            case ast.Constant(value=str(text)):
                dtype = named_dtype(text)
            case named:
                dtype = library_dtype(self._names.qualified(named) or "")
        return Choice(_ARRAY.kind._replace(dtype=dtype), is_read=True) if dtype else None

    @cached_property
    def _concerned(self) -> bool:
        return "torch" in self._syntax.text

    def _of_name(self, name: ast.Name) -> Choice | None:
        uses = self._uses.get(name.id)
        if uses is None or name.id in self._tested:
            return None
        scope, _ = self._names.bindings(name)
        if scope is None:
            return None
        reaching = self._definitions.reaching(name)
        key = name.id, scope, frozenset(map(id, reaching))
        shown = self._shown.get(key)
        if shown is None:  # once for all reads of the same values
            shown = self._shown[key] = {}
            for use, kind in uses:
                if self._names.bindings(use)[0] is scope:
                    made = self._definitions.reaching(use)
                    if any(binding in made for binding in reaching):
                        shown[kind] = use.lineno
        if len(shown) != 1:
            return None
        [(kind, line)] = shown.items()
        return Choice(kind, "" if name in self._use_nodes else f"line {line}")

    @cached_property
    def _use_nodes(self) -> frozenset[ast.Name]:
        return frozenset(use for uses in self._uses.values() for use, _ in uses)

    def _shown_by(self, expression: ast.expr) -> Type | None:
        """Return the type that the enclosing call implies for an expression."""
        parent = self._syntax.parents.get(expression)
        if isinstance(parent, ast.Attribute):
            shown = _SHOWN_BY_METHOD.get(parent.attr)
            if shown is None:
                return None
            call = self._syntax.call_of(parent)
            if call is None:
                return None
            if parent.attr in _OF_MODES:
                return shown if self._is_called(expression) and not call.args else None
            if parent.attr in _OF_NUMBERS:
                return None if call.args or call.keywords else shown
            if parent.attr == _DIFFERENTIATES and call.args:
                return None  # `accelerator.backward(loss)`
            if parent.attr in _TAKE_ONE:
                return shown if len(call.args) == 1 else None
            if parent.attr == "type":
                return shown if self._names_dtype(call) else None
            return None if parent.attr in _TAKE_TWO and len(call.args) + len(call.keywords) < 2 else shown
        if isinstance(parent, ast.Call) and parent.args and parent.args[0] is expression:
            return PLAIN[TypeTag.TENSOR] if self._takes_tensor(parent) else None
        return None

    def _is_called(self, expression: ast.expr) -> bool:
        """Whether the file also calls a variable like a function: `model.eval()` and `model(x)`."""
        return isinstance(expression, ast.Name) and any(
            isinstance(call.func, ast.Name) for call in self._syntax.written.calls_of((expression.id,))
        )

    def _names_dtype(self, call: ast.Call) -> bool:
        """Whether the argument of a call is a dtype of torch, or a class of tensors."""
        return len(call.args) == 1 and (self._names.qualified(call.args[0]) or "").startswith("torch.")

    def _takes_tensor(self, call: ast.Call) -> bool:
        """Whether a torch function takes a tensor first, as functions that are also tensor methods do, or an
        object computes the gradient of a loss: `accelerator.backward(loss)`.
        """
        if type(call.func) is not ast.Attribute and type(call.func) is not ast.Name:
            return False
        if type(call.func) is ast.Attribute and call.func.attr == _DIFFERENTIATES:
            return True
        name = call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id
        qualified = self._names.qualified(call.func) or ""
        return qualified.startswith(_FUNCTIONAL) or (qualified == f"torch.{name}" and name in _OF_TENSORS)

    @cached_property
    def _uses(self) -> dict[str, list[tuple[ast.Name, Type]]]:
        """Return the uses of variables that imply their types, by name."""
        found: dict[str, list[tuple[ast.Name, Type]]] = {}
        for use, kind in self._informative_uses():
            if isinstance(use, ast.Name):
                found.setdefault(use.id, []).append((use, kind))
        return found

    @cached_property
    def _uses_of_attributes(self) -> dict[str, list[tuple[ast.Attribute, Type]]]:
        """Return the uses of attributes that imply their types, by name, and the assignments to attributes of
        arguments whose other uses do: `self.net = net` beside `Adam(net.parameters())`.
        """
        found: dict[str, list[tuple[ast.Attribute, Type]]] = {}
        for use, kind in self._informative_uses():
            if isinstance(use, ast.Attribute):
                found.setdefault(use.attr, []).append((use, kind))
            elif isinstance(use, ast.Name):
                for store, value in self._kept_as.get(use.id, ()):
                    if self._is_same_argument(use, value):
                        found.setdefault(store.attr, []).append((store, kind))
        return found

    @cached_property
    def _kept_as(self) -> dict[str, list[tuple[ast.Attribute, ast.Name]]]:
        """Return the attributes that variables are assigned to, by the name of the variable, moved to a
        device or not.
        """
        found: dict[str, list[tuple[ast.Attribute, ast.Name]]] = {}
        for store in self._syntax.written.attribute_stores:
            parent = self._syntax.parents.get(store)
            value = parent.value if isinstance(parent, (ast.Assign, ast.AnnAssign)) else None
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
                value = value.func.value if value.func.attr in _MOVES else None
            if isinstance(value, ast.Name) and value.id not in self._tested:
                found.setdefault(value.id, []).append((store, value))
        return found

    def _is_same_argument(self, use: ast.Name, value: ast.Name) -> bool:
        """Whether two reads have the value of the same argument."""
        scope, _ = self._names.bindings(value)
        if scope is None or self._names.bindings(use)[0] is not scope:
            return False
        made = self._definitions.reaching(value)
        return (
            len(made) == 1
            and made[0].kind is BindingKind.PARAMETER
            and made[0] in self._definitions.reaching(use)
        )

    def _informative_uses(self) -> Iterator[tuple[ast.expr, Type]]:
        for value, kind in self._shown_values():
            shown = _whole(value) if kind.tag is TypeTag.TENSOR else value
            if isinstance(shown, (ast.Name, ast.Attribute)):
                yield shown, kind

    def _shown_values(self) -> Iterator[tuple[ast.expr, Type]]:
        written = self._syntax.written
        for name in written.attributes.keys() & _SHOWN_BY_METHOD.keys():
            for node in written.attributes[name]:
                kind = self._shown_by(node.value)
                if kind is not None:
                    yield node.value, kind
                    indexed = self._indexed_by(node) if kind.tag is TypeTag.TENSOR else None
                    if indexed is not None:
                        yield indexed, kind
        for name, calls in written.calls.items():
            of_torch = name in _OF_TENSORS or models.callable_fact(f"{_FUNCTIONAL}{name}")
            if not of_torch and name != _DIFFERENTIATES:
                continue
            for call in calls:
                if call.args and self._takes_tensor(call):
                    yield call.args[0], PLAIN[TypeTag.TENSOR]

    def _indexed_by(self, method: ast.Attribute) -> ast.expr | None:
        """Return `x` of `x[rows, actions.long()]`: few arrays of numpy are indexed by tensors."""
        call = self._syntax.call_of(method)
        index = self._syntax.parents.get(call) if call is not None else None
        subscript = self._syntax.parents.get(index) if isinstance(index, ast.Tuple) else None
        if isinstance(subscript, ast.Subscript) and subscript.slice is index:
            return subscript.value
        return None

    @cached_property
    def _tested(self) -> frozenset[str]:
        """Return the names of variables whose types are tested."""
        return frozenset(
            call.args[0].id
            for call in self._syntax.written.calls_of(_TESTS)
            if call.args and isinstance(call.args[0], ast.Name)
        )


def _number_read(expression: ast.expr) -> Choice | None:
    """Return the likely type of a number that is read from an object of unknown type: `x.item()`,
    `x.shape[0]` and `x.size(0)`, of an array or a tensor.
    """
    match expression:
        case ast.Call(func=ast.Attribute(attr="item"), args=[], keywords=[]):
            return _FLOAT
        case (
            ast.Call(func=ast.Attribute(attr="size"), args=[index], keywords=[])
            | ast.Subscript(value=ast.Attribute(attr="shape"), slice=index)
        ):
            place = index.operand if isinstance(index, ast.UnaryOp) else index
            is_place = isinstance(place, ast.Constant) and type(place.value) is int
            return _INT if is_place else None
    return None


def _whole(value: ast.expr) -> ast.expr:
    """Return what several indices select a value from, as they do from tensors and arrays only: `x` of
    `x[:, 0]`.
    """
    while isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Tuple):
        value = value.value
    return value
