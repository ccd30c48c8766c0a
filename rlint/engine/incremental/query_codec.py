"""Codec for queries as text, and for digests of their answers, which are stored between runs.

Summaries, and functions and classes in them, are represented by their names. Their content may have changed
although the name has not: `Answer.told` lists them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import is_dataclass
from typing import Any, NamedTuple

from rlint.engine.incremental.query_recorder import PARTS, Query
from rlint.enums import Enum
from rlint.frozen import frozen
from rlint.models.value_type import Type
from rlint.plain_data import UnpackError, maker, name_of, record_parts
from rlint.semantics.interprocedural.call_graph import CallEdge
from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.summary import CallSite, ClassSummary, FunctionSummary, ModuleSummary

_PLAIN = (str, int, bool, float, type(None))
_TUPLE, _SET, _FUNCTION, _CLASS = "(", "{", "def", "class"


class SummaryPart(NamedTuple):
    """A function or class of a module ("" for the module as a whole)."""

    module: str
    qualname: str


@frozen
class Answer:
    """The digest of an answer, and the parts of summaries that it refers to."""

    digest: str
    summary_parts: frozenset[SummaryPart]


def to_text(question: Query) -> str:
    """Return a question as text. Raises TypeError for a query with values which are not plain data."""
    named = [[name, _plain(value)] for name, value in question.named]
    arguments = [_plain(value) for value in question.arguments]
    return json.dumps([question.part, question.name, arguments, *named], separators=(",", ":"))


def from_text(text: str, index: ProjectIndex) -> Query | None:
    """Return the query that was passed to `to_text`; None if it refers to an object that no longer exists.
    Raises UnpackError.
    """
    try:
        part, name, arguments, *named = json.loads(text)
        if part not in PARTS or name.startswith("_"):
            raise UnpackError(text)
        return Query(
            part,
            name,
            tuple(_value(each, index) for each in arguments),
            tuple((key, _value(value, index)) for key, value in named),
        )
    except KeyError:
        return None
    except (TypeError, ValueError, AttributeError, LookupError) as error:
        raise UnpackError(str(error)) from error


def _plain(value: Any) -> Any:
    cls: type = type(value)
    if cls in _PLAIN:
        return value
    if cls is tuple:
        return [_TUPLE, *map(_plain, value)]
    if cls is frozenset:
        return [_SET, *sorted(map(_plain, value), key=repr)]
    if cls is FunctionSummary:
        return [_FUNCTION, value.module, value.qualname]
    if cls is ClassSummary:
        return [_CLASS, value.module, value.qualname]
    return [name_of(cls), *map(_plain, record_parts(cls)(value))]


def _value(plain: Any, index: ProjectIndex) -> Any:
    """Return the value for its text; raise KeyError for a function or class that does not exist."""
    if not isinstance(plain, list):
        return plain
    sort, *parts = plain
    if sort == _FUNCTION:
        return index.modules[parts[0]].functions[parts[1]]
    if sort == _CLASS:
        return index.modules[parts[0]].classes[parts[1]]
    values = [_value(part, index) for part in parts]
    if sort == _TUPLE:
        return tuple(values)
    return frozenset(values) if sort == _SET else maker(sort)(values)


class AnswerEncoder:
    """Represents answers as text, so that they can be compared. Frequent values are encoded once."""

    def __init__(self) -> None:
        self._kinds: dict[Type, str] = {}
        self._parts: set[SummaryPart] = set()

    def encoded(self, answer: object) -> Answer:
        """Return the serialised form of an answer. Raises TypeError if it is not plain data."""
        self._parts = set()
        digest = hashlib.blake2b(self._text(answer).encode("utf-8", "surrogatepass"), digest_size=9)
        return Answer(digest.hexdigest(), frozenset(self._parts))

    def _text(self, value: Any) -> str:
        cls = type(value)
        if cls in _PLAIN:
            return repr(value)
        if cls is Type:
            known = self._kinds.get(value)
            if known is None:
                known = self._kinds[value] = self._spelled(cls, value)
            return known
        if cls in (tuple, list):
            return f"({','.join(map(self._text, value))})"
        if cls in (FunctionSummary, ClassSummary):
            self._parts.add(SummaryPart(value.module, value.qualname))
            return f"{cls.__name__} {value.module}:{value.qualname}"
        if cls is ModuleSummary:
            self._parts.add(SummaryPart(value.module, ""))
            return f"module {value.module}"
        if cls is CallEdge:
            return f"{self._text(value.caller)}>{_place(value.site)}>{self._text(value.target)}"
        return self._spelled(cls, value)

    def _spelled(self, cls: type, value: Any) -> str:
        if cls in (frozenset, set):
            return f"{{{','.join(sorted(map(self._text, value)))}}}"
        if cls is dict:
            return f"{{{','.join(f'{self._text(k)}:{self._text(v)}' for k, v in value.items())}}}"
        if issubclass(cls, Enum):
            return f"{cls.__name__}.{value.name}"
        if issubclass(cls, tuple) or is_dataclass(cls):
            return f"{cls.__name__}({','.join(map(self._text, record_parts(cls)(value)))})"
        raise TypeError(f"{cls.__qualname__} is no plain data")


def _place(site: CallSite) -> str:
    """Return a text that distinguishes the calls of one function; the function itself determines the rest."""
    return f"{site.line} {site.loop} {site.path} {site.receiver}.{site.method} {site.arguments!r}"


def changed_parts(
    old: Mapping[str, ModuleSummary], new: Mapping[str, ModuleSummary]
) -> frozenset[SummaryPart]:
    """Return the parts of module summaries that differ before and after, by module name."""
    found: set[SummaryPart] = set()
    for name in old.keys() | new.keys():
        before, after = old.get(name), new.get(name)
        if before == after:
            continue
        found.add(SummaryPart(name, ""))
        for kind in ("functions", "classes"):
            was: Mapping[str, object] = getattr(before, kind, {})
            is_now: Mapping[str, object] = getattr(after, kind, {})
            every: Collection[str] = was.keys() | is_now.keys()
            found.update(SummaryPart(name, each) for each in every if was.get(each) != is_now.get(each))
    return frozenset(found)
