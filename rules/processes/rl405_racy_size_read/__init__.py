"""Shared values that are read and then written, or read together, without holding their lock.

## What it does
Flags updates of a `multiprocessing.Value` that take more than one step without its lock: `v.value += 1`,
`v.value = (v.value + 1) % n`, `old = v.value` followed by `v.value = old + 1`, and `if v.value < x:` with
an assignment to it. An update is flagged if several threads or processes run it (rlint follows how they are
started across the files of the project), or if the value is written under a lock elsewhere in the file.

Also flags functions that read two values without a lock, if the code that writes both values takes a lock.

The rule does not flag:

- a single read of `v.value`, which takes the value's lock;
- updates made by a single process, and values private to each worker;
- updates in a constructor;
- helpers that are only called under a lock.

## Why is it slow
It is not slow, it is a race condition. Reading `v.value` acquires the lock, reads the number and releases
the lock; the assignment acquires the lock again. Updates by another process in between are lost: step
counters fall behind, two actors write to the same row of a ring buffer, and schedules that depend on the
counter run late. The error shows only under load.

## Example
```python
import multiprocessing as mp


def act(steps, total: int) -> None:
    while steps.value < total:
        steps.value += 1


def main() -> None:
    steps = mp.Value("l", 0)
    actors = [mp.Process(target=act, args=(steps, 1_000)) for _ in range(4)]
    for actor in actors:
        actor.start()
```
Use instead:
```python
import multiprocessing as mp


def act(steps, total: int) -> None:
    while steps.value < total:
        with steps.get_lock():
            steps.value += 1


def main() -> None:
    steps = mp.Value("l", 0)
    actors = [mp.Process(target=act, args=(steps, 1_000)) for _ in range(4)]
    for actor in actors:
        actor.start()
```

## Fix safety
Unsafe: the update blocks on the lock, which other code may hold for a long time, or acquire together with a
second lock in another order. The fix is offered for values with the default lock of `Value`, which is
re-entrant.

There is only advice for `RawValue`, for `lock=False`, for a lock passed by the program, for values of a
manager, where other code guards the value with another lock, and where there are other statements between
the read and the write.

## References
- https://docs.python.org/3/library/multiprocessing.html#multiprocessing.Value
- https://docs.python.org/3/library/multiprocessing.html#multiprocessing.sharedctypes.synchronized
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Applicability, Finding, Fix, Heat, Rule, SemanticModel, TypeTag, descendants, last_name
from rlint.rules.processes.rl405_racy_size_read.updates import (
    Update,
    has_own_lock,
    is_raced,
    other_sections,
    update_of,
    written_in,
)

_SHOWN = (ast.Expr, ast.Raise, ast.Assert)


class RacySizeRead(Rule):
    """RL405."""

    code = "RL405"
    name = "racy-size-read"
    seeds = ("S2.3",)
    claims = ()
    heat = Heat.COLD
    visits = (ast.Module,)
    triggers = (".value",)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for the updates, and for the second of two reads."""
        values = model.names.attribute_uses("value")
        for statement in dict.fromkeys(map(model.syntax.statement, values)):
            yield from self._updated(statement, model)
        for use in values:
            if isinstance(use.ctx, ast.Load) and use not in model.syntax.buried:
                yield from self._torn(use, model)

    def _updated(self, node: ast.stmt, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a value that is read and then written."""
        update = update_of(node, model)
        if update is None or not is_raced(update, model):
            return
        name = model.source.text(update.shared)
        guards = other_sections(update.shared, model)
        lock = f"{name}.get_lock()"
        if guards and guards[0].name != last_name(update.shared):
            lock = model.source.text(guards[0].lock)
        elif not has_own_lock(model.threads.channel_makers(update.shared)):
            lock = ""
        held = f"inside `with {lock}:`" if lock else "while holding a lock that all writers take"
        yield self.finding(
            model,
            node,
            f"`{name}.value` is read and then written without a lock: writes by other processes in between "
            f"are lost",
            fix=locked_fix(update, model) if lock.endswith(".get_lock()") else None,
            advice=f"Do both {held}",
        )

    def _torn(self, node: ast.Attribute, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for two values that are read one after the other, while other code writes them
        together.
        """
        name = last_name(node.value)
        if (
            not model.threads.lock_sections()
            or model.types.type_of(node.value).tag is not TypeTag.SHARED_VALUE
        ):
            return
        before = reads_before(node, model)
        if not before or model.threads.is_locked(node) or is_shown(node, model):
            return
        for section in model.threads.lock_sections():
            if model.function(node) is model.function(section.node):
                continue
            written = {last_name(owner) for statement in section.body for owner in written_in(statement)}
            if name not in written:
                continue
            first = next((other for other in before if last_name(other.value) in written - {name}), None)
            if first is None or model.threads.is_locked(first):
                continue
            pair = f"`{model.source.text(first)}` and `{model.source.text(node)}`"
            yield self.finding(
                model,
                node,
                f"{pair} are read separately, without the lock under which both are written",
                advice=f"Read both inside `with {model.source.text(section.lock)}:`",
            )
            return


def reads_before(node: ast.Attribute, model: SemanticModel) -> list[ast.Attribute]:
    """Return the values that the same block reads first, other than to show them."""
    if model.function(node) is None:
        return []
    block, index = model.syntax.block(model.syntax.statement(node))
    return [
        other
        for earlier in block[: index + 1]
        for other in descendants(earlier)
        if isinstance(other, ast.Attribute)
        and other.attr == "value"
        and isinstance(other.ctx, ast.Load)
        and model.source.span(other) < model.source.span(node)
        and model.syntax.statement(other) is earlier
        and model.function(other) is model.function(node)
        and not is_shown(other, model)
    ]


def is_shown(node: ast.Attribute, model: SemanticModel) -> bool:
    """Whether a value is only read to be printed or logged."""
    return isinstance(model.syntax.statement(node), _SHOWN) or any(
        isinstance(parent, ast.JoinedStr) for parent in model.ancestors(node)
    )


def locked_fix(update: Update, model: SemanticModel) -> Fix | None:
    """Wrap the update in a `with` that holds the value's own lock."""
    statement = update.place
    if len(update.statements) > 1 or isinstance(statement, ast.If):
        return None
    if not model.effects.effect_of(update.shared).quiet or not model.edit.is_relocatable(update.shared):
        return None
    edit = model.edit.wrap_in(f"with {model.edit.code(update.shared)}.get_lock():", [statement])
    if edit is None:
        return None
    reason = (
        f"the update blocks on the lock of `{model.source.text(update.shared)}`, which other code may hold "
        f"for long"
    )
    return Fix("Hold the lock during the update", Applicability.UNSAFE, (edit,), reason)
