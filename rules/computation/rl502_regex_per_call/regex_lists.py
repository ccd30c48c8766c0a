"""Loops over a constant list of patterns: the compiled patterns are put into a module constant."""

from __future__ import annotations

import ast

from rlint.rule import Binding, BindingKind, Edit, SemanticModel, Trait, element_at, frozen, models
from rlint.rules.computation._shared import pattern_uses, regex_names
from rlint.rules.computation._shared.pattern_uses import Compiled, PatternMove, PatternUse
from rlint.rules.computation._shared.regex_constants import compiler_for, exported
from rlint.rules.computation.rl502_regex_per_call import regex_displays

_Display = ast.List | ast.Tuple | ast.Dict
_ONLY_READ_BY = models.having(Trait.SAME_ITEMS | Trait.PAIRS_ITEMS, "builtins") | {"builtins.len"}


@frozen
class PatternList:
    """A loop over a display of constant patterns.

    `variable` is the loop variable with the pattern, `iterable` the display or its name in the loop's header,
    `source` the binding of that name, `elements` the patterns' positions in the display.
    """

    variable: Binding
    iterable: ast.expr
    source: Binding | None
    display: _Display
    elements: tuple[ast.expr, ...]
    patterns: tuple[Compiled, ...]
    plain: bool

    @property
    def name(self) -> str:
        """The name of the list, "" if it is written in the loop's header."""
        return self.source.name if self.source is not None else ""


def list_of(use: PatternUse, model: SemanticModel) -> PatternList | None:
    """Return the list of constant patterns that the pattern of a call iterates over, or None."""
    if not isinstance(use.pattern, ast.Name):
        return None
    match model.dataflow.definitions(use.pattern):
        case [
            Binding(
                kind=BindingKind.FOR | BindingKind.COMPREHENSION, value=ast.expr() as iterated
            ) as variable
        ]:
            pass
        case _:
            return None
    iterable, of_dict, path = _iterated(iterated, variable.path, model)
    source: Binding | None = None
    display: ast.expr = iterable
    if isinstance(iterable, ast.Name):
        match model.dataflow.definitions(iterable):
            case [Binding(kind=BindingKind.ASSIGN, path=(), value=ast.expr() as bound) as binding]:
                source, display = binding, bound
            case _:
                return None
    if not isinstance(display, (ast.List, ast.Tuple, ast.Dict)) or isinstance(display, ast.Dict) != of_dict:
        return None
    items = display.values if isinstance(display, ast.Dict) else display.elts
    elements = [element_at(item, path) for item in items]
    patterns = [
        pattern_uses.compiled(element, use.flags, model) for element in elements if element is not None
    ]
    known = [pattern for pattern in patterns if pattern is not None]
    if not items or len(known) != len(items):
        return None
    found = tuple(element for element in elements if element is not None)
    plain = not of_dict and not path
    return PatternList(variable, iterable, source, display, found, tuple(known), plain)


