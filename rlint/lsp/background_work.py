"""Work in the background thread beside the event loop: checking a text, and fixing it."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rlint.config.declared_knowledge import NOTHING_DECLARED, DeclaredKnowledge
from rlint.config.fixability import AS_FOUND, Fixability
from rlint.config.settings import Settings
from rlint.engine import cell_places
from rlint.engine.api import MAX_PASSES
from rlint.errors import RlintError
from rlint.findings import Cell, Confidence, Finding, Problem
from rlint.fixing import apply_fixes
from rlint.fixing.cross_file import CrossFilePermits
from rlint.lsp.live import Live, LiveCheck
from rlint.notebook.notebook import Notebook
from rlint.notebook.view import cell_at
from rlint.registry import catalogue
from rlint.run_data import FileResult, Target
from rlint.semantics.imports.project_files import files_around
from rlint.source.files import Source, read_source
from rlint.suppression.baseline import BaselineCheck as Known
from rlint.suppression.baseline import read_baseline

_STACK = 64 * 2**20  # bytes: programs are nested deeper than the small stacks of some systems' threads allow
_GARBAGE_THRESHOLD = 200_000  # as in rlint's other processes


@dataclass(frozen=True, slots=True)
class Task:
    """A text to work on, with those of all open documents. `stopped` is set when the result is no longer
    needed.
    """

    name: str
    path: Path
    text: str
    codes: frozenset[str]
    unsafe: bool
    texts: Mapping[Path, str]
    stopped: Callable[[], bool]
    baseline: Path | None = None
    """A file of accepted findings, which are not shown."""
    confidence: Confidence = Confidence.POSSIBLE
    """The lowest confidence of shown findings."""
    declared: DeclaredKnowledge = NOTHING_DECLARED
    fixability: Fixability = AS_FOUND
    notebook: Notebook | None = None
    """The notebook from which the text was created, if it is one."""

    @property
    def source(self) -> Source:
        """Return the text as a file that was read."""
        return Source(self.path, self.name, self.text, "utf-8", bom=False, raw=b"", notebook=self.notebook)


@dataclass(frozen=True, slots=True)
class Permission:
    """A request for permission of fixes. `codes` are the rules that files are checked for, by file name; None
    for a file that is only read. `paths` are those of all files.
    """

    findings: Sequence[Finding]
    codes: Mapping[str, frozenset[str] | None]
    paths: Mapping[str, Path]


def explain(task: Task, line: int, settings: Settings) -> str:
    """Return the explanation of a line of the text, counted from 1, as `rlint explain` prints it."""
    from rlint.engine.explain.explainer import ExplainedLine, Explainer
    from rlint.engine.explain.hiding import Hiding
    from rlint.output import line_text

    target = Target(task.source, task.path, task.name, task.codes, declared=task.declared)
    hiding = Hiding(settings, task.path, task.text, task.baseline)
    explainer = Explainer(target, hiding, texts={**task.texts, task.path: task.text})
    if explainer.problem is not None:
        return str(explainer.problem)
    described = explainer.explain(ExplainedLine(line))
    if task.notebook is not None:
        view = cell_at(line, task.notebook.views(task.text))
        if view is not None:
            within = line - view.first_line + 1
            cell = Cell(view.index, view.id, view.first_line - 1, task.notebook.file_line(view.index, within))
            described = replace(described, line=within, cell=cell)
    return line_text.render([described], color=False, every=False, width=None)


def check(live: Live, task: Task) -> LiveCheck | None:
    """Check the text; None if it was stopped."""
    if task.stopped():
        return None
    target = Target(task.source, task.path, task.name, task.codes, declared=task.declared)
    found = live.check(target, task.texts, stopped=task.stopped)
    if found is not None:
        result = FileResult(task.name, found.findings, found.problems)
        result = cell_places.placed(result, task.source, task.text)
        result = result.at_least(task.confidence).allowed(task.fixability)
        found = replace(found, findings=result.findings, problems=result.problems)
    return found if found is None or task.baseline is None else _new(found, task, task.baseline)


def fix(live: Live, task: Task) -> str | None:
    """Return the text with all fixes of `rlint fix`, except those that depend on other files; None if it was
    stopped.
    """
    text = task.text
    for _ in range(MAX_PASSES):
        found = check(live, replace(task, text=text))
        if found is None:
            return None
        own = [each for each in found.findings if not _depends_on_other_files(each)]
        unparsable = partial(_unparsable, task=task, was=text)
        done, _ = apply_fixes.sound_passes({task.name: text}.get, own, unparsable, unsafe=task.unsafe)
        if task.name not in done or done[task.name].text == text:
            break
        text = done[task.name].text
    return text


def _unparsable(made: apply_fixes.Pass, name: str, task: Task, was: str) -> Problem | None:
    wrong = apply_fixes.check_parses(made.text, name, made.findings, was=was)
    return wrong or task.source.unwritable(made.text)


def permitted(task: Task, queried: Permission) -> list[Finding]:
    """Return the findings, without the fixes that the current state of another file forbids, open or not."""
    texts = {**task.texts, task.path: task.text}
    # Files without a connection to the text were not read for it, but may contain a name.
    around = files_around(task.path)
    if around is None:
        return [
            replace(each, fix=None) if _depends_on_other_files(each) else each for each in queried.findings
        ]
    paths = dict(queried.paths)
    known = set(paths.values())
    paths.update((str(path), path) for path in around if path not in known)

    def text_of(name: str) -> str | None:
        path = paths[name]
        if path in texts:
            return texts[path]
        source = read_source(path, name)
        return source.text if isinstance(source, Source) else None

    permits = CrossFilePermits(queried.codes, list(paths), text_of, respects_comments=True)
    return list(permits.checked(FileResult(task.name, tuple(queried.findings))).findings)


def _depends_on_other_files(finding: Finding) -> bool:
    """Whether the fix of a finding depends on other files."""
    return finding.fix is not None and finding.fix.needs_permission


def _new(found: LiveCheck, task: Task, baseline: Path) -> LiveCheck:
    """Return the findings that the baseline does not contain."""
    checked = Known({task.name: task.path}, {task.path: task.codes})
    try:
        new, _ = read_baseline(baseline).split(found.findings, lambda _: task.text, checked)
    except RlintError as error:
        problem = Problem(task.name, f"all findings are shown, since the baseline cannot be used: {error}")
        return replace(found, problems=(*found.problems, problem))
    return replace(found, findings=tuple(new))


def one_thread() -> ThreadPoolExecutor:
    """Return a thread that runs tasks one after the other, and has loaded the rules before the first."""
    before = threading.stack_size(_STACK)
    try:
        pool = ThreadPoolExecutor(1, "rlint", gc.set_threshold, (_GARBAGE_THRESHOLD, 50, 50))
        pool.submit(_load_rules)  # the thread is created now, with its own stack size
    finally:
        threading.stack_size(before)
    return pool


def _load_rules() -> None:
    catalogue.load({entry.code for entry in catalogue.catalogue() if not entry.opt_in})
