"""Facts about a line: what it is, how often it runs and why, and the types of its values."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.engine.explain.sentences import described, shown
from rlint.findings import Heat
from rlint.notebook.layout import shown_line
from rlint.semantics.frequency.guards import Guard
from rlint.semantics.interprocedural.summary import FunctionSummary
from rlint.semantics.interprocedural.whole_program import WholeProgram
from rlint.semantics.model import SemanticModel
from rlint.syntax.value_use import UseKind

_MOST_CALLERS = 3
_MOST_VALUES = 8
_KINDS: dict[type[ast.AST], str] = {
    ast.Import: "an import",
    ast.ImportFrom: "an import",
    ast.Pass: "a `pass`",
    ast.Break: "a `break`",
    ast.Continue: "a `continue`",
    ast.Return: "a `return`",
    ast.Raise: "a `raise`",
    ast.Global: "a `global`",
    ast.Nonlocal: "a `nonlocal`",
    ast.FunctionDef: "the header of a function",
    ast.AsyncFunctionDef: "the header of a function",
    ast.ClassDef: "the header of a class",
    ast.If: "a condition",
    ast.For: "the header of a loop",
    ast.While: "the header of a loop",
    ast.With: "the header of a `with`",
    ast.Try: "the header of a `try`",
    ast.Delete: "a `del`",
    ast.Assert: "an assertion",
}


def statement_at(line: int, model: SemanticModel) -> ast.stmt | None:
    """Return the innermost statement whose lines, or whose header's lines, include a line; None if there is
    none.
    """
    best: tuple[int, ast.stmt] | None = None
    for node in ast.walk(model.syntax.module):
        if isinstance(node, ast.stmt) and node.lineno - _MOST_DECORATED <= line <= (
            node.end_lineno or node.lineno
        ):
            first, last = model.logical_lines(node)
            if first <= line <= last and (best is None or first >= best[0]):
                best = first, node
    return best[1] if best is not None else None


_MOST_DECORATED = 20


def kind_of(statement: ast.stmt) -> str:
    """Return a description of a statement: "an assignment without a call"."""
    named = _KINDS.get(type(statement))
    if named is not None:
        return named
    what = (
        "an assignment"
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign))
        else "a statement"
    )
    calls = any(isinstance(node, ast.Call) for node in ast.walk(statement))
    return what if calls else f"{what} without a call"


def frequency_of(statement: ast.stmt, model: SemanticModel, program: WholeProgram) -> tuple[str, ...]:
    """Return how often a statement runs, and why: first the answer, then its reasons."""
    heat = model.frequency.heat_of(statement)
    function = model.symbols.function_at(statement)
    facts = []
    if heat.level is Heat.COLD:
        facts.append(f"cold: {_why_cold(statement, function, model, program)}")
    else:
        facts.append(f"{heat.level}, {heat.granularity.value}: {' → '.join(heat.chain)}")
        assumption = getattr(heat, "assumption", None)
        if assumption:
            facts.append(f"if {assumption}")
    facts += [_guard(guard, model) for guard in model.frequency.guards(statement)]
    return tuple(dict.fromkeys(facts))


def _guard(guard: Guard, model: SemanticModel) -> str:
    cells = model.module.cells
    place = f"line {shown_line(guard.line, cells)}: {guard.kind.value}"
    return f"under the condition `{' '.join(guard.text.split())}` ({place})"


def _why_cold(
    statement: ast.stmt, function: FunctionSummary | None, model: SemanticModel, program: WholeProgram
) -> str:
    if function is None:
        return "the function around it is unknown"
    if program.heat.is_test(function):
        return "it is part of a test"
    declared = [
        why for name, loop, level, why in model.module.declared if name == function.qualname and loop < 0
    ]
    if declared:
        return declared[0]
    level = program.heat.of_function(function.path).level
    if level is not Heat.COLD:
        guards = model.frequency.conditions(statement)
        after = next((guard for guard in guards if guard.may_cool), None)
        if after is not None:
            return f"`{function.shown}` is {level}, but {_guard(after, model)}"
        return f"`{function.shown}` is {level}, but this part of it is not"
    if not function.qualname:
        loops = model.frequency.loops(statement)
        if loops:
            return f"`{model.analysis.loops.header(loops[0])}` is not known to be a training loop"
        return "code at module level runs once"
    callers = program.heat.callers(function)
    if not callers:
        return f"no caller of `{function.shown}` is known, and its name does not suggest that it runs often"
    named = []
    for edge in [call.edge for call in callers[:_MOST_CALLERS]]:
        module = program.index.modules[edge.caller.module]
        caller = f"`{edge.caller.shown}`" if edge.caller.qualname else "code at module level"
        named.append(f"{caller} ({module.path}:{shown_line(edge.site.line, module.cells)})")
    more = f" and {len(callers) - _MOST_CALLERS} more" if len(callers) > _MOST_CALLERS else ""
    are = "are" if len(callers) > 1 else "is"
    return f"`{function.shown}` is called by {', '.join(named)}{more}, which {are} not known to run often"


def values_of(
    statement: ast.stmt, model: SemanticModel, likely: SemanticModel
) -> tuple[tuple[str, str], ...]:
    """Return the variables and attributes of a statement, each with a description of its type, or of what it
    likely is in the `likely` model of the file.
    """
    found: dict[str, str] = {}
    for node, value in _values(statement, likely):
        code = shown(node, model)
        if code in found or len(found) == _MOST_VALUES:
            continue
        sure = described(model.types.type_of(value))
        kind = sure or described(likely.types.type_of(value))
        found[code] = kind if sure else f"likely {kind}" if kind else "not known"
    return tuple(found.items())


def _values(statement: ast.stmt, model: SemanticModel) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], (ast.Name, ast.Attribute)):
        yield statement.targets[0], statement.value
    for node in nodes_of(statement, model):
        if not isinstance(node, (ast.Name, ast.Attribute)) or not isinstance(node.ctx, ast.Load):
            continue
        is_called = model.syntax.call_of(node) is not None
        if model.names.qualified(node) or model.names.is_self(node):
            continue
        if model.syntax.use(node).kind is UseKind.ATTRIBUTE:
            continue  # the whole of `self.config.lr` is described
        if not is_called or model.types.type_of(node):
            yield node, node


def nodes_of(statement: ast.stmt, model: SemanticModel) -> list[ast.AST]:
    """Return the nodes of a statement (for a compound one, of its header) in source order."""
    found: list[ast.AST] = []
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        found.append(node)
        below = [child for child in ast.iter_child_nodes(node) if child in model.syntax.parents]
        pending += [each for each in reversed(below) if not isinstance(each, _OUTSIDE)]
    return found


_OUTSIDE = (ast.stmt, ast.ExceptHandler, ast.match_case)
