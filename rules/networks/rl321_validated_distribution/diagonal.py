"""Multivariate normal distributions whose covariance matrix is diagonal."""

from __future__ import annotations

import ast

from rlint.rule import (
    Applicability,
    Binding,
    BindingKind,
    Edit,
    Fix,
    SemanticModel,
    Trait,
    TypeTag,
    frozen,
    models,
)

_PARAMETERS = ("loc", "covariance_matrix", "precision_matrix", "scale_tril", "validate_args")
_MADE_OF_DIAGONAL = frozenset({"torch.diag", "torch.diag_embed"})
_LEAVES_IT_SO = (
    models.having(Trait.KEEPS_VALUES, TypeTag.TENSOR)
    - models.having(Trait.GIVES_NUMBER, TypeTag.TENSOR)
    - {"bfloat16", "half"}  # small numbers are rounded to 0 there
)
_ONLY_THERE = ("covariance_matrix", "precision_matrix", "scale_tril", "_unbroadcasted_scale_tril", "loc")
"""Attributes of `MultivariateNormal` that `Independent` does not have."""
_DEPTH = 4


@frozen
class DiagonalNormal:
    """A `MultivariateNormal` of a diagonal matrix. `parameter` is the name of the matrix argument."""

    parameter: str
    fix: Fix | None


def diagonal_normal(call: ast.Call, model: SemanticModel) -> DiagonalNormal | None:
    """Return the matrix argument of a `MultivariateNormal`, if it certainly is diagonal."""
    if any(isinstance(argument, ast.Starred) for argument in call.args) or len(call.args) > len(_PARAMETERS):
        return None
    given: dict[str | None, ast.expr] = dict(zip(_PARAMETERS, call.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords}
    parameter = next((name for name in ("covariance_matrix", "scale_tril") if name in given), None)
    if parameter is None or "loc" not in given or not set(given) <= {"loc", parameter, "validate_args"}:
        return None
    if not _is_diagonal(given[parameter], model, _DEPTH):
        return None
    return DiagonalNormal(parameter, _fix(call, given, parameter, model))


def _is_diagonal(matrix: ast.expr, model: SemanticModel, depth: int) -> bool:
    if depth <= 0:
        return False
    if _made_of(matrix, model) is not None:
        return True
    match matrix:
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if (
            model.names.qualified(matrix.func) is None
        ):
            return (method in _LEAVES_IT_SO or _adds_first(matrix)) and _is_diagonal(owner, model, depth)
        case ast.Call(func=function):
            return model.names.qualified(function) == "torch.eye" and len(matrix.args) == 1
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _is_diagonal(left, model, depth) or _is_diagonal(right, model, depth)
        case ast.BinOp(left=left, op=ast.Div()):
            return _is_diagonal(left, model, depth)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _is_diagonal(left, model, depth) and _is_diagonal(right, model, depth)
        case ast.Name():
            bindings = model.dataflow.definitions(matrix)
            return bool(bindings) and all(
                binding.kind is BindingKind.ASSIGN
                and not binding.path
                and binding.value is not None
                and _is_diagonal(binding.value, model, depth - 1)
                for binding in bindings
            )
        case ast.Attribute(value=ast.Name(id="self"), attr=attribute):
            return _holds_diagonals(attribute, matrix, model, depth)
    return False


def _holds_diagonals(attribute: str, at: ast.Attribute, model: SemanticModel, depth: int) -> bool:
    """Whether every value that this file assigns to an attribute of that name is diagonal."""
    stores = [use for use in model.names.attribute_uses(attribute) if not isinstance(use.ctx, ast.Load)]
    own = model.class_of(at)
    found = False
    for store in stores:
        statement = model.parent(store)
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
            return False
        if not _is_diagonal(statement.value, model, depth - 1):
            return False
        found = found or model.class_of(store) is own
    changed = (model.parent(use) for use in model.names.attribute_uses(attribute))
    return found and not any(
        (isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load))
        or (isinstance(parent, ast.Attribute) and parent.attr.endswith("_"))
        for parent in changed
    )


