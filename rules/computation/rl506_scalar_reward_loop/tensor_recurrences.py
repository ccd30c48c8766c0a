"""Recurrences over time that torch computes step by step, on single numbers or on short rows."""

from __future__ import annotations

import ast
import re

from rlint.rule import (
    Binding,
    BindingKind,
    SemanticModel,
    Trait,
    TypeTag,
    UseKind,
    axes_of,
    counted_by_hand,
    descendants,
    frozen,
    models,
    regex,
    variable_names,
)

_DISCOUNTED = regex(r"gamma|lambda|(^|_)lam(_|$)|discount|gae|returns?(_|$)|advantage|decay", re.IGNORECASE)
_DISCOUNTS = (0.8, 1.0)
"""Constants between these are discounts: `ret = reward + 0.99 * ret`."""
_LISTS = frozenset({TypeTag.LIST, TypeTag.TUPLE})
_FEWEST_TENSORS = 2
_FEWEST_OPERATIONS = 2
_OF_LANGUAGE_MODELS = ("AutoTokenizer", "tokenizer", "eos_token_id", "pad_token_id")
_OF_TENSORS = frozenset({"clone", "detach"})
"""Methods that of all arrays only tensors have."""
_TURNS = ("torch.flip", "torch.flipud")
_LISTS_OF = models.having(Trait.FROM_DATA | Trait.LEGACY, "torch") | {"torch.empty", "torch.zeros"}


AnyStepLoop = ast.For | ast.While


@frozen
class Recurrence:
    """The tensor over which a recurrence iterates, number by number or row by row. `operations` is the number
    of sums, differences and products per step; `by_pairs`: the operations run for each pair of steps;
    `by_window`: they run for each step and each of the next few; `carried`: `held` is the variable that
    carries the result from step to step, which began as a tensor; `written`: the loop only stores results in
    `held`.
    """

    held: ast.expr
    by_rows: bool
    operations: int
    by_pairs: bool = False
    by_window: bool = False
    carried: bool = False
    written: bool = False


def tensor_recurrence(loop: AnyStepLoop, model: SemanticModel) -> Recurrence | None:
    """Return the recurrence that a loop computes over the steps of a tensor, backwards or forwards."""
    counters = _counters(loop, model)
    if counters is None or model.nn.takes_gradient_steps(loop):
        return None  # a loop over agents, each of which learns
    inner = {
        name for part in descendants(loop) if isinstance(part, ast.For) for name in _counted(part, model)
    } - counters
    offsets = _offsets(loop, counters, inner)
    if not (_recurs(loop, counters) or _weighs_later(loop, counters, inner, offsets)):
        return None
    counters = counters | offsets
    names = {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in descendants(loop)
        if isinstance(node, (ast.Name, ast.Attribute))
    }
    if not any(_DISCOUNTED.search(name) for name in names) and not _has_constant_discount(loop):
        return None
    rows: list[ast.expr] = []
    unknown: list[ast.expr] = []
    columns = 0
    stores = False
    for node in descendants(loop):
        match node:
            case ast.Subscript(value=held, slice=ast.Tuple() as index, ctx=ast.Load()) if _is_tensor(
                held, model
            ):
                if _is_column(index, counters, inner):
                    rows.append(held)
                    columns += 1
                elif _is_element(index, counters):
                    return Recurrence(held, by_rows=False, operations=_operations_in(loop))
            case ast.Subscript(value=held, slice=index) if _is_step(index, counters, inner):
                if _is_vector(held, model) or (_is_tensor(held, model) and _is_number(node, model)):
                    written = not _is_read_in(loop, held)
                    return Recurrence(held, by_rows=False, operations=_operations_in(loop), written=written)
                holds = _is_tensor(held, model) or _is_list_of_tensors(held, model)
                if isinstance(node.ctx, ast.Load):
                    if holds:
                        rows.append(held)
                    elif not model.types.type_of(held):
                        unknown.append(held)  # what is added to a row gives a row, whatever it is
                stores = stores or (holds and isinstance(node.ctx, ast.Store))
            case ast.Call(
                func=ast.Attribute(value=ast.Subscript(value=held, slice=index), attr=method), args=[]
            ) if method in _OF_TENSORS and _is_step(index, counters, inner) and not model.types.type_of(held):
                rows.append(held)
    for held, item in _iterated(loop.iter, loop.target, model) if isinstance(loop, ast.For) else []:
        if _is_vector(held, model) or _are_numbers(loop, held, item, model):
            return Recurrence(held, by_rows=False, operations=_operations_in(loop))
        if _is_unbound(held, model) or _is_tensor(held, model):
            rows.append(held)
            stores = True  # each item is a tensor
        elif _is_list_of_tensors(held, model):
            rows.append(held)
    if not rows and (began := _carried_tensor(loop, model)) is not None:
        operations = _operations_in(loop)
        return Recurrence(began, by_rows=True, operations=operations, carried=True)
    tensors = {ast.dump(held) for held in (*rows, *unknown)}
    if not columns and not stores and len(tensors) < _FEWEST_TENSORS and not _adds_row(loop, rows):
        return None  # the rest are numbers
    operations = _operations_in(loop)
    if not rows or operations < _FEWEST_OPERATIONS:
        return None
    if columns and model.program.mentions(*_OF_LANGUAGE_MODELS):
        return None  # a column per token: cheap unknown generation
    by_pairs = _is_of_pairs(loop, counters)
    by_window = not by_pairs and _has_window(loop, counters, inner, offsets)
    return Recurrence(rows[0], by_rows=True, operations=operations, by_pairs=by_pairs, by_window=by_window)


