"""Operations on types: types of items, of parts and of sums. Examines no code."""

from __future__ import annotations

import ast
from functools import lru_cache, reduce

from rlint import models
from rlint.models import element_types
from rlint.models.element_types import OBJECT
from rlint.models.rl import HDF5_FILE
from rlint.models.trait import Trait
from rlint.models.value_type import UNKNOWN, Choice, Device, Type, TypeTag, deferred, with_choice
from rlint.semantics.types import batches

_IMMUTABLE = frozenset(
    TypeTag[name]
    for name in (
        "NONE BOOL INT FLOAT STR BYTES DEVICE DTYPE NUMPY_SCALAR RANGE SLICE PATTERN FUNCTION CLASS"
    ).split()
)
_DRAW_ON_ITERATION = models.having(Trait.DRAWS_ON_ITERATION, "torch.utils.data")
OPTIONS = "__options__"
"""The name of the class for the command-line options that a file declares."""
_ANY_PLACE = frozenset({"[]", "[:]", "[?]"})
NUMBERS = (TypeTag.BOOL, TypeTag.INT, TypeTag.FLOAT)
"""The types of Python's numbers."""


def is_immutable(kind: Type) -> bool:
    """True if a value of this type cannot change while a name is bound to it."""
    return kind.tag in _IMMUTABLE


def draws_on_iteration(kind: Type) -> bool:
    """Whether each iteration over a value draws random numbers: over a loader, or a sampler."""
    return kind.tag is TypeTag.LOADER or kind.of in _DRAW_ON_ITERATION


def each_of(kind: Type) -> Type:
    """Return the type of the elements when a value of this type is iterated over: for a dictionary, its
    keys.
    """
    if kind.tag is TypeTag.STATE_DICT:
        return Type(TypeTag.STR)
    return UNKNOWN if kind.tag is TypeTag.DICT else item_of(kind)


def is_hdf5(kind: Type) -> bool:
    """Whether it is the type of an HDF5 file, or of a group or data set in one."""
    return kind.tag is TypeTag.INSTANCE and kind.of == HDF5_FILE


def item_of(kind: Type) -> Type:
    """Return the type of the items of a container, or of the values of a dictionary."""
    if kind.tag is TypeTag.LOADER:
        return kind.item or batches.BATCH_ON_HOST
    if kind.tag is TypeTag.BATCH:
        return batches.part_of(kind)
    if kind.tag is TypeTag.TENSOR:
        rank = kind.rank - 1 if kind.rank else None
        return Type(TypeTag.TENSOR, of=kind.of, device=kind.device, dtype=kind.dtype, rank=rank)
    if kind.tag is TypeTag.NDARRAY and kind.rank == 1 and kind.dtype == OBJECT:
        return UNKNOWN
    if kind.tag is TypeTag.NDARRAY and kind.rank:
        tag = TypeTag.NDARRAY if kind.rank > 1 else TypeTag.NUMPY_SCALAR
        return Type(tag, dtype=kind.dtype, rank=kind.rank - 1)
    if kind.tag in (TypeTag.PARAMETERS, TypeTag.STATE_DICT):
        return Type(TypeTag.TENSOR)
    if kind.tag is TypeTag.RANGE:
        return Type(TypeTag.INT)
    if kind.tag is TypeTag.STR:
        return Type(TypeTag.STR)
    if kind.item is not None:
        return kind.item
    return _deferred(kind, "[]")


def known_item(kind: Type) -> Type | None:
    """Return an item type; None if it is unknown and carries no access path."""
    return kind if kind or kind.of else None


def refines(found: Type, promised: Type) -> bool:
    """Whether an inferred type agrees with an annotation, and is possibly more precise."""
    if found.tag is not promised.tag or found.optional is not promised.optional:
        return False
    if promised.parts:
        return len(found.parts) == len(promised.parts) and all(
            not part or refines(known, part) for known, part in zip(found.parts, promised.parts, strict=True)
        )
    if promised.item is None:
        return True
    return found.item is not None and refines(found.item, promised.item)


def covers(kind: Type, other: Type) -> bool:
    """Whether facts about values of one type hold for those of another type as well."""
    plain = kind._replace(caveat=None)
    return plain.joined(other._replace(caveat=None))._replace(caveat=None) == plain


