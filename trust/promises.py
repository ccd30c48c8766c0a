"""Tests, on one program, of what rlint promises for any text.

`broken_promises` checks and fixes a program as the command does, and returns the broken promises: nothing
fails, findings are within the text, fixed text is valid Python, keeps encoding and line ends, binds every
name that it reads, and fixing again changes nothing.
"""

from __future__ import annotations

import ast
import builtins
import re
import symtable
import traceback
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rlint import output
from rlint.engine import api
from rlint.findings import Finding, Problem
from rlint.parsing.positions import Positions
from rlint.registry import catalogue
from rlint.run_data import FixReport, Report, Target
from rlint.source.files import Source, source_from_text
from rlint.suppression import suppressions

CODES = frozenset(entry.code for entry in catalogue.catalogue())
FORMATS = ("full", "concise", "json", "sarif", "github", "gitlab", "azure", "junit", "html")
LONE = {"\r\n": re.compile(r"(?<!\r)\n|\r(?!\n)"), "\n": re.compile(r"\r"), "\r": re.compile(r"\n")}
"""Characters that a text with one kind of line end does not have."""


@dataclass(frozen=True)
class Failure:
    """A promise that was broken. `sign` is the same for failures that likely have one cause."""

    kind: str
    sign: str
    detail: str

    @property
    def key(self) -> str:
        """What failures with one cause have in common."""
        return f"{self.kind}:{self.sign}"


