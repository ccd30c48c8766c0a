"""Several processes that train on the CPU, each with one torch thread per core.

## What it does
Flags code that starts several processes (in a loop, with `mp.spawn`, with a pool, with consecutive
`Process` calls, or with a function that is called for one after the other) if the processes take gradient
steps, or run convolutions or recurrent layers, on the CPU, and the program never limits the number of torch
threads. rlint follows targets of `Process`, `run` methods of its subclasses and functions passed to pools
across all files of the project. A device that only the learner uses does not count: workers whose functions
name no device but the CPU compute there if they receive networks that the launching file never moves
(`Net().share_memory()`, `net.cpu()`).

The rule does not flag:

- programs that mention `set_num_threads`, `OMP_NUM_THREADS` or similar settings anywhere;
- workers that only run networks, if they may do so on a CUDA device: if their files use one or they receive a
  device; workers that learn are reported, on the assumption that there is no GPU, if their files test whether
  there is one, and if the device that they use is a constant of the program, the CPU;
- workers that only step environments;
- workers that only run a few linear layers for one observation, which never use a second thread.

## Why is it slow
Each process starts as many torch threads as there are cores. Four workers on eight cores are 32 threads. At
the end of each small operation, all threads of a process wait for the slowest one, which is waiting for a
core. They spin while they wait, which takes cores from threads that have work. Small operations suffer
most: training a small network in several processes can take many times as long as with one thread each.

## Example
```python
import torch
import torch.multiprocessing as mp
from torch import nn


def train(seed: int, net: nn.Module, optimizer: torch.optim.Optimizer, states: torch.Tensor) -> None:
    torch.manual_seed(seed)
    for _ in range(1_000):
        loss = net(states).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def sweep(net: nn.Module, optimizer: torch.optim.Optimizer, states: torch.Tensor) -> None:
    workers = [mp.Process(target=train, args=(seed, net, optimizer, states)) for seed in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
```
Use instead (by hand):
```python
import torch
import torch.multiprocessing as mp
from torch import nn


def train(seed: int, net: nn.Module, optimizer: torch.optim.Optimizer, states: torch.Tensor) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    for _ in range(1_000):
        loss = net(states).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def sweep(net: nn.Module, optimizer: torch.optim.Optimizer, states: torch.Tensor) -> None:
    workers = [mp.Process(target=train, args=(seed, net, optimizer, states)) for seed in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
```

## Fix safety
There is no fix: the best number of threads depends on the number of workers and on the other load of the
machine. With another number of threads, sums are added in another order, so results differ in the last
digits. rlint cannot see an `OMP_NUM_THREADS` that a shell script or `torchrun` sets.

## References
- https://pytorch.org/docs/stable/notes/multiprocessing.html#avoid-cpu-oversubscription
- https://pytorch.org/docs/stable/notes/cpu_threading_torchscript_inference.html
- https://pytorch.org/docs/stable/generated/torch.set_num_threads.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Device,
    Finding,
    Heat,
    ModuleSummary,
    Rule,
    SemanticModel,
    TrainingStep,
    TypeTag,
    WorkerStart,
    arguments_of,
    descendants,
    dump_as_read,
    regex,
    same_code,
    spawn,
    torch_settings,
)

_DEVICE = regex(r"device|dvc|cuda|gpu")
_TESTS = frozenset({"is_available", "device_count"})


class WorkerOversubscription(Rule):
    """RL407."""

    code = "RL407"
    name = "worker-oversubscription"
    claims = ("time", "cpu")
    heat = Heat.COLD
    visits = (ast.Call,)
    triggers = ("Process", "spawn", "Pool", ".start()")

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a line that starts several workers that compute."""
        assert isinstance(node, ast.Call)
        made = model.threads.workers_made(node)
        busy = [start for start in made if computes(start, model, node)]
        if not busy or model.program.sets(torch_settings.THREADS):
            return
        by_helper = (len(busy) > 1 or len(made) == 1) and model.threads.lines_starting(busy[0]) > 1
        if not (busy[0].many or by_helper) and not any(
            starts_other_worker(other, busy[0]) and computes(other, model)
            for other in model.threads.worker_starts()
        ):
            return
        first = busy[0]
        if any(
            each.target is first.target and is_before(each, first) for each in model.threads.worker_starts()
        ):
            return  # one finding for all lines that start the same workers
        named = dict.fromkeys(f"`{start.target.shown}`" for start in (busy if by_helper else [first]))
        does = "computes" if len(named) == 1 else "compute"
        is_each = first.many or by_helper
        others = "each of the processes" if is_each else "this process, like the others started here,"
        yield self.finding(
            model,
            node,
            f"{' and '.join(named)} {does} with torch in {others} with one thread per core, so that the "
            f"processes compete for the cores",
            advice=f"Call `torch.set_num_threads(1)`, or with the worker's share of the cores, at the start "
            f"of {' and '.join(named)}",
            throughout=TrainingStep.GRADIENT,
            assumes="the workers compute on the CPU"
            if may_use_device(first, model) and not stays_on_host(first, node, model)
            else None,
        )


