"""Elements of a tensor that are read one by one: converted, tested, compared or used as an index."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rlint.rule import (
    COMPREHENSIONS,
    Binding,
    BindingKind,
    Device,
    SemanticModel,
    Trait,
    TypeTag,
    axes_of,
    counted_by_hand,
    counts_by_one,
    descendants,
    last_name,
    models,
    variable_names,
)
from rlint.rules.transfers._shared.reads import (
    FEWEST,
    TensorRead,
    iterated,
    loop_variable,
    operand_of,
    read_of,
    was_made_inside,
)

_SAME_SHAPE = models.having(Trait.ELEMENTWISE, TypeTag.TENSOR) | models.having(Trait.CASTS, TypeTag.TENSOR)
_TAKES_NUMBERS = frozenset({TypeTag.LIST, TypeTag.TUPLE, TypeTag.NDARRAY})
_NUMBERS = frozenset({TypeTag.INT, TypeTag.TENSOR, TypeTag.NUMPY_SCALAR})
_IDENTITY = (ast.Is, ast.IsNot, ast.In, ast.NotIn)
_KEEPS_ITEMS = models.having(Trait.SAME_ITEMS, "builtins")
_CHOOSE = frozenset({"argmax", "argmin"})
_DEPTH = 4


def parts_read(node: ast.AST, model: SemanticModel) -> Sequence[ast.expr]:
    """Return the expressions of a node that Python converts to numbers or booleans, if they are tensors."""
    match node:
        case ast.Call():
            return (node,)
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
            return conditions(test)
        case ast.comprehension(ifs=tests):
            return [part for test in tests for part in conditions(test)]
        case ast.Subscript(value=items, slice=ast.Name() as index):
            tag = model.types.type_of(items).tag
            return (index,) if tag in _TAKES_NUMBERS or tag is TypeTag.UNKNOWN else ()
    return ()


def conditions(test: ast.expr) -> list[ast.expr]:
    """Return the values whose truth a condition tests."""
    match test:
        case ast.BoolOp(values=values):
            return [part for value in values for part in conditions(value)]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return conditions(operand)
        case ast.Compare(ops=[ast.Is() | ast.IsNot() | ast.In() | ast.NotIn(), *_]) | ast.Constant():
            return []
    return [test]


def read_in(part: ast.expr, model: SemanticModel) -> TensorRead | None:
    """Return the read of an expression of `parts_read`, if it is one of a loop over a tensor's elements."""
    if isinstance(part, ast.Call):
        read = read_of(part, model)
        if read is not None:
            return read
    changing = _names_of_loops(part, model)
    if not changing:
        return None
    operand = operand_of(part, model) if isinstance(part, ast.Call) else part
    if operand is None:
        return None
    for leaf in _leaves(operand, _DEPTH):
        read = _element(leaf, part, changing, model)
        if read is not None:
            around = model.parent(part)
            if not isinstance(around, ast.Subscript) or around.slice is not part:
                return read
            if model.types.type_of(read.tensor).device is Device.HOST:
                return None
            is_known = model.types.type_of(around.value).tag in _TAKES_NUMBERS
            return read if is_known or _holds_numbers(read.tensor, model) else None
    return None


def _holds_numbers(tensor: ast.expr, model: SemanticModel) -> bool:
    """Whether each item of a tensor is one number, as those of `scores.argmax(1)` are: as an index, each is
    read from the device, whatever it indexes.
    """
    if model.types.type_of(tensor).rank == 1:
        return True
    value: ast.expr | None = tensor
    if isinstance(tensor, ast.Name):
        made = model.dataflow.definitions(tensor)
        value = made[0].value if len(made) == 1 and not made[0].path else None
    if not isinstance(value, ast.Call) or last_name(value.func) not in _CHOOSE:
        return False
    given = len(value.args) + len(value.keywords) - (model.names.qualified(value.func) is not None)
    return given == 1 and not any(word.arg == "keepdim" for word in value.keywords)


def is_first(read: TensorRead, model: SemanticModel) -> bool:
    """Whether this is the first expression of the loop that reads elements of the tensor. Its finding names
    the others.
    """
    wanted, span = ast.dump(read.tensor), model.source.span(read.call)
    for node in descendants(read.loop):
        for part in parts_read(node, model):
            if part is read.call or model.source.span(part) >= span:
                continue
            other = model.once(read_in, part)
            if other is not None and other.loop is read.loop and ast.dump(other.tensor) == wanted:
                return False
    return True


def mapped_read(function: ast.expr, model: SemanticModel) -> bool:
    """Whether a function given to `map` reads one number: `torch.Tensor.item`, `lambda x: x.item()`."""
    if isinstance(function, ast.Lambda):
        given = function.args.args
        return len(given) == 1 and any(
            isinstance(node, ast.Call)
            and (operand := operand_of(node, model)) is not None
            and any(
                isinstance(leaf, ast.Name) and leaf.id == given[0].arg for leaf in _leaves(operand, _DEPTH)
            )
            for node in descendants(function.body)
        )
    return model.names.qualified(function) == "torch.Tensor.item"


def _names_of_loops(part: ast.expr, model: SemanticModel) -> set[str]:
    """Return the names in the targets of the loops around an expression, and what a `while` counts up."""
    found: set[str] = set()
    for loop in model.frequency.loops(part):
        if isinstance(loop, COMPREHENSIONS):
            for generator in loop.generators:
                found |= variable_names(generator.target)
        elif isinstance(loop, ast.While):
            found |= counted_by_hand(loop)
        else:
            found |= variable_names(loop.target)
    return found


