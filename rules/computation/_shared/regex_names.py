"""Names for compiled patterns that say what they match."""

from __future__ import annotations

import re

from rlint.rule import regex

_SAYS_NOTHING = frozenset(
    """pattern patterns pat pats regex regexes regexp regexps re rx reg expr expression exp prog compiled
    match matches matched mo found hit hits res result results ret text string str content line value val tmp
    temp out output item items data list all first last new old ok has cleaned final current""".split()
)
_KEPT_ENDINGS = {
    "pattern": "PATTERN", "patterns": "PATTERN", "pat": "PATTERN", "pats": "PATTERN", "regex": "REGEX",
    "regexes": "REGEX", "regexp": "REGEX", "rx": "REGEX", "re": "RE",
}  # fmt: skip
_VERBS = frozenset(
    """extract get parse find check is has normalize normalise clean remove strip compute calculate eval
    evaluate count to fix convert match search validate verify grade try maybe split tokenize format process
    preprocess postprocess read score last first""".split()
)
_FILLERS = frozenset("the and for from with not string response output fn func str".split())
_KNOWN = {
    r"\s+": "WHITESPACE", r"\s": "WHITESPACE", r"\s*": "WHITESPACE", r"[ \t]+": "WHITESPACE", ",": "COMMA",
    r"\n+": "NEWLINE", r"\n": "NEWLINE", r"\n\n+": "PARAGRAPH", r"\n\n": "PARAGRAPH", "%": "PERCENT",
    r"[^\w\s]": "PUNCTUATION", r"\b(a|an|the)\b": "ARTICLE", r"\$": "DOLLAR",
}  # fmt: skip
_NUMBER = regex(r"\\d|0-9")
_LETTERS = regex(r"[aA]-[zZ]|\\w|\[[^\]]*\\s")
_NOT_WORDS = regex(r"\\\\|\\.|\[\^?\]?[^\]]*\]|\(\?P[=<]|\(\?[a-zA-Z]+[:)]", re.DOTALL)
_SHORTEST_WORD = 3
_MOST_WORDS = 2


def constant_name(variable: str, target: str, pattern: str | bytes, function: str, *, many: bool) -> str:
    """Return a name for the compiled form of `pattern`, or of several patterns (`many`).

    The name comes from the variable of the pattern, from that of the match, from the pattern's own words or
    from the enclosing function; the first of these that is descriptive.
    """
    ending = _KEPT_ENDINGS.get(_words(variable)[-1], "PATTERN") if _words(variable) else "PATTERN"
    words = _informative_words(variable) or _informative_words(target)
    if not words and not many:
        words = _words_of_pattern(pattern)
    words = words or _topic(function) or ["text"]
    name = "_".join([*(word.upper() for word in words), ending])
    if not many:
        return name
    return f"{name}ES" if ending == "REGEX" else f"{name}S"


def _words(name: str) -> list[str]:
    """Return the words of a name: `answerRegex2` → answer, regex2."""
    return [word.lower() for word in re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).split("_") if word]


def _says_something(word: str) -> bool:
    plain = word.rstrip("0123456789")
    return plain not in _SAYS_NOTHING and len(plain) > 1


def _informative_words(name: str) -> list[str]:
    words = [word for word in _words(name) if _says_something(word)]
    return [*words[:-1], _singular(words[-1])] if words else []


def _topic(function: str) -> list[str]:
    """Return the topic of a function: `extract_answer_from_text` → answer."""
    words = [word for word in _words(function) if word != "lambda"]
    rest = list(words)
    while rest and rest[0] in _VERBS:
        rest = rest[1:]
    rest = [word for word in rest if word not in _FILLERS]
    return [*rest[:-1], _singular(rest[-1])] if rest else words[:1]


def _words_of_pattern(pattern: str | bytes) -> list[str]:
    text = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
    if text in _KNOWN:
        return [_KNOWN[text].lower()]
    found: list[str] = []
    for word in re.findall(r"[A-Za-z]+", _NOT_WORDS.sub(" ", text)):
        lowered = word.lower()
        if len(word) >= _SHORTEST_WORD and lowered not in _FILLERS and lowered not in found:
            found.append(lowered)
    if found:
        return found[:_MOST_WORDS]
    return ["number"] if _NUMBER.search(text) and not _LETTERS.search(text) else []


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
