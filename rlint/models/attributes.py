"""The types of attributes, by the type of their object."""

from __future__ import annotations

from rlint.models.fact import ARRAY, BOOL, FLOAT, INT, SHAPE, STR, TENSOR
from rlint.models.value_type import Type, TypeTag

_TEXT_OR_NONE = Type(TypeTag.STR, optional=True)
_INT_OR_NONE = Type(TypeTag.INT, optional=True)
_TENSOR_OR_NONE = Type(TypeTag.TENSOR, optional=True)
_SPACE = Type(TypeTag.SPACE)
_DTYPE = Type(TypeTag.DTYPE)


def _kinds(*groups: tuple[Type, str]) -> dict[str, Type]:
    return {name: kind for kind, names in groups for name in names.split()}


ATTRIBUTES: dict[TypeTag, dict[str, Type]] = {
    TypeTag.TENSOR: _kinds(
        (SHAPE, "shape"),
        (TENSOR, "H T data imag mH mT real"),
        (_TENSOR_OR_NONE, "grad"),
        (Type(TypeTag.DEVICE), "device"),
        (_DTYPE, "dtype"),
        (BOOL, "is_cpu is_cuda is_leaf is_meta is_mps is_nested is_sparse is_xpu requires_grad retains_grad"),
        (INT, "itemsize nbytes ndim output_nr"),
    ),
    TypeTag.NDARRAY: _kinds(
        (SHAPE, "shape strides"),
        (ARRAY, "T imag real"),
        (_DTYPE, "dtype"),
        (INT, "itemsize nbytes ndim size"),
        (Type(TypeTag.ITERATOR), "flat"),
    ),
    TypeTag.NUMPY_SCALAR: _kinds((SHAPE, "shape"), (_DTYPE, "dtype"), (INT, "itemsize nbytes ndim size")),
    TypeTag.DEVICE: _kinds((STR, "type"), (_INT_OR_NONE, "index")),
    TypeTag.DTYPE: _kinds((INT, "itemsize"), (BOOL, "is_complex is_floating_point is_signed")),
    TypeTag.MODULE: _kinds(
        (TENSOR, "running_mean running_var weight"),
        (_TENSOR_OR_NONE, "bias"),
        (BOOL, "training"),
        (INT, "embedding_dim hidden_size in_channels in_features num_embeddings num_layers out_channels"),
        (INT, "input_size out_features"),
    ),
    TypeTag.OPTIMIZER: _kinds(
        (Type(TypeTag.LIST, item=Type(TypeTag.DICT)), "param_groups"), (Type(TypeTag.DICT), "state defaults")
    ),
    TypeTag.SCHEDULER: _kinds((Type(TypeTag.OPTIMIZER), "optimizer"), (INT, "last_epoch")),
    TypeTag.DISTRIBUTION: _kinds(
        (TENSOR, "concentration covariance_matrix loc logits mean mode probs rate scale stddev variance"),
        (SHAPE, "batch_shape event_shape"),
    ),
    TypeTag.LOADER: _kinds(
        (Type(TypeTag.DATASET), "dataset"), (_INT_OR_NONE, "batch_size"), (INT, "num_workers")
    ),
    TypeTag.ENVIRONMENT: _kinds(
        (_SPACE, "action_space observation_space single_action_space single_observation_space"),
        (INT, "num_envs"),
        (Type(TypeTag.ENVIRONMENT), "env unwrapped venv"),
        (Type(TypeTag.RANDOM_GENERATOR), "np_random"),
    ),
    TypeTag.SPACE: _kinds(
        (SHAPE, "shape"),
        (INT, "n start"),
        (ARRAY, "high low nvec"),
        (_DTYPE, "dtype"),
        (Type(TypeTag.RANDOM_GENERATOR), "np_random"),
    ),
    TypeTag.THREAD: _kinds((STR, "name"), (BOOL, "daemon"), (_INT_OR_NONE, "ident native_id")),
    TypeTag.PROCESS: _kinds((STR, "name"), (BOOL, "daemon"), (_INT_OR_NONE, "exitcode ident pid")),
    TypeTag.PATH: _kinds(
        (STR, "anchor drive name root stem suffix"),
        (Type(TypeTag.PATH), "parent"),
        (Type(TypeTag.TUPLE, item=STR), "parts"),
        (Type(TypeTag.LIST, item=STR), "suffixes"),
    ),
    TypeTag.FILE: _kinds((BOOL, "closed"), (STR, "mode")),
    TypeTag.PATTERN: _kinds((INT, "flags groups"), (Type(TypeTag.DICT), "groupindex")),
    TypeTag.MATCH: _kinds((Type(TypeTag.PATTERN), "re"), (INT, "endpos pos"), (_INT_OR_NONE, "lastindex")),
    TypeTag.DEQUE: _kinds((_INT_OR_NONE, "maxlen")),
    TypeTag.QUEUE: _kinds((INT, "maxsize")),
    TypeTag.RANGE: _kinds((INT, "start step stop")),
    TypeTag.LOGGER: _kinds((STR, "name"), (INT, "level"), (BOOL, "disabled propagate")),
    TypeTag.TOKENIZER: _kinds(
        (_TEXT_OR_NONE, "bos_token eos_token pad_token sep_token unk_token chat_template"),
        (_INT_OR_NONE, "bos_token_id eos_token_id pad_token_id unk_token_id"),
        (INT, "model_max_length vocab_size"),
        (STR, "name_or_path padding_side truncation_side"),
    ),
    TypeTag.DATAFRAME: _kinds((SHAPE, "shape"), (INT, "ndim size"), (BOOL, "empty"), (ARRAY, "values")),
    TypeTag.FLOAT: _kinds((FLOAT, "imag real")),
    TypeTag.INT: _kinds((INT, "denominator imag numerator real")),
}

FORM_ATTRIBUTES = frozenset("device dtype itemsize nbytes ndim shape size".split())
"""Attributes of arrays and tensors that describe their form, not their elements."""
