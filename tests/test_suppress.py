from __future__ import annotations

import sys
from textwrap import dedent

import pytest

from reports import at
from rlint.findings import Finding
from rlint.fixing.apply_fixes import apply
from rlint.suppression.directives import may_concern
from rlint.suppression.suppressions import add_noqa, parse

KNOWN = {"RL101": "concat-grown-buffer", "RL102": "list-grown-buffer", "RL201": "blocking-transfer"}
ALL_ACTIVE = [*KNOWN, "RL900", "RL901"]


def on(line: int, code: str = "RL101", first: int | None = None, last: int | None = None) -> Finding:
    """A finding on a line, in a statement from `first` to `last`."""
    return Finding(code, KNOWN[code], "m", "a.py", at(line), at(line), first or line, last or line)


def hides(
    text: str, line: int, code: str = "RL101", first: int | None = None, last: int | None = None
) -> bool:
    """Whether the comments of `text` suppress a finding there, with or without those of other linters."""
    text, finding = dedent(text), on(line, code, first, last)
    hidden = parse(text).hides(finding)
    assert parse(text, {"RL"}).hides(finding) is hidden
    return hidden


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "#noqa",
        "# NoQA",
        "# noqa because it is small",
        "# noqa: RL101",
        "# noqa:RL101",
        "# noqa : RL101",
        "# NOQA: rl101",
        "# noqa: E501, RL101",
        "# noqa: E501 RL101",
        "# noqa: RL101 the buffer is small",
        "# noqa: RL1",
        "# noqa: RL",
        "# type: ignore # noqa: RL101",
        "# type: ignore  # noqa: RL101  # pragma: no cover",
        "# rlint: ignore",
        "# rlint:ignore",
        "# rlint: ignore[RL101]",
        "# rlint: ignore [RL101]",
        "# rlint: ignore[concat-grown-buffer, RL2]",
        "# rlint: ignore[RL2, RL1]",
        "# rlint: ignore[ALL]",
        "# noqa: E501  # rlint: ignore[RL101]: it is small",
    ],
)
def test_comment_on_the_line_hides_the_finding(comment: str) -> None:
    """Each of these comments suppresses the finding on its line."""
    assert hides(f"x = cat(x)  {comment}\n", 1)


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa: RL102",
        "# noqa: E501",
        "# noqa: PERL101",
        "# noqa: because",
        "# noqa-off",
        "# noqaRL101",
        "# see `# noqa: RL101`",
        "# ruff: noqa: RL101",
        "# flake8: noqa",
        "# rlint: ignore[RL102]",
        "# rlint: ignore[]",
        "# rlint: ignore[RL101",
        "# rlint: ignored",
        "# rlint ignore",
        "# rlint: skip-file",
    ],
)
def test_comment_about_something_else_hides_nothing(comment: str) -> None:
    """None of these suppresses RL101 on its line."""
    assert not hides(f"x = cat(x)  {comment}\n", 1)


def test_words_in_strings_hide_nothing() -> None:
    """A string that looks like a comment suppresses nothing."""
    text = '''\
    x = cat(x, "# noqa")
    y = """
    # rlint: skip-file
    # rlint: ignore
    """
    z = cat(z)
    '''
    assert not hides(text, 1)
    assert not hides(text, 6)


@pytest.mark.parametrize("comment", ["# noqa: RL101", "# rlint: ignore[RL101]"])
@pytest.mark.parametrize("line", [1, 2, 3, 4])
def test_comment_on_any_line_of_a_statement_counts_for_all_of_it(comment: str, line: int) -> None:
    """The comment suppresses the finding wherever a formatter moves it."""
    lines = ["x = cat(", "    x,", "    y,", ")"]
    lines[line - 1] += f"  {comment}"
    assert hides("\n".join(lines), 1, first=1, last=4)


