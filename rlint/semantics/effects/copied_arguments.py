"""Arguments of calls that functions of the project copy to a device."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from rlint.models.value_type import TypeTag
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.call_targets import parameter_of
from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.summary import CallSite, FunctionSummary

_DEPTH = 4


class CopiedArguments:
    """Follows an argument into the functions that a call may run, and from them into those that get their
    parameter unchanged.
    """

    def __init__(
        self,
        analysis: FileAnalysis,
        index: ProjectIndex,
        by_name: Callable[[ast.Call], list[FunctionSummary]],
    ) -> None:
        self._analysis = analysis
        self._index = index
        self._by_name = by_name  # the methods that a call on an object of unknown class may run
        self._known: dict[tuple[str, str, bool], bool] = {}

    def copies(self, call: ast.Call, argument: ast.AST, targets: Iterable[FunctionSummary]) -> bool:
        """Whether one of the `targets` of a call copies an argument to a device; without targets, whether a
        method of this name of any class likely does.
        """
        functions = list(targets)
        if functions:
            return self._any(call, argument, functions)
        return self._any(call, argument, self._by_name(call)) and self._analysis.types.supposes(
            f"`{ast.unparse(call.func)}` copies its arguments to a device"
        )

    def _any(self, call: ast.Call, argument: ast.AST, functions: list[FunctionSummary]) -> bool:
        is_tensor = isinstance(argument, ast.expr) and (
            self._analysis.types.type_of(argument).tag is TypeTag.TENSOR
        )
        for function in functions:
            parameter = parameter_of(argument, call, function)
            if parameter is not None and self._copies(function, parameter, _DEPTH, is_tensor=is_tensor):
                return True
        return False

    def _copies(self, function: FunctionSummary, parameter: str, depth: int, *, is_tensor: bool) -> bool:
        """Whether a function copies a parameter, which `is_tensor` or may be anything, to a device."""
        if parameter in function.copies or (parameter in function.converts and not is_tensor):
            return True
        key = (function.path, parameter, is_tensor)
        known = self._known.get(key)
        if known is None and depth > 0:
            self._known[key] = False  # a recursive call adds nothing new
            known = self._known[key] = any(
                self._copies(target, target.parameter_at(place), depth - 1, is_tensor=is_tensor)
                for site in function.calls
                for place, name in site.names
                if name == parameter and not place.endswith("[]")
                for target in self._called_at(site, function)
            )
        return bool(known)

    def _called_at(self, site: CallSite, function: FunctionSummary) -> list[FunctionSummary]:
        return self._index.callables(site.path, function.module) if site.path else []
