"""State shared between workers, over the files of a project: how queues and shared values are created, and
what is put into queues.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from rlint.frozen import frozen
from rlint.models.value_type import TypeTag
from rlint.regex import regex
from rlint.syntax.assignments import targets_of
from rlint.syntax.last_names import calls_like, last_name
from rlint.syntax.scopes import BindingKind

if TYPE_CHECKING:
    from rlint.semantics.file_analysis import FileAnalysis
    from rlint.semantics.interprocedural.call_graph import CallGraph
    from rlint.semantics.interprocedural.summary import FunctionSummary

_MADE = frozenset({TypeTag.QUEUE, TypeTag.SHARED_VALUE, TypeTag.EVENT})
_UNBOUNDED = frozenset({"queue.SimpleQueue", "multiprocessing.SimpleQueue"})
METRICS = "metrics"
DATA = "data"
UNSURE = "unsure"

_METRIC_WORD = regex(
    r"loss|reward|return|score|episode|fps|sps|entropy|kl|epsilon|eps|grad_norm|lr|learning_rate|time|step"
    r"|length|metric|stat|accuracy|mean|std|min|max|info|name|tag|value|worker|rank|actor|id|message|msg"
    r"|count|iteration|iter|epoch|update|frame|q_?val|td_?error|win|rate|total|avg|average|kind|^(ret|pg|vf|pi|k|t|n)$"
)
_METRICS_NAME = regex(
    r"(^|_)(logs?|logger|logging|metrics?|stats?|statistics|monitor|monitoring|tb|tensorboard|wandb|scalars?"
    r"|report|reports|telemetry|progress)(_|$)"
)
_DATA_NAME = regex(
    r"(^|_)(obs|observations?|states?|actions?|transitions?|batch|batches|trajector(y|ies)|rollouts?"
    r"|samples?|experiences?|episodes?_?data|params?|parameters|weights?|state_dict|grads?|gradients?"
    r"|priorit(y|ies)|td_errors?|task|tasks|command|cmd|request|requests|buffer|data|dones?|images?|frames?"
    r"|prompts?|tokens?|completions?)(_|$)"
)


@frozen
class ChannelMaker:
    """A queue, event or shared value named `name` is created: by `of`, with `arguments` by position or
    keyword, as source. `many` says that several objects have the name, as items or one after the other.
    """

    name: str
    of: str
    arguments: tuple[tuple[str, str], ...] = ()
    many: bool = False

    def argument(self, name: str, position: int) -> str | None:
        """Return the source of an argument; None if it is not passed."""
        given = dict(self.arguments)
        return given.get(name, given.get(str(position)))

    @property
    def bounded(self) -> bool | None:
        """Whether `put` on a queue may block until there is room. None where unknown."""
        if self.of in _UNBOUNDED:
            return False
        size = self.argument("maxsize", 0)
        if size is None:
            return False
        return int(size) > 0 if re.fullmatch(r"-?\d+", size) else True

    @property
    def own_lock(self) -> bool:
        """Whether a shared value has a re-entrant lock of its own."""
        if self.of != "multiprocessing.Value":
            return False
        return self.argument("lock", -1) in (None, "True")


def made_in(analysis: FileAnalysis) -> tuple[ChannelMaker, ...]:
    """Return the queues, events and shared values that a file creates and names."""
    found: dict[ChannelMaker, None] = {}
    for call in calls_like(_may_make, analysis.syntax):
        kind = analysis.types.type_of(call)
        if kind.tag not in _MADE or not kind.fresh:
            continue
        arguments = [(str(position), _text(value)) for position, value in enumerate(call.args)]
        arguments += [(keyword.arg or "**", _text(keyword.value)) for keyword in call.keywords]
        for name in _names_of(call, analysis):
            found[ChannelMaker(name, kind.of, tuple(arguments), _are_many(call, analysis))] = None
    return tuple(found)


def _may_make(name: str) -> bool:
    return name.endswith(("Queue", "Value", "Event", "Array"))


def _are_many(call: ast.Call, analysis: FileAnalysis) -> bool:
    parent = analysis.syntax.parents.get(call)
    listed = isinstance(parent, (ast.List, ast.Tuple)) and not targets_of(call, analysis.syntax.parents)
    return listed or bool(analysis.loops.around(call))


def _text(value: ast.expr) -> str:
    return ast.unparse(value)


def _names_of(call: ast.Call, analysis: FileAnalysis) -> list[str]:
    """Return the names that a new object is bound to, alone or as an item of a list or dict."""
    node: ast.AST = call
    for parent in analysis.syntax.ancestors(call):
        targets = targets_of(node, analysis.syntax.parents)
        if targets:
            return [name for target in targets if (name := name_of_channel(target))]
        match parent:
            case ast.List() | ast.Tuple() | ast.ListComp() | ast.DictComp() | ast.IfExp():
                node = parent
            case ast.Dict(keys=keys, values=values):
                place = values.index(node) if node in values else -1
                key = keys[place] if place >= 0 else None
                return [key.value] if isinstance(key, ast.Constant) and isinstance(key.value, str) else []
            case ast.keyword(arg=str(name)):
                return [name]
            case ast.Call(func=ast.Attribute(attr="append", value=owner)):
                return [name] if (name := last_name(owner)) else []
            case _:
                return []
    return []


def name_of_channel(target: ast.expr) -> str | None:
    """Return the name of a queue or shared value: of its variable or attribute, or its key in a dict."""
    match target:
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
    return last_name(target)


# -- what queues carry -------------------------------------------------------------------------


def carried_in(analysis: FileAnalysis) -> tuple[tuple[str, str], ...]:
    """Return what a file puts into queues: the queue's last name, and METRICS, DATA or UNSURE."""
    found: dict[tuple[str, str], None] = {}
    for call in analysis.syntax.written.calls_of(("put", "put_nowait")):
        match call.func:
            case ast.Attribute(value=owner) if call.args or call.keywords:
                tag = analysis.types.type_of(owner).tag
                name = name_of_channel(owner)
                if name and tag in (TypeTag.QUEUE, TypeTag.UNKNOWN):
                    found[name, cargo_of(call, analysis)] = None
    return tuple(found)


