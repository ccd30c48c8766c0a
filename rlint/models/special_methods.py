"""Which special methods Python's builtin functions and its syntax call."""

from __future__ import annotations

import ast

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
    "reversed": ("__reversed__", "__len__", "__getitem__"),
}
"""By the name of the function."""
OF_METHODS: dict[str, tuple[str, ...]] = {
    "join": ITERATES,
    **dict.fromkeys(("format", "debug", "info", "warning", "error", "log"), SHOWS),
}
"""The same for methods of texts and loggers, by the name of the method."""
HASHED = ("__hash__", "__eq__")
KEYS = ("keys", "__getitem__")
"""Methods of a mapping that is unpacked into a dict."""

ENTERS = ("__enter__", "__exit__", "__aenter__", "__aexit__")
LOOKED_UP = ("__getattribute__", "__getattr__")
STORES = "="
"""Ends the names of the setters of properties, which have the name of the property itself."""
WRITES = ("__setitem__", "__delitem__", "__setattr__", "__delattr__")
OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv",
    ast.Mod: "mod", ast.Pow: "pow", ast.MatMult: "matmul", ast.BitAnd: "and", ast.BitOr: "or",
    ast.BitXor: "xor", ast.LShift: "lshift", ast.RShift: "rshift", ast.Eq: "eq", ast.NotEq: "ne",
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.USub: "neg", ast.UAdd: "pos",
    ast.Invert: "invert",
}  # fmt: skip
REFLECTED: dict[type[ast.AST], str] = {
    ast.Lt: "gt", ast.LtE: "ge", ast.Gt: "lt", ast.GtE: "le", ast.Eq: "eq", ast.NotEq: "eq",
}  # fmt: skip
IMPLICIT = frozenset(
    {
        name
        for names in (TRUTH, ITERATES, ENTERS, SHOWS, LOOKED_UP, WRITES, HASHED, *OF_BUILTINS.values())
        for name in names
    }
    | {f"__{side}{name}__" for name in OPERATORS.values() for side in ("", "r", "i")}
    | {"__contains__"}
)
"""Methods that run without being called, besides properties."""
