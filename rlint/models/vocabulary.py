"""Names that the authors of programs choose, and what they mean by them. No library decides these."""

from __future__ import annotations

from rlint.models.fact import words

STORES = frozenset(words("push remember save send store write"))
"""Methods that keep what they are given: `memory.push(state, action, reward)`, `buffer.remember(episode)`."""
