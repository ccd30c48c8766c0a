"""Queries that the checks of files made about other files, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from typing import TYPE_CHECKING

from rlint.frozen import mutable

if TYPE_CHECKING:
    from rlint.engine.incremental.query_recorder import Answers


@mutable
class Dependencies:
    """Queries as text, the queries of each file, and the digests of their answers. Two groups of files may
    make the same query, with different answers: the answers of a file are those of its group.
    """

    files: dict[str, list[str]] = field(default_factory=dict)
    answers_by_file: dict[str, dict[str, str]] = field(default_factory=dict)
    """For each file, the digest of all answers in its group."""

    @property
    def answers(self) -> dict[str, str]:
        """Return the digests of the answers to all queries of the files of one group."""
        return {
            text: self.answers_by_file[file][text] for file, texts in self.files.items() for text in texts
        }

    def of_a_group(self) -> Callable[[str, Answers], None]:
        """Return a callback that records each file's queries and their answers. A file whose queries cannot
        be serialised is left out.
        """
        from rlint.engine.incremental.query_codec import AnswerEncoder, to_text

        encoder = AnswerEncoder()
        answers_by_file: dict[str, str] = {}

        def take(file: str, answers: Answers) -> None:
            try:
                texts = [to_text(question) for question in answers]
                for text, answer in zip(texts, answers.values(), strict=True):
                    if text not in answers_by_file:
                        answers_by_file[text] = encoder.encoded(answer).digest
            except TypeError:
                return
            self.files[file] = texts
            self.answers_by_file[file] = answers_by_file

        return take

    def update(self, other: Dependencies) -> None:
        """Add the queries of other files."""
        self.files.update(other.files)
        self.answers_by_file.update(other.answers_by_file)

    def of(self, names: Iterable[str]) -> Dependencies:
        """Return the known queries of these files."""
        known = [name for name in names if name in self.files]
        return Dependencies(
            {name: self.files[name] for name in known}, {name: self.answers_by_file[name] for name in known}
        )
