"""Mistakes in the class of a rule that would let it find nothing, in silence."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import Any

from rlint.base_rule import Rule
from rlint.findings import Heat
from rlint.syntax.libcst_kinds import fast_kinds, is_libcst


def mistake(rule: type[Rule]) -> str | None:
    """Return what is wrong with the declarations of a rule, and what to write instead; None if nothing is."""
    return next(_mistakes(rule), None)


def _mistakes(rule: type[Rule]) -> Iterator[str]:
    if rule.check is Rule.check:
        yield "it has no method `check`"
    visits: object = rule.visits
    if not isinstance(visits, tuple) or not visits:
        yield "`visits` must be a tuple of types of nodes, such as `(ast.Call,)`; nothing else is looked at"
        return
    for kind in visits:
        wrong = _wrong_kind(kind)
        if wrong:
            yield wrong
    if len({is_libcst(kind) for kind in visits}) > 1:
        yield "`visits` mixes types of `ast` with types of LibCST: name those of one of them"
    fast = {each for kind in visits for each in (fast_kinds(kind) if is_libcst(kind) else [kind])}
    yield from _wrong_names("callees", rule.callees, "calls", is_visited=ast.Call in fast)
    yield from _wrong_names("attributes", rule.attributes, "attributes", is_visited=ast.Attribute in fast)
    for what, texts in _declared(rule, "triggers", "claims"):
        wrong = _wrong_texts(texts)
        if wrong or not isinstance(texts, tuple):
            yield f"`{what}` must be a tuple of texts, such as `({wrong!r},)`, not {_shown(texts)}"
    for what, heat in _declared(rule, "heat"):
        if not isinstance(heat, Heat):
            yield f"`{what}` must be one of `Heat`, such as `Heat.HOT`, not {heat!r}"


def _declared(rule: type[Rule], *names: str) -> Iterator[tuple[str, Any]]:
    """Yield the attributes that a rule declares, of whatever type."""
    for name in names:
        yield name, getattr(rule, name)


def _wrong_kind(kind: Any) -> str | None:
    """Return what is wrong with one of the types in `visits`."""
    if is_libcst(kind):
        if fast_kinds(kind):
            return None
        return (
            f"`visits` names `{kind.__name__}` of LibCST, for which the fast tree has no node: "
            "visit the expression or statement that it is part of"
        )
    if not (isinstance(kind, type) and issubclass(kind, ast.AST)):
        return f"`visits` must hold types of nodes of `ast` or of LibCST, not {kind!r}"
    if kind is ast.AST or (kind.__base__ is ast.AST and kind.__subclasses__()):
        return (
            f"`visits` names `ast.{kind.__name__}`, and no node is of exactly this type: "
            "name the types that are derived from it"
        )
    return None


def _wrong_names(what: str, names: Any, of: str, *, is_visited: bool) -> Iterator[str]:
    """Yield what is wrong with `callees` or `attributes`."""
    if not names and isinstance(names, Collection):
        return
    wrong = _wrong_texts(names)
    if wrong:
        yield f"`{what}` must be a set of names, such as `frozenset({{{wrong!r}}})`, not {_shown(names)}"
        return
    if not isinstance(names, (set, frozenset)):
        yield f"`{what}` must be a set of names, such as `frozenset({set(names)!r})`, not {_shown(names)}"
    for name in sorted(names):
        if not name.isidentifier():
            last = name.rpartition(".")[2]
            hint = f": only the last part counts, write `{last}`" if last.isidentifier() else ""
            yield f"`{what}` holds `{name}`, which no name is{hint} (`last_names` takes dotted names)"
    if not is_visited:
        yield f"`{what}` is for rules that visit {of}, and `visits` names none"


def _wrong_texts(value: Any) -> str | None:
    """Return a text that stands where a collection of texts should, or an item that is none; None if all
    is well.
    """
    if isinstance(value, str):
        return value
    if not isinstance(value, Collection):
        return str(value)
    return next((str(each) for each in value if not isinstance(each, str) or not each), None)


def _shown(value: object) -> str:
    return f"the text {value!r}" if isinstance(value, str) else f"{value!r}"
