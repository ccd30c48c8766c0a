"""Options, and conditions on them without which a line does not run."""

from __future__ import annotations

import ast

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
    """Return the name of an option: `args.mixer`, `config["mixer"]`, a setting of an object; None for
    anything else.
    """
    match expression:
        case (
            ast.Attribute(value=owner, attr=name)
            | ast.Subscript(value=owner, slice=ast.Constant(value=str(name)))
        ):
            words = (last_name(owner) or "").lower().strip("_").split("_")
            is_option = not vocabulary.OPTIONS.isdisjoint(words) or last_name(owner) == "self"
            return name if is_option else None
    return None
