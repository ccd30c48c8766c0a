"""Facts about methods of data: text, containers, arrays, tensors, modules. The rest is in `objects`."""

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
    words,
)
from rlint.models.value_type import Device, Type, TypeTag

_CUDA_TENSOR = Type(TypeTag.TENSOR, device=Device.CUDA)
_HOST_TENSOR = Type(TypeTag.TENSOR, device=Device.HOST)

_TEXT: Table = table(
    methods(PURE, STR, "capitalize casefold center expandtabs format ljust lower lstrip removeprefix"),
    methods(PURE, STR, "removesuffix replace rjust rstrip strip swapcase title translate upper zfill"),
    methods(READS, STR, "format_map join"),
    methods(PURE, INT, "count find index rfind rindex"),
    methods(PURE, BOOL, "endswith isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric"),
    methods(PURE, BOOL, "isprintable isspace istitle isupper startswith"),
    methods(PURE, STRINGS, "rsplit split splitlines"),
    methods(PURE, Type(TypeTag.TUPLE, item=STR, fresh=True), "partition rpartition"),
    methods(PURE, BYTES, "encode"),
)
_BYTES: Table = table(
    methods(
        PURE, BYTES, "capitalize center ljust lower lstrip removeprefix removesuffix replace rjust rstrip"
    ),
    methods(PURE, BYTES, "strip title translate upper zfill"),
    methods(READS, BYTES, "join"),
    methods(PURE, INT, "count find index rfind rindex"),
    methods(PURE, BOOL, "endswith isalnum isalpha isdigit islower isspace isupper startswith"),
    methods(PURE, LIST, "rsplit split splitlines"),
    methods(PURE, TUPLE, "partition rpartition"),
    methods(PURE, STR, "decode hex"),
)

_LIST_CHANGES = Effect(EffectKind.MUTATES, "changes the list")
_DICT_CHANGES = Effect(EffectKind.MUTATES, "changes the dict")
_SET_CHANGES = Effect(EffectKind.MUTATES, "changes the set")
_DEQUE_CHANGES = Effect(EffectKind.MUTATES, "changes the deque")
_LIST: Table = table(
    methods(_LIST_CHANGES, NOTHING, "append clear extend insert remove reverse sort"),
    methods(_LIST_CHANGES, ANYTHING, "pop"),
    methods(READS, INT, "count index"),
    methods(READS, LIST, "copy"),
)
_TUPLE: Table = methods(READS, INT, "count index")
_DICT: Table = table(
    methods(READS, ANYTHING, "get items keys most_common values"),
    methods(READS, DICT, "copy"),
    methods(_DICT_CHANGES, ANYTHING, "pop popitem setdefault"),
    methods(_DICT_CHANGES, NOTHING, "clear move_to_end subtract update"),
    methods(PURE, DICT, "fromkeys"),
    methods(READS, ITERATOR, "elements"),
    methods(READS, INT, "total"),
)
_STATE_DICT: Table = table(
    methods(READS, ANYTHING, "get items keys values"),
    methods(READS, Type(TypeTag.STATE_DICT), "copy"),
    methods(
        Effect(EffectKind.MUTATES, "changes the state dict"),
        ANYTHING,
        "clear move_to_end pop popitem setdefault update",
    ),
)
_SET: Table = table(
    methods(_SET_CHANGES, NOTHING, "add clear difference_update discard intersection_update remove"),
    methods(_SET_CHANGES, NOTHING, "symmetric_difference_update update"),
    methods(_SET_CHANGES, ANYTHING, "pop"),
    methods(READS, SET, "copy difference intersection symmetric_difference union"),
    methods(READS, BOOL, "isdisjoint issubset issuperset"),
)
_DEQUE: Table = table(
    methods(
        _DEQUE_CHANGES, NOTHING, "append appendleft clear extend extendleft insert remove reverse rotate"
    ),
    methods(_DEQUE_CHANGES, ANYTHING, "pop popleft"),
    methods(READS, INT, "count index"),
    methods(READS, Type(TypeTag.DEQUE, fresh=True), "copy"),
)

_NDARRAY: Table = table(
    methods(
        PURE, NEW_ARRAY, "argpartition argsort byteswap choose compress copy flatten repeat searchsorted"
    ),
    # May share the array's memory.
    methods(
        PURE, ARRAY, "astype conj conjugate diagonal ravel reshape round squeeze swapaxes transpose view"
    ),
    methods(PURE, NEW_ARRAY, "clip cumprod cumsum take"),
    # A scalar or an array, as `axis` says.
    methods(PURE, NEW, "all any argmax argmin max mean min prod ptp std sum trace var dot"),
    methods(PURE, Type(TypeTag.TUPLE, item=NEW_ARRAY, fresh=True), "nonzero"),
    methods(PURE, LIST, "tolist"),
    methods(PURE, BYTES, "tobytes tostring"),
    methods(PURE, ANYTHING, "item getfield"),
    methods(
        Effect(EffectKind.MUTATES, "changes the array"),
        NOTHING,
        "fill itemset partition put resize setfield setflags sort",
    ),
    methods(FILE_IO, NOTHING, "dump tofile"),
)
_NUMPY_SCALAR: Table = table(
    methods(PURE, ANYTHING, "item tolist astype view"),
    methods(PURE, SCALAR, "all any argmax argmin clip conj copy max mean min prod round squeeze std sum var"),
    methods(PURE, NEW_ARRAY, "flatten ravel repeat reshape"),
    methods(PURE, BYTES, "tobytes"),
)

