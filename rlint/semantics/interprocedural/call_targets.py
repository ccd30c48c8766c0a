"""Which arguments a function calls."""

from __future__ import annotations

import ast

from rlint.models.parameters import CALLED_BACK_AT


def called_back(call: ast.Call, qualified: str) -> list[ast.expr]:
    """The arguments that a function may call; of a function whose arguments nobody noted down, all."""
    places = CALLED_BACK_AT.get(qualified)
    if places is None or any(isinstance(argument, ast.Starred) for argument in call.args):
        return arguments_of(call)
    keywords = [
        keyword.value for keyword in call.keywords if keyword.arg not in ("initial", "default", "reverse")
    ]
    return [call.args[place] for place in places if place < len(call.args)] + keywords


def arguments_of(call: ast.Call) -> list[ast.expr]:
    """The values that a call hands over."""
    return [*call.args, *[keyword.value for keyword in call.keywords]]
