"""Whether a program may read the text of errors."""

from __future__ import annotations

import pytest

from project_builder import build

READS = {
    "a handler that prints": """
        try:
            act()
        except ValueError as error:
            print(error)
    """,
    "a handler of several errors": """
        try:
            act()
        except (KeyError, IndexError) as error:
            problems.append(error)
    """,
    "a handler of a class of the program": """
        try:
            act()
        except Failures as error:
            return_value = error.args
    """,
    "a handler of a group": """
        try:
            act()
        except* ValueError as group:
            print(group.exceptions)
    """,
    "a handler without a name": """
        import sys
        try:
            act()
        except ValueError:
            problems.append(sys.exc_info()[1])
    """,
    "logging": """
        import logging
        try:
            act()
        except ValueError:
            logging.exception("failed")
    """,
    "an argument of a logger": """
        try:
            act()
        except ValueError:
            logger.error("failed", exc_info=True)
    """,
    "an imported function": """
        from traceback import format_exc as shown
    """,
    "a hook": """
        import sys
        sys.excepthook = show
    """,
    "a hook that is set by its name": """
        import sys
        setattr(sys, "excepthook", show)
    """,
    "errors as results": """
        results = await_all(jobs, return_exceptions=True)
    """,
    "a callback": """
        pool.apply_async(act, error_callback=errors.append)
    """,
    "a future": """
        print(pool.submit(act).exception())
    """,
    "a loop of events": """
        loop.set_exception_handler(show)
    """,
    "a manager": """
        class Report:
            def __exit__(self, kind, value, trace):
                print(value)
    """,
    "a manager with any arguments": """
        class Report:
            async def __aexit__(self, *error):
                self.report(*error)
    """,
    "a manager by assignment": """
        class Report:
            __exit__ = report
    """,
    "a stack of managers": """
        import contextlib
        with contextlib.ExitStack() as stack:
            stack.push(report)
    """,
    "an interpreter": """
        import code
        code.InteractiveInterpreter().runcode(text)
    """,
    "a doctest": '''
        def act():
            """
            >>> act()
            Traceback (most recent call last):
            ValueError: nothing to draw from
            """
    ''',
    "a test of the text": """
        with pytest.raises(ValueError, match="nothing"):
            act()
    """,
    "a test that keeps the error": """
        with pytest.raises(ValueError) as failure:
            act()
    """,
    "a test of unittest": """
        self.assertRaisesRegex(ValueError, "nothing", act)
    """,
}
READS_NONE = {
    "a handler without a use": """
        try:
            act()
        except ValueError as error:
            pass
    """,
    "errors that are raised again": """
        try:
            act()
        except ValueError as error:
            raise RuntimeError("failed") from error
        except Exception as error:
            raise error
    """,
    "other errors": """
        try:
            import torch
        except (ImportError, OSError) as error:
            print(error)
    """,
    "a manager that closes": """
        class Opened:
            def __exit__(self, kind, value, trace):
                self.close(failed=kind is not None)
    """,
    "a manager that passes all on": """
        class Locked:
            def __exit__(self, *error):
                return self.lock.__exit__(*error)
    """,
    "a stack of files": """
        import contextlib
        with contextlib.ExitStack() as stack:
            stack.enter_context(open("log.txt"))
    """,
    "a test of the type": """
        with pytest.raises(ValueError):
            act()
        self.assertRaises(IndexError, act)
        with pytest.raises(AssertionError, match="nothing"):
            act()
    """,
    "a logger without the error": """
        logger.error("failed", exc_info=False)
    """,
}


@pytest.mark.parametrize("text", READS.values(), ids=READS)
def test_reads_errors(text: str) -> None:
    """Each way to get at an error counts, whatever code may raise it."""
    program = build({"train.py": "import report", "report.py": text})
    assert program["train.py"].usage.reads_errors()


@pytest.mark.parametrize("text", READS_NONE.values(), ids=READS_NONE)
def test_reads_no_errors(text: str) -> None:
    """What depends only on the type of an error, or on errors of other code, does not count."""
    program = build({"train.py": "import report", "report.py": text})
    assert not program["train.py"].usage.reads_errors()


def test_of_other_programs() -> None:
    """Files that do not import one another are different programs; tests belong to what they test."""
    program = build(
        {
            "play.py": READS["a handler that prints"],
            "train.py": "import memory",
            "memory.py": "",
            "alone.py": "",
            "tests/test_memory.py": """
                import memory
                with pytest.raises(ValueError, match="nothing"):
                    memory.act()
            """,
        }
    )
    assert program["play.py"].usage.reads_errors()
    assert program["train.py"].usage.reads_errors()
    assert not program["alone.py"].usage.reads_errors()
