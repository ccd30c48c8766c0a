"""Arrays that grow: assignments that concatenate a variable's own value with new parts and keep the
result.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from rlint import models
from rlint.frozen import frozen
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.syntax.last_names import last_name
from rlint.syntax.queries import arguments_by_name, axes_of
from rlint.syntax.scopes import BindingKind
from rlint.syntax.walk import descendants

if TYPE_CHECKING:
    from rlint.semantics.model import SemanticModel

_OF_SEQUENCES = frozenset(
    f"{library}.{name}"
    for library, names in {
        "numpy": "concatenate vstack hstack dstack column_stack",
        "torch": "cat vstack hstack dstack column_stack",
    }.items()
    for name in names.split()
)
_OF_INDICES = frozenset({"numpy.r_", "numpy.c_"})
_BY_INDEX = frozenset({"r_", "c_", "*"})
_TWO_ARRAYS = {
    "numpy.append": ("arr", "values", "axis"),
    "numpy.insert": ("arr", "obj", "values", "axis"),
}
"""Functions that add values to an array, with the names of their arguments."""
_FUNCTIONS = _OF_SEQUENCES | {*_TWO_ARRAYS, "pandas.concat"}
_OF_BATCHES = frozenset({"cat", "concat", "concatenate"})
"""Methods of classes that hold several arrays, such as batches: `Batch.cat([old, new])`."""
_JOINING = frozenset(name.rpartition(".")[2] for name in _FUNCTIONS)
_WITH_AXIS = frozenset({"numpy.concatenate", "torch.cat"})
_SEQUENCE_KEYWORDS = frozenset({"tensors", "tup", "arrays"})
_AXIS_KEYWORDS = frozenset({"axis", "dim"})
_FILLS = models.names_having(Trait.ALLOCATES, "torch", "numpy", TypeTag.TENSOR) - {
    "full",
    "full_like",
    "new_full",
}
_FULL = frozenset({"full", "full_like", "new_full"})
# methods whose result has the rows of their receiver
_KEEPS_ROWS = models.having(Trait.KEEPS_VALUES | Trait.RETURNS_SELF, TypeTag.TENSOR, TypeTag.NDARRAY)
_MAY_JOIN = frozenset({ast.Call, ast.IfExp, ast.Name, ast.Subscript})
_DEPTH = 4


@frozen
class ArrayJoin:
    """A call that concatenates arrays: `np.concatenate((a, b), axis=0)`, `np.append(a, b)`.

    `parts` are concatenated in this order; `literal` is the tuple or list that contains them, if there is
    one. `plain` is False if the call has arguments besides the parts and an axis, or is a method of a class
    that holds arrays, which is `supposed` to copy them (`Batch.cat([a, b])`).
    """

    node: ast.Call | ast.Subscript
    function: str
    parts: tuple[ast.expr, ...]
    literal: ast.Tuple | ast.List | None = None
    axis: ast.expr | None = None
    plain: bool = True
    supposed: bool = False


@frozen
class ArrayGrowth:
    """An assignment `target = join((target, *new))`, perhaps through a helper, an alias or a trim.

    `itself` is the node of the old value, `new` are the parts concatenated with it; `front` says that they
    come first. `bounds` are the slices that cut the old value or the result. `direct`: the assigned value is
    exactly the concatenation; `in_place`: the concatenation names the target itself.
    """

    statement: ast.Assign | ast.AnnAssign | ast.NamedExpr
    target: ast.expr
    join: ArrayJoin
    itself: ast.expr
    new: tuple[ast.expr, ...]
    front: bool = False
    bounds: tuple[ast.Slice, ...] = ()
    direct: bool = True
    in_place: bool = True


def join_of(node: ast.AST, model: SemanticModel) -> ArrayJoin | None:
    """Return the concatenation that an expression is; None for all other expressions, including list
    concatenation.
    """
    match node:
        case ast.Subscript(value=ast.Attribute() | ast.Name() as value, slice=ast.Tuple(elts=parts)):
            function = model.names.qualified(value)
            odd = (ast.Slice, ast.Starred)
            if function in _OF_INDICES and not any(isinstance(part, odd) or _is_text(part) for part in parts):
                return ArrayJoin(node, function, tuple(parts))
        case ast.Call(func=func, args=args, keywords=keywords) if isinstance(func, (ast.Attribute, ast.Name)):
            function = model.names.qualified(func)
            if function == "numpy.append" and len(args) in (2, 3) and not _is_starred(args):
                axis, plain = _axis(args[2:], keywords)
                return ArrayJoin(node, function, tuple(args[:2]), None, axis, plain)
            if function in _TWO_ARRAYS:
                return _join_of_two(node, function)
            if function in _OF_SEQUENCES:
                named = [keyword for keyword in keywords if keyword.arg in _SEQUENCE_KEYWORDS]
                sequence = args[0] if args else (named[0].value if named else None)
                if isinstance(sequence, (ast.Tuple, ast.List)):
                    rest = [keyword for keyword in keywords if keyword not in named]
                    axis, plain = _axis(args[1:], rest)
                    takes_axis = function in _WITH_AXIS or axis is None
                    return ArrayJoin(
                        node, function, tuple(sequence.elts), sequence, axis, plain and takes_axis
                    )
            return _join_of_class(node, function, model)
    return None


def _join_of_two(call: ast.Call, function: str) -> ArrayJoin | None:
    """Return the concatenation of `np.append(arr=rows, values=row)` and `np.insert(rows, len(rows), row)`."""
    given = arguments_by_name(call, _TWO_ARRAYS[function]) or {}
    rows, row, place = given.get("arr"), given.get("values"), given.get("obj")
    if rows is None or row is None:
        return None
    parts = (rows, row)
    match place:
        case ast.Constant(value=0):
            parts = (row, rows)
        case (
            ast.Call(func=ast.Name(id="len"), args=[counted])
            | ast.Attribute(value=counted, attr="size")
            | ast.Subscript(value=ast.Attribute(value=counted, attr="shape"))
        ):
            if not same_place(counted, rows):
                return None
        case ast.expr():
            return None
    return ArrayJoin(call, function.replace("numpy.", "np."), parts, None, given.get("axis"), plain=False)


def _join_of_class(call: ast.Call, function: str | None, model: SemanticModel) -> ArrayJoin | None:
    """Return a concatenation of tables or batches: `pd.concat([table, row])`, `Batch.cat([batch, step])`."""
    match call:
        case ast.Call(func=ast.Attribute(value=owner, attr=method), args=[ast.List() | ast.Tuple() as parts]):
            pass
        case _:
            return None
    if function == "pandas.concat":
        return ArrayJoin(call, "pd.concat", tuple(parts.elts), parts, plain=False)
    if method not in _OF_BATCHES or not (last_name(owner) or "")[:1].isupper():
        return None
    return ArrayJoin(call, model.source.text(call.func), tuple(parts.elts), parts, plain=False, supposed=True)


def joins_arrays(model: SemanticModel) -> bool:
    """Whether the file concatenates any arrays."""
    calls = model.names.calls_by_name
    for name in _JOINING | _OF_BATCHES:
        if any(model.names.qualified(call.func) in _FUNCTIONS for call in calls.get(name, ())):
            return True
        if any(_join_of_class(call, None, model) for call in calls.get(name, ())):
            return True
    if model.names.attribute_uses("r_") or model.names.attribute_uses("c_"):
        return True
    imported = (alias.name for part in model.syntax.of_type(ast.ImportFrom) for alias in part.names)
    return not _BY_INDEX.isdisjoint(imported)


def growth_of(statement: ast.AST, model: SemanticModel) -> ArrayGrowth | None:
    """Return the assignment as one step of an array's growth; None for all other assignments."""
    match statement:
        case (
            ast.Assign(targets=[target], value=value)
            | ast.AnnAssign(target=target, value=ast.expr() as value)
        ):
            pass
        case ast.NamedExpr(target=target, value=value):
            pass
        case _:
            return None
    if not isinstance(target, (ast.Name, ast.Attribute, ast.Subscript)):
        return None
    for join, bounds, direct in _joins(value, model, _DEPTH):
        found = _read(statement, target, join, bounds, model)
        if found is not None:
            return replace(found, direct=direct and join.node is value)
    return None


