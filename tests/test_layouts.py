"""Fixes do not depend on the layout of a program (trust/layouts.py has the long run of the same)."""

from __future__ import annotations

import pytest

import layouts
from fixture_folders import FIXTURES

SAMPLE = [
    pytest.param(text, id="/".join(path.split("/")[-3:]), marks=pytest.mark.slow if place % 3 else ())
    for place, (path, text) in enumerate([*layouts.programs(FIXTURES, "before.py")][::6])
]
TIGHT = """\
import torch


def act(policy, obs, y):
    acts: torch.Tensor = policy(obs).argmax(-1).cpu()
    for _ in range(10):
        if not "cuda" in str(acts.device):
            y = 0.5 * torch.ones(len(y), 2)
    return [a.item() for a in acts]
"""


@pytest.mark.parametrize("text", SAMPLE)
def test_a_fix_is_the_same_in_each_layout(text: str) -> None:
    """Parentheses, line breaks, comments, missing blanks, semicolons, one-line blocks, multi-line strings."""
    seen = layouts.compare(text, most=1)
    assert seen.wrong == []


def test_code_without_blanks_is_fixed() -> None:
    """`return[...]`, `not"cuda" in ...`, `=.5*...`: no two tokens merge."""
    seen = layouts.compare(TIGHT, ["tight"])
    assert seen.wrong == []
    assert {outcome for _, outcome in seen.counts} == {"identical"}