def test_comment_after_a_long_string_counts_for_its_statement() -> None:
    """The only place for a comment is after the string's last line."""
    assert hides('x = cat(x, """\n\n""")  # noqa: RL101\n', 1, first=1, last=3)


def test_comment_on_a_header_does_not_count_for_the_body() -> None:
    """A comment on a loop's header does not suppress findings in the loop."""
    text = """\
    # rlint: ignore
    for x in batches:
        y = cat(y)
    """
    assert hides(text, 2)
    assert not hides(text, 3)
    assert not hides("for x in batches:  # noqa\n    y = cat(y)\n", 2)


def test_ignore_above_counts_for_the_next_statement_alone() -> None:
    """One comment above a statement suppresses findings on all its lines and none after it."""
    text = """\
    # rlint: ignore[RL101]
    # because the buffer is small
    x = cat(
        x,
    )
    y = cat(y)
    """
    assert hides(text, 4, first=3, last=5)
    assert not hides(text, 6)


def test_ignore_above_a_decorator_counts_for_the_function_header() -> None:
    """The comment is above the whole definition, including decorators."""
    text = """\
    # rlint: ignore
    @torch.no_grad()
    @other
    def act(
        self,
    ):
        return cat(self)
    """
    assert hides(text, 4, first=4, last=6)
    assert not hides(text, 7)


@pytest.mark.parametrize(
    "above",
    [
        "# noqa: RL101\n",
        "# rlint: ignore\n\n",
        "# y = cat(y)  # rlint: ignore\n",
        "y = 1  # rlint: ignore\n",
    ],
)
def test_these_comments_above_hide_nothing(above: str) -> None:
    """`noqa` never counts for the next line, nor does `ignore` that belongs to something else."""
    line = above.count("\n") + 1
    assert not hides(f"{above}x = cat(x)\n", line)


def test_skip_file_as_a_line_of_its_own_skips_the_file() -> None:
    """Anywhere in the file, as long as it is an unindented comment line."""
    assert parse("import torch\n\n# rlint: skip-file\nx = 1\n").skip_file
    assert not parse("import torch  # rlint: skip-file\n").skip_file
    assert not parse("def f():\n    # rlint: skip-file\n    pass\n").skip_file


BLOCKS = """\
a = cat(a)
# rlint: disable[RL101]
b = cat(b)


def f(c):
    c = cat(c)
    # rlint: disable
    d = cat(d)
    return d


# rlint: enable[RL101]
e = cat(e)
"""


@pytest.mark.parametrize(
    ("line", "code", "hidden"),
    [
        (1, "RL101", False),
        (3, "RL101", True),
        (3, "RL201", False),
        (7, "RL101", True),
        (9, "RL201", True),
        (14, "RL101", False),
        (14, "RL201", False),
    ],
)
def test_a_block_is_hidden_from_disable_to_enable(line: int, code: str, hidden: bool) -> None:
    """Without an `enable`, the block ends with the function that contains the comment."""
    assert hides(BLOCKS, line, code) is hidden


def test_a_block_at_the_end_of_a_file_needs_no_enable() -> None:
    """A rule disabled at module level stays disabled to the end."""
    text = "x = 1\n# rlint: disable[RL1]\ny = 2\n\n\ndef f():\n    z = 3\n"
    assert hides(text, 7)
    assert not hides(text, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# rlint: enable[RL101]\n", "no `rlint: disable` with these codes is open"),
        ("# rlint: disable[RL101]\n# rlint: enable[RL201]\n", "no `rlint: disable` with these codes is open"),
        (
            "if x:\n    # rlint: disable\n    y = 1\n# rlint: enable\n",
            "no `rlint: disable` with these codes is open",
        ),
        ("x = 1  # rlint: disable[RL101]\n", "counts only on a line of its own"),
        ("# rlint: disable[RL101\n", "has no closing bracket"),
    ],
)
def test_marks_of_blocks_that_mean_nothing_are_reported(text: str, message: str) -> None:
    """A misspelt code in one of the two comments is reported."""
    messages = reported(text, on(1), on(3))[0]
    assert any(each.startswith("RL901") and message in each for each in messages), messages