def cargo_of(put: ast.Call, analysis: FileAnalysis) -> str:
    """Return what a call of `put` passes: metrics for a log, data to compute with, or unknown."""
    item = (
        put.args[0] if put.args else next((k.value for k in put.keywords if k.arg in ("item", "obj")), None)
    )
    if item is None:
        return UNSURE
    return _cargo(item, analysis, 3)


def _cargo(item: ast.expr, analysis: FileAnalysis, depth: int) -> str:
    kind = analysis.types.type_of(item)
    if kind.tag in (TypeTag.NDARRAY, TypeTag.TENSOR, TypeTag.BATCH, TypeTag.STATE_DICT, TypeTag.MODULE):
        return DATA
    match item:
        case ast.Constant(value=None | bool()):
            return METRICS  # the end of the stream, or a heartbeat: says nothing about other items
        case ast.Dict(keys=keys, values=values):
            names = [
                key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)
            ]
            if not names or any(_cargo(value, analysis, depth - 1) == DATA for value in values):
                return DATA if names else UNSURE
            if any(_DATA_NAME.search(name.lower()) for name in names):
                return DATA
            return METRICS if all(_METRIC_WORD.search(name.lower()) for name in names) else UNSURE
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            judged = {
                _cargo(part, analysis, depth - 1) for part in parts if not isinstance(part, ast.Constant)
            }
            return DATA if DATA in judged else METRICS if judged <= {METRICS} and parts else UNSURE
        case ast.Name() if depth > 0 and analysis.names.qualified(item) is None:
            bound = [
                b for b in analysis.definitions.reaching(item) if b.kind is BindingKind.ASSIGN and not b.path
            ]
            judged = {_cargo(b.value, analysis, depth - 1) for b in bound if b.value is not None} - {UNSURE}
            if judged:
                return DATA if DATA in judged else METRICS
    name = (last_name(item) or "").lower()
    if _METRICS_NAME.search(name):
        return METRICS
    return DATA if _DATA_NAME.search(name) else UNSURE


def is_named_for_metrics(name: str) -> bool:
    """Whether a queue's name says that it carries logged values."""
    return bool(_METRICS_NAME.search(name.lower())) and not _DATA_NAME.search(name.lower())


# -- over files --------------------------------------------------------------------------------


class Channels:
    """The shared objects of a project, identified by their names within one program."""

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self.index = graph.index

    def aliases(self, name: str, function: FunctionSummary | None, *, parameter: bool) -> set[str]:
        """Return the names of the object called `name` in a function: its own and, for a parameter, those
        that callers (including code that starts a worker with it) use.
        """
        found = {name}
        open_names = [(name, function)] if function is not None and parameter else []
        while open_names and len(found) < 8:
            current, within = open_names.pop()
            for edge in self.graph.callers(within.path):
                places = {str(i): p for i, p in enumerate(within.call_parameters)}
                for place, passed in edge.site.names:
                    if places.get(place, place) == current and passed not in found:
                        found.add(passed)
                        if passed in edge.caller.parameters:
                            open_names.append((passed, edge.caller))
        return found

    def made(self, names: set[str], module: str) -> tuple[ChannelMaker, ...]:
        """Return the calls that create the objects of these names in the program of a module."""
        return tuple(
            made
            for summary in self.graph.program_files(module)
            for made in summary.made
            if made.name in names
        )

    def carries(self, names: set[str], module: str) -> str:
        """Return what all `put` calls of the program put into the queues of these names."""
        found = {
            cargo
            for summary in self.graph.program_files(module)
            for name, cargo in summary.carried
            if name in names
        }
        if DATA in found:
            return DATA
        if found == {METRICS} or (found and any(is_named_for_metrics(name) for name in names)):
            return METRICS
        return UNSURE
