"""Queries about other files of the program, by name."""

from __future__ import annotations

import ast

from rlint import models
from rlint.findings import ProgramScale
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.semantics.effects.namespace_writes import ANY_NAME
from rlint.semantics.interprocedural.whole_program import WholeProgram
from rlint.semantics.model_symbols import FileSymbols
from rlint.semantics.nn.torch_settings import TOKENS

_STATE_HOOKS = models.having(Trait.HOOKS_STATE, TypeTag.MODULE)
_PARAMETRIZES = ("register_parametrization", "parametrizations")
_OF_PARAMETRIZATIONS = "torch.nn.utils.parametrizations"
_PARAMETRIZATIONS = tuple(
    f"{_OF_PARAMETRIZATIONS}.{name}" for name in ("orthogonal", "spectral_norm", "weight_norm")
)


class ProgramQueries:
    """Answers where the files of a project read, import or set a name. A name counts on any object: answers
    may include too many places, but never too few.
    """

    def __init__(self, program: WholeProgram, symbols: FileSymbols) -> None:
        self._index = program.index
        self._names = program.program_symbols
        self._heat = program.heat
        self._symbols = symbols

    def hot_callers(self, method: str, receiver: str) -> tuple[str, ...]:
        """Return the functions of the program that call a method in each step on an object of unknown class
        with this last name (`self.policy.optimizer.step()`), without leading underscores.
        """
        return self._heat.hot_callers(method, receiver, self._symbols.module.module)

    def is_attribute_read(self, attribute: str) -> bool:
        """Whether any file of the project reads an attribute of this name, on any object."""
        return self._names.is_attribute_read(attribute)

    def may_replace(self, *attributes: str) -> bool:
        """Whether code of the project, besides constructors for their own object, sets or deletes attributes
        of these names on any object, or attributes, layers and parameters by names known only at run time.
        """
        return (
            any(map(self._index.setters, attributes))
            or not self._index.overwritten_names.in_arguments.isdisjoint((*attributes, ANY_NAME))
            or self._index.overwritten_names.sets_by_name
        )

    def is_read_in_other_file(self, attribute: str, of: ast.AST | None = None) -> bool:
        """Whether another file of the project reads an attribute of this name, on any object. `of` is a node
        of the class that owns it: other classes of other files that define such an attribute themselves then
        do not count, unless one inherits from the other.
        """
        module, owner = self._symbols.module.module, self._symbols.class_at(of) if of is not None else None
        if owner is not None:
            return self._names.is_used_in_other_file(attribute, owner, module, siblings=False)
        return self._names.is_read_in_other_file(attribute, module)

    def is_write_only(self, attribute: str) -> bool:
        """Whether all containers of this name are only added to, and possibly emptied, in all files of
        the project.
        """
        return self._names.is_write_only(attribute)

    def sets(self, word: str, *, anywhere: bool = False) -> bool:
        """Whether a file of the program (or `anywhere` in the project) sets how torch computes: a word of
        `nn.torch_settings`.
        """
        if anywhere:
            return self._names.has_torch_setting(word)
        return self._names.program_says(word, self._symbols.module.module)

    def mentions(self, *settings: str) -> bool:
        """Whether the program of this file reads or imports one of these names: functions that change the
        whole process, such as `set_default_device`. Names that only tests set count only for tests.
        """
        return self._names.program_names(settings, self._symbols.module.module)

    def uses_language_models(self) -> bool:
        """Whether this file trains or runs language models, or belongs to a program that does."""
        return self.handles_tokens() or self._names.is_for_language_models(self._symbols.module.module)

    def handles_tokens(self) -> bool:
        """Whether this file itself processes tokens, or imports a library for language models."""
        return TOKENS in self._symbols.module.speedups

    def scale(self) -> ProgramScale:
        """Return how long the training steps of the program take."""
        return self._names.scale(self._symbols.module.module)

    def is_imported(self, name: str) -> bool:
        """Whether another file of the project imports a name of this module, or all of its names."""
        return self._names.imports(name, self._symbols.module.module)

    def is_imported_anywhere(self, path: str) -> bool:
        """Whether any file of the project imports a dotted path."""
        return self._names.is_imported(path)

    def attribute_types(self, attribute: str) -> frozenset[TypeTag]:
        """Return the types that classes of the project declare for their attributes of this name."""
        return self._names.attribute_tags(attribute)

    def function_names(self, known_bases: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
        """Return the names of the functions of the project, without tests, and of the methods of classes
        whose library bases are all known, each with the number of its definitions.
        """
        return self._names.function_names(known_bases)

    def parametrizes_weights(self) -> bool:
        """Whether the program computes weights of layers from other parameters whenever they are read, by
        `torch.nn.utils.parametrize` or functions based on it.
        """
        return (
            self.mentions(*_PARAMETRIZES)
            or any(map(self.is_imported_anywhere, _PARAMETRIZATIONS))
            or self._names.is_starred(_OF_PARAMETRIZATIONS)
        )

    def customizes_state_dicts(self) -> bool:
        """Whether a module of the project may change the state dict that it loads, or the result of
        `state_dict`, by a hook or a method of its own.
        """
        methods = ("_load_from_state_dict", "_save_to_state_dict")
        return any(map(self._index.defines_method, methods)) or any(map(self.is_attribute_read, _STATE_HOOKS))
