"""Parts of a batch of unknown type that are each moved to a device."""

from __future__ import annotations

import ast

from rlint.rule import (
    FUNCTIONS,
    Binding,
    BindingKind,
    Driver,
    Function,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    last_name,
    models,
    regex,
    target_of_move,
    vocabulary,
)

_BATCH = regex(r"(^|_)(mini_?|micro_?)?batch$|^(samples?|transitions|experiences?)$")
_QUEUE = regex(r"(^|_)queue(_|$)")
_CONVERTS = frozenset({"torch.as_tensor", "torch.asarray"})
_TYPE_TESTS = frozenset({"builtins.isinstance", "torch.is_tensor"})
_DEPTH = 3
_PARTS = frozenset({"items", "values"})
_CONTAINERS = frozenset({TypeTag.INSTANCE, TypeTag.DICT})
_FEWEST = 2
"""Moves of parts of one batch. If only one part is moved, the others may be on the device already."""
_GIVEN = frozenset({BindingKind.PARAMETER, BindingKind.FOR})
_JOINS = models.having(Trait.JOINS, "torch")
_LOADER = regex(r"loader|(^|_)(data|batch|train)\w*_iter(ator)?$")
_UNPACKED = frozenset({BindingKind.ASSIGN, BindingKind.FOR})
_LOOPED = frozenset({BindingKind.FOR, BindingKind.COMPREHENSION})


def is_part_of_batch(source: ast.expr, model: SemanticModel) -> bool:
    """Whether a program takes a batch from a caller or a loop and moves its parts: `batch.states.to(device)`
    beside `batch.rewards.to(device)`, `{key: value.to(device) for key, value in batch.items()}`. If the batch
    were on the device already, it would not.
    """
    converted = converted_value(source, model)
    if isinstance(converted, ast.Name):
        bound = model.dataflow.definitions(converted)
        return bool(bound) and all(
            _is_each_part(each, model)
            or (converted is not source and _is_each_converted(each, model))
            or _is_unpacked_part(each, model)
            or _is_mapped_part(each, model)
            or (converted is source and _is_part_by_recursion(converted, each, model))
            for each in bound
        )
    batch = _batch_of(converted, model)
    if batch is None:
        return False
    assert isinstance(converted, (ast.Attribute, ast.Subscript))
    if isinstance(converted, ast.Subscript) and isinstance(converted.slice, ast.Name):
        key = model.dataflow.definitions(converted.slice)
        return len(key) == 1 and key[0].kind in _LOOPED
    return len(model.once(_moved_parts, (model.function(source), batch.id))) >= _FEWEST


def converted_value(source: ast.expr, model: SemanticModel) -> ast.expr:
    """Return `x` of `torch.as_tensor(x)`, which keeps a tensor, and any other expression itself."""
    match source:
        case ast.Call(func=func, args=[value], keywords=keywords) if all(
            keyword.arg == "dtype" for keyword in keywords
        ):
            return value if model.names.qualified(func) in _CONVERTS else source
    return source


def _batch_of(part: ast.expr, model: SemanticModel) -> ast.Name | None:
    """Return the variable of a batch from which an expression takes a part."""
    match part:
        case ast.Attribute(value=ast.Name() as batch) | ast.Subscript(value=ast.Name() as batch):
            return batch if _is_batch(batch, model) else None
    return None


def _is_batch(name: ast.Name, model: SemanticModel, depth: int = _DEPTH) -> bool:
    kind = model.types.type_of(name)
    if kind and kind.tag not in _CONTAINERS:
        return False
    bound = model.dataflow.definitions(name)
    if bound and depth and all(_is_rebuilt(binding, model, depth) for binding in bound):
        return True
    is_given = bool(bound) and all(binding.kind in _GIVEN for binding in bound)
    return is_given and (bool(_BATCH.search(name.id)) or all(map(_is_received, bound)))


def _is_rebuilt(binding: Binding, model: SemanticModel, depth: int) -> bool:
    """Whether a variable holds a dict of all parts of a batch: `{key: part[:n] for key, part in
    batch.items()}`.
    """
    match binding.value:
        case ast.DictComp(
            value=value,
            generators=[ast.comprehension(iter=ast.Call(func=ast.Attribute(value=ast.Name() as whole)))],
        ) if binding.kind is BindingKind.ASSIGN and not binding.path:
            is_kept = all(not isinstance(part, ast.Call) for part in descendants(value))
            return is_kept and _is_batch(whole, model, depth - 1)
    return False


