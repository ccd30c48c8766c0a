"""Let an object come to be as another one is, without making it another object."""

from __future__ import annotations

import sys
from typing import Any


def transplant(target: Any, source: Any) -> None:
    """ChangedCode an object in place, and what it holds, so that it equals another of its class.

    What only the target holds stays: a fix may keep something there. Arrays and tensors of one shape keep
    their memory and get the other's values.
    """
    _Transplant().into(target, source)


class _Transplant:
    def __init__(self) -> None:
        self._done: set[tuple[int, int]] = set()

    def into(self, target: Any, source: Any) -> bool:
        """ChangedCode a target; False where that cannot be done in place."""
        if target is source:
            return True
        key = id(target), id(source)
        if key in self._done:
            return True
        self._done.add(key)
        if type(target) is not type(source):
            return False
        if self._numbers(target, source):
            return True
        if isinstance(target, dict):
            self._dict(target, source)
            return True
        if isinstance(target, list):
            target[:] = [self._kept(a, b) for a, b in zip(target, source, strict=False)] + source[
                len(target) :
            ]
            return True
        held = getattr(target, "__dict__", None)
        if (
            isinstance(held, dict)
            and not isinstance(target, type)
            and not callable(getattr(target, "__code__", None))
        ):
            own = dict(held)
            self._dict(held, vars(source), drop=False)
            for name, value in own.items():
                held.setdefault(name, value)
            return True
        return False

    def _kept(self, target: Any, source: Any) -> Any:
        return target if self.into(target, source) else source

    def _dict(self, target: dict[Any, Any], source: dict[Any, Any], *, drop: bool = True) -> None:
        for name, value in source.items():
            target[name] = self._kept(target[name], value) if name in target else value
        if drop:
            for name in [one for one in target if one not in source]:
                del target[name]

    def _numbers(self, target: Any, source: Any) -> bool:
        torch: Any = sys.modules.get("torch")
        numpy: Any = sys.modules.get("numpy")
        if torch is not None and hasattr(torch, "Tensor") and isinstance(target, torch.Tensor):
            if target.shape != source.shape or target.dtype != source.dtype or not target.is_leaf:
                return False
            with torch.no_grad():
                target.copy_(source)
            target.grad = source.grad
            return True
        if numpy is not None and type(target) is getattr(numpy, "ndarray", None):
            if target.shape != source.shape or target.dtype != source.dtype or not target.flags.writeable:
                return False
            target[...] = source
            return True
        return False
