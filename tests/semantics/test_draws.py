"""Results of numpy's random functions."""

from __future__ import annotations

import numpy as np
import pytest

from project_builder import both, expression, model_of
from rlint.models.value_type import TypeTag

DRAWS = [
    "np.random.randint(10)",
    "np.random.randint(0, 10)",
    "np.random.randint(0, 10, size=4)",
    "np.random.randint(0, 10, 4)",
    "np.random.randint(10, size=(4, 2))",
    "np.random.randint(10, size=None)",
    "np.random.randint(10, size=4, dtype=np.int32)",
    "np.random.choice(10, 4)",
    "np.random.choice(10, size=4, replace=False)",
    "np.random.choice([1, 2, 3])",
    "np.random.uniform(0, 1)",
    "np.random.uniform(0, 1, 3)",
    "np.random.uniform(low=[0, 1], high=2)",
    "np.random.normal()",
    "np.random.normal(0.0, 1.0, size=n)",
    "np.random.normal(loc=np.zeros(3))",
    "np.random.rand()",
    "np.random.rand(3)",
    "np.random.randn(3, 2)",
    "np.random.random()",
    "np.random.random(3)",
    "np.random.random_sample(size=(3,))",
    "np.random.poisson(2.0)",
    "rng.integers(10)",
    "rng.integers(0, 10, size=4)",
    "rng.integers(np.array([3, 4]))",
    "rng.random()",
    "rng.random(4)",
    "rng.standard_normal((2, 3))",
    "rng.choice(10, 4)",
    "rng.normal(size=5)",
    "rng.permutation(5)",
]


@pytest.mark.parametrize("draw", DRAWS)
def test_what_is_known_is_what_numpy_gives(draw: str) -> None:
    """The inferred array or number, its dtype and rank are those of numpy's real result."""
    model = model_of(f"import numpy as np\nrng = np.random.default_rng(0)\nn = 5\nprint({draw})\n")
    kind = model.types.type_of(expression(model, draw))
    value = eval(draw, {"np": np, "rng": np.random.default_rng(0), "n": 5})  # noqa: S307 - our own text
    tags = {np.ndarray: TypeTag.NDARRAY, int: TypeTag.INT, float: TypeTag.FLOAT}
    assert kind.tag in (tags.get(type(value), TypeTag.NUMPY_SCALAR), TypeTag.UNKNOWN)
    if kind.dtype:
        assert kind.dtype == value.dtype.name
    if kind.rank is not None:
        assert kind.rank == value.ndim


def test_most_draws_are_known() -> None:
    """A size that is a number or a tuple gives an array; without a size, there is a number."""
    unknown = []
    for draw in DRAWS:
        model = model_of(f"import numpy as np\nrng = np.random.default_rng(0)\nn = 5\nprint({draw})\n")
        if not model.types.type_of(expression(model, draw)):
            unknown.append(draw)
    assert unknown == [
        "np.random.choice([1, 2, 3])",
        "np.random.uniform(low=[0, 1], high=2)",
        "np.random.normal(loc=np.zeros(3))",
        "rng.integers(np.array([3, 4]))",
        "rng.permutation(5)",
    ]


@pytest.mark.parametrize("size", ["size", "self.size", "None if size else 3", "*size"])
def test_a_size_that_may_be_none_shows_nothing(size: str) -> None:
    """The caller of a function may omit the size."""
    draw = f"np.random.randint(0, 10, {'' if '*' in size else 'size='}{size})"
    model = model_of(f"import numpy as np\ndef f(self, size=None):\n    print({draw})\n")
    assert not model.types.type_of(expression(model, draw))


def test_a_size_of_unknown_type_likely_gives_an_array() -> None:
    """A size that may be None leaves the type open; the likely answer is an array of as many numbers."""
    text = """
        import numpy as np

        def draw(count, rows):
            picked = np.random.randint(0, rows, size=count)
            return picked
        """
    sure, likely = both(text, "picked")
    assert not sure
    assert likely.tag is TypeTag.NDARRAY
    assert likely.dtype == "int64"
    assert likely.assumes
