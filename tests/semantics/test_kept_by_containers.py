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


@pytest.mark.parametrize(
    "held",
    [
        "list(zip(rows, rows))",
        "list(enumerate(rows))",
        "dict(enumerate(rows))",
        "list(filter(len, rows))",
        "list(islice(rows, 2))",
        "memoryview(rows)",
        "partial(np.copyto, rows)",
        "SimpleNamespace(rows=rows)",
        "MappingProxyType({'rows': rows})",
        "nullcontext(rows)",
    ],
)
def test_what_holds_an_array_or_views_of_its_rows_is_followed(held: str) -> None:
    """The array is returned with what holds it."""
    model = model_of(
        "from contextlib import nullcontext\nfrom functools import partial\nfrom itertools import islice\n"
        "from types import MappingProxyType, SimpleNamespace\nimport numpy as np\n"
        f"def observe(rows: np.ndarray):\n    held = {held}\n    return held\n"
    )
    assert model.dataflow.use_of(expression(model, "rows")).escape_level is EscapeLevel.KEPT


@pytest.mark.parametrize(
    "made",
    ["list(zip(counts, counts))", "list(enumerate(counts))", "list(map(float, counts))", "bytes(rows)"],
)
def test_new_containers_of_numbers_hold_nothing_of_their_argument(made: str) -> None:
    """Numbers cannot be changed."""
    model = model_of(
        "import numpy as np\ndef observe(counts: list[int], rows: np.ndarray):\n"
        f"    held = {made}\n    return held\n"
    )
    read = "rows" if "rows" in made else "counts"
    assert model.dataflow.use_of(expression(model, read)).escape_level is EscapeLevel.READ
