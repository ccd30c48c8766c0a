"""Options, and conditions on them without which a line does not run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.enums import Enum
from rlint.frozen import frozen
from rlint.models import vocabulary
from rlint.syntax.last_names import last_name


class Chooser(Enum):
    """What decides whether a line runs."""

    OPTION = "option"
    CLASS = "class"
    """Objects of the class around the line: it runs only if there are any."""
    REGISTRY = "registry"
    """A lookup in a dict of classes, by its dotted name."""


@frozen
class OptionChoice:
    """A condition: an option that must be on, off or one of some strings, a key that must be looked up in a
    registry, or a class of which there must be objects.
    """

    chooser: Chooser
    name: str
    needed: bool | tuple[str, ...] = True


def option_of(expression: ast.expr) -> str | None:
    """Return the name of an option: `args.mixer`, `config["mixer"]`, `config.model.mixer`, a setting of an
    object; None for anything else.
    """
    match expression:
        case (
            ast.Attribute(value=owner, attr=name)
            | ast.Subscript(value=owner, slice=ast.Constant(value=str(name)))
        ):
            return name if last_name(owner) == "self" or holds_options(owner) else None
    return None


def holds_options(owner: ast.expr) -> bool:
    """Whether an object holds the options of a program, or is a part of one that does, judging by names."""
    words = (last_name(owner) or "").lower().strip("_").split("_")
    if not vocabulary.OPTIONS.isdisjoint(words):
        return True
    return isinstance(owner, (ast.Attribute, ast.Subscript)) and holds_options(owner.value)


def choices_of(test: ast.expr, *, taken: bool) -> Iterator[OptionChoice]:
    """Yield the values of options without which a test does not have an outcome."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from choices_of(operand, taken=not taken)
        case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) is taken:
            for value in values:
                yield from choices_of(value, taken=taken)
        case ast.Compare(
            left=left, ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(value=None)]
        ):
            yield from choices_of(left, taken=isinstance(op, ast.IsNot) is taken)
        case ast.Compare(
            left=left, ops=[ast.Eq() | ast.Is() as op], comparators=[ast.Constant(value=bool(value))]
        ):
            yield from choices_of(left, taken=value is taken)
        case ast.Compare(left=left, ops=[ast.Gt()], comparators=[ast.Constant(value=0)]):
            yield from choices_of(left, taken=taken)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            texts = _texts(right)
            is_one = isinstance(op, (ast.Eq, ast.In)) if taken else isinstance(op, (ast.NotEq, ast.NotIn))
            name = left.id if isinstance(left, ast.Name) else option_of(left)
            if texts and is_one and name:
                yield OptionChoice(Chooser.OPTION, name, texts)
        case ast.Name(id=name):
            yield OptionChoice(Chooser.OPTION, name, taken)
        case _ if option := option_of(test):
            yield OptionChoice(Chooser.OPTION, option, taken)


def _texts(compared: ast.expr) -> tuple[str, ...]:
    """Return a string, or those of a display that has nothing else."""
    parts = compared.elts if isinstance(compared, (ast.Tuple, ast.List, ast.Set)) else [compared]
    texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return tuple(texts) if len(texts) == len(parts) else ()
