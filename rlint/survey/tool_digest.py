"""Dependencies of results besides the code: rlint itself and Python, by content, the same on all nodes."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import rlint
from rlint.registry import catalogue

_FORMAT = 1
"""Version of the stored format; incremented when it changes."""
_NO_PART = frozenset({"__pycache__", "fixtures", "harness", "lsp", "prove", "trial"})


@functools.cache
def tool_digest() -> str:
    """Return the digest of this installation: the text of its modules and the evidence of its rules."""
    python = [platform.python_implementation(), *sys.version_info[:3]]
    digest = hashlib.sha256(json.dumps([_FORMAT, rlint.__version__, *python]).encode())
    for name, path in sorted(_files()):
        with open(path, "rb") as file:
            digest.update(name.encode() + b"\0" + hashlib.sha256(file.read()).digest())
    return digest.hexdigest()


def options_digest(overrides: Mapping[str, Any], *, configured: bool) -> str:
    """Return the digest of a survey's settings, as far as findings depend on them."""
    said = json.dumps([dict(overrides), configured], sort_keys=True)
    return hashlib.sha256(said.encode("utf-8", "surrogateescape")).hexdigest()


def _files() -> Iterator[tuple[str, str]]:
    """Yield the name and path of each file that results depend on."""
    for folder in (os.path.dirname(rlint.__file__), *map(str, catalogue.folders())):
        for top, folders, names in os.walk(folder):
            folders[:] = [name for name in folders if name not in _NO_PART]
            for name in names:
                if name.endswith((".py", ".json")):
                    path = os.path.join(top, name)
                    yield os.path.relpath(path, folder), path
    for entry in catalogue.catalogue():
        evidence = entry.fixtures / entry.name / "evidence" if entry.fixtures is not None else None
        if evidence is not None and evidence.is_dir():
            for one in evidence.iterdir():
                yield f"{entry.name}/{one.name}", str(one)
