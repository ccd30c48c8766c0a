"""Values that a program assigns to options, fields, parameters, attributes and keys of displays, by name."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from rlint.regex import regex
from rlint.semantics.frequency.conditions import is_observation
from rlint.syntax.last_names import last_name
from rlint.syntax.queries import defaults_of
from rlint.syntax.syntax_index import FUNCTIONS, SyntaxIndex

if TYPE_CHECKING:
    from rlint.semantics.interprocedural.call_graph import CallGraph
    from rlint.semantics.interprocedural.summary import FunctionSummary

Setting = tuple[str, "bool | int | None"]
"""A name and a value assigned to it: None if the value is not a constant."""

_LENGTH = regex(
    r"interval|freq|every|period|update|delay|sync|target|horizon|rollout|timestep|steps$|iters?$"
)
_SIZE = regex(
    r"batch|capacity|horizon|(buffer|memory|mem|replay|history|group|pool|window)_?(size|len|length|limit)$"
    r"|max_?len$|^max_?(buffer|memory|mem|replay|experiences?|transitions)(_?size)?$"
    r"|^(n|num|nb|number_of)_?(envs?|agents?|workers|actors|samples|generations|rollouts|actions|atoms|quantiles)"
)
_OPTION_CALLS = frozenset({"add_argument", "option"})
_FLAGS = {"store_true": False, "store_false": True}


def settings_of(syntax: SyntaxIndex) -> dict[str, tuple[bool | int | None, ...]]:
    """Return the values that a file assigns to names that determine how often code runs, without values that
    it only passes on (`Agent(log_every=args.log_every)`).
    """
    found: dict[str, dict[bool | int | None, None]] = {}
    for name, value in (
        *_of_functions(syntax),
        *_of_stores(syntax),
        *(setting for call in syntax.of_type(ast.Call) for setting in _of_call(call)),
        *(setting for display in syntax.of_type(ast.Dict) for setting in _of_display(display)),
    ):
        # 1 and True are the same key
        found.setdefault(name, {})[value] = None
    return {name: tuple(values) for name, values in sorted(found.items())}


def settings_of_configuration(
    values: Iterable[tuple[str, object]],
) -> dict[str, tuple[bool | int | None, ...]]:
    """Return the whole numbers in a configuration file by their names, given its keys with their constants,
    as far as the names may be those of sizes or intervals.
    """
    found: dict[str, set[int]] = {}
    for name, value in values:
        if isinstance(value, int) and not isinstance(value, bool) and is_setting(name):
            found.setdefault(name, set()).add(value)
    return {name: tuple(sorted(numbers)) for name, numbers in sorted(found.items())}


class ProgramSettings:
    """The settings of all programs of a project, by their names alone."""

    def __init__(self, graph: CallGraph) -> None:
        self._graph = graph
        self._values: dict[tuple[str, str], set[bool | int | None]] = {}
        self._usual: dict[tuple[str, str], int | None] = {}
        self._taking: dict[tuple[str, str], list[FunctionSummary]] | None = None
        self._off: dict[tuple[str, str], bool] = {}
        self._configured: dict[str, set[int]] = {}
        for file in graph.index.configurations:
            for name, numbers in file.settings.items():
                known = self._configured.setdefault(name.lower(), set())
                known.update(number for number in numbers if number is not None)
        for module in graph.index.modules.values():
            if not module.is_test:
                program = graph.program(module.module)
                for name, values in module.settings.items():
                    self._values.setdefault((program, name), set()).update(values)

    def length(self, name: str, module: str) -> int | None:
        """Return the length of the interval in a setting; the shortest of several, of which those that the
        configurations of a project set replace those of its code. None if it is not known to be a constant.
        """
        configured = [number for number in self._configured.get(name.lower(), ()) if number > 0]
        if configured:
            return min(configured)
        values = self._values.get((self._graph.program(module), name), set())
        lengths = [
            value for value in values if not isinstance(value, bool) and value is not None and value > 0
        ]
        return min(lengths) if lengths and None not in values else None

    def usual(self, name: str, module: str) -> int | None:
        """Return the middle one of the positive numbers that the configurations of a project set, else of
        those that a program sets, of two the smaller; upper and lower case are the same. None if there are
        none.
        """
        key = self._graph.program(module), name.lower()
        if key not in self._usual:
            values = (
                value
                for other in {name, name.lower(), name.upper()}
                for value in self._values.get((key[0], other), ())
                if value is not None and not isinstance(value, bool)
            )
            numbers = self._configured.get(key[1]) or values  # they replace the defaults of the code
            self._usual[key] = usual_of(numbers)
        return self._usual[key]

    def is_off(self, name: str, module: str) -> bool:
        """Whether a switch is off at all places where the program sets it, as far as they are visible."""
        key = self._graph.program(module), name
        if key not in self._off:
            values = self._values.get(key, set())
            self._off[key] = (
                bool(values)
                and not any(value is None or value for value in values)
                and all(self._leaves_off(function, name) for function in self._functions_with(key))
            )
        return self._off[key]

    def is_on(self, name: str, module: str) -> bool:
        """Whether a switch is on at all places where the program sets it: by default, and nowhere off."""
        values = self._values.get((self._graph.program(module), name), set())
        return bool(values) and all(values)

    def _leaves_off(self, function: FunctionSummary, name: str) -> bool:
        """Whether no call passes a value other than the setting of the same name in its position."""
        place = str(function.place_of(name))
        for edge in self._graph.callers(function.path):
            if any(given == place for given, _ in edge.site.arguments):
                passed = dict(edge.site.passes).get(place)
                if dict(edge.site.names).get(place) != name and not passed:
                    return False
        return True

    def _functions_with(self, key: tuple[str, str]) -> list[FunctionSummary]:
        if self._taking is None:
            self._taking = {}
            for module in self._graph.index.modules.values():
                program = self._graph.program(module.module)
                for function in module.functions.values():
                    for parameter in function.parameters:
                        if is_observation(parameter):
                            self._taking.setdefault((program, parameter), []).append(function)
        return self._taking.get(key, [])


def usual_of(numbers: Iterable[int]) -> int | None:
    """Return the middle one of some numbers, of two the smaller; None if there are none above 1, which means
    "not divided".
    """
    known = sorted({number for number in numbers if number > 1})
    return known[(len(known) - 1) // 2] if known else None


@lru_cache(maxsize=4096)
def is_setting(name: str) -> bool:
    """Whether a name may determine how often code runs, or how much data it processes."""
    return is_observation(name) or bool(_LENGTH.search(name.lower()) or _SIZE.search(name.lower()))


def _of_functions(syntax: SyntaxIndex) -> Iterator[Setting]:
    for function in (*syntax.of_type(ast.FunctionDef), *syntax.of_type(ast.AsyncFunctionDef)):
        assert isinstance(function, FUNCTIONS)
        if is_setting(function.name):
            yield function.name, None  # of a property, in place of a field
        for name, default in defaults_of(function.args).items():
            if is_setting(name) and isinstance(default, ast.Constant):
                yield name, _constant(default)


def _of_stores(syntax: SyntaxIndex) -> Iterator[Setting]:
    """Yield the settings that are assigned to fields, attributes and constants of a module."""
    for statement in (*syntax.of_type(ast.Assign), *syntax.of_type(ast.AnnAssign)):
        assert isinstance(statement, (ast.Assign, ast.AnnAssign))
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            name = _stored(target, syntax)
            if statement.value is not None and is_setting(name):
                yield from _given(name, statement.value)
    for counted in syntax.of_type(ast.AugAssign):
        assert isinstance(counted, ast.AugAssign)
        name = _stored(counted.target, syntax)
        if is_setting(name):
            yield name, None


def _stored(target: ast.expr, syntax: SyntaxIndex) -> str:
    """Return the name of an attribute, field or constant of a module that an assignment stores; "" for
    others.
    """
    if isinstance(target, ast.Attribute):
        return target.attr
    if isinstance(target, ast.Name):
        function = syntax.function(target)
        if function is None or target.id in syntax.scopes[function].globals:
            return target.id
    return ""


def _of_call(call: ast.Call) -> Iterator[Setting]:
    """Yield the option that a call declares, or its keyword arguments."""
    if call.args and last_name(call.func) in _OPTION_CALLS:
        flags = [
            flag.value for flag in call.args if isinstance(flag, ast.Constant) and isinstance(flag.value, str)
        ]
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        for flag in flags:
            name = flag.partition("/")[0].lstrip("-").replace("-", "_")
            match given.get("dest"):
                case ast.Constant(value=str(destination)):
                    name = destination
            if flag.startswith("--"):
                value = _of_option(given)
                is_number = value is not None and not isinstance(value, bool)
                if is_number or is_setting(name):
                    yield name, value
        return
    for keyword in call.keywords:
        if keyword.arg and is_setting(keyword.arg):
            yield from _given(keyword.arg, keyword.value)


def _of_display(display: ast.AST) -> Iterator[Setting]:
    """Yield the sizes in the display of a configuration: `{"batch_size": 64}`."""
    assert isinstance(display, ast.Dict)
    for key, value in zip(display.keys, display.values, strict=True):
        match key, value:
            case ast.Constant(value=str() as name), ast.Constant() if _SIZE.search(name.lower()):
                yield name, _constant(value)


def _of_option(given: dict[str | None, ast.expr]) -> bool | int | None:
    match given.get("action"), given.get("default"), given.get("is_flag"):
        case _, ast.Constant() as default, _:
            return _constant(default)
        case ast.Constant(value=str(action)), None, _ if action in _FLAGS:
            return _FLAGS[action]
        case None, None, ast.Constant(value=True):
            return False
    return None


def _given(name: str, value: ast.expr) -> Iterator[Setting]:
    match value:
        case ast.Constant():
            yield name, _constant(value)
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(), ast.Constant() as default]):
            yield name, _constant(default)
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=key)]) if key == name:
            pass
        case ast.Call(keywords=[*_, ast.keyword(arg="default", value=ast.Constant() as default)]):
            yield name, _constant(default)  # `field(default=False)`
        case ast.Subscript(slice=ast.Constant(value=key)) if key == name:
            pass
        case _ if last_name(value) != name:
            yield name, None


def _constant(node: ast.Constant) -> bool | int | None:
    if node.value is None or isinstance(node.value, bool):
        return bool(node.value)
    if isinstance(node.value, (int, float)) and abs(node.value) < 1e15:
        return int(node.value)
    return None
