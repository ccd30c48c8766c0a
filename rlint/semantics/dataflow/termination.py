"""Whether a function can end without a `return`, and so return None."""

from __future__ import annotations

import ast

from rlint.syntax.queries import branches
from rlint.syntax.syntax_index import FUNCTIONS, LOOPS, TRIES
from rlint.syntax.walk import children


def may_fall_through(body: list[ast.stmt]) -> bool:
    """Whether the code after a block may run next. Statements that usually continue (a loop, `with`) are
    assumed to.
    """
    return not body or not any(map(_never_returns, body))


def _never_returns(statement: ast.stmt) -> bool:
    match statement:
        case ast.Return() | ast.Raise() | ast.Continue() | ast.Break():
            return True
        case ast.If():
            return not any(map(may_fall_through, branches(statement)))
        case ast.With(body=body) | ast.AsyncWith(body=body):
            return not may_fall_through(body)
        case ast.While(test=ast.Constant(value=value)) if value:
            return not _breaks(statement)
        case ast.For(orelse=orelse) | ast.AsyncFor(orelse=orelse) | ast.While(orelse=orelse) if orelse:
            return not (may_fall_through(orelse) or _breaks(statement))
        case ast.Match(cases=cases):
            caught = any(_takes_all(case) for case in cases)
            return caught and not any(may_fall_through(case.body) for case in cases)
        case ast.Assert(test=ast.Constant(value=value)) if not value:
            return True
        case ast.Expr(value=ast.Call()):
            return _leaves_program(statement.value)
    if isinstance(statement, TRIES):
        if statement.finalbody and not may_fall_through(statement.finalbody):
            return True
        done = may_fall_through([*statement.body, *statement.orelse])
        return not (done or any(may_fall_through(handler.body) for handler in statement.handlers))
    return False


def ends_program(statement: ast.stmt) -> bool:
    """Whether a statement surely ends the program: `exit()`, `sys.exit(1)`."""
    match statement:
        case ast.Expr(
            value=ast.Call(
                func=ast.Name(id="exit" | "quit")
                | ast.Attribute(value=ast.Name(id="sys"), attr="exit")
                | ast.Attribute(value=ast.Name(id="os"), attr="_exit" | "abort")
            )
        ):
            return True
    return False


def _leaves_program(call: ast.expr) -> bool:
    """Whether a call ends the program, judging by its name: `parser.exit()`."""
    match call:
        case ast.Call(func=ast.Name(id="exit" | "quit") | ast.Attribute(attr="exit" | "_exit" | "abort")):
            return True
    return False


def _takes_all(case: ast.match_case) -> bool:
    return case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None


def _breaks(loop: ast.AST) -> bool:
    """Whether a `break` leaves this loop."""
    stack = list(getattr(loop, "body", ()))
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Break):
            return True
        if isinstance(node, LOOPS):
            stack.extend(node.orelse)
        elif not isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.expr)):
            stack.extend(children(node))
    return False
