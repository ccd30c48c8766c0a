"""Rows for methods of data: text, containers, arrays, tensors, modules. The rest is in `objects`."""

from __future__ import annotations

from rlint.models.effect import PURE, READS, Effect, EffectKind
from rlint.models.fact import (
    ANYTHING,
    ARRAY,
    BOOL,
    BYTES,
    DICT,
    DRAWS,
    DRAWS_INTO,
    FILE_IO,
    INT,
    ITERATOR,
    LIST,
    NEW,
    NEW_ARRAY,
    NEW_TENSOR,
    NEW_TENSORS,
    NOTHING,
    SCALAR,
    SET,
    SHAPE,
    STR,
    STRINGS,
    TENSOR,
    TENSORS,
    TUPLE,
    Fact,
    Table,
    methods,
    table,
)
from rlint.models.trait import Trait
from rlint.models.value_type import Device, Type, TypeTag

_CUDA_TENSOR = Type(TypeTag.TENSOR, device=Device.CUDA)
_HOST_TENSOR = Type(TypeTag.TENSOR, device=Device.HOST)

_TEXT: Table = table(
    methods(
        PURE,
        STR,
        "capitalize casefold lower lstrip",
        Trait.ONLY_TEXT | Trait.SCANS_TEXT | Trait.CHEAP,
    ),
    methods(
        PURE,
        STR,
        "removeprefix removesuffix",
        Trait.ONLY_TEXT | Trait.SCANS_TEXT | Trait.CHEAP,
        since="3.9",
    ),
    methods(PURE, STR, "center"),
    methods(PURE, STR, "expandtabs", Trait.SCANS_TEXT),
    methods(PURE, STR, "format ljust", Trait.CHEAP),
    methods(PURE, STR, "rstrip strip title upper", Trait.ONLY_TEXT | Trait.SCANS_TEXT | Trait.CHEAP),
    methods(PURE, STR, "replace translate", Trait.SCANS_TEXT),
    methods(PURE, STR, "rjust", Trait.CHEAP),
    methods(PURE, STR, "swapcase", Trait.ONLY_TEXT | Trait.SCANS_TEXT),
    methods(PURE, STR, "zfill", Trait.ONLY_TEXT | Trait.CHEAP),
    methods(READS, STR, "format_map"),
    methods(READS, STR, "join", Trait.ITERATES | Trait.SCANS_TEXT | Trait.CHEAP),
    methods(PURE, INT, "count find rfind", Trait.SCANS_TEXT | Trait.CHEAP),
    methods(PURE, INT, "index rindex", Trait.SCANS_TEXT),
    methods(
        PURE,
        BOOL,
        "endswith isalnum isalpha isdecimal isdigit islower isnumeric",
        Trait.ONLY_TEXT | Trait.CHEAP,
    ),
    methods(PURE, BOOL, "isascii isidentifier", Trait.ONLY_TEXT),
    methods(PURE, BOOL, "isprintable istitle", Trait.ONLY_TEXT),
    methods(PURE, BOOL, "isspace isupper startswith", Trait.ONLY_TEXT | Trait.CHEAP),
    methods(PURE, STRINGS, "rsplit split", Trait.SCANS_TEXT),
    methods(PURE, STRINGS, "splitlines", Trait.ONLY_TEXT | Trait.SCANS_TEXT),
    methods(
        PURE,
        Type(TypeTag.TUPLE, item=STR, fresh=True),
        "partition rpartition",
        Trait.SCANS_TEXT | Trait.CHEAP,
    ),
    methods(PURE, BYTES, "encode", Trait.SCANS_TEXT),
)
_BYTES: Table = table(
    methods(PURE, BYTES, "capitalize center ljust lstrip replace rjust"),
    methods(PURE, BYTES, "removeprefix removesuffix", since="3.9"),
    methods(PURE, BYTES, "lower rstrip", Trait.CHEAP),
    methods(PURE, BYTES, "strip upper", Trait.CHEAP),
    methods(PURE, BYTES, "title translate zfill"),
    methods(READS, BYTES, "join"),
    methods(PURE, INT, "count index rfind rindex"),
    methods(PURE, INT, "find", Trait.CHEAP),
    methods(PURE, BOOL, "endswith startswith", Trait.CHEAP),
    methods(PURE, BOOL, "isalnum isalpha isdigit islower isspace isupper"),
    methods(PURE, LIST, "rsplit split splitlines"),
    methods(PURE, TUPLE, "partition rpartition"),
    methods(PURE, STR, "decode", Trait.SCANS_TEXT | Trait.CHEAP),
    methods(PURE, STR, "hex"),
)

