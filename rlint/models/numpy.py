"""Facts about numpy. A name that some version of numpy lacks does no harm here."""

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
    FLOAT,
    FUNCTION,
    INT,
    ITERATOR,
    NEW,
    NEW_ARRAY,
    NOTHING,
    SCALAR,
    SEEDS,
    SHAPE,
    STR,
    TUPLE,
    Fact,
    Table,
    facts,
    makers,
    table,
    words,
)
from rlint.models.value_type import Type, TypeTag

_ARRAYS = Type(TypeTag.TUPLE, item=ARRAY, fresh=True)
_NEW_ARRAYS = Type(TypeTag.TUPLE, item=NEW_ARRAY, fresh=True)
_ARRAY_LIST = Type(TypeTag.LIST, item=ARRAY, fresh=True)
_CHANGES = Effect(EffectKind.MUTATES, "changes the array")
_SETTINGS = Effect(EffectKind.OTHER, "changes a setting of numpy")
_CALLS_BACK = Effect(EffectKind.UNKNOWN, "calls the function that it is given")

_ELEMENTWISE = """abs acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh
    bitwise_not cbrt ceil conj conjugate cos cosh deg2rad degrees exp exp2 expm1 fabs floor invert
    isfinite isinf isnan isneginf isposinf log log10 log1p log2 logical_not nan_to_num negative positive
    rad2deg radians reciprocal rint sign signbit sin sinc sinh spacing sqrt square tan tanh trunc"""
_OF_TWO = """add arctan2 bitwise_and bitwise_or bitwise_xor copysign divide equal float_power floor_divide
    fmax fmin fmod gcd greater greater_equal heaviside hypot lcm ldexp left_shift less less_equal
    logaddexp logaddexp2 logical_and logical_or logical_xor matmul maximum minimum mod multiply
    nextafter not_equal power remainder right_shift subtract true_divide vecdot"""
_REDUCTIONS = """all amax amin any argmax argmin average count_nonzero max mean median min nanargmax nanargmin
    nanmax nanmean nanmedian nanmin nanprod nanstd nansum nanvar prod ptp std sum var"""
# These ask their argument for its own method: a tensor in, a tensor out.
_OWN_METHOD_VIEWS = "ravel reshape round squeeze swapaxes transpose"
_OWN_METHOD_COPIES = "argsort clip cumprod cumsum repeat take"

