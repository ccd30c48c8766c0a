from __future__ import annotations

import contextlib
import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence_sessions import MACHINE
from rlint.evidence import results
from rlint.evidence.results import RuleOutcome, Session, Verdict
from rlint.evidence.results_codec import FormatError, from_json, to_json

# JSON texts are written in UTF-8, which has no lone surrogates.
st.register_type_strategy(str, st.text(st.characters(codec="utf-8"), max_size=8))
st.register_type_strategy(float, st.floats(allow_nan=False))
JSON = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("ab<\n")
)
for cls in vars(results).values():
    if dataclasses.is_dataclass(cls):
        with contextlib.suppress(TypeError):
            cls()  # constructors are generated on the first call, and hypothesis inspects their signatures
OUTCOMES = st.builds(RuleOutcome, estimate=st.none() | st.dictionaries(st.text("abc"), JSON))
SESSIONS = st.builds(Session, outcomes=st.lists(OUTCOMES, max_size=3).map(tuple))


@given(SESSIONS)
def test_a_session_comes_back_as_it_was(session: Session) -> None:
    """A file of results contains the measurements to the last digit."""
    text = json.dumps(to_json(session), allow_nan=False)
    assert from_json(json.loads(text)) == session


BASE = RuleOutcome("RL101", "slow", "w", "W", "cpu", "rows", 10, Verdict.NO_CHANGE)


def session(**changes: object) -> dict[str, Any]:
    """A session in JSON, with one outcome that has these changes."""
    data = to_json(Session(MACHINE, "", 1.0, quick=False, outcomes=(BASE,)))
    data["outcomes"][0].update(changes)
    return data


def test_every_key_is_there_even_where_there_is_nothing_to_say() -> None:
    """A program that reads the file needs no defaults."""
    assert session()["outcomes"] == [
        {
            "subject": "RL101",
            "name": "slow",
            "workload": "w",
            "title": "W",
            "device": "cpu",
            "unit": "rows",
            "typical": 10,
            "verdict": "no change",
            "claims": [],
            "reason": None,
            "behaviour": None,
            "measurements": [],
            "estimate": None,
            "failed": False,
        }
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"verdict": "fine"}, "verdict: is 'fine', none of 'faster', 'no change'"),
        ({"typical": "10"}, "typical: is no whole number"),
        ({"typical": True}, "typical: is no whole number"),
        ({"failed": 1}, "failed: is no truth value"),
        ({"claims": "time"}, "claims: is no array"),
        ({"claims": ["time", 3]}, "claims[1]: is no text"),
        ({"estimate": []}, "estimate: is no object"),
        ({"colour": "red"}, "colour: unknown key"),
        ({"behaviour": {"seeds": 1, "sizes": [1]}}, "behaviour.cases: is missing"),
        ({"behaviour": 3}, "behaviour: is no object"),
        ({"measurements": [{"ratio": {"value": "fast"}}]}, "measurements[0].ratio.value: is no number"),
    ],
)
def test_a_broken_file_is_refused_with_the_place(changes: dict[str, object], message: str) -> None:
    """For an edited file, or one of another version, the error says where it is wrong."""
    with pytest.raises(FormatError) as refusal:
        from_json(session(**changes))
    assert str(refusal.value).startswith(f"outcomes[0].{message}")


@pytest.mark.parametrize("data", [[], {}, {"schema": 2}, {"schema": "1"}])
def test_another_schema_is_refused(data: Any) -> None:
    """Results in another version of the format are refused."""
    with pytest.raises(FormatError, match=r"schema|session"):
        from_json(data)
