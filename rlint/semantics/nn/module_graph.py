"""Resolve the parts of a network, and the code that runs when it is called, over the files of a project."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field

from rlint import models
from rlint.frozen import frozen, mutable
from rlint.models import vocabulary
from rlint.models.special_methods import LOOKED_UP
from rlint.models.trait import Trait
from rlint.models.value_type import Type, TypeTag, alternatives
from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary
from rlint.semantics.nn.architecture import UNKNOWN, NetworkPart, PartKind, holds_no_network, is_layer
from rlint.semantics.nn.forward.forward_summary import ForwardSummary
from rlint.semantics.nn.forward.implicit_uses import OPERATOR

_DEPTH = 16
_STEPS = 600
"""A network of more parts than this counts as unknown."""
_MOST_DERIVED = 50
"""An object of a class with more derived classes than this counts as unknown."""
_PLAIN_BASES = models.having(Trait.HOLDS_PARTS, "torch.nn") | {
    "builtins.object",
    "abc.ABC",
    "typing.Generic",
    "typing.Protocol",
}
_RECURRENT = models.having(Trait.RECURRENT, "torch.nn")
MODULE_METHODS = models.having(Trait.RUNS_NO_LAYER, TypeTag.MODULE)
"""Methods that every module has, and that run no layer."""
_NOT_OPERATORS = frozenset(
    {"__call__", "__del__", "__delattr__", "__getattr__", "__getattribute__", "__init__"}
    | {"__init_subclass__", "__new__", "__post_init__", "__setattr__", "__getstate__", "__setstate__"}
)
"""Special methods that no operator, iteration or builtin calls."""


def is_convolution(layer: str) -> bool:
    """Whether a layer is a convolution."""
    return layer.startswith("torch.nn.Conv")


def is_threaded(layer: str) -> bool:
    """Whether a layer uses several threads of the CPU even for one observation: convolutions, and recurrent
    layers that get a whole sequence.
    """
    return is_convolution(layer) or (layer in _RECURRENT and not layer.endswith("Cell"))


@mutable
class Architecture:
    """The parts of a network, and the effects of running it.

    `layers` are the torch classes that may be in it, by qualified name, with whether one surely is;
    `reads_training` code of the project that reads `self.training`; `draws` random numbers drawn outside of
    dropout layers; `keeps` the attributes that a run sets or modifies; `escapes` whether other code may see
    tensors of it besides these; `surely_varies` whether code of the
    project that it surely runs does any of these; `hooks` hooks registered on it; `overrides` the names
    among `train`, `eval`, `__call__` that a class of it defines; `width` the size of the largest square that
    fits into the weights of a linear layer which surely is part of it; `in_place` whether a layer may write
    its result to its input; `passes_on` whether it may hold a
    network that other code also holds: one that its constructor is passed, or a constant of a module. If it
    is not `complete`, it has unknown parts, which may have any of these properties.
    """

    layers: dict[str, bool] = field(default_factory=dict)
    complete: bool = True
    reads_training: bool = False
    draws: bool = False
    surely_varies: bool = False
    hooks: bool = False
    keeps: set[str] = field(default_factory=set)
    escapes: bool = False
    overrides: set[str] = field(default_factory=set)
    classes: set[str] = field(default_factory=set)
    width: int = 0
    in_place: bool = False
    passes_on: bool = False

    @property
    def by_mode(self) -> bool:
        """Whether `train()` and `eval()` may make a difference, as far as is known."""
        switches = self.overrides & {"train", "eval"}
        return self.reads_training or bool(switches) or any(map(is_by_mode, self.layers))

    @property
    def weights(self) -> bool:
        """Whether it contains a layer with weights, so that running it is expensive."""
        return any(word in name for name in self.layers for word in vocabulary.LAYERS_WITH_WEIGHTS)

    @property
    def recurrent(self) -> bool:
        """Whether it contains a recurrent layer."""
        return any(name in _RECURRENT for name in self.layers)

    @property
    def attention(self) -> bool:
        """Whether it contains attention or a transformer."""
        return any("Attention" in name or "Transformer" in name for name in self.layers)

    @property
    def repeatable(self) -> bool:
        """Whether a second run on the same input always returns the same and changes nothing."""
        return self.complete and not (self.by_mode or self.draws or self.hooks or self.keeps)

    @property
    def seems_repeatable(self) -> bool:
        """Whether that is true of its known parts, if these are of a class of the project, apart from code
        that only some options run.
        """
        switches = self.overrides & {"train", "eval"}
        varies = self.surely_varies or bool(switches) or any(map(is_by_mode, self.layers)) or self.hooks
        return bool(self.classes) and not varies

    @property
    def traceless(self) -> bool:
        """Whether a run changes nothing but the state of random generators."""
        normalised = any("BatchNorm" in name or "InstanceNorm" in name for name in self.layers)
        switches = self.overrides & {"train", "eval"}
        return self.complete and not (normalised or switches or self.hooks or self.keeps)


def is_by_mode(layer: str) -> bool:
    """Whether the result of a torch layer depends on `train()` and `eval()`."""
    name = layer.rpartition(".")[2]
    return any(
        word in name for word in ("Dropout", "BatchNorm", "InstanceNorm", "Attention", "Transformer")
    ) or (name == "RReLU")


@frozen
class _Place:
    """Where parts were read: the module, the class of `self`, and the arguments of the parameters.

    `given` is None if the arguments are unknown.
    """

    module: str
    function: str = ""
    cls: ClassSummary | None = None
    inner: _Place | None = None  # the constructor's, of the instance `self`
    given: tuple[tuple[str, tuple[NetworkPart, ...]], ...] | None = None
    outer: _Place | None = None  # where the given arguments were read


class ModuleGraph:
    """Assembles the networks of a project from the summaries of its files."""

    def __init__(self, index: ProjectIndex) -> None:
        self._index = index
        self._known: dict[tuple[object, ...], Architecture] = {}

    def built_of(
        self, parts: tuple[NetworkPart, ...], module: str, cls: ClassSummary | None, method: str | None
    ) -> Architecture:
        """Return the network of the parts read in a module (in a class), as far as `method` runs it; all of
        it for None.
        """
        key = (parts, module, cls.path if cls is not None else "", method)
        known = self._known.get(key)
        if known is None:
            reading = _Reading(self._index)
            for part in parts:
                reading.add(part, _Place(module, cls=cls), method, sure=True)
            reading.found.complete &= bool(parts)
            known = self._known[key] = reading.found
        return known


class _Reading:
    """One network during assembly."""

    def __init__(self, index: ProjectIndex) -> None:
        self.index = index
        self.found = Architecture()
        self._open: set[object] = set()
        self._implicit: set[object] = set()
        self._depth = 0
        self._left = _STEPS

    def unknown(self) -> None:
        self.found.complete = False

    # -- parts ---------------------------------------------------------------------------------

    def add(self, part: NetworkPart, place: _Place, method: str | None, *, sure: bool) -> None:
        """Add one part, whose `method` is called ("forward" for a plain call)."""
        if self._depth > _DEPTH or self._left <= 0:
            self.unknown()
            return
        self._left -= 1
        self._depth += 1
        try:
            self._add(part, place, method, sure=sure and part.sure)
        finally:
            self._depth -= 1

    def _add(self, part: NetworkPart, place: _Place, method: str | None, *, sure: bool) -> None:
        match part.kind:
            case PartKind.LAYER:
                self._add_layer(part.name, sure=sure)
                self.found.width = max(self.found.width, part.width if sure else 0)
                self.found.in_place |= part.in_place
            case PartKind.MADE:
                self._add_made(part, place, method, sure=sure)
            case PartKind.NAMED:
                self._add_made(part, place, method, sure=sure)
                if method is not None and isinstance(
                    self.index.symbol(part.name, place.module), FunctionSummary
                ):
                    self._call(part.name, place.module, running=True, sure=sure)
            case PartKind.PARAMETER:
                self._add_parameter(part.name, place, method, sure=sure)
            case PartKind.METHOD if place.cls is not None:
                target = self.index.method(place.cls, part.name)
                if target is None:
                    self.unknown()
                else:
                    self._add_returned(target, part, place, method, sure=sure)
            case PartKind.ATTRIBUTE:
                self._add_attribute(part, place, method, sure=sure)
            case PartKind.INSTANCE:
                cls = self.index.class_of(Type(TypeTag.INSTANCE, part.name))
                if cls is None:
                    self.unknown()
                else:
                    derived = self.index.subclasses(cls)
                    if len(derived) > _MOST_DERIVED:
                        self.unknown()
                        derived = []
                    for one in (cls, *derived):
                        self.add_instance(one, _Place(one.module, cls=one), method, sure=sure and one is cls)
            case _:
                self.unknown()

    def _add_layer(self, name: str, *, sure: bool) -> None:
        self.found.layers[name] = sure or self.found.layers.get(name, False)

    def _add_all(
        self, parts: Iterable[NetworkPart], place: _Place, method: str | None, *, sure: bool
    ) -> None:
        for part in parts:
            self.add(part, place, method, sure=sure)

    def _add_made(self, part: NetworkPart, place: _Place, method: str | None, *, sure: bool) -> None:
        symbol = self.index.symbol(part.name, place.module)
        if isinstance(symbol, FunctionSummary):
            self._add_returned(symbol, part, place, method, sure=sure)
        elif isinstance(symbol, ClassSummary):
            inner = _Place(symbol.module, cls=symbol, given=part.arguments, outer=place)
            self.add_instance(symbol, inner, method, sure=sure)
        else:
            self._add_constant(part.name, place, method, sure=sure)

    def _add_constant(self, path: str, place: _Place, method: str | None, *, sure: bool) -> None:
        owner, _, name = path.rpartition(".")
        module = self.index.module(owner, place.module) if owner else None
        parts = module.parts.get(name) if module is not None else None
        if parts is not None and module is not None:
            self.found.passes_on |= bool(parts)
            self._add_all(parts, _Place(module.module), method, sure=False)
        elif is_layer(models.canonical(path)):
            self._add_layer(models.canonical(path), sure=sure)
        elif not holds_no_network(models.canonical(path)):
            self.unknown()

    def _add_returned(
        self, target: FunctionSummary, part: NetworkPart, place: _Place, method: str | None, *, sure: bool
    ) -> None:
        """Add what a function of the project returns for the arguments of a call."""
        self.found.passes_on |= target.remembers
        key = (target.path, part.arguments)
        parts = self.index.modules[target.module].parts.get(f"{target.qualname}()")
        if key in self._open:
            return
        if parts is None:
            returned = self.index.returned(target)
            if not returned or returned.tag in (TypeTag.MODULE, TypeTag.INSTANCE):
                self.unknown()
            return
        cls = place.cls if target.is_method and part.kind == PartKind.METHOD else None
        inner = _Place(
            target.module, target.qualname, cls, place.inner if cls else None, part.arguments, place
        )
        self._open.add(key)
        self._add_all(parts, inner, method, sure=sure)
        self._open.discard(key)

    def _add_parameter(self, name: str, place: _Place, method: str | None, *, sure: bool) -> None:
        """Add the value of a parameter: the call's argument, or the default."""
        function = self.index.modules[place.module].functions.get(place.function)
        if function is None:
            self.unknown()
            return
        if place.given is not None and place.outer is not None:
            argument = self._argument(name, place)
            if argument is None:
                self.unknown()
                return
            parts, is_default = argument
            self.found.passes_on |= bool(parts)
            self._add_all(parts, _Place(place.module) if is_default else place.outer, method, sure=sure)
            return
        self.found.passes_on = True
        passed = self.index.resolve(f"{function.path}@{name}", place.module)
        if not passed or passed.tag in (
            TypeTag.MODULE,
            TypeTag.CLASS,
            TypeTag.FUNCTION,
            TypeTag.INSTANCE,
            TypeTag.LIST,
            TypeTag.DICT,
        ):
            self._add_passed(passed, method, sure=sure)

    def _argument(self, name: str, place: _Place) -> tuple[tuple[NetworkPart, ...], bool] | None:
        """Return what the known call passes for a parameter, and whether that is the default; None if the
        call does not show it.
        """
        function = self.index.modules[place.module].functions.get(place.function)
        if function is None or place.given is None:
            return None
        for argument, parts in place.given:
            if argument == "*":
                return None
            if function.parameter_at(argument) == name:
                return parts, False
        return self.index.modules[place.module].parts.get(f"{place.function}@{name}", ()), True

    def _add_passed(self, passed: Type, method: str | None, *, sure: bool) -> None:
        cls = self.index.class_of(passed)
        if cls is not None:
            self.add_instance(cls, _Place(cls.module, cls=cls), method, sure=sure)
        elif is_layer(passed.of):
            self._add_layer(passed.of, sure=sure)
        else:
            self.unknown()

    def _add_attribute(self, part: NetworkPart, place: _Place, method: str | None, *, sure: bool) -> None:
        self.found.passes_on |= bool(part.arguments)
        owners = [(place.cls, place)] if not part.arguments and place.cls is not None else []
        for _, given in part.arguments:
            for owner in given:
                symbol = None
                inner = place
                if owner.kind in (PartKind.MADE, PartKind.NAMED):
                    symbol = self.index.symbol(owner.name, place.module)
                    inner = _Place("", given=owner.arguments, outer=place)
                elif owner.kind == PartKind.INSTANCE:
                    symbol = self.index.class_of(Type(TypeTag.INSTANCE, owner.name))
                    inner = _Place("")
                if isinstance(symbol, ClassSummary):
                    inner = _Place(symbol.module, "", symbol, None, inner.given, inner.outer)
                    owners.append((symbol, inner))
        if not owners:
            self.unknown()
        for cls, inner in owners:
            assert cls is not None
            self.add_attribute(cls, part.name, inner, method, sure=sure)

    # -- instances -----------------------------------------------------------------------------

    def add_attribute(
        self, cls: ClassSummary, name: str, instance: _Place, method: str | None, *, sure: bool
    ) -> None:
        """Add the value of an attribute of an instance. `instance` says how the instance was created."""
        known = False
        for owner, place in self._owners(cls, instance):
            parts = self.index.modules[owner.module].parts
            for key in (name, "*"):
                made = parts.get(f"{owner.qualname}.{key}", ())
                known = known or (bool(made) and key == name)
                self._add_all(made, place, method, sure=sure)
        if not known and not self._is_weight(cls, name):
            kind = self.index.attribute(cls, name)
            if not kind or kind.tag in (TypeTag.MODULE, TypeTag.INSTANCE, TypeTag.CLASS, TypeTag.FUNCTION):
                self.unknown()

    def _is_weight(self, cls: ClassSummary, name: str) -> bool:
        """Whether an attribute is a parameter that the class inherits from a layer of torch."""
        return name in ("weight", "bias") and any(
            isinstance(base, str) and is_layer(models.canonical(base)) for base in self.index.ancestry(cls)
        )

    def _owners(self, cls: ClassSummary, instance: _Place) -> list[tuple[ClassSummary, _Place]]:
        """Return a class and its bases in the project, each with the arguments of its constructor."""
        found = []
        given, outer = instance.given, instance.outer
        for owner in self.index.ancestry(cls):
            if not isinstance(owner, ClassSummary):
                continue
            own = f"{owner.qualname}.__init__" if "__init__" in owner.methods else ""
            place = _Place(owner.module, own, cls, instance, given, outer)
            found.append((owner, place))
            if own and own in self.index.modules[owner.module].functions:
                calls = self.index.modules[owner.module].parts.get(f"{owner.qualname}.super()", ())
                given = calls[0].arguments if len(calls) == 1 else None
                outer = place if given is not None else None
        return found

    def add_instance(self, cls: ClassSummary, instance: _Place, method: str | None, *, sure: bool) -> None:
        """Add an instance of a class of the project, as far as `method` runs it."""
        key = (cls.path, method, instance.given)
        if key in self._open:
            return
        self._open.add(key)
        self.found.classes.add(cls.path)
        owners = self._owners(cls, instance)
        for base in self.index.ancestry(cls):
            if isinstance(base, str):
                if is_layer(base):
                    self._add_layer(base, sure=sure)
                elif base not in _PLAIN_BASES:
                    self.unknown()
        for owner, place in owners:
            self.found.overrides.update({"train", "eval", "__call__"} & set(owner.methods))
            if any(base in ("torch.nn.Sequential", "torch.nn.ModuleList") for base in owner.bases):
                held = self.index.modules[owner.module].parts
                for call in held.get(f"{owner.qualname}.super()", ()):
                    for _, parts in call.arguments:
                        self._add_all(parts, place, "forward", sure=sure)
                self._add_all(held.get(f"{owner.qualname}.*", ()), place, "forward", sure=sure)
        own = _Place(cls.module, "", cls, instance, instance.given, instance.outer)
        if method is None:
            self._add_whole(cls, owners, sure=sure)
        else:
            self._run(cls, method, own, sure=sure)
        self._open.discard(key)

    def _add_whole(self, cls: ClassSummary, owners: list[tuple[ClassSummary, _Place]], *, sure: bool) -> None:
        """Add everything that an instance holds, and the effects of all of its methods."""
        uses: set[tuple[str, str]] = set()
        given: set[str] = set()
        for owner, place in owners:
            module = self.index.modules[owner.module]
            prefix = f"{owner.qualname}."
            for key, parts in module.parts.items():
                name = key.removeprefix(prefix)
                if name != key and not any(mark in name for mark in ".@()"):
                    held = [part for part in parts if part.kind not in (PartKind.UNKNOWN, PartKind.PARAMETER)]
                    self._add_all(held, place, None, sure=sure)
                    for part in parts:
                        if part.kind == PartKind.PARAMETER:
                            taken, _ = self._argument(part.name, place) or ((UNKNOWN,), False)
                            plain = all(one.kind in (PartKind.UNKNOWN, PartKind.PARAMETER) for one in taken)
                            self.found.passes_on |= not plain
                            given |= {name} if taken else set()
            for method in owner.methods:
                done = module.forward_summaries.get(f"{prefix}{method}")
                if done is not None:
                    uses |= done.uses
                    self._note(done, module.module, running=method != "__init__", sure=sure)
        own = owners[0][1]
        self.found.passes_on |= any(attribute in given for attribute, _ in uses)
        for attribute, _ in sorted(uses):
            if self.index.method(cls, attribute) is None and attribute not in MODULE_METHODS:
                self.add_attribute(cls, attribute, own, None, sure=False)

    def _run(self, cls: ClassSummary, method: str, instance: _Place, *, sure: bool) -> None:
        """Add what a method of an instance runs."""
        waiting = list(self._methods_called(cls, method))
        seen = set(waiting)
        if not waiting:
            if self.index.attribute(cls, method) or method not in ("forward", "__call__"):
                self.unknown()
            return
        while waiting:
            name = waiting.pop()
            for owner in self.index.ancestry(cls):
                if not isinstance(owner, ClassSummary) or name not in owner.methods:
                    continue
                module = self.index.modules[owner.module]
                done = module.forward_summaries.get(f"{owner.qualname}.{name}")
                if done is not None:
                    self._note(done, module.module, running=True, sure=sure)
                    for called in sorted(self._used(cls, done, instance, sure=sure)):
                        if called not in seen:
                            seen.add(called)
                            waiting.append(called)
                if done is None or name not in done.own:
                    break  # a base's method of this name runs only if it is called through `super()`

    def _methods_called(self, cls: ClassSummary, method: str) -> Iterator[str]:
        """Yield the methods of a class that run when `method` is called; for a call of the network itself,
        which is "forward" here, also the `__call__` that the class defines.
        """
        called = (method, "__call__") if method == "forward" else (method,)
        return (name for name in called if self.index.method(cls, name) is not None)

    def _used(
        self, cls: ClassSummary, done: ForwardSummary, instance: _Place, *, sure: bool
    ) -> Iterable[str]:
        """Add the attributes that a method calls; return the other methods that it calls."""
        found = set(done.own)
        for attribute, method in sorted(done.uses):
            if self.index.method(cls, attribute) is not None:
                found.add(attribute)
            elif method not in MODULE_METHODS and not (method == "" and attribute in MODULE_METHODS):
                self.add_attribute(cls, attribute, instance, _entry(method), sure=sure)
        for path, name in sorted(done.implicit):
            if not path:
                found.update(self._run_implicitly(cls, name))
            elif self._may_run_code(name):
                self._add_implicit(path, name, cls, instance, sure=sure)
        return found

    def _may_run_code(self, name: str) -> bool:
        """Whether a class of the project may run code when an attribute is read, or on an operator."""
        return (
            name == OPERATOR
            or bool(self.index.methods_named(name))
            or any(map(self.index.defines_method, LOOKED_UP))
        )

    def _add_implicit(self, path: str, name: str, cls: ClassSummary, instance: _Place, *, sure: bool) -> None:
        """Add what runs when an attribute of a part is read, or when the part is an operand; once each."""
        key = (path, name, cls.path, instance.given)
        if key in self._implicit:
            return
        self._implicit.add(key)
        for owner, place in self._parts_at(path, cls, instance):
            for called in sorted(self._run_implicitly(owner, name)):
                if (owner.path, called) not in self._implicit:
                    self._implicit.add((owner.path, called))
                    self._run(owner, called, place, sure=sure)

    def _run_implicitly(self, cls: ClassSummary, name: str) -> set[str]:
        """Return the methods of an object that run when its attribute is read, or as an operand."""
        if name != OPERATOR:
            read = (name, *LOOKED_UP)
            return {method for method in read if self.index.method(cls, method) is not None}
        return {
            method
            for owner in self.index.ancestry(cls)
            if isinstance(owner, ClassSummary)
            for method in owner.methods
            if method.startswith("__") and method.endswith("__") and method not in _NOT_OPERATORS
        }

    def _parts_at(
        self, path: str, cls: ClassSummary, instance: _Place
    ) -> Iterable[tuple[ClassSummary, _Place]]:
        """Return the classes of the project that the part of an object at a path may have, as far as they are
        known.
        """
        found: dict[str, tuple[ClassSummary, _Place]] = {cls.path: (cls, instance)}
        for name in path.split("."):
            above, found = found, {}
            for owner, place in above.values():
                kind = self.index.attribute(owner, name)
                for one in alternatives(kind.of) if kind else ():
                    self._note_class(Type(kind.tag, one), _Place(""), found)
                for base, inner in self._owners(owner, place):
                    made = self.index.modules[base.module].parts.get(f"{base.qualname}.{name}", ())
                    for part in made:
                        self._note_part(part, inner, found, _DEPTH)
        return found.values()

    def _note_part(
        self,
        part: NetworkPart,
        place: _Place,
        found: dict[str, tuple[ClassSummary, _Place]],
        depth: int,
    ) -> None:
        """Add the class of a part of a network."""
        if depth <= 0:
            return
        if part.kind == PartKind.INSTANCE:
            self._note_class(Type(TypeTag.INSTANCE, part.name), _Place(""), found)
        elif part.kind in (PartKind.MADE, PartKind.NAMED):
            symbol = self.index.symbol(part.name, place.module)
            if isinstance(symbol, FunctionSummary):
                self._note_class(self.index.returned(symbol), _Place(""), found)
            elif isinstance(symbol, ClassSummary):
                inner = _Place(symbol.module, "", symbol, None, part.arguments, place)
                found.setdefault(symbol.path, (symbol, inner))
        elif part.kind == PartKind.PARAMETER and place.given is not None and place.outer is not None:
            taken, is_default = self._argument(part.name, place) or ((), False)
            for given in taken:
                self._note_part(given, _Place(place.module) if is_default else place.outer, found, depth - 1)

    def _note_class(self, kind: Type, place: _Place, found: dict[str, tuple[ClassSummary, _Place]]) -> None:
        cls = self.index.class_of(kind)
        if cls is not None:
            for one in (cls, *self.index.subclasses(cls)):
                inner = _Place(one.module, "", one, None, place.given, place.outer)
                found.setdefault(one.path, (one, inner))

    def _note(self, done: ForwardSummary, module: str, *, running: bool, sure: bool) -> None:
        found = self.found
        for layer, is_sure in done.layers.items():
            self._add_layer(layer, sure=is_sure and running)
        found.hooks |= done.hooks
        if running:
            found.reads_training |= done.reads_training
            found.draws |= done.draws
            found.keeps |= done.keeps
            found.escapes |= done.escapes
            found.surely_varies |= sure and (done.reads_training or done.draws or bool(done.keeps))
            found.complete &= not done.opaque
        for path in sorted(done.calls):
            self._call(path, module, running=running, sure=sure)

    def _call(self, path: str, module: str, *, running: bool, sure: bool) -> None:
        """Add the effects of a project function called by a network."""
        symbol = self.index.symbol(path, module)
        if path in self._open:
            return
        if isinstance(symbol, FunctionSummary):
            self._open.add(path)
            done = self.index.modules[symbol.module].forward_summaries.get(symbol.qualname)
            if done is not None:
                self._note(done, symbol.module, running=running, sure=sure)
            self._open.discard(path)
        elif running and (symbol is None or isinstance(symbol, Type)):
            self.unknown()  # a variable may hold any function: a lambda, `partial(note, log)`


def _entry(method: str) -> str:
    return "forward" if method in ("", "?", "values", "items", "keys", "children") else method
