"""Results for all agents that a loop over them only reads where it draws no random action instead."""

from __future__ import annotations

import ast

from rlint.rule import EffectKind, SemanticModel, descendants, is_in, is_in_block


def drawn_in_loop(
    call: ast.Call, needed: tuple[ast.AST, ...], model: SemanticModel
) -> tuple[ast.If, bool] | None:
    """Return the branch of a loop after a call, taken by a random draw, that alone needs the value of the
    call, and whether it is taken if the test fails: `if random() < epsilon: … else: values[i].argmax()`.
    """
    statement = model.syntax.statement(call)
    if not needed:
        return None
    for above in model.ancestors(needed[0]):
        if is_in(call, above):
            return None
        if not isinstance(above, ast.If) or not model.effects.effect_of(above.test).kind & EffectKind.DRAWS:
            continue
        loop = next((each for each in model.ancestors(above) if isinstance(each, (ast.For, ast.While))), None)
        if not isinstance(loop, ast.For) or is_in(call, loop):
            return None
        if not all(_is_item(each, loop, model) for each in needed):
            return None
        block = model.syntax.block(statement)[0]
        if not any(is_in(loop, each) for each in block):
            block = model.syntax.block(_unit(statement, model))[0]
        if not any(is_in(loop, each) for each in block):
            return None
        for arm, negated in ((above.body, False), (above.orelse, True)):
            if all(is_in_block(each, arm) for each in needed):
                return above, negated
        return None
    return None


def _is_item(node: ast.AST, loop: ast.For, model: SemanticModel) -> bool:
    """Whether a statement that needs a value reads the item of the iteration from it: `values[i]`."""
    bound = {each.id for each in descendants(loop.target) if isinstance(each, ast.Name)}
    return any(
        isinstance(each, ast.Subscript)
        and any(isinstance(part, ast.Name) and part.id in bound for part in descendants(each.slice))
        for each in descendants(model.syntax.statement(node))
    )


def _unit(statement: ast.stmt, model: SemanticModel) -> ast.stmt:
    """Return the block around a statement, if that turns autograd off, else the statement."""
    around = model.parent(statement)
    return around if isinstance(around, (ast.With, ast.AsyncWith)) else statement
