"""Models of the standard library, numpy, torch and RL libraries, as data that `semantics` looks up.

A row describes calls with plain arguments. Four properties depend on the arguments and are left to the
client: keywords that make a function write to an argument (`MUTATING_KEYWORDS`), an iterator that is consumed
(`consumes_iterators`), a function that is called (`calls_back`), and the device of a tensor method's result
(`RELOCATING_METHODS`; the results of all others are on the tensor's device, if their type names none).
"""

from __future__ import annotations

from functools import lru_cache

from rlint.models import methods, numpy, rl
from rlint.models.attributes import ATTRIBUTES, FORM_ATTRIBUTES
from rlint.models.by_trait import CALLABLES as _CALLABLES
from rlint.models.by_trait import METHODS as _METHODS
from rlint.models.by_trait import doing, giving, having, methods_of, mutators, names_having
from rlint.models.canonical_names import canonical, public
from rlint.models.cheap_calls import is_cheap, is_cheap_method
from rlint.models.fact import MAY_WRITE, Fact
from rlint.models.state_reads import reads_state
from rlint.models.trait import Trait
from rlint.models.unknown_receivers import method_on_unknown
from rlint.models.value_type import UNKNOWN, Type, TypeTag

__all__ = [
    "CLASSES",
    "FOLLOWS_ARGUMENT",
    "FORM_ATTRIBUTES",
    "GIVES_BACK",
    "INPLACE_FUNCTIONS",
    "MUTATING_KEYWORDS",
    "RELOCATING_METHODS",
    "RESHAPES_IN_PLACE",
    "Fact",
    "Trait",
    "attribute_kind",
    "attributes_giving",
    "callable_fact",
    "calls_back",
    "canonical",
    "consumes_iterators",
    "doing",
    "giving",
    "having",
    "is_cheap",
    "is_cheap_method",
    "is_in_place",
    "is_library",
    "method_fact",
    "method_on_unknown",
    "methods_of",
    "mutators",
    "names_having",
    "reads_state",
]

CLASSES = {
    "builtins.bytes": TypeTag.BYTES,
    "builtins.dict": TypeTag.DICT,
    "builtins.float": TypeTag.FLOAT,
    "builtins.int": TypeTag.INT,
    "builtins.list": TypeTag.LIST,
    "builtins.set": TypeTag.SET,
    "builtins.str": TypeTag.STR,
    "builtins.tuple": TypeTag.TUPLE,
    "collections.deque": TypeTag.DEQUE,
    "numpy.ndarray": TypeTag.NDARRAY,
    "torch.Tensor": TypeTag.TENSOR,
    "torch.nn.Module": TypeTag.MODULE,
}
"""Classes whose methods may be called through the class: `str.lower(text)`."""

GIVES_BACK = frozenset({"torch.autograd.Variable", "typing.cast"})
"""Functions that return an argument itself."""
INPLACE_FUNCTIONS = frozenset(
    name
    for name, fact in _CALLABLES.items()
    if fact.traits & Trait.FIRST_CHANGES or (name.startswith("torch.") and name.endswith("_"))
)
"""Functions that modify their first argument, or its items."""

FOLLOWS_ARGUMENT = numpy.FOLLOWS_ARGUMENT
"""numpy functions whose result is an array for an array, a tensor for a tensor, else a scalar."""

RESHAPES_IN_PLACE = frozenset(
    """as_strided_ resize_ resize_as_ set_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_""".split()
)
"""Methods that change the shape of their tensor."""
MUTATING_KEYWORDS = frozenset({"inplace", "out", "overwrite_a", "overwrite_b", "overwrite_input"})
"""Keywords that make a pure function write to one of its arguments (as `copy=False` does)."""

RELOCATING_METHODS = having(Trait.RELOCATES, TypeTag.TENSOR)
"""Methods of tensors whose result may be on another device."""


_LIBRARIES = frozenset(name.partition(".")[0] for name in _CALLABLES)


