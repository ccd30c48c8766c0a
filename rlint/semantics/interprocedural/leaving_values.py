"""Values that leave a function: where its callers, and readers of attributes, use them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from rlint import models
from rlint.models.value_type import TypeTag
from rlint.regex import regex
from rlint.semantics.dataflow.value_flow import Cause, Onward
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.program_symbols import ProgramSymbols
from rlint.semantics.interprocedural.summary import ClassSummary
from rlint.syntax.last_names import last_name
from rlint.syntax.scopes import Scope
from rlint.syntax.syntax_index import Function

_MOST = 24
"""Maximum number of places where one value continues after it leaves a function."""
_CALLED_UNSEEN = frozenset({"forward", "__call__"})
_CHECKS_TYPES = regex(r"jaxtyp|beartype|typecheck|typeguard|validate|check_(types|shapes)")
"""Decorators that check the arguments and the result of a function."""
_RECEIVERS = ("builtins.staticmethod", "builtins.classmethod")
_CHANGES_ITEMS = models.mutators(TypeTag.LIST, TypeTag.SET, TypeTag.DEQUE, TypeTag.DICT)
_TURNS_AUTOGRAD = ("torch.no_grad", "torch.inference_mode", "torch.enable_grad")


class LeavingValues:
    """Finds these places in one file; uses in other files are a cause to give up, or an assumption."""

    def __init__(self, analysis: FileAnalysis, symbols: ProgramSymbols) -> None:
        self._analysis = analysis
        self._syntax = analysis.syntax
        self._symbols = symbols
        self._graph = symbols.graph
        self._module = symbols.index.modules[analysis.name]
        self._returned: dict[Function, Onward] = {}
        self._read: dict[tuple[str, ast.ClassDef], Onward] = {}

    # -- what a function returns ---------------------------------------------------------------

    def returned_to(self, function: Function) -> Onward:
        """Return the calls that receive the results of a function."""
        known = self._returned.get(function)
        if known is None:
            known = self._returned[function] = self._find_calls(function)
        return known

    def _find_calls(self, function: Function) -> Onward:
        summary = self._module.functions.get(self._syntax.qualname(function))
        if summary is None or isinstance(function, ast.AsyncFunctionDef) or summary.is_property:
            return Onward(cause=Cause.CALLERS)
        if function.name.startswith("__") or function.name in _CALLED_UNSEEN:
            return Onward(cause=Cause.CALLERS)
        unknown = self._unknown_decorator(function)
        if unknown is None:
            return Onward(cause=Cause.CALLERS)
        changes = f" or changes its result in `{unknown}`" if unknown else ""
        is_called_in_other_file = any(
            edge.caller.module != summary.module
            and not self._symbols.index.modules[edge.caller.module].is_test
            for edge in self._graph.callers(summary.path)
        )
        owner = self._syntax.class_of(function) if summary.is_method else None
        uses: Sequence[ast.expr] | None
        if owner is not None:
            if is_called_in_other_file or self._is_used_in_other_file(function.name, owner):
                within = self._calls_of(self._uses_of_attribute(function.name, owner))
                sites = self._symbols.calls_in_other_files(summary)
                known = within is not None and len(within) <= _MOST
                return Onward(
                    tuple(within or ()),
                    f"calls `{function.name}`{changes}",
                    Cause.OTHER_PLACE,
                    tuple(site.ends for site in sites) if known else (),
                )
            uses = list(self._uses_of_attribute(function.name, owner))
        else:
            uses = self._uses_of_name(function)
            if (
                is_called_in_other_file
                or uses is None
                or self._symbols.imports(function.name, self._module.module)
            ):
                return Onward(cause=Cause.OTHER_PLACE)
        calls = self._calls_of(uses)
        if not calls:
            return Onward(cause=Cause.CALLERS)
        if len(calls) > _MOST:
            return Onward(cause=Cause.TOO_MANY)
        assumes = "" if self._is_script and not changes else f"calls `{function.name}`{changes}"
        return Onward(tuple(calls), assumes)

    def _calls_of(self, uses: Iterable[ast.expr]) -> list[ast.expr] | None:
        """Return the calls that uses of a function are; None if one of them is not a call."""
        calls = [self._syntax.call_of(use) for use in uses]
        found: list[ast.expr] = [call for call in calls if call is not None]
        return found if len(found) == len(calls) else None

    def _unknown_decorator(self, function: Function) -> str | None:
        """Return the name of a decorator of unknown code, which likely returns the result of the function, as
        those that check types do; "" if a call by the name of the function runs exactly the function, None if
        a known decorator changes what it returns.
        """
        unknown = ""
        for decorator in function.decorator_list:
            named = decorator.func if isinstance(decorator, ast.Call) else decorator
            qualified = self._analysis.names.qualified(named)
            if qualified in _RECEIVERS or qualified in _TURNS_AUTOGRAD:
                continue
            if qualified is None or not _CHECKS_TYPES.search(qualified):
                return None
            unknown = last_name(named) or qualified
        return unknown

    def _uses_of_name(self, function: Function) -> list[ast.Name] | None:
        scope: Scope | None = self._syntax.scope(function)
        if scope is None or function.name not in scope.bindings or len(scope.bindings[function.name]) > 1:
            return None
        return [
            use for use in self._syntax.variables.uses(function.name, scope) if isinstance(use.ctx, ast.Load)
        ]

    # -- what is kept as an attribute ----------------------------------------------------------

    def read_from(self, attribute: ast.Attribute) -> Onward:
        """Return the places that read an attribute after it is set, or that read its current value."""
        owner = self._syntax.class_of(attribute)
        if owner is None or not self._analysis.names.is_self(attribute.value):
            return Onward(cause=Cause.OBJECT)
        known = self._read.get((attribute.attr, owner))
        if known is None:
            known = self._read[attribute.attr, owner] = self._find_reads(attribute.attr, owner)
        return known

    def _find_reads(self, name: str, owner: ast.ClassDef) -> Onward:
        uses = self._uses_of_attribute(name, owner)
        reads = tuple(
            use for use in uses if isinstance(use.ctx, ast.Load) and not self._only_changes_items(use)
        )
        if not reads:
            return Onward(cause=Cause.OBJECT)  # other methods handle these
        if len(reads) > _MOST:
            return Onward(cause=Cause.TOO_MANY)
        if self._is_used_in_other_file(name, owner):
            return Onward(reads, cause=Cause.OTHER_PLACE)
        return Onward(reads, "" if self._is_script else f"uses `self.{name}`")

    def _only_changes_items(self, use: ast.Attribute) -> bool:
        """Whether a use only adds or removes items (`self.values.append(value)`, `self.values.clear()`), so
        that no item is read.
        """
        call = self._syntax.method_call(use)
        if call is None or not isinstance(self._syntax.parents.get(call), ast.Expr):
            return False
        return last_name(call.func) in _CHANGES_ITEMS

    # -- who is meant --------------------------------------------------------------------------

    def _uses_of_attribute(self, name: str, owner: ast.ClassDef) -> Iterator[ast.Attribute]:
        """Yield the uses of an attribute in this file, except those on objects of unrelated classes, and
        except names of imported modules (`random.sample`).
        """
        for use in self._syntax.written.attributes.get(name, ()):
            if models.callable_fact(self._analysis.names.qualified(use) or "") is not None:
                continue
            if self._analysis.names.is_self(use.value):
                user = self._syntax.class_of(use)
                if user is not None and user is not owner and not self._are_related(user, owner):
                    continue
            yield use

    def _are_related(self, one: ast.ClassDef, other: ast.ClassDef) -> bool:
        first, second = self._class(one), self._class(other)
        return first is None or second is None or self._symbols.are_related(first, second)

    def _class(self, node: ast.ClassDef) -> ClassSummary | None:
        return self._module.classes.get(self._syntax.qualname(node))

    def _is_used_in_other_file(self, name: str, owner: ast.ClassDef) -> bool:
        return self._symbols.is_used_in_other_file(name, self._class(owner), self._module.module)

    @cached_property
    def _is_script(self) -> bool:
        return self._symbols.is_script(self._module.module)
