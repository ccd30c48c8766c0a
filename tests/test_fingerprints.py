"""Identities of findings, which survive other changes in their file."""

from __future__ import annotations

import ast
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from reports import finding, report, source
from rlint.findings import Finding
from rlint.parsing.positions import Positions
from rlint.suppression.fingerprints import finding_keys, fingerprints

TEXT = """\
import numpy as np


class Agent:
    @property
    def learn(self):
        for row in self.rows:
            self.all = np.append(self.all, row)  # grows
            self.all = np.append(self.all, row)


x = np.append([], 1)
"""


def known(text: str, *findings: Finding) -> list[str]:
    """The fingerprints of findings in a text."""
    return fingerprints(findings, report(*findings, sources=(source(text),)))


def at(text: str, place: str, nth: int = 0, code: str = "RL101") -> Finding:
    """A finding about the nth occurrence of `place`."""
    shift = -1
    for _ in range(nth + 1):
        shift = text.index(place, shift + 1)
    positions = Positions(text)
    start, end = positions.position(shift), positions.position(shift + len(place))
    return replace(finding(place, place, code), start=start, end=end)


def test_a_finding_is_known_by_rule_path_function_and_line() -> None:
    """Comments, indentation and spacing do not count."""
    first, second, top = (
        at(TEXT, "np.append(self"),
        at(TEXT, "np.append(self", 1),
        at(TEXT, "np.append([]"),
    )
    found = finding_keys([first, second, top], lambda _: TEXT)
    assert found[0] == found[1]
    assert (found[0].path, found[0].code, found[0].function, found[0].line) == (
        "agent.py",
        "RL101",
        "Agent.learn",
        "self.all = np.append(self.all, row)",
    )
    assert (found[2].function, found[2].line) == ("", "x = np.append([], 1)")


def test_equal_findings_have_different_fingerprints() -> None:
    """Services take one fingerprint for one finding."""
    findings = [at(TEXT, "np.append(self"), at(TEXT, "np.append(self", 1), at(TEXT, "np.append([]")]
    assert len(set(known(TEXT, *findings))) == 3
    assert known(TEXT, *findings, at(TEXT, "x = np", code="RL102"))[:3] == known(TEXT, *findings)


@given(
    above=st.lists(st.sampled_from(["", "# a comment", "y = 1", "def other(): pass"]), max_size=4),
    below=st.lists(st.sampled_from(["", "z = 2", "class Agent: pass"]), max_size=3),
    comment=st.sampled_from(["", "  # noqa: E501", "\t# 'quoted' # twice"]),
    wider=st.booleans(),
)
def test_edits_in_other_places_change_no_fingerprint(
    above: list[str], below: list[str], comment: str, wider: bool
) -> None:
    """Lines above and below, comments and spacing may change."""
    lines = TEXT.splitlines()
    lines[7] = lines[7].replace("  # grows", comment)
    body = "\n".join([*above, *lines, *below, ""])
    if wider:
        body = body.replace("self.all = np", "self.all   =  np")
    ast.parse(body)
    for nth in (0, 1):
        old, new = at(TEXT, "np.append(self", nth), at(body, "np.append(self", nth)
        assert known(TEXT, old) == known(body, new)


def test_a_moved_function_is_another_finding() -> None:
    """A line in another function, or with another text, is new."""
    old = at(TEXT, "np.append(self")
    renamed = TEXT.replace("def learn", "def train")
    assert known(renamed, at(renamed, "np.append(self")) != known(TEXT, old)
    edited = TEXT.replace("(self.all, row)", "(self.all, rows)")
    assert known(edited, at(edited, "np.append(self")) != known(TEXT, old)


def test_texts_of_any_kind_have_fingerprints() -> None:
    """Text that is not Python, no text, very long lines, `#` signs that start no comment."""
    broken = "def f(:\n    x = 'a # b'  # c\n"
    (key,) = finding_keys([at(broken, "x =")], lambda _: broken)
    assert (key.function, key.line) == ("", "x = 'a # b' # c")
    quoted = "x = 'a # b'  # c\n# alone\n"
    one, two = finding_keys([at(quoted, "x ="), at(quoted, "# alone")], lambda _: quoted)
    assert (one.line, two.line) == ("x = 'a # b'", "# alone")
    long = "x = [" + "1, " * 10_000 + "]\n"
    assert len(finding_keys([at(long, "x =")], lambda _: long)[0].line) < 200
    longer = long.replace("]", "2]")
    assert known(long, at(long, "x =")) != known(longer, at(longer, "x ="))
    assert finding_keys([at("x = 1\n", "x")], lambda _: "")[0].line == ""
