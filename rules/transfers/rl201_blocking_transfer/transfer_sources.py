"""Origins of a tensor that is moved to a device, and other code that may hold it."""

from __future__ import annotations

import ast

from rlint.rule import (
    Binding,
    BindingKind,
    SemanticModel,
    Trait,
    Type,
    TypeTag,
    array_of_either,
    batches,
    descendants,
    models,
)
from rlint.rules.transfers.rl201_blocking_transfer.batch_parts import converted_value

CONSTRUCTORS = models.having(
    Trait.ALLOCATES
    | Trait.DRAWS_SHAPE
    | Trait.DRAWS_LIKE
    | Trait.FROM_DATA
    | Trait.FROM_NUMBERS
    | Trait.LEGACY,
    "torch",
) | {"torch.scalar_tensor"}
"""A tensor that is created by these and moved at once is covered by another rule."""

_VARIABLE = "torch.autograd.Variable"
_OF_NETWORKS = models.methods_of(TypeTag.MODULE) - models.methods_of(TypeTag.TENSOR)
_READ_ONLY = frozenset({"shape", "dtype", "device", "ndim"})
_MEASURES = frozenset({"size", "dim", "numel"})
_PARTS = frozenset({"items", "values"})
_DEPTH = 6


def is_made_here(source: ast.expr, model: SemanticModel) -> bool:
    """Whether a constructor creates the tensor in this expression."""
    root = root_of(source, model)
    if isinstance(root, ast.BinOp):
        return is_made_here(root.left, model) or is_made_here(root.right, model)
    if not isinstance(root, ast.Call) or model.names.qualified(root.func) not in CONSTRUCTORS:
        return False
    return converted_value(root, model) is root or bool(model.types.type_of(root.args[0]))


def array_of(source: ast.expr, model: SemanticModel) -> ast.expr | None:
    """Return `x` of `torch.from_numpy(x) if isinstance(x, np.ndarray) else x`, also where a function of the
    project or the preceding statements do this. None if the tensor is created in any other way.
    """
    root = root_of(source, model)
    if isinstance(root, ast.Call):
        return _converted_by(root, model)
    found = array_of_either([root], model.dataflow.definitions, model.types.type_of)
    return found[1] if found is not None else None


def given_type(array: ast.expr, source: ast.expr, model: SemanticModel) -> Type:
    """Return the type of the value that is converted if it is an array, whatever a test of its class implies
    where it is converted.
    """
    if isinstance(array, ast.Name) and not is_converted_by_helper(source, model):
        kinds = [model.analysis.types.binding_kind(each) for each in model.dataflow.definitions(array)]
        if len(kinds) == 1:
            return kinds[0]
    return model.types.type_of(array)


def _converted_by(call: ast.Call, model: SemanticModel) -> ast.expr | None:
    targets = model.types.call_targets(call)
    places = {target.place_of(target.makes_tensor_of) for target in targets}
    place = places.pop() if len(places) == 1 else -1
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    return call.args[place] if 0 <= place < len(call.args) else None


def is_converted_by_helper(source: ast.expr, model: SemanticModel) -> bool:
    """Whether a call converts an array to the tensor. A function that converts its own parameter leaves it
    to its callers to pass either.
    """
    return isinstance(root_of(source, model), ast.Call)


