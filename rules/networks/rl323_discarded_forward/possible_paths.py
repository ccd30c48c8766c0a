"""Paths on which a result is unused, and which the program never takes, or may never take."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, descendants, last_name, vocabulary

_OF_OTHERS = "the test always has the other outcome in this project"
_DEPENDENT = "the two settings may depend on each other, so that the result is always used"


def is_impossible(call: ast.Call, test: ast.expr, model: SemanticModel, *, outcome: bool) -> bool:
    """Whether a test never has an outcome where a call runs: by constants and by what all calls of the
    project pass, or because the constructor raises an error for such settings.
    """
    if _never_has(test, model, outcome=outcome) and not model.usage.may_be_called_unseen(test):
        return True
    return model.branches.excludes([(test, outcome), *model.branches.tests_before(call)])


def why_unlikely(call: ast.Call, test: ast.expr, model: SemanticModel, *, outcome: bool) -> str | None:
    """Return why a test likely never has an outcome where a call runs; None if it may."""
    if _never_has(test, model, outcome=outcome):
        return _OF_OTHERS
    around_both = [other for other, _ in model.branches.tests_before(test)]
    own = [other for other, _ in model.branches.tests_before(call) if other not in around_both]
    if _is_of_settings(test, model) and any(_is_of_settings(other, model) for other in own):
        return _DEPENDENT
    return None


def _never_has(test: ast.expr, model: SemanticModel, *, outcome: bool) -> bool:
    known = model.branches.outcome(test)
    return known is not None and known is not outcome


def _is_of_settings(test: ast.expr, model: SemanticModel) -> bool:
    """Whether a test depends on settings alone: `self.use_graph`, `args.loss == "ppo"`."""
    read = [node for node in descendants(test) if isinstance(node, (ast.Call, ast.Name, ast.Attribute))]
    return bool(read) and all(_is_setting(each, model) for each in read)


def _is_setting(read: ast.expr, model: SemanticModel) -> bool:
    if isinstance(read, ast.Name):
        words = (last_name(read) or "").lower().strip("_").split("_")
        return model.names.is_self(read) or not vocabulary.OPTIONS.isdisjoint(words)
    if not isinstance(read, ast.Attribute):
        return False
    if model.names.is_self(read.value):
        return model.types.is_likely_setting(read)
    return _is_setting(read.value, model)