def test_a_block_that_hides_nothing_is_removed_with_both_comments() -> None:
    """Codes that suppress nothing are removed, too."""
    text = "# rlint: disable[RL101, RL201]\nx = 1\n# rlint: enable[RL201,RL101]\ny = 2\n"
    assert reported(text)[1] == "x = 1\ny = 2\n"
    assert reported(text, on(2))[1] == "# rlint: disable[RL101]\nx = 1\n# rlint: enable[RL101]\ny = 2\n"


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_other_line_ends_count_as_python_counts_them(newline: str) -> None:
    """Files from other systems, and form feeds, do not shift the comments."""
    text = newline.join(["x = 1", "\x0c", "y = cat(y)  # noqa: RL101", "z = 1"])
    assert hides(text, 3)
    assert not hides(text, 4)


@pytest.mark.parametrize("text", ["x = (  # noqa\n", "\x00 # noqa", "  x\n y # rlint: ignore", "", "# noqa"])
def test_broken_files_do_no_harm(text: str) -> None:
    """A file that cannot be tokenised has no suppressions."""
    parse(text).report("a.py", KNOWN, ALL_ACTIVE)


def test_file_that_mentions_no_suppression_is_not_tokenised(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most files have no suppression comments and cost nothing."""
    monkeypatch.setattr("rlint.suppression.suppressions.read_layout", pytest.fail)
    assert not parse("x = cat(x)  # grows\n").hides(on(1))


def reported(text: str, *hidden: Finding, active: list[str] = ALL_ACTIVE) -> tuple[list[str], str]:
    """Messages about the comments after suppressing `hidden`, and the fixed text."""
    suppressions = parse(text)
    for one in hidden:
        suppressions.hides(one)
    found = suppressions.report("a.py", KNOWN, active)
    return [f"{one.code} {one.message}" for one in found], apply(text, found, unsafe=False)[0]


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("x = 1  # noqa: RL101\n", "x = 1\n"),
        ("x = 1\t# rlint: ignore[RL101]  \r\ny = 2\r\n", "x = 1\r\ny = 2\r\n"),
        ("x = 1  # noqa: RL101", "x = 1"),
        ("x = 1  # noqa: E501, RL101\n", "x = 1  # noqa: E501\n"),
        ("x = 1  # noqa: RL101,E501,RL201\n", "x = 1  # noqa: E501\n"),
        ("x = 1  # type: ignore  # noqa: RL101\n", "x = 1  # type: ignore\n"),
        ("x = 1  # noqa: RL101  # type: ignore\n", "x = 1  # type: ignore\n"),
        ("x = 1  # noqa: RL101: it is small\n", "x = 1  # it is small\n"),
        ("if a:\n    # rlint: ignore[concat-grown-buffer]\n    x = 1\n", "if a:\n    x = 1\n"),
        ("x = 1  # rlint: ignore[]\n", "x = 1\n"),
        ("x = 1  # noqa: RL1\n", "x = 1\n"),
        ("# x = cat(x)  # noqa: RL101\n", "# x = cat(x)\n"),
    ],
)
def test_useless_code_is_reported_and_removed(text: str, fixed: str) -> None:
    """Unused codes are removed; other tools' codes, other comments and the reason are kept."""
    messages, result = reported(text)
    assert [message[:5] for message in messages] == ["RL900"]
    assert result == fixed
    assert reported(result)[0] == []


@pytest.mark.parametrize(
    "text",
    [
        "x = 1  # noqa\n",
        "x = 1  # noqa: E501\n",
        "x = 1  # noqa: XYZ123, PERF401\n",
        "x = 1  # noqa: RL900, RL101\n",
        "x = 1  # ruff: noqa: RL101\n",
        "# rlint: skip-file\nx = 1  # noqa: RL101\n",
        "x = 1  # just rlint and noqa\n",
    ],
)
def test_comments_that_may_be_of_use_are_not_reported(text: str) -> None:
    """Bare comments, other tools' codes, and reasons are not reported."""
    assert reported(text) == ([], text)


def test_comment_that_hid_a_finding_is_not_reported() -> None:
    """Both forms count as used, even if they suppress the same finding."""
    text = "x = cat(x)  # noqa: RL101  # rlint: ignore[concat-grown-buffer]\n"
    assert reported(text, on(1)) == ([], text)


def test_comment_for_a_rule_that_was_off_is_not_reported() -> None:
    """A comment for a rule that was not checked is not reported as unused."""
    text = "x = cat(x)  # noqa: RL201\ny = cat(y)  # rlint: ignore[RL1]\nz = 1  # rlint: ignore\n"
    assert reported(text, active=["RL101", "RL900", "RL901"])[0] == []


def test_bare_ignore_is_reported_when_every_rule_was_on() -> None:
    """An `enable` without a remaining `disable` is removed."""
    assert reported("x = 1  # rlint: ignore\n") == (
        ["RL900 `rlint: ignore` suppresses no finding"],
        "x = 1\n",
    )


def test_reports_come_only_when_selected() -> None:
    """Both are off unless asked for."""
    assert reported("x = 1  # noqa: RL101, RL999\n", active=[*KNOWN])[0] == []
    assert len(reported("x = 1  # noqa: RL101, RL999\n", active=[*KNOWN, "RL901"])[0]) == 1


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("# noqa: RL999", "unknown rule `RL999`"),
        ("# noqa: RL77", "unknown rule `RL77`"),
        ("# rlint: ignore[concat-grown-bufer]", "did you mean `concat-grown-buffer`?"),
        ("# rlint: ignore[E501]", "unknown rule `E501`"),
        ("# rlint: ignroe[RL101]", "did you mean `ignore`?"),
        ("# rlint: ignore[RL101", "closing bracket"),
        ("# rlint: skip-file", "unindented line of its own"),
    ],
)
def test_comment_that_names_no_rule_is_reported(comment: str, message: str) -> None:
    """Ineffective comments are distinguished from effective ones."""
    messages, _ = reported(f"x = 1  {comment}\n")
    assert len(messages) == 1
    assert messages[0].startswith("RL901 ")
    assert message in messages[0]