def completed(found: Type, promised: Type) -> Type:
    """Return an inferred container whose unknown parts have the type that an annotation declares for them."""
    if found.tag is not promised.tag or not found.parts:
        return found
    if promised.parts and len(promised.parts) == len(found.parts):
        declared = promised.parts
    elif promised.item is not None and not promised.parts:
        declared = (promised.item,) * len(found.parts)
    else:
        return found
    parts = tuple([part or known for part, known in zip(found.parts, declared, strict=True)])
    return found._replace(item=known_item(reduce(Type.joined, parts)), parts=parts)


def with_default(promised: Type, default: Type) -> Type:
    """Return the type of an annotation that the default may contradict: `text: str = None`."""
    if not default or not (promised or promised.of) or promised.tag is default.tag:
        return promised
    if promised.tag in NUMBERS and default.tag in NUMBERS:
        return promised if promised.tag is TypeTag.FLOAT else Type(default.tag, optional=promised.optional)
    if promised.tag is TypeTag.DEVICE and default.tag in (TypeTag.STR, TypeTag.INT):
        return promised
    return promised.joined(default)


def after_placeholder(known: Type, promised: Type) -> Type:
    """Return the type of an attribute that is declared without a value and holds values of the type `known`
    later. These tell more than the annotation, if they agree with it.
    """
    if known.tag is promised.tag:
        return known._replace(optional=known.optional or promised.optional)
    if not known and known.of:
        return with_choice(known._replace(optional=True), Choice(promised))
    return promised.joined(known)


def indexed(owner: Type, step: str) -> Type:
    """Return the type of `owner[index]`; `step` is "[2]" or "['key']" for the item at that place, "[]" for
    any one item, "[:]" for a part, "[?]" if unknown.
    """
    if step not in _ANY_PLACE:
        if owner.keys and owner.tag is not TypeTag.TUPLE:
            return at_key(owner, step[2:-2])
        if owner.tag is TypeTag.UNKNOWN:
            return _deferred(owner, step)
        if step[1] != "'":
            return part_of(owner, int(step[1:-1]))
        step = "[]"
    if owner.tag in (TypeTag.STR, TypeTag.BYTES):
        return Type(owner.tag) if owner.tag is TypeTag.STR or step == "[:]" else UNKNOWN
    if owner.tag is TypeTag.TENSOR:
        return Type(TypeTag.TENSOR, device=owner.device, dtype=owner.dtype)
    if owner.tag is TypeTag.BATCH:
        return batches.part_of(owner)
    if owner.tag in (TypeTag.DICT, TypeTag.STATE_DICT):
        return item_of(owner)
    if owner.tag is TypeTag.MODULE:
        return item_of(owner)
    if step == "[:]":
        if owner.tag in (TypeTag.LIST, TypeTag.TUPLE):
            return owner._replace(fresh=True, parts=())
        is_array = owner.tag is TypeTag.NDARRAY
        return Type(TypeTag.NDARRAY, dtype=owner.dtype) if is_array else _deferred(owner, step)
    if owner.tag in (
        TypeTag.LIST,
        TypeTag.TUPLE,
        TypeTag.DEQUE,
        TypeTag.ITERATOR,
        TypeTag.LOADER,
        TypeTag.PARAMETERS,
    ):
        return item_of(owner)
    if owner.tag is TypeTag.NDARRAY and owner.dtype != OBJECT and owner.rank != 1:
        part = Type(TypeTag.NDARRAY, dtype=owner.dtype)  # of one item of a row, a number
        return with_choice(UNKNOWN, Choice(part))
    return _deferred(owner, step)


def _deferred(owner: Type, step: str) -> Type:
    return deferred(f"{owner.of}{step}") if owner.of and owner.tag is TypeTag.UNKNOWN else UNKNOWN


def along(kind: Type, path: tuple[int, ...]) -> Type:
    """Return the type at a path through tuple targets: of the item of the item …"""
    for index in path:
        kind = part_of(kind, index) if index >= 0 else item_of(kind)  # below 0: of unknown position
    return kind


def part_of(kind: Type, index: int) -> Type:
    """Return the type of the element at a position (from the end, if below 0) of a type with several."""
    if -len(kind.parts) <= index < len(kind.parts) and (not kind.keys or kind.tag is TypeTag.TUPLE):
        return kind.parts[index]
    if kind.tag is TypeTag.UNKNOWN and kind.of:
        return _deferred(kind, f"[{index}]")
    return item_of(kind)


