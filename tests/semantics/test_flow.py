"""Reaching definitions, and changes between two places."""

from __future__ import annotations

import ast
import sys

import pytest

from project_builder import expression, model_of
from rlint.semantics.dataflow.reaching_definitions import MAX_DEFINITIONS
from rlint.semantics.model import SemanticModel


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = 1\nx = 2\nuse(x)", [2]),
        ("x = 1\nif c:\n    x = 2\nuse(x)", [1, 2]),
        ("if c:\n    x = 1\nelse:\n    x = 2\nuse(x)", [1, 2]),
        ("x = 0\nif c:\n    x = 1\nelse:\n    x = 2\nuse(x)", [1, 2]),
        ("x = 1\nwhile c:\n    use(x)\n    x = 2", [1, 2]),
        ("x = 1\nfor _ in y:\n    x = 2\n    use(x)", [2]),
        ("x = 1\ntry:\n    x = 2\nexcept E:\n    use(x)", [1, 2]),
        ("x = 1\nwith c:\n    x = 2\nuse(x)", [2]),
        ("x = 1\nfor _ in y:\n    x = 2\nelse:\n    use(x)", [1, 2]),
        ("x = 1\ntry:\n    c()\nexcept E:\n    x = 2\nfinally:\n    use(x)", [1, 2]),
        ("x = 1\nif (x := 2) and c:\n    use(x)", [1, 2]),
        ("x = 1\nif c:\n    pass\nelif x := 2:\n    pass\nelse:\n    use(x)", [1, 2]),
        ("x = 1\nwith c(x := 2):\n    use(x)", [1, 2]),
        ("if c:\n    x = 1\n    x = 2\nelse:\n    x = 3\n    x = 4\nuse(x)", [2, 4]),
        ("x = 0\nif c:\n    x = 1\n    x = 2\nuse(x)", [0, 2]),
        ("if c:\n    x = 1\nelif y:\n    x = 2\n    x = 3\nelse:\n    return\nuse(x)", [1, 3]),
        ("x = 0\nif c:\n    x = 1\n    if y:\n        x = 2\nuse(x)", [0, 1, 2]),
        ("if (x := 0):\n    x = 1\n    x = 2\nuse(x)", [0, 2]),
        ("with c:\n    x = 1\n    x = 2\nuse(x)", [2]),
        ("x = 0\nwith suppress(E):\n    x = 1\n    x = 2\nuse(x)", [0, 1, 2]),
        ("x = 0\nfor _ in y:\n    x = 1\n    x = 2\nuse(x)", [0, 2]),
        ("x = 0\nfor _ in y:\n    x = 1\n    if c:\n        break\n    x = 2\nuse(x)", [0, 1, 2]),
        ("x = 0\nwhile c:\n    use(x)\n    x = 1\n    x = 2", [0, 2]),
        ("x = 0\nwhile c:\n    use(x)\n    x = 1\n    if y:\n        break\n    x = 2", [0, 2]),
        ("x = 0\nwhile c:\n    use(x)\n    x = 1\n    if y:\n        continue\n    x = 2", [0, 1, 2]),
        (
            "x = 0\nwhile c:\n    use(x)\n    x = 1\n    for _ in y:\n        break\n    x = 2",
            [0, 2],
        ),
        (
            "x = 0\nwhile c:\n    use(x)\n    x = 1\n    for _ in y:\n        pass\n    else:\n"
            "        continue\n    x = 2",
            [0, 1, 2],
        ),
        ("x = 0\ntry:\n    x = 1\nexcept E:\n    x = 2\nuse(x)", [1, 2]),
        ("x = 0\ntry:\n    c()\nexcept E:\n    return\nelse:\n    x = 1\nuse(x)", [1]),
        ("x = 0\ntry:\n    x = 1\nexcept E:\n    pass\nuse(x)", [0, 1]),
        ("x = 0\ntry:\n    c()\nfinally:\n    x = 1\nuse(x)", [1]),
        (
            "x = 0\nwhile c:\n    try:\n        x = 1\n    except E:\n        x = 2\n    use(x)\n    x = 3",
            [1, 2],
        ),
        ("x = 0\ntry:\n    if c:\n        x = 1\n        x = 2\nexcept E:\n    use(x)", [0, 1, 2]),
        ("x = 1\nmatch c:\n    case 1 if (x := 2):\n        pass\n    case _:\n        use(x)", [1, 2]),
    ],
)
def test_definitions_that_reach_a_use(body: str, expected: list[int]) -> None:
    """All assignments that reach a use are found, and none that another one hides."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    model = model_of(f"def f(c, y):\n{lines}")
    name = expression(model, "use(x)").args[0]  # type: ignore[attr-defined]
    assert sorted(binding.value.value for binding in model.dataflow.definitions(name)) == expected  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "pattern",
    ["{'a': x}", "[*x]", "{'a': 1, **x}", "1 | 2 as x", "[x] if c:\n            pass\n        case _"],
)
def test_patterns_bind(pattern: str) -> None:
    """A name bound by a pattern may have this value in its case and in later ones."""
    model = model_of(f"def f(c):\n    x = 1\n    match c:\n        case {pattern}:\n            use(x)\n")
    name = expression(model, "use(x)").args[0]  # type: ignore[attr-defined]
    assert sorted(binding.kind.value for binding in model.dataflow.definitions(name)) == ["assign", "match"]


UNCHANGED = [
    "a = f(x)\nb = f(x)",
    "a = f(x)\nprint(x)\nb = f(x)",
    "a = f(x)\nother.append(a)\nb = f(x)",
    "a = f(x)\nfor i in y:\n    b = f(x)",
    "a = f(x)\nif c:\n    b = f(x)",
    "a = f(x)\nz = [x for x in y]\nb = f(x)",
    "if f(x):\n    b = f(x)\n    x = 2",
    "if f(x):\n    x = 1\nelif f(x):\n    pass",
    "x = f(x) + f(x)",
    "while f(x):\n    a = f(x)\n    x = 1",
    "mystery(f(x) or f(x))",
    "match f(x):\n    case [z]:\n        b = f(x)",
    "a = f(x)\nmatch c:\n    case [z] if z:\n        b = f(x)",
    "a = f(x)\nmatch f(x):\n    case [x]:\n        pass",
    "a = f(x)\ntry:\n    c = 1\nexcept E as z:\n    b = f(x)\nfinally:\n    c = 2",
    "a = f(x)\nb = any(f(x) == z for z in y)",
    "a = f(x)\nb = (z for z in f(x))",
    "a = f(x)\nx = x\nb = f(x)",
]
CHANGED = [
    "a = f(x)\nx = 2\nb = f(x)",
    "a = f(x)\nx.append(1)\nb = f(x)",
    "a = f(x)\nx[0] = 1\nb = f(x)",
    "a = f(x)\nmystery(x)\nb = f(x)",
    "a = f(x)\nmystery()\nb = f(x)",
    "a = f(x)\nfor i in y:\n    b = f(x)\n    x = g(x)",
    "a = f(x)\nx += [1]\nb = f(x)",
    "a = f(x)\nfor x in y:\n    pass\nb = f(x)",
    "a = f(x)\nimport random\nrandom.shuffle(x)\nb = f(x)",
    "if c:\n    a = f(x)\nb = f(x)",
    "a = f(x)\nyield a\nb = f(x)",
    "a = f(x)\ndel x\nb = f(x)",
    "while c:\n    a = f(x)\n    x = 1\nb = f(x)",
    "a = f(x)\nfor i in y:\n    x = f(x)",
    "while f(x):\n    x = 1\n    a = f(x)",
    "while f(x):\n    x = 1\na = f(x)",
    "a = f(x)\nb = [mystery(f(x)) for i in y]",
    "a = f(x)\nwhile c:\n    mystery(f(x))",
    "a = f(x)\nmatch c:\n    case {'a': x}:\n        b = f(x)",
    "a = f(x)\nmatch c:\n    case [1, *x]:\n        b = f(x)",
    "a = f(x)\nmatch c:\n    case {'a': 1, **x}:\n        b = f(x)",
    "a = f(x)\nmatch c:\n    case [x] if y:\n        pass\n    case _:\n        b = f(x)",
    "a = f(x)\nmatch c:\n    case [x] if f(x):\n        pass",
    "match f(x):\n    case [x] if f(x):\n        pass",
    "match f(x):\n    case 1:\n        x = 2\nb = f(x)",
    "match c:\n    case 1 if f(x):\n        pass\nb = f(x)",
    "a = f(x)\ntry:\n    c()\nexcept E:\n    x = 2\nfinally:\n    b = f(x)",
    "a = f(x)\ntry:\n    c = 1\nexcept E:\n    c = 2\nelse:\n    x = 2\nfinally:\n    b = f(x)",
    "a = f(x)\ntry:\n    c = 1\nexcept E as x:\n    b = f(x)",
    "a = f(x)\nz = [x for z in y if (x := z)]\nb = f(x)",
    "a = f(x)\nclass A(mystery(x)):\n    pass\nb = f(x)",
    "a = f(x)\nb = (z for z in y if f(x))",
    "a = f(x)\nb = enumerate(f(x) for z in y)",
    "a = f(x)\nb = (f(x) for z in y)",
]


if sys.version_info >= (3, 11):
    CHANGED += [
        "a = f(x)\ntry:\n    x = 1\nexcept* E:\n    b = f(x)",
        "a = f(x)\ntry:\n    c = 1\nexcept* E:\n    x = 1\nexcept* F:\n    b = f(x)",
    ]


@pytest.mark.parametrize("body", [*UNCHANGED, *CHANGED])
def test_a_value_is_unchanged_only_where_nothing_can_change_it(body: str) -> None:
    """A mutable argument counts as changed if unknown code might reach it."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    model = model_of(f"def g(x, c, y):\n    other = []\n{lines}")
    first, second = expression(model, "f(x)"), expression(model, "f(x)", last=True)
    argument = first.args[0]  # type: ignore[attr-defined]
    assert model.dataflow.unchanged_between(argument, first, second) is (body in UNCHANGED)


