"""Is autograd off where a node runs: by a block, a decorator, or everybody who calls its function?"""

from __future__ import annotations

import ast
import re
from functools import cached_property
from typing import TYPE_CHECKING

from rlint.enums import Enum
from rlint.regex import regex
from rlint.semantics.interprocedural.trampoline import Step, run
from rlint.syntax.last_names import last_name
from rlint.syntax.scopes import BindingKind
from rlint.syntax.syntax_index import FUNCTIONS, Function, SyntaxIndex

if TYPE_CHECKING:
    from rlint.semantics.dataflow.reaching_definitions import ReachingDefinitions
    from rlint.semantics.frequency.heat import HeatMap
    from rlint.semantics.interprocedural.call_graph import CallGraph
    from rlint.semantics.interprocedural.qualified_names import QualifiedNames
    from rlint.semantics.interprocedural.summary import FunctionSummary


class Autograd(Enum):
    """Does torch record what is computed?"""

    ON = "on"
    OFF = "off"
    UNKNOWN = "unknown"


_GRAD_MODE = ("torch", "torch.autograd", "torch.autograd.grad_mode")
_OFF = frozenset(f"{module}.{name}" for module in _GRAD_MODE for name in ("no_grad", "inference_mode"))
_ON = frozenset(f"{module}.enable_grad" for module in _GRAD_MODE)
_SET = frozenset(f"{module}.set_grad_enabled" for module in _GRAD_MODE)
_SETTERS = frozenset(name.rpartition(".")[2] for name in _SET)
_TURNING = frozenset(name.rpartition(".")[2] for name in _OFF | _ON | _SET)
_TURNS = regex(r"grad|infer|(^|_)(eval|evaluat\w*|frozen|test|predict\w*)(_|$)", re.IGNORECASE)
_DECORATE_ONLY = frozenset("abc builtins contextlib dataclasses functools numba typing".split())
# what frameworks call with autograd off
_HOOKS = regex(r"(validation|test|predict)_step$|on_(validation|test|predict)_|prediction_step$")
_CALLED_UNSEEN = frozenset({"forward", "__call__"})  # by way of the object, which calls elsewhere may do
_MOST_CALLERS = 24
_DEPTH = 4


class LocalAutograd:
    """What one file says about autograd."""

    def __init__(self, syntax: SyntaxIndex, names: QualifiedNames, definitions: ReachingDefinitions) -> None:
        self.syntax = syntax
        self.names = names
        self.definitions = definitions
        self._functions: dict[Function, Autograd | None] = {}
        self._statements: dict[ast.stmt | None, Autograd | None] = {}

    def at(self, node: ast.AST) -> Autograd | None:
        """What the function that runs a node says about autograd there; None where it says nothing."""
        if node in self.syntax.buried:
            return Autograd.UNKNOWN
        parents = self.syntax.parents
        place: ast.AST | None = self.syntax.wholes.of(node)
        while place is not None and not isinstance(place, ast.stmt):
            place = parents.get(place)
            if type(place) is ast.Lambda:
                return Autograd.UNKNOWN
        return self._at(place)

    def _at(self, statement: ast.stmt | None) -> Autograd | None:
        """What is said at a statement. What stands around it is asked once for all that stand in it."""
        known, parents = self._statements, self.syntax.parents
        if statement in known:
            return known[statement]
        passed: list[ast.stmt] = []
        said = Autograd.UNKNOWN if self.turned_by(None) else None
        child: ast.AST | None = statement
        while child is not None:
            if isinstance(child, ast.stmt):
                if child in known:
                    said = known[child]
                    break
                passed.append(child)
                parent = parents.get(child)
                if isinstance(parent, FUNCTIONS):
                    if parent not in self._functions:
                        self._functions[parent] = self._function(parent)
                    said = self._functions[parent]
                    break
                entered = self._entered(parent) if isinstance(parent, (ast.With, ast.AsyncWith)) else None
                if entered is not None:
                    said = entered
                    break
            child = parents.get(child)
        known.update(dict.fromkeys(passed, said))
        return said

    def _entered(self, block: ast.With | ast.AsyncWith) -> Autograd | None:
        for item in reversed(block.items):
            said = self._context(item.context_expr, _DEPTH)
            if said is not None:
                return said
        return None

    def turned_by(self, function: Function | None) -> bool:
        """Does running a function (None: the module) leave autograd turned on or off for what follows?"""
        return function in self._turning

    @cached_property
    def _turning(self) -> set[Function | None]:
        if not any(name in self.syntax.text for name in _SETTERS):
            return set()
        return {
            self.syntax.function(call)
            for call in self.syntax.of_type(ast.Call)
            if isinstance(self.syntax.parents.get(call), ast.Expr) and self.names.qualified(call.func) in _SET
        }

    def _function(self, function: Function) -> Autograd | None:
        for decorator in function.decorator_list:
            said = self._decorator(decorator)
            if said is not None:
                return said
        if _HOOKS.search(function.name) or self.turned_by(function):
            return Autograd.UNKNOWN
        return None

    def _decorator(self, decorator: ast.expr) -> Autograd | None:
        named = decorator.func if isinstance(decorator, ast.Call) else decorator
        qualified = self.names.qualified(named) or ""
        if qualified in _OFF | _ON | _SET:
            if isinstance(decorator, ast.Call):
                return self._context(decorator, _DEPTH)
            return Autograd.OFF if qualified in _OFF else Autograd.ON
        if qualified.partition(".")[0] in _DECORATE_ONLY:
            return None
        return Autograd.UNKNOWN if self._may_turn(named, qualified) else None

    def _context(self, entered: ast.expr, depth: int) -> Autograd | None:
        """What entering a context says: `torch.no_grad()`, or a variable or function that may be one."""
        if depth <= 0:
            return Autograd.UNKNOWN
        if isinstance(entered, ast.IfExp):
            either = {self._context(branch, depth - 1) for branch in (entered.body, entered.orelse)}
            return either.pop() if len(either) == 1 else Autograd.UNKNOWN
        if isinstance(entered, ast.Call):
            return self._entered_call(entered)
        if isinstance(entered, ast.Name):
            made = [b.value for b in self.definitions.reaching(entered) if b.kind is BindingKind.ASSIGN]
            said = {self._context(value, depth - 1) for value in made if value is not None}
            if said:
                return said.pop() if len(said) == 1 else Autograd.UNKNOWN
        return Autograd.UNKNOWN if self._may_turn(entered, "") else None

    def _entered_call(self, call: ast.Call) -> Autograd | None:
        qualified = self.names.qualified(call.func) or ""
        if qualified in _ON:
            return Autograd.ON
        if qualified in _OFF | _SET:
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            mode = given[0] if given else ast.Constant(value=True)
            if not isinstance(mode, ast.Constant):
                return Autograd.UNKNOWN
            if qualified in _OFF:
                return Autograd.OFF if mode.value else None
            return Autograd.ON if mode.value else Autograd.OFF
        if qualified.startswith(("torch.", "builtins.", "contextlib.")):
            return None
        return Autograd.UNKNOWN if self._may_turn(call.func, qualified) else None

    def _may_turn(self, named: ast.expr, qualified: str) -> bool:
        """Does a name say that it has to do with autograd, or does the function of this file that it names
        have to do with it?
        """
        last = last_name(named) or ""
        if _TURNS.search(last):
            return True
        return (qualified.rpartition(".")[2] or last) in self._definitions_that_turn

    @cached_property
    def _definitions_that_turn(self) -> set[str]:
        """The names of the functions and classes of this file in which autograd is turned."""
        found: set[str] = set()
        every = _OFF | _ON | _SET
        if not any(name in self.syntax.text for name in _TURNING):
            return found
        attributes = self.syntax.written.attributes
        named = [node for name in _TURNING for node in attributes.get(name, ())]
        for node in (*named, *self.syntax.of_type(ast.Name)):
            if self.names.qualified(node) in every:
                found.update(
                    around.name
                    for around in self.syntax.ancestors(node)
                    if isinstance(around, (*FUNCTIONS, ast.ClassDef))
                )
        return found


