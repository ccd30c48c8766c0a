"""Tasks that are submitted and awaited one at a time, so that only one worker runs at a time.

## What it does
Flags a `for` loop or comprehension that submits work to another process and waits for its result in the
same iteration, although the next iteration does not need it: `ray.get(worker.step.remote(action))`,
`pool.submit(f, x).result()`, `pool.apply_async(f, (x,)).get()`, `pool.apply(f, (x,))`,
`connection.send(...)` followed by `connection.recv()`, `process.start()` followed by `process.join()`.

The rule does not flag loops that always use the same worker, loops in which a message depends on the result
of an earlier iteration, loops that end early, and code that runs once.

## Why is it slow
Only one worker is busy at any time: the loop takes the sum of all times, plus one round trip each. If all
tasks are submitted first and awaited afterwards, the loop takes as long as the slowest task.

## Example
```python
from concurrent.futures import ThreadPoolExecutor


class Agents:
    def __init__(self, nets: list) -> None:
        self.nets = nets
        self.pool = ThreadPoolExecutor(len(nets))

    def act(self, rows: list) -> list:
        pool, nets = self.pool, self.nets
        return [pool.submit(net.run, row).result() for net, row in zip(nets, rows)]
```
Use instead:
```python
from concurrent.futures import ThreadPoolExecutor


class Agents:
    def __init__(self, nets: list) -> None:
        self.nets = nets
        self.pool = ThreadPoolExecutor(len(nets))

    def act(self, rows: list) -> list:
        pool, nets = self.pool, self.nets
        return [future.result() for future in [pool.submit(net.run, row) for net, row in zip(nets, rows)]]
```

## Fix safety
Always unsafe: the workers then run at the same time, in any order, and a failure no longer prevents the
others from being started. They must not modify shared state, and all results are in memory at once. There
is only advice where the wait is not the element of a list comprehension.

## References
- https://docs.ray.io/en/latest/ray-core/patterns/ray-get-loop.html
- https://docs.python.org/3/library/concurrent.futures.html#concurrent.futures.Executor.submit
- https://docs.python.org/3/library/multiprocessing.html#multiprocessing.pool.Pool.apply_async
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    COMPREHENSIONS,
    AnyLoop,
    Applicability,
    Finding,
    Fix,
    Heat,
    Rule,
    SemanticModel,
    waiting_words,
    why_once_per_object,
)
from rlint.rules.processes.rl408_awaited_in_turn.independent import is_independent
from rlint.rules.processes.rl408_awaited_in_turn.starts import Start, start_of


class AwaitedInTurn(Rule):
    """RL408."""

    code = "RL408"
    name = "awaited-in-turn"
    claims = ("time",)
    heat = Heat.WARM
    visits = (ast.Call,)
    callees = waiting_words.BLOCKING | {"apply"}

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a loop that waits for what the same iteration has started."""
        assert isinstance(node, ast.Call)
        if len(node.args) > 2:
            return
        loops = model.frequency.loops(node)
        if not loops or isinstance(loops[0], ast.While):
            return
        start = start_of(node, loops[0], model)
        if start is None or not is_independent(start, node, loops[0], model):
            return
        waited = " ".join(model.source.text(node).split())
        related = [(start.call, "it is started here")] if start.apart else []
        yield self.finding(
            model,
            node,
            f"`{shortened(waited)}` waits for one worker before the next task is submitted, so that the "
            f"workers run in turn",
            fix=build_fix(node, start, loops[0], model),
            advice=start.advice,
            related=related,
            minor=why_once_per_object(node, model),
        )


def shortened(text: str) -> str:
    """Return a text shortened for a message."""
    return text if len(text) <= 60 else f"{text[:57]}..."


def build_fix(wait: ast.Call, start: Start, loop: AnyLoop, model: SemanticModel) -> Fix | None:
    """Start all in a list, and wait for them in another."""
    if not isinstance(loop, ast.ListComp) or loop.elt is not wait or start.apart:
        return None
    if any(isinstance(node, (ast.Await, ast.NamedExpr, *COMPREHENSIONS)) for node in ast.walk(loop.elt)):
        return None
    text = model.edit.text_with(loop, [model.edit.replace(wait, model.source.text(start.call))])
    match wait:
        case ast.Call(func=ast.Attribute(attr="get" | "result" as name), args=[], keywords=[]):
            future = model.importer.fresh_local(("future", "pending", "started"), loop, "RL408")
            text = f"[{future}.{name}() for {future} in {text}]"
        case ast.Call(args=[argument], keywords=[]) if argument is start.call:
            text = f"{model.source.text(wait.func)}({text})"
        case _:
            return None
    reason = "the workers run at the same time and must not modify shared state"
    return Fix(
        "Submit all tasks before waiting", Applicability.UNSAFE, (model.edit.replace(loop, text),), reason
    )