NEVER_VENDORED = frozenset({"numpy", "torch"})
"""Libraries that no program ships a copy of, whatever its folders are named."""

INTERCEPTING = frozenset("__torch_function__ __torch_dispatch__ __array_function__ __array_ufunc__".split())
"""Methods that library functions dispatch to when they are called with an object of the class."""
INTERCEPTING_MODES = frozenset(
    {
        "torch.overrides.BaseTorchFunctionMode",
        "torch.overrides.TorchFunctionMode",
        "torch.utils._python_dispatch.TorchDispatchMode",
    }
)
"""Classes whose instances intercept the calls of all code that runs while they are entered."""


def is_data_class(path: str) -> bool:
    """Whether a dotted name is that of a class of data: tensors, arrays, containers, text, numbers."""
    return CLASSES.get(path, TypeTag.MODULE) is not TypeTag.MODULE


def is_library(module: str) -> bool:
    """Whether a module belongs to a library with tables: `torch.nn`, `time`."""
    return module.partition(".")[0] in _LIBRARIES


@lru_cache(maxsize=16384)
def callable_fact(qualified: str, argument_count: int | None = None) -> Fact | None:
    """Return the row of a function or class by its qualified name: `torch.zeros`, `builtins.len`.

    With the number of arguments in the call (keywords included), it is more precise for functions whose
    result depends on that: `torch.max(x)` returns a tensor, `torch.max(x, dim)` a pair. It also determines
    whether a call with many arguments may write to one of them: `relu(x, True)`, `numpy.add(a, b, a)`.
    """
    name = canonical(qualified)
    fact = _CALLABLES.get(name) or _CALLABLES.get(public(name)) or rl.pretrained(name)
    if fact is not None:
        return fact if argument_count is None else _with_arguments(fact, argument_count)
    owner, _, method = name.rpartition(".")
    tag = CLASSES.get(owner)
    return method_fact(tag, method) if tag is not None else None


def method_fact(tag: TypeTag, method: str, argument_count: int | None = None) -> Fact | None:
    """Return the row of a method of a value of this type; for its effect, the receiver counts as an
    argument.
    """
    known = _METHODS.get(tag)
    fact = known.get(method) if known is not None else None
    if fact is not None and argument_count is not None:
        return _with_arguments(fact, argument_count)
    if fact is None and tag is TypeTag.TENSOR and is_in_place(method):
        return methods.IN_PLACE_TENSOR
    return fact


def is_in_place(method: str) -> bool:
    """Whether a method of tensors modifies its tensor: `add_`."""
    return method.endswith("_") and not method.endswith("__")


def _with_arguments(fact: Fact, count: int) -> Fact:
    """Return the row for a call with this many arguments."""
    for number, other in fact.by_count:
        if number == count:
            return other
    if fact.plain_arguments is not None and count > fact.plain_arguments:
        return Fact(MAY_WRITE, UNKNOWN)
    return fact


def attribute_kind(tag: TypeTag, attribute: str) -> Type:
    """Return the type of an attribute of a value of this type."""
    known = ATTRIBUTES.get(tag)
    return known.get(attribute, UNKNOWN) if known is not None else UNKNOWN


def attributes_giving(tag: TypeTag, *owners: TypeTag) -> frozenset[str]:
    """Return the attributes of this type that values of the other types have."""
    known = (attribute for owner in owners for attribute in ATTRIBUTES[owner].items())
    return frozenset(name for name, kind in known if kind.tag is tag)


def consumes_iterators(qualified: str) -> bool:
    """Whether a function consumes an iterator argument, at once or when its own result is consumed."""
    return _has(qualified, Trait.ITERATES)


def calls_back(qualified: str) -> bool:
    """Whether a function calls an argument, or a keyword such as `key`."""
    return _has(qualified, Trait.CALLS_BACK)


def _has(qualified: str, trait: Trait) -> bool:
    fact = _CALLABLES.get(canonical(qualified))
    return fact is not None and bool(fact.traits & trait)
