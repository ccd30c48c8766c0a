"""Lists of numbers that are computed by a formula from the index."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, Trait, TypeTag, descendants, frozen, is_dotted_name, models, trip_count

_SHORT = 64
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
_FUNCTIONS = (
    models.having(Trait.ELEMENTWISE, "math", "numpy") - models.having(Trait.COMPARES, "numpy")
    | {"math.pow", "numpy.power"}
    | {f"builtins.{name}" for name in ("float", "int", "abs", "pow")}
)
_NUMBERS = frozenset({TypeTag.INT, TypeTag.FLOAT, TypeTag.NUMPY_SCALAR, TypeTag.UNKNOWN})


@frozen
class Formula:
    """`[element for variable in range(...)]`; without an element the numbers of the range themselves.

    `uses` are the places of the variable. `calls`: functions are called on the way.
    """

    range: ast.Call
    element: ast.expr | None = None
    uses: tuple[ast.Name, ...] = ()
    calls: bool = False


def formula_of(data: ast.expr, model: SemanticModel) -> Formula | None:
    """Return the formula of a list of numbers that may be long."""
    match data:
        case ast.Call(func=func, args=[ast.Call() as inner], keywords=[]) if _is(func, "list", model):
            return formula_of(inner, model)
        case ast.Call() if _counts(data, model):
            return Formula(data)
        case ast.ListComp(
            elt=element,
            generators=[
                ast.comprehension(target=ast.Name(id=name), iter=ast.Call() as of, ifs=[], is_async=0)
            ],
        ) if _counts(of, model):
            nodes = [*descendants(element)]
            uses = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
            if uses and _is_formula(element, name, model):
                calls = any(isinstance(node, ast.Call) for node in nodes)
                return Formula(of, element, tuple(uses), calls)
    return None


def _is(func: ast.expr, name: str, model: SemanticModel) -> bool:
    return model.names.qualified(func) == f"builtins.{name}"


def _counts(call: ast.Call, model: SemanticModel) -> bool:
    """Return a range that is not known to be short."""
    if not _is(call.func, "range", model) or not call.args or call.keywords:
        return False
    numbers = [trip_count.whole_number(argument, model) for argument in call.args]
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers):
        return not any(isinstance(argument, ast.Starred) for argument in call.args)
    try:
        return len(range(*known)) >= _SHORT
    except (TypeError, ValueError, OverflowError):
        return False


def _is_formula(node: ast.expr, variable: str, model: SemanticModel) -> bool:
    """Whether an expression is arithmetic on the variable and on invariant numbers."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return not isinstance(number, bool)
        case ast.Name(id=name) if name == variable:
            return True
        case ast.Name() | ast.Attribute():
            return model.types.type_of(node).tag in _NUMBERS and is_dotted_name(node)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return _is_formula(operand, variable, model)
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _OPERATORS):
            return _is_formula(left, variable, model) and _is_formula(right, variable, model)
        case ast.Call(func=func, args=[ast.Name() as of]) if _is(func, "len", model):
            return of.id != variable
        case ast.Call(func=func, args=arguments, keywords=[]) if model.names.qualified(func) in _FUNCTIONS:
            return all(_is_formula(argument, variable, model) for argument in arguments)
    return False
