"""Which sub-networks a method runs for each value that it returns, as plain data for the summaries."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.frozen import frozen
from rlint.syntax.last_names import last_name
from rlint.syntax.queries import defaults_of, root_name
from rlint.syntax.syntax_index import Function
from rlint.syntax.walk import descendants

LOG_PROBABILITY = "log_prob()"
"""Stands for `distribution.log_prob(x)` among the attributes that a method calls."""
LOGARITHM = "log()"
"""Stands for a logarithm of a tensor."""
SQUASHED = frozenset({LOG_PROBABILITY, LOGARITHM})
"""Stand for the log-probability of a squashed action, with its correction."""
_LOGARITHMS = frozenset({"log", "log1p", "softplus", "logsigmoid"})
_CONDITIONS = (ast.If, ast.IfExp, ast.While, ast.Try)

_Values = dict[str, list[ast.expr]]


@frozen
class OutputSwitch:
    """A parameter that decides whether a method calls `name` for its results: it does so where the parameter
    is `outcome`. `places` are the results that depend on what the branch computes.
    """

    name: str
    parameter: str
    outcome: bool
    default: bool | None
    places: tuple[int, ...]


def outputs_of(function: Function, returned: list[ast.expr]) -> tuple[tuple[str, ...], ...]:
    """Return the attributes of the receiver that a method calls for each item of the tuple that it returns:
    `(("q1",), ("q2",))` for `return self.q1(x), self.q2(x)`. Calls of an item of an attribute count as calls
    of the attribute, log-probabilities and logarithms as `log_prob()` and `log()`. If there are several
    `return` statements, an item is computed by what any of them calls for it. Empty if one of them returns
    something else, or another number of items.
    """
    receiver = _receiver(function)
    rows = [value.elts for value in returned if isinstance(value, ast.Tuple)]
    if not receiver or not rows or len(rows) < len(returned) or len({len(items) for items in rows}) > 1:
        return ()
    if len(rows[0]) < 2 or any(isinstance(item, ast.Starred) for items in rows for item in items):
        return ()
    values, iterated = _values(function), _iterated(function)
    called = ([_called_for(item, receiver, values, iterated) for item in items] for items in rows)
    return tuple(tuple(sorted(set().union(*place))) for place in zip(*called, strict=True))


def conditional_outputs(function: Function) -> tuple[str, ...]:
    """Return what a method calls only under a condition, in the same form: not what both branches call, but
    what follows an early `return`.
    """
    receiver, iterated = _receiver(function), _iterated(function)
    calls = (node for node in descendants(function) if isinstance(node, ast.Call))
    found = {name for call in calls for name in _called_by(call, receiver, iterated)}
    return tuple(sorted(found - _always_called(function.body, receiver, iterated)))


def switched_outputs(function: Function, returned: list[ast.expr]) -> tuple[OutputSwitch, ...]:
    """Return the parameters that decide whether a method calls something for its results, each with what it
    calls, the outcome for which it does, and the default of the parameter (None if there is none).
    """
    receiver, iterated = _receiver(function), _iterated(function)
    every = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    parameters = {parameter.arg for parameter in every} - {receiver}
    defaults = {
        name: bool(default.value)
        for name, default in defaults_of(function.args).items()
        if isinstance(default, ast.Constant)
    }
    values = _values(function)
    rows = [value.elts for value in returned if isinstance(value, ast.Tuple)]
    found: dict[OutputSwitch, None] = {}
    for guarded, parameter, outcome in _switched(function.body, parameters):
        calls = [node for each in guarded for node in descendants(each) if isinstance(node, ast.Call)]
        bound = {
            node.id
            for each in guarded
            for node in descendants(each)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        places = {
            place for items in rows for place, each in enumerate(items) if bound & _names_for(each, values)
        }
        for name in sorted({name for call in calls for name in _called_by(call, receiver, iterated)}):
            found[OutputSwitch(name, parameter, outcome, defaults.get(parameter), tuple(sorted(places)))] = (
                None
            )
    return tuple(found)


def _switched(block: list[ast.stmt], parameters: set[str]) -> Iterator[tuple[list[ast.stmt], str, bool]]:
    """Yield the statements of a block that only run for one outcome of a parameter."""
    for index, statement in enumerate(block):
        if not isinstance(statement, ast.If):
            continue
        test, outcome = statement.test, True
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test, outcome = test.operand, False
        if not isinstance(test, ast.Name) or test.id not in parameters:
            continue
        yield statement.body, test.id, outcome
        ends = isinstance(statement.body[-1], (ast.Return, ast.Raise))
        yield (
            (block[index + 1 :] if ends and not statement.orelse else statement.orelse),
            test.id,
            not outcome,
        )


def _names_for(item: ast.expr, values: _Values) -> set[str]:
    """Return the local variables from which a value is computed."""
    found: set[str] = set()
    stack: list[ast.expr] = [item]
    while stack:
        for node in descendants(stack.pop()):
            if isinstance(node, ast.Name) and node.id not in found:
                found.add(node.id)
                stack += values.get(node.id, ())
    return found


def _always_called(block: list[ast.stmt], receiver: str, iterated: dict[str, ast.expr]) -> set[str]:
    """Return what a block calls on all paths through it."""
    found: set[str] = set()
    for index, statement in enumerate(block):
        match statement:
            case ast.If(test=test, body=body, orelse=orelse):
                found |= _called_at_once(test, receiver, iterated)
                ends = isinstance(body[-1], (ast.Return, ast.Raise))
                other = [*orelse, *block[index + 1 :]] if ends else orelse
                found |= _always_called(body, receiver, iterated) & _always_called(other, receiver, iterated)
                if ends:
                    break
            case ast.With(body=body):
                found |= _always_called(body, receiver, iterated)
            case _:
                found |= _called_at_once(statement, receiver, iterated)
    return found


def _called_at_once(node: ast.AST, receiver: str, iterated: dict[str, ast.expr]) -> set[str]:
    """Return what a statement or expression calls, apart from conditional parts of it."""
    nodes = list(descendants(node))
    inside = {id(part) for each in nodes if isinstance(each, _CONDITIONS) for part in descendants(each)}
    calls = (each for each in nodes if isinstance(each, ast.Call) and id(each) not in inside)
    return {name for call in calls for name in _called_by(call, receiver, iterated)}


def run_each(function: Function, returned: list[ast.expr]) -> str:
    """Return the attribute of the receiver of which a method runs each item, and returns the list of the
    results: `critics` for `return [critic(x) for critic in self.critics]`; "" if there is none.
    """
    receiver = _receiver(function)
    if len(returned) != 1 or not receiver:
        return ""
    match returned[0]:
        case ast.ListComp(elt=result, generators=[made]):
            return _held(made.iter, made.target, result, receiver)
        case ast.Call(
            func=ast.Name(id="tuple" | "list"), args=[ast.GeneratorExp(elt=result, generators=[made])]
        ):
            return _held(made.iter, made.target, result, receiver)
        case ast.Name(id=name):
            return _appended(name, function, receiver)
    return ""


def _receiver(function: Function) -> str:
    arguments = [*function.args.posonlyargs, *function.args.args]
    return arguments[0].arg if arguments else ""


def _appended(name: str, function: Function, receiver: str) -> str:
    """Return the attribute that the only loop which appends to a list iterates over."""
    found = {
        _held(loop.iter, loop.target, call.args[0], receiver)
        for loop in function.body
        if isinstance(loop, ast.For)
        for call in descendants(loop)
        if isinstance(call, ast.Call) and call.args and _is_append(call.func, name)
    }
    return found.pop() if len(found) == 1 else ""


def _is_append(called: ast.expr, name: str) -> bool:
    match called:
        case ast.Attribute(value=ast.Name(id=held), attr="append"):
            return held == name
    return False


def _held(iterable: ast.expr, target: ast.expr, result: ast.expr, receiver: str) -> str:
    """Return the attribute that a loop iterates over if the result calls its items."""
    match iterable, target:
        case ast.Attribute(value=ast.Name(id=owner), attr=attribute), ast.Name(id=item) if owner == receiver:
            if any(isinstance(node, ast.Call) and _is_called_on(node, item) for node in descendants(result)):
                return attribute
    return ""


def _is_called_on(call: ast.Call, item: str) -> bool:
    root = root_name(call.func)
    return root is not None and root.id == item


def _values(function: Function) -> _Values:
    """Return all values that each local variable may be computed from."""
    found: _Values = {}
    for node in descendants(function):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    _bind(target, value, found)
            case ast.AugAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
                _bind(target, value, found)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                _bind(target, value, found)
            case ast.For(target=target, iter=value):
                _bind(target, value, found)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name)), args=args):  # `results.append(x)`
                found.setdefault(name, []).extend(args)
    return found


def _bind(target: ast.expr, value: ast.expr, found: _Values) -> None:
    for node in descendants(target):
        if isinstance(node, ast.Name):
            found.setdefault(node.id, []).append(value)


def _iterated(function: Function) -> dict[str, ast.expr]:
    """Return what loops and comprehensions iterate over, by their variables."""
    return {
        node.target.id: node.iter
        for node in descendants(function)
        if isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.target, ast.Name)
    }


def _called_for(item: ast.expr, receiver: str, values: _Values, iterated: dict[str, ast.expr]) -> set[str]:
    """Return what is called to compute a value: attributes of the receiver, and logarithms."""
    found: set[str] = set()
    seen: set[str] = set()
    stack: list[ast.expr] = [item]
    while stack:
        for node in descendants(stack.pop()):
            if isinstance(node, ast.Call):
                found.update(_called_by(node, receiver, iterated))
            if isinstance(node, ast.Name) and node.id != receiver and node.id not in seen:
                seen.add(node.id)
                stack += values.get(node.id, ())
    return found


def _called_by(call: ast.Call, receiver: str, iterated: dict[str, ast.expr]) -> Iterator[str]:
    """Yield the attribute of the receiver that a call runs, or the logarithm that it computes."""
    called = call.func
    yield from _attributes(called, receiver)
    match called:
        case ast.Name(id=name) if name in iterated and isinstance(iterated[name], ast.Attribute):
            yield from _attributes(iterated[name], receiver)
        case ast.Attribute(attr="log_prob"):
            yield LOG_PROBABILITY
    if last_name(called) in _LOGARITHMS:
        yield LOGARITHM


def _attributes(called: ast.expr, receiver: str) -> Iterator[str]:
    """Yield the attribute of the receiver that is called, or whose method is: `q1` in `self.q1.forward`."""
    while isinstance(called, (ast.Attribute, ast.Subscript)):
        owner = called.value
        if isinstance(called, ast.Attribute) and isinstance(owner, ast.Name) and owner.id == receiver:
            yield called.attr
        called = owner
