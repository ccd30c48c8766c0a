"""Process settings that a program may change: read, compared, restored."""

from __future__ import annotations

import gc
import logging
import os
import sys
from dataclasses import dataclass, field
from typing import Any

from rlint.harness.compare.values import Scalar
from rlint.harness.machine_devices import loaded_torch


def settings() -> dict[str, Scalar]:
    """Return the process state that later code would observe, by path: `settings.cwd`,
    `settings.environ['HOME']`.
    """
    found: dict[str, Scalar] = {
        "settings.cwd": _folder(),
        "settings.recursion_limit": sys.getrecursionlimit(),
        "settings.gc.enabled": gc.isenabled(),
    }
    for name, value in os.environ.items():
        found[f"settings.environ[{name!r}]"] = value
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        for name, value in numpy.geterr().items():
            found[f"settings.numpy.geterr()[{name!r}]"] = value
        for name, value in numpy.get_printoptions().items():
            found[f"settings.numpy.get_printoptions()[{name!r}]"] = repr(value)
    torch = loaded_torch()
    if torch is not None:
        found["settings.torch.is_grad_enabled()"] = torch.is_grad_enabled()
        found["settings.torch.is_inference_mode_enabled()"] = torch.is_inference_mode_enabled()
        found["settings.torch.get_default_dtype()"] = str(torch.get_default_dtype())
        found["settings.torch.get_num_threads()"] = torch.get_num_threads()
        found["settings.torch.deterministic"] = torch.get_deterministic_debug_mode()
        found["settings.torch.get_float32_matmul_precision()"] = torch.get_float32_matmul_precision()
        found["settings.torch.is_anomaly_enabled()"] = torch.is_anomaly_enabled()
        found["settings.torch.is_autocast_enabled()"] = torch.is_autocast_enabled()
        found["settings.torch.backends.cudnn.benchmark"] = torch.backends.cudnn.benchmark
        if hasattr(torch, "get_default_device"):  # since 2.3
            found["settings.torch.get_default_device()"] = str(torch.get_default_device())
    return found


def _folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return "a deleted folder"


# --- logging ---


@dataclass(frozen=True, slots=True)
class _LoggerState:
    level: int
    handlers: list[logging.Handler]
    filters: list[Any]
    propagate: bool
    disabled: bool


def _every_logger() -> dict[str, logging.Logger]:
    known = logging.root.manager.loggerDict.items()
    return {"": logging.root} | {name: one for name, one in known if isinstance(one, logging.Logger)}


def _loggers() -> dict[str, _LoggerState]:
    return {
        name: _LoggerState(
            one.level, list(one.handlers), list(one.filters), propagate=one.propagate, disabled=one.disabled
        )
        for name, one in _every_logger().items()
    }


# --- packages ---


def _numpy_settings() -> tuple[Any, Any] | None:
    numpy: Any = sys.modules.get("numpy")
    return None if numpy is None else (numpy.geterr(), numpy.get_printoptions())


@dataclass(frozen=True, slots=True)
class _TorchState:
    grad: bool
    dtype: Any
    threads: int
    deterministic: int
    precision: str
    anomaly: bool
    autocast: bool
    benchmark: bool
    device: Any
    warn_always: bool

    def restore(self) -> None:
        torch = loaded_torch()
        torch.set_grad_enabled(self.grad)
        torch.set_default_dtype(self.dtype)
        if torch.get_num_threads() != self.threads:
            torch.set_num_threads(self.threads)
        if torch.get_deterministic_debug_mode() != self.deterministic:
            torch.set_deterministic_debug_mode(self.deterministic)
        if torch.get_float32_matmul_precision() != self.precision:
            torch.set_float32_matmul_precision(self.precision)
        torch.autograd.set_detect_anomaly(self.anomaly)
        if torch.is_autocast_enabled() != self.autocast:
            torch.set_autocast_enabled(self.autocast)
        torch.backends.cudnn.benchmark = self.benchmark
        torch.set_warn_always(self.warn_always)
        if self.device is not None and torch.get_default_device() != self.device:
            torch.set_default_device(self.device if self.device.type != "cpu" else None)


def _torch_settings() -> _TorchState | None:
    torch = loaded_torch()
    if torch is None:
        return None
    return _TorchState(
        torch.is_grad_enabled(),
        torch.get_default_dtype(),
        torch.get_num_threads(),
        torch.get_deterministic_debug_mode(),
        torch.get_float32_matmul_precision(),
        torch.is_anomaly_enabled(),
        torch.is_autocast_enabled(),
        torch.backends.cudnn.benchmark,
        torch.get_default_device() if hasattr(torch, "get_default_device") else None,
        torch.is_warn_always_enabled(),
    )


# --- all together ---


@dataclass(slots=True)
class ProcessSettings:
    """The settings when this object was created, which can be restored."""

    _cwd: str = field(default_factory=_folder)
    _environ: dict[str, str] = field(default_factory=lambda: dict(os.environ))
    _recursion_limit: int = field(default_factory=sys.getrecursionlimit)
    _gc: bool = field(default_factory=gc.isenabled)
    _loggers: dict[str, _LoggerState] = field(default_factory=_loggers)
    _disabled: int = field(default_factory=lambda: logging.root.manager.disable)
    _numpy: tuple[Any, Any] | None = field(default_factory=_numpy_settings)
    _torch: _TorchState | None = field(default_factory=_torch_settings)

    def restore(self) -> None:
        """Restore them."""
        if _folder() != self._cwd:
            os.chdir(self._cwd)
        for name in os.environ.keys() - self._environ.keys():
            del os.environ[name]
        for name, value in self._environ.items():
            if os.environ.get(name) != value:
                os.environ[name] = value
        sys.setrecursionlimit(self._recursion_limit)
        (gc.enable if self._gc else gc.disable)()
        self._restore_logging()
        numpy: Any = sys.modules.get("numpy")
        if numpy is not None and self._numpy is not None:
            numpy.seterr(**self._numpy[0])
            if numpy.get_printoptions() != self._numpy[1]:
                numpy.set_printoptions(**self._numpy[1])
        if self._torch is not None:
            self._torch.restore()

    def _restore_logging(self) -> None:
        if logging.root.manager.disable != self._disabled:  # setting it clears the caches of all loggers
            logging.disable(self._disabled)
        fresh = _LoggerState(logging.NOTSET, [], [], propagate=True, disabled=False)
        for name, logger in _every_logger().items():
            state = self._loggers.get(name, fresh)
            if logger.level != state.level:
                logger.setLevel(state.level)
            logger.handlers[:] = state.handlers
            logger.filters[:] = state.filters
            logger.propagate, logger.disabled = state.propagate, state.disabled
