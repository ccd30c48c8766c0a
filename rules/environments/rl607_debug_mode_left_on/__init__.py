"""Debug checks and profilers that stay enabled for the whole training.

## What it does
Flags `torch.autograd.set_detect_anomaly(True)`, `with torch.autograd.detect_anomaly()`, a torch profiler
or `cProfile` around a whole training loop, records of all allocations that nothing reads or ends
(`tracemalloc.start`, `_record_memory_history`), and a program that sets `CUDA_LAUNCH_BLOCKING` to 1, if they
are unconditional and gradient steps follow. So are `tf.config.run_functions_eagerly(True)` and
`tf.debugging.enable_check_numerics()`. Options of trainers count as well (Lightning's
`detect_anomaly=True` and `profiler="advanced"`, `debug="underflow_overflow"` of transformers), and
Stable-Baselines3's `VecCheckNan`, with a low impact. A test for a GPU does not count as a condition. In a
function that code which trains always calls (`setup(seed)`), the finding is `likely`. Also flags monitors of
GPUs (`nvidia-smi`) that hot code starts as a process.

The rule does not flag modes enabled by a flag or an argument, modes that are disabled again, a profiler
with a `schedule`, functions written to profile or debug, and tests.

## Why is it slow
Anomaly detection stores the traceback of each forward operation, and checks every gradient for NaN. A
profiler records every operation and keeps the records in memory. With `CUDA_LAUNCH_BLOCKING` the host
synchronises after each kernel, and no longer queues the next ones while the GPU works. `nvidia-smi` is a
process that opens the driver: each start takes tens to hundreds of milliseconds.

## Example
```python
import torch
from torch import nn


def train(model: nn.Module, optimizer: torch.optim.Optimizer, loader) -> None:
    torch.autograd.set_detect_anomaly(True)
    for batch in loader:
        loss = model(batch).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```
Use instead:
```python
import torch
from torch import nn


def train(model: nn.Module, optimizer: torch.optim.Optimizer, loader) -> None:
    for batch in loader:
        loss = model(batch).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

## Fix safety
Always unsafe: a NaN in a backward pass no longer raises an error and reaches the weights, and errors of
kernels are reported later than they occur. There is only advice for a profiler whose records are read.

## References
- https://pytorch.org/docs/stable/autograd.html#anomaly-detection
- https://pytorch.org/tutorials/recipes/recipes/tuning_guide.html#disable-debugging-apis
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rlint.rule import (
    FUNCTIONS,
    LOOPS,
    Applicability,
    Driver,
    Edit,
    Finding,
    Fix,
    Guard,
    Heat,
    Rule,
    SemanticModel,
    TrainingStep,
    cst,
    descendants,
    regex,
    roles,
)
from rlint.rules.environments._shared.steps import (
    file_name,
    is_called_training,
    is_free,
    unguarded_step,
)
from rlint.rules.environments.rl607_debug_mode_left_on import recordings

_SETS = "torch.autograd.set_detect_anomaly"
_DETECTS = "torch.autograd.detect_anomaly"
_PROFILERS = frozenset(
    """torch.profiler.profile torch.autograd.profiler.profile torch.autograd.profiler.emit_nvtx
    torch.autograd.profiler.emit_itt""".split()
)
_BLOCKING = "CUDA_LAUNCH_BLOCKING"
_STARTS = ("subprocess.", "os.system", "os.popen")
_MONITORS = regex(r"\b(nvidia-smi|rocm-smi|gpustat)\b")
_MEMORY = (
    "`torch.cuda.memory_allocated()` and `torch.cuda.mem_get_info()` answer at once; for the load of the "
    "GPU, ask once in many steps, or in another thread"
)
_ON_PURPOSE = regex(r"profil|bench|debug|trace|diagnos|test|check|anomal|nan", re.IGNORECASE)
_ENTRY = frozenset({"", "main", "__init__", "run", "train", "learn", "fit"})
_FEW_ARRAYS = "a few small arrays are checked in each step"
_TRACES = "stores a traceback of each operation and checks every gradient for NaN during the whole training"


class DebugModeLeftOn(Rule):
    """RL607."""

    code = "RL607"
    name = "debug-mode-left-on"
    seeds = ("S4.7", "S1.prof")
    claims = ("time",)
    heat = Heat.COLD
    visits = (ast.Call, ast.Assign)
    triggers = (
        "detect_anomaly",
        "profile",
        "Profile",
        "emit_",
        _BLOCKING,
        "-smi",
        "gpustat",
        "tracemalloc",
        "_record_memory_history",
        "viztracer",
        "yappi",
        "underflow_overflow",
        "VecCheckNan",
        "functions_eagerly",
        "check_numerics",
    )

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for code that enables the debugging."""
        monitor = started_monitor(node, model) if isinstance(node, ast.Call) else None
        if monitor is not None and isinstance(node, ast.Call):
            if model.frequency.heat_of(node).level is Heat.HOT and not model.usage.is_evaluation(node):
                started = model.source.text(node.func)
                message = f"`{started}` starts `{monitor}` in each step, which takes tens of milliseconds"
                yield self.finding(model, node, message, advice=_MEMORY)
            return
        if isinstance(node, ast.Assign):
            found = blocking_launches(node, model)
        else:
            found = debugging(node, model) if isinstance(node, ast.Call) else None
        if found is None:
            return
        if not always_holds(model.frequency.conditions(node)) and not runs_with_step(node, model):
            return
        caller = None
        option = recordings.debug_option(node, model) if isinstance(node, ast.Call) else None
        if not around_training(node, model) and not (option is not None and is_of_training(node, model)):
            caller = caller_that_trains(node, model)
            if caller is None or isinstance(model.parent(node), ast.withitem):
                return
        message, advice, edits = found
        yield self.finding(
            model,
            option.value if option is not None else node,
            message,
            fix=build_fix(edits),
            advice=advice,
            assumes=f"`{caller}` trains after the call" if caller is not None else None,
            throughout=TrainingStep.GRADIENT,
            minor=_FEW_ARRAYS
            if isinstance(node, ast.Call) and recordings.checks_arrays(node, model)
            else None,
        )


