"""The loops of each function, what drives them, and which of them repeat a line."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from rlint import models
from rlint.findings import Heat
from rlint.models import vocabulary
from rlint.models.value_type import TypeTag
from rlint.regex import regex
from rlint.semantics.frequency.driver_calls import (
    DRIVING,
    STEPPING,
    STEPS_ENVIRONMENT,
    driver_of,
    is_loader,
    steps_item,
)
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.frequency.guards import Guard, GuardKind, inner_guards
from rlint.semantics.frequency.iteration_frequency import IterationFrequency
from rlint.semantics.frequency.over_items.item_runs import ItemRuns
from rlint.semantics.frequency.path_conditions import PathConditions
from rlint.semantics.frequency.phases.watching_pauses import long_pauses
from rlint.semantics.interprocedural.summary import LoopSummary
from rlint.semantics.types.infer import TypeInference
from rlint.syntax.last_names import last_name
from rlint.syntax.syntax_index import COMPREHENSIONS, LOOPS, Comprehension, SyntaxIndex
from rlint.syntax.syntax_index import Loop as LoopNode
from rlint.syntax.walk import RUN_LATER, descendants

BOUNDED = 8
"""A loop over at most this many constant items does not make its body hotter."""

_HEADER_LENGTH = 60
_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_NONE: frozenset[Driver] = frozenset()
_OF_NUMBER = regex(r"alpha|temp|entropy|(^|_)(log_)?std|lambda|lagrang|(^|_)eta(_|$)")
"""Optimizers of single numbers: `self.alpha_optimizer`."""

_REPEATS_OR_LEAVES = frozenset({*LOOPS, *COMPREHENSIONS, *RUN_LATER, ast.If})
"""Statements around a line that determine which loops repeat it."""

AnyLoop = LoopNode | Comprehension


class LoopIndex:
    """All loops and comprehensions of one file, by the function that runs them (None: the module)."""

    def __init__(self, syntax: SyntaxIndex, types: TypeInference) -> None:
        self.syntax = syntax
        self.types = types
        self.of_function: dict[ast.AST | None, list[AnyLoop]] = {}
        self.index: dict[ast.AST, int] = {}
        self._around: dict[ast.AST, list[AnyLoop]] = {}
        self._unlinked: LoopIndex | None = None
        self.conditions = PathConditions(syntax, types.definitions, self.index)
        """The conditions that guard lines."""
        nodes = [node for kind in (*LOOPS, *COMPREHENSIONS) for node in syntax.of_type(kind)]
        nodes.sort(key=lambda node: (node.lineno, node.col_offset, -(node.end_lineno or 0)))  # type: ignore[attr-defined]
        for node in nodes:
            siblings = self.of_function.setdefault(syntax.function(node), [])
            self.index[node] = len(siblings)
            siblings.append(node)  # type: ignore[arg-type]

    def linked(self, types: TypeInference) -> LoopIndex:
        """Return the same loops, with the project's knowledge of the values that drive them."""
        linked = object.__new__(LoopIndex)
        linked.syntax, linked.types, linked._unlinked = self.syntax, types, self
        linked.of_function, linked.index, linked._around = self.of_function, self.index, self._around
        linked.conditions = self.conditions
        return linked

    def around(self, node: ast.AST) -> list[AnyLoop]:
        """Return the loops of the same function whose body repeats `node`, innermost first. A loop does not
        repeat the line if the line's path always leaves the loop (`break`, `return`, `raise` at the end of
        its block, or of the body of the loop).
        """
        node = self.syntax.wholes.of(self.syntax.buried.get(node, node))
        known = self._around.get(node)
        if known is None:
            known = self._around[node] = self._find_around(node)
        return known

    def _find_around(self, node: ast.AST) -> list[AnyLoop]:
        found: list[AnyLoop] = []
        left = 0
        leaves_all = False
        child: ast.AST = node
        grandchild: ast.AST | None = None
        passed: list[tuple[ast.stmt, int]] = []  # enclosing statements, and the number of loops inside
        parents = self.syntax.parents
        while (parent := parents.get(child)) is not None:
            if isinstance(child, ast.stmt) and not left and not leaves_all:
                known = self._around.get(child)
                if known is not None:
                    found += known
                    break
                passed.append((child, len(found)))
            if type(parent) not in _REPEATS_OR_LEAVES:
                child, grandchild = parent, child
                continue
            if type(parent) in RUN_LATER and child not in _outside(parent):
                break
            if isinstance(parent, LOOPS):
                if self._is_in_body(child, parent) or (
                    isinstance(parent, ast.While) and child is parent.test
                ):
                    if left:
                        left -= 1
                    elif not leaves_all and not (child in parent.body and _runs_once(parent)):
                        found.append(parent)
            elif isinstance(parent, COMPREHENSIONS):
                first = parent.generators[0]
                if child is not first or grandchild is not first.iter:
                    found.append(parent)
            elif isinstance(parent, ast.If) and isinstance(child, ast.stmt):
                last = self.syntax.block(child)[0][-1]
                if isinstance(last, ast.Break):
                    left += 1
                elif isinstance(last, (ast.Return, ast.Raise)):
                    leaves_all = True
            child, grandchild = parent, child
        for statement, inside in passed:
            self._around[statement] = found[inside:]
        return found

    def _is_in_body(self, child: ast.AST, loop: ast.For | ast.AsyncFor | ast.While) -> bool:
        return isinstance(child, ast.stmt) and self.syntax.block(child)[0] is loop.body

    def innermost(self, node: ast.AST) -> AnyLoop | None:
        """Return the innermost loop that repeats `node`, or None."""
        around = self.around(node)
        return around[0] if around else None

    def coldest(self, node: ast.AST) -> Heat:
        """Return the highest heat that a line can have under the conditions between it and its innermost
        loop, judging by its function alone.
        """
        return min((guard.cap for guard in self.cooling_guards(node)), default=Heat.HOT)

    def cooling_guards(self, node: ast.AST) -> tuple[Guard, ...]:
        """Return the conditions between a line and its innermost loop that may make it colder."""
        guards = self.conditions.of(node)
        return inner_guards(guards, [self.index[loop] for loop in self.around(node)]) if guards else ()

    @cached_property
    def iteration_frequency(self) -> IterationFrequency:
        """Return which lines run in each iteration of the enclosing loops and functions."""
        before = self._unlinked
        if before is not None and before._gradient_steps == self._gradient_steps:
            return before.iteration_frequency
        return IterationFrequency(self.syntax, self.conditions, self._gradient_steps)

    @cached_property
    def _gradient_steps(self) -> list[ast.Call]:
        calls = self.syntax.written.calls_of(STEPPING)
        return [call for call in calls if self.driver_of(call) is Driver.GRADIENT_STEP]

    def summaries(self, function: ast.AST | None) -> tuple[LoopSummary, ...]:
        """Return the loops of a function as plain data, in the order of their index."""
        result = []
        for node in self.of_function.get(function, ()):
            parent = self.innermost(node)
            result.append(
                LoopSummary(
                    node.lineno,
                    self.header(node),
                    self.index[parent] if parent is not None else -1,
                    frozenset(self._drivers[0].get(node, _NONE)),
                    self.is_bounded(node) or _iterates_over_parts(node) or self._constructs_parts(node),
                    self.iteration_frequency.each_pass(node),
                    self.conditions.of(node),
                    self.conditions.length_of(node),
                    node in self._working,
                    *self.item_runs.of(node),
                    node in self._yielding,
                    self.conditions.beginnings.of_loop(node),
                    node in self._pausing,
                )
            )
        return tuple(result)

    def _constructs_parts(self, loop: AnyLoop) -> bool:
        """Whether a comprehension constructs the objects that an object is made of, which usually are few:
        `self.robots = [Robot(i) for i in range(self.number)]`.
        """
        match loop, self.syntax.parents.get(loop):
            case ast.ListComp(elt=ast.Call(func=func)), ast.Assign(targets=[ast.Attribute()]):
                name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
                return name[:1].isupper()
        return False

    @cached_property
    def item_runs(self) -> ItemRuns:
        """Return which loops run a network on one item after the other."""
        return ItemRuns(self.syntax, self.types)

    @cached_property
    def _pausing(self) -> frozenset[AnyLoop]:
        """Return the loops that pause in each iteration, without a condition of their own."""
        found: set[AnyLoop] = set()
        for call in long_pauses(self.syntax, self.types.names):
            loop = self.innermost(call)
            if loop is None or self.iteration_frequency.each_pass(call) is False:
                continue
            outside = self.conditions.of(loop)
            if all(guard in outside for guard in self.conditions.of(call)):
                found.add(loop)
        return frozenset(found)

    @cached_property
    def _yielding(self) -> frozenset[AnyLoop]:
        """Return the innermost loops around each `yield`."""
        yields = (*self.syntax.of_type(ast.Yield), *self.syntax.of_type(ast.YieldFrom))
        return frozenset(loop for node in yields if (loop := self.innermost(node)) is not None)

    @cached_property
    def _working(self) -> frozenset[AnyLoop]:
        """Return the loops that run a network, sample, or step an object."""
        found: set[AnyLoop] = set()
        if not self.index:
            return frozenset()
        stepping = {
            call
            for call in self.syntax.written.calls_of(DRIVING)
            if not _last(call).startswith(("get", "recv"))  # usually of a dictionary
        }
        for call in self.syntax.of_type(ast.Call):
            around = self.around(call)
            if around and not found.issuperset(around):
                assert isinstance(call, ast.Call)
                if call in stepping or self.types.type_of(call.func).tag is TypeTag.MODULE:
                    found.update(around)
        return frozenset(found)

    def function_drivers(self, function: ast.AST | None) -> frozenset[Driver]:
        """Return what a function does outside its loops."""
        return frozenset(self._drivers[1].get(function, _NONE))

    def update_intervals(self, function: ast.AST | None) -> tuple[int, ...]:
        """Return the lines of the intervals at which a function takes gradient steps, one at a time."""
        return self._update_intervals.get(function, ())

    def update_conditions(self, function: ast.AST | None) -> tuple[int, ...]:
        """Return the lines of the conditions that govern all gradient steps which a function takes itself,
        and whose other branch has no code.
        """
        return self._update_conditions.get(function, ())

    def steps_optimizers(self, function: ast.AST | None) -> tuple[int, ...]:
        """Return the innermost loop around each step of another network's optimizer in a function (-1 for
        none): the first of several steps of one. The optimizer of a single number (an entropy coefficient)
        does not count.
        """
        return tuple(self._optimizer_steps.get(function, {}).values())

    @cached_property
    def _optimizer_steps(self) -> dict[ast.AST | None, dict[tuple[str, ...], int]]:
        found: dict[ast.AST | None, dict[tuple[str, ...], int]] = {}
        for call in self._gradient_steps:
            if not isinstance(call.func, ast.Attribute) or call.func.attr != "step":
                continue
            parts = (call.func.value, *call.args[:1])  # `scaler.step(optimizer)`
            names = tuple((last_name(part) or "").lower() for part in parts)
            if not any(map(_OF_NUMBER.search, names)):
                loop = self.innermost(call)
                steps = found.setdefault(self.syntax.function(call), {})
                steps.setdefault(names, self.index[loop] if loop is not None else -1)
        return found

    @cached_property
    def _update_conditions(self) -> dict[ast.AST | None, tuple[int, ...]]:
        found: dict[ast.AST | None, set[int]] = {}
        for call in self._gradient_steps:
            function = self.syntax.function(call)
            lines = {guard.line for guard in self.conditions.of(call) if self._is_one_sided(guard.line, call)}
            found[function] = found.get(function, lines) & lines
        return {function: tuple(sorted(lines)) for function, lines in found.items() if lines}

    def _is_one_sided(self, line: int, call: ast.Call) -> bool:
        """Whether the condition in a line only has code in the branch that leads to a call: `if due:` without
        an `else` around it, or `if not due: return` before it.
        """
        around = set(self.syntax.ancestors(call))
        tests = [branch for branch in self._branches.get(line, ()) if not branch.orelse]
        return len(tests) == len(self._branches.get(line, ())) == 1 and (
            not isinstance(tests[0].body[-1], _LEAVING)
            if tests[0] in around
            else len(tests[0].body) == 1 and isinstance(tests[0].body[0], _LEAVING)
        )

    @cached_property
    def _branches(self) -> dict[int, list[ast.If]]:
        found: dict[int, list[ast.If]] = {}
        for branch in self.syntax.of_type(ast.If):
            assert isinstance(branch, ast.If)
            found.setdefault(branch.test.lineno, []).append(branch)
        return found

    @cached_property
    def _update_intervals(self) -> dict[ast.AST | None, tuple[int, ...]]:
        found: dict[ast.AST | None, set[int]] = {}
        for call in self._gradient_steps:
            around = [self.index[loop] for loop in self.around(call)]
            for guard in inner_guards(self.conditions.of(call), around):
                if guard.kind is GuardKind.INTERVAL:
                    found.setdefault(self.syntax.function(call), set()).add(guard.line)
        return {function: tuple(sorted(lines)) for function, lines in found.items()}

    def header(self, loop: AnyLoop) -> str:
        """Return the loop as one short line: `while step < total`."""
        positions, text = self.syntax.positions, self.syntax.text
        if isinstance(loop, ast.While):
            shown = f"while {text[slice(*positions.span(loop.test))]}"
        elif isinstance(loop, (ast.For, ast.AsyncFor)):
            start = positions.span(loop.target)[0]
            shown = f"for {text[start : positions.span(loop.iter)[1]]}"
        else:
            first = loop.generators[0]
            shown = f"for {text[positions.span(first.target)[0] : positions.span(first.iter)[1]]}"
        shown = " ".join(shown.split())
        return shown if len(shown) <= _HEADER_LENGTH else f"{shown[: _HEADER_LENGTH - 1]}…"

    def is_bounded(self, loop: AnyLoop) -> bool:
        """Whether a loop iterates over so few constant items that its body gets no hotter."""
        if isinstance(loop, ast.While):
            return False
        iterable = loop.iter if isinstance(loop, (ast.For, ast.AsyncFor)) else loop.generators[0].iter
        if isinstance(iterable, (ast.Tuple, ast.List, ast.Set)):
            return len(iterable.elts) <= BOUNDED
        if isinstance(iterable, ast.Call) and self.types.names.qualified(iterable.func) == "builtins.range":
            ends = [argument.value for argument in iterable.args if isinstance(argument, ast.Constant)]
            return len(ends) == len(iterable.args) and all(
                isinstance(end, int) and abs(end) <= BOUNDED for end in ends
            )
        return False

    def driver_of(self, call: ast.Call) -> Driver | None:
        """Return the driver that a call is: an environment step, an optimizer step, the arrival of a
        message.
        """
        found = driver_of(call, self.types)
        if found is None and not self.types.type_of(call.func):
            found = Driver.ENVIRONMENT_STEP if self._steps_item(call) else None
        return found

    def _steps_item(self, call: ast.Call) -> bool:
        loop = self.innermost(call)
        if isinstance(loop, COMPREHENSIONS):
            return steps_item(call, loop.generators[-1].target, loop.generators[-1].iter)
        return isinstance(loop, (ast.For, ast.AsyncFor)) and steps_item(call, loop.target, loop.iter)

    @cached_property
    def _drivers(self) -> tuple[dict[AnyLoop, set[Driver]], dict[ast.AST | None, set[Driver]]]:
        """Return what drives each loop, and what each function drives outside of its loops."""
        of_loops: dict[AnyLoop, set[Driver]] = {}
        of_functions: dict[ast.AST | None, set[Driver]] = {}
        now_and_then: list[AnyLoop] = []
        for call in self.syntax.written.calls_of(DRIVING):
            driver = self.driver_of(call)
            if driver is None:
                continue
            around = self.around(call)
            if driver is Driver.GENERATION and around and self._is_at_interval(call):
                now_and_then.append(around[0])
                continue
            in_turn = 0
            while _steps_objects(driver, call) and in_turn < len(around):
                if not self._iterates_over_objects(around[in_turn], call):
                    break
                in_turn += 1
            # environments, and optimizers, that take a step one after the other take one step of the
            # enclosing loop
            first = in_turn if driver is Driver.GRADIENT_STEP else 0
            for loop in around[first : in_turn + 1]:
                of_loops.setdefault(loop, set()).add(driver)
            if in_turn == len(around):
                of_functions.setdefault(self.syntax.function(call), set()).add(driver)
        for run in (*self.syntax.of_type(ast.For), *self.syntax.of_type(ast.AsyncFor)):
            if isinstance(run, (ast.For, ast.AsyncFor)) and is_loader(run.iter, self.types):
                of_loops.setdefault(run, set()).add(Driver.BATCH)
        for loop in self._loops_of_datasets():
            of_loops.setdefault(loop, set()).add(Driver.BATCH)
        for loop in now_and_then:  # samples that a training loop shows at intervals do not drive it
            if Driver.GRADIENT_STEP not in of_loops.get(loop, ()):
                of_loops.setdefault(loop, set()).add(Driver.GENERATION)
        return of_loops, of_functions

    def _loops_of_datasets(self) -> Iterator[AnyLoop]:
        """Yield the loops of iterable datasets that yield samples: `while True: yield self._sample()`."""
        for node in self.syntax.of_type(ast.Yield):
            function, owner = self.syntax.function(node), self.syntax.class_of(node)
            if owner is None or function is None or function.name != "__iter__":
                continue
            bases = (self.types.names.qualified(base) for base in owner.bases)
            facts = (models.callable_fact(base) for base in bases if base is not None)
            if any(fact is not None and fact.result.tag is TypeTag.DATASET for fact in facts):
                loop = self.innermost(node)
                if loop is not None:
                    yield loop

    def _is_at_interval(self, call: ast.Call) -> bool:
        return any(guard.kind is GuardKind.INTERVAL for guard in self.cooling_guards(call))

    def _iterates_over_objects(self, loop: AnyLoop, call: ast.Call) -> bool:
        """Whether a loop calls the method of one of several objects in each iteration."""
        receiver = call.func
        while isinstance(receiver, (ast.Attribute, ast.Subscript)):
            receiver = receiver.value
        if not isinstance(receiver, ast.Name) or isinstance(loop, ast.While):
            return False
        if isinstance(loop, (ast.For, ast.AsyncFor)):
            targets, iterated = [loop.target], loop.iter
        else:
            targets, iterated = [part.target for part in loop.generators], loop.generators[0].iter
        names = {name.id for target in targets for name in descendants(target) if isinstance(name, ast.Name)}
        if receiver.id in names:
            return True
        index = call.func.value if isinstance(call.func, ast.Attribute) else call.func
        picked = index.slice if isinstance(index, ast.Subscript) else None
        return isinstance(picked, ast.Name) and picked.id in names and not isinstance(iterated, ast.Constant)


