"""Calls of the constructor of a distribution of torch in a subclass: `super().__init__(logits=logits)`."""

from __future__ import annotations

import ast

from rlint.rule import ClassSummary, SemanticModel

_DECIDE = frozenset({"arg_constraints", "_validate_args", "__validate_args"})
"""Class attributes by which a class of distributions decides itself what is validated."""


def is_super_constructor(called: ast.expr, model: SemanticModel) -> bool:
    """Whether the called expression is `super().__init__` in a constructor."""
    match called:
        case ast.Attribute(attr="__init__", value=ast.Call(func=ast.Name(id="super"))):
            function = model.function(called)
            return function is not None and function.name == "__init__"
    return False


def base_of_torch(called: ast.expr, model: SemanticModel) -> str | None:
    """Return the qualified name of the class whose constructor `super().__init__` runs, if it is the first
    base outside the program, and no class of the program before it has a constructor of its own.
    """
    cls = model.class_of(called)
    summary = model.module.classes.get(model.syntax.qualname(cls)) if cls is not None else None
    if cls is None or summary is None or decides(cls):
        return None
    for base in model.index.ancestry(summary):
        if isinstance(base, str):
            return base
        if base is not summary and not _inherits_constructor(base):
            return None
    return None


def _inherits_constructor(cls: ClassSummary) -> bool:
    return "__init__" not in cls.methods and "__new__" not in cls.methods


def decides(cls: ast.ClassDef) -> bool:
    """Whether the body of a class sets what is validated."""
    targets = [
        target
        for part in cls.body
        if isinstance(part, (ast.Assign, ast.AnnAssign))
        for target in (part.targets if isinstance(part, ast.Assign) else [part.target])
    ]
    return any(isinstance(target, ast.Name) and target.id in _DECIDE for target in targets)
