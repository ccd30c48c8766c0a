"""Host reads: places where a program synchronises with a device to read its results."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    MAX_DEFINITIONS,
    BindingKind,
    Device,
    Driver,
    Function,
    GuardKind,
    Heat,
    Scope,
    SemanticModel,
    SinkKind,
    Trait,
    TypeTag,
    descendants,
    frozen,
    has_key,
    last_name,
    last_names,
    models,
    regex,
    root_name,
    target_of_move,
    vocabulary,
)
from rlint.rules.transfers._shared.in_steps import is_in_layer
from rlint.rules.transfers._shared.there_and_back import is_copied_to_host
from rlint.rules.transfers.rl202_host_round_trip import hidden_reads

_SAME_NUMBERS = frozenset({"detach", "clone", "contiguous", "resolve_conj"})
COPIES = frozenset({"cpu", "to"})
_CONVERSIONS = frozenset({"builtins.float", "builtins.int", "builtins.bool"})
_READING = frozenset(
    {
        ast.BinOp,
        ast.Call,
        ast.FormattedValue,
        ast.If,
        ast.While,
        ast.IfExp,
        ast.Assert,
        ast.Slice,
        ast.Subscript,
        ast.comprehension,
    }
)
_TRACKERS = models.having(Trait.REPORTS, "wandb", "mlflow")
WRITES_NUMBERS = vocabulary.WRITES_NUMBERS
READERS = (
    models.having(Trait.TO_HOST, TypeTag.TENSOR)
    | {"bool", "float", "int", "print"}
    | hidden_reads.NAMES
    | vocabulary.COPIES_TENSOR
) | {*WRITES_NUMBERS, *last_names(*_TRACKERS)}
"""The calls that `reads_at` recognises, by name."""
_KEEP_TENSORS = (
    models.giving(TypeTag.TENSOR, TypeTag.TENSOR) | models.having(Trait.REDUCES, TypeTag.TENSOR) | {"type"}
)
_OF_TENSORS = vocabulary.OF_TENSORS | {"entropy"}
_REDUCING = models.having(Trait.REDUCES, TypeTag.TENSOR) | _SAME_NUMBERS
_LEAVES = models.having(Trait.TO_HOST | Trait.MEASURES, TypeTag.TENSOR) | {"backward", "parameters"}
_OF_GRADIENTS = frozenset({"backward", "detach", "requires_grad"})
_CASTS = models.having(Trait.CASTS, TypeTag.TENSOR)
"""Methods that only tensors have: `done.float()`, `mask.bool()`."""
_GIVES_WEIGHTS = models.giving(TypeTag.ITERATOR, TypeTag.MODULE) | {"parameters", "state_dict"}
_LOOPED = frozenset({BindingKind.FOR, BindingKind.COMPREHENSION})
_BOUNDS = (ast.Name, ast.Subscript)
_SAME_ITEMS = models.having(Trait.SAME_ITEMS, "builtins", "tqdm")
_SHOWN = frozenset({"print", "log"})
_OF_ARRAYS = frozenset({"numpy", "jax", "pandas"})
"""Libraries whose arrays and scalars have an `item` method, too."""
_DEPTH = 7
_ON_CONDITION = (GuardKind.OTHER, GuardKind.SWITCH)
_OF_REPORTS = regex(r"statistic|diagnostic|debug|report")


@frozen
class HostRead:
    """`node` copies the numbers of `tensor` to the host, which synchronises."""

    node: ast.expr
    tensor: ast.expr
    method: str
    """"item", "tolist", "numpy", "float", "int", "bool", "cpu" for a copy that stays a tensor, "print", "log"
    for a tensor that is passed to a logger, "if" for a condition, "slice" for the bound of a slice, "index"
    for a number that selects an element, or "each" if Python compares the elements one by one.
    """


def reads_at(node: ast.AST, model: SemanticModel) -> list[HostRead]:
    """Return the reads of a node by its syntax only; whether a device is involved is determined elsewhere."""
    if isinstance(node, ast.Call):
        called = node.func
        if last_name(called) in vocabulary.COPIES_TENSOR:
            return _read_by_helper(node, model)
        if _writes_numbers(called, model):
            return _read_by_writer(node, model)
        if isinstance(called, ast.Attribute) and called.attr == "format":
            return _read_by_format(called.value, [*node.args, *(word.value for word in node.keywords)], model)
        if isinstance(called, ast.Attribute):
            if called.attr in COPIES:
                return _read_by_copy(node, model)
            return _read_by_method(node, called, model) if called.attr in READERS else []
        return _read_by_function(node, called, model) if isinstance(called, ast.Name) else []
    if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
        return [HostRead(part, part, "if") for part in _conditions(node.test)]
    if isinstance(node, ast.comprehension):
        return [HostRead(part, part, "if") for test in node.ifs for part in _conditions(test)]
    if isinstance(node, ast.BinOp):
        shown = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
        return _read_by_format(node.left, shown, model) if isinstance(node.op, ast.Mod) else []
    if isinstance(node, ast.FormattedValue):
        return [HostRead(node.value, original(node.value, model)[0], "print")]
    if isinstance(node, ast.Subscript):
        index = hidden_reads.indexed_by(node, model)
        return [HostRead(index, index, "index")] if index is not None else []
    if isinstance(node, ast.Slice):
        bounds = (node.lower, node.upper, node.step)
        return [HostRead(bound, bound, "slice") for bound in bounds if isinstance(bound, _BOUNDS)]
    return []


def reads_below(part: ast.AST, model: SemanticModel) -> list[HostRead]:
    """Return the reads in a part of the file, by syntax only."""
    return [
        read for node in descendants(part) if node.__class__ in _READING for read in reads_at(node, model)
    ]


def _read_by_method(call: ast.Call, called: ast.Attribute, model: SemanticModel) -> list[HostRead]:
    if call.args:
        return []
    if called.attr == "numpy":
        tensor, moved = original(called.value, model)
        return [HostRead(call, tensor, "numpy")] if moved or _is_forced(called, model) else []
    if called.attr not in ("item", "tolist") or call.keywords:
        return []
    return [HostRead(call, original(called.value, model)[0], called.attr)]


def _read_by_copy(copy: ast.Call, model: SemanticModel) -> list[HostRead]:
    """Return the read of `x.cpu()`, unless the copy is part of another read: `x.cpu().numpy()`,
    `float(x.cpu())`, `print(x.cpu())`. Weights that are copied for other processes are not meant.
    """
    if not is_copied_to_host(copy, model) or any(word.arg == "non_blocking" for word in copy.keywords):
        return []
    tensor, _ = original(copy, model)
    if _is_weight(tensor, model):
        return []
    for outer in model.ancestors(copy):
        if isinstance(outer, ast.stmt):
            # a statement of its own moves a network
            is_used = not isinstance(outer, ast.Expr) or outer.value is not copy
            return [HostRead(copy, tensor, "cpu")] if is_used else []
        if isinstance(outer, (ast.Call, ast.FormattedValue)) and any(
            read.tensor is tensor for read in reads_at(outer, model)
        ):
            return []
    return []


def _is_weight(tensor: ast.expr, model: SemanticModel) -> bool:
    """Whether a loop takes a tensor from the weights of a network: `for name, weight in
    net.state_dict().items()`.
    """
    if not isinstance(tensor, ast.Name):
        return False
    loops = [each.value for each in model.dataflow.definitions(tensor) if each.kind in _LOOPED]
    sources = [part for iterable in loops if iterable is not None for part in descendants(iterable)]
    names = [part for part in sources if isinstance(part, ast.Name)]
    made = [each.value for name in names for each in model.dataflow.definitions(name)]
    sources += [part for value in made if value is not None for part in descendants(value)]
    return any(isinstance(part, ast.Call) and last_name(part.func) in _GIVES_WEIGHTS for part in sources)


def _read_by_helper(call: ast.Call, model: SemanticModel) -> list[HostRead]:
    """Return the read of `to_np(action)`, by a project function that copies its argument to the host."""
    targets = model.types.call_targets(call)
    if not targets:
        return []
    places = [{target.place_of(parameter) for parameter in target.reads} for target in targets]
    read = set.intersection(*places)
    method = "numpy" if last_name(call.func) in vocabulary.READS_TENSOR else "cpu"
    return [
        HostRead(call, original(argument, model)[0], method)
        for place, argument in enumerate(call.args)
        if place in read
    ]


def _writes_numbers(called: ast.expr, model: SemanticModel) -> bool:
    """Whether a call writes its numbers to a file or a tracker at once: `writer.add_scalar("loss", loss,
    step)`, `wandb.log({"loss": loss})`.
    """
    name = last_name(called)
    if name in WRITES_NUMBERS:
        return isinstance(called, ast.Attribute)
    if name not in READERS or not isinstance(called, (ast.Attribute, ast.Name)):
        return False
    if model.names.qualified(called) in _TRACKERS:
        return True
    return (
        name == "log"
        and isinstance(called, ast.Attribute)
        and model.types.type_of(called.value).tag is TypeTag.WRITER
    )


def _read_by_writer(call: ast.Call, model: SemanticModel) -> list[HostRead]:
    given: list[ast.expr] = []
    for value in (*call.args, *(keyword.value for keyword in call.keywords)):
        given += value.values if isinstance(value, ast.Dict) else [value]
    return [
        HostRead(value, original(value, model)[0], "log")
        for value in given
        if not isinstance(value, (ast.Constant, ast.JoinedStr, ast.Dict, ast.Starred))
    ]


def _read_by_function(call: ast.Call, called: ast.Name, model: SemanticModel) -> list[HostRead]:
    if called.id == "print" and model.names.qualified(called) == "builtins.print":
        return [HostRead(value, original(value, model)[0], "print") for value in call.args]
    if called.id in hidden_reads.NAMES:
        hidden = hidden_reads.compared_by(call, model)
        return [HostRead(call, *hidden)] if hidden is not None else []
    if called.id not in ("float", "int", "bool") or len(call.args) != 1 or call.keywords:
        return []
    if model.names.qualified(called) not in _CONVERSIONS:
        return []
    return [HostRead(call, original(call.args[0], model)[0], called.id)]


def _read_by_format(text: ast.expr, values: list[ast.expr], model: SemanticModel) -> list[HostRead]:
    """Return the reads of `"loss %.3f" % loss` and `"loss {:.3f}".format(loss)`."""
    if not isinstance(text, ast.Constant) or not isinstance(text.value, str):
        return []
    return [
        HostRead(value, original(value, model)[0], "print")
        for value in values
        if isinstance(value, (ast.Name, ast.Attribute, ast.Subscript))
    ]


def _conditions(test: ast.expr) -> list[ast.expr]:
    """Return the values whose truth a condition tests."""
    match test:
        case ast.BoolOp(values=values):
            return [part for value in values for part in _conditions(value)]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _conditions(operand)
        case ast.Compare(ops=[ast.Is() | ast.IsNot() | ast.In() | ast.NotIn(), *_]) | ast.Constant():
            return []
    return [test]


def original(source: ast.expr, model: SemanticModel) -> tuple[ast.expr, bool]:
    """Return the tensor whose numbers are copied (`x` in `x.detach().cpu()`), and whether a move to the host
    is written between it and `source`.
    """
    moved = False
    while True:
        match source:
            case ast.Call(func=ast.Attribute(value=inner, attr="cpu"), args=[]):
                moved = True
            case ast.Call(func=ast.Attribute(value=inner, attr="to")) if is_copied_to_host(source, model):
                moved = True
            case ast.Call(func=ast.Attribute(value=inner, attr=method), args=[]) if method in _SAME_NUMBERS:
                pass
            case ast.Attribute(value=inner, attr="data"):
                pass
            case _:
                return source, moved
        source = inner


def where(expression: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> Device | None:
    """Return the device of a tensor, as far as the source determines it; None for a value that may not be a
    tensor.
    """
    return model.once(_where, (expression, depth))


def _where(about: tuple[ast.expr, int], model: SemanticModel) -> Device | None:
    expression, depth = about
    if isinstance(expression, ast.Compare) and any(map(_is_text, (expression.left, *expression.comparators))):
        return None
    kind = model.types.type_of(expression)
    if kind.tag is TypeTag.TENSOR and kind.device is not Device.UNKNOWN:
        return kind.device
    if kind.tag not in (TypeTag.TENSOR, TypeTag.UNKNOWN):
        return None
    found = _made(expression, model, depth) if depth > 0 else None
    return found or (Device.UNKNOWN if kind.tag is TypeTag.TENSOR else None)


def _is_text(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant) and isinstance(part.value, str)


def _made(expression: ast.expr, model: SemanticModel, depth: int) -> Device | None:
    match expression:
        case ast.Name():
            return None if model.types.excludes_tensor(expression) else _bound(expression, model, depth)
        case ast.Attribute(value=owner, attr="grad"):
            return where(owner, model, depth - 1) or Device.UNKNOWN
        case ast.Attribute(value=owner, attr="data" | "T" | "values" | "indices"):
            return where(owner, model, depth - 1)
        case ast.Subscript(value=owner, slice=index):
            return None if has_key(index) else where(owner, model, depth - 1)
        case ast.UnaryOp(operand=operand):
            return where(operand, model, depth - 1)
        case ast.BinOp(left=left, right=right):
            parts = [part for part in (left, right) if not _has_no_dimensions(part, model, depth)]
            # a tensor without dimensions combines with tensors of any device
            found = _joined([where(part, model, depth - 1) for part in parts])
            return found or _joined([where(part, model, depth - 1) for part in (left, right)])
        case ast.Compare(left=left, comparators=compared):
            return _joined([where(part, model, depth - 1) for part in (left, *compared)])
        case ast.Call(func=ast.Attribute(attr="cpu")):
            return Device.HOST
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if (
            model.names.qualified(expression.func) is None
        ):
            if method in _LEAVES:
                return None
            if method in ("to", "cuda") and _is_moved_tensor(expression, owner, model, depth):
                return _target(expression, owner, model, depth)
            if method in _OF_TENSORS or (method in _CASTS and not expression.args):
                return where(owner, model, depth - 1) or Device.UNKNOWN
            if method in _KEEP_TENSORS:
                return where(owner, model, depth - 1)
            return Device.UNKNOWN if model.gradients.gives_gradient(expression) else None
        case ast.Call():
            given = [where(argument, model, depth - 1) for argument in expression.args]
            _, _, method = (model.names.qualified(expression.func) or "").rpartition("torch.")
            if model.types.type_of(expression).tag is TypeTag.TENSOR or method in _KEEP_TENSORS:
                return _joined(given)
            return Device.UNKNOWN if model.gradients.gives_gradient(expression) else None
    return None


def _has_no_dimensions(part: ast.expr, model: SemanticModel, depth: int) -> bool:
    """Whether a value is a tensor without dimensions, also after arithmetic with numbers."""
    if model.types.type_of(part).rank == 0:
        return True
    if not isinstance(part, ast.BinOp):
        return False
    found = [_has_no_dimensions(side, model, depth) for side in (part.left, part.right)]
    return any(found) and all(
        known or where(side, model, depth - 1) is None
        for known, side in zip(found, (part.left, part.right), strict=True)
    )


def _is_moved_tensor(move: ast.Call, owner: ast.expr, model: SemanticModel, depth: int) -> bool:
    """Whether `.to(…)` or `.cuda()` moves a tensor: what a loop iterates over is no network."""
    if where(owner, model, depth - 1) is not None:
        return True
    if not isinstance(owner, ast.Name) or model.types.type_of(owner):
        return False
    bound = model.dataflow.definitions(owner)
    is_item = bool(bound) and all(binding.kind in _LOOPED and binding.path for binding in bound)
    return is_item and (not move.args or model.types.is_device(move.args[0]))


def is_placed_on_device(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is computed from what this function moves to a device, creates there or gets from a
    network.
    """
    level, seen = [value], {value}
    for _ in range(_DEPTH + 1):
        assigned: list[ast.expr] = []
        for node in (node for part in level for node in _until_moved_to_host(part, model)):
            match node:
                case ast.Call(func=ast.Attribute(attr="cuda")):
                    return True
                case ast.Call(func=ast.Attribute(attr="to"), args=[target, *_]) if model.types.is_device(
                    target
                ):
                    return True
                case ast.Call(func=ast.Attribute(attr="to"), args=[], keywords=[ast.keyword(arg=None)]):
                    return True
                case ast.Call() if model.gradients.gives_gradient(node):
                    return True
                case ast.Name():
                    made = model.dataflow.definitions(node)
                    values = [each.value for each in made if each.kind is BindingKind.ASSIGN]
                    if len(made) <= MAX_DEFINITIONS:
                        assigned += (each for each in values if each is not None and each not in seen)
                        seen.update(assigned)
        level = assigned
    return False


