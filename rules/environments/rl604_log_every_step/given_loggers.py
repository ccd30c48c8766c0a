"""Loggers of unknown class to which a dict of metrics is passed: `self._logger.write(results)`."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, TypeTag, last_name, regex, vocabulary

_WRITES = frozenset({"log", "write"})
"""Methods of such loggers: `wandb`, Acme, and those that programs define in this manner."""
_METRICS = regex(
    r"(^|_)(metrics?|log(s|_dict|_data)?|stats|statistics|losses|summar(y|ies)|infos?|fetches|results?)$"
)
"""Names of dicts with the values of a step. Texts and single values have other names."""


def is_given_metrics(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call passes a dict of metrics to a logger of unknown class. Not where the project's own
    methods of this name collect values, or write under conditions.
    """
    match call:
        case ast.Call(func=ast.Attribute(value=logger, attr=method), args=[values, *_]) if method in _WRITES:
            pass
        case _:
            return False
    if not vocabulary.LOGGER_NAME.search((last_name(logger) or "").lower()):
        return False
    if model.types.type_of(logger) or model.names.qualified(logger) is not None:
        return False
    if model.types.call_targets(call) or not _holds_metrics(values, model):
        return False
    own = model.index.methods_named(method)
    return not own or any(each.log_guards == () for each in own)


def _holds_metrics(values: ast.expr, model: SemanticModel) -> bool:
    kind = model.types.type_of(values)
    if kind:
        return kind.tag is TypeTag.DICT
    return bool(_METRICS.search((last_name(values) or "").lower()))
