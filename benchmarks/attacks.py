"""Measure how the time of a check grows with the size of hostile programs.

    python benchmarks/attacks.py [--only NAME] [--size N] [--rounds N]

Each program is one pattern repeated: many growing arrays in one loop, a long chain of classes, thousands of
statements in one function. It is checked at a size, twice and four times that, without a cache and with one
process. Prints the processor time of each, less the start-up, and the exponent of its growth: 1 if the time
doubles with the size. Exits with 1 if an exponent is above 1.2 where the time is long enough to tell.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from commands import Measured

CHECK = [
    sys.executable,
    "-P",
    "-m",
    "rlint",
    "check",
    "--isolated",
    "--no-cache",
    "-j",
    "1",
    "--select",
    "ALL",
]
MOST = 1.2
"""The maximum exponent."""
LEAST_SECONDS = 1.0
"""Less time than this at the largest size says nothing about growth."""
HEAD = """\
import re

import numpy as np
import torch
from torch import nn

net = nn.Linear(4, 2).cuda()
optimizer = torch.optim.Adam(net.parameters())
"""
LOOP = """

def train(env, loader):
    obs = env.reset()
    for batch in loader:
        loss = net(batch.cuda()).sum()
        loss.backward()
        optimizer.step()
"""


def growing_arrays(size: int) -> str:
    """Many arrays that grow in one loop."""
    made = "".join(f"    rows{i} = np.zeros((0, 4))\n" for i in range(size))
    grown = "".join(f"        rows{i} = np.concatenate([rows{i}, obs[None]])\n" for i in range(size))
    loop = f"    for _ in range(100000):\n        obs = env.step(0)[0]\n{grown}"
    return f"{HEAD}\ndef train(env):\n    obs = env.reset()\n{made}{loop}"


def chain_of_classes(size: int) -> str:
    """Each class is the base of the next and calls the method of its base."""
    classes = "".join(
        f"\n\nclass Agent{i}({f'Agent{i - 1}' if i else 'nn.Module'}):\n    def act(self, obs):\n"
        f"        return {'super().act(obs)' if i else 'self.net(obs)'}\n"
        for i in range(size)
    )
    play = f"\n\ndef play(env):\n    agent = Agent{size - 1}()\n    obs = env.reset()\n"
    return f"{HEAD}{classes}{play}    while True:\n        obs = env.step(agent.act(obs).item())[0]\n"


def statements(size: int) -> str:
    """One function with many statements, each of which a rule examines."""
    lines = "".join(
        f"        log{i} = loss.item() + float(batch[{i % 7}].cpu().mean())\n" for i in range(size)
    )
    return f"{HEAD}{LOOP}{lines}"


def chain_of_values(size: int) -> str:
    """Each variable is the sum of the three before it."""
    sums = (" + ".join(f"v{max(0, i - back)}" for back in (1, 2, 3)) for i in range(1, size))
    made = enumerate(["loss.detach()", *sums])
    lines = "".join(f"        v{i} = {value}\n" for i, value in made)
    return f"{HEAD}{LOOP}{lines}        print(v{size - 1}.item())\n"


def rebound_variable(size: int) -> str:
    """One variable is assigned again and again, and read in between."""
    lines = "".join(
        f"        x = x * {i} + batch[{i % 5}].item()\n        env.push(x.cpu())\n" for i in range(size)
    )
    return f"{HEAD}{LOOP}        x = loss.detach()\n{lines}"


def chain_of_calls(size: int) -> str:
    """Each function calls the next; the last moves a tensor."""
    functions = "".join(f"\n\ndef step{i}(x):\n    return step{i + 1}(x) + 1\n" for i in range(size))
    return f"{HEAD}{functions}\n\ndef step{size}(x):\n    return x.cuda()\n{LOOP}        step0(batch)\n"


def many_callers(size: int) -> str:
    """One function is called from many."""
    functions = "".join(
        f"\n\ndef train{i}(loader):\n    for batch in loader:\n        move(net(batch)).sum().backward()\n"
        "        optimizer.step()\n"
        for i in range(size)
    )
    return f"{HEAD}\n\ndef move(x):\n    return x.to('cuda')\n{functions}"


def mutual_calls(size: int) -> str:
    """Each function calls several others, some of which call it."""
    functions = "".join(
        f"\n\ndef part{i}(x):\n    return part{(i * 7 + 3) % size}(x) + part{(i * 5 + 1) % size}(x.cpu())\n"
        for i in range(size)
    )
    return f"{HEAD}{functions}{LOOP}        part0(batch)\n"


def nested_branches(size: int) -> str:
    """Branches in sequence that assign the same variables."""
    lines = "".join(
        f"        if obs[{i}] > 0:\n            a = net(b)\n        else:\n            b = a.detach().cpu()\n"
        for i in range(size)
    )
    return f"{HEAD}{LOOP}        a = b = batch\n{lines}"


def attributes(size: int) -> str:
    """A class with many attributes, each set in one method and read in another."""
    made = "".join(f"        self.net{i} = nn.Linear(4, 4).cuda()\n" for i in range(size))
    used = "".join(f"        out{i} = self.net{i}(obs).detach()\n" for i in range(size))
    agent = f"\n\nclass Agent:\n    def __init__(self):\n{made}\n    def act(self, obs):\n{used}"
    return f"{HEAD}{agent}        return out0\n"


def repeated_calls(size: int) -> str:
    """The same call with the same arguments many times in one function."""
    lines = "".join(f"        y{i} = re.search('(a+)b', text).group(1)\n" for i in range(size))
    return f"{HEAD}{LOOP}        text = str(batch)\n{lines}"


def entries(size: int) -> str:
    """A dict with many entries, each written and read."""
    lines = "".join(
        f"        info['k{i}'] = loss.item()\n        total += info['k{i}']\n" for i in range(size)
    )
    return f"{HEAD}{LOOP}        info, total = {{}}, 0.0\n{lines}"


ATTACKS: dict[str, tuple[Callable[[int], str], int]] = {
    "growing arrays": (growing_arrays, 100),
    "chain of classes": (chain_of_classes, 100),
    "statements": (statements, 200),
    "chain of values": (chain_of_values, 100),
    "rebound variable": (rebound_variable, 100),
    "chain of calls": (chain_of_calls, 200),
    "many callers": (many_callers, 200),
    "mutual calls": (mutual_calls, 100),
    "nested branches": (nested_branches, 100),
    "attributes": (attributes, 200),
    "repeated calls": (repeated_calls, 200),
    "entries": (entries, 200),
}
"""The programs, each with its smallest size."""


def seconds(text: str, rounds: int, folder: Path) -> float:
    """Return the minimum processor seconds of a check of one file."""
    (folder / "attack.py").write_text(text)
    run = Measured("", [*CHECK, "attack.py"], 1)
    for _ in range(rounds):
        run.run(folder)
    return min(run.processor)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", choices=ATTACKS)
    parser.add_argument("--size", type=float, default=1.0, help="multiply all sizes by this")
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        start = seconds("import torch\n", arguments.rounds, folder)
        for name, (program, smallest) in ATTACKS.items():
            if arguments.only not in (None, name):
                continue
            sizes = [round(smallest * arguments.size * factor) for factor in (1, 2, 4)]
            times = [seconds(program(size), arguments.rounds, folder) - start for size in sizes]
            exponent = math.log(times[-1] / times[0], 4) if min(times) > 0 else math.nan
            too_much = times[-1] >= LEAST_SECONDS and exponent > MOST
            failed |= too_much
            shown = "  ".join(f"{size}: {time:.2f} s" for size, time in zip(sizes, times, strict=True))
            print(f"{name:18} size^{exponent:.2f}  {shown}{'  TOO MUCH' if too_much else ''}", flush=True)
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
