"""Check that fixes of programs in other layouts are the same.

    python trust/layouts.py [FOLDER] [--rule list-as-queue] [--layout tight] [--jobs 2] [--show 20]

Takes each program of the fixtures and their cases (or below FOLDER), writes the statements that its fixes
change in other layouts which mean the same, and fixes each finding alone in the original and in the variant.
By `ast`, the two must be equal, or the variant has no fix. It prints, by rule, how often that is so.
"""

from __future__ import annotations

import argparse
import ast
import io
import keyword
import re
import sys
import tempfile
import tokenize
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "trust")]

from promises import CODES  # noqa: E402
from rlint.edit.kept_comments import comments  # noqa: E402
from rlint.engine import api  # noqa: E402
from rlint.findings import Finding  # noqa: E402
from rlint.fixing.apply_fixes import one_pass  # noqa: E402
from rlint.parsing.positions import Positions  # noqa: E402
from rlint.run_data import Target  # noqa: E402
from rlint.source.files import Source, source_from_text  # noqa: E402

Change = tuple[int, int, str]
Meaning = object
OUTCOMES = (
    *("identical", "no fix", "another fix", "not found"),
    *("different", "unparsable", "comment lost"),
)
"""The result of the fix of a finding. Only the last three are wrong: another fix has another title, safety
or reason. Rules have several fixes, for instance if one would lose a comment.
"""
WRONG = frozenset({"different", "unparsable", "comment lost"})
TEXT = ("'note\\n    of two lines'", '"""note\n    of two lines"""')
_STARTS = frozenset("[({'\"~-.")


@dataclass(frozen=True)
class Variant:
    """A program in two layouts that mean the same."""

    layout: str
    original: str
    text: str


@dataclass
class Seen:
    """The results of the fixes of one program in all of its variants."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By code and outcome."""
    wrong: list[str] = field(default_factory=list)
    variants: int = 0


def compare(text: str, layouts: Sequence[str] | None = None, most: int | None = None) -> Seen:
    """Fix a program in all of its variants (the first `most` of each layout)."""
    seen = Seen()
    known: dict[str, list[tuple[Finding, Meaning]]] = {}
    for variant in variants(text, layouts or list(LAYOUTS), most):
        if variant.original not in known:
            known[variant.original] = list(fixed(variant.original))
        seen.variants += 1
        others: dict[tuple[str, int], Finding] = {}
        codes = frozenset(finding.code for finding, _ in known[variant.original])
        for finding in findings_in(variant.text, codes):
            others[_sign(finding, others)] = finding
        signs: dict[tuple[str, int], Finding] = {}
        wanted = dict(known[variant.original])
        for finding in findings_in(variant.original):
            if finding.code not in codes:
                continue
            sign = _sign(finding, signs)
            signs[sign] = finding
            if finding not in wanted:
                continue
            outcome, result = _outcome(finding, others.get(sign), variant.text, wanted[finding])
            seen.counts[finding.code, outcome] += 1
            if outcome in WRONG:
                seen.wrong.append(
                    f"{finding.code} {outcome} ({variant.layout}), {finding.message}\n"
                    f"{variant.text}\n---- is fixed as\n{result}"
                )
    return seen


def _sign(finding: Finding, others: dict[tuple[str, int], Finding]) -> tuple[str, int]:
    """A finding is identified by its code, and its position among those of the same code."""
    return finding.code, sum(code == finding.code for code, _ in others)


def _outcome(before: Finding, finding: Finding | None, text: str, wanted: Meaning) -> tuple[str, str]:
    if finding is None:
        return "not found", ""
    if finding.fix is None:
        return "no fix", ""
    result = one_pass(text, [finding], unsafe=True).text
    meaning = _meaning(result, text)
    if meaning is None:
        return "unparsable", result
    owned = [comment for edit in finding.fix.edits for comment in edit.owns]
    if Counter(comments(text)) - Counter(comments(result)) - Counter(owned):
        return "comment lost", result
    if meaning == wanted:
        return "identical", result
    assert before.fix is not None
    said = [(each.title, each.safety, each.reason) for each in (before.fix, finding.fix)]
    is_another = said[0] != said[1]
    return ("another fix" if is_another else "different"), result


