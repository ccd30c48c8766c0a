"""Updates of sum trees: climbs from a leaf to the root that write the sum of each node on the way."""

from __future__ import annotations

import ast

from rlint.syntax.queries import same_code
from rlint.syntax.walk import descendants


def climbed(body: ast.AST) -> ast.Subscript | None:
    """Return the sum that a loop or a recursive function writes to each parent node, which it finds by
    halving the number of a node: `sums[parent] = sums[left] + sums[right]` or `sums[parent] += change`.
    """
    parents: set[str] = set()
    assigned: set[str] = set()
    for node in descendants(body):
        match node:
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=ast.Constant(value=number)):
                assigned.add(name)
                if _is_half(op, number):
                    parents.add(name)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                assigned.add(name)
                if _is_parent(value):
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


def _is_parent(value: ast.expr) -> bool:
    """Whether an expression is the number of the parent node: `node // 2` or `(node - 1) >> 1`."""
    match value:
        case ast.BinOp(left=node, op=op, right=ast.Constant(value=number)) if _is_half(op, number):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
                node = node.left
            return isinstance(node, ast.Name)
        case ast.Call(func=ast.Name(id="int"), args=[ast.BinOp() as inner], keywords=[]):
            return _is_parent(inner)
    return False


def _is_half(op: ast.operator, number: object) -> bool:
    return (isinstance(op, ast.FloorDiv) and number == 2) or (isinstance(op, ast.RShift) and number == 1)


def _reads_twice(value: ast.expr, sums: ast.expr) -> bool:
    """Whether an expression combines the sums of two nodes."""
    read = [
        node for node in descendants(value) if isinstance(node, ast.Subscript) and same_code(node.value, sums)
    ]
    return len(read) > 1
