"""The call graph of a project, across files, methods and inheritance."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from rlint.frozen import frozen
from rlint.models import vocabulary
from rlint.models.value_type import UNKNOWN, Type, TypeTag, alternatives
from rlint.regex import regex
from rlint.semantics.interprocedural.mentions.definition_uses import ANY_MODULE, BY_NAME
from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.self_calls import SelfCalls
from rlint.semantics.interprocedural.summary import CallSite, ClassSummary, FunctionSummary, ModuleSummary
from rlint.semantics.interprocedural.symbols import GETTER
from rlint.semantics.types.unpacked_arguments import each_argument

_BY_TAG = frozenset(
    {
        TypeTag.ENVIRONMENT,
        TypeTag.MODULE,
        TypeTag.OPTIMIZER,
        TypeTag.DATASET,
        TypeTag.LOADER,
        TypeTag.REPLAY_BUFFER,
    }
)
"""Types that many classes of a project have, so that the type does not determine the class."""
GUESSED = " (guessed from "
"""Suffix of a method's name in a chain if the target is guessed."""
_MANY = 12
"""A method name that more classes than this define does not identify the receiver."""

_FAMILY = 40
"""Maximum number of classes that may implement one interface: every agent has a `step`."""

_PROTOCOLS = ("typing.Protocol", "typing_extensions.Protocol")

_FEW_BASES = 2
"""Maximum number of bases of which the classes that a receiver is named like are derived."""

_FEW = 3
"""A call that may mean more methods than this does not determine what each of them is passed."""


_NAMES_NETWORK = regex(r"(^|_)(net|nets|network|model|policy)$")
"""Last names of variables and attributes that hold a network."""


@frozen
class CallEdge:
    """`caller` may run `target` at `site`. It is `guessed` if only names determine the target, not a type."""

    caller: FunctionSummary
    site: CallSite
    target: FunctionSummary
    guessed: bool = False

    @property
    def shown(self) -> str:
        """Return the displayed target, with the name that it was guessed from."""
        if not self.guessed:
            return self.target.shown
        receiver = f"{self.site.receiver}." if self.site.receiver else ""
        called = self.site.method or self.site.path.rpartition("@")[2]  # a parameter: `act(obs)`
        return f"{self.target.shown}{GUESSED}{receiver}{called})"


_Passed = tuple[FunctionSummary, str, Type]
"""A function, one of its parameters, and the type that a call passes for it."""


class _Named(NamedTuple):
    """A class, with its name in the form that receivers are compared with."""

    cls: ClassSummary
    name: str


