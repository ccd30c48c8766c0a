"""rlint finds, explains and repairs what makes reinforcement-learning and PyTorch code slow."""

import os  # and not pathlib, which would be imported only for this

__version__ = "0.1.0"

# An installed package contains `rules` and `fixtures`; in a checkout they are beside it, so that `python -m
# rlint` in its root runs the checkout only, never a mix of the two.
if not os.path.isdir(os.path.join(os.path.dirname(__file__), "rules")):
    __path__.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
