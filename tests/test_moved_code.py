"""Code under another indentation."""

from __future__ import annotations

import pytest

from rlint.edit.deferred_edit import CannotWriteError
from rlint.edit.moved_code import moved

OLD = "    "


@pytest.mark.parametrize(
    ("code", "new", "expected"),
    [
        ("x = f(a,\n          b)", "", "x = f(a,\n      b)"),
        ('x = f("""a\n    b\n""",\n        y)', "", 'x = f("""a\n    b\n""",\n    y)'),
        (
            'with a:\n        x = """\n        t\n    u"""\n        y',
            "        ",
            'with a:\n            x = """\n        t\n    u"""\n            y',
        ),
        ("if a:\n        x\n    else:\n        'y'", "", "if a:\n    x\nelse:\n    'y'"),
        ('x = a \\\n      + "b \\\n    c"', "", 'x = a \\\n  + "b \\\n    c"'),
        ("a\n    .b('''\n    x\n''')\n    .c", "", "a\n.b('''\n    x\n''')\n.c"),
        ("{\r\n        'a': 1,\r\n    }", "\t", "{\r\n\t    'a': 1,\r\n\t}"),
        ("f'''{a}\n    {x}\n    '''", "", "f'''{a}\n    {x}\n    '''"),
        ("x = 1\n\n    y = 'a'", "", "x = 1\n\ny = 'a'"),
        ("f(a,\n b)", "", "f(a,\n b)"),
    ],
)
def test_code_moves_and_strings_stay(code: str, new: str, expected: str) -> None:
    """All lines are re-indented except those within strings, and less indented ones."""
    assert moved(code, OLD, new) == expected


def test_code_that_would_be_another_program_is_not_moved() -> None:
    """Code whose lines cannot be re-indented is refused."""
    with pytest.raises(CannotWriteError):
        moved("if a:\n     b\n    c", "     ", "")