def added(text: str, *findings: Finding) -> str:
    """`text` after --add-noqa; checks that it hides the findings and that a second run changes nothing."""
    result = add_noqa(text, findings)
    assert add_noqa(result, findings) == result
    suppressions = parse(result)
    assert all(suppressions.hides(one) for one in findings)
    compile(result, "a.py", "exec")
    return result


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = [x]\n", "x = [x]  # noqa: RL101\n"),
        ("x = [x]", "x = [x]  # noqa: RL101"),
        ("x = [x]  \r\ny = 1\r\n", "x = [x]  # noqa: RL101\r\ny = 1\r\n"),
        ("x = [x]  # grows\n", "x = [x]  # grows  # noqa: RL101\n"),
        ("x = [x]  # noqa: E501\n", "x = [x]  # noqa: E501, RL101\n"),
        ("x = [x]  # noqa: E501 too long\n", "x = [x]  # noqa: E501, RL101 too long\n"),
        ("x = [x]  # rlint: ignore[RL201]\n", "x = [x]  # rlint: ignore[RL201]  # noqa: RL101\n"),
        ("x = [x]  # noqa\n", "x = [x]  # noqa\n"),
        ("# rlint: ignore\nx = [x]\n", "# rlint: ignore\nx = [x]\n"),
    ],
)
def test_added_comment_joins_what_is_there(text: str, expected: str) -> None:
    """The codes are added to an existing list; suppressed findings get no comment."""
    line = 1 + text.startswith("# rlint")
    assert added(text, on(line)) == expected


