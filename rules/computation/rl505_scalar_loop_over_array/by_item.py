"""Loops that write to arrays element by element, or compute the items of a batch one by one."""

from __future__ import annotations

import ast
from collections.abc import Collection

from rlint.rule import (
    SemanticModel,
    Trait,
    TypeTag,
    axes_of,
    descendants,
    frozen,
    last_name,
    models,
    mutable,
    regex,
    variable_names,
)
from rlint.rules.computation.rl505_scalar_loop_over_array.grown_arrays import becomes_array, may_be_array

_ARRAYS = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR})
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
_FEWEST_OPERATIONS = 2
_LONGEST_SHOWN = 48
_BY_INDEX = (
    "Gather the inputs of all items with an index array, and compute on the whole batch (with a mask, where "
    "items have lengths of their own)"
)
_BY_LOOKUP = (
    "Look up the inputs of all items first (`p = np.array([held[i] for i in indices])`), compute on that "
    "array, and compute what is the same for all items once"
)
"""For lists and sum trees, which take no index array."""
_ARRAYS_OF = models.having(Trait.FROM_DATA, "torch", "numpy")
_JOINS = models.having(Trait.JOINS, "torch")
_OF_ITEMS = models.having(Trait.OF_NUMBERS, "builtins") & (
    models.having(Trait.CARRIES, "builtins") | models.having(Trait.TO_NUMBER, "builtins")
)
_PRIORITIES = regex(r"priorit")
_INDEX = regex(r"(^|_)(i|ind|inds|index|indexes|indices|idx|idxs|idxes)(_|$)")
_SUMS = frozenset({"sum", "mean"})
_RESHAPES = models.having(Trait.KEEPS_ORDER, TypeTag.NDARRAY, TypeTag.TENSOR)
_REDUCES = models.having(Trait.REDUCES, TypeTag.NDARRAY, TypeTag.TENSOR)


@frozen
class ItemLoop:
    """What a loop does item by item, and the code to write instead. `held` is the array or list that it
    fills or searches; `depth` is the number of nested loops that it stands for; `rows` is the variable whose
    rows it iterates over, perhaps reshaped. `paired` are the sequences of one item per step that it iterates
    over together: such a loop is expensive even once per rollout. `sized` is set where the number of
    iterations has been considered, `heavy` where each iteration computes much. `at` is the statement to
    report, if it is not the loop.
    """

    held: ast.expr
    does: str
    advice: str
    depth: int = 1
    rows: ast.expr | None = None
    paired: tuple[ast.expr, ...] = ()
    assumes: str | None = None
    sized: bool = False
    heavy: bool = False
    at: ast.stmt | None = None


def shortened(value: ast.expr, model: SemanticModel) -> str:
    """Return the code of a value in one line, which may end in an ellipsis."""
    text = " ".join(model.source.text(value).split())
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"


def item_loop(loop: ast.For, model: SemanticModel) -> ItemLoop | None:
    """Return what a loop does item by item that one operation on whole arrays would do."""
    if loop.orelse:
        return None
    return _scattered(loop, model) or _windows(loop, model) or _collected(loop, model)


