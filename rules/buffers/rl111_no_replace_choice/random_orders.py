"""Orders of all indices that are made to take a few: by sorting a random number for each of them."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, Trait, TypeTag, frozen, last_name, last_names, models

_RANDOM = models.having(Trait.DRAWS_SHAPE, "numpy.random", "torch") - {"torch.randint", "torch.randperm"} | {
    "numpy.random.random_sample",
    "numpy.random.uniform",
}
_OF_GENERATORS = frozenset({"random", "uniform", "normal", "standard_normal"})
_SORTS = frozenset({"numpy.argsort", "torch.argsort", "numpy.argpartition"})
_SORT_METHODS = frozenset({"argsort", "argpartition"})
_TOPS = frozenset({"torch.topk"})
_NEAREST = frozenset({"heapq.nsmallest", "heapq.nlargest"})
ORDERS = last_names(*_SORTS, *_TOPS, *_NEAREST, "builtins.sorted", "torch.multinomial")
"""Names of the functions and methods that order indices."""
_ONES = frozenset({"torch.ones", "torch.full", "torch.ones_like"})
_RESAMPLES = ("sklearn.utils.resample", "sklearn.utils.shuffle")
_RANGES = frozenset({"builtins.range", "numpy.arange"})


@frozen
class RandomOrder:
    """`node` uses `size` of the `count` indices, which it orders by random numbers."""

    node: ast.expr
    count: ast.expr
    size: ast.expr


def random_order(call: ast.Call, model: SemanticModel) -> RandomOrder | None:
    """Return the draw of `np.argsort(np.random.rand(n))[:k]`, `torch.rand(n).topk(k)`, `sorted(range(n),
    key=lambda _: random.random())[:k]` or `torch.multinomial(torch.ones(n), k)`.
    """
    name = model.names.qualified(call.func) or ""
    method = call.func.attr if isinstance(call.func, ast.Attribute) and not name else ""
    if name in _SORTS and call.args:
        count = _count_of_random(call.args[0], model)
        return _cut(call, count, model)
    if method in _SORT_METHODS and isinstance(call.func, ast.Attribute):
        return _cut(call, _count_of_random(call.func.value, model), model)
    if name in _TOPS and len(call.args) > 1:
        count, size = _count_of_random(call.args[0], model), call.args[1]
        return RandomOrder(call, count, size) if count is not None else None
    if method == "topk" and call.args and isinstance(call.func, ast.Attribute):
        count = _count_of_random(call.func.value, model)
        return RandomOrder(call, count, call.args[0]) if count is not None else None
    if name == "builtins.sorted" and call.args and _is_random_key(call, model):
        return _cut(call, _count_of_range(call.args[0], model), model)
    if name in _NEAREST and len(call.args) > 1 and _is_random_key(call, model):
        count = _count_of_range(call.args[1], model)
        return RandomOrder(call, count, call.args[0]) if count is not None else None
    if name == "torch.multinomial" or method == "multinomial":
        return _equal_weights(call, name, model)
    return None


def library_draw(call: ast.Call, model: SemanticModel) -> RandomOrder | None:
    """Return the draw of `resample(rows, n_samples=k, replace=False)` of scikit-learn, `table.sample(k)` of
    pandas, and of `dataset.shuffle().select(range(k))`, which permute all rows.
    """
    given = {each.arg: each.value for each in call.keywords}
    name = model.names.qualified(call.func) or ""
    if name in _RESAMPLES and call.args and "n_samples" in given:
        replace = given.get("replace")
        once = name == _RESAMPLES[1] or (isinstance(replace, ast.Constant) and replace.value is False)
        return RandomOrder(call, call.args[0], given["n_samples"]) if once else None
    if isinstance(call.func, ast.Attribute) and call.func.attr == "sample":
        table, sizes = call.func.value, [*call.args[:1], *(given[key] for key in ("n",) if key in given)]
        plain = bool(sizes) and "replace" not in given and "weights" not in given
        is_table = model.types.type_of(table).tag is TypeTag.DATAFRAME
        return RandomOrder(call, table, sizes[0]) if plain and is_table else None
    select = model.parent(call)
    match call.func, select, model.parent(select) if select is not None else None:
        case (
            ast.Attribute(value=held, attr="shuffle"),
            ast.Attribute(attr="select"),
            ast.Call(args=[ast.Call(func=ast.Name(id="range"), args=[size])]),
        ):
            return RandomOrder(call, held, size)
    return None


def _equal_weights(call: ast.Call, name: str, model: SemanticModel) -> RandomOrder | None:
    """Return the draw of a multinomial distribution in which all weights are the same constant."""
    given: list[ast.expr] = list(call.args)
    if not name and isinstance(call.func, ast.Attribute):
        given.insert(0, call.func.value)
    sizes = [*given[1:2], *(each.value for each in call.keywords if each.arg == "num_samples")]
    weights = _assigned(given[0], model) if given else None
    match weights:
        case ast.Call(func=func, args=[size, *_]) if model.names.qualified(func) in _ONES and sizes:
            return RandomOrder(call, _first(size), sizes[0])
    return None


def _first(size: ast.expr) -> ast.expr:
    """Return `n` of the shape `(n,)`."""
    return size.elts[0] if isinstance(size, ast.Tuple) and size.elts else size


def _cut(order: ast.expr, count: ast.expr | None, model: SemanticModel) -> RandomOrder | None:
    """Return the draw of `order[:k]`, also if a variable holds the order."""
    if count is None:
        return None
    places: list[ast.expr] = [order]
    match model.parent(order):
        case ast.Assign(targets=[ast.Name(id=name) as target]):
            scope = model.names.scope(target).lookup(name)
            places = list(model.names.reads(name, scope)) if scope is not None else []
    sizes = [size for place in places if (size := taken_of(place, model)) is not None]
    return RandomOrder(order, count, sizes[0]) if sizes and len(sizes) == len(places) else None


def taken_of(order: ast.expr, model: SemanticModel) -> ast.expr | None:
    """Return `k` if only the first or last `k` of an order are used: `order[:k]`, `order[-k:]`."""
    match model.parent(order):
        case ast.Subscript(value=value, slice=ast.Slice(lower=lower, upper=upper, step=None)) if (
            value is order
        ):
            pass
        case _:
            return None
    starts = lower is None or (isinstance(lower, ast.Constant) and lower.value == 0)
    if starts and upper is not None:
        return None if isinstance(upper, ast.UnaryOp) else upper
    if upper is None and isinstance(lower, ast.UnaryOp) and isinstance(lower.op, ast.USub):
        return lower.operand
    return None


def _assigned(value: ast.expr, model: SemanticModel) -> ast.expr:
    """Return the only value of a variable, or the expression itself."""
    if isinstance(value, ast.Name):
        bindings = model.dataflow.definitions(value)
        if len(bindings) == 1 and not bindings[0].path and bindings[0].value is not None:
            return bindings[0].value
    return value


def _count_of_random(numbers: ast.expr, model: SemanticModel) -> ast.expr | None:
    """Return `n` of `np.random.rand(n)`, `rng.random(n)`, `torch.rand(n, device=device)`."""
    match _assigned(numbers, model):
        case ast.Call(func=func, args=args, keywords=keywords):
            name = model.names.qualified(func)
        case _:
            return None
    if name not in _RANDOM:
        owner = func.value if isinstance(func, ast.Attribute) else None
        if owner is None or last_name(func) not in _OF_GENERATORS:
            return None
        if model.types.type_of(owner).tag is not TypeTag.RANDOM_GENERATOR:
            return None
    sizes = [each.value for each in keywords if each.arg == "size"] or args[-1:]
    if len(args) > 1 and not keywords and (last_name(func) or "").startswith("rand"):
        return None  # a table of numbers
    return _first(sizes[0]) if sizes else None


def _count_of_range(items: ast.expr, model: SemanticModel) -> ast.expr | None:
    """Return `n` of `range(n)`, or the list itself as `len` counts it."""
    match items:
        case ast.Call(func=func, args=[count]) if model.names.qualified(func) in _RANGES:
            return count
    return None


def _is_random_key(call: ast.Call, model: SemanticModel) -> bool:
    """Whether items are ordered by `key=lambda _: random.random()`."""
    for keyword in call.keywords:
        match keyword:
            case ast.keyword(arg="key", value=ast.Lambda(body=ast.Call(func=func))):
                return (model.names.qualified(func) or "").startswith(("random.", "numpy.random."))
    return False
