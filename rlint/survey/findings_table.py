"""Findings as rows of a table, with all fields of `rlint check --output-format json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import IO, Any

from rlint.survey.extra import needed

_TEXT, _NUMBER, _TEXTS = "text", "number", "texts"
COLUMNS = {
    "repository": _TEXT,
    "commit": _TEXT,
    "file": _TEXT,
    "cell": _NUMBER,
    "line": _NUMBER,
    "column": _NUMBER,
    "end_line": _NUMBER,
    "end_column": _NUMBER,
    "rule": _TEXT,
    "name": _TEXT,
    "confidence": _TEXT,
    "assumption": _TEXT,
    "impact": _TEXT,
    "impact_basis": _TEXT,
    "message": _TEXT,
    "advice": _TEXT,
    "heat": _TEXT,
    "heat_chain": _TEXTS,
    "measured": _TEXT,
    "fix": _TEXT,
    "fix_title": _TEXT,
    "fix_reason": _TEXT,
    "fix_edits": _TEXT,
    "fix_other_files": _TEXTS,
    "related": _TEXT,
    "noqa_line": _NUMBER,
    "cell_id": _TEXT,
    "severity": _TEXT,
    "url": _TEXT,
    "fingerprint": _TEXT,
}
"""The columns and their types. `rule` is empty in rows of files that could not be checked; `fix_edits` and
`related` are JSON.
"""


def row_of(repository: str, commit: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of a finding or problem."""
    fix, impact = entry["fix"] or {}, entry["impact"] or {}
    start, end = entry["location"], entry["end_location"]
    return {
        "repository": repository,
        "commit": commit or None,
        "file": entry["filename"],
        "cell": entry["cell"],
        "line": start["row"],
        "column": start["column"],
        "end_line": end["row"],
        "end_column": end["column"],
        "rule": entry["code"],
        "name": entry["name"],
        "confidence": entry["confidence"],
        "assumption": entry["assumption"],
        "impact": impact.get("level"),
        "impact_basis": impact.get("basis"),
        "message": entry["message"],
        "advice": entry["advice"],
        "heat": entry["heat"],
        "heat_chain": entry["heat_chain"],
        "measured": entry["measured"],
        "fix": fix.get("applicability"),
        "fix_title": fix.get("message"),
        "fix_reason": fix.get("reason"),
        "fix_edits": _json(fix["edits"]) if fix else None,
        "fix_other_files": fix.get("other_files"),
        "related": _json(entry["related"]),
        "noqa_line": entry["noqa_row"],
        "cell_id": entry.get("cell_id"),
        "severity": entry["severity"],
        "url": entry["url"],
        "fingerprint": entry["fingerprint"],
    }


def write_table(file: IO[bytes], batches: Iterable[Sequence[Mapping[str, Any]]]) -> int:
    """Write rows as Parquet, in batches, and return their number."""
    arrow, parquet = needed("pyarrow"), needed("pyarrow.parquet")
    types = {_TEXT: arrow.string(), _NUMBER: arrow.int32(), _TEXTS: arrow.list_(arrow.string())}
    schema = arrow.schema([(name, types[what]) for name, what in COLUMNS.items()])
    count = 0
    with closing(parquet.ParquetWriter(file, schema, compression="zstd")) as writer:
        for rows in batches:
            if rows:
                plain = [{name: _plain(value) for name, value in row.items()} for row in rows]
                writer.write_table(arrow.Table.from_pylist(plain, schema=schema))
                count += len(rows)
    return count


def _plain(value: Any) -> Any:
    """Return a value with valid strings: file names may contain invalid ones."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
