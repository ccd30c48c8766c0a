from __future__ import annotations

from pathlib import Path

from lsprotocol import types

from editors import Capabilities, applied, codes, editor, run
from rlint.suppression import suppressions

ROOT = Path(__file__).parents[2]
SAFE = (ROOT / "fixtures/regex-per-call/before.py").read_text()
UNSAFE = (ROOT / "fixtures/hard-target-copy/before.py").read_text()
EVERYWHERE = types.Range(types.Position(0, 0), types.Position(10_000, 0))
PROGRAM = """\
import numpy as np


def collect(env, steps):
    '''\N{PILE OF POO}'''
    rewards = np.empty(0, dtype=np.float32)
    for _ in range(steps):
        _, reward, _, _, _ = env.step(env.action_space.sample())
        rewards = np.append(rewards, np.float32(reward))  # \N{PILE OF POO}
    return rewards
"""


def in_project(folder: Path, name: str, text: str) -> Path:
    """A project with one file."""
    (folder / "rlint.toml").touch()
    (folder / name).write_text(text, newline="")
    return folder


def test_one_finding_is_fixed(tmp_path: Path) -> None:
    """The safe fix is preferred, and its edit gives the result of `rlint fix`, whatever the line ends."""
    crlf = PROGRAM.replace("\n", "\r\n")

    async def scenario() -> None:
        async with editor(in_project(tmp_path, "train.py", crlf), options={"select": ["RL101"]}) as opened:
            opened.open("train.py")
            [found] = await opened.diagnostics("train.py")
            fix, noqa, ignore = await opened.actions("train.py", found.range, ["quickfix"])
            assert fix.title == "rlint (RL101): Collect the parts in a list and concatenate once"
            assert (fix.is_preferred, noqa.is_preferred, ignore.is_preferred) == (True, False, False)
            assert list(fix.diagnostics or ()) == [found]
            edit = fix.edit
            assert edit is not None
            [changed] = edit.document_changes or ()
            assert isinstance(changed, types.TextDocumentEdit)
            assert changed.text_document.version == 1  # of this version and no other
            after = applied(crlf, edit)
            assert "rewards_parts.append" in after
            assert after.count("\n") == after.count("\r\n")
            opened.type("train.py", after)
            assert await opened.diagnostics("train.py") == []
            for hide, comment in ((noqa, "  # noqa: RL101"), (ignore, "  # rlint: ignore[RL101]")):
                assert comment.strip() in hide.title
                hidden = applied(crlf, hide.edit)
                assert hidden == crlf.replace("POO}", "POO}").replace(
                    "(reward))  # \N{PILE OF POO}", f"(reward))  # \N{PILE OF POO}{comment}"
                )
                opened.type("train.py", hidden)
                assert await opened.diagnostics("train.py") == []
            other_edits = types.Range(types.Position(0, 0), types.Position(0, 3))
            assert await opened.actions("train.py", other_edits, ["quickfix"]) == []

    run(scenario())


