"""Which code is recorded for which change."""

from __future__ import annotations

import ast

import pytest

from rlint.prove.plan.changed_code import changes
from rlint.prove.plan.liveness import live_after
from rlint.prove.plan.regions import Region, candidates
from rlint.prove.record.instrumented_code import HOOKS, instrumented
from rlint.prove.replay.definitions import definitions


def regions(before: str, old: str, new: str) -> list[Region]:
    """The regions for replacing a text by another."""
    ours, counterpart = ast.parse(before), ast.parse(before.replace(old, new))
    return [
        one
        for each in changes(ours, counterpart)
        if not each.support
        for one in candidates(each, ours, counterpart)
    ]


SCRIPT = """\
import torch

for step in range(10):
    if step % 2:
        action = env.sample()
    else:
        values = net(torch.tensor(obs))
        action = values.argmax()
    obs = env.step(action)
"""

METHODS = '''\
class Agent:
    def act(self, obs):
        """Act."""
        out = self.net(obs)
        return out

    def learn(self, batch):
        return batch
'''


def test_a_function_is_replayed_whole() -> None:
    """A docstring is not part of a region."""
    (found,) = regions(METHODS, "out = self.net(obs)", "out = self.net(obs + 0)")
    assert (found.where, found.whole, found.before.start, found.names) == (
        "Agent.act",
        True,
        1,
        ("obs", "out", "self"),
    )


def test_code_of_a_script_is_replayed_until_nothing_reads_what_the_fix_leaves() -> None:
    """`values` has a gradient only before the fix, but only `action` is used."""
    new = "with torch.no_grad():\n            values = net(torch.tensor(obs))"
    first = regions(SCRIPT, "values = net(torch.tensor(obs))", new)[0]
    assert (first.before.start, first.before.stop, first.closed, first.live) == (0, 2, True, ("action",))


def test_values_that_differ_may_be_used_the_same_way() -> None:
    """The distribution over detached values differs; the drawn action is the same."""
    program = "def f():\n  for i in n:\n    p = net(i)\n    m = D(p)\n    a = m.draw()\n    g(a)\n"
    found = [one for one in regions(program, "net(i)", "net(i + 0)") if not one.whole]
    assert [(one.before.stop, one.live, one.further) for one in found[:2]] == [
        (2, ("m",), False),
        (3, ("a",), True),
    ]


def test_what_only_supports_a_change_is_no_change() -> None:
    """An added import or constant is loaded, not replayed."""
    found = regions(METHODS, "class Agent:", "import copy\n\nclass Agent:")
    assert found == []


def test_a_new_decorator_changes_the_whole_function() -> None:
    """Its body is unchanged, but its behaviour is not."""
    (found,) = regions(METHODS, "    def act", "    @torch.no_grad()\n    def act")
    assert (found.where, found.whole) == ("Agent.act", True)


def test_two_methods_are_two_changes() -> None:
    """Each is proven by itself."""
    ours = ast.parse(METHODS)
    counterpart = ast.parse(
        METHODS.replace("return out", "return out + 0").replace("return batch", "return batch + 0")
    )
    found = [candidates(one, ours, counterpart)[0].where for one in changes(ours, counterpart)]
    assert found == ["Agent.act", "Agent.learn"]


@pytest.mark.parametrize(
    ("program", "stop", "live"),
    [
        ("def f(x):\n    y = x\n    y = 2\n    return y", 1, set()),
        ("def f(x):\n    y = x\n    return y", 1, {"y"}),
        ("def f(x):\n    y = x\n    return lambda: y", 1, {"y"}),
        ("def f(x):\n    y = x\n    if x:\n        y = 3\n    return y", 1, {"x", "y"}),
        ("def f(x):\n    y = x\n    try:\n        y = 3\n    finally:\n        print(y)", 1, {"print", "y"}),
    ],
)
def test_what_is_read_after_a_statement(program: str, stop: int, live: set[str]) -> None:
    """A name that is rebound before it is read is not live."""
    assert live_after(ast.parse(program).body[0], (), "body", stop) == live


def test_a_loop_reads_in_its_next_iteration() -> None:
    """Values from the end of a loop body are read at its beginning."""
    loop = ast.parse("for i in range(3):\n    print(y)\n    y = i")
    assert "y" in live_after(loop, (("body", 0),), "body", 2)


@pytest.mark.parametrize(
    ("program", "refusal"),
    [
        ("def f(x):\n    y = x\n    yield y", ""),
        ("async def f(x):\n    y = x\n    return await y", ""),
        ("def f(x):\n    y = x\n    yield from y", "delegates to another generator"),
        ("async def f(x):\n    y = x\n    async for z in y:\n        print(z)", "other coroutines"),
        ("async def f(x):\n    y = x\n    return [await z for z in y]", "in a comprehension"),
        ("async def f(x):\n    y = x\n    yield await y", "asynchronous generator"),
    ],
)
def test_what_suspends_is_recorded_or_refused_with_the_reason(program: str, refusal: str) -> None:
    """Values that a `yield` or an `await` returns can be recorded, unless other code drives the coroutine."""
    found = regions(program, "y = x", "y = x + 0")[0]
    assert (refusal in found.refusal, bool(found.refusal)) == (True, bool(refusal))
    assert found.suspends or refusal


def test_hooks_leave_a_program_what_it_is() -> None:
    """Loops, exceptions and results are unchanged; hooks are called for each call."""
    text = b"def f(n):\n    for i in range(n):\n        if i == 2: break\n    return i\nresult = f(5)\n"
    seen: list[object] = []

    class Hook:
        def begin(self) -> bool:
            seen.append("begin")
            return False

        def end(self) -> bool:
            seen.append("end")
            return False

        def returned(self, value: object) -> object:
            seen.append(value)
            return value

    region_instructions = [
        {"id": 0, "steps": [["body", 0]], "block": "body", "start": 0, "stop": 2},
        {"id": 1, "steps": [["body", 0], ["body", 0]], "block": "body", "start": 0, "stop": 1},
    ]
    space: dict[str, object] = {HOOKS: {0: Hook(), 1: Hook()}}
    exec(instrumented(text, "f.py", region_instructions), space)
    assert space["result"] == 2
    assert seen == ["begin", *["begin", "end"] * 3, 2, "end"]


def test_a_script_is_loaded_without_what_it_does() -> None:
    """Imports, definitions, and the constants that definitions read."""
    script = "import os\nN = 3\nM = N + 1\ntrain()\ndef f(x=M): pass\nif __name__ == '__main__':\n    f()\n"
    kept = definitions(ast.parse(script))
    assert ast.unparse(kept) == "import os\nN = 3\nM = N + 1\n\ndef f(x=M):\n    pass"
