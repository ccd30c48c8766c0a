"""Interfaces shared by the modules of type inference."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol

from rlint import models
from rlint.models.trait import Trait
from rlint.models.value_type import UNKNOWN, Device, Type, TypeTag
from rlint.semantics.dataflow.reaching_definitions import ReachingDefinitions
from rlint.semantics.interprocedural.qualified_names import QualifiedNames
from rlint.semantics.types.likely.notes import Notes
from rlint.semantics.types.results.environment_steps import EnvironmentResults
from rlint.syntax.syntax_index import SyntaxIndex


class TypeResolver(Protocol):
    """What the type inference of one file queries about the rest of the project."""

    def resolve(self, path: str, module: str) -> Type:
        """Return the type at the end of an access path such as `buffers.Replay().storage`, or UNKNOWN."""

    def parameter_kind(self, path: str, module: str, argument: str) -> Type:
        """Return the type that a function declares for the parameter that receives an argument."""

    def defines_method(self, name: str) -> bool:
        """Whether any class of the project defines a method of this name."""


Handlers = dict[type[ast.AST], Callable[..., Type]]
"""Maps the node type of an expression to the method that infers its type."""

ITERATES = models.having(Trait.SAME_ITEMS, "builtins", "itertools", "tqdm") & models.giving(
    TypeTag.ITERATOR, "builtins", "itertools", "tqdm"
) - {"itertools.chain"}
"""Functions that return an iterator over the items of their argument."""


class TypeInferenceBase(ABC):
    """The analysed file, and the other analyses of it."""

    def __init__(
        self,
        syntax: SyntaxIndex,
        names: QualifiedNames,
        definitions: ReachingDefinitions,
        project: TypeResolver | None,
    ) -> None:
        self.syntax = syntax
        self.names = names
        self.definitions = definitions
        self.project = project
        self.open_device = Device.UNKNOWN
        """The device that the code leaves open: declared in the configuration, or unknown."""
        self.environments = EnvironmentResults(syntax)
        self.notes = Notes()
        """What the queried types depend on."""

    @abstractmethod
    def type_of(self, expression: ast.expr) -> Type:
        """Return the type of an expression at its place."""

    @abstractmethod
    def given(self, expression: ast.expr) -> Type:
        """Return the type of an argument; of `args` in `f(*args)`, what callers of the enclosing function
        pass.
        """

    @abstractmethod
    def iterated(self, iterable: ast.expr, path: tuple[int, ...]) -> Type:
        """Return the type that a loop over `iterable` binds at a path through its target."""

    def supposes(self, assumption: str) -> bool:  # noqa: ARG002 - for what is likely
        """Whether a likely, but not certain, fact may be assumed."""
        self.notes.fall_short()
        return False

    def found_at(self, path: str) -> Type:
        """Return the type of an access path in the project."""
        found = self.project.resolve(path, self.names.module) if self.project is not None else UNKNOWN
        if found.caveat is not None:
            self.notes.add(found.caveat)
        return found

    def resolved(self, kind: Type) -> Type:
        """Return the project's type for an unknown type with an access path; otherwise the type itself."""
        if kind.tag is TypeTag.UNKNOWN and kind.of and self.project is not None:
            found = self.found_at(kind.of)
            if found.tag is not TypeTag.UNKNOWN:
                return found
            return kind if found.caveat is None else kind._replace(caveat=found.caveat)
        return kind
