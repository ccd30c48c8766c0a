"""Methods that are recognised by name alone, for receivers of unknown type."""

from __future__ import annotations

from rlint.models.effect import PURE, READS
from rlint.models.fact import ANYTHING, BOOL, DICT, INT, NEW, SHAPE, STR, STRINGS, TUPLE, Fact, words
from rlint.models.value_type import Type, TypeTag

_ANY_COUNT = 99

# Name: the minimum and maximum number of arguments, and the result.
_CERTAIN: dict[str, tuple[int, int, Type]] = {
    **dict.fromkeys(words("capitalize casefold lower swapcase title upper"), (0, 0, STR)),
    **dict.fromkeys(
        words("""isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric isprintable
        isspace istitle isupper"""),
        (0, 0, BOOL),
    ),
    **dict.fromkeys(words("lstrip rstrip strip"), (0, 1, STR)),
    **dict.fromkeys(words("removeprefix removesuffix zfill"), (1, 1, STR)),
    # Of arrays, tensors and data frames.
    **dict.fromkeys(words("argmax argmin max mean median min prod std sum var"), (0, 2, ANYTHING)),
    **dict.fromkeys(words("detach item numpy tolist"), (0, 0, ANYTHING)),
    **dict.fromkeys(words("ceil exp expm1 floor log1p long rsqrt sigmoid sqrt tanh"), (0, 0, ANYTHING)),
    **dict.fromkeys(words("abs square"), (0, 0, ANYTHING)),
    **dict.fromkeys(
        words("argsort clamp clip cumsum log_softmax logsumexp masked_fill softmax"), (0, 3, ANYTHING)
    ),
    **dict.fromkeys(words("flatten squeeze"), (0, 3, ANYTHING)),
    **dict.fromkeys(words("swapaxes transpose unsqueeze"), (1, 2, ANYTHING)),
    **dict.fromkeys(words("permute repeat_interleave reshape view_as expand_as"), (1, _ANY_COUNT, ANYTHING)),
    # Of distributions.
    "entropy": (0, 0, ANYTHING),
    "endswith": (1, 3, BOOL),
    "startswith": (1, 3, BOOL),
    "splitlines": (0, 1, STRINGS),
    # With numbers, a method of a tensor or a sampler; without any, of a string.
    "split": (0, 0, STRINGS),
    "rsplit": (0, 2, STRINGS),
    "rpartition": (1, 1, TUPLE),
    "find": (1, 3, ANYTHING),
    "rfind": (1, 3, INT),
    "replace": (2, 3, ANYTHING),
    "encode": (0, 0, Type(TypeTag.BYTES)),
    "format": (1, _ANY_COUNT, STR),
    "group": (0, _ANY_COUNT, ANYTHING),
    "groups": (0, 1, TUPLE),
    "groupdict": (0, 1, DICT),
    "span": (0, 0, SHAPE),
    "finditer": (1, 3, NEW),
    "fullmatch": (1, 3, ANYTHING),
}

# With a string as first argument these are also methods of strings.
_GIVEN_TEXT: dict[str, tuple[int, int, Type]] = {
    "encode": (1, 2, ANYTHING),
    "partition": (1, 1, TUPLE),
    "split": (1, 2, ANYTHING),
}


def method_on_unknown(method: str, argument_count: int, *, text_first: bool = False) -> Fact | None:
    """Return the row of a method of a value of unknown type: a few names are enough.

    Only names are known that have the same effect for every common type that has them. With `text_first`, for
    a first argument that certainly is a string, there are some more: `x.split(",")` is a method of strings,
    where `x.split(n)` may draw the batches of a training set.
    """
    if method in ("count", "index"):
        return Fact(READS, ANYTHING) if argument_count == 1 else None
    for known in (_CERTAIN, _GIVEN_TEXT if text_first else {}):
        least, most, result = known.get(method, (1, 0, ANYTHING))
        if least <= argument_count <= most:
            return Fact(PURE, result)
    return None
