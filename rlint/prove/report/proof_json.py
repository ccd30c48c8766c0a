"""A proof as JSON, with all figures."""

from __future__ import annotations

import json

from rlint.prove.proof import Proof, plain


def render(proof: Proof, *, color: bool, width: int | None) -> str:  # noqa: ARG001 - every format takes all
    """Return the whole proof."""
    return json.dumps(plain(proof), indent=2) + "\n"
