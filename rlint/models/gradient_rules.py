"""How torch functions propagate gradients, and which end them."""

from __future__ import annotations

from rlint.models.by_trait import having, names_having
from rlint.models.fact import words
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag

HAVE_NO_GRADIENT = frozenset(
    {
        TypeTag.NONE,
        TypeTag.BOOL,
        TypeTag.INT,
        TypeTag.FLOAT,
        TypeTag.STR,
        TypeTag.NDARRAY,
        TypeTag.NUMPY_SCALAR,
    }
)
"""Types of plain data, which cannot carry a gradient."""

COMPARES = names_having(Trait.COMPARES, "torch", TypeTag.TENSOR)
"""Methods and functions whose result is boolean, elementwise or as a whole."""

GIVES_INDEX = names_having(Trait.GIVES_INDEX, "torch", TypeTag.TENSOR)
"""Methods and functions whose result is counts or indices of elements."""

GIVES_NUMBER = having(Trait.GIVES_NUMBER, TypeTag.TENSOR)
"""Methods whose result is a number, or a tensor of integers."""

DETACHES = names_having(Trait.DETACHES, "torch", TypeTag.TENSOR, TypeTag.DISTRIBUTION)
"""Methods and functions whose result is detached from the graph (`sample` is that of a distribution)."""

WRAPS_DETACHED = frozenset({"torch.autograd.Variable", "torch.autograd.variable.Variable"})
"""Functions whose result shares the data of a tensor and is detached from its graph."""

ENDING_ATTRIBUTES = frozenset(
    words("batch_shape data device dtype event_shape grad indices is_cuda layout names ndim shape")
)
"""Attributes of a tensor (or of a named pair) that carry no gradient."""

SHOWING_ATTRIBUTES = frozenset(words("grad_fn is_leaf requires_grad"))
"""Attributes of a tensor that show whether it carries a gradient."""

INDICES_SECOND = names_having(Trait.INDICES_SECOND, "torch", TypeTag.TENSOR)
"""Methods and functions that return values, which carry a gradient, and their indices, which do not."""

_OTHER_KERNEL = frozenset(
    words(
        """chain_matmul cond eig eigh eigvals eigvalsh lstsq matmul matrix_norm matrix_rank multi_dot
        nuclear_norm svd svdvals symeig"""
    )
)


def uses_other_kernel(name: str) -> bool:
    """Whether a function may use another algorithm if no gradient is recorded, so that the last digits
    differ: spectra without vectors, products of matrices (PyTorch's `BatchLinearAlgebra.cpp` and
    `LinearAlgebra.cpp`).
    """
    owner, _, last = name.rpartition(".")
    if last == "norm":
        return owner == "torch.linalg"
    return last in _OTHER_KERNEL


NEEDS_NO_GRADIENT = having(Trait.NEEDS_NO_GRADIENT, TypeTag.TENSOR) | {"__array__"}
"""Methods that raise for a tensor that requires grad: at their calls, there is no gradient."""

ANY_NETWORK = "torch.nn.Module()"
"""The access path of a network of a class that is not known: an annotation says `nn.Module`."""
WITHOUT_PARAMETERS = having(Trait.WITHOUT_PARAMETERS, "torch.nn")
"""Layers and losses without parameters."""

CARRIED_BY_BUILTINS = having(Trait.CARRIES, "builtins")
"""Builtin functions whose result is computed from their arguments."""

LOOKED_AT = having(Trait.ONLY_LOOKS, "builtins", "numpy")
"""Functions that only inspect their arguments."""

SHOWN_BY_BUILTINS = having(Trait.SHOWS, "builtins")
"""Those among them that show a tensor together with its `grad_fn`."""

CONVERTS = having(Trait.TO_NUMBER, "builtins")
"""Those that convert a tensor to a number, and warn if it requires grad."""

MAKES_ARRAY = having(Trait.NEEDS_NO_GRADIENT, "numpy")
"""Functions that raise for a tensor that requires grad: at their calls, there is no gradient."""

SENDS = frozenset(
    f"torch.distributed.{name}"
    for name in words(
        """all_gather all_gather_into_tensor all_gather_object all_reduce all_to_all all_to_all_single
        broadcast broadcast_object_list gather gather_object isend reduce reduce_scatter reduce_scatter_tensor
        scatter send"""
    )
)
"""Functions that send a tensor to other processes, or receive into it: autograd records neither."""

PUTS_IN = having(Trait.INSERTS, TypeTag.LIST, TypeTag.SET, TypeTag.DEQUE) | having(
    Trait.INSERTS_ALL, TypeTag.LIST
)
"""Methods that insert their argument into a container."""
PUTS_IN_DICT = frozenset({"setdefault", "update"})
"""The same for a dict; other objects have methods of these names that do something else."""