def fixed(text: str) -> Iterator[tuple[Finding, Meaning]]:
    """The findings of a program that have a fix, each with the AST of the program after only this fix."""
    for finding in findings_in(text):
        if finding.fix is not None and not finding.fix.other_edits:
            meaning = _meaning(one_pass(text, [finding], unsafe=True).text, text)
            assert meaning is not None, f"the fix of {finding} leaves no program"
            yield finding, meaning


_known_findings: dict[tuple[str, frozenset[str]], list[Finding]] = {}


def findings_in(text: str, codes: frozenset[str] = CODES) -> list[Finding]:
    """The findings in a program of one file, in order."""
    if (text, codes) not in _known_findings:
        if len(_known_findings) > 4:
            _known_findings.clear()
        path = Path(tempfile.gettempdir(), "rlint-layouts-nowhere", "program.py")
        source = source_from_text(text.encode(), "program.py", path)
        assert isinstance(source, Source), source
        report = api.check([Target(source, path, source.name, codes)], jobs=1)
        _known_findings[text, codes] = sorted(report.findings, key=lambda finding: finding.sort_key)
    return _known_findings[text, codes]


def variants(text: str, layouts: Sequence[str], most: int | None = None) -> Iterator[Variant]:
    """The variants of a program whose statements with fixes are written in other layouts."""
    tree, positions = ast.parse(text), Positions(text)
    spans = [
        (edit.start, edit.end)
        for finding in findings_in(text)
        if finding.fix is not None
        for edit in finding.fix.edits
        if edit.start < edit.end
    ]
    spans += [
        (place, place)
        for finding in findings_in(text)
        if finding.fix is not None
        for place in [positions.line_start(finding.start.line) + finding.start.column - 1]
    ]
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    touched = {
        min(holding, key=lambda node: positions.span(node)[1] - positions.span(node)[0])
        for start, end in spans
        if (holding := [node for node in statements if _holds(positions.span(node), start, end)])
    }
    ordered = sorted(touched, key=positions.span)
    for layout in layouts:
        for variant in islice(LAYOUTS[layout](text, tree, positions, ordered), most):
            if variant.text != variant.original and _meaning(variant.text) == _meaning(variant.original):
                yield variant


def _holds(span: tuple[int, int], start: int, end: int) -> bool:
    return span[0] <= start and end <= span[1]


def _meaning(text: str, before: str = "") -> Meaning | None:
    """The AST of a program without its layout; None if it does not parse. New names that are not in `before`
    are numbered by their order: other fixes may have used the first free one.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    words = set(re.findall(r"\w+", before)) if before else None
    return _shape(_Evaluated(words).visit(module) if words is not None else module, words, {})


class _Evaluated(ast.NodeTransformer):
    """Binds names in a statement of their own: `a = f()` before `g(a)`, and not `g(a := f())`; and replaces a
    variable that is only an alias of a new constant by the constant.
    """

    def __init__(self, words: set[str]) -> None:
        self._words = words
        self._bound: list[ast.stmt] = []
        self._same: dict[str, str] = {}

    def visit(self, node: ast.AST) -> Any:
        """Visit a node; for a statement, pass the preceding ones, too."""
        if not isinstance(node, ast.stmt):
            return super().visit(node)
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=constant)) if (
                constant.isupper() and constant not in self._words
            ):
                self._same[name] = constant
                return None
        around, self._bound = self._bound, []
        super().visit(node)
        found, self._bound = [*self._bound, node], around
        return found

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Read the constant."""
        return ast.Name(self._same.get(node.id, node.id), node.ctx)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        """Assign a part of an expression to a new name."""
        self.generic_visit(node)
        self._bound.append(ast.Assign([ast.Name(node.target.id, ast.Store())], node.value))
        return ast.Name(node.target.id, ast.Load())


def _shape(node: object, words: set[str] | None, new: dict[str, str]) -> Meaning:
    if isinstance(node, list):
        return tuple([_shape(each, words, new) for each in node])
    if isinstance(node, ast.Constant):
        return ast.Constant, type(node.value), repr(node.value)
    if isinstance(node, ast.AST):
        node = _plain(node)
        return (type(node), *[_shape(getattr(node, name, None), words, new) for name in node._fields])
    if isinstance(node, str) and words is not None and node not in words:
        return new.setdefault(node, f"new {len(new)}")
    return node


