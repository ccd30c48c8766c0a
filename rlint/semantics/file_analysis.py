"""Everything that is known of one file, put together."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rlint.semantics.dataflow.reaching_definitions import ReachingDefinitions
from rlint.semantics.effects.infer_effects import EffectInference
from rlint.semantics.frequency.loops import LoopIndex
from rlint.semantics.interprocedural.qualified_names import QualifiedNames
from rlint.semantics.nn.autograd import LocalAutograd
from rlint.semantics.threads.locks import Locks
from rlint.semantics.types.infer import TypeInference
from rlint.syntax.syntax_index import SyntaxIndex

if TYPE_CHECKING:
    from rlint.semantics.interprocedural.project_index import ProjectIndex


class FileAnalysis:
    """The layers over one file's tree; each asks those before it.

    `index` is None while the project's index is still being built from the files' summaries.
    """

    def __init__(
        self, text: str, module: ast.Module, name: str, package: str, index: ProjectIndex | None = None
    ) -> None:
        self.name = name
        self.tree = SyntaxIndex(text, module, package)
        self.index = index
        self.names = QualifiedNames(self.tree, name)
        self.flow = ReachingDefinitions(self.tree)
        self.autograd = LocalAutograd(self.tree, self.names, self.flow)
        self.kinds = TypeInference(self.tree, self.names, self.flow, index)
        self.effects = EffectInference(self.tree, self.names, self.kinds, index)
        self.loops = LoopIndex(self.tree, self.kinds)
        self.locks = Locks(self)

    def linked(self, index: ProjectIndex) -> FileAnalysis:
        """The same tree with the project's knowledge behind it; the walk is not done again."""
        linked = object.__new__(FileAnalysis)
        linked.name, linked.tree, linked.index, linked.flow = self.name, self.tree, index, self.flow
        linked.names, linked.autograd = self.names, self.autograd
        linked.kinds = self.kinds.linked(index)
        linked.effects = EffectInference(self.tree, self.names, linked.kinds, index)
        linked.loops = self.loops.linked(linked.kinds)
        linked.locks = Locks(linked)
        return linked

    def release(self) -> None:
        """Take everything apart once nothing more is asked of the file. The layers know of one another, and
        the nodes of their order: left alone, they would wait for the collector of cycles, and that takes a
        twelfth of a run.
        """
        if not vars(self):
            return  # what is linked has the same tree
        self.tree.release()
        for layer in (self.names, self.flow, self.kinds, self.effects, self.loops, self.locks):
            vars(layer).clear()
        vars(self).clear()
