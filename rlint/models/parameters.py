"""Parameters of functions by position: their names, and which of them are called."""

from __future__ import annotations

from collections.abc import Mapping

from rlint.models.by_trait import CALLABLES, METHODS
from rlint.models.value_type import TypeTag

_PREFIXES = {TypeTag.NDARRAY: "numpy.ndarray.", TypeTag.RANDOM_GENERATOR: "numpy.random.Generator."}

PARAMETERS: Mapping[str, tuple[str, ...]] = {
    **{name: fact.parameters for name, fact in CALLABLES.items() if fact.parameters},
    **{
        f"{prefix}{name}": fact.parameters
        for tag, prefix in _PREFIXES.items()
        for name, fact in METHODS[tag].items()
        if fact.parameters
    },
}
"""Names of a function's positional parameters, by its qualified name, with `numpy.ndarray.` or
`numpy.random.Generator.` before the names of methods.
"""

CALLED_AT: Mapping[str, tuple[int, ...]] = {
    **{name: fact.called for name, fact in CALLABLES.items() if fact.parameters},
    **{
        f"re.Pattern.{name}": fact.called
        for name, fact in METHODS[TypeTag.PATTERN].items()
        if fact.parameters
    },
}
"""Positions of the arguments that a function calls, by its qualified name, if its parameters are known."""

VALIDATES_INSIDE = frozenset(
    "ExpRelaxedCategorical FisherSnedecor Multinomial OneHotCategorical OneHotCategoricalStraightThrough"
    " RelaxedBernoulli RelaxedOneHotCategorical".split()
)
"""Distributions of torch that create another one, which their `validate_args` does not reach."""