def _plain(node: ast.AST) -> ast.AST:
    """`x.tolist()` for `[float(a) for a in x.tolist()]`, which RL210 keeps if there is a comment in it; and
    `PATTERN.search(text)` for `re.search(PATTERN, text)`.
    """
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="re"), attr=method),
            args=[ast.Name(id=constant) as pattern, *rest],
        ) if constant.isupper():
            return ast.Call(ast.Attribute(pattern, method, ast.Load()), rest, node.keywords)
        case ast.Call(func=ast.Name(id="list"), args=[ast.ListComp() | ast.GeneratorExp() as inner]):
            plain = _plain(inner)
            return node if plain is inner else plain
        case (
            ast.ListComp(elt=item, generators=[ast.comprehension() as only])
            | ast.GeneratorExp(elt=item, generators=[ast.comprehension() as only])
        ) if not only.ifs and not only.is_async:
            if isinstance(item, ast.Call) and len(item.args) == 1 and not item.keywords:
                item = item.args[0]
            match item, only.target, only.iter:
                case ast.Name(id=name), ast.Name(id=target), ast.Call(func=ast.Attribute(attr="tolist")):
                    return only.iter if name == target else node
    return node


# -- the layouts -----------------------------------------------------------------------------------

Layout = Callable[[str, ast.Module, Positions, Sequence[ast.stmt]], Iterator[Variant]]


def _of_parts(layout: str, write: Callable[[str, int, int], Change | None]) -> Layout:
    """Variants in which one part of each statement has another layout."""

    def made(
        text: str, _tree: ast.Module, positions: Positions, statements: Sequence[ast.stmt]
    ) -> Iterator[Variant]:
        columns = [
            [change for part in _parts(statement) if (change := write(text, *positions.span(part)))]
            for statement in statements
        ]
        meaning = _meaning(text)
        for row in range(max(map(len, columns), default=0)):
            changes = [column[row] for column in columns if row < len(column)]
            if _meaning(_changed(text, changes)) != meaning:
                changes = [each for each in changes if _meaning(_changed(text, [each])) == meaning]
            yield Variant(layout, text, _changed(text, changes))

    return made


