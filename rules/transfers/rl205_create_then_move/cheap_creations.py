"""Creations on the host that cost little."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Device, Function, ProgramScale, SemanticModel, Trait, TypeTag, descendants, models
from rlint.rules.transfers._shared.creations import Creation, copies_nothing
from rlint.rules.transfers._shared.device_moves import DeviceMove
from rlint.rules.transfers._shared.in_steps import (
    is_in_environment_steps,
    is_in_gradient_steps,
    is_in_layer,
    is_only_in_environment_steps,
    is_repeated,
)
from rlint.rules.transfers._shared.made import MadeTensor
from rlint.rules.transfers._shared.tensor_constructors import DRAW, LEGACY, is_data

_SHARED = "the array has the dtype of the tensor: nothing is copied in host memory"
_HOST_DATA = "the data are copied to the device either way: only a call and a copy in host memory are saved"
_CONSTANT = "it is one small constant in each step, which takes far longer than a copy of it"
_ACTION = "a step of the environment waits for its action in any case, and takes far longer than a copy"
_LONG_STEP = "one copy beside the gradient step of a large network, which takes far longer"
_FILLS = models.having(Trait.ALLOCATES, "torch") | {"torch.arange", "torch.linspace"}
_FEW_DIMENSIONS = 2
_ONE_SMALL = "one small tensor beside a gradient step of several networks, which takes far longer"
_VECTOR = "one vector of numbers, once per step: it is created and copied in microseconds"
_WAITS = "the same function reads the device as often, for which it waits in any case"
_SEVERAL = 2
_MANY = 10_000
"""Drawing and copying so many numbers takes as long as running a small layer."""


def why_cheap(creation: Creation, data: list[ast.Call], model: SemanticModel) -> str | None:
    """Return why a creation costs little: host data have to be moved, constants and random numbers do not,
    a small constant takes microseconds, and a gradient step of a large network far longer than a copy.
    """
    if copies_nothing(creation, model):
        return _SHARED
    calls = creation.made.calls
    if data and len(data) == len(calls):
        return _HOST_DATA
    move = creation.move.call
    if is_repeated(move, model):
        return None
    if is_only_in_environment_steps(move, model):
        return _ACTION
    learns = is_in_gradient_steps(move, model)
    if learns and model.program.scale() is ProgramScale.LARGE and not _draws_many(creation.made, model):
        return _LONG_STEP
    if learns and _is_one_of_much(move, creation.made, model):
        return _ONE_SMALL
    made = creation.made
    is_drawn = made.drawn_from or made.drawn_by is not None or made.filled_by is not None
    is_constant = not is_drawn and all(_is_small_constant(call, model) for call in calls)
    if is_constant and (learns or is_in_environment_steps(move, model)):
        return _CONSTANT
    if not is_in_layer(move, model) and calls and all(_is_vector(call, model) for call in calls):
        return _VECTOR
    return _WAITS if not is_drawn and _waits_anyway(move, model) else None


def why_cheap_in_branches(move: DeviceMove, made: list[ast.Call], model: SemanticModel) -> str | None:
    """Return why the creation of a tensor in several branches costs little."""
    if any(is_data(call, model) for call in made):
        return _HOST_DATA
    return _ACTION if is_only_in_environment_steps(move.call, model) else None


def _is_one_of_much(move: ast.Call, made: MadeTensor, model: SemanticModel) -> bool:
    """Whether a tensor is created once in each gradient step of several networks, and no large one as far as
    it is known: repeated rows (`batch * repeats`) and networks for images suggest many numbers.
    """
    if model.sizes.updates(move) < _SEVERAL or model.sizes.runs(move) != 1:
        return False
    sizes = [size for call in made.calls for size in _dimensions(call)]
    if any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult) for part in _values(sizes, model)):
        return False
    numbers = [model.sizes.number(size) for size in sizes]
    if model.program.scale() is ProgramScale.LARGE and None in (numbers or [None]):
        return False
    product = 1
    for number in numbers:
        product *= number if number is not None else 1
    return product < _MANY


def _dimensions(call: ast.Call) -> list[ast.expr]:
    """Return the sizes that a call passes, in a tuple or one by one."""
    match call.args:
        case [*_, ast.Tuple(elts=sizes) | ast.List(elts=sizes)]:
            return sizes
    return call.args


def _values(sizes: list[ast.expr], model: SemanticModel) -> Iterator[ast.AST]:
    """Yield the parts of sizes, and of the values of variables in them."""
    for size in sizes:
        yield from descendants(size)
        if isinstance(size, ast.Name):
            for binding in model.dataflow.definitions(size):
                if binding.value is not None and not binding.path:
                    yield from descendants(binding.value)


def _is_vector(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the sizes of a tensor are numbers, all of them 1 but for one: `(len(rows), 1)`."""
    if model.names.qualified(call.func) not in _FILLS | DRAW:
        return False
    sizes = _dimensions(call)
    if not all(model.types.type_of(size).tag is TypeTag.INT or model.sizes.number(size) for size in sizes):
        return False
    return len([size for size in sizes if not (isinstance(size, ast.Constant) and size.value == 1)]) == 1


def _waits_anyway(move: ast.Call, model: SemanticModel) -> bool:
    """Whether the function of a move, and the same loops, also read a tensor that may be on a device."""
    function, loops = model.function(move), model.frequency.loops(move)
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    return any(
        model.frequency.loops(read) == loops
        for read in model.once(_reads_in, function)
        if not model.frequency.conditions(read)
    )


def _reads_in(function: Function, model: SemanticModel) -> list[ast.Call]:
    """Return the calls of a function that copy a tensor to the host, unless it is known to be there."""
    return [
        node for node in descendants(function) if isinstance(node, ast.Call) and _reads_device(node, model)
    ]


def _reads_device(call: ast.Call, model: SemanticModel) -> bool:
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Attribute(attr="cpu")), attr="numpy")):
            return True
        case ast.Call(func=ast.Attribute(value=tensor, attr="item" | "tolist"), args=[]):
            kind = model.types.type_of(tensor)
            return kind.tag is TypeTag.TENSOR and kind.device is not Device.HOST
    return False


def _draws_many(made: MadeTensor, model: SemanticModel) -> bool:
    """Whether random numbers are drawn for more than one dimension, which takes long on the host, or for an
    unknown number of them.
    """
    if made.drawn_from or made.drawn_by or made.filled_by:
        return True
    return any(
        model.names.qualified(call.func) in DRAW and not _has_one_dimension(call) for call in made.calls
    )


def _has_one_dimension(draw: ast.Call) -> bool:
    match draw.args:
        case [ast.Constant() | ast.Call(func=ast.Name(id="len"))]:
            return True
    return False


def _is_small_constant(call: ast.Call, model: SemanticModel) -> bool:
    qualified = model.names.qualified(call.func)
    if qualified in LEGACY or qualified not in _FILLS:
        return False
    sizes = call.args
    if len(sizes) == 1 and isinstance(sizes[0], (ast.Tuple, ast.List)):
        sizes = sizes[0].elts
    if any(isinstance(size, ast.Attribute) and size.attr == "shape" for size in sizes):
        return False  # of any number of dimensions
    return len(sizes) <= _FEW_DIMENSIONS or qualified.endswith(("range", "space"))