def _read(
    statement: ast.Assign | ast.AnnAssign | ast.NamedExpr,
    target: ast.expr,
    join: ArrayJoin,
    bounds: tuple[ast.Slice, ...],
    model: SemanticModel,
) -> ArrayGrowth | None:
    own = []
    for index, part in enumerate(join.parts):
        held, cut, same = _holder(part, target, model)
        if held:
            own.append((index, cut, same))
    if len(own) != 1 or len(join.parts) < 2:
        return None  # concatenated with itself (doubling), or only cast
    index, cut, same = own[0]
    if index not in (0, len(join.parts) - 1):
        return None  # padded on both sides
    front = index > 0
    new = join.parts[:-1] if front else join.parts[1:]
    if all(_is_fill(part, model) for part in new) and not _last_is_set(target, model):
        return None  # capacity or padding, not data
    return ArrayGrowth(statement, target, join, join.parts[index], new, front, (*bounds, *cut), in_place=same)


def _last_is_set(target: ast.expr, model: SemanticModel) -> bool:
    """Whether the function assigns the last row of an array, for which a concatenation made room: `x[-1] =
    row`, `x[:, -1] = row`.
    """
    if not isinstance(target, (ast.Name, ast.Attribute)):
        return False
    function = model.function(target)
    for node in descendants(function) if function is not None else ():
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            lasts = [axis for axis in axes_of(node.slice) if _is_last(axis)]
            if lasts and same_place(node.value, target):
                return True
    return False


