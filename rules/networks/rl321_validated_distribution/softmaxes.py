"""Redundant softmaxes: those whose result is only used by functions that do not need them."""

from __future__ import annotations

import ast
from dataclasses import replace

from rlint.rule import (
    Applicability,
    BindingKind,
    Edit,
    Fix,
    SemanticModel,
    frozen,
    last_name,
)

_MODULES = ("torch", "torch.nn.functional", "torch.special")
_NAMES = ("softmax", "log_softmax")
_FUNCTIONS = {f"{module}.{name}": name for module in _MODULES for name in _NAMES} | {
    f"{module}.sigmoid": "sigmoid" for module in ("torch", "torch.nn.functional")
}
_CLASSES = {
    "torch.nn.Softmax": "softmax",
    "torch.nn.LogSoftmax": "log_softmax",
    "torch.nn.Sigmoid": "sigmoid",
}
_ELEMENTWISE = frozenset({"sigmoid"})
"""Functions of single values that preserve the order along any dimension."""
_CONVERTS = frozenset({"detach", "cpu"})
_LAST = (-1, 1)
_SELECTS_SECOND = frozenset({"max", "min", "topk", "sort"})
"""Methods that return the largest or smallest values, and their indices."""
SELECTS = _SELECTS_SECOND | {"argmax", "argmin", "argsort"}
"""Methods whose indices only depend on the order of the values."""
_ALONG_LAST = frozenset({"topk", "sort"})


@frozen
class NeedlessSoftmax:
    """A softmax that can be removed, and the fix."""

    node: ast.expr
    message: str
    advice: str
    fix: Fix | None
    assumes: str | None = None


@frozen
class _Softmax:
    """`node` is the call, `name` the function, `taken` its input, `holder` the variable that holds the
    result, if any. `dim` is None for a layer that chooses the dimension of the classes itself.
    """

    node: ast.Call
    name: str
    taken: ast.expr
    dim: int | None
    holder: ast.Name | None = None
    is_converted: bool = False
    """Whether the result is detached or copied to the host before it is used."""


def softmax_before_argmax(call: ast.Call, model: SemanticModel) -> NeedlessSoftmax | None:
    """Return the softmax of `argmax(softmax(x, dim), dim)`, or of another function that selects the largest
    values, if only their indices are used.
    """
    qualified, selects = model.names.qualified(call.func) or "", last_name(call.func) or ""
    if qualified.startswith("torch."):
        given = [*call.args]
    elif isinstance(call.func, ast.Attribute) and not qualified:
        given = [call.func.value, *call.args]
    else:
        return None
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    if selects in _SELECTS_SECOND:
        if not _uses_indices(call, model):
            return None
        if selects == "topk":  # the second argument is the number
            del given[1:2]
    dim = given[1] if len(given) > 1 else named.get("dim", named.get("axis"))
    if dim is None and selects in _ALONG_LAST:
        dim = ast.Constant(_LAST[0])
    softmax = _softmax(given[0], model) if given else None
    if softmax is None or dim is None:
        return None
    if softmax.name not in _ELEMENTWISE and _integer(dim) not in (
        _LAST if softmax.dim is None else (softmax.dim,)
    ):
        return None
    shown, taken = softmax.name, _shown(softmax.taken, model)
    return NeedlessSoftmax(
        softmax.node,
        f"`{shown}` is computed only for `{selects}`, which returns the same index without it",
        f"Pass {taken} itself to `{selects}`: `{shown}` preserves the order",
        _left_out(
            softmax, model, "two probabilities that round to the same number may come from different inputs"
        )
        if softmax.dim is not None and not (softmax.is_converted and softmax.holder is not None)
        else None,
        None if softmax.dim is not None else f"{taken} has one or two dimensions",
    )


def softmax_before_logits(call: ast.Call, model: SemanticModel) -> NeedlessSoftmax | None:
    """Return the softmax of `Categorical(logits=softmax(x))`, which applies softmax itself."""
    logits = next((keyword.value for keyword in call.keywords if keyword.arg == "logits"), None)
    softmax = _softmax(logits, model) if logits is not None else None
    if softmax is None or softmax.dim not in _LAST or softmax.name in _ELEMENTWISE:
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


