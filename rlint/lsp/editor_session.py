"""Open documents, their findings, and whether these are up to date."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote

from rlint.config.settings import Settings
from rlint.errors import RlintError
from rlint.file_paths import absolute
from rlint.findings import Finding
from rlint.lsp import background_work
from rlint.lsp.documents import Checked, Documents
from rlint.lsp.folders import Applied, Folders
from rlint.lsp.live import Live, LiveCheck
from rlint.source.files import NOTEBOOK, display_name

_Done = TypeVar("_Done")


class EditorSession:
    """Documents and the results of checking them. All methods run in the event loop; the work itself is done
    in a background thread, so that the server stays responsive. `report` is called with problems.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self.documents = Documents()
        self.folders = Folders(report)
        self.report = report
        self._live = Live()
        self._pool = background_work.one_thread()
        self._results: dict[str, tuple[Checked, int, LiveCheck]] = {}
        self._running: dict[str, tuple[Checked, int, asyncio.Task[LiveCheck | None]]] = {}
        self._world = 0
        self._stopping = False

    # -- what changes --------------------------------------------------------------------------

    def forget_results(self) -> None:
        """Discard results, as settings or other files have changed."""
        self._world += 1

    def forget_plans(self) -> None:
        """Discard plans, as files were created, renamed or deleted."""
        self._pool.submit(self._live.forget_plans)
        self.forget_results()

    def close(self, document: Checked) -> None:
        """Remove a document; its file is then read from disk."""
        self.documents.close(document.uri)
        self._results.pop(unquote(document.uri), None)
        self._running.pop(unquote(document.uri), None)
        self._pool.submit(self._live.forget, self._path_of(document))
        self.forget_results()

    def later(self, work: Callable[[], None]) -> None:
        """Run a function in the thread after the tasks queued before."""
        if not self._stopping:
            self._pool.submit(work)

    def stop(self) -> None:
        """Accept no more tasks, and end the running one."""
        self._stopping = True
        self._pool.shutdown(wait=False, cancel_futures=True)

    # -- what is known -------------------------------------------------------------------------

    def is_current(self, document: Checked) -> bool:
        """Whether this is the newest version of an open document."""
        return not self._stopping and self.documents.get(document.uri) is document

    def applied(self, document: Checked) -> Applied:
        """Return the settings that apply to a document."""
        return self.folders.applied(self._path_of(document))

    def depending_on(self, document: Checked) -> list[Checked]:
        """Return the other open documents whose findings depend on the text of this one."""
        path = self._path_of(document)
        return [
            other
            for other in self.documents
            if other is not document and self._live.knows(self._path_of(other), path)
        ]

    async def checked(self, document: Checked, *, newest: bool = True) -> LiveCheck | None:
        """Return the findings of a document; None if another version arrived meanwhile. `newest` requires
        results for the current state of all files; otherwise results for this very text suffice.
        """
        key = unquote(document.uri)
        known = self._results.get(key)
        if known is not None and known[0] is document and (known[1] == self._world or not newest):
            return known[2]
        running = self._running.get(key)
        if running is None or running[0] is not document or running[1] != self._world:
            task = asyncio.ensure_future(self._check(document, self._world))
            running = self._running[key] = (document, self._world, task)
        # Other requests may wait for the same task: cancelling one must not cancel it.
        return await asyncio.shield(running[2])

    async def checked_closed(self, document: Checked) -> LiveCheck | None:
        """Return the findings of a file that is not open; None if it was opened meanwhile."""

        def stopped() -> bool:
            return self._stopping or self.documents.get(document.uri) is not None

        nothing = LiveCheck.nothing(document.source)
        return await self._work(document, background_work.check, nothing, stopped)

    async def files_to_report(self) -> list[Path]:
        """Return the files that are not open and that the settings request to report."""
        return await self._in_background(self.folders.files_to_report) or []

    async def state_of(self, path: Path, stamps: dict[Path, object]) -> object:
        """Return the state from which the findings of a file that is not open follow; None if it is not
        known. `stamps` is the state of files seen in this round.
        """
        texts = self.documents.texts()
        state = await self._in_background(lambda: self._live.state_of(path, texts, stamps))
        return None if state is None else (state, self.folders.applied(path).settings)

    async def fixed(self, document: Checked) -> str | None:
        """Return the text with all fixes of `rlint fix`; None if a newer version arrived."""
        return await self._work(document, background_work.fix, document.source)

    async def explained(self, document: Checked, line: int) -> str | None:
        """Return the explanation of a line (counted from 1) of a document; None if the settings exclude the
        document.
        """
        settings = self.applied(document).settings

        def explained(_: Live, task: background_work.Task) -> str | None:
            return background_work.explain(task, line, settings)

        return await self._work(document, explained, None)

    async def permitted(
        self, document: Checked, found: LiveCheck, findings: Sequence[Finding]
    ) -> Sequence[Finding]:
        """Return the findings of a document, without the fixes that other files forbid, as in `rlint fix`."""
        concerned = [each.fix for each in findings if each.fix is not None and each.fix.needs_permission]
        if not concerned:
            return findings
        codes = {name: self._codes_of(found.paths[name]) for fix in concerned for name in fix.files}
        codes[findings[0].path] = self._codes_of(self._path_of(document))
        queried = background_work.Permission(findings, codes, found.paths)

        def permitted(_: Live, task: background_work.Task) -> Sequence[Finding]:
            return background_work.permitted(task, queried)

        return await self._work(document, permitted, ()) or ()

    def _codes_of(self, path: Path) -> frozenset[str] | None:
        """Return the codes that a file is checked for; None if the settings exclude it."""
        applied = self.folders.applied(path)
        return applied.settings.codes_for(path) if applied.included else None

    async def _check(self, document: Checked, world: int) -> LiveCheck | None:
        found = await self._work(document, background_work.check, LiveCheck.nothing(document.source))
        if found is not None and self.is_current(document):
            for problem in found.problems if found.parsed else ():
                if problem.cell is None:  # else it is shown in the cell
                    self.report(str(problem))
            self._results[unquote(document.uri)] = (document, world, found)
        return found

    async def _work(
        self,
        document: Checked,
        do: Callable[[Live, background_work.Task], _Done | None],
        otherwise: _Done,
        stopped: Callable[[], bool] | None = None,
    ) -> _Done | None:
        """Run a task for a document in the thread, if the settings include it."""
        path, applied = self._path_of(document), self.applied(document)
        codes = applied.settings.codes_for(path)
        if not (applied.included and document.is_python and codes):
            return otherwise
        task = background_work.Task(
            display_name(path, applied.root),
            path,
            document.source,
            codes,
            applied.settings.unsafe_fixes,
            self.documents.texts(),
            stopped=stopped or (lambda: not self.is_current(document)),
            baseline=_baseline(applied.settings),
            confidence=applied.settings.confidence,
            declared=applied.settings.declared,
            fixability=applied.settings.fixability,
            notebook=document.notebook,
        )
        try:
            return await self._in_background(lambda: do(self._live, task))
        except RlintError as error:
            self.report(str(error))
        return otherwise

    async def _in_background(self, work: Callable[[], _Done]) -> _Done | None:
        """Run a task in the thread; None if it accepts no more."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, work)
        except RuntimeError:
            if not self._stopping:
                raise
        return None

    def _path_of(self, document: Checked) -> Path:
        """Return the path of a document; a possible one, if it was never saved."""
        if document.path is not None:
            return document.path
        roots = self.folders.roots
        name = "".join(each if each.isalnum() else "_" for each in unquote(document.uri))
        suffix = ".py" if document.notebook is None else NOTEBOOK
        return (roots[0] if roots else Path.cwd()) / f"{name}{suffix}"


def _baseline(settings: Settings) -> Path | None:
    """Return the configured baseline, whose path is relative to the configuration."""
    if settings.baseline is None or settings.config is None:
        return None
    return absolute(settings.config.parent / settings.baseline)