_LIST_CHANGES = Effect(EffectKind.MUTATES, "changes the list")
_DICT_CHANGES = Effect(EffectKind.MUTATES, "changes the dict")
_SET_CHANGES = Effect(EffectKind.MUTATES, "changes the set")
_DEQUE_CHANGES = Effect(EffectKind.MUTATES, "changes the deque")
_LIST: Table = table(
    methods(_LIST_CHANGES, NOTHING, "append insert", Trait.INSERTS),
    methods(_LIST_CHANGES, NOTHING, "clear remove", Trait.REMOVES),
    methods(_LIST_CHANGES, NOTHING, "extend", Trait.INSERTS_ALL | Trait.ITERATES),
    methods(_LIST_CHANGES, NOTHING, "reverse sort", Trait.REORDERS),
    methods(_LIST_CHANGES, ANYTHING, "pop", Trait.REMOVES | Trait.TAKES_OUT),
    methods(READS, INT, "count index"),
    methods(READS, LIST, "copy", Trait.COPIES),
)
_TUPLE: Table = methods(READS, INT, "count index")
_DICT: Table = table(
    methods(READS, ANYTHING, "get", Trait.TAKES_OUT | Trait.CHEAP),
    methods(READS, ANYTHING, "items keys values", Trait.CHEAP),
    methods(READS, ANYTHING, "most_common"),
    methods(READS, DICT, "copy", Trait.COPIES),
    methods(_DICT_CHANGES, ANYTHING, "pop popitem", Trait.REMOVES | Trait.TAKES_OUT),
    methods(_DICT_CHANGES, ANYTHING, "setdefault", Trait.INSERTS | Trait.TAKES_OUT),
    methods(_DICT_CHANGES, NOTHING, "clear", Trait.REMOVES),
    methods(_DICT_CHANGES, NOTHING, "move_to_end subtract"),
    methods(_DICT_CHANGES, NOTHING, "update", Trait.INSERTS_ALL | Trait.ITERATES),
    methods(PURE, DICT, "fromkeys", Trait.ITERATES),
    methods(READS, ITERATOR, "elements"),
    methods(READS, INT, "total"),
)
_STATE_DICT: Table = table(
    methods(READS, ANYTHING, "get", Trait.TAKES_OUT | Trait.CHEAP),
    methods(READS, ANYTHING, "items keys values", Trait.CHEAP),
    methods(READS, Type(TypeTag.STATE_DICT), "copy", Trait.COPIES),
    methods(Effect(EffectKind.MUTATES, "changes the state dict"), ANYTHING, "clear", Trait.REMOVES),
    methods(Effect(EffectKind.MUTATES, "changes the state dict"), ANYTHING, "move_to_end"),
    methods(
        Effect(EffectKind.MUTATES, "changes the state dict"),
        ANYTHING,
        "pop popitem",
        Trait.REMOVES | Trait.TAKES_OUT,
    ),
    methods(
        Effect(EffectKind.MUTATES, "changes the state dict"),
        ANYTHING,
        "setdefault",
        Trait.INSERTS | Trait.TAKES_OUT,
    ),
    methods(Effect(EffectKind.MUTATES, "changes the state dict"), ANYTHING, "update", Trait.INSERTS_ALL),
)
_SET: Table = table(
    methods(_SET_CHANGES, NOTHING, "add", Trait.INSERTS),
    methods(_SET_CHANGES, NOTHING, "clear discard remove", Trait.REMOVES),
    methods(_SET_CHANGES, NOTHING, "difference_update intersection_update", Trait.ITERATES),
    methods(_SET_CHANGES, NOTHING, "symmetric_difference_update", Trait.ITERATES),
    methods(_SET_CHANGES, NOTHING, "update", Trait.INSERTS_ALL | Trait.ITERATES),
    methods(_SET_CHANGES, ANYTHING, "pop", Trait.REMOVES | Trait.TAKES_OUT),
    methods(READS, SET, "copy", Trait.COPIES),
    methods(READS, SET, "difference intersection symmetric_difference union", Trait.ITERATES),
    methods(READS, BOOL, "isdisjoint issubset issuperset", Trait.ITERATES),
)
_DEQUE: Table = table(
    methods(_DEQUE_CHANGES, NOTHING, "append appendleft insert", Trait.INSERTS),
    methods(_DEQUE_CHANGES, NOTHING, "clear remove", Trait.REMOVES),
    methods(_DEQUE_CHANGES, NOTHING, "extend extendleft", Trait.INSERTS_ALL | Trait.ITERATES),
    methods(_DEQUE_CHANGES, NOTHING, "reverse rotate", Trait.REORDERS),
    methods(_DEQUE_CHANGES, ANYTHING, "pop popleft", Trait.REMOVES | Trait.TAKES_OUT),
    methods(READS, INT, "count index"),
    methods(READS, Type(TypeTag.DEQUE, fresh=True), "copy", Trait.COPIES),
)

