"""The kinds of input that rlint reads, with examples, and the promises for each kind.

An input is bytes whose first line names the kind, so that one corpus holds all of them.
"""

from __future__ import annotations

import ast
import contextlib
import cProfile
import json
import marshal
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from promises import CODES, Failure, broken_promises, bug_of, failure_of
from rlint.config.settings import SettingsResolver
from rlint.engine import api
from rlint.engine.cache.store import Cache
from rlint.errors import RlintError
from rlint.evidence.recorded import from_text
from rlint.findings import Finding, Heat, Position, Problem
from rlint.profiles.heating import Heater
from rlint.profiles.read import read
from rlint.run_data import Target
from rlint.source.files import source_from_text
from rlint.source.gitignore import rules_in
from rlint.suppression.baseline import read_baseline

ROOT = Path(__file__).resolve().parents[1]
FIXTURES = ROOT / "fixtures"
ANOTHER_FILE = re.compile(rb"^#!file ([a-z_/]{1,40}\.py)\n", re.MULTILINE)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_KEPT = {"program.py": ["results", 1]}
_AT = Position(2, 1)
_FINDING = Finding(
    "RL101", "concat-grown-buffer", "`a` grows", "train.py", _AT, Position(2, 9), 2, 2, Heat.HOT
)


@dataclass(frozen=True)
class Kind:
    """A kind of input: its promises, and whether it is JSON."""

    check: Callable[[bytes, Path], list[Failure]]
    is_python: bool = False
    is_json: bool = False


def run(data: bytes, folder: Path) -> list[Failure]:
    """Read an input according to its kind; return the broken promises. `folder` is for its files."""
    name, _, content = data.partition(b"\n")
    kind = KINDS.get(name.decode("ascii", "replace"), KINDS["python"])
    try:
        return kind.check(content, folder)
    except Exception as error:  # noqa: BLE001 - whatever it is, rlint should have reported it
        return [failure_of("exception", error)]


def _python(content: bytes, folder: Path) -> list[Failure]:
    parts = ANOTHER_FILE.split(content)
    files = {"program.py": parts[0]}
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        files[name.decode()] = text
    return broken_promises(files, folder, formats=len(content) % 8 == 0)


def _notebook(content: bytes, folder: Path) -> list[Failure]:
    failures = broken_promises({"notebook.ipynb": content}, folder, formats=len(content) % 4 == 0)
    source = source_from_text(content, "notebook.ipynb", folder / "notebook.ipynb")
    if not isinstance(source, Problem):
        if source.encode(source.text) != content:
            failures.append(Failure("notebook", "unchanged text", "is written as something else"))
        target = Target(source, source.path, source.name, CODES)
        for changed in api.fix([target], unsafe=True, jobs=1).changed:
            failures += _other_cells(content, source.encode(changed.text))
    return failures


def _other_cells(old: bytes, new: bytes) -> Iterator[Failure]:
    """Everything except the sources of cells is unchanged."""
    before, after = (json.loads(text.decode("utf-8-sig")) for text in (old, new))
    for document in (before, after):
        for cell in document.get("cells") or document["worksheets"][0]["cells"]:
            if cell.get("cell_type") == "code":
                cell.pop("source", None)
                cell.pop("input", None)
    if json.dumps(before) != json.dumps(after):
        yield Failure("notebook", "rest", "a fix changes more than code")


def _written(name: str, content: bytes, folder: Path) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def _settings(name: str) -> Callable[[bytes, Path], list[Failure]]:
    def check(content: bytes, folder: Path) -> list[Failure]:
        path = _written(name, content, folder)
        try:
            resolver = SettingsResolver(folder)
            settings = resolver.for_file(folder / "a" / "b.py")
            settings.codes_for(folder / "a" / "b.py")
            settings.excludes_file(folder / "a" / "b.py")
            settings.excludes_entry(str(folder / "a"))
        except RlintError:
            return []
        finally:
            path.unlink()
        return [bug_of(problem) for problem in resolver.problems if problem.is_bug]

    return check