_TENSOR_CHANGES = Effect(EffectKind.MUTATES, "changes the tensor")
_TENSOR: Table = table(
    methods(
        PURE,
        NEW_TENSOR,
        """abs absolute acos acosh add addbmm addcdiv addcmul addmm addmv addr amax amin angle arccos
        arcsin arctan arctan2 argmax argmin argsort argwhere asin asinh atan atan2 atanh baddbmm bincount
        bitwise_and bitwise_not bitwise_or bitwise_xor bmm ceil cholesky clamp clamp_max clamp_min clip
        clone copysign corrcoef cos cosh count_nonzero cov cross cumprod cumsum deg2rad det diag_embed
        diff digamma dist div divide dot eq erf erfc erfinv exp exp2 expm1 fix flip fliplr flipud
        float_power floor floor_divide fmax fmin fmod frac gather ge ger greater greater_equal gt
        heaviside histc hypot index_add index_copy index_fill index_put index_select inner inverse isclose
        isfinite isinf isnan kron ldexp le lerp less less_equal lgamma log log10 log1p log2
        log_softmax logaddexp logcumsumexp logdet logical_and logical_not logical_or logical_xor logit
        logsumexp lt masked_fill masked_scatter masked_select matmul matrix_exp matrix_power maximum mean
        minimum mm mul multiply mv nan_to_num nanmean nanquantile nansum ne neg negative new_empty
        new_full new_ones new_tensor new_zeros norm not_equal outer pinverse pow prelu prod quantile
        rad2deg reciprocal relu remainder renorm repeat repeat_interleave roll rot90 round rsqrt scatter
        scatter_add scatter_reduce sgn sigmoid sign signbit sin sinc sinh softmax sqrt square std sub
        subtract sum take take_along_dim tan tanh tile trace tril triu true_divide trunc var vdot where
        xlogy""",
    ),
    # May share the tensor's memory, or be the tensor itself.
    methods(
        PURE,
        TENSOR,
        """adjoint as_strided bfloat16 bool broadcast_to byte char conj contiguous detach diag diagonal double
        expand expand_as flatten float half int long movedim moveaxis narrow permute positive ravel
        reshape reshape_as resolve_conj select short squeeze swapaxes swapdims t to to_dense
        transpose type_as unflatten unfold unsqueeze view view_as""",
    ),
    methods(PURE, _HOST_TENSOR, "cpu pin_memory"),
    methods(PURE, _CUDA_TENSOR, "cuda"),
    methods(PURE, ANYTHING, "type xpu"),
    methods(PURE, TENSORS, "chunk split split_with_sizes tensor_split unbind"),
    methods(PURE, NEW_TENSORS, "aminmax cummax cummin frexp kthvalue mode slogdet sort svd topk"),
    # One tensor or several, as the arguments say.
    methods(PURE, NEW, "all any max median min nanmedian nonzero unique unique_consecutive"),
    methods(PURE, ARRAY, "numpy"),
    methods(PURE, LIST, "tolist"),
    methods(PURE, ANYTHING, "item size stride"),
    methods(PURE, INT, "data_ptr dim element_size get_device ndimension nelement numel storage_offset"),
    methods(PURE, BOOL, "allclose equal is_complex is_contiguous is_floating_point is_pinned is_shared"),
    methods(PURE, BOOL, "is_inference is_nonzero is_same_size is_signed"),
    methods(PURE, ANYTHING, "storage untyped_storage"),
    methods(DRAWS, NEW_TENSOR, "bernoulli multinomial"),
    methods(
        DRAWS_INTO,
        TENSOR,
        "bernoulli_ cauchy_ exponential_ geometric_ log_normal_ normal_ random_ uniform_",
    ),
    methods(Effect(EffectKind.ACCUMULATES_GRADIENTS, "accumulates gradients"), NOTHING, "backward"),
    methods(Effect(EffectKind.OTHER, "keeps a gradient"), NOTHING, "retain_grad"),
    methods(
        Effect(EffectKind.OTHER, "registers a hook"),
        ANYTHING,
        "register_hook register_post_accumulate_grad_hook",
    ),
    methods(Effect(EffectKind.OTHER, "marks the tensor for a stream"), NOTHING, "record_stream"),
)

