"""Facts about numpy. Names that some version of numpy lacks are harmless here."""

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

# These dispatch to a method of their argument: tensors yield tensors.
_OWN_METHOD_VIEWS = "ravel reshape round squeeze swapaxes transpose"
_OWN_METHOD_COPIES = "argsort clip cumprod cumsum repeat take"

_ARRAYS_TABLE: Table = table(
    # Newly allocated from the arguments. The memory of `empty` is arbitrary, but correct programs do not
    # depend on it.
    facts("numpy", PURE, NEW_ARRAY, "append", Trait.JOINS_FLAT),
    facts(
        "numpy",
        PURE,
        NEW_ARRAY,
        """bartlett blackman block convolve corrcoef correlate cov delete diagflat ediff1d extract hamming
        hanning insert intersect1d in1d kaiser kron packbits pad partition poly polyadd polyfit
        polymul polysub roots select setdiff1d setxor1d sort union1d unpackbits vander""",
    ),
    facts("numpy", PURE, NEW_ARRAY, "arange", Trait.FROM_NUMBERS, takes="start stop step dtype"),
    facts("numpy", PURE, NEW_ARRAY, "eye", Trait.FROM_NUMBERS, takes="N M k dtype order"),
    facts("numpy", PURE, NEW_ARRAY, "geomspace indices logspace", Trait.FROM_NUMBERS),
    facts("numpy", PURE, NEW_ARRAY, "identity", Trait.FROM_NUMBERS, takes="n dtype"),
    facts(
        "numpy",
        PURE,
        NEW_ARRAY,
        "linspace",
        Trait.FROM_NUMBERS,
        takes="start stop num endpoint retstep dtype axis",
    ),
    facts("numpy", PURE, NEW_ARRAY, "tri", Trait.FROM_NUMBERS, takes="N M k dtype"),
    facts(
        "numpy",
        PURE,
        NEW_ARRAY,
        "argpartition argwhere bincount digitize flatnonzero lexsort",
        Trait.GIVES_INDEX,
    ),
    facts("numpy", PURE, NEW_ARRAY, "array", Trait.FROM_DATA | Trait.NEEDS_NO_GRADIENT, takes="object dtype"),
    facts("numpy", PURE, NEW_ARRAY, "column_stack dstack vstack", Trait.JOINS),
    facts("numpy", PURE, NEW_ARRAY, "hstack", Trait.JOINS | Trait.JOINS_FLAT),
    facts(
        "numpy",
        PURE,
        NEW_ARRAY,
        "concatenate",
        Trait.JOINS | Trait.NEEDS_NO_GRADIENT | Trait.JOINS_FLAT,
        plain=2,
    ),
    facts("numpy", PURE, NEW_ARRAY, "stack", Trait.JOINS | Trait.NEEDS_NO_GRADIENT, plain=2),
    facts("numpy", PURE, NEW_ARRAY, "copy", Trait.COPIES, takes="a order subok"),
    facts("numpy", PURE, NEW_ARRAY, "empty ones zeros", Trait.FILLS, takes="shape dtype order"),
    facts("numpy", PURE, NEW_ARRAY, "full", Trait.FILLS, takes="shape fill_value dtype order"),
    facts(
        "numpy", PURE, NEW_ARRAY, "empty_like", Trait.FILLS_LIKE, takes="prototype dtype order subok shape"
    ),
    facts(
        "numpy", PURE, NEW_ARRAY, "full_like", Trait.FILLS_LIKE, takes="a fill_value dtype order subok shape"
    ),
    facts(
        "numpy", PURE, NEW_ARRAY, "ones_like zeros_like", Trait.FILLS_LIKE, takes="a dtype order subok shape"
    ),
    facts("numpy", PURE, NEW_ARRAY, "isin", Trait.COMPARES),
    facts("numpy", PURE, NEW_ARRAY, "roll", Trait.MIRRORS),
    facts("numpy", PURE, NEW_ARRAY, "tile", Trait.REPEATS),
    facts("numpy", PURE, NEW_ARRAY, "tril triu", Trait.SAME_KIND),
    # These may return their argument, or a view of it.
    facts("numpy", PURE, ARRAY, "asanyarray", Trait.FROM_DATA, takes="a dtype order"),
    facts("numpy", PURE, ARRAY, "asarray_chkfinite", Trait.FROM_DATA),
    facts("numpy", PURE, ARRAY, "ascontiguousarray asfortranarray", Trait.FROM_DATA, takes="a dtype"),
    facts(
        "numpy",
        PURE,
        ARRAY,
        "asarray",
        Trait.FROM_DATA | Trait.NEEDS_NO_GRADIENT | Trait.CHEAP,
        takes="a dtype order",
    ),
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
    # A scalar, an array or a tensor, like the argument: always new memory.
    facts(
        "numpy",
        PURE,
        NEW,
        """abs acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh bitwise_not
        cbrt ceil conj conjugate cos cosh deg2rad degrees exp exp2 expm1 fabs floor invert log log10 log1p
        log2 nan_to_num negative positive rad2deg radians reciprocal rint sign signbit sin sinc sinh spacing
        sqrt square tan tanh trunc""",
        Trait.ELEMENTWISE,
        plain=1,
    ),
    facts(
        "numpy",
        PURE,
        NEW,
        "isfinite isinf isnan isneginf isposinf logical_not",
        Trait.ELEMENTWISE | Trait.COMPARES,
        plain=1,
    ),
    facts(
        "numpy",
        PURE,
        NEW,
        "all amax amin any max median min",
        Trait.REDUCES,
        by_count={1: SCALAR},
        plain=2,
        takes="a axis out",
    ),
    facts("numpy", PURE, NEW, "average", Trait.REDUCES, by_count={1: SCALAR}, plain=3),
    facts(
        "numpy",
        PURE,
        NEW,
        "mean nanmean nanprod nanstd nansum nanvar prod std var",
        Trait.REDUCES,
        by_count={1: SCALAR},
        plain=3,
        takes="a axis dtype out",
    ),
    facts("numpy", PURE, NEW, "nanmax nanmedian nanmin ptp", Trait.REDUCES, by_count={1: SCALAR}, plain=2),
    facts(
        "numpy",
        PURE,
        NEW,
        "argmax argmin",
        Trait.REDUCES | Trait.GIVES_INDEX,
        by_count={1: SCALAR},
        plain=2,
        takes="a axis out",
    ),
    facts(
        "numpy",
        PURE,
        NEW,
        "count_nonzero nanargmax nanargmin",
        Trait.REDUCES | Trait.GIVES_INDEX,
        by_count={1: SCALAR},
        plain=2,
    ),
    facts(
        "numpy",
        PURE,
        NEW,
        "sum",
        Trait.REDUCES | Trait.SUMS,
        by_count={1: SCALAR},
        plain=3,
        takes="a axis dtype out",
    ),
    facts("numpy", PURE, NEW, "argsort", Trait.GIVES_INDEX),
    facts("numpy", PURE, NEW, "clip", Trait.LIMITS, plain=3, takes="a a_min a_max out"),
    facts("numpy", PURE, NEW, "cumprod cumsum nancumprod nancumsum", plain=3, takes="a axis dtype out"),
    facts("numpy", PURE, NEW, "take", plain=3),
    facts("numpy", PURE, NEW, "repeat", Trait.REPEATS),
    facts("numpy", PURE, ANYTHING, "ravel", Trait.KEEPS_ORDER, takes="a order"),
    facts("numpy", PURE, ANYTHING, "reshape", Trait.KEEPS_ORDER | Trait.CHEAP, takes="a shape order"),
    facts("numpy", PURE, ANYTHING, "squeeze", Trait.KEEPS_ORDER | Trait.CHEAP),
    facts("numpy", PURE, ANYTHING, "round", plain=2),
    facts("numpy", PURE, ANYTHING, "swapaxes transpose", Trait.PERMUTES | Trait.CHEAP),
    facts(
        "numpy",
        PURE,
        NEW,
        """add arctan2 bitwise_and bitwise_or bitwise_xor copysign divide float_power floor_divide fmax fmin
        fmod gcd heaviside hypot lcm ldexp left_shift logaddexp logaddexp2 mod multiply nextafter power
        remainder right_shift true_divide""",
        Trait.PAIRWISE,
        plain=2,
    ),
    facts("numpy", PURE, NEW, "matmul vecdot", plain=2),
    facts("numpy", PURE, NEW, "maximum minimum", Trait.PAIRWISE | Trait.LIMITS, plain=2),
    facts("numpy", PURE, NEW, "equal not_equal", Trait.COMPARES | Trait.DIFFERS | Trait.PAIRWISE, plain=2),
    facts(
        "numpy",
        PURE,
        NEW,
        "greater greater_equal less less_equal logical_and logical_or logical_xor",
        Trait.COMPARES | Trait.PAIRWISE,
        plain=2,
    ),
    facts("numpy", PURE, NEW, "subtract", Trait.DIFFERS | Trait.PAIRWISE, plain=2),
    facts(
        "numpy",
        PURE,
        NEW,
        """cross cumulative_sum interp polyval ravel_multi_index tensordot trapezoid trapz unwrap vdot
        take_along_axis""",
    ),
    facts("numpy", PURE, NEW, "divmod outer choose", plain=2),
    facts("numpy", PURE, NEW, "modf", plain=1),
    facts("numpy", PURE, NEW, "nanpercentile nanquantile percentile quantile compress", plain=3),
    facts("numpy", PURE, NEW, "trace", plain=5),
    facts("numpy", PURE, NEW, "dot", Trait.SUMS, plain=2),
    facts("numpy", PURE, NEW, "inner", Trait.SUMS),
    facts("numpy", PURE, NEW, "searchsorted", Trait.GIVES_INDEX),
    facts(
        "numpy",
        PURE,
        ANYTHING,
        "broadcast_arrays diff einsum imag linalg.matrix_power meshgrid real real_if_close resize",
    ),
    facts("numpy", PURE, ANYTHING, "fix", plain=1),
    # For several arrays, several.
    facts("numpy", PURE, ANYTHING, "atleast_1d", Trait.CHEAP, by_count={1: ARRAY}),
    facts("numpy", PURE, ANYTHING, "atleast_2d atleast_3d", by_count={1: ARRAY}),
    facts("numpy", PURE, ANYTHING, "nonzero", Trait.GIVES_INDEX, by_count={1: _NEW_ARRAYS}),
    facts("numpy", PURE, ANYTHING, "unique", by_count={1: NEW_ARRAY}),
    facts("numpy", PURE, ANYTHING, "unravel_index gradient"),
    facts("numpy", PURE, ANYTHING, "where", by_count={1: _NEW_ARRAYS, 3: NEW_ARRAY}),
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
    facts("numpy", PURE, BOOL, "isscalar", Trait.ONLY_LOOKS | Trait.CHEAP),
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
    facts("numpy", PURE, NEW, "poly1d"),
    facts("numpy", PURE, NEW, "errstate printoptions", Trait.SETS_WITHIN),
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
    facts("numpy", FILE_IO, Type(TypeTag.NDARRAY), "memmap"),  # other code may have mapped the file, too
    facts("numpy", FILE_IO, ANYTHING, "load", Trait.LOADS),
    facts("numpy", FILE_IO, NOTHING, "save savetxt savez savez_compressed", Trait.SAVES),
    facts("numpy", _SETTINGS, ANYTHING, "seterr seterrcall set_printoptions setbufsize"),
    facts("numpy", READS, DICT, "get_printoptions geterr"),
    facts("numpy.testing", READS, NOTHING, "assert_allclose assert_almost_equal assert_array_almost_equal"),
    facts("numpy.testing", READS, NOTHING, "assert_array_equal assert_equal"),
)

