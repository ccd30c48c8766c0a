"""Generate the index of rlint's own rules: `python -m rlint.registry.make_rule_index`.

The index contains what every start needs to know of each rule, so that no rule's source and no evidence file
is opened to determine the selection. `rlint verify --record` writes it as well, since a measurement can turn
a rule off. A test compares the index with the files.
"""

from __future__ import annotations

import sys
from pathlib import Path

from rlint.registry import catalogue, rule_index

_HEAD = '''\
"""The rules that come with rlint, as data. Generated: do not edit.

`python -m rlint.registry.make_rule_index` writes this file from the rules' sources and recorded evidence.
"""

from __future__ import annotations

# fmt: off
ROWS: tuple[tuple[str, str, str, bool, tuple[str, ...], str, str], ...] = (
    # code, name, file, declares opt-in, claims, fixes, recorded gain
'''


def rule_index_text() -> str:
    """Return the expected content of the index, from the rules' sources and their evidence."""
    rows = [
        f"    {_row(entry)},\n"
        for folder in catalogue.folders()
        for entry in catalogue.entries_in(catalogue.BUILTIN, folder)
    ]
    return "".join([_HEAD, *sorted(rows), ")\n"])


def write_rule_index() -> Path | None:
    """Update the index; return its path if it has changed. Raises OSError."""
    path, text = Path(rule_index.__file__), rule_index_text()
    if path.read_text(encoding="utf-8") == text:
        return None
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def _row(entry: catalogue.RuleEntry) -> str:
    assert entry.path is not None
    file = entry.path.relative_to(entry.path.parents[2 if entry.path.stem == "__init__" else 1]).as_posix()
    texts = (entry.code, entry.name, file)
    claims = ", ".join(map(_quoted, entry.claims)) + ("," if len(entry.claims) == 1 else "")
    return (
        f"({', '.join(map(_quoted, texts))}, {entry.declares_opt_in}, ({claims}), "
        f"{_quoted(entry.fixes)}, {_quoted(entry.gain.value)})"
    )


def _quoted(text: str) -> str:
    return f'"{text}"'


if __name__ == "__main__":
    changed = write_rule_index()
    sys.stdout.write(f"written: {changed}\n" if changed else "the index is up to date\n")
