"""The oldest versions of Python, torch and numpy that a project supports, from options or its own files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rlint.frozen import frozen

PYTHON, TORCH, NUMPY = "python", "torch", "numpy"
OPTIONS = {PYTHON: "target-version", TORCH: "torch-version", NUMPY: "numpy-version"}
"""The option for the version of each library."""

_LIBRARY = {"torch": TORCH, "pytorch": TORCH, "numpy": NUMPY}
"""The library of a distribution, by its name in dependencies."""
_DEPENDENCY = re.compile(r"\s*([A-Za-z][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?([^;#]*)")
_LOWER = re.compile(r"(?:===?|>=?|~=|~|\^)\s*v?(\d+(?:\.\d+)*)")
_EXACT = re.compile(r"\s*===?\s*v?\d+(?:\.\d+)*(?:\+\w+)?\s*")
_BARE = re.compile(r"\s*v?(\d+(?:\.\d+)*)(?:\.\*)?\s*")
_MOST_BYTES = 1_000_000

Clauses = tuple[str, str]
"""The library, and the version clauses after its name: `>=1.13,<3`."""


@frozen
class StatedVersion:
    """The oldest version of a library that the project supports, and the place that states it."""

    library: str
    version: str
    origin: str
    is_exact: bool = False
    """Whether the project runs with this version alone."""

    @property
    def option(self) -> str:
        """Return the option that sets it, in backticks."""
        return f"`{OPTIONS[self.library]}`"

    def lacks(self, version: str) -> bool:
        """Whether it is older than `version`."""
        return as_version(self.version) < as_version(version)


def as_version(text: str) -> tuple[int, ...]:
    """Return a version as numbers, without a suffix: "2.1.0+cpu" is (2, 1).

    Trailing zeros are dropped, so that 2.0 and 2.0.0 are equal.
    """
    found = re.match(r"\d+(?:\.\d+)*", text)
    numbers = [int(number) for number in found[0].split(".")] if found is not None else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def configured(values: Mapping[str, tuple[Any, str]]) -> tuple[StatedVersion, ...]:
    """Return the versions that configuration files and options state. "py39" means 3.9, as in ruff."""
    return tuple(
        StatedVersion(library, _number(values[option][0]), values[option][1])
        for library, option in OPTIONS.items()
        if option in values
    )


def stated_versions(folder: Path) -> dict[str, StatedVersion] | None:
    """Return the versions that the project files in `folder` state; None if there are no such files.

    `pyproject.toml` counts first, then `setup.cfg`, `setup.py` and `requirements.txt`. If a file states a
    library several times, the first lower bound counts.
    """
    found: dict[str, StatedVersion] = {}
    is_project = False
    for name, read in _READERS.items():
        text = _text(folder / name)
        if text is None:
            continue
        is_project = True
        for library, clauses in read(text):
            if library not in found and (lowest := lower_bound(clauses)) is not None:
                is_exact = bool(_EXACT.fullmatch(clauses))
                found[library] = StatedVersion(library, lowest, name, is_exact)
    return found if is_project else None


def lower_bound(clauses: str) -> str | None:
    """Return the lowest version that clauses such as `>=1.13,<3`, `^1.13` or `==2.1.*` allow, if they have
    one; of alternatives (`||`), the lowest.
    """
    bounds: list[str | None] = []
    for part in clauses.split("||"):
        bare = _BARE.fullmatch(part)
        bounds.append(max(_LOWER.findall(part), key=as_version, default=bare[1] if bare else None))
    return min(bounds, key=lambda bound: as_version(bound or "")) if all(bounds) else None


def _number(text: str) -> str:
    short = re.fullmatch(r"py(\d)(\d+)", text)
    return f"{short[1]}.{short[2]}" if short is not None else text.removeprefix("py")


def _of_dependencies(lines: Iterable[Any]) -> Iterator[Clauses]:
    for line in lines:
        found = _DEPENDENCY.match(line) if isinstance(line, str) else None
        library = _LIBRARY.get(found[1].lower()) if found is not None else None
        if found is not None and library is not None:
            yield library, found[2]


def _of_pyproject(text: str) -> Iterator[Clauses]:
    from rlint.config.options import parse_toml

    data = parse_toml(text)
    project = _table(data, "project")
    if isinstance(python := project.get("requires-python"), str):
        yield PYTHON, python
    yield from _of_dependencies(_list(project.get("dependencies")))
    for group in _table(project, "optional-dependencies").values():
        yield from _of_dependencies(_list(group))
    poetry = _table(data, "tool", "poetry", "dependencies")
    for name, given in poetry.items():
        clauses = given.get("version") if isinstance(given, dict) else given
        library = PYTHON if name == "python" else _LIBRARY.get(name.lower())
        if library is not None and isinstance(clauses, str):
            yield library, clauses


def _of_setup_cfg(text: str) -> Iterator[Clauses]:
    import configparser

    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    yield PYTHON, parser.get("options", "python_requires", fallback="")
    yield from _of_dependencies(parser.get("options", "install_requires", fallback="").splitlines())


def _of_setup_py(text: str) -> Iterator[Clauses]:
    """Yield the versions in the literals of a `setup` call; lists may be variables of the file."""
    if "setup" not in text:
        return
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "python_requires":
            yield from ((PYTHON, each) for each in _strings(node.value))
    yield from _of_dependencies(
        each for node in ast.walk(tree) if isinstance(node, ast.List) for each in _strings(node)
    )


def _of_requirements(text: str) -> Iterator[Clauses]:
    yield from _of_dependencies(text.splitlines())


def _strings(node: ast.expr) -> list[str]:
    parts = node.elts if isinstance(node, ast.List) else [node]
    return [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def _table(data: Any, *keys: str) -> Mapping[str, Any]:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(path: Path) -> str | None:
    """Return the text of a project file; None if it cannot be read."""
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return None
        return path.read_text("utf-8-sig", errors="replace")
    except OSError:
        return None


_READERS = {
    "pyproject.toml": _of_pyproject,
    "setup.cfg": _of_setup_cfg,
    "setup.py": _of_setup_py,
    "requirements.txt": _of_requirements,
}
"""The files that state versions, the most binding first, with their parsers."""
STATING_FILES = tuple(_READERS)
"""The names of these files."""