def _is_last(axis: ast.expr) -> bool:
    match axis:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)):
            return True
    return False


def _joins(
    value: ast.expr, model: SemanticModel, depth: int
) -> Iterator[tuple[ArrayJoin, tuple[ast.Slice, ...], bool]]:
    """Yield the concatenations that an assigned value may be, with the slices that trim them."""
    if depth <= 0 or type(value) not in _MAY_JOIN:
        return
    join = join_of(value, model)
    if join is not None:
        yield join, (), True
        return
    match value:
        case ast.Subscript(value=inner, slice=ast.Slice() as cut):
            yield from ((join, (*cuts, cut), False) for join, cuts, _ in _joins(inner, model, depth - 1))
        case ast.Subscript(value=inner, slice=ast.Tuple(elts=[*cuts])) if any(
            isinstance(c, ast.Slice) for c in cuts
        ):
            slices = tuple(cut for cut in cuts if isinstance(cut, ast.Slice) and (cut.lower or cut.upper))
            yield from (
                (join, (*known, *slices), False) for join, known, _ in _joins(inner, model, depth - 1)
            )
        case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _KEEPS_ROWS:
            yield from ((join, cuts, False) for join, cuts, _ in _joins(inner, model, depth - 1))
        case ast.IfExp(body=body, orelse=orelse):
            for branch in (body, orelse):
                yield from ((join, cuts, False) for join, cuts, _ in _joins(branch, model, depth - 1))
        case ast.Call():
            inlined = _inlined(value, model)
            if inlined is not None:
                yield inlined, (), False
        case ast.Name():
            bindings = model.dataflow.definitions(value)
            if (
                len(bindings) == 1
                and bindings[0].kind is BindingKind.ASSIGN
                and not bindings[0].path
                and bindings[0].value
            ):
                yield from (
                    (join, cuts, False) for join, cuts, _ in _joins(bindings[0].value, model, depth - 1)
                )