def _until_moved_to_host(value: ast.expr, model: SemanticModel) -> Iterator[ast.AST]:
    """Yield the nodes of a value up to a move to the host, after which nothing is on a device."""
    for node in descendants(value):
        match node:
            case ast.Call(func=ast.Attribute(attr="to"), args=[target, *_]) if (
                model.types.is_device(target) and model.types.device_of(target) is Device.HOST
            ):
                return
        yield node


def _target(move: ast.Call, owner: ast.expr, model: SemanticModel, depth: int) -> Device | None:
    """Return the device to which `.to(…)` or `.cuda()` moves a tensor."""
    target = target_of_move(move)
    if target is None:
        return Device.CUDA
    if model.types.is_device(target):
        return model.types.device_of(target)
    return where(owner, model, depth - 1)


def _bound(name: ast.Name, model: SemanticModel, depth: int) -> Device | None:
    """Return the device of a variable's tensor; a value that is differentiated is a tensor, too."""
    definitions = model.dataflow.definitions(name)
    if len(definitions) > MAX_DEFINITIONS:
        return None
    joined = _either(
        [
            where(binding.value, model, depth - 1)
            for binding in definitions
            if binding.kind in (BindingKind.ASSIGN, BindingKind.WALRUS)
            and binding.value is not None
            and not binding.path
        ]
        + [
            _items(binding.value, binding.path, model, depth - 1)
            for binding in definitions
            if binding.kind in _LOOPED and binding.value is not None
        ]
    )
    if joined is not None:
        return joined
    scope = model.names.scope(name).lookup(name.id)
    if scope is None:
        return None
    if model.once(_is_differentiated, (name.id, scope)):
        return Device.UNKNOWN
    casts = model.once(_casts_of, (name.id, scope))
    return Device.UNKNOWN if any(model.dataflow.definitions(use) == definitions for use in casts) else None


