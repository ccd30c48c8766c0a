"""Run a training script unchanged, and save its trained weights for comparison.

    python trust/trained.py SCRIPT [ARGUMENT ...]

Threads are limited to one, on which sums of floating-point numbers depend. At the end, the parameters of all
optimizers that the script made, in order, with their states, and the state of the random streams of Python,
numpy and torch are saved to `$TRUST_OUT/trained.pt`. Seeds are the script's own business.
"""

from __future__ import annotations

import os
import random
import runpy
import sys
from pathlib import Path
from typing import Any


def main(script: str, arguments: list[str]) -> None:
    """Run the script as `python SCRIPT ARGUMENTS` would, then save the trained weights."""
    import numpy as np
    import torch

    torch.set_num_threads(1)
    made: list[torch.optim.Optimizer] = []
    build = torch.optim.Optimizer.__init__

    def build_and_note(self: torch.optim.Optimizer, *given: Any, **named: Any) -> None:
        build(self, *given, **named)
        made.append(self)

    torch.optim.Optimizer.__init__ = build_and_note  # type: ignore[method-assign]
    sys.argv = [script, *arguments]
    sys.path[0] = str(Path(script).resolve().parent)
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    saved = {
        "parameters": [[group["params"] for group in each.param_groups] for each in made],
        "optimizers": [each.state_dict()["state"] for each in made],
        "python": repr(random.getstate()),
        "numpy": repr(np.random.get_state(legacy=False)),
        "torch": torch.get_rng_state(),
    }
    torch.save(saved, Path(os.environ["TRUST_OUT"]) / "trained.pt")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python trust/trained.py SCRIPT [ARGUMENT ...]")
    main(sys.argv[1], sys.argv[2:])