class CallGraph:
    """The calls between functions of a project. The type of the receiver decides which methods a call may
    run. If the type is unknown, a method name that few classes define, or a receiver named like the class
    (`replay_buffer.sample`), is good enough for heat, but not for anything that must be correct.
    """

    def __init__(self, index: ProjectIndex) -> None:
        self.index = index
        self._calls: dict[str, list[CallEdge]] = {}
        self._callers: dict[str, list[CallEdge]] = {}
        self._reads: dict[str, list[CallEdge]] = {}  # of properties
        self._unresolved: dict[str, list[CallSite]] = {}
        self._programs = Programs(index)
        self._defining: dict[tuple[str, str], list[_Named]] = {}  # by program and the method's name
        self._in_package: dict[tuple[str, str], list[_Named]] = {}  # by package and the method's name
        self._named: dict[tuple[str, str, str], list[FunctionSummary]] = {}  # by method, receiver, module
        for module in index.modules.values():
            program = self._programs.of(module.module)
            package = self._package_of(module.module)
            for cls in module.classes.values():
                named = _Named(cls, _plain(cls.qualname.rpartition(".")[2]))
                for method in cls.methods:
                    self._defining.setdefault((program, method), []).append(named)
                    if package:
                        self._in_package.setdefault((package, method), []).append(named)
        self._stored: dict[tuple[str, str], list[tuple[str, str]]] = {}  # by program and attribute
        for module in index.modules.values():
            program = self._programs.of(module.module)
            for attribute, paths in module.stored:
                held = self._stored.setdefault((program, attribute), [])
                held.extend((path, module.module) for path in paths)
        self._note_arguments()
        self_calls = SelfCalls(index)
        for module in index.modules.values():
            for function in module.functions.values():
                made: list[CallEdge] = []
                unresolved: list[CallSite] = []
                for site in function.calls:
                    targets, guessed = self._targets(site, module.module)
                    targets = self_calls.possible(function, site, targets)
                    if not targets:
                        unresolved.append(site)
                    for target in (*targets, *self._finalizers(targets)):
                        edge = CallEdge(function, site, target, guessed)
                        made.append(edge)
                        known = self._reads if site.path.endswith(GETTER) else self._callers
                        known.setdefault(target.path, []).append(edge)
                if made:
                    self._calls[function.path] = made
                if unresolved:
                    self._unresolved[function.path] = unresolved

    def calls(self, path: str) -> list[CallEdge]:
        """Return the calls of a function to functions of the project."""
        return self._calls.get(path, [])

    def unresolved(self, path: str) -> list[CallSite]:
        """Return the calls of a function whose target is unknown or outside of the project."""
        return self._unresolved.get(path, [])

    def callers(self, path: str) -> list[CallEdge]:
        """Return the calls of a function from the project."""
        return self._callers.get(path, [])

    def reads(self, path: str) -> list[CallEdge]:
        """Return the places that are known to read a property, and so run it. There may be others, on objects
        of unknown classes.
        """
        return self._reads.get(path, [])

    def program(self, module: str) -> str:
        """Return the name of the program that a module belongs to."""
        return self._programs.of(module)

    def program_files(self, module: str) -> list[ModuleSummary]:
        """Return the files of the program that a module belongs to, without tests."""
        program = self.program(module)
        return [
            file
            for file in self.index.modules.values()
            if not file.is_test and self.program(file.module) == program
        ]

    def imported(self, target: str, importer: str) -> str:
        """Return the module of the project that an import of `target` loads; "" for none."""
        return self._programs.imported(target, importer, self.index) or ""

    def _note_arguments(self) -> None:
        """Infer the types of unannotated parameters from the arguments of callers. Two rounds: the types
        found by the first (an agent passed to `train`) let the second resolve more (`agent.memory`).
        """
        passing = [
            (function, site)
            for module in self.index.modules.values()
            if not module.is_test
            for function in module.functions.values()
            for site in function.calls
            if site.path and (site.arguments or site.unpacked)
        ]
        for _ in range(2):
            found: list[_Passed] = []
            guessed: list[_Passed] = []
            for function, site in passing:
                targets = self.index.possible_callables(site.path, function.module)
                if not targets and site.method:
                    targets, is_guess = self._targets(site, function.module)
                    if is_guess and len(targets) <= _FEW:
                        for target in targets:
                            guessed += self._arguments(site, target, function.module)
                        continue
                for target in targets:
                    passed = self._arguments(site, target, function.module)
                    # a recursive call passes on values that came from other callers
                    recursive = target is function
                    found.extend(entry for entry in passed if not recursive or entry[2])
            self.index.forget_arguments()
            for target, parameter, kind in found:
                self.index.passed_arguments.note(target, parameter, kind)
            for target, parameter, kind in guessed:
                self.index.passed_arguments.note_guess(target, parameter, kind)
        for target, parameter, kind in guessed:
            if kind.tag is TypeTag.FUNCTION and kind.of:
                self._note_stored(target, parameter, kind.of)

    def _note_stored(self, setter: FunctionSummary, parameter: str, path: str) -> None:
        """Note a function that a call passes to a method of an object of unknown class, if the method stores
        the parameter in an attribute of that name: `agent.set_objective(objective)`.
        """
        for _, attribute in setter.sets:
            if attribute.lstrip("_") == parameter:
                held = self._stored.setdefault((self._programs.of(setter.module), attribute), [])
                if (path, setter.module) not in held:
                    held.append((path, setter.module))

    def _arguments(self, site: CallSite, target: FunctionSummary, module: str) -> list[_Passed]:
        parameters = target.call_parameters
        found = []
        given = site.arguments
        if site.unpacked:
            unpacked = dict(site.unpacked)
            resolve = partial(self._resolved, module=module)
            given = tuple(each_argument(site.arguments, unpacked, parameters, resolve))
        for place, passed in given:
            name = place
            if place.isdigit():
                beyond = int(place) - len(parameters)
                name = parameters[int(place)] if beyond < 0 else f"*{beyond}"
            if name in parameters or (name[:1] == "*" and target.takes_more):
                found.append((target, name, self._resolved(passed, module)))
        return found

    def _resolved(self, kind: Type, module: str) -> Type:
        """Return the type of an argument, as the project knows it."""
        return self.index.resolve(kind.of, module) if kind.of and kind.tag is TypeTag.UNKNOWN else kind

    def _targets(self, site: CallSite, module: str) -> tuple[list[FunctionSummary], bool]:
        """Return the functions that a call may run, and whether they are only guessed."""
        if site.path:
            found = self.index.possible_callables(site.path, module)
            if found:
                like = self._methods_of_like(found)
                return [*found, *like], bool(like)
            found = self._called_objects(site.path, module)
            if found:
                return found, True
        if not site.method or site.receiver in ("super", "np", "torch"):
            return [], False
        held = self._stored.get((self._programs.of(module), site.method), ())
        if held:
            stored = {f.path: f for path, where in held for f in self.index.possible_callables(path, where)}
            if stored:
                return list(stored.values()), True
        owner = site.path.rpartition(".")[0]
        kind = self._receiver(owner, module) if owner else UNKNOWN
        if "{" in kind.of:
            return self._of_any(kind, site.method), False
        cls = self.index.class_of(kind)
        if cls is not None:
            found = self.index.implementations(cls, site.method) or self._methods_of_mixing_classes(
                cls, site.method
            )
            if found or kind.tag is not TypeTag.ENVIRONMENT:
                return found, False
        key = (site.method, site.receiver, module)
        known = self._named.get(key)
        if known is None:
            known = self._named[key] = self._find_named(*key)
        known = [method for method in known if method.takes(site) and not method.is_property]
        if kind:
            return [method for method in known if self._may_be(kind, method)], True
        library = _library_class(owner)
        if library and self.index.symbol(library, module) is None:
            return [method for method in known if library in self._bases(method)], True
        return known, True

    def _called_objects(self, path: str, module: str) -> list[FunctionSummary]:
        """Return the functions that an attribute or parameter likely holds, and the `__call__` methods of
        objects: `self.kind(mean)`.
        """
        if path.endswith(")") or "." not in path:
            return []
        kind = self.index.resolve(path, module)
        if kind.tag not in (TypeTag.UNKNOWN, TypeTag.FUNCTION) or kind.caveat is None:
            return []
        found: dict[str, FunctionSummary] = {}
        for choice in kind.caveat.choices:
            if choice.kind.tag is TypeTag.FUNCTION and choice.kind.of:
                found.update(
                    (each.path, each) for each in self.index.possible_callables(choice.kind.of, module)
                )
            cls = self.index.class_of(choice.kind) if choice.kind.tag is TypeTag.INSTANCE else None
            for each in self.index.implementations(cls, "__call__") if cls is not None else ():
                found[each.path] = each
        return list(found.values())

    def _methods_of_like(self, methods: list[FunctionSummary]) -> list[FunctionSummary]:
        """Return, for the method of a protocol, those of the classes that have all of its methods and need
        not inherit from it.
        """
        cls = self.index.owner_of(methods[0]) if len(methods) == 1 else None
        if cls is None or not any(base in _PROTOCOLS for base in cls.bases):
            return []
        found = []
        for each in self.index.methods_named(methods[0].name):
            other = self.index.owner_of(each)
            if other is not None and other is not cls and set(cls.methods) <= set(other.methods):
                found.append(each)
        return found if len(found) <= _FAMILY else []

    def _of_any(self, kind: Type, method: str) -> list[FunctionSummary]:
        """Return the methods of a value of one of several classes, as far as they are known."""
        found: dict[str, FunctionSummary] = {}
        for path in alternatives(kind.of):
            cls = self.index.symbol(path.removesuffix("()"), "")
            if isinstance(cls, ClassSummary):
                found.update((each.path, each) for each in self.index.implementations(cls, method))
        return list(found.values())

    def _finalizers(self, targets: list[FunctionSummary]) -> list[FunctionSummary]:
        """Return the functions that run once for each object created."""
        found = []
        for target in targets:
            cls = self.index.owner_of(target) if target.name == "__init__" else None
            finalizer = self.index.method(cls, "__del__") if cls is not None else None
            if finalizer is not None:
                found.append(finalizer)
        return found

    def _receiver(self, owner: str, module: str) -> Type:
        """Return the type of the receiver: as declared by a class, else as inferred from the values stored
        there.
        """
        holder, _, attribute = owner.rpartition(".")
        cls = self.index.class_of(self.index.resolve(holder, module)) if attribute.isidentifier() else None
        for base in self.index.ancestry(cls) if cls is not None else ():
            declared = base.declared.get(attribute) if isinstance(base, ClassSummary) else None
            if declared is not None and isinstance(base, ClassSummary):
                kind = declared or self.index.resolve(declared.of, base.module)
                if self.index.class_of(kind) is not None:
                    return kind
        return self.index.resolve(owner, module)

    def _methods_of_mixing_classes(self, cls: ClassSummary, method: str) -> list[FunctionSummary]:
        """Return the methods that a mixin finds in the classes that it is mixed into, and in their other
        bases.
        """
        found: dict[str, FunctionSummary] = {}
        for mixed in self.index.subclasses(cls):
            own = self.index.method(mixed, method)
            if own is not None:
                found[own.path] = own
        return list(found.values())

    def _may_be(self, kind: Type, method: FunctionSummary) -> bool:
        """Whether a value of a type that is not a project class may be of the class that defines a method."""
        cls = self.index.owner_of(method)
        if cls is None:
            return False
        tag = self.index.class_kind(cls).tag
        if kind.tag in _BY_TAG and tag is kind.tag:
            return True
        if kind.tag is TypeTag.REPLAY_BUFFER:
            return tag is TypeTag.INSTANCE
        return bool(kind.of) and kind.of in self._bases(method)

    def _bases(self, method: FunctionSummary) -> tuple[ClassSummary | str, ...]:
        """Return the class that defines a method, and its bases."""
        cls = self.index.owner_of(method)
        return self.index.ancestry(cls) if cls is not None else ()

    def _find_named(self, method: str, receiver: str, module: str) -> list[FunctionSummary]:
        """Return the methods that a call of this name may mean, judging by the name of its receiver: those of
        the same program, else those of other modules of the package, which a file may load by name at run
        time.
        """
        defining = self._defining.get((self._programs.of(module), method), [])
        is_distinctive = self._is_distinctive(method, defining)
        found = self._named_like(defining, method, receiver, module, by_receiver=not is_distinctive)
        if not found and is_distinctive:
            found = self._methods([cls for cls, _ in defining], method)
        if not found and _NAMES_NETWORK.search(receiver.lower()):
            found = self._methods(self._networks_with_one_base([cls for cls, _ in defining]), method)
        package = self._package_of(module)
        if found or not package:
            return found
        others = self._in_package.get((package, method), [])
        return self._named_like(others, method, receiver, module, by_receiver=True)

    def _package_of(self, module: str) -> str:
        """Return the package that holds a module, if it has an `__init__.py`; "" for none."""
        package = module.rpartition(".")[0]
        return package if package in self.index.modules else ""

    def _named_like(
        self, defining: list[_Named], method: str, receiver: str, module: str, *, by_receiver: bool
    ) -> list[FunctionSummary]:
        """Return the methods of the classes that a receiver is named like, of those that define a method. If
        only the receiver determines it, one class of such a name is enough.
        """
        token = _plain(receiver)
        if len(token) < 3:
            return []
        intern = [cls for cls, name in defining if token in name or (len(name) >= 4 and name in token)]
        near = [cls for cls in intern if cls.module == module] or [
            cls for cls in intern if self._imports_either(module, cls.module)
        ]
        same = {cls.path for cls, name in defining if name == token and cls in near}
        if same:  # `actor` is an `Actor`, not an `ActorCriticPolicy`
            near = [cls for cls in near if same & {getattr(b, "path", b) for b in self.index.ancestry(cls)}]
        if near and len(near) <= _MANY:
            return self._with_overriding(near, method)
        family = self._family(defining, token)
        is_exact = any(name == token for _, name in defining)
        if family and (is_exact or len(family) > 1 or by_receiver):
            return self._methods(family, method)
        return self._methods(intern, method) if len(intern) == 1 and by_receiver else []

    def _networks_with_one_base(self, classes: list[ClassSummary]) -> list[ClassSummary]:
        """Return the networks among some classes, if they derive from one class of the project."""
        networks = [cls for cls in classes if self.index.class_kind(cls).tag is TypeTag.MODULE]
        families = map(self.index.ancestry, networks)
        bases = [{base.path for base in each if isinstance(base, ClassSummary)} for each in families]
        return networks if bases and len(networks) <= _FAMILY and set.intersection(*bases) else []

    @staticmethod
    def _is_distinctive(method: str, defining: list[_Named]) -> bool:
        """Whether few classes define a method, whose name then says more than the name of the receiver."""
        common = method in vocabulary.COMMON_METHODS or method.startswith("__")
        return not common and len(defining) <= _FEW

    def _family(self, defining: list[_Named], token: str) -> list[ClassSummary]:
        """Return the classes that a receiver named like their common base may have: an `agent` is a
        `BaseAgent`, whatever the names of the derived classes.
        """
        found: dict[str, ClassSummary] = {}
        derived: dict[str, set[str]] = {}
        for cls, _ in defining:
            for base in self.index.ancestry(cls):
                if isinstance(base, ClassSummary) and self._is_called(base, token):
                    found[cls.path] = cls
                    derived.setdefault(base.path, set()).add(cls.path)
        largest = sorted(derived.values(), key=len, reverse=True)
        left = set(found)
        for several in largest[:_FEW_BASES]:
            left -= several if len(several) > 1 or len(found) == 1 else set()
        return list(found.values()) if not left and len(found) <= _FAMILY else []

    def _is_called(self, cls: ClassSummary, token: str) -> bool:
        name = _plain(cls.qualname.rpartition(".")[2])
        return token in name or (len(name) >= 4 and name in token)

    def _imports_either(self, module: str, other: str) -> bool:
        """Whether one of two modules imports from the other."""
        for importer, imported in ((module, other), (other, module)):
            tail = imported.rpartition(".")[2]
            for target in self.index.modules[importer].imports.values():
                if target == imported or target.startswith(f"{imported}.") or f".{tail}." in f".{target}.":
                    return True
        return False

    def _with_overriding(self, classes: list[ClassSummary], method: str) -> list[FunctionSummary]:
        """Return the methods of classes, and the methods of derived classes that override them."""
        found = {each.path: each for cls in classes for each in self.index.implementations(cls, method)}
        return list(found.values()) if len(found) <= _FAMILY else self._methods(classes, method)

    def _methods(self, classes: list[ClassSummary], method: str) -> list[FunctionSummary]:
        found = []
        for cls in classes:
            function = self.index.modules[cls.module].functions.get(f"{cls.qualname}.{method}")
            if function is not None:
                found.append(function)
        return found