def _is_read_in(loop: AnyStepLoop, held: ast.expr) -> bool:
    """Whether a loop reads items of a tensor."""
    read = ast.dump(held)
    return any(
        isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and ast.dump(node.value) == read
        for node in descendants(loop)
    )


def _has_constant_discount(loop: AnyStepLoop) -> bool:
    """Whether a statement multiplies by a constant just below one."""
    low, high = _DISCOUNTS
    return any(
        isinstance(side, ast.Constant) and isinstance(side.value, float) and low < side.value < high
        for node in descendants(loop)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
        for side in (node.left, node.right)
    )


def _is_unbound(held: ast.expr, model: SemanticModel) -> bool:
    """Whether it is `x.unbind(0)` or `torch.unbind(x)`."""
    match held:
        case ast.Call(func=ast.Attribute(value=whole, attr="unbind"), args=args):
            name = model.names.qualified(held.func)
            tensor = args[0] if name == "torch.unbind" and args else whole
            return model.types.type_of(tensor).tag is TypeTag.TENSOR
    return False


def _adds_row(loop: AnyStepLoop, rows: list[ast.expr]) -> bool:
    """Whether each iteration adds a row to what it multiplies, which makes a tensor of the result: `ret =
    gamma * rho[t] * ret + delta[t][0]`.
    """
    held = {ast.dump(row) for row in rows}
    for statement in loop.body:
        match statement:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.BinOp(left=left, op=ast.Add(), right=right)
            ):
                for row, other in ((left, right), (right, left)):
                    tensor = _indexed(row)
                    is_row = tensor is not row and ast.dump(tensor) in held
                    if is_row and _is_multiplied(other) and _reads(other, name):
                        return True
    return False


def _indexed(value: ast.expr) -> ast.expr:
    """Return `x` of `x[t]` and `x[t][0]`."""
    while isinstance(value, ast.Subscript):
        value = value.value
    return value


def _operations_in(loop: AnyStepLoop) -> int:
    """Return the number of operations per iteration, without those that compute an index."""
    return sum(map(_operations, loop.body))


def _operations(node: ast.AST) -> int:
    parts = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Subscript):
        parts = [node.value]
    elif isinstance(node, ast.For):
        parts = list(node.body)
    return isinstance(node, ast.BinOp) + sum(map(_operations, parts))


def _counters(loop: AnyStepLoop, model: SemanticModel) -> set[str] | None:
    """Return the variables that count the steps; empty for a loop over the values themselves."""
    if isinstance(loop, ast.While):
        return counted_by_hand(loop) & variable_names(loop.test) or None
    iterable = loop.iter
    match iterable:
        case ast.Call(func=func, args=[inner]) if model.names.qualified(func) == "builtins.reversed":
            iterable = inner
    match iterable, loop.target:
        case ast.Call(func=func), ast.Name(id=name) if model.names.qualified(func) == "builtins.range":
            return {name}
        case ast.Call(func=func), ast.Tuple(elts=[ast.Name(id=name), *_]):
            return {name} if model.names.qualified(func) == "builtins.enumerate" else set()
        case ast.Name(), ast.Name(id=name) if _is_tensor(iterable, model) and _indexes(name, loop):
            return {name}
    return set()


