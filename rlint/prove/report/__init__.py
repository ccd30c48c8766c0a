"""Report proofs: in a terminal, as JSON, as Markdown and as HTML.

Answers with text. Runs nothing.
"""

from __future__ import annotations

from rlint.prove.proof import Proof


def render(proof: Proof, form: str, *, color: bool, width: int | None) -> str:
    """Return a proof as text in one of the formats."""
    import importlib

    module = importlib.import_module(f"rlint.prove.report.proof_{form}")
    text: str = module.render(proof, color=color, width=width)
    return text
