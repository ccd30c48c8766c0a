"""Fill uninitialised memory, so that it is the same in each run."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from rlint.harness.machine_devices import loaded_torch


@contextlib.contextmanager
def filled() -> Iterator[None]:
    """Fill new arrays and tensors without values within the context: with NaN, or the largest integer.

    Otherwise a buffer of which only some rows are written would never equal itself; and zeros, which fresh
    memory usually contains, would hide that a fix replaces `zeros` by `empty`.
    """
    numpy: Any = sys.modules.get("numpy")
    torch = loaded_torch()
    with contextlib.ExitStack() as stack:
        if numpy is not None and "numba" not in sys.modules:  # which would have to compile the replacements
            for name in ("empty", "empty_like"):
                replacement = _filling(getattr(numpy, name))
                stack.enter_context(mock.patch.object(numpy, name, replacement))
        if torch is not None:
            mode = torch.get_deterministic_debug_mode()
            stack.callback(torch.set_deterministic_debug_mode, mode)
            torch.set_deterministic_debug_mode("warn")  # which fills
        yield


def _filling(make: Callable[..., Any]) -> Callable[..., Any]:
    numpy: Any = sys.modules["numpy"]

    @functools.wraps(make)
    def make_filled(*args: Any, **kwargs: Any) -> Any:
        array = make(*args, **kwargs)
        kind = getattr(array, "dtype", numpy.dtype(object)).kind
        if not isinstance(array, numpy.ndarray) or kind in "OSUV":
            return array
        if kind in "iu":
            array.fill(numpy.iinfo(array.dtype).max)
        elif kind in "fc":
            array.fill(numpy.nan)
        elif kind == "b":
            array.fill(True)  # noqa: FBT003 - the value
        else:
            array.fill("NaT")
        return array

    return make_filled
