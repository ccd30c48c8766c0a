"""Reports for services: validated by the schemas of their formats, and read back."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
import xmlschema
from hypothesis import example, given
from hypothesis import strategies as st

from fixture_folders import ROOT
from reports import finding, replacing, report, source
from rlint.findings import (
    Applicability,
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
    Related,
    digest_of,
)
from rlint.output import ReportOptions, RulePage, reporter
from rlint.parsing.positions import Positions
from rlint.run_data import HiddenFindings, Report

SCHEMAS = ROOT / "tests" / "schemas"
TEXT = "x = cat(x)\ny = \u65e5\U0001f600(y)\n"
PAGE = RulePage(
    "RL101",
    "concat-grown-buffer",
    "buffers",
    "A buffer that grows.",
    "A buffer that grows.\n\n## What it does\nFlags\nbuffers.\n\n## Fix safety\nSafe.\n",
    "https://example.org/a",
)
SAFE = finding(TEXT, "cat(x)", fix=replacing(TEXT, "cat(x)", "z"), advice="Use a list")
UNSAFE = finding(
    TEXT,
    "(y)",
    "RL201",
    chain=("a.py:1 while True",),
    fix=replacing(TEXT, "(y)", "", Applicability.UNSAFE, "it moves", "Move it"),
)
BROKEN = Problem("sub dir/b.py", "SyntaxError: invalid syntax", 3, 4, "is it Python 2?")
BUG = Problem("c.py", "rlint failed", is_bug=True)


@pytest.fixture(scope="module")
def sarif_schema() -> Any:
    """Checks against the schema of SARIF 2.1.0, formats of texts included."""
    schema = json.loads((SCHEMAS / "sarif-2.1.0.json").read_text())
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema, format_checker=jsonschema.FormatChecker())


def shown(format_: str, found: Report, options: ReportOptions | None = None) -> str:
    """A report in one format."""
    return reporter(format_)(found, options or ReportOptions())


def full_report() -> Report:
    """A report with all kinds of content."""
    hidden = (
        HiddenFindings(finding(TEXT, "x"), in_source=True, reason="suppressed by a comment"),
        HiddenFindings(finding(TEXT, "x = "), in_source=False, reason="listed in known.json"),
    )
    base = report(SAFE, UNSAFE, problems=(BROKEN, BUG), sources=(source(TEXT),))
    return Report(base.findings, base.problems, 1, {"agent.py": source(TEXT)}, {}, hidden)


def run_of(found: Report, validator: Any) -> dict[str, Any]:
    """The run of a valid SARIF log."""
    log = json.loads(
        shown("sarif", found, ReportOptions(measured={"RL101": "2× as fast"}, pages={"RL101": PAGE}))
    )
    validator.validate(log)
    (run,) = log["runs"]
    return dict(run)


def test_sarif_is_valid_and_complete(sarif_schema: Any) -> None:
    """Rules with their pages, findings with places, and suppressions with reasons."""
    run = run_of(full_report(), sarif_schema)
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["RL101", "RL201"]
    assert rules[0] == {
        "id": "RL101",
        "name": "concat-grown-buffer",
        "shortDescription": {"text": "A buffer that grows."},
        "fullDescription": {"text": "Flags buffers."},
        "help": {"text": PAGE.text, "markdown": PAGE.text},
        "helpUri": "https://example.org/a",
        "defaultConfiguration": {"level": "warning", "enabled": True},
        "properties": {"tags": ["performance", "buffers"], "problem.severity": "warning"},
    }
    results = run["results"]
    assert [rules[one["ruleIndex"]]["id"] for one in results] == [one["ruleId"] for one in results]
    kinds = [[each["kind"] for each in one["suppressions"]] for one in results]
    assert sorted(kinds) == [[], [], ["external"], ["inSource"]]
    place = next(one for one in results if one["ruleId"] == "RL201")["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "agent.py", "uriBaseId": "%SRCROOT%"}
    # `columnKind` says that the letter beyond the basic plane is one column
    assert run["columnKind"] == "unicodeCodePoints"
    assert place["region"] == {"startLine": 2, "startColumn": 7, "endLine": 2, "endColumn": 10}
    base = run["originalUriBaseIds"]["%SRCROOT%"]["uri"]
    assert base == Path.cwd().as_uri() + "/"
    assert len({one["partialFingerprints"]["rlintFinding/v1"] for one in results}) == 4
    properties = next(one for one in results if "fixes" in one and one["ruleId"] == "RL201")["properties"]
    assert properties == {
        "heat": "hot",
        "heatChain": ["a.py:1 while True"],
        "confidence": "certain",
        "applicability": "unsafe",
    }


def test_sarif_ranks_findings_and_shows_their_places(sarif_schema: Any) -> None:
    """Likely findings are notes with a lower rank than certain ones; related places and the chain have
    lines.
    """
    places = (Related("agent.py", Position(1, 1), Position(1, 2), "and here"),)
    chain = ("train.py:3 for step in range(n)", "Agent.act")
    sure = replace(SAFE, chain=chain, related=places, impact=Impact(ImpactLevel.HIGH, "saves 1 ms"))
    likely = replace(UNSAFE, chain=(), confidence=Confidence.LIKELY, assumption="`d` is an accelerator")
    first, second = run_of(report(sure, likely, sources=(source(TEXT),)), sarif_schema)["results"]
    assert (first["level"], second["level"]) == ("warning", "note")
    assert first["rank"] > second["rank"]
    assert second["message"]["text"].endswith(" (if `d` is an accelerator)")
    (place,) = first["relatedLocations"]
    assert place["physicalLocation"]["region"]["startLine"] == 1
    assert place["message"] == {"text": "and here"}
    (flow,) = first["codeFlows"]
    loop, function, here = flow["threadFlows"][0]["locations"]
    assert loop["location"]["physicalLocation"]["artifactLocation"]["uri"] == "train.py"
    assert loop["location"]["message"] == {"text": "for step in range(n)"}
    assert function["location"] == {"message": {"text": "Agent.act"}}
    assert here["location"] == first["locations"][0]
    assert "codeFlows" not in second
    assert "relatedLocations" not in second


def test_sarif_shows_what_could_not_be_done(sarif_schema: Any) -> None:
    """Errors are notifications of the invocation, which failed only if nothing was checked."""
    (invocation,) = run_of(full_report(), sarif_schema)["invocations"]
    assert invocation["executionSuccessful"] is True
    broken, bug = invocation["toolExecutionNotifications"]
    assert (broken["descriptor"]["id"], bug["descriptor"]["id"]) == ("invalid-file", "internal-error")
    assert broken["message"]["text"] == "SyntaxError: invalid syntax (is it Python 2?)"
    assert broken["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "sub%20dir/b.py", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 3, "startColumn": 4},
    }
    (invocation,) = run_of(report(problems=(BROKEN,), checked=0), sarif_schema)["invocations"]
    assert invocation["executionSuccessful"] is False


def test_sarif_of_nothing(sarif_schema: Any) -> None:
    """A clean run has no results, which closes the alerts of a service."""
    run = run_of(report(), sarif_schema)
    assert (run["results"], run["invocations"][0]["executionSuccessful"]) == ([], True)


def test_sarif_messages_hold_no_links_by_accident(sarif_schema: Any) -> None:
    """Code that looks like a link of the standard is shown as code."""
    one = finding(TEXT, "x", message="`rows[i](x)` and `a[0]` are slow")
    (result,) = run_of(report(one, sources=(source(TEXT),)), sarif_schema)["results"]
    assert result["message"]["text"] == r"`rows\[i\](x)` and `a[0]` are slow"


def applied(text: str, change: dict[str, Any]) -> str:
    """The text after a SARIF change, applied by lines and columns only."""
    positions = Positions(text)

    def offset(line: int, column: int) -> int:
        return positions.line_start(line) + column - 1

    for one in reversed(change["replacements"]):
        region = one["deletedRegion"]
        start = offset(region["startLine"], region["startColumn"])
        end = offset(region["endLine"], region["endColumn"])
        text = text[:start] + one["insertedContent"]["text"] + text[end:]
    return text


@given(
    text=st.text("a\n\r\u65e5\U0001f600\t\x0c '", min_size=1, max_size=30),
    places=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=3),
    new=st.text("b\n\U0001f600", max_size=4),
)
def test_sarif_fixes_are_exact(sarif_schema: Any, text: str, places: list[tuple[int, int]], new: str) -> None:
    """Applying a fix by its regions gives the result of `rlint fix`."""
    text = text.replace("\r", "\r\n").replace("\r\n\n", "\r\n")
    edits: list[Edit] = []
    for start, end in sorted({(min(pair), max(pair)) for pair in places}):
        if end <= len(text) and (not edits or start > edits[-1].end):
            edits.append(Edit(start, end, new))
    if not edits:
        return
    expected = text
    for edit in reversed(edits):
        expected = expected[: edit.start] + edit.text + expected[edit.end :]
    one = finding(text, text[0], fix=Fix("Do it", Applicability.SAFE, tuple(edits)))
    (result,) = run_of(report(one, sources=(source(text),)), sarif_schema)["results"]
    assert applied(text, result["fixes"][0]["artifactChanges"][0]) == expected


def test_sarif_fixes_of_several_files_are_whole_or_missing(sarif_schema: Any) -> None:
    """A fix is given completely; if another file has changed, there is none."""
    other = "from agent import x\n"
    for digest, files in ((digest_of(other), ["agent.py", "b.py"]), ("0" * 16, [])):
        other_edits = (OtherFileEdits("b.py", (Edit(18, 19, "z"),), digest),)
        fix = Fix("Rename it", Applicability.UNSAFE, (Edit(0, 1, "z"),), other_edits=other_edits)
        found = report(finding(TEXT, "x", fix=fix), sources=(source(TEXT), source(other, "b.py")))
        (result,) = run_of(found, sarif_schema)["results"]
        changes = [each for one in result.get("fixes", []) for each in one["artifactChanges"]]
        assert [change["artifactLocation"]["uri"] for change in changes] == files
        assert not changes or applied(other, changes[1]) == "from agent import z\n"


@given(st.text(st.characters(exclude_characters="/\0"), min_size=1, max_size=12))
def test_sarif_names_of_files_are_uris(sarif_schema: Any, name: str) -> None:
    """File names with spaces, colons, percent signs and letters of any script are decoded correctly."""
    name = "src/" + name.encode("utf-8", "replace").decode()
    (result,) = run_of(report(finding("x\n", "x", path=name)), sarif_schema)["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert re.fullmatch(r"[A-Za-z0-9_.~/%-]+", uri)
    assert unquote(uri) == name


@pytest.fixture(scope="module")
def junit_schemas() -> list[xmlschema.XMLSchema]:
    """The schemas of Jenkins and of Ant: each requires attributes that the other does not."""
    return [xmlschema.XMLSchema(SCHEMAS / name) for name in ("junit-10.xsd", "JUnit.xsd")]


@pytest.mark.parametrize(
    "found", [report(), report(SAFE), full_report(), report(problems=(BROKEN,), checked=0)]
)
def test_junit_is_valid(found: Report, junit_schemas: list[xmlschema.XMLSchema], tmp_path: Path) -> None:
    """A suite for each file with correct counts; a passed test if there are no findings."""
    (tmp_path / "report.xml").write_text(shown("junit", found), encoding="utf-8")
    for schema in junit_schemas:
        schema.validate(tmp_path / "report.xml")
    suites = junit_schemas[0].to_dict(tmp_path / "report.xml")["testsuite"]
    names = [suite["@name"] for suite in suites]
    assert names == (sorted({each.path for each in (*found.findings, *found.problems)}) or ["rlint"])
    tests = sum(len(suite["testcase"]) for suite in suites)
    assert tests == max(1, len(found.findings) + len(found.problems))
    assert sum(int(suite["@failures"]) for suite in suites) == len(found.findings)
    assert sum(int(suite["@errors"]) for suite in suites) == len(found.problems)


@given(st.text(min_size=1, max_size=8))
@example(" ")
def test_junit_survives_any_text(junit_schemas: list[xmlschema.XMLSchema], text: str) -> None:
    """Control characters, lone surrogates and non-characters are invalid in XML, and are escaped."""
    one = finding("x\n", "x", message=text, path=f"a{text}.py", advice=text, chain=(text,))
    problem = Problem(text, text, hint=text)
    data = shown("junit", report(one, problems=(problem,))).encode("utf-8")
    for schema in junit_schemas:
        schema.validate(data.decode())


def test_gitlab_has_what_merge_requests_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """Severity follows heat; paths are relative to the project, fingerprints are unique."""
    cold = finding(TEXT, "x = ", heat=Heat.COLD)
    entries = json.loads(
        shown("gitlab", report(SAFE, UNSAFE, cold, problems=(BROKEN,), sources=(source(TEXT),)))
    )
    assert [one["severity"] for one in entries] == ["major", "major", "info", "critical"]
    assert len({one["fingerprint"] for one in entries}) == 4
    first = entries[0]
    assert first["check_name"] == "RL101"
    assert first["description"] == "concat-grown-buffer: `states` is copied whole. Use a list"
    assert first["location"] == {
        "path": "agent.py",
        "positions": {"begin": {"line": 1, "column": 5}, "end": {"line": 1, "column": 11}},
        "lines": {"begin": 1, "end": 1},
    }
    monkeypatch.setenv("CI_PROJECT_DIR", str(Path.cwd().parent))
    (one,) = json.loads(shown("gitlab", report(SAFE)))
    assert one["location"]["path"] == f"{Path.cwd().name}/agent.py"
    monkeypatch.setenv("CI_PROJECT_DIR", "/elsewhere")
    assert json.loads(shown("gitlab", report(SAFE)))[0]["location"]["path"] == "agent.py"


def test_azure_commands() -> None:
    """A warning at the place, an error for files that could not be checked; commands cannot be forged."""
    forged = finding("x\n", "x", path="a;b].py", message="100%\r\n##vso[task.complete]", advice="x")
    first, second = shown("azure", report(forged, problems=(BUG,))).splitlines()
    here = Path.cwd()
    assert first == (
        f"##vso[task.logissue type=warning;sourcepath={here}/a%3Bb%5D.py;linenumber=1;columnnumber=1;"
        "code=RL101;]100%AZP25%0D%0A##vso[task.complete] (x)"
    )
    assert second == f"##vso[task.logissue type=error;sourcepath={here}/c.py;code=invalid-file;]rlint failed"


@pytest.mark.parametrize("format_", ["json", "gitlab", "sarif"])
def test_fingerprints_survive_moved_lines(format_: str) -> None:
    """A finding keeps its fingerprint when lines above it change."""

    def marks(text: str) -> set[str]:
        found: list[Finding] = [finding(text, "cat(x)"), finding(text, "(y)", "RL201")]
        return set(re.findall(r"[0-9a-f]{32}", shown(format_, report(*found, sources=(source(text),)))))

    assert len(marks(TEXT)) == 2
    assert marks(TEXT) == marks("# a\n\n" + TEXT.replace("\n", "  # b\n", 1))
    assert marks(TEXT) != marks(TEXT.replace("y = ", "z = "))
