"""Words that text for users does not use, each with what is written instead and why."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class NotUsed:
    """A phrase, as a regular expression over text whose line breaks are spaces."""

    pattern: re.Pattern[str]
    instead: str
    why: str


def _phrase(pattern: str, instead: str, why: str) -> NotUsed:
    return NotUsed(re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), instead, why)


NOT_USED = (
    _phrase(
        r"behind (?:the (?:loop|training|call|program|copy|statement)|it|them|both)",
        "after",
        "`behind` is a place; what runs later runs after it",
    ),
    _phrase(r"in front of", "before", "a call or statement comes before another"),
    _phrase(r"hangs? on", "depends on", "it reads as a program that does not return"),
    _phrase(r"(?:and|or|its|their) kin", "and similar functions", "not a term of the field"),
    _phrase(r"nobody|somebody", "no code, other code, the caller", "code reads a value, not a person"),
    _phrase(r"whoever", "the caller, other code", "code reads a value, not a person"),
    _phrase(r"(?:is|are|be) told by", "is determined by", "a fact is determined, not told"),
    _phrase(r"told of", "reported", "a finding is reported"),
    _phrase(r"(?:is|are|was|were|be) asked of", "is queried, is read from", "a device is queried"),
    _phrase(r"hand(?:s|ed)? (?:to|over)", "pass to", "arguments are passed"),
    _phrase(r"(?:in|of|on|from|for) (?:each|every) pass", "in every iteration", "a loop iterates"),
    _phrase(r"goes round", "iterates", "a loop iterates"),
    _phrase(r"again and again", "repeatedly", "one word says it"),
    _phrase(r"anew", "again, on every call", "say how often"),
    _phrase(
        r"join(?:s|ed|ing)? (?:them once|the arrays|arrays|tensors|the tensors)",
        "concatenate",
        "arrays and tensors are concatenated; threads are joined",
    ),
    _phrase(r"the bus", "host-to-device copy", "PyTorch's documentation has no bus"),
    _phrase(
        r"(?:the )?(?:device|program) is waited for|waits? for the device|the program waits",
        "synchronises with the device, blocks",
        "the term to search for is synchronisation",
    ),
    _phrase(r"left alone", "not flagged", "say what the rule does"),
    _phrase(r"advice alone", "only advice", "the usual order of the words"),
    _phrase(r"of no use", "redundant", "one word says it"),
    _phrase(r"the affair of|the matter of", "covered by", "a rule covers a pattern"),
)
