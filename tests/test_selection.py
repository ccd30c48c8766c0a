from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rlint.config.options import GivenBy, Layer
from rlint.config.selection import default_codes, selected_codes
from rlint.errors import RlintError
from rlint.registry.catalogue import catalogue

RULES = {entry.code for entry in catalogue() if not entry.opt_in}
RL3 = {code for code in RULES if code.startswith("RL3")}


def select(*layers: dict[str, Any]) -> frozenset[str]:
    """The codes that layers of options, weakest first, select."""
    return selected_codes(
        Layer(
            "command line",
            GivenBy.OPTION,
            Path("/"),
            {key.replace("_", "-"): value for key, value in layer.items()},
        )
        for layer in layers
    )


def test_the_default_is_every_rule_that_is_not_opt_in() -> None:
    """Without options, all rules except opt-in ones are checked."""
    assert select() == default_codes() == RULES
    assert "RL900" not in RULES


def test_select_by_prefix_code_name_and_all() -> None:
    """`--select` accepts the same selectors as ruff, and names."""
    assert select({"select": ["RL3"]}) == RL3
    assert select({"select": ["RL303"]}) == select({"select": ["hard-target-copy"]}) == {"RL303"}
    assert select({"select": ["RL101", "RL201"]}) == {"RL101", "RL201"}
    assert select({"select": ["ALL"]}) == {entry.code for entry in catalogue()}


def test_opt_in_rules_need_their_code_their_name_or_all() -> None:
    """A prefix does not enable opt-in rules."""
    assert select({"select": ["RL9"]}) == frozenset()
    assert select({"select": ["RL"]}) == RULES
    assert select({"extend_select": ["RL900"]}) == RULES | {"RL900"}
    assert select({"extend_select": ["unused-suppression"]}) == RULES | {"RL900"}


def test_the_more_specific_selector_wins() -> None:
    """A rule that is named stays selected if its family is ignored, and vice versa."""
    assert select({"select": ["RL3"], "ignore": ["RL303"]}) == RL3 - {"RL303"}
    assert select({"select": ["RL303"], "ignore": ["RL3"]}) == {"RL303"}
    assert select({"select": ["ALL"], "ignore": ["RL"]}) == frozenset()
    assert select({"select": ["RL"], "ignore": ["ALL"]}) == RULES
    assert select({"select": ["hard-target-copy"], "ignore": ["RL3"]}) == {"RL303"}


def test_of_two_equal_selectors_ignore_wins() -> None:
    """A selector that is both selected and ignored is ignored."""
    assert select({"select": ["RL303"], "ignore": ["hard-target-copy"]}) == frozenset()
    assert select({"select": ["RL3"], "ignore": ["RL3"]}) == frozenset()


def test_ignore_without_select_takes_from_the_default() -> None:
    """`--ignore RL3` checks all other rules."""
    assert select({"ignore": ["RL3"]}) == RULES - RL3
    assert select({"extend_ignore": ["RL3"]}) == RULES - RL3


def test_select_on_the_command_line_starts_afresh() -> None:
    """`--select` on the command line overrides `ignore` in the configuration, as in ruff."""
    configured = {"select": ["RL1"], "ignore": ["RL303"]}
    assert select(configured, {"select": ["RL3"]}) == RL3
    assert select(configured, {"extend_select": ["RL303"]}) == select(configured) | {"RL303"}
    assert select({"ignore": ["RL3"]}, {"ignore": ["RL1"]}) == {
        code for code in RULES if not code.startswith(("RL1", "RL3"))
    }


def test_an_empty_selection_is_possible_in_a_configuration() -> None:
    """`select = []` disables all rules, until a later layer selects some."""
    assert select({"select": []}) == frozenset()
    assert select({"select": []}, {"extend_select": ["RL101"]}) == {"RL101"}


def test_an_unknown_selector_is_named_with_its_option() -> None:
    """A misspelt selector is an error, with its option and the most similar name."""
    with pytest.raises(RlintError) as caught:
        select({"extend_select": ["hard-target-cpy"]})
    assert str(caught.value) == (
        "unknown rule `hard-target-cpy` in `--extend-select`; did you mean `hard-target-copy`?"
    )
