"""Fixes that evaluate an expression once, bind the result to a name and use the name elsewhere."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rlint.findings import Edit
from rlint.frozen import frozen
from rlint.semantics.dataflow.common_subexpressions import Repetition
from rlint.syntax.last_names import last_name
from rlint.syntax.queries import variable_names
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.walk import descendants

if TYPE_CHECKING:
    from rlint.semantics.model import SemanticModel

# calls that never raise, whatever their arguments, and so may be evaluated later
_SIMPLE = (
    ast.Name,
    ast.Constant,
    ast.Attribute,
    ast.Tuple,
    ast.List,
    ast.JoinedStr,
    ast.keyword,
    ast.expr_context,
    ast.operator,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
)


@frozen
class ExtractedVariable:
    """The edits that leave one evaluation, bound to `name`. `reused`: the variable had the value already.
    `reordered`: an expression that may fail was evaluated before it, and is now evaluated after it.
    """

    edits: tuple[Edit, ...]
    name: str
    reused: bool = False
    reordered: bool = False


def bind_once(
    repetition: Repetition, again: list[ast.expr], model: SemanticModel, wanted: Sequence[str]
) -> ExtractedVariable | None:
    """Evaluate `repetition.first` once and replace `again` by a variable: one that already holds the value,
    or a new one with the first free name of `wanted`; None if the source text does not allow it.
    """
    first = repetition.first
    if not all(model.edit.is_relocatable(node) for node in again):
        return None
    holder = _holder(first, again, model)
    if holder is not None:
        read = [_read_instead(node, holder, model) for node in again]
        edits = tuple(edit for edit in read if edit is not None)
        return ExtractedVariable(edits, holder, reused=True) if edits else None
    if model.names.scope(first).function.is_class or not model.edit.is_relocatable(first):
        return None
    name = model.importer.fresh_local(wanted, first, f"bind {model.source.span(first)[0]}")
    statement = model.syntax.statement(first)
    before = None
    if _can_stand_before(first, statement, model):
        before = model.edit.insert_before(statement, f"{name} = {model.edit.parenthesized(first)}")
    reordered = not _is_first(first, statement, model)
    prefers_walrus = reordered or not model.source.stands_alone(statement)
    if before is None or (prefers_walrus and _takes_walrus(first, again, model)):
        if not _may_be_walrus(first, model):
            return None
        walrus = model.edit.replace(first, f"({name} := {model.source.text(first)})")
        return ExtractedVariable((walrus, *(model.edit.replace(node, name) for node in again)), name)
    edits = (before, *(model.edit.replace(node, name) for node in (first, *again)))
    return ExtractedVariable(edits, name, reordered=reordered)


def _holder(first: ast.expr, again: list[ast.expr], model: SemanticModel) -> str | None:
    """Return a variable that holds the value of `first` and still holds it at all places of `again`."""
    parent = model.parent(first)
    targets: list[ast.expr] = []
    if isinstance(parent, ast.Assign):
        targets = parent.targets
    elif isinstance(parent, (ast.AnnAssign, ast.NamedExpr)):
        targets = [parent.target]
    for target in targets:
        if isinstance(target, ast.Name) and _holds(target, again, model):
            return target.id
    return None


def _read_instead(node: ast.expr, holder: str, model: SemanticModel) -> Edit | None:
    """Return the variable as a replacement of the expression; `total = sum(parts)` is deleted if `total`
    already holds it. None if such a statement cannot be deleted; it then stays as it is.
    """
    statement = model.parent(node)
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)) if (
            name == holder
        ):
            adjacent = [other for other in model.syntax.block(statement)[0] if not _sets(other, holder)]
            return (
                model.edit.delete_statement(statement)
                if adjacent and not model.source.has_comment(*_line(statement, model))
                else None
            )
    return model.edit.replace(node, holder)


def _sets(statement: ast.stmt, name: str) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Name(id=target)]):
            return target == name
    return False


def _line(statement: ast.stmt, model: SemanticModel) -> tuple[int, int]:
    """Return the span of a statement, including the rest of its last line."""
    end = model.syntax.positions.line_end(statement.end_lineno or statement.lineno)
    return model.source.span(statement)[0], end


def _holds(target: ast.Name, again: list[ast.expr], model: SemanticModel) -> bool:
    scope = model.names.scope(target).lookup(target.id)
    if scope is None or scope.is_class:
        return False
    if target.id in model.syntax.declared:
        return False
    every = [binding for binding in scope.bindings[target.id] if binding.kind is not BindingKind.ANNOTATE]
    for node in again:
        if model.names.scope(node).lookup(target.id) is not scope:
            return False
        if len(every) > 1 and not _reaches_alone(target, every, node, model):
            return False
    return True


def _reaches_alone(target: ast.Name, every: list[Binding], node: ast.expr, model: SemanticModel) -> bool:
    """Whether `target` is the only binding of the variable that reaches `node`."""
    statement = model.syntax.statement(node)
    here = [binding for binding in every if model.syntax.statement(binding.node) is statement]
    if any(binding.kind is BindingKind.WALRUS or binding.node is target for binding in here):
        return False
    scope = model.names.scope(target).lookup(target.id)
    assert scope is not None
    before = model.dataflow.bindings_before(target.id, node, scope)
    return [binding.node for binding in before] == [target]


def _can_stand_before(first: ast.expr, statement: ast.stmt, model: SemanticModel) -> bool:
    """Whether `first` may be evaluated just before its statement; at most, another error is raised first."""
    if isinstance(statement, (ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    if not model.dataflow.order.always_within(first, statement):
        return False
    earlier = model.dataflow.order.earlier(first, statement)
    return all(model.effects.effect_of(part).quiet for part in earlier if isinstance(part, ast.expr))


def _is_first(first: ast.expr, statement: ast.stmt, model: SemanticModel) -> bool:
    """Whether nothing evaluated before it can fail for another reason than `first` can."""
    own = variable_names(first)
    for part in model.dataflow.order.earlier(first, statement):
        if all(isinstance(node, _SIMPLE) or _is_shown_plainly(node) for node in descendants(part)):
            continue
        for node in descendants(part):
            match node:
                case ast.Name(id=name) if name not in own and model.names.qualified(node) is None:
                    return False
                case ast.Subscript():
                    return False
                case ast.Call() if _may_raise(node, model):
                    return False
    return True


def _may_raise(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call may run code of the project that raises errors of its own: all of another file may."""
    if model.analysis.is_library_call(call):
        return False
    name = last_name(call.func)
    functions = [node for node in model.syntax.of_type(ast.FunctionDef) if getattr(node, "name", "") == name]
    return not functions or any(
        isinstance(node, (ast.Raise, ast.Assert)) for function in functions for node in descendants(function)
    )


def _is_shown_plainly(node: ast.AST) -> bool:
    """Whether an expression is `{x}` in an f-string, without a format specification that may not fit the
    value.
    """
    return isinstance(node, ast.FormattedValue) and node.format_spec is None


def _takes_walrus(first: ast.expr, again: list[ast.expr], model: SemanticModel) -> bool:
    """Whether the name, bound by a walrus at `first`, is read only later in source order."""
    return _may_be_walrus(first, model) and all(
        model.source.span(first) < model.source.span(node) for node in again
    )


def _may_be_walrus(first: ast.expr, model: SemanticModel) -> bool:
    """Whether `:=` is allowed here: not in the iterable of a comprehension, and not in code that `python -O`
    removes.
    """
    child: ast.AST = first
    for parent in model.ancestors(first):
        if isinstance(parent, ast.comprehension) and child is parent.iter:
            return False
        if isinstance(
            parent, (ast.JoinedStr, ast.Assert, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        ):
            return False
        if isinstance(parent, ast.stmt):
            return True
        child = parent
    return False
