"""Descents of sum trees: what a loop or a recursive function does on the way from the root to a leaf.

Nodes are numbers (`2 * node`), or objects that refer to their children (`node.left`). In a Fenwick tree, the
way halves a distance.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from rlint.syntax.last_names import last_name
from rlint.syntax.queries import root_name, same_code
from rlint.syntax.syntax_index import Function
from rlint.syntax.walk import descendants


def is_sum(value: ast.expr) -> bool:
    """Whether an expression may read the sum below a node: `sums[left]`, `sums.get(left, 0.0)`,
    `node.left.total`, or a variable.
    """
    read = read_from(value)
    if isinstance(read, ast.Call):
        return isinstance(read.func, ast.Attribute) and read.func.attr == "get"
    return isinstance(read, (ast.Subscript, ast.Attribute, ast.Name))


def read_from(value: ast.expr) -> ast.expr:
    """Return an expression without the conversion to a number around it: `float(x)`, `x.item()`."""
    match value:
        case ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[], keywords=[]):
            return inner
        case ast.Call(func=ast.Name(id="float" | "int"), args=[inner], keywords=[]):
            return inner
    return value


def walks_down(body: ast.AST, wanted: str, lower: ast.expr, doubling: Collection[str]) -> bool:
    """Whether a loop subtracts the left sum from the target sum, and descends from a node to a child.
    `doubling` are the names of functions that return the number of a child.
    """
    return takes_off(body, wanted, lower) and (
        _doubles(body, doubling) or _steps_to_child(body, lower) or _halves_distance(body, lower)
    )


def recurses_down(function: Function, wanted: str, lower: ast.expr, doubling: Collection[str]) -> bool:
    """Whether a function calls itself for a child with the wanted sum, minus the left sum for the right
    child.
    """
    whole, rest = 0, False
    for node in descendants(function):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name == function.name:
                given = [*node.args, *(keyword.value for keyword in node.keywords)]
                whole += any(isinstance(value, ast.Name) and value.id == wanted for value in given)
                rest = rest or any(_is_rest(value, wanted, lower) for value in given)
    if whole and rest:
        return True
    return (
        whole > 0
        and takes_off(function, wanted, lower)
        and (whole > 1 or _doubles(function, doubling) or _steps_to_child(function, lower))
    )


def takes_off(body: ast.AST, wanted: str, lower: ast.expr) -> bool:
    """Whether code subtracts the left sum from the target sum."""
    if any(name == wanted and _is_rest(value, wanted, lower) for name, value in _assigned(body)):
        return True
    return any(
        isinstance(node, ast.AugAssign)
        and isinstance(node.op, ast.Sub)
        and isinstance(node.target, ast.Name)
        and node.target.id == wanted
        and same_code(node.value, lower)
        for node in descendants(body)
    )


def doubled(value: ast.expr) -> str | None:
    """Return `node` of `2 * node`, the number of a child."""
    match value:
        case (
            ast.BinOp(left=ast.Constant(value=2), op=ast.Mult(), right=ast.Name(id=name))
            | ast.BinOp(left=ast.Name(id=name), op=ast.Mult(), right=ast.Constant(value=2))
            | ast.BinOp(left=ast.Name(id=name), op=ast.LShift(), right=ast.Constant(value=1))
        ):
            return name
    return None


def child_of(value: ast.expr) -> str | None:
    """Return the name of the object whose child an expression reads: `node` of `node.left`."""
    root = root_name(value) if isinstance(value, (ast.Attribute, ast.Subscript)) else None
    return root.id if root is not None else None


def _branches(value: ast.expr) -> list[ast.expr]:
    """Return the two values of a conditional expression, or the only one."""
    return [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]


def _is_rest(value: ast.expr, wanted: str, lower: ast.expr) -> bool:
    """Whether an expression is `wanted - sums[left]`."""
    match value:
        case ast.BinOp(left=ast.Name(id=name), op=ast.Sub(), right=right):
            return name == wanted and same_code(right, lower)
    return False


def _assigned(body: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that code assigns, each with the value; both branches of conditional values."""
    for node in descendants(body):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                for each in _branches(value):
                    yield name, each
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                for target, value in zip(targets, values, strict=False):
                    if isinstance(target, ast.Name):
                        for each in _branches(value):
                            yield target.id, each


def _doubles(body: ast.AST, doubling: Collection[str]) -> bool:
    """Whether code computes the number of a child of a node: twice that of the node."""
    assigned = {
        node.id
        for node in descendants(body)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    for node in descendants(body):
        match node:
            case (
                ast.AugAssign(target=ast.Name(), op=ast.Mult(), value=ast.Constant(value=2))
                | ast.AugAssign(target=ast.Name(), op=ast.LShift(), value=ast.Constant(value=1))
            ):
                return True
            case ast.BinOp():
                if doubled(node) in assigned:
                    return True
            case ast.Call(args=[ast.Name(id=name)], func=function) if name in assigned and doubling:
                if last_name(function) in doubling:
                    return True
    return False


def _steps_to_child(body: ast.AST, lower: ast.expr) -> bool:
    """Whether code moves a variable to either of two children of the object in it, one of which has the left
    sum.
    """
    aliases: dict[str, ast.expr] = {}
    steps: dict[str, list[ast.expr]] = {}
    pairs = list(_assigned(body))
    for name, value in pairs:
        origin = child_of(value)
        if origin is not None and origin != name:
            aliases.setdefault(name, value)
    for name, value in pairs:
        reached = aliases.get(value.id) if isinstance(value, ast.Name) else value
        if reached is not None and child_of(reached) == name:
            known = steps.setdefault(name, [])
            if not any(same_code(reached, other) for other in known):
                known.append(reached)
    read = read_from(lower)
    if isinstance(read, ast.Name):
        read = aliases.get(read.id, read)
    holder = read.value if isinstance(read, (ast.Attribute, ast.Subscript)) else None
    if isinstance(holder, ast.Name):
        holder = aliases.get(holder.id)
    return holder is not None and any(
        len(children) > 1 and any(same_code(holder, child) for child in children)
        for children in steps.values()
    )


def _halves_distance(body: ast.AST, lower: ast.expr) -> bool:
    """Whether code reads the sum at a distance from its position, and then halves the distance."""
    halved = {
        node.target.id
        for node in descendants(body)
        if isinstance(node, ast.AugAssign)
        and isinstance(node.target, ast.Name)
        and isinstance(node.value, ast.Constant)
        and (
            (isinstance(node.op, ast.RShift) and node.value.value == 1)
            or (isinstance(node.op, ast.FloorDiv) and node.value.value == 2)
        )
    }
    read = read_from(lower)
    if not halved or not isinstance(read, ast.Subscript):
        return False
    places = [read.slice]
    if isinstance(read.slice, ast.Name):
        places += [value for name, value in _assigned(body) if name == read.slice.id]
    return any(
        isinstance(place, ast.BinOp)
        and isinstance(place.op, (ast.Add, ast.BitOr))
        and any(isinstance(side, ast.Name) and side.id in halved for side in (place.left, place.right))
        for place in places
    )
