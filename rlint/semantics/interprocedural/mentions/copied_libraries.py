"""Copies of libraries in a project, of which its scripts use a part."""

from __future__ import annotations

from rlint.models.rl import OFTEN_COPIED
from rlint.semantics.interprocedural.call_graph import Programs
from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.summary import ModuleSummary

_PACKAGE = "__init__.py"


def copied_libraries(index: ProjectIndex) -> frozenset[str]:
    """Return the packages that are copies of libraries: in a folder of the project with files that import
    them. The project of the library itself holds it at the top.
    """
    copies = set()
    for module in index.modules.values():
        folder, _, name = module.module.rpartition(".")
        if not (folder and name in OFTEN_COPIED and module.path.endswith(_PACKAGE)):
            continue
        if folder in index.modules:
            continue
        if any(
            file.module.rpartition(".")[0] == folder and _imports_from(file, module.module, index)
            for file in index.every_module()
            if not file.is_test
        ):
            copies.add(module.module)
    return frozenset(copies)


def _imports_from(file: ModuleSummary, package: str, index: ProjectIndex) -> bool:
    imported = (
        Programs.imported(target, file.module, index)
        for target in (*file.imports.values(), *file.star_imports)
    )
    return any(each is not None and f"{each}.".startswith(f"{package}.") for each in imported)
