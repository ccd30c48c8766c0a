"""Fixes that keep polling, at growing intervals."""

from __future__ import annotations

import ast

from rlint.rule import Edit, Fix, SemanticModel
from rlint.rules.processes.rl401_busy_wait_sleep.fixes import fix_of
from rlint.rules.processes.rl401_busy_wait_sleep.pauses import Pause, own_pauses
from rlint.rules.processes.rl401_busy_wait_sleep.wait import Wait

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
LONGEST = 0.01
"""The longest pause of a back-off: longer ones save nothing more, but increase the latency."""

_FIRST = "0.0001"
_LATER = f"a change may be noticed up to {LONGEST:g} s late"


def backoff_fix(wait: Wait, model: SemanticModel) -> Fix | None:
    """Let the pauses grow up to `LONGEST`, and reset them when there is something to do."""
    if wait.counted or len(wait.pauses) > 1:
        return None
    # consecutive loops may share the name; a loop inside another one that sleeps needs its own
    around = sum(
        any(own_pauses(outer.body, model))
        for outer in model.frequency.loops(wait.loop)
        if isinstance(outer, _LOOPS)
    )
    name = model.importer.fresh_name("pause", f"pause inside {around} others")
    if wait.pauses:
        return _growing(wait, wait.pauses[0], name, model)
    return _pausing(wait, name, model)


def _growing(wait: Wait, pause: Pause, name: str, model: SemanticModel) -> Fix | None:
    outermost = _outermost(wait, model)
    if outermost is None or not pause.fixed or pause.seconds is None or pause.seconds >= LONGEST:
        return None
    length = pause.call.args[0] if pause.call.args else pause.call.keywords[0].value
    first = model.edit.code(length) if pause.seconds >= float(_FIRST) else _FIRST
    if not model.edit.is_relocatable(length):
        return None
    edits = [model.edit.insert_before(outermost, f"{name} = {first}"), model.edit.replace(length, name)]
    edits.append(model.edit.insert_after(pause.statement, _grow(name)))
    if wait.guard is not None:
        edits.append(_reset(wait, pause, f"{name} = {first}", model))
    fix: Fix | None = fix_of("Back off: let the pause grow while there is nothing to do", edits, [_LATER])
    return fix


def _pausing(wait: Wait, name: str, model: SemanticModel) -> Fix | None:
    """Add a pause to a loop without one."""
    body = wait.loop.body
    if wait.guard is not None or len(body) != 1 or not isinstance(body[0], (ast.Pass, ast.Continue)):
        return None
    if isinstance(model.function(wait.loop), ast.AsyncFunctionDef):
        return None
    sleep, edits = model.names.spelled("time.sleep", wait.loop), list[Edit | None]()
    if sleep is None:
        imported = model.importer.module_import("time", user=wait.loop)
        if imported is None:
            return None
        sleep, edits = "time.sleep", [imported[1]]
    edits.append(model.edit.insert_before(wait.loop, f"{name} = {_FIRST}"))
    edits.append(model.edit.replace_statement(body[0], f"{sleep}({name})", _grow(name)))
    fix: Fix | None = fix_of("Sleep between two checks", edits, [_LATER])
    return fix


def _grow(name: str) -> str:
    return f"{name} = min(2 * {name}, {LONGEST:g})"


def _outermost(wait: Wait, model: SemanticModel) -> ast.stmt | None:
    """Return the loop before which the first pause is set: the outermost one that only polls."""
    if isinstance(wait.loop, ast.While):
        return wait.loop
    return next((loop for loop in model.frequency.loops(wait.loop) if isinstance(loop, ast.While)), None)


def _reset(wait: Wait, pause: Pause, reset: str, model: SemanticModel) -> Edit | None:
    """Reset the pause where there was something to do."""
    guard = wait.guard
    if isinstance(guard, ast.ExceptHandler):
        trying = model.parent(guard)
        return model.edit.insert_after(trying.body[0], reset) if isinstance(trying, ast.Try) else None
    block, _ = model.syntax.block(pause.statement)
    if guard is None or block not in (guard.body, guard.orelse):
        return None
    if block is guard.orelse:
        return model.edit.insert_before(guard.body[0], reset)
    if guard.orelse:
        return model.edit.insert_before(guard.orelse[0], reset)
    return model.edit.insert_after(guard, reset) if isinstance(block[-1], ast.Continue) else None
