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
    last_name,
    models,
    regex,
    variable_names,
)
from rlint.rules.computation.rl506_scalar_reward_loop.carried_values import (
    AnyStepLoop,
    is_carried,
    is_multiplied,
    is_offset,
    is_step,
    reads,
    recurs,
)
from rlint.rules.computation.rl506_scalar_reward_loop.counting_loops import takes_items
from rlint.rules.computation.rl506_scalar_reward_loop.stacked_results import (
    StackedResult,
    stacked_result,
)

_DISCOUNTED = regex(r"gamma|lambda|(^|_)lam(_|$)|discount|gae|returns?(_|$)|advantage|decay", re.IGNORECASE)
_DISCOUNTS = (0.8, 1.0)
"""Constants between these are discounts: `ret = reward + 0.99 * ret`."""
_PREDICTED = regex(r"(^|_)(discount|pcont|continues?)(_|$)")
_LISTS = frozenset({TypeTag.LIST, TypeTag.TUPLE})
_FEWEST_TENSORS = 2
_FEWEST_OPERATIONS = 2
_OF_LANGUAGE_MODELS = ("AutoTokenizer", "tokenizer", "eos_token_id", "pad_token_id")
_OF_TENSORS = frozenset({"clone", "detach"})
"""Methods that of all arrays only tensors have."""
_TURNS = ("torch.flip", "torch.flipud")
_LISTS_OF = models.having(Trait.FROM_DATA | Trait.LEGACY, "torch") | {"torch.empty", "torch.zeros"}


@frozen
class Recurrence:
    """The tensor over which a recurrence iterates, number by number or row by row. `operations` is the number
    of sums, differences and products per step; `by_pairs`: the operations run for each pair of steps;
    `by_window`: they run for each step and each of the next few; `carried`: `held` is the variable that
    carries the result from step to step, which began as a tensor; `written`: the loop only stores results in
    `held`; `by_columns`: a row is a column, with one step of all sequences of a batch; `stacked`: no tensor
    is known but what the loop adds to a list.
    """

    held: ast.expr
    by_rows: bool
    operations: int
    by_pairs: bool = False
    by_window: bool = False
    carried: bool = False
    written: bool = False
    by_columns: bool = False
    stacked: StackedResult | None = None


def tensor_recurrence(loop: AnyStepLoop, model: SemanticModel) -> Recurrence | None:
    """Return the recurrence that a loop computes over the steps of a tensor, backwards or forwards."""
    counters = _counters(loop, model)
    if counters is None or model.nn.takes_gradient_steps(loop):
        return None  # a loop over agents, each of which learns
    inner = {
        name for part in descendants(loop) if isinstance(part, ast.For) for name in _counted(part, model)
    } - counters
    offsets = _offsets(loop, counters, inner)
    if not (recurs(loop, counters) or _weighs_later(loop, counters, inner, offsets)):
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
                    return Recurrence(held, by_rows=False, operations=_operations_in(loop, model))
            case ast.Subscript(value=held, slice=index) if is_step(index, counters, inner):
                if _is_vector(held, model) or (_is_tensor(held, model) and _is_number(node, model)):
                    written = not _is_read_in(loop, held)
                    return Recurrence(
                        held, by_rows=False, operations=_operations_in(loop, model), written=written
                    )
                holds = _is_tensor(held, model) or _is_list_of_tensors(held, model)
                if isinstance(node.ctx, ast.Load):
                    if holds:
                        rows.append(held)
                    elif not model.types.type_of(held):
                        unknown.append(held)  # what is added to a row gives a row, whatever it is
                stores = stores or (holds and isinstance(node.ctx, ast.Store))
            case ast.Call(
                func=ast.Attribute(value=ast.Subscript(value=held, slice=index), attr=method), args=[]
            ) if method in _OF_TENSORS and is_step(index, counters, inner) and not model.types.type_of(held):
                rows.append(held)
    for held, item in _iterated(loop.iter, loop.target, model) if isinstance(loop, ast.For) else []:
        if _is_vector(held, model) or _are_numbers(loop, held, item, model):
            return Recurrence(held, by_rows=False, operations=_operations_in(loop, model))
        if _is_unbound(held, model) or _is_tensor(held, model):
            rows.append(held)
            stores = True  # each item is a tensor
        elif _is_list_of_tensors(held, model):
            rows.append(held)
    if not rows and (began := _carried_tensor(loop, model)) is not None:
        operations = _operations_in(loop, model)
        return Recurrence(began, by_rows=True, operations=operations, carried=True)
    tensors = {ast.dump(held) for held in (*rows, *unknown)}
    operations = _operations_in(loop, model)
    if operations < _FEWEST_OPERATIONS:
        return None
    has_rows = columns or stores or len(tensors) >= _FEWEST_TENSORS or _adds_row(loop, rows)
    if not rows or not has_rows:  # the rest are numbers, unless the results are tensors
        stacked = stacked_result(loop, counters, model)
        if stacked is None:
            return None
        return Recurrence(stacked.value, by_rows=True, operations=operations, stacked=stacked)
    if columns and model.program.mentions(*_OF_LANGUAGE_MODELS):
        return None  # a column per token: cheap unknown generation
    by_pairs = _is_of_pairs(loop, counters)
    by_window = not by_pairs and _has_window(loop, counters, inner, offsets)
    return Recurrence(
        rows[0],
        by_rows=True,
        operations=operations,
        by_pairs=by_pairs,
        by_window=by_window,
        by_columns=bool(columns),
    )


