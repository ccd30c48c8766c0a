from __future__ import annotations

import dataclasses
import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlint.evidence.results import Behaviour, Difference, Ratio, RuleOutcome, Session, Verdict
from rlint.evidence.results_codec import from_json
from rlint.output.verify import FORMATS, render
from rlint.output.verify.figures import amount, change, ratio_text
from verify_sessions import (
    COUNTS,
    CPU,
    CUDA,
    DIFFERENT,
    EVERYTHING,
    FAILED,
    FASTER,
    HOSTILE,
    NO_CHANGE,
    SLOWER,
    outcome,
    session,
)

every_format = pytest.mark.parametrize("format_", FORMATS)


# --- figures ---


@pytest.mark.parametrize(
    ("value", "low", "high", "expected"),
    [
        (5.2401, 5.11, 5.39, "5.24× (5.1–5.4)"),
        (83.2, 79.4, 87.6, "83× (79–88)"),
        (1.021, 0.991, 1.049, "1.02× (0.99–1.05)"),
        (13.5, 12.0, 15.0, "13.5× (12–15)"),
        (1234.0, 1110.0, 1390.0, "1,230× (1,100–1,400)"),
        (1.00012, 1.00008, 1.00016, "1.00× (1.00–1.01)"),
        (1.02, 0.21, 5.6, "1.0× (0.2–6)"),
        (0.31, 0.052, 2.4, "0.3× (0.05–3)"),
        (2.0, 2.0, 2.0, "2.0×"),
        (250.0, 250.0, 250.0, "250×"),
        (float("inf"), float("inf"), float("inf"), "∞×"),
        (3.0, 1.5, float("inf"), "3.0× (1.50–∞)"),
    ],
)
def test_a_ratio_has_the_digits_that_its_interval_supports(
    value: float, low: float, high: float, expected: str
) -> None:
    """A reader cannot take noise for precision."""
    assert ratio_text(Ratio(value, low, high)) == expected


@given(st.floats(0.01, 1e5), st.floats(1.0001, 2), st.floats(1.0001, 2))
def test_a_shown_interval_is_never_narrower_than_the_measured_one(
    value: float, below: float, above: float
) -> None:
    """Rounding does not make a measurement look more precise, and the value is within the bounds."""
    text = ratio_text(Ratio(value, value / below, value * above)).replace(",", "")
    shown, low, high = (float(number) for number in re.findall(r"[\d.]+", text))
    assert low <= value / below * (1 + 1e-6)
    assert high >= value * above * (1 - 1e-6)
    assert low <= shown <= high


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (0.0012345, "s", "1.23 ms"),
        (83e-6, "s", "83.0 µs"),
        (0.9999, "s", "1.00 s"),
        (123.4, "s", "123 s"),
        (0.0, "s", "0 s"),
        (410_000_000, "bytes", "410 MB"),
        (2_100_000, "bytes", "2.10 MB"),
        (512, "bytes", "512 bytes"),
        (1024, "count", "1,024"),
        (2.5, "count", "2.5"),
    ],
)
def test_costs_have_three_digits_and_a_unit_that_suits(value: float, unit: str, expected: str) -> None:
    """Milliseconds are milliseconds, and bytes megabytes."""
    assert amount(value, unit) == expected


def test_a_unit_that_both_figures_share_is_said_once() -> None:
    """Each of two values has its own unit if they differ."""
    assert change(410e6, 205e6, "bytes") == "410 → 205 MB"
    assert change(1.2e-3, 83e-6, "s") == "1.20 ms → 83.0 µs"


# --- the table ---


