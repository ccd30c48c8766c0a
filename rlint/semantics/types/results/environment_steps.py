"""Likely results of environments whose class does not determine them: observations are arrays, rewards
numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.models.value_type import PLAIN, UNKNOWN, Caveat, Type, TypeTag
from rlint.regex import regex
from rlint.syntax.assignments import targets_of
from rlint.syntax.last_names import last_name
from rlint.syntax.scopes import Scope
from rlint.syntax.syntax_index import SyntaxIndex

SHOWS = frozenset({"reset", "step"})
"""The methods by which an environment returns its state."""
CALLED_SO = regex(r"(^|_)(env|envs|environment|environments)(_?\d+)?$")
"""Conventional names of environments."""

_ASSUMED = Caveat(assumes=("the environment returns arrays and numbers",))
"""One assumption for all results of environments, since those of `reset` and `step` go into the same
variables.
"""
_OBSERVATION, _DONE = 0, 2
_GIVEN = (4, 5)
"""Number of values that `step` returns: with one flag for the end of an episode, or with two."""
_INFO = PLAIN[TypeTag.DICT]
_HELD_BY_KEY = frozenset({"get", "items", "keys", "values"})


class EnvironmentResults:
    """The results of environment calls in one file, judging by their uses. A value used in a way that no
    array allows is not an array: a state that indexes a table, a dictionary with one observation per agent.
    """

    def __init__(self, syntax: SyntaxIndex) -> None:
        self._syntax = syntax
        self._steps: dict[str, bool] = {}

    def shown(self, call: ast.Call, owner: Type) -> Type:
        """Return the likely type of `env.step(action)` or `env.reset()`, with its assumption; UNKNOWN for
        other calls.
        """
        found = self._shown(call, owner)
        return found._replace(caveat=_ASSUMED) if found else found

    def _shown(self, call: ast.Call, owner: Type) -> Type:
        assert isinstance(call.func, ast.Attribute)
        targets = targets_of(call, self._syntax.parents)
        if call.func.attr == "step":
            if not call.args and not call.keywords:
                return UNKNOWN
            parts = self._parts_of_step(targets)
            known = owner.tag is TypeTag.ENVIRONMENT or self._steps_environment(call)
            return Type(TypeTag.TUPLE, parts=parts) if parts and known else UNKNOWN
        known = owner.tag is TypeTag.ENVIRONMENT or self._is_stepped(last_name(call.func.value))
        return self._start(call, targets) if known else UNKNOWN

    def _parts_of_step(self, targets: list[ast.expr]) -> tuple[Type, ...]:
        match targets:
            case [ast.Tuple(elts=names) | ast.List(elts=names)] if len(names) in _GIVEN:
                pass
            case _:
                return ()
        observation = self._as_array(names[_OBSERVATION])
        if not any(self._is_flag(name) for name in names[_DONE:-1]):
            return (observation, *[UNKNOWN] * (len(names) - 1))
        flags = [PLAIN[TypeTag.BOOL]] * (len(names) - 3)
        return (observation, PLAIN[TypeTag.FLOAT], *flags, _INFO)

    def _start(self, call: ast.Call, targets: list[ast.expr]) -> Type:
        """Return the type of `reset`: the observation, alone or with an info dict."""
        parent = self._syntax.parents.get(call)
        match targets:
            case [ast.Tuple(elts=[observation, _])]:
                return Type(TypeTag.TUPLE, parts=(self._as_array(observation), _INFO))
            case [ast.Tuple() | ast.List()]:
                return UNKNOWN
            case [target]:
                return self._as_array(target)
        match parent:
            case ast.Subscript(slice=ast.Constant(value=0)):
                held = targets_of(parent, self._syntax.parents)
                observation_type = self._as_array(held[0]) if held else PLAIN[TypeTag.NDARRAY]
                return Type(TypeTag.TUPLE, parts=(observation_type, _INFO))
        return UNKNOWN

    def _steps_environment(self, call: ast.Call) -> bool:
        """Whether a call with several results steps an environment that is recognised by nothing else."""
        assert isinstance(call.func, ast.Attribute)
        name = last_name(call.func.value)
        if not name or not CALLED_SO.search(name.lower()):
            return False
        return any(
            isinstance(reset.func, ast.Attribute) and last_name(reset.func.value) == name
            for reset in self._syntax.written.calls_of(("reset",))
        )

    def _is_stepped(self, name: str | None) -> bool:
        if name is None:
            return False
        known = self._steps.get(name)
        if known is None:
            known = self._steps[name] = any(
                isinstance(step.func, ast.Attribute)
                and last_name(step.func.value) == name
                and self._steps_environment(step)
                and bool(self._parts_of_step(targets_of(step, self._syntax.parents)))
                for step in self._syntax.written.calls_of(("step",))
            )
        return known

    def _as_array(self, target: ast.expr) -> Type:
        """Return an array type, if no use of the variable contradicts it."""
        odd = any(self._is_no_array(use) for use in self._uses(target))
        return UNKNOWN if odd else PLAIN[TypeTag.NDARRAY]

    def _is_no_array(self, use: ast.expr) -> bool:
        parents = self._syntax.parents
        parent = parents.get(use)
        match parent:
            case ast.Subscript(value=value, slice=index) if value is use:
                return isinstance(index, ast.Name) or (
                    isinstance(index, ast.Constant) and (index.value == 0 or isinstance(index.value, str))
                )
            case ast.Subscript():
                return True  # it indexes a container
            case ast.Tuple() if isinstance(parents.get(parent), ast.Subscript):
                return True
            case ast.Attribute(attr=name):
                return name in _HELD_BY_KEY
            case ast.Call(func=ast.Name(id="isinstance" | "len" | "hash")):
                return True
            case ast.Call(func=copies) if last_name(copies) == "deepcopy":
                return True  # code that copies it deeply expects more than an array
            case ast.Dict(keys=keys):
                return any(key is use for key in keys)
        return False

    def _is_flag(self, target: ast.expr) -> bool:
        """Whether a variable is tested as a single flag: several environments return a flag for each."""
        for use in self._uses(target):
            match self._syntax.parents.get(use):
                case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) if test is use:
                    return True
                case ast.UnaryOp(op=ast.Not()):
                    return True
                case ast.BoolOp():
                    return True
        return False

    def _uses(self, target: ast.expr) -> Iterator[ast.expr]:
        """Yield the places that may read a target of an assignment."""
        match target:
            case ast.Name(id=name):
                scope: Scope | None = self._syntax.scope(target).lookup(name)
                yield from (use for use in self._syntax.variables.uses(name, scope) if _is_read(use))
            case ast.Attribute(attr=name):
                yield from (use for use in self._syntax.written.attributes.get(name, ()) if _is_read(use))


def _is_read(node: ast.Name | ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Load)
