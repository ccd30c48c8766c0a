"""Forms of calls and definitions that syntax alone determines."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rlint.syntax.walk import descendants

_MEMBERSHIP = (ast.In, ast.NotIn)


def iterated_by(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what a node, without its children and other than a call, iterates over."""
    match node:
        case ast.For(iter=value) | ast.comprehension(iter=value) | ast.Starred(value=value, ctx=ast.Load()):
            yield value
        case ast.Assign(targets=targets, value=value):
            if any(isinstance(target, (ast.Tuple, ast.List)) for target in targets):
                yield value
        case ast.Compare(ops=operators, comparators=operands):
            for operator, value in zip(operators, operands, strict=True):
                if isinstance(operator, _MEMBERSHIP):
                    yield value


def argument_count(call: ast.Call) -> int | None:
    """Return the number of arguments of a call; None if star arguments hide it."""
    for value in call.args:
        if type(value) is ast.Starred:
            return None
    for keyword in call.keywords:
        if keyword.arg is None:
            return None
    return len(call.args) + len(call.keywords)


def arguments_by_name(call: ast.Call, parameters: Sequence[str] | None) -> dict[str, ast.expr] | None:
    """Return the arguments of a call by the names of its `parameters`, passed by position or by name; None if
    star arguments hide some, or a position has no known name. Of several arguments that share a name with a
    star (`*size`), the last one counts.
    """
    names = parameters or ()
    spread = names[-1] if names and names[-1].startswith("*") else None
    found: dict[str, ast.expr] = {}
    for place, value in enumerate(call.args):
        if isinstance(value, ast.Starred) and spread is None:
            return None
        name = names[place] if place < len(names) else spread
        if name is None:
            return None
        found[name] = value
    for keyword in call.keywords:
        if keyword.arg is None:
            return None
        found[keyword.arg] = keyword.value
    return found


def defaults_of(arguments: ast.arguments) -> dict[str, ast.expr]:
    """Return the defaults of a function's parameters, by the names of those that have one."""
    placed = [*arguments.posonlyargs, *arguments.args]
    found = zip(reversed(placed), reversed(arguments.defaults), strict=False)
    only = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    named = {parameter.arg: default for parameter, default in found}
    return named | {parameter.arg: default for parameter, default in only if default is not None}


def is_staticmethod(function: ast.AST) -> bool:
    """Whether a function is decorated with `@staticmethod`."""
    return _decorated(function, "staticmethod")


def is_classmethod(function: ast.AST) -> bool:
    """Whether a function is decorated with `@classmethod`."""
    return _decorated(function, "classmethod")


def is_property(function: ast.AST) -> bool:
    """Whether a function is decorated with `@property` or `@cached_property`."""
    return _decorated(function, "property") or _decorated(function, "cached_property")


def _decorated(function: ast.AST, name: str) -> bool:
    for decorator in getattr(function, "decorator_list", ()):
        if isinstance(decorator, ast.Name) and decorator.id == name:
            return True
        if isinstance(decorator, ast.Attribute) and decorator.attr == name:
            return True
    return False


def is_constant(expression: ast.AST | None, value: bool | None) -> bool:  # noqa: FBT001 - the value looked for
    """Whether an expression is this constant: `True`, `False` or `None`."""
    return isinstance(expression, ast.Constant) and expression.value is value


def same_code(first: ast.AST | None, second: ast.AST) -> bool:
    """Whether two expressions have the same source, apart from blanks and brackets."""
    return first is not None and _is_same(first, second)


def _is_same(first: object, second: object) -> bool:
    """Compare as `ast.dump` would, which creates a reference cycle on each call."""
    if type(first) is not type(second):
        return False
    if isinstance(first, ast.AST):
        return all(
            _is_same(getattr(first, name, None), getattr(second, name, None)) for name in first._fields
        )
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(_is_same, first, second))
    return repr(first) == repr(second)  # of numbers, 0.0 and -0.0 differ


