"""The network parts that the functions, classes and constants of a file create, for its summary."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.nn.architecture import GROWS, UNKNOWN, NetworkPart, NetworkParts, PartKind, unsure
from rlint.syntax.assignments import value_assigned
from rlint.syntax.last_names import last_name
from rlint.syntax.scopes import BindingKind
from rlint.syntax.syntax_index import FUNCTIONS, SyntaxIndex
from rlint.syntax.walk import place_in_order

_ADDS = frozenset({*GROWS, "setattr", "__init__"})

PartsByName = dict[str, tuple[NetworkPart, ...]]


def parts_of_file(analysis: FileAnalysis, parts: NetworkParts) -> PartsByName:
    """Return what the file's functions return, its classes store and its constants hold, as network parts.

    The keys: `mlp()` what a function returns, `mlp@activation` the default of a parameter,
    `Actor.net` an attribute (`Actor.*` those of unknown name), `Actor.super()` the call of the base's
    constructor, `ACTIVATIONS` a constant.
    """
    found: PartsByName = {}
    for key, made in chain(
        _defaults(analysis, parts),
        _returned(analysis, parts),
        _stored(analysis, parts),
        _added(analysis, parts),
        _constants(analysis, parts),
    ):
        if made:
            found[key] = tuple(dict.fromkeys((*found.get(key, ()), *made)))
    return {key: made for key, made in found.items() if made != (UNKNOWN,)}


_FoundParts = Iterator[tuple[str, tuple[NetworkPart, ...]]]


def _defaults(analysis: FileAnalysis, parts: NetworkParts) -> _FoundParts:
    syntax = analysis.syntax
    for node in (*syntax.of_type(ast.FunctionDef), *syntax.of_type(ast.AsyncFunctionDef)):
        assert isinstance(node, FUNCTIONS)
        arguments = node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        after = positional[len(positional) - len(arguments.defaults) :]
        pairs = [*zip(after, arguments.defaults, strict=True)]
        pairs += [
            (parameter, default)
            for parameter, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            if default is not None
        ]
        for parameter, default in pairs:
            if not isinstance(default, ast.Constant):
                yield f"{syntax.qualname(node)}@{parameter.arg}", parts.of(default)


def _returned(analysis: FileAnalysis, parts: NetworkParts) -> _FoundParts:
    syntax = analysis.syntax
    for statement in syntax.of_type(ast.Return):
        function = syntax.function(statement)
        if function is not None and statement.value is not None:
            yield f"{syntax.qualname(function)}()", parts.of(statement.value)


def _stored(analysis: FileAnalysis, parts: NetworkParts) -> _FoundParts:
    """Yield the parts that are assigned: `self.net = ...`, `self.net[0] = ...`, and attributes in the body of
    a class.
    """
    syntax = analysis.syntax
    for target, place in _places_of_attributes(syntax):
        value = _value_for(place, syntax)
        if value is not None and parts.analysis.names.is_self(target.value):
            yield _key(target, target.attr, analysis), _as_attribute(value, target, parts)
    for node in syntax.of_type(ast.ClassDef):
        for name, bindings in syntax.scopes[node].bindings.items():
            for binding in bindings:
                if binding.kind is BindingKind.ASSIGN and binding.value is not None and not binding.path:
                    yield f"{syntax.qualname(node)}.{name}", parts.of(binding.value)


def _places_of_attributes(syntax: SyntaxIndex) -> list[tuple[ast.Attribute, ast.expr]]:
    """Return the attributes that are assigned, or whose items are, each with the assignment's place."""
    found: list[tuple[ast.Attribute, ast.expr]] = [(node, node) for node in syntax.written.attribute_stores]
    found += [
        (part, item)
        for item in syntax.written.item_stores
        if isinstance(item.ctx, ast.Store)
        for part in (item.value, item.slice)
        if isinstance(part, ast.Attribute)
    ]
    return sorted(found, key=lambda each: place_in_order(each[0]))


def _value_for(target: ast.expr, syntax: SyntaxIndex) -> ast.expr | None:
    """Return what an assignment stores in a target, also in one of several: `self.q1, self.q2 = Q(), Q()`."""
    around = syntax.parents[target]
    if isinstance(around, ast.AugAssign):
        return around.value
    return value_assigned(target, syntax.parents)


def _added(analysis: FileAnalysis, parts: NetworkParts) -> _FoundParts:
    """Yield the parts that calls add: `self.layers.append(...)`, `self.add_module(name, ...)`, `setattr(self,
    name, ...)`.
    """
    for call in analysis.syntax.written.calls_of(_ADDS):
        match call.func:
            case ast.Attribute(value=ast.Attribute(value=owner, attr=attribute), attr=method) if (
                method in GROWS and parts.analysis.names.is_self(owner) and len(call.args) > GROWS[method]
            ):
                value = call.args[GROWS[method]]
                yield _key(call, attribute, analysis), _as_attribute(value, call, parts)
            case ast.Attribute(value=ast.Name() as owner, attr=method) if (
                method in GROWS
                and parts.analysis.names.is_self(owner)
                and len(call.args) > GROWS[method]
                and _is_container(analysis.syntax.class_of(call))
            ):
                yield _key(call, "*", analysis), _as_attribute(call.args[GROWS[method]], call, parts)
            case ast.Attribute(value=owner, attr="add_module" | "register_module") if (
                parts.analysis.names.is_self(owner) and len(call.args) == 2
            ):
                yield _key(call, "*", analysis), _as_attribute(call.args[1], call, parts)
            case ast.Name(id="setattr") if len(call.args) == 3 and parts.analysis.names.is_self(call.args[0]):
                yield _key(call, "*", analysis), _as_attribute(call.args[2], call, parts)
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__"):
                if analysis.syntax.class_of(call) is not None:
                    made = (NetworkPart(PartKind.MADE, arguments=parts.arguments(call)),)
                    yield _key(call, "super()", analysis), made


def _is_container(cls: ast.ClassDef | None) -> bool:
    """Whether a class is a list or a chain of layers, to which its own methods add some."""
    return cls is not None and any(last_name(base) in ("Sequential", "ModuleList") for base in cls.bases)


def _constants(analysis: FileAnalysis, parts: NetworkParts) -> _FoundParts:
    for name, bindings in analysis.syntax.scopes[analysis.syntax.module].bindings.items():
        for binding in bindings:
            plain = binding.kind is BindingKind.ASSIGN and not binding.path
            if plain and isinstance(binding.value, (ast.Dict, ast.List, ast.Tuple, ast.Call, ast.Lambda)):
                yield name, parts.of(binding.value)


def _key(node: ast.AST, attribute: str, analysis: FileAnalysis) -> str:
    owner = analysis.syntax.class_of(node)
    return f"{analysis.syntax.qualname(owner)}.{attribute}" if owner is not None else ""


def _as_attribute(value: ast.expr, node: ast.AST, parts: NetworkParts) -> tuple[NetworkPart, ...]:
    """Return the parts of a stored value; of parameters, only those of the constructor can be resolved from
    the call that creates the instance.
    """
    made = parts.of(value)
    if parts.is_conditional(node):
        made = tuple(unsure(made))
    function = parts.syntax.function(node)
    if function is not None and function.name == "__init__":
        return made
    return tuple(map(_without_parameters, made))


def _without_parameters(part: NetworkPart) -> NetworkPart:
    if part.kind == PartKind.PARAMETER:
        return UNKNOWN
    arguments = tuple((name, tuple(map(_without_parameters, given))) for name, given in part.arguments)
    return part.given(arguments) if arguments else part