def failure_of(kind: str, error: BaseException) -> Failure:
    """An exception as a failure, identified by the place in rlint where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f"{Path(frame.filename).name}:{frame.name}" for frame in frames if _is_own(frame.filename)]
    sign = f"{type(error).__name__} {own[-1] if own else ''}"
    return Failure(kind, sign, "".join(traceback.format_exception(error)))


def broken_promises(files: Mapping[str, bytes], folder: Path, *, formats: bool = True) -> list[Failure]:
    """Check and fix the files of a program, as if they were in `folder`; return the broken promises."""
    sources, targets, failures = [], [], []
    for name, raw in files.items():
        try:
            source = source_from_text(raw, name, folder / name)
        except Exception as error:  # noqa: BLE001 - whatever it is, rlint should have reported it
            failures.append(failure_of("exception", error))
            continue
        if isinstance(source, Problem):
            failures += [bug_of(source)] if source.is_bug else []
            continue
        sources.append(source)
        targets.append(Target(source, source.path, name, CODES))
    if not targets:
        return failures
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            failures += _checked_and_fixed(targets, formats=formats)
        except Exception as error:  # noqa: BLE001 - the same
            failures.append(failure_of("exception", error))
    return failures


def bug_of(problem: Problem) -> Failure:
    """A problem that rlint itself reports as its bug."""
    hint = (problem.hint or "").partition("; ")[2]
    where = re.sub(r'File ".*?([^/"]+)", line \d+', r"\1", hint)
    said = re.sub(r"line \d+|`[^`]*`|'[^']*'|\d+", "…", problem.message)[:90]
    return Failure("bug", f"{said} {where}", f"{problem} {problem.hint}")


def _is_own(filename: str) -> bool:
    return bool(re.search(r"/(rlint|rules)/", filename))


def _checked_and_fixed(targets: list[Target], *, formats: bool) -> Iterator[Failure]:
    fixer = api.Fixer(targets, jobs=1)
    before = fixer.fix(unsafe=False, allowed=lambda _: False)
    report = before.report
    yield from (bug_of(problem) for problem in report.problems if problem.is_bug)
    sources = {target.name: target.source for target in targets if target.source}
    for name, source in sources.items():
        own = [finding for finding in report.findings if finding.path == name]
        yield from _in_text(own, source)
        yield from _hidden(own, source)
    if formats:
        _rendered(report)
    for unsafe in (False, True):
        offered = any(f.fix and (unsafe or f.fix.safety.value == "safe") for f in report.findings)
        if offered:
            yield from _fixed(fixer, targets, unsafe=unsafe)


def _in_text(findings: list[Finding], source: Source) -> Iterator[Failure]:
    """A finding, its fix and its comment are within the text."""
    positions = Positions(source.text)
    lines = len(positions.starts)
    for finding in findings:
        for place in (finding.start, finding.end):
            line = positions.line_text(place.line) if 1 <= place.line <= lines else None
            if line is None or not 1 <= place.column <= len(line) + 1:
                yield Failure("position", finding.code, f"{place} is not in the text: {finding}")
        if not 1 <= finding.first_line <= finding.last_line <= lines:
            yield Failure("position", f"{finding.code} lines", f"{finding}")
        for edit in finding.fix.edits if finding.fix else ():
            if not 0 <= edit.start <= edit.end <= len(source.text):
                yield Failure("position", f"{finding.code} edit", f"{edit} is not in the text: {finding}")


def _hidden(findings: list[Finding], source: Source) -> Iterator[Failure]:
    """`--add-noqa` keeps the lines and the syntax."""
    if not findings or source.notebook is not None:
        return
    text = suppressions.add_noqa(source.text, findings)
    if len(text.splitlines()) != len(source.text.splitlines()):
        yield Failure("noqa", "lines", f"--add-noqa changes the number of lines: {text!r}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the text
            same = ast.dump(ast.parse(text)) == ast.dump(ast.parse(source.text))
    except SyntaxError as error:
        yield Failure("noqa", "syntax", f"{error}: {text!r}")
    else:
        if not same:
            yield Failure("noqa", "meaning", f"--add-noqa changes the program: {text!r}")


def _rendered(report: Report) -> None:
    for name in FORMATS:
        output.reporter(name)(report, output.ReportOptions(unsafe_fixes=True, width=80))
    output.statistics(report, "full", output.ReportOptions())


def _fixed(fixer: api.Fixer, targets: list[Target], *, unsafe: bool) -> Iterator[Failure]:
    done = fixer.fix(unsafe=unsafe)
    yield from (bug_of(problem) for problem in done.report.problems if problem.is_bug)
    kind = "unsafe" if unsafe else "safe"
    output.diff(done.changed)
    texts: dict[str, str] = {}
    for changed in done.changed:
        texts[changed.source.name] = changed.text
        codes = ",".join(sorted({finding.code for finding in changed.applied}))
        for failure in _kept(changed.source, changed.text):
            yield replace(failure, sign=f"{failure.sign} {kind} {codes}")
    if not texts:
        return
    again = _again(targets, texts, unsafe=unsafe)
    if again.changed:
        codes = ",".join(sorted({finding.code for finding in again.applied}))
        shown = "\n".join(f"{each.source.text}\n---- again:\n{each.text}" for each in again.changed)
        yield Failure("idempotence", f"{kind} {codes}", shown)


def _again(targets: list[Target], texts: Mapping[str, str], *, unsafe: bool) -> FixReport:
    """Fix the fixed text again, decoded from its bytes."""
    fixed = []
    for target in targets:
        source = target.source
        assert source is not None
        if target.name in texts:
            try:
                raw = source.encode(texts[target.name])
            except UnicodeEncodeError:
                continue  # is not written, with a message
            read = source_from_text(raw, source.name, source.path)
            assert isinstance(read, Source), f"what was written cannot be read: {read}"
            assert read.text == texts[target.name], "what was written reads as something else"
            source = read
        fixed.append(replace(target, source=source))
    return api.fix(fixed, unsafe=unsafe, jobs=1)


def _kept(source: Source, text: str) -> Iterator[Failure]:
    """Properties of the old text hold for the new one."""
    try:
        raw = source.encode(text)
    except UnicodeEncodeError:
        raw = None
    if raw is not None and raw.startswith(b"\xef\xbb\xbf") != source.raw.startswith(b"\xef\xbb\xbf"):
        yield Failure("encoding", "mark", repr(text))
    for end, others in LONE.items():
        if end in source.text and not others.search(source.text) and others.search(text):
            yield Failure("newlines", repr(end), repr(text))
    problem = _compiled(text)
    if problem is not None and _compiled(source.text) is None:
        yield Failure("syntax", str(problem)[:60], f"{problem}:\n{text}")
    elif problem is None and (new := _unbound(text) - _unbound(source.text)):
        yield Failure("name", "unbound", f"nothing binds {', '.join(sorted(new))}:\n{text}")


def _compiled(text: str) -> Exception | None:
    try:
        compile(text, "program.py", "exec", dont_inherit=True, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return error
    except Warning:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _compiled(text)
    return None


def _unbound(text: str) -> set[str]:
    """The names that a module reads and does not bind. Empty where `import *` may bind any."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if re.search(r"import\s*\(?\s*\*", text):
            return set()
        try:
            tables = [symtable.symtable(text, "program.py", "exec")]
        except (SyntaxError, ValueError, RecursionError):
            return set()
    bound, read = set(dir(builtins)) | {"__file__", "__name__", "__doc__"}, set()
    bound |= {symbol.get_name() for symbol in tables[0].get_symbols() if symbol.is_assigned()}
    bound |= {symbol.get_name() for symbol in tables[0].get_symbols() if symbol.is_imported()}
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_global() and symbol.is_assigned():
                bound.add(symbol.get_name())
            if symbol.is_referenced() and (symbol.is_global() or table.get_type() == "module"):
                read.add(symbol.get_name())
    return read - bound
