"""Blocks of a file whose errors other code reads, so that the text of an error that is raised there can be
observed, and functions that a file uses as values, which blocks of other files may call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rlint import models
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.summary import ErrorBlock
from rlint.syntax.last_names import last_name
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.syntax_index import FUNCTIONS, TRIES, Function
from rlint.syntax.value_use import is_handed_on
from rlint.syntax.walk import descendants

ANY_CALL = "*"
"""Stands for all calls of a program whose uncaught errors are read."""
ANY_VALUE = "()"
"""Stands for calls of functions that a block gets as values: `try: return step(*args)`."""
ANY_ITERATOR = "for"
"""Stands for generators that a block iterates over, but may have been created elsewhere."""
OF_GENERATORS = "for "
"""Precedes the names of generator functions among those of functions that are used as values."""
ANY_MANAGER = "?"
"""Stands for a context manager that the file does not determine: `with self.guard:`."""
_READERS = frozenset({"exc_info", "exception", "format_exc", "print_exc", "print_exception"})
"""Functions that read the error being handled."""
_EXPECTS = ("assertRaisesRegex", "assertRaises", "raises")
"""Methods and functions of tests that expect an error."""
_ITERATES = models.having(Trait.ITERATES, "builtins") | {"builtins.next"}
_DEFINITIONS = frozenset({BindingKind.FUNCTION, BindingKind.CLASS, BindingKind.IMPORT})
_OBJECTS = frozenset({TypeTag.MODULE, TypeTag.INSTANCE, TypeTag.CLASS, TypeTag.ENVIRONMENT})


def error_blocks(analysis: FileAnalysis, *, is_test: bool) -> tuple[ErrorBlock, ...]:
    """Return the bodies of `try` whose handlers read the error, of `with` whose context manager may, and the
    calls in tests that expect an error by its text. Of a file of tests, only the last.
    """
    finder = _Blocks(analysis)
    found = [*finder.expecting()]
    if not is_test:
        found += [*finder.handled(), *finder.managed()]
    return tuple(found)


class _Blocks:
    def __init__(self, analysis: FileAnalysis) -> None:
        self._analysis = analysis
        self._syntax = analysis.syntax

    def handled(self) -> Iterator[ErrorBlock]:
        """Yield the bodies of `try` whose errors are read, and what stands for all code of the program."""
        for kind in dict.fromkeys(TRIES):
            for trying in self._syntax.of_type(kind):
                if any(_reads(handler, handler.name) for handler in trying.handlers):
                    yield self._block(trying.body)
        written = self._syntax.written
        if "excepthook" in written.attributes:
            yield ErrorBlock(names=(ANY_CALL,))
        # `future.exception()` returns the error of a function that was submitted
        if any(not call.args and not call.keywords for call in written.calls_of(("exception",))):
            yield ErrorBlock(names=(ANY_VALUE,))

    def managed(self) -> Iterator[ErrorBlock]:
        """Yield the bodies of `with`, each with a context manager that is not one of a library."""
        for block in self._withs():
            for item in block.items:
                manager = self._manager(item.context_expr)
                if manager:
                    yield self._block(block.body, manager)

    def expecting(self) -> Iterator[ErrorBlock]:
        """Yield what runs where a test expects an error and reads its text."""
        entered = {
            item.context_expr: (block.body, item.optional_vars)
            for block in self._withs()
            for item in block.items
        }
        for call in self._syntax.written.calls_of(_EXPECTS):
            by_text = last_name(call.func) == _EXPECTS[0]
            if call not in entered:
                if len(call.args) > 1:
                    yield self._block([call])
                continue
            body, name = entered[call]
            if by_text or name is not None or any(keyword.arg == "match" for keyword in call.keywords):
                yield self._block(body)

    def _withs(self) -> list[ast.With | ast.AsyncWith]:
        return [*self._syntax.of_type(ast.With), *self._syntax.of_type(ast.AsyncWith)]

    def _block(self, nodes: Sequence[ast.stmt | ast.expr], manager: str = "") -> ErrorBlock:
        names = {name for node in nodes for name in self._names(node)}
        last = nodes[-1].end_lineno or nodes[-1].lineno
        return ErrorBlock(nodes[0].lineno, last, tuple(sorted(names)), manager)

    def _names(self, block: ast.AST) -> Iterator[str]:
        """Yield the last names of the functions, methods and properties that a block may run."""
        for node in descendants(block):
            match node:
                case ast.Call(func=func):
                    yield from filter(None, [last_name(func)])
                    if isinstance(func, ast.Name) and f"builtins.{func.id}" in _ITERATES:
                        yield from (name for given in node.args for name in self._generators(given))
                    if self._is_value(func):
                        yield ANY_VALUE
                case ast.Attribute(attr=name, ctx=ast.Load()):
                    yield name
                case ast.Name(id=name, ctx=ast.Load()) if self._is_defined(node):
                    yield name
                case ast.Await(value=value):
                    given = value.args if isinstance(value, ast.Call) else [value]
                    if any(isinstance(each, (ast.Name, ast.Starred)) for each in given):
                        yield ANY_VALUE
                case ast.For(iter=iterated) | ast.AsyncFor(iter=iterated) | ast.comprehension(iter=iterated):
                    yield from self._generators(iterated)

    def _generators(self, iterated: ast.expr) -> Iterator[str]:
        """Yield the last names of the functions that created a value, which may be generators; `ANY_ITERATOR`
        if it is passed or stored by other code.
        """
        if self._analysis.types.type_of(iterated).tag is not TypeTag.UNKNOWN:
            return
        values: list[ast.expr | None] = []
        if isinstance(iterated, ast.Name):
            for binding in self._analysis.names.bindings(iterated)[1]:
                if binding.kind is BindingKind.PARAMETER:
                    yield ANY_ITERATOR
                elif binding.kind is BindingKind.ASSIGN and not binding.path:
                    values.append(binding.value)
        elif isinstance(iterated, ast.Attribute):
            stores = self._syntax.written.attributes.get(iterated.attr, ())
            statements = [self._syntax.parents.get(store) for store in stores]
            values = [each.value for each in statements if isinstance(each, (ast.Assign, ast.AnnAssign))]
            if not values or any(isinstance(value, ast.Name) for value in values):
                yield ANY_ITERATOR
        for value in values:
            if isinstance(value, ast.Call):
                yield from filter(None, [last_name(value.func)])

    def _is_defined(self, name: ast.Name) -> bool:
        _, bindings = self._analysis.names.bindings(name)
        return any(binding.kind in _DEFINITIONS for binding in bindings)

    def _is_value(self, func: ast.expr) -> bool:
        """Whether a callee is a function that the block gets from a variable, a container or a future."""
        if isinstance(func, ast.Name):
            scope, bindings = self._analysis.names.bindings(func)
            held = scope is not None and any(binding.kind not in _DEFINITIONS for binding in bindings)
        elif isinstance(func, ast.Attribute):
            if func.attr == "result":
                return True
            stores = self._syntax.written.attributes.get(func.attr, ())
            held = any(isinstance(store.ctx, ast.Store) for store in stores)
        else:
            held = isinstance(func, (ast.Subscript, ast.Call))
        return held and self._analysis.types.type_of(func).tag not in _OBJECTS

    def _manager(self, expression: ast.expr, depth: int = 2) -> str:
        """Return the dotted name of the class or function that creates a context manager; "" for those of
        libraries.
        """
        syntax = self._syntax
        if isinstance(expression, ast.Call):
            path = (
                self._analysis.names.qualified(expression.func) or last_name(expression.func) or ANY_MANAGER
            )
            root = path.partition(".")[0]
            return "" if root == "builtins" or models.is_library(root) else path
        values: list[ast.expr | None] = []
        if isinstance(expression, ast.Name):
            values = [binding.value for binding in self._analysis.names.bindings(expression)[1]]
        elif isinstance(expression, ast.Attribute):
            statements = map(syntax.parents.get, syntax.written.attributes.get(expression.attr, ()))
            values = [each.value for each in statements if isinstance(each, (ast.Assign, ast.AnnAssign))]
        known = {self._manager(value, depth - 1) if value and depth else ANY_MANAGER for value in values}
        return next(iter(known)) if len(known) == 1 else ANY_MANAGER


def _reads(handler: ast.AST, name: str | None) -> bool:
    """Whether a handler, or `__exit__`, reads the error."""
    for node in descendants(handler):
        match node:
            case ast.Name(id=read, ctx=ast.Load()) if read == name:
                return True
            case ast.Call(func=func) if last_name(func) in _READERS:
                return True
            case ast.keyword(arg="exc_info"):
                return True
    return False


def error_managers(analysis: FileAnalysis) -> frozenset[str]:
    """Return the dotted names of the file's `__exit__` methods, and functions with `@contextmanager`, that
    read the error.
    """
    syntax = analysis.syntax
    found = set()
    for function in (*syntax.of_type(ast.FunctionDef), *syntax.of_type(ast.AsyncFunctionDef)):
        assert isinstance(function, FUNCTIONS)
        if function.name in ("__exit__", "__aexit__"):
            given = [parameter.arg for parameter in function.args.args][2:3]
            if function.args.vararg is not None:
                given.append(function.args.vararg.arg)
            is_reading = any(_reads(function, name) for name in given)
        else:
            handlers = (node for node in descendants(function) if isinstance(node, ast.ExceptHandler))
            is_reading = any(last_name(each) == "contextmanager" for each in function.decorator_list) and any(
                _reads(handler, handler.name) for handler in handlers
            )
        if is_reading:
            found.add(f"{analysis.name}.{syntax.qualname(function)}")
    return frozenset(found)


def functions_as_values(analysis: FileAnalysis) -> frozenset[str]:
    """Return the last names of functions and methods that a file may pass, store or return (`submit(
    memory.sample, 32)`), decorate by a function that is not of a library, or call in a lambda, of coroutines,
    and of generators, with a mark.
    """
    syntax = analysis.syntax
    stored = {store.attr for store in syntax.written.attribute_stores}
    found = {
        attribute.attr
        for attribute in syntax.of_type(ast.Attribute)
        if isinstance(attribute.ctx, ast.Load) and attribute.attr not in stored
        if is_handed_on(attribute, syntax.parents) and not _is_of_library(attribute, analysis)
    }
    for scope in syntax.scopes.values():
        for name, bindings in scope.bindings.items():
            if any(map(_may_be_function, bindings)) and any(
                is_handed_on(use, syntax.parents) for use in syntax.variables.uses(name, scope)
            ):
                found |= {(binding.target or name).rpartition(".")[2] for binding in bindings}
    for function in (*syntax.of_type(ast.FunctionDef), *syntax.of_type(ast.AsyncFunctionDef)):
        assert isinstance(function, FUNCTIONS)
        if _is_wrapped(function, analysis) or isinstance(function, ast.AsyncFunctionDef):
            found.add(function.name)
    for node in (*syntax.of_type(ast.Yield), *syntax.of_type(ast.YieldFrom)):
        generator = syntax.function(node)
        if generator is not None:
            found.add(f"{OF_GENERATORS}{generator.name}")
    for inner in syntax.of_type(ast.Lambda):
        calls = (node for node in descendants(inner) if isinstance(node, ast.Call))
        found.update(filter(None, (last_name(call.func) for call in calls)))
    return frozenset(found)


def _may_be_function(binding: Binding) -> bool:
    """Whether a name is bound to a function of the project."""
    if binding.kind is BindingKind.IMPORT:
        return not models.is_library(binding.target)
    return binding.kind is BindingKind.FUNCTION


def _is_of_library(node: ast.expr, analysis: FileAnalysis) -> bool:
    return models.is_library(analysis.names.qualified(node) or "")


def _is_wrapped(function: Function, analysis: FileAnalysis) -> bool:
    """Whether a decorator may call the function where it handles errors."""
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        path = analysis.names.qualified(called) or last_name(called) or ""
        if path in ("setter", "getter", "deleter") or path.startswith("builtins."):
            continue
        if not models.is_library(path):
            return True
    return False
