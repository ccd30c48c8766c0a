from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

from lsprotocol import types

from editors import Capabilities, codes, editor, run

SLOW = """\
import numpy as np


def collect(env, steps):
    rewards = np.empty(0, dtype=np.float32)
    for _ in range(steps):
        _, reward, _, _, _ = env.step(env.action_space.sample())
        rewards = np.append(rewards, np.float32(reward))
    return rewards
"""
FAST = SLOW.replace("rewards = np.append(rewards, np.float32(reward))", "rewards[0] = reward")


def project(folder: Path, **files: str) -> Path:
    """A project of some files; `a__b` is in a folder."""
    folder.mkdir(exist_ok=True)
    (folder / "rlint.toml").touch()
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_findings_come_as_one_types(tmp_path: Path) -> None:
    """Unsaved text is checked, and outdated diagnostics are never shown."""

    async def scenario() -> None:
        async with editor(project(tmp_path, train=FAST)) as opened:
            opened.open("train.py")
            assert codes(await opened.diagnostics("train.py")) == []
            for number in range(8):  # faster than anything can be checked
                opened.type("train.py", f"x = {number}\n" + FAST)
            last = opened.type("train.py", SLOW)
            [found] = await opened.diagnostics("train.py")
            assert (found.code, found.source) == ("RL101", "rlint")
            assert found.severity is types.DiagnosticSeverity.Warning
            assert found.range == types.Range(types.Position(7, 18), types.Position(7, 56))
            assert found.code_description is not None
            assert found.code_description.href.endswith("RL101.html")
            [loop] = found.related_information or ()
            assert (loop.location.uri, loop.location.range.start.line) == (opened.uri("train.py"), 5)
            assert loop.message == "for _ in range(steps)"
            assert "\nimpact: " in found.message
            versions = [params.version for params in opened.published[opened.uri("train.py")]]
            assert versions == sorted(set(versions))  # each at most once, none after a newer one
            assert versions[-1] == last
            assert len(versions) < 8
            opened.close("train.py")
            while opened.published[opened.uri("train.py")][-1].diagnostics:
                await asyncio.sleep(0.02)
            assert (tmp_path / "train.py").read_text() == FAST

    run(scenario())


def test_a_syntax_error_while_typing(tmp_path: Path) -> None:
    """While a line is incomplete, diagnostics of other lines stay, at their current positions."""

    async def scenario() -> None:
        async with editor(project(tmp_path, train=SLOW)) as opened:
            opened.open("train.py")
            [before] = await opened.diagnostics("train.py")
            opened.type("train.py", "import os\nif (\n" + SLOW)
            stays, error = await opened.diagnostics("train.py")
            assert (stays.code, stays.range.start.line) == ("RL101", before.range.start.line + 2)
            assert error.severity is types.DiagnosticSeverity.Error
            assert error.message.startswith("SyntaxError")
            everywhere = types.Range(types.Position(0, 0), types.Position(99, 0))
            assert await opened.actions("train.py", everywhere) == []
            opened.type("train.py", SLOW.replace("np.append(rewards", "np.append((rewards"))
            assert codes(await opened.diagnostics("train.py")) == ["error"]
            opened.type("train.py", "\0" + "(" * 5000)
            assert codes(await opened.diagnostics("train.py")) == ["error"]
            opened.type("train.py", SLOW)
            assert await opened.diagnostics("train.py") == [before]

    run(scenario())


