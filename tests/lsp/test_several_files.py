"""Quick fixes that change several files: all of them as they stand in the editor, or none."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from editors import Editor, applied, editor, run

SETTINGS = """\
def get_env_config():
    return {"frames": 4}


def get_run_config():
    return {"seed": 1}


def get_model_cfg(width=32):
    return {"width": width}
"""
MAIN = """\
import settings
from settings import get_model_cfg as model

print(model(8), settings.get_model_cfg())
"""
OTHER = "from settings import get_env_config, get_model_cfg\n"
TITLE = "in 3 files"


def project(folder: Path, **more: str) -> Path:
    """A program of three files, in which one accessor is named unlike the others."""
    (folder / "rlint.toml").write_text('select = ["RL801"]\n')
    for name, text in {"settings": SETTINGS, "main": MAIN, "other": OTHER, **more}.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def renamed(text: str) -> str:
    """A text with the name that the fix gives."""
    return text.replace("get_model_cfg", "get_model_config")


async def renamings(opened: Editor) -> list[types.CodeAction]:
    """What is offered at the odd accessor, apart from comments that hide the finding."""
    [found] = await opened.diagnostics("settings.py")
    offered = await opened.actions("settings.py", found.range, ["quickfix"])
    assert len(offered) >= 2  # the comments are there in any case
    return [action for action in offered if "Hide it here" not in action.title]


def parts(action: types.CodeAction) -> dict[str, tuple[int | None, types.WorkspaceEdit]]:
    """What an action does to each file, with the version that it is about."""
    assert action.edit is not None
    found = {}
    for each in action.edit.document_changes or ():
        assert isinstance(each, types.TextDocumentEdit)
        name = each.text_document.uri.rpartition("/")[2]
        found[name] = each.text_document.version, types.WorkspaceEdit(document_changes=[each])
    return found


def test_all_files_change_as_they_stand_in_the_editor(tmp_path: Path) -> None:
    """A buffer that is not saved is changed as it is, in its version; a file that is not open, as on disk."""
    typed = "# not saved: é\n" + MAIN

    async def scenario() -> None:
        async with editor(project(tmp_path)) as opened:
            opened.open("main.py")
            version = opened.type("main.py", typed)
            await opened.diagnostics("main.py")
            opened.open("settings.py")
            [action] = await renamings(opened)
            assert TITLE in action.title
            changed = parts(action)
            assert {name: version for name, (version, _) in changed.items()} == {
                "settings.py": 1, "main.py": version, "other.py": None
            }  # fmt: skip
            for name, before in (("settings.py", SETTINGS), ("main.py", typed), ("other.py", OTHER)):
                assert applied(before, changed[name][1]) == renamed(before)

    run(scenario())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("main", MAIN.replace(" as model\n", " as model  # noqa: RL801\n")),
        ("other", "# rlint: skip-file\n" + OTHER),
        ("names", "NAMES = ['get_model_cfg']\n"),
        ("rlint.toml", 'select = ["RL801"]\nexclude = ["other.py"]\n'),
    ],
    ids=["hidden there", "passed over", "held by name", "excluded"],
)
def test_what_the_command_line_would_not_do_is_not_offered(tmp_path: Path, name: str, text: str) -> None:
    """Where one file forbids it, there is no fix; once nothing forbids it any more, there is."""

    async def scenario() -> None:
        folder = project(tmp_path)
        place = folder / (name if "." in name else f"{name}.py")
        before = place.read_text() if place.exists() else ""
        place.write_text(text)
        async with editor(folder) as opened:
            opened.open("settings.py")
            assert await renamings(opened) == []
            assert await opened.actions("settings.py", EVERYWHERE, ["source.fixAll"]) == []
        place.write_text(before)
        async with editor(folder) as opened:
            opened.open("settings.py")
            [action] = await renamings(opened)
            assert TITLE in action.title

    run(scenario())


EVERYWHERE = types.Range(types.Position(0, 0), types.Position(10_000, 0))


def test_a_file_that_has_changed_since_is_not_torn(tmp_path: Path) -> None:
    """Asked at once after something was typed in another file, the fix is of the new text, or is not offered;
    the same where a file has changed on disk.
    """

    async def scenario() -> None:
        async with editor(project(tmp_path)) as opened:
            opened.open("main.py")
            opened.open("settings.py")
            [before] = await renamings(opened)
            assert set(parts(before)) == {"settings.py", "main.py", "other.py"}
            typed = "import os\n\n\n" + MAIN
            version = opened.type("main.py", typed)
            for action in await renamings(opened):
                told, edit = parts(action)["main.py"]
                assert told == version
                assert applied(typed, edit) == renamed(typed)
            longer = "# new on disk\n" + OTHER
            (tmp_path / "other.py").write_text(longer)
            for action in await renamings(opened):
                assert applied(longer, parts(action)["other.py"][1]) == renamed(longer)

    run(scenario())


def test_a_name_that_another_file_holds_is_not_taken_away(tmp_path: Path) -> None:
    """Nobody knows who gets a method by its name: a text with the name forbids the fix, as long as it stands
    there, be it in the file or in the editor.
    """
    policy = "\n\nclass Policy:\n    def get_policy_cfg(self):\n        return {}\n"
    files = {
        "settings": renamed(SETTINGS) + policy,
        "main": "from settings import Policy\n\nprint(Policy().get_policy_cfg())\n",
        "other": "NAMES = ['get_policy_cfg']\n",
    }

    async def scenario() -> None:
        async with editor(project(tmp_path, **files)) as opened:
            opened.open("settings.py")
            assert await renamings(opened) == []
            opened.open("other.py")
            opened.type("other.py", "NAMES = []\n")
            await opened.diagnostics("other.py")
            [action] = await renamings(opened)
            assert set(parts(action)) == {"settings.py", "main.py"}

    run(scenario())
