"""The meaning of import statements, as far as names determine it."""

from __future__ import annotations

from collections.abc import Container

SOURCE_FOLDER = "src"
"""A leading folder of this name is no part of the names of modules."""


def absolute_module(module: str, level: int, package: str) -> str:
    """Return the dotted name of an imported module; `package` is that of the importing file."""
    if level == 0:
        return module
    parts = package.split(".") if package else []
    kept = parts[: len(parts) - (level - 1)] if level > 1 else parts
    return ".".join([*kept, module] if module else kept)


def is_named(module: str, dotted: str, modules: Container[str]) -> bool:
    """Whether `import dotted` may name a module, relative to a parent folder that is not a package."""
    if module == dotted:
        return True
    return module.endswith(f".{dotted}") and module[: -len(dotted) - 1] not in modules


def without_source_folder(dotted: str) -> str:
    """Return the dotted name as modules are named, without a leading `src`: programs that start in the folder
    above import `src.agents`, others `agents`.
    """
    return dotted.removeprefix(f"{SOURCE_FOLDER}.")
