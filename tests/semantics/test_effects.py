"""Effects of functions."""

from __future__ import annotations

import ast

import pytest

from fixture_folders import ROOT
from project_builder import build, expression, model_of
from rlint.models.effect import EffectKind

PURE = [
    "def f(text):\n    return text.strip().lower()",
    "import re\ndef f(text):\n    m = re.search('a', text)\n    return m.group(1) if m else None",
    "def f(xs):\n    out = []\n    for x in xs:\n        out.append(x * 2)\n    return out",
    "def f(xs):\n    n = {}\n    for x in xs:\n        n[x] = n.get(x, 0) + 1\n    return n",
    "import numpy as np\ndef f(xs):\n    return np.mean(np.asarray(xs))",
    "def g(x):\n    return x + 1\ndef f(x):\n    return g(g(x))",
    "import json\ndef f(x):\n    try:\n        return json.loads(x)\n    except ValueError:\n        pass",
    "def f(n):\n    return 1 if n < 2 else n * f(n - 1)",
    "import re\ndef f(text):\n    return m.group(1) if (m := re.search('a', text)) else None",
    "def f(text):\n    return text.split('#')[-1].strip()[:10]",
    "import re\ndef f(text):\n    return re.sub('a', '', text)",
    "import torch\n@torch.no_grad()\ndef f(x):\n    return x",
    "def f(x):\n    total = 0.0\n    total += 2 * x\n    return total",
    "def f(n, end=None):\n    if end < 0:\n        end += n\n    return end",
]
NOT_QUIET = [
    "def f(x):\n    rows = map(str, x)\n    return sorted(rows)",
    "import tools\n@tools.logged\ndef f(x):\n    return x",
    "def f(text):\n    print(text)\n    return text",
    "import random\ndef f(text):\n    return random.random()",
    "import time\ndef f(text):\n    return time.time()",
    "SEEN = []\ndef f(text):\n    SEEN.append(text)\n    return text",
    "def f(xs):\n    xs.append(1)\n    return xs",
    "def f(xs):\n    xs[0] = 1\n    return xs",
    "def f(x):\n    x.count += 1\n    return x",
    "def f(x):\n    global COUNT\n    COUNT = x\n    return x",
    "def f(x):\n    yield x",
    "def f(x):\n    return mystery(x)",
    "def f(x):\n    return x.mystery()",
    "def g(x):\n    print(x)\ndef f(x):\n    g(x)\n    return x",
    "import torch\ndef f(x):\n    return x + torch.randn(3)",
    "def f(out):\n    import numpy as np\n    return np.add(1, 2, out=out)",
    "async def f(x):\n    return x",
    "import re\ndef f(text, how):\n    return re.sub('a', how, text)",
    "def f(x, how):\n    return sorted(x, key=how)",
    "def f(xs):\n    xs += 1\n    return xs",
    "def f(n, xs=None):\n    if xs is None:\n        xs = n\n    xs += n\n    return xs",
    "def f(n, xs):\n    if xs < 0:\n        xs += n\n    return xs",
    "def f(n, xs=None):\n    if xs < 0:\n        xs += n\n    return xs[0]",
    "def f(xs):\n    ys = xs\n    ys.append(1)\n    return ys",
    "def f(xs):\n    d = [[0], [0]]\n    d[0] = xs\n    d[0][0] = 1\n    return d",
    "def f(xs):\n    d = [[0], xs]\n    d[1][0] = 1\n    return d",
    "def f(xs):\n    d = [[0]]\n    e = d\n    e[0] = xs\n    d[0][0] = 1\n    return d",
    "def f(xs):\n    d = [[0]]\n    d.append(xs)\n    d[1].append(1)\n    return d",
    "from collections import defaultdict\ndef f(xs, make):\n    g = defaultdict(make)\n    g[0].append(1)\n"
    "    return g",
    "def f(xs):\n    d = [x for x in xs]\n    d[0][0] = 1\n    return d",
]


@pytest.mark.parametrize("program", [*PURE, *NOT_QUIET])
def test_a_function_is_pure_only_if_everything_in_it_is(program: str) -> None:
    """Mutating an object that the function created is no effect; mutating any other is."""
    model = model_of(f"{program}\nf(data)\n")
    effect = model.effects.effect_of(expression(model, "f(data)"))
    assert effect.pure is (program in PURE), effect


