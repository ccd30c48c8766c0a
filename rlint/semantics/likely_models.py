"""The models of one file in which types are likely where they are not sure."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from rlint.semantics.interprocedural.whole_program import LikelyProgram
from rlint.semantics.model import SemanticModel

if TYPE_CHECKING:
    from rlint.semantics.interprocedural.whole_program import WholeProgram


class LikelyModels:
    """The likely models of a file, beside its sure model. They share its tree, names and definitions, and are
    created on the first query: for most files never.
    """

    def __init__(self, sure: SemanticModel, program: WholeProgram) -> None:
        self._sure = sure
        self._program = program
        self._by_assumptions: dict[tuple[str, ...], SemanticModel] = {}

    @cached_property
    def all(self) -> SemanticModel:
        """Return the model that accepts all likely answers."""
        return self._made(None)

    def only(self, *assumptions: str) -> SemanticModel:
        """Return the model that accepts some of the assumptions of `all`; the rest is sure."""
        known = self._by_assumptions.get(assumptions)
        if known is None:
            known = self._by_assumptions[assumptions] = self._made(frozenset(assumptions))
        return known

    def _made(self, only: frozenset[str] | None) -> SemanticModel:
        program = LikelyProgram(self._program)
        return SemanticModel(self._sure.path, self._sure.analysis.likely(program.index, only), program)

    def release(self) -> None:
        """Release the file; to be called before its sure model is released."""
        every = [vars(self)["all"]] if "all" in vars(self) else []
        for model in (*every, *self._by_assumptions.values()):
            model.analysis.release_analyses()
            vars(model).clear()
        vars(self).clear()