_MODULES = Type(TypeTag.ITERATOR, item=Type(TypeTag.MODULE), fresh=True)
_MODULE: Table = table(
    methods(READS, Type(TypeTag.PARAMETERS, item=TENSOR, fresh=True), "parameters"),
    methods(READS, Type(TypeTag.ITERATOR, item=TENSOR, fresh=True), "buffers"),
    methods(READS, _MODULES, "children modules"),
    methods(READS, ITERATOR, "named_buffers named_children named_modules named_parameters"),
    methods(READS, Type(TypeTag.STATE_DICT, fresh=True), "state_dict"),
    methods(READS, Type(TypeTag.MODULE), "get_submodule"),
    methods(READS, TENSOR, "get_buffer get_parameter"),
    methods(READS, STR, "extra_repr"),
    methods(Effect(EffectKind.OTHER, "loads weights"), ANYTHING, "load_state_dict"),
    methods(Effect(EffectKind.OTHER, "switches the mode"), Type(TypeTag.MODULE), "eval train"),
    methods(
        Effect(EffectKind.MOVES_MODULE, "moves the module"), Type(TypeTag.MODULE), "cpu cuda to to_empty xpu"
    ),
    methods(
        Effect(EffectKind.OTHER, "casts the module"), Type(TypeTag.MODULE), "bfloat16 double float half type"
    ),
    methods(Effect(EffectKind.OTHER, "clears gradients"), NOTHING, "zero_grad"),
    methods(
        Effect(EffectKind.MUTATES, "changes what needs a gradient"), Type(TypeTag.MODULE), "requires_grad_"
    ),
    methods(
        Effect(EffectKind.MOVES_MODULE, "moves the module to shared memory"),
        Type(TypeTag.MODULE),
        "share_memory",
    ),
    methods(Effect(EffectKind.OTHER, "runs a function on every submodule"), Type(TypeTag.MODULE), "apply"),
    methods(
        Effect(EffectKind.MUTATES, "changes the module"), ANYTHING, "add_module append compile extend insert"
    ),
    methods(
        Effect(EffectKind.MUTATES, "changes the module"),
        ANYTHING,
        "register_buffer register_module register_parameter",
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
    methods(FILE_IO, ANYTHING, "save_pretrained"),
    methods(DRAWS, ANYTHING, "generate"),
    methods(DRAWS_INTO, ANYTHING, "reset_parameters"),
)
_OPTIMIZER_CHANGES = Effect(EffectKind.MUTATES, "changes the optimizer")
_OPTIMIZER: Table = table(
    methods(Effect(EffectKind.OTHER, "updates weights"), ANYTHING, "step"),
    methods(Effect(EffectKind.OTHER, "clears gradients"), NOTHING, "zero_grad"),
    methods(_OPTIMIZER_CHANGES, NOTHING, "add_param_group load_state_dict"),
    methods(READS, DICT, "state_dict"),
)
_SCHEDULER: Table = table(
    methods(_OPTIMIZER_CHANGES, NOTHING, "load_state_dict step"),
    methods(READS, LIST, "get_last_lr get_lr"),
    methods(READS, DICT, "state_dict"),
)
_DISTRIBUTION: Table = table(
    methods(DRAWS, NEW_TENSOR, "rsample sample sample_n"),
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
"""Of a tensor's method whose name ends in one underscore."""

PLAIN_ARGUMENTS: dict[tuple[TypeTag, str], int] = {
    **{(TypeTag.NDARRAY, name): 2 for name in words("clip cumprod cumsum mean prod std sum take var")},
    **{(TypeTag.NDARRAY, name): 1 for name in words("all any argmax argmin choose dot max min ptp round")},
    (TypeTag.NDARRAY, "byteswap"): 0,
    (TypeTag.NDARRAY, "compress"): 2,
    (TypeTag.NDARRAY, "conj"): 0,
    (TypeTag.NDARRAY, "conjugate"): 0,
    (TypeTag.NDARRAY, "trace"): 4,
}
"""With more arguments than these, they may write their result to one, or to the array."""

BY_COUNT: dict[tuple[TypeTag, str, int], Fact] = {
    (TypeTag.TENSOR, "size", 0): Fact(PURE, SHAPE),
    (TypeTag.TENSOR, "size", 1): Fact(PURE, INT),
    (TypeTag.TENSOR, "stride", 0): Fact(PURE, SHAPE),
    (TypeTag.TENSOR, "type", 0): Fact(PURE, STR),
    **{
        (TypeTag.TENSOR, name, 0): Fact(PURE, NEW_TENSOR)
        for name in words("all any max median min nanmedian nonzero unique")
    },
    **{
        (TypeTag.NDARRAY, name, 0): Fact(PURE, SCALAR)
        for name in words("all any argmax argmin max mean min prod ptp std sum var")
    },
}
