"""Calls that write to a log at once (lines, records, points of a curve), and the project's own loggers."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from rlint import models
from rlint.frozen import frozen
from rlint.models import vocabulary
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.regex import regex
from rlint.semantics.frequency.guards import Guard, GuardKind
from rlint.syntax.last_names import last_name
from rlint.syntax.queries import variable_names

if TYPE_CHECKING:
    from rlint.semantics.file_analysis import FileAnalysis
    from rlint.semantics.interprocedural.call_graph import CallGraph
    from rlint.semantics.interprocedural.summary import FunctionSummary

POINTS = frozenset(name for name in models.methods_of(TypeTag.WRITER) if name.startswith("add_"))
"""Methods of a summary writer only."""
_LEVELS = models.having(Trait.REPORTS, TypeTag.LOGGER) | {"success"}
_LOGGERS = ("logging.", "loguru.logger.", "absl.logging.")
_OF_LOGGER = "logging.Logger."
_TRACKERS = models.having(Trait.REPORTS, "mlflow", "rich", "swanlab", "tqdm.tqdm", "wandb") | {
    "wandb.run.log"
}
_ROWS = "writerow"
_DUMPS = "dump"
"""Writes all that a logger has recorded: `self.logger.dump(step)` of Stable-Baselines3."""
_FLUSH = "flush"
_SHOWN = regex(r"[\r\n]")
"""What makes a terminal show the text before it."""
_TERMINAL = ("sys.stdout.write", "sys.stderr.write")
_REDRAWS = models.names_having(Trait.REDRAWS, "tqdm.tqdm")
"""Methods of a progress bar only, apart from `refresh`."""
NAMES = (
    POINTS
    | _REDRAWS
    | _LEVELS
    | vocabulary.LOGS_METRICS
    | {_DUMPS, "log", "print", "write"}
    | {path.rpartition(".")[2] for path in _TRACKERS}
)
"""The last names of all library calls that may write to a log."""
_DEPTH = 4
_HARMLESS = frozenset({GuardKind.RANK, GuardKind.PRESENT, GuardKind.SWITCH})
"""Conditions that a logger tests before it writes, and conditions that hold in every call or in none:
`self.writer is not None`.
"""


@frozen
class LogWriter:
    """A project function that writes to a log in each call that leaves the parameters in `relies` at their
    defaults. It is `bare` if it writes whatever its settings are.
    """

    relies: tuple[str, ...] = ()
    bare: bool = False


def is_log_write(call: ast.Call, analysis: FileAnalysis) -> bool:
    """Whether a library call writes to a log at once, rather than collecting records to write later."""
    qualified = analysis.names.qualified(call.func)
    if qualified is not None:
        prefix, _, name = qualified.rpartition(".")
        if f"{prefix}." in _LOGGERS:
            return name in _LEVELS
        if qualified == "builtins.print":
            return not _continues_line(call)
        return qualified in _TRACKERS or (qualified in _TERMINAL and _ends_line(call, analysis))
    if not isinstance(call.func, ast.Attribute):
        return False
    method = call.func.attr
    if method in _REDRAWS:
        return _redraws_bar(call, call.func, analysis)
    if method in POINTS or method == "print":
        return True
    if method in vocabulary.LOGS_METRICS or (method == _DUMPS and len(call.args) <= 1):
        # of a logger that a framework hands out (`self.logger` of a Lightning module)
        return not analysis.types.type_of(call.func.value) and bool(
            vocabulary.LOGGER_NAME.search((last_name(call.func.value) or "").lower())
        )
    if method not in _LEVELS and method != "log":
        return False
    kind = analysis.types.type_of(call.func.value)
    if kind.tag is TypeTag.INSTANCE and method in _LEVELS:
        # a method of a logger that an object keeps: `self.info = logger.info`
        return analysis.types.type_of(call.func).of.startswith(_OF_LOGGER)
    if not kind and method in _LEVELS:
        return (last_name(call.func.value) or "").lower().strip("_") == "logger"
    return kind.tag is (TypeTag.WRITER if method == "log" else TypeTag.LOGGER)


def _redraws_bar(call: ast.Call, method: ast.Attribute, analysis: FileAnalysis) -> bool:
    """Whether a call draws a progress bar at once: `bar.set_postfix(loss=loss)`. With `refresh=False`, the
    values wait until the bar draws itself, at most ten times a second.
    """
    refresh = [keyword.value for keyword in call.keywords if keyword.arg == "refresh"] or call.args[1:2]
    if refresh and not (isinstance(refresh[0], ast.Constant) and refresh[0].value):
        return False
    kind = analysis.types.type_of(method.value)
    return kind.tag is TypeTag.ITERATOR or (not kind and method.attr != "refresh")


def _ends_line(call: ast.Call, analysis: FileAnalysis) -> bool:
    """Whether a text that is written to the terminal ends or overwrites a line, or its function flushes it:
    then it is shown at once.
    """
    return any(_SHOWN.search(text) for text in _texts_of(call.args)) or _flushes(call, analysis)


def _texts_of(written: Iterable[ast.expr]) -> Iterator[str]:
    """Yield the literal parts of what is written."""
    for argument in written:
        for part in ast.walk(argument):
            if isinstance(part, ast.Constant):
                yield str(part.value)


def _flushes(call: ast.Call, analysis: FileAnalysis) -> bool:
    function = analysis.syntax.function(call)
    return any(
        analysis.syntax.function(flush) is function for flush in analysis.syntax.written.calls_of((_FLUSH,))
    )


def _writes_rows(call: ast.Call, analysis: FileAnalysis) -> bool:
    """Whether a call writes a CSV row and its function flushes the file; a row alone stays in a buffer."""
    return last_name(call.func) == _ROWS and _flushes(call, analysis)


def _flushes_text(call: ast.Call, analysis: FileAnalysis) -> bool:
    """Whether a call flushes what its function has written to the same object:
    `self.file.write(text)`, `self.file.flush()`.
    """
    if not isinstance(call.func, ast.Attribute) or call.func.attr != _FLUSH:
        return False
    function, flushed = analysis.syntax.function(call), ast.dump(call.func.value)
    return any(
        isinstance(write.func, ast.Attribute)
        and ast.dump(write.func.value) == flushed
        and analysis.syntax.function(write) is function
        for write in analysis.syntax.written.calls_of(("write",))
    )


def _continues_line(call: ast.Call) -> bool:
    """Whether `print` neither ends the line nor returns to its beginning, and does not flush: the text waits
    in the buffer of the terminal.
    """
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    end, flush = given.get("end"), given.get("flush")
    if end is None or (isinstance(flush, ast.Constant) and flush.value):
        return False
    return not any(_SHOWN.search(text) for text in _texts_of([*call.args, end]))


def relaying(analysis: FileAnalysis) -> list[str]:
    """Return the methods that write what their callers give them to a log: those whose only statement writes
    their parameters, perhaps in one process only, or after the method of the base class
    (`def print(self, text): self.accelerator.print(text)`), and those that write a value under a name, both
    of them parameters, whatever else they keep (`self.writer.add_scalar(key, value, step)`).
    """
    written = analysis.syntax.written
    found = [
        analysis.syntax.qualname(method)
        for call in written.calls_of(NAMES)
        if (method := _relayed_by(call, analysis)) is not None and is_log_write(call, analysis)
    ]
    within = {path.rpartition(".")[2] for path in found}
    for call in written.calls_of(within) if within else ():
        # a method that passes on what it is given to one of these
        method = _relayed_by(call, analysis)
        if method is not None and method.name != last_name(call.func) and _is_of_self(call):
            owner = analysis.syntax.qualname(method).rpartition(".")[0]
            if f"{owner}.{last_name(call.func)}" in found:
                found.append(analysis.syntax.qualname(method))
    return found


def _is_of_self(call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(value=ast.Name(id="self")):
            return True
    return False


def _relayed_by(call: ast.Call, analysis: FileAnalysis) -> ast.FunctionDef | None:
    """Return the method with parameters that does little but make a call, perhaps under one condition."""
    syntax = analysis.syntax
    method = syntax.function(call)
    if not isinstance(method, ast.FunctionDef) or not isinstance(syntax.parents.get(method), ast.ClassDef):
        return None
    body = method.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]  # the docstring
    body = [statement for statement in body if not _passes_to_base(statement)]
    named = _passes_named_value(call, method)
    if named:
        body = [each for each in body if _is_or_holds(each, call)]
    if len(body) == 1 and isinstance(body[0], ast.If) and not body[0].orelse:
        body = body[0].body
        if named:
            body = [each for each in body if _is_or_holds(each, call)]
    match body:
        case [(ast.Expr() | ast.Return()) as statement] if statement.value is call:
            return method if len(method.args.args) > 1 else None
    return None


def _passes_named_value(call: ast.Call, method: ast.FunctionDef) -> bool:
    """Whether a call passes on the name of a curve and its value, both of which are given to its method:
    `add_scalar(f"train/{key}", float(value), step)`, `wandb.log({key: value})`.
    """
    match call.args:
        case [ast.Dict(keys=[ast.expr() as key], values=[value]), *_]:
            pass
        case [key, value, *_]:
            pass
        case _:
            return False
    parameters = {parameter.arg for parameter in method.args.args[1:]}
    named, valued = (parameters & variable_names(part) for part in (key, value))
    return bool(named) and bool(valued - named)


def _is_or_holds(statement: ast.stmt, call: ast.Call) -> bool:
    """Whether a statement is a call, or a condition that decides whether the call is made."""
    match statement:
        case ast.If(body=body, orelse=[]):
            return any(isinstance(each, ast.Expr) and each.value is call for each in body)
        case ast.Expr(value=value):
            return value is call
    return False


def _passes_to_base(statement: ast.stmt) -> bool:
    """Whether a method of a logger calls the one of its base class: `super().write(values)`."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="super"))))):
            return True
    return False


