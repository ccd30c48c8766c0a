"""Which files are read around a few checked ones."""

from __future__ import annotations

from pathlib import Path

from rlint.semantics.imports.import_graph import closest
from rlint.semantics.imports.import_scan import glance_at_file


def test_importers_and_imported_files_come_first(tmp_path: Path) -> None:
    """In a large project, callers and dependencies of the checked file are read; the rest is not."""
    files = {
        "buffer.py": "import numpy as np\n",
        "agent.py": "from buffer import Replay\n",
        "train.py": "import os\nfrom agent import (\n    Agent,\n)\n",
        "unrelated.py": "import json\n",
        "base.py": "x = 1\n",
    }
    files["buffer.py"] += "from base import Base\n"
    for name, text in files.items():
        (tmp_path / name).write_text(text + "# filler\n" * 100)
    others = [tmp_path / name for name in files if name != "buffer.py"]
    chosen = closest([tmp_path / "buffer.py"], others, 3_000, glance_at_file)
    assert {path.name for path in chosen} == {"agent.py", "base.py", "train.py"}


def test_the_nearest_files_are_read_where_not_all_fit(tmp_path: Path) -> None:
    """Files that import the checked file come before files that import those."""
    texts = {"a.py": "x = 1\n", "b.py": "import a\n", "c.py": "import b\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text + "# filler\n" * 100)
    others = [tmp_path / "c.py", tmp_path / "b.py", tmp_path / "gone.py"]
    assert closest([tmp_path / "a.py"], others, 1_000, glance_at_file) == [tmp_path / "b.py"]
