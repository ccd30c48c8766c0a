"""Values that a file shows: what it prints, formats or logs, by the expressions that compute them. A tensor
is shown with the name of the operation that created it (`grad_fn=<SqueezeBackward1>`).
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from functools import cached_property

from rlint import models
from rlint.models import gradient_rules
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.call_targets import arguments_of
from rlint.syntax.last_names import last_name
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.syntax_index import FUNCTIONS, Function
from rlint.syntax.walk import descendants

BY_PARAMETER = "@"
"""Precedes the name of a function that shows an argument: `@report`."""
_LOG = models.having(Trait.REPORTS, TypeTag.LOGGER)
_RUNS = ("forward", "__call__")


class ShownValues:
    """The expressions of a file whose value itself is shown, here or by a file with one of these `names`: of
    functions and attributes whose values other files show, and of functions that show an argument.
    """

    def __init__(self, analysis: FileAnalysis, names: Collection[str] = ()) -> None:
        self._analysis = analysis
        self._syntax = analysis.syntax
        self._by_others = names
        self.nodes: set[ast.AST] = set()
        self.names: set[str] = set()
        self._pending: list[ast.expr] = [*self._shown_here(), *self._shown_in_other_files()]
        while self._pending:
            node = self._pending.pop()
            if node not in self.nodes:
                self.nodes.add(node)
                self._pending += self._parts(node)

    def _shown_here(self) -> Iterator[ast.expr]:
        written = self._syntax.written
        for formatted in self._syntax.of_type(ast.FormattedValue):
            yield formatted.value
        for name in gradient_rules.SHOWN_BY_BUILTINS:
            for call in written.calls_of((name.rpartition(".")[2],)):
                if isinstance(call.func, ast.Name):
                    yield from call.args
                elif call.func.attr == "format":  # type: ignore[attr-defined]
                    yield from arguments_of(call)
        for call in written.calls_of(_LOG):
            if isinstance(call.func, ast.Attribute):
                yield from call.args
        for operation in self._syntax.of_type(ast.BinOp):
            if isinstance(operation.op, ast.Mod) and self._is_text(operation.left):
                yield operation.right
        for attribute in written.attributes.get("grad_fn", ()):
            yield attribute.value

    def _is_text(self, node: ast.expr) -> bool:
        return self._analysis.types.type_of(node).tag is TypeTag.STR

    def _shown_in_other_files(self) -> Iterator[ast.expr]:
        for name in self._by_others:
            if name.startswith(BY_PARAMETER):
                yield from self._passed_to(name.removeprefix(BY_PARAMETER))
            else:
                yield from self._returned_by(name)
                yield from self._stored_in(name)

    def _parts(self, node: ast.expr) -> Iterator[ast.expr]:
        """Yield the expressions that may compute a value, or an item of it, that an expression passes on."""
        match node:
            case ast.Name(id=name):
                scope, bindings = self._analysis.names.bindings(node)
                for binding in bindings if scope is not None else ():
                    yield from self._bound(binding)
                yield from self._put_into.get(name, ())
            case ast.Attribute(attr=name):
                self.names.add(name)
                yield from (*self._stored_in(name), *self._put_into.get(name, ()))
            case ast.Call(func=func):
                name = last_name(func) or ""
                for called in (name, *_RUNS) if self._is_object(func) else (name,):
                    self.names.add(called)
                    yield from self._returned_by(called)
                if isinstance(func, ast.Name):
                    yield from arguments_of(node)  # `list(values)`, `dict(q=q)`
            case ast.Subscript(value=value):
                yield value
            case ast.BoolOp(values=values) | ast.Tuple(elts=values) | ast.List(elts=values):
                yield from values
            case ast.Set(elts=values) | ast.Dict(values=values):
                yield from values
            case ast.IfExp(body=first, orelse=second):
                yield from (first, second)
            case ast.NamedExpr(value=value) | ast.Starred(value=value) | ast.Await(value=value):
                yield value
            case ast.ListComp(elt=value) | ast.GeneratorExp(elt=value) | ast.SetComp(elt=value):
                yield value
            case ast.DictComp(value=value):
                yield value

    def _is_object(self, func: ast.expr) -> bool:
        """Whether a callee may be an object, such as a network: a variable or an attribute of one's own."""
        if self._analysis.types.type_of(func).tag is TypeTag.MODULE:
            return True
        if isinstance(func, ast.Attribute):
            return isinstance(func.value, ast.Name) and func.value.id == "self"
        if not isinstance(func, ast.Name):
            return isinstance(func, ast.Subscript)
        return any(
            binding.kind not in (BindingKind.FUNCTION, BindingKind.CLASS, BindingKind.IMPORT)
            for binding in self._analysis.names.bindings(func)[1]
        )

    def _bound(self, binding: Binding) -> Iterator[ast.expr]:
        if binding.kind is BindingKind.PARAMETER:
            function = binding.statement
            if isinstance(function, FUNCTIONS):
                self.names.add(BY_PARAMETER + function.name)
                yield from self._passed_to(function.name)
        elif binding.value is not None:
            yield binding.value

    @cached_property
    def _put_into(self) -> dict[str, list[ast.expr]]:
        """Return what is put into containers, by their last names."""
        found: dict[str, list[ast.expr]] = {}
        for call in self._syntax.written.calls_of(gradient_rules.PUTS_IN):
            if isinstance(call.func, ast.Attribute):
                found.setdefault(last_name(call.func.value) or "", []).extend(call.args)
        for item in self._syntax.written.item_stores:
            statement = self._syntax.parents.get(item)
            if isinstance(statement, ast.Assign):
                found.setdefault(last_name(item.value) or "", []).append(statement.value)
        return found

    def _stored_in(self, name: str) -> Iterator[ast.expr]:
        for store in self._syntax.written.attributes.get(name, ()):
            statement = self._syntax.parents.get(store)
            if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
                yield statement.value

    def _passed_to(self, name: str) -> Iterator[ast.expr]:
        for call in self._syntax.written.calls_of((name,)):
            yield from arguments_of(call)

    def _returned_by(self, name: str) -> Iterator[ast.expr]:
        for function in self._functions(name):
            for statement in self._syntax.written.returns.get(function, ()):
                if statement.value is not None:
                    yield statement.value
            if not isinstance(function, ast.AsyncFunctionDef):
                yields = (node for node in descendants(function) if isinstance(node, ast.Yield))
                yield from (each.value for each in yields if each.value is not None)

    def _functions(self, name: str) -> list[Function]:
        found = list(self._syntax.methods_by_name.get(name, ()))
        function = self._syntax.functions.get(name)
        return [*found, function] if function is not None else found


def shown_names(analysis: FileAnalysis) -> frozenset[str]:
    """Return the last names of the functions and attributes whose values a file shows, and of its functions
    that show an argument.
    """
    return frozenset(ShownValues(analysis).names)
