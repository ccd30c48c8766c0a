"""What a value is, as far as the source tells. Unknown is an answer."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from rlint.enums import Enum


class TypeTag(Enum):
    """The sorts of values that RL code is made of."""

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
    NDARRAY = "ndarray"
    NUMPY_SCALAR = "numpy scalar"
    TENSOR = "tensor"
    PARAMETERS = "parameters"  # what `module.parameters()` gives
    STATE_DICT = "state dict"
    MODULE = "module"  # a torch.nn.Module instance
    OPTIMIZER = "optimizer"
    SCHEDULER = "scheduler"
    DISTRIBUTION = "distribution"
    DEVICE = "device"  # a torch.device, or where annotations say so its name or number
    DTYPE = "dtype"
    DATASET = "dataset"
    LOADER = "loader"
    BATCH = "batch"  # what a loader yields: tensors on the host, possibly nested
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
    """Where a tensor lies, or what a `torch.device` names."""

    UNKNOWN = "unknown"
    HOST = "host"
    CUDA = "cuda"
    OTHER = "other"  # known to be neither host nor cuda: mps, xpu, meta …


class Type(NamedTuple):
    """The kind of a value.

    `of` is the qualified name of the class or constructor where it is known: the class of an
    INSTANCE or MODULE, the constructor of a LOCK ("threading.Lock"), the referred function or
    class of a FUNCTION or CLASS. Of a value that is of one of several classes, it is all of their names
    ("{agents.DQN|agents.SAC}", see `alternatives`). `item` is the kind of the elements, where they are all
    alike. `device` is where a tensor lies (or which device a DEVICE names). `fresh` says that the value was
    just made by the expression and nothing else can hold it or its memory. `optional` says it may
    be None. `parts` are the kinds of a tuple's elements one by one, where the length is known; of a dict
    with `keys`, what lies at each of these.
    `dtype` is the type of the elements of an array or tensor ("float32", "uint8", "bool" …; "float"
    for the default floating-point type of torch, which is float32 unless the program sets another),
    `rank` the number of its dimensions; "" and None where they are not known. `doubtful` says that the
    value comes from an attribute of a class which restores attributes by name (`__setstate__`,
    `self.__dict__.update(state)`): it may be something else once that has happened.

    A tuple, since no other object is made and compared so often.
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
    doubtful: bool = False
    keys: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """False for the unknown kind."""
        return self.tag is not TypeTag.UNKNOWN

    def aged(self) -> Type:
        """The same kind once something else may hold the value."""
        return _aged(self) if self.fresh else self

    def joined(self, other: Type) -> Type:
        """What is known of a value that is either of the two."""
        if self == other:
            return self
        if self.tag is TypeTag.NONE and other.tag is not TypeTag.NONE:
            return other._replace(optional=True) if other or other.of else UNKNOWN
        if other.tag is TypeTag.NONE:
            return self._replace(optional=True) if self or self.of else UNKNOWN
        if self.tag is not other.tag:
            path = either(access_path(self), access_path(other))
            if not path:
                return UNKNOWN
            doubtful = self.doubtful or other.doubtful
            return Type(of=path, optional=self.optional or other.optional, doubtful=doubtful)
        return Type(
            self.tag,
            self.of if self.of == other.of else either(self.of, other.of) if self.tag in _JOINED else "",
            self.item.joined(other.item) if self.item is not None and other.item is not None else None,
            self.device if self.device is other.device else Device.UNKNOWN,
            self.fresh and other.fresh,
            self.optional or other.optional,
            self.dtype if self.dtype == other.dtype else "",
            self.rank if self.rank == other.rank else None,
            tuple(map(Type.joined, self.parts, other.parts)) if len(self.parts) == len(other.parts) else (),
            self.doubtful or other.doubtful,
            self.keys if self.keys == other.keys else (),
        )


_INSTANCES = frozenset(
    TypeTag[name]
    for name in "INSTANCE MODULE ENVIRONMENT DATASET REPLAY_BUFFER THREAD PROCESS OPTIMIZER".split()
)
"""Values that may be instances of classes of the project."""
_JOINED = _INSTANCES | {TypeTag.UNKNOWN, TypeTag.CLASS, TypeTag.FUNCTION}
"""Values whose `of` leads to a definition, or to one of several."""
_MOST_ALTERNATIVES = 6
_LONGEST_PATH = 400


def access_path(kind: Type) -> str:
    """Return the access path of a value that is of a kind: `agents.DQN()` of an instance; "" for none."""
    if not kind.of or kind.tag not in _JOINED:
        return ""
    if kind.tag not in _INSTANCES:
        return kind.of
    return either(*(f"{each}()" for each in alternatives(kind.of)))


def either(*paths: str) -> str:
    """Return the one access path that stands for several, `{a.X()|b.Y()}`; "" where one of them is not known,
    or where they are too many.
    """
    found = sorted({each for path in paths for each in (_members(path) or (path,))})
    if not all(found) or len(found) > _MOST_ALTERNATIVES:
        return ""
    if len(found) == 1:
        return found[0]
    joined = "|".join(found)
    return f"{{{joined}}}" if len(joined) <= _LONGEST_PATH else ""


@lru_cache(maxsize=16384)
def alternatives(path: str) -> tuple[str, ...]:
    """Return the plain access paths that a path stands for, itself where it is one; none of too many."""
    if "{" not in path:
        return (path,)
    start = path.index("{")
    end = _closing(path, start)
    inside = _members(path[start : end + 1])
    found = [plain for each in inside for plain in alternatives(f"{path[:start]}{each}{path[end + 1 :]}")]
    return tuple(dict.fromkeys(found)) if len(found) <= 2 * _MOST_ALTERNATIVES else ()


def _members(path: str) -> tuple[str, ...]:
    """The paths between the braces of a path that is nothing but a choice."""
    if not path.startswith("{") or _closing(path, 0) != len(path) - 1:
        return ()
    members, depth = [""], 0
    for sign in path[1:-1]:
        depth += (sign == "{") - (sign == "}")
        if sign == "|" and depth == 0:
            members.append("")
        else:
            members[-1] += sign
    return tuple(members)


def _closing(path: str, start: int) -> int:
    """Where the brace is closed that opens at `start`."""
    depth = 0
    for place in range(start, len(path)):
        depth += (path[place] == "{") - (path[place] == "}")
        if depth == 0:
            return place
    return len(path) - 1


UNKNOWN = Type()

PLAIN = {tag: Type(tag) for tag in TypeTag}
"""The kinds of which nothing is known but the tag."""


@lru_cache(maxsize=16384)
def deferred(path: str) -> Type:
    """The unknown kind of what an access path leads to."""
    return Type(of=path)


@lru_cache(maxsize=4096)
def _aged(kind: Type) -> Type:
    return kind._replace(fresh=False)
