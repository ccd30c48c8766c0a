"""Calls that cost about as much as remembering their value would."""

from __future__ import annotations

from rlint.models.fact import words
from rlint.models.value_type import TypeTag

_CHEAP_PREFIXES = ("math.", "os.path.", "operator.", "typing.", "torch.distributed.", "itertools.")
_CHEAP_BUT_READING_FILES = frozenset(
    f"os.path.{name}"
    for name in words("""exists getatime getctime getmtime getsize isdir isfile islink ismount lexists
    realpath samefile""")
)

CHEAP = frozenset(
    f"builtins.{name}"
    for name in words("""abs bool bytes callable chr complex dict divmod enumerate filter float getattr
    hasattr hash id int isinstance issubclass iter len list map max min object ord pow property range repr
    reversed round set slice str super tuple type vars zip""")
) | frozenset(
    words("""contextlib.nullcontext functools.partial numpy.array_equiv numpy.can_cast numpy.dtype numpy.finfo
    numpy.float32 numpy.float64 numpy.iinfo numpy.int32 numpy.int64 numpy.isscalar numpy.issubdtype numpy.ndim
    numpy.result_type numpy.shape numpy.size os.environ.get os.fspath os.getcwd os.getenv os.getpid
    pathlib.Path logging.getLogger threading.current_thread threading.get_ident
    torch.Size torch.autocast torch.broadcast_shapes torch.detach torch.device
    torch.enable_grad torch.finfo torch.flatten torch.get_default_dtype torch.iinfo torch.inference_mode
    torch.is_complex torch.is_floating_point torch.is_grad_enabled torch.is_tensor torch.no_grad
    torch.numel torch.permute torch.promote_types torch.reshape torch.result_type torch.squeeze
    torch.t torch.transpose torch.unbind torch.unsqueeze torch.view_as_real numpy.asarray numpy.atleast_1d
    numpy.expand_dims numpy.reshape numpy.squeeze numpy.swapaxes numpy.transpose torch.as_tensor
    torch.from_numpy torch.chunk torch.split torch.narrow torch.cuda.is_available
    torch.cuda.current_device torch.cuda.device_count""")
)

CHEAP_METHODS: dict[TypeTag, frozenset[str]] = {
    TypeTag.STR: frozenset(
        words("""capitalize casefold count endswith find format isalnum isalpha isdecimal isdigit islower
        isnumeric isspace isupper join ljust lower lstrip partition removeprefix removesuffix rfind rjust
        rpartition rstrip startswith strip title upper zfill""")
    ),
    TypeTag.BYTES: frozenset(words("decode endswith find lower rstrip startswith strip upper")),
    TypeTag.TENSOR: frozenset(
        words("""as_strided broadcast_to chunk conj contiguous cpu cuda data_ptr detach dim double
        element_size expand expand_as flatten float get_device half int is_complex is_contiguous
        is_floating_point is_pinned long movedim narrow ndimension nelement numel permute reshape select
        size split squeeze storage_offset stride swapaxes t to transpose type type_as unbind unflatten
        unsqueeze untyped_storage view view_as""")
    ),
    TypeTag.NDARRAY: frozenset(words("item ravel reshape squeeze swapaxes transpose view")),
    TypeTag.NUMPY_SCALAR: frozenset(words("item")),
    TypeTag.DICT: frozenset(words("get items keys values")),
    TypeTag.STATE_DICT: frozenset(words("get items keys values")),
    TypeTag.LIST: frozenset(),
    TypeTag.MATCH: frozenset(words("end group groups span start")),
    TypeTag.EVENT: frozenset({"is_set"}),
    TypeTag.QUEUE: frozenset(words("empty full qsize")),
    TypeTag.THREAD: frozenset({"is_alive"}),
    TypeTag.MODULE: frozenset(words("buffers children modules named_parameters parameters")),
    TypeTag.PATH: frozenset(words("as_posix joinpath with_name with_suffix")),
    TypeTag.LOGGER: frozenset({"isEnabledFor"}),
    TypeTag.REPLAY_BUFFER: frozenset({"size"}),
    TypeTag.FUTURE: frozenset({"done"}),
}


def is_cheap(qualified: str) -> bool:
    """Tell whether calling this is so cheap that doing it twice is no finding."""
    if qualified in CHEAP:
        return True
    if qualified.endswith("Config"):
        return True  # a bag of settings (`ExprExtractionConfig()`), made where it is handed over
    return qualified.startswith(_CHEAP_PREFIXES) and qualified not in _CHEAP_BUT_READING_FILES


def is_cheap_method(tag: TypeTag, method: str) -> bool:
    """Tell whether this method of such a value is so cheap that calling it twice is no finding."""
    return method in CHEAP_METHODS.get(tag, ())
