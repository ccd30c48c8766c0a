"""Notebooks that run as files: their cells are recorded in the kernel."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from rlint.prove.record.instrumented_code import HOOKS
from rlint.prove.record.notebook_cells import instrumented_cell
from rlint.source.files import Source, read_source

CELLS = (
    "import numpy as np\n%matplotlib --list\n\ndef gather(rows):\n    found = np.zeros((0, 3))\n"
    "    for row in rows:\n        found = np.concatenate([found, row[None]])\n    return found",
    "np.random.seed(0)\nfor _ in range(5):\n    x = gather([np.random.rand(3) for _ in range(200)])\nx.sum()",
)


def notebook(folder: Path) -> Path:
    """A notebook with these cells."""
    path = folder / "train.ipynb"
    cells = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"c{number}",
            "metadata": {},
            "outputs": [],
            "source": text,
        }
        for number, text in enumerate(CELLS)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    metadata = {"kernelspec": kernel}
    path.write_text(json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}))
    return path


def test_a_cell_is_known_by_its_statements(tmp_path: Path) -> None:
    """IPython has translated the magics by then; other cells are unchanged."""
    source = read_source(notebook(tmp_path), "train.ipynb")
    assert isinstance(source, Source)
    whole = ast.parse(source.text)
    place = next(place for place, one in enumerate(whole.body) if isinstance(one, ast.FunctionDef))
    region = {"id": 3, "steps": [["body", place]], "block": "body", "start": 0, "stop": 3}
    first = ast.parse(
        CELLS[0].replace("%matplotlib --list", "get_ipython().run_line_magic('matplotlib', '')")
    )
    found, regions = instrumented_cell(first, source.text, [region])
    assert (regions, ast.unparse(found).count(HOOKS) > 2) == ([region], True)
    second = ast.parse(CELLS[1])
    assert instrumented_cell(second, source.text, [region]) == (second, [])


@pytest.mark.skipif(
    any(find_spec(name) is None for name in ("nbconvert", "ipykernel")),
    reason="needs nbconvert and ipykernel",
)
def test_an_executed_notebook_is_a_run(tmp_path: Path) -> None:
    """Also if the notebook is saved with its outputs."""
    notebook(tmp_path)
    options = ("--isolated", "--budget", "0.3", "-q", "--output-format", "json", "-o", "out.json")
    run = (sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--inplace", "train.ipynb")
    done = subprocess.run(
        [sys.executable, "-m", "rlint", "prove", *options, "--", *run],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (tmp_path / "out.json").exists(), done.stderr
    [fix] = json.loads((tmp_path / "out.json").read_text())["fixes"]
    assert (fix["where"], fix["calls"]) == ("gather", 5), fix
    assert fix["verdict"] in ("faster", "no change", "slower")