def log_guards(analysis: FileAnalysis) -> dict[str, tuple[Guard, ...]]:
    """Return the conditions under which the functions of a file write to a log themselves, by qualified name:
    those of the write with the fewest. A line that is printed only if a switch is on is left out.
    """
    syntax, conditions = analysis.syntax, analysis.loops.conditions
    found: dict[str, tuple[Guard, ...]] = {}
    for call in syntax.written.calls_of((*NAMES, _ROWS, _FLUSH)):
        function = syntax.function(call)
        if function is None or not (
            is_log_write(call, analysis) or _writes_rows(call, analysis) or _flushes_text(call, analysis)
        ):
            continue
        guards, name = conditions.of(call), syntax.qualname(function)
        printed = analysis.names.qualified(call.func) == "builtins.print"
        switched = any(guard.kind is not GuardKind.RANK for guard in guards)
        if printed and switched and all(guard.kind in _HARMLESS for guard in guards):
            continue
        if name not in found or len(guards) < len(found[name]):
            found[name] = guards
    return found


class LogWriters:
    """The project functions that write to a log in each call, themselves or through functions that they
    call.
    """

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph

    def called(self, caller: str, method: str, line: int) -> tuple[str, ...] | None:
        """Return the parameters that a call of a method must leave out for it to write to a log at once; None
        if it does not write, or if its own lines already show it.
        """
        writers = [self._writers.get(target.path) for target in self._targets(caller, method, line)]
        if not writers or None in writers or all(writer is not None and writer.bare for writer in writers):
            return None
        return tuple(sorted({name for writer in writers if writer is not None for name in writer.relies}))

    def relays(self, path: str) -> bool:
        """Whether all that a method does is to write the text of its callers, whose calls are known to write
        to a log. They are not if other classes have methods of the same name that write nothing.
        """
        edges = self.graph.callers(path)
        if not edges or path not in self._writers or not edges[0].target.relays_log:
            return False
        name = edges[0].target.name
        return any(self.called(edge.caller.path, name, edge.site.line) is not None for edge in edges)

    @cached_property
    def relay_names(self) -> frozenset[str]:
        """Return the names of the methods that only write the text of their callers."""
        return frozenset(
            function.name
            for module in self.graph.index.modules.values()
            for function in module.functions.values()
            if function.relays_log
        )

    def holds_back(self, caller: str, method: str, line: int) -> bool:
        """Whether a call of a method that is named like one of a library's writer likely runs methods of the
        project which write under conditions: at intervals, or only values that changed. Those that only pass
        on the call do not count.
        """
        targets = [each for each in self._targets(caller, method, line) if not _passes_on(each)]
        return bool(targets) and all(
            target.path not in self._writers
            and any(guard.kind not in _HARMLESS for guard in target.log_guards or ())
            for target in targets
        )

    def _targets(self, caller: str, method: str, line: int) -> list[FunctionSummary]:
        return [
            edge.target
            for edge in self.graph.calls(caller)
            if edge.site.method == method and edge.site.line == line
        ]

    @cached_property
    def _writers(self) -> dict[str, LogWriter]:
        found: dict[str, LogWriter] = {}
        for module in self.graph.index.modules.values():
            for function in module.functions.values():
                if function.log_guards is not None:
                    # the line that writes a row, or the text of a caller, says little: calls are reported
                    shown = any(site.path in _TERMINAL for site in function.calls)
                    rows = not shown and any(site.method in (_ROWS, _FLUSH) for site in function.calls)
                    bare = not rows and not function.relays_log
                    writer = _writer(function, function.log_guards, LogWriter(bare=bare))
                    if writer is not None:
                        found[function.path] = writer
        newest = dict(found)
        for _ in range(_DEPTH):
            reached: dict[str, LogWriter] = {}
            for path, writer in newest.items():
                for edge in self.graph.callers(path):
                    if edge.caller.path in found or edge.guessed or not edge.target.is_method:
                        continue
                    above = _writer(edge.caller, edge.site.guards, writer)
                    if above is not None:
                        reached.setdefault(edge.caller.path, above)
            found.update(reached)
            newest = reached
        return found


