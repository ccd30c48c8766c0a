from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from editors import COMMAND, PATIENCE, ROOT, Capabilities, codes, editor, run

AGENT = """\
import numpy as np


class Memory:
    def __init__(self):
        self.rows = np.empty((0, 4))

    def add(self, row):
        self.rows = np.concatenate([self.rows, row])
"""
LOOP = """\
from memory import Memory


def main(env, steps):
    memory = Memory()
    observation, _ = env.reset()
    for _ in range(steps):
        observation, *_ = env.step(env.action_space.sample())
        memory.add(observation[None])
"""
ONCE = LOOP.replace(
    "    for _ in range(steps):\n        observation, *_ = env.step(env.action_space.sample())\n    ", ""
)
SLOW = """\
import numpy as np


def collect(env, steps):
    rewards = np.empty(0, dtype=np.float32)
    for _ in range(steps):
        _, reward, _, _, _ = env.step(env.action_space.sample())
        rewards = np.append(rewards, np.float32(reward))
    return rewards
"""


def in_project(folder: Path, **files: str) -> Path:
    """A project of some files."""
    folder.mkdir(exist_ok=True)
    (folder / "rlint.toml").write_text('select = ["RL101"]\n')
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def changed(
    opened_folder: Path, *files: tuple[str, types.FileChangeType]
) -> types.DidChangeWatchedFilesParams:
    """The notification of an editor about files that change on disk."""
    return types.DidChangeWatchedFilesParams(
        [types.FileEvent((opened_folder / name).as_uri(), kind) for name, kind in files]
    )


def test_what_stands_in_other_files_counts(tmp_path: Path) -> None:
    """A loop in another file makes a method hot: first in its unsaved buffer, then on disk when it is closed,
    under another name when it is renamed, and no longer when the file is deleted.
    """

    def chain(found: list[types.Diagnostic]) -> list[str]:
        return [Path(each.location.uri).name for each in found[0].related_information or ()]

    async def scenario() -> None:
        folder = in_project(tmp_path, memory=AGENT, train=ONCE)
        async with editor(folder) as opened:
            opened.open("memory.py")
            first = await opened.diagnostics("memory.py")
            opened.open("train.py")
            opened.type("train.py", LOOP)
            found = await opened.diagnostics("memory.py", lambda now: now == ["RL101"])
            while chain(found) != ["train.py", "memory.py"]:
                await asyncio.sleep(0.05)
                found = await opened.diagnostics("memory.py")
            assert found != first
            opened.close("train.py")
            while await opened.diagnostics("memory.py") != first:
                await asyncio.sleep(0.05)
            (folder / "train.py").write_text(LOOP)
            opened.client.workspace_did_change_watched_files(
                changed(folder, ("train.py", types.FileChangeType.Changed))
            )
            while chain(await opened.diagnostics("memory.py")) != ["train.py", "memory.py"]:
                await asyncio.sleep(0.05)
            (folder / "train.py").rename(folder / "run.py")
            opened.client.workspace_did_rename_files(
                types.RenameFilesParams([types.FileRename(opened.uri("train.py"), opened.uri("run.py"))])
            )
            while chain(await opened.diagnostics("memory.py")) != ["run.py", "memory.py"]:
                await asyncio.sleep(0.05)
            (folder / "run.py").unlink()
            opened.client.workspace_did_delete_files(
                types.DeleteFilesParams([types.FileDelete(opened.uri("run.py"))])
            )
            while await opened.diagnostics("memory.py") != first:
                await asyncio.sleep(0.05)

    run(scenario())


def test_settings_of_the_editor_and_of_files(tmp_path: Path) -> None:
    """The editor's settings override those of files; both are read again on a change; mistakes are
    reported.
    """

    async def scenario() -> None:
        folder = in_project(tmp_path, train=SLOW)
        async with editor(folder, settings={"ignore": ["RL101"]}) as opened:
            queried = {each.method for each in opened.registered}
            opened.open("train.py")
            assert await opened.diagnostics("train.py") == []
            opened.configure({"extendSelect": ["RL604"]})
            assert codes(await opened.diagnostics("train.py", bool)) == ["RL101"]
            opened.configure({"enable": False})
            await opened.diagnostics("train.py", lambda now: not now and len(opened.published) > 0)
            opened.configure({"unsafe_fixes": "yes", "selekt": []})
            assert "did you mean `select`" in await opened.described("selekt")
            await opened.described("true or false")
            (folder / "rlint.toml").write_text('exclude = ["train.py"]\n')
            described = changed(folder, ("rlint.toml", types.FileChangeType.Changed))
            opened.client.workspace_did_change_watched_files(described)
            opened.type("train.py", SLOW + "\n")
            assert await opened.diagnostics("train.py") == []
            (folder / "rlint.toml").write_text("select = [\n")
            opened.client.workspace_did_change_watched_files(described)
            assert "rlint.toml" in await opened.described("invalid TOML")
            (folder / "other.toml").write_text('select = ["RL303"]\n')
            opened.configure({"configuration": "other.toml"})
            opened.type("train.py", SLOW)
            assert await opened.diagnostics("train.py") == []
            opened.configure({})
            (folder / "rlint.toml").unlink()
            opened.type("train.py", SLOW + "\n\n")
            assert codes(await opened.diagnostics("train.py", bool)) == ["RL101"]
            assert types.WORKSPACE_DID_CHANGE_WATCHED_FILES in {e.method for e in opened.registered} | queried

    run(scenario())


