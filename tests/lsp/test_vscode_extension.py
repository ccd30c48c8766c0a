"""The VS Code extension declares the settings of the language server. It has tests of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rlint.config.options import option_layer
from rlint.lsp.editor_settings import EditorSettings, read_options

FOLDER = Path(__file__).parents[2] / "editors" / "vscode"
STARTING = {"path", "interpreter", "args", "trace.server"}
"""Settings that the extension needs to start the server, and does not pass on."""


@pytest.fixture(scope="module")
def properties() -> dict[str, dict[str, object]]:
    """The settings that the extension declares, without the prefix."""
    declared = json.loads((FOLDER / "package.json").read_text())["contributes"]["configuration"]["properties"]
    return {name.removeprefix("rlint."): each for name, each in declared.items()}


def test_the_server_knows_all_settings(properties: dict[str, dict[str, object]]) -> None:
    """The server accepts them, and their defaults override nothing in a configuration file."""
    passed = {name: each["default"] for name, each in properties.items() if name not in STARTING}
    found, mistakes = read_options({"rulePages": "markdown", "explanations": "returned"}, passed)
    assert mistakes == []
    assert found == EditorSettings(syntax_errors=False, rule_pages="markdown", explanations="returned")
    assert option_layer(found.values, Path(), editor="editor").values == {}


def test_all_settings_are_documented(properties: dict[str, dict[str, object]]) -> None:
    """The documentation names each setting."""
    text = (FOLDER / "README.md").read_text()
    assert [name for name in properties if f"`rlint.{name}`" not in text] == []
