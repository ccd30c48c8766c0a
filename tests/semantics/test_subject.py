"""Which programs are about machine learning."""

from __future__ import annotations

import pytest

from rlint.semantics.imports.relevance import is_about_learning, is_judged


@pytest.mark.parametrize("imports", [{"torch.nn"}, {"numpy"}, {"os", "gymnasium.spaces"}])
def test_a_library_for_numbers_or_environments_suffices(imports: set[str]) -> None:
    """A file that imports one of these libraries uses it."""
    assert is_about_learning(b"", imports)


def test_a_word_of_the_field_suffices() -> None:
    """A module of rewards may import nothing."""
    assert is_about_learning(b"def reward(completion):\n    ...\n", {"re"})


def test_web_code_says_nothing_of_learning() -> None:
    """Queries and updates are anybody's."""
    assert not is_about_learning(b"def update(request):\n    return request.get('q')\n", {"flask", "queue"})


def test_a_large_program_is_judged_if_one_file_is_about_learning() -> None:
    """Files that import one another are one program."""
    assert is_judged([(90_000, False), (10, True)])
    assert not is_judged([(90_000, False), (10, False)])


def test_a_small_program_need_not_say_what_it_is_about() -> None:
    """A snippet may be about machine learning."""
    assert is_judged([(400, False)])
