"""Networks of the project that return logits over a vocabulary at each position of a sequence."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, regex, variable_names
from rlint.rules.networks.rl327_unused_logits.kept_positions import LogitsRead, own_reads

_ACTIONS = regex(r"(^|_)(acts?|actions?|q|qs|q_?values?|values?|rewards?|returns?|rtg)(_|$)")
_OF_ACTIONS = regex(r"(Decision|Trajectory)\w*(Transformer|GPT|Model)|Actor|Critic|QNet")
_EMBEDS, _ENDS = "torch.nn.Embedding", "torch.nn.Linear"


def reads_of_own_network(call: ast.Call, model: SemanticModel) -> list[LogitsRead]:
    """Return the reads of the result of a network of the project that embeds tokens, if none needs all
    positions; else an empty list. Heads to actions and values are small: they are none over a vocabulary.
    """
    run = model.nn.network_run(call)
    if run is None or run[1] != "forward" or not model.types.call_targets(call):
        return []
    layers: dict[str, bool] = model.nn.architecture(run[0]).layers
    if not (layers.get(_EMBEDS) and layers.get(_ENDS)):
        return []
    if _OF_ACTIONS.search(model.types.type_of(run[0]).of.rpartition(".")[2]):
        return []
    reads: list[LogitsRead] = own_reads(call, model)
    if any(_ACTIONS.search(name.lower()) for read in reads for name in variable_names(read.at.value)):
        return []
    return reads
