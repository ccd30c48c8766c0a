"""A network that several statements run, one after the other, on inputs whose results are then joined."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, SemanticModel, Trait, descendants, models, variable_names
from rlint.rules.networks.rl314_unbatched_forward.looped_networks import runs_rows

_JOINS = models.having(Trait.JOINS, "torch")
_FEWEST = 3
"""Two runs are usual where a network compares two inputs, and save little."""
_DEPTH = 4
"""Maximum number of times a result is rebound before it is joined: `h = h.view(n, -1)`."""


def unrolled_runs(join: ast.Call, model: SemanticModel) -> list[ast.Call]:
    """Return the runs of one network of which a call joins the results: `h1 = net(x1)`, `h2 = net(x2)`,
    `h3 = net(x3)`, `torch.stack((h1, h2, h3))`; empty if they are few, differ or need each other's results.
    """
    if model.names.qualified(join.func) not in _JOINS or not join.args:
        return []
    parts = join.args[0]
    if not isinstance(parts, (ast.Tuple, ast.List)) or len(parts.elts) < _FEWEST:
        return []
    values = [_first_value(part, model, _DEPTH) for part in parts.elts]
    runs = [_run_in(value, model) if value is not None else None for value in values]
    found = [run for run in runs if run is not None]
    if len(found) < len(runs) or len({ast.dump(run.func) for run in found}) > 1:
        return []
    forms = {_form(value) for value in values if value is not None}
    inputs = {ast.dump(value) for value in values if value is not None}
    if len(forms) > 1 or len(inputs) < len(found) or not _are_independent(parts.elts, values):
        return []
    if any(model.frequency.loops(run) != model.frequency.loops(join) for run in found):
        return []
    return found


def _first_value(part: ast.expr, model: SemanticModel, depth: int) -> ast.expr | None:
    """Return the expression whose result is joined, before methods give it another form."""
    if not isinstance(part, ast.Name):
        return part
    bindings = model.dataflow.definitions(part)
    if len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGN or bindings[0].path:
        return None
    value = bindings[0].value
    reads = _receiver(value)
    if reads is not None and reads.id == part.id and depth:
        return _first_value(reads, model, depth - 1)
    return value


def _receiver(value: ast.expr | None) -> ast.Name | None:
    """Return the variable whose methods a value is computed by: `h` of `h.contiguous().view(n, -1)`."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        value = value.func.value
        if isinstance(value, ast.Name):
            return value
    return None


def _run_in(value: ast.expr, model: SemanticModel) -> ast.Call | None:
    """Return the outermost run of a network in an expression, if it treats rows independently."""
    for node in descendants(value):
        if isinstance(node, ast.Call) and model.nn.network_run(node) is not None:
            return node if runs_rows(node, model) else None
    return None


def _form(value: ast.expr) -> str:
    """Return the form of an expression, without the names of variables and the numbers in it."""
    return "".join(
        node.__class__.__name__ + getattr(node, "attr", "")
        for node in descendants(value)
        if not isinstance(node, ast.expr_context)
    )


def _are_independent(parts: list[ast.expr], values: list[ast.expr | None]) -> bool:
    """Whether no input is the result of another run."""
    results = {part.id for part in parts if isinstance(part, ast.Name)}
    return not any(value is not None and variable_names(value) & results for value in values)
