"""`rlint check` and `rlint fix` on notebooks, as a user sees them."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import nbformat
import pytest
from click.testing import Result

from notebook_files import Cell, notebook

Run = Callable[..., Result]

RETURNS = """\
def returns_of(rewards):
    returns, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + total
        returns.insert(0, total)
    return returns"""
TRAIN = """\
for episode in range(1000):
    obs, done, rewards = env.reset(), False, []
    while not done:
        obs, reward, done, _ = env.step(env.action_space.sample())
        rewards.append(reward)
    loss = (policy(obs) * torch.tensor(returns_of(rewards))).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()"""
HEAD = "%%time\n%matplotlib inline\nimport torch\nimport gym\n\nenv = gym.make('CartPole-v1')"
BOOK = notebook(
    Cell("# A tutorial", kind="markdown"),
    Cell("!pip install -q gym", id="install"),
    HEAD,
    Cell(RETURNS, id="returns", outputs=({"output_type": "stream", "name": "stdout", "text": [RETURNS]},)),
    Cell("%%bash\nimport torch", as_list=False),
    "policy = torch.nn.Linear(4, 2)\noptimizer = torch.optim.Adam(policy.parameters())",
    TRAIN,
)


@pytest.fixture
def book(folder: Path) -> Path:
    """A notebook with a finding in cell 4, which is hot because of cell 7."""
    for path in folder.glob("*.py"):
        path.unlink()
    path = folder / "book.ipynb"
    path.write_bytes(BOOK.content)
    return path


def test_a_finding_names_its_cell_and_the_line_in_it(run: Run, book: Path) -> None:
    """The report shows `book.ipynb:cell 4:5:9`, the code of that cell, and the heat chain through other
    cells.
    """
    concise = run("check", "--output-format", "concise", ".")
    assert concise.stdout.startswith("book.ipynb:cell 4:5:9: RL506 [*] ")
    assert (concise.exit_code, concise.stdout.count("book.ipynb:")) == (1, 1)
    full = run("check", ".").stdout
    assert "--> book.ipynb:cell 4:5:9\n" in full
    assert "5 |         returns.insert(0, total)\n" in full
    assert (
        "why hot: book.ipynb:cell 7:1 for episode in range(1000) → returns_of → book.ipynb:cell 4:3 for"
        in full
    )
    assert "6 +     returns.reverse()\n" in full


def test_other_programs_find_the_cell_in_every_format(run: Run, book: Path) -> None:
    """JSON has the cell, its id and lines in it; formats that annotate files get lines of the file itself."""
    lines = book.read_text().split("\n")
    line = 1 + next(number for number, text in enumerate(lines) if "insert(0, total)" in text)
    (entry,) = json.loads(run("check", "--output-format", "json", ".").stdout)
    assert (entry["cell"], entry["cell_id"], entry["location"]) == (4, "returns", {"row": 5, "column": 9})
    assert entry["noqa_row"] == 5
    edits = [(edit["cell"], edit["location"]["row"], edit["content"]) for edit in entry["fix"]["edits"]]
    assert edits == [(4, 5, "append"), (4, 5, ""), (4, 6, "    returns.reverse()\n")]
    github = run("check", "--output-format", "github", ".").stdout
    assert f"book.ipynb,line={line}::book.ipynb:cell 4:5:9: RL506" in github
    (found,) = json.loads(run("check", "--output-format", "sarif", ".").stdout)["runs"][0]["results"]
    place = found["locations"][0]
    assert place["physicalLocation"]["region"] == {"startLine": line}
    assert place["logicalLocations"] == [
        {"name": "cell 4", "kind": "element", "fullyQualifiedName": "returns"}
    ]
    assert "fixes" not in found  # its columns would refer to no file
    (found,) = json.loads(run("check", "--output-format", "gitlab", ".").stdout)
    assert found["location"] == {"path": "book.ipynb", "lines": {"begin": line, "end": line}}
    assert "cell 4:5:9" in found["description"]
    azure = run("check", "--output-format", "azure", ".").stdout
    assert f"linenumber={line};code=RL506;]cell 4:5:9: " in azure
    case = ET.fromstring(run("check", "--output-format", "junit", ".").stdout).find(".//testcase")  # noqa: S314
    assert case is not None
    assert case.get("name", "").endswith(" at cell 4:5:9")
    assert '<span class="place">cell 4:5:9</span>' in run("check", "--output-format", "html", ".").stdout


def test_a_diff_is_about_cells(run: Run, book: Path) -> None:
    """--diff shows the changed cells as code, not as JSON, and changes nothing."""
    before = book.read_bytes()
    shown = run("check", "--diff", ".").stdout
    assert shown.startswith("--- book.ipynb:cell 4\n+++ book.ipynb:cell 4\n@@ -2,5 +2,6 @@\n")
    assert "+        returns.append(total)\n+    returns.reverse()\n     return returns\n" in shown
    assert "No newline" not in shown
    assert book.read_bytes() == before


def test_fixing_changes_one_cell(run: Run, book: Path) -> None:
    """Other cells, outputs that look like the code and everything else are unchanged; Jupyter can read the
    result.
    """
    assert run("fix", ".").exit_code == 0
    sources = BOOK.sources_in(book.read_bytes())
    assert "".join(sources[3]) == RETURNS.replace("insert(0, ", "append(").replace(
        "    return ", "    returns.reverse()\n    return "
    )
    assert [s for n, s in enumerate(sources) if n != 3] == [
        json.loads(s) for n, s in enumerate(BOOK.sources) if n != 3
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cells without ids
        nbformat.validate(nbformat.reads(book.read_text(), as_version=4))
    assert run("fix", ".").stdout.startswith("All checks passed!")


def test_a_notebook_on_standard_input(run: Run, book: Path) -> None:
    """An editor sends a notebook and gets one back."""
    found = run("check", "--stdin-filename", "x.ipynb", "--output-format=concise", "-", stdin=BOOK.content)
    assert found.stdout.startswith("x.ipynb:cell 4:5:9: RL506")
    fixed = run("fix", "--stdin-filename", "x.ipynb", "-", stdin=BOOK.content)
    assert "returns.append(total)" in "".join(BOOK.sources_in(fixed.stdout_bytes)[3])
    broken = run("fix", "--stdin-filename", "x.ipynb", "-", stdin=b"{")
    assert (broken.exit_code, broken.stdout_bytes) == (2, b"{")


def test_results_of_notebooks_are_kept(run: Run, book: Path) -> None:
    """A second run reports the same from the cache."""
    first = run("check", "--output-format", "json", ".").stdout
    assert run("check", "--output-format", "json", ".").stdout == first


def test_comments_in_cells_hide_findings(run: Run, book: Path) -> None:
    """`noqa` and `rlint: ignore` hide what they stand at, `skip-file` all cells; --add-noqa writes into the
    cell.
    """
    assert run("check", "--add-noqa", ".").exit_code == 0
    sources = BOOK.sources_in(book.read_bytes())
    assert sources[3][4] == "        returns.insert(0, total)  # noqa: RL506\n"
    assert run("check", ".").exit_code == 0
    skipped = notebook("# rlint: skip-file", RETURNS, HEAD, TRAIN)
    book.write_bytes(skipped.content)
    assert run("check", ".").exit_code == 0
    # a comment at the end of a cell does not belong to the next one
    ending = notebook(HEAD, "x = 1\n# rlint: ignore[RL900]", "y = 2  # rlint: ignore[RL101]")
    book.write_bytes(ending.content)
    assert "cell 3:1:8: RL900" in run("check", "--output-format", "concise", ".").stdout


def test_which_notebooks_are_found(run: Run, book: Path, folder: Path) -> None:
    """Notebooks are found like files; excludes and `notebooks = false` exclude them, Jupyter's checkpoints
    are skipped.
    """
    copies = folder / ".ipynb_checkpoints"
    copies.mkdir()
    (copies / "book-checkpoint.ipynb").write_bytes(BOOK.content)
    assert run("check", "--show-files", ".").stdout.splitlines() == [str(book)]
    assert run("check", "--show-files", "--extend-exclude", "*.ipynb", ".").stdout.strip() == ""
    (folder / "rlint.toml").write_text("notebooks = false\n")
    assert run("check", "--show-files", ".").stdout.strip() == ""
    assert run("check", "book.ipynb").exit_code == 1  # it was named


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "bad.ipynb:1:1: is not a notebook: Expecting value (the file is empty)"),
        (b'{"cells": [\n  {"cell', "bad.ipynb:2:4: is not a notebook: Unterminated string"),
        (b"[1]", "bad.ipynb:1:1: is not a notebook: it is not a JSON object"),
        (b'{"nbformat": 4}', "bad.ipynb: is not a notebook: it has no `cells`"),
        (b'{"cells": [], "nbformat": 9}', "bad.ipynb: is a notebook of format 9"),
        (b'{"cells": 3}', "bad.ipynb:1:11: is damaged"),
        (b'{"cells": [{"cell_type": "code"}]}', "is damaged: the source of cell 1 is neither"),
        (b'{"cells": [{"cell_type": "code", "source": [1]}]}', "a line of cell 1 is not a string"),
        (b'{"cells": [], "x": "\xff"}', "bad.ipynb:1: is not a notebook: byte 0xff is not valid UTF-8"),
        (b"<<<<<<< HEAD\n{}", "conflict markers of an unfinished merge"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"cells": [], "a": ' + b"[" * 100_000, "nested too deeply"),
    ],
)
def test_a_damaged_notebook_is_an_error_and_the_others_are_checked(
    run: Run, book: Path, folder: Path, content: bytes, said: str
) -> None:
    """The message says what is wrong and where; the file is unchanged, the others are processed."""
    bad = folder / "bad.ipynb"
    bad.write_bytes(content)
    done = run("fix", ".")
    assert said in done.stderr
    assert done.exit_code == 1
    assert bad.read_bytes() == content
    assert "returns.append(total)" in book.read_text()
    alone = run("check", "bad.ipynb")
    assert (alone.exit_code, said in alone.stderr) == (2, True)


def test_a_cell_that_is_no_python_is_an_error_and_the_others_are_checked(run: Run, book: Path) -> None:
    """A cell with a syntax error does not affect the other cells."""
    book.write_bytes(notebook(HEAD, "x = 1\ny = # TODO", RETURNS, TRAIN).content)
    done = run("check", "--output-format", "concise", ".")
    assert "book.ipynb:cell 2:2:5: SyntaxError: invalid syntax" in done.stderr
    assert "book.ipynb:cell 3:5:9: RL506" in done.stdout


def test_other_languages_are_passed_over(run: Run, book: Path) -> None:
    """Neither a notebook of R or Julia nor a cell of another language is an error."""
    for language in ("R", "julia"):
        book.write_bytes(notebook("x <- c(1, 2)\n# rlint: ignore[RL101]", language=language).content)
        assert run("check", ".").exit_code == 0
    foreign = Cell("x <- 1  # rlint: ignore[RL101]", metadata={"vscode": {"languageId": "r"}})
    book.write_bytes(notebook(foreign, "%%R -i x\ny <- x").content)
    assert run("check", ".").exit_code == 0


def test_a_notebook_and_the_modules_next_to_it_are_one_program(run: Run, book: Path, folder: Path) -> None:
    """A function of a module is hot because a notebook calls it in its training loop; a notebook of the same
    name is not imported.
    """
    (folder / "returns.py").write_text(RETURNS + "\n")
    (folder / "returns.ipynb").write_bytes(notebook("def returns_of(rewards):\n    return []").content)
    book.write_bytes(notebook(HEAD, "from returns import returns_of", TRAIN).content)
    for what in (".", "returns.py"):
        full = run("check", what).stdout
        assert "--> returns.py:5:9" in full
        assert "why hot: book.ipynb:cell 3:1 for episode in range(1000) → returns_of" in full
    book.write_bytes(notebook(HEAD, "%run returns.py", TRAIN).content)
    assert "why hot: book.ipynb:cell 3:1 for" in run("check", "returns.py").stdout


def test_a_baseline_knows_the_findings_of_a_notebook(run: Run, book: Path, folder: Path) -> None:
    """Also when cells are inserted above them."""
    assert run("check", ".", "--write-baseline").exit_code == 0
    known = folder / "rlint-baseline.json"
    book.write_bytes(notebook("import os", HEAD, RETURNS, TRAIN).content)
    assert run("check", "--baseline", str(known), ".").exit_code == 0


def test_notebooks_are_never_run(run: Run, book: Path, folder: Path) -> None:
    """`rlint verify` says so instead."""
    (folder / "w.py").write_text("")
    refused = run("verify", "--workload", "w.py", "book.ipynb")
    assert (refused.exit_code, "is a notebook, which rlint cannot run" in refused.stderr) == (2, True)
