"""Equivalents of numpy functions in Python and its `math` module, for single numbers."""

from __future__ import annotations

import ast

from rlint.rule import (
    BindingKind,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    frozen,
    last_names,
    models,
    numbers,
    observations,
    regex,
)
from rlint.rules.computation.rl508_numpy_on_scalar.number_lists import (
    SEARCHES,
    holds_few_numbers,
    searched_list,
)
from rlint.rules.computation.rl508_numpy_on_scalar.number_uses import (
    holds_numbers,
    is_number_by_use,
    is_parameter_of_one,
    is_reward_of_one,
    is_used_as_number,
    names_coordinates,
)

_SAME = models.names_having(Trait.ELEMENTWISE, "numpy") & models.names_having(
    Trait.ELEMENTWISE, "math"
) - models.names_having(Trait.COMPARES, "numpy") - {"cbrt", "exp2", "fabs", "trunc"} - {
    "acosh",
    "asinh",
    "atanh",
}
CHECKS = frozenset(
    f"numpy.{name}"
    for name in models.names_having(Trait.COMPARES, "numpy") & models.names_having(Trait.ELEMENTWISE, "math")
)
"""Functions of one number whose result is a truth value: `isnan`."""
MATH = (
    {f"numpy.{name}": name for name in _SAME}
    | {name: name.removeprefix("numpy.") for name in CHECKS}
    | {
        f"numpy.{counterpart}": ours
        for counterpart, ours in {
            **{f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan")},
            "deg2rad": "radians",
            "rad2deg": "degrees",
        }.items()
    }
)
"""Functions of one number, and their names in `math`."""
MATH_OF_TWO = {"numpy.arctan2": "atan2", "numpy.atan2": "atan2", "numpy.hypot": "hypot", "numpy.power": "pow"}
ABSOLUTE = frozenset({"numpy.abs", "numpy.absolute", "numpy.fabs"})
EXTREMES = {"numpy.maximum": "max", "numpy.minimum": "min"}
OF_DISPLAY = {
    **{f"numpy.{prefix}{name}": name for prefix in ("", "a") for name in ("max", "min")},
    "numpy.sum": "sum",
    "numpy.mean": "mean",
}
TRUTHS = {"numpy.any": "any", "numpy.all": "all"}
"""Functions of truth values, and their names in Python."""
LONG = 40
"""Length from which code is not quoted in a message."""
_CLIP, _NORM = "numpy.clip", "numpy.linalg.norm"
CLOSE = frozenset({"numpy.allclose", "numpy.isclose"})
"""Comparisons up to rounding, by several functions in Python."""
ONE_OR_TWO = frozenset({*MATH, *MATH_OF_TWO, *ABSOLUTE, *EXTREMES})
"""Functions that compute each element from one element of each argument."""
CALLED = last_names(
    *MATH, *MATH_OF_TWO, *ABSOLUTE, *EXTREMES, *OF_DISPLAY, *TRUTHS, *SEARCHES, *CLOSE, _CLIP, _NORM
)
_MOST = 8
_TRUTHS = (TypeTag.BOOL, TypeTag.INT, TypeTag.FLOAT)
_DEPTH = 8
_OPEN = (TypeTag.UNKNOWN, TypeTag.NUMPY_SCALAR, TypeTag.FLOAT, TypeTag.INT, TypeTag.BOOL)
_WHOLE = frozenset({"floor", "ceil"})
_OF_ONE = models.having(Trait.ELEMENTWISE, "numpy") | {"builtins.abs", "builtins.float"}
"""Functions that return a single number for one."""
_RATES = regex(r"decay|epsilon|(^|_)(eps|gamma|tau|lr|temperature|temp|rate|steps?|frames?)(_|$)")
"""Names of settings that are numbers."""
_COMPARE = frozenset({"builtins.max", "builtins.min"})
_ARRAYS_OF = models.having(Trait.FROM_DATA, "numpy")
_BOUNDS = (("a", "x"), ("a_min", "min"), ("a_max", "max"))


@frozen
class Scalar:
    """A numpy call on numbers only: the arguments (`given`), the equivalent in messages (`better`), and its
    `text`, with `{math}` for the spelling of that module. `ufunc`: numpy takes little longer.
    """

    call: ast.Call
    given: tuple[ast.expr, ...]
    better: str
    text: str | None
    needs: tuple[str, ...] = ()
    math: str = ""
    ufunc: bool = False
    what: str = "a single number"
    assumes: str | None = None


def scalar_call(call: ast.Call, model: SemanticModel, depth: int = _DEPTH) -> Scalar | None:
    """Return the call of a numpy function with single numbers, or with a few in a list."""
    qualified = model.names.qualified(call.func) or ""
    if not qualified.startswith("numpy.") or any(isinstance(given, ast.Starred) for given in call.args):
        return None
    if qualified == _CLIP:
        return _clipped(call, model, depth)
    if qualified in CLOSE:
        return _compared(call, model)
    if call.keywords and qualified not in SEARCHES:
        return None
    if qualified == _NORM:
        return _length(call, model, depth)
    if qualified in OF_DISPLAY:
        return _of_display(call, OF_DISPLAY[qualified], model, depth)
    if qualified in TRUTHS:
        return _of_truths(call, TRUTHS[qualified], model)
    if qualified in SEARCHES:
        return None if (found := searched_list(call, model)) is None else _in_list(call, found, model)
    given = tuple(call.args)
    wanted = 2 if qualified in MATH_OF_TWO or qualified in EXTREMES else 1
    known = qualified in MATH or qualified in ABSOLUTE or wanted == 2
    if not known or len(given) != wanted or not all(is_single(number, model, depth) for number in given):
        return None
    return _plain_call(call, qualified, model)


def _compared(call: ast.Call, model: SemanticModel) -> Scalar | None:
    """Handle `np.allclose(sum(shares.values()), 1)`, of two numbers."""
    given = tuple(call.args[:2])
    sums = [part for part in given if not is_single(part, model)]
    if len(given) < 2 or len(sums) > 1 or not all(_is_sum(part, model) for part in sums):
        return None
    assumes = f"`{' '.join(model.source.text(sums[0]).split())}` is a number" if sums else None
    return Scalar(call, given, "math.isclose", None, what="single numbers", assumes=assumes)


def _is_sum(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is the sum of all values of a dict, or of what a generator yields."""
    match value:
        case ast.Call(func=func, args=[ast.Call(func=ast.Attribute(attr="values")) | ast.GeneratorExp()]):
            return model.names.qualified(func) == "builtins.sum"
    return False


def _in_list(call: ast.Call, found: tuple[ast.expr, ast.expr], model: SemanticModel) -> Scalar | None:
    """Handle `int(np.searchsorted(edges, x))`, of a list."""
    value = found[1]
    if not is_single(value, model) and not _is_made_whole(call, model):
        return None
    return Scalar(call, found, "bisect", None, what="a list")


def is_single(node: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> bool:
    """Whether it is one number: a Python number, a numpy scalar, or computed from such."""
    kind = model.types.type_of(node)
    if kind.tag is TypeTag.NUMPY_SCALAR:
        return not kind.optional
    if numbers.is_number(node, model):
        return True
    if depth <= 0 or kind.optional:
        return False
    match node:
        case ast.UnaryOp(operand=operand):
            return is_single(operand, model, depth - 1)
        case ast.BinOp(left=left, right=right):
            return is_single(left, model, depth - 1) and is_single(right, model, depth - 1)
        case ast.Call():
            return _is_compared(node, model) or scalar_call(node, model, depth - 1) is not None
        case ast.Name():
            bindings = model.dataflow.definitions(node)
            values = [
                binding.value
                for binding in bindings
                if binding.kind is BindingKind.ASSIGN and not binding.path
            ]
            return (
                bool(bindings)
                and all(value is not None and is_single(value, model, depth - 1) for value in values)
                and len(values) == len(bindings)
            )
    return False


def _is_compared(call: ast.Call, model: SemanticModel) -> bool:
    """Whether Python compares a value with a number: `max(1, n)`, which raises an error for an array."""
    if call.keywords or model.names.qualified(call.func) not in _COMPARE:
        return False
    return any(numbers.is_number(given, model) for given in call.args[:2]) and len(call.args) > 1


def likely_scalar(call: ast.Call, model: SemanticModel) -> tuple[Scalar, ast.expr] | None:
    """Return a call whose arguments likely are single numbers, and the first one that is not sure: parts of a
    state, an observation or a position, variables that the function tests or converts as numbers, and
    rewards of one environment.
    """
    qualified = model.names.qualified(call.func) or ""
    if any(isinstance(given, ast.Starred) for given in call.args):
        return None
    unsure: list[ast.expr] = []
    found: Scalar | None
    if call.keywords and qualified != _CLIP:
        return None
    by_result = qualified in ONE_OR_TWO or (qualified == _CLIP and not call.keywords)
    if by_result and is_number_by_use(call, model) and not scalar_call(call, model):
        return _by_result(call, qualified, model)
    if (qualified in MATH or qualified in ABSOLUTE) and len(call.args) == 1:
        found = _of_one(call, qualified, model, unsure)
    elif qualified in MATH_OF_TWO or qualified in EXTREMES:
        found = _of_two(call, qualified, model, unsure)
    elif qualified == _NORM:
        found = _length(call, model, _DEPTH, unsure)
    elif qualified == _CLIP:
        found = _clipped(call, model, _DEPTH, unsure)
    elif qualified in OF_DISPLAY:
        found = _of_display(call, OF_DISPLAY[qualified], model, _DEPTH, unsure)
    else:
        return None
    return (found, unsure[0]) if found is not None and unsure else None


def _by_result(call: ast.Call, qualified: str, model: SemanticModel) -> tuple[Scalar, ast.expr] | None:
    """Return a call whose result is used as only a single number can be: `float(np.sqrt(x))`,
    `if np.isnan(x)`. Its arguments are single numbers then, too, unless one is known to be something else.
    """
    given = tuple(call.args)
    wanted = len(_BOUNDS) if qualified == _CLIP else 1 if qualified in MATH or qualified in ABSOLUTE else 2
    if len(given) != wanted:
        return None
    unknown = [part for part in given if not is_single(part, model)]
    if not unknown or not all(_may_be_number(part, model) for part in unknown):
        return None
    found = _clip_call(call, given, model) if qualified == _CLIP else _plain_call(call, qualified, model)
    return found, unknown[0]


def _may_be_number(node: ast.expr, model: SemanticModel) -> bool:
    """Whether nothing in a value is known to be an array, a tensor or a list."""
    parts = (part for part in descendants(node) if isinstance(part, (ast.Name, ast.Attribute, ast.Call)))
    return not isinstance(node, (ast.List, ast.Tuple)) and all(
        model.types.type_of(part).tag in _OPEN for part in (node, *parts) if not _is_looked_into(part, model)
    )


def _is_looked_into(part: ast.AST, model: SemanticModel) -> bool:
    """Whether it is the function of a call, or the owner of an attribute or item."""
    parent = model.parent(part)
    return (isinstance(parent, ast.Call) and parent.func is part) or isinstance(
        parent, (ast.Attribute, ast.Subscript)
    )


def _of_two(call: ast.Call, qualified: str, model: SemanticModel, unsure: list[ast.expr]) -> Scalar | None:
    """Handle `np.power(self.rate, step / width)`, of numbers that are not sure."""
    if len(call.args) != 2 or not all(
        _is_single_or_likely(part, model, _DEPTH, unsure) for part in call.args
    ):
        return None
    return _plain_call(call, qualified, model)


def _plain_call(call: ast.Call, qualified: str, model: SemanticModel) -> Scalar:
    """Return the call with its equivalent, which takes the same arguments."""
    given = tuple(call.args)
    texts = ", ".join(model.source.text(part) for part in given)
    if qualified in ABSOLUTE:
        return Scalar(call, given, "abs", f"abs({texts})", ("abs",), ufunc=True)
    if qualified in EXTREMES:
        name = EXTREMES[qualified]
        return Scalar(call, given, name, f"{name}({texts})", (name,), ufunc=True, what="single numbers")
    ours = MATH.get(qualified) or MATH_OF_TWO[qualified]
    whole = ours in _WHOLE and not _is_made_whole(call, model)
    return Scalar(call, given, f"math.{ours}", None if whole else f"{{math}}({texts})", math=ours, ufunc=True)


def _of_one(call: ast.Call, qualified: str, model: SemanticModel, unsure: list[ast.expr]) -> Scalar | None:
    """Handle `np.exp(-self.steps / self.decay)`, of a number that is not sure."""
    (given,) = call.args
    if not _is_single_or_likely(given, model, _DEPTH, unsure):
        return None
    return _plain_call(call, qualified, model)


def _of_truths(call: ast.Call, name: str, model: SemanticModel) -> Scalar | None:
    """Handle `np.any([x > 1, done])` and `np.any(dones)`, of a list of truth values."""
    match call.args:
        case [(ast.List(elts=elements) | ast.Tuple(elts=elements)) as display]:
            if not 1 < len(elements) <= _MOST or not all(_is_truth(part, model) for part in elements):
                return None
            given, held = tuple(elements), "list" if isinstance(display, ast.List) else "tuple"
            text = f"{name}({model.source.text(display)})"
            return Scalar(call, given, name, text, (name,), ufunc=True, what=f"truth values in a {held}")
        case [listed]:
            text = model.source.text(listed)
            kind = model.types.type_of(listed)
            item = kind.item.tag if kind.item is not None else TypeTag.UNKNOWN
            if kind.tag is not TypeTag.LIST or kind.optional or item not in (*_TRUTHS, TypeTag.UNKNOWN):
                return None
            assumes = None if item in _TRUTHS else f"`{text}` holds single truth values"
            return Scalar(
                call, (listed,), name, f"{name}({text})", (name,), ufunc=True, what="a list", assumes=assumes
            )
    return None


def _is_truth(node: ast.expr, model: SemanticModel) -> bool:
    """Whether it is a single truth value: of a test of numbers, or a flag."""
    match node:
        case ast.Compare(left=left, comparators=others):
            return all(is_single(part, model) for part in (left, *others))
        case ast.UnaryOp(op=ast.Not()):
            return True
        case ast.BoolOp(values=values):
            return all(_is_truth(value, model) for value in values)
    return model.types.type_of(node).tag is TypeTag.BOOL


def _is_single_or_likely(
    node: ast.expr, model: SemanticModel, depth: int, unsure: list[ast.expr] | None
) -> bool:
    if is_single(node, model, depth):
        return True
    if unsure is None or depth <= 0:
        return False
    if isinstance(node, ast.Call) and model.names.qualified(node.func) == _CLIP:
        return _clipped(node, model, depth - 1, unsure) is not None
    if is_used_as_number(node, model):
        unsure.append(node)
        return True
    if model.types.type_of(node).tag not in (
        TypeTag.UNKNOWN,
        TypeTag.NUMPY_SCALAR,
        TypeTag.FLOAT,
        TypeTag.INT,
    ):
        return False
    match node:
        case ast.Attribute(attr=name):
            if model.types.is_likely_setting(node):
                if _RATES.search(name.lower()):
                    unsure.append(node)
                return True
            if not holds_numbers(node, model):
                return False
            unsure.append(node)
            return True
        case ast.Subscript(value=owner, slice=ast.Constant(value=int()) | ast.UnaryOp()):
            if not names_coordinates(owner):
                return False
            unsure.append(node)
            return True
        case ast.UnaryOp(operand=operand):
            return _is_single_or_likely(operand, model, depth - 1, unsure)
        case ast.BinOp(left=left, right=right):
            return all(_is_single_or_likely(part, model, depth - 1, unsure) for part in (left, right))
        case ast.Call(func=func, args=[argument], keywords=[]):
            return model.names.qualified(func) in _OF_ONE and _is_single_or_likely(
                argument, model, depth - 1, unsure
            )
        case ast.Name():
            bindings = model.dataflow.definitions(node)
            for binding in bindings:
                if binding.kind is BindingKind.PARAMETER:
                    if numbers.number_of(node, model) is None and not is_parameter_of_one(node, model):
                        return False
                    unsure.append(node)
                    continue
                if binding.kind is not BindingKind.ASSIGN or binding.value is None:
                    return False
                if binding.path:
                    if not _is_taken_apart(binding.value, model) and not is_reward_of_one(binding, model):
                        return False
                    unsure.append(node)
                elif not _is_single_or_likely(binding.value, model, depth - 1, unsure):
                    return False
            return bool(bindings)
    return False


def _is_taken_apart(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is an array of unknown rank, or an observation, that is unpacked into variables."""
    if not isinstance(value, (ast.Name, ast.Attribute, ast.Call)):
        return False
    kind = model.types.type_of(value)
    if kind.tag is TypeTag.NDARRAY:
        return kind.rank is None
    if not kind and names_coordinates(value):
        return True
    if isinstance(value, ast.Call):
        return model.names.qualified(value.func) == _CLIP
    return kind.tag is TypeTag.UNKNOWN and observations.is_observation(value, model)


def _clipped(
    call: ast.Call, model: SemanticModel, depth: int, unsure: list[ast.expr] | None = None
) -> Scalar | None:
    """Handle `np.clip(x, low, high)`."""
    parts = list(call.args)
    for index, names in enumerate(_BOUNDS):
        if index >= len(parts):
            named = [keyword.value for keyword in call.keywords if keyword.arg in names]
            if len(named) != 1:
                return None
            parts += named
    if len(parts) != len(_BOUNDS) or len(call.args) + len(call.keywords) != len(_BOUNDS):
        return None
    only = _only_item(parts[0], call, model)
    given = [only or parts[0], *parts[1:]]
    if not all(_is_single_or_likely(part, model, depth, unsure) for part in given):
        return None
    if only is not None:
        return Scalar(call, tuple(given), "min(max())", None)
    return _clip_call(call, tuple(parts), model)


def _clip_call(call: ast.Call, parts: tuple[ast.expr, ...], model: SemanticModel) -> Scalar:
    """Return `np.clip(x, low, high)` of a number with its equivalent."""
    value, low, high = (model.source.text(part) for part in parts)
    return Scalar(call, parts, "min(max())", f"min(max({value}, {low}), {high})", ("min", "max"))


def _only_item(clipped: ast.expr, call: ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return `x` of `np.clip(np.array([x]), low, high)[0]`."""
    match model.parent(call):
        case ast.Subscript(value=value, slice=ast.Constant(value=0)) if value is call:
            pass
        case _:
            return None
    match clipped:
        case ast.Call(func=func, args=[data, *_]) if model.names.qualified(func) in _ARRAYS_OF:
            clipped = data
    match clipped:
        case ast.List(elts=[only]) | ast.Tuple(elts=[only]) if not isinstance(only, ast.Starred):
            return only
    return None


def _length(
    call: ast.Call, model: SemanticModel, depth: int, unsure: list[ast.expr] | None = None
) -> Scalar | None:
    """Handle `np.linalg.norm([dx, dy])`."""
    match call:
        case ast.Call(args=[ast.List(elts=elements) | ast.Tuple(elts=elements)], keywords=[]):
            pass
        case _:
            return None
    if not 1 < len(elements) <= _MOST:
        return None
    if not all(_is_single_or_likely(element, model, depth, unsure) for element in elements):
        return None
    text = f"{{math}}({', '.join(model.source.text(element) for element in elements)})"
    what = f"{len(elements)} numbers in a list"
    return Scalar(call, tuple(elements), "math.hypot", text, math="hypot", what=what)


def _of_display(
    call: ast.Call, name: str, model: SemanticModel, depth: int, unsure: list[ast.expr] | None = None
) -> Scalar | None:
    """Handle `np.max([a, b])`, `np.mean((a, b))`."""
    match call.args:
        case [ast.List(elts=elements) | ast.Tuple(elts=elements) as display]:
            pass
        case [ast.ListComp() as made]:
            return _of_comprehension(call, made, name, model) if unsure is None else None
        case [ast.Name() as held] if unsure is None and holds_few_numbers(held, is_single, model):
            text = model.source.text(held)
            better = "sum() / len()" if name == "mean" else name
            text = f"sum({text}) / len({text})" if name == "mean" else f"{name}({text})"
            needs = ("sum", "len") if name == "mean" else (name,)
            return Scalar(call, (held,), better, text, needs, what="a list of a few numbers")
        case _:
            return None
    if not 1 < len(elements) <= _MOST:
        return None
    if not all(_is_single_or_likely(element, model, depth, unsure) for element in elements):
        return None
    texts = ", ".join(model.source.text(element) for element in elements)
    what = f"{len(elements)} numbers in a {'list' if isinstance(display, ast.List) else 'tuple'}"
    given = tuple(elements)
    if name == "mean":
        text = f"sum(({texts})) / {len(elements)}"
        return Scalar(call, given, f"sum() / {len(elements)}", text, ("sum",), what=what)
    text = f"sum(({texts}))" if name == "sum" else f"{name}({texts})"
    return Scalar(call, given, name, text, (name,), what=what)


def _of_comprehension(call: ast.Call, made: ast.ListComp, name: str, model: SemanticModel) -> Scalar | None:
    """Handle `np.sum([reward * gamma**i for i, reward in enumerate(rewards)])`."""
    kind = model.types.type_of(made.elt)
    known = numbers.is_number(made.elt, model)
    if name == "mean":
        if not known and not (isinstance(made.elt, ast.Call) and _is_compared(made.elt, model)):
            return None
        return Scalar(call, (made,), "sum() / len()", None, what="a list of numbers")
    if not known and (kind or not _is_computed(made.elt, model)):
        return None
    text = model.source.text(made)[1:-1].strip()
    return Scalar(
        call,
        (made,),
        name,
        f"{name}({text})",
        (name,),
        what="a list of numbers",
        assumes=None if known else "the items of the list are numbers",
    )


def _is_computed(element: ast.expr, model: SemanticModel) -> bool:
    """Whether an item is arithmetic on values of unknown type, of which none is known to be an array."""
    return isinstance(element, ast.BinOp) and _may_be_number(element, model)


def _is_made_whole(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the result is converted to an integer: `int(np.floor(x))`."""
    match model.parent(call):
        case ast.Call(func=func, args=[argument], keywords=[]):
            return argument is call and model.names.qualified(func) == "builtins.int"
    return False


def is_plain(given: ast.expr) -> bool:
    """Whether its text may stand between commas, and braces in it keep their meaning."""
    return not any(
        isinstance(
            node, (ast.NamedExpr, ast.Lambda, ast.JoinedStr, ast.Dict, ast.Set, ast.DictComp, ast.SetComp)
        )
        for node in descendants(given)
    )
