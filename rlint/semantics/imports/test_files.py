"""Files of tests or documentation: analysed for their uses of other code, but not checked by rules."""

from __future__ import annotations

from rlint.regex import regex
from rlint.source.files import NOTEBOOK

_IN_TESTS = regex(r"(^|/)(tests?|testing|unit_tests?|docs?)/|(^|/)conftest\.py$")
_NAMED_LIKE_TESTS = regex(r"(^|/)(tests?|testing|unit_tests?|docs?|test_[^/]*|[^/]*_test)(/|\.py$)")
_OF_A_RUNNER = regex(r"(^|/)(tests?|unit_tests?)/|(^|/)conftest\.py$")
_FOUND_BY_A_RUNNER = regex(r"(^|/)(test_[^/]*|[^/]*_test)\.py$")
_NOT_LOADED = regex(r"(^|/)test\.py$")
_HOLDS_TESTS = regex(r"(?m)^\s*class Test\w*\b|^\s*(import|from) (pytest|unittest|nose)\b")
_A_TEST = regex(r"(?m)^[ \t]*(?:async\s+)?def (test(?:_\w*|\w*(?=\()))")
_CALLS_A_TEST = regex(r"(?<!def )\b(test\w*)\(")
_ASSERTS = regex(r"(?m)^\s*assert\b")
_TRAINS_OR_ACTS = regex(r"\.(backward|step)\(")
_ACTS_AT_RANDOM = regex(r"\baction_spaces?(\([^()]*\)|\[[^\[\]]*\])?\.sample\(")
_LEARNS_OR_DECIDES = regex(
    r"\.(backward|(\w+_)?(act|actions?|learn|optimi[sz]e|predict|train|update)(_\w+)?)\("
)


def is_test_file(path: str, module: str, text: str) -> bool:
    """Whether this is a file of tests or documentation, whose speed does not affect training. `path` is the
    displayed path, `module` the name by which its project imports it. Outside of a folder of tests, a file
    that is named like a test and steps an environment or an optimizer, but contains no tests, is a script:
    `test.py` evaluates an agent, `test_dqn.py` trains one. If it only takes random actions, it tries an
    environment or a buffer. Runners do not load a `test.py`, so its functions may have any name.
    """
    if is_in_tests(path, module):
        return True
    if not is_named_like_tests(path, module):
        return False
    is_loaded = not _NOT_LOADED.search(_inside_project(path, module))
    return not _is_script(text, is_loaded=is_loaded) or _only_acts_at_random(text)


def is_named_like_tests(path: str, module: str) -> bool:
    """Whether a file is named like a test file: `test.py`, `test_dqn.py`."""
    return bool(_NAMED_LIKE_TESTS.search(_inside_project(path, module)))


def is_in_tests(path: str, module: str) -> bool:
    """Whether its path is one of tests or documentation, whatever its content."""
    return bool(_IN_TESTS.search(_inside_project(path, module)))


def is_for_a_runner(path: str, module: str, text: str) -> bool:
    """Whether a test runner loads the file and no code of the project does: not `test.py`, which a script may
    import to evaluate its agent, nor a notebook.
    """
    inside = _inside_project(path, module)
    if _OF_A_RUNNER.search(inside):
        return True
    return not path.endswith(NOTEBOOK) and bool(_FOUND_BY_A_RUNNER.search(inside)) and not _is_script(text)


def _is_script(text: str, *, is_loaded: bool = True) -> bool:
    """Whether a file steps an environment or an optimizer and contains no tests; `is_loaded` says that a
    runner of tests would load it.
    """
    if _TRAINS_OR_ACTS.search(text) is None or _HOLDS_TESTS.search(text) is not None:
        return False
    called_like_tests = set(_A_TEST.findall(text))
    if not called_like_tests:
        return True
    # a runner calls tests; a `def test(args)` that the file itself calls, and that asserts nothing, runs an
    # agent
    is_run = not is_loaded or called_like_tests <= set(_CALLS_A_TEST.findall(text))
    return is_run and _ASSERTS.search(text) is None


def _only_acts_at_random(text: str) -> bool:
    """Whether a file takes random actions, and no others, and learns nothing."""
    return _ACTS_AT_RANDOM.search(text) is not None and _LEARNS_OR_DECIDES.search(text) is None


def _inside_project(path: str, module: str) -> str:
    """Return the part of a path below the project's root, as that of a file with code; the part above it is
    arbitrary.
    """
    path = path.removesuffix(NOTEBOOK) + ".py" if path.endswith(NOTEBOOK) else path
    inside = f"{module.replace('.', '/')}.py" if path.startswith("/") or path[1:3] == ":/" else path
    return inside.replace("\\", "/")
