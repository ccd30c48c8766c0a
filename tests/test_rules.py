"""Every rule against its fixture folder. CONTRIBUTING.md says what the files in it mean."""

from __future__ import annotations

import ast
import functools
import io
import re
import tokenize
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import pytest

import program_variants
from fixture_folders import (
    FIXTURES,
    ROOT,
    RULES,
    Case,
    Expected,
    cases_of,
    default_codes,
    render_findings,
    rule_folders,
    safety_of,
)
from rlint.evidence import recorded
from rlint.evidence.impact import saving_of
from rlint.findings import Finding, Heat
from rlint.registry import catalogue
from rlint.registry.catalogue import RuleEntry
from workspaces import Workspace

Build = Callable[[Mapping[str, bytes]], Workspace]

every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda entry: entry.name)
every_fixing_rule = pytest.mark.parametrize(
    "rule", [entry for entry in RULES if entry.fixes != "none"], ids=lambda entry: entry.name
)
every_advising_rule = pytest.mark.parametrize(
    "rule", [entry for entry in RULES if entry.fixes == "none"], ids=lambda entry: entry.name
)
every_case = pytest.mark.parametrize(
    "case", [case for folder in rule_folders() for case in cases_of(folder)], ids=lambda case: case.id
)
CLAIM = re.compile(r"(time|cpu|mem|alloc|sync|exp)(:[a-z]+)?")
SEED = re.compile(r"S[0-4]\.\S+")
ALL_CODES = frozenset(entry.code for entry in RULES)


def read(rule: RuleEntry, name: str) -> bytes:
    """A file of the rule's folder."""
    return (FIXTURES / rule.name / name).read_bytes()


def fixed_text(rule: RuleEntry) -> bytes:
    """The rule's `before.py` after its fixes."""
    return read(rule, "before.py" if rule.fixes == "none" else "after.py")


def code_of(case: Case) -> str:
    """The code of the rule that the case is about."""
    return next(entry.code for entry in RULES if entry.name == case.rule)


@pytest.fixture
def before(rule: RuleEntry, workspace: Build) -> Workspace:
    """The rule's `before.py` in a folder of its own."""
    return workspace({"before.py": read(rule, "before.py")})


# --- the house is in order ---


def place_of(rule: RuleEntry) -> Path:
    """Return the module of a rule, or its package if it has modules of its own."""
    assert rule.path is not None
    return rule.path.parent if rule.path.name == "__init__.py" else rule.path


def test_there_are_rules() -> None:
    """The catalogue is not empty: otherwise every test below would pass."""
    assert RULES
    places = [
        path for path in ROOT.glob("rules/*/rl*") if path.suffix == ".py" or (path / "__init__.py").is_file()
    ]
    assert [place_of(entry) for entry in RULES] == sorted(
        places, key=lambda path: path.name.partition("_")[0]
    )


def test_every_rule_has_a_folder_and_every_folder_a_rule() -> None:
    """A rule without evidence, or evidence without a rule, is noticed."""
    assert {entry.name for entry in RULES} == {folder.name for folder in rule_folders()}


@every_rule
def test_the_folder_is_complete(rule: RuleEntry) -> None:
    """A rule has fixtures with the pattern, its look-alikes and further forms, with and without findings."""
    present = {path.name for path in (FIXTURES / rule.name).iterdir()}
    assert {"before.py", "clean.py", "cases"} <= present
    cases = cases_of(FIXTURES / rule.name)
    assert [case for case in cases if case.after is not None or case.finding is not None]
    assert [case for case in cases if case.after is None and case.finding is None]


@every_rule
def test_the_class_says_what_the_file_name_says(rule: RuleEntry) -> None:
    """The code and the name in a report are those of the rule's file."""
    place = place_of(rule)
    assert place.stem == f"{rule.code.lower()}_{rule.name.replace('-', '_')}"
    assert place.parent.name == rule.family
    [loaded] = catalogue.load([rule.code])
    assert (loaded.code, loaded.name, loaded.opt_in) == (rule.code, rule.name, rule.declares_opt_in)
    assert loaded.claims == rule.claims
    classes = [node for node in ast.parse(rule.path.read_bytes()).body if isinstance(node, ast.ClassDef)]
    assert [node.name.lower() for node in classes] == [rule.name.replace("-", "")]


