"""Programs to verify: the fixtures of rules, or the user's own files, with their fixed texts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from rlint.engine import api
from rlint.errors import RlintError
from rlint.harness.program import AFTER, BEFORE, SAFE, Subject
from rlint.run_data import Target
from rlint.source.files import Source, display_name, read_source

if TYPE_CHECKING:
    from rlint.registry.catalogue import RuleEntry

PROGRAM, WORKLOAD, ADVISED = "before.py", "workload.py", "after.py"
"""The files of a rule's fixture folder that are run; the last only for a rule that only has advice."""
FIXED_AND_ADVISED = "advised.py"
"""The result of a rule's fixes, with its other advice followed by hand."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """One program to verify: a rule's fixture, or the user's own."""

    label: str
    """The rule's code, or the path as it was given."""
    name: str
    """The rule's name, or ""."""
    subject: Subject
    fixes: tuple[str, ...]
    """The codes of the findings that were fixed."""


def fixture_folder(entry: RuleEntry) -> Path:
    """Return the folder with the evidence of a rule, in the checkout or in the installed package."""
    if entry.fixtures is None:
        what = entry.plugin.package if entry.plugin is not None else "rlint"
        raise RlintError(
            f"the package {what}.fixtures is missing: the installation of {entry.origin} is incomplete"
        )
    return entry.fixtures / entry.name


@contextmanager
def fixtures_of(entries: Sequence[RuleEntry]) -> Iterator[list[Experiment]]:
    """Copy the fixtures of rules into a temporary folder, and fix the copies.

    For a rule that only has advice, a program rewritten by hand as advised is the fixed text; a rule with
    both may have one, too. Raises RlintError for a rule without a fixture or workload, or one whose fixer
    changes nothing.
    """
    with TemporaryDirectory(prefix="rlint-verify-") as folder:
        yield [_of_rule(entry, Path(os.path.realpath(folder), entry.name)) for entry in entries]


def _of_rule(entry: RuleEntry, folder: Path) -> Experiment:
    origin = fixture_folder(entry)
    by_hand = entry.fixes == "none"
    for needed in (PROGRAM, WORKLOAD, *([ADVISED] if by_hand else [])):
        if not (origin / needed).is_file():
            raise RlintError(f"{entry.code} {entry.name}: has no {origin / needed}, so nothing can be run")
    folder.mkdir()
    program = folder / PROGRAM
    program.write_bytes((origin / PROGRAM).read_bytes())
    target = Target(None, program, PROGRAM, frozenset({entry.code}))
    texts, fixes = _texts([target], unsafe=True)
    advised = origin / (ADVISED if by_hand else FIXED_AND_ADVISED)
    if advised.is_file():
        texts[AFTER] = {**texts[AFTER], str(program): _text(advised)}
    subject = Subject(
        main=str(program),
        module=program.stem,
        roots=(str(folder),),
        workload=str(origin / WORKLOAD),
        texts=texts,
    )
    if not subject.changed:
        what = f"{origin / ADVISED} is the same as" if by_hand else "its fixer changes nothing in"
        raise RlintError(f"{entry.code} {entry.name}: {what} {origin / PROGRAM}")
    return Experiment(entry.code, entry.name, subject, fixes)


def own_program(targets: Sequence[Target], workload: Path, *, unsafe: bool) -> Experiment:
    """Return an experiment of files, the first of which the workload drives.

    Raises RlintError if a file cannot be read or if there is nothing to fix.
    """
    main = Path(os.path.abspath(targets[0].path))
    texts, fixes = _texts(targets, unsafe=unsafe)
    root, module = _module_name(main)
    subject = Subject(str(main), module, (str(root),), os.path.abspath(workload), texts)
    label = display_name(main)
    if not subject.changed:
        more = "" if unsafe else "; `--unsafe-fixes` includes fixes that need review"
        raise RlintError(f"{label} has nothing to fix, so there is nothing to compare{more}")
    return Experiment(label, "", subject, fixes)


def _module_name(path: Path) -> tuple[Path, str]:
    """Return the folder to import a file from, and its module name relative to it, including enclosing
    packages.
    """
    root, parts = path.parent, [path.stem]
    while (root / "__init__.py").is_file() and root.parent != root:
        parts.insert(0, root.name)
        root = root.parent
    if path.stem == "__init__" and len(parts) > 1:
        parts.pop()
    return root, ".".join(parts)


def _texts(targets: Sequence[Target], *, unsafe: bool) -> tuple[dict[str, dict[str, str]], tuple[str, ...]]:
    """Return the texts of all arms, and the codes that were fixed for the last one."""
    before = {os.path.abspath(target.path): _text(target.path, target.name) for target in targets}
    texts = {BEFORE: before}
    codes: tuple[str, ...] = ()
    for arm in (SAFE, AFTER):
        if arm == AFTER and not unsafe:
            texts[AFTER] = texts[SAFE]
            break
        fixed = api.fix(targets, unsafe=arm == AFTER)
        if fixed.report.problems:
            raise RlintError("\n".join(str(problem) for problem in fixed.report.problems))
        changed = {os.path.abspath(one.source.path): one.text for one in fixed.changed}
        texts[arm] = {**before, **changed}
        codes = tuple(sorted({finding.code for finding in fixed.applied}))
    return texts, codes


def _text(path: Path, name: str | None = None) -> str:
    source = read_source(path, name or display_name(path))
    if not isinstance(source, Source):
        raise RlintError(str(source))
    return source.text
