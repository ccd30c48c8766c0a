"""Small reinforcement-learning programs that contain patterns, with varying shapes, types and forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from properties.collecting import replay, returns, rollout
from properties.training import answers, logging, update
from properties.waiting_loops import schedule, waiting

Template = Callable[[Random], str]

TEMPLATES: Mapping[str, tuple[Template, ...]] = {
    "RL101": (rollout,),
    "RL102": (replay,),
    "RL103": (replay,),
    "RL106": (logging,),
    "RL112": (replay,),
    "RL114": (logging,),
    "RL115": (replay,),
    "RL204": (schedule,),
    "RL205": (schedule,),
    "RL208": (replay, schedule),
    "RL209": (logging,),
    "RL210": (logging,),
    "RL211": (schedule,),
    "RL301": (update,),
    "RL203": (update,),
    "RL304": (update,),
    "RL305": (update,),
    "RL306": (update,),
    "RL316": (update,),
    "RL401": (waiting,),
    "RL501": (answers,),
    "RL502": (answers,),
    "RL503": (answers,),
    "RL505": (logging,),
    "RL506": (returns,),
    "RL701": (update,),
}
"""Templates that contain the pattern of a rule, at least in some of their forms."""
