"""Cached data must not affect the results."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlint.engine import api
from rlint.findings import Finding
from rlint.lsp.background_work import Task, check
from rlint.lsp.live import Live
from rlint.run_data import Target
from rlint.source.files import Source

CODES = frozenset({"RL101", "RL205", "RL303", "RL501", "RL604"})
MEMORY = [
    """\
import numpy as np


class Memory:
    def __init__(self):
        self.rows = np.empty((0, 4))

    def add(self, row):
        self.rows = np.concatenate([self.rows, row])
""",
    "import numpy as np\nfrom base import Base\n\n\nclass Memory(Base):\n    pass\n",
    "class Memory:\n    def add(self, row):\n        self.rows.append(row)\n",
    "class Memory:\n    def add(self, row:\n",
]
BASE = [
    MEMORY[0].replace("class Memory", "class Base"),
    "",
    "\n\n\n" + MEMORY[0].replace("class Memory", "class Base"),
]
TRAIN = [
    """\
from memory import Memory


def main(env, steps):
    memory = Memory()
    observation, _ = env.reset()
    for _ in range(steps):
        observation, *_ = env.step(env.action_space.sample())
        memory.add(observation[None])
        print(observation)
""",
    "def main(env):\n    return env\n",
    "from memory import Memory\n\nMemory().add(1)\n",
    "from memory import (\n",
]
VARIANTS = {"memory.py": MEMORY, "base.py": BASE, "train.py": TRAIN}
NAMES = st.sampled_from(sorted(VARIANTS))
# Text with a syntax error keeps its previous summary, unlike a file with one.
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("type"), NAMES, st.integers(0, 2)),
        st.tuples(st.just("write"), NAMES, st.integers(0, 3)),
        st.tuples(st.sampled_from(["save", "close", "delete"]), NAMES, st.just(0)),
    ),
    max_size=12,
)


def fresh(target: Target, texts: dict[Path, str], folder: Path) -> tuple[Finding, ...]:
    """The findings of a new engine in a text, with the other texts saved to files."""
    for path, text in texts.items():
        if path.parent.exists():
            (folder / path.name).write_text(text)
    assert target.source is not None
    source = Source(folder / target.name, target.name, target.source.text, "utf-8", bom=False, raw=b"")
    return api.check([Target(source, source.path, target.name, target.codes)], jobs=1).findings


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
def test_what_is_kept_never_shows(steps: list[tuple[str, str, int]]) -> None:
    """Whatever was typed, saved, closed, written by other programs or deleted before, a text is checked as by
    a new engine with all open texts saved.
    """
    with TemporaryDirectory() as place:
        folder = Path(place, "live")
        folder.mkdir()
        (folder / "rlint.toml").touch()
        live = Live()
        texts: dict[Path, str] = {}
        for number, (what, name, variant) in enumerate(
            [("write", "train.py", 0), ("type", "memory.py", 0), *steps]
        ):
            path = folder / name
            text = VARIANTS[name][variant % len(VARIANTS[name])]
            if what == "type":
                texts[path] = text
            elif what == "save" and path in texts:
                path.write_text(texts[path])
            elif what == "write":
                path.write_text(text)
            elif what == "close":
                texts.pop(path, None)
            elif what == "delete":
                path.unlink(missing_ok=True)
            live.forget_plans()  # the editor reports file changes
            for open_path, shown in texts.items():
                task = Task(
                    open_path.name, open_path, shown, CODES, unsafe=False, texts=texts, stopped=lambda: False
                )
                found = check(live, task)
                assert found is not None
                adjacent = Path(place, f"fresh{number}{open_path.stem}")
                adjacent.mkdir()
                for file in folder.iterdir():
                    (adjacent / file.name).write_bytes(file.read_bytes())
                source = Source(open_path, open_path.name, shown, "utf-8", bom=False, raw=b"")
                target = Target(source, open_path, open_path.name, CODES)
                on_disk = {each: typed for each, typed in texts.items() if each.exists()}
                assert [_plain(each) for each in found.findings] == [
                    _plain(each) for each in fresh(target, on_disk, adjacent)
                ]


def _plain(finding: Finding) -> tuple[object, ...]:
    """A finding, without the folder in the names of other files."""
    chain = tuple(link.rpartition("/")[2] for link in finding.chain)
    return finding.code, finding.start, finding.end, finding.message, finding.heat, chain, finding.fix


def described(live: Live, path: Path, text: str) -> bool:
    """Whether a text has information that other files do not have yet."""
    source = Source(path, path.name, text, "utf-8", bom=False, raw=b"")
    found = live.check(Target(source, path, path.name, CODES), {path: text}, stopped=lambda: False)
    assert found is not None
    return found.has_more_information


def test_what_is_typed_before_the_first_check_is_new(tmp_path: Path) -> None:
    """Other files are checked again even if the user types faster than a file is checked; opening an
    unchanged file does not check them.
    """
    path = tmp_path / "train.py"
    path.write_text(TRAIN[1])
    assert not described(Live(), path, TRAIN[1])
    assert described(Live(), path, TRAIN[0])
