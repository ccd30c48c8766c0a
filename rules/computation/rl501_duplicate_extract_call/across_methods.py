"""Methods that two methods of one object evaluate in turn, although nothing changes in between."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from rlint.rule import FUNCTIONS, EffectKind, Function, SemanticModel, descendants, frozen
from rlint.rules.computation.rl501_duplicate_extract_call.likely_pure import announces_change
from rlint.rules.computation.rl501_duplicate_extract_call.object_state import (
    ObjectState,
    method_called,
    names_stored,
    state_of,
)

_ALLOWED = EffectKind.READS | EffectKind.UNKNOWN | EffectKind.MUTATES | EffectKind.INDIRECT


@frozen
class EvaluatedBefore:
    """`earlier` has evaluated the same method; `step` calls both."""

    earlier: ast.Call
    step: Function


def evaluated_by_sibling(call: ast.Call, model: SemanticModel) -> EvaluatedBefore | None:
    """Return the evaluation of a method, `self.track()`, that another method of the object has made before in
    the same call of a third one, or of one of the two, if no code in between sets an attribute that the
    method reads. The evaluation must not be under a condition.
    """
    name = method_called(call, model)
    if name is None or isinstance(model.parent(call), ast.Expr):
        return None  # a check, of which no result is used
    if model.once(_functions_that_call, name) < 2:
        return None
    function, cls = model.function(call), model.class_of(call)
    if function is None or cls is None or _place(call, function, model) is None:
        return None
    state = model.once(state_of, cls)
    if not _may_be_shared(call, name, state, model):
        return None
    callers = [(function, call), *_callers(function, state, model)]
    callers.sort(key=lambda caller: model.frequency.heat_of(caller[1]).level, reverse=True)
    for step, outer in callers:
        earlier = _earlier(call, outer, step, state, model)
        if earlier is not None:
            return EvaluatedBefore(earlier, step)
    return None


def _functions_that_call(name: str, model: SemanticModel) -> int:
    return len({model.function(each) for each in model.names.calls_by_name.get(name, ())})


def _may_be_shared(call: ast.Call, name: str, state: ObjectState, model: SemanticModel) -> bool:
    """Whether evaluating a method once more is expensive, and only sets attributes that it does not read."""
    if name not in state.methods or announces_change(name) or model.effects.is_cheap(call):
        return False
    if model.effects.call_effect(call).kind & ~_ALLOWED:
        return False
    return not state.changes_itself(name)


def _callers(
    function: Function, state: ObjectState, model: SemanticModel
) -> Iterator[tuple[Function, ast.Call]]:
    """Yield the calls of a method in other methods of its class, outside of loops."""
    for outer in model.names.calls_by_name.get(function.name, ()):
        step = model.function(outer)
        if step is None or step is function or state.methods.get(step.name) is not step:
            continue
        if method_called(outer, model) == function.name and not model.frequency.loops(outer):
            yield step, outer


def _earlier(
    call: ast.Call, outer: ast.Call, step: Function, state: ObjectState, model: SemanticModel
) -> ast.Call | None:
    """Return the earlier evaluation in a call of `step`, which evaluates `call` by its call `outer`."""
    given = _given(call, outer, model)
    name = method_called(call, model)
    last = _index(outer, step, model)
    if given is None or name is None or last is None or model.frequency.loops(outer):
        return None
    before_call = [] if outer is call else _before(call, model)
    for first in reversed(range(last)):
        statement = step.body[first]
        for inner, after in _evaluations(statement, name, given, state, model):
            own = [part for part in _parts(step.body[last]) if part is not outer]
            between = [*after, *_targets(statement), *step.body[first + 1 : last], *own, *before_call]
            if names_stored(between) & _names(given):
                return None
            if not state.changes(name, between):
                return inner
    return None


def _evaluations(
    statement: ast.stmt,
    name: str,
    given: tuple[str, ...],
    state: ObjectState,
    model: SemanticModel,
) -> Iterator[tuple[ast.Call, list[ast.stmt]]]:
    """Yield the evaluations of a method with some arguments that a statement surely makes, itself or in a
    method that it calls, each with the statements of that method that follow.
    """
    if isinstance(statement, (ast.If, ast.For, ast.While, ast.Try, ast.With, *FUNCTIONS)):
        return
    for outer in descendants(statement):
        called = method_called(outer, model) if isinstance(outer, ast.Call) else None
        if called is None or not isinstance(outer, ast.Call):
            continue
        if not model.dataflow.order.always_within(outer, statement):
            continue
        if called == name:
            if _given(outer, outer, model) == given:
                yield outer, []
            continue
        sibling = state.methods.get(called)
        for inner in model.names.calls_named(name, sibling) if sibling is not None else ():
            place = _place(inner, sibling, model) if sibling is not None else None
            if place is None or sibling is None or method_called(inner, model) != name:
                continue
            if _given(inner, outer, model) == given:
                yield inner, [*sibling.body[place + 1 :]]


def _given(call: ast.Call, outer: ast.Call, model: SemanticModel) -> tuple[str, ...] | None:
    """Return the arguments of a call as expressions of the function whose call `outer` reaches it. None if
    they are more than variables and constants.
    """
    passed: dict[str, ast.expr] = {}
    if outer is not call:
        targets = model.types.call_targets(outer)
        if len(targets) != 1 or any(isinstance(value, ast.Starred) for value in outer.args):
            return None
        passed = dict(zip(targets[0].call_parameters, outer.args, strict=False))
        passed |= {keyword.arg: keyword.value for keyword in outer.keywords if keyword.arg}
    found = []
    for key, value in [
        *((str(place), value) for place, value in enumerate(call.args)),
        *((str(keyword.arg), keyword.value) for keyword in call.keywords),
    ]:
        source = value
        if outer is not call and isinstance(value, ast.Name):
            if value.id not in passed or len(model.names.bindings(value)) != 1:
                return None
            source = passed[value.id]
        if not isinstance(source, (ast.Name, ast.Constant)):
            return None
        found.append(f"{key}={source.id if isinstance(source, ast.Name) else repr(source.value)}")
    return tuple(found)


def _names(given: tuple[str, ...]) -> set[str]:
    return {each.partition("=")[2] for each in given}


def _place(call: ast.Call, function: Function, model: SemanticModel) -> int | None:
    """Return the index of the statement of a function that always evaluates a call; None if a condition or a
    loop contains it.
    """
    statement = model.syntax.statement(call)
    if statement not in function.body or not model.dataflow.order.always_within(call, statement):
        return None
    return None if isinstance(statement, (ast.For, ast.While)) else function.body.index(statement)


def _index(call: ast.Call, step: Function, model: SemanticModel) -> int | None:
    """Return the index of the statement of a function that contains a call."""
    around = [call, *model.ancestors(call)]
    return next((place for place, statement in enumerate(step.body) if statement in around), None)


def _before(call: ast.Call, model: SemanticModel) -> list[ast.stmt]:
    block, index = model.syntax.block(model.syntax.statement(call))
    return [*block[:index]]


def _parts(statement: ast.stmt) -> Iterable[ast.AST]:
    """Return what a statement evaluates; the variables that an assignment sets are set later."""
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return [] if statement.value is None else list(descendants(statement.value))
    return list(descendants(statement))


def _targets(statement: ast.stmt) -> list[ast.AST]:
    if isinstance(statement, ast.Assign):
        return [*statement.targets]
    return [statement.target] if isinstance(statement, (ast.AnnAssign, ast.AugAssign)) else []
