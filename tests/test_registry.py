from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rlint.errors import RlintError
from rlint.registry import catalogue, rule_index
from rlint.registry.make_rule_index import rule_index_text

if TYPE_CHECKING:
    from collections.abc import Iterator

RULE = '''"""Something slow.

More about it.
"""
from rlint.rule import Applicability, Rule


class {cls}(Rule):
    code = "{code}"
    name = "{name}"
    {more}
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty package of rules, `made_rules`."""
    folder = tmp_path / "made_rules"
    (folder / "family").mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "family" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    catalogue.catalogue.cache_clear()
    yield folder
    catalogue.catalogue.cache_clear()
    for module in [name for name in sys.modules if name.startswith("made_rules")]:
        del sys.modules[module]


def write(package: Path, file: str, text: str | None = None, **parts: str) -> Path:
    """Put a rule file into the package."""
    parts = {"cls": "SomeRule", "code": "XX101", "name": "slow-thing", "more": "", **parts}
    path = package / "family" / file
    path.write_text(RULE.format(**parts) if text is None else text)
    return path


def test_rules_are_known_from_their_files_names(package: Path) -> None:
    """Listing the rules imports none of them, not even broken ones."""
    write(package, "xx102_other_thing.py", "raise SystemExit('imported')")
    write(package, "xx101_slow_thing.py")
    write(package, "helpers.py", "")
    entries = [entry for entry in catalogue.catalogue("made_rules") if entry.module]
    assert [(entry.code, entry.name, entry.family) for entry in entries] == [
        ("XX101", "slow-thing", "family"),
        ("XX102", "other-thing", "family"),
    ]


def test_the_engines_own_codes_are_in_the_catalogue() -> None:
    """`rlint rules` also lists what the engine reports about suppression comments, as opt-in."""
    entry = catalogue.find("unused-suppression")
    assert (entry.code, entry.opt_in, entry.fixes) == ("RL900", True, "safe")
    assert entry.page.startswith(entry.summary)


def test_page_and_class_data_are_read_without_importing(package: Path) -> None:
    """The page, the opt-in mark and the safety of the fixes come from the text of the rule's file."""
    text = RULE.format(cls="SomeRule", code="XX101", name="slow-thing", more="opt_in = True")
    write(
        package,
        "xx101_slow_thing.py",
        text + "\nSAFETY = Applicability.UNSAFE\nraise SystemExit('imported')\n",
    )
    entry = catalogue.find("XX101", "made_rules")
    assert (entry.summary, entry.opt_in, entry.fixes) == ("Something slow.", True, "unsafe")
    assert entry.page.endswith("More about it.")


def test_selected_rules_are_made_in_order(package: Path) -> None:
    """`load` imports only the requested rules."""
    write(package, "xx103_c.py", "raise SystemExit('imported')")
    write(package, "xx102_b.py", cls="B", code="XX102", name="b")
    write(package, "xx101_a.py", cls="A", code="XX101", name="a")
    rules = catalogue.load({"XX102", "XX101", "RL900"}, "made_rules")
    assert [rule.code for rule in rules] == ["XX101", "XX102"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "one subclass of Rule, not 0"),
        (
            "from rlint.rule import Rule\nclass A(Rule): pass\nclass B(Rule): pass\n",
            "one subclass of Rule, not 2",
        ),
        (RULE.format(cls="A", code="XX109", name="slow-thing", more=""), "XX109"),
        ("import nothing_of_that_name", "nothing_of_that_name"),
        ("def broken(:", "SyntaxError"),
    ],
)
def test_a_rule_that_cannot_be_used_stops_with_file_and_reason(package: Path, text: str, says: str) -> None:
    """A rule never vanishes silently."""
    path = write(package, "xx101_slow_thing.py", text)
    with pytest.raises(RlintError) as caught:
        catalogue.load({"XX101"}, "made_rules")
    assert str(path) in str(caught.value)
    assert says in str(caught.value)


def test_two_rules_with_one_code_are_refused(package: Path) -> None:
    """Two files with the same code are an error."""
    write(package, "xx101_one.py")
    write(package, "xx101_two.py")
    with pytest.raises(RlintError, match="two rules have the code XX101"):
        catalogue.catalogue("made_rules")


def test_selectors(package: Path) -> None:
    """A code, a name, a prefix of codes and ALL select rules, case-insensitively."""
    for code, name in [("xx101", "one"), ("xx102", "two"), ("xx201", "three")]:
        write(package, f"{code}_{name}.py")

    def codes(selector: str) -> list[str]:
        return [entry.code for entry in catalogue.resolve(selector, "made_rules")]

    assert codes("XX101") == codes("one") == codes(" xx101 ") == ["XX101"]
    assert codes("XX1") == ["XX101", "XX102"]
    assert codes("XX") == ["XX101", "XX102", "XX201"]
    assert codes("all") == ["RL900", "RL901", "XX101", "XX102", "XX201"]


@pytest.mark.parametrize("selector", ["XX9", "thre", "X", "", "XX1011"])
def test_an_unknown_selector_is_an_error(package: Path, selector: str) -> None:
    """A selector that matches nothing is reported, with the most similar rule, if any."""
    write(package, "xx201_three.py")
    with pytest.raises(RlintError) as caught:
        catalogue.resolve(selector, "made_rules")
    assert f"unknown rule `{selector}`" in str(caught.value)
    assert ("did you mean `three`" in str(caught.value)) == (selector == "thre")


def test_one_rule_is_wanted(package: Path) -> None:
    """`rlint rule XX1` says which rules begin like that, instead of showing one of them."""
    write(package, "xx101_one.py")
    write(package, "xx102_two.py")
    with pytest.raises(RlintError, match=r"XX101 \(one\), XX102 \(two\)"):
        catalogue.find("XX1", "made_rules")


def test_listing_rules_imports_no_rule() -> None:
    """The catalogue of the shipped rules is read from file names alone."""
    code = (
        "import sys; from rlint.registry import catalogue; catalogue.catalogue();"
        "[entry.opt_in for entry in catalogue.catalogue()];"
        "print([name for name in sys.modules if name.startswith(('rlint.rules.', 'libcst'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_index_of_rules_is_what_the_files_say() -> None:
    """It is generated: `python -m rlint.registry.make_rule_index` writes it."""
    assert Path(rule_index.__file__).read_text(encoding="utf-8") == rule_index_text()


def test_selecting_rules_opens_none_of_their_files() -> None:
    """The index has the defaults, so that starting rlint reads no source and no evidence."""
    code = (
        "import sys; opened = [];"
        "sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == 'open' else None);"
        "from rlint.registry import catalogue; from rlint.config import selection;"
        "selection.default_codes(); entries = catalogue.catalogue();"
        "[(entry.claims, entry.fixes) for entry in entries];"
        "own = {str(entry.path) for entry in entries};"
        "print([path for path in opened if path in own or 'evidence' in path and path.endswith('.json')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
