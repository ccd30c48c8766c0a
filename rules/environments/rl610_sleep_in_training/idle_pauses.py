"""Calls that pause the program for a number of seconds, whatever happens meanwhile."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from rlint.rule import SemanticModel, Type, TypeTag, frozen, numbers, regex, waiting_words

_COMMAND = regex(r"^\s*sleep\s+(\d+(?:\.\d*)?|\.\d+)s?\s*$")


@frozen
class IdlePause:
    """A pause of so many `seconds`, if they are known, which `assumes` something of a setting. It may be a
    limit: a clock only waits for what is left of the frame.
    """

    seconds: float | None = None
    assumes: str | None = None
    is_limit: bool = False


def pause_of(call: ast.Call, model: SemanticModel) -> IdlePause | None:
    """Return the pause that a call makes; None for other calls, for waits that an event ends earlier, and for
    durations that are computed or not known.
    """
    command = _seconds_of_command(call, model)
    if command is not None:
        return IdlePause(command) if command else None
    given = _duration(call, model)
    if given is None:
        return None
    duration, unit = given
    number = numbers.number_of(duration, model)
    if number is not None and number.fixed:
        return _pause(number.value, unit)
    text = model.source.text(duration)
    if _is_constant_of_other_file(duration, model):
        return IdlePause(assumes=f"`{text}` is not 0")
    value = number.value if number is not None else setting_of(duration, model)
    pause = _pause(value, unit) if value is not None else None
    if pause is None:
        return None
    return replace(pause, assumes=f"`{text}` is {value:g}, as by default")


def _pause(value: float, unit: float) -> IdlePause | None:
    """Return the pause of a number of units; a negative unit is that of a rate."""
    if value <= 0:
        return None
    return IdlePause(-unit / value, is_limit=True) if unit < 0 else IdlePause(value * unit)


def _duration(call: ast.Call, model: SemanticModel) -> tuple[ast.expr, float] | None:
    """Return the argument with the duration of a pause, and its unit in seconds; -1 if it is the number of
    frames per second.
    """
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    path = model.names.qualified(call.func)
    if path == "select.select" and len(given) == len(("read", "write", "error", "timeout")):
        waits = any(not isinstance(each, (ast.List, ast.Tuple)) or each.elts for each in given[:-1])
        return None if waits else (given[-1], 1.0)
    if len(given) != 1:
        return None
    if path is not None:
        unit = waiting_words.PAUSES.get(path)
        return (given[0], unit) if unit is not None else None
    if not isinstance(call.func, ast.Attribute):
        return None
    owner = call.func.value
    if call.func.attr == "wait" and isinstance(owner, ast.Call):
        return (given[0], 1.0) if model.names.qualified(owner.func) in waiting_words.EVENTS else None
    kind = model.types.type_of(owner)
    if kind.tag is TypeTag.INSTANCE and call.func.attr in waiting_words.FRAME_CLOCKS.get(kind.of, ()):
        return given[0], -1.0
    return None


def _seconds_of_command(call: ast.Call, model: SemanticModel) -> float | None:
    """Return the seconds of `os.system("sleep 0.1")` and `subprocess.run(["sleep", "0.1"])`."""
    if not call.args or model.names.qualified(call.func) not in waiting_words.RUN_COMMANDS:
        return None
    match call.args[0]:
        case ast.Constant(value=str(text)):
            pass
        case ast.List(elts=[ast.Constant(value=str(name)), ast.Constant(value=str(duration))]):
            text = f"{name} {duration}"
        case _:
            return None
    found = _COMMAND.match(text)
    return float(found[1]) if found is not None else None


def _is_constant_of_other_file(duration: ast.expr, model: SemanticModel) -> bool:
    """Whether it is a number that another file of the project sets at module level: `config.pause`."""
    if not isinstance(duration, (ast.Name, ast.Attribute)):
        return False
    path = model.names.qualified(duration)
    found = model.index.symbol(path, model.analysis.name) if path is not None else None
    return isinstance(found, Type) and found.tag in (TypeTag.INT, TypeTag.FLOAT)


def setting_of(value: ast.expr, model: SemanticModel) -> float | None:
    """Return the number that a file gives to a setting: the entry of a dict at module level
    (`CONFIG["pause"]`), or the field of that name of a class of settings or an option of the command line
    (`args.pause`). None if several places give different numbers.
    """
    match value:
        case ast.Subscript(value=ast.Name() as owner, slice=ast.Constant(value=str(key))):
            given = list(_entries(owner, key, model))
        case ast.Attribute(value=owner, attr=name) if not model.names.is_self(owner):
            given = [*_fields(name, model), *_options(name, model)]
        case _:
            return None
    found = [numbers.number_of(each, model) for each in given]
    values = {number.value for number in found if number is not None}
    return values.pop() if len(values) == 1 and None not in found else None


def _entries(name: ast.Name, key: str, model: SemanticModel) -> Iterator[ast.expr]:
    for binding in model.names.bindings(name):
        if isinstance(binding.value, ast.Dict):
            for entry, given in zip(binding.value.keys, binding.value.values, strict=True):
                if isinstance(entry, ast.Constant) and entry.value == key:
                    yield given
        elif isinstance(binding.value, ast.Call) and model.names.qualified(binding.value.func) == (
            "builtins.dict"
        ):
            yield from (keyword.value for keyword in binding.value.keywords if keyword.arg == key)


def _fields(name: str, model: SemanticModel) -> Iterator[ast.expr]:
    for cls in model.syntax.of_type(ast.ClassDef):
        assert isinstance(cls, ast.ClassDef)
        for statement in cls.body:
            match statement:
                case (
                    ast.AnnAssign(target=ast.Name(id=field), value=ast.expr() as given)
                    | ast.Assign(targets=[ast.Name(id=field)], value=given)
                ) if field == name:
                    yield given


def _options(name: str, model: SemanticModel) -> Iterator[ast.expr]:
    for call in model.names.calls_by_name.get("add_argument", []):
        flags = [flag.value for flag in call.args if isinstance(flag, ast.Constant)]
        if any(str(flag).lstrip("-").replace("-", "_") == name for flag in flags):
            yield from (keyword.value for keyword in call.keywords if keyword.arg == "default")
