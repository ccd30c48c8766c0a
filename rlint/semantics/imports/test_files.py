"""Which files are tests or documentation: they tell of the code that they use, and no rule looks at them."""

from __future__ import annotations

from rlint.regex import regex

_TEST_FILE = regex(r"(^|/)(tests?|testing|unit_tests?|test_[^/]*|[^/]*_test|conftest|docs?)(/|\.py$)")

_TESTS_OF_A_RUNNER = regex(r"(^|/)(tests?|unit_tests?)/|(^|/)(test_[^/]*|[^/]*_test|conftest)\.py$")


def is_test_file(path: str, module: str) -> bool:
    """Is this a file of tests or documentation? What it does slowly slows no training down. `path` is the
    file as it is shown to the user, `module` the name that its project imports it by.
    """
    return bool(_TEST_FILE.search(_inside_project(path, module)))


def is_for_a_runner(path: str, module: str) -> bool:
    """Is it a test file that a runner of tests loads, and no code of the project does: not `test.py`, which
    a script may import to evaluate its agent?
    """
    return bool(_TESTS_OF_A_RUNNER.search(_inside_project(path, module)))


def _inside_project(path: str, module: str) -> str:
    """The part of a path that the project chose itself: what lies above it may be called anything."""
    inside = f"{module.replace('.', '/')}.py" if path.startswith("/") or path[1:3] == ":/" else path
    return inside.replace("\\", "/")
