"""Options of a program that keep their defaults unless its user sets them: switches that are off, and choices
of one of several strings.
"""

from __future__ import annotations

from rlint.models import vocabulary
from rlint.regex import regex
from rlint.semantics.frequency.branches.declared_options import ALIAS, ONLY_IF, UNKNOWN_VALUE, Given
from rlint.semantics.frequency.branches.option_choices import Chooser, OptionChoice
from rlint.semantics.interprocedural.call_graph import CallGraph
from rlint.semantics.interprocedural.mentions.definition_uses import MAIN
from rlint.semantics.interprocedural.summary import ModuleSummary

_NO_FEATURE = regex(
    r"(^|_)(cuda|gpus?|devices?|cpu|mps|train\w*|learn\w*|run|main|mode|continuous|discrete|target|reset|done"
    r"|env\w*|seed|x|out)($|_)"
)
"""Switches that say where or whether training runs, or that describe its task."""
_NO_CHOICE = regex(
    r"(^|_)(algo\w*|agents?|polic(y|ies)|models?|env\w*|tasks?|data\w*|net|networks?|arch\w*|backbone|encoder"
    r"|modes?|types?|kinds?|names?|methods?|variant|version|game|scenario|map|robot|backend|devices?|dtype"
    r"|precision|stage|phase|command|run|experiment|exp|trainer)($|_)"
)
"""Choices that select what is trained: all of their values are in use."""
_CONFIGURED = vocabulary.READ_SETTINGS | vocabulary.READ_OTHER_SETTINGS
_MOST_ALIASES = 3
"""Maximum number of names through which the value of an option is followed."""


