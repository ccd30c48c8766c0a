"""Waits for workers, and the calls that start their work."""

from __future__ import annotations

import ast

from rlint.rule import AnyLoop, SemanticModel, TypeTag, frozen, is_in, same_code

_FUTURES = {"submit": "result", "apply_async": "get"}
_BY_PIPE = "Send to all first, and receive from all in a second loop"
_BY_PROCESS = "Start all of them first, and call `join()` on them in a second loop"


@frozen
class Start:
    """A call that starts work. `worker` runs it, and differs between iterations; None if a pool chooses. It
    is `apart` if it is not a part of the wait.
    """

    call: ast.Call
    worker: ast.expr | None
    advice: str
    apart: bool = False


def start_of(wait: ast.Call, loop: AnyLoop, model: SemanticModel) -> Start | None:
    """Return the start that a call waits for, if it is in the same iteration of a loop."""
    match wait:
        case ast.Call(args=[waited], keywords=[]) if model.names.qualified(wait.func) == "ray.get":
            made = made_in(waited, loop, model)
            return by_ray(made, apart=made is not waited) if made is not None else None
        case ast.Call(func=ast.Attribute(value=waited, attr="result" | "get" as name)) if not wait.args:
            made = made_in(waited, loop, model)
            return by_pool(made, name, model, apart=made is not waited) if made is not None else None
        case ast.Call(func=ast.Attribute(value=pool, attr="apply")):
            if model.types.type_of(pool).tag is TypeTag.POOL:
                return Start(wait, None, "Use `starmap`, or `apply_async` for all and `get` afterwards")
        case ast.Call(func=ast.Attribute(value=worker, attr="recv"), args=[]):
            return started_before(wait, worker, "send", _BY_PIPE, loop, model)
        case ast.Call(func=ast.Attribute(value=worker, attr="join"), args=[]):
            if model.types.type_of(worker).tag in (TypeTag.PROCESS, TypeTag.THREAD):
                return started_before(wait, worker, "start", _BY_PROCESS, loop, model)
    return None


def made_in(waited: ast.expr, loop: AnyLoop, model: SemanticModel) -> ast.Call | None:
    """Return the call whose result is awaited: itself, or the value that the same loop binds to the name."""
    if isinstance(waited, ast.Name):
        definitions = model.dataflow.definitions(waited)
        if len(definitions) != 1:
            return None
        value = definitions[0].value
        waited = value if value is not None and is_in(value, loop) else waited
    return waited if isinstance(waited, ast.Call) else None


def by_ray(made: ast.Call, *, apart: bool) -> Start | None:
    """Return the start of `worker.step.remote(action)`, `function.remote(item)`."""
    advice = "Collect the object references of all calls in a list, and pass it to `ray.get` once"
    match made.func:
        case ast.Attribute(value=ast.Attribute(value=worker), attr="remote"):
            return Start(made, worker, advice, apart)
        case ast.Attribute(value=ast.Name(), attr="remote"):
            return Start(made, None, advice, apart)
    return None


def by_pool(made: ast.Call, name: str, model: SemanticModel, *, apart: bool) -> Start | None:
    """Return the start of `pool.submit(f, x)`, `pool.apply_async(f, (x,))`."""
    match made.func:
        case ast.Attribute(value=pool, attr=attribute) if _FUTURES.get(attribute) == name:
            known = model.types.type_of(pool).tag
            if known not in (TypeTag.POOL, TypeTag.UNKNOWN):
                return None
            advice = (
                f"Submit all tasks first, keep them in a list, and call `{name}()` on each afterwards, "
                "or use `map`"
            )
            return Start(made, None, advice, apart)
    return None


def started_before(
    wait: ast.Call, worker: ast.expr, method: str, advice: str, loop: AnyLoop, model: SemanticModel
) -> Start | None:
    """Return the `send` or `start` to the same worker earlier in the same iteration."""
    found = None
    for call in model.names.calls_named(method, model.function(wait)):
        if not isinstance(call.func, ast.Attribute) or not is_in(call, loop):
            continue
        before = (call.lineno, call.col_offset) < (wait.lineno, wait.col_offset)
        if before and same_code(call.func.value, worker) and isinstance(model.parent(call), ast.Expr):
            if model.frequency.loops(call)[:1] != [loop]:
                return None
            found = call
    return Start(found, worker, advice, apart=True) if found is not None else None
