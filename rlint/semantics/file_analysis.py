"""Everything that is known of one file, put together."""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING

from rlint.models.value_type import Device, Type, TypeTag
from rlint.semantics.dataflow.def_use import DefUse
from rlint.semantics.dataflow.reaching_definitions import ReachingDefinitions
from rlint.semantics.effects.infer_effects import EffectInference
from rlint.semantics.frequency.loops import LoopIndex
from rlint.semantics.interprocedural.qualified_names import QualifiedNames
from rlint.semantics.nn.autograd import LocalAutograd, leaves_autograd_alone
from rlint.semantics.threads.locks import Locks
from rlint.semantics.types.infer import TypeInference
from rlint.semantics.types.likely.choices import with_likely
from rlint.semantics.types.likely.inference import LikelyInference
from rlint.semantics.types.likely.notes import Notes
from rlint.syntax.scopes import Binding, Scope
from rlint.syntax.syntax_index import FUNCTIONS, Function, SyntaxIndex

if TYPE_CHECKING:
    from pathlib import Path

    from rlint.parsing.grammar import Reading
    from rlint.semantics.interprocedural.project_index import ProjectIndex
    from rlint.semantics.interprocedural.summary import FunctionSummary


class FileAnalysis:
    """The layers over one file's tree; each asks those before it.

    `index` is None while the project's index is still being built from the files' summaries. `accelerator`
    says whether devices that the code leaves open are accelerators; None where nothing is declared. `path`
    leads to the files beside it, from which it may import `*`.
    """

    def __init__(
        self,
        text: str,
        reading: Reading,
        name: str,
        package: str,
        index: ProjectIndex | None = None,
        *,
        accelerator: bool | None = None,
        path: Path | None = None,
    ) -> None:
        self.name = name
        self.syntax = SyntaxIndex(text, reading, package)
        self.index = index
        self.names = QualifiedNames(self.syntax, name, path)
        self.definitions = ReachingDefinitions(self.syntax)
        self.autograd = LocalAutograd(self.syntax, self.names, self.definitions)
        self.types = TypeInference(self.syntax, self.names, self.definitions, index)
        if accelerator is not None:
            self.types.open_device = Device.CUDA if accelerator else Device.HOST
        self.effects = EffectInference(self.syntax, self.names, self.types, index)
        self.loops = LoopIndex(self.syntax, self.types)
        self.locks = Locks(self)
        self._def_use: dict[tuple[str, Scope], DefUse] = {}

    @property
    def notes(self) -> Notes:
        """Return the notes of what answers about this file rest on besides its code."""
        return self.types.notes

    def told(self, expression: ast.expr) -> Type:
        """Return the type of an expression that other files see: what is certain, and otherwise also what
        is likely from this file alone.
        """
        kind = self.types.type_of(expression)
        if not kind.short or (kind.caveat is not None and kind.caveat.choices):
            return kind.aged()
        return with_likely(kind.aged(), self._likely_types.type_of(expression).aged())

    @functools.cached_property
    def _likely_types(self) -> LikelyInference:
        return LikelyInference(self.types, None)

    def readers(self, binding: Binding, scope: Scope) -> list[ast.Name]:
        """Return the uses of a variable of `scope` that may read what a binding gave it, or read it
        whenever a function or class inside of the scope does, in source order; `x` of `x += y` is one of
        them.
        """
        known = self._def_use.get((binding.name, scope))
        if known is None:
            known = self._def_use[binding.name, scope] = DefUse(
                binding.name, scope, self.syntax, self.definitions
            )
        return known.of(binding)

    def definition(self, function: FunctionSummary) -> Function | None:
        """Return the def of a function of the project if it is in this file."""
        if function.module != self.name:
            return None
        return self._functions.get(function.qualname)

    @functools.cached_property
    def _functions(self) -> dict[str, Function]:
        """Return the functions of the file by their qualified names; the first of a name counts."""
        found: dict[str, Function] = {}
        for node, scope in self.syntax.scopes.items():
            if isinstance(node, FUNCTIONS):
                found.setdefault(scope.qualname, node)
        return found

    def linked(self, index: ProjectIndex) -> FileAnalysis:
        """Return the same tree with the project's knowledge behind it; the walk is not done again."""
        return self._with(index, self.types.linked(index))

    def likely(self, index: ProjectIndex, only: frozenset[str] | None = None) -> FileAnalysis:
        """Return the same tree, with what is likely where nothing is sure; `only` where that rests on
        some assumptions.
        """
        return self._with(index, LikelyInference(self.types, index, only))

    def _with(self, index: ProjectIndex, types: TypeInference) -> FileAnalysis:
        linked = object.__new__(FileAnalysis)
        linked.name, linked.syntax, linked.index, linked.definitions = (
            self.name,
            self.syntax,
            index,
            self.definitions,
        )
        linked.names, linked._def_use = self.names, self._def_use
        linked.autograd = self.autograd.linked(lambda path: leaves_autograd_alone(path, self.name, index))
        linked.types = types
        linked.effects = EffectInference(self.syntax, self.names, linked.types, index)
        linked.loops = self.loops.linked(linked.types)
        linked.locks = Locks(linked)
        return linked

    def is_library_call(self, call: ast.Call) -> bool:
        """Whether the tables know the effect of a call: it can only change what it is passed."""
        qualified = self.names.qualified(call.func)
        if qualified is not None:
            return self.index is None or not self.index.callables(qualified, self.name)
        if isinstance(call.func, ast.Attribute):
            kind = self.types.type_of(call.func.value)
            return bool(kind) and kind.tag not in (TypeTag.INSTANCE, TypeTag.MODULE, TypeTag.ENVIRONMENT)
        return False

    def release(self) -> None:
        """Take everything apart once nothing more is asked of the file. The layers know of one another, and
        the nodes of their order: left alone, they would wait for the collector of cycles, and that takes a
        twelfth of a run.
        """
        if not vars(self):
            return  # what is linked has the same tree
        self.syntax.release()
        vars(self.names).clear()
        vars(self.definitions).clear()
        self.let_go()

    def let_go(self) -> None:
        """Take the layers apart that follow from types; the tree is left to others."""
        for layer in (self.types, self.effects, self.loops, self.locks):
            vars(layer).clear()
        if "_likely_types" in vars(self):
            vars(self._likely_types).clear()
        vars(self).clear()
