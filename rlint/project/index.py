"""The project: all files' summaries, and what follows from them together."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from rlint.frozen import frozen
from rlint.project import batches, facts
from rlint.project.effect import PURE, Effect, Level
from rlint.project.kind import UNKNOWN, Kind, Tag
from rlint.project.kind_algebra import indexed, is_immutable, refines
from rlint.project.summary import ClassSummary, FunctionSummary, ModuleSummary
from rlint.regex import regex
from rlint.syntax.imports import is_named

_STEP = regex(r"\(\)|\[[:?]?\]|@\w+|\.\w+")
_DEPTH = 24
_LOOKUPS = 400  # modules that are searched for one name


@frozen
class _LibraryMethod:
    """A method of a library's object, about to be called."""

    owner: Kind
    name: str


Symbol = ModuleSummary | ClassSummary | FunctionSummary | Kind | _LibraryMethod

_VECTORISED = (
    "stable_baselines3.common.vec_env",
    "stable_baselines3.common.vec_env.base_vec_env",
    "baselines.common.vec_env",
)
_BASE_TAGS = {
    "torch.nn.Module": Tag.MODULE,
    "gymnasium.Env": Tag.ENVIRONMENT,
    "gymnasium.Wrapper": Tag.ENVIRONMENT,
    "gymnasium.vector.VectorEnv": Tag.ENVIRONMENT,
    **{f"{module}.{name}": Tag.ENVIRONMENT for module in _VECTORISED for name in ("VecEnv", "VecEnvWrapper")},
    "torch.optim.Optimizer": Tag.OPTIMIZER,
    "torch.utils.data.Dataset": Tag.DATASET,
    "torch.utils.data.IterableDataset": Tag.DATASET,
    "threading.Thread": Tag.THREAD,
    "multiprocessing.Process": Tag.PROCESS,
}
_TAGS_OF_BASES = frozenset({*_BASE_TAGS.values(), Tag.LOADER, Tag.REPLAY_BUFFER})


