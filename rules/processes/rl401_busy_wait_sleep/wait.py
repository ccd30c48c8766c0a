"""A wait, which the rule reports and the fixes change."""

from __future__ import annotations

import ast

from rlint.rule import descendants, mutable, waiting_words
from rlint.rules.processes.rl401_busy_wait_sleep.pauses import Pause
from rlint.rules.processes.rl401_busy_wait_sleep.poll_names import words_of
from rlint.rules.processes.rl401_busy_wait_sleep.polls import Poll, PollKind

WaitLoop = ast.While | ast.For


@mutable
class Wait:
    """A wait: `polls` are its polls, first the one that ends it.

    `guard` is the `if` or `except` whose branch waits, None if the whole loop does. `exact` says that the
    loop only makes one poll; `counted`, that it counts its iterations; `spins`, that there is no pause.
    """

    loop: WaitLoop
    pauses: list[Pause]
    polls: list[Poll]
    guard: ast.If | ast.ExceptHandler | None = None
    exact: bool = False
    counted: bool = False

    @property
    def spins(self) -> bool:
        """Whether the polls are made without any pause."""
        return not self.pauses

    @property
    def place(self) -> ast.AST:
        """Return the node to report: the loop, or the sleep or the branch in it."""
        if self.guard is None:
            return self.loop
        return self.pauses[0].call if self.pauses else self.guard


def ends_when_empty(loop: WaitLoop, poll: Poll) -> bool:
    """Whether the loop ends when there is nothing left to fetch: `while not queue.empty():
    queue.get_nowait()`.
    """
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


def drains(loop: WaitLoop, queried: list[Poll]) -> bool:
    """Whether each iteration fetches from the queue that the loop tests: `while not queue.empty(): rest =
    queue.get_nowait()`.
    """
    owners = {
        ast.unparse(poll.node.func.value)
        for poll in queried
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
