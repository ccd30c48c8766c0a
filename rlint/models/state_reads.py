"""Functions whose result depends on more than their arguments and the memory of these."""

from __future__ import annotations

from rlint.models.fact import words

_READ_ARGUMENTS = tuple(
    f"{module}."
    for module in words("""array ast base64 binascii bisect builtins collections copy dataclasses difflib
    fnmatch functools gzip hashlib heapq hmac itertools json math numpy operator pickle pprint reprlib
    statistics struct torch typing urllib.parse zlib""")
)
"""Modules whose functions read nothing but the memory of their arguments …"""
_READ_STATE = words("""builtins.globals builtins.locals builtins.vars numpy.random. torch.backends.
    torch.cuda. torch.distributed. torch.get_ torch.is_grad_enabled torch.random.""")
"""… and what in them does read more."""


def reads_state(qualified: str) -> bool:
    """Tell whether a function that reads something may read more than its arguments."""
    return not qualified.startswith(_READ_ARGUMENTS) or qualified.startswith(_READ_STATE)