def at_key(kind: Type, key: str) -> Type:
    """Return the type of a dictionary's value for a key."""
    return kind.parts[kind.keys.index(key)] if key in kind.keys else item_of(kind)


def transposed(row: Type, iterator: Type) -> Type:
    """Return the type of `zip(*rows)` for rows of one type: for each column, its items. The columns are
    tuples in any case.
    """
    if row.tag is not TypeTag.TUPLE or row.optional:
        return iterator._replace(item=Type(TypeTag.TUPLE))
    columns = tuple([Type(TypeTag.TUPLE, item=known_item(part.aged())) for part in row.parts])
    column = Type(TypeTag.TUPLE, item=known_item(item_of(row).aged()))
    return iterator._replace(item=column, parts=columns)


def parsed_options(parser: Type, method: str) -> Type:
    """Return the type of `parse_args` and similar methods of a command-line parser."""
    if parser.item is None:
        return UNKNOWN
    if method in ("parse_args", "parse_intermixed_args"):
        return parser.item
    if method == "parse_known_args":
        rest = Type(TypeTag.LIST, item=Type(TypeTag.STR))
        return Type(TypeTag.TUPLE, parts=(parser.item, rest))
    return UNKNOWN


def arithmetic(left: Type, right: Type, operator: ast.operator) -> Type:
    """Return the type of the result of a binary operator."""
    if TypeTag.INSTANCE in (left.tag, right.tag):
        return UNKNOWN  # its class may define the result
    for tag in (TypeTag.TENSOR, TypeTag.NDARRAY):
        if left.tag is tag or right.tag is tag:
            sides = [side for side in (left, right) if side.tag is tag]
            if tag is TypeTag.TENSOR and TypeTag.UNKNOWN in (left.tag, right.tag) and sides[0].rank == 0:
                return Type(tag, fresh=True)  # a number on the host combines with tensors of any device
            devices = {side.device for side in sides if side.rank != 0} or {side.device for side in sides}
            return Type(tag, device=devices.pop() if len(devices) == 1 else Device.UNKNOWN, fresh=True)
    if left.tag is TypeTag.STR and isinstance(operator, (ast.Add, ast.Mod)):
        return Type(TypeTag.STR)
    if left.tag in NUMBERS and right.tag in NUMBERS:
        if isinstance(operator, ast.Div) or TypeTag.FLOAT in (left.tag, right.tag):
            return Type(TypeTag.FLOAT)
        return Type(TypeTag.INT) if not isinstance(operator, ast.Pow) else UNKNOWN
    if left.tag is right.tag and left.tag in (TypeTag.LIST, TypeTag.TUPLE) and isinstance(operator, ast.Add):
        return left.joined(right)._replace(
            fresh=True,
            parts=left.parts + right.parts if left.parts and right.parts else (),
        )
    if left.tag is right.tag is TypeTag.DICT and isinstance(
        operator, (ast.BitAnd, ast.BitOr, ast.Add, ast.Sub)
    ):
        return left.joined(right)._replace(fresh=True)  # of dicts, or of counters
    if left.tag is TypeTag.LIST and isinstance(operator, ast.Mult):
        return left._replace(fresh=True)
    if left.tag is TypeTag.PATH and isinstance(operator, ast.Div):
        return left
    return UNKNOWN


def device_named(name: str) -> Device:
    """Return the device that a string such as "cuda:0" names."""
    head = name.partition(":")[0]
    if head == "cpu":
        return Device.HOST
    if head == "cuda":
        return Device.CUDA
    return Device.OTHER if head in ("mps", "xpu", "meta", "xla", "hpu", "npu") else Device.UNKNOWN


@lru_cache(maxsize=4096)
def library_value(qualified: str) -> Type:
    """Return the type of a library constant: a dtype, a number."""
    if qualified.startswith("torch.") and qualified[6:] in element_types.TORCH_DTYPES:
        return Type(TypeTag.DTYPE, of=qualified)
    if qualified.startswith("numpy.") and qualified[6:].rstrip("0123456789_") in (
        "float",
        "int",
        "uint",
        "bool",
    ):
        return Type(TypeTag.CLASS, of=qualified)
    if qualified in element_types.FLOAT_CONSTANTS:
        return Type(TypeTag.FLOAT)
    return UNKNOWN
