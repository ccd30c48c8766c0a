"""How cells are read as one program, and which fixes are possible in a notebook."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from notebook_files import Cell, File, notebook
from rlint.engine import api
from rlint.engine.cell_places import placed
from rlint.findings import Applicability, Edit, Finding, Fix, Position
from rlint.run_data import FileResult, Target
from rlint.source.files import Source, read_source, source_from_text

ALL = frozenset({"RL112", "RL502", "RL601", "RL604"})


def source_of(*cells: Cell | str) -> Source:
    """Read a notebook from memory."""
    source = source_from_text(notebook(*cells).content, "book.ipynb", Path("book.ipynb").absolute())
    assert isinstance(source, Source)
    return source


def seen(source: Source) -> list[str]:
    """The lines of the program that is read: `@` marks placeholders, `--` separates cells."""
    ast.parse(source.text)
    assert source.notebook is not None
    text = re.sub(rf"{source.notebook.masks.marker}cell\d+", "--", source.text)
    text = re.sub(rf"{source.notebook.masks.marker}\d+", "@", text)
    return text.split("\n")[1:-1]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("%matplotlib inline\nx = 1", ["@", "x = 1"]),
        ("!pip install 'gym' it's \\\n    -q\nx = 1", ["@", "@", "x = 1"]),
        ("!echo {x} $y {{z}} ${w}", ["@(x, y, w)"]),
        ("if colab:\n    !nvidia-smi\n    %cd x", ["if colab:", "    @", "    @"]),
        ("files = !ls {root}", ["files = @(root)"]),
        ("took = %timeit -o step(env)", ["took = @(o, step, env)"]),
        ("%time x = train(env)", ["@;x = train(env)"]),
        ("    %time x = 1", ["    %time x = 1"]),  # not a program: see the next test
        ("%timeit agent.act(obs)", ["@(agent, obs)"]),
        ("%run train.py --fast", ["if @: from train import *"]),
        ("%run other.ipynb", ["if True: from @ import *"]),
        ("%pylab", ["if @: from pylab import *"]),
        ("env?\n??env.step\n?env\nenv.step??", ["@", "@", "@", "@"]),
        ("/print x\n,print a b\n;print a b", ["@(print, x)", "@(print, a, b)", "@(print, a, b)"]),
        ("pip install gym", ["@"]),
        ("env = # TODO", ["env = @(env, TODO)"]),
        ("%%time\nx = 1", ["@", "x = 1"]),
        ("%%capture out\n%%time\nx = 1", ["out = @", "@", "x = 1"]),
        ("#@title Install\n%%capture\n!pip install x\nx = 1", ["#@title Install", "@", "@", "x = 1"]),
        ("%%bash -s {x}\necho hi\n\nimport torch", ["@(x)", "@", "", "@"]),
        ("%%bash --out text\nls", ["text = @", "@"]),
        ("%%timeit\nstep(env)", ["@", "@(step, env)"]),
        ("%sql\nselect 1", ["@", "@"]),
        ('x = """\n%time\n!ls\nwhat?\n"""', ['x = """', "%time", "!ls", "what?", '"""']),
        ("x = (1\n%time)", ["x = (1", "%time)"]),
        ("x = a \\\n  % b", ["x = a \\", "  % b"]),
        ("x = 'what?'  # really?", ["x = 'what?'  # really?"]),
        (
            "await env.step()\nasync for x in y:\n    pass",
            ["await env.step()", "async for x in y:", "    pass"],
        ),
        (
            "import torch\nx = # TODO\n\ny = f(x",
            ["if @: import torch", "x = @(x, TODO)", "", "y = @(y, f, x)"],
        ),
        ("def act(obs):\n\nfor i in x", ["act = @(act, obs)", "", "i = @(i, x)"]),
        ("x = 1\r\n%time y = 2\r\n", ["x = 1", "@;y = 2", ""]),
        ("# %% a script's cell\nx = 1", ["# %% a script's cell", "x = 1"]),
    ],
)
def test_what_is_read_of_a_cell(cell: str, expected: list[str]) -> None:
    """Python code keeps its position; of everything else, only the names that it reads and sets count."""
    if cell.startswith("    "):
        expected = ["@(time, x)"]
    assert seen(source_of(cell)) == expected


def test_a_cell_further_to_the_right_is_left_alone() -> None:
    """IPython accepts it, so it is no error; the names that it sets count as set."""
    source = source_of("    import torch\n    x = torch.zeros(3)", "y = x")
    assert seen(source) == ["if @: import torch", "x = @(x, torch)", "--", "y = x"]
    assert source.notebook is not None
    assert source.notebook.problems == []


def test_names_go_over_cells() -> None:
    """Only non-empty code cells are in the program."""
    cells = ("import torch", Cell("# text", kind="markdown"), "", "\n", Cell("x", kind="raw"), "x = torch")
    assert seen(source_of(*cells)) == ["import torch", "--", "x = torch"]


def fix(folder: Path, file: File, *, unsafe: bool = True) -> list[str]:
    """Fix a notebook; return the sources of its cells."""
    path = folder / "book.ipynb"
    path.write_bytes(file.content)
    report = api.fix([Target(None, path, path.name, ALL)], unsafe=unsafe, jobs=1)
    assert report.report.problems == ()
    (change,) = report.changed
    return ["".join(source) for source in file.sources_in(change.source.encode(change.text))]


QUEUE = """\
class History:
    def __init__(self, capacity):
        self.capacity = capacity
        self._rewards = []

    def store_experience(self, reward):
        self._rewards.append(reward)
        if len(self._rewards) > self.capacity:
            self._rewards.pop(0)"""
REGEX = """\
def answer_of(text):
    return re.sub(r"<answer>(.*?)</answer>", "", text)

