"""The effects of calling functions of the project, across files."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from rlint import models
from rlint.models.effect import PURE, USES_UP, Effect, EffectKind
from rlint.models.parameters import CALLED_AT
from rlint.models.special_methods import IMPLICIT, STORES
from rlint.models.value_type import UNKNOWN, Type, TypeTag, alternatives
from rlint.semantics.interprocedural.access_paths.path_resolver import PathResolver
from rlint.semantics.interprocedural.external_changes.replaced_methods import ReplacedMethods
from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary
from rlint.semantics.interprocedural.symbols import SymbolTable
from rlint.semantics.interprocedural.trampoline import Step, run

_REPLACED = Effect(EffectKind.UNKNOWN, "is replaced while the program runs")
_MOST_ACCESSORS = 5
"""A property has a getter, a setter and a deleter."""


class FunctionEffects:
    """The effects of functions, properties and special methods, with all that these call."""

    def __init__(self, symbols: SymbolTable, paths: PathResolver, replaced: ReplacedMethods) -> None:
        self._symbols = symbols
        self._classes = symbols.classes
        self._paths = paths
        self._replaced = replaced
        self._effects: dict[str, Effect] = {}
        self._implicit: dict[tuple[str, str], Effect] = {}

    def at_path(self, path: str, module: str) -> Effect | None:
        """Return the effect of calling an access path; None if the project does not define it."""
        return run(self._effect_at(path, module))

    def of_function(self, function: FunctionSummary) -> Effect:
        """Return the effect of calling a function of the project, including all that it calls."""
        return run(self._effect_of(function))

    def implicit_effect(self, cls: str, name: str) -> Effect:
        """Return the effect of reading a property of an object of a class (`name=`: of setting it), or of the
        special method that an operator runs on it; without effect if there is none.
        """
        key = (cls, name)
        known = self._implicit.get(key)
        if known is None:
            symbol = self._symbols.symbol(cls, "")
            effect = PURE
            if isinstance(symbol, ClassSummary) and name in self.implicit_names:
                for function in self._run_implicitly(symbol, name):
                    effect = effect.joined(self.of_function(function))
            known = self._implicit[key] = effect
        return known

    def _run_implicitly(self, cls: ClassSummary, name: str) -> Iterator[FunctionSummary]:
        if name.endswith(STORES):
            for owner in self._classes.related(cls):
                yield from self._setters_in(owner, name.removesuffix(STORES))
            return
        for function in self._classes.implementations(cls, name):
            if function.is_property or name.startswith("__"):
                yield function

    def _setters_in(self, cls: ClassSummary, name: str) -> Iterator[FunctionSummary]:
        """Yield the setters and deleters of a property: its other definitions."""
        functions = self._symbols.modules[cls.module].functions
        getter = functions.get(f"{cls.qualname}.{name}")
        for number in range(1, _MOST_ACCESSORS) if getter is not None and getter.is_property else ():
            accessor = functions.get(f"{cls.qualname}.{name}#{number}")
            if accessor is not None and not accessor.is_property:
                yield accessor

    @cached_property
    def implicit_names(self) -> frozenset[str]:
        """Return the names of properties (with `=` for setters) and special methods of the project's classes
        that do more than return a value.
        """
        found: set[str] = set()
        for module in self._symbols.modules.values():
            for cls in () if module.is_test else module.classes.values():
                for name in cls.methods:
                    function = module.functions.get(f"{cls.qualname}.{name}")
                    if function is None:
                        continue
                    is_implicit = name in IMPLICIT or function.is_property
                    if is_implicit and not self.of_function(function).quiet:
                        found.add(name)
                    if function.is_property and any(True for _ in self._setters_in(cls, name)):
                        found.add(f"{name}{STORES}")
        return frozenset(found)

    def forget(self) -> None:
        """Drop the effects that depend on the types of arguments."""
        self._effects.clear()
        self._implicit.clear()
        vars(self).pop("implicit_names", None)

    def _effect_at(self, path: str, module: str) -> Step[Effect | None]:
        if "{" in path:
            joined = PURE
            for each in self._paths.presence.able(alternatives(path), module):
                effect_there = yield self._effect_at(each, module)
                if effect_there is None:
                    return None
                joined = joined.joined(effect_there)
            return joined if joined is not PURE or alternatives(path) else None
        targets = self._paths.callables(path, module)
        if not targets:
            owner, _, method = path.rpartition(".")
            kind = self._paths.resolve(owner, module) if owner else UNKNOWN
            known = models.method_fact(kind.tag, method) if kind else None
            if known is not None:
                return known.effect
            held: Effect | None = yield self._effect_of_held(path, module)
            return held
        effect = PURE
        for target in targets:
            effect = effect.joined((yield self._effect_of(target)))
        return effect.through(path.rpartition(".")[2])

    def _effect_of_held(self, path: str, module: str) -> Step[Effect | None]:
        """Return the effect of calling a function that an attribute holds, such as the `operator.add` that
        the constructor of a sum tree is given; None if it is not known.
        """
        joined: Effect | None = None
        for held in self._paths.led_to(path, module):
            known = models.callable_fact(held)
            effect = known.effect if known is not None else None
            if effect is None and self._paths.callables(held, module):
                effect = yield self._effect_at(held, module)
            if effect is None or CALLED_AT.get(held, (0,) if models.calls_back(held) else ()):
                return None
            joined = effect if joined is None else joined.joined(effect)
        return joined

    def _effect_of(self, function: FunctionSummary) -> Step[Effect]:
        known = self._effects.get(function.path)
        if known is not None:
            return known
        self._effects[function.path] = PURE  # a recursive call has the effect of the rest of the body
        effect = _REPLACED if function.path in self._replaced.paths else function.effect
        for path, fallback in function.effect_paths:
            called: Effect | None = yield self._effect_at(path, function.module)
            effect = effect.joined(fallback if called is None else called)
        if any(self._is_iterator(path, function.module) for path in function.outside_reads):
            effect = effect.joined(USES_UP)
        self._effects[function.path] = effect
        return effect

    def _is_iterator(self, variable: str, module: str) -> bool:
        """Whether a variable of a module, given by its dotted name, is an iterator: reading advances it."""
        found = self._symbols.symbol(variable, module) if variable else None
        return isinstance(found, Type) and self._paths.resolved(found, module).tag is TypeTag.ITERATOR