def computes(start: WorkerStart, model: SemanticModel, call: ast.Call | None = None) -> bool:
    """Whether the workers use the threads of torch, on the CPU as far as is known: they take gradient steps,
    or run layers that use several threads without any choice of a device. `call` starts them.
    """
    if start.sort != spawn.PROCESS:
        return False
    if model.nn.learns(start.target):
        return not may_use_device(start, model) or tests_for_cuda(start, model) or finds_cpu(start, model)
    functions = model.threads.run_with(start.target)
    threaded = any(model.nn.convolves(function, or_iterates=True) for function in functions) or (
        call is not None and any(map(model.nn.has_threaded_layers, networks_given(call, model)))
    )
    return threaded and (
        not may_use_device(start, model) or (call is not None and stays_on_host(start, call, model))
    )


def networks_given(call: ast.Call, model: SemanticModel) -> list[ast.expr]:
    """Return the networks among the arguments that a call starts a worker with."""
    given = [part for argument in arguments_of(call) for part in getattr(argument, "elts", [argument])]
    return [each for each in given if model.types.type_of(each).tag is TypeTag.MODULE]


def stays_on_host(start: WorkerStart, call: ast.Call, model: SemanticModel) -> bool:
    """Whether the workers receive networks that no code of this file moves to a device, and the functions
    that they run name no device but the CPU.
    """
    networks = networks_given(call, model)
    if not networks or not all(is_made_on_host(network, model) for network in networks):
        return False
    target = model.types.definition(start.target)
    if target is not None and names_cpu(target):
        return not names_device(target)
    functions = model.threads.run_with(start.target)
    here = [model.types.definition(function) for function in functions]
    other_files = {
        function.module for function, found in zip(functions, here, strict=True) if found is None
    } - {start.launcher.module}
    return not any(names_device(found) for found in here if found is not None) and not any(
        _DEVICE.search(name) for module in other_files for name in model.index.modules[module].attributes_read
    )


def is_made_on_host(network: ast.expr, model: SemanticModel) -> bool:
    """Whether this file creates a network, and moves it nowhere but to the CPU."""
    wanted = dump_as_read(network)
    values = [
        node.value
        for node in model.syntax.of_type(ast.Assign)
        if any(dump_as_read(target) == wanted for target in node.targets)
    ]
    moved = (
        call.func.value
        for call in model.syntax.written.calls_of(("to", "cuda"))
        if isinstance(call.func, ast.Attribute)
    )
    return (
        bool(values)
        and not any(same_code(each, network) for each in moved)
        and all(is_copied_to_cpu(value) or not names_device(value) for value in values)
    )


