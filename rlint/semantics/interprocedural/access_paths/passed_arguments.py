"""The types of arguments that callers pass for the parameters of functions."""

from __future__ import annotations

from rlint.models.value_type import UNKNOWN, Choice, Type, TypeTag, with_choice
from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary
from rlint.semantics.interprocedural.symbols import SymbolTable
from rlint.semantics.types import batches
from rlint.semantics.types.algebra import refines

_PLAIN_DATA = frozenset(
    {TypeTag.INT, TypeTag.FLOAT, TypeTag.STR, TypeTag.BYTES, TypeTag.LIST, TypeTag.TUPLE, TypeTag.DICT,
     TypeTag.SET, TypeTag.DEQUE, TypeTag.SLICE, TypeTag.NDARRAY, TypeTag.TENSOR, TypeTag.DTYPE,
     TypeTag.INSTANCE}
)  # fmt: skip
"""Types of values that contradict an annotation with another type."""
_TAKEN_FOR = {
    TypeTag.FLOAT: (TypeTag.INT,),
    TypeTag.NUMPY_SCALAR: (TypeTag.INT, TypeTag.FLOAT),
    TypeTag.DEVICE: (TypeTag.STR, TypeTag.INT),
    TypeTag.PATH: (TypeTag.STR,),
}
"""Types of arguments that do not contradict an annotation."""


class PassedArguments:
    """The types of the values that calls pass, which the call graph records. Keys are the dotted name of a
    function and its parameter: `module.function@parameter`.
    """

    def __init__(self, symbols: SymbolTable) -> None:
        self._symbols = symbols
        self._classes = symbols.classes
        self._arguments: dict[str, Type] = {}  # joined over the callers
        self._passed: dict[str, set[Type]] = {}  # the types that single calls pass
        self._guessed: dict[str, Type] = {}  # from calls whose target is guessed by name

    def note(self, function: FunctionSummary, parameter: str, kind: Type) -> None:
        """Record the type that a caller passes for a parameter."""
        key = f"{function.path}@{parameter}"
        if kind and kind.caveat is None:
            self._passed.setdefault(key, set()).add(kind)
        known = self._arguments.get(key)
        self._arguments[key] = kind if known is None else batches.joined(known, kind)

    def note_guess(self, function: FunctionSummary, parameter: str, kind: Type) -> None:
        """Record the type of an argument in a call that likely calls a function."""
        key = f"{function.path}@{parameter}"
        known = self._guessed.get(key)
        self._guessed[key] = kind if known is None else batches.joined(known, kind)

    def forget(self) -> None:
        """Drop the recorded arguments, before better ones are recorded."""
        self._arguments.clear()
        self._passed.clear()
        self._guessed.clear()

    def is_passed_otherwise(self, path: str, parameter: str, promised: Type) -> bool:
        """Whether a call passes a value for a parameter of the function at a path that its annotation
        excludes.
        """
        return any(self._is_another(kind, promised) for kind in self._passed.get(f"{path}@{parameter}", ()))

    def is_passed_only(self, path: str, parameter: str, promised: Type) -> bool:
        """Whether every call of the function at a path is known to pass a value of a type, or no call is
        known.
        """
        passed = self._arguments.get(f"{path}@{parameter}")
        return passed is None or (passed.tag is promised.tag and passed.caveat is None)

    def _is_another(self, kind: Type, promised: Type) -> bool:
        if kind.tag is not promised.tag:
            return kind.tag in _PLAIN_DATA and kind.tag not in _TAKEN_FOR.get(promised.tag, ())
        if kind.tag is not TypeTag.INSTANCE or kind.of == promised.of:
            return False
        cls, wanted = self._classes.class_of(kind), self._classes.class_of(promised)
        return cls is not None and wanted is not None and wanted not in self._classes.ancestry(cls)

    def type_of(self, function: FunctionSummary, parameter: str) -> Type:
        """Return the type of a parameter of a function: what callers pass, if it agrees with the annotation,
        else what that promises. If both are unknown, a likely type is added as a choice.
        """
        promised = function.parameter_kinds.get(parameter, UNKNOWN)
        passed = self._arguments.get(f"{function.path}@{parameter}", UNKNOWN)
        taken = passed if not promised or refines(passed, promised) else promised
        return taken or self._with_guesses(taken, function, parameter)

    def _with_guesses(self, taken: Type, function: FunctionSummary, parameter: str) -> Type:
        """Return the likely type of a parameter of unknown type: from what likely callers pass, or from
        overridden or overriding methods.
        """
        guessed = self._guessed.get(f"{function.path}@{parameter}")
        if guessed is not None and guessed:
            return with_choice(taken, Choice(guessed))
        owner = self._classes.owner_of(function)
        if owner is None or function.name.startswith("__"):
            return taken
        for cls in (*self._classes.ancestry(owner)[1:], *self._classes.subclasses(owner)):
            if isinstance(cls, ClassSummary) and function.name in cls.methods:
                other = self._symbols.modules[cls.module].functions.get(f"{cls.qualname}.{function.name}")
                if other is None or parameter not in other.parameters:
                    continue
                kind = self._arguments.get(f"{other.path}@{parameter}") or other.parameter_kinds.get(
                    parameter
                )
                if kind:
                    return with_choice(taken, Choice(kind))
        return taken
