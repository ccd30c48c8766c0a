"""Repeated evaluations: their order, and uses of the values."""

from __future__ import annotations

import ast
import textwrap

import pytest

from project_builder import build, expression, model_of
from rlint.semantics.dataflow.escape import EscapeLevel
from rlint.semantics.model import SemanticModel

AGAIN = [
    "a = f(x)\nb = f(x)",
    "a = f(x) if f(x) else y",
    "if f(x):\n    a = f(x)",
    "if y and f(x):\n    a = f(x)",
    "if not (y or f(x)):\n    a = f(x)",
    "if f(x) == 1:\n    a = 1\nelif f(x) == 2:\n    a = 2",
    "a = f(x) and f(x) > 3",
    "while f(x) and f(x) > 3:\n    pass",
    "a = [f(r) for r in x if f(r)]",
    "a = [f(r) for r in x if y and f(r)]",
    "a = [f(r) for r in x]\nb = [f(s) for s in x]",
    "a = f(x)\nb = [f(x) for _ in y]",
    "a = lambda r: f(r) if f(r) else 0",
    "with open(f(x)):\n    a = f(x)",
    "a = {f(x): f(x)}",
    "for a in f(x):\n    b = f(x)",
    "a = f(x)\nfor _ in y:\n    if a:\n        b = f(x)",
    "assert f(x), f(x)",
    "a = sum(f(x) for _ in f(x))",
    "match f(x):\n    case 1:\n        a = f(x)",
]
NOT_AGAIN = [
    "if y:\n    a = f(x)\nelse:\n    a = f(x)",
    "a = f(x) if y else f(x)",
    "if y or f(x):\n    a = f(x)",
    "if y and f(x):\n    pass\nelse:\n    a = f(x)",
    "if y:\n    a = f(x)\nb = f(x)",
    "try:\n    a = f(x)\nexcept E:\n    a = f(x)",
    "for _ in y:\n    a = f(x)\nb = f(x)",
    "a = y or f(x)\nb = f(x)",
    "a = f(x)\nx = y\nb = f(x)",
    "a = [f(r) for r in x]\nb = [f(r) for r in y]",
    "a = f(1)\nb = f(True)",
    "a = lambda: f(x)\nb = f(x)",
    "a = (f(r) for r in x)\nb = f(x)",
    "a = f(x)\nb = (f(x) for _ in y)\nx = 2\nc = list(b)",
    "for r in x:\n    a = f(r)\nfor r in x:\n    b = f(r)",
    "a = f(x)\ndef g():\n    return f(x)",
    "a = f(x, y)\nb = f(y, x)",
    "a = f(x)\nb = f(x, 1)",
    "a = f(x=y)\nb = f(y)",
]


def calls(model: SemanticModel) -> list[ast.expr]:
    """All calls and comprehensions of a file."""
    return [node for kind in (ast.Call, ast.ListComp) for node in model.syntax.of_type(kind)]


@pytest.mark.parametrize("body", [*AGAIN, *NOT_AGAIN])
def test_what_is_evaluated_again(body: str) -> None:
    """A second evaluation counts only if the first always precedes it, with the same arguments."""
    lines = textwrap.indent(body, "    ")
    model = model_of(f"def f(*a, **b):\n    return 1\ndef g(x: str, y: str):\n{lines}\n")
    found = [again for call in calls(model) if (again := model.dataflow.repetition(call)) is not None]
    assert bool(found) is (body in AGAIN)


def test_all_repetitions_of_one_value_are_one() -> None:
    """Three equal calls are one repetition; a change between them begins another."""
    model = model_of(
        "def f(x):\n    return x\n"
        "def g(x: int):\n    f(x)\n    f(x)\n    f(x)\n    x = 2\n    f(x)\n    f(x)\n"
    )
    found = [again for call in calls(model) if (again := model.dataflow.repetition(call)) is not None]
    assert [[node.lineno for node in repetition.all] for repetition in found] == [[4, 5, 6], [8, 9]]


