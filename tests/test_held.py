"""The validation of every fix: tokens stay separate, the program parses, new names have the intended
meaning.
"""

from __future__ import annotations

import pytest

from project_builder import model_of
from reports import at
from rlint.findings import Applicability, Edit, Finding, Fix
from rlint.fixing.apply_fixes import apply
from rlint.fixing.fix_validation import held


def fixed(text: str, *edits: Edit) -> str | None:
    """The text with a validated fix; or, after a `!`, why there is none."""
    finding = Finding(
        "RL101",
        "some-rule",
        "m",
        "train.py",
        at(1),
        at(1),
        1,
        1,
        fix=Fix("Repair it", Applicability.SAFE, edits),
    )
    [each] = held([finding], model_of(text))
    if each.fix is None:
        return f"!{each.no_fix}"
    return apply(text, [each], unsafe=False)[0]


def instead(text: str, old: str, new: str) -> str | None:
    """The text with the fix that replaces one text, which occurs once, by another."""
    start = text.rindex(old)
    return fixed(text, Edit(start, start + len(old), new))


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("return[a for a in b]\n", "[a for a in b]", "acts", "return acts\n"),
        ("return.5*x\n", ".5*x", "y", "return y\n"),
        ("y = x if not[a]else z\n", "[a]", "a", "y = x if not a else z\n"),
        ('y = not"a" in z\n', '"a" in z', "z", "y = not z\n"),
        ("y = [a]if z else b\n", "[a]", "a", "y = a if z else b\n"),
        ("f = lambda:[z]\n", "[z]", "z", "f = lambda:z\n"),
        ("x = 1 if y else 0\n", "y", "3", "x = 1 if 3 else 0\n"),
        ("x = a(1)\n", "a", "5 .b", "x = 5 .b(1)\n"),
        ("x = a.b\n", "a", "5", "x = 5 .b\n"),
        ("x = a if b else[c]\n", "[c]", "c", "x = a if b else c\n"),
        ("x = a*(b)\n", "(b)", "c", "x = a*c\n"),
        ("f(*(b))\n", "(b)", "*c", "!the changed code would not parse"),
        ("x.relu(y)\n", "(y)", "_(y)", "x.relu_(y)\n"),
        ("x.match(y)\n", "(y)", "_(y)", "x.match_(y)\n"),
        ("x = 'return[y]'\n", "[y]", "z", "x = 'returnz'\n"),
    ],
)
def test_no_two_tokens_become_one(text: str, old: str, new: str, expected: str) -> None:
    """A blank separates them. Names may get another suffix, and strings are unchanged."""
    names = "a = b = c = z = acts = y = x = 0\n"
    result = instead(names + text, old, new)
    assert result == (expected if expected.startswith("!") else names + expected)


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("x = a - b\n", "b", "c + d", "x = a - (c + d)\n"),
        ("x = a + b\n", "b", "c * d", "x = a + c * d\n"),
        ("x = a.item()\n", "a", "b + c", "x = (b + c).item()\n"),
        ("x = f(a)\n", "a", "b, c", "x = f(b, c)\n"),
        ("x = f(a)\n", "a", "b if c else d", "x = f(b if c else d)\n"),
        ("x = a\n", "a", "b\n    .c()", "x = (b\n    .c())\n"),
        ("x = a, b\n", "a", "lambda: c", "x = lambda: c, b\n"),
        ("x = a if b else d\n", "a", "lambda: c", "x = (lambda: c) if b else d\n"),
        ("x = a\n", "a", "(b", "!the changed code would not parse"),
        ("if a:\n    b\nelse: c\n", "c", "d -", "!the changed code would not parse"),
        ("if a:\n    b\n", "    b\n", "", "!the changed code would not parse"),
        ("if a:\n    b\n    c\n", "    b\n", "      b\n", "!the changed code would not parse"),
    ],
)
def test_changed_code_parses_and_means_what_the_fix_says(
    text: str, old: str, new: str, expected: str
) -> None:
    """Parentheses are added around a new expression; an invalid fix is left out."""
    names = "f = a = b = c = d = 0\n"
    start = text.index(old, text.find("=") + 1 or 3)
    result = fixed(names + text, Edit(len(names) + start, len(names) + start + len(old), new))
    assert result == (expected if expected.startswith("!") else names + expected)


USES = {
    "def f(a):\n    use(a)\n": True,
    "def f(math):\n    use(math)\n": False,
    "def f(a):\n    math = 1\n    return lambda: use(a)\n": False,
    "def f(a):\n    return [use(a) for math in a]\n": False,
    "class C:\n    math = 1\n    def f(self, a):\n        use(a)\n": True,
    "class C:\n    math = 1\n    b = use(a)\n": False,
    "def f(a):\n    use(a)\n    for math in a:\n        pass\n": False,
    "def f(a, math=1):\n    def g():\n        use(a)\n": False,
}


