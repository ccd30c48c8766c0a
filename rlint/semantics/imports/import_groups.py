"""Groups of files that imports connect, found without parsing.

The findings of a file depend on the files of its group only: an import may mean any module whose dotted name
has the same end, and all those modules are put in the group, so that other folders do not matter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from rlint.syntax.import_statements import is_named


def grouped(modules: Mapping[str, str], imports: Mapping[str, set[str]]) -> list[list[str]]:
    """Put files into groups. Both mappings have the files' names as keys: the dotted names of the modules,
    and their imports. Files keep their order in a group, and groups are ordered by their first file.
    """
    meanings = _Meanings(modules)
    leader = {name: name for name in modules}

    def find(name: str) -> str:
        while leader[name] != name:
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name

    for name, paths in imports.items():
        package = modules[name].rpartition(".")[0]
        for path in sorted(paths):
            for meant in meanings.of(path, package):
                leader[find(meant)] = find(name)
    found: dict[str, list[str]] = {}
    for name in modules:
        found.setdefault(find(name), []).append(name)
    return list(found.values())


class _Meanings:
    """The files that an imported name may mean; `Index.module` finds no others."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._files: dict[str, list[str]] = defaultdict(list)
        self._by_tail: dict[str, list[str]] = defaultdict(list)
        self._known: dict[tuple[str, str], list[str]] = {}
        for name, module in modules.items():
            self._files[module].append(name)
            self._by_tail[module.rpartition(".")[2]].append(module)

    def of(self, path: str, package: str) -> list[str]:
        """Return the files whose module a name, or a prefix of it, may mean in the modules of a package.
        Later calls return one representative: by then all are in one group.
        """
        known = self._known.get((path, package))
        if known is None:
            known = list(self._meant(path, package))
            self._known[path, package] = known[:1]
        return known

    def _meant(self, path: str, package: str) -> Iterator[str]:
        parts = path.split(".")
        for cut in range(1, len(parts) + 1):
            candidates = self._by_tail.get(parts[cut - 1])
            if candidates:
                dotted = ".".join(parts[:cut])
                yield from self._files.get(f"{package}.{dotted}", ())  # a script finds it first
                near = self._near(dotted, package)
                for module in candidates if near is None else [near]:
                    if near or is_named(module, dotted, self._files):
                        yield from self._files[module]

    def _near(self, dotted: str, package: str) -> str | None:
        """Return the module of exactly that name, or the one beside the importer, which takes precedence."""
        named = dotted
        while named not in self._files and package:
            named = f"{package}.{dotted}"
            package = package.rpartition(".")[0]
        return named if named in self._files else None