def is_copied_to_cpu(value: ast.expr) -> bool:
    """Whether the last move in a chain of calls is one to the CPU: `copy.deepcopy(net).cpu().eval()`."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr in ("to", "cuda", "cpu"):
            return value.func.attr == "cpu" or any(map(names_cpu, value.args))
        value = value.func.value
    return False


def names_cpu(code: ast.AST) -> bool:
    """Whether code contains the name of the CPU: `torch.device("cpu")`."""
    return any(isinstance(node, ast.Constant) and node.value == "cpu" for node in descendants(code))


def names_device(code: ast.AST) -> bool:
    """Whether code names a device other than the CPU, or moves a value to one."""
    return any(map(is_device_name, descendants(code)))


def is_device_name(node: ast.AST) -> bool:
    """Whether a name or text may be a device, other than `torch.device` itself."""
    match node:
        case ast.Call(func=ast.Attribute(attr="to"), args=args):
            return not any(map(names_cpu, args))
        case ast.Call(func=ast.Attribute(attr="cuda")):
            return True
        case ast.Name(id=name) | ast.arg(arg=name) | ast.Constant(value=str(name)):
            return bool(_DEVICE.search(name))
        case ast.Attribute(value=ast.Name(id="torch"), attr="device"):
            return False
        case ast.Attribute(attr=name):
            return bool(_DEVICE.search(name))
    return False


def modules_of(start: WorkerStart, model: SemanticModel) -> list[ModuleSummary]:
    """Return the files of the functions that start a worker, or that it runs."""
    names = {function.module for function in model.threads.run_with(start.target)}
    return [model.index.modules[name] for name in names | {start.launcher.module}]


def may_use_device(start: WorkerStart, model: SemanticModel) -> bool:
    """Whether the files of the workers mention CUDA, or read or receive a device."""
    modules = modules_of(start, model)
    if any(torch_settings.CUDA in module.speedups for module in modules):
        return True
    functions = model.threads.run_with(start.target)
    described = any(_DEVICE.search(parameter) for function in functions for parameter in function.parameters)
    return described or any(_DEVICE.search(name) for module in modules for name in module.attributes_read)


def tests_for_cuda(start: WorkerStart, model: SemanticModel) -> bool:
    """Whether one of these files tests if there is a CUDA device, so that the workers run without one."""
    return any(not _TESTS.isdisjoint(module.attributes_read) for module in modules_of(start, model))


def finds_cpu(start: WorkerStart, model: SemanticModel) -> bool:
    """Whether the workers find a constant device, the CPU (`device = torch.device("cpu")`), and neither their
    files, nor those that these import from, nor an option or an argument of the workers names another.
    """
    if any(map(_DEVICE.search, start.target.parameters)):
        return False
    read = modules_of(start, model)
    names = {name for module in read for name in (*module.imports.values(), *module.star_imports)}
    names |= {name.rpartition(".")[0] for name in names}
    files = [*read, *(module for name, module in model.index.modules.items() if name in names)]
    devices = [
        kind.device for file in files for kind in file.constants.values() if kind.tag is TypeTag.DEVICE
    ]
    if not devices or any(device is not Device.HOST for device in devices):
        return False
    requests = any(torch_settings.CUDA in file.speedups for file in files)
    return not requests and not any(map(has_option_of_device, files))


def has_option_of_device(file: ModuleSummary) -> bool:
    """Whether a file has an option that names a device, besides its constants and parameters."""
    named = {name for name in file.options if _DEVICE.search(name.lower())} - file.constants.keys()
    return bool(named) and not named.issubset(
        parameter for function in file.functions.values() for parameter in function.parameters
    )


def is_before(other: WorkerStart, start: WorkerStart) -> bool:
    """Whether a line of the same file starts the same workers earlier."""
    return other.launcher.module == start.launcher.module and other.line < start.line


def starts_other_worker(other: WorkerStart, start: WorkerStart) -> bool:
    """Whether the same function starts another worker, on another line."""
    return other.launcher is start.launcher and other.line != start.line
