"""Calls that read or set the variables around them by names known only at run time."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from rlint.syntax.syntax_index import SyntaxIndex
from rlint.syntax.walk import place_in_order

OF_THE_FUNCTION: Mapping[str, int] = {"locals": 9, "vars": 1, "exec": 2, "eval": 2}
"""Functions that see the variables of their caller, unless they are passed at least this many arguments: an
object to inspect, or the namespaces to use.
"""


def lookups(syntax: SyntaxIndex, functions: Mapping[str, int] = OF_THE_FUNCTION) -> Iterator[ast.Call]:
    """Yield the calls of such functions, in source order."""
    named = [name for function in functions for name in syntax.variables.named(function)]
    for name in sorted(named, key=place_in_order):
        call = syntax.parents.get(name)
        if isinstance(call, ast.Call) and call.func is name and len(call.args) < functions[name.id]:
            yield call