@pytest.mark.parametrize(
    "program",
    [
        "def f(a):\n    d = [[0] * 3 for _ in a]\n    for i in a:\n        d[i][0] = i\n    return d[-1][-1]",
        "def f(a):\n    d = [[0, 0], [0, 0]]\n    d[0][1] += 2\n    d[1].append(3)\n    return d",
        "from collections import defaultdict\ndef f(xs):\n    g = defaultdict(list)\n    for x in xs:\n"
        "        g[x].append(x)\n    return g",
        "from collections import Counter\ndef f(a, b):\n    both = Counter(a.split()) & Counter(b.split())\n"
        "    return sum(both.values())",
    ],
)
def test_items_of_own_tables_are_not_shared(program: str) -> None:
    """Tables of distances, groups and counts that a function fills itself change nothing outside."""
    model = model_of(f"{program}\nf(data)\n")
    effect = model.effects.effect_of(expression(model, "f(data)"))
    assert effect.quiet, effect


def test_a_call_that_changes_an_own_list_does_something_inside_of_the_function() -> None:
    """The effect is invisible to callers of the function, but not to code next to the call."""
    model = model_of(
        "def f(x):\n    rows = []\n    rows.append(x)\n    rows.append(x)\n    return rows\nprint(f(1))\n"
    )
    assert not model.effects.effect_of(expression(model, "rows.append(x)")).quiet
    assert model.effects.effect_of(expression(model, "f(1)")).quiet


def test_reading_state_is_distinguished_from_pure() -> None:
    """A method that reads an attribute changes nothing, but may return another value next time."""
    model = model_of("class A:\n    def size(self):\n        return self.n\na = A()\na.size()\n")
    assert model.effects.effect_of(expression(model, "a.size()")).kind is EffectKind.READS


def test_effects_are_followed_into_other_files_and_overriding_methods() -> None:
    """A call has the effects of all implementations that it may reach."""
    models = build(
        {
            "scorers.py": """
                class Scorer:
                    def score(self, text):
                        return len(text)
                class Loud(Scorer):
                    def score(self, text):
                        print(text)
                        return 0
                class Quiet:
                    def score(self, text):
                        return len(text)
                """,
            "use.py": """
                from scorers import Quiet, Scorer
                def f(scorer: Scorer, quiet: Quiet):
                    scorer.score("a")
                    quiet.score("a")
                """,
        }
    )
    model = models["use.py"]
    assert model.effects.effect_of(expression(model, 'scorer.score("a")')).acts
    assert model.effects.effect_of(expression(model, 'quiet.score("a")')).quiet


def test_the_reason_names_what_is_done() -> None:
    """The reason why a call is not pure is readable."""
    model = model_of("def g(x):\n    print(x)\ndef f(x):\n    g(x)\nf(1)\n")
    assert "prints" in model.effects.effect_of(expression(model, "f(1)")).detail


@pytest.mark.parametrize(
    "use", ["sorted(lines)", "[line for line in lines]", "sum(len(line) for line in lines)", "sum(pairs)"]
)
def test_reading_a_file_or_an_iterator_uses_it_up(use: str) -> None:
    """An iterator is exhausted by the first iteration."""
    model = model_of(f"lines = open('log')\npairs = zip(a, b)\n{use}\n")
    assert model.effects.effect_of(expression(model, use)).acts


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("print(text)", "`helper` prints"),
        ("text.append(1)", "`text.append` is not known to rlint"),
        ("COUNTS[text] = 1", "`helper` stores an item"),
        ("mystery(text)", "`mystery` is not known to rlint"),
        ("import random\n    random.random()", "`helper` draws random numbers"),
    ],
)
def test_the_reason_names_what_a_helper_does(body: str, reason: str) -> None:
    """If a text function is not pure, the explanation names the impure helper and the reason."""
    model = model_of(
        f"COUNTS = {{}}\n\ndef helper(text):\n    {body}\n    return text\n\n"
        "def reward(text):\n    return helper(text)\n\nreward(data)\n"
    )
    assert model.effects.effect_of(expression(model, "reward(data)")).detail.endswith(reason)


