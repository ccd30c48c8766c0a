"""Test rlint's regular expressions on texts that are constructed to be slow for them.

    python trust/regexes.py

Imports all of rlint, records every pattern that is compiled, and searches with each in repetitions of each
short text that its own parts match, after some prefixes and before a suffix that does not match. A pattern
fails if the time grows faster than the text: the texts come from untrusted code.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import random
import re
import string
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "trust")]

SHORT, LONG = 500, 4_000
"""Characters of the two texts that are compared. A linear search takes eight times as long for the longer
text.
"""
MOST_GROWTH = 24.0
LEAST_SECONDS = 0.002
"""For LONG characters. Faster searches take at most a minute for a megabyte of such text."""
_LEFT_OUT = ("rlint.__main__", "rlint.lsp", "rlint.fixtures", "rlint.harness", "rlint.trial.watchdog")
"""Modules that start processes, need an extra, or read only files that rlint wrote itself."""


def main() -> int:
    """Try all patterns; return 1 if one is slow."""
    slow = 0
    patterns = recorded()
    for pattern, place in sorted(patterns.items(), key=lambda item: (item[1], str(item[0].pattern))):
        worst = attacked(pattern, anchored=is_anchored(pattern, place))
        if worst is not None:
            slow += 1
            print(f"{place}: {pattern.pattern!r}: {worst}", flush=True)
    print(f"{len(patterns)} patterns, {slow} of them slow")
    return 1 if slow else 0


def recorded() -> dict[re.Pattern[Any], str]:
    """The patterns that rlint's modules compile as they are imported, and those in calls of `re`, by file."""
    found: dict[re.Pattern[Any], str] = {}
    ours = importlib.import_module("rlint.regex")
    real, waiting = re.compile, ours.regex

    def compile_(pattern: Any, flags: int = 0) -> re.Pattern[Any]:
        made = real(pattern, flags)
        caller = sys._getframe(1).f_code.co_filename  # to find the calling module
        if str(ROOT) in caller:
            found.setdefault(made, str(Path(caller).relative_to(ROOT)))
        return made

    re.compile = compile_
    ours.regex = compile_  # type: ignore[attr-defined]
    try:
        for module in _modules():
            with contextlib.suppress(ImportError):  # of an extra that is not installed
                importlib.import_module(module)
    finally:
        re.compile = real
        ours.regex = waiting  # type: ignore[attr-defined]
    for path in [*ROOT.glob("rlint/**/*.py"), *ROOT.glob("rules/**/*.py")]:
        for pattern in _in_calls(path.read_text(encoding="utf-8")):
            found.setdefault(pattern, str(path.relative_to(ROOT)))
    return found


def _modules() -> Iterator[str]:
    for folder, package in ((ROOT / "rlint", "rlint"), (ROOT / "rules", "rlint.rules")):
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            name = ".".join([package, *parts]).removesuffix(".__init__")
            if not name.startswith(_LEFT_OUT):
                yield name


def _in_calls(text: str) -> Iterator[re.Pattern[Any]]:
    import ast

    names = ("search", "findall", "finditer", "sub", "split")
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re"), attr=name),
                args=[ast.Constant(value=str() | bytes() as pattern), *_],
            ) if name in names:
                yield re.compile(pattern)


def is_anchored(pattern: re.Pattern[Any], place: str) -> bool:
    """Whether a pattern is only matched at the beginning of a text. Determined by its name in the
    neighbouring files.
    """
    path = ROOT / place
    module = ".".join(Path(place).with_suffix("").parts)
    module = module if module.startswith("rlint") else f"rlint.{module}"
    names = [name for name, value in vars(sys.modules.get(module, sys)).items() if value is pattern]
    uses = "search|findall|finditer|sub|split"
    looked_for = rf"\b({'|'.join(names)})\.({uses})\(" if names else rf"(?<!\bre)\.({uses})\("
    return not any(
        re.search(looked_for, adjacent.read_text(encoding="utf-8"))
        for adjacent in (path.parent.glob("*.py") if names and names[0][0] != "_" else [path])
    )


