"""Copies of network weights, and whether removing them is observable."""

from __future__ import annotations

import ast

from rlint.rule import (
    BindingKind,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    frozen,
    made_networks,
    models,
    regex,
    torch_settings,
    weight_sync,
)
from rlint.rules.debugging._shared import raised_errors

_WEIGHT = regex(r"(weight|bias)(_\w+)?")
_PARAMETERS = frozenset({"parameters", "named_parameters", "state_dict"})
_RUN_BY = {
    "parameters": ("named_parameters", "named_modules", "_named_members"),
    "named_parameters": ("named_modules", "_named_members"),
}
"""The methods that these methods of `nn.Module` call."""
_COPYING_METHODS = frozenset({"clone", "copy", "cpu"})
# other parts of a chain that copies: views and conversions of a tensor, all of them pure
_KEEPING_METHODS = models.having(
    Trait.CASTS | Trait.CASTS_TO | Trait.SAME_VALUES | Trait.RESHAPES | Trait.TO_HOST,
    TypeTag.TENSOR,
    TypeTag.NDARRAY,
)
_COPYING_FUNCTIONS = models.having(Trait.COPIES | Trait.JOINS, "copy", "torch", "numpy") | {
    "numpy.array",
    "torch.nn.utils.parameters_to_vector",
}
_KEEPING_FUNCTIONS = frozenset(
    {"builtins.list", "builtins.tuple", "builtins.dict", "collections.OrderedDict"}
)
_INDEXED = frozenset(
    {TypeTag.LIST, TypeTag.TUPLE, TypeTag.MODULE, TypeTag.STATE_DICT, TypeTag.PARAMETERS, TypeTag.TENSOR}
)


_METHODS = _COPYING_METHODS | _KEEPING_METHODS
_FUNCTIONS = _COPYING_FUNCTIONS | _KEEPING_FUNCTIONS
_MAY_COPY = frozenset({ast.Attribute, ast.ListComp, ast.GeneratorExp, ast.DictComp})
_OF_TENSORS = frozenset({"data", "grad", "T"})
_META = regex(r"""["']meta["']""")
_DEPTH = 4


@frozen
class WeightCopy:
    """An expression that copies weights.

    `source` is what it copies; `doubt` says why evaluating it might do more than copy, "" if it surely does
    not.
    """

    node: ast.expr
    source: ast.expr
    doubt: str


def copy_of(value: ast.expr, model: SemanticModel) -> WeightCopy | None:
    """Return the copy of weights that an expression creates, or None."""
    if not _may_copy(value, model):
        return None
    source, copied = _source(value, model)
    if source is None or not copied:
        return None
    return WeightCopy(value, source, _doubt(value, model))


def _may_copy(value: ast.expr, model: SemanticModel) -> bool:
    """Whether an expression may be a chain that copies, judging by its outermost part."""
    if not isinstance(value, ast.Call):
        return value.__class__ in _MAY_COPY
    called = value.func
    return (isinstance(called, ast.Attribute) and called.attr in _METHODS) or (
        model.names.qualified(called) in _FUNCTIONS
    )


def _source(value: ast.expr, model: SemanticModel) -> tuple[ast.expr | None, bool]:
    """Return the weights at the root of a chain, and whether the chain copies them."""
    match value:
        case ast.Attribute(value=owner, attr="data" | "T"):
            return _source(owner, model)
        case ast.Call(func=ast.Attribute(value=owner, attr=method), args=args):
            if method in _COPYING_METHODS or method in _KEEPING_METHODS:
                source, copied = _source(owner, model)
                moved = method == "to" and any(
                    isinstance(arg, ast.Constant) and arg.value == "cpu" for arg in args
                )
                if source is not None:
                    return source, copied or moved or method in _COPYING_METHODS
            if model.names.qualified(value.func) is None:
                return (value, False) if is_parameters(value, model) else (None, False)
    match value:
        case ast.Call(func=callee, args=[argument, *_]):
            function = model.names.qualified(callee) or ""
            if function in _COPYING_FUNCTIONS or function in _KEEPING_FUNCTIONS:
                source, copied = _source(argument, model)
                if source is None and function == "copy.deepcopy" and _is_network(argument, model):
                    source = argument
                return source, copied or function in _COPYING_FUNCTIONS
        case ast.ListComp(elt=each) | ast.GeneratorExp(elt=each) | ast.DictComp(value=each):
            source, copied = _source(each, model)
            return (value.generators[0].iter, copied) if source is not None else (None, False)
    return (value, False) if is_weights(value, model) else (None, False)