def _softmax(expression: ast.expr | None, model: SemanticModel) -> _Softmax | None:
    """Return the softmax that an expression is, or that is the value of a variable which is only read
    here.
    """
    inner, is_converted = _unconverted(expression)
    if is_converted:
        softmax = _softmax(inner, model)
        return replace(softmax, is_converted=True) if softmax is not None else None
    if not isinstance(expression, ast.Name):
        return _softmax_call(expression, model) if expression is not None else None
    scope = model.names.scope(expression).lookup(expression.id)
    if scope is None or not scope.is_function or model.names.is_captured(expression.id, scope):
        return None
    bindings = model.dataflow.definitions(expression)
    if len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGN or bindings[0].path:
        return None
    value, is_converted = _unconverted(bindings[0].value)
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
    return replace(softmax, holder=expression, is_converted=is_converted)


def _unconverted(value: ast.expr | None) -> tuple[ast.expr | None, bool]:
    """Return a value before it is detached or copied to the host, and whether it is."""
    match value:
        case ast.Call(func=ast.Attribute(value=inner, attr=method), args=[]) if method in _CONVERTS:
            return _unconverted(inner)[0], True
        case ast.Attribute(value=inner, attr="data"):
            return _unconverted(inner)[0], True
    return value, False


def _softmax_call(expression: ast.expr, model: SemanticModel) -> _Softmax | None:
    if not isinstance(expression, ast.Call):
        return None
    named = {keyword.arg: keyword.value for keyword in expression.keywords}
    name = _FUNCTIONS.get(model.names.qualified(expression.func) or "")
    if name is not None:
        given = [*expression.args]
    elif (layer := _layer(expression.func, model)) is not None and len(expression.args) == 1:
        name = _CLASSES[model.names.qualified(layer.func) or ""]
        if name not in _ELEMENTWISE and not (layer.args or layer.keywords):
            return _Softmax(expression, name, expression.args[0], None)
        given = [expression.args[0], *layer.args]
        named = {keyword.arg: keyword.value for keyword in layer.keywords}
    elif isinstance(expression.func, ast.Attribute) and model.names.qualified(expression.func) is None:
        if expression.func.attr not in (*_NAMES, *_ELEMENTWISE) or _is_own_method(expression.func, model):
            return None
        name, given = expression.func.attr, [expression.func.value, *expression.args]
    elif isinstance(made := expression.func, ast.Call) and len(expression.args) == 1:
        name = _CLASSES.get(model.names.qualified(made.func) or "")
        given = [expression.args[0], *made.args]
        named = {keyword.arg: keyword.value for keyword in made.keywords}
    if name is None or any(isinstance(argument, ast.Starred) for argument in given):
        return None
    taken = given[0] if given else named.get("input")
    if name in _ELEMENTWISE and taken is not None:
        return _Softmax(expression, name, taken, _LAST[0])
    dim = given[1] if len(given) > 1 else named.get("dim")
    number = _integer(dim) if dim is not None else None
    return _Softmax(expression, name, taken, number) if taken is not None and number is not None else None


def _layer(called: ast.expr, model: SemanticModel) -> ast.Call | None:
    """Return the call that makes the softmax layer which an attribute always holds: `self.softmax(x)`."""
    if not isinstance(called, ast.Attribute) or model.types.type_of(called).of not in _CLASSES:
        return None
    made = [
        stored.value
        for use in model.names.attribute_uses(called.attr)
        if isinstance(use.ctx, ast.Store) and isinstance(stored := model.parent(use), ast.Assign)
    ]
    match made:
        case [ast.Call(func=func) as layer] if model.names.qualified(func) in _CLASSES:
            return layer
    return None


def _uses_indices(call: ast.Call, model: SemanticModel) -> bool:
    """Whether only the second of values and indices is used."""
    match model.parent(call):
        case ast.Subscript(slice=ast.Constant(value=1)) | ast.Attribute(attr="indices"):
            return True
        case ast.Assign(targets=[ast.Tuple(elts=[ast.Name() as values, _])]):
            scope = model.names.scope(values)
            return scope.is_function and not model.analysis.reads_of(values, scope)
    return False


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
