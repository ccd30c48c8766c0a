"""How time and memory of a check grow with the lines that are checked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from commands import Measured

SIZES = (10_000, 20_000, 50_000, 100_000, 200_000, 400_000, 800_000)
"""Numbers of lines; whole projects are added, the smallest first, until the number is reached."""


@dataclass(frozen=True, slots=True)
class Growth:
    """Points of lines, wall seconds and megabytes of all processes together."""

    points: tuple[tuple[int, float, float], ...]

    @classmethod
    def measured(cls, command: list[str], corpus: Path, scratch: Path) -> Growth:
        """Check more and more of the projects in a folder."""
        projects = [(_lines(folder), str(folder)) for folder in corpus.iterdir() if folder.is_dir()]
        projects.sort()
        points: list[tuple[int, float, float]] = []
        chosen: list[str] = []
        total = 0
        for number, (lines, folder) in enumerate(projects):
            chosen.append(folder)
            total += lines
            wanted = next((size for size in SIZES if not points or size > points[-1][0]), SIZES[-1])
            if total >= wanted or number == len(projects) - 1:
                run = Measured("", [*command, *chosen], 1)
                run.run(scratch)
                points.append((total, run.wall[0], run.memory[0]))
        return cls(tuple(points))

    def described(self) -> str:
        """A table and the exponents."""
        rows = [f"{lines:>9} lines {wall:8.2f} s {memory:7.0f} MB" for lines, wall, memory in self.points]
        time, memory = self._exponent(1), self._exponent(2)
        return "\n".join([*rows, f"time grows as lines^{time:.2f}, memory as lines^{memory:.2f}"])

    def plot(self, path: Path) -> None:
        """Draw the points on logarithmic axes, in the format that the file's suffix names. Needs
        matplotlib.
        """
        import matplotlib as mpl

        mpl.use("Agg")
        from matplotlib import pyplot as plt

        figure, axes = plt.subplots()
        lines = [point[0] for point in self.points]
        axes.loglog(lines, [point[1] for point in self.points], "o-", label="wall time, s")
        axes.loglog(lines, [point[2] for point in self.points], "s-", label="memory, MB")
        axes.set_xlabel("lines")
        axes.legend()
        figure.savefig(path)

    def _exponent(self, column: int) -> float:
        """The slope of a straight line through the logarithms."""
        pairs = [(math.log(point[0]), math.log(point[column])) for point in self.points]
        if len(pairs) < 2:
            return math.nan
        x, y = (sum(values) / len(pairs) for values in zip(*pairs, strict=True))
        return sum((a - x) * (b - y) for a, b in pairs) / sum((a - x) ** 2 for a, _ in pairs)


def _lines(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.rglob("*.py") if path.is_file())
