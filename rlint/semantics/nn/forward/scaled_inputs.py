"""Networks that divide their input by 255: it consists of frames in bytes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.models import vocabulary
from rlint.syntax.last_names import last_name
from rlint.syntax.syntax_index import FUNCTIONS, SyntaxIndex

_WHITE = 255
"""The largest number in a byte."""


def frame_networks(tree: SyntaxIndex) -> frozenset[str]:
    """Return the classes of a file of which a method divides its parameter by 255 to get from frames in bytes
    to numbers (`x.float() / 255`, `self.conv(x.div(255.0))`, `x * (1 / 255)`), and what builds on them.
    """
    if "255" not in tree.text:
        return frozenset()
    owners = (tree.class_of(value) for value in _divided(tree) if _is_input(value, tree))
    dividing = {owner.name for owner in owners if owner is not None}
    return frozenset(dividing | _names_using(dividing, tree)) if dividing else frozenset()


def _names_using(networks: set[str], tree: SyntaxIndex) -> set[str]:
    """Return the classes and functions at module level that mention one of these networks: those that build
    or extend it, also by a dict of networks (`ENCODERS = {"pixel": PixelEncoder}`).
    """
    defined: dict[int, str] = {}
    dicts: set[str] = set()
    for node in tree.module.body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                defined[id(node)] = node.name
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict()):
                defined[id(node)] = name
                dicts.add(name)
    found = _mentioning(networks, defined, tree)
    through = found & dicts
    return found | _mentioning(through, defined, tree) if through else found


def _mentioning(names: set[str], defined: dict[int, str], tree: SyntaxIndex) -> set[str]:
    """Return the definitions of a file, by their nodes, that mention one of these names."""
    found: set[str] = set()
    for name in tree.of_type(ast.Name):
        if name.id in names:
            found.update(defined[id(around)] for around in tree.ancestors(name) if id(around) in defined)
    return found


def _divided(tree: SyntaxIndex) -> Iterator[ast.expr]:
    """Yield the values that a file divides by 255."""
    for node in tree.of_type(ast.BinOp):
        match node:
            case ast.BinOp(left=value, op=ast.Div(), right=ast.Constant(value=by)) if by == _WHITE:
                yield value
            case ast.BinOp(left=value, op=ast.Mult(), right=by) if _is_inverse(by):
                yield value
    for change in tree.of_type(ast.AugAssign):
        match change:
            case ast.AugAssign(target=value, op=ast.Div(), value=ast.Constant(value=by)) if by == _WHITE:
                yield value
    for call in tree.written.calls_of(vocabulary.SCALES):
        match call:
            case ast.Call(func=ast.Attribute(value=value), args=[ast.Constant(value=by)]) if by == _WHITE:
                yield value
            case ast.Call(func=ast.Attribute(value=value), args=[by]) if _is_inverse(by):
                yield value


def _is_inverse(value: ast.expr) -> bool:
    match value:
        case ast.BinOp(left=ast.Constant(value=one), op=ast.Div(), right=ast.Constant(value=by)):
            return one == 1 and by == _WHITE
    return False


def _is_input(value: ast.expr, tree: SyntaxIndex) -> bool:
    """Whether a value is a variable in a method of a network, perhaps converted: `x`, `x.float()`."""
    while isinstance(value, (ast.Call, ast.Attribute)):
        value = value.func if isinstance(value, ast.Call) else value.value
    function, owner = tree.function(value), tree.class_of(value)
    if function is None or owner is None or not isinstance(value, ast.Name) or value.id == "self":
        return False
    return any(last_name(base) == "Module" for base in owner.bases) or any(
        isinstance(each, FUNCTIONS) and each.name == "forward" for each in owner.body
    )
