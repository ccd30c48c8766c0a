"""Draws of batches for gradient steps from a list of any name, which likely holds thousands of samples."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, SemanticModel, TypeTag, regex

_FEW = regex(
    r"env|agent|action|batch|ensemble|critic|layer|head|net|model|task|episode|worker|dim|feature|epoch|step"
    r"|goal|level|user|client|seed|opponent|player|traj|rollout|demo"
)
"""Lists with few items."""


def training_rows(count: ast.expr, draw: ast.Call, model: SemanticModel) -> ast.Name | None:
    """Return the list in `i = np.random.choice(len(samples), k, p=p)`, `batch = [samples[j] for j in i]`, if
    the loop around takes gradient steps.
    """
    match count, model.parent(draw):
        case (
            ast.Call(func=func, args=[ast.Name() as held], keywords=[]),
            ast.Assign(targets=[ast.Name(id=drawn)]) as statement,
        ) if model.names.qualified(func) == "builtins.len":
            pass
        case _:
            return None
    loop = model.analysis.loops.innermost(statement)
    if loop is None or _FEW.search(held.id.lower()) or model.types.type_of(held).tag is not TypeTag.LIST:
        return None
    if not _takes_items(held.id, drawn, statement, model) or not model.nn.takes_gradient_steps(loop):
        return None
    return held


def _takes_items(held: str, drawn: str, statement: ast.Assign, model: SemanticModel) -> bool:
    """Whether a list of the drawn items is made: `[samples[j] for j in drawn]`."""
    scope = model.names.scope(statement).lookup(drawn)
    for read in model.names.reads(drawn, scope) if scope is not None else ():
        made = model.parent(read)
        while isinstance(made, ast.comprehension):
            made = model.parent(made)
        match made:
            case ast.ListComp(
                elt=ast.Subscript(value=ast.Name(id=name), slice=ast.Name(id=index)),
                generators=[ast.comprehension(target=ast.Name(id=counter))],
            ) if name == held and index == counter:
                return any(
                    binding.kind is BindingKind.ASSIGN and binding.statement is statement
                    for binding in model.dataflow.definitions(read)
                )
    return False
