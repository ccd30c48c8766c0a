"""Metrics put into a bounded queue by a `put` that blocks when the queue is full.

## What it does
Flags a blocking `put` (`block=True`, a `timeout`, or neither argument) in the loop of an actor or learner,
if the queue is known to be bounded and carries only metrics: the queue or the item has a name like
`metrics`, `log` or `stats`, or the item is a dict that names only metrics. No code may put observations,
actions, weights or tasks into the queue.

rlint finds the construction of a queue by its name, through arguments and across the files of the program.
It does not flag a queue without `maxsize`, whose `put` never blocks, or a queue whose construction it
cannot find, unless `block=True` or a `timeout` shows that the author expects the queue to be full.

## Why is it slow
The call is cheap while the queue has room. When the consumer that writes the log falls behind, every
training step blocks, up to the timeout, and training slows down to the speed of logging. A lost metric
rarely matters; a delayed step does. A `put` at the end of an episode has a low impact.

## Example
```python
import queue


def learn(agent, batches, metrics_queue: queue.Queue) -> None:
    for batch in batches:
        loss = agent.update(batch)
        loss.backward()
        metrics = {"loss": loss.item()}
        metrics_queue.put(metrics, block=True, timeout=1.0)
```
Use instead:
```python
import queue


def learn(agent, batches, metrics_queue: queue.Queue) -> None:
    dropped = 0
    for batch in batches:
        loss = agent.update(batch)
        loss.backward()
        metrics = {"loss": loss.item()}
        try:
            metrics_queue.put_nowait(metrics)
        except queue.Full:
            dropped += 1
```

## Fix safety
Unsafe: when the queue is full, the item is dropped immediately, and this may include the last items of a
run. If `put` had a `timeout`, and raised `queue.Full` after it, the fix counts the dropped items in a
variable.

Inside a `try` that already handles `queue.Full`, the fix only replaces `put` with `put_nowait`. There is no
fix outside loops, or where the module `queue` cannot be imported.

## References
- https://docs.python.org/3/library/queue.html#queue.Queue.put_nowait
- https://docs.python.org/3/library/multiprocessing.html#multiprocessing.Queue.put
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Applicability,
    Edit,
    Finding,
    Fix,
    Heat,
    Rule,
    SemanticModel,
    TypeTag,
    last_name,
    queues,
)

_LOOPS = (ast.For, ast.While)
_FULL = frozenset({"queue.Full", "multiprocessing.queues.Full", "builtins.Exception", "_queue.Full"})

_FEWEST_NAMES = 2

_SELDOM = "it puts one item for many steps, which fills a queue only if its reader has stopped"


class BlockingQueuePut(Rule):
    """RL404."""

    code = "RL404"
    name = "blocking-queue-put"
    seeds = ("S2.5",)
    claims = ("time",)
    heat = Heat.COLD
    visits = (ast.Call,)
    callees = frozenset({"put"})

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a `put` that may block."""
        assert isinstance(node, ast.Call)
        match node.func:
            case ast.Attribute(value=queue, attr="put") if may_block(node):
                pass
            case _:
                return
        if model.types.type_of(queue).tag not in (TypeTag.QUEUE, TypeTag.UNKNOWN) or not runs_often(
            node, model
        ):
            return
        if isinstance(model.parent(node), ast.Await) or not carries_metrics(node, queue, model):
            return
        made = model.threads.channel_makers(queue)
        queried = requests_blocking(node)
        if made and not any(one.bounded for one in made):
            return
        if not made and not queried:
            return
        yield self.finding(
            model,
            node,
            f"When `{model.source.text(queue)}` is full, this `put` blocks training until the metrics are "
            f"consumed",
            fix=dropping_fix(node, queue, model),
            advice=f"Use `{model.source.text(queue)}.put_nowait(…)`, and count the items dropped on "
            f"`queue.Full`",
            minor=_SELDOM if model.frequency.heat_of(node).level is Heat.WARM else None,
        )