def _gitignore(content: bytes, folder: Path) -> list[Failure]:
    path = _written(".gitignore", content, folder)
    try:
        rules = rules_in(str(folder), None, lambda _: {})
        if rules is not None:
            for name in ("a.py", "a/b/c.py", "build/lib/x.py", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.py"):
                rules.ignores(str(folder / name), folder=False)
    finally:
        path.unlink()
    return []


def _baseline(content: bytes, folder: Path) -> list[Failure]:
    path = _written("baseline.json", content, folder)
    try:
        baseline = read_baseline(path)
        from rlint.suppression.baseline import BaselineCheck

        checked = BaselineCheck({"train.py": folder / "train.py"}, {folder / "train.py": CODES})
        new, hidden = baseline.split([_FINDING], lambda _: "a\nb = 1\n", checked)
        baseline.unneeded(hidden, lambda _: "a\nb = 1\n", checked)
        updated = baseline.updated(new, lambda _: "a\nb = 1\n", checked)
        updated.write()
        if read_baseline(path).entries != updated.entries:
            return [Failure("baseline", "written", "does not read as what was written")]
    except RlintError:
        return []
    finally:
        path.unlink()
    return []


def _profile(content: bytes, folder: Path) -> list[Failure]:
    path, program = (
        _written("profile", content, folder),
        _written("train.py", b"def main():\n    a = 1\n", folder),
    )
    try:
        heater = Heater(read(path), "profile", {"train.py": program})
        heater.often(program)
        heater.heating([_FINDING], {})
    except RlintError:
        return []
    finally:
        path.unlink()
        program.unlink()
    return []


def _cache(content: bytes, folder: Path) -> list[Failure]:
    """A cache file is read as it was stored, or counts as missing."""
    place = folder / "cache"
    cache = Cache(place)
    cache.store("name", _KEPT)
    [path] = place.rglob("name.json")
    stored = path.read_bytes()
    if content:
        path.write_bytes(content if content.count(b"\n") else stored.partition(b"\n")[0] + b"\n" + content)
    found = cache.load("name")
    fine = found is None or (found == _KEPT and path.read_bytes() == stored)
    shutil.rmtree(place)
    return [] if fine else [Failure("cache", "trusted", f"{content!r} was taken for results")]


def _evidence(content: bytes, _folder: Path) -> list[Failure]:
    with contextlib.suppress(ValueError):
        from_text(content.decode("utf-8", "replace"))
    return []


KINDS = {
    "python": Kind(_python, is_python=True),
    "notebook": Kind(_notebook, is_json=True),
    "pyproject": Kind(_settings("pyproject.toml")),
    "settings": Kind(_settings("rlint.toml")),
    "gitignore": Kind(_gitignore),
    "baseline": Kind(_baseline, is_json=True),
    "profile": Kind(_profile, is_json=True),
    "cache": Kind(_cache, is_json=True),
    "evidence": Kind(_evidence, is_json=True),
}


def programs() -> Iterator[str]:
    """The programs of all fixtures, large ones in parts: small inputs are tried far more often."""
    for path in sorted(FIXTURES.glob("*/cases/*.py")):
        yield from path.read_bytes().decode("utf-8").replace("\r\n", "\n").split("\n# after\n")[:1]
    for path in sorted(FIXTURES.glob("*/*.py")):
        if path.name in ("before.py", "clean.py"):
            yield from _parts(path.read_text(encoding="utf-8"))


def _parts(text: str) -> Iterator[str]:
    """Each function or class of a program, with all other statements."""
    lines = text.splitlines(keepends=True)
    first = [
        min([node.lineno, *(each.lineno for each in _decorators(node))]) for node in ast.parse(text).body
    ]
    ends = [*first[1:], len(lines) + 1]
    blocks = [
        ("".join(lines[start - 1 : end - 1]), bool(isinstance(node, _DEFINITIONS)))
        for node, start, end in zip(ast.parse(text).body, first, ends, strict=True)
    ]
    rest = "".join(block for block, is_definition in blocks if not is_definition)
    yield from (rest + "\n" + block for block, is_definition in blocks if is_definition)


def _decorators(node: ast.stmt) -> list[ast.expr]:
    return list(getattr(node, "decorator_list", ()))


def seeds() -> Iterator[bytes]:
    """Initial inputs: two small programs of each rule, and an example of each other kind. Parts of all other
    programs are used as donors for mutations.
    """
    for rule in sorted(FIXTURES.iterdir()):
        cases = sorted(rule.glob("cases/*.py"), key=lambda path: (path.stat().st_size, path.name))
        fixed = [path for path in cases if b"\n# after\n" in path.read_bytes()]
        for path in (fixed or cases)[:2]:
            yield b"python\n" + path.read_bytes().replace(b"\r\n", b"\n").split(b"\n# after\n")[0]
    for folder in sorted(FIXTURES.glob("*/cases/*/input"))[::8]:
        files = sorted(path for path in folder.rglob("*.py") if path.name != "__init__.py")
        parts = [f"#!file {path.relative_to(folder).as_posix()}\n" + path.read_text() for path in files]
        yield b"python\n" + "".join(parts).encode()
    for number, path in enumerate(sorted(FIXTURES.glob("*/before.py"))[::16]):
        yield b"notebook\n" + _as_notebook(path.read_text(encoding="utf-8"), number)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for block in re.findall(r"```toml\n(.*?)```", readme, re.DOTALL):
        yield b"pyproject\n" + block.encode()
        yield b"settings\n" + block.replace("[tool.rlint]", "").replace("tool.rlint.", "").encode()
    yield b"settings\nselect = ['ALL']\nplugins = ['x']\noutput-format = 'json'\nbaseline = 'b'\njobs = 2\n"
    yield b"gitignore\n*.py[cod]\n!/a/**/b\nbuild/\n\\#x\n[a-z]*?\n"
    entry = {"path": "train.py", "code": "RL101", "function": "f", "line": "b = 1", "count": 1}
    yield b"baseline\n" + json.dumps({"version": 1, "findings": [entry, entry]}).encode()
    yield b"cache\n"
    yield b"cache\n[]"
    for profile in _profiles():
        yield b"profile\n" + profile
    for path in sorted(FIXTURES.glob("*/evidence/*.json"))[::20]:
        yield b"evidence\n" + path.read_bytes()


def _as_notebook(text: str, number: int) -> bytes:
    """A program as a notebook: a cell for each of its parts, magics and outputs between them."""
    parts = text.split("\n\n\n")
    magics = ("%matplotlib inline\n", "!pip install torch\n", "%%time\n", "x = !ls\n", "?print\n", "")
    cells: list[dict[str, object]] = [{"cell_type": "markdown", "metadata": {}, "source": ["# one\n", "two"]}]
    for place, part in enumerate(parts):
        source = magics[(number + place) % len(magics)] + part
        lines: object = source.splitlines(keepends=True) if place % 3 else source
        output = [{"output_type": "stream", "name": "stdout", "text": ["1\n"]}]
        cell = {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": output, "source": lines}
        cells.append(cell)
    kernel = {"kernelspec": {"language": "python", "name": "python3"}, "language_info": {"name": "python"}}
    data = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(data, indent=1, ensure_ascii=bool(number % 2)).encode() + b"\n"


def _profiles() -> Iterator[bytes]:
    recorded = cProfile.Profile()
    recorded.runcall(sorted, [3, 1, 2], key=lambda number: -number)
    recorded.create_stats()
    yield marshal.dumps(recorded.stats)
    frames = [
        {"name": "main", "file": "train.py", "line": 1},
        {"name": "Agent.act", "file": "a.py", "line": 6},
    ]
    sampled = {"type": "sampled", "name": "t", "unit": "seconds", "startValue": 0, "endValue": 3}
    sampled |= {"samples": [[0], [0, 1]], "weights": [1.0, 2.0]}
    evented = {"type": "evented", "name": "u", "unit": "milliseconds", "startValue": 0, "endValue": 3}
    evented |= {"events": [{"type": "O", "frame": 0, "at": 0}, {"type": "C", "frame": 0, "at": 3}]}
    yield json.dumps({"shared": {"frames": frames}, "profiles": [sampled, evented]}).encode()
    spans = [("train.py(1): main", 0, 10), ("a.py(5): act", 2, 6), ("<built-in method item>", 3, 1)]
    events = [
        {"ph": "X", "cat": "python_function", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": span}
        for name, start, span in spans
    ]
    yield json.dumps({"traceEvents": events}).encode()
    yield b"main (train.py:1);act (a.py:6) 12\nmain (train.py:1) 3\n"
    yield b"process 1;thread (0x1);main (train.py:1);<genexpr> (a.py:7) 4\n"