class AutogradCallers:
    """What those who call a function say about autograd, across files."""

    def __init__(self, heat: HeatMap, guesses: AutogradGuesses) -> None:
        self._heat = heat
        self._guesses = guesses
        self._known: dict[str, Autograd] = {}

    def of(self, function: FunctionSummary) -> Autograd:
        """Is autograd off whenever the function is called? Only the callers that run most often count;
        what nobody is known to call runs with autograd on.
        """
        return run(self._of(function))

    def _of(self, function: FunctionSummary) -> Step[Autograd]:
        known = self._known.get(function.path)
        if known is None:
            self._known[function.path] = Autograd.UNKNOWN
            known = self._known[function.path] = yield self._by_callers(function)
        return known

    def _by_callers(self, function: FunctionSummary) -> Step[Autograd]:
        found: dict[int, set[Autograd]] = {}
        for level, edge in self._heat.callers(function)[:_MOST_CALLERS]:
            if edge.caller.path == function.path:
                continue
            said = edge.site.autograd
            if said is None and self._turned_in(edge.caller):
                said = Autograd.UNKNOWN
            found.setdefault(level, set()).add(said if said is not None else (yield self._of(edge.caller)))
        if not found:
            unsure = function.name in _CALLED_UNSEEN or self._guesses.is_turned_in_program(function.module)
            guessed = self._guesses.said_by_name(function.name)
            return Autograd.UNKNOWN if unsure or guessed - {Autograd.ON} else Autograd.ON
        states = found[max(found)]
        if Autograd.ON in states:
            return Autograd.ON
        return states.pop() if len(states) == 1 else Autograd.UNKNOWN

    def _turned_in(self, caller: FunctionSummary) -> bool:
        return any(edge.target.turns_autograd for edge in self._heat.graph.calls(caller.path))


class AutogradGuesses:
    """What can be guessed of autograd where nobody knows who calls a function."""

    def __init__(self, graph: CallGraph) -> None:
        self._graph = graph

    def is_turned_in_program(self, module: str) -> bool:
        """Does anything in the program of a module turn autograd off or on for all that follows?"""
        return self._graph.program(module) in self._turning

    def said_by_name(self, method: str) -> frozenset[Autograd]:
        """What calls of a method of this name say, of which nobody knows what they run."""
        return frozenset(self._said.get(method, ()))

    @cached_property
    def _turning(self) -> set[str]:
        """The programs in which something does."""
        return {
            self._graph.program(module.module)
            for module in self._graph.index.modules.values()
            if not module.is_test and any(f.turns_autograd for f in module.functions.values())
        }

    @cached_property
    def _said(self) -> dict[str, set[Autograd]]:
        found: dict[str, set[Autograd]] = {}
        for module in self._graph.index.modules.values():
            for caller in module.functions.values():
                for site in self._graph.unresolved(caller.path):
                    if site.autograd is not None:
                        found.setdefault(site.method, set()).add(site.autograd)
        return found
