"""What a rule can ask about the code it looks at. Rules ask; none rebuilds the answers."""

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
from rlint.semantics.model_dataflow import DataflowQueries
from rlint.semantics.model_effects import EffectQueries
from rlint.semantics.model_frequency import FrequencyQueries
from rlint.semantics.model_gradients import GradientQueries
from rlint.semantics.model_names import NameQueries
from rlint.semantics.model_nn import NetworkQueries
from rlint.semantics.model_program import ProgramQueries
from rlint.semantics.model_symbols import FileSymbols
from rlint.semantics.model_threads import ThreadQueries
from rlint.semantics.model_types import TypeQueries
from rlint.semantics.types.likely.notes import Noted
from rlint.syntax.syntax_index import FUNCTIONS, Function

_Key = TypeVar("_Key", bound=Hashable)
_Found = TypeVar("_Found")


def _nobody_listens(why: str, *about: ast.AST | None) -> None:
    """Do nothing."""


class SemanticModel:
    """One file of a project, as rules see it.

    Its own methods say where a node stands. Everything else is asked of a part: what a name means (`names`)
    and where the program uses it (`program`), what a value is (`types`), how it flows (`dataflow`), what code
    does (`effects`) and how often (`frequency`), networks (`nn`), their gradients (`gradients`), threads and
    processes (`threads`); the text is read by `source`, and fixes are built with `edit` and `importer`.
    `path` is the file's name as shown to the user, `syntax` its tree with parents and scopes.
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
        self.effects = EffectQueries(analysis, program, self.names, self.types, self.dataflow)
        self.frequency = FrequencyQueries(analysis, program, self.names, self.symbols, self.dataflow)
        self.silent: Callable[..., None] = _nobody_listens
        """Says why a rule reports nothing, right before it gives up: `model.silent("{} is short", node)`.
        Each `{}` stands for the code of a node. Only `rlint explain` listens.
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
        """Return the queries about autograd: where it is on, and where gradients flow."""
        return GradientQueries(self.analysis, self._whole_program, self.symbols, self.types, self.nn)

    @cached_property
    def threads(self) -> ThreadQueries:
        """Return the queries about threads: who runs a place, locks, queues."""
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
        """Builds edits at module level: imports, constants, names that are free."""
        return Importer(self.edit)

    @property
    def module(self) -> ModuleSummary:
        """Return the summary of this file."""
        return self.symbols.module

    def parent(self, node: ast.AST) -> ast.AST | None:
        """Return the node that holds this one."""
        return self.syntax.parents.get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the node's parent, its parent's parent, … up to the module."""
        return self.syntax.ancestors(node)

    def function(self, node: ast.AST) -> Function | None:
        """Return the innermost def that runs a node (lambdas and comprehensions belong to it)."""
        return self.syntax.function(node)

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        """Return the class whose method or body holds a node."""
        return self.syntax.class_of(node)

    def method(self, cls: ast.ClassDef, name: str) -> Function | None:
        """Return the method that a class of this file defines itself."""
        for child in cls.body:
            if isinstance(child, FUNCTIONS) and child.name == name:
                return child
        return None

    def span_of(self, node: ast.AST) -> tuple[Position, Position]:
        """Return the place to underline: the node, or the header of a compound statement."""
        start, end = self.source.header_span(node)
        return self.syntax.positions.position(start), self.syntax.positions.position(end)

    def logical_lines(self, node: ast.AST) -> tuple[int, int]:
        """Return first and last line of the statement around a node, or of its header if it is compound."""
        statement: ast.AST = node
        while not isinstance(statement, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            statement = self.syntax.parents[statement]
        start, end = self.span_of(statement)
        return start.line, end.line

    def once(self, find: Callable[[_Key, SemanticModel], _Found], about: _Key) -> _Found:
        """Return what a function finds out about a part of this file, computed once. Rules keep no state:
        a rule that needs a fact about a whole loop, class or lock for each node in it calls this. Where
        the answer rests on a type that is doubtful, or short of a likelier one, that is noted each time.
        """
        known: dict[tuple[Callable[..., object], object], tuple[_Found, Noted]]
        known = self._found  # type: ignore[assignment]
        return self.analysis.notes.kept(known, (find, about), lambda: find(about, self))

    def release(self) -> None:
        """Let go of the file once all rules have looked at it."""
        analysis = self.analysis
        vars(self).clear()
        analysis.release()
