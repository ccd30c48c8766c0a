"""The program in its state at a recorded call, with the text before or after a fix."""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from rlint.harness.program import Arm, Subject, TextFinder, WorkloadError
from rlint.harness.workload import Workload
from rlint.prove.replay.definitions import definitions

MAINS = ("__main__", "__mp_main__")

_foreign: dict[tuple[str, ...], dict[str, ModuleType | None]] = {}
"""Loaded modules that are known not to be the program's: checking each of thousands takes milliseconds
whenever an arm is entered or left, which is once for every batch of runs.
"""


class RecordedArm(Arm):
    """One text of the program, in the environment of a record."""

    def __init__(
        self, subject: Subject, name: str, header: Mapping[str, Any], wanted: frozenset[str]
    ) -> None:
        super().__init__(subject, name, ModuleType("nothing"), {}, {})
        self._header = header
        self._wanted = wanted
        self._path = [entry for entry in header["path"] if "rlint-prove-" not in entry]
        self.codes: dict[str, CodeType] = {}
        """The code of the program's files in this text, by path."""
        self._finder = TextFinder(subject.texts[name])

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Use the modules of this arm within the context, and search modules as in the run."""
        before = {name: sys.modules.pop(name) for name in self._own_names()}
        sys.modules.update(self._modules)
        path, argv = list(sys.path), list(sys.argv)
        sys.path[:] = [*self._path, *(entry for entry in path if entry not in self._path)]
        sys.argv[:] = self._header["argv"]
        sys.meta_path.insert(0, self._finder)
        try:
            yield
        finally:
            sys.meta_path.remove(self._finder)
            sys.path[:], sys.argv[:] = path, argv
            self._modules = {name: sys.modules.pop(name) for name in self._own_names()}
            sys.modules.update(before)

    @property
    def own_modules(self) -> dict[str, ModuleType]:
        """Return the program's modules."""
        return {name: module for name, module in self._modules.items() if name != "__mp_main__"}

    def take(self, name: str, workload: Workload) -> None:
        """Let a workload drive the arm."""
        self.workloads[name] = workload

    def load(self) -> None:
        """Load the script's definitions and the modules that contain regions. Raises WorkloadError."""
        with self.active():
            try:
                main = self._header["main"]
                if main and not main.endswith("script_main.py"):
                    self._load_main(main)
                for name, path in self._header["modules"].items():
                    if name not in MAINS:
                        importlib.import_module(name)
                    self.codes.setdefault(path, self._code_of(path))
            except Exception as error:
                if isinstance(error, WorkloadError):
                    raise
                raise WorkloadError(
                    f"the program cannot be loaded again: {type(error).__name__}: {error}"
                ) from error

    def module_of(self, path: str) -> ModuleType:
        """Return the module that was loaded from a file."""
        for name, module in self._modules.items():
            file = getattr(module, "__file__", None)
            if name != "__mp_main__" and file and os.path.realpath(file) == os.path.realpath(path):
                return module
        raise WorkloadError(f"{path} was not loaded")

    def _load_main(self, path: str) -> None:
        main = ModuleType("__main__")
        main.__file__ = path
        vars(main)["__builtins__"] = __builtins__
        sys.modules["__main__"] = sys.modules["__mp_main__"] = main
        if not self._is_own_file(path):
            return
        tree = definitions(ast.parse(self._text(path), path), self._wanted)
        self.codes[path] = self._code_of(path)
        for node in tree.body:
            code = compile(ast.Module([node], []), path, "exec", dont_inherit=True)
            try:
                exec(code, vars(main))  # noqa: S102 - the program that is proven
            except Exception:
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    raise

    def _code_of(self, path: str) -> CodeType:
        return compile(self._text(path), path, "exec", dont_inherit=True)

    def _text(self, path: str) -> str:
        found = self._finder.texts.get(os.path.realpath(path))
        return found if found is not None else importlib.util.decode_source(Path(path).read_bytes())

    def _own_names(self) -> list[str]:
        """Return the names of the loaded modules that belong to the program."""
        foreign = _foreign.setdefault(self.subject.roots, {})
        own = []
        for name, module in list(sys.modules.items()):
            if foreign.get(name, _foreign) is module:
                continue
            if name in MAINS or self._is_own(module):
                own.append(name)
            else:
                foreign[name] = module
        return own

    def _is_own(self, module: ModuleType | None) -> bool:
        name = getattr(module, "__name__", "")
        return name.partition(".")[0] != "rlint" and self._is_own_file(getattr(module, "__file__", None))

    def _is_own_file(self, file: object) -> bool:
        return (
            isinstance(file, str)
            and file.startswith(self.subject.roots)
            and "site-packages" not in file
            and "dist-packages" not in file
        )
