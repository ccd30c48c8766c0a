"""What the steps of an access path lead to: calls, items, attributes, parameters."""

from __future__ import annotations

from functools import partial, reduce
from typing import TYPE_CHECKING

from rlint import models
from rlint.models.value_type import Type, TypeTag, access_path, alternatives
from rlint.semantics.interprocedural.access_paths.passed_arguments import PassedArguments
from rlint.semantics.interprocedural.access_paths.path_syntax import shown_container, split_path
from rlint.semantics.interprocedural.access_paths.resolution_state import OneOfPaths, ResolutionState
from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary, ModuleSummary
from rlint.semantics.interprocedural.symbols import GETTER, LibraryMethod, Symbol, SymbolTable
from rlint.semantics.types import batches
from rlint.semantics.types.algebra import indexed, known_item, parsed_options
from rlint.semantics.types.results import named_tuples, networks

if TYPE_CHECKING:
    from rlint.semantics.interprocedural.access_paths.path_resolver import PathResolver

CALLED_BY = {TypeTag.MODULE: "forward", TypeTag.INSTANCE: "__call__"}
"""The methods that run when instances are called."""
_NAMED_TUPLE = "typing.NamedTuple"


class PathSteps:
    """Follows access paths step by step."""

    def __init__(
        self, symbols: SymbolTable, arguments: PassedArguments, paths: PathResolver, state: ResolutionState
    ) -> None:
        self._symbols = symbols
        self._classes = symbols.classes
        self._arguments = arguments
        self._paths = paths
        self._state = state
        self._fresh_kinds: dict[str, Type] = {}

    def follow(self, path: str, module: str) -> tuple[Symbol | OneOfPaths | None, ClassSummary | None]:
        """Return what a path resolves to, and for a method the class it was looked up on."""
        root, steps = split_path(path)
        value = self._symbols.symbol(root, module)
        owner: ClassSummary | None = None
        if value is None:
            made = models.callable_fact(root)
            if made is not None and steps[:1] == ("()",):
                value, steps = made.result, steps[1:]
            else:
                value, steps = self._constant(root, steps, module)
        for position, step in enumerate(steps):
            if value is None:
                return None, None
            if isinstance(value, Type):
                if value.of and value.tag is TypeTag.UNKNOWN:
                    value = self._paths.resolve(value.of, module)
                elif value.caveat is not None and value.caveat.short:
                    self._state.notes.fall_short()
            if isinstance(value, Type) and "{" in value.of:
                rest = "".join(steps[position:])
                return OneOfPaths(tuple(f"{each}{rest}" for each in alternatives(access_path(value)))), None
            if step == "()":
                value, owner = self._called(value, owner), None
            elif step[0] == "[":
                value = indexed(self._paths.as_type(value), step)
                if value.caveat is not None:
                    value = self._paths.judged(value, partial(shown_container, path))
            elif step[0] == "@":
                if not isinstance(value, FunctionSummary):
                    return None, None
                self._state.unsettled = True
                taken = self._arguments.type_of(value, step[1:])
                value = self._paths.judged(taken, partial(_parameter, step[1:], value))
            elif steps[position + 1 : position + 2] == (GETTER,):
                return self._getter(value, step[1:])
            else:
                called = position + 1 < len(steps) and steps[position + 1] == "()"
                value, owner = self._get(value, step[1:], called=called)
        return value, owner

    def _getter(self, value: Symbol, name: str) -> tuple[FunctionSummary | None, ClassSummary | None]:
        """Return the function that runs whenever a property of an object is read, with the object's class."""
        cls = self._classes.class_of(value) if isinstance(value, Type) else None
        method = self._classes.method(cls, name) if cls is not None else None
        runs = method is not None and method.is_property and not method.remembers
        return (method, cls) if runs else (None, None)

    def _constant(
        self, root: str, steps: tuple[str, ...], module: str
    ) -> tuple[Symbol | None, tuple[str, ...]]:
        """Return the constant of a module whose attributes a dotted name reads (`settings.args.device`), with
        the remaining steps.
        """
        owner, _, attribute = root.rpartition(".")
        while "." in owner:
            steps = (f".{attribute}", *steps)
            found = self._symbols.symbol(owner, module)
            if found is not None:
                return (found, steps) if isinstance(found, Type) else (None, steps)
            owner, _, attribute = owner.rpartition(".")
        return None, steps

    def _called(self, value: Symbol, owner: ClassSummary | None) -> Symbol | None:
        """Return what a call returns; `owner` is the class on which a method was looked up."""
        if isinstance(value, ClassSummary):
            made = self._fresh_kinds.get(value.path)
            if made is None:
                made = self._made_otherwise(value) or self._classes.class_kind(value)
                made = self._fresh_kinds[value.path] = made._replace(fresh=True)
            return made
        if isinstance(value, FunctionSummary):
            return self._paths.returns.of_method(value, owner)
        if isinstance(value, Type):
            if named_tuples.is_class(value):
                return named_tuples.instance(value)
            if value.tag in (TypeTag.CLASS, TypeTag.FUNCTION) and value.of:
                symbol = self._symbols.symbol(value.of, "")
                if symbol is not None and not isinstance(symbol, Type):
                    return self._called(symbol, owner)
                known = models.callable_fact(value.of)
                return known.result if known else None
            if value.tag is TypeTag.FUNCTION and value.item is not None:
                return value.item  # a lambda
            if value.tag is TypeTag.MODULE:
                inner = networks.wrapped(value)
                if inner is not None:
                    return self._called(self._paths.as_type(inner), owner)
                cls = self._classes.class_of(value)
                forward = self._classes.method(cls, self.method_called(value, cls)) if cls else None
                if forward is None and networks.is_of_library(value):
                    return networks.result_of_library(value)
                return self._paths.returns.of_function(forward) if forward is not None else None
        if isinstance(value, LibraryMethod):
            if value.owner.of == "argparse.ArgumentParser":
                return parsed_options(value.owner, value.name)
            if value.name == "__iter__" and value.owner.tag is TypeTag.INSTANCE:
                return self._fields_of(value.owner)
            fact = models.method_fact(value.owner.tag, value.name)
            if value.owner.tag is TypeTag.UNKNOWN:
                fact = models.method_on_unknown(value.name, 0) or models.method_on_unknown(value.name, 1)
            if fact is not None and fact.result.tag is value.owner.tag is TypeTag.MODULE:
                return value.owner.aged()  # `Network(…).to(device)` is a `Network`
            return (
                batches.result_of_method(value.owner, value.name, fact.result) if fact is not None else None
            )
        return None

    def _fields_of(self, value: Type) -> Type | None:
        """Return the type of an iterator over the fields of a named tuple, of a class that declares them."""
        cls = self._classes.class_of(value)
        if cls is None or _NAMED_TUPLE not in cls.bases or not cls.declared:
            return None
        parts = tuple([self._paths.resolved(kind, cls.module) for kind in cls.declared.values()])
        return Type(TypeTag.ITERATOR, item=known_item(reduce(Type.joined, parts)), parts=parts)

    def _made_otherwise(self, cls: ClassSummary) -> Type | None:
        """Return the type that `__new__` of a class returns, if it makes objects of other classes."""
        if "__new__" not in cls.methods:
            return None
        made = self._paths.returns.of_function(
            self._symbols.modules[cls.module].functions[f"{cls.qualname}.__new__"]
        )
        return made if made.tag in CALLED_BY and made.of and cls.path not in alternatives(made.of) else None

    def _get(self, value: Symbol, name: str, *, called: bool) -> tuple[Symbol | None, ClassSummary | None]:
        """Return an attribute, and for a method the class on which it was looked up."""
        if not isinstance(value, Type):
            if isinstance(value, ClassSummary):
                return self._classes.method(value, name) or value.attributes.get(name), value
            if isinstance(value, ModuleSummary):
                return self._symbols.member(value, name), None
            return None, None
        if value.tag is TypeTag.MODULE and name == "module":
            inner = networks.wrapped(value)
            if inner is not None:
                return inner, None
        if value.of == networks.MODEL_OUTPUT:
            return networks.part_of_output(name), None
        if value.tag is TypeTag.TUPLE and value.keys:
            return named_tuples.field_of(value, name), None
        cls = self._classes.class_of(value)
        if cls is not None:
            method = self._classes.method(cls, name)
            if method is None and not any(
                name in o.attributes for o in self._classes.ancestry(cls) if isinstance(o, ClassSummary)
            ):
                overriding = self._classes.implementations(cls, name)
                method = overriding[0] if len(overriding) == 1 else None
            if method is not None:
                return (
                    (self._paths.returns.of_method(method, cls), None)
                    if method.is_property
                    else (method, cls)
                )
            attribute = self._paths.attributes.type_of(cls, name)
            if attribute.of or attribute.tag is not TypeTag.UNKNOWN:
                return attribute, None
            if attribute.caveat is not None and not models.attribute_kind(value.tag, name):
                return attribute, None  # a likelier type exists
        if value.tag is TypeTag.PYTHON_MODULE:  # a context or manager offers the same functions as its module
            return (Type(TypeTag.FUNCTION, of=f"{value.of}.{name}") if value.of else None), None
        if called:
            return LibraryMethod(value, name), None
        return batches.on_device_of(value, models.attribute_kind(value.tag, name)), None

    def method_called(self, value: Type, cls: ClassSummary) -> str:
        """Return the name of the method that runs where an instance is called: of a network, its `forward`
        unless its class has a `__call__` of its own.
        """
        return "__call__" if self._classes.method(cls, "__call__") is not None else CALLED_BY[value.tag]


def _parameter(name: str, function: FunctionSummary) -> str:
    """Return the subject of a message about a parameter, without the outer backticks."""
    return f"{name}` of `{function.shown}()"
