"""Several processes that train on the CPU, each with one torch thread per core.

## What it does
Flags code that starts several processes (in a loop, with `mp.spawn`, with a pool, or with consecutive
`Process` calls) if the processes take gradient steps or run convolutions on the CPU, and the program never
limits the number of torch threads. rlint follows targets of `Process`, `run` methods of its subclasses and
functions passed to pools across all files of the project.

The rule does not flag:

- programs that mention `set_num_threads`, `OMP_NUM_THREADS` or similar settings anywhere;
- workers that run convolutions only, if their files use a CUDA device or they receive a device; workers that
  learn are reported, on the assumption that there is no GPU, if their files test whether there is one;
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
    Finding,
    Heat,
    ModuleSummary,
    Rule,
    SemanticModel,
    TrainingStep,
    WorkerStart,
    regex,
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
        busy = [start for start in model.threads.workers_made(node) if computes(start, model)]
        if not busy or model.program.sets(torch_settings.THREADS):
            return
        if not busy[0].many and not any(
            starts_other_worker(other, busy[0]) and computes(other, model)
            for other in model.threads.worker_starts()
        ):
            return
        first = busy[0]
        if any(
            each.target is first.target and is_before(each, first) for each in model.threads.worker_starts()
        ):
            return  # one finding for all lines that start the same workers
        name = first.target.shown
        others = "each of the processes" if busy[0].many else "this process, like the others started here,"
        yield self.finding(
            model,
            node,
            f"`{name}` computes with torch in {others} with one thread per core, so that the processes "
            f"compete for the cores",
            advice=f"Call `torch.set_num_threads(1)`, or with the worker's share of the cores, at the start "
            f"of `{name}`",
            throughout=TrainingStep.GRADIENT,
            assumes="the workers compute on the CPU" if may_use_device(first, model) else None,
        )


def computes(start: WorkerStart, model: SemanticModel) -> bool:
    """Whether the workers use the threads of torch, on the CPU as far as is known: they take gradient steps,
    or run convolutions without any choice of a device.
    """
    if start.sort != spawn.PROCESS:
        return False
    if model.nn.learns(start.target):
        return not may_use_device(start, model) or tests_for_cuda(start, model)
    convolve = any(map(model.nn.convolves, model.threads.run_with(start.target)))
    return convolve and not may_use_device(start, model)


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


def is_before(other: WorkerStart, start: WorkerStart) -> bool:
    """Whether a line of the same file starts the same workers earlier."""
    return other.launcher.module == start.launcher.module and other.line < start.line


def starts_other_worker(other: WorkerStart, start: WorkerStart) -> bool:
    """Whether the same function starts another worker, on another line."""
    return other.launcher is start.launcher and other.line != start.line