@every_rule
def test_the_class_data_are_of_the_known_words(rule: RuleEntry) -> None:
    """Selection, ranking and measuring depend on the declarations."""
    [loaded] = catalogue.load([rule.code])
    assert loaded.visits
    assert all(issubclass(node_type, ast.AST) for node_type in loaded.visits)
    assert isinstance(loaded.heat, Heat)
    assert all(SEED.fullmatch(seed) for seed in loaded.seeds)
    assert all(CLAIM.fullmatch(claim) for claim in loaded.claims)


@every_rule
def test_the_family_names_the_codes_of_its_rules(rule: RuleEntry) -> None:
    """`--select RL2` selects a family, no more and no less."""
    family = ast.get_docstring(ast.parse((place_of(rule).parent / "__init__.py").read_bytes()))
    assert family is not None
    assert re.match(rf"{rule.code[:3]}xx: ", family)


# --- before.py, findings.txt, after.py ---


@every_rule
def test_findings_are_the_expected_ones(rule: RuleEntry, before: Workspace, expected: Expected) -> None:
    """The findings of `rlint check` for the pattern equal findings.txt, including columns."""
    findings = [
        finding for finding in before.findings(default_codes() | {rule.code}) if finding.code == rule.code
    ]
    assert findings, "the rule does not find its own pattern; `rlint explain before.py:LINE --all` says why"
    expected.compare(FIXTURES / rule.name / "findings.txt", render_findings(findings))


@every_rule
def test_findings_are_well_formed(rule: RuleEntry, before: Workspace) -> None:
    """A message is a fact, a title an imperative, an unsafe fix has a reason, and every place exists."""
    text = read(rule, "before.py").decode()
    lines = text.splitlines()
    for finding in before.findings({rule.code}):
        assert (finding.code, finding.name) == (rule.code, rule.name)
        assert finding.start < finding.end
        assert finding.first_line <= finding.start.line <= finding.end.line <= len(lines)
        assert finding.end.column <= len(lines[finding.end.line - 1]) + 1
        assert finding.message == finding.message.strip()
        assert not finding.message.endswith(".")
        assert bool(finding.chain) == (finding.heat > Heat.COLD)
        assert finding.workload in measured_workloads(rule.code)
        if finding.fix is None:
            assert finding.advice, f"line {finding.start.line}: neither a fix nor advice"
            continue
        assert finding.fix.title[0].isupper()
        assert not finding.fix.title.endswith(".")
        assert finding.fix.edits
        assert all(0 <= edit.start <= edit.end <= len(text) for edit in finding.fix.edits)
        assert bool(finding.fix.reason) == (safety_of(finding) == "unsafe")


@functools.cache
def measured_workloads(code: str) -> frozenset[str | None]:
    """Return the workloads with a measured saving, which a finding of a rule may name; None names none."""
    saving = saving_of(recorded.of(catalogue.find(code)))
    return frozenset({None, *(one.workload for one in saving.workloads)} if saving is not None else {None})


@every_fixing_rule
def test_the_fix_makes_the_expected_program(rule: RuleEntry, before: Workspace, expected: Expected) -> None:
    """`rlint fix --unsafe-fixes` turns before.py into after.py, byte for byte."""
    checked = before.checked({rule.code})
    fixable = [finding for finding in checked.findings if finding.fix]
    applied = checked.fix()
    if fixable:
        assert applied, "no fix was applied"
    expected.compare(FIXTURES / rule.name / "after.py", before.content()["before.py"])


@every_advising_rule
def test_advice_can_be_followed(rule: RuleEntry, before: Workspace, workspace: Build) -> None:
    """For a rule with advice only, after.py is the program after following the advice, and has no
    findings.
    """
    assert before.fix({rule.code}) == ()
    after = read(rule, "after.py")
    assert after != read(rule, "before.py")
    compile(after, "after.py", "exec")
    found = workspace({"after.py": after}).findings({rule.code})
    assert render_findings(found).decode() == ""


@pytest.mark.parametrize(
    "rule",
    [each for each in RULES if (FIXTURES / each.name / "advised.py").is_file()],
    ids=lambda each: each.code,
)
def test_further_advice_can_be_followed(rule: RuleEntry, workspace: Build) -> None:
    """If a rule with fixes also has advice that was measured, `advised.py` is the program after both, and has
    no findings.
    """
    assert rule.fixes != "none"
    advised = read(rule, "advised.py")
    assert advised != read(rule, "after.py")
    compile(advised, "advised.py", "exec")
    found = workspace({"advised.py": advised}).findings({rule.code})
    assert render_findings(found).decode() == ""


