"""Values that a file gives to settings: options of the command line, fields, parameters, and attributes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Final

from rlint.regex import regex
from rlint.semantics.frequency.branches.branch_tests import BranchTests, Test
from rlint.semantics.frequency.branches.option_choices import Chooser, choices_of, option_of
from rlint.syntax.last_names import last_name
from rlint.syntax.queries import defaults_of
from rlint.syntax.scopes import BindingKind
from rlint.syntax.syntax_index import FUNCTIONS, Function, SyntaxIndex

Given = tuple["bool | int | str | None", bool]
"""A constant, and whether it is the default of a declaration; other values are `UNKNOWN_VALUE`."""

UNKNOWN_VALUE: Final = "?"
ALIAS: Final = "= "
"""Begins a text that stands for the value of another option, and ends with its name."""
ONLY_IF: Final = "? if "
"""Begins a text that stands for any value, given only if an option is on, and ends with its name."""
_ANY_TEXT: Final = "text …"
"""Stands for long strings, such as messages: no test compares them with another one."""
_LONGEST_TEXT = 40
_OPTION_CALLS = frozenset({"add_argument", "option"})
_FLAGS = {"store_true": False, "store_false": True}
_DEFINES = "DEFINE_"
"""Begins the functions of absl that declare an option: `flags.DEFINE_bool("use_per", False, "help")`."""
_CLASS = regex(r"_*[A-Z]\w*[a-z]")
_HOLDS_OPTIONS = regex(r"arg|conf|cfg|flag|hyper|option|param|setting|opt", re.IGNORECASE)
_SACRED = frozenset({"config", "named_config"})
_MAKER = "__init__"
_SUGGESTS = "suggest_"
"""Begins the methods of a trial of Optuna that draw a hyperparameter."""
_MOST_VALUES = 8
_MORE = ("more values", False)


def options_of(syntax: SyntaxIndex, tests: BranchTests) -> dict[str, tuple[Given, ...]]:
    """Return the values that a file gives to settings by their names, without values that it only passes on
    (`Agent(use_per=args.use_per)`).
    """
    return _by_name(
        (
            *_of_functions(syntax),
            *_of_stores(syntax),
            *_of_optional_objects(syntax, tests),
            *(each for call in syntax.of_type(ast.Call) for each in _of_call(call, syntax)),
            *(each for display in syntax.of_type(ast.Dict) for each in _of_display(display, syntax)),
        )
    )


def options_of_configuration(values: Iterable[tuple[str, object]]) -> dict[str, tuple[Given, ...]]:
    """Return the values in a configuration file by their names, given its keys with their constants."""
    return _by_name((name, _constant(value), True) for name, value in values)


def _by_name(values: Iterable[_Named]) -> dict[str, tuple[Given, ...]]:
    found: dict[str, dict[tuple[str, bool], Given]] = {}
    for name, value, is_declared in values:
        if not isinstance(value, _PassedOn):
            known = found.setdefault(name, {})
            key = repr(value)  # 1 and True are equal
            if (key, is_declared) in known or len(known) < _MOST_VALUES:
                known[key, is_declared] = value, is_declared
            else:
                known[_MORE] = UNKNOWN_VALUE, False
    return {name: tuple(values.values()) for name, values in sorted(found.items())}


class _PassedOn:
    """The value of a setting of the same name."""


_PASSED_ON = _PassedOn()
_Named = tuple[str, "bool | int | str | _PassedOn | None", bool]


def _of_functions(syntax: SyntaxIndex) -> Iterator[_Named]:
    """Yield the defaults of parameters. Those of constructors declare settings of a class."""
    for function in (*syntax.of_type(ast.FunctionDef), *syntax.of_type(ast.AsyncFunctionDef)):
        assert isinstance(function, FUNCTIONS)
        for name, default in defaults_of(function.args).items():
            yield name, _value(name, default), function.name == _MAKER


def _of_stores(syntax: SyntaxIndex) -> Iterator[_Named]:
    """Yield the values of fields, attributes, items by name and constants of a module."""
    for statement in (*syntax.of_type(ast.Assign), *syntax.of_type(ast.AnnAssign)):
        assert isinstance(statement, (ast.Assign, ast.AnnAssign))
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        if statement.value is None:
            continue
        for target in targets:
            if _is_part(target, statement.value, syntax):
                continue
            match target:
                case ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
                    yield name, _value(name, statement.value), False
                case ast.Name(id=name) if _declares_settings(syntax.function(target)):
                    is_field = isinstance(syntax.parents[statement], (ast.ClassDef, *FUNCTIONS))
                    yield name, _value(name, statement.value), is_field
    for counted in syntax.of_type(ast.AugAssign):
        assert isinstance(counted, ast.AugAssign)
        if isinstance(counted.target, ast.Attribute):
            yield counted.target.attr, UNKNOWN_VALUE, False


def _of_optional_objects(syntax: SyntaxIndex, tests: BranchTests) -> Iterator[_Named]:
    """Yield the values of variables that are `None` unless an option is on: `writer = SummaryWriter() if
    args.log else None`.
    """
    stored: dict[str, list[ast.Assign]] = {}
    optional: set[str] = set()
    for statement in syntax.of_type(ast.Assign):
        assert isinstance(statement, ast.Assign)
        names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
        for name in names:
            stored.setdefault(name, []).append(statement)
        if _may_be_none(statement.value):
            optional.update(names)
    for name in sorted(optional):
        given = [each for one in stored[name] for each in _optional(one.value, tests.of(one))]
        if any(isinstance(each, str) and each.startswith(ONLY_IF) for each in given):
            yield from ((name, each, True) for each in given)


def _may_be_none(value: ast.expr) -> bool:
    if isinstance(value, ast.IfExp):
        return _may_be_none(value.body) or _may_be_none(value.orelse)
    return isinstance(value, ast.Constant) and value.value is None


def _optional(value: ast.expr, tests: Iterable[Test]) -> Iterator[bool | int | str | None]:
    """Yield the values that an assignment under some tests may give."""
    if isinstance(value, ast.Constant):
        yield _constant(value.value)
        return
    parts = [(value, list(tests))]
    if isinstance(value, ast.IfExp):
        parts = [(value.body, [(value.test, True), *tests]), (value.orelse, [(value.test, False), *tests])]
    for part, around in parts:
        if isinstance(part, ast.Constant):
            yield _constant(part.value)
            continue
        choices = (each for test, taken in around for each in choices_of(test, taken=taken))
        options = [each.name for each in choices if each.chooser is Chooser.OPTION and each.needed is True]
        yield f"{ONLY_IF}{options[0]}" if options else UNKNOWN_VALUE


def _is_part(target: ast.expr, value: ast.expr, syntax: SyntaxIndex) -> bool:
    """Whether an assignment names an object after the option that selects it (`self.mixer = Mixer(args)` if
    `args.mixer` is set, `learner = LEARNERS[args.learner](args)`), which is no value of the option. Objects
    that hold options, judging by the name of their class, are given values of options.
    """
    if not isinstance(value, ast.Call):
        return False
    match target:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            cls = syntax.class_of(target)
            if cls is None or _HOLDS_OPTIONS.search(cls.name):
                return False
            return _CLASS.match(last_name(value.func) or "") is not None or _is_looked_up(value, name)
        case ast.Name(id=name):
            return _is_looked_up(value, name)
    return False


def _is_looked_up(call: ast.Call, option: str) -> bool:
    """Whether a call creates an object of a class that an option selects."""
    return isinstance(call.func, ast.Subscript) and option_of(call.func.slice) == option


def _declares_settings(function: Function | None) -> bool:
    """Whether the variables of a function are settings: of a module, or of a function that Sacred calls for
    them (`@experiment.config`).
    """
    return function is None or any(last_name(decorator) in _SACRED for decorator in function.decorator_list)


def _of_display(display: ast.Dict, syntax: SyntaxIndex) -> Iterator[_Named]:
    """Yield the items of a dict with names as keys, as settings are kept: `{"use_per": False}`."""
    for key, value in zip(display.keys, display.values, strict=True):
        if isinstance(key, ast.Constant) and isinstance(key.value, str) and key.value.isidentifier():
            yield key.value, _value_or_alias(key.value, value, syntax), True


def _of_call(call: ast.Call, syntax: SyntaxIndex) -> Iterator[_Named]:
    """Yield the option that a call declares, or its keyword arguments."""
    if call.args and last_name(call.func) in _OPTION_CALLS:
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        for flag in call.args:
            if isinstance(flag, ast.Constant) and isinstance(flag.value, str) and flag.value.startswith("--"):
                name = flag.value.partition("/")[0].lstrip("-").replace("-", "_")
                match given.get("dest"):
                    case ast.Constant(value=str(destination)):
                        name = destination
                yield name, _of_option(given), True
        return
    match call:
        case ast.Call(args=[ast.Constant(value=str(name)), default, *_]) if (
            last_name(call.func) or ""
        ).startswith(_DEFINES):
            yield name, _value("", default), True
            return
    is_dict = isinstance(call.func, ast.Name) and call.func.id == "dict"
    for keyword in call.keywords:
        if keyword.arg:
            value = _value_or_alias(keyword.arg, keyword.value, syntax)
            yield keyword.arg, value, is_dict
            if isinstance(value, _PassedOn) and isinstance(keyword.value, ast.Name):
                yield from _of_variable(keyword.value, syntax)


def _of_variable(use: ast.Name, syntax: SyntaxIndex) -> Iterator[_Named]:
    """Yield the values of a variable of a function that is passed on under its name: those of parameters and
    of a module are given elsewhere.
    """
    scope = syntax.scope(use).lookup(use.id)
    if scope is None or scope.parent is None:
        return
    for binding in scope.bindings[use.id]:
        if binding.kind is not BindingKind.PARAMETER:
            is_known = binding.kind is BindingKind.ASSIGN and not binding.path
            assigned = binding.value if is_known else None
            yield use.id, UNKNOWN_VALUE if assigned is None else _value(use.id, assigned), False


def _value_or_alias(name: str, value: ast.expr, syntax: SyntaxIndex) -> bool | int | str | _PassedOn | None:
    """Return the value that a setting is given, an alias for a constant of the module with another name:
    `{"use_per": USE_PER}`.
    """
    if isinstance(value, ast.Name) and value.id != name:
        scope = syntax.scope(value).lookup(value.id)
        if scope is not None and scope.parent is None:
            return f"{ALIAS}{value.id}"
    return _value(name, value)


def _of_option(given: dict[str | None, ast.expr]) -> bool | int | str | _PassedOn | None:
    """Return the default of an option."""
    default, action = given.get("default"), given.get("action")
    is_optional = "required" not in given or _is_false(given["required"])
    if not is_optional or None in given:
        return UNKNOWN_VALUE
    if default is not None:
        return _value("", default)
    match action, given.get("is_flag"):
        case ast.Constant(value=str(name)), _:
            return _FLAGS.get(name)
        case _, ast.Constant(value=True):
            return False
    return None


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is False


def _constant(value: object) -> bool | int | str | None:
    match value:
        case None | bool():
            return value
        case str(text):
            return text if len(text) <= _LONGEST_TEXT else _ANY_TEXT
        case int() | float():
            return int(bool(value))
    return UNKNOWN_VALUE


def _value(name: str, value: ast.expr) -> bool | int | str | _PassedOn | None:
    match value:
        case ast.Constant(value=constant):
            return _constant(constant)
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(), default]):
            return _value(name, default)
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=key)]) if key == name:
            return _PASSED_ON
        case ast.Call(func=ast.Name(id="str" | "bool" | "int" | "float"), args=[converted], keywords=[]):
            return _value(name, converted)
        case ast.Call(keywords=[*_, ast.keyword(arg="default", value=default)]):
            return _value(name, default)  # `field(default=False)`
        case ast.Subscript(slice=ast.Constant(value=key)) if key == name:
            return _PASSED_ON
        case ast.Name() | ast.Attribute() if name and last_name(value) == name:
            return _PASSED_ON
        case ast.Call(func=ast.Attribute(attr=method)) if method.startswith(_SUGGESTS):
            return _PASSED_ON  # of a search for hyperparameters, which replaces the default
        case ast.Attribute() | ast.Subscript() if name and (other := option_of(value)):
            return f"{ALIAS}{other}"
    return UNKNOWN_VALUE
