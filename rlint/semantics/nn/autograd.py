"""Whether autograd is off where a node runs: by a block, a decorator, or all callers of its function."""

from __future__ import annotations

import ast
import re
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

from rlint.enums import Enum
from rlint.frozen import frozen, mutable
from rlint.models.value_type import Type, TypeTag
from rlint.regex import regex
from rlint.semantics.interprocedural.trampoline import Step, run
from rlint.syntax.last_names import last_name
from rlint.syntax.scopes import BindingKind
from rlint.syntax.syntax_index import FUNCTIONS, Function, SyntaxIndex

if TYPE_CHECKING:
    from collections.abc import Callable

    from rlint.semantics.dataflow.reaching_definitions import ReachingDefinitions
    from rlint.semantics.frequency.heat import HeatMap
    from rlint.semantics.interprocedural.call_graph import CallEdge, CallGraph
    from rlint.semantics.interprocedural.project_index import ProjectIndex
    from rlint.semantics.interprocedural.qualified_names import QualifiedNames
    from rlint.semantics.interprocedural.summary import CallSite, ClassSummary, FunctionSummary


class Autograd(Enum):
    """Whether torch records operations."""

    ON = "on"
    OFF = "off"
    UNKNOWN = "unknown"


@frozen
class StatedMode:
    """What the code around a place says about autograd; `autograd` is None if it says nothing. `entered` are
    contexts and decorators of the project whose names suggest that they change the autograd mode: the answer
    holds if none of them does, which other files determine.
    """

    autograd: Autograd | None
    entered: tuple[str, ...] = ()


UNSTATED = StatedMode(None)
_UNSURE = StatedMode(Autograd.UNKNOWN)
_GRAD_MODE = ("torch", "torch.autograd", "torch.autograd.grad_mode")
_OFF = frozenset(f"{module}.{name}" for module in _GRAD_MODE for name in ("no_grad", "inference_mode"))
_ON = frozenset(f"{module}.enable_grad" for module in _GRAD_MODE)
_SET = frozenset(f"{module}.set_grad_enabled" for module in _GRAD_MODE)
_SETTERS = frozenset(name.rpartition(".")[2] for name in _SET)
GRAD_MODES = frozenset(name.rpartition(".")[2] for name in _OFF | _ON | _SET)
"""The names of the contexts, decorators and functions of torch that turn autograd on or off."""
_TURNS = regex(r"grad|infer|(^|_)(eval|evaluat\w*|frozen|test|predict\w*)(_|$)", re.IGNORECASE)
_INFERS = regex(r"infer(?!red)")
_DECORATE_ONLY = frozenset("abc builtins contextlib dataclasses functools numba typing".split())
# functions that frameworks call with autograd off
_HOOKS = regex(r"(validation|test|predict)_step$|on_(validation|test|predict)_|prediction_step$")
_CALLED_UNSEEN = frozenset({"forward", "__call__"})  # through the object, which calls in other files may do
_MOST_CALLERS = 24
_Classes = frozenset[str] | None
"""The classes of the object that a method runs for, by path; None if any."""
_DEPTH = 4