def _inlined(call: ast.Call, model: SemanticModel) -> ArrayJoin | None:
    """Return the concatenation that a helper of this file returns, with the call's arguments in place of its
    parameters.
    """
    if call.keywords or _is_starred(call.args):
        return None
    functions = model.types.call_targets(call)
    node = model.types.definition(functions[0]) if len(functions) == 1 else None
    if node is None:
        return None
    body = [
        part
        for part in node.body
        if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
    ]
    if len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None:
        return None
    join = join_of(body[0].value, model)
    names = [parameter.arg for parameter in node.args.args]
    if functions[0].has_receiver:
        names = names[1:]
    if join is None or len(call.args) != len(names):
        return None
    given = dict(zip(names, call.args, strict=True))
    parts = tuple(given.get(part.id, part) if isinstance(part, ast.Name) else part for part in join.parts)
    return ArrayJoin(call, join.function, parts, None, join.axis, plain=False)


def _holder(
    part: ast.expr, target: ast.expr, model: SemanticModel
) -> tuple[bool, tuple[ast.Slice, ...], bool]:
    """Whether a part is the target's old value, with the slices that cut it, and whether it names the
    target.
    """
    if same_place(part, target):
        return True, (), True
    match part:
        case ast.Subscript(value=inner, slice=ast.Slice() as cut):
            held, cuts, same = _holder(inner, target, model)
            return held, (*cuts, cut), same
        case ast.Subscript(value=inner, slice=ast.Tuple(elts=[*cuts])) if any(
            isinstance(c, ast.Slice) for c in cuts
        ):
            held, known, same = _holder(inner, target, model)
            return (
                held,
                (*known, *(c for c in cuts if isinstance(c, ast.Slice) and (c.lower or c.upper))),
                same,
            )
        case ast.Name() if not isinstance(target, ast.Name):
            bindings = model.dataflow.definitions(part)
            if (
                len(bindings) == 1
                and bindings[0].value is not None
                and bindings[0].kind is BindingKind.ASSIGN
            ):
                return same_place(bindings[0].value, target), (), False
    return False, (), False


def same_place(one: ast.AST, other: ast.AST) -> bool:
    """Whether two expressions name the same variable, attribute or entry (`self.data["obs"]`), as written."""
    match one, other:
        case ast.Name(id=first), ast.Name(id=second):
            return first == second
        case ast.Attribute(value=owner, attr=first), ast.Attribute(value=other_owner, attr=second):
            return first == second and same_place(owner, other_owner)
        case ast.Subscript(value=owner, slice=key), ast.Subscript(value=other_owner, slice=other_key):
            return same_place(owner, other_owner) and same_place(key, other_key)
        case ast.Constant(value=first), ast.Constant(value=second):
            return type(first) is type(second) and bool(first == second)
    return False


def _axis(positional: list[ast.expr], keywords: list[ast.keyword]) -> tuple[ast.expr | None, bool]:
    axes = positional[:1] + [keyword.value for keyword in keywords if keyword.arg in _AXIS_KEYWORDS]
    return (axes[0] if axes else None), len(axes) == len(positional) + len(keywords) <= 1


def _is_fill(part: ast.expr, model: SemanticModel) -> bool:
    """Whether a part contains no data: zeros, ones, a constant."""
    match part:
        case ast.Constant():
            return True
        case (
            ast.UnaryOp(operand=inner)
            | ast.BinOp(op=ast.Mult(), left=(ast.List() | ast.Tuple() | ast.Constant()) as inner)
        ):
            return _is_fill(inner, model)
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            return _is_fill(left, model) and _is_fill(right, model)  # not `torch.ones(1) * (step + 1)`
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return all(_is_fill(element, model) for element in elements)
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name) as func, args=args):
            if isinstance(func, ast.Name):
                name = (model.names.qualified(func) or "").rpartition(".")[2]
            elif name in _KEEPS_ROWS or name in ("unsqueeze", "reshape", "view"):
                return _is_fill(func.value, model)
            return name in _FILLS or (name in _FULL and len(args) > 1 and _is_fill(args[1], model))
        case ast.Name():
            bindings = model.dataflow.definitions(part)
            return (
                len(bindings) == 1
                and isinstance(bindings[0].value, ast.Call)
                and _is_fill(bindings[0].value, model)
            )
    return False


def _is_text(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant) and isinstance(part.value, str)


def _is_starred(arguments: list[ast.expr]) -> bool:
    return ast.Starred in map(type, arguments)