def test_a_string_cannot_be_changed_by_a_call() -> None:
    """A variable with an immutable value only changes by assignment."""
    model = model_of("def g(x: str):\n    a = f(x)\n    mystery(x)\n    b = f(x)\n")
    first, second = expression(model, "f(x)"), expression(model, "f(x)", last=True)
    assert model.dataflow.unchanged_between(first.args[0], first, second)  # type: ignore[attr-defined]


DOUBTS = {
    "a = f(x)\nmystery(y)\nb = f(x)": 1,
    "a = f(x)\nb = f(x)": 0,
    "a = f(x)\ny.append(1)\nb = f(x)": 1,
    "a = f(x)\ny[0] = 1\nb = f(x)": 1,
    "a = f(x)\ny += 1\nb = f(x)": 1,
    "a = f(x)\nother.append(1)\nb = f(x)": 0,
    "a = f(x)\nmystery(x)\nb = f(x)": None,
    "a = f(x)\nx.mystery()\nb = f(x)": None,
    "a = f(x)\nstats_queue.get()\nb = f(x)": None,
    "a = f(x)\nenv.step(a)\nb = f(x)": None,
    "a = f(x)\noptimizer.step()\nb = f(x)": None,
    "a = f(x)\nx = y\nb = f(x)": None,
    "if c:\n    a = f(x)\nb = f(x)": None,
    "a = f(x)\nwith y:\n    b = f(x)": 1,
    "a = f(x)\nwith y:\n    c = 1\nb = f(x)": 1,
    "a = f(x)\nwith open('y') as z:\n    b = f(x)": 0,
    "import threading\nz = threading.Lock()\na = f(x)\nwith z:\n    b = f(x)": None,
    "a = f(x)\nasync with open('y'):\n    b = f(x)": None,
    "a = f(x)\nasync for z in c:\n    pass\nb = f(x)": None,
    "a = f(x)\nz = [1 async for _ in c]\nb = f(x)": None,
}


