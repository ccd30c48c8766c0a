"""Run a program before and after its fixes in this process, and report differences."""

from __future__ import annotations

import builtins
import contextlib
import copy
import gc
import inspect
import math
import random
import re
import sys
import time
import types
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from properties.calls import Caller, described, is_misuse
from properties.jobs import Job, Outcome
from properties.plans import Plan
from rlint.harness.compare.allowed_differences import AllowedDifferences
from rlint.harness.compare.differences import FoundDifference
from rlint.harness.compare.listening import Listener
from rlint.harness.compare.observation import Observation, differences, observe
from rlint.harness.compare.process_settings import ProcessSettings
from rlint.harness.compare.uninitialised import filled
from rlint.harness.program import Arm, Subject
from rlint.harness.workload import Case, Workload

FOLDER = "/program"
PATH = f"{FOLDER}/program.py"
_SUBJECT = Subject(PATH, "program", (FOLDER,), f"{FOLDER}/calls.py", {"only": {}})
_PATCHABLE: tuple[Any, ...] = (
    builtins, copy, math, random, re, time, np, np.random, torch, nn, nn.functional, nn.Module, torch.Tensor,
    torch.optim, torch.distributions,
)  # fmt: skip
"""Objects of which programs replace parts."""


def _is_promised(found: FoundDifference) -> bool:
    """Whether the page of a rule states that its safe fixes may cause this difference."""
    # RL103 removes a warning of torch.
    return found.kind == "warned" and "Creating a tensor from a list of numpy" in found.before + found.after


class _Program(Workload):
    """Runs a text as a module, then calls its functions."""

    sizes = (1,)

    def __init__(self, text: str, job: Job) -> None:
        self._text, self._job = text, job
        self.caller: Caller | None = None
        self._trace: Any = None
        self.reached: set[int] = set()
        self.traced = False

    def prepare(self, program: types.ModuleType, case: Case) -> Caller:
        self.caller = Caller(self._job.plan, case.seed)
        return self.caller

    def run(self, program: types.ModuleType, inputs: Caller) -> None:
        sys.modules[program.__name__] = program
        code = compile(self._text, PATH, "exec", dont_inherit=True)
        time.sleep = _short_pause
        with self._tracing():
            try:
                exec(code, program.__dict__)
            except Exception as error:  # noqa: BLE001 - part of what is compared
                inputs.results.append(described(error))
                inputs.raised += 1
                inputs.misused |= is_misuse(error)
                return
            inputs.run(program)

    def outcome(self, program: types.ModuleType, inputs: Caller, result: object) -> Mapping[str, Any]:
        visible = {
            name: value
            for name, value in vars(program).items()
            if not (name.startswith("__") and name.endswith("__")) and name not in self._job.only_after
        }
        classes = {
            name: {
                key: one
                for key, one in vars(value).items()
                if not key.startswith("__") and not inspect.isroutine(one)
            }
            for name, value in visible.items()
            if isinstance(value, type) and value.__module__ == program.__name__
        }
        functions = {
            name: (value.__dict__, value.__defaults__, value.__kwdefaults__)
            for name, value in visible.items()
            if inspect.isfunction(value)
        }
        return {
            "results": inputs.results,
            "inputs": inputs.inputs,
            "globals": visible,
            "classes": classes,
            "functions": functions,
        }

    @contextlib.contextmanager
    def _tracing(self) -> Iterator[None]:
        """Note which lines run."""
        if not self.traced:
            yield
            return
        reached = self.reached

        def trace(frame: types.FrameType, event: str, _: object) -> Any:
            if frame.f_code.co_filename != PATH:
                return None
            if event == "line":
                reached.add(frame.f_lineno)
            return trace

        sys.settrace(trace)
        try:
            yield
        finally:
            sys.settrace(None)


_pause = time.sleep


def _short_pause(seconds: float) -> None:
    _pause(min(seconds, 0.001))


class _Patches:
    """The namespaces that programs patch, as they are now, to go back to."""

    def __init__(self) -> None:
        self._held = [(owner, dict(vars(owner))) for owner in _PATCHABLE]

    def restore(self) -> None:
        for owner, held in self._held:
            now = vars(owner)
            added = [name for name, value in now.items() if name not in held and _is_own(value)]
            for name in added:  # modules that packages load late are kept
                delattr(owner, name)
            for name, value in held.items():
                if now.get(name, self) is not value:
                    setattr(owner, name, value)


def _is_own(value: object) -> bool:
    return getattr(value, "__module__", None) == "program"


class Bench:
    """Runs programs one after the other, without effects on one another."""

    def __init__(self) -> None:
        self._listener, self._initial_settings, self._patches = Listener(), ProcessSettings(), _Patches()

    def compare(self, job: Job) -> Outcome:
        """Run the program twice as it is and once after its fixes, with each seed."""
        outcome = Outcome()
        for seed in job.seeds:
            first, workload = self._observe(job.before, job, seed, traced=False)
            second, traced = self._observe(job.before, job, seed, traced=True)
            varying, _ = differences(first, second, AllowedDifferences())
            if varying:
                outcome.deterministic = False
                return outcome
            outcome.raised += workload.caller is not None and workload.caller.raised > 0
            outcome.reached |= bool(traced.reached & set(job.lines))
            after, _ = self._observe(job.after, job, seed, traced=False)
            found = [
                one for one in differences(first, after, AllowedDifferences())[0] if not _is_promised(one)
            ]
            if found and workload.caller is not None and workload.caller.misused:
                outcome.misused += 1
                continue
            outcome.differences += [
                f"seed {seed}: {one.kind} of {one.path}: {one.before} → {one.after}" for one in found
            ]
            if found:
                break
        return outcome

    def _observe(self, text: str, job: Job, seed: int, *, traced: bool) -> tuple[Observation, _Program]:
        program = types.ModuleType("program")
        program.__file__ = PATH
        workload = _Program(text, job)
        workload.traced = traced
        arm = Arm(_SUBJECT, "only", program, {"program": workload}, {})
        self._initial_settings.restore()
        try:
            with filled():
                found = observe(arm, "program", Case(seed, 1), self._listener)
        finally:
            self._initial_settings.restore()
            self._patches.restore()
            sys.modules.pop("program", None)
        return found, workload


_LOADED_LATE = {
    "optim": "import torch; torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1).step()",
    "multiprocessing": "import torch.multiprocessing, multiprocessing.queues, multiprocessing.synchronize",
    "concurrent": "import concurrent.futures.thread, concurrent.futures.process",
    "distributions": "import torch.distributions",
    "asyncio": "import asyncio; asyncio.run(asyncio.sleep(0))",
}
"""Modules that packages load on first use, by a word in programs that use them. That changes settings."""


class Nursery:
    """Creates benches in the process that is forked, with all modules loaded that programs need."""

    def __init__(self) -> None:
        torch.set_num_threads(1)
        np.ma.MaskedArray  # noqa: B018 - loads it
        self._loaded: set[str] = set()
        self._bench = Bench()
        self._bench.compare(Job("", "", Plan((), {}, {}), (0,)))

    def bench_for(self, job: Job) -> Bench:
        """A bench for one program."""
        new = [word for word in _LOADED_LATE if word in job.before and word not in self._loaded]
        if new:
            for word in new:
                exec(_LOADED_LATE[word], {})
            self._loaded.update(new)
            self._bench = Bench()
            gc.collect()
            gc.freeze()
        return self._bench