def _is_received(binding: Binding) -> bool:
    """Whether a loop takes a variable from a queue or loader, judging by its name."""
    source = binding.value if binding.kind is BindingKind.FOR and not binding.path else None
    name = (last_name(source) or "").lower() if isinstance(source, (ast.Name, ast.Attribute)) else ""
    return bool(_QUEUE.search(name) or _LOADER.search(name))


def _is_mapped_part(binding: Binding, model: SemanticModel) -> bool:
    """Whether a variable is the parameter of a function that is applied to all parts of a batch:
    `nest.map(lambda part: part.to(device), batch)`.
    """
    function = binding.statement
    if binding.kind is not BindingKind.PARAMETER or not isinstance(function, ast.Lambda):
        return False
    match model.parent(function):
        case ast.Call(func=called, args=[mapped, ast.Name() as batch]) if mapped is function:
            return last_name(called) in vocabulary.MAPS_PARTS and _is_batch(batch, model)
    return False


def _is_part_by_recursion(name: ast.Name, binding: Binding, model: SemanticModel) -> bool:
    """Whether a function moves its parameter if it is a tensor, and otherwise calls itself for the parts of
    it: `return tuple(move(part, device) for part in batch)`.
    """
    function = binding.statement
    if binding.kind is not BindingKind.PARAMETER or not isinstance(function, FUNCTIONS):
        return False
    if not _is_tested(name, model):
        return False
    return any(last_name(call.func) == function.name for call in model.once(_calls_in, function))


def _calls_in(function: Function, _: SemanticModel) -> list[ast.Call]:
    return [node for node in descendants(function) if isinstance(node, ast.Call)]


def _is_tested(name: ast.Name, model: SemanticModel) -> bool:
    """Whether a value is only used where it is known to be a tensor."""
    child: ast.AST = name
    for around in model.ancestors(name):
        if isinstance(around, FUNCTIONS):
            return False
        if isinstance(around, (ast.If, ast.IfExp)) and child is not around.test:
            match around.test:
                case ast.Call(func=test, args=[ast.Name(id=name.id), *_]):
                    body = around.body if isinstance(around.body, list) else [around.body]
                    tests = model.names.qualified(test) in _TYPE_TESTS
                    return tests and any(part is child for part in body)
        child = around
    return False


def _is_unpacked_part(binding: Binding, model: SemanticModel) -> bool:
    """Whether a variable is one of several that a statement unpacks from a value of unknown type, and that
    the function moves to a device: `states, actions = batch`, `states.to(device)`, `actions.to(device)`. The
    results of an environment may be on the device of its simulator.
    """
    value = binding.value
    if binding.kind not in _UNPACKED or not binding.path or value is None or model.types.type_of(value):
        return False
    if any(
        isinstance(part, ast.Call) and model.gradients.gives_gradient(part) for part in descendants(value)
    ):
        return False
    if _is_environment_step(value, model):
        return False
    moved = model.once(_moved_statements, model.function(binding.node))
    return moved.count(binding.statement) >= _FEWEST


