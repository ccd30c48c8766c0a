"""rlint finds, explains and repairs what makes reinforcement-learning and PyTorch code slow."""

import os  # and not pathlib, which would be loaded for this alone

__version__ = "0.1.0"

# An installed package carries `rules` and `fixtures` inside; a checkout keeps them next door, so that
# `python -m rlint` in its root runs the checkout alone, never a mix of the two.
if not os.path.isdir(os.path.join(os.path.dirname(__file__), "rules")):
    __path__.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
