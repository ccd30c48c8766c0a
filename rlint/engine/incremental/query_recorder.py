"""Record the queries that the check of a file makes about other files, with their answers.

A file's findings follow from its own text and from these answers: if those are the same, so are the findings,
whatever else has changed. The parts of `WholeProgram` are replaced by stand-ins that record each query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from operator import attrgetter
from typing import Any, NamedTuple, cast

from rlint.semantics.interprocedural.project_index import PARTS as PARTS_OF_INDEX
from rlint.semantics.interprocedural.summary import ModuleSummary
from rlint.semantics.interprocedural.whole_program import WholeProgram

PARTS = (
    "index",
    "likely_index",
    "graph",
    "heat",
    "program_symbols",
    "usage",
    "updates",
    "replayed_learning",
    "slow_simulators",
    "update_rates",
    "guesses",
    "workers",
    "channels",
    "sum_trees",
    "log_writers",
    "network_changes",
    *(f"{index}.{part}" for index in ("index", "likely_index") for part in PARTS_OF_INDEX),
)
"""The parts of `WholeProgram` that are queried, and the parts of these."""


class Query(NamedTuple):
    """A method or property of a part of `WholeProgram`, and its arguments."""

    part: str
    name: str
    arguments: tuple[Any, ...] = ()
    named: tuple[tuple[str, Any], ...] = ()


Answers = Mapping[Query, object]


class QueryRecorder:
    """Records all queries of the linked program. `take` receives the queries of each file, with the answers,
    which are not kept: hardly any two files make the same query.
    """

    def __init__(self, program: WholeProgram, take: Callable[[str, Answers], None]) -> None:
        self._program = program
        self._take = take

    @contextmanager
    def stand_in(self, file: str) -> Iterator[WholeProgram]:
        """Yield a stand-in that answers like the linked program and records the queries of a file's check."""
        answers: dict[Query, object] = {}
        yield cast(WholeProgram, _StandIn(self._program, answers))
        self._take(file, answers)


def answer_of(question: Query, program: WholeProgram) -> object:
    """Return the answer to a query of any file."""
    value = getattr(attrgetter(question.part)(program), question.name)
    return value(*question.arguments, **dict(question.named)) if callable(value) else value


class _StandIn:
    """Stand-in for `WholeProgram`."""

    def __init__(self, program: WholeProgram, answers: dict[Query, object]) -> None:
        for name in PARTS:
            if "." not in name:
                setattr(self, name, _Part(name, self, program, answers))


class _Part:
    """Stand-in for one of its parts."""

    def __init__(
        self, part: str, whole: _StandIn, program: WholeProgram, answers: dict[Query, object]
    ) -> None:
        self._part = part
        self._whole = whole
        self._program = program
        self._answers = answers

    def __getattr__(self, name: str) -> Any:
        if name in PARTS:
            return getattr(self._whole, name)
        inner = f"{self._part}.{name}"
        if name == "modules":
            found: Any = _Modules(self)
        elif inner in PARTS:
            found = _Part(inner, self._whole, self._program, self._answers)
        elif callable(attrgetter(inner)(self._program)):
            found = self._method(name)
        else:
            found = self._answered(Query(self._part, name))
        setattr(self, name, found)
        return found

    def _answered(self, question: Query) -> Any:
        if question not in self._answers:
            self._answers[question] = answer_of(question, self._program)
        return self._answers[question]

    def _method(self, name: str) -> Callable[..., Any]:
        answers, part = self._answers, self._part

        def record(*arguments: Any, **named: Any) -> Any:
            question = Query(part, name, arguments, tuple(sorted(named.items())) if named else ())
            try:
                if question in answers:
                    return answers[question]
            except TypeError:
                arguments = tuple(map(_fixed, arguments))
                question = Query(
                    part, name, arguments, tuple((key, _fixed(value)) for key, value in question.named)
                )
            return self._answered(question)

        return record


class _Modules(Mapping[str, ModuleSummary]):
    """Stand-in for the modules of the index."""

    def __init__(self, index: _Part) -> None:
        self._index = index

    def __getitem__(self, name: str) -> ModuleSummary:
        found: ModuleSummary | None = self._index.module_named(name)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return (module.module for module in self._index.every_module())

    def __len__(self) -> int:
        return len(self._index.every_module())

    def values(self) -> tuple[ModuleSummary, ...]:  # type: ignore[override]
        every: tuple[ModuleSummary, ...] = self._index.every_module()
        return every


def _fixed(value: Any) -> Any:
    """Return the same value in a hashable form."""
    if isinstance(value, list):
        return tuple(value)
    return frozenset(value) if isinstance(value, set) else value