class Index:
    """Symbols, kinds and effects across the files of a project."""

    def __init__(self, modules: Iterable[ModuleSummary]) -> None:
        self.modules: dict[str, ModuleSummary] = {}
        self._by_tail: dict[str, list[ModuleSummary]] = {}
        for module in modules:
            self.modules.setdefault(module.module, module)
            self._by_tail.setdefault(module.module.rpartition(".")[2], []).append(module)
        self._symbols: dict[tuple[str, str], Symbol | None] = {}
        self._paths: dict[tuple[str, str], Kind] = {}
        self._class_kinds: dict[str, Kind] = {}
        self._fresh_kinds: dict[str, Kind] = {}
        self._ancestry: dict[str, tuple[ClassSummary | str, ...]] = {}
        self._effects: dict[str, Effect] = {}
        self._subclasses: dict[str, list[ClassSummary]] | None = None
        self._implementations: dict[tuple[str, str], list[FunctionSummary]] = {}
        self._setters: dict[str, list[tuple[str, FunctionSummary]]] | None = None
        self._arguments: dict[str, Kind] = {}  # "module.function@parameter" → what callers pass
        self._depth = 0
        # Most of what paths lead to hangs on no argument, and holds as long as the index does.
        self._settled: dict[tuple[str, str], Kind] = {}
        self._settled_callables: dict[tuple[str, str], list[FunctionSummary]] = {}
        self._unsettled = False  # has what is being followed asked for an argument, or come in a circle?

    # -- symbols -------------------------------------------------------------------------------

    def module_named(self, name: str) -> ModuleSummary | None:
        """The module of exactly this name."""
        return self.modules.get(name)

    def every_module(self) -> tuple[ModuleSummary, ...]:
        """All modules. Whoever asks for them is checked again whenever any of them changes."""
        return tuple(self.modules.values())

    def symbol(self, dotted: str, importer: str) -> Symbol | None:
        """What a dotted name means in the module `importer`; None for what the project does not define."""
        key = (dotted, importer)
        if key not in self._symbols:
            self._symbols[key] = None
            self._symbols[key] = self._find(dotted, importer, set(), 0)
        return self._symbols[key]

    def _find(self, dotted: str, importer: str, seen: set[tuple[str, str]], depth: int) -> Symbol | None:
        parts = dotted.split(".")
        for cut in range(len(parts), 0, -1):
            module = self.module(".".join(parts[:cut]), importer)
            if module is not None:
                return self._member(module, parts[cut:], seen, depth) if cut < len(parts) else module
        return None

    def module(self, dotted: str, importer: str) -> ModuleSummary | None:
        """The module that `import dotted` means: of that name, beside the importer, or the only one that has
        that name as seen from a folder which is no package (`groups.py` reckons with the same).
        """
        candidates = self._by_tail.get(dotted.rpartition(".")[2])
        if candidates is None:
            return None
        found = self.modules.get(dotted)
        if found is not None:
            return found
        package = importer.rpartition(".")[0]
        while package:
            found = self.modules.get(f"{package}.{dotted}")
            if found is not None:
                return found
            package = package.rpartition(".")[0]
        named = [module for module in candidates if is_named(module.module, dotted, self.modules)]
        return named[0] if len(named) == 1 else None

    def _member(
        self, module: ModuleSummary, parts: list[str], seen: set[tuple[str, str]], depth: int
    ) -> Symbol | None:
        """What a module defines, imports, or gets by `import *` from other modules, one after the other."""
        name = ".".join(parts)
        pending = [module]
        while pending and len(seen) <= _LOOKUPS and depth <= _DEPTH:
            module = pending.pop()
            if (module.module, name) in seen:
                continue  # packages that import `*` from one another
            seen.add((module.module, name))
            found = self._own_member(module, parts, seen, depth)
            if found is not None or parts[0] in module.imports:
                return found
            starred = (self.module(source, module.module) for source in reversed(module.star_imports))
            pending += [each for each in starred if each is not None]
        return None

    def _own_member(
        self, module: ModuleSummary, parts: list[str], seen: set[tuple[str, str]], depth: int
    ) -> Symbol | None:
        name = ".".join(parts)
        if name in module.classes:
            return module.classes[name]
        if name in module.functions and name:
            return module.functions[name]
        head, rest = parts[0], parts[1:]
        if head in module.imports:
            return self._find(".".join([module.imports[head], *rest]), module.module, seen, depth + 1)
        if head in module.constants and not rest:
            return module.constants[head]
        owner = module.classes.get(".".join(parts[:-1])) if rest else None
        if owner is not None:
            return self.method(owner, parts[-1]) or owner.attributes.get(parts[-1])
        return None

    # -- classes -------------------------------------------------------------------------------

    def ancestry(self, cls: ClassSummary) -> tuple[ClassSummary | str, ...]:
        """The class and its bases, depth first; bases outside the project as dotted names."""
        known = self._ancestry.get(cls.path)
        if known is None:
            known = self._ancestry[cls.path] = tuple(self._ancestors(cls))
        return known

    def _ancestors(self, cls: ClassSummary) -> list[ClassSummary | str]:
        found: list[ClassSummary | str] = []
        stack: list[ClassSummary | str] = [cls]
        seen: set[str] = set()
        while stack:
            current = stack.pop()
            name = current if isinstance(current, str) else current.path
            if name in seen:
                continue
            seen.add(name)
            found.append(current)
            if isinstance(current, ClassSummary):
                for base in reversed(current.bases):
                    symbol = self.symbol(base, current.module)
                    stack.append(symbol if isinstance(symbol, ClassSummary) else facts.canonical(base))
        return found

    def subclasses(self, cls: ClassSummary) -> list[ClassSummary]:
        """All classes of the project that derive from `cls`, however far."""
        if self._subclasses is None:
            self._subclasses = {}
            for module in self.modules.values():
                for candidate in module.classes.values():
                    for base in self.ancestry(candidate)[1:]:
                        if isinstance(base, ClassSummary):
                            self._subclasses.setdefault(base.path, []).append(candidate)
        return self._subclasses.get(cls.path, [])

    def class_kind(self, cls: ClassSummary) -> Kind:
        """The kind of an instance of a class of the project."""
        known = self._class_kinds.get(cls.path)
        if known is None:
            tag = Tag.INSTANCE
            for base in self.ancestry(cls):
                if isinstance(base, str):
                    made = facts.callable_fact(base)
                    found = _BASE_TAGS.get(base) or (made.result.tag if made else None)
                    if found in _TAGS_OF_BASES:
                        tag = found
                        break
            known = self._class_kinds[cls.path] = Kind(tag, of=cls.path)
        return known

    def class_of(self, kind: Kind) -> ClassSummary | None:
        """The class of the project that a kind is an instance of."""
        symbol = self.symbol(kind.of, "") if kind and kind.of else None
        return symbol if isinstance(symbol, ClassSummary) else None

    def method(self, cls: ClassSummary, name: str) -> FunctionSummary | None:
        """The method that `cls` has or inherits."""
        for owner in self.ancestry(cls):
            if isinstance(owner, ClassSummary) and name in owner.methods:
                return self.modules[owner.module].functions.get(f"{owner.qualname}.{name}")
        return None

    def defines_method(self, name: str) -> bool:
        """Does any class of the project define a method of this name?"""
        return any(name in cls.methods for module in self.modules.values() for cls in module.classes.values())

    def implementations(self, cls: ClassSummary, name: str) -> list[FunctionSummary]:
        """The method itself and all that override it in subclasses."""
        key = (cls.path, name)
        known = self._implementations.get(key)
        if known is not None:
            return known
        own = self.method(cls, name)
        found = self._implementations[key] = [own] if own is not None else []
        for subclass in self.subclasses(cls):
            if name in subclass.methods:
                overriding = self.modules[subclass.module].functions.get(f"{subclass.qualname}.{name}")
                if overriding is not None and overriding not in found:
                    found.append(overriding)
        return found

    def attribute(self, cls: ClassSummary, name: str) -> Kind:
        """The kind of an attribute, joined over the class and its bases, else over its subclasses."""
        for group in (self.ancestry(cls), self.subclasses(cls)):
            found: Kind | None = None
            for owner in group:
                if isinstance(owner, ClassSummary) and name in owner.attributes:
                    kind = owner.attributes[name]
                    if not kind and kind.of:
                        kind = self.resolve(kind.of, owner.module) or kind
                    found = kind if found is None else found.joined(kind)
            if found is not None:
                return found
        return UNKNOWN

    def setters(self, attribute: str) -> list[tuple[str, FunctionSummary]]:
        """The functions that set an attribute of this name, each with the access path of the object; those of
        tests, and constructors that set their own, are left out.
        """
        if self._setters is None:
            self._setters = {}
            for module in self.modules.values():
                for function in () if module.is_test else module.functions.values():
                    for path, name in function.sets:
                        self._setters.setdefault(name, []).append((path, function))
        return self._setters.get(attribute, [])

    # -- access paths --------------------------------------------------------------------------

    def resolve(self, path: str, module: str) -> Kind:
        """The kind at the end of an access path (`buffers.Replay().storage`), or UNKNOWN."""
        key = (path, module)
        known = self._settled.get(key)
        if known is not None:
            return known
        known = self._paths.get(key)
        if known is not None or self._depth > _DEPTH:
            self._unsettled = True
            return known if known is not None else UNKNOWN
        self._paths[key] = UNKNOWN
        around, self._unsettled = self._unsettled, False
        self._depth += 1
        try:
            value, _ = self._follow(path, module)
        finally:
            self._depth -= 1
        kind = self._paths[key] = self._as_kind(value)
        if not self._unsettled:
            self._settled[key] = kind
        self._unsettled |= around
        return kind

    def callables(self, path: str, module: str) -> list[FunctionSummary]:
        """The functions that calling what stands at an access path may run."""
        key = (path, module)
        known = self._settled_callables.get(key)
        if known is not None:
            return known
        if self._depth > _DEPTH:
            self._unsettled = True
            return []
        around, self._unsettled = self._unsettled, False
        self._depth += 1
        try:
            value, owner = self._follow(path, module)
        finally:
            self._depth -= 1
        found = self._called_by(value, owner, module)
        if not self._unsettled:
            self._settled_callables[key] = found
        self._unsettled |= around
        return found

    def _called_by(
        self, value: Symbol | None, owner: ClassSummary | None, module: str
    ) -> list[FunctionSummary]:
        if isinstance(value, Kind) and value.tag is Tag.MODULE:
            cls = self.class_of(value)
            return self.implementations(cls, "forward") if cls else []
        if isinstance(value, Kind) and value.tag is Tag.INSTANCE:
            cls = self.class_of(value)
            return self.implementations(cls, "__call__") if cls else []
        if isinstance(value, Kind) and value.tag in (Tag.CLASS, Tag.FUNCTION) and value.of:
            symbol = self.symbol(value.of, module)
            value = symbol if symbol is not None else value
        if isinstance(value, ClassSummary):
            made = self.method(value, "__init__")
            return [made] if made is not None else []
        if isinstance(value, FunctionSummary):
            if owner is not None:
                return self.implementations(owner, value.name) or [value]
            return [value]
        return []

    def parameter_kind(self, path: str, module: str, argument: str) -> Kind:
        """The kind that the functions at an access path declare for the parameter which takes an argument
        (its position or its name), or show by what they do with it.
        """
        found: Kind | None = None
        for target in self.callables(path, module):
            name = argument
            if argument.isdigit():
                position = int(argument) + (target.is_method and not target.is_static)
                name = target.parameters[position] if position < len(target.parameters) else ""
            kind = target.parameter_kinds.get(name, UNKNOWN)
            found = kind if found is None else found.joined(kind)
        return found or UNKNOWN

    def _follow(self, path: str, module: str) -> tuple[Symbol | None, ClassSummary | None]:
        """What a path leads to, and for a method the class it was looked up on."""
        root, steps = _parts(path)
        value = self.symbol(root, module)
        owner: ClassSummary | None = None
        if value is None:
            made = facts.callable_fact(root)
            if made is None or steps[:1] != ("()",):
                return None, None
            value, steps = made.result, steps[1:]
        for position, step in enumerate(steps):
            if value is None:
                return None, None
            if isinstance(value, Kind) and not value and value.of:
                value = self.resolve(value.of, module)
            if step == "()":
                value, owner = self._called(value, owner), None
            elif step.startswith("["):
                value = indexed(self._as_kind(value), step)
            elif step.startswith("@"):
                if not isinstance(value, FunctionSummary):
                    return None, None
                self._unsettled = True
                promised = value.parameter_kinds.get(step[1:], UNKNOWN)
                passed = self._arguments.get(f"{value.path}{step}", UNKNOWN)
                value = passed if not promised or refines(passed, promised) else promised
            else:
                called = position + 1 < len(steps) and steps[position + 1] == "()"
                value, owner = self._get(value, step[1:], called=called)
        return value, owner

    def _called(self, value: Symbol, owner: ClassSummary | None) -> Symbol | None:
        if isinstance(value, ClassSummary):
            made = self._fresh_kinds.get(value.path)
            if made is None:
                made = self._fresh_kinds[value.path] = self.class_kind(value)._replace(fresh=True)
            return made
        if isinstance(value, FunctionSummary):
            return self.returned(value)
        if isinstance(value, Kind):
            if value.tag in (Tag.CLASS, Tag.FUNCTION) and value.of:
                symbol = self.symbol(value.of, "")
                if symbol is not None and not isinstance(symbol, Kind):
                    return self._called(symbol, owner)
                known = facts.callable_fact(value.of)
                return known.result if known else None
            if value.tag is Tag.MODULE:
                cls = self.class_of(value)
                forward = self.method(cls, "forward") if cls else None
                return self.returned(forward) if forward is not None else None
        if isinstance(value, _LibraryMethod):
            fact = facts.method_fact(value.owner.tag, value.name)
            if value.owner.tag is Tag.UNKNOWN:
                fact = facts.method_on_unknown(value.name, 0) or facts.method_on_unknown(value.name, 1)
            if fact is not None and fact.result.tag is value.owner.tag is Tag.MODULE:
                return value.owner.aged()  # `Network(…).to(device)` is a `Network`
            return fact.result if fact is not None else None
        return None

    def _get(self, value: Symbol, name: str, *, called: bool) -> tuple[Symbol | None, ClassSummary | None]:
        if isinstance(value, ModuleSummary):
            return self._member(value, [name], set(), 0), None
        if isinstance(value, ClassSummary):
            return self.method(value, name) or value.attributes.get(name), value
        if not isinstance(value, Kind):
            return None, None
        cls = self.class_of(value)
        if cls is not None:
            method = self.method(cls, name)
            if method is None and not any(
                name in o.attributes for o in self.ancestry(cls) if isinstance(o, ClassSummary)
            ):
                overriding = self.implementations(cls, name)
                method = overriding[0] if len(overriding) == 1 else None
            if method is not None:
                return (self.returned(method), None) if method.is_property else (method, cls)
            attribute = self.attribute(cls, name)
            if attribute or attribute.of:
                return attribute, None
        if value.tag is Tag.PYTHON_MODULE:  # a context or manager offers what a module offers
            return (Kind(Tag.FUNCTION, of=f"{value.of}.{name}") if value.of else None), None
        if called:
            return _LibraryMethod(value, name), None
        return facts.attribute_kind(value.tag, name), None

    def _as_kind(self, value: Symbol | None) -> Kind:
        if isinstance(value, Kind):
            if not value and value.of:
                if self._depth < _DEPTH:
                    return self.resolve(value.of, "")
                self._unsettled = True
            return value
        if isinstance(value, ClassSummary):
            return Kind(Tag.CLASS, of=value.path)
        if isinstance(value, FunctionSummary):
            return Kind(Tag.FUNCTION, of=value.path)
        if isinstance(value, ModuleSummary):
            return Kind(Tag.PYTHON_MODULE, of=value.module)
        return UNKNOWN

    def returned(self, function: FunctionSummary) -> Kind:
        """The kind of what a function of the project returns."""
        kind: Kind | None = None
        for value in function.returns:
            returned = self._known(value, function.module)
            if returned.item is not None:
                returned = returned._replace(item=self._known(returned.item, function.module) or None)
            kind = returned if kind is None else kind.joined(returned)
        return kind or UNKNOWN

    def _known(self, kind: Kind, module: str) -> Kind:
        """The kind itself, or what its access path leads to."""
        return self.resolve(kind.of, module) if not kind and kind.of else kind

    def returns_immutable(self, function: FunctionSummary) -> bool:
        """Is all that a function of the project may return immutable?"""
        kinds = [
            self.resolve(kind.of, function.module) if not kind and kind.of else kind
            for kind in function.returns
        ]
        return bool(kinds) and all(map(is_immutable, kinds))

    # -- effects -------------------------------------------------------------------------------

    def effect_at(self, path: str, module: str) -> Effect | None:
        """The effect of calling what stands at an access path; None where the project has no such thing."""
        targets = self.callables(path, module)
        if not targets:
            owner, _, method = path.rpartition(".")
            kind = self.resolve(owner, module) if owner else UNKNOWN
            known = facts.method_fact(kind.tag, method) if kind else None
            return known.effect if known is not None else None
        effect = PURE
        for target in targets:
            effect = effect.worst(self.effect_of(target))
        return effect

    def effect_of(self, function: FunctionSummary) -> Effect:
        """The effect of calling a function of the project, with everything that it calls."""
        known = self._effects.get(function.path)
        if known is not None:
            return known
        self._effects[function.path] = PURE  # what a recursive call adds is what the rest of the body does
        effect = function.effect
        for path, fallback in function.effect_paths:
            if effect.level is Level.EFFECTS:
                break
            called = self.effect_at(path, function.module)
            if called is None:
                called = fallback
            elif called.level > Level.READS and not called.reason.startswith("`"):
                called = Effect(called.level, f"`{path.rpartition('.')[2]}` {called.reason}")
            effect = effect.worst(called)
        self._effects[function.path] = effect
        return effect

    def forget_arguments(self) -> None:
        """Drop the noted arguments and what was derived from them, before better ones are noted."""
        self._arguments.clear()
        self._paths.clear()
        self._effects.clear()

    def note_argument(self, function: FunctionSummary, parameter: str, kind: Kind) -> None:
        """Remember the kind that a caller passes for a parameter without annotation."""
        key = f"{function.path}@{parameter}"
        known = self._arguments.get(key)
        self._arguments[key] = kind if known is None else batches.joined(known, kind)


@lru_cache(maxsize=50_000)
def _parts(path: str) -> tuple[str, tuple[str, ...]]:
    """The dotted name that an access path begins with, and the steps from there."""
    root_end = next((m.start() for m in _STEP.finditer(path) if not m.group().startswith(".")), len(path))
    return path[:root_end], tuple(_STEP.findall(path[root_end:]))