def _is_network(expression: ast.expr, model: SemanticModel) -> bool:
    return model.types.type_of(expression).tag is TypeTag.MODULE


def is_weights(expression: ast.expr, model: SemanticModel) -> bool:
    """Whether the value is a parameter of a network, its parameters or its state."""
    match expression:
        case ast.Attribute(value=owner, attr=name) if _WEIGHT.fullmatch(name):
            return model.types.type_of(owner).tag in (TypeTag.MODULE, TypeTag.UNKNOWN)
        case ast.Subscript(value=owner):
            return is_parameters(owner, model)
        case ast.Call(func=ast.Name() as callee, args=[argument, *_]):
            return model.names.qualified(callee) == "builtins.next" and is_parameters(argument, model)
        case ast.Name():
            return _is_bound_to_weights(expression, model)
    return is_parameters(expression, model)


def is_parameters(expression: ast.expr, model: SemanticModel) -> bool:
    """Whether the value is the result of `parameters()`, `named_parameters()` or `state_dict()` of a
    network.
    """
    if model.types.type_of(expression).tag in (TypeTag.PARAMETERS, TypeTag.STATE_DICT):
        return True
    match expression:
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in _PARAMETERS:
            return weight_sync.may_be_network(owner, model)
        case ast.Call(func=ast.Attribute(value=owner, attr="items" | "values"), args=[]):
            return is_parameters(owner, model)
        case ast.Call(func=callee, args=[argument]) if model.names.qualified(callee) in _KEEPING_FUNCTIONS:
            return is_parameters(argument, model)
    return False


def _is_bound_to_weights(name: ast.Name, model: SemanticModel) -> bool:
    definitions = model.dataflow.definitions(name)
    if len(definitions) != 1 or definitions[0].value is None:
        return False
    binding, value = definitions[0], definitions[0].value
    if isinstance(value, ast.Name):
        return False  # an alias: one step is followed, no chain (nor cycle) of them
    if binding.kind in (BindingKind.FOR, BindingKind.COMPREHENSION):
        return _gives_weights(value, binding.path, model)
    return binding.kind is BindingKind.ASSIGN and not binding.path and is_weights(value, model)


def _gives_weights(iterated: ast.expr, path: tuple[int, ...], model: SemanticModel) -> bool:
    """Whether iterating over an expression yields parameters, at this place of each item."""
    match iterated:
        case ast.Call(func=ast.Name() as callee, args=args) if path:
            function = model.names.qualified(callee)
            if function == "builtins.enumerate" and args:
                return path[0] == 1 and _gives_weights(args[0], path[1:], model)
            if function == "builtins.zip":
                return 0 <= path[0] < len(args) and _gives_weights(args[path[0]], path[1:], model)
        case ast.Call(func=ast.Attribute(attr="named_parameters" | "items")):
            return path == (1,) and is_parameters(iterated, model)
    return not path and is_parameters(iterated, model)


