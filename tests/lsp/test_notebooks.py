"""Notebooks in an editor: each cell has diagnostics and fixes of its own, and all are one program."""

from __future__ import annotations

import asyncio
from pathlib import Path

from lsprotocol import types

from editors import Capabilities, applied, codes, editor, run, with_notebooks
from patience import PATIENCE

SETUP = "import numpy as np\nimport torch"
GROW = """\
def collect(env, steps):
    rewards = np.empty(0, dtype=np.float32)
    for _ in range(steps):
        _, reward, _, _, _ = env.step(env.action_space.sample())
        rewards = np.append(rewards, np.float32(reward))
    return rewards"""
CELLS = [
    ("title", "markdown", "# Collect"),
    ("setup", "python", SETUP),
    ("shell", "python", "%%bash\nls"),
    ("grow", "python", "%load_ext autoreload\n" + GROW),
]


def in_project(folder: Path, config: str = 'select = ["RL101"]\n') -> Path:
    """A project with only its settings: the editor's documents are not on disk."""
    (folder / "rlint.toml").write_text(config)
    return folder


def test_cells_have_their_own_diagnostics(tmp_path: Path) -> None:
    """A finding is in its cell, with lines of that cell, and with the loop of another cell as related
    information; names of other cells are resolved; a change in one cell affects others.
    """

    async def scenario() -> None:
        async with editor(in_project(tmp_path), change=with_notebooks) as opened:
            assert opened.started is not None
            sync = opened.started.capabilities.notebook_document_sync
            assert isinstance(sync, types.NotebookDocumentSyncOptions)
            assert sync.save
            opened.open_notebook("train.ipynb", CELLS)
            setup, grow = opened.cell_uri("train.ipynb", "setup"), opened.cell_uri("train.ipynb", "grow")
            [found] = await opened.diagnostics(grow)
            assert found.code == "RL101"
            assert found.range.start.line == 5
            [loop] = found.related_information or ()
            assert (loop.location.uri, loop.location.range.start.line) == (grow, 3)
            assert await opened.diagnostics(setup) == []
            assert await opened.diagnostics(opened.cell_uri("train.ipynb", "title")) == []
            assert "# concat-grown-buffer" in (await opened.hover(grow, 5, found.range.start.character) or "")
            assert await opened.hover(setup, 0, 3) is None
            command = types.ExecuteCommandParams("rlint.explain", [grow, 5])
            described = await asyncio.wait_for(
                opened.client.workspace_execute_command_async(command), PATIENCE
            )
            assert str(described).startswith("train.ipynb:cell 4:6")

            opened.type_in_cell("train.ipynb", "setup", "import numpy_like as np")
            while opened.published[grow][-1].diagnostics:
                await opened.diagnostics(setup)
                await opened.diagnostics(grow)
            opened.type_in_cell("train.ipynb", "setup", SETUP)
            assert codes(await opened.diagnostics(grow, lambda found: found == ["RL101"])) == ["RL101"]

    run(scenario())


def test_fixes_of_cells(tmp_path: Path) -> None:
    """A quick fix edits the cell of its finding, at the version that it was made for; magics stay. A
    suppression comment is inserted in that cell.
    """

    async def scenario() -> None:
        async with editor(in_project(tmp_path)) as opened:
            opened.open_notebook("train.ipynb", CELLS)
            grow = opened.cell_uri("train.ipynb", "grow")
            text = CELLS[-1][2]
            [found] = await opened.diagnostics(grow)
            fix, noqa, _ = await opened.actions(grow, found.range, ["quickfix"])
            assert list(fix.diagnostics or ()) == [found]
            assert fix.edit is not None
            [changed] = fix.edit.document_changes or ()
            assert isinstance(changed, types.TextDocumentEdit)
            assert (changed.text_document.uri, changed.text_document.version) == (grow, 1)
            after = applied(text, fix.edit)
            assert after.startswith("%load_ext autoreload\ndef collect")
            assert "rewards_parts.append" in after
            assert applied(text, noqa.edit) == text.replace("(reward))", "(reward))  # noqa: RL101")
            assert await opened.actions(opened.cell_uri("train.ipynb", "setup"), found.range) == []
            opened.type_in_cell("train.ipynb", "grow", after)
            assert await opened.diagnostics(grow) == []

    run(scenario())


