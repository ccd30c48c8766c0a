"""All results as JSON; rlint.evidence.results_codec describes the schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rlint.evidence.results_codec import to_json

if TYPE_CHECKING:
    from rlint.evidence.results import Session


def render(session: Session, *, color: bool, width: int | None) -> str:  # noqa: ARG001 - every format takes all
    """Return one JSON object."""
    return json.dumps(to_json(session), indent=2, allow_nan=False) + "\n"