def _is_environment_step(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is the result of an environment's step, also through a variable."""
    if isinstance(value, ast.Name):
        bound = model.dataflow.definitions(value)
        values = [each.value for each in bound if each.value is not None and not each.path]
        return any(isinstance(each, ast.Call) and _is_environment_step(each, model) for each in values)
    if not isinstance(value, ast.Call):
        return False
    is_step = model.analysis.loops.driver_of(value) is Driver.ENVIRONMENT_STEP
    return is_step or last_name(value.func) == "step"


def _moved_statements(function: ast.AST | None, model: SemanticModel) -> list[ast.AST]:
    """Return the statements that bind the variables which a function moves to a device, one for each
    variable.
    """
    found: dict[Binding, ast.AST] = {}
    for method in ("to", "cuda"):
        for use in model.names.attribute_uses(method):
            call = model.parent(use)
            if not isinstance(call, ast.Call) or call.func is not use or model.function(use) is not function:
                continue
            moved = converted_value(use.value, model)
            if isinstance(moved, ast.Name) and (method == "cuda" or _names_device(call, model)):
                found.update((each, each.statement) for each in model.dataflow.definitions(moved))
    return list(found.values())


def _is_each_part(binding: Binding, model: SemanticModel) -> bool:
    """Whether a loop over all parts of a batch binds a variable."""
    match binding.value:
        case ast.Call(func=ast.Attribute(value=ast.Name() as batch, attr=method), args=[]):
            return binding.kind in _LOOPED and method in _PARTS and _is_batch(batch, model)
        case ast.Name() as batch if binding.kind is BindingKind.COMPREHENSION and not binding.path:
            return _is_batch(batch, model)
    return False


def _is_each_converted(binding: Binding, model: SemanticModel) -> bool:
    """Whether a comprehension over the parts of a batch that a call has returned binds a variable:
    `[torch.as_tensor(part).to(device) for part in batch]`.
    """
    if binding.kind is not BindingKind.COMPREHENSION or binding.path:
        return False
    match binding.value:
        case ast.Name() as batch if _BATCH.search(batch.id):
            bound = model.dataflow.definitions(batch)
            return bool(bound) and all(
                each.kind is BindingKind.ASSIGN
                and isinstance(each.value, ast.Call)
                and not model.gradients.gives_gradient(each.value)
                for each in bound
            )
    return False


def _moved_parts(place: tuple[ast.AST | None, str], model: SemanticModel) -> frozenset[str]:
    """Return the parts of the batch in a variable of a function that are moved to a device."""
    function, name = place
    found = set()
    for method in ("to", "cuda"):
        for use in model.names.attribute_uses(method):
            call = model.parent(use)
            if not isinstance(call, ast.Call) or call.func is not use or model.function(use) is not function:
                continue
            moved = converted_value(use.value, model)
            batch = _batch_of(moved, model)
            if batch is not None and batch.id == name and (method == "cuda" or _names_device(call, model)):
                found.add(ast.dump(moved))
    return frozenset(found)


def _names_device(call: ast.Call, model: SemanticModel) -> bool:
    target = target_of_move(call)
    return target is not None and model.types.is_device(target)


def is_joined_from_transitions(source: ast.expr, model: SemanticModel) -> bool:
    """Whether tensors are the parts of sampled transitions, concatenated (`torch.cat(batch.state)` of
    `batch = Transition(*zip(*transitions))`), in a function that moves other parts, too.
    """
    if _transitions_of(source, model) is None:
        return False
    return len(model.once(_moved_joins, model.function(source))) >= _FEWEST


def _transitions_of(source: ast.expr, model: SemanticModel) -> ast.expr | None:
    """Return the parts of transitions that an expression concatenates: `batch.state`."""
    while isinstance(source, ast.Call):
        if model.names.qualified(source.func) in _JOINS:
            parts = source.args[0] if source.args else None
            return parts if parts is not None and _is_transposed(parts, model) else None
        if not isinstance(source.func, ast.Attribute) or model.names.qualified(source.func) is not None:
            return None
        source = source.func.value
    return None


def _is_transposed(parts: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is one of the tuples that `zip(*transitions)` yields."""
    match parts:
        case ast.Name():
            bound = model.dataflow.definitions(parts)
            return len(bound) == 1 and len(bound[0].path) == 1 and _transposes(bound[0].value, model)
        case ast.Attribute(value=ast.Name() as batch) | ast.Subscript(value=ast.Name() as batch):
            bound = model.dataflow.definitions(batch)
            if len(bound) != 1 or bound[0].path or not isinstance(bound[0].value, ast.Call):
                return False
            match bound[0].value.args:
                case [ast.Starred(value=transposed)]:
                    return _transposes(transposed, model)
    return False


def _transposes(value: ast.expr | None, model: SemanticModel) -> bool:
    match value:
        case ast.Call(func=func, args=[ast.Starred()]):
            return model.names.qualified(func) == "builtins.zip"
    return False


def _moved_joins(function: ast.AST | None, model: SemanticModel) -> frozenset[str]:
    """Return the parts of transitions that a function concatenates and moves to a device."""
    found = set()
    for method in ("to", "cuda"):
        for use in model.names.attribute_uses(method):
            call = model.parent(use)
            if not isinstance(call, ast.Call) or call.func is not use or model.function(use) is not function:
                continue
            parts = _transitions_of(use.value, model)
            if parts is not None and (method == "cuda" or _names_device(call, model)):
                found.add(ast.dump(parts))
    return frozenset(found)


def is_from_loader(source: ast.expr, model: SemanticModel) -> bool:
    """Whether a value of unknown type is the next batch of a loader, judging by its name: `next(loader)`."""
    match source:
        case ast.Call(func=func, args=[loader]) if model.names.qualified(func) == "builtins.next":
            is_unknown = not model.types.type_of(loader)
            return is_unknown and bool(_LOADER.search((last_name(loader) or "").lower()))
        case ast.Name():
            bound = model.dataflow.definitions(source)
            return bool(bound) and all(
                not each.path and isinstance(each.value, ast.Call) and is_from_loader(each.value, model)
                for each in bound
            )
    return False