@every_rule
def test_fixing_is_done_once(rule: RuleEntry, before: Workspace) -> None:
    """Fixing again changes nothing, no fixable finding is left, and there are no new findings."""
    found = before.findings(ALL_CODES)
    advice = [finding for finding in found if finding.code == rule.code and not finding.fix]
    before.fix({rule.code})
    fixed = before.content()
    compile(fixed["before.py"], "after.py", "exec")
    again = before.checked(ALL_CODES)
    assert again.fix(only=rule.code) == ()
    assert before.content() == fixed

    left = again.findings
    assert [finding for finding in left if finding.code == rule.code and finding.fix] == []
    assert len([finding for finding in left if finding.code == rule.code]) <= len(advice)
    assert new_kinds(found, left) == {}


@every_rule
def test_safe_fixes_alone_leave_the_others(rule: RuleEntry, before: Workspace) -> None:
    """Without `--unsafe-fixes`, exactly the safe fixes are applied."""
    checked = before.checked({rule.code})
    found = checked.findings
    applied = checked.fix(unsafe=False)
    assert {safety_of(finding) for finding in applied} <= {"safe"}
    left = before.findings({rule.code})
    assert Counter(map(safety_of, left))["safe"] == 0
    assert Counter(map(safety_of, left))["unsafe"] <= Counter(map(safety_of, found))["unsafe"]


def new_kinds(found: tuple[Finding, ...], left: tuple[Finding, ...]) -> dict[str, int]:
    """The rules with more findings than before, and how many more."""
    return dict(Counter(finding.code for finding in left) - Counter(finding.code for finding in found))


# --- clean.py ---


@every_rule
def test_look_alikes_are_left_alone(rule: RuleEntry, workspace: Build) -> None:
    """Code that only resembles the pattern has no finding, of this rule or of another."""
    content = read(rule, "clean.py")
    allowed: set[str] = set()
    if match := re.match(rb"# allows: (.+)", content):
        allowed = {code.strip().decode() for code in match.group(1).split(b",")}
        assert allowed <= ALL_CODES - {rule.code}
    found = workspace({"clean.py": content}).findings(default_codes() | {rule.code})
    assert render_findings(finding for finding in found if finding.code not in allowed).decode() == ""
    assert allowed <= {finding.code for finding in found}, "the first line allows more than is found"


@every_rule
def test_look_alikes_say_why(rule: RuleEntry) -> None:
    """There are at least six look-alikes, and each says in a comment or docstring why it is not an
    instance.
    """
    text = read(rule, "clean.py").decode()
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    look_alikes = [node for node in ast.parse(text).body if isinstance(node, definitions)]
    assert len(look_alikes) >= 6
    comments = {
        token.start[0]
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
    }
    for node in look_alikes:
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
        explained = comments & set(range(first, (node.end_lineno or node.lineno) + 1))
        assert explained or ast.get_docstring(node), f"line {node.lineno}: {node.name} does not say why"


# --- cases/ ---


def words_of(finding: Finding) -> str:
    """What a finding says: its message, its assumption, its advice, why it matters little, how many items are
    assumed, and what it says of related places.
    """
    little = f"low impact: {finding.minor}" if finding.minor else ""
    much = f"{finding.stated.level.name.lower()} impact: {finding.stated.basis}" if finding.stated else ""
    few = f"assuming {finding.size} items" if finding.is_size_assumed else ""
    places = (place.message for place in finding.related)
    assumed = f"(if {finding.assumption})" if finding.assumption else ""
    return "\n".join([finding.message, assumed, finding.advice or "", little, much, few, *places])


@every_case
def test_case(case: Case, workspace: Build) -> None:
    """A further form of the pattern is fixed, or not flagged, as the case file says."""
    code = code_of(case)
    program = workspace(case.given)
    checked = program.checked({code})
    found = checked.findings
    assert {finding.workload for finding in found} <= measured_workloads(code)
    if case.finding is not None:
        assert found, "no finding"
        assert {safety_of(finding) for finding in found} == {case.finding}
        assert all((case.says or "") in words_of(finding) for finding in found), render_findings(
            found
        ).decode()
    elif case.after is None:
        assert render_findings(found).decode() == ""
    else:
        assert found, "no finding"

    applied = checked.fix(unsafe=case.unsafe)
    wanted = case.after if case.after is not None else case.given
    assert as_text(program.content()) == as_text(wanted)
    assert program.content() == wanted

    if applied:
        checked = program.checked({code})
        assert checked.fix(unsafe=case.unsafe) == ()
    applicable = {"safe", "unsafe"} if case.unsafe else {"safe"}
    left = [finding for finding in checked.findings if safety_of(finding) in applicable]
    assert render_findings(left).decode() == ""


