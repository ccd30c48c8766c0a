"""`model.dataflow.uses` returns every use of a value, and why it could not be followed further."""

from __future__ import annotations

import ast

import pytest

from project_builder import model_of
from rlint.semantics.dataflow.value_flow import Cause
from rlint.syntax.value_use import UseKind

METHODS = frozenset({UseKind.METHOD, UseKind.ATTRIBUTE, UseKind.ITEM})


def uses_of_make(body: str, through: frozenset[UseKind] = frozenset()) -> list[str]:
    """The uses of the result of `make()` in a function with this body: `kind text`, or the cause."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    model = model_of(f"import torch\ndef f(make, other, log, obj):\n{lines}\n")
    call = next(
        node
        for node in ast.walk(model.syntax.module)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "make"
    )
    found = model.dataflow.uses(call, through)
    return sorted(
        f"{use.cause.name}" if use.cause else f"{use.kind.value} {ast.unparse(use.at)}" for use in found
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = make()\nlog(x)\nreturn x", ["argument log(x)", "returned return x"]),
        ("x = make() if other else None\ny = x\nlog(y)", ["argument log(y)"]),
        (
            "if (x := make()):\n    log(key=x)",
            ["argument log(key=x)", "tested if (x := make()):\n    log(key=x)"],
        ),
        ("x = make()\nlog(x)\nx = other\nlog(x + 1)", ["argument log(x)"]),
        ("a, b = make(), other\nlog(a)\nlog(b)", ["argument log(a)"]),
        ("x = make()\nx += 1", ["augmented x += 1"]),
        ("x = make()\nx[0] = 1\nx[1]", ["item x[0]", "item x[1]"]),
        ("x = torch.autograd.Variable(make())\nlog(x)", ["argument log(x)"]),
        ("make().float().mean()", ["method make().float()"]),
        ("make()", ["discarded make()"]),
        ("obj.x = make()", [Cause.OBJECT.name]),
        ("x = make()\nreturn lambda: x", [Cause.CAPTURED.name]),
    ],
)
def test_each_use_is_described(body: str, expected: list[str]) -> None:
    """Variables and conditional expressions only carry a value; their uses are uses of the value."""
    assert uses_of_make(body) == expected


def test_what_is_made_of_a_value_is_followed_on_request() -> None:
    """With METHOD, uses of `x.float()` are uses of `x`."""
    found = uses_of_make("x = make().float()\ny = x.data[0]\nlog(y)", METHODS)
    assert found == ["argument log(y)", "attribute x.data", "item x.data[0]", "method make().float()"]
