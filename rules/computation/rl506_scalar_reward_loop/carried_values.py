"""Results that each iteration of a loop over time steps takes from the previous one."""

from __future__ import annotations

import ast

from rlint.rule import axes_of, descendants

AnyStepLoop = ast.For | ast.While


def recurs(loop: AnyStepLoop, counters: set[str]) -> bool:
    """Whether each iteration multiplies by a result of the previous one."""
    assigned: dict[str, list[ast.expr]] = {}
    computed: dict[str, list[ast.expr]] = {}
    stored: dict[str, list[ast.expr]] = {}
    multiplied = any(is_multiplied(statement) for statement in loop.body)
    for node in descendants(loop):
        if not isinstance(node, (ast.Assign, ast.AugAssign)):
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            name = _variable(target)
            if name is not None:
                computed.setdefault(name, []).append(node.value)
            if name is not None and isinstance(node, ast.Assign):
                assigned.setdefault(name, []).append(node.value)
            elif isinstance(target, ast.Subscript):
                if _reads_neighbour(target, node.value):
                    return True
                if multiplied and is_step(target.slice, counters) and _reads_neighbour(target, loop):
                    return True  # through a variable: `later = returns[t + 1] if t < last else 0`
                stored.setdefault(_place(target), []).append(node.value)
    for values in assigned.values():  # through an item: `returns[t] += gamma * last`, `last = returns[t]`
        for value in list(values):
            if isinstance(value, ast.Subscript):
                values.extend(stored.get(_place(value), ()))
            elif isinstance(value, ast.Name):  # `ret += gamma * last`, then `last = ret`
                values.extend(computed.get(value.id, ()))
    return any(
        is_multiplied(value) and reads(value, name) and is_carried(name, loop)
        for name, values in assigned.items()
        for value in values
    ) or (multiplied and any(_extends(statement) for statement in loop.body))


def _variable(target: ast.AST) -> str | None:
    """Return a variable, or an attribute of one such as `self.total`, as text."""
    match target:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=holder), attr=attribute):
            return f"{holder}.{attribute}"
    return None


def _extends(statement: ast.stmt) -> bool:
    """Whether a statement adds an item to a list that is computed from its last one:
    `returns.append(r[t] + gamma * returns[-1])`, `returns.insert(0, r[t] + gamma * returns[0])`.
    """
    match added_item(statement):
        case ast.Name(id=name), value, place if is_multiplied(value):
            return any(
                isinstance(node, ast.Subscript)
                and isinstance(node.value, ast.Name)
                and node.value.id == name
                and ast.unparse(node.slice) == place
                for node in descendants(value)
            )
    return False


def added_item(statement: ast.stmt) -> tuple[ast.Name, ast.expr, str] | None:
    """Return the list, the item, and the index of the item then, of `returns.append(ret)` or
    `returns.insert(0, ret)`.
    """
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name() as held, attr=method), args=args)):
            if method == "append" and len(args) == 1:
                return held, args[0], "-1"
            if method == "insert" and len(args) == 2 and isinstance(args[0], ast.Constant):
                return (held, args[1], "0") if args[0].value == 0 else None
    return None


def computed_alone(loop: AnyStepLoop) -> list[str]:
    """Return the variables that each iteration computes without a result of the previous one, so that all
    rows can be computed at once before the loop: `delta = rewards[t] + gamma * values[t + 1] - values[t]`.
    """
    computed: dict[str, ast.expr] = {}
    for statement in loop.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in computed:
                computed[name] = value
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
                pass
            case _ if added_item(statement) is None:
                return []
    dependent = from_previous(loop)
    return [name for name, value in computed.items() if name not in dependent and _is_arithmetic(value)]


def from_previous(loop: AnyStepLoop) -> set[str]:
    """Return the variables, attributes and lists of which an iteration reads what the previous one computed,
    and the variables computed from these.
    """
    computed: list[tuple[str, ast.expr]] = []
    found = set[str]()
    for statement in loop.body:
        added = added_item(statement)
        if added is not None:
            found.add(added[0].id)
        for target in statement.targets if isinstance(statement, ast.Assign) else ():
            name = _variable(target.value if isinstance(target, ast.Subscript) else target)
            if name is not None and isinstance(target, ast.Subscript):
                found.add(name)
            elif name is not None and isinstance(statement, ast.Assign):
                computed.append((name, statement.value))
    found |= {name for name, _ in computed if is_carried(name, loop)}
    for name, value in computed:
        if any(reads(value, each) for each in found):
            found.add(name)
    return found


def _is_arithmetic(value: ast.expr) -> bool:
    """Whether a value is computed by operators and methods, such as those of tensors; not a choice."""
    calls = [node for node in descendants(value) if isinstance(node, ast.Call)]
    is_computed = isinstance(value, (ast.BinOp, ast.UnaryOp, ast.Call))
    return is_computed and all(isinstance(call.func, ast.Attribute) for call in calls)


def _place(item: ast.Subscript) -> str:
    """Return a key of an item, the same where it is set and where it, or a part of it, is read:
    `advantages[t]`, `advantages[t, 0]`.
    """
    first = next(iter(axes_of(item.slice)), item.slice)
    return f"{ast.dump(item.value)} {ast.dump(item.slice if isinstance(first, ast.Slice) else first)}"


def is_carried(name: str, loop: AnyStepLoop) -> bool:
    """Whether an iteration reads the value of a variable or attribute from the previous one before it assigns
    it.
    """
    for statement in loop.body:
        match statement:
            case ast.Assign(targets=targets, value=value) if any(
                _variable(target) == name for target in targets
            ):
                return reads(value, name)
        if reads(statement, name):
            return True
    return False


def reads(part: ast.AST, name: str) -> bool:
    """Whether code reads a variable or attribute."""
    return any(
        isinstance(node, (ast.Name, ast.Attribute))
        and isinstance(node.ctx, ast.Load)
        and _variable(node) == name
        for node in descendants(part)
    )


def is_multiplied(value: ast.AST) -> bool:
    """Whether code multiplies."""
    return any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) for node in descendants(value))


def _reads_neighbour(target: ast.Subscript, value: ast.AST) -> bool:
    """Whether a statement is like `returns[t] = rewards[t] + gamma * returns[t + 1]`, along any axis."""
    neighbours = [
        node
        for node in descendants(value)
        if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and any(isinstance(part, ast.BinOp) for part in axes_of(node.slice))
    ]
    held = ast.dump(target.value) if neighbours else ""
    return any(ast.dump(node.value) == held for node in neighbours)


def is_step(index: ast.expr, counters: set[str], inner: set[str] | frozenset[str] = frozenset()) -> bool:
    """Whether an index is `t` or `t + 1`, or `t + n` for the counter `n` of an inner loop."""
    match index:
        case ast.Name(id=name) | ast.BinOp(left=ast.Name(id=name), right=ast.Constant()):
            return name in counters
    return is_offset(index, counters, set(inner))


def is_offset(value: ast.AST, counters: set[str], inner: set[str]) -> bool:
    """Whether a value is `t + n`, of the counter of a loop and that of a loop inside it."""
    match value:
        case ast.BinOp(left=ast.Name(id=left), op=ast.Add(), right=ast.Name(id=right)):
            return (left in counters and right in inner) or (left in inner and right in counters)
    return False
