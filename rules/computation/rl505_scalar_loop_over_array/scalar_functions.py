"""Functions of the project that only compute with numbers or rows, which also work on whole arrays if masks
replace their conditions.
"""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, Trait, TypeTag, descendants, models, only_callee

_STATEMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.If, ast.Return, ast.Pass, ast.Raise)
_OTHER = (
    ast.Await,
    ast.Yield,
    ast.YieldFrom,
    ast.Lambda,
    ast.NamedExpr,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.Dict,
    ast.Set,
    ast.JoinedStr,
    ast.Global,
    ast.Nonlocal,
)
"""Nodes that do more than compute a number."""
ON_ELEMENTS = Trait.ELEMENTWISE | Trait.PAIRWISE | Trait.LIMITS | Trait.COMPARES
ON_ROWS = Trait.REDUCES | Trait.SUMS | Trait.SUMMARISES | Trait.GIVES_INDEX
COMPUTES = (
    models.having(ON_ELEMENTS | ON_ROWS, "numpy", "torch", "math")
    | (
        models.having(Trait.OF_NUMBERS | Trait.ONLY_LOOKS, "builtins")
        - models.having(Trait.TESTS_CLASS, "builtins")
    )
    | {"numpy.where", "torch.where", "numpy.dot", "numpy.linalg.norm"}
)
"""Functions that compute a number from numbers or rows."""
_METHODS = models.having(ON_ELEMENTS | ON_ROWS | Trait.CASTS_TO, TypeTag.NDARRAY)


def scalar_operations(call: ast.Call, model: SemanticModel) -> int:
    """Return the number of operators and calls in the one function of this file that a call runs, if the
    function only computes with numbers; 0 otherwise.
    """
    return model.once(_operations_of, call)


def _operations_of(call: ast.Call, model: SemanticModel) -> int:
    function = only_callee(call, model)
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return 0
    operations = 0
    for node in (part for statement in function.body for part in descendants(statement)):
        if isinstance(node, ast.stmt) and not isinstance(node, _STATEMENTS):
            if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
                return 0
        elif isinstance(node, _OTHER) or (
            isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store)
        ):
            return 0
        elif isinstance(node, ast.Call):
            operations += 1
            if not _computes(node, model) and not isinstance(model.parent(node), ast.Raise):
                return 0
        elif isinstance(node, (ast.BinOp, ast.Compare)):
            operations += 1
    return operations


def _computes(call: ast.Call, model: SemanticModel) -> bool:
    name = model.names.qualified(call.func)
    if name is not None:
        return name in COMPUTES
    return isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS
