"""Definitions that reach a use in loops with `break` and `continue`."""

from __future__ import annotations

import ast
import contextlib
import itertools
import random

import pytest

from project_builder import model_of
from rlint.models.value_type import TypeTag
from rlint.parsing.grammar import Reading
from rlint.parsing.parse import parse
from rlint.semantics.file_analysis import FileAnalysis

LEFT_EARLY = """
import gymnasium as gym
import torch

def run(env, steps, gpu):
    state = torch.from_numpy(env.reset()).float()
    for _ in range(steps):
        {moved}
        use(state)
        state, reward, done, _ = env.step(0)
        state = torch.from_numpy(state).float()
        if done:
            state = torch.from_numpy(env.reset()).float()
            {jump}
"""


@pytest.mark.parametrize("jump", ["break", "continue", "pass"])
@pytest.mark.parametrize("moved", ["pass", "state = state.cuda() if gpu else state"])
def test_a_value_that_is_replaced_before_the_jump_does_not_return(moved: str, jump: str) -> None:
    """The array from the environment never is what the next iteration reads."""
    model = model_of(LEFT_EARLY.format(moved=moved, jump=jump))
    used = next(node for node in ast.walk(model.syntax.module) if ast.unparse(node) == "use(state)")
    assert isinstance(used, ast.Expr)
    assert isinstance(used.value, ast.Call)
    assert model.types.type_of(used.value.args[0]).tag is TypeTag.TENSOR


TESTED_AGAIN = """
def run(step, limit):
    left = [limit]
    while left:
        left = step(left)
    return left
"""


def test_assignments_in_the_body_of_a_while_reach_its_test() -> None:
    """The test runs after each iteration, too."""
    model = model_of(TESTED_AGAIN)
    loop = next(node for node in ast.walk(model.syntax.module) if isinstance(node, ast.While))
    assert isinstance(loop.test, ast.Name)
    values = [binding.value for binding in model.dataflow.definitions(loop.test)]
    assert [ast.unparse(value) for value in values if value is not None] == ["[limit]", "step(left)"]


class _Programs:
    """Random functions in which `x` is bound and read, with jumps out of loops."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - not for cryptography
        self.lines: list[str] = []

    def text(self) -> str:
        """Return the source of one function."""
        self.lines = ["def f(choose, seen, stop):", "    x = 1"]
        self._block(1, 0)
        self.lines.append("    seen(x)")
        return "\n".join(
            f"{line.partition('=')[0]}= {number}" if line.strip().startswith("x =") else line
            for number, line in enumerate(self.lines, 1)
        )

    def _add(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def _block(self, depth: int, loops: int) -> None:
        for _ in range(self.random.randint(1, 4)):
            self._statement(depth, loops)

    def _statement(self, depth: int, loops: int) -> None:
        kinds = ["bind", "bind", "read"]
        if depth < 6:
            kinds += ["if", "if", "else", "for", "while", "with", "suppress", "try", "finally"]
        if loops:
            kinds += ["break", "continue", "break if", "continue if"]
        kind = self.random.choice(kinds)
        match kind:
            case "bind":
                self._add(depth, "x = 0")
            case "read":
                self._add(depth, "seen(x)")
            case "break" | "continue":
                self._add(depth, kind)
            case "break if" | "continue if":
                self._add(depth, "if choose():")
                if self.random.random() < 0.5:
                    self._add(depth + 1, "x = 0")
                self._add(depth + 1, kind.partition(" ")[0])
            case "if" | "else":
                self._add(depth, "if choose():")
                self._block(depth + 1, loops)
                if kind == "else":
                    self._add(depth, "else:")
                    self._block(depth + 1, loops)
            case "for" | "while":
                head = "for x in (0,) * 3:" if self.random.random() < 0.1 else "for _ in range(3):"
                self._add(depth, head.replace("x in", "_ in") if kind == "for" else "while choose():")
                self._block(depth + 1, loops + 1)
                if self.random.random() < 0.2:
                    self._add(depth, "else:")
                    self._block(depth + 1, loops)
            case "with" | "suppress":
                held = "null()" if kind == "with" else "suppress(Stop)"
                self._add(depth, f"with {held}:")
                self._block(depth + 1, loops)
                if kind == "suppress":
                    self._add(depth + 1, "stop()")
                    self._block(depth + 1, loops)
            case "try" | "finally":
                self._add(depth, "try:")
                self._block(depth + 1, loops)
                self._add(depth + 1, "stop()")
                self._block(depth + 1, loops)
                self._add(depth, "except Stop:")
                self._block(depth + 1, loops)
                if kind == "finally":
                    self._add(depth, "finally:")
                    self._add(depth + 1, "seen(x)")
                    if self.random.random() < 0.5:
                        self._add(depth + 1, "x = 0")


class _StopError(Exception):
    pass


class _EndError(Exception):
    pass


def _observed(source: str, seed: int) -> set[tuple[int, int]]:
    """Return which binding of `x` each read sees in a few runs, by their lines."""
    found: set[tuple[int, int]] = set()
    names: dict[str, object] = {
        "Stop": _StopError,
        "null": contextlib.nullcontext,
        "suppress": contextlib.suppress,
    }
    code = source.replace("seen(x)", "seen(x, LINE)")
    numbered = "\n".join(line.replace("LINE", str(number)) for number, line in enumerate(code.split("\n"), 1))
    exec(compile(numbered, "program.py", "exec"), names)
    for run in range(12):
        chance = random.Random(seed * 100 + run)  # noqa: S311 - not for cryptography
        steps = itertools.count()

        def choose(chance: random.Random = chance, steps: itertools.count[int] = steps) -> bool:
            if next(steps) > 200:
                raise _EndError
            return chance.random() < 0.5

        def stop(chance: random.Random = chance) -> None:
            if chance.random() < 0.3:
                raise _StopError

        with contextlib.suppress(_EndError, _StopError):
            names["f"](choose, lambda value, line: found.add((line, value)), stop)  # type: ignore[operator]
    return found


@pytest.mark.parametrize("seed", range(60))
def test_every_binding_that_a_read_sees_is_among_those_that_reach_it(seed: int) -> None:
    """Also after jumps, in handlers and in `finally`."""
    source = _Programs(seed).text()
    reading = parse(source, "program.py")
    assert isinstance(reading, Reading)
    analysis = FileAnalysis(source, reading, "program", "")
    known = {
        (node.lineno, binding.node.lineno)  # type: ignore[attr-defined]
        for node in ast.walk(analysis.syntax.module)
        if isinstance(node, ast.Name) and node.id == "x" and isinstance(node.ctx, ast.Load)
        for binding in analysis.definitions.reaching(node)
    }
    assert _observed(source, seed) <= known, source
