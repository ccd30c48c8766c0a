"""How many rows the batch has that a loop passes through: none but one in all calls, or by default."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    AnyLoop,
    BindingKind,
    Function,
    SemanticModel,
    TypeTag,
    calls_in_file,
    one_row_batches,
)

_BATCH_OF_ONE = "the batches that the loop goes through have one row by default"


def is_of_one_row(loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether a loop goes through the rows of a parameter that is a batch of one in all calls: `for i in
    range(states.shape[0])` in a function that is called with `state.unsqueeze(0)`.
    """
    rows, function = _rows_of(loop), model.function(loop)
    if rows is None or function is None or not _is_parameter(rows, model):
        return False
    calls = calls_in_file(function, model)
    given = [_argument(call, rows.id, function) for call in calls]
    return bool(given) and all(value is not None and _is_one_row(value, model) for value in given)


def why_few(loop: AnyLoop, model: SemanticModel) -> str | None:
    """Return that the loaders of a file load one row at a time by default, if the loop goes through the rows
    of a parameter.
    """
    rows = _rows_of(loop)
    if rows is None or not _is_parameter(rows, model):
        return None
    sizes = [model.sizes.number(size) for size in _batch_sizes(model)]
    return _BATCH_OF_ONE if sizes and all(size == 1 for size in sizes) else None


def _batch_sizes(model: SemanticModel) -> Iterator[ast.expr]:
    for call in model.syntax.of_type(ast.Call):
        assert isinstance(call, ast.Call)
        for keyword in call.keywords:
            if keyword.arg == "batch_size" and model.types.type_of(call).tag is TypeTag.LOADER:
                yield keyword.value


def _rows_of(loop: AnyLoop) -> ast.Name | None:
    """Return the batch that a loop goes through: `x` of `range(x.shape[0])`, `range(len(x))`, or itself."""
    match loop:
        case ast.For(iter=iterable) | ast.AsyncFor(iter=iterable):
            pass
        case ast.ListComp(generators=[ast.comprehension(iter=iterable)]):
            pass
        case _:
            return None
    match iterable:
        case ast.Name():
            return iterable
        case ast.Call(func=ast.Name(id="range"), args=[count]):
            return _counted(count)
    return None


def _counted(count: ast.expr) -> ast.Name | None:
    match count:
        case ast.Subscript(
            value=ast.Attribute(value=ast.Name() as rows, attr="shape"), slice=ast.Constant(value=0)
        ):
            return rows
        case ast.Call(
            func=ast.Attribute(value=ast.Name() as rows, attr="size"), args=[ast.Constant(value=0)]
        ):
            return rows
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name() as rows]):
            return rows
    return None


def _is_parameter(name: ast.Name, model: SemanticModel) -> bool:
    bindings = model.dataflow.definitions(name)
    return bool(bindings) and all(each.kind is BindingKind.PARAMETER for each in bindings)


def _argument(call: ast.Call, name: str, function: Function) -> ast.expr | None:
    named: dict[str, ast.expr] = {each.arg: each.value for each in call.keywords if each.arg is not None}
    if name in named:
        return named[name]
    parameters = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    place = parameters.index(name) - (parameters[:1] == ["self"]) if name in parameters else -1
    return call.args[place] if 0 <= place < len(call.args) else None


def _is_one_row(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value gets a batch dimension of 1 where it is passed, or where a variable was assigned."""
    if one_row_batches.only_row(value, model) is not None:
        return True
    bindings = model.dataflow.definitions(value) if isinstance(value, ast.Name) else []
    return any(
        binding.value is not None
        and not binding.path
        and one_row_batches.only_row(binding.value, model) is not None
        for binding in bindings
    )
