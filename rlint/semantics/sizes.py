"""How many items values likely have: from displays, shapes, draws, constants, settings of the program.

Such numbers are usual ones, not bounds: they decide how much a finding matters, never whether a fix is safe.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from rlint import models
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.semantics.frequency import trip_count
from rlint.semantics.types.numbers import number_of
from rlint.syntax.queries import element_at
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.syntax_index import COMPREHENSIONS
from rlint.syntax.walk import descendants, is_in

if TYPE_CHECKING:
    from rlint.semantics.model import SemanticModel

_DEPTH = 12
"""Maximum number of assignments, calls and operators that are followed."""
_MOST = 10**12
"""Larger numbers mean "without limit"."""
_FEW_PARTS = 8
"""The assumed number of agents, layers, joints, costs or other parts, if it is not known."""
_OF_ITEMS = models.having(Trait.SAME_ITEMS | Trait.PAIRS_ITEMS, "builtins") | {"torch.nn.ModuleList"}
_OF_ROWS = models.having(
    Trait.FROM_DATA | Trait.LIKE | Trait.ELEMENTWISE | Trait.MIRRORS | Trait.COMPARES | Trait.PAIRWISE,
    "numpy",
    "torch",
)
_STACKS = frozenset({"numpy.stack", "numpy.vstack", "torch.stack"})
_OF_SHAPE = models.having(Trait.ALLOCATES | Trait.DRAWS_SHAPE, "numpy", "numpy.random", "torch")
_PICKS = models.having(Trait.PICKS, "numpy.random", "random")
_PICKING = models.names_having(Trait.PICKS, "numpy.random", "random", TypeTag.RANDOM_GENERATOR)
_SAME_ROWS = models.having(
    Trait.KEEPS_VALUES | Trait.DETACHES | Trait.ELEMENTWISE | Trait.TO_HOST,
    TypeTag.TENSOR,
    TypeTag.NDARRAY,
) - {"item"}
_APPENDS = models.having(Trait.INSERTS, TypeTag.LIST, TypeTag.DEQUE)
_ZIP, _MAP = "builtins.zip", "builtins.map"
_DRAWS_A_BATCH = frozenset({"sample", "sample_batch", "get_batch"})
"""Methods of replay buffers that return as many rows as their argument says."""
_RANGE_PARTS = 3
_NEXT = 1  # the index of the items in what `enumerate` yields


def usual_number(expression: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> int | None:
    """Return the usual value of a whole number; None if neither the code nor a setting tells it. Of several
    settings of the same name, the middle one counts.
    """
    if depth <= 0:
        return None
    known = number_of(expression, model)
    if known is not None and known.fixed:
        return int(known.value) if abs(known.value) < _MOST else None
    found = _followed(expression, model, depth - 1)
    if found is None and (name := _setting(expression)):
        found = model.sizes.setting(name)
    if found is None and known is not None and abs(known.value) < _MOST:
        return int(known.value)
    return found


def _followed(expression: ast.expr, model: SemanticModel, depth: int) -> int | None:
    match expression:
        case ast.BinOp(left=left, op=op, right=right):
            return _computed(usual_number(left, model, depth), op, usual_number(right, model, depth))
        case ast.Call(func=func, args=args) if args:
            return _called(model.names.qualified(func) or "", expression, model, depth)
        case ast.Call(func=ast.Attribute(value=owner, attr="size" | "__len__"), args=[]):
            return length_of(owner, model, depth)
        case ast.Subscript(value=ast.Attribute(value=owner, attr="shape"), slice=ast.Constant(value=0)):
            return length_of(owner, model, depth)
        case ast.Name():
            definitions = model.dataflow.definitions(expression)
            if len(definitions) != 1:
                return None
            (binding,) = definitions
            if binding.kind is BindingKind.PARAMETER:
                return model.sizes.passed(expression)
            if binding.kind is BindingKind.ASSIGN and binding.value is not None and not binding.path:
                return usual_number(binding.value, model, depth)
        case ast.Attribute() if model.names.is_self(expression.value):
            stored = _stored_once(expression, model)
            return usual_number(stored, model, depth) if stored is not None else None
    return None


def _stored_once(attribute: ast.Attribute, model: SemanticModel) -> ast.expr | None:
    """Return what the constructor stores in an attribute, if no other code of its class stores in it."""
    cls = model.class_of(attribute)
    uses = model.names.attribute_uses(attribute.attr)
    stores = [use for use in uses if not isinstance(use.ctx, ast.Load) and model.class_of(use) is cls]
    function = model.function(stores[0]) if len(stores) == 1 else None
    if function is None or function.name != "__init__":
        return None
    return model.names.assigned(stores[0])


def _called(callee: str, call: ast.Call, model: SemanticModel, depth: int) -> int | None:
    if callee == "builtins.len" and len(call.args) == 1:
        return length_of(call.args[0], model, depth)
    if callee == "builtins.int":
        return usual_number(call.args[0], model, depth)
    choose: Callable[[list[int]], int] | None = {"builtins.min": min, "builtins.max": max}.get(callee)
    if choose is None:
        match call.func, call.args:
            case ast.Attribute(attr="size"), [ast.Constant(value=0)]:
                return length_of(call.func.value, model, depth)
        return None
    numbers = [usual_number(argument, model, depth) for argument in call.args]
    known = [number for number in numbers if number is not None]
    return choose(known) if known else None


def _computed(left: int | None, op: ast.operator, right: int | None) -> int | None:
    if left is None or right is None:
        return None
    match op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.FloorDiv() | ast.Div() if right:
            return left // right
    return None


def _setting(expression: ast.expr) -> str:
    """Return the name of an option: `batch_size` of `args.batch_size`, `config["batch_size"]` and
    `config.get("batch_size")`; "" for other expressions.
    """
    match expression:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(slice=ast.Constant(value=str() as name)):
            return name
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str() as name), *_]):
            return name
    return ""


def passes_of(loop: ast.AST, model: SemanticModel) -> int | None:
    """Return the likely number of iterations of a `for` loop, or of a comprehension with one loop and
    without conditions: a few if it iterates over the parts of an object (agents, layers, joints).
    """
    match loop:
        case ast.For(iter=iterable) | ast.AsyncFor(iter=iterable):
            few = trip_count.over_components(loop, model)
        case (
            ast.ListComp(generators=[ast.comprehension(iter=iterable, ifs=[])])
            | ast.GeneratorExp(generators=[ast.comprehension(iter=iterable, ifs=[])])
        ):
            few = trip_count.collects_components(loop, model)
        case _:
            return None
    length = length_of(iterable, model)
    few = few or model.types.type_of(iterable).tag is TypeTag.MODULE  # layers, or the members of an ensemble
    return _FEW_PARTS if length is None and few else length


def length_of(value: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> int | None:
    """Return the likely number of items of a value, of an array or tensor the size of its first dimension."""
    if depth <= 0:
        return None
    match value:
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
            return None if any(isinstance(each, ast.Starred) for each in elements) else len(elements)
        case ast.Dict(keys=keys):
            return None if None in keys else len(keys)
        case ast.Call():
            return _of_call(value, model, depth - 1)
        case ast.Subscript(value=held, slice=ast.Slice() as part):
            return _of_slice(held, part, model, depth - 1)
        case ast.Subscript(slice=index) if model.types.type_of(index).tag in (
            TypeTag.NDARRAY,
            TypeTag.TENSOR,
            TypeTag.LIST,
        ):
            return length_of(index, model, depth - 1)
        case ast.BinOp(left=left, right=right):
            sides = [length_of(side, model, depth - 1) for side in (left, right)]
            return max((side for side in sides if side is not None), default=None)
        case ast.Name():
            lengths = [_of_binding(each, model, depth - 1) for each in model.dataflow.definitions(value)]
            known = [length for length in lengths if length is not None]
            return max(known) if known and len(known) == len(lengths) else None
        case ast.Attribute(attr="T"):
            return None
        case ast.Attribute(attr="data", value=owner):
            return length_of(owner, model, depth - 1)
        case ast.Attribute():
            return _of_attribute(value, model, depth - 1)
    if isinstance(value, COMPREHENSIONS):
        return passes_of(value, model)
    return None


def _of_call(call: ast.Call, model: SemanticModel, depth: int) -> int | None:
    callee = model.names.qualified(call.func) or ""
    first = call.args[0] if call.args else None
    if callee == "builtins.range":
        return _of_range(call, model, depth)
    if callee in (_ZIP, _MAP):
        items = call.args[1:] if callee == _MAP else call.args
        lengths = [length_of(item, model, depth) for item in items]
        return min((length for length in lengths if length is not None), default=None)
    if callee in _STACKS and not _stacks_rows(call):
        return None
    if callee in _OF_ITEMS or callee in _OF_ROWS or callee in _STACKS or callee.startswith("tqdm"):
        return length_of(first, model, depth) if first is not None else None
    if callee in _OF_SHAPE:
        return _of_shape(call, model, depth)
    named = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if callee in _PICKS or (named in _PICKING and len(call.args) > 1):
        return _drawn(call, model, depth)
    if isinstance(call.func, ast.Attribute):
        if named in _SAME_ROWS or named in ("values", "items", "keys"):
            return length_of(call.func.value, model, depth)
        if named in _DRAWS_A_BATCH and first is not None:
            return usual_number(call.args[-1], model, depth)
    return _of_output(call, model, depth)


def _stacks_rows(call: ast.Call) -> bool:
    """Whether the items that a call stacks are the first dimension of the result."""
    given = [keyword.value for keyword in call.keywords if keyword.arg in ("dim", "axis")]
    return all(isinstance(each, ast.Constant) and each.value == 0 for each in (*given, *call.args[1:2]))


def _of_output(call: ast.Call, model: SemanticModel, depth: int) -> int | None:
    """Return the length of the output of a network of this file, if its method always returns the same
    expression: `torch.stack([critic(obs) for critic in self.critics])`.
    """
    run = model.nn.network_run(call)
    path = f"{model.types.type_of(run[0]).of}().{run[1]}" if run is not None else ""
    functions = model.index.callables(path, model.analysis.name) if path else []
    function = model.types.definition(functions[0]) if len(functions) == 1 else None
    parts = descendants(function) if function is not None else ()
    match [part.value for part in parts if isinstance(part, ast.Return)]:
        case [ast.expr() as output]:
            return length_of(output, model, depth)
    return None


def _of_range(call: ast.Call, model: SemanticModel, depth: int) -> int | None:
    numbers = [usual_number(argument, model, depth) for argument in call.args]
    known = [number for number in numbers if number is not None]
    if len(known) != len(numbers) or not 0 < len(known) <= _RANGE_PARTS:
        return None
    try:
        return len(range(*known))
    except (ValueError, OverflowError):
        return None


def _of_shape(call: ast.Call, model: SemanticModel, depth: int) -> int | None:
    """Return the first dimension of what `zeros((n, 4))`, `randn(n, 4)` or `randint(9, size=n)` creates."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    shape = given.get("size") or given.get("shape") or (call.args[-1] if call.args else None)
    if len(call.args) > 1 and "size" not in given and isinstance(call.args[0], (ast.Tuple, ast.List)):
        shape = call.args[0]
    match shape:
        case ast.Tuple(elts=[size, *_]) | ast.List(elts=[size, *_]):
            return usual_number(size, model, depth)
        case ast.expr() if len(call.args) <= 1 or "size" in given:
            return usual_number(shape, model, depth)
        case ast.expr():
            return usual_number(call.args[0], model, depth)
    return None


