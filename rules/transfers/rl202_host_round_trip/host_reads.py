"""Host reads: places where a program synchronises with a device to read its results."""

from __future__ import annotations

import ast

from rlint.rule import (
    BindingKind,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    frozen,
    last_name,
    last_names,
    models,
    vocabulary,
)
from rlint.rules.transfers._shared.element_reads import conditions
from rlint.rules.transfers._shared.there_and_back import is_copied_to_host, original
from rlint.rules.transfers.rl202_host_round_trip import hidden_reads

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
_GIVES_WEIGHTS = models.giving(TypeTag.ITERATOR, TypeTag.MODULE) | {"parameters", "state_dict"}
_LOOPED = frozenset({BindingKind.FOR, BindingKind.COMPREHENSION})
_BOUNDS = (ast.Name, ast.Subscript)


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
        read = [HostRead(part, tested(part, model), "if") for part in conditions(node.test)]
        return [*read, *_read_by_membership(node.test)]
    if isinstance(node, ast.comprehension):
        read = [HostRead(part, part, "if") for test in node.ifs for part in conditions(test)]
        return [*read, *(part for test in node.ifs for part in _read_by_membership(test))]
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


def _read_by_membership(test: ast.expr) -> list[HostRead]:
    """Return the reads of `0 in mask`, for which a tensor compares all its elements, in a condition."""
    match test:
        case ast.BoolOp(values=values):
            return [read for value in values for read in _read_by_membership(value)]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _read_by_membership(operand)
        case ast.Compare(left=ast.Constant(value=str())):
            return []
        case ast.Compare(
            ops=[ast.In() | ast.NotIn()], comparators=[ast.Name() | ast.Attribute() as container]
        ):
            return [HostRead(test, container, "if")]
    return []


def reads_below(part: ast.AST, model: SemanticModel) -> list[HostRead]:
    """Return the reads in a part of the file, by syntax only."""
    return [
        read for node in descendants(part) if node.__class__ in _READING for read in reads_at(node, model)
    ]


def tested(condition: ast.expr, model: SemanticModel) -> ast.expr:
    """Return the tensor that a condition reads: the argument of a function of the project that only tells
    whether it is finite (`if not valid(loss)`), or the condition itself.
    """
    if isinstance(condition, ast.Call) and condition.args:
        targets = model.types.call_targets(condition)
        places = [{target.place_of(parameter) for parameter in target.tests} for target in targets]
        for place in set.intersection(*places) if places else ():
            if place < len(condition.args):
                return condition.args[place]
    return condition


def _read_by_method(call: ast.Call, called: ast.Attribute, model: SemanticModel) -> list[HostRead]:
    if call.args:
        return []
    if called.attr == "numpy":
        tensor, moved = original(called.value, model)
        return [HostRead(call, tensor, "numpy")] if moved or is_forced(called, model) else []
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


def is_forced(method: ast.Attribute, model: SemanticModel) -> bool:
    """Whether arguments are passed: `x.numpy(force=True)` copies."""
    call = model.parent(method)
    return isinstance(call, ast.Call) and bool(call.args or call.keywords)
