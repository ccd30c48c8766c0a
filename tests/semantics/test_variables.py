"""Places that name variables, and uses that read a binding."""

from __future__ import annotations

import ast

from project_builder import model_of
from rlint.semantics.dataflow.def_use import DefUse
from rlint.semantics.dataflow.reaching_definitions import MAX_DEFINITIONS
from rlint.semantics.model import SemanticModel


def lines(uses: list[ast.Name]) -> list[int]:
    """The lines that contain names."""
    return [use.lineno for use in uses]


def scope_of(model: SemanticModel, function: str) -> object:
    """The scope of a function of the file."""
    return next(scope for scope in model.syntax.scopes.values() if scope.qualname == function)


def test_variables_of_one_name_are_distinguished() -> None:
    """Functions may all call something `x`."""
    model = model_of("x = 1\ndef f(x):\n    return [x for y in x]\ndef g():\n    return x, len(y)\n")
    variables, root = model.syntax.variables, model.syntax.scopes[model.syntax.module]
    assert lines(variables.named("x")) == [1, 3, 3, 5]
    assert lines(variables.uses("x", root)) == [1, 5]
    assert lines(variables.uses("x", scope_of(model, "f"))) == [3, 3]  # type: ignore[arg-type]
    assert lines(variables.uses("len", None)) == [5]
    assert variables.uses("nothing", root) == []


READ = """def f(c, x):
    first(x)
    x = 1
    second(x)
    if c:
        x += 2
    third(x)
    return lambda: x
"""


def test_readers_of_each_binding() -> None:
    """A use reads the bindings that reach it; a nested function may read any."""
    model = model_of(READ)
    scope = model.syntax.scopes[model.syntax.of_type(ast.FunctionDef)[0]]
    readers = DefUse("x", scope, model.syntax, model.analysis.definitions)
    assert [lines(readers.of(binding)) for binding in scope.bindings["x"]] == [[2, 8], [4, 6, 7, 8], [7, 8]]


def test_readers_of_too_many_values() -> None:
    """A name with an unrealistic number of reaching bindings may have any value of its variable."""
    text = (
        "def f(c):\n"
        + "    if c: x = 1\n" * (MAX_DEFINITIONS + 1)
        + "    first(x)\n    x = 2\n    second(x)\n"
    )
    model = model_of(text)
    scope = model.syntax.scopes[model.syntax.of_type(ast.FunctionDef)[0]]
    readers = DefUse("x", scope, model.syntax, model.analysis.definitions)
    last = MAX_DEFINITIONS + 3
    assert lines(readers.of(scope.bindings["x"][0])) == [last]
    assert lines(readers.of(scope.bindings["x"][-1])) == [last, last + 2]
