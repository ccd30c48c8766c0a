"""Buffers and parameters of networks, which move to a device with the network."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, descendants


def registered_in(cls: ast.ClassDef, model: SemanticModel) -> frozenset[str]:
    """Return the attributes that move with a network of a class."""
    found = set()
    for node in descendants(cls):
        match node:
            case ast.Call(
                func=ast.Attribute(value=owner, attr="register_buffer" | "register_parameter"),
                args=[ast.Constant(value=str(name)), *_],
            ) if model.names.is_self(owner):
                found.add(name)
            case ast.Assign(targets=[ast.Attribute(value=owner, attr=name)], value=ast.Call(func=func)) if (
                model.names.is_self(owner) and model.names.qualified(func) == "torch.nn.Parameter"
            ):
                found.add(name)
    return frozenset(found)
