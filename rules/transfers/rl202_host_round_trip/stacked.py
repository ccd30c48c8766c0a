"""Several reads combined to one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from rlint.rule import (
    Applicability,
    BindingKind,
    Edit,
    Fix,
    SemanticModel,
    Trait,
    TypeTag,
    element_types,
    models,
)
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead
from rlint.rules.transfers.rl202_host_round_trip.read_together import is_known_at

_REDUCTIONS = models.having(Trait.SUMMARISES, TypeTag.TENSOR)
# of floating-point tensors only, or with a floating-point result
_GIVES_FRACTIONS = (
    _REDUCTIONS - {"sum"} | {"exp", "log", "sigmoid", "sqrt"} | {"entropy", "log_prob", "logsumexp"}
)
_KEEPS_TYPE = models.having(Trait.KEEPS_ORDER, TypeTag.TENSOR) | (
    {"amax", "amin", "max", "min"} | {"abs", "clamp", "detach", "neg"} | {"prod", "sum"}
)
_REDUCES = models.having(Trait.SUMMARISES, "torch")
_ELEMENTWISE = models.having(Trait.ELEMENTWISE | Trait.COPIES, TypeTag.TENSOR) | {"detach"}
_THE_SAME = frozenset({"clone", "cpu", "detach"} | {"float", "squeeze"})
"""Methods that do not change a number."""
_DEPTH = 4


def build_fix(group: Sequence[HostRead], model: SemanticModel) -> Fix | None:
    """Read the numbers of one statement, or of consecutive assignments, together."""
    if any(read.method not in ("item", "float") or not is_fraction(read.tensor, model) for read in group):
        return None
    if any(not model.edit.is_relocatable(read.node) for read in group):
        return None
    statements = list(dict.fromkeys(model.syntax.statement(read.node) for read in group))
    names = _assigned(group, statements, model) if len(statements) > 1 else None
    edits = _in_a_row(group, names, statements, model) if names else _in_one(group, statements, model)
    if edits is None:
        return None
    return Fix(
        "Read them together",
        Applicability.UNSAFE,
        edits,
        "the tensors must be on one device; on the CPU, stacking them first takes longer",
    )


def _assigned(
    group: Sequence[HostRead], statements: list[ast.stmt], model: SemanticModel
) -> list[str] | None:
    """Return the names that consecutive assignments, with nothing in between, give to the numbers."""
    block, first = model.syntax.block(statements[0])
    if len(statements) != len(group) or block[first : first + len(statements)] != statements:
        return None
    names = []
    for read, statement in zip(group, statements, strict=True):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is read.node:
                names.append(name)
            case _:
                return None
    return names if len(set(names)) == len(names) else None


def _in_a_row(
    group: Sequence[HostRead], names: list[str], statements: list[ast.stmt], model: SemanticModel
) -> tuple[Edit, ...] | None:
    """Replace the first assignment by `a, b = torch.stack((x, y)).tolist()`, and delete the others."""
    line = _stacked(group, names, model)
    if line is None:
        return None
    if any(not is_known_at(read.tensor, statements[0], model) for read in group):
        return None
    edits = [
        model.edit.replace_statement(statements[0], line),
        *map(model.edit.delete_statement, statements[1:]),
    ]
    kept = [edit for edit in edits if edit is not None]
    return tuple(kept) if len(kept) == len(edits) else None


def _in_one(
    group: Sequence[HostRead], statements: list[ast.stmt], model: SemanticModel
) -> tuple[Edit, ...] | None:
    """Read the numbers in a line before the statement that uses all of them."""
    statement = statements[0]
    simple = isinstance(statement, (ast.Expr, ast.Assign, ast.Return, ast.AugAssign, ast.AnnAssign))
    if (
        len(statements) > 1
        or not simple
        or any(model.frequency.loops(read.node) != model.frequency.loops(statement) for read in group)
    ):
        return None
    if any(isinstance(around, ast.Lambda) for read in group for around in model.ancestors(read.node)):
        return None
    names = [model.importer.fresh_name(_called(read), str(model.source.span(read.node))) for read in group]
    line = _stacked(group, names, model)
    before = model.edit.insert_before(statement, line) if line is not None else None
    if before is None:
        return None
    return (before, *(model.edit.replace(read.node, name) for read, name in zip(group, names, strict=True)))


def _called(read: HostRead) -> str:
    """Return a name for a number: `loss_value` for that of `loss`, `loss_mean` for that of `loss.mean()`."""
    name = _named(read.tensor)
    if isinstance(read.tensor, (ast.Name, ast.Attribute)):
        return f"{name}_value"
    return name or "value"


def _named(tensor: ast.expr) -> str:
    match tensor:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.strip("_")
        case ast.Subscript(value=whole):
            return _named(whole)
        case ast.Call(func=ast.Attribute(value=of, attr=method)) if name := _named(of):
            return name if method in _THE_SAME else f"{name}_{method}"
    return ""


def _stacked(group: Sequence[HostRead], names: list[str], model: SemanticModel) -> str | None:
    stack = model.names.spelled("torch.stack", group[0].node)
    if stack is None:
        return None
    tensors = [
        model.source.text(read.tensor)
        if is_number(read.tensor, model)
        else f"{model.edit.parenthesized(read.tensor)}.reshape(())"
        for read in group
    ]
    return f"{', '.join(names)} = {stack}(({', '.join(tensors)})).tolist()"


def is_number(tensor: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> bool:
    """Whether a tensor surely has no dimensions."""
    if model.types.type_of(tensor).rank == 0:
        return True
    match tensor:
        case ast.Constant(value=int() | float()):
            return True
        case ast.UnaryOp(operand=operand):
            return is_number(operand, model, depth)
        case ast.BinOp(left=left, right=right):
            return is_number(left, model, depth) and is_number(right, model, depth)
        case ast.Name() if depth > 0:
            return all_made(tensor, is_number, model, depth)
        case ast.Call(func=ast.Attribute(value=owner, attr=method), keywords=keywords):
            called = model.names.qualified(tensor.func) or ""
            if called.startswith("torch.nn.functional."):
                return called.endswith("_loss") and all(keyword.arg != "reduction" for keyword in keywords)
            if called in _REDUCES:
                return len(tensor.args) == 1 and not keywords
            if not tensor.args and not keywords:
                return method in _REDUCTIONS or (method in _ELEMENTWISE and is_number(owner, model, depth))
    return False


def all_made(
    name: ast.Name, test: Callable[[ast.expr, SemanticModel, int], bool], model: SemanticModel, depth: int
) -> bool:
    """Whether a predicate holds for all values that a name may have."""
    made = model.dataflow.definitions(name)
    return bool(made) and all(
        binding.kind is BindingKind.ASSIGN
        and binding.value is not None
        and not binding.path
        and test(binding.value, model, depth - 1)
        for binding in made
    )


def is_fraction(tensor: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> bool:
    """Whether a tensor surely has a floating-point dtype, so that its number does not change when stacked
    with others.
    """
    kind = model.types.type_of(tensor)
    if kind.dtype:
        return kind.dtype in element_types.FLOATS
    if depth <= 0:
        return False
    match tensor:
        case ast.Name():
            return all_made(tensor, is_fraction, model, depth)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return is_fraction(operand, model, depth - 1)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), right=right):
            return is_fraction(left, model, depth - 1) or is_fraction(right, model, depth - 1)
        case ast.Call(func=ast.Attribute(value=owner, attr=method)):
            called = model.names.qualified(tensor.func)
            if called is not None:
                loss = called.startswith("torch.nn.functional.") and called.endswith("_loss")
                return loss or called in {f"torch.{name}" for name in _GIVES_FRACTIONS}
            if model.types.type_of(owner).tag is TypeTag.MODULE:
                return "Loss" in model.types.type_of(owner).of
            return method in _GIVES_FRACTIONS or (
                method in _KEEPS_TYPE and is_fraction(owner, model, depth - 1)
            )
    return False