def _carried_tensor(loop: AnyStepLoop, model: SemanticModel) -> ast.Name | None:
    """Return the variable that carries the result, if it was a tensor before the loop: `ret = values[-1]`,
    then `ret = reward + gamma * ret` for each reward.
    """
    for statement in loop.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp() as value) if _is_multiplied(value):
                reads = [
                    node
                    for node in descendants(value)
                    if isinstance(node, ast.Name) and node.id == name
                    if isinstance(model.parent(node), ast.BinOp)
                ]
            case _:
                continue
        if not reads or not _is_carried(name, loop):
            continue
        starts = [
            binding
            for binding in model.dataflow.definitions(reads[0])
            if binding.statement is not statement and binding.statement not in descendants(loop)
        ]
        if starts and all(_begins_as_tensor(binding, model) for binding in starts):
            return reads[0]
    return None


def _begins_as_tensor(binding: Binding, model: SemanticModel) -> bool:
    if binding.kind is not BindingKind.ASSIGN or binding.value is None or binding.path:
        return False
    return model.types.type_of(binding.value).tag is TypeTag.TENSOR


def _counted(loop: AnyStepLoop, model: SemanticModel) -> set[str]:
    return _counters(loop, model) or set()


def _indexes(name: str, loop: AnyStepLoop) -> bool:
    """Whether a loop uses its variable as an index: `for t in torch.where(mask)[0]: rewards[t]`."""
    return any(
        isinstance(part, ast.Name) and part.id == name
        for node in descendants(loop)
        if isinstance(node, ast.Subscript)
        for part in axes_of(node.slice)
    )


def _offsets(loop: AnyStepLoop, counters: set[str], inner: set[str]) -> set[str]:
    """Return the variables that the loop sets to the sum of its counter and that of an inner loop: `t = start
    + step`.
    """
    return {
        target.id
        for node in descendants(loop)
        if isinstance(node, ast.Assign) and _is_offset(node.value, counters, inner)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _is_offset(value: ast.AST, counters: set[str], inner: set[str]) -> bool:
    match value:
        case ast.BinOp(left=ast.Name(id=left), op=ast.Add(), right=ast.Name(id=right)):
            return (left in counters and right in inner) or (left in inner and right in counters)
    return False


def _is_column(index: ast.Tuple, counters: set[str], inner: set[str]) -> bool:
    """Whether an index is `[:, t]` or `[:, t + 1, :, n]`: one step of all sequences, along a later axis."""
    steps = [
        part for part in index.elts if _is_step(part, counters | inner) or _is_offset(part, counters, inner)
    ]
    rest = [part for part in index.elts if part not in steps]
    return bool(steps) and any(isinstance(part, ast.Slice) for part in rest)


def _is_element(index: ast.Tuple, counters: set[str]) -> bool:
    """Whether an index is `[i, t]` or `[i, t + 1]`: one number, of one step of one sequence."""
    return any(_is_step(part, counters) for part in index.elts) and all(
        isinstance(part, (ast.Name, ast.BinOp)) for part in index.elts
    )


def _is_step(index: ast.expr, counters: set[str], inner: set[str] | frozenset[str] = frozenset()) -> bool:
    """Whether an index is `t` or `t + 1`, or `t + n` for the counter `n` of an inner loop."""
    match index:
        case ast.Name(id=name) | ast.BinOp(left=ast.Name(id=name), right=ast.Constant()):
            return name in counters
    return _is_offset(index, counters, set(inner))


def _recurs(loop: AnyStepLoop, counters: set[str]) -> bool:
    """Whether each iteration multiplies by a result of the previous one."""
    assigned: dict[str, list[ast.expr]] = {}
    computed: dict[str, list[ast.expr]] = {}
    stored: dict[str, list[ast.expr]] = {}
    multiplied = any(_is_multiplied(statement) for statement in loop.body)
    for node in descendants(loop):
        if not isinstance(node, (ast.Assign, ast.AugAssign)):
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Name):
                computed.setdefault(target.id, []).append(node.value)
            if isinstance(target, ast.Name) and isinstance(node, ast.Assign):
                assigned.setdefault(target.id, []).append(node.value)
            elif isinstance(target, ast.Subscript):
                if _reads_neighbour(target, node.value):
                    return True
                if multiplied and _is_step(target.slice, counters) and _reads_neighbour(target, loop):
                    return True  # through a variable: `later = returns[t + 1] if t < last else 0`
                stored.setdefault(_place(target), []).append(node.value)
    for values in assigned.values():  # through an item: `returns[t] += gamma * last`, `last = returns[t]`
        for value in list(values):
            if isinstance(value, ast.Subscript):
                values.extend(stored.get(_place(value), ()))
            elif isinstance(value, ast.Name):  # `ret += gamma * last`, then `last = ret`
                values.extend(computed.get(value.id, ()))
    return any(
        _is_multiplied(value) and _reads(value, name) and _is_carried(name, loop)
        for name, values in assigned.items()
        for value in values
    )