@pytest.mark.parametrize("body", DOUBTS)
def test_what_could_change_a_value_indirectly(body: str) -> None:
    """A call that is not passed the value, and a change through a possible alias, are doubts."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    model = model_of(f"def g(x, c, y):\n    other = []\n{lines}")
    first, second = expression(model, "f(x)"), expression(model, "f(x)", last=True)
    doubts = model.dataflow.doubts_between(first.args[0], first, second)  # type: ignore[attr-defined]
    assert (doubts if doubts is None else len(doubts)) == DOUBTS[body]


OWN = {
    "mystery()\nself.update(y)": (True, 0),
    "y.backward()\noptimizer.step()": (True, 0),
    "y[0] = 1": (True, 0),
    "mystery(x.sum())": (True, 0),
    "mystery(x)": (False, None),
    "x.add_(1)": (False, None),
    "x = x + 1": (False, None),
    "row = x[0]\nrow += 1": (False, 1),
    "self.x = x\nmystery()": (False, 1),
    "exec(y)": (False, 1),
}


@pytest.mark.parametrize("body", OWN)
def test_what_a_function_made_and_no_code_holds_is_unreachable(body: str) -> None:
    """A new tensor that is only read cannot be changed by calls that are not passed it, unless it is stored
    or changed through an alias.
    """
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    model = model_of(
        "import torch\nclass A:\n    def g(self, y, optimizer):\n        x = torch.zeros(3)\n"
        f"        a = x.sum()\n{lines}        return a, x.sum()\n"
    )
    first, second = expression(model, "x.sum()"), expression(model, "x.sum()", last=True)
    doubts = model.dataflow.doubts_between(first, first, second)
    described = (
        model.dataflow.unchanged_between(first, first, second),
        doubts if doubts is None else len(doubts),
    )
    assert described == OWN[body]


def test_calls_that_are_handed_a_value_are_each_a_doubt_and_all_others_one() -> None:
    """If a call may have kept an object of the function, all calls that are not passed it are one doubt."""
    model = model_of(
        "import torch\ndef g(net, y):\n    x = torch.zeros(3)\n    net(x * 2, torch.Tensor(x))\n"
        "    a = x.sum()\n    f()\n    h()\n    k()\n    return a, x.sum()\n"
    )
    first, second = expression(model, "x.sum()"), expression(model, "x.sum()", last=True)
    doubts = model.dataflow.doubts_between(first, first, second)
    assert doubts is not None
    assert [ast.unparse(doubt) for doubt in doubts] == ["k()"]
    assert not model.dataflow.unchanged_between(first, first, second)


TRAINED = {
    "mask[:, t].expand(3, 2)": ["optimizer.step()"],
    "mask[1:]": ["optimizer.step()"],
    "mask": None,
    "mask[0]": None,
    "net.layers[0].weight": None,
    "weights[:, t]": None,
}


@pytest.mark.parametrize("cut", TRAINED)
def test_a_step_of_training_is_one_doubt_of_what_is_cut_from_a_batch(cut: str) -> None:
    """No optimizer holds columns of a batch; an item selected by one index may be a weight."""
    model = model_of(
        "import torch\nweights = torch.zeros(3, requires_grad=True)\n"
        "def g(net, mask, t, loss, optimizer):\n"
        f"    part = {cut}\n    a = part.sum()\n    optimizer.zero_grad()\n    loss.backward()\n"
        "    optimizer.step()\n    return a, part.sum()\n"
    )
    first, second = expression(model, "part.sum()"), expression(model, "part.sum()", last=True)
    doubts = model.dataflow.doubts_between(first, first, second)
    described = doubts if doubts is None else [ast.unparse(doubt) for doubt in doubts]
    assert described == TRAINED[cut]


def called(model: SemanticModel, source: str) -> tuple[ast.Call, ast.Name]:
    """A call with this source, and the variable that it is passed."""
    call = expression(model, source)
    assert isinstance(call, ast.Call)
    (argument,) = call.args
    assert isinstance(argument, ast.Name)
    return call, argument


def test_too_many_values_are_not_distinguished() -> None:
    """A name with an unrealistic number of reaching bindings may have any value of its variable."""
    times = MAX_DEFINITIONS + 50
    lines = "".join(f"    if c: x = {number}\n" for number in range(times))
    text = f"def f(c):\n    x = -1\n{lines}    first(x)\n    x = None\n    second(x)\n    x = 0\n"
    model = model_of(text)
    _, first = called(model, "first(x)")
    _, second = called(model, "second(x)")
    assert len(model.dataflow.definitions(first)) == times + 3
    assert [ast.unparse(binding.statement) for binding in model.dataflow.definitions(second)] == ["x = None"]
    assert not model.types.type_of(first)


@pytest.mark.parametrize(
    ("between", "keeps"),
    [
        pytest.param("pass", True, id="nothing"),
        pytest.param("x.add_(1)", True, id="the object changes, not the variable"),
        pytest.param("if c: x = y", False, id="a branch"),
        pytest.param("for x in y: pass", False, id="a loop"),
        pytest.param("(x := y)", False, id="an expression"),
    ],
)
def test_variables_that_keep_their_value(between: str, keeps: bool) -> None:
    """In a loop, the same bindings may reach two places although one of them runs in between."""
    text = f"def f(c, x, y):\n    while c:\n        first(x)\n        {between}\n        second(x)\n"
    model = model_of(text)
    first, x = called(model, "first(x)")
    second, _ = called(model, "second(x)")
    assert model.dataflow.keeps(x, first, second) is keeps


def test_what_binds_a_variable_itself_does_not_keep_it() -> None:
    """After `x = first(x)`, the old value of `x` is no longer accessible."""
    model = model_of("def f(x):\n    x = first(x)\n    second(x)\n")
    first, x = called(model, "first(x)")
    second, _ = called(model, "second(x)")
    assert not model.dataflow.keeps(x, first, second)
