"""Edits at module level, and removal of arguments from calls."""

from __future__ import annotations

import ast
from collections.abc import Iterable

import pytest

from project_builder import expression, find, model_of
from rlint.edit.deferred_edit import written
from rlint.findings import Edit


def applied(text: str, edits: Iterable[Edit]) -> str:
    """The text after edits; those at one place are applied in order."""
    done, parts = 0, []
    for edit in sorted(written(edits), key=lambda edit: (edit.start, edit.end)):
        parts += [text[done : edit.start], edit.text]
        done = edit.end
    return "".join([*parts, text[done:]])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import re\n\n\ndef f():\n    use()\n", "import re\n\nX = 1\n\n\ndef f():\n    use()\n"),
        ("import re\nA = 2\n\ndef f():\n    use()\n", "import re\nA = 2\nX = 1\n\ndef f():\n    use()\n"),
        ("import re\r\ndef f():\r\n    use()\r\n", "import re\r\n\r\nX = 1\r\ndef f():\r\n    use()\r\n"),
        (
            "if True:\n    import re\n    def f():\n        use()\n",
            "if True:\n    import re\n\n    X = 1\n    def f():\n        use()\n",
        ),
        ("import re\ncall()\nimport os\nuse()\n", "import re\ncall()\nimport os\n\nX = 1\nuse()\n"),
    ],
)
def test_a_constant_is_placed_after_the_imports(before: str, after: str) -> None:
    """A new constant is inserted below the imports and existing constants, above its use."""
    model = model_of(before)
    edits = model.importer.module_constant("X", "1", user=find(model, "use()"))
    assert edits is not None
    assert applied(before, edits) == after


@pytest.mark.parametrize(
    "program",
    [
        "def f():\n    use()\n\nimport re\n",
        "try:\n    import re\nexcept ImportError:\n    pass\ndef f():\n    use()\n",
    ],
)
def test_a_constant_needs_what_it_is_made_of(program: str) -> None:
    """If the import may not have run before, the constant cannot be placed."""
    model = model_of(program)
    [imported] = model.syntax.of_type(ast.Import)
    assert (
        model.importer.module_constant("X", "re.compile('')", user=find(model, "use()"), needs=[imported])
        is None
    )


def test_lines_of_a_string_are_not_indented() -> None:
    """A constant inserted into an indented block keeps its text."""
    program = "if True:\n    import re\n    def f():\n        use()\n"
    model = model_of(program)
    user = find(model, "use()")
    edits = model.importer.module_constant("X", "(\n    '''a\n  b''',\n)", user=user)
    assert edits is not None
    assert "    X = (\n        '''a\n  b''',\n    )\n" in applied(program, edits)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import os\nimport sys\nuse()\n", "import os\nimport re\nimport sys\nuse()\n"),
        ("from re import search\nuse()\n", "import re\nfrom re import search\nuse()\n"),
        (
            "from __future__ import annotations\nfrom os import path\nuse()\n",
            "from __future__ import annotations\nimport re\nfrom os import path\nuse()\n",
        ),
        (
            "from typing import Any\n\nimport gym\nfrom . import nets\nuse()\n",
            "import re\nfrom typing import Any\n\nimport gym\nfrom . import nets\nuse()\n",
        ),
        ("import numpy\nimport sys\nuse()\n", "import numpy\nimport re\nimport sys\nuse()\n"),
    ],
)
def test_an_import_is_added_next_to_the_others(before: str, after: str) -> None:
    """A missing import is inserted in the usual order."""
    model = model_of(before)
    added = model.importer.module_import("re", user=find(model, "use()"))
    assert added is not None
    assert applied(before, [added[1]]) == after


@pytest.mark.parametrize("program", ["use()\n", "import os\nre = 1\nuse()\n"])
def test_an_import_is_not_added_over_a_name_in_use(program: str) -> None:
    """If the name is taken, or there are no imports, no import is added."""
    model = model_of(program)
    assert model.importer.module_import("re", user=find(model, "use()")) is None


def test_the_same_key_gets_the_same_name() -> None:
    """Two fixes that need the same constant share one name, and existing names are not reused."""
    model = model_of("NAME = 1\n")
    names = [
        model.importer.fresh_name("NAME", "a"),
        model.importer.fresh_name("OTHER", "a"),
        model.importer.fresh_name("NAME", "b"),
    ]
    assert names == ["NAME_2", "NAME_2", "NAME_3"]


@pytest.mark.parametrize(
    ("call", "dropped", "after"),
    [
        ("f(a, b, c)", "a", "f(b, c)"),
        ("f(a, b, c)", "ac", "f(b)"),
        ("f(a, b, c)", "bc", "f(a)"),
        ("f(a, b, c)", "abc", "f()"),
        ("f(x=a, y=b)", "a", "f(y=b)"),
        ("f((a), (b))", "a", "f((b))"),
        ("f(\n    a,\n    b,\n)", "b", "f(\n    a,\n)"),
        ("f(\n    a,\n    b,\n)", "a", "f(\n    b,\n)"),
        ("f(*a, b, **c)", "b", "f(*a, **c)"),
        ("f(\n    a,\n)", "a", "f()"),
        ("f(lambda x, y: x, a)", "a", "f(lambda x, y: x)"),
    ],
)
def test_arguments_are_taken_out(call: str, dropped: str, after: str) -> None:
    """The comma, keyword and parentheses of an argument are removed with it, everything else is kept."""
    model = model_of(call)
    node = expression(model, call)
    assert isinstance(node, ast.Call)
    going = [child for child in ast.walk(node) if isinstance(child, ast.Name) and child.id in dropped]
    edit = model.edit.without_arguments(node, going)
    assert edit is not None
    assert applied(call, [edit]) == after
