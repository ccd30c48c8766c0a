"""Fixes that compute a vector in one expression."""

from __future__ import annotations

import ast

from rlint.rule import Applicability, Fix, SemanticModel, TypeTag, descendants, integers
from rlint.rules.transfers.rl206_python_list_tensor.formulas import Formula

_OF_TYPE = {
    "torch.FloatTensor": "torch.float32",
    "torch.DoubleTensor": "torch.float64",
    "torch.LongTensor": "torch.int64",
    "torch.Tensor": "torch.get_default_dtype()",
}


def build_fix(call: ast.Call, formula: Formula, model: SemanticModel) -> Fix | None:
    """Compute the numbers from a vector of the indices; None if the source does not allow that."""
    qualified = model.names.qualified(call.func) or ""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if not model.edit.is_relocatable(call) or len(call.args) > 1 or not given.keys() <= {"dtype", "device"}:
        return None
    if formula.calls or len(formula.uses) > 1:
        return None
    if qualified.startswith("numpy."):
        text = _of_numpy(call, formula, given.get("dtype"), model)
    else:
        text = _of_torch(call, qualified, formula, given, model)
    if text is None:
        return None
    reason = "for an empty list the result is no longer floating-point, and integers may overflow"
    if not _is_whole(formula, model):
        reason = "numbers may differ in the last digit"
    title = "Count with `arange`" if formula.element is None else "Compute all of them in one expression"
    return Fix(title, Applicability.UNSAFE, (model.edit.replace(call, text),), reason)


def _of_torch(
    call: ast.Call, qualified: str, formula: Formula, given: dict[str | None, ast.expr], model: SemanticModel
) -> str | None:
    library, whole = model.names.spelled("torch", call), _is_whole(formula, model)
    if library is None or whole is None:
        return None
    wanted = _OF_TYPE.get(qualified, "" if whole else "torch.get_default_dtype()")
    wanted = wanted.replace("torch", library, 1)
    if "dtype" in given:
        wanted = "".join(model.source.text(given["dtype"]).split())
    device = f", device={model.source.text(given['device'])}" if "device" in given else ""
    if formula.element is None or isinstance(formula.element, ast.Name):
        return (
            f"{library}.arange({_arguments(formula, model)}{f', dtype={wanted}' if wanted else ''}{device})"
        )
    double = f"{library}.float64"
    inner = "" if whole else f", dtype={double}"
    text = _put_in(formula, f"{library}.arange({_arguments(formula, model)}{inner}{device})", model)
    given_type = model.names.qualified(given["dtype"]) if "dtype" in given else None
    if not wanted or (not whole and (wanted == double or given_type == "torch.float64")):
        return _standing_in(text, call, model)
    return f"({text}).to({wanted})"


def _of_numpy(call: ast.Call, formula: Formula, dtype: ast.expr | None, model: SemanticModel) -> str | None:
    library = model.names.spelled("numpy", call)
    if library is None:
        return None
    wanted = model.source.text(dtype) if dtype is not None else ""
    if formula.element is None or isinstance(formula.element, ast.Name):
        return f"{library}.arange({_arguments(formula, model)}{f', dtype={wanted}' if wanted else ''})"
    text = _put_in(formula, f"{library}.arange({_arguments(formula, model)})", model)
    return f"({text}).astype({wanted})" if wanted else _standing_in(text, call, model)


def _standing_in(text: str, call: ast.Call, model: SemanticModel) -> str:
    """Return the source of an expression with operators, in place of a call."""
    parent = model.parent(call)
    alone = isinstance(parent, (ast.Assign, ast.AnnAssign, ast.Return, ast.keyword))
    return text if alone or (isinstance(parent, ast.Call) and call in parent.args) else f"({text})"


def _arguments(formula: Formula, model: SemanticModel) -> str:
    start, end = model.source.span(formula.range.args[0])[0], model.source.span(formula.range.args[-1])[1]
    return model.syntax.text[start:end]


def _put_in(formula: Formula, vector: str, model: SemanticModel) -> str:
    """Return the formula with the vector in place of the index."""
    assert formula.element is not None
    start, end = model.source.span(formula.element)
    (use,) = formula.uses
    first, after = model.source.span(use)
    return model.syntax.text[start:first] + vector + model.syntax.text[after:end]


def _is_whole(formula: Formula, model: SemanticModel) -> bool | None:
    """Whether all numbers are integers. None if it is not known."""
    if formula.element is None:
        return True
    names: list[ast.expr] = []
    powers = False
    for node in descendants(formula.element):
        match node:
            case ast.Constant(value=float()) | ast.BinOp(op=ast.Div()):
                return False
            case ast.BinOp(op=ast.Pow()):
                powers = True
            case ast.Attribute() if not isinstance(model.parent(node), ast.Attribute):
                names.append(node)
            case ast.Name() if node not in formula.uses and not isinstance(model.parent(node), ast.Attribute):
                names.append(node)
    if any(model.types.type_of(name).tag is TypeTag.FLOAT for name in names):
        return False
    if all(integers.is_integer(name, model) is not None for name in names):
        return True
    return False if powers else None  # a power of an unknown name: a discount
