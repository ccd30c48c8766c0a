"""Debugging that records or checks everything: traces, profilers of Python, options of trainers."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, TypeTag, descendants, output_words

_PROFILER = "cProfile.Profile"
_CHECKS_NAN = "stable_baselines3.common.vec_env.VecCheckNan"
_ADVICE = "Do it in a separate, short run, or if a command-line argument asks for it"

_Recording = tuple[str, str, None]


def recording(call: ast.Call, model: SemanticModel) -> _Recording | None:
    """Return a finding for a call that starts a recording which nothing ends or reads."""
    path = model.names.qualified(call.func) or ""
    known = output_words.TRACES_ALL.get(path)
    if known is not None:
        what, ends = known
        if any(model.names.attribute_uses(name) for name in ends) or _is_off(call):
            return None
        return f"`{model.source.text(call.func)}` {what}, during the whole training", _ADVICE, None
    option = debug_option(call, model)
    if option is not None:
        _, what = output_words.DEBUG_OPTIONS[option.arg or ""]
        message = f"`{model.source.text(option)}` {what}, during the whole training"
        return message, _ADVICE, None
    if checks_arrays(call, model):
        return f"`{model.source.text(call.func)}` checks the arrays of each step for NaN", _ADVICE, None
    return None


def checks_arrays(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call wraps an environment to check its arrays in each step."""
    return model.names.qualified(call.func) == _CHECKS_NAN


def _is_off(call: ast.Call) -> bool:
    """Whether the argument of a call says that nothing is recorded: `enabled=None`."""
    given = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "enabled")]
    return any(not isinstance(value, ast.Constant) or value.value in (None, False) for value in given)


def debug_option(call: ast.Call, model: SemanticModel) -> ast.keyword | None:
    """Return the keyword that turns on debugging in a trainer of a framework, or its settings."""
    for keyword in call.keywords:
        values = output_words.DEBUG_OPTIONS.get(keyword.arg or "", ((), ""))[0]
        if not values or not isinstance(keyword.value, ast.Constant) or keyword.value.value not in values:
            continue
        path = model.names.qualified(call.func) or ""
        return keyword if path.partition(".")[0] in output_words.TRAINER_PACKAGES else None
    return None


def profiled_block(call: ast.Call, model: SemanticModel) -> list[ast.stmt]:
    """Return the statements that a profiler of Python records: those of `with cProfile.Profile():`, and those
    after `profiler.enable()` up to `disable()` in the same block; empty for other calls.
    """
    item = model.parent(call)
    if model.names.qualified(call.func) == _PROFILER and isinstance(item, ast.withitem):
        block = model.parent(item)
        return block.body if isinstance(block, ast.With) else []
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "enable":
        return []
    kind = model.types.type_of(call.func.value)
    if kind.tag is not TypeTag.INSTANCE or kind.of != _PROFILER or not isinstance(item, ast.Expr):
        return []
    block_of, index = model.syntax.block(item)
    recorded = []
    for statement in block_of[index + 1 :]:
        if any(isinstance(node, ast.Attribute) and node.attr == "disable" for node in descendants(statement)):
            break
        recorded.append(statement)
    return recorded
