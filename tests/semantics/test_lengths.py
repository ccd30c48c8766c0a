"""What loops iterate over."""

from __future__ import annotations

import pytest

from project_builder import model_of
from rlint.semantics.frequency.trip_count import over_settings
from rlint.syntax.syntax_index import LOOPS


def iterates_over_settings(header: str, body: str = "train(value)") -> bool:
    """Whether the first loop of a file iterates over the settings of an experiment."""
    model = model_of(f"""
        from torch import nn, optim
        {header}:
            {body}
        """)
    return over_settings(next(node for kind in LOOPS for node in model.syntax.of_type(kind)), model)


@pytest.mark.parametrize(
    "header",
    [
        "for seed in range(5)",
        "for value in SEEDS",
        "for i, algo in enumerate(algos)",
        "for lr in (1e-3, 1e-4)",
    ],
)
def test_an_experiment_compares(header: str) -> None:
    """Each iteration is a separate training, which may clean up afterwards."""
    assert iterates_over_settings(header)


@pytest.mark.parametrize("made", ["net = nn.Linear(2, 2)", "opt = optim.Adam(params)"])
def test_each_pass_has_its_own_network(made: str) -> None:
    """Whatever the names in the loop, a new network in each iteration makes it a loop over trainings."""
    assert iterates_over_settings("for value in values", made)


@pytest.mark.parametrize(
    "header", ["for episode in range(5)", "for batch in loader", "while running", "for _ in range(epochs)"]
)
def test_a_training_continues(header: str) -> None:
    """Episodes, batches and epochs are parts of one training."""
    assert not iterates_over_settings(header)
