"""Names that the files of a project use: attributes read, names imported, settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property

from rlint.findings import ProgramScale
from rlint.models.rl import SLOW_CALLS
from rlint.models.value_type import TypeTag
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.interprocedural.call_graph import CallGraph
from rlint.semantics.interprocedural.frame_networks import FrameNetworks
from rlint.semantics.interprocedural.summary import (
    CallSite,
    ClassSummary,
    FunctionSummary,
    ModuleSummary,
)
from rlint.semantics.nn.module_graph import is_by_mode
from rlint.semantics.nn.torch_settings import LARGE_LAYERS, SIMULATES, TOKENS, UNROLLED
from rlint.semantics.nn.train_eval_mode import is_switch

_SHARE_OF_FILES = 3
_FAR_MORE = 4
_FEW_FILES = 15
"""Programs with more files that use torch are often libraries, whose users choose the networks."""


_CALLED_UNSEEN = frozenset({"forward", "__call__"})
"""Methods that calls of the object run: `self.net(x)`."""


class ProgramSymbols:
    """The names used in all files of a project. Queries about "the program" of a module are answered from the
    files that belong to it (see `call_graph.Programs`).
    """

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self.index = graph.index
        self._of_programs: dict[str, frozenset[str]] = {}
        self._by_mode: dict[str, bool] = {}
        self._switched_networks: dict[str, frozenset[str]] = {}
        self._reads_errors: dict[str, bool] = {}
        self._for_language_models: dict[str, bool] = {}
        self._scales: dict[str, ProgramScale] = {}
        self._function_names: dict[tuple[str, ...], tuple[tuple[str, int], ...]] = {}

    def is_attribute_read(self, attribute: str) -> bool:
        """Whether any file reads an attribute of this name, on any object."""
        return attribute in self.index.attributes_read

    def is_write_only(self, attribute: str) -> bool:
        """Whether all containers of this name are only added to, and possibly emptied, in all files."""
        return all(
            attribute in module.write_only_attributes
            for module in self.index.modules.values()
            if attribute in module.attributes_read
        )

    def has_torch_setting(self, speedup: str) -> bool:
        """Whether any file changes how torch computes, by a word of `rlint.semantics.nn.torch_settings`."""
        return speedup in self._torch_settings

    @cached_property
    def _torch_settings(self) -> frozenset[str]:
        return frozenset[str]().union(*(module.speedups for module in self.index.modules.values()))

    def program_says(self, speedup: str, module: str) -> bool:
        """Whether any file of the program of a module changes how torch computes. Tests only count for
        themselves.
        """
        files = (each for each in self._program(module) if not each.is_test or each.module == module)
        return any(speedup in each.speedups for each in files)

    def is_for_language_models(self, module: str) -> bool:
        """Whether the program of a module trains or runs language models: a third of its files that use torch
        do so, and hardly any step an environment.
        """
        program = self.graph.program(module)
        known = self._for_language_models.get(program)
        if known is None:
            known = self._for_language_models[program] = self._is_for_language_models(module)
        return known

    def _is_for_language_models(self, module: str) -> bool:
        files = self._torch_files(module)
        for_tokens = sum(TOKENS in each.speedups for each in files)
        playing = sum(_steps_environments(each) for each in files)
        return for_tokens * _SHARE_OF_FILES >= max(1, len(files)) and for_tokens >= playing * _FAR_MORE

    def scale(self, module: str) -> ProgramScale:
        """Return how long training steps take in the program of a module: long if a third of its files that
        use torch has layers for images or sequences (in a small program, all files with layers), or the
        module itself has some, or unrolls a network over time; also if it uses no torch, but TensorFlow.
        """
        if {LARGE_LAYERS, UNROLLED} & self.index.modules[module].speedups:
            return ProgramScale.LARGE
        program = self.graph.program(module)
        known = self._scales.get(program)
        if known is None:
            known = self._scales[program] = self._scale_of_program(module)
        return known

    def takes_frames(self, module: str) -> bool:
        """Whether the code of a module works with a network that takes frames in bytes."""
        return self._frame_networks.used_with(module)

    @cached_property
    def _frame_networks(self) -> FrameNetworks:
        return FrameNetworks(self.graph)

    def _scale_of_program(self, module: str) -> ProgramScale:
        files = self._torch_files(module)
        if not files and any(
            not SLOW_CALLS.isdisjoint(each.packages) for each in self.graph.program_files(module)
        ):
            return ProgramScale.SLOW
        large = sum(LARGE_LAYERS in each.speedups for each in files)
        if large:
            others = (each for each in files if LARGE_LAYERS not in each.speedups)
            is_only_kind = len(files) <= _FEW_FILES and not any(map(_has_layers, others))
            is_large = is_only_kind or large * _SHARE_OF_FILES >= len(files)
            return ProgramScale.LARGE if is_large else ProgramScale.MIXED
        simulates = any(SIMULATES in each.speedups for each in self.graph.program_files(module))
        return ProgramScale.SIMULATED if simulates else ProgramScale.SMALL

    def _torch_files(self, module: str) -> list[ModuleSummary]:
        """Return the files of the program of a module that import torch, without tests."""
        return [
            each
            for each in self.graph.program_files(module)
            if any(target.partition(".")[0] == "torch" for target in each.imports.values())
        ]

    def is_imported(self, path: str) -> bool:
        """Whether any file imports a dotted path."""
        return path in self._imported

    def imports(self, name: str, module: str) -> bool:
        """Whether any file imports a name of a module, or all of its names."""
        return f"{module}.{name}" in self._imported or self.is_starred(module)

    def is_starred(self, module: str) -> bool:
        """Whether any file imports all names of a module."""
        return module in self._starred

    def is_read_in_other_file(self, attribute: str, module: str) -> bool:
        """Whether a file other than a module reads an attribute of this name, on any object."""
        every = self.index.modules.values()
        return any(attribute in each.attributes_read for each in every if each.module != module)

    def is_used_in_other_file(
        self, attribute: str, owner: ClassSummary | None, module: str, *, siblings: bool = True
    ) -> bool:
        """Whether another file uses an attribute of this name, except one that a class in that file,
        unrelated to the `owner`, defines itself. Tests are excluded. Without `siblings`, classes that only
        share a base with the `owner` are unrelated, too.
        """
        return any(
            attribute in each.attributes_read
            and not self._has_for_itself(each, attribute, owner, siblings=siblings)
            for each in self.index.modules.values()
            if each.module != module and not each.is_test
        )

    def calls_in_other_files(self, function: FunctionSummary, *, here: bool = False) -> list[CallSite]:
        """Return the calls in other files (or also `here`) that run a function, or may do so by the name of
        the method. Tests are excluded.
        """
        found = []
        for module, caller, site in self._sites_by_name.get(function.name, ()):
            if (module == function.module and not here) or not function.takes(site):
                continue
            targets = [edge.target for edge in self.graph.calls(caller) if edge.site is site]
            if not targets or function in targets:
                found.append(site)
        return found

    def calls_that_receive(self, function: FunctionSummary, aliases: tuple[str, ...]) -> list[CallSite]:
        """Return the calls of the project that receive the result of a function, without tests. `aliases` are
        attributes that hold it as well. Of calls that are known by the name of the method alone, or that may
        run other methods, those that unpack another number of items run another method; if some unpack this
        number, so do those that use the result as a whole. Where some read fields, those that unpack do, too.
        Calls of objects (`self.net(x)`) are not known by name: empty for the methods that they run.
        """
        sure: list[CallSite] = []
        likely: list[CallSite] = []
        is_local = "." in function.qualname and not function.is_method  # no other object has it
        if function.name in _CALLED_UNSEEN:
            return []
        for _, caller, site in self._sites_by_name.get(function.name, ()):
            if not function.takes(site):
                continue
            targets = [edge.target for edge in self.graph.calls(caller) if edge.site is site]
            if targets == [function] or (is_local and function in targets):
                sure.append(site)
            elif not is_local and (not targets or function in targets):
                likely.append(site)
        for alias in aliases:
            for module, caller, site in self._sites_by_name.get(alias, ()):
                if function.takes(site) and not self._is_on_other_object(site, caller, module, function):
                    likely.append(site)
        lengths = {length for length in function.hands_back if length > 1}
        if lengths:
            likely = [site for site in likely if not site.unpacks or site.unpacks in lengths]
            if any(site.unpacks for site in (*sure, *likely)):
                likely = [site for site in likely if site.unpacks or site.reads is not None]
        elif any(isinstance(item, str) for site in (*sure, *likely) for item in site.reads or ()):
            likely = [site for site in likely if not site.unpacks]  # it returns an object
        return sure + likely

    def _is_on_other_object(
        self, site: CallSite, caller: str, module: str, function: FunctionSummary
    ) -> bool:
        """Whether a call of a method of `self` is in a class that does not inherit from the one around a
        function, nor the reverse.
        """
        if site.receiver != "self":
            return False
        own = self._class_around(function.path, function.module)
        its = self._class_around(caller, module)
        if own is None or its is None:
            return False
        return its.path not in self._line(own) and own.path not in self._line(its)

    def _class_around(self, path: str, module: str) -> ClassSummary | None:
        """Return the outermost class around a function."""
        classes, name = self.index.modules[module].classes, ""
        for part in path.removeprefix(f"{module}.").split("."):
            name = f"{name}.{part}" if name else part
            if name in classes:
                return classes[name]
        return None

    @cached_property
    def _sites_by_name(self) -> dict[str, list[tuple[str, str, CallSite]]]:
        """Return the calls of the project by the name of the called function, with the path of the caller."""
        found: dict[str, list[tuple[str, str, CallSite]]] = {}
        for module in self.index.modules.values():
            for caller in () if module.is_test else module.functions.values():
                for site in caller.calls:
                    name = site.method or site.path.rpartition(".")[2]
                    found.setdefault(name, []).append((module.module, caller.path, site))
        return found

    def reads_errors(self, module: str) -> bool:
        """Whether a file of the program of a module may read the text of errors. Its tests count, too."""
        program = self.graph.program(module)
        known = self._reads_errors.get(program)
        if known is None:
            files = self._program(module)
            known = self._reads_errors[program] = any(each.reads_errors for each in files)
        return known

    def shown_in_other_files(self, module: str) -> frozenset[str]:
        """Return the names of functions and attributes whose values other files, without tests, show (see
        `shown_values.py`).
        """
        files = (each for each in self._program(module) if each.module != module and not each.is_test)
        return frozenset[str]().union(*(each.shown for each in files))

    def _has_for_itself(
        self, module: ModuleSummary, name: str, owner: ClassSummary | None, *, siblings: bool
    ) -> bool:
        having = [cls for cls in module.classes.values() if name in cls.attributes or name in cls.methods]
        if not having or owner is None:
            return False
        if siblings:
            return not any(self.are_related(cls, owner) for cls in having)
        return not any(cls.path in self._line(owner) or owner.path in self._line(cls) for cls in having)

    def are_related(self, first: ClassSummary, second: ClassSummary) -> bool:
        """Whether two classes share a base in the project, or one is a base of the other."""
        return not self._line(first).isdisjoint(self._line(second))

    def _line(self, cls: ClassSummary) -> set[str]:
        """Return the class and its ancestors in the project."""
        return {each.path for each in self.index.ancestry(cls) if not isinstance(each, str)}

    def is_script(self, module: str) -> bool:
        """Whether a file is run by itself and no other file imports from it."""
        main = self.index.modules[module].functions.get("")
        if main is None or not main.calls:
            return False
        return not any(
            target == module or target.startswith(f"{module}.")
            for each in self.index.modules.values()
            if each.module != module
            for target in (*each.imports.values(), *each.star_imports)
        )

    def function_names(self, known_bases: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
        """Return the names of the functions of the project, without tests, and of the methods of classes
        whose library bases are all known, each with the number of its definitions.
        """
        known = self._function_names.get(known_bases)
        if known is None:
            known = self._function_names[known_bases] = self._count_functions(known_bases)
        return known

    def _count_functions(self, known_bases: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
        found = Counter[str]()
        for module in self.index.modules.values():
            for function in () if module.is_test else module.functions.values():
                owner = module.classes.get(function.qualname.rpartition(".")[0])
                bases = self.index.ancestry(owner) if owner is not None else ()
                if all(not isinstance(base, str) or base in known_bases for base in bases):
                    found[function.name] += 1
        return tuple(sorted(found.items()))

    def program_names(self, names: tuple[str, ...], module: str) -> bool:
        """Whether the program of a module, without its tests, reads such an attribute, or imports such a
        name.
        """
        program = self.graph.program(module)
        known = self._of_programs.get(program)
        if known is None:
            known = self._of_programs[program] = frozenset(self._names(self._program(module)))
        return not known.isdisjoint(names)

    def read_by_called(self, functions: Iterable[FunctionSummary]) -> frozenset[str]:
        """Return the names of attributes and imports that the files read in which some functions are defined,
        and those that they call.
        """
        found: dict[str, FunctionSummary] = {}
        waiting = list(functions)
        while waiting:
            function = waiting.pop()
            if function.path not in found:
                found[function.path] = function
                for path, _ in function.effect_paths:
                    waiting += self.index.callables(path, function.module)
        modules = {function.module for function in found.values()}
        return frozenset(self._names(self.index.modules[module] for module in modules))

    def has_layers_by_mode(self, module: str) -> bool:
        """Whether the program of a module names a layer whose result depends on `train()` and `eval()`, or
        has a `forward` that reads the mode.
        """
        program = self.graph.program(module)
        known = self._by_mode.get(program)
        if known is None:
            modules = self.graph.program_files(module)
            known = self._by_mode[program] = any(map(self._names_layer_by_mode, modules)) or any(
                summary.reads_training and path.endswith("forward")
                for each in modules
                for path, summary in each.forward_summaries.items()
            )
        return known

    def _names_layer_by_mode(self, module: ModuleSummary) -> bool:
        """Whether a module names such a layer, apart from classes of the project that are called like one, or
        a recurrent layer with dropout.
        """
        return (
            any(map(is_by_mode, module.attributes_read))
            or any(
                is_by_mode(target) and self.index.symbol(target, module.module) is None
                for target in module.imports.values()
            )
            or any(is_by_mode(part.name) for parts in module.parts.values() for part in parts)
        )

    def switched_networks(self, module: str) -> frozenset[str]:
        """Return the last names of all objects whose mode the program of a module may switch to evaluation,
        without its tests; "" for objects without a name.
        """
        program = self.graph.program(module)
        known = self._switched_networks.get(program)
        if known is None:
            known = self._switched_networks[program] = frozenset(
                call.receiver
                for each in self.graph.program_files(module)
                for function in each.functions.values()
                for call in function.calls
                if is_switch(call)
            )
        return known

    def attribute_tags(self, attribute: str) -> frozenset[TypeTag]:
        """Return the types that classes declare for their attributes of this name."""
        return frozenset(
            cls.attributes[attribute].tag
            for module in self.index.modules.values()
            for cls in module.classes.values()
            if cls.attributes.get(attribute)
        )

    def _program(self, module: str) -> Iterable[ModuleSummary]:
        here = self.graph.program(module)
        return (each for each in self.index.modules.values() if self.graph.program(each.module) == here)

    @staticmethod
    def _names(modules: Iterable[ModuleSummary]) -> Iterable[str]:
        for module in modules:
            if not module.is_test:
                yield from module.attributes_read
                yield from (target.rpartition(".")[2] for target in module.imports.values())

    @cached_property
    def _imported(self) -> frozenset[str]:
        return frozenset(
            target for module in self.index.modules.values() for target in module.imports.values()
        )

    @cached_property
    def _starred(self) -> frozenset[str]:
        return frozenset(source for module in self.index.modules.values() for source in module.star_imports)


def _steps_environments(module: ModuleSummary) -> bool:
    return any(
        Driver.ENVIRONMENT_STEP in drivers
        for function in module.functions.values()
        for drivers in (function.drivers, *(loop.drivers for loop in function.loops))
    )


def _has_layers(file: ModuleSummary) -> bool:
    """Whether a class of a file has layers of torch."""
    kinds = (kind for cls in file.classes.values() for kind in cls.attributes.values())
    return any(kind.tag is TypeTag.MODULE and kind.of.startswith("torch.nn.") for kind in kinds)