def test_a_table_has_a_row_for_each_workload_and_device() -> None:
    """All results are in one line, those other than time with their names."""
    lines = render(session(FASTER, CPU, NO_CHANGE, COUNTS, CUDA), "table").splitlines()
    assert [re.split(r" {2,}", line.strip()) for line in lines[:11]] == [
        ["Rule", "Workload", "Device", "Size", "Behaviour", "Verdict", "Before / after", "Growth", "Memory"],
        [
            "RL101 concat-grown-buffer", "append-states", "cpu", "10,000 transitions", "same in 160 cases",
            "faster", "5.24× (5.0–5.4)", "1.98 → 1.02", "410 → 205 MB",
        ],
        ["less memory", "memory 2.0×"],
        ["slower growth"],
        [
            "RL401 busy-wait-sleep", "actor-queue", "cpu", "64 batches", "same in 60 cases",
            "less processor time", "cpu 13.5× (12–15)", "–", "–",
        ],
        ["time 1.02× (0.98–1.05)"],
        [
            "RL201 blocking-transfer", "batch-to-device", "cpu", "4,096 rows", "same in 160 cases",
            "no change", "1.02× (0.98–1.05)", "–", "–",
        ],
        [
            "RL203 item-in-loop", "log-losses", "cpu", "1,000 steps", "same in 160 cases",
            "fewer synchronisations", "syncs 1,000 → 1", "–", "–",
        ],
        ["fewer allocations", "allocations 2,000 → 0"],
        ["time 1.02× (0.98–1.06)"],
        [
            "RL201 blocking-transfer", "batch-to-device", "cuda", "4,096 rows", "not compared",
            "not run here", "–", "–", "–",
        ],
    ]  # fmt: skip


def test_what_is_wrong_or_missing_is_explained_below_the_table() -> None:
    """The report says what differs, for which inputs, and because of which fixes."""
    text = render(EVERYTHING, "table")
    assert text[text.index("\n\n") + 2 :] == (
        "RL207 loader-epoch on cpu (pin-memory): slower\n"
        "  time at 512 rows: 0.83× (0.80–0.86), 1.20 → 1.45 ms\n"
        "  time at 2,048 rows: 0.83× (0.80–0.86), 4.80 → 5.78 ms\n"
        "\n"
        "RL301 softplus-scale on cpu (cached-parameter): different behaviour\n"
        "  exception of `result` at seed 3, size 1; caused by the safe fixes\n"
        "    before  no exception\n"
        f"    after   ValueError: {HOSTILE}\n"
        "  gradient of `inputs[0].scale` at seed 0, size 7, and in 11 more cases; "
        "caused by the unsafe fixes\n"
        "    before  tensor([0.1234])\n"
        "    after   None\n"
        "\n"
        "src/agents/learner.py learn-step on cpu: failed\n"
        "  was killed at its limit of 60 s\n"
        "\n"
        "Not run here: no GPU that torch can use\n"
        "  RL201 batch-to-device on cuda\n"
        "\n"
        "3 faster, 1 no change, 1 slower, 1 different behaviour, 1 not run here (no GPU that torch can use), "
        "1 failed in 183 s\n"
    )


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140, 200])
def test_a_table_fits_its_terminal(width: int) -> None:
    """No line is wider than the terminal, and no figure is broken, however narrow it is."""
    text = render(EVERYTHING, "table", width=width)
    assert [line for line in text.splitlines() if len(line) > width] == []
    for figure in (
        "5.24× (5.0–5.4)",
        "cpu 13.5× (12–15)",
        "410 → 205 MB",
        "1.98 → 1.02",
        "0.83× (0.80–0.86)",
    ):
        assert figure in text
    for row in ("RL101", "RL401", "RL201", "RL203", "RL207", "RL301", "src/agents/learner.py"):
        assert row in text


def test_a_reason_is_not_reported_twice() -> None:
    """The reason is omitted if the list of differences says the same."""
    first = str(DIFFERENT.behaviour.differences[0]) if DIFFERENT.behaviour else ""
    with_reason = dataclasses.replace(DIFFERENT, reason=first)
    assert render(session(with_reason), "table") == render(session(DIFFERENT), "table")


def test_a_program_that_cannot_be_loaded_is_one_failure() -> None:
    """It has no workload to name."""
    broken = outcome("RL999", "gone", "", Verdict.NOT_RUN, reason="a.py:3: cannot be loaded", failed=True)
    text = render(session(broken), "table")
    assert "RL999 (gone): failed\n  a.py:3: cannot be loaded\n" in text
    assert "1 failed in 183 s" in text


