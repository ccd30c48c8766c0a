"""Profiles of any known format, detected by content."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from rlint.errors import RlintError
from rlint.profiles import chrome_trace, folded, pstats_file, speedscope

if TYPE_CHECKING:
    from rlint.profiles.profile_model import Profile

LARGEST = 1_000_000_000
"""Maximum size of an unpacked profile in bytes: a larger one would not fit into the memory of a usual
machine.
"""

_GZIP = b"\x1f\x8b"
_PICKLE = b"\x80"
_KNOWN = (
    "rlint reads what `rlint profile` writes, dumps of cProfile, speedscope and folded stacks of py-spy, "
    "speedscope of pyinstrument, and traces of torch.profiler recorded with `with_stack=True`"
)


def read(path: Path) -> Profile:
    """Read a profile. Raises RlintError, with the problem and its solution. Nothing in it is executed."""
    try:
        return _parsed(_content(path))
    except OSError as error:
        raise RlintError(f"{path}: cannot read the profile: {error.strerror or error}") from error
    except (ValueError, zlib.error) as error:
        raise RlintError(f"{path}: cannot read the profile: {error} ({_KNOWN})") from error
    except (MemoryError, RecursionError) as error:
        raise RlintError(f"{path}: cannot read the profile: it is too large, or nested too deeply") from error


def _content(path: Path) -> bytes:
    if path.is_dir():
        raise ValueError("it is a folder")
    if not path.is_file() and path.exists():
        raise ValueError("it is not a regular file")
    with path.open("rb") as file:
        data = file.read(LARGEST + 1)
    if data.startswith(_GZIP):
        unpacker = zlib.decompressobj(wbits=31)
        data = unpacker.decompress(data, LARGEST + 1)
        if not unpacker.eof and len(data) <= LARGEST:
            raise ValueError("it is cut off")
    if len(data) > LARGEST:
        raise ValueError(f"it has more than {LARGEST // 1_000_000} MB; record a shorter part of the run")
    return data


def _parsed(data: bytes) -> Profile:
    if not data.strip():
        raise ValueError("it is empty")
    if data.startswith(_PICKLE):
        raise ValueError("it is a pickle, which is never loaded because that could run code")
    if pstats_file.looks_like_it(data[:2]):
        return pstats_file.read(data)
    text = data.decode("utf-8-sig", "replace")
    if text.lstrip()[:1] in ("{", "["):
        document = json.loads(text)
        if speedscope.looks_like_it(document):
            profile = speedscope.read(document)
        elif chrome_trace.looks_like_it(document):
            profile = chrome_trace.read(document)
        else:
            raise ValueError("it is JSON of an unknown format")
    elif "\0" in text or "\ufffd" in text[:4096]:
        raise ValueError("it is a binary file of an unknown format")
    else:
        profile = folded.read(text)
    if profile.total <= 0:
        raise ValueError("no time was spent in it")
    return profile
