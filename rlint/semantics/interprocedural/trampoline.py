"""Recursion without stack depth, for depths that the checked program determines: thousands of functions in a
call chain, or a value modified in thousands of steps. Python's own stack is limited to a thousand calls.

A recursive function is written as a generator that yields the calls whose results it needs, and `run` makes
them:

    def depth(node: Node) -> Step[int]:
        below = 0
        for child in node.children:
            below = max(below, (yield depth(child)))
        return 1 + below

    run(depth(root))
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

_Given = TypeVar("_Given")

Step = Generator["Step[Any]", Any, _Given]


def run(step: Step[_Given]) -> _Given:
    """Return the result of a call, after making the calls that it yields."""
    waiting: list[Step[Any]] = [step]
    given: Any = None
    while waiting:
        try:
            waiting.append(waiting[-1].send(given))
            given = None
        except StopIteration as end:  # noqa: PERF203 - how a generator returns
            waiting.pop()
            given = end.value
    found: _Given = given
    return found
