"""Run the rules over one line and explain what each reports, and what would make it report more."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rlint.base_rule import Rule
from rlint.engine.dispatch import NodeDispatch
from rlint.engine.explain.hiding import Hiding
from rlint.engine.explain.line_facts import frequency_of, kind_of, nodes_of, statement_at, values_of
from rlint.engine.explain.question_record import RecordingModel
from rlint.engine.explain.sentences import distinct, reasons, shown
from rlint.engine.plan import Plan
from rlint.engine.worker import Worker, analysed, run_rule, text_of
from rlint.findings import Finding, Heat, ImpactLevel, Problem, Related
from rlint.frozen import frozen
from rlint.registry import catalogue
from rlint.run_data import Explained, FileTask, LineExplanation, RuleExplanation, Target
from rlint.semantics.imports.test_files import is_test_file
from rlint.semantics.interprocedural.summary import ModuleSummary
from rlint.semantics.interprocedural.whole_program import LikelyProgram, WholeProgram
from rlint.semantics.likely_models import LikelyModels
from rlint.semantics.model import SemanticModel

if TYPE_CHECKING:
    from rlint.engine.cache.summary_cache import SummaryCache

_MOST_NODES = 12
_NO_STATEMENT = "no statement on this line: rules do not examine comments, empty lines or a bare `else`"
_NO_LEARNING = "no file of this program uses a machine-learning library, so no rules run on it"
_TEST = "this file is a test or documentation, which is parsed but not checked"


@frozen
class ExplainedLine:
    """A line of the text of a file, counted from 1, and perhaps a column."""

    number: int
    column: int | None = None


@frozen
class _World:
    """A program as it is, or as it would be with one more declaration. `change` describes the declaration."""

    change: str
    model: SemanticModel


class Explainer:
    """Explains lines of one file. The file must be readable Python: see `problem`. `around` are all targets
    of the run, including the file; `rated` adds the impact to findings.
    """

    def __init__(
        self,
        target: Target,
        hiding: Hiding,
        *,
        around: Sequence[Target] = (),
        texts: Mapping[Path, str] | None = None,
        summaries: SummaryCache | None = None,
        only: frozenset[str] | None = None,
        rated: Callable[[Sequence[Finding]], Sequence[Finding]] = list,
    ) -> None:
        targets = [target if each.name == target.name else each for each in around] or [target]
        groups = Plan(targets, texts).groups
        jobs = next(list(group) for group in groups if any(job.name == target.name for job in group))
        self._own = next(job for job in jobs if job.name == target.name)
        self.notes: list[str] = []
        if not self._own.judged:
            self.notes.append(_NO_LEARNING)
            jobs = [replace(job, judged=True) for job in jobs]
            self._own = replace(self._own, judged=True)
        self._hiding, self._only, self._rated = hiding, only, rated
        text = text_of(self._own)
        read = analysed(self._own, text) if isinstance(text, str) else text
        self.problem = read if isinstance(read, Problem) else None
        if isinstance(read, Problem) or not isinstance(text, str):
            return
        self.text = text
        if is_test_file(self._own.name, self._own.module, text):
            self.notes.append(_TEST)
        self._summaries = Worker().summarise(jobs, summaries)
        self._program = WholeProgram(self._summaries.values())
        self._analysis = read.linked(self._program.index)
        self._model = SemanticModel(self._own.name, self._analysis, self._program)
        wanted = only if only is not None else {entry.code for entry in catalogue.catalogue()}
        self._rules, _ = catalogue.load_usable(wanted)
        self._found: list[Finding] | None = None

    def explain(self, line: ExplainedLine) -> LineExplanation:
        """Explain one line. Lines and columns refer to the text that is checked."""
        code = self._model.syntax.positions.line_text(line.number).strip()
        statement = statement_at(line.number, self._model)
        if statement is None:
            return LineExplanation(self._own.name, line.number, code, notes=(*self.notes, _NO_STATEMENT))
        described = [*self._findings(line, statement), *self._silences(line, statement)]
        if not described:
            note = f"no rule examines {kind_of(statement)} like this"
            self_notes = (*self.notes, note)
        else:
            self_notes = tuple(self.notes)
        order = list(Explained)
        described.sort(
            key=lambda each: (order.index(each.verdict), not each.changes, -each.questions, each.code)
        )
        return LineExplanation(
            self._own.name,
            line.number,
            code,
            notes=self_notes,
            heat=str(self._model.frequency.heat_of(statement).level),
            frequency=frequency_of(statement, self._model, self._program),
            values=self._values(statement),
            rules=tuple(described),
            looked=len(self._rules),
        )

    # -- what is found -------------------------------------------------------------------------

    def _findings(self, line: ExplainedLine, statement: ast.stmt) -> Iterator[RuleExplanation]:
        """Yield the findings on the line, shown or hidden."""
        if self._found is None:
            visits = NodeDispatch(self._model)
            likely = LikelyModels(self._model, self._program)
            runs = [run_rule(rule, self._model, visits, likely=likely, edits=False) for rule in self._rules]
            self._found = [each for run in runs if not isinstance(run, Problem) for each in run]
            likely.release()
        for finding, part in self._here(line, statement):
            unselected = self._hiding.why_unselected(finding.code) if self._only is None else None
            hidden = self._hiding.why_hidden(finding)
            verdict = (
                Explained.UNSELECTED if unselected else Explained.HIDDEN if hidden else Explained.REPORTED
            )
            if self.notes and verdict is Explained.REPORTED:
                verdict, hidden = Explained.HIDDEN, self.notes[-1]
            place = finding if part is None else part
            starts = self._model.syntax.positions.line_start
            start = starts(place.start.line) + place.start.column - 1
            end = starts(place.end.line) + place.end.column - 1
            subject = " ".join(self.text[start:end].split())
            whole = (
                f"it is part of the finding in line {finding.start.line}: {part.message}" if part else None
            )
            yield RuleExplanation(
                finding.code,
                finding.name,
                verdict,
                f"`{subject[:60]}`",
                place.start.column,
                finding.statement,
                tuple(each for each in (whole, unselected, hidden) if each),
                impact=_impact(finding) if verdict is Explained.REPORTED else "",
            )

    def _here(self, line: ExplainedLine, statement: ast.stmt) -> list[tuple[Finding, Related | None]]:
        """Return the findings on a line, and those elsewhere that name a place on it, with that place."""
        first, last = self._model.logical_lines(statement)
        own: list[Finding] = []
        others: dict[Finding, Related] = {}
        for each in self._found or ():
            if first <= each.start.line <= last:
                own += [each] if _holds(each, line) else []
            elif (place := _related_within(each, first, last)) is not None:
                others[each] = place
        rated = [*self._rated(own), *self._rated([*others])]
        return [*zip(rated, [*[None] * len(own), *others.values()], strict=True)]

    # -- what is not -----------------------------------------------------------------------------

    def _values(self, statement: ast.stmt) -> tuple[tuple[str, str], ...]:
        """Return the values of a statement, each with its type, or with its likely type if none is sure."""
        likely = LikelyModels(self._model, self._program)
        found = values_of(statement, self._model, likely.all)
        likely.release()
        return found

    def _silences(self, line: ExplainedLine, statement: ast.stmt) -> Iterator[RuleExplanation]:
        """Yield why the other rules that visit the line report nothing, even with likely answers."""
        first, last = self._model.logical_lines(statement)
        reported = {
            each.code
            for each in self._found or ()
            if first <= each.start.line <= last or _related_within(each, first, last) is not None
        }
        program = LikelyProgram(self._program)
        model = RecordingModel(self._own.name, self._analysis.likely(program.index), program)
        cold = frequency_of(statement, self._model, self._program)[0]
        worlds: list[_World] | None = None
        for rule in self._rules:
            if rule.code in reported or self._is_unwanted(rule):
                continue
            nodes = _candidates(rule, model, line)
            if not nodes:
                continue
            found = self._silence(rule, nodes, model, cold, statement)
            if found is None:
                continue
            if worlds is None:
                worlds = list(self._worlds(statement))
            changes: list[str] = []
            message = found.message
            for world in worlds:
                finding = _first_finding(rule, world.model, line)
                if finding is not None and not (changes and world is worlds[-1]):
                    changes.append(world.change)
                    message = message or finding.statement
            yield replace(found, changes=tuple(changes), message=message if changes else found.message)

    def _is_unwanted(self, rule: Rule) -> bool:
        """Whether no reason is needed for the silence of a rule, since no explanation was requested."""
        return self._only is None and self._hiding.why_unselected(rule.code) is not None

    def _silence(
        self,
        rule: Rule,
        nodes: Sequence[ast.AST],
        model: RecordingModel,
        cold: str,
        statement: ast.stmt,
    ) -> RuleExplanation | None:
        """Return the queries of a rule about the node of the line with the most queries."""
        if not rule.concerns(model) or not _is_triggered(rule, self.text):
            what = "the file contains no code that the rule applies to"
            node = nodes[0]
            return RuleExplanation(
                rule.code,
                rule.name,
                Explained.SILENT,
                shown(node, model),
                _column(node, model),
                reasons=(what,),
            )
        best: RuleExplanation | None = None
        for node in nodes[:_MOST_NODES]:
            model.clear()
            found: list[Finding] = []
            failed: tuple[str, ...] = ()
            try:
                found = list(rule.check(node, model))
            except Exception as error:  # noqa: BLE001 - one rule's bug must not silence the others
                failed = (f"rlint failed while checking it ({type(error).__name__}: {error})",)
            queries = list(model.queries)
            why = failed or reasons(queries, model, cold, statement)
            if rule.heat is not Heat.COLD and not self._model.frequency.may_be_warm(node):
                why = tuple(dict.fromkeys((cold, *why)))
            message = ""
            if found and found[0].heat < rule.heat:
                message = found[0].statement
                why = (f"the line is {found[0].heat}, and the rule reports only {rule.heat} code",)
            elif found:
                continue  # it is reported at another line
            here = RuleExplanation(
                rule.code,
                rule.name,
                Explained.SILENT,
                shown(node, model),
                _column(node, model),
                message,
                why,
                questions=distinct(queries),
            )
            if best is None or (bool(here.message), here.questions) > (bool(best.message), best.questions):
                best = here
        return best

    # -- what would be ---------------------------------------------------------------------------

    def _worlds(self, statement: ast.stmt) -> Iterator[_World]:
        """Yield the program with the function declared hot, with an accelerator, and with both."""
        hot = self._declared_hot(statement)
        own = self._summaries[self._own.name]
        if hot is not None:
            how, entry = hot
            program = self._with(_declaring(own, entry))
            yield _World(how, SemanticModel(self._own.name, self._analysis.linked(program.index), program))
        if self._own.declared.accelerator is None:
            job = replace(self._own, declared=replace(self._own.declared, accelerator=True))
            own = Worker().summarise([job])[job.name]
            yield from self._moved(job, own, "`accelerator = true` in the configuration")
            if hot is not None:
                how, entry = hot
                yield from self._moved(job, _declaring(own, entry), f"{how}, and `accelerator = true`")

    def _moved(self, job: FileTask, own: ModuleSummary, change: str) -> Iterator[_World]:
        program = self._with(own)
        analysis = analysed(job, self.text, program.index)
        if not isinstance(analysis, Problem):
            yield _World(change, SemanticModel(job.name, analysis, program))

    def _with(self, own: ModuleSummary) -> WholeProgram:
        return WholeProgram({**self._summaries, self._own.name: own}.values())

    def _declared_hot(self, statement: ast.stmt) -> tuple[str, tuple[str, int, Heat, str]] | None:
        """Return how to declare the line hot; None if it is hot, or is in no function or loop."""
        function = self._model.symbols.function_at(statement)
        if function is None or self._model.frequency.heat_of(statement).level is Heat.HOT:
            return None
        if function.qualname:
            named = f"{function.module}.{function.shown}"
            how = f'`hot = ["{named}"]` in the configuration, or `# rlint: hot` at its `def`'
            return how, (function.qualname, -1, Heat.HOT, "declared hot")
        loops = self._model.frequency.loops(statement)
        if not loops:
            return None
        line = getattr(loops[0], "lineno", function.line)
        index = self._model.analysis.loops.index[loops[0]]
        return f"`# rlint: hot` at the loop in line {line}", ("", index, Heat.HOT, "declared hot")


def _declaring(summary: ModuleSummary, entry: tuple[str, int, Heat, str]) -> ModuleSummary:
    """Return the summary of a file with one more declaration."""
    declared = copy.copy(summary)
    others = tuple(each for each in summary.declared if each[0] != entry[0])
    declared.declared = (*others, entry)
    return declared


def _related_within(finding: Finding, first: int, last: int) -> Related | None:
    """Return the first further place of a finding within some lines."""
    return next((place for place in finding.related if first <= place.start.line <= last), None)


def _candidates(rule: Rule, model: SemanticModel, line: ExplainedLine) -> list[ast.AST]:
    """Return the nodes of a line, or of the statement on it, that a rule visits."""
    statement = statement_at(line.number, model)
    if statement is None:
        return []
    here = {node: place for place, node in enumerate(nodes_of(statement, model))}
    found = [node for node in NodeDispatch(model).of(rule, cold=True) if node in here]
    if line.column is not None:
        found = [node for node in found if _is_at(node, line, model)]
    return sorted(found, key=lambda node: here[node])


def _first_finding(rule: Rule, model: SemanticModel, line: ExplainedLine) -> Finding | None:
    """Return the first finding that a rule would report on a line."""
    for node in _candidates(rule, model, line)[:_MOST_NODES]:
        with suppress(RecursionError):
            for finding in rule.check(node, model) if rule.concerns(model) else ():
                if finding.heat >= rule.heat:
                    return finding
    return None


def _is_triggered(rule: Rule, text: str) -> bool:
    return not rule.triggers or any(word in text for word in rule.triggers)


def _is_at(node: ast.AST, line: ExplainedLine, model: SemanticModel) -> bool:
    """Whether a node covers the column of a line."""
    start, end = model.span_of(node)
    place = (line.number, line.column or 1)
    return (start.line, start.column) <= place <= (end.line, end.column)


def _holds(finding: Finding, line: ExplainedLine) -> bool:
    if line.column is None:
        return True
    place = (line.number, line.column)
    return (finding.start.line, finding.start.column) <= place <= (finding.end.line, finding.end.column)


def _impact(finding: Finding) -> str:
    """Return the impact of a finding as words, and how to see it if `rlint check` only counts it."""
    known = finding.impact
    if known is None:
        return ""
    text = f"{known.level}: {known.basis}" if known.basis else str(known.level)
    is_counted = known.level is ImpactLevel.LOW
    return f"{text} (`rlint check` only counts it without `--min-impact low`)" if is_counted else text


def _column(node: ast.AST, model: SemanticModel) -> int:
    return model.span_of(node)[0].column
