"""Moving constant patterns to module level, compiled."""

from __future__ import annotations

import ast

from rlint.rule import Binding, Edit, SemanticModel
from rlint.rules.computation._shared import pattern_uses
from rlint.rules.computation._shared.pattern_uses import PatternMove, PatternUse
from rlint.rules.computation._shared.regex_constants import EditTuple, constant_for
from rlint.rules.computation.rl502_regex_per_call.regex_lists import list_of, move_list


def move_of(use: PatternUse, model: SemanticModel) -> PatternMove | None:
    """Return how the pattern of a call can be compiled at import; None if it is not constant."""
    pattern = pattern_uses.compiled(use.pattern, use.flags, model)
    if pattern is None:
        patterns = list_of(use, model)
        return move_list(patterns, use, model) if patterns is not None else None
    binding = _local_text(use, model)
    name, defined = _constant(pattern, use, binding, model)
    uses = pattern_uses.uses_of(binding, model) if binding is not None else [use]
    if uses is None:
        return PatternMove(name, None)
    edits: list[Edit | None] = []
    for each in uses:
        edits += _moved(each, binding, model)
    if binding is not None:
        edits.append(without_local(binding, model, is_moved=bool(defined)))
    done = tuple(edit for edit in edits if edit is not None)
    return PatternMove(name, tuple(dict.fromkeys(done)) if len(done) == len(edits) else None)


def _local_text(use: PatternUse, model: SemanticModel) -> Binding | None:
    """Return the local binding of the pattern's text, if the call names one."""
    if not isinstance(use.pattern, ast.Name):
        return None
    (binding,) = model.dataflow.definitions(use.pattern)
    return binding if model.names.scope(binding.node).parent is not None else None


def without_local(binding: Binding, model: SemanticModel, *, is_moved: bool) -> Edit | None:
    """Delete the statement that binds a local variable with only known reads, and return whether the comment
    above is deleted with it.
    """
    statement = binding.statement
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return None
    if isinstance(statement, ast.Assign) and (
        len(statement.targets) != 1 or not isinstance(statement.targets[0], ast.Name)
    ):
        return None
    if model.names.is_captured(binding.name, model.names.scope(binding.node)):
        return None
    if not is_moved and model.source.trailing_comment(statement):
        return None
    return model.edit.delete_statement(statement, comment=is_moved)


def _moved(use: PatternUse, text: Binding | None, model: SemanticModel) -> list[Edit | None]:
    """Return the edits for one call, including None if one is impossible."""
    pattern = pattern_uses.compiled(use.pattern, use.flags, model)
    if pattern is None:
        return [None]
    name, defined = _constant(pattern, use, text, model)
    rewritten = _renamed(use, name, model, is_moved=bool(defined)) or pattern_uses.called_on(use, name, model)
    if defined is None or rewritten is None:
        return [None]
    return [*defined, *rewritten]


def _constant(
    pattern: pattern_uses.Compiled, use: PatternUse, text: Binding | None, model: SemanticModel
) -> tuple[str, EditTuple | None]:
    """Return the constant for a pattern, with the comments of the local text that it replaces."""
    comment = (
        model.source.trailing_comment(text.statement)
        if text is not None and isinstance(text.statement, ast.stmt)
        else ""
    )
    found: tuple[str, EditTuple | None] = constant_for(
        pattern, use, model, comment, _comment_above(use, text, model)
    )
    return found


def _comment_above(use: PatternUse, text: Binding | None, model: SemanticModel) -> list[str]:
    """Return the comment of the statement that the constant replaces: `pattern = re.compile(...)`."""
    statement = text.statement if text is not None else model.parent(use.call)
    if not isinstance(statement, ast.Assign) or (text is None and use.function != "compile"):
        return []
    return model.source.own_comment(statement) if isinstance(statement.targets[0], ast.Name) else []


def _renamed(use: PatternUse, name: str, model: SemanticModel, *, is_moved: bool) -> list[Edit] | None:
    """Replace the local of `pattern = re.compile(...)` by the constant, and delete it with the comment
    above.
    """
    statement = model.parent(use.call)
    match statement:
        case ast.Assign(targets=[ast.Name() as target]) if use.function == "compile":
            pass
        case _:
            return None
    scope = model.names.scope(statement)
    if scope.parent is None or model.source.trailing_comment(statement):
        return None
    reads = model.names.reads(target.id, scope)
    if len(model.names.uses(target.id, scope)) != len(reads) + 1 or len(scope.bindings[target.id]) != 1:
        return None
    deleted = (
        None
        if model.names.is_captured(target.id, scope)
        else model.edit.delete_statement(statement, comment=is_moved)
    )
    if deleted is None or any(
        model.dataflow.between(statement, read) is None
        or any(isinstance(ancestor, ast.JoinedStr) for ancestor in model.ancestors(read))
        for read in reads
    ):
        return None
    edits = [deleted]
    for read in reads:
        again = pattern_uses.use_of(model.parent(read) or read, model)
        called = None
        if again is not None and again.pattern is read and again.flag_argument is None:
            called = pattern_uses.called_on(again, name, model)  # `re.sub(compiled, ...)`
        edits += called or [model.edit.replace(read, name)]
    return edits
