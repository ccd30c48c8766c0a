"""Updates of sum trees: climbs from a leaf to the root that write the sum of each node on the way."""

from __future__ import annotations

import ast
from collections.abc import Collection

from rlint.semantics.dataflow.sum_trees.descent import child_of
from rlint.syntax.last_names import last_name
from rlint.syntax.queries import same_code
from rlint.syntax.syntax_index import Function
from rlint.syntax.walk import descendants


def climbed(body: ast.AST, halving: Collection[str] = ()) -> ast.Subscript | None:
    """Return the sum that a loop or a recursive function writes to each parent node, which it finds by
    halving the number of a node: `sums[parent] = sums[left] + sums[right]` or `sums[parent] += change`.
    `halving` are the names of functions that return the number of a parent. In a Fenwick tree, the next node
    is found by adding the lowest bit.
    """
    parents: set[str] = set()
    assigned: set[str] = set()
    for node in descendants(body):
        match node:
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=ast.Constant(value=number)):
                assigned.add(name)
                if _is_half(op, number):
                    parents.add(name)
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value):
                assigned.add(name)
                if is_lowest_bit(value, name):
                    parents.add(name)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                assigned.add(name)
                if is_parent(value) or _is_call_of(value, halving):
                    parents.add(name)
    for node in descendants(body):
        match node:
            case ast.AugAssign(
                target=ast.Subscript(slice=ast.Name(id=name)) as written,
                op=ast.Add(),
                value=ast.Name(id=change),
            ) if name in parents and change not in assigned:
                return written
            case ast.Assign(targets=[ast.Subscript(slice=ast.Name(id=name)) as written], value=value) if (
                name in parents and _reads_twice(value, written.value)
            ):
                return written
    return None


def climbed_by_reference(body: ast.AST, summed: Collection[str], function: str = "") -> ast.Attribute | None:
    """Return the sum that a loop, or the recursive `function`, writes to each node that it reaches by
    `node = node.parent`: `node.total = node.left.total + node.right.total`, or `node.total += change`. The
    latter may count anything, such as visits, so `total` must be one of the attributes `summed` by a descent.
    """
    if function and len(_own_calls(body, function)) != 1:
        return None
    reached: set[str] = set()
    assigned: set[str] = set()
    for node in descendants(body):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                assigned.add(name)
                if isinstance(value, ast.Attribute) and child_of(value) == name:
                    reached.add(name)
            case ast.Call(func=called) if function and last_name(called) == function:
                given = [*node.args, *(keyword.value for keyword in node.keywords)]
                given += [called.value] if isinstance(called, ast.Attribute) else []
                reached |= {child for each in given if (child := child_of(each)) is not None}
    for node in descendants(body) if reached else ():
        match node:
            case ast.AugAssign(
                target=ast.Attribute(value=ast.Name(id=name), attr=attr) as written,
                op=ast.Add(),
                value=ast.Name(id=change),
            ) if name in reached and attr in summed and change not in assigned:
                return written
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id=name), attr=attr) as written], value=value
            ) if name in reached and _adds_children(value, name, attr):
                return written
    return None


def recomputed(function: Function) -> ast.Subscript | ast.Attribute | None:
    """Return the sum that a recursive function writes after it calls itself for one of two children."""
    if not _calls_itself_for_one(function):
        return None
    for node in descendants(function):
        match node:
            case ast.Assign(targets=[ast.Subscript(slice=ast.Name()) as written], value=value):
                if _reads_twice(value, written.value):
                    return written
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id=name), attr=attr) as holder], value=value
            ):
                if _adds_children(value, name, attr):
                    return holder
    return None


def is_parent(value: ast.expr) -> bool:
    """Whether an expression is the number of the parent node: `node // 2` or `(node - 1) >> 1`."""
    match value:
        case ast.BinOp(left=node, op=op, right=ast.Constant(value=number)) if _is_half(op, number):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
                node = node.left
            return isinstance(node, ast.Name)
        case ast.Call(func=ast.Name(id="int"), args=[ast.BinOp() as inner], keywords=[]):
            return is_parent(inner)
    return False


def is_lowest_bit(value: ast.expr, name: str) -> bool:
    """Whether an expression is the lowest bit of a variable: `i & -i`."""
    match value:
        case ast.BinOp(left=left, op=ast.BitAnd(), right=right):
            sides = [
                side.operand if isinstance(side, ast.UnaryOp) and isinstance(side.op, ast.USub) else side
                for side in (left, right)
            ]
            return all(isinstance(side, ast.Name) and side.id == name for side in sides)
    return False


def _is_call_of(value: ast.expr, halving: Collection[str]) -> bool:
    return bool(halving) and isinstance(value, ast.Call) and last_name(value.func) in halving


def _is_half(op: ast.operator, number: object) -> bool:
    return (isinstance(op, ast.FloorDiv) and number == 2) or (isinstance(op, ast.RShift) and number == 1)


def _reads_twice(value: ast.expr, sums: ast.expr) -> bool:
    """Whether an expression combines the sums of two nodes."""
    read = [
        node for node in descendants(value) if isinstance(node, ast.Subscript) and same_code(node.value, sums)
    ]
    return len(read) > 1


def _adds_children(value: ast.expr, name: str, attr: str) -> bool:
    """Whether an expression combines the sums of two different children of a node."""
    children: list[ast.expr] = []
    for node in descendants(value):
        match node:
            case ast.Attribute(value=ast.Attribute() | ast.Subscript() as child, attr=read) if (
                read == attr and child_of(child) == name
            ):
                if not any(same_code(child, other) for other in children):
                    children.append(child)
    return len(children) > 1


def _calls_itself_for_one(function: Function) -> bool:
    """Whether a function calls itself once in each branch of a condition, and nowhere else."""
    every = _own_calls(function, function.name)
    for node in descendants(function) if len(every) > 1 else ():
        if isinstance(node, ast.If) and node.orelse:
            first = [call for part in node.body for call in _own_calls(part, function.name)]
            second = [call for part in node.orelse for call in _own_calls(part, function.name)]
            if len(first) == len(second) == 1 and len(every) == 2:
                return True
    return False


def _own_calls(body: ast.AST, function: str) -> list[ast.Call]:
    return [
        node for node in descendants(body) if isinstance(node, ast.Call) and last_name(node.func) == function
    ]
