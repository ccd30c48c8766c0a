"""Quick fixes that change several files: all of them in their state in the editor, or none."""

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
    """A program of three files, one of which names an accessor differently."""
    (folder / "rlint.toml").write_text('select = ["RL801"]\n')
    for name, text in {"settings": SETTINGS, "main": MAIN, "other": OTHER, **more}.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def renamed(text: str) -> str:
    """The text with the new name."""
    return text.replace("get_model_cfg", "get_model_config")


async def renamings(opened: Editor) -> list[types.CodeAction]:
    """The actions at this accessor, apart from suppression comments."""
    [found] = await opened.diagnostics("settings.py")
    offered = await opened.actions("settings.py", found.range, ["quickfix"])
    assert len(offered) >= 2  # the comments are there in any case
    return [action for action in offered if "Hide it here" not in action.title]


def parts(action: types.CodeAction) -> dict[str, tuple[int | None, types.WorkspaceEdit]]:
    """The edits of an action in each file, with the version that they refer to."""
    assert action.edit is not None
    found = {}
    for each in action.edit.document_changes or ():
        assert isinstance(each, types.TextDocumentEdit)
        name = each.text_document.uri.rpartition("/")[2]
        found[name] = each.text_document.version, types.WorkspaceEdit(document_changes=[each])
    return found


def test_all_files_change_as_they_stand_in_the_editor(tmp_path: Path) -> None:
    """An unsaved buffer is edited in its current version; a file that is not open, in its version on disk."""
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
        pytest.param("other", "# rlint: skip-file\n" + OTHER, marks=pytest.mark.slow),
        pytest.param("names", "NAMES = ['get_model_cfg']\n", marks=pytest.mark.slow),
        pytest.param("rlint.toml", 'select = ["RL801"]\nexclude = ["other.py"]\n', marks=pytest.mark.slow),
    ],
    ids=["hidden there", "passed over", "held by name", "excluded"],
)
def test_what_the_command_line_would_not_do_is_not_offered(tmp_path: Path, name: str, text: str) -> None:
    """If one file forbids it, there is no fix; once no file forbids it, there is."""

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
    """Right after a change in another file, the fix is for the new text, or is not offered; the same if a
    file has changed on disk.
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
                described, edit = parts(action)["main.py"]
                assert described == version
                assert applied(typed, edit) == renamed(typed)
            longer = "# new on disk\n" + OTHER
            (tmp_path / "other.py").write_text(longer)
            for action in await renamings(opened):
                assert applied(longer, parts(action)["other.py"][1]) == renamed(longer)

    run(scenario())


def test_a_name_that_another_file_holds_is_not_taken_away(tmp_path: Path) -> None:
    """Code may look up a method by its name: a string with the name forbids the fix while it exists, in the
    file or in the editor.
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