def test_growth_that_got_worse_is_called_steeper() -> None:
    """Worse growth does not read like better time."""
    (growth,) = (one for one in FASTER.measurements if one.claim == "exp")
    worse = dataclasses.replace(growth, before=1.02, after=1.98, verdict=Verdict.SLOWER)
    one = outcome("RL101", "x", "w", Verdict.SLOWER, (worse,), claims=("exp",))
    text = render(session(one), "table")
    assert "steeper growth" in text
    assert "growth 1.02 → 1.98" in text


def test_colour_marks_only_what_needs_attention() -> None:
    """Neither a gain nor its absence is coloured."""
    fine = render(session(FASTER, NO_CHANGE), "table", color=True)
    assert fine.count("\x1b[1m") == len(re.findall(r"\x1b\[[1-9][\d;]*m", fine)) == 9  # the titles
    bad = render(session(SLOWER, DIFFERENT), "table", color=True)
    assert "\x1b[1;33mslower" in bad
    assert "\x1b[1;31mdifferent behaviour" in bad
    assert "\x1b" not in render(EVERYTHING, "table")


@pytest.mark.parametrize("format_", ["table", "markdown", "html"])
def test_quick_and_interrupted_runs_say_so(format_: str) -> None:
    """A quick or a partial run is marked as such."""
    partial = render(session(FASTER, quick=True, interrupted=True), format_)
    assert "Quick run" in partial
    assert "Interrupted" in partial
    whole = render(session(FASTER), format_)
    assert "Quick run" not in whole
    assert "Interrupted" not in whole


@pytest.mark.parametrize("format_", ["table", "markdown", "html"])
def test_nothing_verified_is_said(format_: str) -> None:
    """The page of an empty run has content."""
    assert "Nothing was verified" in render(session(), format_)


@every_format
def test_a_busy_machine_is_reported(format_: str) -> None:
    """Figures that other programs disturbed are marked."""
    busy = render(dataclasses.replace(EVERYTHING, busy=74.2), format_)
    if format_ == "json":
        assert json.loads(busy)["busy"] == 74.2
    else:
        assert "Other programs used 74 % of this machine when the run began" in busy
        assert "Other programs used" not in render(dataclasses.replace(EVERYTHING, busy=12.0), format_)


@every_format
def test_what_is_left_out_is_reported_with_its_reason(format_: str) -> None:
    """The verdict "same" mentions that a workload excludes NaN."""
    behaviour = Behaviour(20, (1,), 20, excluded={"inputs with NaN": "rewards are finite"})
    text = render(session(dataclasses.replace(FASTER, behaviour=behaviour)), format_)
    assert "inputs with NaN" in text
    assert "rewards are finite" in text


@every_format
def test_a_difference_says_in_which_call_it_shows(format_: str) -> None:
    """For a stale cache, the report names the later call that differs."""
    when = "in call 3 on the same inputs"
    wrong = Difference("value", "result", 2, 7, "1", "2", "safe", when)
    behaviour = Behaviour(20, (1,), 20, (wrong,))
    text = render(session(dataclasses.replace(DIFFERENT, behaviour=behaviour)), format_)
    assert when in text


@every_format
def test_too_few_cases_are_reported(format_: str) -> None:
    """No format says "same" if too few cases were compared, and each says why."""
    few = dataclasses.replace(
        FASTER,
        verdict=Verdict.NOT_ENOUGH,
        reason="3 of 20 seeds were compared",
        behaviour=Behaviour(20, (1, 4), 33, fewest=3),
        measurements=(),
    )
    assert session(few).failed
    text = render(session(few), format_)
    assert "not enough cases" in text
    assert "3 of 20 seeds were compared" in text
    assert "same" not in text.lower() or format_ in ("json", "html")