_NDARRAY: Table = table(
    methods(PURE, NEW_ARRAY, "argpartition argsort searchsorted", Trait.GIVES_INDEX),
    methods(PURE, NEW_ARRAY, "byteswap", plain=0),
    methods(PURE, NEW_ARRAY, "choose", plain=1),
    methods(PURE, NEW_ARRAY, "compress", plain=2),
    methods(PURE, NEW_ARRAY, "copy", Trait.COPIES, takes="order"),
    methods(PURE, NEW_ARRAY, "flatten", Trait.KEEPS_ORDER, takes="order"),
    methods(PURE, NEW_ARRAY, "repeat", Trait.REPEATS),
    # May share the array's memory.
    methods(PURE, ARRAY, "astype", Trait.CASTS_TO, takes="dtype order casting subok copy"),
    methods(PURE, ARRAY, "conj conjugate", plain=0),
    methods(PURE, ARRAY, "diagonal"),
    methods(PURE, ARRAY, "round", plain=1),
    methods(PURE, ARRAY, "ravel", Trait.KEEPS_ORDER | Trait.CHEAP, takes="order"),
    methods(PURE, ARRAY, "reshape squeeze", Trait.KEEPS_ORDER | Trait.CHEAP),
    methods(PURE, ARRAY, "swapaxes transpose", Trait.PERMUTES | Trait.CHEAP),
    methods(PURE, ARRAY, "view", Trait.CHEAP),
    methods(PURE, NEW_ARRAY, "clip", plain=2, takes="min max out"),
    methods(PURE, NEW_ARRAY, "cumprod cumsum", plain=2, takes="axis dtype out"),
    methods(PURE, NEW_ARRAY, "take", plain=2),
    # A scalar or an array, depending on `axis`.
    methods(PURE, NEW, "all any max min", Trait.REDUCES, by_count={0: SCALAR}, plain=1, takes="axis out"),
    methods(
        PURE, NEW, "mean prod std var", Trait.REDUCES, by_count={0: SCALAR}, plain=2, takes="axis dtype out"
    ),
    methods(PURE, NEW, "ptp", Trait.REDUCES, by_count={0: SCALAR}, plain=1),
    methods(
        PURE,
        NEW,
        "argmax argmin",
        Trait.REDUCES | Trait.GIVES_INDEX,
        by_count={0: SCALAR},
        plain=1,
        takes="axis out",
    ),
    methods(
        PURE, NEW, "sum", Trait.REDUCES | Trait.SUMS, by_count={0: SCALAR}, plain=2, takes="axis dtype out"
    ),
    methods(PURE, NEW, "trace", plain=4),
    methods(PURE, NEW, "dot", plain=1),
    methods(PURE, Type(TypeTag.TUPLE, item=NEW_ARRAY, fresh=True), "nonzero", Trait.GIVES_INDEX),
    methods(PURE, LIST, "tolist", Trait.TO_HOST),
    methods(PURE, BYTES, "tobytes tostring"),
    methods(PURE, ANYTHING, "item", Trait.TO_HOST | Trait.CHEAP),
    methods(PURE, ANYTHING, "getfield"),
    methods(
        Effect(EffectKind.MUTATES, "changes the array"),
        NOTHING,
        "fill itemset partition put resize setfield setflags sort",
    ),
    methods(FILE_IO, NOTHING, "dump tofile"),
)
_NUMPY_SCALAR: Table = table(
    methods(PURE, ANYTHING, "item", Trait.CHEAP),
    methods(PURE, ANYTHING, "tolist view"),
    methods(PURE, ANYTHING, "astype", Trait.CASTS_TO),
    methods(PURE, SCALAR, "all any argmax argmin max mean min prod std sum var", Trait.REDUCES),
    methods(PURE, SCALAR, "clip conj copy round squeeze"),
    methods(PURE, NEW_ARRAY, "flatten ravel repeat reshape"),
    methods(PURE, BYTES, "tobytes"),
)