def _made_of(matrix: ast.expr, model: SemanticModel) -> str | None:
    """Return the text of the diagonal: `v` of `torch.diag(v)`, `v.unsqueeze(0)` of
    `torch.diag(v).unsqueeze(0)`.
    """
    match matrix:
        case ast.Call(func=function, args=[vector], keywords=[]) if (
            model.names.qualified(function) in _MADE_OF_DIAGONAL
        ):
            return None if isinstance(vector, ast.Starred) else model.edit.parenthesized(vector)
        case ast.Call(func=ast.Attribute(value=vector, attr="diag" | "diag_embed"), args=[], keywords=[]):
            return model.edit.parenthesized(vector) if model.names.qualified(matrix.func) is None else None
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if (
            model.names.qualified(matrix.func) is None
        ):
            if method not in _LEAVES_IT_SO and not _adds_first(matrix):
                return None
            made = _made_of(owner, model)
            rest = model.syntax.text[model.source.span(owner)[1] : model.source.span(matrix)[1]]
            return made + rest if made is not None and rest.startswith(".") else None
    return None


def _adds_first(call: ast.Call) -> bool:
    """Whether a call is `.unsqueeze(0)`, which adds a leading dimension to a matrix as to a vector."""
    match call:
        case (
            ast.Call(func=ast.Attribute(attr="unsqueeze"), args=[ast.Constant(value=0)], keywords=[])
            | ast.Call(
                func=ast.Attribute(attr="unsqueeze"),
                args=[],
                keywords=[ast.keyword(arg="dim", value=ast.Constant(value=0))],
            )
        ):
            return True
    return False


def _fix(
    call: ast.Call, given: dict[str | None, ast.expr], parameter: str, model: SemanticModel
) -> Fix | None:
    """Create independent normal distributions instead."""
    normal = model.names.spelled("torch.distributions.Normal", call)
    independent = model.names.spelled("torch.distributions.Independent", call)
    if normal is None or independent is None or not model.edit.is_relocatable(call):
        return None
    if any(map(model.names.attribute_uses, _ONLY_THERE)) or any(
        model.names.qualified(other.func) == "torch.distributions.kl_divergence"
        for other in model.syntax.of_type(ast.Call)
    ):
        return None
    matrix = given[parameter]
    made = _made_of(matrix, model)
    edits: list[Edit] = []
    title = "Use independent normal distributions"
    if made is None and isinstance(matrix, ast.Name):
        made, edits = _taken_from(matrix, call, model)
    if made is None and isinstance(matrix, (ast.Name, ast.Attribute)):
        made, title = f"{model.source.text(matrix)}.diagonal(dim1=-2, dim2=-1)", f"{title} of the diagonal"
    if made is None:
        return None
    scale = f"{made}.sqrt()" if parameter == "covariance_matrix" else made
    arguments = f"{model.source.text(given['loc'])}, {scale}"
    if "validate_args" in given:
        arguments += f", validate_args={model.source.text(given['validate_args'])}"
    edits = [model.edit.replace(call, f"{independent}({normal}({arguments}), 1)"), *edits]
    reason = (
        "samples and log-probabilities are rounded differently, `log_prob` fails on an empty batch, and no "
        "code may read `covariance_matrix` or `loc`"
    )
    return Fix(title, Applicability.UNSAFE, tuple(edits), reason)


def _taken_from(name: ast.Name, call: ast.Call, model: SemanticModel) -> tuple[str | None, list[Edit]]:
    """Return the diagonal that a variable's matrix is created from, and the edit that deletes the variable,
    if only the distribution uses it.
    """
    scope = model.names.scope(name).lookup(name.id)
    bindings: list[Binding] = model.dataflow.definitions(name)
    if scope is None or len(bindings) != 1 or model.names.is_captured(name.id, scope):
        return None, []
    value, statement = bindings[0].value, bindings[0].statement
    reads = [
        read for read in model.names.reads(name.id, scope) if bindings[0] in model.dataflow.definitions(read)
    ]
    if value is None or reads != [name] or not isinstance(statement, ast.Assign):
        return None, []
    made = _made_of(value, model) if model.edit.is_relocatable(value) else None
    end = model.syntax.positions.line_end(statement.end_lineno or statement.lineno)
    # with a comment, the matrix is kept, and its diagonal is read
    has_comment = model.source.has_comment(model.source.span(statement)[0], end)
    deleted = None if has_comment else model.edit.delete_statement(statement)
    if made is None or deleted is None or len(statement.targets) != 1:
        return None, []
    return (made, [deleted]) if model.dataflow.unchanged_between(value, value, call) else (None, [])