def test_changes_are_applied_where_the_editor_made_them(tmp_path: Path) -> None:
    """Form feeds and astral characters shift nothing, however the client counts columns."""
    text = "# \N{PILE OF POO}\x0c\u2028 x\r\n" + SLOW.replace("\n", "\r\n")

    async def scenario(encoding: types.PositionEncodingKind) -> None:
        def only(capabilities: Capabilities) -> None:
            assert capabilities.general is not None
            capabilities.general.position_encodings = [encoding]

        units = {"utf-8": 4 + 1 + 3, "utf-16": 2 + 1 + 1}[encoding.value]
        async with editor(project(tmp_path, train=""), change=only) as opened:
            assert opened.started is not None
            assert opened.started.capabilities.position_encoding == encoding
            opened.open("train.py", text)
            await opened.diagnostics("train.py")

            def typed(line: int, start: int, end: int, new: str) -> types.TextDocumentContentChangePartial:
                where = types.Range(types.Position(line, start), types.Position(line, end))
                return types.TextDocumentContentChangePartial(where, new)

            # the comment's last character, the function's name, and a second statement where the finding is
            opened.type(
                "train.py",
                typed(0, 2 + units + 1, 2 + units + 2, "\N{PILE OF POO}"),
                typed(4, 4, 11, "gathered"),
                typed(8, 8, 8, "s = '\N{PILE OF POO}'; "),
            )
            [found] = await opened.diagnostics("train.py")
            wide = {"utf-8": 4, "utf-16": 2}[encoding.value]
            assert found.range == types.Range(
                types.Position(8, 18 + 7 + wide + 1), types.Position(8, 56 + 7 + wide + 1)
            )
            shown = await opened.hover("train.py", 8, found.range.start.character)
            assert shown is not None
            assert "np.append" in shown

    for encoding in (types.PositionEncodingKind.Utf8, types.PositionEncodingKind.Utf16):
        run(scenario(encoding))


def test_a_client_that_requests_diagnostics(tmp_path: Path) -> None:
    """Clients that pull get the newest diagnostics, or that nothing has changed, and no pushed ones."""

    async def scenario() -> None:
        async with editor(project(tmp_path, train=SLOW), like="neovim@v0.11") as opened:
            assert opened.started is not None
            assert opened.started.capabilities.diagnostic_provider is not None
            opened.open("train.py")
            first = await opened.pull("train.py")
            assert isinstance(first, types.RelatedFullDocumentDiagnosticReport)
            assert codes(first.items) == ["RL101"]
            again = await opened.pull("train.py", first.result_id)
            assert isinstance(again, types.RelatedUnchangedDocumentDiagnosticReport)
            opened.type("train.py", FAST)
            after = await opened.pull("train.py", first.result_id)
            assert isinstance(after, types.RelatedFullDocumentDiagnosticReport)
            assert list(after.items) == []
            opened.close("train.py")
            removed = await opened.pull("train.py")
            assert isinstance(removed, types.RelatedFullDocumentDiagnosticReport)
            assert list(removed.items) == []
            assert opened.published == {}

    run(scenario())


def test_the_editor_shows_what_the_command_line_prints(tmp_path: Path) -> None:
    """Checking fixtures in an editor gives what `rlint check` gives for the same file."""
    fixtures = Path(__file__).parents[2] / "fixtures"
    names = [
        "hard-target-copy",
        "busy-wait-sleep",
        "list-indexed-sample",
        "log-every-step",
        "unused-suppression",
    ]
    texts = {
        name: (fixtures / name / "before.py").read_text() for name in names if (fixtures / name).is_dir()
    }
    for name, text in texts.items():
        project(tmp_path / name, before=text)
    said = subprocess.run(
        [sys.executable, "-m", "rlint", "check", "--select", "ALL", "--output-format", "json", "."],
        cwd=tmp_path, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(fixtures.parent)},
    )  # fmt: skip
    wanted = {
        (
            Path(each["filename"]).parent.name,
            each["code"],
            each["location"]["row"],
            each["location"]["column"],
        )
        for each in json.loads(said.stdout)
    }

    async def scenario() -> None:
        found = set()
        async with editor(tmp_path, options={"select": ["ALL"]}) as opened:
            for name in texts:
                opened.open(f"{name}/before.py")
            for name in texts:
                for each in await opened.diagnostics(f"{name}/before.py"):
                    start = each.range.start
                    found.add((name, each.code, start.line + 1, start.character + 1))
        assert found == wanted

    assert len(wanted) > 8
    run(scenario())
