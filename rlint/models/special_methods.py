"""Which special methods of their arguments Python's builtin functions call."""

from __future__ import annotations

from rlint.models.by_trait import having
from rlint.models.trait import Trait

TRUTH = ("__bool__", "__len__")
ITERATES = ("__iter__", "__next__", "__len__", "__getitem__")
SHOWS = ("__format__", "__str__", "__repr__")

OF_BUILTINS: dict[str, tuple[str, ...]] = {
    **{
        name.removeprefix("builtins."): ITERATES
        for name in having(Trait.ITERATES | Trait.SAME_ITEMS, "builtins")
        - {"builtins.bytearray", "builtins.bytes", "builtins.frozenset", "builtins.next"}
    },
    **dict.fromkeys(("str", "repr", "format", "print"), SHOWS),
    "len": ("__len__",),
    "bool": TRUTH,
    "float": ("__float__", "__index__"),
    "int": ("__int__", "__index__"),
    "abs": ("__abs__",),
    "hash": ("__hash__",),
    "round": ("__round__",),
    "divmod": ("__divmod__",),
}
"""By the name of the function."""
