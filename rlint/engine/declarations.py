"""Declarations in comments (`# rlint: hot`) and in the configuration about the functions and loops of a
file.
"""

from __future__ import annotations

from rlint.config.declared_knowledge import means
from rlint.findings import Heat
from rlint.notebook.layout import shown_line
from rlint.run_data import FileTask
from rlint.semantics.interprocedural.summary import ModuleSummary
from rlint.suppression import heat_comments

_Declared = tuple[str, int, Heat, str]


def declare(job: FileTask, text: str, summary: ModuleSummary) -> None:
    """Add to the summary of a file what its text does not show: its place among the programs of the project,
    and the declarations about it. Comments in the code override the configuration.
    """
    declared = job.declared
    summary.is_next_to_programs = job.is_next_to_programs
    summary.has_entries = declared.entry_points is not None
    if declared.entry_points:
        summary.entries = declared.entries_in(job.path, job.module)
    found: dict[tuple[str, int], _Declared] = {}
    if declared.hot or declared.cold:
        names = declared.modules(job.path, summary.module)
        for qualname, function in summary.functions.items():
            if not qualname:
                continue
            for patterns, level, origin in (
                (declared.hot, Heat.HOT, declared.hot_from),
                (declared.cold, Heat.COLD, declared.cold_from),
            ):
                if any(means(pattern, f"{name}.{function.shown}") for name in names for pattern in patterns):
                    found[qualname, -1] = qualname, -1, level, f"declared {level} in {origin}"
    for level, span in heat_comments.read(text):
        why = f"declared {level} in {summary.path}:{shown_line(span.first, summary.cells)}"
        for qualname, function in summary.functions.items():
            if qualname and span.first <= function.line <= span.last:
                found[qualname, -1] = qualname, -1, level, why
                continue
            for index, loop in enumerate(function.loops):
                if span.first <= loop.line <= span.last:
                    found[qualname, index] = qualname, index, level, f"declared {level}"
    summary.declared = tuple(found.values())
