"""The action that explains a line, as an editor offers it and carries it out."""

from __future__ import annotations

import asyncio
from pathlib import Path

from lsprotocol import types

from editors import Editor, editor, run
from patience import PATIENCE

PROGRAM = """\
import torch


class Agent:
    def act(self, obs):
        return self.policy(torch.FloatTensor(obs).to(self.device))
"""


async def offered(opened: Editor, name: str, kind: types.CodeActionTriggerKind) -> list[str]:
    """The titles of the actions on the last line of the program."""
    where = types.Range(types.Position(5, 8), types.Position(5, 8))
    context = types.CodeActionContext([], trigger_kind=kind)
    params = types.CodeActionParams(opened.item(name), where, context)
    found = await asyncio.wait_for(opened.client.text_document_code_action_async(params), PATIENCE)
    return [action.title for action in found or ()]


async def executed(opened: Editor, *arguments: object) -> object:
    """What a client gets for the command."""
    params = types.ExecuteCommandParams("rlint.explain", list(arguments))
    return await asyncio.wait_for(opened.client.workspace_execute_command_async(params), PATIENCE)


def test_a_line_is_explained(tmp_path: Path) -> None:
    """The editor's text is explained; the explanation is shown and returned, and says what would make a rule
    report.
    """
    (tmp_path / "rlint.toml").touch()
    (tmp_path / "agent.py").write_text("x = 1\n")

    async def scenario() -> None:
        async with editor(tmp_path) as opened:
            opened.open("agent.py")
            opened.type("agent.py", PROGRAM)
            await opened.diagnostics("agent.py")
            text = await executed(opened, opened.uri("agent.py"), 5)
            assert isinstance(text, str)
            assert "agent.py:6" in text
            assert "RL205" in text
            assert await opened.described("agent.py:6") == text
        async with editor(tmp_path, options={"explanations": "returned"}) as opened:
            opened.open("agent.py", PROGRAM)
            assert await executed(opened, opened.uri("agent.py"), 5) == text
            await opened.diagnostics("agent.py")
            assert not opened.client.messages

    run(scenario())


def test_it_is_offered_where_it_is_requested(tmp_path: Path) -> None:
    """The action is offered in the menu, and not by the light bulb."""
    (tmp_path / "rlint.toml").touch()
    (tmp_path / "agent.py").write_text(PROGRAM)

    async def scenario() -> None:
        async with editor(tmp_path) as opened:
            opened.open("agent.py")
            await opened.diagnostics("agent.py")
            kinds = types.CodeActionTriggerKind
            assert "rlint: Explain this line" in await offered(opened, "agent.py", kinds.Invoked)
            assert "rlint: Explain this line" not in await offered(opened, "agent.py", kinds.Automatic)

    run(scenario())


def test_mistakes_in_the_command_are_reported(tmp_path: Path) -> None:
    """A document that is not open, or a line that does not exist, is an error; the server continues."""
    (tmp_path / "rlint.toml").touch()
    (tmp_path / "agent.py").write_text(PROGRAM)

    async def scenario() -> None:
        async with editor(tmp_path) as opened:
            opened.open("agent.py")
            assert await executed(opened, "file:///nowhere.py", 0) is None
            assert await executed(opened, opened.uri("agent.py"), 99) is None
            await opened.described("takes the URI of an open document")
            assert isinstance(await executed(opened, opened.uri("agent.py"), 5), str)

    run(scenario())