_TENSOR_CHANGES = Effect(EffectKind.MUTATES, "changes the tensor")
_TENSOR: Table = table(
    methods(
        PURE,
        NEW_TENSOR,
        """absolute acos acosh angle arccos arcsin arctan asin asinh atan atanh bitwise_not ceil cos cosh
        deg2rad digamma erf erfc erfinv exp exp2 expm1 floor frac lgamma log10 log1p log2 logit nan_to_num
        rad2deg reciprocal relu rsqrt sgn sigmoid signbit sin sinc sinh sqrt square tan tanh trunc""",
        Trait.ELEMENTWISE | Trait.MOSTLY_ONE_KIND,
    ),
    methods(PURE, NEW_TENSOR, "abs fix log neg negative round sign", Trait.ELEMENTWISE),
    methods(
        PURE,
        NEW_TENSOR,
        """add arctan2 atan2 bitwise_and bitwise_or bitwise_xor copysign div divide float_power floor_divide
        fmax fmin fmod heaviside hypot ldexp logaddexp mul multiply remainder true_divide xlogy""",
        Trait.PAIRWISE,
    ),
    methods(PURE, NEW_TENSOR, "pow", Trait.PAIRWISE | Trait.MOSTLY_ONE_KIND),
    methods(PURE, NEW_TENSOR, "baddbmm bmm", Trait.MULTIPLIES_BATCHES),
    methods(
        PURE,
        NEW_TENSOR,
        """addbmm addcdiv addcmul addmm addmv addr cholesky clamp_max clamp_min corrcoef cov
        cross cumprod cumsum det diag_embed diff dot ger histc index_copy index_fill index_put
        inner inverse kron lerp logcumsumexp logdet masked_scatter matmul
        matrix_exp matrix_power mm mv nanquantile outer pinverse prelu quantile renorm
        softmax take take_along_dim trace vdot where""",
    ),
    methods(
        PURE, NEW_TENSOR, "index_add log_softmax scatter scatter_add scatter_reduce", Trait.ONLY_ONE_KIND
    ),
    methods(PURE, NEW_TENSOR, "clamp", Trait.LIMITS | Trait.ONLY_ONE_KIND),
    methods(PURE, NEW_TENSOR, "clip", Trait.LIMITS),
    methods(PURE, NEW_TENSOR, "maximum minimum", Trait.PAIRWISE | Trait.LIMITS),
    methods(PURE, NEW_TENSOR, "amax amin", Trait.REDUCES, since="1.7"),
    methods(PURE, NEW_TENSOR, "logsumexp prod", Trait.REDUCES),
    methods(PURE, NEW_TENSOR, "nanmean", Trait.REDUCES, since="1.10"),
    methods(PURE, NEW_TENSOR, "nansum", Trait.REDUCES, since="1.7"),
    methods(PURE, NEW_TENSOR, "mean norm std var", Trait.REDUCES | Trait.SUMMARISES),
    methods(PURE, NEW_TENSOR, "argmax argmin", Trait.REDUCES | Trait.GIVES_INDEX),
    methods(PURE, NEW_TENSOR, "count_nonzero", Trait.REDUCES | Trait.GIVES_INDEX, since="1.7"),
    methods(PURE, NEW_TENSOR, "argsort bincount", Trait.GIVES_INDEX),
    methods(PURE, NEW_TENSOR, "argwhere", Trait.GIVES_INDEX, since="1.11"),
    methods(PURE, NEW_TENSOR, "clone", Trait.COPIES),
    methods(PURE, NEW_TENSOR, "dist", Trait.DIFFERS),
    methods(PURE, NEW_TENSOR, "sub subtract", Trait.DIFFERS | Trait.PAIRWISE),
    methods(PURE, NEW_TENSOR, "eq ne not_equal", Trait.COMPARES | Trait.DIFFERS | Trait.PAIRWISE),
    methods(PURE, NEW_TENSOR, "isclose", Trait.COMPARES | Trait.DIFFERS),
    methods(PURE, NEW_TENSOR, "flip fliplr flipud roll rot90", Trait.MIRRORS),
    methods(PURE, NEW_TENSOR, "gather index_select masked_fill", Trait.SAME_KIND | Trait.ONLY_ONE_KIND),
    methods(PURE, NEW_TENSOR, "tril triu", Trait.SAME_KIND),
    methods(
        PURE,
        NEW_TENSOR,
        """ge greater greater_equal gt le less less_equal logical_and logical_or logical_xor lt""",
        Trait.COMPARES | Trait.PAIRWISE,
    ),
    methods(PURE, NEW_TENSOR, "isfinite isinf isnan logical_not", Trait.ELEMENTWISE | Trait.COMPARES),
    methods(PURE, NEW_TENSOR, "masked_select", Trait.SELECTS_BY_MASK | Trait.MOSTLY_ONE_KIND),
    methods(
        PURE,
        NEW_TENSOR,
        "new_empty new_full new_ones new_zeros",
        Trait.FILLS | Trait.DETACHES | Trait.MOSTLY_ONE_KIND,
    ),
    methods(PURE, NEW_TENSOR, "new_tensor", Trait.DETACHES | Trait.MOSTLY_ONE_KIND),
    methods(PURE, NEW_TENSOR, "repeat tile", Trait.REPEATS),
    methods(PURE, NEW_TENSOR, "repeat_interleave", Trait.REPEATS | Trait.MOSTLY_ONE_KIND),
    methods(PURE, NEW_TENSOR, "sum", Trait.REDUCES | Trait.SUMS | Trait.SUMMARISES),
    # May share the tensor's memory, or be the tensor itself.
    methods(PURE, TENSOR, "adjoint diag diagonal positive resolve_conj to_dense unfold"),
    methods(PURE, TENSOR, "as_strided conj narrow select", Trait.CHEAP),
    methods(PURE, TENSOR, "bfloat16", Trait.CASTS),
    methods(PURE, TENSOR, "bool byte short", Trait.CASTS | Trait.GIVES_NUMBER | Trait.MOSTLY_ONE_KIND),
    methods(PURE, TENSOR, "char", Trait.CASTS | Trait.GIVES_NUMBER),
    methods(PURE, TENSOR, "broadcast_to expand", Trait.REPEATS | Trait.CHEAP),
    methods(PURE, TENSOR, "expand_as", Trait.REPEATS | Trait.CHEAP | Trait.MOSTLY_ONE_KIND),
    methods(PURE, TENSOR, "contiguous", Trait.SAME_VALUES | Trait.CHEAP | Trait.ONLY_ONE_KIND),
    methods(PURE, TENSOR, "detach", Trait.SAME_VALUES | Trait.DETACHES | Trait.CHEAP | Trait.ONLY_ONE_KIND),
    methods(PURE, TENSOR, "double float half", Trait.CASTS | Trait.CHEAP),
    methods(
        PURE,
        TENSOR,
        "flatten reshape squeeze view",
        Trait.KEEPS_ORDER | Trait.CHEAP,
    ),
    methods(
        PURE, TENSOR, "unflatten unsqueeze view_as", Trait.KEEPS_ORDER | Trait.CHEAP | Trait.ONLY_ONE_KIND
    ),
    methods(PURE, TENSOR, "int", Trait.CASTS | Trait.GIVES_NUMBER | Trait.CHEAP),
    methods(PURE, TENSOR, "long", Trait.CASTS | Trait.GIVES_NUMBER | Trait.CHEAP | Trait.ONLY_ONE_KIND),
    methods(PURE, TENSOR, "movedim swapaxes t transpose", Trait.PERMUTES | Trait.CHEAP),
    methods(PURE, TENSOR, "permute", Trait.PERMUTES | Trait.CHEAP | Trait.ONLY_ONE_KIND),
    methods(PURE, TENSOR, "moveaxis swapdims", Trait.PERMUTES),
    methods(PURE, TENSOR, "ravel", Trait.KEEPS_ORDER),
    methods(PURE, TENSOR, "reshape_as", Trait.KEEPS_ORDER | Trait.MOSTLY_ONE_KIND),
    methods(PURE, TENSOR, "to", Trait.CASTS_TO | Trait.RELOCATES | Trait.CHEAP),
    methods(PURE, TENSOR, "type_as", Trait.CASTS_TO | Trait.CHEAP | Trait.ONLY_ONE_KIND),
    methods(PURE, _HOST_TENSOR, "cpu", Trait.RELOCATES | Trait.SAME_KIND | Trait.CHEAP),
    methods(PURE, _HOST_TENSOR, "pin_memory", Trait.RELOCATES | Trait.SAME_KIND),
    methods(PURE, _CUDA_TENSOR, "cuda", Trait.RELOCATES | Trait.SAME_KIND | Trait.CHEAP),
    methods(
        PURE,
        TENSOR,
        "type",
        Trait.CASTS_TO | Trait.RELOCATES | Trait.CHEAP | Trait.MOSTLY_ONE_KIND,
        by_count={0: STR},
    ),
    methods(PURE, ANYTHING, "xpu", Trait.RELOCATES),
    methods(PURE, TENSORS, "chunk split unbind", Trait.CHEAP),
    methods(PURE, TENSORS, "split_with_sizes tensor_split"),
    methods(PURE, NEW_TENSORS, "aminmax frexp slogdet svd"),
    methods(PURE, NEW_TENSORS, "cummax cummin mode sort", Trait.INDICES_SECOND),
    methods(PURE, NEW_TENSORS, "kthvalue topk", Trait.INDICES_SECOND | Trait.ONLY_ONE_KIND),
    # One tensor or several, depending on the arguments.
    methods(PURE, NEW, "all any", Trait.REDUCES, by_count={0: NEW_TENSOR}),
    methods(
        PURE, NEW, "max median min nanmedian", Trait.REDUCES | Trait.INDICES_SECOND, by_count={0: NEW_TENSOR}
    ),
    methods(PURE, NEW, "nonzero", Trait.GIVES_INDEX, by_count={0: NEW_TENSOR}, since="as_tuple=1.3"),
    methods(PURE, NEW, "unique", by_count={0: NEW_TENSOR}),
    methods(PURE, NEW, "unique_consecutive"),
    methods(PURE, ARRAY, "numpy", Trait.TO_HOST | Trait.NEEDS_NO_GRADIENT | Trait.ONLY_ONE_KIND),
    methods(PURE, LIST, "tolist", Trait.TO_HOST | Trait.GIVES_NUMBER),
    methods(PURE, ANYTHING, "item", Trait.TO_HOST | Trait.GIVES_NUMBER),
    methods(
        PURE,
        ANYTHING,
        "size",
        Trait.MEASURES | Trait.GIVES_NUMBER | Trait.CHEAP | Trait.ONLY_ONE_KIND,
        by_count={0: SHAPE, 1: INT},
    ),
    methods(PURE, ANYTHING, "stride", Trait.MEASURES | Trait.GIVES_NUMBER | Trait.CHEAP, by_count={0: SHAPE}),
    methods(PURE, INT, "data_ptr", Trait.GIVES_NUMBER | Trait.CHEAP),
    methods(
        PURE,
        INT,
        "dim element_size get_device ndimension nelement numel",
        Trait.MEASURES | Trait.GIVES_NUMBER | Trait.CHEAP,
    ),
    methods(PURE, INT, "storage_offset", Trait.MEASURES | Trait.CHEAP),
    methods(PURE, BOOL, "allclose equal", Trait.COMPARES | Trait.DIFFERS),
    methods(PURE, BOOL, "is_complex is_pinned", Trait.MEASURES | Trait.CHEAP),
    methods(PURE, BOOL, "is_contiguous is_floating_point", Trait.MEASURES | Trait.GIVES_NUMBER | Trait.CHEAP),
    methods(PURE, BOOL, "is_shared"),
    methods(PURE, BOOL, "is_inference is_nonzero is_same_size is_signed"),
    methods(PURE, ANYTHING, "storage", Trait.GIVES_NUMBER),
    methods(PURE, ANYTHING, "untyped_storage", Trait.CHEAP),
    methods(_TENSOR_CHANGES, TENSOR, "copy_ fill_ zero_", Trait.OVERWRITES),
    methods(_TENSOR_CHANGES, TENSOR, "detach_", Trait.DETACHES | Trait.RETURNS_SELF),
    methods(_TENSOR_CHANGES, TENSOR, "requires_grad_", Trait.RETURNS_SELF),
    methods(DRAWS, NEW_TENSOR, "bernoulli"),
    methods(DRAWS, NEW_TENSOR, "multinomial", Trait.GIVES_INDEX),
    methods(
        DRAWS_INTO,
        TENSOR,
        "bernoulli_ cauchy_ exponential_ geometric_ log_normal_ normal_ random_ uniform_",
        Trait.OVERWRITES,
    ),
    methods(
        Effect(EffectKind.ACCUMULATES_GRADIENTS, "accumulates gradients"),
        NOTHING,
        "backward",
        Trait.ONLY_ONE_KIND,
    ),
    methods(Effect(EffectKind.OTHER, "keeps a gradient"), NOTHING, "retain_grad", Trait.ONLY_ONE_KIND),
    methods(
        Effect(EffectKind.OTHER, "registers a hook"),
        ANYTHING,
        "register_hook register_post_accumulate_grad_hook",
    ),
    methods(Effect(EffectKind.OTHER, "marks the tensor for a stream"), NOTHING, "record_stream"),
)

