"""Clients that pull diagnostics: registration, and the diagnostics of the workspace."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from lsprotocol import types

from editors import Capabilities, Editor, codes, editor, run
from patience import PATIENCE

SLOW = """\
import numpy as np


def collect(env, steps):
    rewards = np.empty(0, dtype=np.float32)
    for _ in range(steps):
        _, reward, _, _, _ = env.step(env.action_space.sample())
        rewards = np.append(rewards, np.float32(reward))
    return rewards
"""
FAST = "import numpy as np\n"


def project(folder: Path, **files: str) -> Path:
    """A project of some files."""
    (folder / "rlint.toml").write_text('select = ["RL101"]\n')
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def requests(capabilities: Capabilities, *, dynamic: bool) -> None:
    """Let an editor ask for diagnostics."""
    assert capabilities.text_document is not None
    capabilities.text_document.diagnostic = types.DiagnosticClientCapabilities(dynamic_registration=dynamic)


def requests_after_notice(capabilities: Capabilities) -> None:
    """Let an editor pull diagnostics, once the server registers that."""
    requests(capabilities, dynamic=True)


def does_not_block(capabilities: Capabilities) -> None:
    """Let an editor pull diagnostics, if the server declares that at the start."""
    requests(capabilities, dynamic=False)


async def registered(opened: Editor) -> bool:
    """Whether the server supports workspace diagnostics, once it has registered."""

    async def wait() -> bool:
        while True:
            for each in reversed(opened.registered):
                if each.method == types.TEXT_DOCUMENT_DIAGNOSTIC:
                    return bool(each.register_options["workspaceDiagnostics"])
            await asyncio.sleep(0.02)

    return await asyncio.wait_for(wait(), PATIENCE)


async def workspace(
    opened: Editor, previous: dict[str, str] | None = None
) -> dict[str, tuple[list[str], str | None]]:
    """Request the diagnostics of the workspace; return the codes and the report's id by file name."""
    known = [types.PreviousResultId(opened.uri(name), value) for name, value in (previous or {}).items()]
    params = types.WorkspaceDiagnosticParams(known)
    found = await asyncio.wait_for(opened.client.workspace_diagnostic_async(params), PATIENCE)
    reports: dict[str, Any] = {}
    for each in found.items:
        assert isinstance(each, types.WorkspaceFullDocumentDiagnosticReport)
        reports[each.uri.rpartition("/")[2]] = (codes(each.items), each.result_id)
    return reports


def test_they_are_reported_in_one_form(tmp_path: Path) -> None:
    """Pulling is registered dynamically if the client supports it, else at the start; and again when the
    settings change it. Nothing is sent to them.
    """

    async def scenario() -> None:
        async with editor(project(tmp_path, train=SLOW), change=requests_after_notice) as opened:
            assert opened.started is not None
            assert opened.started.capabilities.diagnostic_provider is None
            assert not await registered(opened)
            opened.open("train.py")
            report = await opened.pull("train.py")
            assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
            assert codes(report.items) == ["RL101"]
            opened.configure({"workspaceDiagnostics": True})
            while not await registered(opened):
                await asyncio.sleep(0.02)
            assert opened.unregistered == ["diagnostics"]
            assert opened.published == {}
        for wanted in (False, True):
            options_at_start = {"workspaceDiagnostics": wanted}
            async with editor(tmp_path, change=does_not_block, options=options_at_start) as opened:
                assert opened.started is not None
                provider = opened.started.capabilities.diagnostic_provider
                assert provider is not None
                assert provider.workspace_diagnostics == wanted
                opened.open("train.py")
                await opened.pull("train.py")
                assert not [r for r in opened.registered if r.method == types.TEXT_DOCUMENT_DIAGNOSTIC]

    run(scenario())


def test_files_that_are_not_open(tmp_path: Path) -> None:
    """Files with findings are reported, as far as the settings allow; a request is answered only when
    something has changed. Open documents are requested separately.
    """
    project(tmp_path, train=SLOW, fine=FAST, opened=SLOW, excluded=SLOW)
    (tmp_path / "rlint.toml").write_text('select = ["RL101"]\nexclude = ["excluded.py"]\n')

    async def scenario() -> None:
        options = {"workspaceDiagnostics": True}
        async with editor(tmp_path, change=requests_after_notice, options=options) as opened:
            assert await registered(opened)
            opened.open("opened.py")
            await opened.pull("opened.py")
            first = await workspace(opened)
            assert {name: found for name, (found, _) in first.items()} == {"train.py": ["RL101"]}
            known = {name: number for name, (_, number) in first.items() if number}
            later = asyncio.ensure_future(workspace(opened, known))
            await asyncio.sleep(0.3)
            assert not later.done()
            (tmp_path / "train.py").write_text(FAST)
            (tmp_path / "fine.py").write_text(SLOW)
            changes = [
                types.FileEvent((tmp_path / f"{name}.py").as_uri(), types.FileChangeType.Changed)
                for name in ("train", "fine")
            ]
            opened.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes))
            assert {name: found for name, (found, _) in (await later).items()} == {
                "train.py": [],
                "fine.py": ["RL101"],
            }
            (tmp_path / "fine.py").unlink()
            changes = [types.FileEvent((tmp_path / "fine.py").as_uri(), types.FileChangeType.Deleted)]
            opened.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes))
            removed = await workspace(opened, {"fine.py": "1"})
            assert removed["fine.py"] == ([], None)
            held = asyncio.ensure_future(workspace(opened))
        held.cancel()  # the server has ended despite a pending request

    run(scenario())