ESCAPE_LEVELS = {
    "if f(x) > 3:\n    pass": (EscapeLevel.READ, False),
    "print(f(x), f'{f(x)}')": (EscapeLevel.READ, False),
    "a = f(x)\nif a is None:\n    return 1": (EscapeLevel.READ, False),
    "a = len(f(x)) + 1": (EscapeLevel.READ, False),
    "a = f(x) * 2": (EscapeLevel.READ, True),
    "a = f(x)\nb = a + 1": (EscapeLevel.READ, True),
    "a = y[f(x)]": (EscapeLevel.READ, True),
    "for a in f(x):\n    print(a)": (EscapeLevel.READ, False),
    "a = [print(b) for b in f(x)]": (EscapeLevel.READ, False),
    "return f(x)": (EscapeLevel.KEPT, True),
    "a = f(x)\nreturn a": (EscapeLevel.KEPT, True),
    "return [f(x)]": (EscapeLevel.KEPT, True),
    "self.a = f(x)": (EscapeLevel.KEPT, True),
    "mystery(f(x))": (EscapeLevel.HANDED, True),
    "y.append(f(x))": (EscapeLevel.KEPT, True),
    "rows = []\nrows.append(f(x))": (EscapeLevel.KEPT, True),
    "rows = []\nrows.extend([f(x)])": (EscapeLevel.KEPT, True),
    "rows = []\nrows += [f(x)]": (EscapeLevel.KEPT, True),
    "return [0] + [f(x)]": (EscapeLevel.KEPT, True),
    "a = f(x)\ndef h():\n    return a": (EscapeLevel.KEPT, True),
    "for a in f(x):\n    y.append(a)": (EscapeLevel.KEPT, True),
    "a = f(x)\na[0] = 1": (EscapeLevel.CHANGED, True),
    "f(x).append(1)": (EscapeLevel.CHANGED, True),
    "a = f(x)\na += 1": (EscapeLevel.CHANGED, True),
    "f(x).clamp_(0, 1)": (EscapeLevel.CHANGED, True),
    "a, b = f(x)\nb.count = 1": (EscapeLevel.CHANGED, True),
    "import heapq\na = f(x)\nheapq.heapify(a)": (EscapeLevel.CHANGED, True),
}


@pytest.mark.parametrize("body", ESCAPE_LEVELS)
def test_what_becomes_of_a_value(body: str) -> None:
    """A value may be shared if all code only reads it."""
    lines = textwrap.indent(body, "    ")
    model = model_of(f"def g(self, x, y):\n{lines}\n")
    use = model.dataflow.use_of(expression(model, "f(x)"))
    assert (use.escape_level, use.computes) == ESCAPE_LEVELS[body]


CHEAP = {
    "def f(self, x):\n        return self.n[x] + len(x)": True,
    "def f(self, x):\n        return min(self.size, x) if x else None": True,
    "def f(self, x):\n        return x.strip()": False,
    "def f(self, x):\n        return sum(y for y in x)": False,
    "def f(self, x):\n        return self.h(x)\n    def h(self, x):\n        return self.n": True,
    "@functools.lru_cache\n    def f(self, x):\n        return [y for y in x]": True,
    "def f(self, x):\n        return x.startswith('a')": True,
    "def f(self, x):\n        return self.h(x)\n    def h(self, x):\n        return [y for y in x]": False,
}


@pytest.mark.parametrize("method", CHEAP)
def test_a_function_that_looks_something_up_is_cheap(method: str) -> None:
    """Getters and a little arithmetic are not worth remembering; searches and loops are."""
    model = model_of(f"import functools\nclass A:\n    {method}\ndef g(a: A):\n    return a.f(1)\n")
    call = expression(model, "a.f(1)")
    assert isinstance(call, ast.Call)
    assert model.effects.is_cheap(call) is CHEAP[method]


def test_what_others_change_does_not_answer_the_same() -> None:
    """The state of a file, a queue or an event may change between two reads; arguments may not."""
    models = build(
        {
            "state.py": "import os\ndef saved(path):\n    return sorted(os.listdir(path))\n"
            "def words(text):\n    return sorted(text.split())\n",
            "train.py": "import os, queue\nfrom state import saved, words\nq = queue.Queue()\n"
            "saved(p)\nwords(t)\nos.path.exists(p)\nq.qsize()\nsorted(t)\nmystery(t)\n",
        }
    )
    model = models["train.py"]
    found = {
        model.source.text(call): model.effects.is_repeatable(call) for call in model.syntax.of_type(ast.Call)
    }
    assert {text for text, equal in found.items() if equal} == {
        "queue.Queue()",
        "words(t)",
        "sorted(t)",
    }


@pytest.mark.parametrize(("times", "equal"), [(2, True), (101, False)])
def test_what_is_written_too_often_is_not_compared(times: int, equal: bool) -> None:
    """There is no finding: moving each of so many separately would take as many passes."""
    body = "    if len(x) > 3: y.add(x)\n" * times
    model = model_of(f"def f(x: str, y):\n{body}")
    call = expression(model, "len(x)", last=True)
    assert (len(model.dataflow.equal_to(call)) == times) is equal
    assert model.effects.is_repeatable(call) is equal


def test_what_was_compared_before_all_is_given_up_is_reported() -> None:
    """If the analysis of a very repetitive file is stopped, the facts found so far are kept."""
    body = "".join(f"    if len(x) > {number}: y.add(len(z[{number}]))\n" for number in range(30))
    model = model_of(f"def f(x: str, y, z: list[str]):\n{body}    y.add(len(z[1]))\n")
    first, other = expression(model, "len(x)"), expression(model, "len(z[1])")
    assert model.dataflow.repetition(first) is not None
    model.dataflow._changes._compared = 10**9
    assert model.effects.is_repeatable(first)
    assert not model.effects.is_repeatable(other)
