"""Functions whose result depends on more than the memory of their arguments."""

from __future__ import annotations

from rlint.models.by_trait import CALLABLES
from rlint.models.fact import words
from rlint.models.trait import Trait

_READ_ARGUMENTS = tuple(
    f"{module}."
    for module in words("""array ast base64 binascii bisect builtins collections copy dataclasses difflib
    fnmatch functools gzip hashlib heapq hmac itertools json math numpy operator pickle pprint reprlib
    statistics struct torch typing urllib.parse zlib""")
)
"""Modules whose functions only read the memory of their arguments …"""
_READ_STATE = words("numpy.random. torch.backends. torch.cuda. torch.distributed. torch.random.")
"""… and their functions that do read more."""


def reads_state(qualified: str) -> bool:
    """Whether a function that reads state may read more than its arguments."""
    if not qualified.startswith(_READ_ARGUMENTS) or qualified.startswith(_READ_STATE):
        return True
    fact = CALLABLES.get(qualified)
    return fact is not None and bool(fact.traits & Trait.READS_STATE)
