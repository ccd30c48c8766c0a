"""Load a program several times into one process: unchanged, and with its fixes."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import itertools
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType

from rlint.harness.missing_packages import how_to_install
from rlint.harness.workload import Workload, mistakes_of

BEFORE, SAFE, AFTER = "before", "safe", "after"
"""The arms of an experiment: the unchanged program, with its safe fixes only, and with all requested ones."""

_INSTALLED = ("site-packages", "dist-packages")


class WorkloadError(Exception):
    """A workload or its program cannot be loaded, or has invalid declarations."""


class MissingPackageError(WorkloadError):
    """A program imports a module that is not installed."""

    def __init__(self, what: str, module: str) -> None:
        super().__init__(f"{what}; {how_to_install(module)}")
        self.module = module


@dataclass(frozen=True, slots=True)
class Subject:
    """A program and the file that drives it. Sent to the processes that run it.

    `texts` contains for each arm the text of every file that is not to be read from disk, by absolute path.
    """

    main: str
    """The absolute path of the file that workloads get as `program`."""
    module: str
    """Its dotted name."""
    roots: tuple[str, ...]
    """Folders that the program's own modules are imported from."""
    workload: str
    """The absolute path of the workload file."""
    texts: Mapping[str, Mapping[str, str]]

    @property
    def changed(self) -> bool:
        """Whether the fixes change anything."""
        return self.texts[BEFORE] != self.texts[AFTER]


@dataclass(slots=True)
class Arm:
    """One loaded text of a program, with its own copy of the workload file and of the project's modules."""

    subject: Subject
    name: str
    program: ModuleType
    workloads: dict[str, Workload]
    _modules: dict[str, ModuleType]

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Let imports of the project's modules return those of this arm within the context."""
        with _environment(self.subject, self.name, self._modules):
            yield

    @property
    def own_modules(self) -> dict[str, ModuleType]:
        """Return the project's modules of this arm, without the workload file."""
        file = self.subject.workload
        return {
            name: module
            for name, module in self._modules.items()
            if getattr(module, "__file__", None) != file
        }

    def fresh(self) -> Arm:
        """Load the same text once more: with new modules, caches and workloads."""
        return load(self.subject, self.name)


def load(subject: Subject, name: str) -> Arm:
    """Load one arm of a program. Raises WorkloadError."""
    modules: dict[str, ModuleType] = {}
    with _environment(subject, name, modules):
        program = _import(subject.module, subject.main)
        driver = _import(f"_rlint_{Path(subject.workload).stem}", subject.workload)
    return Arm(subject, name, program, _workloads_of(driver, subject.workload), modules)


def _import(name: str, path: str) -> ModuleType:
    try:
        if name in sys.modules:
            return sys.modules[name]
        parent, _, _ = name.rpartition(".")
        if parent:
            importlib.import_module(parent)
            if name in sys.modules:  # the package imports it
                return sys.modules[name]
        spec = next((s for s in (f.spec_of(name, path) for f in _finders()) if s), None)
        spec = spec or _spec_of_file(name, path)
        if spec is None or spec.loader is None:
            raise WorkloadError(f"{path}: is not a Python file")  # noqa: TRY301 - the message is complete
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        if parent:
            setattr(sys.modules[parent], name.rpartition(".")[2], module)
    except WorkloadError:
        raise
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        where = _deepest_line(error, path)
        what = f"{where}: cannot be loaded: {type(error).__name__}: {error}"
        if isinstance(error, ModuleNotFoundError) and error.name:
            raise MissingPackageError(what, error.name) from error
        raise WorkloadError(what) from error
    return module


def _deepest_line(error: BaseException, path: str) -> str:
    """Return the last line of `path` in the error's traceback."""
    found, traceback = path, error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == path:
            found = f"{path}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    if isinstance(error, SyntaxError) and error.lineno:
        found = f"{error.filename or path}:{error.lineno}"
    return found