_MODULES = Type(TypeTag.ITERATOR, item=Type(TypeTag.MODULE), fresh=True)
_MODULE: Table = table(
    methods(
        READS,
        Type(TypeTag.PARAMETERS, item=TENSOR, fresh=True),
        "parameters",
        Trait.REACHES_WEIGHTS | Trait.RUNS_NO_LAYER | Trait.CHEAP | Trait.ONLY_ONE_KIND,
    ),
    methods(
        READS, Type(TypeTag.ITERATOR, item=TENSOR, fresh=True), "buffers", Trait.RUNS_NO_LAYER | Trait.CHEAP
    ),
    methods(READS, _MODULES, "children modules", Trait.RUNS_NO_LAYER | Trait.CHEAP),
    methods(READS, ITERATOR, "named_buffers named_children named_modules", Trait.RUNS_NO_LAYER),
    methods(READS, ITERATOR, "named_parameters", Trait.REACHES_WEIGHTS | Trait.RUNS_NO_LAYER | Trait.CHEAP),
    methods(
        READS, Type(TypeTag.STATE_DICT, fresh=True), "state_dict", Trait.REACHES_WEIGHTS | Trait.RUNS_NO_LAYER
    ),
    methods(READS, Type(TypeTag.MODULE), "get_submodule"),
    methods(READS, TENSOR, "get_buffer"),
    methods(READS, TENSOR, "get_parameter", Trait.RUNS_NO_LAYER),
    methods(READS, STR, "extra_repr"),
    methods(
        Effect(EffectKind.OTHER, "loads weights"),
        ANYTHING,
        "load_state_dict",
        Trait.REACHES_WEIGHTS | Trait.RUNS_NO_LAYER,
    ),
    methods(
        Effect(EffectKind.OTHER, "switches the mode"),
        Type(TypeTag.MODULE),
        "eval train",
        Trait.RETURNS_SELF | Trait.RUNS_NO_LAYER,
    ),
    methods(
        Effect(EffectKind.MOVES_MODULE, "moves the module"),
        Type(TypeTag.MODULE),
        "cpu cuda to",
        Trait.RELOCATES | Trait.RETURNS_SELF | Trait.RUNS_NO_LAYER,
    ),
    methods(
        Effect(EffectKind.MOVES_MODULE, "moves the module"),
        Type(TypeTag.MODULE),
        "to_empty xpu",
        Trait.RELOCATES | Trait.RETURNS_SELF,
    ),
    methods(
        Effect(EffectKind.OTHER, "casts the module"),
        Type(TypeTag.MODULE),
        "bfloat16 double float half type",
        Trait.CASTS | Trait.RETURNS_SELF | Trait.RUNS_NO_LAYER,
    ),
    methods(
        Effect(EffectKind.OTHER, "clears gradients"),
        NOTHING,
        "zero_grad",
        Trait.REACHES_WEIGHTS | Trait.RUNS_NO_LAYER,
        since="set_to_none=1.7",
    ),
    methods(
        Effect(EffectKind.MUTATES, "changes what needs a gradient"),
        Type(TypeTag.MODULE),
        "requires_grad_",
        Trait.RETURNS_SELF | Trait.RUNS_NO_LAYER,
    ),
    methods(
        Effect(EffectKind.MOVES_MODULE, "moves the module to shared memory"),
        Type(TypeTag.MODULE),
        "share_memory",
        Trait.RETURNS_SELF | Trait.RUNS_NO_LAYER,
    ),
    methods(
        Effect(EffectKind.OTHER, "runs a function on every submodule"),
        Type(TypeTag.MODULE),
        "apply",
        Trait.RETURNS_SELF | Trait.RUNS_NO_LAYER,
    ),
    methods(
        Effect(EffectKind.MUTATES, "changes the module"),
        ANYTHING,
        "add_module register_module",
        Trait.INSERTS | Trait.ADDS_PART,
    ),
    methods(Effect(EffectKind.MUTATES, "changes the module"), ANYTHING, "append insert", Trait.INSERTS),
    methods(Effect(EffectKind.MUTATES, "changes the module"), ANYTHING, "compile"),
    methods(Effect(EffectKind.MUTATES, "changes the module"), ANYTHING, "set_submodule", Trait.ADDS_PART),
    methods(Effect(EffectKind.MUTATES, "changes the module"), ANYTHING, "extend", Trait.INSERTS_ALL),
    methods(
        Effect(EffectKind.MUTATES, "changes the module"),
        ANYTHING,
        "register_buffer",
        Trait.RUNS_NO_LAYER | Trait.ADDS_PART,
        since="persistent=1.6",
    ),
    methods(
        Effect(EffectKind.MUTATES, "changes the module"),
        ANYTHING,
        "register_parameter",
        Trait.RUNS_NO_LAYER | Trait.ADDS_PART,
    ),
    methods(
        Effect(EffectKind.OTHER, "registers a hook"),
        ANYTHING,
        "register_forward_hook register_forward_pre_hook",
    ),
    methods(
        Effect(EffectKind.OTHER, "registers a hook"),
        ANYTHING,
        "register_full_backward_hook register_backward_hook",
    ),
    methods(
        Effect(EffectKind.OTHER, "registers a hook"),
        ANYTHING,
        """_register_load_state_dict_pre_hook register_load_state_dict_pre_hook
        register_load_state_dict_post_hook _register_state_dict_hook register_state_dict_pre_hook
        register_state_dict_post_hook""",
        Trait.HOOKS_STATE,
    ),
    methods(FILE_IO, ANYTHING, "save_pretrained"),
    methods(DRAWS, ANYTHING, "generate"),
    methods(DRAWS_INTO, ANYTHING, "reset_parameters"),
)
_OPTIMIZER_CHANGES = Effect(EffectKind.MUTATES, "changes the optimizer")
_OPTIMIZER: Table = table(
    methods(Effect(EffectKind.OTHER, "updates weights"), ANYTHING, "step"),
    methods(Effect(EffectKind.OTHER, "clears gradients"), NOTHING, "zero_grad", since="set_to_none=1.7"),
    methods(_OPTIMIZER_CHANGES, NOTHING, "add_param_group load_state_dict"),
    methods(READS, DICT, "state_dict"),
)
_SCHEDULER: Table = table(
    methods(_OPTIMIZER_CHANGES, NOTHING, "load_state_dict step"),
    methods(READS, LIST, "get_last_lr get_lr"),
    methods(READS, DICT, "state_dict"),
)
_DISTRIBUTION: Table = table(
    methods(DRAWS, NEW_TENSOR, "rsample sample_n"),
    methods(DRAWS, NEW_TENSOR, "sample", Trait.DETACHES),
    methods(PURE, NEW_TENSOR, "cdf entropy enumerate_support icdf log_prob perplexity"),
    methods(PURE, Type(TypeTag.DISTRIBUTION), "expand"),
)

