"""Loaded by every Python that a compared command starts: records what ran there, and changes nothing else.

It records which lines of the fixed files run (if coverage.py is installed), and from which files the packages
that contain them were imported. A `sitecustomize` of the environment's own is run as well.
"""

from __future__ import annotations

import atexit
import importlib.machinery
import importlib.util
import json
import os
import sys
import uuid

_HERE = os.path.dirname(os.path.abspath(__file__))


def _run_the_hidden_one() -> None:
    path = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def _record_lines() -> bool:
    try:
        import coverage
    except ImportError:
        return False
    coverage.process_startup()
    return True


def _write_origins(folder: str, packages: frozenset[str], measured: bool) -> None:  # noqa: FBT001 - atexit calls it
    files = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and name.partition(".")[0] in packages:
            files[name] = os.path.realpath(file)
    target = os.path.join(folder, f"origins-{uuid.uuid4().hex}")
    with open(target, "w", encoding="utf-8") as file:
        json.dump({"measured": measured, "files": files}, file)
    os.rename(target, f"{target}.json")  # a process may be killed before, and leave half of the file


def _start() -> None:
    folder = os.environ.get("TRUST_TRACE")
    if folder:
        measured = "COVERAGE_PROCESS_START" in os.environ and _record_lines()
        packages = frozenset(os.environ.get("TRUST_PACKAGES", "").split(os.pathsep))
        atexit.register(_write_origins, folder, packages, measured)


_run_the_hidden_one()
_start()
