"""Loops over the rows of a batch, each of which only computes its own row of an array."""

from __future__ import annotations

import ast
from dataclasses import field

from rlint.rule import (
    SemanticModel,
    Trait,
    TypeTag,
    axes_of,
    descendants,
    dump_as_read,
    last_name,
    models,
    mutable,
    regex,
)
from rlint.rules.computation.rl505_scalar_loop_over_array.by_item import ItemLoop

_ARRAYS = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR})
_MAY_BE_ARRAYS = _ARRAYS | {TypeTag.UNKNOWN}
_LIBRARIES = ("torch.", "numpy.", "math.")
_OF_NUMBERS = models.having(Trait.OF_NUMBERS, "builtins")
_OF_LISTS = models.having(Trait.FROM_DATA, "numpy", "torch")
"""Functions of lists, which may differ in length from row to row."""
_CHANGES = models.mutators(TypeTag.LIST, TypeTag.DEQUE, TypeTag.DICT)
_OF_FEW = regex(r"env|agent|worker|actor|player|process|rank|joint|motor|goal|dim|n_actions|num_actions")
_IN_PLACE = {
    "index_add_": "scatter_add_",
    "index_copy_": "scatter_",
    "index_fill_": "scatter_",
    "scatter_": "scatter_",
    "scatter_add_": "scatter_add_",
}
"""Methods that write to places of a row that an argument names, and those that do so for all rows: the
indices of `index_add_` are the same for each row.
"""
_BATCH = regex(r"batch|(^|_)bs$|minibatch")


def row_loop(loop: ast.For, model: SemanticModel) -> ItemLoop | None:
    """Return what a loop such as `for i in range(batch_size): target[i, actions[i]] = rewards[i] + …` does,
    if no row depends on another.
    """
    counter, own = _counter(loop, model), set[str]()
    if counter is None:
        counter, own = _numbered(loop, model)
    if counter is None or loop.orelse:
        return None
    found = _Rows(model, counter, own)
    if not found.block(loop.body) or not found.stored or not found.computes:
        return None
    if not found.are_only_rows(loop):
        return None
    held = found.stored[0]
    text = model.source.text(held)
    return ItemLoop(
        held,
        f"computes the rows of `{text}` one by one",
        found.advice(text),
        sized=found.places and not _OF_FEW.search(model.source.text(loop.iter).lower()),
    )


def _counter(loop: ast.For, model: SemanticModel) -> str | None:
    """Return the variable that counts the rows of an array, or those of a batch, by the name of their
    number.
    """
    match loop:
        case ast.For(target=ast.Name(id=counter), iter=ast.Call(func=func, args=[count], keywords=[])):
            if model.names.qualified(func) != "builtins.range":
                return None
        case _:
            return None
    match count:
        case ast.Call(func=ast.Name(id="len"), args=[rows]):
            named = bool(_BATCH.search((last_name(rows) or "").lower()))
            return counter if named or model.types.type_of(rows).tag in _ARRAYS else None
        case ast.Subscript(value=ast.Attribute(value=rows, attr="shape"), slice=ast.Constant(value=0)):
            return counter if model.types.type_of(rows).tag in _MAY_BE_ARRAYS else None
        case ast.Call(func=ast.Attribute(value=rows, attr="size")):
            given = [*count.args, *(keyword.value for keyword in count.keywords)]
            first = [isinstance(part, ast.Constant) and part.value == 0 for part in given] == [True]
            return counter if first and model.types.type_of(rows).tag in _MAY_BE_ARRAYS else None
        case ast.Name() | ast.Attribute():
            return counter if _BATCH.search((last_name(count) or "").lower()) else None
    return None


def _numbered(loop: ast.For, model: SemanticModel) -> tuple[str | None, set[str]]:
    """Return the counter of `for i, action in enumerate(actions)`, and the variable for rows of the array."""
    match loop:
        case ast.For(
            target=ast.Tuple(elts=[ast.Name(id=counter), ast.Name(id=row)]),
            iter=ast.Call(func=func, args=[ast.Name() | ast.Attribute() as rows], keywords=[]),
        ) if model.names.qualified(func) == "builtins.enumerate":
            if model.types.type_of(rows).tag in _ARRAYS:
                return counter, {row}
    return None, set()


