"""What of torch passes a gradient on, and what lets it end."""

from __future__ import annotations

from rlint.models.by_trait import having, names_having
from rlint.models.fact import words
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag

COMPARES = names_having(Trait.COMPARES, "torch", TypeTag.TENSOR)
"""Methods and functions whose result is true or false, element by element or as a whole."""

GIVES_INDEX = names_having(Trait.GIVES_INDEX, "torch", TypeTag.TENSOR)
"""Methods and functions whose result counts or numbers elements."""

GIVES_NUMBER = having(Trait.GIVES_NUMBER, TypeTag.TENSOR)
"""Methods whose result is a number, or a tensor of integers."""

DETACHES = names_having(Trait.DETACHES, "torch", TypeTag.TENSOR, TypeTag.DISTRIBUTION)
"""Methods and functions whose result has left the graph (`sample` is that of a distribution)."""

ENDING_ATTRIBUTES = frozenset(
    words("batch_shape data device dtype event_shape grad indices is_cuda layout names ndim shape")
)
"""Attributes of a tensor (or of a named pair) that carry no gradient."""

SHOWING_ATTRIBUTES = frozenset(words("grad_fn is_leaf requires_grad"))
"""Attributes of a tensor that tell whether it carries a gradient."""

INDICES_SECOND = names_having(Trait.INDICES_SECOND, "torch", TypeTag.TENSOR)
"""Methods and functions that give values, which carry a gradient, and their indices, which do not."""

NEEDS_NO_GRADIENT = having(Trait.NEEDS_NO_GRADIENT, TypeTag.TENSOR) | {"__array__"}
"""Methods that raise for a tensor that needs a gradient: where they are called, there is none."""

WITHOUT_PARAMETERS = having(Trait.WITHOUT_PARAMETERS, "torch.nn")
"""Layers and losses that learn nothing."""

CARRIED_BY_BUILTINS = having(Trait.CARRIES, "builtins")
"""Builtin functions whose result is made of their arguments."""

LOOKED_AT_BY_BUILTINS = having(Trait.ONLY_LOOKS, "builtins")
"""Builtin functions that only look at their arguments."""

SHOWN_BY_BUILTINS = having(Trait.SHOWS, "builtins")
"""Those among them that write a tensor down together with its place in the graph."""

CONVERTS = having(Trait.TO_NUMBER, "builtins")
"""Those that make a number of a tensor, and warn where it needs a gradient."""

MAKES_ARRAY = having(Trait.NEEDS_NO_GRADIENT, "numpy")
"""Functions that raise for a tensor that needs a gradient: where they are called, there is none."""

PUTS_IN = having(Trait.INSERTS, TypeTag.LIST, TypeTag.SET, TypeTag.DEQUE) | having(
    Trait.INSERTS_ALL, TypeTag.LIST
)
"""Methods that put their argument into a container."""
