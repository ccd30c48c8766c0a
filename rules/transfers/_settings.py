"""Settings of torch that change where new tensors lie, or of what type they are."""

from __future__ import annotations

import ast

from rlint.project.kind import Tag
from rlint.project.site import Site

DEFAULT_DEVICE = ("set_default_device", "set_default_tensor_type")
DEFAULT_TYPE = ("set_default_dtype", "set_default_tensor_type")


def is_set(settings: tuple[str, ...], site: Site) -> bool:
    """Does any file of the project call one of these functions of torch?"""
    return any(
        site.is_attribute_read(name)
        or any(f"torch.{name}" in module.imports.values() for module in site.index.modules.values())
        for name in settings
    )


def has_device_around(node: ast.AST, site: Site) -> bool:
    """Does the node stand in a `with torch.device(…):`?"""
    return any(
        site.kind_of(item.context_expr).tag is Tag.DEVICE
        for around in site.ancestors(node)
        if isinstance(around, (ast.With, ast.AsyncWith))
        for item in around.items
    )
