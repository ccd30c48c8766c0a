"""Decorators of the project, and the class or function that each decorates."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint import models
from rlint.models.value_type import Type, TypeTag
from rlint.semantics.file_analysis import FileAnalysis
from rlint.syntax.syntax_index import FUNCTIONS

_CALLED = frozenset({TypeTag.UNKNOWN, TypeTag.FUNCTION})


def decorated(analysis: FileAnalysis) -> Iterator[tuple[ast.expr, str, Type]]:
    """Yield the decorators of a file that may be functions of its project, each with the access path of the
    function that is called with the decorated object, and the type of that object: `@register("sac")` calls
    the result of `register`.
    """
    syntax = analysis.syntax
    for definition in (*syntax.of_type(ast.ClassDef), *syntax.of_type(ast.FunctionDef)):
        assert isinstance(definition, (ast.ClassDef, *FUNCTIONS))
        for decorator in definition.decorator_list:
            named = decorator.func if isinstance(decorator, ast.Call) else decorator
            qualified = analysis.names.qualified(named) or ""
            if qualified.startswith("builtins.") or models.callable_fact(qualified) is not None:
                continue
            kind = analysis.types.type_of(decorator)
            if kind.of and kind.tag in _CALLED:
                tag = TypeTag.CLASS if isinstance(definition, ast.ClassDef) else TypeTag.FUNCTION
                path = f"{analysis.name}.{syntax.qualname(definition)}"
                yield decorator, kind.of, Type(tag, of=path)