def _parts(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions in a statement, except those in its blocks and in strings."""
    stack: list[ast.AST] = [
        node
        for node in ast.iter_child_nodes(statement)
        if not isinstance(node, (ast.stmt, ast.ExceptHandler, ast.match_case))
    ]
    while stack:
        node = stack.pop(0)
        if isinstance(node, ast.expr):
            yield node
        if not isinstance(node, ast.JoinedStr):
            stack.extend(ast.iter_child_nodes(node))


def _in_parentheses(text: str, start: int, end: int) -> Change:
    return start, end, f"({text[start:end]})"


def _broken(text: str, start: int, end: int) -> Change:
    return start, end, f"(\n    {_in_lines(text[start:end])}\n)"


def _commented(text: str, start: int, end: int) -> Change:
    return start, end, f"(  # as it was\n{text[start:end]}\n)"


def _after_a_comment(text: str, start: int, end: int) -> Change:
    return start, end, f"({text[start:end]}  # as it was\n)"


def _in_lines(code: str) -> str:
    """Code with a line break in place of each blank, and before each dot."""
    found, done = "", (1, 0)
    if "\n" in code:
        return code
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    except (tokenize.TokenError, SyntaxError):
        return code
    depth = 0
    for token in tokens:
        kind = tokenize.tok_name[token.type]
        if token.start[0] > 1 or kind in ("NEWLINE", "ENDMARKER"):
            break
        gap = code[done[1] : token.start[1]]
        breaks = depth == 0 and found and (gap or token.string == ".")
        found += ("\n" if breaks else gap) + token.string
        depth += kind.endswith("STRING_START") - kind.endswith("STRING_END")
        done = token.end
    return found + code[done[1] :]


def _tight(text: str, start: int, end: int) -> Change | None:
    """Without the blanks around it: `return[...]`, `not"cuda" in ...`, `x if y else.5`."""
    first, last = start, end
    while text[first - 1 : first] == " " and not text[:first].endswith("\n "):
        first -= 1
    while text[last : last + 1] == " ":
        last += 1
    code = text[start:end]
    if code.startswith("0.") and code[2:3].isdigit():
        code = code[1:]
    if not text[:first].rpartition("\n")[2].strip():
        first = start
    before = text[:first].rstrip("(")
    is_after_word = any(before.endswith(word) for word in keyword.kwlist)
    if code[:1] not in _STARTS and is_after_word:
        code = f"({code})"
    return (first, last, code) if (first, last, code) != (start, end, text[start:end]) else None


def _continued(text: str, start: int, end: int) -> Change | None:
    """In a line of its own, after a backslash."""
    first = start
    while text[first - 1 : first] == " ":
        first -= 1
    is_first = not text[:first].rpartition("\n")[2].strip()
    return None if is_first or first == start else (first, start, " \\\n        ")


def _in_tabs(
    text: str, _tree: ast.Module, _positions: Positions, _statements: Sequence[ast.stmt]
) -> Iterator[Variant]:
    """Indented by tabs, where lines are indented by four blanks."""

    def tabs(blanks: re.Match[str]) -> str:
        return "\t" * (len(blanks[0]) // 4)

    yield Variant("tabs", text, re.sub(r"(?m)^(?: {4})+", tabs, text))


def _after_another(
    text: str, _tree: ast.Module, positions: Positions, statements: Sequence[ast.stmt]
) -> Iterator[Variant]:
    """After a semicolon, and before one."""
    for first, second in (("pass", ""), ("", "pass")):
        plain, written = [], []
        for statement in statements:
            if _is_simple(statement):
                indent = _indent(text, statement, positions)
                start, end = positions.span(statement)
                plain += [(start, start, f"{first}\n{indent}")] if first else []
                written += [(start, start, f"{first}; ")] if first else []
                plain += [(end, end, f"\n{indent}{second}")] if second else []
                written += [(end, end, f"; {second}")] if second else []
        if written:
            yield Variant("semicolon", _changed(text, plain), _changed(text, written))


def _in_one_line(
    text: str, tree: ast.Module, positions: Positions, statements: Sequence[ast.stmt]
) -> Iterator[Variant]:
    """The only statement of a block on the line of its header."""
    changes = []
    for node in ast.walk(tree):
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(block, list) and len(block) == 1 and block[0] in statements:
                start = positions.span(block[0])[0]
                above = text[:start].rstrip()
                if _is_simple(block[0]) and above.endswith(":"):
                    changes.append((len(above), start, " "))
    if changes:
        yield Variant("one line", text, _changed(text, changes))


def _next_to_a_text(
    text: str, tree: ast.Module, positions: Positions, statements: Sequence[ast.stmt]
) -> Iterator[Variant]:
    """A string of two lines before each statement, or at the beginning of each enclosing block."""
    blocks = [
        block
        for node in ast.walk(tree)
        for block in (getattr(node, "body", None), getattr(node, "orelse", None))
        if isinstance(block, list) and block and isinstance(node, (ast.For, ast.While, ast.If, ast.With))
    ]
    around = [block[-1] for block in blocks if any(each in statements for each in ast.walk(_module(block)))]
    for places in (statements, around):
        plain, written = [], []
        for statement in places:
            if _stands_alone(text, statement, positions):
                start, indent = positions.span(statement)[0], _indent(text, statement, positions)
                plain.append((start, start, f"{TEXT[0]}\n{indent}"))
                written.append((start, start, f"{TEXT[1]}\n{indent}"))
        if written:
            yield Variant("long text", _changed(text, plain), _changed(text, written))


def _longer_texts(
    text: str, _tree: ast.Module, positions: Positions, statements: Sequence[ast.stmt]
) -> Iterator[Variant]:
    """Plain strings in the statements with one more line break, as a literal one."""
    plain, written = [], []
    for statement in statements:
        for part in _parts(statement):
            start, end = positions.span(part)
            code = text[start:end]
            is_text = isinstance(part, ast.Constant) and isinstance(part.value, str)
            if is_text and re.fullmatch(r"'[^'\\]+'|\"[^\"\\]+\"", code):
                plain.append((start, end, f'"{code[1:-1]}\\n    "'))
                written.append((start, end, f'"""{code[1:-1]}\n    """'))
    if written:
        yield Variant("text within", _changed(text, plain), _changed(text, written))


def _module(block: list[ast.stmt]) -> ast.Module:
    return ast.Module(block, [])


def _is_simple(statement: ast.stmt) -> bool:
    return not any(hasattr(statement, name) for name in ("body", "cases"))


def _stands_alone(text: str, statement: ast.stmt, positions: Positions) -> bool:
    start, _ = positions.span(statement)
    is_elif = isinstance(statement, ast.If) and text.startswith("elif", start)
    decorated = bool(getattr(statement, "decorator_list", ()))
    line = text[positions.line_start(statement.lineno) : start]
    return not line.strip() and not is_elif and not decorated


def _indent(text: str, statement: ast.stmt, positions: Positions) -> str:
    line = text[positions.line_start(statement.lineno) :]
    return line[: len(line) - len(line.lstrip())]


def _changed(text: str, changes: Sequence[Change]) -> str:
    """A text with changes; of those that overlap, the first."""
    done, parts = 0, []
    for start, end, new in sorted(changes, key=lambda change: (change[0], change[1])):
        if start >= done:
            parts += [text[done:start], new]
            done = end
    return "".join([*parts, text[done:]])


LAYOUTS: dict[str, Layout] = {
    "parentheses": _of_parts("parentheses", _in_parentheses),
    "broken": _of_parts("broken", _broken),
    "comment": _of_parts("comment", _commented),
    "comment behind": _of_parts("comment behind", _after_a_comment),
    "tight": _of_parts("tight", _tight),
    "semicolon": _after_another,
    "one line": _in_one_line,
    "long text": _next_to_a_text,
    "text within": _longer_texts,
    "continued": _of_parts("continued", _continued),
    "tabs": _in_tabs,
}


# -- the long run ----------------------------------------------------------------------------------


def programs(folder: Path, names: str = "*.py") -> Iterator[tuple[str, str]]:
    """The programs below a folder that are one file, by path; of a case, only its program."""
    for path in sorted(folder.rglob(names)):
        if path.name in ("after.py", "workload.py", "__init__.py") or {"input", "after"} & set(path.parts):
            continue
        text = path.read_bytes().decode("utf-8", "replace").partition("# after\n")[0]
        if _meaning(text) is not None and text.isascii() and "\r" not in text and "\x0c" not in text:
            yield str(path), text


def main() -> int:
    """Compare all programs; return 1 if a fix differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "fixtures")
    parser.add_argument("--rule", action="append", help="only programs below folders of this name")
    parser.add_argument("--layout", action="append", choices=sorted(LAYOUTS), help="only this one")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", type=int, default=10, help="so many wrong fixes in full")
    parser.add_argument("--most", type=int, help="at most so many variants of a program in each layout")
    options = parser.parse_args()
    given = [
        (text, options.layout, options.most)
        for path, text in programs(options.folder)
        if not options.rule or set(options.rule) & set(Path(path).parts)
    ]
    counts, wrong, number = defaultdict[str, Counter[str]](Counter), list[str](), 0
    with get_context("fork").Pool(options.jobs) as pool:
        for seen in pool.imap_unordered(_compared, given, chunksize=4):
            number += seen.variants
            wrong += seen.wrong
            for text in seen.wrong[: max(0, options.show - len(wrong) + len(seen.wrong))]:
                print(f"{text}\n{'=' * 100}", flush=True)
            for (code, outcome), times in seen.counts.items():
                counts[code][outcome] += times
    print(f"{len(given)} programs, {number} variants\n{'':6}" + "".join(f"{name:>13}" for name in OUTCOMES))
    for code in [*sorted(counts), "all"]:
        own = counts[code] if code != "all" else sum(counts.values(), Counter[str]())
        print(f"{code:6}" + "".join(f"{own[name]:13}" for name in OUTCOMES))
    return 1 if wrong else 0


def _compared(given: tuple[str, Sequence[str] | None, int | None]) -> Seen:
    text, layouts, most = given
    return compare(text, layouts, most)


if __name__ == "__main__":
    sys.exit(main())
