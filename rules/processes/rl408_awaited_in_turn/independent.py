"""Whether the iterations of a loop are independent."""

from __future__ import annotations

import ast

from rlint.rule import COMPREHENSIONS, AnyLoop, SemanticModel, descendants, variable_names
from rlint.rules.processes.rl408_awaited_in_turn.starts import Start

_LEAVES = (ast.Break, ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.While, ast.Try, ast.With)


def is_independent(start: Start, wait: ast.Call, loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether all iterations could be started before the first is awaited: each uses another worker, or a
    pool for another task, and what is sent does not depend on earlier results.
    """
    varies = loop_names(loop)
    if isinstance(loop, COMPREHENSIONS):
        queried = start.worker if start.worker is not None else start.call
        return bool(varies & variable_names(queried)) or start.worker is None
    if not isinstance(loop, (ast.For, ast.AsyncFor)) or ends_early(loop):
        return False
    if conditional(wait, loop, model) or conditional(start.call, loop, model):
        return False
    bound = bindings_in(loop)
    made: set[str] = set()
    if not sent_before(start.call, start.call, bound, made):
        return False
    written = {ast.dump(target) for target in stored_attributes(loop)}
    sources: list[ast.AST] = [start.call, *(value for name in made for _, value in bound[name] if value)]
    if written and any(
        isinstance(node, ast.Attribute) and as_stored(node) in written
        for source in sources
        for node in descendants(source)
    ):
        return False
    for name in made:
        if any(value is not None and varies & variable_names(value) for _, value in bound[name]):
            varies.add(name)
    queried = start.worker if start.worker is not None else start.call
    return bool(varies & variable_names(queried))


def loop_names(loop: AnyLoop) -> set[str]:
    """Return the variables that a loop itself binds."""
    targets = [loop.target] if isinstance(loop, (ast.For, ast.AsyncFor)) else []
    if isinstance(loop, COMPREHENSIONS):
        targets = [generator.target for generator in loop.generators]
    return {node.id for target in targets for node in descendants(target) if isinstance(node, ast.Name)}


def ends_early(loop: ast.For | ast.AsyncFor) -> bool:
    """Whether an iteration may be the last, or waits in other ways."""
    return any(isinstance(node, _LEAVES) for statement in loop.body for node in descendants(statement))


def conditional(node: ast.AST, loop: ast.AST, model: SemanticModel) -> bool:
    """Whether a node runs only in some of the iterations, or in a nested loop."""
    for around in model.ancestors(node):
        if around is loop:
            return False
        if isinstance(around, (ast.If, ast.IfExp, ast.For, ast.Match, *COMPREHENSIONS, ast.Lambda)):
            return True
    return True


_Bindings = dict[str, list[tuple[int, "ast.expr | None"]]]


def bindings_in(loop: ast.For | ast.AsyncFor) -> _Bindings:
    """Return the bindings in the body of a loop, each with its line."""
    found: _Bindings = {}
    for statement in loop.body:
        for node in descendants(statement):
            if not isinstance(node, (ast.stmt, ast.expr)):
                continue
            value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) else None
            targets: list[ast.expr] = []
            if isinstance(node, ast.Assign):
                targets = node.targets
            elif isinstance(node, (ast.AnnAssign, ast.NamedExpr, ast.AugAssign, ast.For)):
                targets = [node.target]
            for target in targets:
                for part in descendants(target):
                    if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                        found.setdefault(part.id, []).append((node.lineno, value))
    return found


def sent_before(expression: ast.AST, start: ast.expr, bound: _Bindings, made: set[str]) -> bool:
    """Whether all that an expression reads is from outside of the loop, or bound in the same iteration before
    the start, from such values. Collects the names bound in the pass.
    """
    for name in variable_names(expression):
        if name in made:
            continue
        for line, value in bound.get(name, ()):
            if value is None or line >= start.lineno:
                return False
        if name in bound:
            made.add(name)
            if not all(
                sent_before(value, start, bound, made) for _, value in bound[name] if value is not None
            ):
                return False
    return True


def stored_attributes(loop: ast.For | ast.AsyncFor) -> list[ast.Attribute]:
    """Return the attributes that the body of a loop sets, in the form of reads."""
    return [
        ast.Attribute(node.value, node.attr, ast.Load())
        for statement in loop.body
        for node in descendants(statement)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    ]


def as_stored(node: ast.Attribute) -> str:
    """Return an attribute in the form in which set attributes are compared."""
    return ast.dump(ast.Attribute(node.value, node.attr, ast.Load()))
