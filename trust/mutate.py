"""Check variants of real programs: they must have the same findings, and correct fixes.

    python trust/mutate.py FOLDER [--files 100] [--seed 0] [--variant NAME] [--all]

Takes random files below FOLDER, writes all variants of each by variants.py, and checks that every
promise (promises.py) holds for each, and that equivalent variants have the same findings: as many findings of
each rule, with fixes that are as safe. Differences are printed. Nothing below FOLDER is written.
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
import tempfile
import time
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "trust")]

from limits import OvertimeError, watched  # noqa: E402
from promises import CODES, broken_promises  # noqa: E402
from rlint.engine import api  # noqa: E402
from rlint.findings import Finding, Problem  # noqa: E402
from rlint.run_data import Target  # noqa: E402
from rlint.source.files import MOST_BYTES, source_from_text  # noqa: E402
from variants import VARIANTS, Variant, is_plain  # noqa: E402


def main() -> int:
    """Try files; 1 if anything differs or fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--variant", action="append", help="only this one; may be given several times")
    parser.add_argument("--all", action="store_true", help="files in which nothing is found, too")
    parser.add_argument("--minutes", type=float, default=60.0, help="begin no further file after so long")
    options = parser.parse_args()
    chosen = [one for one in VARIANTS if not options.variant or one.name in options.variant]
    paths = sorted(path for path in options.folder.rglob("*.py") if path.stat().st_size <= MOST_BYTES // 40)
    random.Random(options.seed).shuffle(paths)
    until = time.monotonic() + 60 * options.minutes
    tried = differ = 0
    for path in paths:
        if tried >= options.files or time.monotonic() > until:
            break
        text = _readable(path)
        if text is None or not (options.all or found_in(text)):
            continue
        tried += 1
        for said in differences(text, chosen):
            differ += 1
            print(f"{path}: {said}", flush=True)
    print(f"{tried} files in {len(chosen)} variants: {differ} differences")
    return 1 if differ else 0


def differences(text: str, chosen: Sequence[Variant] = VARIANTS) -> Iterator[str]:
    """Broken promises in a program and its variants."""
    expected = found_in(text)
    for variant in (Variant("itself", str), *chosen):
        try:
            other = variant.write(text)
            ast.parse(other)
        except (SyntaxError, tokenize.TokenError, RecursionError, IndexError):
            continue  # the variant cannot be written
        if other == text and variant.name != "itself":
            continue
        try:
            with watched():
                failures = broken_promises({"program.py": other.encode()}, _nowhere(), formats=False)
                found = found_in(other)
        except OvertimeError:
            yield f"{variant.name}: takes more than ten seconds"
            continue
        yield from (f"{variant.name}: {failure.key}\n{failure.detail}" for failure in failures)
        if variant.same:
            for sign, finding in _only_in(expected, found):
                yield f"{variant.name}: {sign} is not found again: {_described(finding)}"
            for sign, finding in _only_in(found, expected):
                yield f"{variant.name}: {sign} is found only here: {_described(finding)}"


def found_in(text: str) -> list[Finding]:
    """The findings in a program of one file."""
    source = source_from_text(text.encode(), "program.py", _nowhere() / "program.py")
    if isinstance(source, Problem):
        return []
    return list(api.check([Target(source, source.path, source.name, CODES)], jobs=1).findings)


def _only_in(some: Sequence[Finding], others: Sequence[Finding]) -> Iterator[tuple[str, Finding]]:
    left = Counter(_sign(finding) for finding in others)
    for finding in some:
        left[_sign(finding)] -= 1
        if left[_sign(finding)] < 0:
            yield _sign(finding), finding


def _sign(finding: Finding) -> str:
    return f"{finding.code} {finding.fix.safety.value if finding.fix else 'advice'}"


def _described(finding: Finding) -> str:
    return f"{finding.start.line}:{finding.start.column} {finding.message}"


def _readable(path: Path) -> str | None:
    try:
        text = path.read_bytes().decode()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (OSError, ValueError, SyntaxError, RecursionError):
        return None
    return text if is_plain(text) else None


def _nowhere() -> Path:
    """A folder that does not exist: each file is a project by itself."""
    return Path(tempfile.gettempdir(), "rlint-mutate-nowhere")


if __name__ == "__main__":
    sys.exit(main())