def has_unknown_source(source: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> bool:
    """Whether an unknown tensor may be in host memory: it is neither the output of a network nor moved to a
    device before.
    """
    root = root_of(source, model)
    while isinstance(root, ast.Call) and root.args and model.names.qualified(root.func) == _VARIABLE:
        root = root_of(root.args[0], model)
    array = _converted_by(root, model) if isinstance(root, ast.Call) else None
    if array is not None and depth > 0:
        return has_unknown_source(array, model, depth - 1)
    if isinstance(root, ast.Attribute):
        return False  # it may have been moved once for all iterations
    for node in descendants(source):
        match node:
            case ast.Call() if model.gradients.gives_gradient(node):
                return False
            case ast.Call(func=ast.Attribute(attr="to" | "cuda" | "type_as")):
                return False
            case ast.keyword(arg="device"):
                return False
    if not isinstance(root, ast.Name):
        return True
    if depth <= 0:
        return False
    definitions = model.dataflow.definitions(root)
    return bool(definitions) and all(_may_come_from_host(each, model, depth) for each in definitions)


def _may_come_from_host(binding: Binding, model: SemanticModel, depth: int) -> bool:
    value = binding.value
    if isinstance(binding.statement, ast.Lambda):
        return all(has_unknown_source(given, model, depth - 1) for given in _given(binding, model))
    if binding.kind is not BindingKind.ASSIGN:  # a custom loader may move its batches
        return value is None or model.types.type_of(value).tag is not TypeTag.INSTANCE
    if value is None or isinstance(value, (ast.Subscript, ast.Attribute)):
        return True  # a part of a caller's argument
    if isinstance(value, ast.Tuple) and len(binding.path) == 1:
        index = binding.path[0]
        if 0 <= index < len(value.elts):
            value = value.elts[index]
    return has_unknown_source(value, model, depth - 1)


def _given(parameter: Binding, model: SemanticModel) -> list[ast.expr]:
    """Return the arguments of a lambda that a variable holds: `x` in `move(x)`."""
    match model.parent(parameter.statement), parameter.statement:
        case ast.Assign(targets=[ast.Name(id=name) as target]), ast.Lambda(args=arguments):
            scope = model.names.scope(target).lookup(name)
        case _:
            return []
    names = [each.arg for each in arguments.args]
    if scope is None or parameter.name not in names:
        return []
    place = names.index(parameter.name)
    calls = [model.parent(use) for use in model.names.reads(name, scope)]
    return [call.args[place] for call in calls if isinstance(call, ast.Call) and len(call.args) > place]


def root_of(expression: ast.expr, model: SemanticModel) -> ast.expr:
    """Return the root of an expression: `x` of `x.float().unsqueeze(0)` and of `x[None]`."""
    while True:
        match expression:
            case ast.Call(func=ast.Attribute(value=owner) as method) if model.names.qualified(method) is None:
                expression = owner
            case ast.Subscript(value=owner, slice=ast.Constant() | ast.Tuple(elts=[ast.Constant(), *_])):
                expression = owner
            case _:
                return expression


def is_used_as_mapping(source: ast.expr, model: SemanticModel) -> bool:
    """Whether the variable is used like a dict elsewhere, so that it is not a tensor but a batch of another
    class.
    """
    if not isinstance(source, ast.Name):
        return False
    scope = model.names.scope(source).lookup(source.id)
    parents = [model.parent(use) for use in model.names.reads(source.id, scope)] if scope is not None else []
    if any(isinstance(parent, ast.Call) and is_type_test(parent, model) for parent in parents):
        return False  # the program itself tests its type
    for parent in parents:
        match parent:
            case ast.keyword(arg=None) | ast.Attribute(attr="items" | "keys" | "input_ids"):
                return True
            case ast.Subscript(slice=ast.Constant(value=str())):
                return True
    return False


def is_used_as_network(source: ast.expr, model: SemanticModel) -> bool:
    """Whether the variable is called, or a method of networks is, so that it is not a tensor:
    `model = model.cuda()`, `model(states)`.
    """
    if not isinstance(source, ast.Name):
        return False
    scope = model.names.scope(source).lookup(source.id)
    for use in model.names.reads(source.id, scope) if scope is not None else ():
        match model.parent(use):
            case ast.Call(func=func) if func is use:
                return True
            case ast.Attribute(attr=method):
                if method in _OF_NETWORKS:
                    return True
    return False


def is_type_test(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call is `isinstance(batch, torch.Tensor)` or a similar type test."""
    return model.names.qualified(call.func) in ("builtins.isinstance", "torch.is_tensor")


def is_never_written(source: ast.expr, model: SemanticModel) -> bool:
    """Whether the source certainly is in memory that is not pinned, and no other code holds it: a new array
    in `from_numpy`, or a part of a batch that is created for this iteration and only moved in it.
    """
    kind = model.types.type_of(source)
    root = source
    while isinstance(root, (ast.Attribute, ast.Subscript, ast.Call)):
        if isinstance(root, ast.Call):
            if model.names.qualified(root.func) == batches.FROM_NUMPY:
                array = model.types.type_of(root.args[0]) if root.args else kind
                return array.tag is TypeTag.NDARRAY and array.fresh
            if not isinstance(root.func, ast.Attribute):
                return False
            root = root.func
        root = root.value
    return kind.of == batches.COLLATED and isinstance(root, ast.Name) and _is_only_moved(root, model)


def _is_only_moved(name: ast.Name, model: SemanticModel) -> bool:
    """Whether all bindings of the name take it from the batch of the enclosing loop, and it and its source
    are only moved and measured.
    """
    holders = [name]
    bindings: list[Binding] = []
    for holder in holders:
        for binding in model.dataflow.definitions(holder):
            if binding in bindings:
                continue
            bindings.append(binding)
            taken = _taken_from(binding, model)
            if taken is None or len(holders) > _DEPTH:
                return False
            holders += taken
    return all(
        _is_harmless(use, bindings, model)
        for binding in bindings
        if (scope := model.names.scope(binding.node).lookup(binding.name)) is not None
        for use in model.names.uses(binding.name, scope)
    )


def _taken_from(binding: Binding, model: SemanticModel) -> list[ast.Name] | None:
    """Return the name from which a binding takes a batch or a part of one; none if the loader creates it."""
    value = binding.value
    if value is None:
        return None
    if binding.kind is BindingKind.FOR and model.types.type_of(value).tag in (
        TypeTag.LOADER,
        TypeTag.ITERATOR,
    ):
        return []
    if binding.kind not in (BindingKind.FOR, BindingKind.COMPREHENSION, BindingKind.ASSIGN):
        return None
    match value:
        case ast.Call(func=ast.Attribute(value=owner, attr="items" | "values"), args=[]):
            value = owner
    while isinstance(value, (ast.Subscript, ast.Attribute)):
        value = value.value
    return (
        [value]
        if isinstance(value, ast.Name) and model.types.type_of(value).tag in (TypeTag.BATCH, TypeTag.TENSOR)
        else None
    )


def _is_harmless(use: ast.Name, bindings: list[Binding], model: SemanticModel) -> bool:
    """Whether a use of a batch neither modifies it nor passes any part of it on."""
    parent = model.parent(use)
    if not isinstance(use.ctx, ast.Load):
        return not isinstance(parent, ast.AugAssign)
    if not any(binding in bindings for binding in model.dataflow.definitions(use)):
        return True  # the copy on the device, by now
    node: ast.AST = use
    while isinstance(parent, (ast.Subscript, ast.Attribute)) and isinstance(parent.ctx, ast.Load):
        if isinstance(parent, ast.Attribute) and parent.attr in _READ_ONLY:
            return True
        node, parent = parent, model.parent(parent)
    match parent:
        case ast.Call(func=ast.Attribute(attr="cuda")) if parent.func is node:
            return True
        case ast.Call(func=ast.Attribute(attr="to"), args=[target, *_]) if parent.func is node:
            return model.types.is_device(target)
        case ast.Call(func=ast.Attribute(attr=method)) if parent.func is node:
            return method in _MEASURES or method in _PARTS
        case ast.Call(func=measure):
            return model.names.qualified(measure) == "builtins.len"
    return any(binding.value is node for binding in bindings)
