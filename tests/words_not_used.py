"""Words that text for users and names do not use, each with what is written instead and why."""

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

ANY_NOT_USED = re.compile("|".join(each.pattern.pattern for each in NOT_USED), re.IGNORECASE)
"""Matches where one of the phrases does: most texts contain none, and one search shows it."""


NAMES_NOT_USED = {
    "alike": "`equal`, `same`, `have_same_form`: say which",
    "anatomy": "`architecture`, `structure`: the terms for networks",
    "anybody": "`caller`, `other_code`: code reads a value, not a person",
    "asked": "`queried`, `requested`, `tested`: the terms for queries, options and conditions",
    "asks": "`queries`, `requests`, `tests`: the terms for queries, options and conditions",
    "behind": "`after`: code runs after other code",
    "beside": "`adjacent`, `next_to`, or what the parts have in common",
    "doings": "`effects`, `summary`: the terms of the semantic model",
    "elsewhere": "`other_file`, `other_edits`: say where",
    "excuses": "`allowed_differences`: what `Workload.allowed` declares",
    "fate": "`escape_level`: the term of escape analysis",
    "fates": "`escape_levels`: the term of escape analysis",
    "fed": "`write_only`: the usual term for such containers",
    "goes": "`continues`, `iterates`, `is_removed`: say what happens",
    "gone": "`removed`, `exhausted`: say what happened",
    "guilty": "`failed`, `culprits`: the terms of delta debugging",
    "heard": "`captured`, `received`: output is captured, data received",
    "hears": "`receives`: data is received",
    "kin": "`similar`: not a term of the field",
    "lent": "`passes_on`, `shared`: values are passed, memory is shared",
    "lends": "`passes`, `shares`: values are passed, memory is shared",
    "lie": "`is_on`, `is_in`: the usual words for places",
    "lies": "`is_on`, `is_in`: the usual words for places",
    "lives": "`object_calls`: the recorded calls of an object",
    "mates": "`neighbours`: the statements next to one",
    "mine": "`own_part`: say what it is",
    "news": "`is_new`, `new_reports`: say what is new",
    "onlookers": "`evaluation_modules`: what they do",
    "pacing": "`iteration_frequency`: how often a line runs",
    "speaks": "`mentions_learning`, `is_about_learning`: what is tested",
    "stranger": "`unrelated_class`: say how it is related",
    "surroundings": "`process_settings`: say what is stored",
    "teller": "`encoder`, `describe`: what it does",
    "tells": "`shows`, `reveals`, `reports`: facts are shown, findings reported",
    "tempo": "`cadence`, `granularity`: the terms of the frequency analysis",
    "theirs": "`other`, `counterpart`: say what it is",
    "told": "`reported`, `described`, `determined`: findings are reported, types determined",
}
"""Further words of identifiers, each with what is written instead and why."""


def name_instead_of(word: str) -> str:
    """Return what a name says instead of a word, and why; "" for words that it may contain."""
    phrase = next((each for each in NOT_USED if each.pattern.fullmatch(word)), None)
    return f"{phrase.instead}: {phrase.why}" if phrase is not None else NAMES_NOT_USED.get(word, "")
