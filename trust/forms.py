"""Programs of any size: one form repeated, nested or chained."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from textwrap import indent

from inputs import FIXTURES

Files = Mapping[str, str]
HEAD = "import numpy as np\nimport torch\nimport torch.nn as nn\n\n\n"
LOOP = """
def train(env, net, optimizer, buffer, steps):
    state = env.reset()
    for step in range(steps):
        action = net(torch.as_tensor(state))
        state, reward, done, info = env.step(action)
        optimizer.zero_grad()
        loss = net(buffer.sample(32)).mean()
        loss.backward()
        optimizer.step()
"""
"""A loop whose body is hot; lines inserted below it, indented by eight, belong to it."""


def hot(body: str) -> str:
    """A program with some statements in a hot loop."""
    return HEAD + LOOP + indent(body, "        ")


def many(line: str) -> Callable[[int], str]:
    """A repeated statement in a hot loop; `@` is its number."""
    return lambda n: hot("".join(line.replace("@", str(i)) + "\n" for i in range(n)))


def once(line: str, first: str = "") -> Callable[[int], str]:
    """A repeated statement, outside of loops, in a function that a hot loop calls."""

    def made(n: int) -> str:
        lines = first + "".join(line.replace("@", str(i)) + "\n" for i in range(n))
        return (
            HEAD
            + "def f(x, y):\n"
            + indent(lines, "    ")
            + "    return y\n"
            + LOOP
            + "        f(state, 0)\n"
        )

    return made


def grown(n: int) -> str:
    """Arrays that all grow in one loop."""
    starts = "".join(f"    y{i} = np.empty(0)\n" for i in range(n))
    grows = "".join(f"        y{i} = np.append(y{i}, x)\n" for i in range(n))
    loop = "    for _ in range(steps):\n        x = env.step(0)\n"
    return f"{HEAD}def collect(env, steps):\n{starts}{loop}{grows}    return y0\n"


def buffers(n: int) -> str:
    """A class with many buffers, each of which is filled by a separate method."""
    starts = "".join(f"        self.b{i}, self.a{i} = [], np.empty(0)\n" for i in range(n))
    fills = "".join(
        f"\n    def add{i}(self, x):\n        self.b{i}.append(x)\n"
        f"        self.a{i} = np.append(self.a{i}, x)\n        return torch.tensor(self.b{i}).cuda()\n"
        for i in range(n)
    )
    return f"{HEAD}class Buffer:\n    def __init__(self):\n{starts}{fills}{LOOP}        buffer.add0(state)\n"


def constructors(n: int) -> str:
    """Classes that each inherit from the previous one, with one layer each, and use the layers of all."""
    return HEAD + "".join(
        f"class C{i}({'nn.Module' if not i else f'C{i - 1}'}):\n    def __init__(self):\n"
        f"        super().__init__()\n        self.a{i} = nn.Linear(3, 3)\n\n    def forward(self, x):\n"
        f"        return self.a{max(i - 1, 0)}(x) + self.a0(x) + super().forward(x)\n\n"
        for i in range(n)
    )


def top(line: str) -> Callable[[int], str]:
    """The same at module level, next to a hot loop."""
    return lambda n: HEAD + "".join(line.replace("@", str(i)) + "\n" for i in range(n)) + LOOP


def chain(start: str, link: str, end: str = "") -> Callable[[int], str]:
    """One expression of many links in a hot loop."""
    return lambda n: hot(f"y = {start}" + "".join(link.replace("@", str(i)) for i in range(n)) + end + "\n")


def nested(head: str, deepest: int = 90) -> Callable[[int], str]:
    """A compound statement nested in itself as deep as Python parses it, and a sequence of these."""

    def made(n: int) -> str:
        towers = []
        for tower in range(0, n, deepest):
            depth = min(deepest, n - tower)
            lines = [" " * i + head.replace("@", str(i)) + "\n" for i in range(depth)]
            towers.append("".join(lines) + " " * depth + "loss = loss + x.item()\n")
        return hot("".join(towers))

    return made


def blocks(block: str) -> Callable[[int], str]:
    """A repeated definition; `@` is its number, `<` the previous number, `>` the next one."""

    def made(n: int) -> str:
        numbers = ((str(i), str((i - 1) % n), str((i + 1) % n)) for i in range(n))
        return HEAD + "\n\n".join(
            block.replace("@", i).replace("<", before).replace(">", after) for i, before, after in numbers
        )

    return made


def calls_of_all(n: int) -> str:
    """Functions that all call each other."""
    side = max(int(n**0.5), 1)
    calls = "".join(f"    f{i}(x)\n" for i in range(side))
    return HEAD + "".join(f"def f{i}(x):\n{calls}    return x.item()\n\n" for i in range(side)) + LOOP


def in_a_circle(n: int) -> Files:
    """Modules that import each other in a cycle, and call the imported functions."""
    files = {
        f"m{i}.py": f"import torch\nfrom m{(i + 1) % n} import f{(i + 1) % n}\n\ndef f{i}(x):\n"
        f"    for step in range(9):\n        x = f{(i + 1) % n}(x).item()\n    return x\n"
        for i in range(n)
    }
    return {**files, "program.py": "from m0 import f0\n" + HEAD + LOOP + "        f0(state)\n"}


def stars_in_a_circle(n: int) -> Files:
    """Modules that import all names of each other in a cycle."""
    return {f"m{i}.py": f"import torch\nfrom m{(i + 1) % n} import *\n\nv{i} = g(1)\n" for i in range(n)}


def classes_in_a_line(n: int) -> str:
    """Classes that each inherit from the one before."""
    return HEAD + "".join(
        f"class C{i}({'nn.Module' if not i else f'C{i - 1}'}):\n    def f{i}(self, x):\n"
        f"        for t in range(9):\n            x = self.f{max(i - 1, 0)}(x).item()\n"
        "        return super().f(x)\n\n"
        for i in range(n)
    )


def classes_in_pairs(n: int) -> str:
    """Pairs of classes that each inherit from both classes of the previous pair."""
    body = "):\n    def f(self, x):\n        self.a = super().f(x).item()\n\n"
    pairs = (("nn.Module",), *((f"A{i}", f"B{i}") for i in range(max(n // 2, 1))))
    return HEAD + "".join(
        f"class {name}{i}({', '.join(bases)}{body}" for i, bases in enumerate(pairs) for name in "AB"
    )


def methods(n: int) -> str:
    """A class of many methods that call each other in a cycle."""
    body = "".join(
        f"    def f{i}(self, x):\n        self.a{i} = self.a{(i + 1) % n} + x.item()\n"
        f"        return self.f{(i + 1) % n}(x)\n\n"
        for i in range(n)
    )
    return HEAD + "class Agent(nn.Module):\n" + body + LOOP


def matched(n: int) -> str:
    """A `match` of many cases."""
    return hot(
        "match state:\n" + "".join(f"    case [{i}, *x] if x:\n        y = x.item()\n" for i in range(n))
    )


def attributes_passed(n: int) -> str:
    """Return a class with n attributes of unknown types, each of which takes others as arguments."""
    stores = "".join(f"        self.part{i} = build({i})\n" for i in range(n))
    calls = "".join(
        f"        self.part{i}.take(self.part{(i + step) % n})\n" for i in range(n) for step in (1, 2, 3)
    )
    return (
        f"{HEAD}class Agent:\n    def __init__(self, build):\n{stores}\n    def sync(self):\n{calls}\n"
        "    def act(self, obs):\n        return self.part0(obs).argmax().item()\n"
    )


def elifs(n: int) -> str:
    """An `if` of many branches."""
    return hot("if x == 0:\n    y = 0\n" + "".join(f"elif x == {i}:\n    y = {i}\n" for i in range(n)))


def excepts(n: int) -> str:
    """A `try` of many handlers."""
    return hot("try:\n    y = 0\n" + "".join(f"except E{i} as e:\n    y = {i}\n" for i in range(n)))


def comprehension(n: int) -> str:
    """A comprehension of many loops."""
    return hot("y = [x" + "".join(f" for x{i} in x if x{i}" for i in range(n)) + "]\n")


def depth(opening: str, closing: str, deepest: int = 80) -> Callable[[int], str]:
    """Nested brackets, as deep as Python parses them, and a sequence of such expressions."""

    def made(n: int) -> str:
        depths = [min(deepest, n - i) for i in range(0, n, deepest)]
        return hot("".join(f"y = {opening * depth}x{closing * depth}\n" for depth in depths))

    return made


def of_fixtures() -> Iterator[tuple[str, Callable[[int], str]]]:
    """The program of each fixture many times in one file, and the statements of its functions many times in
    each of them.
    """
    for path in sorted(FIXTURES.glob("*/before.py")):
        text = path.read_text(encoding="utf-8")
        yield f"{path.parent.name} in a file", lambda n, text=text: text * max(n // 20, 1)  # type: ignore[misc]
        yield f"{path.parent.name} in a function", lambda n, text=text: doubled(text, max(n // 20, 1))  # type: ignore[misc]


def doubled(text: str, times: int) -> str:
    """Each loop of a program, and each body of a function that has none, several times in a row."""
    lines = text.split("\n")
    found: list[str] = []
    block: list[str] = []
    for line in [*lines, ""]:
        inside = line.startswith("        ") or (block and not line.strip())
        if inside:
            block.append(line)
            continue
        while block and not block[-1].strip():
            block.pop()
        found += block * (1 if any(re.match(r"\s+(return|yield)\b", each) for each in block[-1:]) else times)
        block = []
        found.append(line)
    return "\n".join(found)