def test_added_codes_of_one_line_share_a_comment() -> None:
    """Sorted, each once."""
    findings = [on(1, "RL201"), on(1), on(1)]
    assert added("x = [x]\n", *findings) == "x = [x]  # noqa: RL101, RL201\n"


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        ("x = [\n    1,\n]\n", on(1, first=1, last=3), "x = [\n    1,\n]  # noqa: RL101\n"),
        ("x = 1 + \\\n    2\n", on(1), "x = 1 + \\\n    2  # noqa: RL101\n"),
        ('x = 1; y = """a\nb"""\n', on(1), 'x = 1; y = """a\nb"""  # noqa: RL101\n'),
        ('y = f"""a\n{1}\nb"""\n', on(2, first=2, last=2), 'y = f"""a\n{1}\nb"""  # noqa: RL101\n'),
        ("if (1 and\n        2):\n    pass\n", on(1, first=1, last=2), None),
    ],
)
def test_added_comment_stands_where_one_may_stand(text: str, place: Finding, expected: str | None) -> None:
    """A comment cannot be added in a string or after a backslash."""
    result = added(text, place)
    assert expected is None or result == expected


def test_reports_about_comments_get_no_comment() -> None:
    """A finding about an unused comment is not suppressed by another comment."""
    text = "x = 1  # noqa: RL101\n"
    (useless,) = parse(text).report("a.py", KNOWN, ALL_ACTIVE)
    assert add_noqa(text, [useless]) == text


def test_broken_file_is_left_as_it_is() -> None:
    """If the text cannot be tokenised, no comment is added."""
    assert add_noqa("x = (\n", [on(1)]) == "x = (\n"


@pytest.mark.skipif(sys.version_info < (3, 12), reason="such f-strings came with Python 3.12")
def test_comment_inside_a_nested_f_string_expression() -> None:
    """Quotes nest in newer f-strings; a `#` in them is text."""
    assert not hides('x = f"{f"# noqa"}"\n', 1)
    assert hides('x = f"{f"{1}"}"  # noqa\n', 1)


@pytest.mark.parametrize(
    ("comment", "is_read"),
    [
        ("# noqa: E501", False),
        ("# noqa: F401, UP007", False),
        ("# noqa: E501, RL101", True),
        ("# noqa", True),
        ("# noqa: because it is small", False),
        ("# rlint: ignore[ACME1]", True),
        ("'#'# noqa: rl1", True),
        ("`# noqa: RL101`", True),
        ("# the rlint of others, and their noqa", False),
    ],
)
def test_a_text_is_tokenised_only_for_comments_that_may_matter(comment: str, is_read: bool) -> None:
    """Most comments for linters are for other linters."""
    assert may_concern(f"x = 1  {comment}\n", {"RL"}) is is_read


@pytest.mark.parametrize(
    ("comment", "is_read"),
    [
        ("# noqa", False),
        ("# noqa - somebody else's", False),
        ("# noqa: F401", False),
        ("# noqa: RL101", True),
        ("# rlint: ignore", True),
        ("# rlint: skip-file", True),
        ("# noqa  # rlint: ignore[RL101]", True),
    ],
)
def test_where_nothing_is_found_only_what_names_rules_is_read(comment: str, is_read: bool) -> None:
    """A bare `noqa` that hides nothing may be meant for another tool, and is no mistake."""
    text = f"x = 1  {comment}\n"
    assert may_concern(text, {"RL"}, has_findings=False) is is_read
    known = {"RL101": "concat-grown-buffer", "RL900": "unused", "RL901": "unknown"}
    reports = [
        parse(text, {"RL"}, has_findings=has_findings).report("x.py", known, known)
        for has_findings in (True, False)
    ]
    assert reports[0] == reports[1]