def _workloads_of(driver: ModuleType, path: str) -> dict[str, Workload]:
    classes = [
        value
        for value in vars(driver).values()
        if isinstance(value, type)
        and issubclass(value, Workload)
        and value.__module__ == driver.__name__
        and not value.__name__.startswith("_")
    ]
    if not classes:
        raise WorkloadError(
            f"{path}: defines no workload; write a subclass of rlint.harness.Workload (see docs/verify.md)"
        )
    found: dict[str, Workload] = {}
    for one in classes:
        workload = one()
        wrong = mistakes_of(workload)
        if wrong:
            raise WorkloadError(f"{path}: {one.__name__}: {'; '.join(wrong)}")
        found[workload.name] = workload
    return found


# --- the project's modules, per arm ---


class TextFinder(importlib.abc.MetaPathFinder):
    """Finds modules of the project whose text is given, instead of read."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = {os.path.realpath(path): text for path, text in texts.items()}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find a module as Python does, and set its text."""
        found = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if found is None or not found.origin:
            return None
        return self.spec_of(fullname, found.origin, found.submodule_search_locations)

    def spec_of(
        self, name: str, path: str, locations: list[str] | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a module whose text is given, else None."""
        text = self.texts.get(os.path.realpath(path))
        if text is None:
            return None
        return importlib.util.spec_from_file_location(
            name, path, loader=_TextLoader(name, path, text), submodule_search_locations=locations
        )


class _TextLoader(importlib.machinery.SourceFileLoader):
    """Runs a text in place of the file's."""

    def __init__(self, fullname: str, path: str, text: str) -> None:
        super().__init__(fullname, path)
        self._text = text

    def get_code(self, fullname: str) -> CodeType:
        return _compiled(self._text, self.path)


@functools.lru_cache(maxsize=64)
def _compiled(text: str, path: str) -> CodeType:
    """Return the code of a text, cached: the same few texts are run for each of many cases."""
    return compile(text, path, "exec", dont_inherit=True)


def _spec_of_file(name: str, path: str) -> importlib.machinery.ModuleSpec | None:
    text = importlib.util.decode_source(Path(path).read_bytes())
    return importlib.util.spec_from_file_location(name, path, loader=_TextLoader(name, path, text))


def _finders() -> list[TextFinder]:
    return [finder for finder in sys.meta_path if isinstance(finder, TextFinder)]


@contextlib.contextmanager
def _environment(subject: Subject, name: str, modules: dict[str, ModuleType]) -> Iterator[None]:
    """Replace the modules that other arms have loaded by `modules`, and add modules loaded meanwhile to
    it.
    """
    finder = TextFinder(subject.texts[name])
    folders = [*subject.roots, str(Path(subject.workload).parent)]
    files = (subject.main, subject.workload)
    inside = tuple(folder.rstrip(os.sep) + os.sep for folder in folders)
    hidden = _own_modules(inside, files)
    path = list(sys.path)
    for key in hidden:
        del sys.modules[key]
    sys.modules.update(modules)
    sys.meta_path.insert(0, finder)
    sys.path[:0] = [folder for folder in folders if folder not in sys.path]
    try:
        yield
    finally:
        sys.path[:] = path
        sys.meta_path.remove(finder)
        own = _own_modules(inside, files)
        modules.clear()
        modules.update(own)
        for key in own:
            del sys.modules[key]
        sys.modules.update(hidden)


_foreign: dict[tuple[tuple[str, ...], tuple[str, ...]], set[str]] = {}
"""Names of loaded modules that are known not to be the project's: checking each takes milliseconds, which
evict the previous run's data from processor caches.
"""


def _own_modules(folders: tuple[str, ...], files: tuple[str, ...]) -> dict[str, ModuleType]:
    """Return the loaded modules that belong to the project."""
    foreign = _foreign.setdefault((folders, files), set())
    own = {}
    for name in list(itertools.filterfalse(foreign.__contains__, sys.modules)):
        module = sys.modules[name]
        if _is_own(module, folders, files):
            own[name] = module
        else:
            foreign.add(name)
    return own


def _is_own(module: ModuleType | None, folders: tuple[str, ...], files: tuple[str, ...]) -> bool:
    """Whether a module belongs to the project, so that each arm needs a copy of its own."""
    if getattr(module, "__name__", "").partition(".")[0] == "rlint":
        return False  # rlint itself is running
    file = getattr(module, "__file__", None)
    if not isinstance(file, str):
        return False
    return file in files or (file.startswith(folders) and not any(part in file for part in _INSTALLED))
