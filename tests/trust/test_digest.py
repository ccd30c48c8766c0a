"""`trust/digest.py`: the compared parts of two files that a training wrote."""

from __future__ import annotations

import importlib.util
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from fixture_folders import ROOT


@pytest.fixture(scope="module")
def digest() -> ModuleType:
    """The script, as a module."""
    spec = importlib.util.spec_from_file_location("digest", ROOT / "trust" / "digest.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


Write = Callable[[Path, float], None]


def torch_file(path: Path, number: float) -> None:
    """A checkpoint with tensors of many kinds, one of which contains the number."""
    kinds = (torch.float32, torch.bfloat16, torch.int8, torch.bool, torch.complex64)
    state = {str(kind): torch.ones(2, dtype=kind) for kind in kinds}
    state["sparse"] = torch.eye(2).to_sparse()
    state["empty"] = torch.zeros(0)
    torch.save({"net": {**state, "weight": torch.full((2, 2), number).T}, "step": 3}, path)


def array_file(path: Path, number: float) -> None:
    """Arrays in one archive."""
    with path.open("wb") as file:
        np.savez(file, weight=np.array([number]), other=np.zeros(2))


def archive(path: Path, number: float) -> None:
    """Checkpoints in an archive, as stable-baselines3 writes them."""
    torch_file(path.with_suffix(".pth"), number)
    with zipfile.ZipFile(path, "w") as file:
        file.write(path.with_suffix(".pth"), "policy.pth")
        file.writestr("data", "{}")
    path.with_suffix(".pth").unlink()


@pytest.mark.parametrize(
    ("write", "name"),
    [(torch_file, "net.weight"), (array_file, "weight.npy"), (archive, "policy.pth.net.weight")],
)
def test_only_what_differs_differs(digest: ModuleType, tmp_path: Path, write: Write, name: str) -> None:
    """Files with the same numbers have equal digests though written at other times; other numbers do not."""
    folders = [tmp_path / each for each in ("first", "again", "other")]
    for folder, number in zip(folders, (0.1, 0.1, float(np.nextafter(np.float32(0.1), 1))), strict=True):
        folder.mkdir()
        write(folder / "saved", number)
    first, again, other = (digest.digests(folder)["saved"] for folder in folders)
    assert first == again
    assert [part for part in first if first[part][0] != other[part][0]] == [name]


def network_file(path: Path, number: float) -> None:
    """A network as a whole."""
    net = torch.nn.Linear(1, 1)
    torch.nn.init.constant_(net.weight, number)
    torch.nn.init.zeros_(net.bias)
    torch.save(net, path)


def test_networks_are_compared_by_their_weights(digest: ModuleType, tmp_path: Path) -> None:
    """The digest depends on the weights, not on the class of the network."""
    found = []
    for number in (1.0, 1.0, 2.0):
        network_file(tmp_path / "file", number)
        found.append({name: value for name, value, _ in digest.parts_of(tmp_path / "file")})
    assert found[0] == found[1]
    assert {name for name in found[0] if found[0][name] != found[2][name]} == {"weight"}


def test_networks_of_unknown_classes_go_by_their_bytes(
    digest: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The project need not be installed: its checkpoints are compared all the same."""
    module = ModuleType("agents_of_nobody")
    module.Actor = type("Actor", (torch.nn.Linear,), {"__module__": module.__name__})  # type: ignore[attr-defined]
    found = []
    for number in (1.0, 1.0, 2.0):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, module.__name__, module)
            net = module.Actor(1, 1)
            torch.nn.init.constant_(net.weight, number)
            torch.nn.init.zeros_(net.bias)
            torch.save(net, tmp_path / "file")
        found.append({name: value for name, value, _ in digest.parts_of(tmp_path / "file")})
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_values_that_cannot_be_compared_are_compared_by_type(digest: ModuleType, tmp_path: Path) -> None:
    """Names and numbers are compared; a file that is not an archive is compared by its bytes."""
    torch.save({"name": "ppo", "lr": [1e-3], "path": Path("x")}, tmp_path / "a.pt")
    (tmp_path / "b.txt").write_bytes(b"12345")
    found = digest.digests(tmp_path)
    assert {part: shown for part, (_, shown) in found["a.pt"].items()} == {
        "name": "'ppo'",
        "lr[0]": "0.001",
        "path": "a PosixPath",
    }
    assert found["b.txt"][""][1] == "5 bytes"


def test_events_have_no_times_in_their_names(digest: ModuleType, tmp_path: Path) -> None:
    """TensorBoard files are distinguished by their order only."""
    for name in ("events.out.tfevents.17.host", "events.out.tfevents.18.host"):
        (tmp_path / name).write_bytes(b"")
    assert list(digest.digests(tmp_path)) == ["tfevents", "tfevents #2"]