METHODS: dict[TypeTag, Table] = {
    TypeTag.STR: _TEXT,
    TypeTag.BYTES: _BYTES,
    TypeTag.LIST: _LIST,
    TypeTag.TUPLE: _TUPLE,
    TypeTag.RANGE: _TUPLE,
    TypeTag.DICT: _DICT,
    TypeTag.STATE_DICT: _STATE_DICT,
    TypeTag.SET: _SET,
    TypeTag.DEQUE: _DEQUE,
    TypeTag.INT: methods(PURE, INT, "bit_length bit_count conjugate") | methods(PURE, BYTES, "to_bytes"),
    TypeTag.FLOAT: methods(PURE, BOOL, "is_integer") | methods(PURE, TUPLE, "as_integer_ratio"),
    TypeTag.NDARRAY: _NDARRAY,
    TypeTag.NUMPY_SCALAR: _NUMPY_SCALAR,
    TypeTag.TENSOR: _TENSOR,
    TypeTag.MODULE: _MODULE,
    TypeTag.OPTIMIZER: _OPTIMIZER,
    TypeTag.SCHEDULER: _SCHEDULER,
    TypeTag.DISTRIBUTION: _DISTRIBUTION,
}

IN_PLACE_TENSOR = Fact(_TENSOR_CHANGES, TENSOR)
"""The effect of a tensor method whose name ends in one underscore."""
