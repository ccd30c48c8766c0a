"""Read the files that recorders have written. Nothing is unpickled without the signature of this run."""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlint.prove.record import restored_objects as restored
from rlint.prove.record.recorder import MAGIC

_DIGEST = 32


class UnsignedError(Exception):
    """A record was not written by a recorder of this run."""


@dataclass(frozen=True)
class Suspensions:
    """The suspensions of a call."""

    values: list[Any]
    """The yielded values."""
    answers: list[Any]
    """The values sent back."""
    unfinished: bool
    """It was left before its end, or only its beginning was recorded."""


@dataclass(frozen=True)
class CallRecord:
    """One recorded call. Its parts are pickles that `read` has verified."""

    header: Mapping[str, Any]
    inputs: bytes
    answers: bytes
    outcome: bytes
    object_calls: bytes
    suspended: bytes
    streams: bytes
    path: Path

    @property
    def seconds(self) -> float:
        """Return the duration of the call in the run."""
        return float(self.header["seconds"])

    def restore(self) -> tuple[dict[str, Any], dict[str, dict[str, Any]], dict[int, Any], list[Any]]:
        """Recreate the names of the call, the globals it may read, the results of stand-ins, and the leaves
        that replace earlier graphs.
        """
        restored.CUT.clear()
        restored.STAND_INS.clear()
        file = io.BytesIO(self.inputs)
        unpickler = pickle.Unpickler(file)  # noqa: S301 - verified when it was read
        held = unpickler.load()
        spaces = unpickler.load()
        answers = pickle.loads(self.answers) if self.answers else {}  # noqa: S301 - the same
        return held, spaces, answers, list(restored.CUT)

    def restore_outcome(self) -> tuple[bool, tuple[Any, ...], dict[str, Any]] | None:
        """Return the recorded outcome of the call; None if it could not be serialised."""
        if not self.outcome:
            return None
        found: tuple[bool, tuple[Any, ...], dict[str, Any]] = pickle.loads(self.outcome)  # noqa: S301 - the same
        return found

    def restore_object_calls(self) -> dict[str, list[tuple[int, bytes, str]]]:
        """Return the earlier calls of objects that are bound to names, from the constructor on: the number of
        the region, the arguments, and the name of the file with the record of all of it, if there is one.
        """
        found: dict[str, list[tuple[int, bytes, str]]] = (
            pickle.loads(self.object_calls) if self.object_calls else {}  # noqa: S301 - the same
        )
        return found

    def restore_suspensions(self) -> Suspensions | None:
        """Return what a generator yielded or a coroutine received; None for other calls."""
        if not self.suspended:
            return None
        found = pickle.loads(self.suspended)  # noqa: S301 - the same
        values, answers = (
            [pickle.loads(one) if one else None for one in found[name]]  # noqa: S301 - the same
            for name in ("values", "answers_given")
        )
        return Suspensions(values, answers, bool(self.header["unfinished"]))

    def restore_streams(self) -> dict[str, Any]:
        """Return the states of the random streams when the call began."""
        found: dict[str, Any] = pickle.loads(self.streams)  # noqa: S301 - the same
        return found


def read(path: Path, key: bytes) -> CallRecord:
    """Read a record. Raises UnsignedError if it is not signed with `key`."""
    data = path.read_bytes()
    start = len(MAGIC) + _DIGEST
    signature, body = data[len(MAGIC) : start], data[start:]
    if not data.startswith(MAGIC) or not hmac.compare_digest(
        signature, hmac.new(key, body, hashlib.sha256).digest()
    ):
        raise UnsignedError(f"{path.name} is not signed by this run of rlint; it was not read")
    length = int.from_bytes(body[:8], "big")
    header = json.loads(body[8 : 8 + length])
    parts = []
    at = 8 + length
    for size in header["parts"]:
        parts.append(body[at : at + size])
        at += size
    inputs, answers, outcome, object_calls, suspended = parts
    return CallRecord(header, inputs, answers, outcome, object_calls, suspended, body[at:], path)
