"""A small training program, with wrong fixes, and with correct ones that gain nothing or much."""

PROGRAM = '''\
import random

import numpy as np
import torch
from torch import nn

SCALE = 2.0
LAST = []


class Writer:
    """Cannot be copied: it holds an open file."""

    def __init__(self, path):
        self.file = open(path, "w")
        self.lines = 0

    def add(self, name, value):
        self.lines += 1
        self.file.write(f"{name} {value}\\n")


class Agent:
    def __init__(self):
        self.net = nn.Linear(4, 3)
        self.scale = 1.0
        self.batches = []

    def dtype(self, rows):
        return torch.as_tensor(np.asarray(rows), dtype=torch.float32)

    def draws(self, count):
        first = random.random()
        second = np.random.rand(count)
        noise = torch.rand(count)
        return first, second, noise

    def gradient(self, x):
        y = self.net(x)
        return y.pow(2).mean() + y.sum()

    def alias(self, rows):
        kept = rows.copy()
        self.batches = [kept]
        return kept

    def scaled(self, x):
        return x * self.scale

    def checked(self, x):
        if x.ndim != 2:
            raise ValueError("two dimensions")
        return x.sum(1)

    def argument(self, rows):
        total = rows - rows.mean()
        return total.sum()

    def stride(self, x):
        return x.t().contiguous()

    def leftover_objects(self, x):
        return float(x.sum()) * SCALE

    def slow(self, rows):
        found = np.zeros(0)
        for row in rows:
            found = np.concatenate([found, np.asarray([float(row.sum())])])
        return found

    def same(self, rows):
        total = 0.0
        for row in rows:
            total += float(row.sum())
        return total


def log(writer, step, value):
    writer.add("loss", value)
    writer.add("step", step)
    return value


def main():
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    agent, writer = Agent(), Writer("log.txt")
    for step in range(12):
        rows = np.random.rand(60, 4).astype(np.float32)
        x = torch.from_numpy(rows)
        agent.dtype(rows)
        agent.draws(3)
        agent.gradient(x)
        agent.alias(rows)
        agent.scale = 1.0 + step
        agent.scaled(x)
        for one in (x, x[0]):
            try:
                agent.checked(one)
            except ValueError:
                pass
        agent.argument(rows)
        agent.stride(x)
        agent.leftover_objects(x)
        agent.slow(rows)
        agent.same(rows)
        log(writer, step, float(x.sum()))


if __name__ == "__main__":
    main()
'''

WRONG = {
    "dtype": (
        "torch.as_tensor(np.asarray(rows), dtype=torch.float32)",
        "torch.as_tensor(np.asarray(rows), dtype=torch.float64)",
    ),
    "order of draws": (
        "        second = np.random.rand(count)\n        noise = torch.rand(count)\n",
        "        noise = torch.rand(count)\n        second = np.random.rand(count + 1)[:count]\n",
    ),
    "gradient": ("return y.pow(2).mean() + y.sum()", "return y.pow(2).mean() + y.detach().sum()"),
    "alias": ("kept = rows.copy()", "kept = rows"),
    "stale cache": (
        "        return x * self.scale\n",
        "        if not hasattr(self, '_scale'):\n            self._scale = self.scale\n"
        "        return x * self._scale\n",
    ),
    "exception": ('raise ValueError("two dimensions")', 'raise TypeError("two dimensions")'),
    "argument": ("total = rows - rows.mean()", "rows -= rows.mean()\n        total = rows"),
    "stride": ("return x.t().contiguous()", "return x.t()"),
    "global left behind": (
        "        return float(x.sum()) * SCALE\n",
        "        LAST.append(float(x.sum()))\n        return LAST[-1] * SCALE\n",
    ),
    "order of calls": (
        '    writer.add("loss", value)\n    writer.add("step", step)\n',
        '    writer.add("step", step)\n    writer.add("loss", value)\n',
    ),
}
"""The error of each, and the texts before and after."""

RIGHT = {
    "faster": (
        "        found = np.zeros(0)\n        for row in rows:\n"
        "            found = np.concatenate([found, np.asarray([float(row.sum())])])\n        return found\n",
        "        return np.asarray([float(row.sum()) for row in rows] or [], dtype=np.float64)\n",
    ),
    "no gain": (
        "        total = 0.0\n        for row in rows:\n",
        "        total = 0.0\n        for row in iter(rows):\n",
    ),
}
