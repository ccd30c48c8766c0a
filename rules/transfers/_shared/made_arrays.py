"""Arrays that numpy creates, and that are wrapped as tensors to be moved to a device."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, Trait, TypeTag, models

CREATES = models.having(Trait.ALLOCATES | Trait.FROM_NUMBERS, "numpy")
_FROM_DATA = models.having(Trait.FROM_DATA, "numpy")
_DRAWS_FROM_DATA = ("choice", "permutation", "shuffle")
_DATA = (TypeTag.NDARRAY, TypeTag.TENSOR, TypeTag.LIST)
_CREATES_THERE = models.having(Trait.ALLOCATES | Trait.FROM_NUMBERS | Trait.DRAWS_SHAPE, "torch")
_DRAWS_AS = {
    **dict.fromkeys(("normal", "standard_normal"), "torch.randn"),
    **dict.fromkeys(("uniform", "random", "random_sample"), "torch.rand"),
    "integers": "torch.randint",
}
RESHAPES = models.having(Trait.RESHAPES, TypeTag.NDARRAY)
"""Methods that change the shape of an array only."""


def wrapped_array(call: ast.Call, name: str | None, model: SemanticModel) -> ast.expr | None:
    """Return the array that a call wraps as a tensor: `torch.from_numpy(x)`, or a function of the project
    that does so if its argument is an array.
    """
    if name == "torch.from_numpy":
        return call.args[0] if len(call.args) == 1 else None
    targets = model.types.call_targets(call)
    places = {target.place_of(target.makes_tensor_of) for target in targets}
    place = places.pop() if len(places) == 1 else -1
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    return call.args[place] if 0 <= place < len(call.args) else None


def creates_array(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call of numpy fills an array with constants, a range, random numbers or a literal list, which
    torch could do on the device.
    """
    if model.types.type_of(call).tag is not TypeTag.NDARRAY:
        return False
    name = model.names.qualified(call.func)
    if name in _FROM_DATA:
        return copies_literal(call, model)
    if name in CREATES:
        return True
    method = call.func.attr if isinstance(call.func, ast.Attribute) else (name or "").rpartition(".")[2]
    is_generator = (
        isinstance(call.func, ast.Attribute)
        and name is None
        and model.types.type_of(call.func.value).tag is TypeTag.RANDOM_GENERATOR
    )
    if not (is_generator or (name or "").startswith("numpy.random.")) or method in _DRAWS_FROM_DATA:
        return False
    return not any(model.types.type_of(argument).tag in _DATA for argument in call.args)


def copies_literal(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call makes an array of a few values: `np.array([self.std])`."""
    is_copy = model.names.qualified(call.func) in _FROM_DATA
    return is_copy and isinstance(call.args[0] if call.args else None, (ast.List, ast.Tuple))


def function_for_array(call: ast.Call, model: SemanticModel) -> str | None:
    """Return the function of torch that fills a tensor as one of numpy fills an array; None if there is none
    of that kind.
    """
    if copies_literal(call, model):
        return "torch.tensor"
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    name = (model.names.qualified(call.func) or method).rpartition(".")[2]
    own = f"torch.{name}"
    return own if own in _CREATES_THERE else _DRAWS_AS.get(name)