_Found = tuple[str, str, list[Edit] | None]


def debugging(call: ast.Call, model: SemanticModel) -> _Found | None:
    """Return a finding for a call that turns on debugging."""
    return (
        anomaly_mode(call, model)
        or profiler(call, model)
        or python_profiler(call, model)
        or recordings.recording(call, model)
    )


def runs_with_step(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a `with` is around each gradient step, whatever decides when one is taken."""
    item = model.parent(node)
    return isinstance(item, ast.withitem) and unguarded_step(node, model) is not None


def python_profiler(call: ast.Call, model: SemanticModel) -> _Found | None:
    """Return a finding for a profiler of Python that records a training loop."""
    recorded = recordings.profiled_block(call, model)
    if not any(trains(node, model) for statement in recorded for node in descendants(statement)):
        return None
    message = f"`{model.source.text(call.func)}` records every call of Python during the whole training"
    return message, "Profile a few steps in a separate run", None


def started_monitor(call: ast.Call, model: SemanticModel) -> str | None:
    """Return the monitor of GPUs that a call starts in a process of its own: `nvidia-smi`."""
    if not (model.names.qualified(call.func) or "").startswith(_STARTS) or not call.args:
        return None
    command: ast.expr | None = call.args[0]
    if isinstance(command, ast.Name):
        bindings = model.dataflow.definitions(command)
        command = bindings[0].value if len(bindings) == 1 and not bindings[0].path else None
    for node in descendants(command) if command is not None else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            named = _MONITORS.search(node.value)
            if named is not None:
                return named[1]
    return None


def anomaly_mode(call: ast.Call, model: SemanticModel) -> _Found | None:
    """Return a finding for `set_detect_anomaly(True)`, `with detect_anomaly():`."""
    qualified = model.names.qualified(call.func)
    if qualified not in (_SETS, _DETECTS) or (qualified == _SETS and not is_switched_on(call)):
        return None
    parent = model.parent(call)
    if isinstance(parent, ast.Expr):
        if qualified == _DETECTS or is_switched_off(model):
            return None
        edits = model.edit.delete_statements([parent])
    elif isinstance(parent, ast.withitem):
        edits = without_block(parent, model)
    else:
        return None
    advice = "Enable it by a command-line argument, or only for the steps in question"
    return f"`{model.source.text(call.func)}` {_TRACES}", advice, edits


def is_switched_on(call: ast.Call) -> bool:
    """Whether the mode is the constant True."""
    given = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    return any(isinstance(mode, ast.Constant) and mode.value is True for mode in given)


def is_switched_off(model: SemanticModel) -> bool:
    """Whether the file disables the detection again, or sets it in another place."""
    names = [*model.names.attribute_uses("set_detect_anomaly")]
    calls = [model.parent(name) for name in names]
    return any(isinstance(call, ast.Call) and not is_switched_on(call) for call in calls)


def profiler(call: ast.Call, model: SemanticModel) -> _Found | None:
    """Return a finding for `with torch.profiler.profile(...):` around a training loop."""
    if model.names.qualified(call.func) not in _PROFILERS:
        return None
    item = model.parent(call)
    if not isinstance(item, ast.withitem) or any(keyword.arg == "schedule" for keyword in call.keywords):
        return None
    block = model.parent(item)
    if not isinstance(block, ast.With) or not any(trains(node, model) for node in descendants(block)):
        return None
    edits = without_block(item, model) if item.optional_vars is None else None
    message = (
        f"`{model.source.text(call.func)}` records every operation of the whole training and keeps the "
        f"records in memory"
    )
    return message, "Profile a few steps in a separate run, or pass a `schedule`", edits


def trains(node: ast.AST, model: SemanticModel) -> bool:
    """Whether it is a loop that takes gradient steps."""
    if not isinstance(node, LOOPS):
        return False
    beat = model.frequency.cadence(node.body[0])
    return beat is not None and not beat.calls and Driver.GRADIENT_STEP in beat.drivers | beat.nested


def blocking_launches(assignment: ast.Assign, model: SemanticModel) -> _Found | None:
    """Return a finding for `os.environ["CUDA_LAUNCH_BLOCKING"] = "1"`."""
    match assignment:
        case ast.Assign(
            targets=[ast.Subscript(value=environment, slice=ast.Constant(value=name))],
            value=ast.Constant(value="1"),
        ) if name == _BLOCKING and model.names.qualified(environment) == "os.environ":
            message = f"`{_BLOCKING}` makes the host synchronise after each kernel during the whole training"
            advice = "Set it in the shell for the run that you debug"
            return message, advice, model.edit.delete_statements([assignment])
    return None


def around_training(node: ast.AST, model: SemanticModel) -> bool:
    """Whether gradient steps follow, in code that is not for debugging."""
    function = model.function(node)
    name = function.name if function is not None else ""
    if not is_of_training(node, model):
        return False
    if Driver.GRADIENT_STEP in model.frequency.drivers(node):
        return True
    if name not in _ENTRY:
        return False
    is_script = is_called_training(file_name(model)) and model.class_of(node) is None
    return is_script or model.once(takes_gradient_steps, model.syntax.module)


def is_of_training(node: ast.AST, model: SemanticModel) -> bool:
    """Whether the names of the file and function are not those of debugging."""
    function = model.function(node)
    return not _ON_PURPOSE.search(f"{file_name(model)} {function.name if function is not None else ''}")


def always_holds(guards: tuple[Guard, ...]) -> bool:
    """Whether conditions hold in each run of the program, or in each on a GPU."""
    others = tuple(guard for guard in guards if "is_available()" not in guard.text)
    return bool(is_free(others))


def caller_that_trains(node: ast.AST, model: SemanticModel) -> str | None:
    """Return the name of a function that always calls the one around a node, and that trains, or is called as
    the entry of a training is; None if there is none.
    """
    function = model.function(node)
    if function is None or not is_of_training(node, model):
        return None
    for caller, site in model.usage.call_sites(node):
        if not always_holds(site.guards) or _ON_PURPOSE.search(caller.qualname):
            continue
        steps = (caller.drivers, *(loop.drivers for loop in caller.loops))
        trains_itself = any(Driver.GRADIENT_STEP in drivers for drivers in steps)
        if trains_itself or (caller.name in _ENTRY and caller.name != "__init__"):
            return caller.shown
    return None


def takes_gradient_steps(module: ast.Module, model: SemanticModel) -> bool:
    """Whether a function of the file takes gradient steps, itself or by other files, or is called `train`."""
    return bool(model.names.attribute_uses("backward")) or any(
        is_called_training(function.name) or Driver.GRADIENT_STEP in model.frequency.drivers(function.body[0])
        for function in descendants(module)
        if isinstance(function, FUNCTIONS) and not roles.evaluates(function.name)
    )


def without_block(item: ast.withitem, model: SemanticModel) -> list[Edit] | None:
    """Remove an item from its `with`, or unwrap the block if there is no other item."""
    block = model.parent(item)
    if not isinstance(block, ast.With) or item.optional_vars is not None:
        return None
    return [model.edit.rewrite(block, without_item, item)]


def without_item(block: cst.With, item: cst.WithItem) -> cst.With | cst.BaseSuite:
    """Return the remaining `with`, or its block."""
    others = [each for each in block.items if each is not item]
    if not others:
        return block.body
    others[-1] = others[-1].with_changes(comma=block.items[-1].comma)
    return block.with_changes(items=others)


def build_fix(edits: list[Edit] | None) -> Fix | None:
    """Remove it."""
    if not edits:
        return None
    reason = "errors and NaN gradients are no longer reported at the operation that causes them"
    return Fix("Remove it", Applicability.UNSAFE, tuple(edits), reason)
