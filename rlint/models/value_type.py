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
    class of a FUNCTION or CLASS. `item` is the kind of the elements, where they are all alike.
    `device` is where a tensor lies (or which device a DEVICE names). `fresh` says that the value was
    just made by the expression and nothing else can hold it or its memory. `optional` says it may
    be None. `parts` are the kinds of a tuple's elements one by one, where the length is known.
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
            return UNKNOWN
        return Type(
            self.tag,
            self.of if self.of == other.of else "",
            self.item.joined(other.item) if self.item and other.item else None,
            self.device if self.device is other.device else Device.UNKNOWN,
            self.fresh and other.fresh,
            self.optional or other.optional,
            self.dtype if self.dtype == other.dtype else "",
            self.rank if self.rank == other.rank else None,
            tuple(map(Type.joined, self.parts, other.parts)) if len(self.parts) == len(other.parts) else (),
            self.doubtful or other.doubtful,
        )


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
