"""Cost of calls, and whether calling twice can return two different values."""

from __future__ import annotations

import ast
from collections.abc import Callable

from rlint import models
from rlint.models.effect import Effect
from rlint.models.value_type import TypeTag
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.summary import FunctionSummary
from rlint.semantics.interprocedural.trampoline import Step, run
from rlint.syntax.queries import argument_count
from rlint.syntax.syntax_index import COMPREHENSIONS, LOOPS, Function
from rlint.syntax.walk import running

_TEXT = frozenset({TypeTag.STR, TypeTag.BYTES})
_REMEMBERS = frozenset({"functools.cache", "functools.cached_property", "functools.lru_cache"})
_REPEATS = frozenset({*LOOPS, *COMPREHENSIONS})
_LOOKS_AT_ENDS = frozenset({"endswith", "startswith"})
# what these read can be changed by another thread or process, or by the outside world
_OTHERS_CHANGE = frozenset(
    {
        TypeTag.EVENT,
        TypeTag.QUEUE,
        TypeTag.LOCK,
        TypeTag.SEMAPHORE,
        TypeTag.CONDITION,
        TypeTag.BARRIER,
        TypeTag.THREAD,
        TypeTag.PROCESS,
        TypeTag.POOL,
        TypeTag.FUTURE,
        TypeTag.CONNECTION,
        TypeTag.SHARED_VALUE,
        TypeTag.PATH,
        TypeTag.FILE,
        TypeTag.LOGGER,
        TypeTag.RANDOM_GENERATOR,
    }
)
_CHANGE_UNASKED = _OTHERS_CHANGE - {TypeTag.PATH}


class Purity:
    """The cost of calls of project functions, and the state that they read, including the functions that they
    call.
    """

    def __init__(self, index: ProjectIndex) -> None:
        self.index = index
        self._works: dict[str, bool] = {}
        self._watches: dict[str, bool] = {}

    def does_work(self, function: FunctionSummary) -> bool:
        """Whether a function without side effects does more than look up and combine values."""
        return run(self._any(function, self._works, lambda known: known.works, _is_work_of))

    def _calls(self, function: FunctionSummary) -> tuple[tuple[str, Effect], ...]:
        """Return the calls that a function always makes, with their effects."""
        return () if function.remembers else function.effect_paths

    def watches_others(self, function: FunctionSummary) -> bool:
        """Whether a function of this file reads state that other code changes: a file, a queue, a shared
        value.
        """
        return run(self._any(function, self._watches, lambda known: known.watches_others, _is_outside))

    def remembers(self, function: FunctionSummary) -> bool:
        """Whether a function, or one that it calls, caches its results, and counts how often it finds one."""
        pending, seen = [function], {function.path}
        while pending:
            current = pending.pop()
            if current.remembers:
                return True
            for path, _ in current.effect_paths:
                for target in self.index.callables(path, current.module):
                    if target.path not in seen:
                        seen.add(target.path)
                        pending.append(target)
        return False

    def _any(
        self,
        function: FunctionSummary,
        known: dict[str, bool],
        own: Callable[[FunctionSummary], bool],
        of_library: Callable[[TypeTag, str], bool],
    ) -> Step[bool]:
        found = known.get(function.path)
        if found is not None:
            return found
        known[function.path] = False  # a recursive call adds nothing
        found = own(function)
        for path, _ in self._calls(function):
            if found:
                break
            targets = self.index.callables(path, function.module)
            for target in targets:
                found = found or (yield self._any(target, known, own, of_library))
            if not targets:
                owner, _, method = path.rpartition(".")
                found = of_library(
                    self.index.resolve(owner, function.module).tag if owner else TypeTag.UNKNOWN, method
                )
        known[function.path] = found
        return found


def _is_work_of(owner: TypeTag, method: str) -> bool:
    return not models.is_cheap_method(owner, method)


def _is_outside(owner: TypeTag, method: str) -> bool:
    known = models.method_fact(owner, method)
    return owner in _OTHERS_CHANGE and (known is None or not known.effect.pure)


def does_work(function: Function, analysis: FileAnalysis) -> bool:
    """Whether a function of this file does more than look up and combine values: it has a loop, searches
    text, makes an expensive call, or calls itself. The other project functions that it calls are not counted.
    """
    return not remembers(function, analysis) and any(
        _is_work(node, analysis) or _calls_itself(node, function) for node in _body(function)
    )


def _calls_itself(node: ast.AST, function: Function) -> bool:
    """Whether a node is a call of the function around it: a loop in other words."""
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name == function.name
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name)):
            return name == function.name
    return False


def remembers(function: Function, analysis: FileAnalysis) -> bool:
    """Whether a function of this file caches its results by arguments."""
    decorators = [d.func if isinstance(d, ast.Call) else d for d in function.decorator_list]
    return any(analysis.names.qualified(decorator) in _REMEMBERS for decorator in decorators)


def watches_others(function: Function, analysis: FileAnalysis) -> bool:
    """Whether a function without side effects may return another value though this thread changed nothing."""
    looked_at = (node for node in _body(function) if type(node) in _LOOKS)
    return any(looks_outside(node, analysis) for node in looked_at)


_LOOKS = frozenset({ast.Call, ast.Attribute})


def looks_outside(node: ast.AST, analysis: FileAnalysis) -> bool:
    """Whether this node, without its children, reads state that can change without a statement of this
    thread.
    """
    match node:
        case ast.Call(func=func):
            qualified = analysis.names.qualified(func)
            if qualified is not None:
                known = models.callable_fact(qualified, argument_count(node))
                if known is None or known.effect.pure:
                    return False
                return models.reads_state(qualified)
            if isinstance(func, ast.Attribute):
                return _is_outside(analysis.types.type_of(func.value).tag, func.attr)
        case ast.Attribute(value=owner, ctx=ast.Load()):
            is_method = analysis.syntax.call_of(node) is not None
            return not is_method and analysis.types.type_of(owner).tag in _CHANGE_UNASKED
    return False


def is_cheap(call: ast.Call, analysis: FileAnalysis) -> bool | None:
    """Whether a library call is so cheap that repeating it does not matter. None for other functions."""
    qualified = analysis.names.qualified(call.func)
    if qualified is not None:
        known = models.callable_fact(qualified, argument_count(call))
        return models.is_cheap(qualified) if known is not None or models.is_cheap(qualified) else None
    if isinstance(call.func, ast.Attribute):
        owner = analysis.types.type_of(call.func.value).tag
        if models.is_cheap_method(owner, call.func.attr):
            return True
        return False if models.method_fact(owner, call.func.attr, argument_count(call)) else None
    return None


def _is_work(node: ast.AST, analysis: FileAnalysis) -> bool:
    if type(node) in _REPEATS:
        return True
    if not isinstance(node, ast.Call):
        return False
    cheap = is_cheap(node, analysis)
    if isinstance(node.func, ast.Attribute) and analysis.names.qualified(node.func) is None:
        if node.func.attr in _LOOKS_AT_ENDS:
            return False
        if analysis.types.type_of(node.func.value).tag in _TEXT:
            return True  # the cost of searching text grows with its length
        if cheap is None:
            known = models.method_on_unknown(node.func.attr, len(node.args) + len(node.keywords))
            return known is not None and not models.is_cheap_method(TypeTag.TENSOR, node.func.attr)
    return cheap is False


def _body(function: Function) -> list[ast.AST]:
    return [node for statement in function.body for node in running(statement)]