class LocalAutograd:
    """The statements of one file about autograd."""

    def __init__(self, syntax: SyntaxIndex, names: QualifiedNames, definitions: ReachingDefinitions) -> None:
        self.syntax = syntax
        self.names = names
        self.definitions = definitions
        self._functions: dict[Function, StatedMode] = {}
        self._statements: dict[ast.stmt | None, StatedMode] = {}
        self._leaves_autograd_alone: Callable[[str], bool] = lambda _: False

    def linked(self, leaves_autograd_alone: Callable[[str], bool]) -> LocalAutograd:
        """Return the same with a way to resolve whether entering an access path leaves autograd unchanged."""
        linked = LocalAutograd(self.syntax, self.names, self.definitions)
        linked._functions, linked._statements = self._functions, self._statements
        linked._leaves_autograd_alone = leaves_autograd_alone
        return linked

    def at(self, node: ast.AST) -> Autograd | None:
        """Return the autograd mode that the function around a node sets there; None if it sets none."""
        stated = self.stated_at(node)
        return stated.autograd if all(map(self._leaves_autograd_alone, stated.entered)) else Autograd.UNKNOWN

    def stated_at(self, node: ast.AST) -> StatedMode:
        """Return the same, with its dependencies on other files."""
        if node in self.syntax.buried:
            return _UNSURE
        parents = self.syntax.parents
        place: ast.AST | None = self.syntax.wholes.of(node)
        while place is not None and not isinstance(place, ast.stmt):
            place = parents.get(place)
            if type(place) is ast.Lambda:
                return _UNSURE
        return self._at(place)

    def concerns(self, definition: Function | ast.ClassDef) -> bool:
        """Whether the text of a function or class mentions autograd."""
        if definition.name in self._definitions_that_turn:
            return True
        start, end = self.syntax.positions.span(definition)
        text = self.syntax.text[start:end].lower()
        documented = ast.get_docstring(definition, clean=False)
        if documented:
            text = text.replace(documented.lower(), "", 1)
        return "grad" in text or ("infer" in text and _INFERS.search(text) is not None)

    def _at(self, statement: ast.stmt | None) -> StatedMode:
        """Return the autograd state at a statement. The surroundings are queried once for all statements in
        them.
        """
        known, parents = self._statements, self.syntax.parents
        if statement in known:
            return known[statement]
        passed: list[ast.stmt] = []
        stated = _UNSURE if self.turned_by(None) else UNSTATED
        entered: tuple[str, ...] = ()
        child: ast.AST | None = statement
        while child is not None:
            if isinstance(child, ast.stmt):
                if child in known:
                    stated = known[child]
                    break
                passed.append(child)
                parent = parents.get(child)
                if isinstance(parent, FUNCTIONS):
                    mode = self._set_before(child, parent)
                    if mode is not None:
                        stated = StatedMode(mode)
                        break
                    if parent not in self._functions:
                        self._functions[parent] = self._function(parent)
                    stated = self._functions[parent]
                    break
                if isinstance(parent, (ast.With, ast.AsyncWith)):
                    inside = self._entered(parent)
                    if inside.entered:
                        passed.clear()  # code outside of it does not depend on it
                        entered += inside.entered
                    if inside.autograd is not None:
                        stated = inside
                        break
            child = parents.get(child)
        known.update(dict.fromkeys(passed, stated))
        if entered:
            stated = StatedMode(stated.autograd, tuple(dict.fromkeys((*entered, *stated.entered))))
        known[statement] = stated
        return stated

    def _entered(self, block: ast.With | ast.AsyncWith) -> StatedMode:
        entered: list[str] = []
        for item in reversed(block.items):
            stated = self._context(item.context_expr, _DEPTH)
            if isinstance(stated, str):
                entered.append(stated)
            elif stated is not None:
                return StatedMode(stated, tuple(entered))
        return StatedMode(None, tuple(entered))

    def turned_by(self, function: Function | None) -> bool:
        """Whether a function (None: the module) switches autograd off, at least for some of its own code."""
        return any(mode is not Autograd.ON for mode in self._set.get(function, {}).values())

    def left_turned_by(self, function: Function) -> bool:
        """Whether running a function leaves autograd switched off afterwards: it switches it off, and not on
        again under the same condition without returning before.
        """
        stated = self._set.get(function, {})
        off = [each for each, mode in stated.items() if mode is not Autograd.ON]
        on = [each for each, mode in stated.items() if mode is Autograd.ON]
        return not all(any(self._restores(each, before, function) for each in on) for before in off)

    def _restores(self, later: ast.stmt, before: ast.stmt, function: Function) -> bool:
        """Whether each run of a function that executes `before` executes `later` after it, unless it
        raises.
        """
        parents = self.syntax.parents
        around, condition = parents.get(later), parents.get(before)
        if around is not function and not (
            isinstance(around, ast.If)
            and isinstance(condition, ast.If)
            and parents.get(around) is function
            and later in around.body
            and before in condition.body
            and ast.dump(around.test) == ast.dump(condition.test)
        ):
            return False
        return later.lineno > before.lineno and not any(
            before.lineno <= left.lineno <= later.lineno and self.syntax.function(left) is function
            for left in self.syntax.of_type(ast.Return)
        )

    def _set_before(self, statement: ast.stmt, function: Function) -> Autograd | None:
        """Return the mode that the last statement before one in the body of a function sets:
        `torch.set_grad_enabled(True)`; None if none does, or if others may.
        """
        stated = self._set.get(function)
        if not stated or any(self.syntax.parents.get(each) is not function for each in stated):
            return None
        before = [each for each in function.body[: function.body.index(statement)] if each in stated]
        return stated[before[-1]] if before else None

    @cached_property
    def _set(self) -> dict[Function | None, dict[ast.stmt, Autograd]]:
        """Return the statements that switch autograd on or off, by their function."""
        found: dict[Function | None, dict[ast.stmt, Autograd]] = {}
        if not any(name in self.syntax.text for name in _SETTERS):
            return found
        for call in self.syntax.of_type(ast.Call):
            statement = self.syntax.parents.get(call)
            if isinstance(statement, ast.Expr) and self.names.qualified(call.func) in _SET:
                mode = self._entered_call(call)
                known = mode if isinstance(mode, Autograd) else Autograd.UNKNOWN
                found.setdefault(self.syntax.function(call), {})[statement] = known
        return found

    def _function(self, function: Function) -> StatedMode:
        entered: list[str] = []
        for decorator in function.decorator_list:
            stated = self._decorator(decorator)
            if isinstance(stated, str):
                entered.append(stated)
            elif stated is not None:
                return StatedMode(stated, tuple(entered))
        unsure = _HOOKS.search(function.name) or self.turned_by(function)
        return StatedMode(Autograd.UNKNOWN if unsure else None, tuple(entered))

    def _decorator(self, decorator: ast.expr) -> Autograd | str | None:
        named = decorator.func if isinstance(decorator, ast.Call) else decorator
        qualified = self.names.qualified(named) or ""
        if qualified in _OFF | _ON | _SET:
            if isinstance(decorator, ast.Call):
                return self._context(decorator, _DEPTH)
            return Autograd.OFF if qualified in _OFF else Autograd.ON
        if qualified.partition(".")[0] in _DECORATE_ONLY:
            return None
        return self._may_turn(named, qualified)

    def _context(self, entered: ast.expr, depth: int) -> Autograd | str | None:
        """Return the autograd mode that entering a context sets: `torch.no_grad()`, or a variable or function
        that may be one; or the path of one that the project defines elsewhere, if its name suggests it.
        """
        if depth <= 0:
            return Autograd.UNKNOWN
        if isinstance(entered, ast.IfExp):
            either = {self._context(branch, depth - 1) for branch in (entered.body, entered.orelse)}
            return either.pop() if len(either) == 1 else Autograd.UNKNOWN
        if isinstance(entered, ast.Call):
            return self._entered_call(entered)
        if isinstance(entered, ast.Name):
            made = [b.value for b in self.definitions.reaching(entered) if b.kind is BindingKind.ASSIGN]
            stated = {self._context(value, depth - 1) for value in made if value is not None}
            if stated:
                return stated.pop() if len(stated) == 1 else Autograd.UNKNOWN
        return self._may_turn(entered, "")

    def _entered_call(self, call: ast.Call) -> Autograd | str | None:
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
        return self._may_turn(call.func, qualified)

    def _may_turn(self, named: ast.expr, qualified: str) -> Autograd | str | None:
        """Return UNKNOWN for a function of this file that changes the autograd mode; the access path of a
        name that suggests it; None for other names.
        """
        last = last_name(named) or ""
        if (qualified.rpartition(".")[2] or last) in self._definitions_that_turn:
            return Autograd.UNKNOWN
        if _TURNS.search(last):
            return qualified or Autograd.UNKNOWN
        return None

    @cached_property
    def _definitions_that_turn(self) -> set[str]:
        """Return the names of the functions and classes of this file that change the autograd mode."""
        found: set[str] = set()
        every = _OFF | _ON | _SET
        if not any(name in self.syntax.text for name in GRAD_MODES):
            return found
        attributes, variables = self.syntax.written.attributes, self.syntax.variables
        named: list[ast.expr] = [node for name in GRAD_MODES for node in attributes.get(name, ())]
        named += [node for name in self._names_that_may_turn for node in variables.named(name)]
        for node in named:
            if self.names.qualified(node) in every:
                found.update(
                    around.name
                    for around in self.syntax.ancestors(node)
                    if isinstance(around, (*FUNCTIONS, ast.ClassDef))
                )
        return found

    @cached_property
    def _names_that_may_turn(self) -> frozenset[str]:
        """Return the names that may refer to functions that change the autograd mode: their own names, and
        aliases by an import or an assignment.
        """
        return GRAD_MODES | {
            name
            for scope in self.syntax.scopes.values()
            for name, bindings in scope.bindings.items()
            for binding in bindings
            if isinstance(binding.value, (ast.Name, ast.Attribute))
            or binding.target.rpartition(".")[2] in GRAD_MODES
        }


