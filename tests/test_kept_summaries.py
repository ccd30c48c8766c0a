"""Cached summaries do not affect findings: each run gives the result of a first run."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from rlint.engine import api
from rlint.engine.cache.seen_files import StatCache
from rlint.engine.cache.store import SUMMARY, Cache
from rlint.findings import Finding
from rlint.registry.catalogue import catalogue
from rlint.run_data import Target

CODES = frozenset(entry.code for entry in catalogue())
NAMES = ("agent", "memory", "text", "train")

HEADS = ("", "import re\n", "import torch\nimport re\nimport numpy as np\n")
LINKS = ("", "from {other} import work\n", "import {other}\n", "from {other} import Store\n")
BODIES = (
    "def work(text):\n    return re.search(r'(\\d+) points', text)\n",
    "def work(text):\n    for item in text:\n        work(item)\n    return torch.ones(1).cuda()\n",
    "class Store:\n    def __init__(self):\n        self.data = []\n\n    def add(self, item):\n"
    "        self.data = np.concatenate([self.data, [item]])\n        return work(item)\n",
    "def main(env, texts):\n    obs, done = env.reset(), False\n    while not done:\n"
    "        obs, reward, done, info = env.step({other}.work(obs))\n        Store().add(reward)\n",
    "def main(env):\n    store = Store()\n    for _ in range(9_999):\n        store.add(env.step(work(1)))\n",
)
FILE = st.tuples(
    st.sampled_from(HEADS),
    st.lists(st.tuples(st.sampled_from(LINKS), st.sampled_from(NAMES)), max_size=2),
    st.lists(st.tuples(st.sampled_from(BODIES), st.sampled_from(NAMES)), max_size=3),
    st.integers(0, 2),
)
FILES = st.fixed_dictionaries(dict.fromkeys(NAMES, FILE))
EDITS = st.lists(st.tuples(st.sampled_from(NAMES), FILE), min_size=1, max_size=3)


def text_of(file: tuple[str, list[tuple[str, str]], list[tuple[str, str]], int]) -> str:
    """The source of a generated file."""
    head, links, bodies, blank = file
    parts = [part.format(other=other) if "{other}" in part else part for part, other in (*links, *bodies)]
    return head + "\n" * blank + "".join(parts)


def found(folder: Path, cache: Cache | None, names: tuple[str, ...] = NAMES) -> tuple[Finding, ...]:
    """The findings in these files."""
    targets = [Target(None, folder / f"{name}.py", f"{name}.py", CODES) for name in names]
    seen = StatCache(cache) if cache else None
    report = api.check(targets, jobs=1, cache=cache, seen=seen)
    if seen:
        seen.save()
    assert not report.problems
    return report.findings


@settings(max_examples=12)
@given(FILES, EDITS)
def test_a_run_after_edits_finds_what_a_first_run_finds(
    files: dict[str, tuple[str, list[tuple[str, str]], list[tuple[str, str]], int]],
    edits: list[tuple[str, tuple[str, list[tuple[str, str]], list[tuple[str, str]], int]]],
) -> None:
    """After each edit, for all files and for a single one."""
    with tempfile.TemporaryDirectory() as name:
        folder, cache = Path(name), Cache(Path(name) / ".rlint_cache")
        (folder / "setup.py").write_text("")
        for module, file in files.items():
            (folder / f"{module}.py").write_text(text_of(file))
        assert found(folder, cache) == found(folder, None)
        for module, file in edits:
            (folder / f"{module}.py").write_text(text_of(file))
            assert found(folder, cache, (module,)) == found(folder, None, (module,))
            assert found(folder, cache) == found(folder, None)


def test_only_changed_files_are_summarised_again(tmp_path: Path) -> None:
    """One change creates one summary; the same content creates none."""
    cache = Cache(tmp_path / ".rlint_cache")

    def kept() -> set[Path]:
        return set(cache.folder.glob(f"*/*{SUMMARY}"))

    for module in NAMES:
        (tmp_path / f"{module}.py").write_text(f"import {NAMES[0]}\n\n\ndef work():\n    return 1\n")
    first = found(tmp_path, cache)
    before = kept()
    assert len(before) == len(NAMES)
    (tmp_path / "train.py").write_text("import agent\n\n\ndef work():\n    return 2\n")
    found(tmp_path, cache)
    assert len(kept() - before) == 1
    (tmp_path / "train.py").write_text("import agent\n\n\ndef work():\n    return 1\n")
    before = kept()
    assert found(tmp_path, cache) == first
    assert kept() == before


def test_a_file_that_changes_during_a_run_leaves_no_summary(tmp_path: Path) -> None:
    """The content that was read is not that of the start of the run."""
    from rlint.engine.cache.summary_cache import SummaryCache
    from rlint.engine.worker import Worker
    from rlint.run_data import FileTask

    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    kept = SummaryCache(tmp_path / ".rlint_cache")
    job = FileTask(path, "a.py", "a", "", None, None, 6, digest="0" * 64)
    assert Worker().summarise([job], kept)
    assert kept.load(job) is None
