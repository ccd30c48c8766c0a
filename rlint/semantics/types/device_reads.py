"""Functions that return the numbers of a tensor: `def to_np(x): return x.detach().cpu().numpy()`, or the same
as a lambda.
"""

from __future__ import annotations

import ast

from rlint import models
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.models.vocabulary import COPIES_TENSOR, TESTS_FINITE
from rlint.syntax.syntax_index import Function, SyntaxIndex

_MOST_STATEMENTS = 8
_READS = models.having(Trait.TO_HOST, TypeTag.TENSOR) | {"cpu"}
_OF_TENSORS = models.giving(TypeTag.TENSOR, TypeTag.TENSOR) | _READS


def parameters_read(function: Function, syntax: SyntaxIndex) -> tuple[str, ...]:
    """Return the parameters whose numbers a small function copies to the host and returns, if its name
    suggests that.
    """
    if function.name not in COPIES_TENSOR or len(function.body) > _MOST_STATEMENTS:
        return ()
    arguments = function.args
    names = {parameter.arg for parameter in (*arguments.posonlyargs, *arguments.args)}
    returned = [each.value for each in syntax.written.returns.get(function, ()) if each.value is not None]
    found = {name for value in returned if (name := _read(value)) in names}
    variables = {value.id for value in map(_converted, returned) if isinstance(value, ast.Name)}
    found |= _replaced(function, syntax) & names & variables
    return tuple(sorted(found))


def parameters_tested(function: Function) -> tuple[str, ...]:
    """Return the parameters of which a function only tells whether they are finite: `def valid(x): return
    not torch.isnan(x).any()`. A condition on the result reads the tensor.
    """
    match function.body:
        case [ast.Return(value=ast.expr() as told)] | [
            ast.Expr(value=ast.Constant()),
            ast.Return(value=ast.expr() as told),
        ]:
            pass
        case _:
            return ()
    arguments = function.args
    names = {parameter.arg for parameter in (*arguments.posonlyargs, *arguments.args)}
    return tuple(sorted({name for part in ast.walk(told) if (name := _tested_by(part)) in names}))


def _tested_by(part: ast.AST) -> str | None:
    """Return `x` of `torch.isnan(x)` or `x.isnan()`."""
    match part:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr=query), args=[ast.Name(id=name)]):
            return name if query in TESTS_FINITE else None
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=query), args=[]):
            return name if query in TESTS_FINITE else None
    return None


def _converted(value: ast.expr) -> ast.expr:
    """Return `x` of `np.asarray(x)`, which is `x` itself if that is an array."""
    match value:
        case ast.Call(func=ast.Attribute(attr="asarray" | "array"), args=[given, *_]):
            return given
    return value


def _replaced(function: Function, syntax: SyntaxIndex) -> set[str]:
    """Return the variables that a function replaces by their numbers: `if torch.is_tensor(x): x =
    x.cpu().numpy()`.
    """
    return {
        target.id
        for assignment in syntax.of_type(ast.Assign)
        if syntax.function(assignment) is function and len(assignment.targets) == 1
        for target in assignment.targets
        if isinstance(target, ast.Name) and _read(assignment.value) == target.id
    }


def parameter_read_by_lambda(name: str, function: ast.Lambda) -> str | None:
    """Return the parameter whose numbers a lambda copies to the host, if the name of its variable suggests
    that.
    """
    if name not in COPIES_TENSOR:
        return None
    read = _read(function.body)
    arguments = function.args
    is_own = any(parameter.arg == read for parameter in (*arguments.posonlyargs, *arguments.args))
    return read if is_own else None


def _read(value: ast.expr) -> str | None:
    """Return the parameter `x` that `x.detach().cpu().numpy()` reads."""
    called: set[str] = set()
    while True:
        match value:
            case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in _OF_TENSORS:
                called.add(method)
                value = owner
            case ast.Attribute(value=owner, attr="data"):
                value = owner
            case ast.Name(id=name):
                return name if called & _READS else None
            case _:
                return None
