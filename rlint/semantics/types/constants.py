"""Constant expressions: their values, and their source for use at module level."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from rlint.frozen import frozen
from rlint.semantics.dataflow.reaching_definitions import ReachingDefinitions
from rlint.semantics.interprocedural.qualified_names import QualifiedNames
from rlint.syntax.queries import root_of
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.syntax_index import SyntaxIndex

ConstantValue = str | bytes | int
_DEPTH = 8
_NO_CONVERSION = -1


@frozen
class Constant:
    """A constant expression.

    `text` is the source for use at module level: names of local constants are replaced by their values. It is
    None if that is not possible. `needs` are the module-level statements that bind the names left in it;
    `local` are the local bindings that it was read through.
    """

    value: ConstantValue
    text: str | None
    needs: tuple[ast.stmt, ...] = ()
    local: tuple[Binding, ...] = ()


class Constants:
    """The constants of one file: literals, concatenated literals, and names bound to them."""

    def __init__(self, syntax: SyntaxIndex, names: QualifiedNames, definitions: ReachingDefinitions) -> None:
        self.syntax = syntax
        self.names = names
        self.definitions = definitions

    def written(self, expression: ast.expr, known: Mapping[str, int], depth: int = _DEPTH) -> Constant | None:
        """Return the constant that an expression is, or None. `known` contains the values of library
        constants by their qualified names (`re.DOTALL`).
        """
        if depth <= 0:
            return None
        match expression:
            case ast.Constant(value=str() | bytes() | int() as value) if not isinstance(value, bool):
                return Constant(value, self._text(expression))
            case ast.Name() if self.names.is_set_by_text(expression):
                return None
            case ast.Name() | ast.Attribute() if (
                library := known.get(self.names.qualified(expression) or "")
            ) is not None:
                return self._library(expression, library)
            case ast.Name():
                return self._name(expression, known, depth)
            case ast.BinOp(left=left, op=ast.Add() | ast.BitOr() as operator, right=right):
                return self._joined(
                    expression, operator, self.written(left, known, depth), self.written(right, known, depth)
                )
            case ast.JoinedStr(values=parts):
                return self._formatted(expression, parts, known, depth)
        return None

    def _text(self, expression: ast.expr) -> str:
        return self.syntax.text[slice(*self.syntax.positions.span(expression))]

    def _library(self, expression: ast.Name | ast.Attribute, value: int) -> Constant:
        root = root_of(expression)
        if not isinstance(root, ast.Name):
            return Constant(value, None)
        scope, bindings = self.names.bindings(root)
        if scope is None or scope.parent is not None or len(bindings) != 1:
            # bound inside a function: the module may not know the name
            return Constant(value, None)
        return Constant(value, self._text(expression), _statements(bindings))

    def _name(self, name: ast.Name, known: Mapping[str, int], depth: int) -> Constant | None:
        scope, _ = self.names.bindings(name)
        reaching = self.definitions.reaching(name)
        if scope is None or scope.is_class or scope.is_comprehension or len(reaching) != 1:
            return None
        (binding,) = reaching
        if binding.kind is not BindingKind.ASSIGN or binding.path or binding.value is None:
            return None
        found = self.written(binding.value, known, depth - 1)
        if found is None:
            return None
        if scope.parent is None:
            bound_once = len(scope.bindings[name.id]) == 1
            return Constant(found.value, name.id if bound_once else None, _statements([binding]))
        return Constant(found.value, found.text, found.needs, (binding, *found.local))

    def _joined(
        self, whole: ast.BinOp, operator: ast.operator, left: Constant | None, right: Constant | None
    ) -> Constant | None:
        if left is None or right is None:
            return None
        value: ConstantValue
        match operator, left.value, right.value:
            case (ast.Add(), str(first), str(second)):
                value = first + second
            case (ast.Add(), bytes(first), bytes(second)):
                value = first + second
            case (_, int(first), int(second)):
                value = first + second if isinstance(operator, ast.Add) else first | second
            case _:
                return None
        needs, local = left.needs + right.needs, left.local + right.local
        if not local:
            return Constant(value, self._text(whole) if left.text and right.text else None, needs)
        if left.text is None or right.text is None:
            return Constant(value, None, needs, local)
        sign = "+" if isinstance(operator, ast.Add) else "|"
        return Constant(value, f"{_operand(left.text)} {sign} {_operand(right.text)}", needs, local)

    def _formatted(
        self, whole: ast.JoinedStr, parts: list[ast.expr], known: Mapping[str, int], depth: int
    ) -> Constant | None:
        value = ""
        needs: tuple[ast.stmt, ...] = ()
        local: tuple[Binding, ...] = ()
        for part in parts:
            match part:
                case ast.Constant(value=str(literal)):
                    value += literal
                    continue
                case ast.FormattedValue(value=inner, conversion=conversion, format_spec=None):
                    found = self.written(inner, known, depth)
                    if found is None or isinstance(found.value, bytes) or conversion != _NO_CONVERSION:
                        return None
                    value += str(found.value)
                    needs, local = needs + found.needs, local + found.local
                case _:
                    return None
        return Constant(value, None if local else self._text(whole), needs, local)


def _operand(text: str) -> str:
    """Return the source of an operand, in parentheses if it contains operators."""
    return f"({text})" if isinstance(ast.parse(f"({text})", mode="eval").body, ast.BinOp) else text


def _statements(bindings: list[Binding]) -> tuple[ast.stmt, ...]:
    return tuple(binding.statement for binding in bindings if isinstance(binding.statement, ast.stmt))
