"""Calls the functions of a loaded program with arguments that fit their names."""

from __future__ import annotations

import asyncio
import dis
import inspect
from collections.abc import Callable
from itertools import islice
from random import Random
from types import FrameType, ModuleType, TracebackType
from typing import Any

from properties.arguments import make
from properties.plans import Call, Parameter, Plan
from properties.stand_ins import Shapes
from rlint.harness.compare.texts import settled

_MOST_ITEMS = 20
"""Maximum number of items read from a generator."""


class Caller:
    """Calls the functions of a plan in a loaded program."""

    def __init__(self, plan: Plan, seed: int) -> None:
        self._plan, self._seed = plan, seed
        self._shapes = Shapes(dict(plan.unpacked))
        self.inputs: list[Any] = []
        self.results: list[Any] = []
        self.raised = 0
        self.misused = False

    def run(self, program: ModuleType) -> None:
        """Make all calls; collect their results, exceptions and arguments."""
        for number, call in enumerate(self._plan.calls):
            rng = Random(f"{self._seed} {number}")
            owner: Any = program
            if call.owner:
                owner = self._tried(lambda call=call, rng=rng: self._made(call, program, rng))
                self.inputs.append(owner)
                for other in call.first * 3:
                    self._call(owner, other, rng, program)
            for _ in range(2):  # the second call sees the effects of the first
                self._call(owner, call, rng, program)

    def _call(self, owner: Any, call: Call, rng: Random, program: ModuleType) -> None:
        given = self._tried(lambda: [self._value(one, rng, program) for one in call.parameters])
        if not isinstance(given, list) or not hasattr(owner, call.name):
            return
        self.inputs.append(given)
        result = self._tried(lambda: exhausted(getattr(owner, call.name)(*given)))
        self.results.append(result)

    def _tried(self, do: Callable[[], Any]) -> Any:
        try:
            return do()
        except Exception as error:  # noqa: BLE001 - part of what is compared
            self.raised += 1
            self.misused |= is_misuse(error)
            return described(error)

    def _made(self, call: Call, program: ModuleType, rng: Random) -> Any:
        made = getattr(program, call.owner)(*(self._value(one, rng, program) for one in call.made_with))
        for name in call.lacks:
            if not hasattr(made, name):
                setattr(made, name, self._value(Parameter(name), rng, program))
        for one in list(getattr(made, "__dict__", {}).values()):
            _make_ready(one)
        return made

    def _value(self, parameter: Parameter, rng: Random, program: ModuleType) -> Any:
        made_with = self._plan.classes.get(parameter.annotation)
        if made_with is not None:
            given = [self._value(one, rng, program) for one in made_with]
            return getattr(program, parameter.annotation)(*given)
        return make(parameter.name, parameter.annotation, rng, self._shapes)


def _make_ready(waited_for: Any) -> None:
    """Put an item into a queue and set an event, because no other code does."""
    if hasattr(waited_for, "get_nowait") and hasattr(waited_for, "put_nowait"):
        for item in range(3):
            waited_for.put_nowait(item)
    elif hasattr(waited_for, "is_set"):
        waited_for.set()


def described(error: BaseException) -> tuple[str, str]:
    """The compared parts of an exception: its type, and its message if Python code raised it.

    Messages of libraries are not part of the program's behaviour.
    """
    innermost = _innermost(error)
    raised = innermost is not None and _raises(innermost.tb_frame, innermost.tb_lasti)
    return type(error).__qualname__, settled(str(error)) if raised and _is_own(innermost) else ""


def is_misuse(error: BaseException) -> bool:
    """Whether an exception shows that the program does not support the arguments.

    The end of such a call is not compared: a fix may remove the line that raised, and rule pages state which
    errors are raised later.
    """
    innermost = _innermost(error)
    return isinstance(error, (TypeError, AttributeError, ValueError, RuntimeError)) and not (
        innermost is not None and _is_own(innermost) and _raises(innermost.tb_frame, innermost.tb_lasti)
    )


def _innermost(error: BaseException) -> TracebackType | None:
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback


def _is_own(place: TracebackType | None) -> bool:
    return place is not None and place.tb_frame.f_globals.get("__name__") in (
        "program",
        "properties.arguments",
    )


def _raises(frame: FrameType, instruction: int) -> bool:
    """Whether a `raise` statement of Python code raised the exception."""
    return dis.opname[frame.f_code.co_code[instruction]] in ("RAISE_VARARGS", "RERAISE")


def exhausted(result: Any) -> Any:
    """The result of a call; generators and coroutines are run."""
    if inspect.iscoroutine(result):
        return asyncio.run(result)
    if inspect.isasyncgen(result):
        return asyncio.run(_gathered(result))
    if inspect.isgenerator(result):
        return list(islice(result, _MOST_ITEMS))
    return result


async def _gathered(found: Any) -> list[Any]:
    gathered: list[Any] = []
    async for one in found:
        gathered.append(one)
        if len(gathered) == _MOST_ITEMS:
            break
    return gathered