_ARRAYS_TABLE: Table = table(
    # Made anew from what is given. The memory of `empty` is arbitrary, yet nothing depends on it rightly.
    facts(
        "numpy",
        PURE,
        NEW_ARRAY,
        """append arange argpartition argwhere array bartlett bincount blackman block column_stack concatenate
        convolve copy corrcoef correlate cov delete diagflat digitize dstack ediff1d empty empty_like eye
        extract flatnonzero full full_like geomspace hamming hanning hstack identity indices insert
        intersect1d isin in1d kaiser kron lexsort linspace logspace ones ones_like packbits pad
        partition poly polyadd polyfit polymul polysub roll roots select setdiff1d setxor1d sort
        stack tile tri tril triu union1d unpackbits vander vstack zeros zeros_like""",
    ),
    # These may give back their argument, or a view of it.
    facts(
        "numpy",
        PURE,
        ARRAY,
        """asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray broadcast_to diag
        diagonal expand_dims flip fliplr flipud frombuffer from_dlpack lib.stride_tricks.as_strided
        lib.stride_tricks.sliding_window_view matrix_transpose moveaxis permute_dims require rollaxis
        rot90 trim_zeros""",
    ),
    # A scalar, an array or a tensor, as the argument is: always new memory.
    facts("numpy", PURE, NEW, _ELEMENTWISE),
    facts("numpy", PURE, NEW, _REDUCTIONS),
    facts("numpy", PURE, NEW, _OWN_METHOD_COPIES),
    facts("numpy", PURE, ANYTHING, _OWN_METHOD_VIEWS),
    facts("numpy", PURE, NEW, _OF_TWO),
    facts(
        "numpy",
        PURE,
        NEW,
        """cross cumulative_sum divmod dot inner interp modf nanpercentile nanquantile outer percentile
        polyval quantile ravel_multi_index searchsorted tensordot trace trapezoid trapz unwrap vdot choose
        compress take_along_axis""",
    ),
    facts(
        "numpy",
        PURE,
        ANYTHING,
        "broadcast_arrays diff einsum fix imag linalg.matrix_power meshgrid real real_if_close resize",
    ),
    # Of several arrays, several.
    facts("numpy", PURE, ANYTHING, "atleast_1d atleast_2d atleast_3d"),
    facts("numpy", PURE, ANYTHING, "nonzero unique unravel_index where gradient"),
    facts("numpy", PURE, _ARRAY_LIST, "array_split dsplit hsplit split vsplit"),
    facts("numpy", PURE, _NEW_ARRAYS, "diag_indices diag_indices_from histogram histogram2d tril_indices"),
    facts("numpy", PURE, _NEW_ARRAYS, "tril_indices_from triu_indices triu_indices_from"),
    facts("numpy", PURE, _ARRAYS, "ix_"),
    facts(
        "numpy", PURE, BOOL, "allclose array_equal array_equiv can_cast isfortran issubdtype may_share_memory"
    ),
    facts("numpy", PURE, BOOL, "iscomplexobj isrealobj isscalar iterable shares_memory"),
    facts("numpy", PURE, NEW, "isclose iscomplex isreal"),
    facts("numpy", PURE, INT, "ndim size"),
    facts("numpy", PURE, SHAPE, "shape broadcast_shapes"),
    facts("numpy", PURE, STR, "array2string array_repr array_str base_repr binary_repr"),
    facts("numpy", PURE, STR, "format_float_positional format_float_scientific"),
    facts("numpy", PURE, Type(TypeTag.DTYPE), "common_type dtype min_scalar_type promote_types result_type"),
    facts("numpy", PURE, ANYTHING, "finfo iinfo"),
    facts("numpy", PURE, ITERATOR, "ndenumerate ndindex"),
    facts(
        "numpy",
        PURE,
        ANYTHING,
        """bool bool_ byte bytes_ complex128 complex64 datetime64 double float16 float32 float64 float_ half
        int16 int32 int64 int8 int_ intc intp longlong single str_ timedelta64 ubyte uint uint16 uint32 uint64
        uint8""",
    ),
    facts("numpy", PURE, NEW, "errstate poly1d printoptions"),
    facts("numpy", PURE, ANYTHING, "ma.array ma.masked_array ma.masked_where"),
    facts("numpy", PURE, FUNCTION, "vectorize frompyfunc"),
    facts("numpy", _CALLS_BACK, NEW_ARRAY, "apply_along_axis apply_over_axes fromfunction piecewise"),
    facts("numpy", READS, NEW_ARRAY, "fromiter fromstring"),
    facts("numpy", _CHANGES, NOTHING, "copyto fill_diagonal place put put_along_axis putmask"),
    facts("numpy", FILE_IO, NEW_ARRAY, "fromfile genfromtxt loadtxt"),
    facts("numpy", FILE_IO, Type(TypeTag.NDARRAY), "memmap"),  # others may have the file in memory, too
    facts("numpy", FILE_IO, ANYTHING, "load"),
    facts("numpy", FILE_IO, NOTHING, "save savetxt savez savez_compressed"),
    facts("numpy", _SETTINGS, ANYTHING, "seterr seterrcall set_printoptions setbufsize"),
    facts("numpy", READS, DICT, "get_printoptions geterr"),
    facts("numpy.testing", READS, NOTHING, "assert_allclose assert_almost_equal assert_array_almost_equal"),
    facts("numpy.testing", READS, NOTHING, "assert_array_equal assert_equal"),
)

_LINALG: Table = table(
    facts("numpy.linalg", PURE, NEW_ARRAY, "cholesky eigvals eigvalsh inv pinv solve svdvals tensorinv"),
    facts("numpy.linalg", PURE, NEW_ARRAY, "tensorsolve"),
    facts("numpy.linalg", PURE, NEW, "cond cross det matmul matrix_norm matrix_rank multi_dot"),
    facts("numpy.linalg", PURE, NEW, "norm outer tensordot trace vecdot vector_norm"),
    facts("numpy.linalg", PURE, TUPLE, "eig eigh lstsq slogdet"),
    # A tuple or an array, as the arguments say.
    facts("numpy.linalg", PURE, NEW, "qr svd"),
    facts(
        "numpy.fft", PURE, NEW_ARRAY, "fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft"
    ),
    facts("numpy.fft", PURE, NEW_ARRAY, "irfft irfft2 irfftn rfft rfft2 rfftfreq rfftn"),
)

