"""Fixes without a gain are reported as such, as often as a 95 % interval implies."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from text_fixer import TextFixer

from rlint.prove.proof import NO_CHANGE
from rlint.prove.proving import ProveOptions, prove

_FIXES = 20
_BODIES = (
    "    total = {n}.0\n    for row in rows:\n        total += float(row.sum())\n    return total\n",
    "    found = [row * {n} for row in rows]\n    return np.stack(found)\n",
    "    x = torch.from_numpy(np.asarray(rows))\n    return torch.relu(x @ x.t() + {n}).sum()\n",
    "    names = {{str(index): row.mean() for index, row in enumerate(rows)}}\n    return len(names) + {n}\n",
)


def program() -> tuple[str, dict[str, tuple[str, str]]]:
    """A program of functions, and for each a fix that only rewrites it."""
    functions, calls, fixes = [], [], {}
    for number in range(_FIXES):
        body = _BODIES[number % len(_BODIES)].format(n=number)
        functions.append(f"def f{number}(rows):\n{body}")
        calls.append(f"        f{number}(rows)\n")
        first = body.splitlines(keepends=True)[0]
        head = f"def f{number}(rows):\n"
        fixes[f"F{number}"] = (head + first, head + first + "    pass\n")
    text = (
        "import numpy as np\nimport torch\n\n"
        + "\n\n".join(functions)
        + "\n\ndef main():\n    np.random.seed(0)\n    rows = [np.random.rand(32) for _ in range(100)]\n"
        + "    for _ in range(8):\n"
        + "".join(calls)
        + "\n\nif __name__ == '__main__':\n    main()\n"
    )
    return text, fixes


@pytest.mark.slow
@pytest.mark.skipif(
    "RLINT_MEASURE" not in os.environ, reason="measures; set RLINT_MEASURE on a quiet machine"
)
def test_what_gains_nothing_is_no_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In at least 19 of 20."""
    text, fixes = program()
    (tmp_path / "train.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    fixer = TextFixer(tmp_path / "train.py", fixes)
    options = ProveOptions(budget=2.0)
    found = prove(fixer, [sys.executable, "train.py"], options)  # type: ignore[arg-type]
    verdicts = [one.verdict for one in found.fixes]
    assert verdicts.count(NO_CHANGE) >= _FIXES - 1, [
        (one.code, one.verdict, one.ratio) for one in found.fixes
    ]
