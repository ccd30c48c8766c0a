"""Calls that draw one random number, and the calls that draw several."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from rlint.rule import (
    SemanticModel,
    Trait,
    TypeTag,
    frozen,
    models,
    parameters,
    same_code,
)

_NUMPY = "numpy.random."
_MOVES = frozenset({"high", "loc", "low", "mean", "mu"})
_ORDERED = frozenset({"left", "mode", "right"})
_HUGE = 1e100


@frozen
class ScalarDraw:
    """A call that draws one number. `text` is the call that draws `{}` of them, with `arguments`. `whole`
    says that they are integers, `listed` that the call returns a list. `doubt` says why other values may be
    drawn; `valid` says that the arguments surely are valid.
    """

    call: ast.expr
    text: str
    arguments: tuple[ast.expr, ...] = ()
    doubt: str | None = None
    whole: bool = False
    listed: bool = False
    valid: bool = False


def draw_of(element: ast.expr, model: SemanticModel) -> ScalarDraw | None:
    """Return the draw of one number that an expression is."""
    if not isinstance(element, ast.Call):
        return None
    match element:
        case ast.Call(func=ast.Attribute(value=ast.Call() as drawn, attr="item"), args=[], keywords=[]):
            return draw_by_torch(element, drawn, model)
    path = model.names.qualified(element.func) or ""
    if path.startswith("random."):
        return draw_by_python(element, path, model)
    generator = False
    if isinstance(element.func, ast.Attribute) and not path:
        owner = model.types.type_of(element.func.value)
        if owner.tag is not TypeTag.RANDOM_GENERATOR or not owner.of.startswith(_NUMPY):
            return None
        generator = owner.of != "numpy.random.RandomState"
        path = f"{_NUMPY}{element.func.attr}"
    if not path.startswith(_NUMPY) or path.count(".") != _NUMPY.count("."):
        return None
    return draw_by_numpy(element, path, model, generator=generator)


def draw_by_numpy(call: ast.Call, path: str, model: SemanticModel, *, generator: bool) -> ScalarDraw | None:
    """Return the draw of `np.random.uniform(low, high)`, `rng.normal()`."""
    name = path.removeprefix(_NUMPY)
    whole = path in models.having(Trait.WHOLE, "numpy.random") or name == "integers"
    if generator and name == "integers":
        path = f"{_NUMPY}Generator.integers"
    taken = parameters.PARAMETERS.get(path)
    by_shape = taken is None and not generator and path in models.having(Trait.DRAWS_SHAPE, "numpy.random")
    if path in models.having(Trait.PICKS, "numpy.random") or (taken is None and not by_shape):
        return None
    given = {keyword.arg for keyword in call.keywords}
    arguments = (*call.args, *(keyword.value for keyword in call.keywords))
    if any(isinstance(argument, ast.Starred) for argument in call.args) or None in given:
        return None
    if not all(is_plain(argument, model) for argument in arguments):
        return None
    if any(
        model.types.type_of(argument).tag in (TypeTag.NDARRAY, TypeTag.LIST, TypeTag.TUPLE)
        for argument in arguments
    ):
        return None
    function = model.source.text(call.func)
    if taken is None:
        return None if arguments else ScalarDraw(call, f"{function}({{}})", whole=whole, valid=True)
    if given & {"size", "dtype", "endpoint"} or len(call.args) > taken.index("size"):
        return None
    inside = ", ".join([model.source.text(argument) for argument in call.args])
    inside += "".join(f", {keyword.arg}={model.source.text(keyword.value)}" for keyword in call.keywords)
    inside = inside.replace("{", "{{").replace("}", "}}").removeprefix(", ")
    are_scalars = whole and (generator or name == "random_integers")
    doubt = "the list held NumPy scalars and now holds Python numbers" if are_scalars else None
    named = dict(zip(taken, call.args, strict=False))
    named.update((keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg is not None)
    valid = are_valid_bounds(named) if whole else all(is_valid(value, name) for name, value in named.items())
    return ScalarDraw(
        call, f"{function}({inside}, size={{}})".replace("(, ", "("), arguments, doubt, whole, valid=valid
    )


def are_valid_bounds(named: Mapping[str, ast.expr]) -> bool:
    """Whether integers can be drawn with constant arguments: from a range that is not empty. Arguments of
    other discrete distributions are not examined.
    """
    if not named or not set(named) <= {"low", "high"}:
        return not named
    bounds = [value_of(named[name]) if name in named else 0 for name in ("low", "high")]
    low, high = bounds if "high" in named else (0, bounds[0])
    return isinstance(low, int) and isinstance(high, int) and low < high


def is_valid(argument: ast.expr, name: str) -> bool:
    """Whether numbers can be drawn with a constant argument, whatever the others are: a positive one, or any
    number if the parameter only shifts the distribution.
    """
    value = value_of(argument)
    if value is None or not abs(value) < _HUGE or name in _ORDERED:
        return False
    return value > 0 or name in _MOVES


def value_of(expression: ast.expr) -> float | None:
    """Return the value of a literal number."""
    match expression:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
    return None


def draw_by_python(call: ast.Call, path: str, model: SemanticModel) -> ScalarDraw | None:
    """Return the draw of `random.randint(0, n - 1)`, as a draw from a `range`."""
    if path not in models.having(Trait.WHOLE, "random") or call.keywords or not call.args:
        return None
    if any(isinstance(argument, ast.Starred) or not is_plain(argument, model) for argument in call.args):
        return None
    texts = [model.edit.as_argument(argument) for argument in call.args]
    if path == "random.randint":
        if len(texts) != 2:
            return None
        texts = [
            *([] if same_code(call.args[0], ast.Constant(value=0)) else texts[:1]),
            next_of(call.args[1], model),
        ]
    inside = ", ".join(texts).replace("{", "{{").replace("}", "}}")
    function = model.source.text(call.func)
    if not isinstance(call.func, ast.Attribute):
        return None
    function = function.removesuffix(call.func.attr) + "choices"
    doubt = "other numbers of the same distribution are drawn"
    return ScalarDraw(
        call, f"{function}(range({inside}), k={{}})", tuple(call.args), doubt, whole=True, listed=True
    )


def next_of(expression: ast.expr, model: SemanticModel) -> str:
    """Return the source of an expression plus one: `n` for `n - 1`."""
    match expression:
        case ast.BinOp(left=left, op=ast.Sub(), right=ast.Constant(value=1)):
            return model.source.text(left)
        case ast.Constant(value=int(value)):
            return str(value + 1)
    text = model.source.text(expression)
    simple = isinstance(expression, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
    return f"{text} + 1" if simple else f"({text}) + 1"


def draw_by_torch(element: ast.Call, drawn: ast.Call, model: SemanticModel) -> ScalarDraw | None:
    """Return the draw of `torch.rand(1).item()`."""
    path = model.names.qualified(drawn.func) or ""
    if path not in models.having(Trait.DRAWS_SHAPE, "torch") or path in models.having(Trait.WHOLE, "torch"):
        return None
    match drawn:
        case ast.Call(args=[ast.Constant(value=1)], keywords=[]):
            function = model.source.text(drawn.func)
            doubt = "`torch` may draw other numbers of the same distribution if it draws several at once"
            return ScalarDraw(element, f"{function}({{}})", doubt=doubt)
    return None


def is_plain(expression: ast.expr, model: SemanticModel) -> bool:
    """Whether evaluating an expression once is equivalent to evaluating it for each item."""
    return model.effects.is_repeatable(expression)