@pytest.mark.parametrize(("text", "is_right"), USES.items())
def test_a_new_import_is_read_where_the_fix_needs_it(text: str, is_right: bool) -> None:
    """If an inserted name is shadowed there, there is no fix, and the finding says so."""
    text = f"import os\nuse = a = 1\n{text}"
    call = text.index("use(")
    result = fixed(text, Edit(0, 0, "import math\n", shared=True), Edit(call, call + 3, "math.sqrt"))
    if is_right:
        assert result == "import math\n" + text.replace("use(", "math.sqrt(")
    else:
        assert result == "!`math` has another meaning here"


@pytest.mark.parametrize(
    ("text", "new", "expected"),
    [
        ("def f(a):\n    use(a)\n", "max(a)", None),
        ("def f(a, max):\n    use(a)\n", "max(a)", "max"),
        ("max = 1\ndef f(a):\n    use(a)\n", "max(a)", "max"),
        ("def f(a):\n    use(a)\n", "unknown(a)", "unknown"),
        ("from x import *\ndef f(a):\n    use(a)\n", "unknown(a)", None),
        ("import torch\ndef f(a):\n    use(a)\n", "torch.exp(a)", None),
        ("import torch\ndef f(a, torch):\n    use(a)\n", "torch.exp(a)", "torch"),
        ("def f(a):\n    use(a)\n", "[max(b) for b in a]", None),
        ("def f(a):\n    use(a)\n", "[b for max in a]", "b"),
    ],
)
def test_new_names_mean_what_the_fix_says(text: str, new: str, expected: str | None) -> None:
    """A rebound builtin, a shadowed module, and an unbound name."""
    result = instead(text, "use(a)", new)
    changed = text.replace("use(a)", new)
    assert result == (f"!`{expected}` has another meaning here" if expected else changed)


def test_other_fixes_of_the_rule_go_on() -> None:
    """Only the invalid fix is left out."""
    text = "x = f(1)\ny = f(2)\n"
    edits = [Edit(4, 8, "("), Edit(13, 17, "3")]
    findings = [
        Finding("RL101", "n", "m", "a.py", at(1), at(1), 1, 1, fix=Fix("Repair", Applicability.SAFE, (edit,)))
        for edit in edits
    ]
    assert apply(text, held(findings, model_of(text)), unsafe=False)[0] == "x = f(1)\ny = 3\n"


@pytest.mark.parametrize(
    ("text", "old", "new", "lost"),
    [
        ("x = f(  # noqa: E1\n    1)\n", "f(  # noqa: E1\n    1)", "2", "# noqa: E1"),
        ("def g():\n    x = 1  # why\n    return x\n", "    x = 1  # why\n", "", "# why"),
        ("x = f(1)  # why\n", "f(1)", "2", None),
        ("x = f('# why')\n", "f('# why')", "2", None),
        ("x = f(  # why\n    1)\n", "f(  # why\n    1)", "(  # why\n    2)", None),
    ],
)
def test_no_comment_is_lost(text: str, old: str, new: str, lost: str | None) -> None:
    """If a comment would be lost, there is no fix, and the finding says which."""
    result = instead(text, old, new)
    assert result == (f"!the comment `{lost}` would be lost" if lost else text.replace(old, new))


@pytest.mark.parametrize(
    ("text", "old", "new", "changed"),
    [
        ("x = f(  # why\n    1)\n", "f(  # why\n    1)", "2", "# why\nx = 2\n"),
        (
            "def g():\n    x = f(  # one\n        1,  # two\n    )\n",
            "f(  # one\n        1,  # two\n    )",
            "2",
            "def g():\n    # one\n    # two\n    x = 2\n",
        ),
        ("if a: x = f(  # why\n    1)\n", "f(  # why\n    1)", "2", "# why\nif a: x = 2\n"),
        ("y = 1; x = f(  # why\n    1)\n", "f(  # why\n    1)", "2", "# why\ny = 1; x = 2\n"),
        (
            '"""\nnote"""; x = f(  # why\n    1)\n',
            "f(  # why\n    1)",
            "2",
            '# why\n"""\nnote"""; x = 2\n',
        ),
        (
            "if a:\n    b()\nelif f(  # why\n    1):\n    c()\n",
            "f(  # why\n    1)",
            "2",
            "if a:\n    b()\n# why\nelif 2:\n    c()\n",
        ),
        (
            "@f(  # why\n    1)\ndef g():\n    pass\n",
            "f(  # why\n    1)",
            "f(2)",
            "# why\n@f(2)\ndef g():\n    pass\n",
        ),
        (
            "for i in a:\n    # why\n    b(i)\nc()\n",
            "for i in a:\n    # why\n    b(i)",
            "b.all(a)",
            "# why\nb.all(a)\nc()\n",
        ),
    ],
)
def test_a_comment_is_placed_above(text: str, old: str, new: str, changed: str) -> None:
    """Comments that would be lost by reformatting an expression are moved above the statement."""
    assert instead(text, old, new) == changed


def test_a_comment_may_move_or_go_with_what_it_is_about() -> None:
    """Comments are searched in all new code, and a fix declares which it removes."""
    text = "x = 1  # one\ny = 2\n"
    assert fixed(text, Edit(0, 13, ""), Edit(19, 19, "x = 1  # one\n")) == "y = 2\nx = 1  # one\n"
    assert fixed(text, Edit(0, 13, "", owns=("# one",))) == "y = 2\n"