def _drawn(call: ast.Call, model: SemanticModel, depth: int) -> int | None:
    """Return how many items `random.sample(rows, n)` or `rng.choice(rows, size=n)` draws."""
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    count = named.get("size") or named.get("k") or (call.args[1] if len(call.args) > 1 else None)
    if isinstance(count, (ast.Tuple, ast.List)) and len(count.elts) == 1:
        count = count.elts[0]
    return usual_number(count, model, depth) if count is not None else None


def _of_slice(held: ast.expr, part: ast.Slice, model: SemanticModel, depth: int) -> int | None:
    if part.step is not None:
        return None
    match part.lower, part.upper:
        case None, None:
            return length_of(held, model, depth)
        case None, ast.UnaryOp():
            return length_of(held, model, depth)
        case None, ast.expr() as upper:
            return usual_number(upper, model, depth)
        case ast.UnaryOp(op=ast.USub(), operand=last), None:
            return usual_number(last, model, depth)
        case ast.expr() as lower, ast.BinOp(left=start, op=ast.Add(), right=count) if ast.dump(
            lower
        ) == ast.dump(start):
            return usual_number(count, model, depth)
    return None


def _of_binding(binding: Binding, model: SemanticModel, depth: int) -> int | None:
    value, path = binding.value, binding.path
    if value is None:
        return None
    if binding.kind is BindingKind.ASSIGN:
        if not path:
            length = length_of(value, model, depth)
            return length if length != 0 else _appended(binding, model)
        part = element_at(value, path)
        return length_of(part, model, depth) if part is not None else _of_fields(value, model, depth)
    if binding.kind in (BindingKind.FOR, BindingKind.COMPREHENSION):
        return _of_row(value, path, model, depth)
    return None


