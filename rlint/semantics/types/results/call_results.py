"""Functions that return what they have just called for: `return gym.make(name)`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.syntax_index import Function


def returns_call_results(
    function: Function, returned: Iterable[ast.expr], definitions: Callable[[ast.Name], list[Binding]]
) -> bool:
    """Whether each returned value is the result of a call in the function itself, possibly held by a variable
    in between. What an attribute or a variable of the module keeps is not.
    """
    values = [*returned]
    return bool(values) and all(_is_called(value, function, definitions) for value in values)


def _is_called(value: ast.expr, function: Function, definitions: Callable[[ast.Name], list[Binding]]) -> bool:
    if not isinstance(value, ast.Name):
        return isinstance(value, ast.Call)
    bindings = definitions(value)
    return bool(bindings) and all(
        binding.kind is BindingKind.ASSIGN
        and isinstance(binding.value, ast.Call)
        and not binding.path
        and function.lineno <= binding.value.lineno <= (function.end_lineno or function.lineno)
        for binding in bindings
    )