def _passes_on(function: FunctionSummary) -> bool:
    """Whether all that a method does is to call the method of the same name of another object."""
    calls = function.calls
    return not function.log_guards and bool(calls) and all(site.method == function.name for site in calls)


def _writer(function: FunctionSummary, guards: tuple[Guard, ...], written: LogWriter) -> LogWriter | None:
    """Return how a function that writes to a log under these conditions is classified; None if it writes
    nothing.
    """
    relies: set[str] = set()
    for guard in guards:
        if guard.kind is GuardKind.INTERVAL:
            intervals = _unit_intervals(function, guard)
            if not intervals:
                return None
            relies |= intervals
        elif guard.kind not in _HARMLESS:
            return None
    only_rank = all(guard.kind is GuardKind.RANK for guard in guards)
    # arguments passed on by a call in between are not examined: the write must be the function's own
    if written.relies:
        return None
    return LogWriter(tuple(sorted(relies)), written.bare and only_rank)


def _unit_intervals(function: FunctionSummary, guard: Guard) -> set[str]:
    """Return the parameters with default 1 that are the length of an interval: `step % log_frequency`, or
    `self._should_log(step, log_frequency)`.
    """
    if guard.decider in function.ones:
        return {guard.decider}
    return {
        name
        for site in function.calls
        if site.method and f"{site.method}(" in guard.text
        for _, name in site.names
        if name in function.ones
    }