def test_all_fixes_of_a_notebook(tmp_path: Path) -> None:
    """Fix-all may be requested by the notebook kind or the file kind, from any cell; it edits all cells, with
    the line ends of each.
    """
    cells = [*CELLS, ("again", "python", GROW.replace("collect", "other").replace("\n", "\r\n"))]

    async def scenario() -> None:
        async with editor(in_project(tmp_path)) as opened:
            opened.open_notebook("train.ipynb", cells)
            setup, again = opened.cell_uri("train.ipynb", "setup"), opened.cell_uri("train.ipynb", "again")
            assert codes(await opened.diagnostics(again)) == ["RL101"]
            start = types.Range(types.Position(0, 0), types.Position(0, 0))
            for only, kind in (
                (["notebook.source.fixAll"], "notebook.source.fixAll.rlint"),
                (["source.fixAll.rlint"], "source.fixAll.rlint"),
            ):
                [action] = await opened.actions(setup, start, only)
                assert action.kind == kind
            edit = (await opened.resolve(action)).edit
            assert edit is not None
            changes = {
                each.text_document.uri: types.WorkspaceEdit(document_changes=[each])
                for each in edit.document_changes or ()
                if isinstance(each, types.TextDocumentEdit)
            }
            assert set(changes) == {opened.cell_uri("train.ipynb", "grow"), again}
            after = applied(cells[-1][2], changes[again])
            assert "rewards_parts.append" in after
            assert after.count("\n") == after.count("\r\n")

    run(scenario())


def test_cells_come_and_go(tmp_path: Path) -> None:
    """A cell that is added is checked, one that is deleted or closed has no diagnostics any more; a cell with
    a syntax error has an error, and the others keep their findings.
    """

    async def scenario() -> None:
        async with editor(in_project(tmp_path)) as opened:
            opened.open_notebook("train.ipynb", CELLS[:2])
            setup = opened.cell_uri("train.ipynb", "setup")
            assert await opened.diagnostics(setup) == []
            opened.replace_cells(
                "train.ipynb", 1, [], [("first", "python", "x = 1"), ("gap", "python", "x =")]
            )
            opened.replace_cells("train.ipynb", 4, [], [("grow", "python", GROW)])
            gap, grow = opened.cell_uri("train.ipynb", "gap"), opened.cell_uri("train.ipynb", "grow")
            assert codes(await opened.diagnostics(grow)) == ["RL101"]
            [error] = await opened.diagnostics(gap)
            assert (error.code, error.severity) == (None, types.DiagnosticSeverity.Error)
            assert error.range.start.line == 0
            opened.replace_cells("train.ipynb", 4, ["grow"], [])
            while opened.published[grow][-1].diagnostics:
                await opened.diagnostics(setup)
                opened.type_in_cell("train.ipynb", "gap", "x = 1")
                await opened.diagnostics(gap)
            opened.close_notebook("train.ipynb", ["title", "setup", "first", "gap"])
            opened.open("probe.py", "x = 1\n")
            await opened.diagnostics("probe.py")
            assert not opened.published[gap][-1].diagnostics

    run(scenario())


def test_what_is_no_notebook_of_ours(tmp_path: Path) -> None:
    """Notebooks of other kernels are not checked, and none if the settings exclude them."""

    async def scenario() -> None:
        async with editor(in_project(tmp_path)) as opened:
            kernel = {"kernelspec": {"name": "ir", "language": "R"}}
            for name, metadata in (("r.ipynb", {"metadata": kernel}), ("s.ipynb", kernel)):
                opened.open_notebook(name, CELLS, metadata)
                assert await opened.diagnostics(opened.cell_uri(name, "grow")) == []
            opened.open_notebook("python.ipynb", CELLS, {"metadata": {"kernelspec": {"language": "python"}}})
            assert codes(await opened.diagnostics(opened.cell_uri("python.ipynb", "grow"))) == ["RL101"]
        async with editor(in_project(tmp_path), options={"notebooks": False}) as opened:
            opened.open_notebook("train.ipynb", CELLS)
            assert await opened.diagnostics(opened.cell_uri("train.ipynb", "grow")) == []

    run(scenario())


def test_a_client_that_requests_the_diagnostics_of_cells(tmp_path: Path) -> None:
    """Each cell is asked for by itself, and nothing is sent unasked."""

    def pulls(capabilities: Capabilities) -> None:
        assert capabilities.text_document is not None
        capabilities.text_document.diagnostic = types.DiagnosticClientCapabilities()

    async def scenario() -> None:
        async with editor(in_project(tmp_path), change=pulls) as opened:
            opened.open_notebook("train.ipynb", CELLS)
            grow = opened.cell_uri("train.ipynb", "grow")
            report = await opened.pull(grow)
            assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
            assert codes(report.items) == ["RL101"]
            same = await opened.pull(grow, report.result_id)
            assert isinstance(same, types.RelatedUnchangedDocumentDiagnosticReport)
            other = await opened.pull(opened.cell_uri("train.ipynb", "setup"))
            assert isinstance(other, types.RelatedFullDocumentDiagnosticReport)
            assert not other.items
            assert opened.published == {}

    run(scenario())
