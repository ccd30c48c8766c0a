"""Devices on which the workloads of a fixture run and make claims, from the text of the file.

Workload files import torch, which need not be installed here.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

from rlint.errors import RlintError
from rlint.frozen import frozen

_DEFAULTS: Mapping[str, object] = {"claims": ("time",), "devices": ("cpu",)}
"""The defaults of rlint.harness.Workload (a test compares them)."""


@frozen
class Devices:
    """The kinds of devices of all workloads of one file."""

    run: frozenset[str]
    """Devices on which some workload can run."""
    claimed: frozenset[str]
    """Devices on which some workload runs and claims a gain."""


def devices_of(path: Path) -> Devices:
    """Read a workload file. Raises RlintError for one that is unreadable or not Python."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError) as error:
        raise RlintError(f"{path}: cannot be read: {error}") from error
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    run: set[str] = set()
    claimed: set[str] = set()
    for node in classes.values():
        if node.name.startswith("_") or not _is_workload(node, classes):
            continue
        devices = _texts(_declared(node, "devices", classes))
        only = {claim.partition(":")[2] for claim in _texts(_declared(node, "claims", classes))}
        run |= devices
        claimed |= {device for device in devices if only & {"", device}}
    return Devices(frozenset(run), frozenset(claimed))


def _bases(node: ast.ClassDef) -> list[str]:
    return [ast.unparse(base).rpartition(".")[2] for base in node.bases]


def _is_workload(node: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> bool:
    others = [classes[base] for base in _bases(node) if base in classes and base != node.name]
    return "Workload" in _bases(node) or any(_is_workload(other, classes) for other in others)


def _declared(node: ast.ClassDef, name: str, classes: Mapping[str, ast.ClassDef]) -> object:
    for statement in reversed(node.body):
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=bound)], value=ast.expr() as value)
                | ast.AnnAssign(target=ast.Name(id=bound), value=ast.expr() as value)
            ) if bound == name:
                try:
                    return ast.literal_eval(value)
                except ValueError:
                    return _DEFAULTS[name]  # computed: not known here
    others = [classes[base] for base in _bases(node) if base in classes and base != node.name]
    return _declared(others[0], name, classes) if others else _DEFAULTS[name]


def _texts(value: object) -> set[str]:
    return {one for one in value if isinstance(one, str)} if isinstance(value, (tuple, list)) else set()
