"""Types of values, as far as the source determines them. A type may be unknown."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from rlint.enums import Enum


class TypeTag(Enum):
    """Tags of the types that occur in RL code."""

    UNKNOWN = "unknown"
    NONE = "none"
    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    STR = "str"
    BYTES = "bytes"
    LIST = "list"
    TUPLE = "tuple"
    DICT = "dict"
    SET = "set"
    DEQUE = "deque"
    ITERATOR = "iterator"
    RANGE = "range"
    SLICE = "slice"
    NDARRAY = "ndarray"
    NUMPY_SCALAR = "numpy scalar"
    TENSOR = "tensor"
    PARAMETERS = "parameters"  # the result of `module.parameters()`
    STATE_DICT = "state dict"
    MODULE = "module"  # a torch.nn.Module instance
    OPTIMIZER = "optimizer"
    SCHEDULER = "scheduler"
    DISTRIBUTION = "distribution"
    DEVICE = "device"  # a torch.device, or its name or number if annotations say so
    DTYPE = "dtype"
    DATASET = "dataset"
    LOADER = "loader"
    BATCH = "batch"  # an item of a loader: tensors on the host, possibly nested
    ENVIRONMENT = "environment"
    SPACE = "space"
    REPLAY_BUFFER = "replay buffer"
    LOCK = "lock"
    EVENT = "event"
    CONDITION = "condition"
    SEMAPHORE = "semaphore"
    BARRIER = "barrier"
    QUEUE = "queue"
    THREAD = "thread"
    PROCESS = "process"
    POOL = "pool"
    FUTURE = "future"
    SHARED_VALUE = "shared value"
    CONNECTION = "connection"
    RANDOM_GENERATOR = "random generator"
    PATTERN = "compiled pattern"
    MATCH = "match"
    FILE = "file"
    PATH = "path"
    LOGGER = "logger"
    WRITER = "summary writer"
    TOKENIZER = "tokenizer"
    DATAFRAME = "dataframe"
    FUNCTION = "function"
    CLASS = "class"
    PYTHON_MODULE = "python module"
    INSTANCE = "instance"  # of the class named by `of`


class Device(Enum):
    """The device of a tensor, or the one that a `torch.device` names."""

    UNKNOWN = "unknown"
    HOST = "host"
    CUDA = "cuda"
    OTHER = "other"  # known to be neither host nor cuda: mps, xpu, meta …


class Choice(NamedTuple):
    """One of the types that a value may have, with the place where the code shows it ("" if it is not
    recorded): `agent.py:31`. `is_read` says that the expression itself shows the type (`x.shape[0]`), so that
    it is not the initial value of a variable.
    """

    kind: Type
    place: str = ""
    is_read: bool = False


class Caveat(NamedTuple):
    """Why a type is not certain.

    `doubtful` says that the value comes from an attribute of a class which restores attributes by name
    (`__setstate__`, `self.__dict__.update(state)`), after which its type may be another, or whose methods
    also run with objects of other classes. `short` says that a likelier answer exists: a join has dropped one
    of the possible types. `choices` are the parts of that join, if it is the type itself. `assumes` are the
    independent assumptions of a likely type; of a chain of them, only the first.
    """

    doubtful: bool = False
    short: bool = False
    choices: tuple[Choice, ...] = ()
    assumes: tuple[str, ...] = ()


class Type(NamedTuple):
    """The type of a value.

    `of` is the qualified name of the class or constructor if it is known: the class of an INSTANCE or MODULE,
    the constructor of a LOCK ("threading.Lock"), the referred function or class of a FUNCTION or CLASS. If
    the value has one of several classes, it contains all of their names ("{agents.DQN|agents.SAC}", see
    `alternatives`). `item` is the type of the elements, if they are all alike; of a FUNCTION that is a
    lambda, the type of its result. `device` is the device of a tensor (or the one that a DEVICE names).
    `fresh` says that the expression has just created the value and no other code can hold it or its memory.
    `optional` says it may be None. `parts` are the types of a tuple's elements, if the length is known; of a
    dict with `keys`, the types of their values. `dtype` is that of an array or tensor ("float32", "uint8",
    "bool" …; "float" for the default floating-point type of torch, which is float32 unless the program sets
    another), `rank` the number of its dimensions; "" and None if they are not known. `caveat` is set if the
    type is not certain, or if more is likely than is sure.

    A tuple, since it is the object that is created and compared most often.
    """

    tag: TypeTag = TypeTag.UNKNOWN
    of: str = ""
    item: Type | None = None
    device: Device = Device.UNKNOWN
    fresh: bool = False
    optional: bool = False
    dtype: str = ""
    rank: int | None = None
    parts: tuple[Type, ...] = ()
    caveat: Caveat | None = None
    keys: tuple[str, ...] = ()

    @property
    def doubtful(self) -> bool:
        """Whether code that names no attribute may replace the value."""
        return self.caveat is not None and self.caveat.doubtful

    @property
    def short(self) -> bool:
        """Whether a likelier answer exists than this one."""
        return self.caveat is not None and self.caveat.short

    @property
    def assumes(self) -> tuple[str, ...]:
        """Return the assumptions of a likely type."""
        return self.caveat.assumes if self.caveat is not None else ()

    def __bool__(self) -> bool:
        """Return False for the unknown type."""
        return self.tag is not TypeTag.UNKNOWN

    def aged(self) -> Type:
        """Return the same type, marked as possibly held by other code."""
        return _aged(self) if self.fresh else self

    def joined(self, other: Type) -> Type:
        """Return what is certain of a value with either of the two types. If that is less than one of them
        says, the alternatives are kept as choices (see `likeliest`).
        """
        if self == other:
            return self
        if self.tag is TypeTag.NONE and other.tag is not TypeTag.NONE:
            return other._replace(optional=True) if other or other.of else other
        if other.tag is TypeTag.NONE:
            return self._replace(optional=True) if self or self.of else self
        if self.tag is not other.tag:
            path = either(access_path(self), access_path(other))
            if not path:
                return Type(caveat=_lost(self, other))
            optional = self.optional or other.optional
            return Type(of=path, optional=optional, caveat=_both(self, other))
        of = self.of if self.of == other.of else either(self.of, other.of) if self.tag in _JOINED else ""
        if self.tag is TypeTag.UNKNOWN:
            caveat = (
                _both(self, other) if of else _lost(self, other, doubtful=self.doubtful or other.doubtful)
            )
            return Type(of=of, optional=self.optional or other.optional, caveat=caveat)
        return Type(
            self.tag,
            of,
            self.item.joined(other.item) if self.item is not None and other.item is not None else None,
            self.device if self.device is other.device else Device.UNKNOWN,
            self.fresh and other.fresh,
            self.optional or other.optional,
            self.dtype if self.dtype == other.dtype else "",
            self.rank if self.rank == other.rank else None,
            tuple(map(Type.joined, self.parts, other.parts)) if len(self.parts) == len(other.parts) else (),
            _of_lengths(self, other)
            if _differ_in_length(self, other)
            else _lost(self, other, doubtful=self.doubtful or other.doubtful)
            if _says_less(self, other)
            else _both(self, other),
            self.keys if self.keys == other.keys else (),
        )


INSTANCES = frozenset(
    TypeTag[name]
    for name in "INSTANCE MODULE ENVIRONMENT DATASET REPLAY_BUFFER THREAD PROCESS OPTIMIZER".split()
)
"""Types of values that may be instances of classes of the project."""
_JOINED = INSTANCES | {TypeTag.UNKNOWN, TypeTag.CLASS, TypeTag.FUNCTION}
"""Types whose `of` refers to a definition, or to one of several."""
_CALLED = INSTANCES | {TypeTag.FUNCTION}
_MOST_ALTERNATIVES = 12
_LONGEST_PATH = 1000
MOST_ASSUMPTIONS = 4
"""Maximum number of assumptions that are kept: an answer with more of them is a guess."""
_MAY_BE_ANY = frozenset({TypeTag.UNKNOWN, TypeTag.NONE})
_MOVED = frozenset({Device.HOST, Device.CUDA})
_OF_TENSORS = frozenset({TypeTag.TENSOR, TypeTag.BATCH})
_ADDED_UP = frozenset({TypeTag.TENSOR, TypeTag.NDARRAY})
"""Types of variables that are initialised with the number 0."""
_HELD = frozenset(TypeTag[name] for name in "LIST DICT SET DEQUE ITERATOR".split())


def _says_less(first: Type, second: Type) -> bool:
    """Whether a join of two types with the same tag loses information that only one of them has; of two
    devices, the accelerator matters.
    """
    if {first.device, second.device} == _MOVED and first.tag in _OF_TENSORS:
        return True
    if first.dtype != second.dtype and not (first.dtype and second.dtype):
        return True
    if first.tag in _CALLED and bool(first.of) is not bool(second.of):
        return True  # also a function of the project, and a lambda
    return first.tag in _HELD and bool(first.item) is not bool(second.item)


def _differ_in_length(first: Type, second: Type) -> bool:
    """Whether two tuples have different lengths, or one of them already has one of several."""
    if first.tag is not TypeTag.TUPLE or len(first.parts) == len(second.parts) > 0:
        return False
    return any(kind.parts or (kind.caveat is not None and kind.caveat.choices) for kind in (first, second))


def _of_lengths(first: Type, second: Type) -> Caveat:
    """Return the caveat of a tuple of one of several lengths: the number of targets that it is unpacked to
    tells which.
    """
    choices = dict.fromkeys((*_choices(first), *_choices(second)))
    few = tuple(choices) if len(choices) <= _MOST_ALTERNATIVES else ()
    doubtful = first.doubtful or second.doubtful
    return Caveat(doubtful, first.short or second.short, few, _all(first.assumes, second.assumes))


def unpacked(kind: Type, count: int) -> Type:
    """Return the type of a tuple that is unpacked to this number of targets: that of the only one of its
    possible types which has as many elements.
    """
    choices = kind.caveat.choices if kind.caveat is not None else ()
    if kind.tag is not TypeTag.TUPLE or kind.parts or not all(choice.kind.parts for choice in choices):
        return kind
    fitting = [choice.kind for choice in choices if len(choice.kind.parts) == count]
    return fitting[0] if len(fitting) == 1 else kind


def _choices(kind: Type) -> tuple[Choice, ...]:
    """Return the types that a value of a type may have; none if nothing is known of it."""
    known = kind.caveat.choices if kind.caveat is not None else ()
    if known:
        return (*known, Choice(deferred(kind.of))) if kind.of and not kind else known
    return (Choice(kind),) if kind or kind.of else ()


def _lost(first: Type, second: Type, *, doubtful: bool = False) -> Caveat | None:
    """Return the caveat of a join that says less than one of its parts."""
    found: dict[Type, Choice] = {}
    for choice in (*_choices(first), *_choices(second)):
        found.setdefault(choice.kind, choice)
    if not found or len(found) > _MOST_ALTERNATIVES:
        return Caveat(doubtful=True) if doubtful else None
    short = not _contradict(found)
    return Caveat(doubtful, short, tuple(found.values()), _all(first.assumes, second.assumes))


def with_choice(kind: Type, choice: Choice) -> Type:
    """Return an unknown type, with one more choice."""
    caveat = kind.caveat or Caveat()
    if any(known.kind == choice.kind for known in caveat.choices):
        return kind
    choices = (*caveat.choices, choice)
    short = not _contradict([each.kind for each in choices])
    return kind._replace(caveat=caveat._replace(choices=choices, short=short))


def _contradict(kinds: Iterable[Type]) -> bool:
    """Whether no value can have all these types, as far as they are known."""
    tags = {kind.tag for kind in kinds} - _MAY_BE_ANY
    if len(tags) > 1:
        tags -= {TypeTag.INT} if tags & _ADDED_UP else set()
    return len(tags) > 1 and not tags <= _OF_TENSORS and not tags <= INSTANCES


def _both(first: Type, second: Type) -> Caveat | None:
    """Return the caveat of a type that combines two others."""
    one, two = first.caveat, second.caveat
    if one is None or two is None or one == two:
        return one or two
    choices = dict.fromkeys((*one.choices, *two.choices))
    few = tuple(choices) if len(choices) <= _MOST_ALTERNATIVES else ()
    return Caveat(one.doubtful or two.doubtful, one.short or two.short, few, _all(one.assumes, two.assumes))


def _all(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """Return both lists of assumptions as one, without duplicates."""
    if not first or not second or first == second:
        return first or second
    return tuple(dict.fromkeys((*first, *second)))[:MOST_ASSUMPTIONS]


def access_path(kind: Type) -> str:
    """Return the access path of a value of a type: `agents.DQN()` for an instance; "" for none."""
    if not kind.of or kind.tag not in _JOINED:
        return ""
    if kind.tag not in INSTANCES:
        return kind.of
    return either(*(f"{each}()" for each in alternatives(kind.of)))


def either(*paths: str) -> str:
    """Return one access path for several, `{a.X()|b.Y()}`; "" if one of them is not known, or if there are
    too many.
    """
    found = sorted({each for path in paths for each in (path[:1] == "{" and _members(path)) or (path,)})
    if not all(found) or len(found) > _MOST_ALTERNATIVES:
        return ""
    if len(found) == 1:
        return found[0]
    joined = "|".join(found)
    return f"{{{joined}}}" if len(joined) <= _LONGEST_PATH else ""


@lru_cache(maxsize=16384)
def alternatives(path: str) -> tuple[str, ...]:
    """Return the plain access paths of a path with choices, or the path itself; none if there are too
    many.
    """
    if "{" not in path:
        return (path,)
    start = path.index("{")
    end = _closing(path, start)
    inside = _members(path[start : end + 1])
    found = [plain for each in inside for plain in alternatives(f"{path[:start]}{each}{path[end + 1 :]}")]
    return tuple(dict.fromkeys(found)) if len(found) <= 2 * _MOST_ALTERNATIVES else ()


@lru_cache(maxsize=4096)
def _members(path: str) -> tuple[str, ...]:
    """Return the paths between the braces of a path that only consists of a choice."""
    if not path.startswith("{") or _closing(path, 0) != len(path) - 1:
        return ()
    if path.count("{") == 1:
        return tuple(path[1:-1].split("|"))
    members, depth = [""], 0
    for sign in path[1:-1]:
        depth += (sign == "{") - (sign == "}")
        if sign == "|" and depth == 0:
            members.append("")
        else:
            members[-1] += sign
    return tuple(members)


def _closing(path: str, start: int) -> int:
    """Return the index of the brace that closes the one at `start`."""
    inner, end = path.find("{", start + 1), path.find("}", start)
    if end >= 0 and not 0 <= inner < end:
        return end
    depth = 0
    for place in range(start, len(path)):
        depth += (path[place] == "{") - (path[place] == "}")
        if depth == 0:
            return place
    return len(path) - 1


UNKNOWN = Type()

PLAIN = {tag: Type(tag) for tag in TypeTag}
"""The types that consist of a tag only."""


@lru_cache(maxsize=16384)
def deferred(path: str) -> Type:
    """Return the unknown type with an access path to resolve."""
    return Type(of=path)


@lru_cache(maxsize=4096)
def _aged(kind: Type) -> Type:
    return kind._replace(fresh=False)
