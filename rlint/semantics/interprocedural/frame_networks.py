"""Files that use networks for frames in bytes: those that divide their input by 255 and that code creates."""

from __future__ import annotations

from rlint.semantics.interprocedural.call_graph import CallGraph, Programs
from rlint.semantics.interprocedural.summary import ModuleSummary
from rlint.semantics.nn.torch_settings import observes_vectors

_STEPS = 3
"""Imports from a file to its network: the agent imports a factory, which imports the network."""


class FrameNetworks:
    """Answers whether the code of a file works with such a network: the file defines or imports one, itself
    or through other files, or a file that imports it does, as a script that passes a network to an agent. In
    programs whose environments all observe a few numbers, no code does.
    """

    def __init__(self, graph: CallGraph) -> None:
        self._graph = graph
        self._index = graph.index
        self._networks = self._created()
        self._paths = frozenset(
            f"{module}.{name}" for module, names in self._networks.items() for name in names
        )
        self._answers: dict[str, bool] = {}
        self._of_vectors: dict[str, bool] = {}
        self._imported: dict[str, frozenset[str]] = {}
        self._importers: dict[str, list[ModuleSummary]] | None = None

    def used_with(self, module: str) -> bool:
        """Whether the code of a file works with a network for frames in bytes."""
        known = self._answers.get(module)
        if known is None:
            known = bool(self._paths) and self._is_used_with(module) and not self._observes_vectors(module)
            self._answers[module] = known
        return known

    def _created(self) -> dict[str, frozenset[str]]:
        """Return the networks of each file that some code may create objects of, and what builds on them."""
        found: dict[str, frozenset[str]] = {}
        for file in self._index.modules.values():
            created = {name for name in file.frame_networks if self._may_be_created(name, file)}
            if created:
                found[file.module] = frozenset(created)
        return found

    def _may_be_created(self, name: str, file: ModuleSummary) -> bool:
        """Whether a name is no class, or one of which the file may create objects, or that others use."""
        if name not in file.classes or name in file.classes_created or file.looks_up_names:
            return True
        others = (each for each in self._index.modules.values() if each is not file)
        return name in self._index.attributes_read or any(name in each.classes_used for each in others)

    def _observes_vectors(self, module: str) -> bool:
        """Whether all environments that the program of a file names observe a few numbers, as far as their
        ids tell.
        """
        program = self._graph.program(module)
        known = self._of_vectors.get(program)
        if known is None:
            files = self._graph.program_files(module)
            words = frozenset[str]().union(*(each.speedups for each in files))
            known = self._of_vectors[program] = observes_vectors(words.__contains__)
        return known

    def _is_used_with(self, module: str) -> bool:
        if self._reaches(self._index.modules[module], _STEPS):
            return True
        return any(self._reaches(other, 1) for other in self._files_importing(module) if not other.is_test)

    def _reaches(self, file: ModuleSummary, steps: int) -> bool:
        """Whether a file defines or imports such a network, or files that it imports do. Of a file that
        defines several networks, only those that are imported count.
        """
        if file.module in self._networks:
            return True
        found, files = {file.module}, [file]
        for _ in range(steps):
            if any(map(self._imports_network, files)):
                return True
            below = {name for each in files for name in self._modules_imported(each)} - found
            found |= below
            files = [self._index.modules[name] for name in sorted(below)]
            files = [each for each in files if each.module not in self._networks]
        return False

    def _imports_network(self, file: ModuleSummary) -> bool:
        targets = (*file.imports.values(), *(f"{source}.*" for source in file.star_imports))
        return any(self._is_network(target, file) for target in targets)

    def _is_network(self, target: str, importer: ModuleSummary) -> bool:
        """Whether an import is that of such a network, or of a whole file that defines one."""
        module = Programs.imported(target, importer.module, self._index)
        if module is None or module not in self._networks:
            return False
        name = target.rpartition(".")[2]
        return name in ("*", module.rpartition(".")[2]) or f"{module}.{name}" in self._paths

    def _modules_imported(self, file: ModuleSummary) -> frozenset[str]:
        known = self._imported.get(file.module)
        if known is None:
            found = (
                Programs.imported(target, file.module, self._index)
                for target in (*file.imports.values(), *file.star_imports)
            )
            known = self._imported[file.module] = frozenset(each for each in found if each is not None)
        return known

    def _files_importing(self, module: str) -> list[ModuleSummary]:
        if self._importers is None:
            self._importers = {}
            for file in self._index.modules.values():
                for name in sorted(self._modules_imported(file)):
                    self._importers.setdefault(name, []).append(file)
        return self._importers.get(module, [])