class Programs:
    """Groups of modules that belong together: those that import one another, directly or indirectly, also by
    a table that names their classes (`"games.chess:Chess"`). Scripts that only share a folder are separate
    programs.
    """

    def __init__(self, index: ProjectIndex) -> None:
        self._leader: dict[str, str] = {}
        for module in index.modules.values():
            for target in (*module.imports.values(), *module.star_imports):
                imported = self.imported(target, module.module, index)
                if imported is not None:
                    self._leader[self.of(module.module)] = self.of(imported)
        for module in index.modules.values():
            for imported in _imported_by_class(module, index):
                self._leader[self.of(module.module)] = self.of(imported)

    def of(self, module: str) -> str:
        """Return the name of the program that a module belongs to."""
        leader = module
        while (above := self._leader.get(leader, leader)) != leader:
            leader = above
        if leader != module:
            self._leader[module] = leader
        return leader

    @staticmethod
    def imported(target: str, importer: str, index: ProjectIndex) -> str | None:
        """Return the module of the project that an import of `target` loads."""
        parts = target.split(".")
        for cut in range(len(parts), 0, -1):
            found = index.module(".".join(parts[:cut]), importer)
            if found is not None:
                return found.module
        return None


def _imported_by_class(module: ModuleSummary, index: ProjectIndex) -> Iterator[str]:
    """Yield the modules of which the strings of a file name a class, if the file imports modules whose names
    are only known at run time.
    """
    uses = {use for named in module.definition_uses.values() for use in named}
    if ANY_MODULE not in uses or module.is_test:
        return
    for use in uses:
        if use.startswith(BY_NAME):
            name = use.removeprefix(BY_NAME)
            defining = [each.module for each in index.modules.values() if name in each.classes]
            if len(defining) == 1:
                yield defining[0]


def _library_class(owner: str) -> str:
    """Return the dotted name of the class of a receiver that is created in the same expression: `a.B` for
    `a.B()`.
    """
    made = owner.removesuffix("()")
    named_like_a_class = made.rpartition(".")[2][:1].isupper()
    return made if made != owner and named_like_a_class and not set(made) & set("()[]@") else ""


def _plain(name: str) -> str:
    """Return a name in the form that is compared: `agent` with `DQNAgent`, `replay_buffer` with
    `ReplayBuffer`.
    """
    return name.lower().replace("_", "")
