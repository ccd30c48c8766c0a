"""Whether a file reads errors as values, so that the text of an error can be observed.

Which code runs where errors are read is not examined: functions reach it as values, by their names, through
proxies, event loops and callbacks.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

from rlint.semantics.file_analysis import FileAnalysis
from rlint.syntax.last_names import last_name
from rlint.syntax.syntax_index import FUNCTIONS
from rlint.syntax.walk import descendants

_READERS = frozenset(
    {
        "InteractiveConsole",
        "InteractiveInterpreter",
        "TracebackException",
        "__cause__",
        "__context__",
        "assertRaisesRegex",
        "assert_raises_regex",
        "catch",
        "doctest",
        "error_callback",
        "exc_info",
        "exc_value",
        "excepthook",
        "exception",
        "excinfo",
        "format_exc",
        "format_exception",
        "format_exception_only",
        "last_exc",
        "last_value",
        "print_exc",
        "print_exception",
        "print_last",
        "push_async_exit",
        "return_exceptions",
        "set_exception_handler",
        "settrace",
        "unraisablehook",
    }
)
"""Names of functions, arguments and attributes of libraries that give, show or check an error."""
_EXPECTS = ("assertRaises", "raises")
_EXITS = ("__exit__", "__aexit__")
_STACKS = frozenset({"ExitStack", "AsyncExitStack"})
_OTHER_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    GeneratorExit,
    ImportError,
    KeyError,
    KeyboardInterrupt,
    MemoryError,
    NameError,
    NotImplementedError,
    OSError,
    StopAsyncIteration,
    StopIteration,
    SyntaxError,
    SystemExit,
    UnicodeError,
)
"""Errors that functions of torch, NumPy and lists do not raise for arguments that do not fit."""
_TRACEBACK = "Traceback (most recent call last)"
"""Begins an error that a doctest expects."""


def reads_errors(analysis: FileAnalysis, imported: Iterable[str]) -> bool:
    """Whether code of a file may read the text of an error: a handler or an `__exit__` that uses it, a
    function of a library that shows or returns errors, or a test that expects one by its text. `imported` are
    the dotted names that the file imports.
    """
    names = {*_names(analysis), *(path.rpartition(".")[2] for path in imported)}
    return (
        not names.isdisjoint(_READERS)
        or ("push" in names and not names.isdisjoint(_STACKS))
        or _TRACEBACK in analysis.syntax.text
        or _handles(analysis)
        or _expects(analysis)
        or _exits(analysis)
    )


def _names(analysis: FileAnalysis) -> Iterator[str]:
    """Yield the names that a file reads, sets, calls, passes as keywords, and contains as text."""
    syntax = analysis.syntax
    yield from syntax.written.attributes
    yield from syntax.written.calls
    for keyword in syntax.of_type(ast.keyword):
        if keyword.arg is not None and not _is_off(keyword.value):
            yield keyword.arg
    for constant in syntax.of_type(ast.Constant):
        if isinstance(constant.value, str):
            yield constant.value


def _is_off(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and not value.value


def _handles(analysis: FileAnalysis) -> bool:
    """Whether a handler uses the error that it catches, besides raising it."""
    return any(
        handler.name is not None
        and _may_catch(handler.type, analysis)
        and any(not isinstance(use, ast.Raise) for use in _uses(handler, handler.name, analysis))
        for handler in analysis.syntax.of_type(ast.ExceptHandler)
    )


def _uses(within: ast.AST, name: str, analysis: FileAnalysis) -> Iterator[ast.AST]:
    """Yield the nodes that use the value of a name."""
    for node in descendants(within):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            yield analysis.syntax.parents[node]


def _may_catch(caught: ast.expr | None, analysis: FileAnalysis) -> bool:
    """Whether a handler, or a test that expects this error, may get one whose text fixes change."""
    if isinstance(caught, ast.Tuple):
        return any(_may_catch(each, analysis) for each in caught.elts)
    path = analysis.names.qualified(caught) if caught is not None else None
    owner, _, name = (path or "").rpartition(".")
    error = getattr(builtins, name, None) if owner == "builtins" else None
    return not (isinstance(error, type) and issubclass(error, _OTHER_ERRORS))


def _expects(analysis: FileAnalysis) -> bool:
    """Whether a test expects an error by its text, or keeps it."""
    syntax = analysis.syntax
    for call in syntax.written.calls_of(_EXPECTS):
        if call.args and not _may_catch(call.args[0], analysis):
            continue
        parent = syntax.parents[call]
        is_dropped = isinstance(parent, ast.Expr) or (
            isinstance(parent, ast.withitem) and parent.optional_vars is None
        )
        if not is_dropped or any(keyword.arg == "match" for keyword in call.keywords):
            return True
    return False


def _exits(analysis: FileAnalysis) -> bool:
    """Whether an `__exit__` uses the error that it gets, besides passing it to another one, or is not
    defined by `def`.
    """
    syntax = analysis.syntax
    bound = (
        binding.statement
        for scope in syntax.scopes.values()
        for name in _EXITS
        for binding in scope.bindings.get(name, ())
    )
    set_later = (use for name in _EXITS for use in syntax.written.attributes.get(name, ()))
    return any(_uses_error(each, analysis) for each in bound) or any(
        not isinstance(use.ctx, ast.Load) for use in set_later
    )


def _uses_error(function: ast.AST, analysis: FileAnalysis) -> bool:
    if not isinstance(function, FUNCTIONS):
        return True
    given = [parameter.arg for parameter in (*function.args.posonlyargs, *function.args.args)][2:3]
    if function.args.vararg is not None:
        given.append(function.args.vararg.arg)
    return any(
        not _passes_to_exit(use, analysis) for name in given for use in _uses(function, name, analysis)
    )


def _passes_to_exit(use: ast.AST, analysis: FileAnalysis) -> bool:
    call = analysis.syntax.parents[use] if isinstance(use, ast.Starred) else use
    return isinstance(call, ast.Call) and last_name(call.func) in _EXITS