def move_list(patterns: PatternList, use: PatternUse, model: SemanticModel) -> PatternMove:
    """Compile the patterns at module level, and iterate over those."""
    source = patterns.source
    of_module = source is not None and model.names.scope(source.node).parent is None
    wanted = (
        f"COMPILED_{patterns.name.upper().lstrip('_')}"
        if of_module
        else regex_names.constant_name(
            patterns.name, "", "", pattern_uses.function_name(use, model), many=True
        )
    )
    elements = dict(zip(patterns.elements, patterns.patterns, strict=True))
    compiler = compiler_for(use, model)
    uses = pattern_uses.uses_of(patterns.variable, model)
    if compiler is None or uses is None or any(each.flags.value != use.flags.value for each in uses):
        return PatternMove(wanted, None, many=True)
    alias, needs, imported = compiler
    flags = pattern_uses.flags_text(use.flags, alias)
    value = (
        _over_module_list(patterns, alias, flags, model)
        if of_module
        else regex_displays.compiled(patterns.display, elements, alias, flags, model)
    )
    removed = _without_source(patterns, model) if source is not None and not of_module else []
    if value is None or removed is None:
        return PatternMove(wanted, None, many=True)
    name = model.importer.fresh_name(exported(wanted, model), value)
    comment: list[str] = []
    if removed and source is not None and isinstance(source.statement, ast.stmt):
        value += model.source.trailing_comment(source.statement)
        comment = model.source.own_comment(source.statement)
    if of_module and source is not None and isinstance(source.statement, ast.stmt):
        needs = (*needs, source.statement)
    needs = (*needs, *use.flags.needs, *(need for each in patterns.patterns for need in each.pattern.needs))
    made = model.importer.module_constant(
        name,
        value,
        user=use.call,
        needs=needs,
        comment=comment,
        indentation=""
        if of_module or "\n" not in model.source.text(patterns.display)
        else model.source.indentation(model.syntax.statement(patterns.display)),
    )
    calls = [pattern_uses.called_on(each, patterns.variable.name, model) for each in uses]
    if made is None or any(call is None for call in calls):
        return PatternMove(name, None, many=True)
    edits = [*imported, *made, *removed, model.edit.replace(patterns.iterable, name)]
    edits += [edit for call in calls for edit in call or ()]
    return PatternMove(name, tuple(edits), many=True)


def _iterated(
    iterated: ast.expr, path: tuple[int, ...], model: SemanticModel
) -> tuple[ast.expr, bool, tuple[int, ...]]:
    """Return what a loop iterates over, whether it is a dict, and the path to the variable in each item."""
    match iterated:
        case ast.Call(func=ast.Name() as callee, args=[inner, *_]) if (
            path[:1] == (1,) and model.names.qualified(callee) == "builtins.enumerate"
        ):
            return _iterated(inner, path[1:], model)
        case ast.Call(func=ast.Attribute(value=owner, attr="items"), args=[]) if path[:1] == (1,):
            return owner, True, path[1:]
        case ast.Call(func=ast.Attribute(value=owner, attr="values"), args=[]):
            return owner, True, path
    return iterated, False, path


def _over_module_list(patterns: PatternList, alias: str, flags: str, model: SemanticModel) -> str | None:
    """Return the patterns whose text stays in the module's own list, which no code may modify."""
    source = patterns.source
    if source is None or not patterns.plain:
        return None
    scope = model.names.scope(source.node)
    if len(scope.bindings[source.name]) != 1 or model.program.is_imported(source.name):
        return None
    if not isinstance(patterns.display, ast.Tuple) and (
        model.program.is_attribute_read(source.name)
        or not all(_only_reads(read, model) for read in model.names.reads(source.name, scope))
    ):
        return None
    compiled = f"{alias}.compile(pattern, {flags})" if flags else f"{alias}.compile(pattern)"
    return f"tuple({compiled} for pattern in {source.name})"


def _only_reads(read: ast.Name, model: SemanticModel) -> bool:
    match model.parent(read):
        case ast.For() | ast.comprehension() | ast.Compare() | ast.FormattedValue():
            return True
        case ast.Call(func=callee) as call:
            return read in call.args and model.names.qualified(callee) in _ONLY_READ_BY
        case ast.Subscript(ctx=ast.Load()):
            return True
    return False


def _without_source(patterns: PatternList, model: SemanticModel) -> list[Edit] | None:
    """Delete the local list, if only the loop reads it."""
    source = patterns.source
    if source is None or len(model.names.uses(source.name, model.names.scope(source.node))) != 2:
        return None
    match source.statement:
        case ast.Assign(targets=[ast.Name()]) | ast.AnnAssign():
            pass
        case _:
            return None
    captured = model.names.is_captured(source.name, model.names.scope(source.node))
    deleted = None if captured else model.edit.delete_statement(source.statement, comment=True)
    return [deleted] if deleted is not None else None
