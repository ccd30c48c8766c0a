"""Whether the names that a configuration declares hot, cold or an entry point exist."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rlint.config.declared_knowledge import DeclaredKnowledge, means
from rlint.errors import did_you_mean
from rlint.regex import regex
from rlint.run_data import Target
from rlint.semantics.imports.project_files import files_around, module_names
from rlint.source.files import Source, read_source

_DEFINES = regex(r"(?m)^([ \t]*)(?:async[ \t]+def|def|class)[ \t]+(\w+)")


def unknown_names(targets: Sequence[Target]) -> list[str]:
    """Return a warning for each declared name that the project does not define, with the most similar name
    that it does. The files are searched without parsing them: those to check first, then those around them if
    needed.
    """
    declarations = dict.fromkeys(target.declared for target in targets if not target.declared.says_nothing)
    found = []
    for declared in declarations:
        paths = [target.path for target in targets if target.declared == declared]
        left = _unmatched(declared, paths)
        if left:
            around = files_around(paths[0])
            if around is None:
                continue  # too many files to be sure that none defines it
            left = [each for each in left if each in _unmatched(declared, around)]
        for key, origin, pattern in left:
            known = _all_names(declared, paths) if key != "entry-points" else ()
            nearest = did_you_mean(pattern, known) or did_you_mean(
                pattern.rpartition(".")[2], {name.rpartition(".")[2] for name in known}
            )
            where = f" ({origin})" if origin else ""
            what = "file" if pattern.endswith((".py", ".ipynb")) else "function"
            found.append(f"`{pattern}` in `{key}`{where} matches no {what} of the project{nearest}")
    return found


def _unmatched(declared: DeclaredKnowledge, paths: Sequence[Path]) -> list[tuple[str, str, str]]:
    wanted = [("hot", declared.hot_from, pattern) for pattern in declared.hot]
    wanted += [("cold", declared.cold_from, pattern) for pattern in declared.cold]
    entries = list(declared.entry_points or ())
    modules = module_names(paths)
    for path in paths:
        if not wanted and not entries:
            break
        module = modules[path][0]
        entries = [entry for entry in entries if not _is_in(entry, path, module, declared)]
        if wanted:
            names = [f"{name}.{inner}" for name in declared.modules(path, module) for inner in _defined(path)]
            wanted = [each for each in wanted if not any(means(each[2], name) for name in names)]
    return [*wanted, *(("entry-points", "", _shown(entry, declared)) for entry in entries)]


def _is_in(entry: str, path: Path, module: str, declared: DeclaredKnowledge) -> bool:
    found = DeclaredKnowledge(entry_points=(entry,), root=declared.root).entries_in(path, module)
    return bool(found) and (found == ("",) or not {*found}.isdisjoint(_defined(path)))


def _shown(entry: str, declared: DeclaredKnowledge) -> str:
    return entry.removeprefix(f"{declared.root.rstrip('/')}/")


def _all_names(declared: DeclaredKnowledge, paths: Sequence[Path]) -> set[str]:
    return {
        f"{name}.{inner}"
        for path, (module, _) in module_names(paths).items()
        for name in declared.modules(path, module)
        for inner in _defined(path)
    }


def _defined(path: Path) -> Iterable[str]:
    """Return the qualified names of a file's definitions, by the indentation of its lines."""
    source = read_source(path, str(path))
    return _qualified(source.text) if isinstance(source, Source) else ()


def _qualified(text: str) -> Iterator[str]:
    around: list[tuple[int, str]] = []
    for found in _DEFINES.finditer(text):
        depth = len(found[1].expandtabs())
        while around and around[-1][0] >= depth:
            around.pop()
        around.append((depth, found[2]))
        yield ".".join(name for _, name in around)
