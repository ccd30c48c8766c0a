"""Names of the arguments that functions of libraries take by position, where such an argument decides
something: a data type, an order in memory, an array to write to.
"""

from __future__ import annotations

from collections.abc import Mapping

from rlint.models.fact import words


def _table(prefix: str, signatures: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    return {
        f"{prefix}{name}": words(parameters)
        for names, parameters in signatures.items()
        for name in words(names)
    }


_REDUCED = "axis dtype out"

PARAMETERS: Mapping[str, tuple[str, ...]] = {
    **_table(
        "numpy.",
        {
            "zeros ones empty": "shape dtype order",
            "full": "shape fill_value dtype order",
            "zeros_like ones_like empty_like": "a dtype order subok shape",
            "full_like": "a fill_value dtype order subok shape",
            "array": "object dtype",
            "asarray asanyarray": "a dtype order",
            "ascontiguousarray asfortranarray": "a dtype",
            "copy": "a order subok",
            "identity": "n dtype",
            "eye": "N M k dtype order",
            "tri": "N M k dtype",
            "arange": "start stop step dtype",
            "linspace": "start stop num endpoint retstep dtype axis",
            "sum mean prod std var nansum nanmean nanprod nanstd nanvar": f"a {_REDUCED}",
            "cumsum cumprod nancumsum nancumprod": f"a {_REDUCED}",
            "max min amax amin all any argmax argmin median": "a axis out",
            "clip": "a min max out",
            "reshape": "a shape order",
            "ravel": "a order",
            "random.randint": "low high size dtype",
            "random.choice": "a size replace p",
        },
    ),
    **_table(
        "numpy.ndarray.",
        {
            "astype": "dtype order casting subok copy",
            "copy flatten ravel": "order",
            "sum mean prod std var cumsum cumprod": _REDUCED,
            "max min all any argmax argmin": "axis out",
            "clip": "min max out",
        },
    ),
    **_table(
        "torch.",
        {
            "zeros ones empty rand randn": "*size",
            "full": "size fill_value",
            "randint": "low high size",
            "randperm": "n",
            "arange": "start end step",
            "linspace": "start end steps",
            "eye": "n m",
            "tensor": "data",
            "as_tensor": "data dtype device",
            "FloatTensor LongTensor": "*size",
        },
    ),
}
"""The names by the function's qualified name, with `numpy.ndarray.` before those of methods. A name with a
star is that of all arguments from there on.
"""
