"""Print which lines were executed, by file, as JSON: read by the Python that recorded them."""

from __future__ import annotations

import glob
import json
import os
import sys

import coverage


def main(folder: str) -> None:
    """Read all that processes recorded in `folder`."""
    lines: dict[str, set[int]] = {}
    for name in glob.glob(os.path.join(glob.escape(folder), "lines*")):
        if os.path.getsize(name) == 0:
            continue  # left by a process that was killed before it wrote any
        data = coverage.CoverageData(name)
        try:
            data.read()
        except coverage.CoverageException:
            continue  # left by one that was killed as it began to write
        for file in data.measured_files():
            lines.setdefault(file, set()).update(data.lines(file) or ())
    json.dump({file: sorted(found) for file, found in lines.items()}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