def _leaves(value: ast.expr, depth: int) -> Iterator[ast.expr]:
    """Yield the names and items from which an expression is computed elementwise: `x > 3`, `-x.exp()`."""
    if not depth:
        return
    match value:
        case ast.Name() | ast.Subscript():
            yield value
        case ast.UnaryOp(operand=operand):
            yield from _leaves(operand, depth - 1)
        case ast.BinOp(left=left, right=right):
            yield from _leaves(left, depth - 1)
            yield from _leaves(right, depth - 1)
        case ast.Compare(left=left, ops=[operator], comparators=[right]) if not isinstance(
            operator, _IDENTITY
        ):
            yield from _leaves(left, depth - 1)
            yield from _leaves(right, depth - 1)
        case ast.Call(func=ast.Attribute(value=owner, attr=method), args=[], keywords=[]) if (
            method in _SAME_SHAPE or method in ("detach", "cpu")
        ):
            yield from _leaves(owner, depth - 1)


def _element(leaf: ast.expr, part: ast.expr, changing: set[str], model: SemanticModel) -> TensorRead | None:
    """Return the read of a leaf, if it is an element of a tensor, another one in each iteration."""
    if isinstance(leaf, ast.Name):
        if leaf.id in changing:
            return _looped_element(leaf, part, model)
        made = model.dataflow.definitions(leaf)
        if len(made) != 1 or made[0].kind is not BindingKind.ASSIGN or made[0].path:
            return None
        item = made[0].value
        if not isinstance(item, ast.Subscript) or model.function(item) is not model.function(leaf):
            return None
        return _indexed_element(item, part, changing, model)
    return _indexed_element(leaf, part, changing, model) if isinstance(leaf, ast.Subscript) else None


def _looped_element(name: ast.Name, part: ast.expr, model: SemanticModel) -> TensorRead | None:
    binding = loop_variable(name, model)
    tensor = iterated(binding, model) if binding is not None else None
    while isinstance(tensor, ast.Call) and len(tensor.args) == 1 and not tensor.keywords:
        if model.names.qualified(tensor.func) not in _KEEPS_ITEMS:
            break
        tensor = tensor.args[0]
    if binding is None or tensor is None or not _is_tensor(tensor, model):
        return None
    return TensorRead(part, tensor, binding.statement, binding, is_indexed=False, is_plain=False)


def _indexed_element(
    item: ast.Subscript, part: ast.expr, changing: set[str], model: SemanticModel
) -> TensorRead | None:
    """Return the read of `t[i]`, `t[i, j]` and `t[n - 1 - i]` for a number `i` that a loop changes."""
    tensor, indices = _base(item)
    if any(isinstance(each, (ast.Slice, ast.Constant)) and not _is_int(each) for each in indices):
        return None
    names = [
        node
        for index in indices
        for node in descendants(index)
        if isinstance(node, ast.Name) and node.id in changing
    ]
    if not names or not _is_tensor(tensor, model):
        return None
    for name in names:
        binding = _counter(name, model)
        if binding is None or model.types.type_of(name).tag not in _NUMBERS:
            continue
        loop = binding.statement
        if isinstance(binding.statement, ast.AugAssign):
            loop = next(each for each in model.ancestors(binding.statement) if isinstance(each, ast.While))
        if was_made_inside(tensor, binding.value if loop is binding.statement else loop.test, part, model):  # type: ignore[attr-defined]
            continue
        return TensorRead(part, tensor, loop, binding, is_indexed=True, is_plain=False)
    return None


def _base(item: ast.Subscript) -> tuple[ast.expr, list[ast.expr]]:
    """Return what a chain of subscripts indexes, and all indices."""
    value: ast.expr = item
    indices: list[ast.expr] = []
    while isinstance(value, ast.Subscript):
        indices += axes_of(value.slice)
        value = value.value
    return value, indices


def _is_int(index: ast.expr) -> bool:
    return isinstance(index, ast.Constant) and type(index.value) is int


def _counter(name: ast.Name, model: SemanticModel) -> Binding | None:
    """Return what changes an index in each iteration: a loop of many steps, or `i += 1` in a `while`."""
    made = model.dataflow.definitions(name)
    steps = [each for each in made if each.kind is BindingKind.AUGMENT and counts_by_one(each.statement)]
    if steps and any(
        isinstance(above, ast.While) and steps[0].statement in above.body for above in model.ancestors(name)
    ):
        return steps[0]
    binding: Binding | None = loop_variable(name, model)
    if binding is None or binding.value is None:
        return None
    source = binding.value
    while isinstance(source, ast.Call) and model.names.qualified(source.func) == "builtins.reversed":
        if len(source.args) != 1:
            return None
        source = source.args[0]
    if isinstance(source, ast.Call) and model.names.qualified(source.func) == "builtins.range":
        return binding if _has_many_single_steps(source) else None
    return binding


def _has_many_single_steps(counted: ast.Call) -> bool:
    match counted.args:
        case [ast.Constant(value=int(limit))]:
            return bool(limit >= FEWEST)
        case [_, _, step]:
            return ast.unparse(step) == "-1"
    return True


def _is_tensor(value: ast.expr, model: SemanticModel) -> bool:
    is_tensor: bool = model.types.type_of(value).tag is TypeTag.TENSOR
    return is_tensor