def is_of_copies(expression: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> bool:
    """Whether the value is computed from copies of weights."""
    if depth <= 0:
        return False
    for node in descendants(expression):
        if not isinstance(node, ast.Name):
            continue
        for binding in model.dataflow.definitions(node):
            value = binding.value if binding.kind is BindingKind.ASSIGN else None
            if value is not None and (copy_of(value, model) or is_of_copies(value, model, depth - 1)):
                return True
    return False


def _doubt(value: ast.expr, model: SemanticModel) -> str:
    """Return why evaluating a copy might do more than copy."""

    def are_weights(expression: ast.expr) -> bool:
        return is_weights(expression, model)

    for node in descendants(value):
        match node:
            case ast.Call(func=callee):
                doubt = _doubt_about_call(node, callee, model)
                if doubt:
                    return doubt
            case ast.Subscript(value=owner) if model.types.type_of(
                owner
            ).tag not in _INDEXED and not is_parameters(owner, model):
                return f"looking up `{model.source.text(node)}` may have side effects"
            case ast.Attribute(value=owner, attr=name) if runs_code(node, model):
                return f"reading `{name}` runs code with side effects"
            case ast.Attribute(attr=name) if _WEIGHT.fullmatch(name) and model.program.parametrizes_weights():
                return f"reading `{name}` runs the parametrization of the layer, which may have side effects"
            case ast.NamedExpr() | ast.Await() | ast.Yield() | ast.YieldFrom():
                return "the expression may do more than copy"
    if model.program.mentions(*made_networks.LAZY_LAYERS):
        return "the parameters of a lazy layer (`LazyLinear`) raise an error until its first forward pass"
    names = [
        node.attr
        for node in descendants(value)
        if isinstance(node, ast.Attribute)
        and node.attr not in _OF_TENSORS
        and model.syntax.call_of(node) is None
        and model.names.qualified(node) is None
    ]
    if names and (model.program.may_replace(*names) or _sets_by_name(names, model)):
        shown = "`, `".join(dict.fromkeys(names))
        return f"`{shown}` may be replaced after construction: an error of the copy is no longer raised"
    if _META.search(model.syntax.text) or model.program.sets(torch_settings.META):
        return "a tensor on the device `meta` cannot be copied: this error is no longer raised"
    failing = next(
        (node for node in descendants(value) if raised_errors.may_raise(node, are_weights, model)), None
    )
    if failing is not None:
        failing = failing.iter if isinstance(failing, ast.comprehension) else failing
        return (
            f"`{' '.join(model.source.text(failing).split())}` may raise an error, which is no longer raised"
        )
    return ""


def _sets_by_name(names: list[str], model: SemanticModel) -> bool:
    """Whether the file sets one of some attributes by name, or attributes whose names it computes."""
    return any(
        write.owner is not None and (write.name in names or not write.name.isidentifier())
        for write in model.analysis.names.writes
    )


def _doubt_about_call(call: ast.Call, callee: ast.expr, model: SemanticModel) -> str:
    function = model.names.qualified(callee)
    if function in ("copy.deepcopy", "copy.copy"):
        return "the copy may run `__deepcopy__` of the copied classes"
    if function in _COPYING_FUNCTIONS or function in _KEEPING_FUNCTIONS or function == "builtins.next":
        return ""
    if isinstance(callee, ast.Attribute):
        effect = model.effects.call_effect(call)
        tensor = callee.attr in _COPYING_METHODS or callee.attr in _KEEPING_METHODS
        network = callee.attr in _PARAMETERS or callee.attr in ("items", "values")
        if callee.attr in _PARAMETERS and (
            model.types.may_override(callee.value, callee.attr, *_RUN_BY.get(callee.attr, ()))
            or (callee.attr == "state_dict" and model.program.customizes_state_dicts())
        ):
            return (
                f"`{callee.attr}` is overridden or hooked by classes of this project, and may have side "
                f"effects"
            )
        if effect.quiet or ((tensor or network) and not model.types.call_targets(call)):
            return ""
    return f"`{model.source.text(callee)}` may have side effects"


def runs_code(attribute: ast.Attribute, model: SemanticModel) -> bool:
    """Whether the attribute is a property of a project's class, or such a class defines its look-up, with
    side effects.
    """
    if model.analysis.effects.hidden.effect(attribute).acts:
        return True
    owner = model.types.class_of_value(attribute.value)
    method = model.index.method(owner, attribute.attr) if owner is not None else None
    return method is not None and method.is_property and not model.index.effect_of(method).quiet
