"""JUnit XML, which most CI services show: a suite for each file, a failed test for each finding."""

from __future__ import annotations

import re
import socket
from datetime import datetime, timezone
from itertools import groupby
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from rlint.findings import Problem
from rlint.output.parts import with_hint
from rlint.output.terminal import printable

if TYPE_CHECKING:
    from rlint.findings import Finding
    from rlint.output import ReportOptions
    from rlint.run_data import Report

# No XML 1.0 document may contain these, not even escaped; the other forbidden ones are not printable.
_FORBIDDEN = re.compile("[\ufffe\uffff]")


def render(report: Report, options: ReportOptions) -> str:  # noqa: ARG001 - every format takes both
    """Return the findings and the problems, by file; one passed test if there are none."""
    root = ET.Element("testsuites")
    entries: list[Finding | Problem] = [*report.findings, *report.problems]
    entries.sort(key=lambda entry: entry.path)
    started = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
    for number, (path, group) in enumerate(groupby(entries, key=lambda entry: entry.path)):
        _add_suite(root, number, _text(path), [_test(entry) for entry in group], started)
    if not entries:
        _add_suite(root, 0, "rlint", [_case("rlint", "rlint")], started)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _add_suite(root: ET.Element, number: int, name: str, cases: list[ET.Element], started: str) -> None:
    """Add a suite with all attributes that the stricter schemas require."""
    suite = ET.SubElement(
        root,
        "testsuite",
        {
            "name": name if name.strip() else repr(name),  # the schemas want more than blanks
            "package": "rlint",
            "id": str(number),
            "timestamp": started,
            "hostname": socket.gethostname() or "localhost",
            "tests": str(len(cases)),
            "failures": str(sum(case.find("failure") is not None for case in cases)),
            "errors": str(sum(case.find("error") is not None for case in cases)),
            "time": "0.0",
        },
    )
    ET.SubElement(suite, "properties")
    suite.extend(cases)
    ET.SubElement(suite, "system-out")
    ET.SubElement(suite, "system-err")


def _test(entry: Finding | Problem) -> ET.Element:
    """Return a finding as a test that failed, a problem as one that could not be run."""
    if isinstance(entry, Problem):
        case = _case("invalid-file", entry.path, entry.place[len(entry.path) + 1 :])
        said = with_hint(entry)
        place = entry.place[len(entry.path) + 1 :] if entry.cell is not None else str(entry.line or 1)
        _add_outcome(case, "error", "invalid-file", entry.message, place, said)
        return case
    case = _case(f"{entry.code} {entry.name}", entry.path, entry.place)
    more = [f"why hot: {' → '.join(entry.chain)}"] if entry.chain else []
    more += [f"help: {entry.advice}"] if entry.advice else []
    _add_outcome(case, "failure", entry.code, entry.statement, entry.place, entry.statement, *more)
    return case


def _case(name: str, path: str, place: str = "") -> ET.Element:
    named = f"{name} at {place}" if place else name
    return ET.Element("testcase", {"name": _text(named), "classname": _text(path), "time": "0.0"})


def _add_outcome(case: ET.Element, kind: str, type_: str, message: str, place: str, *said: str) -> None:
    outcome = ET.SubElement(case, kind, {"type": type_, "message": _text(message)})
    first, *others = said
    path = case.get("classname", "")
    outcome.text = "\n".join([f"{path}:{place}: {_text(first)}", *map(_text, others)])


def _text(text: str) -> str:
    """Return text that is valid in XML: control characters and other forbidden ones as escapes."""
    return _FORBIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", printable(text))
