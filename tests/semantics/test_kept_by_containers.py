"""Constructors of standard containers keep their arguments instead of only reading them."""

from __future__ import annotations

import pytest

from project_builder import expression, model_of
from rlint.semantics.dataflow.escape import EscapeLevel


@pytest.mark.parametrize(
    "made",
    [
        "OrderedDict([('obs', state.copy())])",
        "deque([state.copy()])",
        "ChainMap({'obs': state.copy()})",
        "{'obs': state.copy()}",
    ],
)
def test_a_value_in_a_container_that_is_returned_is_not_only_read(made: str) -> None:
    """Code that receives the container may change the value."""
    model = model_of(
        "from collections import ChainMap, OrderedDict, deque\nimport numpy as np\n"
        f"def observe(state: np.ndarray):\n    return {made}\n"
    )
    assert model.dataflow.use_of(expression(model, "state.copy()")).escape_level is not EscapeLevel.READ
