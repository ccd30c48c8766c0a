"""LibCST's node types and those of `ast` for the same code, by name: LibCST is not imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator

KINDS: dict[str, tuple[type[ast.AST], ...]] = {
    "AnnAssign": (ast.AnnAssign,),
    "Assert": (ast.Assert,),
    "Assign": (ast.Assign,),
    "Attribute": (ast.Attribute,),
    "AugAssign": (ast.AugAssign,),
    "Await": (ast.Await,),
    "BinaryOperation": (ast.BinOp,),
    "BooleanOperation": (ast.BoolOp,),
    "Break": (ast.Break,),
    "Call": (ast.Call,),
    "ClassDef": (ast.ClassDef,),
    "CompFor": (ast.comprehension,),
    "Comparison": (ast.Compare,),
    "ConcatenatedString": (ast.JoinedStr, ast.Constant),  # parts of an f-string may have the position of all
    "Continue": (ast.Continue,),
    "Del": (ast.Delete,),
    "Dict": (ast.Dict,),
    "DictComp": (ast.DictComp,),
    "Ellipsis": (ast.Constant,),
    "ExceptHandler": (ast.ExceptHandler,),
    "Expr": (ast.Expr,),
    "Float": (ast.Constant,),
    "For": (ast.For, ast.AsyncFor),
    "FormattedString": (ast.JoinedStr,),
    "FunctionDef": (ast.FunctionDef, ast.AsyncFunctionDef),
    "GeneratorExp": (ast.GeneratorExp,),
    "Global": (ast.Global,),
    "If": (ast.If,),
    "IfExp": (ast.IfExp,),
    "Imaginary": (ast.Constant,),
    "Import": (ast.Import,),
    "ImportFrom": (ast.ImportFrom,),
    "Integer": (ast.Constant,),
    "Lambda": (ast.Lambda,),
    "List": (ast.List,),
    "ListComp": (ast.ListComp,),
    "Match": (ast.Match,),
    "Name": (ast.Name, ast.Constant),
    "NamedExpr": (ast.NamedExpr,),
    "Nonlocal": (ast.Nonlocal,),
    "Param": (ast.arg,),
    "Pass": (ast.Pass,),
    "Raise": (ast.Raise,),
    "Return": (ast.Return,),
    "Set": (ast.Set,),
    "SetComp": (ast.SetComp,),
    "SimpleString": (ast.Constant,),
    "Subscript": (ast.Subscript,),
    "Try": (ast.Try,),
    "TryStar": (getattr(ast, "TryStar", ast.Try),),
    "Tuple": (ast.Tuple,),
    "UnaryOperation": (ast.UnaryOp,),
    "While": (ast.While,),
    "With": (ast.With, ast.AsyncWith),
    "WithItem": (ast.withitem,),
    "Yield": (ast.Yield, ast.YieldFrom),
}
"""LibCST node types that a rule may visit."""

_CONSTANTS: dict[str, tuple[type, ...]] = {
    "ConcatenatedString": (str, bytes),
    "Ellipsis": (type(...),),
    "Float": (float,),
    "Imaginary": (complex,),
    "Integer": (int,),
    "Name": (bool, type(None)),
    "SimpleString": (str, bytes),
}


def is_libcst(kind: object) -> bool:
    """Whether something is a type of LibCST."""
    return isinstance(kind, type) and kind.__module__.partition(".")[0] == "libcst"


def names_of(kind: type) -> list[str]:
    """Return the names of a node type and of its derived types, as far as rules may visit them."""
    return sorted({each.__name__ for each in _with_subclasses(kind)} & KINDS.keys())


def fast_kinds(kind: type) -> list[type[ast.AST]]:
    """Return the `ast` types whose nodes correspond to those of a LibCST type."""
    return list(dict.fromkeys(fast for name in names_of(kind) for fast in KINDS[name]))


def may_be(node: ast.AST, kind: type) -> bool:
    """Whether LibCST may parse a node of one of the `fast_kinds` as one of this type."""
    if not isinstance(node, ast.Constant):
        return True
    return any(type(node.value) in _CONSTANTS.get(name, ()) for name in names_of(kind))


def _with_subclasses(kind: type) -> Iterator[type]:
    yield kind
    subclasses: list[type] = type.__subclasses__(kind)
    for each in subclasses:
        yield from _with_subclasses(each)
