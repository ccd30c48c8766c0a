"""The meaning of import statements, as far as names determine it."""

from __future__ import annotations

from collections.abc import Container


def absolute_module(module: str, level: int, package: str) -> str:
    """Return the dotted name of an imported module; `package` is that of the importing file."""
    if level == 0:
        return module
    parts = package.split(".") if package else []
    kept = parts[: len(parts) - (level - 1)] if level > 1 else parts
    return ".".join([*kept, module] if module else kept)


def is_named(module: str, dotted: str, modules: Container[str]) -> bool:
    """Whether `import dotted` may name a module, relative to a parent folder that is not a package. Names of
    modules lack a leading `src` (see `module_names`), which scripts started beside `src` import by.
    """
    if module in (dotted, dotted.removeprefix("src.")):
        return True
    return module.endswith(f".{dotted}") and module[: -len(dotted) - 1] not in modules


def is_in_same_folder(folder: str, dotted: str, modules: Container[str]) -> bool:
    """Whether `import dotted`, in a script of a folder that is not a package, means the module of this folder
    rather than one of the same name elsewhere.
    """
    return bool(folder) and folder not in modules and f"{folder}.{dotted}" in modules
