"""Packed data is restored field by field, and unpacking creates nothing else."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixture_folders import FIXTURES
from rlint.engine import worker
from rlint.engine.cache.summary_cache import from_bytes, to_bytes
from rlint.findings import (
    Applicability,
    Cell,
    CodeExtent,
    Confidence,
    Edit,
    Finding,
    Fix,
    Heat,
    Impact,
    ImpactLevel,
    OtherFileEdits,
    Position,
    Problem,
    ProgramScale,
    Related,
    Requirement,
    TrainingStep,
)
from rlint.plain_data import UnpackError, pack, unpack
from rlint.run_data import FileResult, FileTask
from rlint.semantics.interprocedural.summary import ModuleSummary


@functools.cache
def summaries() -> list[ModuleSummary]:
    """Those of a few programs of the fixtures."""
    paths = sorted(FIXTURES.glob("[c-d]*/before.py"))
    jobs = [
        FileTask(path, path.parent.name, path.parent.name.replace("-", "_"), "", None, None, 1)
        for path in paths
    ]
    return list(worker.Worker().summarise(jobs).values())


@functools.cache
def _packed_summary() -> bytes:
    return to_bytes(summaries()[0])


CELL = Cell(3, "id", 4, 5)
NEEDED = Requirement("torch", "2.0", "torch.compile")
FIX = Fix(
    "Do it",
    Applicability.UNSAFE,
    (Edit(1, 2, "x", shared=True, owns=("# why",)),),
    "reason",
    (OtherFileEdits("b.py", (Edit(3, 4, "y"),), "digest"),),
    "name",
    (NEEDED,),
)
RELATED = Related("c.py", Position(5, 6), Position(7, 8), "and here", CELL)
RESULT = FileResult(
    "a.py",
    (
        Finding(
            "RL101", "name", "message", "a.py", Position(1, 2), Position(3, 4), 1, 3,
            Heat.HOT, ("link",), "advice", FIX, "no fix", CELL, Confidence.LIKELY, "assumption", (RELATED,),
            (TrainingStep.GRADIENT,), (TrainingStep.ENVIRONMENT,), True, ProgramScale.LARGE, 6, 3, 4, 2,
            0.01, ("cuda",), "minor", Impact(ImpactLevel.HIGH, "stated"), "rollout", 64, True, 9, True,
            CodeExtent.FILE, ("RL102",), (NEEDED,), NEEDED, Impact(ImpactLevel.HIGH, "basis"),
        ),
    ),
    (Problem("a.py", "message", 1, 2, "hint", is_bug=True, cell=CELL),),
    checked=False,
)  # fmt: skip


def test_what_is_unpacked_is_what_was_packed() -> None:
    """Every record, set and number is restored with its type, and equal values are packed equally."""
    assert len(summaries()) > 5
    for summary in summaries():
        again = from_bytes(to_bytes(summary))
        assert again == summary
        assert repr(again.functions) == repr(summary.functions)
        assert to_bytes(again) == to_bytes(summary)


def test_results_come_back_with_all_their_fields() -> None:
    """Every field of a finding, a fix or a problem is packed."""
    for record in (*RESULT.findings, RELATED, *RESULT.problems, FIX, *FIX.edits, CELL, *FIX.other_edits):
        for field in dataclasses.fields(record):
            assert getattr(record, field.name) != field.default, (
                f"{record.__class__}.{field.name}: say another value"
            )
    again = unpack(json.loads(json.dumps(pack(RESULT))), FileResult)
    # those that are not compared, too
    assert dataclasses.astuple(again) == dataclasses.astuple(RESULT)


@pytest.mark.parametrize(
    "change", [lambda fields: fields.append("new"), lambda fields: fields.pop(), list.reverse]
)
def test_other_fields_are_refused(change: Any) -> None:
    """Data packed with other fields, or in another order, is refused."""
    data = json.loads(json.dumps(pack(RESULT)))
    [fields] = [sort for sort in data["sorts"] if sort[0] == "rlint.findings:Problem"]
    name = fields.pop(0)
    change(fields)
    fields.insert(0, name)
    with pytest.raises(UnpackError, match="other fields"):
        unpack(data, FileResult)


def _packed(leaves: list[object], sorts: list[list[str]], nodes: list[list[int]]) -> bytes:
    said = {"sorts": sorts, "values": [*leaves, *nodes]}
    return zlib.compress(json.dumps(said).encode())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        zlib.compress(b"[]"),
        zlib.compress(b"{}"),
        zlib.compress(b"[" * 100_000),
        _packed([], [], []),
        _packed(["a"], [["tuple"]], [[0, 0]]),
        _packed(["a"], [["tuple"]], [[0, 7]]),
        _packed(["true"], [["os:system"]], [[0, 0]]),
        _packed(["1"], [["builtins:eval"]], [[0, 0]]),
        _packed(["a"], [["rlint.engine.cache.summary_cache:from_bytes"]], [[0, 0]]),
        _packed(["a"], [["rlint.semantics.interprocedural.project_index:Index"]], [[0, 0]]),
        _packed([], [["rlint.semantics.interprocedural.summary:ModuleSummary"]], [[0]]),
    ],
)
def test_what_is_no_summary_is_none(data: bytes) -> None:
    """Unpacking calls nothing but the classes of records."""
    with pytest.raises(UnpackError):
        from_bytes(data)


def test_half_a_summary_is_none() -> None:
    """A file whose end was never written."""
    with pytest.raises(UnpackError):
        from_bytes(_packed_summary()[:-9])


@given(st.integers(0, 1 << 30), st.integers(1, 255))
def test_damage_is_noticed_or_does_none(place: int, change: int) -> None:
    """Bytes that were changed give no other error."""
    damaged = bytearray(_packed_summary())
    damaged[place % len(damaged)] ^= change
    with contextlib.suppress(UnpackError):
        assert isinstance(from_bytes(bytes(damaged)), ModuleSummary)