def _appended(binding: Binding, model: SemanticModel) -> int | None:
    """Return how many items are added to a list that starts empty, in the loops of the same function."""
    total = 0
    for use in model.names.uses(binding.name, model.names.scope(binding.node)):
        method = model.parent(use)
        call = model.parent(method) if isinstance(method, ast.Attribute) else None
        if not isinstance(call, ast.Call) or not isinstance(method, ast.Attribute):
            continue
        if call.func is not method or method.attr not in _APPENDS:
            continue
        loops = [loop for loop in model.frequency.loops(call) if not is_in(binding.node, loop)]
        passes = [passes_of(loop, model) for loop in loops]
        known = [number for number in passes if number is not None]
        if len(known) != len(passes):
            return None
        total += math.prod(known)
    return total or None


def _of_fields(value: ast.expr, model: SemanticModel, depth: int) -> int | None:
    """Return the length of each field of a batch: of `zip(*rows)`, or of what a buffer's `sample(n)`
    returns.
    """
    match value:
        case ast.Call(func=func, args=[ast.Starred(value=rows)]) if model.names.qualified(func) == _ZIP:
            return length_of(rows, model, depth)
        case ast.Call(func=ast.Attribute(attr=method), args=[*_, count]) if method in _DRAWS_A_BATCH:
            return usual_number(count, model, depth)
        case ast.Call(func=func, args=[_, each]) if model.names.qualified(func) == _MAP:
            return _of_fields(each, model, depth)
        case ast.Name():
            definitions = model.dataflow.definitions(value)
            if len(definitions) == 1 and definitions[0].value is not None and not definitions[0].path:
                return _of_fields(definitions[0].value, model, depth)
    return None