def test_several_folders_and_buffers_without_a_file(tmp_path: Path) -> None:
    """Each folder of a workspace has its own settings; new buffers are checked, other documents are not."""

    async def scenario() -> None:
        one, two = in_project(tmp_path / "one", train=SLOW), in_project(tmp_path / "two", train=SLOW)
        (two / "rlint.toml").write_text('ignore = ["RL101"]\n')
        async with editor(tmp_path, folders=[one, two]) as opened:
            for name in ("one/train.py", "two/train.py"):
                opened.open(name)
            opened.open("untitled:Untitled-1", SLOW)
            opened.open("untitled:Untitled-2", "rewards = np.append(rewards", language="plaintext")
            opened.open("git:/one/train.py?HEAD", SLOW)
            assert codes(await opened.diagnostics("one/train.py")) == ["RL101"]
            assert codes(await opened.diagnostics("two/train.py")) == []
            [found] = await opened.diagnostics("untitled:Untitled-1")
            fix, *_ = await opened.actions("untitled:Untitled-1", found.range, ["quickfix"])
            assert fix.edit is not None
            [edit] = fix.edit.document_changes or ()
            assert isinstance(edit, types.TextDocumentEdit)
            assert edit.text_document.uri == "untitled:Untitled-1"
            assert await opened.actions("git:/one/train.py?HEAD", found.range) == []
            assert sorted(opened.published) == sorted(
                [opened.uri("one/train.py"), opened.uri("two/train.py"), "untitled:Untitled-1"]
            )

    run(scenario())


def test_checking_when_a_file_is_saved(tmp_path: Path) -> None:
    """With `run = "onSave"` nothing is checked while one types; a client with few capabilities is
    supported.
    """

    def plain(capabilities: Capabilities) -> None:
        capabilities.workspace = None

    async def scenario() -> None:
        folder = in_project(tmp_path, train=SLOW)
        async with editor(folder, options={"run": "onSave"}, change=plain) as opened:
            opened.open("train.py")
            assert codes(await opened.diagnostics("train.py")) == ["RL101"]
            opened.type("train.py", "x = 1\n")
            assert await opened.hover("train.py", 0, 0) is None  # it would have arrived by now
            assert len(opened.published[opened.uri("train.py")]) == 1
            opened.save("train.py")
            assert await opened.diagnostics("train.py") == []

    run(scenario())


def test_a_request_that_is_cancelled(tmp_path: Path) -> None:
    """A cancelled request is answered as such, and what it waited for still comes."""
    fixtures = sorted((ROOT / "fixtures").glob("*/before.py"))[:12]
    files = {path.parent.name.replace("-", "_"): path.read_text() for path in fixtures}
    folder = in_project(tmp_path, **files, train="".join(f"import {name}\n" for name in files) + SLOW)

    async def scenario() -> None:
        async with editor(folder) as opened:
            opened.open("train.py")
            where = types.Range(types.Position(0, 0), types.Position(0, 0))
            params = types.CodeActionParams(opened.item("train.py"), where, types.CodeActionContext([]))
            protocol = opened.client.protocol
            request = protocol.send_request_async(types.TEXT_DOCUMENT_CODE_ACTION, params, msg_id="mine")
            waiting = asyncio.ensure_future(request)
            await asyncio.sleep(0)  # it is sent now
            protocol.notify(types.CANCEL_REQUEST, types.CancelParams("mine"))
            with pytest.raises(JsonRpcException, match=r"(?i)cancel"):
                await asyncio.wait_for(waiting, PATIENCE)
            assert "RL101" in codes(await opened.diagnostics("train.py"))

    run(scenario())


def test_an_editor_that_exits_without_a_message(tmp_path: Path) -> None:
    """The server ends with status 1 when its input ends, and says nothing on standard output."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(COMMAND, input=b"", capture_output=True, check=False, env=environment, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")


def test_without_pygls_the_message_says_what_to_install(tmp_path: Path) -> None:
    """Without the extra, `rlint server` ends with status 2 and the command that installs it."""
    program = "import sys; sys.modules['pygls'] = None; from rlint.cli import main; main(['server'])"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert "pip install 'rlint[lsp]'" in done.stderr


def _taken_port() -> socket.socket:
    """A port that the system does not assign automatically: a client that connects to such a port before the
    server listens may connect to itself.
    """
    for port in range(20_000 + os.getpid() % 5_000, 30_000):
        with contextlib.suppress(OSError):
            return socket.create_server(("127.0.0.1", port))
    raise AssertionError("no port is free")


def test_a_port_instead_of_pipes(tmp_path: Path) -> None:
    """`--tcp HOST:PORT` serves one editor there, and ends with it; a port that is taken is an error."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with _taken_port() as taken:
        port = taken.getsockname()[1]
        command = [*COMMAND, "--tcp", f"127.0.0.1:{port}"]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path
        )
        assert done.returncode == 2
        assert "cannot serve" in done.stderr

    async def scenario() -> None:
        from pygls.lsp.client import LanguageClient

        process = await asyncio.create_subprocess_exec(
            *command, env=environment, stderr=asyncio.subprocess.PIPE
        )
        assert process.stderr is not None
        assert b"waiting for an editor" in await process.stderr.readline()
        client = LanguageClient("test", "1")
        for _ in range(200):
            try:
                await client.start_tcp("127.0.0.1", port)
                break
            except OSError:
                await asyncio.sleep(0.05)
        started = await client.initialize_async(types.InitializeParams(types.ClientCapabilities()))
        assert started.server_info is not None
        assert started.server_info.name == "rlint"
        client.initialized(types.InitializedParams())
        await client.shutdown_async(None)
        client.exit(None)
        assert await asyncio.wait_for(process.wait(), 60) == 0
        await client.stop()

    run(scenario())
