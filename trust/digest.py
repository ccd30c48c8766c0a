"""Digests of the files of a training: of tensors by name, of other files by their bytes.

    python trust/digest.py FOLDER

prints an object: for each file of the folder its parts, for each part `[digest, description]`. It runs in the
project's interpreter, whose torch and numpy it needs for checkpoints and arrays. Checkpoints are unpickled,
because the training itself has just written them.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import sys
import uuid
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

Part = tuple[str, str, str]
"""A name inside a file, the digest of its value, and a description."""


def parts_of(path: Path) -> Iterator[Part]:
    """The content of a file. TensorBoard event files are read as scalars, without times."""
    if "tfevents" in path.name:
        yield from _events(path)
    elif path.suffix == ".npy":
        yield from _array("", path)
    else:
        with path.open("rb") as file:
            yield from _content("", file)


def _content(name: str, file: IO[bytes]) -> Iterator[Part]:
    """A checkpoint by its tensors, another archive by its members, anything else by its bytes."""
    if not zipfile.is_zipfile(file):
        file.seek(0)
        content = file.read()
        yield name, hashlib.sha256(content).hexdigest(), f"{len(content)} bytes"
        return
    file.seek(0)
    with zipfile.ZipFile(file) as archive:
        members = [each for each in archive.namelist() if not each.endswith("/")]
        if any(each.endswith("/data.pkl") or each == "data.pkl" for each in members):
            file.seek(0)
            try:
                loaded = _loaded(file)
            except (ImportError, AttributeError):
                pass  # it holds objects of classes that this interpreter cannot import
            else:
                yield from _leaves(name, loaded)
                return
        for member in sorted(members):
            inside = io.BytesIO(archive.read(member))
            where = f"{name}/{member}" if name else member
            yield from _array(where, inside) if member.endswith(".npy") else _content(where, inside)


def _loaded(file: IO[bytes]) -> object:
    import pickle

    import torch

    try:
        return torch.load(file, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:  # it contains more than tensors
        file.seek(0)
        return torch.load(file, map_location="cpu", weights_only=False)


def _array(name: str, file: Path | IO[bytes]) -> Iterator[Part]:
    import numpy as np

    try:
        yield from _leaves(name, np.load(file, allow_pickle=False))
    except ValueError:  # an array of objects
        content = file.read_bytes() if isinstance(file, Path) else _all_of(file)
        yield name, hashlib.sha256(content).hexdigest(), f"{len(content)} bytes"


def _all_of(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def _leaves(name: str, value: Any) -> Iterator[Part]:
    import numpy as np

    if hasattr(value, "detach"):
        tensor = value.detach()
        if tensor.is_quantized or tensor.is_sparse:
            tensor = tensor.dequantize() if tensor.is_quantized else tensor.to_dense()
        described = str(tensor.dtype).removeprefix("torch.")
        import torch

        # numpy lacks bfloat16 and other dtypes: these are compared as bytes
        raw = tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""
        yield _leaf(
            name,
            described,
            tuple(tensor.shape),
            raw,
            tensor.to(torch.float64) if raw and not tensor.is_complex() else None,
        )
    elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
        mean = value if value.size and value.dtype.kind in "fiub" else None
        yield _leaf(name, str(value.dtype), value.shape, value.tobytes(), mean)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(f"{name}.{key}" if name else str(key), inner)
    elif isinstance(value, (list, tuple)):
        for number, inner in enumerate(value):
            yield from _leaves(f"{name}[{number}]", inner)
    elif hasattr(value, "state_dict"):
        yield from _leaves(name, value.state_dict())
    elif isinstance(value, (int, float, complex, str, bytes, type(None))):
        shown = repr(value)
        yield name, hashlib.sha256(shown.encode()).hexdigest(), shown[:60]
    else:
        kind = f"a {type(value).__qualname__}"
        yield name, kind, kind


def _leaf(name: str, dtype: str, shape: tuple[int, ...], raw: bytes, values: Any) -> Part:
    mean = "" if values is None else f", mean {float(values.mean()):.9g}"
    digest = hashlib.sha256(f"{dtype} {shape} ".encode() + raw).hexdigest()
    return name, digest, f"{dtype} {shape}{mean}"


def _events(path: Path) -> Iterator[Part]:
    try:
        from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
    except ImportError:
        yield "", uuid.uuid4().hex, "not read: tensorboard is not installed"  # like nothing else
        return
    for event in EventFileLoader(str(path)).Load():
        for value in event.summary.value:
            said = value.SerializeToString(deterministic=True)
            shown = value.tensor.float_val[:1] or value.simple_value
            yield f"{value.tag} at {event.step}", hashlib.sha256(said).hexdigest(), str(shown)


def digests(folder: Path) -> dict[str, dict[str, tuple[str, str]]]:
    """The parts of all files below a folder, by file. Event files are numbered, because their names are
    times.
    """
    found: dict[str, dict[str, tuple[str, str]]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            place = path.with_name("tfevents") if "tfevents" in path.name else path
            parts = found.setdefault(_free(place.relative_to(folder).as_posix(), found), {})
            for name, digest, shown in parts_of(path):
                parts[_free(name, parts)] = digest, shown
    return found


def _free(name: str, taken: Mapping[str, object]) -> str:
    """The name, numbered if it occurs several times."""
    return next(
        each
        for each in itertools.chain([name], (f"{name} #{number}" for number in itertools.count(2)))
        if each not in taken
    )


if __name__ == "__main__":
    json.dump(digests(Path(sys.argv[1])), sys.stdout)
