"""Capture what a program prints, warns and logs."""

from __future__ import annotations

import contextlib
import io
import logging
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from rlint.harness.compare.texts import name_of, settled
from rlint.harness.machine_devices import loaded_torch


@dataclass(slots=True)
class CapturedOutput:
    """Output, warnings and log records of one run, without addresses and temporary paths."""

    printed: str = ""
    printed_as_error: str = ""
    warned: list[str] = field(default_factory=list)
    """Each category and message once: how often Python shows it depends on filters."""
    logged: list[str] = field(default_factory=list)
    """The records that would reach handlers: logger, level and message."""


class _Stream(io.TextIOWrapper):
    """A standard stream that stores what is written to it, and that a program cannot close."""

    def __init__(self) -> None:
        self.bytes = io.BytesIO()
        super().__init__(
            self.bytes, encoding="utf-8", errors="backslashreplace", newline="", write_through=True
        )

    def close(self) -> None:
        self.flush()

    def take(self) -> str:
        self.flush()
        written = self.bytes.getvalue().decode("utf-8", errors="replace")
        self.bytes.seek(0)
        self.bytes.truncate()
        return settled(written)


class Listener:
    """Captures the output of one run after the other.

    The streams stay the same objects, as handlers created on import keep references to them.
    """

    def __init__(self) -> None:
        self._out, self._err = _Stream(), _Stream()

    @contextlib.contextmanager
    def listening(self) -> Iterator[CapturedOutput]:
        """Capture output within the context, so that nothing is printed; afterwards, the yielded object
        contains it.
        """
        captured = CapturedOutput()
        self._out.take()
        self._err.take()
        with (
            contextlib.redirect_stdout(self._out),
            contextlib.redirect_stderr(self._err),
            warnings.catch_warnings(record=True) as warned,
            self._logs_of(captured),
        ):
            warnings.simplefilter("always")
            torch = loaded_torch()
            if torch is not None:
                torch.set_warn_always(True)  # else many are shown once per process
            try:
                yield captured
            finally:
                captured.printed, captured.printed_as_error = self._out.take(), self._err.take()
                captured.warned[:] = dict.fromkeys(map(_warning_text, filter(_of_the_program, warned)))

    @contextlib.contextmanager
    def _logs_of(self, captured: CapturedOutput) -> Iterator[None]:
        """Record each log record, and keep handlers from printing it: it would be compared twice, with its
        time.
        """
        pass_on, emit = logging.Logger.callHandlers, logging.StreamHandler.emit
        terminals = (self._out, self._err, sys.__stdout__, sys.__stderr__)

        def note(logger: logging.Logger, record: logging.LogRecord) -> None:
            captured.logged.append(settled(f"{record.name} {record.levelname}: {_message(record)}"))
            pass_on(logger, record)

        def write(handler: logging.StreamHandler[Any], record: logging.LogRecord) -> None:
            if handler.stream not in terminals:
                emit(handler, record)

        with (
            mock.patch.object(logging.Logger, "callHandlers", note),
            mock.patch.object(logging.StreamHandler, "emit", write),
            mock.patch.object(logging, "lastResort", logging.NullHandler()),
        ):
            yield


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception as error:  # noqa: BLE001 - wrong arguments are the program's, and only printed
        return f"{record.msg} ({type(error).__name__})"


def _of_the_program(warning: warnings.WarningMessage) -> bool:
    """Whether a warning is about the program, and not about garbage collection or how it is run here."""
    if issubclass(warning.category, ResourceWarning):
        return False
    return "use_deterministic_algorithms" not in str(warning.message)


def _warning_text(warning: warnings.WarningMessage) -> str:
    return settled(f"{name_of(warning.category)}: {warning.message}")
