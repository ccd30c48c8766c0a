"""Where values come from: items of lists, results of calls."""

from __future__ import annotations

import ast
import textwrap

import pytest

from project_builder import build, expression, model_of

PLACES = {
    "use(xs)": ("xs", 0),
    "for x in xs:\n    use(x)": ("xs", 1),
    "for i, x in enumerate(xs):\n    use(x)": ("xs", 1),
    "for x, y in zip(xs, ys):\n    use(y)": ("ys", 1),
    "for i, (x, y) in enumerate(zip(xs, ys)):\n    use(y)": ("ys", 1),
    "[use(x) for x in xs]": ("xs", 1),
    "for x in xs:\n    for y in x:\n        use(y)": ("xs", 2),
    "for x in list(self.xs):\n    use(x)": ("self.xs", 1),
    "for a, b in xs:\n    use(a)": None,
    "for x in xs.items():\n    use(x)": None,
}


@pytest.mark.parametrize("body", PLACES)
def test_a_loop_variable_is_an_item_of_a_list(body: str) -> None:
    """The list of a loop variable is found through `zip`, `enumerate` and nested loops."""
    model = model_of(f"def f(self, xs, ys):\n{textwrap.indent(body, '    ')}\n")
    call = next(node for node in model.syntax.of_type(ast.Call) if model.source.text(node.func) == "use")
    place = model.types.origin_of(call.args[0])
    assert (place and (model.source.text(place.root), place.depth)) == PLACES[body]


MAKERS = {
    "x = g(1)\nuse(x)": ("g(1)", False),
    "use(g(1))": ("g(1)", False),
    "x = [g(y) for y in ys]\nuse(x)": ("g(y)", True),
    "x = list(map(g, ys))\nuse(x)": ("g", True),
    "x = []\nfor y in ys:\n    x.append(g(y))\nuse(x)": ("g(y)", True),
    "x = [g(y) for y in ys]\nfor z in x:\n    use(z)": ("g(y)", False),
    "x = g(1)\nif ys:\n    x = 2\nuse(x)": None,
    "x, y = g(1)\nuse(x)": None,
}


@pytest.mark.parametrize("body", MAKERS)
def test_what_made_a_value(body: str) -> None:
    """A value, or each item of a list, is traced to the call that returned it."""
    expected = MAKERS[body]
    model = model_of(f"def f(ys):\n{textwrap.indent(body, '    ')}\n")
    call = next(node for node in model.syntax.of_type(ast.Call) if model.source.text(node.func) == "use")
    maker = model.types.maker_of(call.args[0], items=expected is not None and expected[1])
    assert (maker and model.source.text(maker)) == (expected and expected[0])


def test_what_a_function_applies_to_its_parameters() -> None:
    """A helper that passes its parameter, or each item of it, to another function is recorded."""
    models = build(
        {
            "scoring.py": """
                from parsing import extract

                def score(text, gold):
                    text = extract(text)
                    return text == gold

                def scores(texts, golds):
                    return [extract(text) == gold for text, gold in zip(texts, golds)]

                def other(text, gold):
                    text = text + gold
                    return extract(text)

                def maybe(text, gold):
                    return gold and extract(text)

                def nested(texts):
                    return sum(0.5 * len(extract(text)) for text in texts)
                """,
            "parsing.py": "def extract(text):\n    return text.split()[-1]\n",
            "train.py": "from scoring import score, scores, other, maybe, nested\n"
            "score(a, b), scores(a, b), other(a, b), maybe(a, b), nested(a)\n",
        }
    )
    model = models["train.py"]
    found = []
    for text in ("score(a, b)", "scores(a, b)", "other(a, b)", "maybe(a, b)", "nested(a)"):
        call = expression(model, text)
        assert isinstance(call, ast.Call)
        (target,) = model.types.call_targets(call)
        found.append([(a.path, a.parameter, a.items) for a in target.applications])
    each = [("parsing.extract", "texts", True)]
    assert found == [[("parsing.extract", "text", False)], each, [], [], each]
