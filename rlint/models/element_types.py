"""Dtypes of arrays and tensors: their sizes, and their names in libraries."""

from __future__ import annotations

from rlint.models.fact import words

DEFAULT = "float"
"""The default floating-point type of torch: float32, unless the program sets another."""

OBJECT = "object"
"""Python objects of any type, in a numpy array; not among the dtypes of known size."""

BITS = {
    "bool": 8, "uint8": 8, "int8": 8, "int16": 16, "uint16": 16, "int32": 32, "uint32": 32, "int64": 64,
    "uint64": 64, "float16": 16, "bfloat16": 16, "float32": 32, DEFAULT: 32, "float64": 64, "complex64": 64,
    "complex128": 128,
}  # fmt: skip
"""The known types and their sizes."""
FLOATS = frozenset({"float16", "bfloat16", "float32", "float64", DEFAULT})
WHOLE = frozenset(name for name in BITS if name.startswith(("int", "uint")))
IN_BOTH = frozenset(words("bool uint8 int8 int16 int32 int64 float16 float32 float64"))
"""The real dtypes that numpy and all versions of torch have."""

TORCH = {"float": "float32", "double": "float64", "half": "float16", "long": "int64", "int": "int32",
         "short": "int16"}  # fmt: skip
"""Other names of dtypes in torch."""
NUMPY = {
    "float": "float64", "double": "float64", "single": "float32", "half": "float16", "int": "int64",
    "int_": "int64", "intp": "int64", "longlong": "int64", "bool_": "bool", "byte": "int8", "ubyte": "uint8",
    "float_": "float64",
}  # fmt: skip
"""Other names of dtypes in numpy."""
PYTHON = {"float": "float64", "int": "int64", "bool": "bool"}
"""The numpy dtypes of Python's types."""
CODES = {"f2": "float16", "f4": "float32", "f8": "float64", "i1": "int8", "i2": "int16", "i4": "int32",
         "i8": "int64", "u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64", "f": "float32",
         "d": "float64", "?": "bool", "b1": "bool", "O": OBJECT}  # fmt: skip
"""Short names in numpy."""
CASTS = {
    "bfloat16": "bfloat16", "bool": "bool", "byte": "uint8", "char": "int8", "double": "float64",
    "float": "float32", "half": "float16", "int": "int32", "long": "int64", "short": "int16",
}  # fmt: skip
"""Methods of tensors that convert the dtype, with the result's dtype."""
LEGACY = {
    "Tensor": DEFAULT, "FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16",
    "BFloat16Tensor": "bfloat16", "LongTensor": "int64", "IntTensor": "int32", "ShortTensor": "int16",
    "CharTensor": "int8", "ByteTensor": "uint8", "BoolTensor": "bool",
}  # fmt: skip
"""Tensor classes of one dtype, with that dtype."""
TORCH_DTYPES = frozenset(
    words("""float32 float64 float16 bfloat16 float double half int8 int16 int32 int64 int long short uint8
    bool complex64 complex128""")
)
"""Attributes of `torch` that are a `torch.dtype`."""
FLOAT_CONSTANTS = frozenset(
    words("""math.pi math.e math.inf math.nan numpy.pi numpy.e numpy.inf numpy.nan torch.pi torch.inf""")
)
"""Attributes of modules that are a floating-point number."""
COMPLEX = frozenset(
    words("""cdouble cfloat complex complex32 complex64 complex128 eig eigvals fft fft2 fftn polar rfft stft
    view_as_complex""")
)
"""Names of torch that create complex numbers."""


def is_exact(dtype: str) -> bool:
    """Whether a dtype is known and not one of real floating-point numbers."""
    return dtype not in FLOATS and (dtype in BITS or dtype.startswith("complex"))