class OptionDefaults:
    """The settings of the programs of a project, by their names alone. Of a program that reads its settings
    from YAML files, only those are known that files of the project give, and an option is on if any of them
    says so: others may be in files of its users.
    """

    def __init__(self, graph: CallGraph) -> None:
        self._graph = graph
        self._given: dict[tuple[str, str], set[Given]] = {}
        self._configured: set[str] = set()
        self._unseen: set[str] = set()
        for module in graph.index.modules.values():
            if module.is_test:
                continue
            program = graph.program(module.module)
            for name, values in module.options.items():
                self._given.setdefault((program, name), set()).update(values)
            roots = {target.partition(".")[0] for target in module.imports.values()}
            if not roots.isdisjoint(_CONFIGURED) and not self._only_starts_scripts(module):
                self._configured.add(program)
                if not roots.isdisjoint(vocabulary.READ_OTHER_SETTINGS):
                    self._unseen.add(program)
        self._in_files: dict[str, set[Given]] = {}
        for file in graph.index.configurations if self._configured else ():
            for name, values in file.options.items():
                self._in_files.setdefault(name, set()).update(values)

    def _only_starts_scripts(self, module: ModuleSummary) -> bool:
        """Whether a file imports nothing from the project but scripts, as a search for hyperparameters does:
        run by themselves, they have the defaults that they declare.
        """
        imported = {self._graph.imported(target, module.module) for target in module.imports.values()} - {""}
        files = [self._graph.index.modules[each] for each in imported - {module.module}]
        return bool(files) and all(MAIN in file.definition_uses for file in files)

    def is_configured(self, module: str) -> bool:
        """Whether the program of a module reads its settings from files."""
        return self._graph.program(module) in self._configured

    def where(self, module: str) -> str:
        """Return in words where the options of the program of a module are set."""
        return "in all configurations of this project" if self.is_configured(module) else "by default"

    def why_false(self, choice: OptionChoice, module: str) -> str:
        """Return why an option does not have a value by default; "" if it may have it."""
        match choice:
            case OptionChoice(Chooser.OPTION, name, tuple(texts)):
                return self.why_none_of(texts, name, module)
            case OptionChoice(Chooser.OPTION, name, True) if self.off_values(name, module):
                return f"`{name}` is off {self.where(module)}"
            case OptionChoice(Chooser.OPTION, name, False) if self.is_on(name, module):
                return f"`{name}` is on {self.where(module)}"
        return ""

    def why_none_of(self, texts: tuple[str, ...], name: str, module: str) -> str:
        """Return why an option is none of some strings by default; "" if it may be one."""
        values = self.values(name, module) if name else None
        if values is None or not values.isdisjoint(texts):
            return ""
        if self.is_configured(module):
            return f"no configuration of this project has `{name}: {texts[0]}`"
        return f"`{name}` is not `{texts[0]}` by default"

    def values(self, name: str, module: str) -> frozenset[object] | None:
        """Return the values that an option has by default: a switch that is off or on, or a choice of
        strings. None if it may have others: if the program sets it at any place, computes it, or reads its
        settings from other files.
        """
        switched = self.off_values(name, module)
        if switched is not None:
            return switched
        return frozenset({True}) if self.is_on(name, module) else self._chosen(name, module)

    def _chosen(self, name: str, module: str) -> frozenset[object] | None:
        """Return the strings that an option has by default."""
        given = self._values_of(name, module)
        if _NO_CHOICE.search(name.lower()):
            return None
        values = {value for value, _ in given}
        is_declared = any(declared and isinstance(value, str) for value, declared in given)
        if not is_declared or UNKNOWN_VALUE in values:
            return None
        return frozenset(values) if all(value is None or isinstance(value, str) for value in values) else None

    def _values_of(self, name: str, module: str) -> set[Given]:
        """Return the values that the code and the configurations of a program give to an option; none if
        others may give it, too.
        """
        program = self._graph.program(module)
        given = self._without_aliases(self._given.get((program, name), set()), program)
        if program not in self._configured:
            return given
        if program in self._unseen or name not in self._in_files:
            return set()
        return given | self._in_files[name]

    def _without_aliases(self, given: set[Given], program: str, depth: int = _MOST_ALIASES) -> set[Given]:
        """Return the values with those of other options in place of their names: of `per` in
        `Settings(prioritised=args.per)`.
        """
        found: set[Given] = set()
        for value, declared in given:
            if isinstance(value, str) and value.startswith((ALIAS, ONLY_IF)):
                others = self._of_other(value.removeprefix(ALIAS).removeprefix(ONLY_IF), program, depth)
                if value.startswith(ONLY_IF):
                    others = set() if all(map(_is_off, others)) else {UNKNOWN_VALUE}
                found.update((other, declared) for other in others)
            else:
                found.add((value, declared))
        return found

    def _of_other(self, name: str, program: str, depth: int) -> set[bool | int | str | None]:
        """Return the values of the option that another one takes its value from."""
        given = self._given.get((program, name), set()) if depth else set()
        return {value for value, _ in self._without_aliases(given, program, depth - 1)} or {UNKNOWN_VALUE}

    def off_values(self, name: str, module: str) -> frozenset[object] | None:
        """Return the values of a switch that is off by default: `False`, `None` or 0. None if it may be on:
        if the program turns it on at any place, computes it, or reads its settings from other files.
        """
        values = self._switched(name, module)
        return values if values and all(map(_is_off, values)) else None

    def is_on(self, name: str, module: str) -> bool:
        """Whether a switch is on by default: `True` wherever the program or its configurations set it."""
        values = self._switched(name, module)
        return bool(values) and all(value is True for value in values)

    def _switched(self, name: str, module: str) -> frozenset[object]:
        """Return all values of an option that may be a switch; none if they are not known."""
        if _NO_FEATURE.search(name.lower()):
            return frozenset()
        given = self._values_of(name, module)
        values = {value for value, _ in given}
        is_declared = any(declared for _, declared in given)
        return frozenset(values) if is_declared and UNKNOWN_VALUE not in values else frozenset()


def _is_off(value: object) -> bool:
    return value is None or value == 0