def _steps_objects(driver: Driver, call: ast.Call) -> bool:
    """Whether a call steps an object, of which there may be several: an environment, an optimizer."""
    if driver is Driver.GRADIENT_STEP:
        return isinstance(call.func, ast.Attribute) and call.func.attr in STEPS_ENVIRONMENT
    return driver is Driver.ENVIRONMENT_STEP


def _runs_once(loop: LoopNode) -> bool:
    """Whether the body of a loop always ends in leaving it: `for batch in loader: … break`."""
    if not isinstance(loop.body[-1], (ast.Break, ast.Return, ast.Raise)):
        return False
    return not any(isinstance(node, ast.Continue) for node in descendants(loop))


def _iterates_over_parts(loop: AnyLoop) -> bool:
    """Whether a loop iterates over the entries of a dict (losses, metrics, agents) or the tensors of a
    network, which are usually few.
    """
    if isinstance(loop, ast.While):
        return False
    iterable = loop.iter if isinstance(loop, (ast.For, ast.AsyncFor)) else loop.generators[0].iter
    while isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name) and iterable.args:
        iterable = iterable.args[0]  # `enumerate(...)`, `sorted(...)`
    return (
        isinstance(iterable, ast.Call)
        and isinstance(iterable.func, ast.Attribute)
        and _last(iterable) in vocabulary.FEW
    )


def _last(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _outside(scope_node: ast.AST) -> list[ast.AST]:
    return [*getattr(scope_node, "decorator_list", ())]
