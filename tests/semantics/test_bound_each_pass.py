"""Whether a variable is always bound again before a loop reaches a use of it once more."""

from __future__ import annotations

import ast

import pytest

from project_builder import expression, model_of

AFRESH = (
    "for i in y:\n    x = i\n    use(x)",
    "for x in y:\n    use(x)",
    "x = 1\nuse(x)",
    "while y:\n    if y:\n        x = 1\n    else:\n        x = 2\n    use(x)",
    "for i in y:\n    with a:\n        x = i\n        use(x)",
    "for i in y:\n    if i:\n        continue\n    x = i\n    use(x)",
    "for i in y:\n    f = lambda x: use(x)",
    "for i in y:\n    z = [use(x) for x in i]",
    "for i in y:\n    z = i\nelse:\n    x = 1\n    use(x)",
)
LEFT = (
    "for i in y:\n    if i:\n        x = i\n    use(x)",
    "x = 1\nfor i in y:\n    use(x)",
    "x = 1\nwhile y:\n    use(x)\n    x = 2",
    "for i in y:\n    try:\n        x = i\n    except E:\n        pass\n    use(x)",
    "for i in y:\n    with suppress(E):\n        x = i\n    use(x)",
    "for i in y:\n    match i:\n        case 1:\n            x = i\n    use(x)",
    "for i in y:\n    x = i\n    for j in y:\n        use(x)",
    "x = 1\nwhile use(x):\n    y = 2",
)


def _is_bound_each_pass(body: str) -> bool:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    model = model_of(f"def f(y, a):\n{lines}\n")
    call = expression(model, "use(x)", last=True)
    assert isinstance(call, ast.Call)
    [used] = call.args
    assert isinstance(used, ast.Name)
    return model.names.is_bound_each_pass(used)


@pytest.mark.parametrize("body", AFRESH)
def test_bound_again(body: str) -> None:
    """No value of an earlier pass is left."""
    assert _is_bound_each_pass(body)


@pytest.mark.parametrize("body", LEFT)
def test_left_from_an_earlier_pass(body: str) -> None:
    """One may be left, if the variable is not bound in each pass before the use."""
    assert not _is_bound_each_pass(body)
