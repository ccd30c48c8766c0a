"""Functions of the project that decode a text token by token, each in a loop of its own."""

from __future__ import annotations

import ast

from rlint.rule import LOOPS, Impact, ImpactLevel, SemanticModel, descendants, only_callee, regex
from rlint.rules.networks.rl314_unbatched_forward.independent_runs import IndependentRun

_DECODES = regex(r"^(next_tokens?(_\w+)?|past_key_values?|use_cache|kv_cache|cache_position)$")
"""Names in loops that run a language model once for each token."""
WHOLE_DECODES = Impact(
    ImpactLevel.HIGH, "each iteration decodes whole texts, whose steps the prompts of a batch share"
)


def is_decoded(run: IndependentRun, model: SemanticModel) -> bool:
    """Whether the function that an iteration calls generates texts token by token."""
    function = only_callee(run.call, model)
    if function is None:
        return False
    return any(_decodes(node) for node in descendants(function) if isinstance(node, LOOPS))


def generates(run: IndependentRun, model: SemanticModel) -> bool:
    """Whether an iteration calls `generate` of a language model."""
    func = run.call.func
    return (
        isinstance(func, ast.Attribute) and func.attr == "generate" and model.program.uses_language_models()
    )


def _decodes(loop: ast.AST) -> bool:
    for node in descendants(loop):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str() as name):
                if _DECODES.search(name):
                    return True
    return False
