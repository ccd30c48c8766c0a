"""Load the program's files with hooks: as modules, as the script, and in child processes."""

from __future__ import annotations

import atexit
import builtins
import hashlib
import importlib.abc
import importlib.machinery
import json
import os
import sys
import types
from collections.abc import Sequence
from typing import Any

from rlint.prove.record.instrumented_code import HOOKS, instrumented

ENVIRONMENT = "RLINT_PROVE"
"""Environment variable with the file that configures recording, for the program and its child processes."""


_SHELL = "IPython.core.interactiveshell"


class _Files:
    """The recorded files, with their recorders."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.files: dict[str, dict[str, Any]] = config["files"]
        self._config = config
        self._session: Any = None

    def wants(self, path: Any) -> bool:
        """Whether regions of a file are recorded."""
        return isinstance(path, str) and os.path.realpath(path) in self.files

    def code(self, path: str) -> types.CodeType | None:
        """Return the code of a file with its hooks; None if its text has changed."""
        file = self.files[os.path.realpath(path)]
        with open(path, "rb") as opened:
            text = opened.read()
        if hashlib.sha256(text).hexdigest() != file["digest"]:
            return None
        self.record(file["regions"])
        code = instrumented(text, path, file["regions"])
        self._session.program.codes[path] = code
        self._session.flush(now=True)
        return code

    def record(self, regions: Sequence[dict[str, Any]], main: str | None = None) -> None:
        """Create recorders of regions; `main` is the notebook whose cells this process runs."""
        from rlint.prove.record.recorder import RecordingProcess

        if self._session is None:
            self._session = RecordingProcess(self._config)
            atexit.register(self._session.flush, now=True)
            setattr(builtins, HOOKS, {})
        if main is not None:
            self._session.program.notebook = main
        for region in regions:
            getattr(builtins, HOOKS)[region["id"]] = self._session.recorder(region)

    def cell(self, tree: Any) -> Any:
        """Insert hooks into a cell that IPython is about to run, if it belongs to a recorded notebook."""
        from rlint.prove.record.notebook_cells import instrumented_cell

        for path, file in self.files.items():
            if "text" in file:
                try:
                    found, regions = instrumented_cell(tree, file["text"], file["regions"])
                except (SyntaxError, ValueError, RecursionError):
                    continue
                if regions:
                    self.record(regions, path)
                    self._session.flush(now=True)
                    return found
        return tree

    @property
    def has_notebooks(self) -> bool:
        """Whether cells of notebooks are recorded."""
        return any("text" in file for file in self.files.values())


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, files: _Files) -> None:
        super().__init__(name, path)
        self._files = files

    def get_code(self, fullname: str) -> types.CodeType | None:
        return self._files.code(self.path) or super().get_code(fullname)


class _ShellLoader(importlib.abc.Loader):
    """Loads IPython's shell, and patches it to run the cells of notebooks with hooks."""

    def __init__(self, known: Any, files: _Files) -> None:
        self._known, self._files = known, files

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        found: types.ModuleType | None = self._known.create_module(spec)
        return found

    def exec_module(self, module: types.ModuleType) -> None:
        self._known.exec_module(module)
        shell: Any = module.InteractiveShell
        files, transform = self._files, shell.transform_ast

        def transform_ast(self: Any, node: Any) -> Any:
            return files.cell(transform(self, node))

        shell.transform_ast = transform_ast


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the modules that other finders find, and loads the program's files with hooks."""

    def __init__(self, files: _Files) -> None:
        self._files = files
        self._busy: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname in self._busy:
            return None
        self._busy.add(fullname)
        try:
            for finder in list(sys.meta_path):
                if finder is self or not hasattr(finder, "find_spec"):
                    continue
                found = finder.find_spec(fullname, path, target)
                if found is None:
                    continue
                if self._files.wants(found.origin) and type(found.loader).__name__ == "SourceFileLoader":
                    assert found.origin is not None
                    found.loader = _Loader(fullname, found.origin, self._files)
                elif fullname == _SHELL and self._files.has_notebooks:
                    found.loader = _ShellLoader(found.loader, self._files)
                return found
        finally:
            self._busy.discard(fullname)
        return None


def install() -> None:
    """Install the hooks in this process at its start."""
    path = os.environ[ENVIRONMENT]
    with open(path, encoding="utf-8") as file:
        config = json.load(file)
    files = _Files(config)
    sys.meta_path.insert(0, _Finder(files))
    _hook_spawned_main(files)
    _take_over_script(files, config)


def _hook_spawned_main(files: _Files) -> None:
    """Hook `runpy`, by which a process that `multiprocessing` spawns runs the script of its parent."""
    import runpy

    known: Any = runpy._get_code_from_file  # type: ignore[attr-defined]

    def code_from_file(*given: Any) -> Any:
        path = given[-1]
        found = files.code(path) if files.wants(path) else None
        if found is None:
            return known(*given)
        code = known(*given)
        return (found, *code[1:]) if isinstance(code, tuple) else found

    runpy._get_code_from_file = code_from_file  # type: ignore[attr-defined]


def _take_over_script(files: _Files, config: dict[str, Any]) -> None:
    """Run a recorded script through rlint's own program, in this process."""
    words = list(getattr(sys, "orig_argv", []))
    place = _script_place(words)
    if place is None or not files.wants(words[place]):
        return
    main = config["main_program"]
    command = [sys.executable, *words[1:place], main, *words[place:]]
    if os.name == "nt":  # on systems where a process cannot replace its program
        import subprocess

        sys.exit(subprocess.call(command))  # noqa: S603 - the same program, with hooks in it
    os.execv(sys.executable, command)  # noqa: S606


def _script_place(words: Sequence[str]) -> int | None:
    """Return the position of a script among Python's command-line arguments."""
    place = 1
    while place < len(words):
        word = words[place]
        if not word.startswith("-"):
            return place
        if word == "--check-hash-based-pycs":
            place += 2
            continue
        if word.startswith("--"):
            place += 1
            continue
        for number, letter in enumerate(word[1:], 2):
            if letter in "cm":
                return None
            if letter in "WX":
                place += 0 if word[number:] else 1
                break
        place += 1
    return None


def run_script(path: str) -> None:
    """Run a script as Python would, with hooks in it."""
    finder = next(one for one in sys.meta_path if isinstance(one, _Finder))
    sys.argv = sys.argv[1:]
    path = os.path.abspath(path)  # as Python defines it
    if not (getattr(sys.flags, "safe_path", False) or sys.flags.isolated):
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    module = types.ModuleType("__main__")
    module.__file__ = path
    module.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = module
    code = finder._files.code(path)
    if code is None:
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
    del finder
    try:
        exec(code, module.__dict__)  # noqa: S102 - to run the program is what the user asked for
    except Exception as error:  # noqa: BLE001 - shown as Python would
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        sys.excepthook(type(error), error, trace)
        sys.exit(1)
