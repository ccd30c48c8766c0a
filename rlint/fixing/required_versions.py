"""Library versions that the new code of fixes and the code in advice require, whatever the rule."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rlint.edit.deferred_edit import new_code
from rlint.findings import Requirement
from rlint.models import since
from rlint.models.canonical_names import canonical
from rlint.models.vocabulary import SHORT_NAMES

if TYPE_CHECKING:
    from rlint.findings import Finding, Fix
    from rlint.models.since import Introduced
    from rlint.semantics.model import SemanticModel

_DOTTED = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_METHOD = re.compile(r"\.([A-Za-z_]\w*)")
_KEYWORD = re.compile(r"\b([A-Za-z_]\w*)\s*=(?!=)")
_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r"`([^`]+)`")


def with_requirements(findings: Sequence[Finding], model: SemanticModel) -> list[Finding]:
    """Return the findings with the versions that their fixes and their advice require."""
    return [_with_requirements(finding, model) for finding in findings]


def _with_requirements(finding: Finding, model: SemanticModel) -> Finding:
    if finding.fix is not None and (needed := _of_fix(finding.fix, model)):
        finding = replace(finding, fix=replace(finding.fix, needs=needed))
    if finding.advice is not None and (needed := _of_advice(finding, finding.advice, model)):
        finding = replace(finding, advice_needs=needed)
    return finding


def _of_fix(fix: Fix, model: SemanticModel) -> tuple[Requirement, ...]:
    """Return the requirements of a fix's new code that the replaced code does not have."""
    text = model.syntax.text
    codes = [(new_code(edit), text[edit.start : edit.end]) for edit in fix.edits]
    codes += [(new_code(edit), "") for other in fix.other_edits for edit in other.edits]
    if not any(_may_need(code) for code, _ in codes):
        return ()
    found = {
        token: Requirement(since.PYTHON, version, token)
        for token, version in since.SYNTAX.items()
        if any(token in code for code, _ in codes) and not any(token in old for _, old in codes)
    }
    new = " ".join(code for code, _ in codes)
    replaced = {word for _, old in codes for word in _WORD.findall(old)}
    around = [call for edit in fix.edits for call in _calls_around(edit.start, edit.end, model)]
    named = {**_imported(model), **_imports_in(new)}
    for each in _needed(new, named, around, model):
        if each.what.rpartition(".")[2].strip("=") not in replaced:
            found.setdefault(each.what, each)
    return tuple(found.values())


def _of_advice(finding: Finding, advice: str, model: SemanticModel) -> tuple[Requirement, ...]:
    """Return the requirements of the code in advice, which is the text in backticks."""
    code = " ".join(_QUOTED.findall(advice))
    if not _may_need(code):
        return ()
    around = [
        call
        for call in _calls_on(finding.start.line, finding.start.line, model)
        for start, end in [model.span_of(call)]
        if start <= finding.start < end
    ]
    here = set(_WORD.findall(" ".join(model.source.text(call) for call in around)))
    needed = _needed(code, _imported(model), around, model)
    found = {each.what: each for each in needed if each.what.rpartition(".")[2].strip("=") not in here}
    return tuple(found.values())


def _may_need(code: str) -> bool:
    known = since.words_of_newer_code()
    return any(token in code for token in since.SYNTAX) or any(word in known for word in _WORD.findall(code))


def _needed(
    code: str, named: dict[str, str], around: Iterable[ast.Call], model: SemanticModel
) -> Iterator[Requirement]:
    """Yield the requirements of the names and keywords in a piece of code. A keyword counts for a function
    that the code names itself, or for one of the calls `around` it.
    """
    called: list[Introduced] = [known for call in around if (known := _known(call.func, model)) is not None]
    for dotted in _DOTTED.findall(code):
        root, dot, rest = dotted.partition(".")
        known = since.functions().get(canonical(named.get(root, SHORT_NAMES.get(root, root)) + dot + rest))
        if known is not None:
            called.append(known)
            if known.version:
                yield Requirement(known.library, known.version, dotted)
    for name in _METHOD.findall(code):
        known = since.methods().get(name)
        if known is not None:
            called.append(known)
            if known.version and not _is_function(name, code, named):
                yield Requirement(known.library, known.version, f".{name}")
    for keyword in _KEYWORD.findall(code):
        for known in called:
            for word, version in known.keywords:
                if word == keyword:
                    yield Requirement(known.library, version, f"{word}=")


def _known(function: ast.expr, model: SemanticModel) -> Introduced | None:
    qualified = model.analysis.names.qualified(function)
    known = since.functions().get(canonical(qualified)) if qualified is not None else None
    if known is None and isinstance(function, ast.Attribute):
        return since.methods().get(function.attr)
    return known


def _is_function(name: str, code: str, named: dict[str, str]) -> bool:
    """Whether a name after a dot is that of a module's function: `np.integers`, if `np` is imported."""
    found = re.search(rf"(?<![\w.])([A-Za-z_]\w*)(?:\.\w+)*\.{name}\b", code)
    return found is not None and (found[1] in named or found[1] in SHORT_NAMES)


def _calls_around(start: int, end: int, model: SemanticModel) -> list[ast.Call]:
    """Return the calls that contain a part of the text, or the outermost ones within it."""
    found = []
    position = model.syntax.positions.position
    first_line, last_line = position(start).line, position(end).line
    for call in _calls_on(first_line, last_line, model):
        first, last = model.source.span(call)
        if (first <= start and end <= last) or (start <= first and last <= end):
            found.append(call)
    return found


def _calls_on(first: int, last: int, model: SemanticModel) -> list[ast.Call]:
    """Return the calls with code on some lines, in order."""
    by_line = model.once(_calls_by_line, model.syntax.module)
    if first == last:
        return by_line.get(first, [])
    found = {id(call): call for line in range(first, last + 1) for call in by_line.get(line, ())}
    return sorted(found.values(), key=lambda call: (call.lineno, call.col_offset))


def _calls_by_line(module: ast.Module, model: SemanticModel) -> dict[int, list[ast.Call]]:  # noqa: ARG001
    """Return the calls with code on each line."""
    found: dict[int, list[ast.Call]] = {}
    for call in model.syntax.of_type(ast.Call):
        for line in range(call.lineno, (call.end_lineno or call.lineno) + 1):
            found.setdefault(line, []).append(call)
    return found


def _imported(model: SemanticModel) -> dict[str, str]:
    """Return the names that imports anywhere in the file bind: `np` to `numpy`."""
    found: dict[str, str] = {}
    for node in (*model.syntax.of_type(ast.Import), *model.syntax.of_type(ast.ImportFrom)):
        found.update(_bound(node))
    return found


def _imports_in(code: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in code.splitlines():
        if line.lstrip().startswith(("import ", "from ")):
            try:
                statements = ast.parse(line.strip()).body
            except SyntaxError:
                continue
            for node in statements:
                found.update(_bound(node))
    return found


def _bound(node: ast.stmt) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield (alias.asname, alias.name) if alias.asname else (alias.name.partition(".")[0],) * 2
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        for alias in node.names:
            yield alias.asname or alias.name, f"{node.module}.{alias.name}"
