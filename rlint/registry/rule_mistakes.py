"""Mistakes in the class of a rule because of which it would silently find nothing."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import Any

from rlint.base_rule import Rule
from rlint.errors import nearest
from rlint.findings import Heat
from rlint.parsing.libcst_kinds import fast_kinds, is_libcst
from rlint.regex import regex

_CLAIMS = "time, cpu, mem, alloc, sync and exp"
_CLAIM = regex(r"(time|cpu|mem|alloc|sync|exp)(:[a-z]+)?")
_SELF_NODE_MODEL = 3
_VARIABLE_ARGUMENTS = 0x04  # inspect.CO_VARARGS, without importing inspect


def mistake(rule: type[Rule]) -> str | None:
    """Return the mistake in the declarations of a rule, and the correction; None if there is none."""
    return next(_mistakes(rule), None)


def _mistakes(rule: type[Rule]) -> Iterator[str]:
    yield from _misspelled(rule)
    if rule.check is Rule.check:
        yield "it has no method `check`"
    elif not _takes_node_and_model(rule.check):
        yield "`check` must take `(self, node, model)`"
    visits: object = rule.visits
    if not isinstance(visits, tuple) or not visits:
        yield "`visits` must be a tuple of node types, such as `(ast.Call,)`"
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
    for claim in rule.claims:
        if not _CLAIM.fullmatch(claim):
            yield f"`claims` contains `{claim}`, but a claim is one of {_CLAIMS}, such as `time:cuda`"
    for what, flag in _declared(rule, "opt_in", "scales_with_network"):
        if not isinstance(flag, bool):
            yield f"`{what}` must be True or False, not {flag!r}"
    for what, heat in _declared(rule, "heat"):
        if not isinstance(heat, Heat):
            yield f"`{what}` must be one of `Heat`, such as `Heat.HOT`, not {heat!r}"


def _misspelled(rule: type[Rule]) -> Iterator[str]:
    """Yield the attributes of the class whose names are similar to declarations."""
    known = [name for name in (*vars(Rule), *Rule.__annotations__) if not name.startswith("_")]
    for name, value in vars(rule).items():
        plain = not (name.startswith("_") or name in known or callable(value))
        if plain and (meant := nearest(name, known)) is not None:
            yield f"`{name}` is not a declaration of a rule; did you mean `{meant}`?"


def _takes_node_and_model(check: Any) -> bool:
    """Whether a method can be called with a node and a model; True for methods not written in Python."""
    code = getattr(check, "__code__", None)
    if code is None:
        return True
    required = code.co_argcount - len(check.__defaults__ or ())
    takes_more = bool(code.co_flags & _VARIABLE_ARGUMENTS)
    return required <= _SELF_NODE_MODEL and (takes_more or code.co_argcount >= _SELF_NODE_MODEL)


def _declared(rule: type[Rule], *names: str) -> Iterator[tuple[str, Any]]:
    """Yield the attributes that a rule declares, of any type."""
    for name in names:
        yield name, getattr(rule, name)


def _wrong_kind(kind: Any) -> str | None:
    """Return the problem with one of the types in `visits`."""
    if is_libcst(kind):
        if fast_kinds(kind):
            return None
        return (
            f"`visits` names `{kind.__name__}` of LibCST, which has no counterpart in `ast`: "
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
        last = {name.rpartition(".")[2] for name in names}
        yield f"`{what}` must be a set of names, such as `frozenset({last!r})`, not {_shown(names)}"
    for name in sorted(names):
        if not name.isidentifier():
            last = name.rpartition(".")[2]
            if last.isidentifier():
                yield f"`{what}` contains the dotted name `{name}`: write `{last}`, or `last_names({name!r})`"
            else:
                yield f"`{what}` contains `{name}`, which is not a name"
    if not is_visited:
        yield f"`{what}` is for rules that visit {of}, and `visits` names none"


def _wrong_texts(value: Any) -> str | None:
    """Return a string in place of a collection of strings, or an item that is not a string; None if there is
    no such mistake.
    """
    if isinstance(value, str):
        return value
    if not isinstance(value, Collection):
        return str(value)
    return next((str(each) for each in value if not isinstance(each, str) or not each), None)


def _shown(value: object) -> str:
    return f"the text {value!r}" if isinstance(value, str) else f"{value!r}"