@mutable
class _Search:
    """One search up the call graph: the `modes` found, and the functions seen, with whether any of their
    callers decides their mode.
    """

    modes: set[Autograd] = field(default_factory=set)
    seen: dict[tuple[str, _Classes], bool] = field(default_factory=dict)

    @property
    def answer(self) -> Autograd:
        """Return the mode if all callers agree, or if one of them has autograd on."""
        if Autograd.ON in self.modes:
            return Autograd.ON
        return next(iter(self.modes)) if len(self.modes) == 1 else Autograd.UNKNOWN


class AutogradCallers:
    """The autograd mode that the callers of a function set, across files."""

    def __init__(
        self, heat: HeatMap, guesses: AutogradGuesses, leaves_autograd_alone: Callable[[str, str], bool]
    ) -> None:
        self._heat = heat
        self._leaves_autograd_alone = leaves_autograd_alone
        self._guesses = guesses
        self._known: dict[str, Autograd] = {}

    def of(self, function: FunctionSummary) -> Autograd:
        """Return whether autograd is off whenever the function is called. Only the most frequent callers
        count; a function without known callers runs with autograd on.
        """
        return run(self._of(function))

    def is_called_unseen(self, function: FunctionSummary) -> bool:
        """Whether only unknown calls of an object run a function, in a program that turns autograd off or on
        for no other code.
        """
        return (
            function.name in _CALLED_UNSEEN
            and not self._heat.callers(function)
            and not self._guesses.is_turned_in_program(function.module)
        )

    def _of(self, function: FunctionSummary) -> Step[Autograd]:
        known = self._known.get(function.path)
        if known is None:
            search = _Search()
            yield self._by_callers(function, search)
            known = self._known[function.path] = search.answer
        return known

    def _by_callers(self, function: FunctionSummary, search: _Search, of: _Classes = None) -> Step[bool]:
        """Add the modes in which the most frequent callers run a function, for an object of one of the
        classes `of`; False if it is only called by functions that it calls itself, which decide nothing.
        """
        known = self._known.get(function.path) if of is None else None
        if known is not None:
            search.modes.add(known)
            return True
        if of is None:
            of = self._classes_running(function)
        key = (function.path, of)
        if key in search.seen:
            return search.seen[key]
        search.seen[key] = False
        by_level: dict[int, list[tuple[CallEdge, _Classes]]] = {}
        # a property may be read in more places than are known
        calls = () if function.is_property else self._heat.callers(function)[:_MOST_CALLERS]
        for call in calls:
            callers = self._classes_calling(call.edge, of)
            if call.edge.caller.path != function.path and (callers is None or callers):
                by_level.setdefault(call.level, []).append((call.edge, callers))
        decided = not by_level
        if not by_level:
            search.modes.add((yield self._without_callers(function, search)))
        for level in sorted(by_level, reverse=True):
            for edge, callers in by_level[level]:
                decided |= yield self._at(edge.site, edge.caller, search, callers)
                if Autograd.ON in search.modes:
                    return True
            if decided:
                break
        search.seen[key] = decided
        return decided

    def _classes_running(self, function: FunctionSummary) -> _Classes:
        """Return the classes whose objects run a method, rather than an override; None for a function, and
        for a method of a class that neither inherits nor is inherited from.
        """
        index, name = self._heat.index, function.name
        cls = index.owner_of(function) if function.is_method else None
        if cls is None:
            return None
        below = index.subclasses(cls)
        if not below and len(index.ancestry(cls)) == 1:
            return None
        return frozenset(each.path for each in (cls, *below) if index.method(each, name) is function)

    def _classes_calling(self, edge: CallEdge, of: _Classes) -> _Classes:
        """Return the classes among `of` whose objects run the caller, if it calls a method of `self`; None if
        the call does not restrict them.
        """
        of_self = edge.site.receiver == "self" and edge.site.method == edge.target.name
        if of is None or not of_self or not edge.caller.is_method:
            return None  # `self.net(x)` runs `forward` of another object
        index = self._heat.index
        classes = ((path, index.class_of(Type(TypeTag.INSTANCE, path))) for path in of)
        return frozenset(
            path
            for path, cls in classes
            if cls is not None and index.method(cls, edge.caller.name) is edge.caller
        )

    def _without_callers(self, function: FunctionSummary, search: _Search) -> Step[Autograd]:
        """Return the mode of a function without known callers: that of the calls which may run it by its name
        and arguments.
        """
        if function.name in _CALLED_UNSEEN or self._guesses.is_turned_in_program(function.module):
            return Autograd.UNKNOWN
        # module-level code has no caller, and implicit calls do not set the mode
        calls = self._guesses.calls(function) if function.name else ()
        calls = calls or (self._guesses.calls_of_others(function) if function.is_method else ())
        guessed = _Search(seen=search.seen)
        is_stated = any(site.autograd is not None for site, _ in calls)
        for site, caller in calls[:_MOST_CALLERS] if is_stated else ():
            if caller.path != function.path:
                yield self._at(site, caller, guessed, None)
        return Autograd.UNKNOWN if guessed.modes and Autograd.ON not in guessed.modes else Autograd.ON

    def _at(self, site: CallSite, caller: FunctionSummary, search: _Search, classes: _Classes) -> Step[bool]:
        """Add the autograd mode at a call; if it is undetermined, the callers of its function decide."""
        stated = site.autograd
        if not all(self._leaves_autograd_alone(path, caller.module) for path in site.entered):
            stated = Autograd.UNKNOWN
        if stated is None and self._turned_in(caller):
            stated = Autograd.UNKNOWN
        if stated is None:
            decided: bool = yield self._by_callers(caller, search, classes)
            return decided
        search.modes.add(stated)
        return True

    def _turned_in(self, caller: FunctionSummary) -> bool:
        return any(edge.target.turns_autograd for edge in self._heat.graph.calls(caller.path))


