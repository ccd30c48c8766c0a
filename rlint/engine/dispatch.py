"""Dispatch of nodes to rules: most rules visit calls of few names, and most calls have others."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from typing import Any

from rlint.base_rule import Rule
from rlint.edit.deferred_edit import CannotWriteError
from rlint.findings import Heat
from rlint.parsing.libcst_kinds import fast_kinds, is_libcst, may_be
from rlint.semantics.model import SemanticModel
from rlint.semantics.model_libcst import LibcstModel
from rlint.syntax.walk import place_in_order


class NodeDispatch:
    """The nodes of one file, by what rules visit."""

    def __init__(self, model: SemanticModel) -> None:
        self._model = model
        self._syntax = model.syntax
        self._warm_calls: dict[str, list[ast.AST]] = {}
        self._libcst: LibcstModel | None = None

    def of(self, rule: Rule, *, cold: bool = False) -> Iterable[Any]:
        """Return all nodes that a rule visits; with `cold`, also those that are too cold for it."""
        cold = cold or rule.heat is Heat.COLD
        if _visits_libcst(rule.visits):
            return self._of_libcst(rule, cold=cold)
        return self._candidates(rule, rule.visits, cold=cold)

    def model_for(self, rule: Rule) -> SemanticModel | LibcstModel:
        """Return the semantic model for the kind of nodes that a rule visits."""
        if not _visits_libcst(rule.visits):
            return self._model
        self._libcst = self._libcst or LibcstModel(self._model)
        return self._libcst

    def _of_libcst(self, rule: Rule, *, cold: bool) -> Iterator[Any]:
        """Yield LibCST nodes for the candidates, each of which is parsed with its statement."""
        wanted = dict.fromkeys(fast for kind in rule.visits for fast in fast_kinds(kind))
        candidates = self._candidates(rule, tuple(wanted), cold=cold)
        for node in sorted(candidates, key=place_in_order) if len(wanted) > 1 else candidates:
            if any(may_be(node, kind) for kind in rule.visits):
                try:
                    found = self._model.edit.libcst.of(node)
                except CannotWriteError:  # LibCST parses the code differently
                    continue
                if isinstance(found, rule.visits):
                    yield found

    def _candidates(self, rule: Rule, kinds: Collection[type[ast.AST]], *, cold: bool) -> list[ast.AST]:
        found: list[ast.AST] = []
        for kind in kinds:
            if kind is ast.Call and rule.callees:
                found += self._calls_of(rule.callees, is_cold=cold)
            elif kind is ast.Attribute and rule.attributes:
                found += self._attributes_of(rule.attributes, is_cold=cold)
            elif cold:
                found += self._syntax.of_type(kind)
            else:
                found += self._model.frequency.warm_nodes(kind)
        buried = self._syntax.buried
        return [node for node in found if node not in buried] if buried else found

    def _calls_of(self, names: Collection[str], *, is_cold: bool) -> list[ast.AST]:
        """Return the calls of one of several names, in source order and without duplicates."""
        every = self._model.names.calls_by_name
        called = every.keys() & names
        calls: list[ast.AST] = []
        for name in called:
            calls += every[name] if is_cold else self._warm(name)
        return sorted(set(calls), key=place_in_order) if len(called) > 1 else calls

    def _warm(self, name: str) -> list[ast.AST]:
        known = self._warm_calls.get(name)
        if known is None:
            may_be_warm = self._model.frequency.may_be_warm
            calls = self._model.names.calls_by_name[name]
            known = self._warm_calls[name] = [call for call in calls if may_be_warm(call)]
        return known

    def _attributes_of(self, names: Collection[str], *, is_cold: bool) -> list[ast.AST]:
        """Return the attributes of several names, in source order."""
        found: list[ast.AST] = [use for name in names for use in self._model.names.attribute_uses(name)]
        if not is_cold:
            found = [use for use in found if self._model.frequency.may_be_warm(use)]
        return sorted(found, key=place_in_order)


@cache
def _visits_libcst(kinds: tuple[type, ...]) -> bool:
    """Whether a rule visits LibCST nodes: the same for all files."""
    return any(map(is_libcst, kinds))
