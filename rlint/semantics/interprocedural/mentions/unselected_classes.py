"""Classes that a program uses only if an option has a value that it does not have by default."""

from __future__ import annotations

from rlint.semantics.frequency.branches.option_choices import Chooser, OptionChoice
from rlint.semantics.frequency.branches.option_defaults import OptionDefaults
from rlint.semantics.interprocedural.mentions.unused_classes import UnusedClasses
from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.summary import ClassSummary, ModuleSummary


class UnselectedClasses:
    """The classes of a project of which its programs create no objects by default: all places that could do
    so are in branches on options, in registries of which options select other classes, or in methods of such
    classes.
    """

    def __init__(self, index: ProjectIndex, unused: UnusedClasses, options: OptionDefaults) -> None:
        self._index, self._unused, self._options = index, unused, options
        self._known: dict[str, str] = {}
        self._options_of: dict[tuple[str, str], set[tuple[str, str]]] = {}

    def why(self, cls: ClassSummary) -> str:
        """Return why a program creates no objects of a class, nor of those derived from it, by default; "" if
        it may create them.
        """
        known = self._known.get(cls.path)
        if known is None:
            self._known[cls.path] = ""  # of classes that create one another
            known = self._why(cls)
            if known and not all(map(self.why, self._index.subclasses(cls))):
                known = ""
            self._known[cls.path] = known
        return known

    def _why(self, cls: ClassSummary) -> str:
        name = cls.qualname.rpartition(".")[2]
        if "." in cls.qualname or self._unused.is_attribute(name):
            return ""
        found = ""
        for module in self._index.every_module():
            if module.is_test or name not in module.classes_created:
                continue
            for choices in module.switched.get(name, ((),)):
                reasons = (self._why_not(choice, module) for choice in choices)
                found = next((reason for reason in reasons if reason), "")
                if not found:
                    return ""
        return found

    def _why_not(self, choice: OptionChoice, module: ModuleSummary) -> str:
        """Return why a condition is false by default; "" if it may be true."""
        match choice:
            case OptionChoice(chooser=Chooser.CLASS, name=name):
                around = module.classes.get(name)
                return self.why(around) if around is not None else ""
            case OptionChoice(chooser=Chooser.REGISTRY, name=name, needed=tuple(keys)):
                options = self._lookups(name, module)
                reasons = [self._options.why_none_of(keys, *option) for option in sorted(options)]
                return reasons[0] if reasons and all(reasons) else ""
        return self._options.why_false(choice, module.module)

    def _lookups(self, dotted: str, importer: ModuleSummary) -> set[tuple[str, str]]:
        """Return the options that select the classes of a registry, each with the module of the lookup; ""
        for a lookup by anything else. None at all if files use the registry unseen.
        """
        registry = self._meant(dotted, importer.module)
        if registry is None:
            return set()
        if registry not in self._options_of:
            self._options_of[registry] = set(self._found_lookups(registry) or ())
        return self._options_of[registry]

    def _found_lookups(self, registry: tuple[str, str]) -> set[tuple[str, str]] | None:
        module, name = registry
        if self._unused.is_attribute(name):
            return None
        found: set[tuple[str, str]] = set()
        for user in self._index.every_module():
            if any(self._meant(f"{source}.{name}", user.module) == registry for source in user.star_imports):
                return None
            uses = [path for path in user.registries if self._meant(path, user.module) == registry]
            is_known = bool(uses) or user.module == module
            if not is_known and any(
                target.endswith(f".{name}") and self._meant(target, user.module) == registry
                for target in user.imports.values()
            ):
                return None
            found.update((option, user.module) for path in uses for option in user.registries[path])
        return found

    def _meant(self, dotted: str, importer: str) -> tuple[str, str] | None:
        """Return the module and the name of a variable."""
        source, _, name = dotted.rpartition(".")
        module = self._index.module_named(source) or self._index.module(source, importer)
        return (module.module, name) if module is not None else None
