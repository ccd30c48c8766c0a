"""What the checks of files have asked about other files, as plain data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rlint.project.asking import Question, Questions
from rlint.project.plain_questions import Teller, to_text


@dataclass(slots=True)
class Asked:
    """Questions as text, each with what its answer is told by, and which of them each file asks."""

    answers: dict[str, str] = field(default_factory=dict)
    files: dict[str, list[str]] = field(default_factory=dict)

    def add(self, questions: Questions) -> None:
        """Add what was asked. A file that asks what cannot be written down is left out."""
        teller = Teller()
        texts: dict[Question, str] = {}
        for file, asked in questions.asked.items():
            try:
                for question in asked:
                    if question not in texts:
                        text = texts[question] = to_text(question)
                        self.answers[text] = teller.tell(questions.answers[question]).digest
            except TypeError:
                continue
            self.files[file] = [texts[question] for question in asked]

    def update(self, other: Asked) -> None:
        """Add what was asked elsewhere about the same files."""
        self.answers.update(other.answers)
        self.files.update(other.files)

    def of(self, names: Iterable[str]) -> Asked:
        """What these files asked, as far as it is known."""
        files = {name: self.files[name] for name in names if name in self.files}
        return Asked({text: self.answers[text] for texts in files.values() for text in texts}, files)
