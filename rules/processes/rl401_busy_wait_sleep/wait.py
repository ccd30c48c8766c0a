"""A wait: what the rule finds, and the fixes change."""

from __future__ import annotations

import ast

from rlint.rule import descendants, mutable, waiting_words
from rlint.rules.processes.rl401_busy_wait_sleep.pauses import Pause
from rlint.rules.processes.rl401_busy_wait_sleep.poll_names import words_of
from rlint.rules.processes.rl401_busy_wait_sleep.polls import Poll, PollKind

WaitLoop = ast.While | ast.For


@mutable
class Wait:
    """A wait: `polls` is what it looks at, first what ends it.

    `guard` is the `if` or `except` whose branch waits, None where all of the loop does. `exact` says
    that the loop does nothing but one poll; `counted`, that it counts its passes; `spins`, that no
    pause was written.
    """

    loop: WaitLoop
    pauses: list[Pause]
    polls: list[Poll]
    guard: ast.If | ast.ExceptHandler | None = None
    exact: bool = False
    counted: bool = False

    @property
    def spins(self) -> bool:
        """Are the looks made without any pause?"""
        return not self.pauses

    @property
    def place(self) -> ast.AST:
        """The node that a finding is about: the loop, or the sleep or the branch in it."""
        if self.guard is None:
            return self.loop
        return self.pauses[0].call if self.pauses else self.guard


def asked_by(loop: WaitLoop, poll: Poll) -> bool:
    """`while not queue.empty(): queue.get_nowait()`: does the loop end when there is nothing left to take?"""
    if not isinstance(loop, ast.While) or not isinstance(poll.node, ast.Call):
        return False
    owner = poll.node.func.value if isinstance(poll.node.func, ast.Attribute) else None
    return (
        poll.sort is PollKind.DATA
        and owner is not None
        and ast.unparse(owner)
        in {
            ast.unparse(node)
            for node in descendants(loop.test)
            if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript))
        }
    )


def drains(loop: WaitLoop, asked: list[Poll]) -> bool:
    """`while not queue.empty(): rest = queue.get_nowait()`: does each pass take from what the loop asks?"""
    owners = {
        ast.unparse(poll.node.func.value)
        for poll in asked
        if isinstance(poll.node, ast.Call) and isinstance(poll.node.func, ast.Attribute)
    }
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and bool(waiting_words.FETCHES & words_of(node.func.attr))
        and ast.unparse(node.func.value) in owners
        for statement in loop.body
        for node in descendants(statement)
    )
