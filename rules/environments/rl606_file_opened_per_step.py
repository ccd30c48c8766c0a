"""A file opened, written and closed, or flushed, in every step of training.

## What it does
Flags `open` for writing or appending (also `Path.open`, `write_text`), functions that write a whole array or
table to a file (`np.savetxt`, `np.save`, `DataFrame.to_csv` and similar methods), and `flush`, if they run
once per environment step or gradient step of training without a condition: no interval, flag or end of an
episode limits them, in the function, in its callers or by an early `continue`. Methods that each step of an
environment of the project runs count as well. Conditions that decide whether a gradient step is taken do not
count.

Also flags a `with` statement that opens the same file in each step and loads its data (`json.load(file)`).

The rule does not flag files with a different name in each step, checkpoints (RL605), and files opened once
per episode or epoch.

## Why is it slow
Opening and closing a file are system calls that look up the path and set up a buffer. They take hundreds of
times as long as writing a line to an open file. A flush defeats the buffer.

A flush limits the loss in a crash. A flush per episode, or every few seconds, is usually enough.

## Example
```python
import gymnasium


def train(agent, total_steps: int) -> None:
    env = gymnasium.make("CartPole-v1")
    state, _ = env.reset()
    for step in range(total_steps):
        state, reward, terminated, truncated, _ = env.step(agent.act(state))
        agent.train_step(state, reward)
        with open("rewards.csv", "a") as file:
            file.write(f"{step},{reward}\\n")
```
Use instead (by hand):
```python
import gymnasium


def train(agent, total_steps: int) -> None:
    env = gymnasium.make("CartPole-v1")
    state, _ = env.reset()
    with open("rewards.csv", "a") as file:
        for step in range(total_steps):
            state, reward, terminated, truncated, _ = env.step(agent.act(state))
            agent.train_step(state, reward)
            file.write(f"{step},{reward}\\n")
```

## Fix safety
There is no fix. Other programs that read the file during training would see the lines later, and only the
author knows where the file should be opened and closed.

## References
- https://docs.python.org/3/library/functions.html#open
- https://docs.python.org/3/library/io.html#io.BufferedWriter
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Binding,
    BindingKind,
    Finding,
    Heat,
    Rule,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    last_names,
    models,
    output_words,
)
from rlint.rules.environments._shared.steps import step_of_own_environment, unguarded_step

_OPENS = output_words.OPENS
_NAMES = frozenset({"os.path.join", "builtins.str", "pathlib.Path"})
_WRITES_WHOLE = frozenset({"write_text", "write_bytes"})
_SAVES = models.having(Trait.SAVES, "numpy")
_SAVES_FRAME = models.having(Trait.SAVES, TypeTag.DATAFRAME)
_LOADS = models.having(Trait.LOADS | Trait.PARSES, "numpy", "torch", "json", "yaml") | {"pickle.load"}
_READING = ("r", "rb", "rt")
_FLUSHED = frozenset({TypeTag.FILE, TypeTag.WRITER})
_FLUSHES = frozenset({"flush"}.union(*output_words.FLUSHES.values()))
_ONCE = "Open it once before the loop, and flush it at the end of an episode"
_BEFORE = "Read it once before the loop, and keep what it contains"
_LATER = "Flush at the end of an episode, or let the buffer flush itself"


class FileOpenedPerStep(Rule):
    """RL606."""

    code = "RL606"
    name = "file-opened-per-step"
    seeds = ("S1.IO1",)
    claims = ("time",)
    heat = Heat.WARM
    visits = (ast.Call,)
    callees = last_names(*_OPENS, *_WRITES_WHOLE, *_FLUSHES, "fsync", *_SAVES, *_SAVES_FRAME)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a file that is opened for a few lines, or flushed."""
        if not isinstance(node, ast.Call):
            return
        flushes = is_flush(node, model)
        reads = not flushes and opens_to_read(node, model)
        if not (flushes or reads or opens_to_write(node, model)):
            return
        step = unguarded_step(node, model) or step_of_own_environment(node, model)
        if step is None or (
            not flushes and (has_changing_name(node, model) or holds_checkpoint(node, model))
        ):
            return
        called = model.source.text(node.func)
        each = f"in every {step.value}"
        if reads:
            message = f"`{called}` opens and reads the same file {each}"
        elif flushes:
            message = f"`{called}` flushes to the operating system {each}, which defeats the write buffer"
        else:
            message = f"`{called}` opens and closes a file {each}, which takes far longer than "
            message += "to write a line"
            if saves(node, model):
                message = f"`{called}` writes the whole file again {each}"
        advice = _LATER if flushes else _BEFORE if reads else _ONCE
        yield self.finding(model, node, message, advice=advice)


