"""Pauses that let a person watch: `time.sleep(0.02)` after each frame of a demonstration."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlint.models import waiting_words
from rlint.regex import regex
from rlint.syntax.last_names import last_name
from rlint.syntax.syntax_index import SyntaxIndex

if TYPE_CHECKING:
    from rlint.semantics.interprocedural.qualified_names import QualifiedNames

_SHORTEST = 0.01
"""Seconds: shorter pauses leave most of the time to the program."""
_NAMES = tuple(sorted({path.rpartition(".")[2] for path in waiting_words.PAUSES}))
_FRAMES = regex(r"fps|frame_?rate|frames_per|^hz$|_hz$|frequency")


def long_pauses(syntax: SyntaxIndex, names: QualifiedNames) -> Iterator[ast.Call]:
    """Yield the calls of a file that pause for at least a hundredth of a second."""
    for call in syntax.written.calls_of(_NAMES):
        unit = waiting_words.PAUSES.get(names.qualified(call.func) or "")
        if unit is not None and len(call.args) == 1 and _seconds(call.args[0]) * unit >= _SHORTEST:
            yield call


def _seconds(duration: ast.expr) -> float:
    """Return a duration that the code states, or that of a frame: `0.05`, `1 / 30`, `1.0 / fps`. 0 for
    others.
    """
    match duration:
        case ast.Constant(value=int() | float() as seconds):
            return float(seconds)
        case ast.BinOp(left=ast.Constant(value=int() | float() as one), op=ast.Div(), right=divisor):
            match divisor:
                case ast.Constant(value=int() | float() as number) if number > 0:
                    return one / number
            return float(one) * _SHORTEST if _FRAMES.search((last_name(divisor) or "").lower()) else 0.0
    return 0.0