def _is_differentiated(variable: tuple[str, Scope], model: SemanticModel) -> bool:
    users = map(model.parent, model.names.reads(*variable))
    return any(isinstance(user, ast.Attribute) and user.attr in _OF_GRADIENTS for user in users)


def _casts_of(variable: tuple[str, Scope], model: SemanticModel) -> list[ast.Name]:
    """Return the uses of a variable with a conversion that only tensors have: `done.float()`."""
    found = []
    for use in model.names.reads(*variable):
        method = model.parent(use)
        if isinstance(method, ast.Attribute) and method.attr in _CASTS:
            call = model.parent(method)
            if isinstance(call, ast.Call) and call.func is method and not call.args:
                found.append(use)
    return found


def _items(iterable: ast.expr, path: tuple[int, ...], model: SemanticModel, depth: int) -> Device | None:
    """Return the device of the tensors that a loop iterates over, if they are the parts of one:
    `torch.split(x, sizes)`. `path` is the place of the loop variable in the items.
    """
    if depth <= 0:
        return None
    if isinstance(iterable, ast.Name):
        made = [
            binding.value
            for binding in model.dataflow.definitions(iterable)
            if binding.kind is BindingKind.ASSIGN and not binding.path
        ]
        found = _joined([_items(value, path, model, depth - 1) for value in made if value is not None])
        return found or (where(iterable, model, depth - 1) if not path else None)
    if not isinstance(iterable, ast.Call):
        return None
    called = model.names.qualified(iterable.func)
    if called == "builtins.zip":
        zipped = iterable.args
        if not path or any(isinstance(argument, ast.Starred) for argument in zipped):
            return None
        return _items(zipped[path[0]], path[1:], model, depth) if 0 <= path[0] < len(zipped) else None
    if called == "builtins.enumerate":
        is_item = path[:1] == (1,) and bool(iterable.args)
        return _items(iterable.args[0], path[1:], model, depth) if is_item else None
    if called in _SAME_ITEMS and iterable.args:
        return _items(iterable.args[0], path, model, depth)
    return _joined([where(argument, model, depth - 1) for argument in iterable.args])


