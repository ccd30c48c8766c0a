"""Text for users and names in the code do not use the words in `words_not_used.py`."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from fixture_folders import ROOT, RULES, rule_folders
from own_code import ON_ONE_WORKER, tree_of
from rlint import cli
from test_pages import FENCE, page_of
from words_not_used import ANY_NOT_USED, NOT_USED, name_instead_of

pytestmark = ON_ONE_WORKER

COMMANDS = ("", *cli.COMMANDS)

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def around(text: str, match: re.Match[str]) -> str:
    """Return a match with some text before and after it."""
    return text[max(match.start() - 40, 0) : match.end() + 40]


def unused_words(text: str, place: str) -> list[str]:
    """Return one line for each phrase of the list in a text."""
    flat = re.sub(r"\s+", " ", text)
    if not ANY_NOT_USED.search(flat):
        return []
    found = [(each, match) for each in NOT_USED for match in each.pattern.finditer(flat)]
    return [f"{place}: …{around(flat, match)}…: write {each.instead!r} ({each.why})" for each, match in found]


def test_messages() -> None:
    """Messages, advice and conditions of the findings of fixtures."""
    wrong = []
    for folder in rule_folders():
        text = (folder / "findings.txt").read_text(encoding="utf-8")
        wrong += unused_words(re.sub(r"`[^`\n]*`", "``", text), f"fixtures/{folder.name}")
    assert wrong == []


def test_pages() -> None:
    """The pages of rules, without the programs of their examples."""
    assert [each for rule in RULES for each in unused_words(FENCE.sub("", page_of(rule)), rule.code)] == []


def test_documents() -> None:
    """The README and the pages of the documentation."""
    assert [
        each
        for path in DOCUMENTS
        for each in unused_words(path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix())
    ] == []


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command or "rlint")
def test_help(command: str) -> None:
    """What `--help` prints."""
    arguments = [sys.executable, "-m", "rlint", *([command] if command else []), "--help"]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=True)
    assert unused_words(done.stdout, f"rlint {command}".strip()) == []


def test_every_command_is_covered() -> None:
    """The help of all visible commands is checked."""
    done = subprocess.run(
        [sys.executable, "-m", "rlint", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    listed = re.findall(r"^  ([a-z]+)  ", done.stdout.split("Commands:")[1], re.MULTILINE)
    assert sorted(listed) == sorted(filter(None, COMMANDS))


def test_the_list_finds_its_words() -> None:
    """The expressions match the intended phrases, and not correct uses."""
    assert unused_words("append behind the loop", "a text")
    assert unused_words("made anew in each\npass", "a text")
    assert not unused_words("work done behind a lock, and the thread is joined", "a text")


PLACEHOLDER = re.compile(r"(?<!\{)\{[a-z_]\w*[.(\[][^{}]*\}")


def texts_in(path: Path) -> list[tuple[int, str, bool]]:
    """Return the texts of a module that may be shown, with their lines: all but docstrings and single words.
    The last item says whether it is a plain text rather than part of an f-string.
    """
    tree = tree_of(path)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    formatted = {
        id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)
    }
    return [
        (node.lineno, node.value, id(node) not in formatted)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if id(node) not in docstrings and " " in node.value
    ]


def test_texts_of_rules() -> None:
    """Messages, advice, titles and reasons as they are written, whether or not a fixture shows them."""
    wrong = []
    for path in sorted((ROOT / "rules").rglob("*.py")):
        place = path.relative_to(ROOT).as_posix()
        for line, text, plain in texts_in(path):
            wrong += unused_words(re.sub(r"`[^`\n]*`", "``", text), f"{place}:{line}")
            if plain and PLACEHOLDER.search(text):
                wrong.append(f"{place}:{line}: {text!r} is no f-string")
    assert wrong == []


NOT_A_VERB = re.compile(
    r"(?:Is|Does|Are|Has|Have|May|Can|Could|Would|Was|Did|What|Which|Who|Whose|Where|When|How|Why"
    r"|The|A|An|That|Those|All|From|Of|In|With|For)\b|`"
)
QUESTION = re.compile(r"[^.]*\?(?: |$)")


@dataclass(frozen=True)
class Docstring:
    """A docstring, and whether it is that of a function which is no property."""

    place: str
    text: str
    is_of_function: bool


@cache
def docstrings() -> list[Docstring]:
    """Return the docstrings of rlint and its rules, with the pages of rules."""
    found = []
    for path in sorted(path for folder in ("rlint", "rules") for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(tree_of(path)):
            if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            named = [] if isinstance(node, ast.Module) else node.decorator_list
            is_property = any("property" in ast.unparse(each) for each in named)
            place = f"{path.relative_to(ROOT).as_posix()}:{getattr(node, 'lineno', 1)}"
            text = re.sub(r"`[^`\n]*`", "``", ast.get_docstring(node) or "")
            found.append(Docstring(place, text, is_function and not is_property))
    return found


def test_docstrings_of_functions() -> None:
    """Docstrings of functions begin with a verb or "Whether", and do not ask."""
    assert [
        f"{each.place}: {each.text[:60]}"
        for each in docstrings()
        if each.is_of_function
        if NOT_A_VERB.match(each.text) or QUESTION.match(" ".join(each.text.split()))
    ] == []


def test_words_of_docstrings() -> None:
    """Docstrings are documentation, too: they do not use the words of the list either."""
    assert [line for each in docstrings() for line in unused_words(each.text, each.place)] == []


WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def names_in(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the names that a module defines, with their lines: its own, and those of functions, classes,
    parameters, variables and attributes.
    """
    yield 1, path.stem
    for node in ast.walk(tree_of(path)):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.lineno, node.name
            case ast.arg():
                yield node.lineno, node.arg
            case ast.Name(ctx=ast.Store()):
                yield node.lineno, node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.lineno, node.attr


def words_of(name: str) -> list[str]:
    """Return the words of a name in snake case or camel case."""
    return [word.lower() for word in WORD.findall(name)]


@cache
def instead_of(name: str) -> tuple[str, ...]:
    """Return what to write instead of each word of a name that names do not contain."""
    return tuple(instead for word in words_of(name) if (instead := name_instead_of(word)))


def test_names() -> None:
    """Names consist of standard terms, which engineers search for."""
    wrong = []
    for folder in ("rlint", "rules", "tests", "trust", "benchmarks"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for line, name in names_in(path):
                wrong += [
                    f"{path.relative_to(ROOT).as_posix()}:{line}: {name}: {instead}"
                    for instead in instead_of(name)
                ]
    assert wrong == []


def test_words_of_names() -> None:
    """Names are split at underscores, digits and capital letters."""
    assert words_of("_is_told2_by") == ["is", "told", "by"]
    assert words_of("HTTPServerName") == ["http", "server", "name"]
