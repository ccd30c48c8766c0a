"""All analyses of one file, combined."""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING

from rlint.models.value_type import Device, Type, TypeTag
from rlint.semantics.dataflow.def_use import DefUse
from rlint.semantics.dataflow.reaching_definitions import ReachingDefinitions
from rlint.semantics.effects.infer_effects import EffectInference
from rlint.semantics.frequency.branches.branch_tests import BranchTests
from rlint.semantics.frequency.loops import LoopIndex
from rlint.semantics.interprocedural.qualified_names import QualifiedNames
from rlint.semantics.nn.autograd import LocalAutograd, leaves_autograd_alone
from rlint.semantics.nn.weight_reads import WeightReads
from rlint.semantics.threads.locks import Locks
from rlint.semantics.types.infer import TypeInference
from rlint.semantics.types.likely.choices import with_likely
from rlint.semantics.types.likely.inference import LikelyInference
from rlint.semantics.types.likely.notes import Notes
from rlint.syntax.scopes import Binding, Scope
from rlint.syntax.syntax_index import Function, SyntaxIndex

if TYPE_CHECKING:
    from pathlib import Path

    from rlint.parsing.grammar import Reading
    from rlint.semantics.interprocedural.project_index import ProjectIndex
    from rlint.semantics.interprocedural.summary import FunctionSummary


class FileAnalysis:
    """The analyses over one file's tree; each may query those before it.

    `index` is None while the project's index is still being built from the files' summaries. `accelerator`
    says whether devices that the code does not determine are accelerators; None if it is not declared. `path`
    locates the files beside it, which `import *` may refer to.
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
        self.weight_reads = WeightReads(self.syntax)
        self.types = TypeInference(self.syntax, self.names, self.definitions, index)
        if accelerator is not None:
            self.types.open_device = Device.CUDA if accelerator else Device.HOST
        self.effects = EffectInference(self.syntax, self.names, self.types, index)
        self.loops = LoopIndex(self.syntax, self.types)
        self.locks = Locks(self)
        self.branch_tests = BranchTests(self.syntax)
        self._def_use: dict[tuple[str, Scope], DefUse] = {}

    @property
    def notes(self) -> Notes:
        """Return what the answers about this file depend on besides its code."""
        return self.types.notes

    def exported_type(self, expression: ast.expr) -> Type:
        """Return the type of an expression as other files see it: the sure type, or else the likely one
        inferred from this file alone.
        """
        kind = self.types.type_of(expression)
        if not kind.short or (kind.caveat is not None and kind.caveat.choices):
            return kind.aged()
        return with_likely(kind.aged(), self._likely_types.type_of(expression).aged())

    @functools.cached_property
    def _likely_types(self) -> LikelyInference:
        return LikelyInference(self.types, None)

    def readers(self, binding: Binding, scope: Scope) -> list[ast.Name]:
        """Return the uses of a variable of `scope` that may read a binding, or that read it in a nested
        function or class, in source order; `x` in `x += y` is one of them.
        """
        known = self._def_use.get((binding.name, scope))
        if known is None:
            known = self._def_use[binding.name, scope] = DefUse(
                binding.name, scope, self.syntax, self.definitions
            )
        return known.of(binding)

    def reads_of(self, target: ast.Name, scope: Scope) -> list[ast.Name]:
        """Return the nodes that may read the value which a name binds to a variable of `scope`; `x` in
        `x += y` is one of them.
        """
        bound = [each for each in scope.bindings.get(target.id, ()) if each.node is target]
        return [use for each in bound for use in self.readers(each, scope)]

    def definition(self, function: FunctionSummary) -> Function | None:
        """Return the def of a function of the project if it is in this file."""
        if function.module != self.name:
            return None
        return self.syntax.functions.get(function.qualname)

    def linked(self, index: ProjectIndex) -> FileAnalysis:
        """Return an analysis of the same tree with the project's knowledge; the tree is not walked again."""
        return self._with(index, self.types.linked(index))

    def likely(self, index: ProjectIndex, only: frozenset[str] | None = None) -> FileAnalysis:
        """Return an analysis of the same tree with likely answers where nothing is sure; `only` limits it to
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
        linked.weight_reads, linked.branch_tests = self.weight_reads, self.branch_tests
        linked.autograd = self.autograd.linked(lambda path: leaves_autograd_alone(path, self.name, index))
        linked.types = types
        linked.effects = EffectInference(self.syntax, self.names, linked.types, index)
        linked.loops = self.loops.linked(linked.types)
        linked.locks = Locks(linked)
        return linked

    def is_library_call(self, call: ast.Call) -> bool:
        """Whether the tables contain the effect of a call: it can only modify its arguments."""
        qualified = self.names.qualified(call.func)
        if qualified is not None:
            return self.index is None or not self.index.callables(qualified, self.name)
        if isinstance(call.func, ast.Attribute):
            kind = self.types.type_of(call.func.value)
            return bool(kind) and kind.tag not in (TypeTag.INSTANCE, TypeTag.MODULE, TypeTag.ENVIRONMENT)
        return False

    def release(self) -> None:
        """Break all reference cycles once the file is no longer queried. The analyses and the nodes refer to
        one another; left to the cycle collector, freeing them would take a twelfth of a run.
        """
        if not vars(self):
            return  # a linked analysis shares the tree
        self.syntax.release()
        vars(self.names).clear()
        vars(self.definitions).clear()
        self.release_analyses()

    def release_analyses(self) -> None:
        """Release the analyses that follow from types; the tree is left to other owners."""
        for layer in (self.types, self.effects, self.loops, self.locks):
            vars(layer).clear()
        if "_likely_types" in vars(self):
            vars(self._likely_types).clear()
        vars(self).clear()