def weighs_by_predictions(loop: AnyStepLoop, model: SemanticModel) -> bool:
    """Whether a loop reads a discount of its own for each step, `discount[t]`, which only a model of the
    world predicts: environments say when an episode ends.
    """
    counters = _counters(loop, model) or set()
    if isinstance(loop, ast.For):
        counters = counters | variable_names(loop.target)  # of a list of the steps
    return any(
        isinstance(node, ast.Subscript)
        and is_step(node.slice, counters)
        and bool(_PREDICTED.search((last_name(node.value) or "").lower()))
        for node in descendants(loop)
    )


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
                    if is_row and is_multiplied(other) and reads(other, name):
                        return True
    return False


def _indexed(value: ast.expr) -> ast.expr:
    """Return `x` of `x[t]` and `x[t][0]`."""
    while isinstance(value, ast.Subscript):
        value = value.value
    return value


def _operations_in(loop: AnyStepLoop, model: SemanticModel) -> int:
    """Return the number of operations per iteration, without those that compute an index."""
    return sum(_operations(statement, model) for statement in loop.body)


def _operations(node: ast.AST, model: SemanticModel) -> int:
    parts = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Subscript):
        parts = [node.value]
    elif isinstance(node, ast.For):
        parts = list(node.body)
    is_call = isinstance(node, ast.Call) and (model.names.qualified(node.func) or "").startswith("torch.")
    return (is_call or isinstance(node, ast.BinOp)) + sum(_operations(part, model) for part in parts)


def _counters(loop: AnyStepLoop, model: SemanticModel) -> set[str] | None:
    """Return the variables that count the steps; empty for a loop over the values themselves."""
    if isinstance(loop, ast.While):
        counted = counted_by_hand(loop) & variable_names(loop.test)
        return counted or (set() if takes_items(loop) else None)
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
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp() as value) if is_multiplied(value):
                reads = [
                    node
                    for node in descendants(value)
                    if isinstance(node, ast.Name) and node.id == name
                    if isinstance(model.parent(node), ast.BinOp)
                ]
            case _:
                continue
        if not reads or not is_carried(name, loop):
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
        if isinstance(node, ast.Assign) and is_offset(node.value, counters, inner)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _is_column(index: ast.Tuple, counters: set[str], inner: set[str]) -> bool:
    """Whether an index is `[:, t]` or `[:, t + 1, :, n]`: one step of all sequences, along a later axis."""
    steps = [
        part for part in index.elts if is_step(part, counters | inner) or is_offset(part, counters, inner)
    ]
    rest = [part for part in index.elts if part not in steps]
    return bool(steps) and any(isinstance(part, ast.Slice) for part in rest)


def _is_element(index: ast.Tuple, counters: set[str]) -> bool:
    """Whether an index is `[i, t]` or `[i, t + 1]`: one number, of one step of one sequence."""
    return any(is_step(part, counters) for part in index.elts) and all(
        isinstance(part, (ast.Name, ast.BinOp)) for part in index.elts
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
            is_offset(part, counters, inner) or (isinstance(part, ast.Name) and part.id in offsets)
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
                case ast.AugAssign(op=ast.Add(), value=value) if is_multiplied(value):
                    return True
    return False


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
