"""Redundant softmaxes: those whose result is only used by functions that do not need them."""

from __future__ import annotations

import ast

from rlint.rule import Applicability, BindingKind, Edit, Fix, SemanticModel, frozen

_MODULES = ("torch", "torch.nn.functional", "torch.special")
_FUNCTIONS = {f"{module}.{name}": name for module in _MODULES for name in ("softmax", "log_softmax")}
_CLASSES = {"torch.nn.Softmax": "softmax", "torch.nn.LogSoftmax": "log_softmax"}
_LAST = (-1, 1)


@frozen
class NeedlessSoftmax:
    """A softmax that can be removed, and the fix."""

    node: ast.expr
    message: str
    advice: str
    fix: Fix | None


@frozen
class _Softmax:
    """`node` is the call, `name` the function, `taken` its input, `holder` the variable that holds the
    result, if any.
    """

    node: ast.Call
    name: str
    taken: ast.expr
    dim: int
    holder: ast.Name | None = None


def softmax_before_argmax(call: ast.Call, model: SemanticModel) -> NeedlessSoftmax | None:
    """Return the softmax of `argmax(softmax(x, dim), dim)`."""
    if model.names.qualified(call.func) == "torch.argmax":
        given = [*call.args]
    elif isinstance(call.func, ast.Attribute):
        given = [call.func.value, *call.args]
    else:
        return None
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    dim = given[1] if len(given) > 1 else named.get("dim", named.get("axis"))
    softmax = _softmax(given[0], model) if given else None
    if softmax is None or dim is None or _integer(dim) != softmax.dim:
        return None
    shown, taken = softmax.name, _shown(softmax.taken, model)
    return NeedlessSoftmax(
        softmax.node,
        f"`{shown}` is computed only for `argmax`, which returns the same index without it",
        f"Pass {taken} itself to `argmax`: `{shown}` preserves the order",
        _left_out(
            softmax, model, "two probabilities that round to the same number may come from different inputs"
        ),
    )


def softmax_before_logits(call: ast.Call, model: SemanticModel) -> NeedlessSoftmax | None:
    """Return the softmax of `Categorical(logits=softmax(x))`, which applies softmax itself."""
    logits = next((keyword.value for keyword in call.keywords if keyword.arg == "logits"), None)
    softmax = _softmax(logits, model) if logits is not None else None
    if softmax is None or softmax.dim not in _LAST:
        return None
    taken = _shown(softmax.taken, model)
    if softmax.name == "softmax":
        return NeedlessSoftmax(
            softmax.node,
            "The probabilities of `softmax` are passed as `logits`, which applies softmax again",
            f"Pass {taken} itself as `logits`; this changes the policy, which was a softmax of probabilities",
            None,
        )
    condition = (
        "log-probabilities are rounded differently"
        if softmax.dim == -1
        else f"{taken} must have two dimensions; log-probabilities are rounded differently"
    )
    return NeedlessSoftmax(
        softmax.node,
        "`log_softmax` normalises the logits, and the distribution normalises them again",
        f"Pass {taken} itself as `logits`",
        _left_out(softmax, model, condition),
    )


def _softmax(expression: ast.expr, model: SemanticModel) -> _Softmax | None:
    """Return the softmax that an expression is, or that is the value of a variable which is only read
    here.
    """
    if not isinstance(expression, ast.Name):
        return _softmax_call(expression, model)
    scope = model.names.scope(expression).lookup(expression.id)
    if scope is None or not scope.is_function or model.names.is_captured(expression.id, scope):
        return None
    bindings = model.dataflow.definitions(expression)
    if len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGN or bindings[0].path:
        return None
    value = bindings[0].value
    softmax = _softmax_call(value, model) if value is not None else None
    read_once = [
        read
        for read in model.names.reads(expression.id, scope)
        if bindings[0] in model.dataflow.definitions(read)
    ] == [expression]
    if (
        softmax is None
        or not read_once
        or model.frequency.loops(value or expression) != model.frequency.loops(expression)
    ):
        return None
    return _Softmax(softmax.node, softmax.name, softmax.taken, softmax.dim, expression)


def _softmax_call(expression: ast.expr, model: SemanticModel) -> _Softmax | None:
    if not isinstance(expression, ast.Call):
        return None
    named = {keyword.arg: keyword.value for keyword in expression.keywords}
    name = _FUNCTIONS.get(model.names.qualified(expression.func) or "")
    if name is not None:
        given = [*expression.args]
    elif isinstance(expression.func, ast.Attribute) and model.names.qualified(expression.func) is None:
        if expression.func.attr not in ("softmax", "log_softmax") or _is_own_method(expression.func, model):
            return None
        name, given = expression.func.attr, [expression.func.value, *expression.args]
    elif isinstance(made := expression.func, ast.Call) and len(expression.args) == 1:
        name = _CLASSES.get(model.names.qualified(made.func) or "")
        given = [expression.args[0], *made.args]
        named = {keyword.arg: keyword.value for keyword in made.keywords}
    if name is None or any(isinstance(argument, ast.Starred) for argument in given):
        return None
    taken = given[0] if given else named.get("input")
    dim = given[1] if len(given) > 1 else named.get("dim")
    number = _integer(dim) if dim is not None else None
    return _Softmax(expression, name, taken, number) if taken is not None and number is not None else None


def _is_own_method(method: ast.Attribute, model: SemanticModel) -> bool:
    """Whether a call is a method of an object that is not a tensor, or a module: `self.softmax(x)`."""
    owner = method.value
    return (isinstance(owner, ast.Name) and owner.id in ("self", "cls")) or bool(
        model.types.class_of_value(owner)
    )


def _left_out(softmax: _Softmax, model: SemanticModel, reason: str) -> Fix | None:
    """Replace the softmax, or the variable that holds it, by its input."""
    if not model.edit.is_relocatable(softmax.node):
        return None
    replaced = softmax.holder or softmax.node
    is_receiver = isinstance(model.parent(replaced), ast.Attribute)
    text = model.edit.parenthesized(softmax.taken) if is_receiver else model.edit.code(softmax.taken)
    edits: list[Edit | None] = [model.edit.replace(replaced, text)]
    if softmax.holder is not None:
        if not model.dataflow.unchanged_between(softmax.taken, softmax.node, softmax.holder):
            return None
        edits.append(model.edit.delete_statement(model.syntax.statement(softmax.node)))
    done = tuple(edit for edit in edits if edit is not None)
    return Fix("Remove the softmax", Applicability.UNSAFE, done, reason) if len(done) == len(edits) else None


def _shown(expression: ast.expr, model: SemanticModel) -> str:
    text = model.source.text(expression)
    return f"`{text}`" if len(text) <= 40 and "\n" not in text else "its input"


def _integer(expression: ast.expr) -> int | None:
    match expression:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
            return -number
    return None