@every_format
def test_control_characters_do_not_reach_the_reader(format_: str) -> None:
    """Output of a program cannot control the terminal."""
    reason = "\x1b]0;taken\x07 over \u202e"
    text = render(session(dataclasses.replace(FAILED, reason=reason)), format_)
    assert not {"\x1b", "\x07", "\u202e"} & set(text)


# --- JSON ---


@pytest.mark.parametrize("one", [EVERYTHING, session(), session(FAILED, quick=True, interrupted=True)])
def test_json_holds_everything(one: Session) -> None:
    """A program can read the whole session back, the instrument's floor included."""
    data = json.loads(render(one, "json"))
    assert data["schema"] == 1
    assert from_json(data) == one


def test_json_gives_verdicts_by_their_words_and_the_floor() -> None:
    """A script can read one figure without a library."""
    data = json.loads(render(session(FASTER), "json"))
    (found,) = data["outcomes"]
    assert found["verdict"] == "faster"
    assert found["measurements"][0]["control"] == {"value": 1.003, "low": 0.985, "high": 1.02}


# --- Markdown ---


def test_a_comment_has_a_table_that_github_can_read() -> None:
    """All rows have as many cells as the header, whatever they contain."""
    odd = dataclasses.replace(FASTER, subject="a|b.py", workload="*x*`", unit="<b>|")
    text = render(session(odd, *EVERYTHING.outcomes), "markdown")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + 9
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {10}
    assert r"a\|b.py" in text
    assert "**different behaviour**" in text
    assert "**no change**" not in text


def test_a_comment_mentions_no_user_and_runs_nothing() -> None:
    """Hostile text stays text: it closes no block, mentions no one, and loads no picture."""
    failed = dataclasses.replace(FAILED, reason=f"{HOSTILE} #12", workload="<img src=x> @team")
    text = render(session(DIFFERENT, failed), "markdown")
    assert len(re.findall("<details>", text)) == len(re.findall("</details>", text)) == 3
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    assert not re.search(r"(?<!\\)<(img|script)", outside)
    assert not re.search(r"[@#]\w", outside)


def test_a_comment_unfolds_into_reasons_and_the_machine() -> None:
    """Differences, notes and the machine are included, but collapsed."""
    text = render(EVERYTHING, "markdown")
    titles = re.findall("<summary>(.*)</summary>", text)
    assert titles == [
        "RL207 loader-epoch on cpu: slower",
        "RL301 softplus-scale on cpu: different behaviour",
        "src/agents/learner.py learn-step on cpu: failed",
        "Not run here",
        "Notes",
        "Machine and method",
    ]
    assert "- gradient of `inputs[0].scale` at seed 0, size 7, and in 11 more cases" in text
    assert "  - before: `tensor([0.1234])`\n  - after: `None`" in text
    assert "- torch: 2.13.0+cpu" in text


# --- HTML, as text; tests/harness/test_report_page.py looks at it in a browser ---


class _Balance(HTMLParser):
    """Records elements that are not closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.loads: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loads += [(name, value) for name, value in attrs if name in ("src", "href", "srcset", "data")]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


@pytest.mark.parametrize("one", [EVERYTHING, session(), session(FAILED), session(COUNTS, quick=True)])
def test_a_page_is_well_formed_and_refers_to_nothing_outside(one: Session) -> None:
    """The file can be mailed, archived and opened without a network."""
    text = render(one, "html")
    page = _Balance()
    page.feed(text)
    assert (page.open, page.wrong) == ([], [])
    assert [value for _, value in page.loads if not (value or "").startswith("#outcome-")] == []
    assert not re.search(r"url\(|@import|https?:", text)


@given(st.text(), st.text(), st.sampled_from(FORMATS))
def test_no_text_breaks_a_report(name: str, reason: str, format_: str) -> None:
    """Every format is valid, whatever names and messages contain."""
    one: RuleOutcome = dataclasses.replace(FAILED, subject=name, workload=reason, reason=reason)
    text = render(session(one, FASTER), format_)
    text.encode()
    if format_ == "html":
        page = _Balance()
        page.feed(text)
        assert (page.open, page.wrong) == ([], [])
