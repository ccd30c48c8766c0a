"""Functions that other code runs: the targets of threads and processes, and work passed to pools."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rlint import models
from rlint.findings import Heat
from rlint.models.parameters import CALLED_AT
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.semantics.interprocedural.summary import CallSite
from rlint.syntax.assignments import targets_of
from rlint.syntax.last_names import last_name
from rlint.syntax.syntax_index import LOOPS
from rlint.syntax.walk import descendants

if TYPE_CHECKING:
    from rlint.semantics.file_analysis import FileAnalysis

PROCESS = "process"
THREAD = "thread"

_RUNS_LATER = frozenset({"target", "fn", "func", "function", "worker_fn"})
_SUBMITS = frozenset({"submit", "apply", "apply_async"})
_MAPS = models.having(Trait.MAPS, TypeTag.POOL)
_POOLED = _SUBMITS | _MAPS
_MAPPERS = frozenset({"builtins.map", "builtins.filter"})
_THREAD_POOLS = frozenset({"concurrent.futures.ThreadPoolExecutor", "multiprocessing.pool.ThreadPool"})
_STARTING = ("threading.", "multiprocessing.", "torch.multiprocessing.")
_TARGET_PLACE = {
    name.rpartition(".")[2]: place
    for name, places in CALLED_AT.items()
    for place in places
    if name.startswith(_STARTING)
}
"""Position of the target among the positional arguments."""


def handed_over(call: ast.Call, analysis: FileAnalysis) -> list[CallSite]:
    """Return the functions that a call runs for its caller, as calls of their own: thread and process
    targets, submitted and mapped work.
    """
    name = last_name(call.func) or ""
    spawned = _starts(call, name, analysis) if name in _TARGET_PLACE or _names_target(call) else ""
    pooled = ""
    handed: list[ast.expr] = []
    if spawned:
        handed = _targets(call, name)
    elif name in _POOLED and isinstance(call.func, ast.Attribute):
        handed = call.args[:1]
        pooled = _pool_of(call.func.value, analysis)
    elif analysis.names.qualified(call.func) in _MAPPERS:
        handed = call.args[:1]
    found = []
    for value in handed:
        kind = analysis.types.type_of(value)
        path = kind.of or (analysis.names.qualified(value) or "")
        if path:
            loop = analysis.loops.innermost(call)
            given = _handed_arguments(call, name, analysis) if len(handed) == 1 else ()
            found.append(
                CallSite(
                    path,
                    "",
                    call.lineno,
                    # a thread or process runs its target once, however many of them a loop starts
                    -1 if spawned or loop is None else analysis.loops.index[loop],
                    tuple((place, analysis.types.type_of(part).aged()) for place, part in given),
                    Heat.COLD if spawned else Heat.HOT,
                    each_pass=analysis.loops.iteration_frequency.each_pass(call),
                    guards=analysis.loops.conditions.of(call),
                    names=tuple((place, named) for place, part in given if (named := last_name(part))),
                    starts=spawned or pooled,
                    many=bool(pooled) or (bool(spawned) and starts_many(call, analysis)),
                )
            )
    return found


def makes_worker(call: ast.Call, analysis: FileAnalysis) -> bool:
    """Whether this call itself starts a worker (or submits work to a pool), rather than a call around or
    inside it.
    """
    if any(site.starts for site in handed_over(call, analysis)):
        return True
    kind = analysis.types.type_of(call)
    return (
        kind.tag in (TypeTag.PROCESS, TypeTag.THREAD) and last_name(call.func) == kind.of.rpartition(".")[2]
    )


def _starts(call: ast.Call, name: str, analysis: FileAnalysis) -> str:
    """Return the kind of worker that a call creates, "" for none. Classes that derive from a thread or a
    process, and those of contexts (`ctx.Process`), are recognised by their names.
    """
    if name in ("spawn", "start_processes"):
        qualified = analysis.names.qualified(call.func) or ""
        named = any(keyword.arg in _RUNS_LATER for keyword in call.keywords)
        return PROCESS if named or qualified.startswith("torch.multiprocessing.") else ""
    if analysis.types.type_of(call).tag is TypeTag.PROCESS or name.endswith("Process"):
        return PROCESS
    return THREAD if name.endswith(("Thread", "Timer")) else ""


def _names_target(call: ast.Call) -> bool:
    return bool(call.keywords) and any(keyword.arg == "target" for keyword in call.keywords)


def _targets(call: ast.Call, name: str) -> list[ast.expr]:
    named = [keyword.value for keyword in call.keywords if keyword.arg in _RUNS_LATER]
    place = _TARGET_PLACE.get(name, 1)
    return named or call.args[place : place + 1]


def _pool_of(pool: ast.expr, analysis: FileAnalysis) -> str:
    """Return the kind of the workers of a pool; "" if the value is not known to be one."""
    kind = analysis.types.type_of(pool)
    if kind.tag is not TypeTag.POOL:
        return ""
    return THREAD if kind.of in _THREAD_POOLS else PROCESS


def starts_many(call: ast.Call, analysis: FileAnalysis) -> bool:
    """Whether the worker that a call starts may run concurrently with others started by the same call. False
    if a loop joins each before it starts the next.
    """
    name = last_name(call.func) or ""
    if name in ("spawn", "start_processes"):
        wanted = next((k.value for k in call.keywords if k.arg == "nprocs"), None)
        wanted = call.args[2] if wanted is None and len(call.args) > 2 else wanted
        return wanted is not None and not (isinstance(wanted, ast.Constant) and wanted.value == 1)
    loops = analysis.loops.around(call)
    if not loops:
        return False
    innermost = loops[0]
    if not isinstance(innermost, LOOPS):
        return True
    inside = (node for statement in innermost.body for node in descendants(statement))
    joined = {ast.unparse(node.func.value) for node in inside
              if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
              and node.func.attr == "join"}  # fmt: skip
    return joined.isdisjoint(map(ast.unparse, targets_of(call, analysis.syntax.parents)))


def _handed_arguments(call: ast.Call, name: str, analysis: FileAnalysis) -> list[tuple[str, ast.expr]]:
    """Return the arguments of a function that runs later: `args=(queue, stop)`, `submit(fn, queue)`."""
    given: list[ast.expr] = []
    named: list[tuple[str, ast.expr]] = []
    if name == "submit":
        given = call.args[1:]
        named = [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
    elif name in ("apply", "apply_async") and len(call.args) > 1:
        given = _elements(call.args[1])
    for keyword in call.keywords if name != "submit" else ():
        if keyword.arg == "args":
            given = _elements(_display(keyword.value, analysis))
        elif keyword.arg in ("kwargs", "kwds") and isinstance(keyword.value, ast.Dict):
            for key, value in zip(keyword.value.keys, keyword.value.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    named.append((key.value, value))
    if name in ("spawn", "start_processes"):
        if not given and len(call.args) > 1:
            given = _elements(_display(call.args[1], analysis))
        return [(str(place), value) for place, value in enumerate(given, 1)]  # the rank is passed first
    return [*((str(place), value) for place, value in enumerate(given)), *named]


def _display(value: ast.expr, analysis: FileAnalysis) -> ast.expr:
    """Return the tuple that a name for the arguments is bound to: `args = (queue, stop)`."""
    if isinstance(value, ast.Name):
        bindings = analysis.definitions.reaching(value)
        if len(bindings) == 1 and bindings[0].value is not None and not bindings[0].path:
            return bindings[0].value
    return value


def _elements(sequence: ast.expr) -> list[ast.expr]:
    """Return the elements of a tuple or list display whose positions are certain."""
    elements = sequence.elts if isinstance(sequence, (ast.Tuple, ast.List)) else []
    starred = next((i for i, part in enumerate(elements) if isinstance(part, ast.Starred)), len(elements))
    return elements[:starred]
