"""Functions that are named after what they get, and the words by which a project calls it."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from rlint.rule import ClassSummary, ProjectIndex, SemanticModel, frozen, reference

_KNOWN_BASES = ("abc.ABC", "builtins.object", "torch.nn.Module")
_GROUP = {word: group for group in reference.ACCESSOR_WORDS for word in group}


@frozen
class Accessor:
    """`get_observation_cfg`: the verb, and the word for what it gets."""

    name: str
    verb: str
    word: str

    @property
    def sort(self) -> tuple[str, tuple[str, ...]]:
        """What accessors have in common that ought to be named alike."""
        return self.verb, _GROUP[self.word]

    def by(self, word: str) -> str:
        """The name with another word."""
        return f"{self.name.removesuffix(self.word)}{word}"


@lru_cache(maxsize=4096)
def accessor(name: str) -> Accessor | None:
    """The accessor that a function's name says it is, or None."""
    matched = reference.ACCESSOR.fullmatch(name)
    return Accessor(name, matched.group(2), matched.group(4)) if matched is not None else None


def has_unknown_base(owner: ClassSummary, index: ProjectIndex) -> bool:
    """Does a class derive from one of a library, which may ask for methods by their names?"""
    return any(isinstance(base, str) and base not in _KNOWN_BASES for base in index.ancestry(owner))


def usual_word(found: Accessor, model: SemanticModel) -> tuple[str, list[str]]:
    """The word that most such accessors of the project have, and the names that have it; of two words as
    frequent, the one that is defined twice as often or more, and else the one that is spelled out.
    """
    names: dict[str, list[str]] = {}
    defined = Counter[str]()
    for name, count in model.program.function_names(_KNOWN_BASES):
        other = accessor(name)
        if other is not None and other.sort == found.sort:
            names.setdefault(other.word, []).append(name)
            defined[other.word] += count
    most = max(map(len, names.values()), default=0)
    order = _GROUP[found.word]
    equal = sorted((word for word in names if len(names[word]) == most), key=order.index)
    often = [
        word for word in equal if all(defined[word] >= 2 * defined[each] for each in equal if each != word)
    ]
    word = next(iter([*often, *equal]), found.word)
    return word, names.get(word, [])
