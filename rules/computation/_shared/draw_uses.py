"""Loops that collect a sample of a known size, and what they do with a number that they draw."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import EffectKind, SemanticModel, Trait, descendants, models, same_code

DrawingLoop = ast.For | ast.While | ast.ListComp

_OF_NUMBERS = models.having(Trait.OF_NUMBERS, "builtins")
_MAY_LEAVE_IT = EffectKind.READS | EffectKind.UNKNOWN | EffectKind.INDIRECT
_SOMETIMES = (
    ast.If, ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
    ast.For, ast.While, ast.Try, ast.FunctionDef,
)  # fmt: skip


def is_counted(loop: DrawingLoop, model: SemanticModel) -> bool:
    """Whether the number of iterations is known before the loop: `range(n)`, or `while len(drawn) < n` if
    each iteration adds an item.
    """
    if isinstance(loop, ast.While):
        return not loop.orelse and _adds_one(loop, model)
    if isinstance(loop, ast.For):
        iterable = None if loop.orelse else loop.iter
    else:
        match loop.generators:
            case [ast.comprehension(iter=iterable, ifs=[], is_async=0)]:
                pass
            case _:
                return False
    return isinstance(iterable, ast.Call) and model.names.qualified(iterable.func) == "builtins.range"


def _adds_one(loop: ast.While, model: SemanticModel) -> bool:
    """Whether each iteration adds one to the number that the condition compares with a limit."""
    if any(isinstance(node, ast.Continue) for node in descendants(loop)):
        return False
    match loop.test:
        case ast.Compare(left=ast.Call(func=called, args=[held]), ops=[ast.Lt() | ast.NotEq()]):
            if model.names.qualified(called) != "builtins.len":
                return False
            return any(
                isinstance(statement, ast.Expr)
                and isinstance(statement.value, ast.Call)
                and isinstance(statement.value.func, ast.Attribute)
                and statement.value.func.attr == "append"
                and same_code(statement.value.func.value, held)
                for statement in loop.body
            )
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Lt() | ast.NotEq()]):
            return any(
                isinstance(statement, ast.AugAssign)
                and isinstance(statement.op, ast.Add)
                and isinstance(statement.target, ast.Name)
                and statement.target.id == name
                and isinstance(statement.value, ast.Constant)
                and statement.value.value == 1
                for statement in loop.body
            )
    return False


def calls_in_each_iteration(part: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls that a statement or expression makes exactly once whenever it runs."""
    if isinstance(part, _SOMETIMES):
        return
    if isinstance(part, ast.Call):
        yield part
    for child in ast.iter_child_nodes(part):
        yield from calls_in_each_iteration(child)


def is_looked_up(drawn: ast.expr, loop: DrawingLoop, model: SemanticModel) -> bool:
    """Whether a drawn number selects an item: `rows[place]`, or by a call that only reads, also through
    arithmetic and a variable. `rows[draw()]` without a variable is left to the rule about lists of
    transitions.
    """
    user, value = model.parent(drawn), drawn
    while isinstance(user, (ast.BinOp, ast.UnaryOp)) or (
        isinstance(user, ast.Call) and model.names.qualified(user.func) in _OF_NUMBERS
    ):
        value = user
        user = model.parent(user)
    if isinstance(user, ast.keyword):
        user = model.parent(user)
    match user:
        case ast.Call() as call:
            return value is not call.func and _only_reads(call, model)
        case ast.Assign(targets=[ast.Name(id=name)]):
            return any(
                isinstance(node, ast.Name)
                and node.id == name
                and isinstance(node.ctx, ast.Load)
                and (_is_index(node, model) or is_looked_up(node, loop, model))
                for node in descendants(loop)
            )
    return False


def _is_index(name: ast.Name, model: SemanticModel) -> bool:
    match model.parent(name):
        case ast.Subscript(slice=place, ctx=ast.Load()):
            return place is name
    return False


def _only_reads(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call changes nothing, such as a search in a tree: a function that calls no others may assign
    to its parameters.
    """
    kind = model.effects.call_effect(call).kind
    if not kind & ~EffectKind.READS:
        return True
    if kind & ~(EffectKind.READS | EffectKind.UNKNOWN):
        return False
    targets = model.types.call_targets(call)
    return bool(targets) and all(
        target.walks_down is not None or (target.returns_values and not target.calls) for target in targets
    )


def changes_owner(
    call: ast.Call, arguments: tuple[ast.expr, ...], loop: DrawingLoop, model: SemanticModel
) -> bool:
    """Whether the bounds, which may also be factors (`np.random.random() * tree.total`), are parts of objects
    that the loop may change: by a function of the project, or by a method of the same object.
    """
    whole: ast.AST = call
    while isinstance(outer := model.parent(whole), (ast.BinOp, ast.UnaryOp)):
        whole = outer
    drawn = set(map(id, descendants(call)))
    factors = [node for node in descendants(whole) if id(node) not in drawn]
    owners = [
        node.value
        for node in (*factors, *(part for argument in arguments for part in descendants(argument)))
        if isinstance(node, (ast.Attribute, ast.Subscript))
    ]
    return any(
        isinstance(node, ast.Call) and _may_change(node, owners, model)
        for node in (descendants(loop) if owners else ())
    )


def _may_change(call: ast.Call, owners: list[ast.expr], model: SemanticModel) -> bool:
    if model.types.call_targets(call):
        return not _only_reads(call, model)
    return (
        isinstance(call.func, ast.Attribute)
        and any(same_code(call.func.value, owner) for owner in owners)
        and bool(model.effects.call_effect(call).kind & ~_MAY_LEAVE_IT)
    )
