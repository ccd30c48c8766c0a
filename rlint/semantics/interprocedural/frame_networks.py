"""Files that use networks for frames in bytes: those that divide their input by 255."""

from __future__ import annotations

from rlint.semantics.interprocedural.call_graph import Programs
from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.summary import ModuleSummary

_STEPS = 3
"""Imports from a file to its network: the agent imports a factory, which imports the network."""


class FrameNetworks:
    """Answers whether the code of a file works with such a network: the file defines or imports one, itself
    or through other files, or a file that imports it does, as a script that passes a network to an agent.
    """

    def __init__(self, index: ProjectIndex) -> None:
        self._index = index
        self._paths = frozenset(
            f"{module.module}.{name}" for module in index.modules.values() for name in module.frame_networks
        )
        self._answers: dict[str, bool] = {}
        self._imported: dict[str, frozenset[str]] = {}
        self._importers: dict[str, list[ModuleSummary]] | None = None

    def used_with(self, module: str) -> bool:
        """Whether the code of a file works with a network for frames in bytes."""
        known = self._answers.get(module)
        if known is None:
            known = self._answers[module] = bool(self._paths) and self._is_used_with(module)
        return known

    def _is_used_with(self, module: str) -> bool:
        if self._reaches(self._index.modules[module], _STEPS):
            return True
        return any(self._reaches(other, 1) for other in self._files_importing(module) if not other.is_test)

    def _reaches(self, file: ModuleSummary, steps: int) -> bool:
        """Whether a file defines or imports such a network, or files that it imports do. Of a file that
        defines several networks, only those that are imported count.
        """
        if file.frame_networks:
            return True
        found, files = {file.module}, [file]
        for _ in range(steps):
            if any(map(self._imports_network, files)):
                return True
            below = {name for each in files for name in self._modules_imported(each)} - found
            found |= below
            files = [self._index.modules[name] for name in sorted(below)]
            files = [each for each in files if not each.frame_networks]
        return False

    def _imports_network(self, file: ModuleSummary) -> bool:
        targets = (*file.imports.values(), *(f"{source}.*" for source in file.star_imports))
        return any(self._is_network(target, file) for target in targets)

    def _is_network(self, target: str, importer: ModuleSummary) -> bool:
        """Whether an import is that of such a network, or of a whole file that defines one."""
        module = Programs.imported(target, importer.module, self._index)
        if module is None or not self._index.modules[module].frame_networks:
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