def as_text(files: Mapping[str, bytes]) -> dict[str, str]:
    """The files as text with readable differences."""
    return {name: content.decode("utf-8", "replace") for name, content in files.items()}


# --- everything together ---


def programs() -> list[tuple[str, dict[str, bytes]]]:
    """Return all programs of all rules' folders."""
    found: list[tuple[str, dict[str, bytes]]] = []
    for folder in rule_folders():
        found += [
            (f"{folder.name}-{path.stem}", {path.name: path.read_bytes()}) for path in folder.glob("*.py")
        ]
        found += [(case.id, case.given) for case in cases_of(folder)]
    return found


def sampled(name: str, step: int) -> Collection[pytest.MarkDecorator]:
    """Leave all but one in `step` programs, the same ones each time, to the slow tests."""
    return () if zlib.crc32(name.encode()) % step == 0 else (pytest.mark.slow,)


@pytest.mark.parametrize(
    "program", [pytest.param(files, id=name, marks=sampled(name, 8)) for name, files in programs()]
)
def test_all_rules_together_come_to_an_end(program: dict[str, bytes], workspace: Build) -> None:
    """With every rule on and every fix applied, the result parses and a second run does nothing. A fix leads
    to findings of another rule only where the program says so: `# leads to: RL201`.
    """
    expected = {
        each.decode() for text in program.values() for each in re.findall(rb"# leads to: (RL\d+)", text)
    }
    tried = workspace(program)
    checked = tried.checked(ALL_CODES)
    applied = checked.fix()
    fixed = tried.content()
    for name, content in fixed.items():
        if name.endswith(".py"):
            compile(content, name, "exec")
    if not applied:
        assert fixed == program
        return  # a second run would receive the same as the first
    again = tried.checked(ALL_CODES)
    assert again.fix() == ()
    assert tried.content() == fixed
    assert set(new_kinds(checked.findings, again.findings)) == expected


@pytest.mark.parametrize(
    ("rule", "variant"),
    [
        pytest.param(rule, variant, id=name, marks=sampled(name, 3))
        for rule in RULES
        for variant in program_variants.VARIANTS
        for name in [f"{variant.__name__}-{rule.name}"]
    ],
)
def test_the_same_program_written_otherwise(
    rule: RuleEntry, variant: Callable[[str], str], workspace: Build
) -> None:
    """Findings and fixes do not depend on line ends, indentation and the names of imports."""
    text = read(rule, "before.py").decode()
    assert "\r" not in text
    assert "\t" not in text
    written = variant(text)
    compile(written, "before.py", "exec")
    other = workspace({"before.py": written.encode()})
    checked = other.checked({rule.code})
    expected = re.findall(rf"^\d+:\d+ {rule.code} (\w+) ", read(rule, "findings.txt").decode(), re.MULTILINE)
    assert [safety_of(finding) for finding in checked.findings] == expected

    checked.fix()
    fixed = other.content()["before.py"]
    compile(fixed, "before.py", "exec")
    after = fixed_text(rule).decode()
    if variant in (program_variants.crlf, program_variants.unterminated):
        assert fixed.decode() == variant(after)
    elif variant is program_variants.tabs:
        assert ast.dump(ast.parse(fixed)) == ast.dump(ast.parse(after))


@every_rule
def test_a_byte_order_mark_stays(rule: RuleEntry, workspace: Build) -> None:
    """A file with a byte-order mark is checked and fixed like any other."""
    program = workspace({"before.py": b"\xef\xbb\xbf" + read(rule, "before.py")})
    program.fix({rule.code})
    assert program.content()["before.py"] == b"\xef\xbb\xbf" + fixed_text(rule)


@every_rule
def test_a_file_is_judged_the_same_whatever_files_are_next_to_it(rule: RuleEntry, workspace: Build) -> None:
    """A file has the same findings when checked alone or with an unrelated file."""
    content = {"before.py": read(rule, "before.py")}
    alone = workspace(content).findings({rule.code})
    adjacent = workspace({**content, "unrelated.py": b"def unrelated():\n    return 1\n"})
    assert adjacent.findings({rule.code}) == alone


LONGEST = 160
"""Lines of a fixture's program; a rule with many look-alikes has them all in one `clean.py`."""


def test_fixture_programs_are_within_reading_length() -> None:
    """Fixtures are short enough to read."""
    too_long = {
        path.relative_to(ROOT).as_posix(): length
        for folder in rule_folders()
        for path in sorted(Path(folder).rglob("*.py"))
        if (length := len(path.read_bytes().splitlines())) > LONGEST
    }
    assert too_long == {}