def reward(completions):
    return [len(answer_of(text)) for text in completions]"""


def test_an_import_is_placed_where_imports_are(tmp_path: Path) -> None:
    """Code is inserted below `%%time`, which must stay the first line, and never into a cell of another
    language.
    """
    file = notebook("!ls", "%%bash\nimport os", "%%time\n%pip install x\nimport torch", QUEUE)
    sources = fix(tmp_path, file)
    assert sources[:2] == ["!ls", "%%bash\nimport os"]
    assert sources[2] == "%%time\n%pip install x\nimport collections\nimport torch"
    assert "collections.deque()" in sources[3]


def test_without_imports_no_fix_needs_one(tmp_path: Path) -> None:
    """A cell of another language imports nothing."""
    path = tmp_path / "book.ipynb"
    path.write_bytes(notebook("%%bash\nimport torch", "%run x.ipynb", QUEUE).content)
    report = api.check([Target(None, path, path.name, ALL)], jobs=1)
    assert [(f.code, f.fix) for f in report.findings] == [("RL112", None)]


def test_a_constant_is_placed_below_the_imports_of_another_cell(tmp_path: Path) -> None:
    """A constant that a fix defines for a function is in a cell that runs earlier."""
    sources = fix(tmp_path, notebook("import re\n", "%matplotlib inline", REGEX))
    assert sources[0].startswith("import re\n\n")
    name = sources[0].split()[2]
    assert f"{name}.sub(" in sources[2]
    assert sources[1] == "%matplotlib inline"


def test_a_demonstration_is_no_training(tmp_path: Path) -> None:
    """In notebooks, a cell may print and draw each step of another cell that trains."""
    train = "model = PPO('MlpPolicy', env)\nfor batch in loader:\n    loss.backward()\n    optimizer.step()"
    show = "for step in range(20):\n    obs, r, done, _ = env.step(1)\n    print(r)\n    env.render()"
    path = tmp_path / "book.ipynb"
    head = "import gym\nenv = gym.make('CartPole-v1')"
    path.write_bytes(notebook(head, train, show).content)
    assert api.check([Target(None, path, path.name, ALL)], jobs=1).findings == ()
    trains = show.replace("20", "20_000") + "\n    loss.backward()\n    optimizer.step()"
    path.write_bytes(notebook(head, trains).content)
    found = api.check([Target(None, path, path.name, ALL)], jobs=1).findings
    assert {finding.code for finding in found} == {"RL601", "RL604"}


CELLS = ("%%time\nx = f(1)", "a = 1\n!ls {a}\nb = 2\nb + a", "%%bash\necho", "y = 3\ny;")


def possible(source: Source, *changes: tuple[str, str]) -> Fix | None:
    """The safety of a safe fix with these edits in a notebook."""
    edits = []
    for old, new in changes:
        start = source.text.index(old)
        edits.append(Edit(start, start + len(old), new))
    place = Position(2, 1)
    made = Fix("Do it", Applicability.SAFE, tuple(edits))
    finding = Finding("RL1", "a", "b", "book.ipynb", place, place, 2, 2, fix=made)
    (found,) = placed(FileResult("book.ipynb", (finding,)), source, source.text).findings
    return found.fix


def test_what_a_fix_may_change() -> None:
    """Edits may change Python within a cell, but not other text or cell boundaries."""
    source = source_of(*CELLS)
    assert source.notebook is not None
    mark = source.notebook.masks.marker
    for fine in (("f(1)", "g(2)"), ("a = 1\n", ""), ("a = 1\n", "a = 1\nc = 3\n"), ("b = 2\n", "")):
        made = possible(source, fine)
        assert made is not None
        assert made.safety is Applicability.SAFE
    assert possible(source, ("f(1)", "g(2)"), ("b = 2", "b = 4")) is not None
    first = source.text.split("\n")[1]  # the placeholder of %%time
    shell = next(line for line in source.text.split("\n") if line.startswith(mark) and line.endswith("(a)"))
    bash = source.text.split("\n")[source.text.split("\n").index(f"{mark}cell3") + 1]
    for wrong in (
        (first, ""),
        (first, f"import os\n{first}"),
        (f"{first}\nx", "x"),
        (shell, "pass"),
        (f"a = 1\n{shell}", f"{shell}\na = 1"),
        ("f(1)", shell),
        (bash, "import os"),
        (f"{bash}\n", f"{bash}\nimport os\n"),
        (f"{mark}cell2", "pass"),
        (f"f(1)\n{mark}cell2\n", "f(1)\n"),
    ):
        assert possible(source, wrong) is None, wrong
    assert possible(source, ("f(1)", "g(2)"), (shell, "pass")) is None


def test_a_fix_that_changes_what_a_cell_shows_is_unsafe() -> None:
    """A notebook shows the value of a cell's last line, which is therefore a result of the program."""
    source = source_of(*CELLS)
    for other in (("b + a", "a + b"), ("b + a\n", "b + a\nc = 1\n"), ("x = f(1)", "f(1)"), ("y;", "y")):
        made = possible(source, other)
        assert made is not None
        assert (made.safety, made.reason is not None) == (Applicability.UNSAFE, True), other
    for same in (("y;", "y + 1;"), ("y = 3", "y = 4"), ("b = 2\n", "")):
        made = possible(source, same)
        assert made is not None
        assert made.safety is Applicability.SAFE, same


def test_the_letters_that_stand_for_magics_are_not_the_authors(tmp_path: Path) -> None:
    """A notebook may contain any letters, including runes."""
    path = tmp_path / "book.ipynb"
    runes = "".join(chr(code) for code in range(0x16A0, 0x16B0))
    path.write_bytes(notebook(f"%time x = 1\n{runes} = '{runes}cell1'", "!ls").content)
    source = read_source(path, path.name)
    assert isinstance(source, Source)
    assert source.encode(source.text) == path.read_bytes()
    assert seen(source)[1] == f"{runes} = '{runes}cell1'"