def attacked(pattern: re.Pattern[Any], *, anchored: bool) -> str | None:
    """A description of the text for which the pattern is slow; None if there is none."""
    pieces = sorted(_pieces(pattern))
    for beginning, piece, end in itertools.product(["", "a", *pieces[:2]], pieces, ("\n!", "")):
        long = _seconds(pattern, beginning + piece * (LONG // len(piece)) + end, anchored=anchored)
        if long < LEAST_SECONDS:
            continue
        short = _seconds(pattern, beginning + piece * (SHORT // len(piece)) + end, anchored=anchored)
        if long > MOST_GROWTH * short:
            text = f"{beginning!r} + n × {piece!r} + {end!r}"
            return f"{LONG} characters {text} take {long:.3f} s, {SHORT} take {short:.4f} s"
    return None


def _seconds(pattern: re.Pattern[Any], text: Any, *, anchored: bool) -> float:
    if isinstance(pattern.pattern, bytes):
        text = text.encode("utf-8", "replace")
    best = float("inf")
    for _ in range(2):
        started = time.process_time()
        if anchored:
            pattern.match(text)
            pattern.fullmatch(text)
        else:
            sum(1 for _ in pattern.finditer(text))
        best = min(best, time.process_time() - started)
        if best > 1:
            break
    return best


def _pieces(pattern: re.Pattern[Any]) -> set[str]:
    """The shortest texts that the parts of a pattern match, and pairs of these."""
    rng = random.Random(0)
    source = pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern
    parsed = _parser.parse(
        source, pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
    )
    single: set[str] = set()

    def look(items: Any) -> str:
        text = ""
        for op, argument in items:
            text += sample(op, argument)
        if text:
            single.add(text)
        return text

    def sample(op: Any, argument: Any) -> str:
        found = ""
        if op is _constants.LITERAL:
            found = chr(argument)
        elif op in (_constants.ANY, _constants.NOT_LITERAL):
            found = "a" if argument != ord("a") else "b"
        elif op is _constants.IN:
            found = next(
                (c for c in " a0_.-\t\"'#:/\\" + string.printable if re.match(_as_class(argument), c)), "a"
            )
        elif op is _constants.BRANCH:
            found = next(text for text in map(look, argument[1]))
        elif op is _constants.SUBPATTERN:
            found = look(argument[-1])
        elif op in (_constants.MAX_REPEAT, _constants.MIN_REPEAT) or str(op) == "POSSESSIVE_REPEAT":
            found = look(argument[2]) * max(argument[0], 1)
        elif str(op) == "ATOMIC_GROUP":
            found = look(argument)
        elif op in (_constants.ASSERT, _constants.ASSERT_NOT):
            look(argument[1])
        if found:
            single.add(found)
        return found

    look(parsed)
    single = {piece for piece in single if len(piece) < 60} | {" ", "a", "\n"}
    few = sorted(single, key=len)[:12]
    pairs = {first + second for first, second in itertools.product(few, few)}
    return single | set(rng.sample(sorted(pairs), min(len(pairs), 10)))


def _as_class(items: Any) -> str:
    """The source of a character class."""
    text = ""
    for op, argument in items:
        if op is _constants.NEGATE:
            text += "^"
        elif op is _constants.LITERAL:
            text += re.escape(chr(argument))
        elif op is _constants.RANGE:
            text += f"{re.escape(chr(argument[0]))}-{re.escape(chr(argument[1]))}"
        elif op is _constants.CATEGORY:
            words = {"CATEGORY_SPACE": r"\s", "CATEGORY_WORD": r"\w", "CATEGORY_DIGIT": r"\d"}
            words |= {"CATEGORY_NOT_SPACE": r"\S", "CATEGORY_NOT_WORD": r"\W", "CATEGORY_NOT_DIGIT": r"\D"}
            text += words.get(str(argument), "a")
    return f"[{text}]"


if __name__ == "__main__":
    sys.exit(main())