def _joined(found: list[Device | None]) -> Device | None:
    """Return the device of a result computed from several values, some of which may not be tensors."""
    devices = [device for device in found if device is not None]
    if not devices:
        return None
    if Device.HOST in devices:
        return Device.HOST
    return devices[0]


def _either(found: list[Device | None]) -> Device | None:
    """Return the device of a variable with several definitions: `if cuda: x = x.cuda()` may move it."""
    devices = [device for device in found if device is not None]
    return next((device for device in devices if device is not Device.HOST), devices[0] if devices else None)


def is_hot(read: HostRead, model: SemanticModel) -> bool:
    """Whether a read runs in each step, and synchronises with a device there."""
    if model.frequency.heat_of(read.node).level is not Heat.HOT or model.usage.is_evaluation(read.node):
        return False
    if not waits(read, model) or has_left_the_device(read.node, model):
        return False
    function = model.function(read.node)
    return function is None or not model.once(_is_called_for_reports, function)


def _is_called_for_reports(function: Function, model: SemanticModel) -> bool:
    """Whether all calls of a function run under a condition on reports: `if not skip_statistics`."""
    start = function.body[0]
    own = model.frequency.conditions(start)
    return any(
        guard not in own and guard.kind in _ON_CONDITION and _OF_REPORTS.search(guard.text.lower())
        for guard in model.frequency.guards(start)
    )