def _place(item: ast.Subscript) -> str:
    """Return a key of an item, the same where it is set and where it, or a part of it, is read:
    `advantages[t]`, `advantages[t, 0]`.
    """
    first = next(iter(axes_of(item.slice)), item.slice)
    return f"{ast.dump(item.value)} {ast.dump(item.slice if isinstance(first, ast.Slice) else first)}"


def _is_carried(name: str, loop: AnyStepLoop) -> bool:
    """Whether an iteration reads the value of a variable from the previous one before it assigns it."""
    for statement in loop.body:
        match statement:
            case ast.Assign(targets=targets, value=value) if any(
                isinstance(target, ast.Name) and target.id == name for target in targets
            ):
                return _reads(value, name)
        if _reads(statement, name):
            return True
    return False


def _reads(part: ast.AST, name: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        for node in descendants(part)
    )


def _is_of_pairs(loop: AnyStepLoop, counters: set[str]) -> bool:
    """Whether a second loop runs from each step to the end, or back to the start."""
    return any(isinstance(inner, ast.For) and _ends_by(inner, counters) for inner in loop.body)


def _ends_by(inner: ast.For, counters: set[str]) -> bool:
    return any(isinstance(node, ast.Name) and node.id in counters for node in descendants(inner.iter))


def _has_window(loop: AnyStepLoop, counters: set[str], inner: set[str], offsets: set[str]) -> bool:
    """Whether a second loop runs over the next few steps of each step: it reads `x[:, t + n]`."""
    return any(_reads_window(within, counters, inner, offsets) for within in loop.body)


def _reads_window(within: ast.stmt, counters: set[str], inner: set[str], offsets: set[str]) -> bool:
    return isinstance(within, ast.For) and any(
        any(
            _is_offset(part, counters, inner) or (isinstance(part, ast.Name) and part.id in offsets)
            for part in axes_of(node.slice)
        )
        for node in descendants(within)
        if isinstance(node, ast.Subscript)
    )


def _weighs_later(loop: AnyStepLoop, counters: set[str], inner: set[str], offsets: set[str]) -> bool:
    """Whether an inner loop adds up products over the later steps: `ret += lam**n * x[:, t + n]`."""
    for within in loop.body:
        if not isinstance(within, ast.For):
            continue
        if not (_ends_by(within, counters) or _reads_window(within, counters, inner, offsets)):
            continue
        for node in descendants(within):
            match node:
                case ast.AugAssign(op=ast.Add(), value=value) if _is_multiplied(value):
                    return True
    return False


def _is_multiplied(value: ast.AST) -> bool:
    return any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) for node in descendants(value))


def _reads_neighbour(target: ast.Subscript, value: ast.AST) -> bool:
    """Whether a statement is like `returns[t] = rewards[t] + gamma * returns[t + 1]`, along any axis."""
    neighbours = [
        node
        for node in descendants(value)
        if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and any(isinstance(part, ast.BinOp) for part in axes_of(node.slice))
    ]
    held = ast.dump(target.value) if neighbours else ""
    return any(ast.dump(node.value) == held for node in neighbours)