class AutogradGuesses:
    """Guesses about autograd for functions whose callers are unknown."""

    def __init__(self, graph: CallGraph) -> None:
        self._graph = graph

    def is_turned_in_program(self, module: str) -> bool:
        """Whether the program of a module turns autograd off or on globally."""
        return self._graph.program(module) in self._turning

    def calls(self, function: FunctionSummary) -> list[tuple[CallSite, FunctionSummary]]:
        """Return the unresolved calls that may run a function, by its name and arguments, with the functions
        that make them.
        """
        return [
            (site, caller) for site, caller in self._by_name.get(function.name, ()) if function.takes(site)
        ]

    def calls_of_others(self, function: FunctionSummary) -> list[tuple[CallSite, FunctionSummary]]:
        """Return the calls of other methods of the same name, which may be this one if a derived class holds
        an object of another class (`self.algorithm.act(observation)`).
        """
        return self._of_others.get(function.name, [])

    @cached_property
    def _of_others(self) -> dict[str, list[tuple[CallSite, FunctionSummary]]]:
        found: dict[str, list[tuple[CallSite, FunctionSummary]]] = {}
        for module in self._graph.index.modules.values():
            for caller in () if module.is_test else module.functions.values():
                for edge in self._graph.calls(caller.path):
                    if edge.target.is_method and edge.site.method == edge.target.name:
                        found.setdefault(edge.target.name, []).append((edge.site, caller))
        return found

    @cached_property
    def _turning(self) -> set[str]:
        """Return the programs that contain such a statement."""
        return {
            self._graph.program(module.module)
            for module in self._graph.index.modules.values()
            if not module.is_test and any(f.turns_autograd for f in module.functions.values())
        }

    @cached_property
    def _by_name(self) -> dict[str, list[tuple[CallSite, FunctionSummary]]]:
        found: dict[str, list[tuple[CallSite, FunctionSummary]]] = {}
        for module in self._graph.index.modules.values():
            for caller in () if module.is_test else module.functions.values():
                for site in self._graph.unresolved(caller.path):
                    if site.method:
                        found.setdefault(site.method, []).append((site, caller))
        return found


def leaves_autograd_alone(path: str, module: str, index: ProjectIndex) -> bool:
    """Whether a context manager (or decorator) of the project is known not to affect autograd. A context
    manager that only changes the mode of networks (`with eval_mode(agent):`) does not.
    """
    cls = index.class_of(index.resolve(f"{path}()", module))
    if cls is not None:
        family: list[ClassSummary] = []
        for each in index.ancestry(cls):
            if not isinstance(each, str):
                family.append(each)
            elif not each.startswith(("builtins.", "contextlib.")):
                return False
        methods = [index.method(each, name) for each in family for name in each.methods]
        return bool(methods) and not any(m is None or m.concerns_autograd for m in methods)
    targets = index.callables(path, module)
    return bool(targets) and not any(target.concerns_autograd for target in targets)
