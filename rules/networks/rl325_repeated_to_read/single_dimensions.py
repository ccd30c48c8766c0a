"""Which dimensions of a tensor have one element."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, Trait, TypeTag, last_name, models, observations

_DEPTH = 3
_MATRIX = 2
_SAME_SHAPE = models.having(Trait.KEEPS_VALUES | Trait.ELEMENTWISE, TypeTag.TENSOR)
_SIZED = models.having(Trait.FILLS, "torch") - {"torch.full"} | {"torch.rand", "torch.randn"}
"""Functions whose arguments are the sizes of a new tensor."""
_PARAMETERS = models.having(Trait.PARAMETERS, "torch.nn")


def asserted_rank(tensor: ast.expr, model: SemanticModel) -> int | None:
    """Return the number of dimensions that the function asserts of a variable: `assert target.ndim == 2`."""
    if not isinstance(tensor, ast.Name):
        return None
    bound = model.dataflow.definitions(tensor)
    function, start = model.function(tensor), model.source.span(tensor)[0]
    for check in model.syntax.of_type(ast.Assert):
        if model.function(check) is not function or model.source.span(check)[0] >= start:
            continue
        tests = check.test.values if isinstance(check.test, ast.BoolOp) else [check.test]
        if isinstance(check.test, ast.BoolOp) and not isinstance(check.test.op, ast.And):
            continue
        for test in tests:
            match test:
                case ast.Compare(
                    left=ast.Attribute(value=ast.Name(id=tensor.id) as checked, attr="ndim")
                    | ast.Call(func=ast.Attribute(value=ast.Name(id=tensor.id) as checked, attr="dim")),
                    ops=[ast.Eq()],
                    comparators=[ast.Constant(value=int(rank))],
                ) if model.dataflow.definitions(checked) == bound:
                    return rank
    return None


def single_dimensions(tensor: ast.expr, rank: int, model: SemanticModel, depth: int = _DEPTH) -> set[int]:
    """Return the dimensions of a tensor that surely have size 1."""
    match tensor:
        case ast.Name() if depth:
            definitions = model.dataflow.definitions(tensor)
            value = definitions[0].value if len(definitions) == 1 else None
            targets = model.names.targets(value) if value is not None else []
            if value is not None and any(
                isinstance(target, ast.Name) and target.id == tensor.id for target in targets
            ):
                return single_dimensions(value, rank, model, depth - 1)
        case ast.Call(func=ast.Attribute(value=inner, attr="unsqueeze"), args=[*before, place]):
            added = constant(place, rank)
            if added is None:
                return set()
            inside = single_dimensions(before[0] if before else inner, rank - 1, model, depth)
            return {added} | {each + (each >= added) for each in inside}
        case (
            ast.Call(func=ast.Attribute(attr="view" | "reshape"), args=[ast.Tuple(elts=sizes)])
            | ast.Call(func=ast.Attribute(attr="view" | "reshape"), args=sizes)
        ) if len(sizes) == rank:
            return {index for index, size in enumerate(sizes) if is_one(size)}
        case ast.Call(args=sizes) if len(sizes) == rank and model.names.qualified(tensor.func) in _SIZED:
            return {index for index, size in enumerate(sizes) if is_one(size)}
        case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _SAME_SHAPE:
            return single_dimensions(inner, rank, model, depth)
        case ast.Call(func=ast.Attribute(), keywords=keywords, args=args):
            given = {keyword.arg: keyword.value for keyword in keywords}
            kept = given.get("keepdim")
            along = given.get("dim") or (args[0] if len(args) == 1 else None)
            if isinstance(kept, ast.Constant) and kept.value is True and along is not None:
                return {dimension for dimension in [constant(along, rank)] if dimension is not None}
        case ast.Subscript(slice=index):
            return new_dimensions(index, rank)
    return set()


def new_dimensions(index: ast.expr, rank: int) -> set[int]:
    """Return the dimensions that an index adds: those of `None` in `x[:, None]`."""
    items = index.elts if isinstance(index, ast.Tuple) else [index]
    found: set[int] = set()
    place = 0
    for number, item in enumerate(items):
        match item:
            case ast.Constant(value=None):
                found.add(place)
            case ast.Slice():
                pass
            case ast.Constant(value=value) if value is ...:
                place = rank - (len(items) - number)
            case _:
                return set()
        place += 1
    return found


def constant(expression: ast.expr, rank: int) -> int | None:
    """Return a literal dimension, counted from the first."""
    match expression:
        case ast.Constant(value=int(value)):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return rank - value
    return None


def is_one(expression: ast.expr) -> bool:
    """Whether an expression is the number 1."""
    return isinstance(expression, ast.Constant) and expression.value == 1


def is_learned_row(tensor: ast.expr, counts: list[ast.expr], model: SemanticModel) -> bool:
    """Whether a learned parameter is repeated for each row of a batch, so that its first dimension is new or
    has one element: `self.log_std.repeat(mean.shape[0], 1)`.
    """
    if len(counts) != _MATRIX or not all(is_one(count) for count in counts[1:]):
        return False
    return is_length(counts[0], model) and is_parameter(tensor, model)


def has_new_dimension(tensor: ast.expr, counts: list[ast.expr], model: SemanticModel) -> bool:
    """Whether the first of three counts likely adds a dimension to a batch of observations, by its name:
    `states.repeat(n, 1, 1)`.
    """
    if len(counts) != _MATRIX + 1 or is_one(counts[0]) or not all(map(is_one, counts[1:])):
        return False
    if single_dimensions(tensor, len(counts), model):
        return False
    name = last_name(tensor) or ""
    return observations.names_one(name) or observations.names_several(name)


def is_parameter(tensor: ast.expr, model: SemanticModel) -> bool:
    """Whether a tensor is an attribute that this file only sets to learned parameters, not known to have
    several rows.
    """
    if not isinstance(tensor, ast.Attribute):
        return False
    rank = model.types.type_of(tensor).rank
    made = [
        store.value if isinstance(store, (ast.Assign, ast.AnnAssign)) else None
        for use in model.names.attribute_uses(tensor.attr)
        if isinstance(use.ctx, ast.Store)
        for store in [model.parent(use)]
    ]
    return bool(made) and all(
        isinstance(value, ast.Call)
        and model.names.qualified(value.func) in _PARAMETERS
        and (rank is None or has_one_row(value))
        for value in made
    )


def has_one_row(parameter: ast.Call) -> bool:
    """Whether a parameter is made with one row: `nn.Parameter(torch.zeros(1, size))`."""
    return any(
        isinstance(part, ast.Call) and len(part.args) == _MATRIX and is_one(part.args[0])
        for part in ast.walk(parameter)
    )


def is_length(count: ast.expr, model: SemanticModel) -> bool:
    """Whether a count is the number of rows of another value: `x.shape[0]`, `x.size(0)`, `len(x)`, and
    variables of them.
    """
    match count:
        case ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant(value=0)):
            return True
        case ast.Call(func=ast.Attribute(attr="size"), args=[ast.Constant(value=0)]):
            return True
        case ast.Call(func=ast.Name(id="len") as called):
            return model.names.qualified(called) == "builtins.len"
        case ast.Name():
            bound = model.dataflow.definitions(count)
            if len(bound) != 1 or bound[0].value is None:
                return False
            value = bound[0].value
            if not bound[0].path:
                return not isinstance(value, ast.Name) and is_length(value, model)
            match value:
                case ast.Attribute(attr="shape") | ast.Call(func=ast.Attribute(attr="size"), args=[]):
                    return bound[0].path == (0,)
    return False
