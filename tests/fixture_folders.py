"""Reads `fixtures/` as the tests need it. CONTRIBUTING.md says what the files of a fixture folder mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from rlint.findings import Finding
from rlint.registry import catalogue

ROOT = Path(__file__).resolve().parents[1]
FIXTURES = ROOT / "fixtures"
RULES = tuple(entry for entry in catalogue.catalogue() if entry.module)
"""The rules that have a file; the engine's own codes have none."""

DIRECTIVE = re.compile(rb"#\s*(flags|finding|says):\s*(.*?)\s*$")
FLAGS = {"--unsafe-fixes": True, "safe": False}
FINDINGS = {"safe", "unsafe", "advice"}


def rule_folders() -> list[Path]:
    """The folders that belong to a rule; those whose name begins with `_` are inputs of engine tests."""
    return sorted(
        folder for folder in FIXTURES.iterdir() if folder.is_dir() and not folder.name.startswith(("_", "."))
    )


@cache
def default_codes() -> frozenset[str]:
    """The rules that are on by default."""
    return frozenset(entry.code for entry in RULES if not entry.opt_in)


@dataclass(frozen=True)
class Expected:
    """Compares rlint's output with a file in the repository, or rewrites the file (`--accept`)."""

    accept: bool

    def compare(self, path: Path, content: bytes) -> None:
        """Compare `content` with the file."""
        known = path.read_bytes() if path.exists() else None
        if known == content:
            return
        if self.accept:
            path.write_bytes(content)
            return
        place = path.relative_to(ROOT)
        assert known is not None, f"{place} is missing: run `pytest --accept` and read what it says"
        assert content.decode("utf-8", "replace") == known.decode("utf-8", "replace"), (
            f"{place} says otherwise; if this is better, run `pytest --accept`"
        )
        assert content == known, f"{place} differs in bytes that do not show as text"


def render_findings(findings: Iterable[Finding]) -> bytes:
    """Return findings in the format of `findings.txt`."""
    lines = []
    for finding in findings:
        lines.append(
            f"{finding.start.line}:{finding.start.column} {finding.code} {safety_of(finding)} {finding.heat}"
            f" | {finding.message}\n"
        )
        if finding.chain:
            lines.append(f"    {' → '.join(finding.chain)}\n")
    return "".join(lines).encode()


def safety_of(finding: Finding) -> str:
    """`safe` or `unsafe` as the fix is, `advice` where there is none."""
    return finding.fix.safety.value if finding.fix else "advice"


@dataclass(frozen=True)
class Case:
    """One form of a rule's pattern: a program and the fixed program."""

    rule: str
    path: Path
    given: dict[str, bytes]
    after: dict[str, bytes] | None
    unsafe: bool = True
    finding: str | None = None
    says: str | None = None

    @property
    def id(self) -> str:
        """How the test is called."""
        return f"{self.rule}-{self.path.stem}"


def cases_of(folder: Path) -> list[Case]:
    """Read `cases/`: single files and folders."""
    place = folder / "cases"
    if not place.is_dir():
        return []
    found = [read_case(folder.name, path) for path in sorted(place.glob("*.py"))]
    found += [
        read_project_case(folder.name, path)
        for path in sorted(place.iterdir())
        if path.is_dir() and path.name != "__pycache__"
    ]
    return found


def read_case(rule: str, path: Path) -> Case:
    """Split a case file into its directives, the program and the text after `# after`."""
    lines = path.read_bytes().splitlines(keepends=True)
    options, lines = _directives(path, lines)
    marks = [number for number, line in enumerate(lines) if line.rstrip() == b"# after"]
    if len(marks) > 1:
        raise pytest.UsageError(f"{path}: more than one line `# after`")
    given, after = lines, None
    if marks:
        given, after = lines[: marks[0]], {path.name: _without_blank_ends(lines[marks[0] + 1 :])}
    return _case(rule, path, {path.name: _without_blank_ends(given)}, after, options)


def read_project_case(rule: str, path: Path) -> Case:
    """Read a case of several files: `input/` has all files, in Python or YAML, `after/` the changed ones,
    `case.txt` the directives.
    """
    options: dict[str, str] = {}
    directives = path / "case.txt"
    if directives.exists():
        options, rest = _directives(directives, directives.read_bytes().splitlines(keepends=True))
        if b"".join(rest).strip():
            raise pytest.UsageError(f"{directives}: holds more than directives")
    given = _tree(path / "input")
    if not given:
        raise pytest.UsageError(f"{path}: no Python file in input/")
    after = {**given, **_tree(path / "after")} if (path / "after").is_dir() else None
    return _case(rule, path, given, after, options)


def _case(
    rule: str, path: Path, given: dict[str, bytes], after: dict[str, bytes] | None, options: Mapping[str, str]
) -> Case:
    flags, finding = options.get("flags", "--unsafe-fixes"), options.get("finding")
    if flags not in FLAGS:
        raise pytest.UsageError(f"{path}: flags must be one of {', '.join(FLAGS)}, not {flags!r}")
    says = options.get("says")
    if finding is not None and finding not in FINDINGS:
        raise pytest.UsageError(
            f"{path}: finding must be one of {', '.join(sorted(FINDINGS))}, not {finding!r}"
        )
    if after is not None and (finding == "advice" or given == after):
        raise pytest.UsageError(f"{path}: with `# after`, a fix must change something")
    if after is None and (finding == "safe" or (finding == "unsafe" and FLAGS[flags])):
        raise pytest.UsageError(f"{path}: a fix that is applied needs its `# after`")
    return Case(rule, path, given, after, unsafe=FLAGS[flags], finding=finding, says=says)


def _directives(path: Path, lines: list[bytes]) -> tuple[dict[str, str], list[bytes]]:
    options: dict[str, str] = {}
    while lines and (match := DIRECTIVE.match(lines[0])):
        key, value = (group.decode() for group in match.groups())
        if key in options:
            raise pytest.UsageError(f"{path}: `{key}` is given twice")
        options[key] = value
        lines = lines[1:]
    return options, lines


def _tree(folder: Path) -> dict[str, bytes]:
    files = sorted((*folder.rglob("*.py"), *folder.rglob("*.yaml")))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def _without_blank_ends(lines: list[bytes]) -> bytes:
    while lines and not lines[-1].strip(b" \t\r\n"):
        lines = lines[:-1]
    while lines and not lines[0].strip(b" \t\r\n"):
        lines = lines[1:]
    return b"".join(lines)