def is_flush(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call is `file.flush()`, `writer.flush()`, `os.fsync(file)`, `connection.commit()`."""
    if model.names.qualified(call.func) in ("os.fsync", "sys.stdout.flush", "sys.stderr.flush"):
        return True
    match call:
        case ast.Call(func=ast.Attribute(value=flushed, attr=name), args=[], keywords=[]) if name in _FLUSHES:
            kind = model.types.type_of(flushed)
            if kind.tag is TypeTag.INSTANCE:
                return name in output_words.FLUSHES.get(kind.of, ())
            return name == "flush" and kind.tag in _FLUSHED
    return False


def opens_to_write(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call opens a file for writing."""
    if model.names.qualified(call.func) in _OPENS:
        return any(map(is_writing, modes_of(call)))
    if saves(call, model):
        return True
    if not isinstance(call.func, ast.Attribute):
        return False
    if model.types.type_of(call.func.value).tag is not TypeTag.PATH:
        return False
    opened = call.func.attr == "open" and any(map(is_writing, call.args[:1]))
    return opened or call.func.attr in _WRITES_WHOLE


def saves(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call writes a whole array or table to a file of its own."""
    called = call.func
    if not call.args or not isinstance(called, ast.Attribute | ast.Name):
        return False
    if model.names.qualified(called) in _SAVES:
        return True
    of_frame = isinstance(called, ast.Attribute) and called.attr in _SAVES_FRAME
    return of_frame and model.types.type_of(called.value).tag is TypeTag.DATAFRAME  # type: ignore[union-attr]


def opens_to_read(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a `with` statement opens a file to load serialised data: `json.load(file)`. Other text may be
    written by another process while the training runs.
    """
    if model.names.qualified(call.func) not in _OPENS or not isinstance(model.parent(call), ast.withitem):
        return False
    modes = modes_of(call)
    if any(not isinstance(mode, ast.Constant) or mode.value not in _READING for mode in modes):
        return False
    statement = model.syntax.statement(call)
    loads = any(
        isinstance(node, ast.Call) and model.names.qualified(node.func) in _LOADS
        for node in descendants(statement)
    )
    return loads and not isinstance(next(iter(call.args), None), ast.JoinedStr)


def modes_of(call: ast.Call) -> list[ast.expr]:
    """Return the argument of a function that opens a file which says how it is used."""
    return [*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]


def is_writing(mode: ast.expr) -> bool:
    """Whether a mode is `"a"`, `"w"` or the like."""
    return isinstance(mode, ast.Constant) and isinstance(mode.value, str) and mode.value[:1] in "aw"


def has_changing_name(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the file may be another one in each step, because its name contains values that may change."""
    of_path = (
        isinstance(call.func, ast.Attribute) and model.types.type_of(call.func.value).tag is TypeTag.PATH
    )
    given = call.func.value if of_path and isinstance(call.func, ast.Attribute) else None
    name = given or next(iter(call.args), None)
    loop = model.frequency.driving_loop(call)
    for node in descendants(name) if name is not None else ():
        if isinstance(node, ast.Call) and model.names.qualified(node.func) not in _NAMES:
            return True
        if isinstance(node, ast.FormattedValue) and _may_be_counted(node.value, model):
            return True
        if isinstance(node, ast.Name) and any(
            _changes(bound, loop, model) for bound in model.dataflow.definitions(node)
        ):
            return True
    return name is None


def _may_be_counted(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is an attribute that code changes: `self.time` in `f"{self.time}.npy"`."""
    return isinstance(value, ast.Attribute) and not model.types.is_setting(value)


def _changes(bound: Binding, loop: ast.AST | None, model: SemanticModel) -> bool:
    """Whether a variable is bound in the loop or, without one, in the function that each step calls."""
    if loop is not None:
        return bound.statement is loop or loop in model.ancestors(bound.statement)
    local = bound.kind is BindingKind.PARAMETER or model.function(bound.node) is not None
    return local and bound.name not in ("self", "cls")


def holds_checkpoint(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the trained weights are written into the file."""
    statement: ast.AST = model.syntax.statement(call)
    return any(
        isinstance(node, ast.Call) and model.effects.writes_checkpoint(node)
        for node in descendants(statement)
    )