_LINALG: Table = table(
    facts("numpy.linalg", PURE, NEW_ARRAY, "cholesky eigvals eigvalsh inv pinv solve svdvals tensorinv"),
    facts("numpy.linalg", PURE, NEW_ARRAY, "tensorsolve"),
    facts("numpy.linalg", PURE, NEW, "cond cross det matmul matrix_norm matrix_rank multi_dot"),
    facts("numpy.linalg", PURE, NEW, "norm vector_norm", by_count={1: SCALAR}),
    facts("numpy.linalg", PURE, NEW, "outer tensordot trace vecdot"),
    facts("numpy.linalg", PURE, TUPLE, "eig eigh lstsq slogdet"),
    # A tuple or an array, depending on the arguments.
    facts("numpy.linalg", PURE, NEW, "qr svd"),
    facts(
        "numpy.fft", PURE, NEW_ARRAY, "fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft"
    ),
    facts("numpy.fft", PURE, NEW_ARRAY, "irfft irfft2 irfftn rfft rfft2 rfftfreq rfftn"),
)

_RANDOM: Table = table(
    facts("numpy.random", DRAWS, NEW, "beta", takes="a b size"),
    facts(
        "numpy.random",
        DRAWS,
        NEW,
        """chisquare f gamma hypergeometric logseries negative_binomial noncentral_chisquare noncentral_f
        pareto power ranf sample standard_cauchy standard_gamma standard_t vonmises wald weibull zipf""",
    ),
    facts("numpy.random", DRAWS, NEW, "exponential rayleigh", takes="scale size"),
    facts("numpy.random", DRAWS, NEW, "gumbel laplace logistic normal", takes="loc scale size"),
    facts("numpy.random", DRAWS, NEW, "lognormal", takes="mean sigma size"),
    facts("numpy.random", DRAWS, NEW, "random_sample standard_exponential standard_normal", takes="size"),
    facts("numpy.random", DRAWS, NEW, "triangular", takes="left mode right size"),
    facts("numpy.random", DRAWS, NEW, "uniform", takes="low high size"),
    facts("numpy.random", DRAWS, NEW, "rand randn", Trait.DRAWS_SHAPE, by_count={0: FLOAT}),
    facts("numpy.random", DRAWS, NEW, "random", Trait.DRAWS_SHAPE, by_count={0: FLOAT}, takes="size"),
    facts("numpy.random", DRAWS, NEW, "binomial", Trait.WHOLE, takes="n p size"),
    facts("numpy.random", DRAWS, NEW, "geometric", Trait.WHOLE, takes="p size"),
    facts("numpy.random", DRAWS, NEW, "poisson", Trait.WHOLE, takes="lam size"),
    facts("numpy.random", DRAWS, NEW, "randint", Trait.WHOLE, takes="low high size dtype"),
    facts("numpy.random", DRAWS, NEW, "random_integers", Trait.WHOLE, takes="low high size"),
    facts("numpy.random", DRAWS, NEW, "choice", Trait.PICKS, takes="a size replace p"),
    facts("numpy.random", DRAWS, NEW_ARRAY, "dirichlet multinomial multivariate_normal"),
    facts("numpy.random", DRAWS, NEW_ARRAY, "permutation", Trait.PICKS),
    facts("numpy.random", DRAWS, BYTES, "bytes"),
    facts("numpy.random", DRAWS_INTO, NOTHING, "shuffle", Trait.FIRST_CHANGES),
    facts("numpy.random", SEEDS, NOTHING, "seed set_state"),
    facts("numpy.random", READS, NEW, "get_state"),
    makers("numpy.random", SEEDS, TypeTag.RANDOM_GENERATOR, "RandomState"),
    makers("numpy.random", SEEDS, TypeTag.RANDOM_GENERATOR, "Generator default_rng", since="1.17"),
    facts("numpy.random", SEEDS, NEW, "MT19937 PCG64 Philox SFC64 SeedSequence", since="1.17"),
    facts("numpy.random", SEEDS, NEW, "PCG64DXSM", since="1.21"),
)

FACTS: Table = table(_ARRAYS_TABLE, _LINALG, _RANDOM)


FOLLOWS_ARGUMENT = frozenset(
    name for name, fact in FACTS.items() if fact.traits & Trait.ELEMENTWISE
) | frozenset(f"numpy.{name}" for name in words(f"{_OWN_METHOD_VIEWS} {_OWN_METHOD_COPIES}"))
"""Their result is an array for an array, a tensor for a tensor, a scalar for a scalar."""