def test_all_safe_fixes_at_once(tmp_path: Path) -> None:
    """`source.fixAll.rlint` does what `rlint fix` does, once it is chosen, and applies no unsafe fixes."""

    def eager(capabilities: Capabilities) -> None:
        assert capabilities.text_document is not None
        assert capabilities.text_document.code_action is not None
        capabilities.text_document.code_action.resolve_support = None
        assert capabilities.workspace is not None
        assert capabilities.workspace.workspace_edit is not None
        capabilities.workspace.workspace_edit.document_changes = False

    async def scenario() -> None:
        both = SAFE + "\n\n" + UNSAFE
        async with editor(in_project(tmp_path, "agent.py", both)) as opened:
            opened.open("agent.py")
            await opened.diagnostics("agent.py")
            for only in (["source.fixAll.rlint"], ["source.fixAll"], ["source"]):
                [action] = await opened.actions("agent.py", EVERYWHERE, only)
                assert (action.kind, action.edit) == ("source.fixAll.rlint", None)
            assert await opened.actions("agent.py", EVERYWHERE, ["source.organizeImports"]) == []
            for only in (None, [], [""], ["quickfix"]):  # the light bulb, and the menu of quick fixes
                offered = await opened.actions("agent.py", EVERYWHERE, only)
                assert {action.kind for action in offered} == {"quickfix"}
            after = applied(both, (await opened.resolve(action)).edit)
            opened.type("agent.py", after)
            left = await opened.diagnostics("agent.py")
            assert "RL303" in codes(left)
            assert await opened.actions("agent.py", EVERYWHERE, ["source.fixAll"]) == []
            where = next(each.range for each in left if each.code == "RL303")
            offered = await opened.actions("agent.py", where, ["quickfix"])
            unsafe = [action for action in offered if "(unsafe: " in action.title]
            assert unsafe
            assert not any(action.is_preferred for action in unsafe)
        async with editor(tmp_path, change=eager, options={"unsafeFixes": True}) as opened:
            opened.open("agent.py", after)
            [action] = await opened.actions("agent.py", EVERYWHERE, ["source.fixAll"])
            assert "unsafe" in action.title
            assert action.edit is not None
            assert action.edit.document_changes is None
            opened.type("agent.py", applied(after, action.edit))
            fewer = await opened.diagnostics("agent.py")
            assert codes(fewer).count("RL303") < codes(left).count("RL303")
            assert await opened.actions("agent.py", EVERYWHERE, ["source.fixAll"]) == []

    run(scenario())


def test_pages_where_the_pointer_rests(tmp_path: Path) -> None:
    """A finding shows why it is hot, what to do, and its rule's page with the evidence; a code in a comment
    shows the page of its rule.
    """
    text = PROGRAM + "x = 1  # noqa: E501, RL303\ny = 2  # rlint: ignore[busy-wait-sleep, RL2, RL999]\n"

    async def scenario() -> None:
        async with editor(in_project(tmp_path, "train.py", text)) as opened:
            opened.open("train.py")
            [found] = await opened.diagnostics("train.py")
            shown = await opened.hover("train.py", found.range.start.line, found.range.start.character)
            assert shown is not None
            for part in (
                "**RL101** concat-grown-buffer",
                "train.py:7 for _ in range(steps)",
                "(safe)",
                "# concat-grown-buffer (RL101)",
                "## Why is it slow",
                "## Measured",
                "| device |",
            ):
                assert part in shown
            assert await opened.hover("train.py", 0, 0) is None

            async def at(word: str) -> str | None:
                line = next(number for number, each in enumerate(text.splitlines()) if word in each)
                return await opened.hover("train.py", line, text.splitlines()[line].index(word) + 1)

            for word, title in (
                ("RL303", "# hard-target-copy (RL303)"),
                ("busy-wait", "# busy-wait-sleep (RL401)"),
            ):
                shown = await at(word)
                assert shown is not None
                assert title in shown
            family = await at("RL2,")
            assert family is not None
            assert "RL201" in family
            assert "RL211" in family
            assert await at("RL999") == "rlint has no rule `RL999`.\n"
            assert "unknown" not in (await at("E501") or "")

    run(scenario())


def test_comments_join_those_that_are_there() -> None:
    """An existing comment of either kind is extended, and suppresses the named codes."""
    from rlint.findings import Finding, Position
    from rlint.suppression.directives import DirectiveKind

    finding = Finding("RL303", "hard-target-copy", "", "x.py", Position(1, 1), Position(1, 2), 1, 1)
    for kind, before, after in (
        (DirectiveKind.IGNORE, "x = 1  # rlint: ignore[RL101]\n", "x = 1  # rlint: ignore[RL101, RL303]\n"),
        (DirectiveKind.IGNORE, "x = 1  # noqa: RL101\n", "x = 1  # noqa: RL101  # rlint: ignore[RL303]\n"),
        (DirectiveKind.NOQA, "x = 1  # noqa: RL101\n", "x = 1  # noqa: RL101, RL303\n"),
        (DirectiveKind.NOQA, "x = '''\n'''\n", "x = '''\n'''  # noqa: RL303\n"),
    ):
        assert suppressions.add_comments(before, [finding], kind) == after
        assert suppressions.parse(after).hides(finding)