def test_a_replaced_method_has_unknown_effects() -> None:
    """`torch.Tensor.to = traced` may do anything, and so may functions that call it."""
    model = model_of(
        """
        import torch

        def traced(tensor, device, move=torch.Tensor.to):
            print(device)
            return move(tensor, device)

        torch.Tensor.to = traced

        def make(device):
            return torch.zeros(3).to(device)

        print(make("cpu"), torch.zeros(3).cpu())
        """
    )
    assert not model.effects.effect_of(expression(model, 'make("cpu")')).quiet
    assert model.effects.effect_of(expression(model, "torch.zeros(3).cpu()")).quiet


@pytest.mark.parametrize(
    ("body", "types"),
    [
        ("print(x)", EffectKind.PRINTS),
        ("print(x)\n    time.sleep(1)", EffectKind.PRINTS | EffectKind.SLEEPS),
        ("print(x)\n    x.append(1)", EffectKind.PRINTS | EffectKind.MUTATES),
        ("print(x)\n    x[0] = 1", EffectKind.PRINTS | EffectKind.MUTATES),
        ("x.n = 1\n    time.sleep(1)", EffectKind.MUTATES | EffectKind.SLEEPS),
        ("note(x)\n    random.random()", EffectKind.LOGS | EffectKind.DRAWS),
        ("note(x)\n    random.shuffle(x)", EffectKind.LOGS | EffectKind.DRAWS | EffectKind.MUTATES),
        ("rows = [1, 2]\n    rows.sort()\n    print(rows)", EffectKind.PRINTS),
        ("noise = torch.empty(3)\n    noise.normal_()\n    return noise", EffectKind.DRAWS),
    ],
)
def test_a_function_does_all_that_it_runs(body: str, types: EffectKind) -> None:
    """All effects count: a function that prints and then changes an argument changes it."""
    model = model_of(
        "import logging, random, time, torch\n"
        f"def note(x):\n    logging.info(x)\ndef f(x):\n    {body}\nf([1])\n"
    )
    effect = model.effects.effect_of(expression(model, "f([1])"))
    assert effect.kind & ~EffectKind.READS == types | EffectKind.INDIRECT, effect


@pytest.mark.parametrize("draw", ["rng.shuffle(x)", "x.normal_()", "torch.nn.init.normal_(x)"])
def test_what_is_filled_at_random_is_changed(draw: str) -> None:
    """Drawing numbers changes no value; drawing them into a tensor does."""
    model = model_of(
        f"import numpy as np\nimport torch\nrng = np.random.default_rng()\nx = torch.zeros(3)\n{draw}\n"
    )
    assert model.effects.effect_of(expression(model, draw)).kind & EffectKind.MUTATES


def _texts_that_decide(tree: ast.AST) -> list[int]:
    """The lines that use the text of an effect other than in another text."""
    making = {
        part
        for node in ast.walk(tree)
        if isinstance(node, (ast.JoinedStr, ast.Call))
        and (isinstance(node, ast.JoinedStr) or getattr(node.func, "id", "") == "Effect")
        for part in ast.walk(node)
    }
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "detail" and node not in making
    ]


@pytest.mark.parametrize("folder", ["rlint/semantics", "rules"])
def test_nothing_is_decided_by_the_text_of_an_effect(folder: str) -> None:
    """The text is only for users. The wording of an effect must not affect findings."""
    found = {
        f"{path.relative_to(ROOT)}:{line}"
        for path in (ROOT / folder).rglob("*.py")
        if path != ROOT / "rlint/models/effect.py"
        for line in _texts_that_decide(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert not found


def test_decisions_by_text_are_found() -> None:
    """The test above sees comparisons, prefixes and memberships."""
    for code in (
        "effect.detail == 'prints'",
        "effect.detail.startswith(_TELLS)",
        "'file' in model.effects.call_effect(call).detail",
        "match effect:\n    case Effect(detail=text) if text == effect.detail: pass",
    ):
        assert _texts_that_decide(ast.parse(code)), code
    assert not _texts_that_decide(ast.parse("Effect(kind, f'`{name}` {self.detail}')"))