def _is_tensor(held: ast.expr, model: SemanticModel) -> bool:
    readable = isinstance(held, (ast.Name, ast.Attribute, ast.Call))
    return readable and model.types.type_of(held).tag is TypeTag.TENSOR


def _is_list_of_tensors(held: ast.expr, model: SemanticModel) -> bool:
    kind = model.types.type_of(held)
    return kind.tag in _LISTS and kind.item is not None and kind.item.tag is TypeTag.TENSOR


def _is_vector(held: ast.expr, model: SemanticModel) -> bool:
    """Whether it surely is a tensor of one dimension."""
    if not _is_tensor(held, model):
        return False
    if model.types.type_of(held).rank is not None:
        return model.types.type_of(held).rank == 1
    if not isinstance(held, ast.Name):
        return False
    definitions = model.dataflow.definitions(held)
    return bool(definitions) and all(
        binding.kind is BindingKind.ASSIGN
        and not binding.path
        and binding.value is not None
        and _makes_vector(binding.value, model)
        for binding in definitions
    )


def _makes_vector(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a call is `torch.tensor(rewards)` of a list of numbers, `torch.zeros_like(vector)`."""
    match value:
        case ast.Call(func=func, args=[first, *_]):
            qualified = model.names.qualified(func)
            if qualified in ("torch.zeros_like", "torch.empty_like", "torch.ones_like"):
                return _is_vector(first, model)
            if qualified in _LISTS_OF and model.types.type_of(first).tag is TypeTag.LIST:
                item = model.types.type_of(first).item
                return item is not None and item.tag in (TypeTag.FLOAT, TypeTag.INT, TypeTag.BOOL)
            if isinstance(func, ast.Attribute) and func.attr in ("to", "clone", "detach"):
                return _is_vector(func.value, model) or _makes_vector(func.value, model)
        case ast.Call(func=ast.Attribute(value=held, attr="clone" | "detach" | "cpu" | "float")):
            return _is_vector(held, model) or _makes_vector(held, model)
    return False


def _iterated(iterable: ast.expr, target: ast.expr, model: SemanticModel) -> list[tuple[ast.expr, ast.expr]]:
    """Return what a loop iterates over, directly, reversed or in `zip`, each with the variable of its
    items.
    """
    match iterable:
        case ast.Call(func=func, args=[inner]) if model.names.qualified(func) == "builtins.reversed":
            return _iterated(inner, target, model)
        case ast.Call(func=func, args=[inner]) if model.names.qualified(func) == "builtins.enumerate":
            if isinstance(target, ast.Tuple) and len(target.elts) == 2:
                return _iterated(inner, target.elts[1], model)
        case ast.Call(func=func, args=args) if model.names.qualified(func) == "builtins.zip":
            if isinstance(target, ast.Tuple) and len(target.elts) == len(args):
                pairs = zip(args, target.elts, strict=True)
                return [found for held, item in pairs for found in _iterated(held, item, model)]
        case ast.Call(func=func, args=[held, *_]) if model.names.qualified(func) in _TURNS:
            return [(held, target)]
        case ast.Call(func=ast.Attribute(value=held, attr="flip")):
            return [(held, target)]
        case ast.Name() | ast.Attribute() | ast.Call():
            return [(iterable, target)]
    return []


def _is_number(node: ast.expr, model: SemanticModel) -> bool:
    """Whether a tensor is used in a way that only a single element allows: as a condition, `float(x)`."""
    found = model.syntax.use(node)
    match found.at:
        case ast.Call(func=func, args=[only]) if only is node:
            return model.names.qualified(func) in ("builtins.float", "builtins.int", "builtins.bool")
    return found.kind is UseKind.TESTED


def _are_numbers(loop: AnyStepLoop, held: ast.expr, item: ast.expr, model: SemanticModel) -> bool:
    """Whether an item of the tensor that a loop iterates over is used as a single number."""
    if not _is_tensor(held, model) or not isinstance(item, ast.Name):
        return False
    return any(
        isinstance(node, ast.Name) and node.id == item.id and _is_number(node, model)
        for statement in loop.body
        for node in descendants(statement)
    )
