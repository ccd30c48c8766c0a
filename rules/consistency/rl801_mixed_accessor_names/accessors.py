"""Accessors: functions that are named after what they get, and the words for it in a project."""

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
        """The key of accessors that should use the same word."""
        return self.verb, _GROUP[self.word]

    def by(self, word: str) -> str:
        """Return the name with another word."""
        return f"{self.name.removesuffix(self.word)}{word}"


@lru_cache(maxsize=4096)
def accessor(name: str) -> Accessor | None:
    """Return the accessor that a function's name denotes, or None."""
    matched = reference.ACCESSOR.fullmatch(name)
    return Accessor(name, matched.group(2), matched.group(4)) if matched is not None else None


def has_unknown_base(owner: ClassSummary, index: ProjectIndex) -> bool:
    """Whether a class derives from a library class, which may look up methods by name."""
    return any(isinstance(base, str) and base not in _KNOWN_BASES for base in index.ancestry(owner))


def usual_word(found: Accessor, model: SemanticModel) -> tuple[str, list[str]]:
    """Return the word of most such accessors of the project, and the names with it; of two words of equal
    frequency, the one that is defined at least twice as often, else the unabbreviated one.
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
