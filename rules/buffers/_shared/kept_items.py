"""Attributes that hold transitions whatever their names: one method adds items, another draws several."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    COMPREHENSIONS,
    FUNCTIONS,
    Function,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    is_in,
    last_name,
    models,
    regex,
)

_ADDS = models.having(Trait.INSERTS, TypeTag.LIST, TypeTag.DEQUE) | {"extend"}
_PUSHES = frozenset({"heappush", "heappushpop"})
_SINGLE = models.names_having(Trait.WHOLE, "random", "numpy.random", TypeTag.RANDOM_GENERATOR) | {"choice"}
"""Draws of one item, unless a size is given."""
_SEVERAL = models.names_having(Trait.PICKS, "random", "numpy.random") - {"choice"} | {
    "randperm",
    "shuffle",
    "multinomial",
}
_DRAWS = _SEVERAL | _SINGLE
_LOADS = models.names_having(Trait.LOADS, "numpy", "pandas", "torch", "pickle") | {
    "File",
    "get_dataset",
    "load_dataset",
}
_OTHERS = regex(
    r"opponent|polic|league|level|player|checkpoint|snapshot|population|individual|genome|candidate|prompt|seed"
    r"|task|env|agent|model|net"
)
"""Names of collections of a few things that are drawn as well."""


def kept_attributes(cls: ast.ClassDef | None, model: SemanticModel) -> frozenset[str]:
    """Return the attributes of a class to which one method adds items and from which another draws several
    at random: `self.pairs.append(pair)`, `random.sample(self.pairs, n)`.
    """
    return model.once(_kept, cls) if cls is not None else frozenset()


def loaded_attributes(cls: ast.ClassDef | None, model: SemanticModel) -> frozenset[str]:
    """Return the attributes of a class that loads a data set, from which a method draws several rows."""
    return model.once(_loaded, cls) if cls is not None else frozenset()


def _kept(cls: ast.ClassDef, _: SemanticModel) -> frozenset[str]:
    methods = [method for method in cls.body if isinstance(method, FUNCTIONS) and method.name != "__init__"]
    adding = {method: {*_added_by(method)} - {""} for method in methods}
    added = {name for names in adding.values() for name in names}
    if not added:
        return frozenset()
    emptied = {name for method in methods for name in _emptied_by(method)}
    drawn = {name for method in methods for name in _drawn_in([method]) - adding[method]}
    return frozenset(name for name in (added & drawn) - emptied if not _OTHERS.search(name.lower()))


def _loaded(cls: ast.ClassDef, _: SemanticModel) -> frozenset[str]:
    methods = [method for method in cls.body if isinstance(method, FUNCTIONS)]
    begins = [method for method in methods if method.name == "__init__"]
    if not any(
        isinstance(node, ast.Call) and last_name(node.func) in _LOADS
        for method in begins
        for node in descendants(method)
    ):
        return frozenset()
    return frozenset(name for name in _drawn_in(methods) if not _OTHERS.search(name.lower()))


def _own(node: ast.AST) -> str:
    """Return the name of an attribute of `self`, also that of an entry: `data` for `self.data["obs"]`."""
    match node:
        case ast.Attribute(value=ast.Name(id="self"), attr=attr):
            return attr
        case ast.Subscript(value=inner, slice=ast.Constant(value=str()) | ast.Name()):
            return _own(inner)
    return ""


def _added_by(method: Function) -> Iterator[str]:
    """Yield the attributes to which a method adds items."""
    for node in descendants(method):
        match node:
            case ast.Call(func=ast.Attribute(value=held, attr=attr), args=[_, *_]) if attr in _ADDS:
                yield _own(held)
            case ast.Call(func=func, args=[held, _]) if last_name(func) in _PUSHES:
                yield _own(held)
            case ast.Subscript(value=held, slice=index, ctx=ast.Store()) if not isinstance(
                index, (ast.Constant, ast.Slice)
            ):
                yield _own(held)
            case ast.AugAssign(target=ast.Attribute() as held, op=ast.Add(), value=ast.List() | ast.Tuple()):
                yield _own(held)
            case ast.Assign(targets=[ast.Attribute() as held], value=ast.BinOp(op=ast.Add()) as value):
                if any(_own(part) == _own(held) for part in descendants(value)):
                    yield _own(held) if any(isinstance(part, ast.List) for part in descendants(value)) else ""


def _emptied_by(method: Function) -> Iterator[str]:
    """Yield the attributes that a method empties, such as rollouts after an update."""
    for node in descendants(method):
        match node:
            case ast.Assign(targets=targets, value=ast.List(elts=[]) | ast.Dict(keys=[]) | ast.Call(args=[])):
                yield from (_own(target) for target in targets if isinstance(target, ast.Attribute))
            case ast.Call(func=ast.Attribute(value=held, attr="clear")):
                yield _own(held)


def _drawn_in(methods: list[Function]) -> set[str]:
    """Return the attributes that methods read at drawn places, or draw from."""
    found: set[str] = set()
    for method in methods:
        nodes = descendants(method)
        if any(_draws_several(node, method) for node in nodes if isinstance(node, ast.Call)):
            found.update(_read_at_places(nodes))
    return found - {""}


def _draws_several(call: ast.Call, method: Function) -> bool:
    """Whether a call draws several items at once, or one in a loop or comprehension."""
    name = last_name(call.func) or ""
    if name in _SEVERAL:
        return bool(call.args or call.keywords)
    if name not in _SINGLE:
        return name in ("argsort", "topk", "nsmallest") and any(
            isinstance(part, ast.Call) and last_name(part.func) in ("rand", "random")
            for part in descendants(call)
        )
    if len(call.args) > 1 or any(keyword.arg == "size" for keyword in call.keywords):
        return True
    return any(
        is_in(call, around)
        for around in descendants(method)
        if isinstance(around, (ast.For, ast.While, *COMPREHENSIONS))
    )


def _read_at_places(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Subscript(value=held, slice=index, ctx=ast.Load()) if not isinstance(
                index, (ast.Constant, ast.UnaryOp)
            ):
                yield _own(held)
            case ast.Call(args=[held, *_]) if (last_name(node.func) or "") in _DRAWS:
                yield _own(held)
            case ast.Attribute(value=held, attr="__getitem__" | "items" | "values" | "get"):
                yield _own(held)
