"""Likely type of a value whose type is not sure: what its possible types agree on."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rlint.models.value_type import (
    INSTANCES,
    Caveat,
    Choice,
    Device,
    Type,
    TypeTag,
    access_path,
    either,
    with_choice,
)
from rlint.semantics.types import batches
from rlint.semantics.types.likely.notes import Noted

Resolve = Callable[[Type], Type | None]
"""Resolves an unknown type that carries an access path in the program; None if it is not known yet."""

_WITH_DEVICE = frozenset({TypeTag.TENSOR, TypeTag.BATCH, TypeTag.DEVICE})
_WITH_DTYPE = frozenset({TypeTag.TENSOR, TypeTag.NDARRAY})
_HOLD = frozenset(TypeTag[name] for name in "LIST TUPLE DICT SET DEQUE ITERATOR".split())

_NO_CAVEAT = Caveat()
_START_VALUES = frozenset({TypeTag.INT, TypeTag.BOOL})
"""Types of initial values that are replaced later: `loss = 0`, `epsilon = 0 if evaluates else …`."""

_BEGIN_AS_NUMBERS = (
    {TypeTag.INT, TypeTag.TENSOR},
    {TypeTag.FLOAT, TypeTag.TENSOR},
    {TypeTag.INT, TypeTag.NDARRAY},
)
"""Types of sums that start as a number: `loss = 0.0`, and then `loss = loss + …`."""
_PLAIN_NUMBERS = frozenset({TypeTag.INT, TypeTag.FLOAT})
_AGREE = 2
"""Number of places that must agree that a variable holds a plain number."""

_WORDS = {
    TypeTag.TENSOR: "a tensor",
    TypeTag.NDARRAY: "an array",
    TypeTag.NUMPY_SCALAR: "a NumPy scalar",
    TypeTag.MODULE: "a network",
    TypeTag.OPTIMIZER: "an optimizer",
    TypeTag.ENVIRONMENT: "an environment",
    TypeTag.DEVICE: "a device",
    TypeTag.INT: "an integer",
    TypeTag.FLOAT: "a float",
    TypeTag.BOOL: "a bool",
    TypeTag.STR: "a string",
    TypeTag.BYTES: "bytes",
    TypeTag.STATE_DICT: "a state dict",
    TypeTag.PARAMETERS: "an iterator over parameters",
    TypeTag.BATCH: "a batch of tensors",
    TypeTag.EVENT: "an event",
    TypeTag.ITERATOR: "an iterator",
    TypeTag.DTYPE: "a dtype",
}


def lacks(kind: Type) -> bool:
    """Whether more could be known of a value than its type says: its class, its device, its items."""
    tag = kind.tag
    if tag is TypeTag.UNKNOWN:
        return True
    if tag in _WITH_DEVICE and kind.device is Device.UNKNOWN:
        return True
    if tag in _WITH_DTYPE and not kind.dtype:
        return True
    return tag in _HOLD and kind.item is None


def is_settled(kind: Type) -> bool:
    """Whether a type is known, and no likelier type exists for it or its items."""
    if kind.tag is TypeTag.UNKNOWN or kind.caveat is not None:
        return False
    return (kind.item is None or is_settled(kind.item)) and all(map(is_settled, kind.parts))


def likeliest(kind: Type, resolve: Resolve) -> tuple[Type, Choice] | None:
    """Return what the choices of a type agree on, with the first choice that shows it, if that is more
    precise than the type itself. None if they contradict one another, or show nothing.
    """
    caveat = kind.caveat
    if caveat is None or not caveat.choices:
        return None
    found: Type | None = None
    first: Choice | None = None
    count = 0
    for choice in caveat.choices:
        known = _known(choice.kind, resolve)
        if known is None:
            return None
        if known.tag is TypeTag.NONE:
            found = found._replace(optional=True) if found is not None else None
        elif known:
            count += 1
            if found is not None and {found.tag, known.tag} in _BEGIN_AS_NUMBERS:
                found, first = (known, choice) if found.tag in _PLAIN_NUMBERS else (found, first)
                continue
            both = known if found is None else _agreed(found, known)
            if both is None:
                return None
            found, first = both, first or choice
    if found is None or first is None:
        return None
    if found.tag in _START_VALUES and count < _AGREE and not first.is_read:
        return None
    if kind:
        filled = _filled(kind, found)
        return None if filled is None else (filled, first)
    if found.device is Device.HOST and not first.is_read:  # the device after the other path is unknown
        found = found._replace(device=Device.UNKNOWN)
    return found, first


def _known(kind: Type, resolve: Resolve) -> Type | None:
    """Return the likely type of one choice."""
    known = resolve(kind) if kind.of and not kind else kind
    if known is not None and known.caveat is not None and known.caveat.choices:
        inner = likeliest(known, resolve)
        known = inner[0] if inner is not None else known
    return known


def _agreed(first: Type, second: Type) -> Type | None:
    """Return the likely type of a value that has either type: what one of them shows; None if they contradict
    each other.
    """
    if {first.tag, second.tag} == {TypeTag.BATCH, TypeTag.TENSOR}:
        return batches.joined(first, second) or first
    if first.tag is not second.tag:
        path = either(access_path(first), access_path(second))
        return Type(of=path) if path else None
    joined = first.joined(second)
    return _completed_by_one(joined, first, second)


def _completed_by_one(joined: Type, first: Type, second: Type) -> Type:
    """Return the join, completed by what one of the two shows and the other does not contradict."""
    device = joined.device
    if first.device is not second.device:
        devices = {first.device, second.device} - {Device.UNKNOWN}
        if len(devices) == 1:
            device = devices.pop()
        elif devices == {Device.HOST, Device.CUDA}:
            device = Device.CUDA
        if device is Device.HOST:  # moved to an unknown device on one path
            device = Device.UNKNOWN
    item = joined.item
    if item is None and first.tag in _HOLD:
        one, two = first.item or second.item, second.item or first.item
        item = _agreed(one, two) if one and two else None
    dtype = joined.dtype or (first.dtype if not second.dtype else second.dtype if not first.dtype else "")
    of = joined.of
    if first.tag in INSTANCES and bool(first.of) is not bool(second.of):
        of = first.of or second.of
    return joined._replace(device=device, item=item, dtype=dtype, of=of, caveat=None)


def _filled(kind: Type, likely: Type) -> Type | None:
    """Return a type completed with likely facts that it lacks itself; None if that adds nothing."""
    if kind.tag is not likely.tag:
        return None
    filled = kind._replace(
        of=kind.of or (likely.of if kind.tag in INSTANCES else ""),
        device=likely.device if kind.device is Device.UNKNOWN else kind.device,
        item=likely.item if kind.item is None else kind.item,
        dtype=kind.dtype or likely.dtype,
        rank=likely.rank if kind.rank is None else kind.rank,
    )
    return filled if filled != kind else None


def assumption(subject: str, sure: Type, likely: Type, place: str) -> str:
    """Return the assumption about a value in words: "`self.policy` is a network, as in `agent.py:31`"."""
    said = _assumption(sure, likely)
    return f"{subject} {said}, as in {place}" if place else f"{subject} {said}"


def _assumption(sure: Type, likely: Type) -> str:
    if not sure:
        if likely.tag is TypeTag.DEVICE and likely.device is Device.CUDA:
            return "is an accelerator"
        if likely.tag in _WORDS:
            return f"is {_WORDS[likely.tag]}"
        if likely.tag is TypeTag.INSTANCE and likely.of:
            return f"is {_named(likely.of)}"
        return f"is {_with_article(str(likely.tag.value))}"
    if sure.device is not likely.device:
        if likely.tag in (TypeTag.DEVICE, TypeTag.STR):
            return "is an accelerator" if likely.device is Device.CUDA else "is the CPU"
        return "is on an accelerator" if likely.device is not Device.HOST else "is on the CPU"
    if sure.item != likely.item and likely.item:
        held = _WORDS.get(likely.item.tag, str(likely.item.tag.value))
        return f"holds {held.partition(' ')[2] or held}s"
    if sure.of != likely.of:
        return f"is {_named(likely.of)}"
    return f"has dtype {likely.dtype}"


def _named(classes: str) -> str:
    """Return the possible classes of a value, as shown in messages."""
    return " or ".join(_with_article(each.rpartition(".")[2]) for each in classes.strip("{}").split("|")[:2])


def _with_article(name: str) -> str:
    return f"an {name}" if name[:1].lower() in "aeiou" else f"a {name}"


def promoted(kind: Type, likely: Type, assumed: Iterable[str]) -> Type:
    """Return a likely type, with the assumptions that it depends on instead of choices."""
    return likely._replace(fresh=False, caveat=Caveat(kind.doubtful, assumes=tuple(assumed)))


def marked(kind: Type, noted: Noted) -> Type:
    """Return a type, with everything that was recorded while it was inferred. A complete type does not fall
    short, whatever it was inferred from.
    """
    caveat = kind.caveat or _NO_CAVEAT
    changed = Caveat(
        caveat.doubtful or noted.doubted,
        (caveat.short or noted.short) and (bool(caveat.choices) or lacks(kind)),
        caveat.choices,
        caveat.assumes or noted.assumed,
    )
    if changed == caveat:
        return kind
    return kind._replace(caveat=changed if changed != _NO_CAVEAT else None)


def with_likely(kind: Type, likely: Type) -> Type:
    """Return an incomplete type with its likely type as a choice; the same for the parts of a tuple."""
    if kind.parts and len(kind.parts) == len(likely.parts):
        parts = tuple([with_likely(one, other) for one, other in zip(kind.parts, likely.parts, strict=True)])
        return kind._replace(parts=parts)
    if not likely or (kind and kind.tag is not likely.tag) or not lacks(kind) or kind == likely:
        return kind
    return with_choice(kind, Choice(likely))


def without_choices(kind: Type) -> Type:
    """Return a type without choices that its own facts already include."""
    caveat = kind.caveat
    if caveat is None or not (caveat.choices or caveat.short):
        return kind
    kept = Caveat(caveat.doubtful, assumes=caveat.assumes if kind else ())
    return kind._replace(caveat=kept if kept != _NO_CAVEAT else None)
