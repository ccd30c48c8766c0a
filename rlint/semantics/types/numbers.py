"""Numeric values of expressions: literals, named constants, defaults."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlint.frozen import frozen
from rlint.models.value_type import Type, TypeTag
from rlint.syntax.queries import defaults_of, element_at
from rlint.syntax.scopes import BindingKind
from rlint.syntax.syntax_index import FUNCTIONS

if TYPE_CHECKING:
    from rlint.semantics.model import SemanticModel

_DEPTH = 5
_ENDLESS = 10**300
"""Integers may be arbitrarily large, floating-point numbers are not."""
_NUMBERS = frozenset({TypeTag.INT, TypeTag.FLOAT, TypeTag.BOOL})


@frozen
class Number:
    """The numeric value of an expression. `fixed` is False for a default: a caller may pass another value."""

    value: float
    fixed: bool = True


def number_of(expression: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> Number | None:
    """Return the numeric value of an expression: a literal, arithmetic on numbers, `int(1e6)`, a name bound
    once to one, or in a loop over some (the largest counts), the default of a parameter, an attribute of
    `self` that this file sets to constants only (the largest counts).
    """
    if depth <= 0:
        return None
    match expression:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return Number(float(value)) if abs(value) < _ENDLESS else None
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            found = number_of(operand, model, depth - 1)
            return Number(-found.value, found.fixed) if found is not None else None
        case ast.BinOp(left=left, op=op, right=right):
            return _computed(number_of(left, model, depth - 1), op, number_of(right, model, depth - 1))
        case ast.Call(func=ast.Name(id="int") as func, args=[given], keywords=[]):
            found = number_of(given, model, depth - 1)
            is_int = model.names.qualified(func) == "builtins.int"
            if is_int and found is not None and abs(found.value) < _ENDLESS:
                return Number(float(int(found.value)), found.fixed)
        case ast.Name():
            return _named(expression, model, depth)
        case ast.Attribute(value=ast.Name(id="self" | "cls")):
            return _stored(expression, model, depth)
    return None


def _computed(left: Number | None, op: ast.operator, right: Number | None) -> Number | None:
    if left is None or right is None:
        return None
    value: float
    match op:
        case ast.Add():
            value = left.value + right.value
        case ast.Sub():
            value = left.value - right.value
        case ast.Mult():
            value = left.value * right.value
        case ast.Div() if right.value:
            value = left.value / right.value
        case _:
            return None
    return Number(value, left.fixed and right.fixed)


def _named(name: ast.Name, model: SemanticModel, depth: int) -> Number | None:
    definitions = model.dataflow.definitions(name)
    if len(definitions) != 1:
        return None
    (binding,) = definitions
    if binding.kind is BindingKind.PARAMETER:
        default = _default(binding.statement, name.id)
        found = number_of(default, model, depth - 1) if default is not None else None
        return Number(found.value, fixed=False) if found is not None else None
    if binding.value is None:
        return None
    if binding.kind is BindingKind.FOR:
        return _largest(binding.value, binding.path, model, depth)
    if binding.kind is not BindingKind.ASSIGN:
        return None
    value = element_at(binding.value, binding.path)
    found = number_of(value, model, depth - 1) if value is not None else None
    if found is not None and model.analysis.names.is_set_by_text(name):
        return Number(found.value, fixed=False)
    return found


def _largest(items: ast.expr, path: tuple[int, ...], model: SemanticModel, depth: int) -> Number | None:
    """Return the largest of the literal numbers that a loop iterates over: `for n in (10, 20)`."""
    if (
        isinstance(items, ast.Call)
        and items.args
        and model.names.qualified(items.func) == "builtins.enumerate"
    ):
        if path[:1] != (1,):
            return None
        items, path = items.args[0], path[1:]
    if not isinstance(items, (ast.Tuple, ast.List)):
        return None
    values = [element_at(element, path) for element in items.elts]
    numbers = [number_of(value, model, depth - 1) if value is not None else None for value in values]
    known = [number for number in numbers if number is not None]
    if not known or len(known) != len(values):
        return None
    return Number(max(number.value for number in known), fixed=False)


def _default(function: ast.AST, parameter: str) -> ast.expr | None:
    return defaults_of(function.args).get(parameter) if isinstance(function, FUNCTIONS) else None


def _stored(attribute: ast.Attribute, model: SemanticModel, depth: int) -> Number | None:
    """Return the number that the class body or any `self.x =` of this file assigns to the attribute."""
    owner = model.class_of(attribute)
    values: list[ast.expr | None] = []
    if owner is not None:
        values += [binding.value for binding in model.syntax.scopes[owner].bindings.get(attribute.attr, ())]
    for use in model.names.attribute_uses(attribute.attr):
        if isinstance(use.ctx, ast.Store):
            parent = model.parent(use)
            values.append(parent.value if isinstance(parent, (ast.Assign, ast.AnnAssign)) else None)
    numbers = [number_of(value, model, depth - 1) if value is not None else None for value in values]
    known = [number for number in numbers if number is not None]
    if not known or len(known) != len(numbers):
        return None
    return Number(max(number.value for number in known), fixed=False)


def is_number(expression: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> bool:
    """Whether the value is always a Python number, not an array or a tensor. An attribute of an unknown
    object is one if all project classes, or all command-line options, with that attribute agree.
    """
    kind = model.types.type_of(expression)
    if kind:
        return kind.tag in _NUMBERS and not kind.optional
    if depth <= 0:
        return False
    match expression:
        case ast.UnaryOp(operand=operand):
            return is_number(operand, model, depth - 1)
        case ast.BinOp(left=left, right=right):
            return is_number(left, model, depth - 1) and is_number(right, model, depth - 1)
        case ast.Name():
            values = [
                b.value
                for b in model.dataflow.definitions(expression)
                if b.kind is BindingKind.ASSIGN and not b.path
            ]
            if values and len(values) == len(model.dataflow.definitions(expression)):
                return all(value is not None and is_number(value, model, depth - 1) for value in values)
        case ast.Attribute(attr=attribute):
            if _is_declared_number(attribute, model):
                return True
            if not all(is_number(value, model, depth - 1) for value in _overriding(expression, model)):
                return False
    found = number_of(expression, model, depth)
    # a default is no proof if other code sets a value of another type: a derived class, or by a dynamic name
    return found is not None and (found.fixed or _may_only_be_number(kind))


def _overriding(attribute: ast.Attribute, model: SemanticModel) -> Iterator[ast.expr]:
    """Yield the values that derived classes of this file assign to an attribute of `self` in their bodies."""
    owner = model.symbols.class_at(attribute)
    derived = {each.qualname for each in model.index.subclasses(owner)} if owner is not None else set()
    for cls in model.syntax.of_type(ast.ClassDef) if derived else ():
        if model.syntax.qualname(cls) in derived:
            for binding in model.syntax.scopes[cls].bindings.get(attribute.attr, ()):
                if binding.value is not None:
                    yield binding.value


def _may_only_be_number(kind: Type) -> bool:
    """Whether all values that the program is known to give to something of unknown type are numbers."""
    choices = kind.caveat.choices if kind.caveat is not None else ()
    return bool(choices) and all(choice.kind.tag in _NUMBERS for choice in choices)


def _is_declared_number(attribute: str, model: SemanticModel) -> bool:
    """Whether an attribute of that name is a number wherever the project declares it."""
    declared = [tag in _NUMBERS for tag in model.program.attribute_types(attribute)]
    declared += [
        any(
            keyword.arg == "type"
            and model.names.qualified(keyword.value) in ("builtins.float", "builtins.int")
            for keyword in call.keywords
        )
        for call in model.syntax.of_type(ast.Call)
        if isinstance(call.func, ast.Attribute)
        and call.func.attr == "add_argument"
        and any(_is_option(argument, attribute) for argument in call.args)
    ]
    return bool(declared) and all(declared)


def _is_option(argument: ast.expr, attribute: str) -> bool:
    match argument:
        case ast.Constant(value=str() as flag):
            return flag.lstrip("-").replace("-", "_") == attribute
    return False
