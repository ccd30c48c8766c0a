"""Summaries that are kept are the summaries that were made, and nothing else comes out of what is kept."""

from __future__ import annotations

import contextlib
import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixture_folders import FIXTURES
from rlint.engine import worker
from rlint.run_data import FileTask
from rlint.semantics.interprocedural.summary import ModuleSummary
from rlint.semantics.interprocedural.summary_codec import UnpackError, pack, unpack


def summaries() -> list[ModuleSummary]:
    """Those of a few programs of the fixtures."""
    paths = sorted(FIXTURES.glob("[c-d]*/before.py"))
    jobs = [
        FileTask(path, path.parent.name, path.parent.name.replace("-", "_"), "", None, None, 1)
        for path in paths
    ]
    return list(worker.Worker().summarise(jobs).values())


SUMMARIES = summaries()
PACKED = pack(SUMMARIES[0])


def test_what_is_unpacked_is_what_was_packed() -> None:
    """Every record, set and number, of the same types; and what is equal is packed the same."""
    assert len(SUMMARIES) > 5
    for summary in SUMMARIES:
        again = unpack(pack(summary))
        assert again == summary
        assert repr(again.functions) == repr(summary.functions)
        assert pack(again) == pack(summary)


def _packed(leaves: list[object], sorts: list[str], nodes: list[list[int]]) -> bytes:
    said = {"sorts": sorts, "values": [*leaves, *nodes]}
    return zlib.compress(json.dumps(said).encode())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        PACKED[:-9],
        zlib.compress(b"[]"),
        zlib.compress(b"{}"),
        zlib.compress(b"[" * 100_000),
        _packed([], [], []),
        _packed(["a"], ["tuple"], [[0, 0]]),
        _packed(["a"], ["tuple"], [[0, 7]]),
        _packed(["true"], ["os:system"], [[0, 0]]),
        _packed(["1"], ["builtins:eval"], [[0, 0]]),
        _packed(["a"], ["rlint.semantics.interprocedural.summary_codec:unpack"], [[0, 0]]),
        _packed(["a"], ["rlint.semantics.interprocedural.project_index:Index"], [[0, 0]]),
        _packed([], ["rlint.semantics.interprocedural.summary:ModuleSummary"], [[0]]),
    ],
)
def test_what_is_no_summary_is_none(data: bytes) -> None:
    """Nothing is called that is no record of a summary."""
    with pytest.raises(UnpackError):
        unpack(data)


@given(st.integers(0, len(PACKED) - 1), st.integers(1, 255))
def test_damage_is_noticed_or_does_none(place: int, change: int) -> None:
    """Bytes that were changed give no other error."""
    damaged = bytearray(PACKED)
    damaged[place] ^= change
    with contextlib.suppress(UnpackError):
        assert isinstance(unpack(bytes(damaged)), ModuleSummary)
