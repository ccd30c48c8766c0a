"""Values that are passed to a function which draws at random, and often leaves before it reads them:
`epsilon_greedy(q_values, epsilon)`.
"""

from __future__ import annotations

import ast

from rlint.rule import EffectKind, SemanticModel, Trait, TypeTag, is_in, is_in_block, models, parameter_of
from rlint.rules.networks.rl323_discarded_forward.sinking import leaves

_MEASURES = models.having(Trait.MEASURES, TypeTag.TENSOR) | {"shape", "device", "dtype"}


def gate_in_callee(needed: tuple[ast.AST, ...], name: str, model: SemanticModel) -> ast.If | None:
    """Return the branch of a called function that leaves it, by a random draw, before the function reads the
    variable `name` that a call passes to it, if the call is all that needs the variable.
    """
    if len(needed) != 1 or not isinstance(call := needed[0], ast.Call):
        return None
    targets = model.types.call_targets(call)
    function = model.types.definition(targets[0]) if len(targets) == 1 else None
    given = [*call.args, *(each.value for each in call.keywords)]
    passed = [each for each in given if isinstance(each, ast.Name) and each.id == name]
    if function is None or len(passed) != 1:
        return None
    parameter = parameter_of(passed[0], call, targets[0])
    gate = next((each for each in function.body if isinstance(each, ast.If)), None)
    if parameter is None or gate is None or not model.effects.effect_of(gate.test).kind & EffectKind.DRAWS:
        return None
    if not leaves(gate.body, gate, model):
        return None
    scope = model.syntax.scopes[function]
    before = function.body[: function.body.index(gate)]
    for read in model.names.uses(parameter, scope):
        around = model.parent(read)
        if isinstance(around, ast.Attribute) and around.attr in _MEASURES:
            continue
        if is_in(read, gate.test) or is_in_block(read, gate.body) or is_in_block(read, before):
            return None
    return gate
