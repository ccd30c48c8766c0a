"""The semantic model: all that a rule can query about code. Rules query it; no rule recomputes the
answers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from typing import TypeVar

from rlint.edit.edits import Edits
from rlint.edit.importer import Importer
from rlint.edit.source_text import SourceText
from rlint.findings import Position
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.summary import ModuleSummary
from rlint.semantics.interprocedural.whole_program import WholeProgram
from rlint.semantics.model_branches import BranchQueries
from rlint.semantics.model_dataflow import DataflowQueries
from rlint.semantics.model_effects import EffectQueries
from rlint.semantics.model_frequency import FrequencyQueries
from rlint.semantics.model_gradients import GradientQueries
from rlint.semantics.model_names import NameQueries
from rlint.semantics.model_nn import NetworkQueries
from rlint.semantics.model_program import ProgramQueries
from rlint.semantics.model_sizes import SizeQueries
from rlint.semantics.model_symbols import FileSymbols
from rlint.semantics.model_threads import ThreadQueries
from rlint.semantics.model_types import TypeQueries
from rlint.semantics.model_usage import UsageQueries
from rlint.semantics.types.likely.notes import Noted
from rlint.syntax.syntax_index import FUNCTIONS, Function

_Key = TypeVar("_Key", bound=Hashable)
_Found = TypeVar("_Found")


def _ignore_reason(why: str, *about: ast.AST | None) -> None:
    """Do nothing."""


class SemanticModel:
    """One file of a project, as rules see it.

    Its own methods locate nodes. Everything else is a query to a part: the meaning of names (`names`) and
    their uses in the program (`program`), values (`types`), how many items they have (`sizes`), their flow
    (`dataflow`), what code does (`effects`), how often (`frequency`), whether training uses it (`usage`) and
    takes its branches (`branches`), networks (`nn`), their gradients (`gradients`), threads and processes
    (`threads`); `source` reads the text, and `edit` and `importer` build fixes. `path` is the displayed path,
    `syntax` its tree with parents and scopes.
    """

    def __init__(self, path: str, analysis: FileAnalysis, program: WholeProgram) -> None:
        self.path = path
        self.analysis = analysis
        self.syntax = analysis.syntax
        self.index = program.index
        self.symbols = FileSymbols(analysis, program.index)
        self.program = ProgramQueries(program, self.symbols)
        self.names = NameQueries(analysis)
        self.types = TypeQueries(analysis, program, self.names, self.symbols)
        self.dataflow = DataflowQueries(analysis, program, self.types)
        self.effects = EffectQueries(analysis, program, self.names, self.types, self.dataflow, self.symbols)
        self.frequency = FrequencyQueries(analysis, program, self.names, self.symbols, self.dataflow)
        self.usage = UsageQueries(self, program)
        self.branches = BranchQueries(self, program)
        self.sizes = SizeQueries(self, program)
        self.silent: Callable[..., None] = _ignore_reason
        """Records why a rule reports nothing, just before it returns: `model.silent("{} is short", node)`.
        Each `{}` is replaced by the source of a node. Only `rlint explain` records it.
        """
        self._whole_program = program
        self._found: dict[tuple[Callable[..., object], object], tuple[object, Noted]] = {}

    @cached_property
    def nn(self) -> NetworkQueries:
        """Return the queries about networks: their layers, and how they are trained."""
        return NetworkQueries(
            self.analysis,
            self._whole_program,
            self.names,
            self.symbols,
            self.types,
            self.dataflow,
            self.frequency,
        )

    @cached_property
    def gradients(self) -> GradientQueries:
        """Return the queries about autograd: where it is enabled, and where gradients flow."""
        return GradientQueries(self.analysis, self._whole_program, self.symbols, self.types, self.nn)

    @cached_property
    def threads(self) -> ThreadQueries:
        """Return the queries about threads: which worker runs a place, locks, queues."""
        return ThreadQueries(self.analysis, self._whole_program, self.symbols, self.dataflow)

    @cached_property
    def source(self) -> SourceText:
        """Return the text of the file, by nodes."""
        return SourceText(self.syntax)

    @cached_property
    def edit(self) -> Edits:
        """Builds edits of expressions and statements."""
        return Edits(self.source)

    @cached_property
    def importer(self) -> Importer:
        """Builds edits at module level: imports, constants, unused names."""
        return Importer(self.edit)

    @property
    def module(self) -> ModuleSummary:
        """Return the summary of this file."""
        return self.symbols.module

    def parent(self, node: ast.AST) -> ast.AST | None:
        """Return the parent of a node."""
        return self.syntax.parents.get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the node's parent, its parent's parent, … up to the module."""
        return self.syntax.ancestors(node)

    def function(self, node: ast.AST) -> Function | None:
        """Return the innermost def that runs a node (lambdas and comprehensions belong to it)."""
        return self.syntax.function(node)

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        """Return the class whose method or body contains a node."""
        return self.syntax.class_of(node)

    def method(self, cls: ast.ClassDef, name: str) -> Function | None:
        """Return a method that a class of this file defines itself."""
        for child in cls.body:
            if isinstance(child, FUNCTIONS) and child.name == name:
                return child
        return None

    def span_of(self, node: ast.AST) -> tuple[Position, Position]:
        """Return the span to underline: the node, or the header of a compound statement."""
        start, end = self.source.header_span(node)
        return self.syntax.positions.position(start), self.syntax.positions.position(end)

    def logical_lines(self, node: ast.AST) -> tuple[int, int]:
        """Return the first and last line of the statement around a node, or of its header if it is
        compound.
        """
        statement: ast.AST = node
        while not isinstance(statement, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            statement = self.syntax.parents[statement]
        start, end = self.span_of(statement)
        return start.line, end.line

    def once(self, find: Callable[[_Key, SemanticModel], _Found], about: _Key) -> _Found:
        """Return the result of a function for a part of this file, computed once. Rules keep no state: a rule
        that needs a fact about a whole loop, class or lock for each node in it calls this. If the answer
        depends on a doubtful type, or misses a likely one, that is recorded on each call.
        """
        known: dict[tuple[Callable[..., object], object], tuple[_Found, Noted]]
        known = self._found  # type: ignore[assignment]
        return self.analysis.notes.kept(known, (find, about), lambda: find(about, self))

    def release(self) -> None:
        """Release the file after all rules have run."""
        analysis = self.analysis
        vars(self).clear()
        analysis.release()