def has_left_the_device(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a line is reached on the host only: after `if tensor.is_cuda: return …`, or in a class for the
    CPU (`self.device = torch.device("cpu")`).
    """
    owner = model.class_of(node)
    summary = model.module.classes.get(model.syntax.qualname(owner)) if owner is not None else None
    device = summary.attributes.get("device") if summary is not None else None
    if device is not None and device.device is Device.HOST:
        return True
    exits = model.once(_exits_for_devices, model.syntax.module)
    function, start = model.function(node), model.source.span(node)[0]
    return any(model.function(test) is function and model.source.span(test)[0] < start for test in exits)


def _exits_for_devices(_: ast.Module, model: SemanticModel) -> list[ast.If]:
    """Return the conditions that test for a device before they return."""
    exits = (test for test in model.syntax.of_type(ast.If) if isinstance(test.body[-1], ast.Return))
    return [test for test in exits if model.types.tests_device(test.test)]


def waits(read: HostRead, model: SemanticModel) -> bool:
    """Whether a read uses a tensor that may be on a device. That holds for an unknown value that the program
    moves to the host.
    """
    device = where(read.tensor, model)
    if device is Device.HOST or device is Device.OTHER or _is_used_as_array(read.tensor, model):
        return False
    if device is not None:
        return True
    if model.types.type_of(read.tensor).tag is not TypeTag.UNKNOWN:
        return False
    if read.method == "item" and isinstance(read.node, ast.Call):
        return _is_of_update(reduced(read.tensor), model) or is_supposed(read, model)
    if read.method in _SHOWN and isinstance(read.tensor, ast.Name):
        return model.once(_is_learned_from, read.tensor)
    return read.method == "numpy" or (read.method == "cpu" and _is_likely_tensor(read, model))


def _is_learned_from(name: ast.Name, model: SemanticModel) -> bool:
    """Whether a gradient is computed from the value of a variable, possibly by a caller: a loss."""
    bound = model.dataflow.definitions(name)
    if not bound or len(bound) > MAX_DEFINITIONS:
        return False
    return all(
        binding.kind is BindingKind.ASSIGN
        and not binding.path
        and isinstance(binding.value, (ast.Call, ast.BinOp))
        and any(sink.label is SinkKind.LEARNED for sink in model.gradients.traced(binding.value).sinks)
        for binding in bound
    )


def _is_likely_tensor(read: HostRead, model: SemanticModel) -> bool:
    """Whether a copied value of unknown type likely is a tensor, although networks, specs and states have a
    `cpu()`, too: it is detached, the result of a call, or a variable that no loop over items sets.
    """
    is_detached = any(
        isinstance(part, ast.Attribute) and part.attr == "detach" for part in descendants(read.node)
    )
    if is_detached or isinstance(read.tensor, ast.Call):
        return True
    if not isinstance(read.tensor, ast.Name):
        return False
    return not any(binding.kind in _LOOPED for binding in model.dataflow.definitions(read.tensor))


def _is_used_as_array(tensor: ast.expr, model: SemanticModel) -> bool:
    """Whether `.numpy()` is called on the same tensor without a copy to the host, which fails for a tensor on
    a device.
    """
    if not isinstance(tensor, ast.Name):
        return False
    scope = model.names.scope(tensor).lookup(tensor.id)
    if scope is None:
        return False
    arrays = model.once(_taken_as_arrays, (tensor.id, scope))
    bound = model.dataflow.definitions(tensor) if arrays else []
    return any(model.dataflow.definitions(use) == bound for use in arrays)


def _taken_as_arrays(variable: tuple[str, Scope], model: SemanticModel) -> list[ast.Name]:
    """Return the uses of a variable that share their memory with an array: `x.numpy()`,
    `x.detach().numpy()`.
    """
    found = []
    for use in model.names.reads(*variable):
        user = model.parent(use)
        if isinstance(user, ast.Attribute) and user.attr == "detach":
            call = model.parent(user)
            user = model.parent(call) if isinstance(call, ast.Call) else None
        if isinstance(user, ast.Attribute) and user.attr == "numpy" and not _is_forced(user, model):
            found.append(use)
    return found


def _is_forced(method: ast.Attribute, model: SemanticModel) -> bool:
    """Whether arguments are passed: `x.numpy(force=True)` copies."""
    call = model.parent(method)
    return isinstance(call, ast.Call) and bool(call.args or call.keywords)


def is_supposed(read: HostRead, model: SemanticModel) -> bool:
    """Whether the only known fact about a value is that `.item()` is called on it in a function that takes a
    gradient step or is part of a forward pass, or in a file without NumPy. Few other objects than tensors
    have that method there.
    """
    if read.method != "item" or where(read.tensor, model) is not None:
        return False
    value = reduced(read.tensor)
    if model.types.type_of(read.tensor).tag is not TypeTag.UNKNOWN or _is_of_update(value, model):
        return False
    root = root_name(value)
    if root is None or model.names.qualified(root) is not None:
        return False
    if model.types.type_of(root).tag in (TypeTag.NDARRAY, TypeTag.NUMPY_SCALAR):
        return False
    if any(_steps_environment(binding.value, model) for binding in model.dataflow.definitions(root)):
        return False
    return model.once(_has_tensors_only, model.function(read.node))


def _steps_environment(value: ast.expr | None, model: SemanticModel) -> bool:
    return isinstance(value, ast.Call) and model.analysis.loops.driver_of(value) is Driver.ENVIRONMENT_STEP


def _has_tensors_only(function: Function | None, model: SemanticModel) -> bool:
    """Whether numbers of a function that are read by `.item()` are likely those of tensors."""
    summary = model.symbols.function_at(function.body[0]) if function is not None else None
    if function is None or summary is None:
        return False
    if not any(path.partition(".")[0] in _OF_ARRAYS for path in model.module.imports.values()):
        return True
    steps = summary.drivers.union(*(loop.drivers for loop in summary.loops))
    if Driver.GRADIENT_STEP in steps or is_in_layer(function.body[0], model):
        return True
    cadence = model.frequency.cadence(function.body[0])
    return cadence is not None and cadence.drivers == {Driver.GRADIENT_STEP}


def reduced(value: ast.expr) -> ast.expr:
    """Return the value whose reduction is read: `values` in `values.detach().mean()`."""
    while True:
        match value:
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _REDUCING:
                value = inner
            case _:
                return value


def _is_of_update(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is returned by a function that takes a gradient step: a loss, an entropy, a gradient
    norm. A value with an `.item()` there is a tensor.
    """
    if not isinstance(value, ast.Name):
        return False
    made = [binding.value for binding in model.dataflow.definitions(value)]
    return bool(made) and all(
        isinstance(call, ast.Call)
        and any(Driver.GRADIENT_STEP in target.drivers for target in model.types.call_targets(call))
        for call in made
    )


_OTHER_LIBRARIES = ("jax", "tensorflow", "cupy")
"""Libraries whose arrays have `item()`, too: a file that does not mention torch has no tensors then."""


def may_use_accelerator(model: SemanticModel) -> bool:
    """Whether the program mentions accelerators at all, and this file devices."""
    text = model.syntax.text
    if "torch" not in text and any(library in text for library in _OTHER_LIBRARIES):
        return False
    if "cuda" in text or "accelerator" in text:
        return True
    if "device" not in text and model.once(_converts_host_tensors, model.syntax.module):
        return False
    if model.program.is_attribute_read("cuda"):
        return True
    if "device" not in text:
        # a file of helpers or losses, whose tensors come from other files
        return "__main__" not in text and model.program.is_attribute_read("device")
    return model.once(_names_open_device, model.syntax.module)


def _converts_host_tensors(_: ast.Module, model: SemanticModel) -> bool:
    """Whether a file calls `numpy()` on tensors that it does not copy to the host before, which fails for
    tensors on a device.
    """
    for use in model.names.attribute_uses("numpy"):
        match use.value:
            case (
                ast.Attribute(attr="data", value=tensor)
                | ast.Call(func=ast.Attribute(attr="detach", value=tensor), args=[])
            ):
                if not original(tensor, model)[1]:
                    return True
    return False


def _names_open_device(_: ast.Module, model: SemanticModel) -> bool:
    """Whether a function has a device parameter, or a tensor, network or batch is moved to a device that is
    not surely the host: one that a parameter or a setting determines.
    """
    if any(parameter.arg == "device" for parameter in model.syntax.of_type(ast.arg)):
        return True
    named = [
        word.value
        for word in model.syntax.of_type(ast.keyword)
        if word.arg == "device" and not isinstance(word.value, ast.Constant)
    ]
    for use in model.names.attribute_uses("to"):
        match model.parent(use):
            case ast.Call(func=func, args=[target, *_]) if func is use and model.types.is_device(target):
                named.append(target)
    return any(model.types.device_of(device) is not Device.HOST for device in named)