_RANDOM: Table = table(
    facts(
        "numpy.random",
        DRAWS,
        NEW,
        """beta binomial chisquare choice exponential f gamma geometric gumbel hypergeometric laplace logistic
        lognormal logseries negative_binomial noncentral_chisquare noncentral_f normal pareto poisson power
        rand randint randn random random_integers random_sample ranf rayleigh sample standard_cauchy
        standard_exponential standard_gamma standard_normal standard_t triangular uniform vonmises wald
        weibull zipf""",
    ),
    facts("numpy.random", DRAWS, NEW_ARRAY, "dirichlet multinomial multivariate_normal permutation"),
    facts("numpy.random", DRAWS, BYTES, "bytes"),
    facts("numpy.random", DRAWS_INTO, NOTHING, "shuffle"),
    facts("numpy.random", SEEDS, NOTHING, "seed set_state"),
    facts("numpy.random", READS, NEW, "get_state"),
    makers("numpy.random", SEEDS, TypeTag.RANDOM_GENERATOR, "Generator RandomState default_rng"),
    facts("numpy.random", SEEDS, NEW, "MT19937 PCG64 PCG64DXSM Philox SFC64 SeedSequence"),
)

FACTS: Table = table(_ARRAYS_TABLE, _LINALG, _RANDOM)

BY_COUNT: dict[tuple[str, int], Fact] = {
    **{(f"numpy.{name}", 1): Fact(PURE, SCALAR) for name in _REDUCTIONS.split()},
    **{(f"numpy.atleast_{n}d", 1): Fact(PURE, ARRAY) for n in (1, 2, 3)},
    ("numpy.where", 3): Fact(PURE, NEW_ARRAY),
    ("numpy.where", 1): Fact(PURE, _NEW_ARRAYS),
    ("numpy.nonzero", 1): Fact(PURE, _NEW_ARRAYS),
    ("numpy.unique", 1): Fact(PURE, NEW_ARRAY),
    ("numpy.random.rand", 0): Fact(DRAWS, FLOAT),
    ("numpy.random.randn", 0): Fact(DRAWS, FLOAT),
    ("numpy.random.random", 0): Fact(DRAWS, FLOAT),
}

PLAIN_ARGUMENTS: dict[str, int] = {
    **{f"numpy.{name}": 1 for name in words(_ELEMENTWISE)},
    **{f"numpy.{name}": 2 for name in words(f"{_OF_TWO} {_REDUCTIONS}")},
    **{f"numpy.{name}": 3 for name in words("mean nanmean nanprod nanstd nansum nanvar prod std sum var")},
    **{f"numpy.{name}": 3 for name in words("average clip cumprod cumsum nancumprod nancumsum take")},
    **{f"numpy.{name}": 2 for name in words("choose concatenate dot round stack")},
    "numpy.compress": 3,
    "numpy.divmod": 2,
    "numpy.fix": 1,
    "numpy.modf": 1,
    "numpy.outer": 2,
    "numpy.nanpercentile": 3,
    "numpy.nanquantile": 3,
    "numpy.percentile": 3,
    "numpy.quantile": 3,
    "numpy.trace": 5,
}
"""With more arguments than these, they may write their result to one."""

FOLLOWS_ARGUMENT = frozenset(
    f"numpy.{name}" for name in words(f"{_ELEMENTWISE} {_OWN_METHOD_VIEWS} {_OWN_METHOD_COPIES}")
)
"""Their result is an array for an array, a tensor for a tensor, a scalar for a scalar."""

INPLACE = frozenset(
    words("""numpy.copyto numpy.fill_diagonal numpy.place numpy.put numpy.put_along_axis numpy.putmask
    numpy.random.shuffle""")
)
"""These change their first argument."""

CONSUMERS = frozenset({"numpy.fromiter"})
CALL_BACKS = frozenset(
    words("""numpy.apply_along_axis numpy.apply_over_axes numpy.fromfunction numpy.piecewise""")
)
