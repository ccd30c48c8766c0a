"""Sub-networks that are more than a head: they have several layers of their own."""

from __future__ import annotations

from rlint.rule import ClassSummary, SemanticModel, TypeTag

_LAYERS = 3
"""A head on a common trunk usually has fewer."""


def has_layers(cls: ClassSummary, model: SemanticModel) -> bool:
    """Whether a class of networks has several layers or networks, also in networks of the project that it
    consists of: the mixing network of QMIX.
    """
    return _count(cls, model, frozenset()) >= _LAYERS


def _count(cls: ClassSummary, model: SemanticModel, around: frozenset[str]) -> int:
    """Return the number of layers of a class; a container of layers counts as one."""
    if cls.path in around:
        return 0
    found = 0
    for name in cls.attributes:
        kind = model.index.attribute(cls, name)
        if kind.tag is not TypeTag.MODULE:
            continue
        part = model.index.class_of(kind)
        found += _count(part, model, around | {cls.path}) if part is not None else 1
    return found
