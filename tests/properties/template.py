"""Values for the templates of programs."""

from __future__ import annotations

import textwrap

FLOATS = ("np.float32", "np.float64")
DTYPES = ("torch.float32", "torch.float64", "torch.float16", "torch.int64")


def program(source: str, **parts: object) -> str:
    """A text with `<name>` replaced by parts."""
    text = textwrap.dedent(source).lstrip("\n")
    for _ in range(2):  # parts may hold the names of others
        for name, part in parts.items():
            text = text.replace(f"<{name}>", str(part))
    return text.replace("<training>", _TRAINING)


_TRAINING = """class Corridor:
    def reset(self):
        return 0

    def step(self, action):
        return action, 0.5, False, {}

env = Corridor()
env.reset()
"""
"""An environment that is stepped in the following loop, which makes its code hot."""
