"""Names that the authors of programs choose, and what they mean by them. No library decides these."""

from __future__ import annotations

from rlint.models.fact import words

STORES = frozenset(words("push remember save send store write"))
"""Methods that keep what they are given: `memory.push(state, action, reward)`, `buffer.remember(episode)`."""

COMMON_METHODS = frozenset(
    words("""get put append add update close reset items keys values copy to step run start join save load
    format write read log sample forward __init__ train eval test call build create make init setup set pop
    clear
    size process execute apply render send recv wait stop shape mean sum predict fit transform encode decode
    split info debug warning error register state_dict load_state_dict parameters backward zero_grad item
    numpy cpu cuda clone detach astype to_dict to_json to_list to_numpy tolist as_dict from_dict from_json
    describe head tail evaluate query select""")
)
"""Methods that classes of all sorts have, so that their name does not tell whose they are: `worker.run()`."""

PATCHES = frozenset(words("patch setattr delattr object multiple"))
"""Last names of what tests replace attributes with: `mock.patch.object(agent, "act")`."""

GENERATES = frozenset(words("generate generate_samples generate_sequences"))
"""Methods that write text: `engine.generate_sequences(prompts)`."""

HANDS_OUT = frozenset(words("get get_nowait recv recv_bytes recv_pyobj sample sample_batch"))
"""Methods that give the next batch or message: `replay.sample(256)`, `socket.recv_pyobj()`."""

LAYERS_WITH_WEIGHTS = tuple(words("Linear Conv LSTM GRU RNN Embedding Attention Transformer"))
"""Parts of names of layers that learn, those of projects, too: `NoisyLinear`, `CrossAttention`."""

IMITATED = frozenset(words("builtins copy json math numpy queue random re string time torch"))
"""Libraries whose name another one may take that does not do the same: `import jax.numpy as np`."""
