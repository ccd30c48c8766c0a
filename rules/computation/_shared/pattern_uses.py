"""Calls of `re` with constant patterns, and whether the pattern may be compiled earlier."""

from __future__ import annotations

import ast
import re
import warnings

from rlint.rule import Binding, Constant, ConstantValue, Edit, SemanticModel, frozen, parameters

FUNCTIONS = {
    name.removeprefix("re."): names for name, names in parameters.PARAMETERS.items() if name.startswith("re.")
}
"""The functions of `re` that take a pattern, and their parameters."""
# LOCALE depends on the process at the time of the call, DEBUG prints
_FLAG_NAMES = {
    "IGNORECASE": "I",
    "MULTILINE": "M",
    "DOTALL": "S",
    "VERBOSE": "X",
    "ASCII": "A",
    "UNICODE": "U",
}
_FLAGS = {
    f"re.{name}": int(re.RegexFlag[full]) for full, short in _FLAG_NAMES.items() for name in (full, short)
}
_FLAGS["re.NOFLAG"] = 0
_NO_FLAGS = Constant(0, "")


@frozen
class PatternUse:
    """A call of `re.<function>`."""

    call: ast.Call
    function: str
    pattern: ast.expr
    flag_argument: ast.expr | None
    flags: Constant


@frozen
class Compiled:
    """A pattern that compiles, with its flags, both as values and as source for module level."""

    pattern: Constant
    flags: Constant


def use_of(node: ast.AST, model: SemanticModel) -> PatternUse | None:
    """Return the call of `re` with constant flags that a node is, or None."""
    if not isinstance(node, ast.Call):
        return None
    module, _, function = (model.names.qualified(node.func) or "").rpartition(".")
    parameters = FUNCTIONS.get(function)
    if module != "re" or parameters is None or len(node.args) > len(parameters):
        return None
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        return None
    given = dict(zip(parameters, node.args, strict=False))
    for keyword in node.keywords:
        if keyword.arg not in parameters or keyword.arg in given:
            return None
        given[keyword.arg] = keyword.value
    if "pattern" not in given or (function != "compile" and "string" not in given):
        return None
    argument = given.get("flags")
    flags = model.types.constant(argument, _FLAGS) if argument is not None else _NO_FLAGS
    if flags is None or not isinstance(flags.value, int):
        return None
    return PatternUse(node, function, given["pattern"], argument, flags)


def compiled(pattern: ast.expr, flags: Constant, model: SemanticModel) -> Compiled | None:
    """Return the pattern if it is constant and compiles without an error or a warning, which would otherwise
    occur at import instead of at the call.
    """
    written = model.types.constant(pattern, _FLAGS)
    if written is None or not compiles(written.value, flags.value):
        return None
    return Compiled(written, flags)


def compiles(pattern: ConstantValue, flags: ConstantValue) -> bool:
    """Whether a pattern compiles without a warning."""
    if isinstance(pattern, int) or not isinstance(flags, int):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            made = re.compile(pattern, flags)
    except (re.error, Warning, ValueError, TypeError, OverflowError, RecursionError, MemoryError):
        return False
    return not made.flags & (re.LOCALE | re.DEBUG)


def flags_text(flags: Constant, alias: str) -> str:
    """Return the flags as an argument at module level."""
    if flags.text is not None:
        return flags.text
    value = int(flags.value) if not isinstance(flags.value, (str, bytes)) else 0
    names = [name for name in _FLAG_NAMES if value & _FLAGS[f"re.{name}"]]
    return " | ".join(f"{alias}.{name}" for name in names)


@frozen
class PatternMove:
    """The change for a call: the constant's name, and the edits (None if they could change behaviour)."""

    name: str
    edits: tuple[Edit, ...] | None
    many: bool = False


def called_on(use: PatternUse, owner: str, model: SemanticModel) -> list[Edit] | None:
    """Return the edits from `re.search(pattern, text, flags)` to `owner.search(text)`, and from
    `re.compile(pattern, flags)` to `owner`; None if code or a comment could be lost.
    """
    if any(isinstance(ancestor, ast.JoinedStr) for ancestor in model.ancestors(use.call)):
        return None  # before Python 3.12, the tree does not contain the positions of the parts of an f-string
    if use.function == "compile":
        return [model.edit.replace(use.call, owner)]
    dropped = [use.pattern] if use.flag_argument is None else [use.pattern, use.flag_argument]
    edit = model.edit.rewrite_call(use.call, function=f"{owner}.{use.function}", without=dropped)
    return [edit] if edit is not None else None


def uses_of(binding: Binding, model: SemanticModel) -> list[PatternUse] | None:
    """Return all calls with a variable as their pattern; None if it has other uses, too."""
    scope = model.names.scope(binding.node)
    uses = []
    for read in model.names.reads(binding.name, scope):
        definitions = model.dataflow.definitions(read)
        if binding not in definitions:
            continue
        use = use_of(model.parent(read) or read, model)
        if use is None or use.pattern is not read or definitions != [binding]:
            return None
        uses.append(use)
    return uses


def function_name(use: PatternUse, model: SemanticModel) -> str:
    """Return the name of the function around a call."""
    function = model.function(use.call)
    return function.name if function is not None else ""
