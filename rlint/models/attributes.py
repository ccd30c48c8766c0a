"""The kinds of attributes, by the kind of value that they belong to."""

from __future__ import annotations

from rlint.models.fact import ARRAY, BOOL, FLOAT, INT, SHAPE, STR, TENSOR
from rlint.models.kind import Kind, Tag

_TEXT_OR_NONE = Kind(Tag.STR, optional=True)
_INT_OR_NONE = Kind(Tag.INT, optional=True)
_TENSOR_OR_NONE = Kind(Tag.TENSOR, optional=True)
_SPACE = Kind(Tag.SPACE)
_DTYPE = Kind(Tag.DTYPE)


def _kinds(*groups: tuple[Kind, str]) -> dict[str, Kind]:
    return {name: kind for kind, names in groups for name in names.split()}


ATTRIBUTES: dict[Tag, dict[str, Kind]] = {
    Tag.TENSOR: _kinds(
        (SHAPE, "shape"),
        (TENSOR, "H T data imag mH mT real"),
        (_TENSOR_OR_NONE, "grad"),
        (Kind(Tag.DEVICE), "device"),
        (_DTYPE, "dtype"),
        (BOOL, "is_cpu is_cuda is_leaf is_meta is_mps is_nested is_sparse is_xpu requires_grad retains_grad"),
        (INT, "itemsize nbytes ndim output_nr"),
    ),
    Tag.NDARRAY: _kinds(
        (SHAPE, "shape strides"),
        (ARRAY, "T imag real"),
        (_DTYPE, "dtype"),
        (INT, "itemsize nbytes ndim size"),
        (Kind(Tag.ITERATOR), "flat"),
    ),
    Tag.NUMPY_SCALAR: _kinds((SHAPE, "shape"), (_DTYPE, "dtype"), (INT, "itemsize nbytes ndim size")),
    Tag.DEVICE: _kinds((STR, "type"), (_INT_OR_NONE, "index")),
    Tag.DTYPE: _kinds((INT, "itemsize"), (BOOL, "is_complex is_floating_point is_signed")),
    Tag.MODULE: _kinds(
        (TENSOR, "running_mean running_var weight"),
        (_TENSOR_OR_NONE, "bias"),
        (BOOL, "training"),
        (INT, "embedding_dim hidden_size in_channels in_features num_embeddings num_layers out_channels"),
        (INT, "input_size out_features"),
    ),
    Tag.OPTIMIZER: _kinds(
        (Kind(Tag.LIST, item=Kind(Tag.DICT)), "param_groups"), (Kind(Tag.DICT), "state defaults")
    ),
    Tag.SCHEDULER: _kinds((Kind(Tag.OPTIMIZER), "optimizer"), (INT, "last_epoch")),
    Tag.DISTRIBUTION: _kinds(
        (TENSOR, "concentration covariance_matrix loc logits mean mode probs rate scale stddev variance"),
        (SHAPE, "batch_shape event_shape"),
    ),
    Tag.LOADER: _kinds((Kind(Tag.DATASET), "dataset"), (_INT_OR_NONE, "batch_size"), (INT, "num_workers")),
    Tag.ENVIRONMENT: _kinds(
        (_SPACE, "action_space observation_space single_action_space single_observation_space"),
        (INT, "num_envs"),
        (Kind(Tag.ENVIRONMENT), "env unwrapped venv"),
    ),
    Tag.SPACE: _kinds(
        (SHAPE, "shape"),
        (INT, "n start"),
        (ARRAY, "high low nvec"),
        (_DTYPE, "dtype"),
        (Kind(Tag.RANDOM_GENERATOR), "np_random"),
    ),
    Tag.THREAD: _kinds((STR, "name"), (BOOL, "daemon"), (_INT_OR_NONE, "ident native_id")),
    Tag.PROCESS: _kinds((STR, "name"), (BOOL, "daemon"), (_INT_OR_NONE, "exitcode ident pid")),
    Tag.PATH: _kinds(
        (STR, "anchor drive name root stem suffix"),
        (Kind(Tag.PATH), "parent"),
        (Kind(Tag.TUPLE, item=STR), "parts"),
        (Kind(Tag.LIST, item=STR), "suffixes"),
    ),
    Tag.FILE: _kinds((BOOL, "closed"), (STR, "mode")),
    Tag.PATTERN: _kinds((INT, "flags groups"), (Kind(Tag.DICT), "groupindex")),
    Tag.MATCH: _kinds((Kind(Tag.PATTERN), "re"), (INT, "endpos pos"), (_INT_OR_NONE, "lastindex")),
    Tag.DEQUE: _kinds((_INT_OR_NONE, "maxlen")),
    Tag.QUEUE: _kinds((INT, "maxsize")),
    Tag.RANGE: _kinds((INT, "start step stop")),
    Tag.LOGGER: _kinds((STR, "name"), (INT, "level"), (BOOL, "disabled propagate")),
    Tag.TOKENIZER: _kinds(
        (_TEXT_OR_NONE, "bos_token eos_token pad_token sep_token unk_token chat_template"),
        (_INT_OR_NONE, "bos_token_id eos_token_id pad_token_id unk_token_id"),
        (INT, "model_max_length vocab_size"),
        (STR, "name_or_path padding_side truncation_side"),
    ),
    Tag.DATAFRAME: _kinds((SHAPE, "shape"), (INT, "ndim size"), (BOOL, "empty"), (ARRAY, "values")),
    Tag.FLOAT: _kinds((FLOAT, "imag real")),
    Tag.INT: _kinds((INT, "denominator imag numerator real")),
}
