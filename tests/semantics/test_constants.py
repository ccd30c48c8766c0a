"""Constant expressions, and how they are spelled at module level."""

from __future__ import annotations

import ast

import pytest

from project_builder import model_of
from rlint.semantics.types.constants import Constant

FLAGS = {"re.DOTALL": 16, "re.I": 2}


def constant_used(program: str) -> Constant | None:
    """The constant in the argument of the first call of `use`."""
    model = model_of(program)
    calls = [call for call in model.syntax.of_type(ast.Call) if model.source.text(call.func) == "use"]
    return model.types.constant(calls[0].args[0], FLAGS)


@pytest.mark.parametrize(
    ("program", "value", "text"),
    [
        ("use(r'\\d+')", "\\d+", "r'\\d+'"),
        ("use('a' + 'b')", "ab", "'a' + 'b'"),
        ("A = 'a'\ndef f():\n    use(A + 'b')", "ab", "A + 'b'"),
        ("def f():\n    a = 'a'\n    use(a)", "a", "'a'"),
        ("def f():\n    a = 'a' + 'b'\n    use(a + 'c')", "abc", "('a' + 'b') + 'c'"),
        ("A = 'a'\ndef f():\n    use(f'{A}b')", "ab", "f'{A}b'"),
        ("def f():\n    a = 'a'\n    use(f'{a}b')", "ab", None),
        ("import re\ndef f():\n    use(re.DOTALL | re.I)", 18, "re.DOTALL | re.I"),
        ("def f():\n    import re\n    use(re.I)", 2, None),
        ("def f():\n    a = 'a'\n    use(a)\n    a = 'b'", "a", "'a'"),
    ],
)
def test_constants_are_known_with_their_spelling(program: str, value: object, text: str | None) -> None:
    """The value is that of the running program, and the text has the same meaning at module level."""
    written = constant_used(program)
    assert written is not None
    assert (written.value, written.text) == (value, text)


@pytest.mark.parametrize(
    "program",
    [
        "def f(a):\n    use(a)",
        "def f(x):\n    a = 'a'\n    if x:\n        a = 'b'\n    use(a)",
        "def f(x):\n    use(f'{x}')",
        "A = 'a'\nuse(f'{A!r}')",
        "use('a' % 1)",
        "use('a' + b'b')",
        "for a in ('a', 'b'):\n    use(a)",
        "use(True)",
    ],
)
def test_what_may_vary_is_no_constant(program: str) -> None:
    """Arguments, names with two values and formatting are not constant."""
    assert constant_used(program) is None