def _scattered(loop: ast.For, model: SemanticModel) -> ItemLoop | None:
    """Handle `for i, p in zip(indices, priorities): self.priorities[i] = p`, also with a counter: `for k in
    range(len(indices)): self.priorities[indices[k]] = priorities[k]`.
    """
    counter = ""
    match loop.iter, loop.target:
        case (
            ast.Call(func=func, args=[_, _, *_], keywords=[]),
            ast.Tuple(elts=targets),
        ) if model.names.qualified(func) == "builtins.zip":
            items = {target.id for target in targets if isinstance(target, ast.Name)}
        case (
            ast.Call(func=func, args=[ast.Call(func=counts, args=[_])]),
            ast.Name(id=counter),
        ) if (model.names.qualified(func), model.names.qualified(counts)) == (
            "builtins.range",
            "builtins.len",
        ):
            items = set[str]()
        case _:
            return None
    bound = {
        node.id
        for node in descendants(loop)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    found = _Scatter(model, counter, items, bound)
    if not found.block(loop.body) or found.stored is None:
        return None
    text = model.source.text(found.stored)
    return ItemLoop(
        found.stored,
        f"writes `{text}` element by element",
        f"Assign all of them with an index array: `{text}[indices] = values`"
        + (", of those for which the condition holds" if found.tested else ""),
        assumes=f"`{text}` is an array" if found.guessed else None,
    )


@mutable
class _Scatter:
    """Recognises statements that write values of an iteration to the places of an array that the same
    iteration names. `items` are the variables with values of the iteration, `counter` its index; `bound` are
    all variables that the loop sets, some of which may carry a value to the next iteration.
    """

    model: SemanticModel
    counter: str
    items: set[str]
    bound: set[str]
    stored: ast.expr | None = None
    tested: bool = False
    guessed: bool = False

    def block(self, statements: list[ast.stmt]) -> bool:
        """Return whether these statements do nothing else."""
        return all(self._statement(statement) for statement in statements)

    def _statement(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Assert():
                return True
            case ast.If(test=ast.Compare(left=left, comparators=[right]), body=body, orelse=[]):
                self.tested = True
                return self._is_of_item(left) and self._is_of_item(right) and self.block(body)
            case ast.Assign(
                targets=[ast.Subscript(value=ast.Name() | ast.Attribute() as held, slice=place)], value=value
            ):
                if (
                    not self._is_place(place)
                    or not self._is_of_item(value)
                    or not self._is_filled(held, place)
                ):
                    return False
                self.stored = held
                return True
            case ast.Assign(
                targets=[ast.Name() | ast.Attribute() as kept], value=ast.Call(func=func, args=args)
            ) if self.model.names.qualified(func) == "builtins.max":
                # the running maximum of the same numbers
                return ast.dump(kept).replace("Store", "Load") in {ast.dump(each) for each in args}
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                pass
            case ast.Assign(targets=[ast.Name() as target], value=value):
                targets, values = [target], [value]
            case _:
                return False
        if not all(map(self._is_of_item, values)):
            return False
        self.items |= {target.id for target in targets if isinstance(target, ast.Name)}
        return all(isinstance(target, ast.Name) for target in targets)

    def _is_filled(self, held: ast.expr, place: ast.expr) -> bool:
        """Whether values are written to an array. Priorities of an unknown type at places that are called
        indices are likely one.
        """
        if _is_array(held, self.model) or becomes_array(held, self.model):
            return True
        named = place.value if isinstance(place, ast.Subscript) else place
        self.guessed = (
            isinstance(held, ast.Attribute)
            and not self.model.types.type_of(held)
            and bool(_PRIORITIES.search(held.attr) and _INDEX.search((last_name(named) or "").lower()))
            and may_be_array(held, self.model)
        )
        return self.guessed

    def _is_place(self, place: ast.expr) -> bool:
        """Whether an index is a value of the iteration, not its counter: `indices[k]`, `int(index)`."""
        match place:
            case ast.Name(id=name):
                return name in self.items
            case ast.Subscript(value=ast.Name() | ast.Attribute(), slice=ast.Name(id=counter)):
                return counter == self.counter
            case ast.Call(func=func, args=[given], keywords=[]):
                return self.model.names.qualified(func) == "builtins.int" and self._is_place(given)
        return False

    def _is_of_item(self, value: ast.expr) -> bool:
        """Whether an expression is the item itself, or arithmetic on it with invariants of the loop."""
        match value:
            case ast.Name(id=name):
                return name in self.items or name not in self.bound
            case ast.Constant() | ast.Attribute():
                return True
            case ast.Subscript(
                value=ast.Name()
                | ast.Attribute()
                | ast.Subscript(value=ast.Name() | ast.Attribute(), slice=ast.Constant()),
                slice=ast.Name(id=counter),
            ):
                return counter == self.counter
            case ast.BinOp(left=left, op=op, right=right):
                return isinstance(op, _OPERATORS) and self._is_of_item(left) and self._is_of_item(right)
            case ast.Call(func=func, args=args, keywords=[]):
                return self.model.names.qualified(func) in _OF_ITEMS and all(map(self._is_of_item, args))
        return False


def _windows(loop: ast.For, model: SemanticModel) -> ItemLoop | None:
    """Handle `sums[:, i] = x[:, i * n : (i + 1) * n].sum(dim=1)`."""
    match loop:
        case ast.For(
            target=ast.Name(id=counter),
            iter=ast.Call(func=func),
            body=[
                ast.Assign(
                    targets=[ast.Subscript(value=stored, slice=place)],
                    value=ast.Call(
                        func=ast.Attribute(value=ast.Subscript(value=held, slice=window), attr=attr)
                    ),
                )
            ],
        ) if model.names.qualified(func) == "builtins.range" and attr in _SUMS:
            pass
        case _:
            return None
    if not any(isinstance(part, ast.Name) and part.id == counter for part in axes_of(place)):
        return None
    slices = [part for part in axes_of(window) if isinstance(part, ast.Slice) and part.lower and part.upper]
    if len(slices) != 1 or not _is_fixed_window(slices[0], counter) or not _is_array(held, model):
        return None
    text = model.source.text(held)
    return ItemLoop(
        stored,
        f"reduces `{text}` window by window",
        f"Reshape the windows to an axis and reduce along it: `{text}.reshape(…, -1, n, …).{attr}(…)`",
    )


def _is_fixed_window(window: ast.Slice, counter: str) -> bool:
    """Whether a slice is `i * n : (i + 1) * n`: consecutive windows."""
    match window.lower, window.upper:
        case (
            ast.BinOp(left=ast.Name(id=first), op=ast.Mult(), right=width),
            ast.BinOp(
                left=ast.BinOp(left=ast.Name(id=second), op=ast.Add(), right=ast.Constant(value=1)),
                op=ast.Mult(),
                right=other,
            ),
        ):
            return first == second == counter and ast.dump(width) == ast.dump(other)
    return False


def _collected(loop: ast.For, model: SemanticModel) -> ItemLoop | None:
    """Handle `for i in indices: …; weights.append((p[i] * n) ** -beta)`, whose list becomes an array, and
    `for i in range(n): …; weights[i] = (p[indices[i]] * n) ** -beta`.
    """
    match loop:
        case ast.For(
            target=ast.Name(id=item),
            body=[
                *before,
                ast.Expr(
                    value=ast.Call(func=ast.Attribute(value=ast.Name() as kept, attr="append"), args=[value])
                ),
            ],
        ):
            into = made_into(kept, model)
        case ast.For(
            target=ast.Name(id=item),
            iter=ast.Call(func=ast.Name(id="range")),
            body=[
                *before,
                ast.Assign(
                    targets=[ast.Subscript(value=ast.Name() as kept, slice=ast.Name(id=place))], value=value
                ),
            ],
        ) if place == item and _is_array(kept, model) and _is_weighted(loop, kept.id):
            into = ""
        case _:
            return None
    found = _computed(item, before, value, model)
    if found is None or into is None:
        return None
    rows, looked_up = found
    if into in _JOINS and not rows:
        return None
    if not looked_up:
        return None
    text = model.source.text(kept)
    return ItemLoop(
        kept,
        f"computes `{text}` item by item",
        _BY_INDEX if rows else _BY_LOOKUP,
    )


def _is_weighted(loop: ast.For, kept: str) -> bool:
    """Whether a loop raises numbers to a power, as importance weights are, without reading what it fills."""
    inside = [node for statement in loop.body for node in descendants(statement)]
    reads = (node for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    powers = any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) for node in inside)
    return powers and sum(node.id == kept for node in reads) == 1  # that of the assignment


def _computed(
    item: str, before: list[ast.stmt], value: ast.expr, model: SemanticModel
) -> tuple[bool, bool] | None:
    """Return whether the statements of an iteration that computes a value look up rows of arrays, and
    anything, by its item; None if they do more, or too little.
    """
    own, given = {item}, set[str]()
    operations = 0
    for statement in before:
        match statement:
            case ast.Assign(targets=[target], value=computed):
                names = target.elts if isinstance(target, ast.Tuple) else [target]
                values = computed.elts if isinstance(computed, ast.Tuple) else [computed]
            case _:
                return None
        if not all(isinstance(name, ast.Name) for name in names):
            return None
        read = variable_names(computed)
        given |= read - own
        if not all(_has_no_side_effects(part, model) for part in values):
            return None
        own |= {name.id for name in names if isinstance(name, ast.Name)}
        operations += _operations(computed, own)
    given |= variable_names(value) - own
    if own & given or not _has_no_side_effects(value, model):
        return None  # a value is carried from one item to the next
    operations += _operations(value, own)
    if operations < _FEWEST_OPERATIONS:
        return None
    looked_up = [
        node
        for statement in (*before, value)
        for node in descendants(statement)
        if isinstance(node, ast.Subscript)
        and any(isinstance(part, ast.Name) and part.id == item for part in axes_of(node.slice))
    ]
    rows = any(_is_array(node.value, model) for node in looked_up)
    return rows, rows or any(isinstance(node.slice, ast.Name) for node in looked_up)


def item_method(made: ast.ListComp | ast.GeneratorExp, model: SemanticModel) -> ItemLoop | None:
    """Handle `[self.weight(i, beta) for i in indices]` with a method that only computes."""
    match made:
        case ast.ListComp(
            elt=ast.Call(
                func=ast.Attribute(value=ast.Name(id="self"), attr=name) as func, args=[*_, _] as args
            ),
            generators=[ast.comprehension(target=ast.Name(id=item), ifs=[])],
        ) if any(isinstance(argument, ast.Name) and argument.id == item for argument in args):
            pass
        case _:
            return None
    around = model.class_of(made)
    method = model.method(around, name) if around is not None else None
    if method is None:
        return None
    body = [
        part
        for part in method.body
        if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
    ]
    own = {argument.arg for argument in method.args.args}
    operations, looked_up = 0, False
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                own.add(name)
            case ast.Return(value=ast.expr() as value) if statement is body[-1]:
                pass
            case _:
                return None
        if not _has_no_side_effects(value, model):
            return None
        operations += _operations(value, own)
        looked_up |= any(
            isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name) and node.slice.id in own
            for node in descendants(value)
        )
    if not looked_up or operations < _FEWEST_OPERATIONS:
        return None
    return ItemLoop(
        func,
        f"computes a batch item by item with `{model.source.text(func)}`",
        "Gather the inputs of all items with an index array, and compute on the whole batch",
    )


