"""Modules that contain other modules: their items, and what calling them runs."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from rlint import models
from rlint.models.trait import Trait
from rlint.models.value_type import PLAIN, UNKNOWN, Choice, Type, TypeTag, with_choice
from rlint.semantics.types.algebra import each_of, item_of

_GIVES_NO_SINGLE_TENSOR = models.having(Trait.NO_SINGLE_TENSOR, "torch.nn", "torch.nn.parallel")
_TAKES_TENSOR = models.having(Trait.AFFINE | Trait.WITHOUT_PARAMETERS, "torch.nn") - {"torch.nn.Identity"}
_WRAPPERS = models.having(Trait.CONTAINS, "torch.nn", "torch.nn.parallel") & frozenset(
    f"torch.nn.{name}" for name in ("DataParallel", "parallel.DistributedDataParallel")
)
_OF_MODULES = models.having(Trait.HOLDS_PARTS, "torch.nn") - {"torch.nn.Module"}
_OF_PARAMETERS = models.having(Trait.PARAMETERS, "torch.nn") & _OF_MODULES
_RECURRENT = models.having(Trait.RECURRENT, "torch.nn") & _GIVES_NO_SINGLE_TENSOR
_LSTM = "torch.nn.LSTM"
_LSTM_CELL = "torch.nn.LSTMCell"
_ATTENTION = "torch.nn.MultiheadAttention"
_PRETRAINED = "transformers."
MODEL_OUTPUT = "transformers.modeling_outputs.ModelOutput"
"""The class of what a model of transformers returns."""
OUTPUT_TENSORS = frozenset({"last_hidden_state", "logits", "loss", "pooler_output"})
_MORE_THAN_TOKENS = "return_dict_in_generate"
_ANY_MODULE = PLAIN[TypeTag.MODULE]
_ANY_TENSOR = Type(TypeTag.TENSOR)
_LIKELY_TENSOR = with_choice(UNKNOWN, Choice(_ANY_TENSOR))
_STATE_WITH_MEMORY = Type(TypeTag.TUPLE, item=_ANY_TENSOR, fresh=True, parts=(_ANY_TENSOR, _ANY_TENSOR))
"""The hidden state and the memory of an LSTM."""


def holding(call: ast.Call, module: Type, type_of: Callable[[ast.expr], Type]) -> Type:
    """Return the type of a library module that a call creates, with the type of its content as `item`: of the
    layers of a `Sequential`, of the module that `DataParallel` wraps.
    """
    if module.of in _WRAPPERS:
        inside = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "module")]
        return module._replace(item=held(type_of(inside[0]))) if inside else module
    if module.of not in _OF_MODULES:
        return module
    if module.of in _OF_PARAMETERS:
        return module._replace(item=PLAIN[TypeTag.TENSOR])
    given: Type | None = None
    for argument in call.args:
        kind = type_of(argument.value if isinstance(argument, ast.Starred) else argument)
        if isinstance(argument, ast.Starred) or module.of != "torch.nn.Sequential":
            kind = item_of(kind) if kind.tag is TypeTag.DICT else each_of(kind)
        given = kind if given is None else given.joined(kind)
    return module._replace(item=held(given))


def held(kind: Type | None) -> Type:
    """Return the type of a module's content, which cannot be anything but a module."""
    if kind is not None and (kind.tag is TypeTag.MODULE or (kind.tag is TypeTag.UNKNOWN and kind.of)):
        return kind.aged()
    return _ANY_MODULE


def wrapped(module: Type) -> Type | None:
    """Return the module `net.module`, where `net` is `DataParallel(…)` of it; None for other modules."""
    return module.item or _ANY_MODULE if module.of in _WRAPPERS else None


def result_of_library(module: Type, given: Sequence[Type] = ()) -> Type:
    """Return the type of calling a torch module: a tensor, as far as that holds for all arguments. A
    recurrent layer returns its outputs, packed if its input is, and its last state.
    """
    if module.of.startswith(_PRETRAINED):
        return Type(TypeTag.INSTANCE, of=MODEL_OUTPUT, fresh=True)
    if module.of == _LSTM_CELL:
        return _STATE_WITH_MEMORY
    if module.of == _ATTENTION:
        return Type(TypeTag.TUPLE, fresh=True, parts=(_ANY_TENSOR, _ANY_TENSOR._replace(optional=True)))
    if module.of in _RECURRENT:
        sequence = given[0] if given else UNKNOWN
        outputs = _ANY_TENSOR if sequence.tag is TypeTag.TENSOR else _LIKELY_TENSOR
        state = _STATE_WITH_MEMORY if module.of == _LSTM else _ANY_TENSOR
        return Type(TypeTag.TUPLE, fresh=True, parts=(outputs, state))
    return UNKNOWN if module.of in _GIVES_NO_SINGLE_TENSOR else _ANY_TENSOR


def is_of_library(module: Type) -> bool:
    """Whether a module is one of torch's own, or a model of transformers."""
    return module.of.startswith(("torch.nn.", _PRETRAINED))


def part_of_output(name: str) -> Type:
    """Return the type of an attribute of what a model of transformers returns: `model(tokens).logits`."""
    return _ANY_TENSOR if name in OUTPUT_TENSORS else UNKNOWN


def generated(module: Type, node: ast.Call) -> Type:
    """Return the type of `model.generate(...)`: the tokens, unless it is asked for more than these."""
    given = {keyword.arg for keyword in node.keywords}
    return _ANY_TENSOR if module.of.startswith(_PRETRAINED) and _MORE_THAN_TOKENS not in given else UNKNOWN


def takes_tensor(layer: Type) -> bool:
    """Whether a value is a layer that raises for anything but a tensor."""
    return layer.tag is TypeTag.MODULE and layer.of in _TAKES_TENSOR
