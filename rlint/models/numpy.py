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
from rlint.models.trait import Trait
from rlint.models.value_type import Type, TypeTag

_ARRAYS = Type(TypeTag.TUPLE, item=ARRAY, fresh=True)
_NEW_ARRAYS = Type(TypeTag.TUPLE, item=NEW_ARRAY, fresh=True)
_ARRAY_LIST = Type(TypeTag.LIST, item=ARRAY, fresh=True)
_CHANGES = Effect(EffectKind.MUTATES, "changes the array")
_SETTINGS = Effect(EffectKind.OTHER, "changes a setting of numpy")
_CALLS_BACK = Effect(EffectKind.UNKNOWN, "calls the function that it is given")

# These ask their argument for its own method: a tensor in, a tensor out.
_OWN_METHOD_VIEWS = "ravel reshape round squeeze swapaxes transpose"
_OWN_METHOD_COPIES = "argsort clip cumprod cumsum repeat take"

_ARRAYS_TABLE: Table = table(
    # Made anew from what is given. The memory of `empty` is arbitrary, yet nothing depends on it rightly.
    facts("numpy", PURE, NEW_ARRAY, "append", Trait.JOINS_FLAT),
    facts(
        "numpy",
        PURE,
        NEW_ARRAY,
        """bartlett blackman block convolve corrcoef correlate cov delete diagflat ediff1d extract hamming
        hanning indices insert intersect1d in1d kaiser kron packbits pad partition poly polyadd polyfit
        polymul polysub roots select setdiff1d setxor1d sort union1d unpackbits vander""",
    ),
    facts(
        "numpy", PURE, NEW_ARRAY, "arange eye geomspace identity linspace logspace tri", Trait.FROM_NUMBERS
    ),
    facts(
        "numpy",
        PURE,
        NEW_ARRAY,
        "argpartition argwhere bincount digitize flatnonzero lexsort",
        Trait.GIVES_INDEX,
    ),
    facts("numpy", PURE, NEW_ARRAY, "array", Trait.FROM_DATA | Trait.NEEDS_NO_GRADIENT),
    facts("numpy", PURE, NEW_ARRAY, "column_stack dstack vstack", Trait.JOINS),
    facts("numpy", PURE, NEW_ARRAY, "hstack", Trait.JOINS | Trait.JOINS_FLAT),
    facts("numpy", PURE, NEW_ARRAY, "concatenate", Trait.JOINS | Trait.NEEDS_NO_GRADIENT | Trait.JOINS_FLAT),
    facts("numpy", PURE, NEW_ARRAY, "stack", Trait.JOINS | Trait.NEEDS_NO_GRADIENT),
    facts("numpy", PURE, NEW_ARRAY, "copy", Trait.COPIES),
    facts("numpy", PURE, NEW_ARRAY, "empty full ones zeros", Trait.FILLS),
    facts("numpy", PURE, NEW_ARRAY, "empty_like full_like ones_like zeros_like", Trait.FILLS_LIKE),
    facts("numpy", PURE, NEW_ARRAY, "isin", Trait.COMPARES),
    facts("numpy", PURE, NEW_ARRAY, "roll", Trait.MIRRORS),
    facts("numpy", PURE, NEW_ARRAY, "tile", Trait.REPEATS),
    facts("numpy", PURE, NEW_ARRAY, "tril triu", Trait.SAME_KIND),
    # These may give back their argument, or a view of it.
    facts(
        "numpy", PURE, ARRAY, "asanyarray asarray_chkfinite ascontiguousarray asfortranarray", Trait.FROM_DATA
    ),
    facts("numpy", PURE, ARRAY, "asarray", Trait.FROM_DATA | Trait.NEEDS_NO_GRADIENT | Trait.CHEAP),
    facts("numpy", PURE, ARRAY, "broadcast_to", Trait.REPEATS),
    facts(
        "numpy",
        PURE,
        ARRAY,
        """diag diagonal frombuffer from_dlpack lib.stride_tricks.as_strided
        lib.stride_tricks.sliding_window_view require trim_zeros""",
    ),
    facts("numpy", PURE, ARRAY, "expand_dims", Trait.KEEPS_ORDER | Trait.CHEAP),
    facts("numpy", PURE, ARRAY, "flip fliplr flipud rot90", Trait.MIRRORS),
    facts("numpy", PURE, ARRAY, "matrix_transpose moveaxis permute_dims rollaxis", Trait.PERMUTES),
    # A scalar, an array or a tensor, as the argument is: always new memory.
    facts(
        "numpy",
        PURE,
        NEW,
        """abs acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh bitwise_not cbrt
        ceil conj conjugate cos cosh deg2rad degrees exp exp2 expm1 fabs floor invert log log10 log1p log2
        nan_to_num negative positive rad2deg radians reciprocal rint sign signbit sin sinc sinh spacing
        sqrt square tan tanh trunc""",
        Trait.ELEMENTWISE,
    ),
    facts(
        "numpy",
        PURE,
        NEW,
        "isfinite isinf isnan isneginf isposinf logical_not",
        Trait.ELEMENTWISE | Trait.COMPARES,
    ),
    facts(
        "numpy",
        PURE,
        NEW,
        """all amax amin any average max mean median min nanmax nanmean nanmedian nanmin nanprod nanstd
        nansum nanvar prod ptp std var""",
        Trait.REDUCES,
    ),
    facts(
        "numpy",
        PURE,
        NEW,
        "argmax argmin count_nonzero nanargmax nanargmin",
        Trait.REDUCES | Trait.GIVES_INDEX,
    ),
    facts("numpy", PURE, NEW, "sum", Trait.REDUCES | Trait.SUMS),
    facts("numpy", PURE, NEW, "argsort", Trait.GIVES_INDEX),
    facts("numpy", PURE, NEW, "clip", Trait.LIMITS),
    facts("numpy", PURE, NEW, "cumprod cumsum take"),
    facts("numpy", PURE, NEW, "repeat", Trait.REPEATS),
    facts("numpy", PURE, ANYTHING, "ravel", Trait.KEEPS_ORDER),
    facts("numpy", PURE, ANYTHING, "reshape squeeze", Trait.KEEPS_ORDER | Trait.CHEAP),
    facts("numpy", PURE, ANYTHING, "round"),
    facts("numpy", PURE, ANYTHING, "swapaxes transpose", Trait.PERMUTES | Trait.CHEAP),
    facts(
        "numpy",
        PURE,
        NEW,
        """add arctan2 bitwise_and bitwise_or bitwise_xor copysign divide float_power floor_divide fmax fmin
        fmod gcd heaviside hypot lcm ldexp left_shift logaddexp logaddexp2 mod multiply nextafter power
        remainder right_shift true_divide""",
        Trait.PAIRWISE,
    ),
    facts("numpy", PURE, NEW, "matmul vecdot"),
    facts("numpy", PURE, NEW, "maximum minimum", Trait.PAIRWISE | Trait.LIMITS),
    facts("numpy", PURE, NEW, "equal not_equal", Trait.COMPARES | Trait.DIFFERS | Trait.PAIRWISE),
    facts(
        "numpy",
        PURE,
        NEW,
        """greater greater_equal less less_equal logical_and logical_or logical_xor""",
        Trait.COMPARES | Trait.PAIRWISE,
    ),
    facts("numpy", PURE, NEW, "subtract", Trait.DIFFERS | Trait.PAIRWISE),
    facts(
        "numpy",
        PURE,
        NEW,
        """cross cumulative_sum divmod interp modf nanpercentile nanquantile outer percentile polyval
        quantile ravel_multi_index tensordot trace trapezoid trapz unwrap vdot choose compress
        take_along_axis""",
    ),
    facts("numpy", PURE, NEW, "dot inner", Trait.SUMS),
    facts("numpy", PURE, NEW, "searchsorted", Trait.GIVES_INDEX),
    facts(
        "numpy",
        PURE,
        ANYTHING,
        "broadcast_arrays diff einsum fix imag linalg.matrix_power meshgrid real real_if_close resize",
    ),
    # Of several arrays, several.
    facts("numpy", PURE, ANYTHING, "atleast_1d", Trait.CHEAP),
    facts("numpy", PURE, ANYTHING, "atleast_2d atleast_3d"),
    facts("numpy", PURE, ANYTHING, "nonzero", Trait.GIVES_INDEX),
    facts("numpy", PURE, ANYTHING, "unique unravel_index where gradient"),
    facts("numpy", PURE, _ARRAY_LIST, "array_split dsplit hsplit split vsplit"),
    facts("numpy", PURE, _NEW_ARRAYS, "diag_indices diag_indices_from histogram histogram2d"),
    facts("numpy", PURE, _NEW_ARRAYS, "tril_indices", Trait.FROM_NUMBERS),
    facts("numpy", PURE, _NEW_ARRAYS, "tril_indices_from triu_indices_from"),
    facts("numpy", PURE, _NEW_ARRAYS, "triu_indices", Trait.FROM_NUMBERS),
    facts("numpy", PURE, _ARRAYS, "ix_"),
    facts("numpy", PURE, BOOL, "allclose array_equal", Trait.COMPARES | Trait.DIFFERS),
    facts("numpy", PURE, BOOL, "array_equiv", Trait.COMPARES | Trait.CHEAP),
    facts("numpy", PURE, BOOL, "can_cast issubdtype", Trait.CHEAP),
    facts("numpy", PURE, BOOL, "isfortran may_share_memory"),
    facts("numpy", PURE, BOOL, "iscomplexobj isrealobj iterable shares_memory"),
    facts("numpy", PURE, BOOL, "isscalar", Trait.CHEAP),
    facts("numpy", PURE, NEW, "isclose", Trait.COMPARES | Trait.DIFFERS),
    facts("numpy", PURE, NEW, "iscomplex isreal", Trait.COMPARES),
    facts("numpy", PURE, INT, "ndim size", Trait.MEASURES | Trait.CHEAP),
    facts("numpy", PURE, SHAPE, "shape", Trait.MEASURES | Trait.CHEAP),
    facts("numpy", PURE, SHAPE, "broadcast_shapes"),
    facts("numpy", PURE, STR, "array2string array_repr array_str base_repr binary_repr"),
    facts("numpy", PURE, STR, "format_float_positional format_float_scientific"),
    facts("numpy", PURE, Type(TypeTag.DTYPE), "common_type min_scalar_type promote_types"),
    facts("numpy", PURE, Type(TypeTag.DTYPE), "dtype result_type", Trait.CHEAP),
    facts("numpy", PURE, ANYTHING, "finfo iinfo", Trait.CHEAP),
    facts("numpy", PURE, ITERATOR, "ndenumerate ndindex"),
    facts(
        "numpy",
        PURE,
        ANYTHING,
        """bool bool_ byte bytes_ complex128 complex64 datetime64 double float16 float_ half int16 int8 int_
        intc intp longlong single str_ timedelta64 ubyte uint uint16 uint32 uint64 uint8""",
    ),
    facts("numpy", PURE, ANYTHING, "float32", Trait.NEEDS_NO_GRADIENT | Trait.CHEAP),
    facts("numpy", PURE, ANYTHING, "float64 int32 int64", Trait.CHEAP),
    facts("numpy", PURE, NEW, "errstate poly1d printoptions"),
    facts("numpy", PURE, ANYTHING, "ma.array ma.masked_array ma.masked_where"),
    facts("numpy", PURE, FUNCTION, "vectorize frompyfunc"),
    facts(
        "numpy",
        _CALLS_BACK,
        NEW_ARRAY,
        "apply_along_axis apply_over_axes fromfunction piecewise",
        Trait.CALLS_BACK,
    ),
    facts("numpy", READS, NEW_ARRAY, "fromiter", Trait.ITERATES),
    facts("numpy", READS, NEW_ARRAY, "fromstring"),
    facts(
        "numpy",
        _CHANGES,
        NOTHING,
        "copyto fill_diagonal place put put_along_axis putmask",
        Trait.FIRST_CHANGES,
    ),
    facts("numpy", FILE_IO, NEW_ARRAY, "fromfile"),
    facts("numpy", FILE_IO, NEW_ARRAY, "genfromtxt loadtxt", Trait.LOADS),
    facts("numpy", FILE_IO, Type(TypeTag.NDARRAY), "memmap"),  # others may have the file in memory, too
    facts("numpy", FILE_IO, ANYTHING, "load", Trait.LOADS),
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
        """beta chisquare exponential f gamma gumbel hypergeometric laplace logistic lognormal logseries
        negative_binomial noncentral_chisquare noncentral_f normal pareto power random_sample ranf
        rayleigh sample standard_cauchy standard_exponential standard_gamma standard_normal standard_t
        triangular uniform vonmises wald weibull zipf""",
    ),
    facts("numpy.random", DRAWS, NEW, "rand randn random", Trait.DRAWS_SHAPE),
    facts("numpy.random", DRAWS, NEW, "binomial geometric poisson randint random_integers", Trait.WHOLE),
    facts("numpy.random", DRAWS, NEW, "choice", Trait.PICKS),
    facts("numpy.random", DRAWS, NEW_ARRAY, "dirichlet multinomial multivariate_normal"),
    facts("numpy.random", DRAWS, NEW_ARRAY, "permutation", Trait.PICKS),
    facts("numpy.random", DRAWS, BYTES, "bytes"),
    facts("numpy.random", DRAWS_INTO, NOTHING, "shuffle", Trait.FIRST_CHANGES),
    facts("numpy.random", SEEDS, NOTHING, "seed set_state"),
    facts("numpy.random", READS, NEW, "get_state"),
    makers("numpy.random", SEEDS, TypeTag.RANDOM_GENERATOR, "Generator RandomState default_rng"),
    facts("numpy.random", SEEDS, NEW, "MT19937 PCG64 PCG64DXSM Philox SFC64 SeedSequence"),
)

FACTS: Table = table(_ARRAYS_TABLE, _LINALG, _RANDOM)

BY_COUNT: dict[tuple[str, int], Fact] = {
    **{(name, 1): Fact(PURE, SCALAR) for name, fact in FACTS.items() if fact.traits & Trait.REDUCES},
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
    **{name: 1 for name, fact in FACTS.items() if fact.traits & Trait.ELEMENTWISE},
    **{name: 2 for name, fact in FACTS.items() if fact.traits & (Trait.PAIRWISE | Trait.REDUCES)},
    "numpy.matmul": 2,
    "numpy.vecdot": 2,
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
    name for name, fact in FACTS.items() if fact.traits & Trait.ELEMENTWISE
) | frozenset(f"numpy.{name}" for name in words(f"{_OWN_METHOD_VIEWS} {_OWN_METHOD_COPIES}"))
"""Their result is an array for an array, a tensor for a tensor, a scalar for a scalar."""
