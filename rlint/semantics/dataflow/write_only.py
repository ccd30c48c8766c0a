"""Write-only containers: buffers and lists that a file appends to but never reads."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rlint.syntax.last_names import calls_named, last_name
from rlint.syntax.syntax_index import SyntaxIndex

if TYPE_CHECKING:
    from rlint.semantics.file_analysis import FileAnalysis

ADDS = frozenset(
    """add add_experience add_memory add_sample add_to_memory add_transition append insert memorize push
    push_transition put record remember store store_experience store_memory store_transition""".split()
)
_EMPTIES = frozenset({"clear", "reset"})
_FEEDS = ADDS | _EMPTIES
_LOOKS_UP = ("getattr", "hasattr", "attrgetter", "methodcaller")
_REGISTERS = "register_"
"""Begins the names of the methods that attach hooks."""
_A_HOOK = "register_forward_hook"


def only_adds_or_empties(uses: Iterable[ast.expr], syntax: SyntaxIndex) -> bool:
    """Whether every use of a value only adds to it or empties it."""
    return all(_is_addition(use, syntax) for use in uses if isinstance(getattr(use, "ctx", None), ast.Load))


def write_only_attributes(analysis: FileAnalysis) -> frozenset[str]:
    """Return the names of the attributes that a file reads only to add to their values."""
    syntax = analysis.syntax
    added_to = {
        method.value.attr
        for name in _FEEDS
        for method in syntax.written.attributes.get(name, ())
        if isinstance(method.value, ast.Attribute) and _is_addition(method.value, syntax)
    }
    every = syntax.written.attributes
    additions = (name for name in added_to if only_adds_or_empties(every[name], syntax))
    return frozenset(additions) - looked_up(syntax)


def looked_up(syntax: SyntaxIndex) -> set[str]:
    """Return the names of the attributes that a file looks up dynamically: `getattr(agent, "steps")`; if it
    computes a name, also its texts that are spelled like constants (`for name in ("LIMIT", "RATE")`), or that
    name a method which attaches a hook (`f"register_{kind}_hook"`).
    """
    found: set[str] = set()
    is_computed = False
    for call in calls_named(_LOOKS_UP, syntax):
        names = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
        found.update(part for name in names if isinstance(name, str) for part in name.split("."))
        is_computed |= len(call.args) > 1 and not isinstance(call.args[1], ast.Constant)
    if is_computed:
        texts = (node.value for node in syntax.of_type(ast.Constant) if isinstance(node.value, str))
        for text in texts:
            if text.isidentifier() and (text.isupper() or text.startswith(_REGISTERS)):
                found.add(_A_HOOK if text == _REGISTERS else text)
    return found


def _is_addition(use: ast.expr, syntax: SyntaxIndex) -> bool:
    """Whether a use is a statement `use.add(…)`."""
    call = syntax.method_call(use)
    return (
        call is not None and last_name(call.func) in _FEEDS and isinstance(syntax.parents.get(call), ast.Expr)
    )