def has_key(index: ast.expr) -> bool:
    """Whether a subscript names a field (`["reward"]`, `["next", "done"]`), which no tensor has."""
    return any(isinstance(part, ast.Constant) and isinstance(part.value, str) for part in axes_of(index))


def axes_of(index: ast.expr) -> list[ast.expr]:
    """Return the parts of an index, one for each axis: `i` and `j` in `x[i, j]`."""
    return index.elts if isinstance(index, ast.Tuple) else [index]


def root_of(expression: ast.expr) -> ast.expr:
    """Return `agent` for `agent.net.weight`; the expression itself if it is not an attribute."""
    while isinstance(expression, ast.Attribute):
        expression = expression.value
    return expression


def root_name(expression: ast.AST) -> ast.Name | None:
    """Return the name that attributes and subscripts begin with: `agent` for `agent.rows[i].x`; None if they
    begin with another expression.
    """
    while isinstance(expression, (ast.Attribute, ast.Subscript)):
        expression = expression.value
    return expression if isinstance(expression, ast.Name) else None


def target_of_move(move: ast.Call) -> ast.expr | None:
    """Return what `.to(…)` names as its target: the argument `device=`, or the first one, which may also be a
    dtype or a tensor. None for `.cuda()`.
    """
    named = [keyword.value for keyword in move.keywords if keyword.arg == "device"]
    return next(iter(named or move.args[:1]), None)


def is_dotted_name(expression: ast.expr) -> bool:
    """Whether it is a name or an attribute of one: `self.agent.net`."""
    return isinstance(root_of(expression), ast.Name)


def element_at(display: ast.expr | None, path: Sequence[int | str]) -> ast.expr | None:
    """Return `5` in `(5, 10)` at the path (0,), or in `{"last": 5}` at ("last",); None if the display does
    not determine it.
    """
    for step in path:
        match display:
            case ast.Tuple(elts=elements) | ast.List(elts=elements) if (
                isinstance(step, int)
                and -len(elements) <= step < len(elements)
                and not any(isinstance(element, ast.Starred) for element in elements)
            ):
                display = elements[step]
            case ast.Dict(keys=keys, values=values) if isinstance(step, str) and None not in keys:
                named = zip(keys, values, strict=True)
                found = [value for key, value in named if isinstance(key, ast.Constant) and key.value == step]
                display = found[-1] if found else None
            case _:
                return None
    return display


def branches(statement: ast.If) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of an `if` with all its `elif`, and that of `else`, which is empty if there is
    none.
    """
    while True:
        yield statement.body
        match statement.orelse:
            case [ast.If() as statement]:
                continue
            case rest:
                yield rest
                return


def deciding_tests(child: ast.AST, parent: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """Yield the tests of an `if`, a conditional expression or an `and` and `or` that decide whether one of
    its parts is evaluated, each with the outcome that is needed.
    """
    if isinstance(parent, ast.If) and child is not parent.test:
        yield parent.test, child in parent.body
    elif isinstance(parent, ast.IfExp) and child is not parent.test:
        yield parent.test, child is parent.body
    elif isinstance(parent, ast.BoolOp):
        for value in parent.values:
            if value is child:
                return
            yield value, isinstance(parent.op, ast.And)


def variable_names(node: ast.AST) -> set[str]:
    """Return the names of the variables that occur in a node."""
    return {part.id for part in descendants(node) if isinstance(part, ast.Name)}


def dump_as_read(node: ast.AST) -> str:
    """Return the dump of an expression as if it were read, so that a target equals its later uses."""
    return ast.dump(node).replace("Store()", "Load()")


def counts_by_one(statement: ast.AST) -> bool:
    """Whether a statement is `i += 1` or `i -= 1`."""
    match statement:
        case ast.AugAssign(target=ast.Name(), op=ast.Add() | ast.Sub(), value=ast.Constant(value=1)):
            return True
    return False


def counted_by_hand(loop: ast.While) -> set[str]:
    """Return the variables that each iteration changes by one: `while t >= 0: …; t -= 1`."""
    return {
        each.target.id
        for each in loop.body
        if counts_by_one(each) and isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name)
    }