def _of_row(rows: ast.expr, path: tuple[int | str, ...], model: SemanticModel, depth: int) -> int | None:
    """Return the length of an item of a loop over a display: of `pair` in `for pair in [(a, b), (c, d)]`."""
    match rows:
        case ast.Call(func=func, args=[items, *_]) if model.names.qualified(
            func
        ) == "builtins.enumerate" and path[:1] == (_NEXT,):
            return _of_row(items, path[1:], model, depth)
        case ast.List(elts=[first, *_]) | ast.Tuple(elts=[first, *_]):
            part = element_at(first, path)
            return length_of(part, model, depth) if part is not None else None
    return None


def _of_attribute(attribute: ast.Attribute, model: SemanticModel, depth: int) -> int | None:
    """Return the length of what this file assigns to the attribute, or the `maxlen` of its deque."""
    found: list[int] = []
    for use in model.names.attribute_uses(attribute.attr):
        parent = model.parent(use)
        if isinstance(use.ctx, ast.Load) or not isinstance(parent, (ast.Assign, ast.AnnAssign)):
            continue
        if _keeps_rows(parent.value, use):
            continue
        length = _assigned(parent.value, model, depth)
        if length is None:
            return None
        found.append(length)
    return max(found, default=None)


def _keeps_rows(value: ast.expr | None, held: ast.Attribute) -> bool:
    """Whether a value has the rows that the attribute had: `self.held = self.held.to(device)`."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr not in _SAME_ROWS:
            return False
        value = value.func.value
    return isinstance(value, ast.Attribute) and value.attr == held.attr


def _assigned(value: ast.expr | None, model: SemanticModel, depth: int) -> int | None:
    match value:
        case None:
            return None
        case ast.Call(func=func, keywords=[*_, ast.keyword(arg="maxlen", value=most)]) if (
            model.names.qualified(func) == "collections.deque"
        ):
            return usual_number(most, model, depth)
        case ast.List(elts=[]) | ast.Dict(keys=[]):
            return None
    return length_of(value, model, depth)