def runs_often(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the `put` is in a loop, in a worker, or in code that a training loop runs."""
    if model.frequency.loops(call) or model.threads.runners(call).starts:
        return True
    return model.frequency.may_be_warm(call) and model.frequency.heat_of(call).level is not Heat.COLD


def may_block(call: ast.Call) -> bool:
    """Whether this is a `put` of one item that is not requested to return at once."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if None in given or not set(given) <= {"item", "obj", "block", "timeout"}:
        return False
    if not call.args or len(call.args) > 3 or any(isinstance(value, ast.Starred) for value in call.args):
        return False
    block = call.args[1] if len(call.args) > 1 else given.get("block")
    timeout = call.args[2] if len(call.args) > 2 else given.get("timeout")
    if isinstance(timeout, ast.Constant) and timeout.value == 0:
        return False
    return block is None or (isinstance(block, ast.Constant) and block.value is True)


def requests_blocking(call: ast.Call) -> bool:
    """Whether the call explicitly requests blocking: `block=True`, `timeout=1.0`."""
    return len(call.args) > 1 or any(keyword.arg in ("block", "timeout") for keyword in call.keywords)


def carries_metrics(call: ast.Call, queue: ast.expr, model: SemanticModel) -> bool:
    """Whether everything that is put into the queue is logged, judging by names and contents."""
    cargo = model.threads.queue_content(queue)
    if cargo == queues.DATA:
        return False
    named = queues.is_named_for_metrics(queues.name_of_channel(queue) or "")
    if named or cargo != queues.METRICS:
        return named
    item = call.args[0]
    return queues.is_named_for_metrics(last_name(item) or "") or has_only_metrics(item, model)


def has_only_metrics(item: ast.expr, model: SemanticModel) -> bool:
    """Whether an item is a dict that names at least two metrics, and nothing that is computed with."""
    if isinstance(item, ast.Name):
        made = model.dataflow.definitions(item)
        values = [binding.value for binding in made if not binding.path]
        return len(values) == 1 and isinstance(values[0], ast.Dict) and has_only_metrics(values[0], model)
    if isinstance(item, ast.Tuple):
        return any(isinstance(part, ast.Dict) and has_only_metrics(part, model) for part in item.elts)
    return isinstance(item, ast.Dict) and len(item.keys) >= _FEWEST_NAMES


def dropping_fix(call: ast.Call, queue: ast.expr, model: SemanticModel) -> Fix | None:
    """Put without blocking, and count dropped items."""
    text = f"{model.edit.code(queue)}.put_nowait({model.edit.as_argument(call.args[0])})"
    if not model.edit.is_relocatable(call.args[0]) or not model.edit.is_relocatable(queue):
        return None
    reason = f"items put while `{model.source.text(queue)}` is full are dropped instead of blocking"
    if handles_full(call, model):
        return Fix("Put without blocking", Applicability.UNSAFE, (model.edit.replace(call, text),), reason)
    statement = model.parent(call)
    around = [parent for parent in model.ancestors(call) if isinstance(parent, _LOOPS)]
    loops = [parent for parent in around if model.function(parent) is model.function(call)]
    if not isinstance(statement, ast.Expr) or not loops or model.function(call) is None:
        return None
    full, edits = model.names.spelled("queue.Full", call), list[Edit | None]()
    if full is None:
        imported = model.importer.module_import("queue", user=call)
        if imported is None:
            return None
        full, edits = "queue.Full", [imported[1]]
    name = model.importer.fresh_name("dropped", model.source.text(queue))
    indent = model.source.indent_unit(statement)
    lines = ("try:", f"{indent}{text}", f"except {full}:", f"{indent}{name} += 1")
    edits += [
        model.edit.insert_before(loops[-1], f"{name} = 0"),
        model.edit.replace_statement(statement, *lines),
    ]
    made = [edit for edit in edits if edit is not None]
    if len(made) != len(edits):
        return None
    return Fix("Put without blocking, and count dropped items", Applicability.UNSAFE, tuple(made), reason)


def handles_full(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a `try` around the call handles a full queue, or any exception."""
    for parent in model.ancestors(call):
        if parent is model.function(call):
            return False
        if isinstance(parent, ast.Try):
            for handler in parent.handlers:
                caught = handler.type
                types = caught.elts if isinstance(caught, ast.Tuple) else [caught]
                if any(one is None or model.names.qualified(one) in _FULL for one in types):
                    return True
    return False