@mutable
class _Rows:
    """Recognises statements that read and write only the row `counter` of arrays. `own` are the variables
    that an iteration sets before it reads them, `stored` the arrays that it writes to; `places` says that
    each row is written at a place of its own, `method` how, if by a method.
    """

    model: SemanticModel
    counter: str
    own: set[str] = field(default_factory=set)
    given: set[str] = field(default_factory=set)
    stored: list[ast.expr] = field(default_factory=list)
    computes: bool = False
    places: bool = False
    method: str | None = None

    def advice(self, text: str) -> str:
        """Return what to write instead, for the array with this text."""
        if self.method is not None:
            whole = _IN_PLACE[self.method]
            return (
                f"Write all rows at once: `{text}.{whole}(1, indices, values)`, with one row of indices each"
            )
        return (
            "Compute all rows at once: with an index array for the rows (`x[torch.arange(n), actions]`), "
            "reductions along an axis, and masks for conditions"
        )

    def block(self, statements: list[ast.stmt]) -> bool:
        """Return whether these statements do nothing else."""
        return all(self._statement(statement) for statement in statements)

    def _statement(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.If(test=test, body=body, orelse=orelse):
                self.computes = True
                return self._reads(test) and self.block(body) and self.block(orelse)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                if not self._reads(value) or name in self.given or name == self.counter:
                    return False  # a value of the previous iteration
                self.own.add(name)
                return True
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                return self._reads(value) and self._stores(target)
            case ast.AugAssign(target=ast.Subscript() as target, value=value):
                self.computes = True
                return self._reads(value) and self._stores(target)
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Subscript() as target, attr=method), args=args, keywords=[]
                )
            ) if method in _IN_PLACE:
                self.computes = self.places = True
                self.method = method
                return all(self._reads(argument) for argument in args) and self._stores(target)
            case ast.Assert() | ast.Pass():
                return True
        return False

    def _stores(self, target: ast.Subscript) -> bool:
        """Return whether a target is the row, or a part of it: `target[i]`, `target[i][action]`."""
        row: ast.expr = target
        while isinstance(row, ast.Subscript) and isinstance(row.value, ast.Subscript):
            if not self._reads(row.slice) or isinstance(getattr(row.slice, "value", None), str):
                return False  # `rows[i]["key"]`: dicts
            self._note_place(row.slice)
            row = row.value
        assert isinstance(row, ast.Subscript)
        held = row.value
        if not isinstance(held, (ast.Name, ast.Attribute)) or not self._is_row(row):
            return False
        if self.model.types.type_of(held).tag not in _ARRAYS:
            return False
        self.stored.append(held)
        places = axes_of(row.slice)[1:]
        for place in places:
            self._note_place(place)
        return all(self._reads(axis) for axis in places)

    def _note_place(self, place: ast.expr) -> None:
        """Note that each row is written at a place of its own: `one_hot[i, actions[i]] = 1`."""
        self.places |= any(
            isinstance(node, ast.Subscript) or (isinstance(node, ast.Name) and node.id in self.own)
            for node in descendants(place)
        )
        self.computes |= self.places

    def _is_row(self, item: ast.Subscript) -> bool:
        first = axes_of(item.slice)[0]
        return isinstance(first, ast.Name) and first.id == self.counter

    def _reads(self, value: ast.expr) -> bool:
        """Return whether evaluating a value has no side effects and uses the counter only as the row."""
        rows = {
            axes_of(node.slice)[0]
            for node in descendants(value)
            if isinstance(node, ast.Subscript) and self._is_row(node)
        }
        for node in descendants(value):
            match node:
                case ast.Subscript(value=held, slice=place) if not self._is_row(node):
                    looked_up = any(each in rows for each in descendants(place))
                    if looked_up and self.model.types.type_of(held).tag not in _ARRAYS:
                        return False  # `means[groups[i]]` of a dict
                case ast.Attribute(value=ast.Name(id=name) as owner) if name in self.own:
                    is_array = self.model.types.type_of(owner).tag in _ARRAYS
                    if not is_array and self.model.syntax.call_of(node) is None:
                        return False  # `envs[i].data.positions`: attributes of objects, not rows
                case ast.Name(id=name):
                    if name == self.counter and node not in rows:
                        return False
                    if name not in self.own:
                        self.given.add(name)
                case ast.Call():
                    self.computes = True
                    if not self._only_computes(node):
                        return False
                case ast.Slice() if not _is_fixed(node):
                    return False  # rows of different lengths
                case ast.BinOp(op=ast.MatMult()):
                    return False
                case ast.BinOp() | ast.Compare():
                    self.computes = True
                case ast.NamedExpr() | ast.Lambda() | ast.Await() | ast.Yield() | ast.YieldFrom():
                    return False
                case ast.ListComp() | ast.GeneratorExp() | ast.DictComp() | ast.SetComp():
                    return False
        return True

    def _only_computes(self, call: ast.Call) -> bool:
        """Return whether a call is that of a library function, or of a method of an array that returns a new
        one.
        """
        name = self.model.names.qualified(call.func)
        if name is not None:
            computes = name.startswith(_LIBRARIES) and name not in _OF_LISTS and not name.endswith("_")
            return computes or name in _OF_NUMBERS
        match call.func:
            case ast.Attribute(value=owner, attr=method):
                known = models.method_fact(TypeTag.TENSOR, method) or models.method_fact(
                    TypeTag.NDARRAY, method
                )
                array = self.model.types.type_of(owner).tag in _MAY_BE_ARRAYS
                return array and known is not None and not method.endswith("_") and method not in _CHANGES
        return False

    def are_only_rows(self, loop: ast.For) -> bool:
        """Whether the loop uses the arrays that it writes to only by their row."""
        held = {dump_as_read(each) for each in self.stored}
        for node in (part for statement in loop.body for part in descendants(statement)):
            if not isinstance(node, (ast.Name, ast.Attribute)) or ast.dump(node) not in held:
                continue
            item = self.model.parent(node)
            if not isinstance(item, ast.Subscript) or item.value is not node or not self._is_row(item):
                return False
        return True


def _is_fixed(part: ast.Slice) -> bool:
    """Whether the bounds of a slice are constants."""
    bounds = (part.lower, part.upper, part.step)
    return all(bound is None or isinstance(bound, (ast.Constant, ast.UnaryOp)) for bound in bounds)