def reduced_rows(made: ast.ListComp | ast.GeneratorExp, model: SemanticModel) -> ItemLoop | None:
    """Handle `[row.mean() for row in values.reshape(-1, n)]`, whose list becomes an array."""
    match made:
        case ast.ListComp(
            elt=ast.Call(func=ast.Attribute(value=ast.Name(id=row), attr=method), args=[]),
            generators=[ast.comprehension(target=ast.Name(id=item), iter=held, ifs=[])],
        ) if row == item and method in _REDUCES and model.types.type_of(held).tag in _ARRAYS:
            return ItemLoop(
                held,
                "reduces an array row by row",
                f"Reduce all rows in one call, along an axis: `x.{method}(1)`",
                rows=_reshaped(held),
            )
    return None


def _reshaped(array: ast.expr) -> ast.expr:
    """Return `x` of `x.reshape(-1, n)`."""
    match array:
        case ast.Call(func=ast.Attribute(value=ast.Name() | ast.Attribute() as held, attr=method)):
            return held if method in _RESHAPES else array
    return array


def _operations(value: ast.expr, own: set[str]) -> int:
    """Return the number of operators and calls that compute a value from the item."""
    return sum(
        1
        for node in descendants(value)
        if ((isinstance(node, ast.BinOp) and isinstance(node.op, _OPERATORS)) or isinstance(node, ast.Call))
        and any(isinstance(part, ast.Name) and part.id in own for part in descendants(node))
    )


def _has_no_side_effects(value: ast.expr, model: SemanticModel) -> bool:
    """Whether computing a value has no side effects, and runs no network."""
    for node in descendants(value):
        if isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda)):
            return False
        if not isinstance(node, ast.Call):
            continue
        effect = model.effects.call_effect(node)
        if model.types.type_of(node.func).tag is TypeTag.MODULE or effect.acts:
            return False
        if not effect.quiet and (node.args or node.keywords):
            return False  # `tree.total()` likely is a query, `self.look(item)` may do anything
    return True


def made_into(
    kept: ast.Name, model: SemanticModel, functions: Collection[str] = _ARRAYS_OF | _JOINS
) -> str | None:
    """Return the function that converts a list to one array, or the one of `functions`, if that is its
    use.
    """
    scope = model.names.scope(kept).lookup(kept.id)
    if scope is None or not scope.is_function:
        return None
    for read in model.names.reads(kept.id, scope):
        parent = model.parent(read)
        if isinstance(parent, ast.Call) and parent.args and parent.args[0] is read:
            name = model.names.qualified(parent.func) or ""
            if name in functions:
                return name
    return None


def _is_array(held: ast.expr, model: SemanticModel) -> bool:
    return model.types.type_of(held).tag in _ARRAYS
