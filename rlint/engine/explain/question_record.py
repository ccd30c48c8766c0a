"""A semantic model that records the queries of a rule, and their answers."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from rlint.frozen import frozen
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.whole_program import WholeProgram
from rlint.semantics.model import SemanticModel

PARTS = (
    "program",
    "names",
    "types",
    "dataflow",
    "effects",
    "frequency",
    "usage",
    "nn",
    "gradients",
    "threads",
)
"""The parts of a model whose answers are recorded: those about meaning, not about source text."""


@frozen
class Question:
    """A query of a part, its nodes, and the answer; for the part "", a reason that a rule gave itself."""

    part: str
    method: str
    nodes: tuple[ast.AST, ...]
    answer: Any


class RecordingModel(SemanticModel):
    """The model of a file, with a record of the queries since it was last cleared."""

    def __init__(self, path: str, analysis: FileAnalysis, program: WholeProgram) -> None:
        super().__init__(path, analysis, program)
        self.queries: list[Question] = []
        self.silent = self._record_reason
        self._looked_for: dict[tuple[object, object], object] = {}
        parts = {name: getattr(self, name) for name in PARTS}
        for name, part in parts.items():
            vars(self)[name] = _RecordedPart(name, part, self.queries)

    def clear(self) -> None:
        """Clear the record, for the next rule or node."""
        self.queries.clear()
        self._looked_for.clear()

    def _record_reason(self, why: str, *about: ast.AST | None) -> None:
        """Record why a rule returns without a finding."""
        self.queries.append(Question("", why, tuple(node for node in about if node is not None), None))

    def once(self, find: Callable[[Any, SemanticModel], Any], about: Any) -> Any:
        """Compute the result again for each rule and node, so that the queries on the way are recorded."""
        key = find, about
        if key not in self._looked_for:
            self._looked_for[key] = find(about, self)
        return self._looked_for[key]


class _RecordedPart:
    """Answers like a part of a model, and records the answers of its methods."""

    def __init__(self, name: str, part: Any, queries: list[Question]) -> None:
        self._name, self._part, self._in_progress = name, part, queries

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._part, name)
        if not callable(value):
            return value

        def ask(*given: Any, **named: Any) -> Any:
            answer = value(*given, **named)
            nodes = tuple(each for each in (*given, *named.values()) if isinstance(each, ast.AST))
            self._in_progress.append(Question(self._name, name, nodes, answer))
            return answer

        vars(self)[name] = ask
        return ask
