"""Items that are computed one by one from tensors in lists, or from the rows of a tensor, and joined."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import SemanticModel, Trait, TypeTag, descendants, models, variable_names
from rlint.rules.computation.rl505_scalar_loop_over_array.by_item import ItemLoop, shortened
from rlint.rules.computation.rl505_scalar_loop_over_array.enough_iterations import saves_memory

_JOINS = models.having(Trait.JOINS, "torch")
_FILLS = models.having(Trait.FILLS, "torch", "numpy") | {"torch.arange", "torch.linspace"}
_UNBINDS = frozenset({"torch.unbind"})
_FEWEST_OPERATIONS = 2
_IN_PLACE = frozenset({"detach_"})
_SIZED = frozenset({"torch.nn.functional.one_hot", "torch.nn.functional.pad"})
_CREATES = _FILLS | models.having(Trait.FILLS_LIKE, "torch")
_RESHAPES = models.having(Trait.KEEPS_ORDER | Trait.RESHAPES, TypeTag.TENSOR)
_METHODS = _IN_PLACE | {
    name for name in models.methods_of(TypeTag.TENSOR) - {"backward", "register_hook"} if name[-1] != "_"
}
_ITERATES = frozenset({"builtins.zip", "builtins.list", "builtins.tuple", "builtins.reversed"})
_CONCATENATE = "Concatenate the inputs first (`torch.cat(log_probs)`), and compute on all of them at once"
_STACK = "Stack the inputs first (`torch.stack(log_probs)`), and compute on all of them at once"
_EITHER = (
    "Join the inputs to one tensor of the shape `(n,)` first (`torch.cat(log_probs)` if each has the shape "
    "`(1,)`, `torch.stack` if each is a single number), and compute on all of them at once"
)
_ROWS = "Compute on the whole tensor, whose first dimension is the one that is iterated over"


def appended_items(loop: ast.For, model: SemanticModel) -> ItemLoop | None:
    """Handle `for log_prob, ret in zip(log_probs, returns): losses.append(-log_prob * ret)`, whose lists
    become one tensor each.
    """
    own = {node.id for node in descendants(loop.target) if isinstance(node, ast.Name)}
    given = set[str]()
    kept: list[ast.Name] = []
    sums: list[ast.Name] = []
    operations = 0
    values = list[ast.expr]()
    for statement in loop.body:
        match statement:
            case ast.AugAssign(target=ast.Name(id=name) as target, op=ast.Add() | ast.Sub(), value=value):
                if name in own:
                    return None
                sums.append(target)
                operations += 1
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=ast.Name() as target, attr="append"), args=[value])
            ):
                kept.append(target)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                given |= variable_names(value) - own
                own.add(name)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=[])):
                if name not in own or method not in _IN_PLACE:
                    return None
                continue
            case _:
                return None
        given |= variable_names(value) - own
        values.append(value)
        if not _computes(value, model, own):
            return None
        operations += _operations(value, own)
    paired = _pairs(loop.iter, model) or _alone(loop.iter, values, model)
    if any(saves_memory(sequence, model) for sequence in paired):
        return None
    results = [*kept, *sums]
    if not results or own & given or operations < _FEWEST_OPERATIONS or not paired:
        return None
    if {target.id for target in sums} & given:
        return None  # a running sum is used in each iteration
    if not all(_is_joined(target, model) for target in kept):
        return None
    if not all(_is_loss(target, model) for target in sums):
        return None
    text = model.source.text(results[0])
    return ItemLoop(
        results[0],
        f"computes `{text}` from the items of lists one by one",
        _joined_first([*kept], paired, model),
        paired=paired,
    )


def joined_comprehension(made: ast.ListComp, model: SemanticModel) -> ItemLoop | None:
    """Handle `[-log_prob * ret for log_prob, ret in zip(log_probs, returns)]`, and functions of the rows of
    tensors, `[mix(m, s) for m, s in zip(mean.unbind(), std.unbind())]`, if the list becomes one tensor.
    """
    clause = made.generators[0]
    if len(made.generators) != 1 or clause.ifs or clause.is_async:
        return None
    own = {node.id for node in descendants(clause.target) if isinstance(node, ast.Name)}
    rows = list(unbound_rows(clause.iter, model))
    if not becomes_tensor(made, model) or not changes_numbers(made.elt, model):
        return None
    if rows:
        if not _operations(made.elt, own) or not _computes(made.elt, model, functions=True):
            return None
        if _passes_sizes(made.elt, own, model):
            return None
        text = model.source.text(rows[0])
        return ItemLoop(
            rows[0], f"computes `{shortened(made.elt, model)}` for one row of `{text}` after the other", _ROWS
        )
    paired = _pairs(clause.iter, model)
    if not paired or _operations(made.elt, own) < _FEWEST_OPERATIONS:
        return None
    if not _computes(made.elt, model, own) or _passes_sizes(made.elt, own, model):
        return None
    held = clause.iter.args[0] if isinstance(clause.iter, ast.Call) else clause.iter
    text = model.source.text(held)
    return ItemLoop(
        held,
        f"computes `{shortened(made.elt, model)}` for one item of `{text}` after the other",
        _joined_first([made], paired, model),
        paired=paired,
    )


def _joined_first(
    results: list[ast.Name | ast.ListComp], paired: tuple[ast.expr, ...], model: SemanticModel
) -> str:
    """Return how to join the inputs. Stacked log-probabilities of the shape `(1,)` would give `(n, 1)`, whose
    product with rewards of the shape `(n,)` is a matrix.
    """
    if any("torch.cat" in model.once(_joining_functions, result) for result in results):
        return _CONCATENATE
    items = [model.types.type_of(sequence).item for sequence in paired]
    tensors = [item for item in items if item is not None and item.tag is TypeTag.TENSOR]
    if tensors and all(item.rank == 0 for item in tensors):
        return _STACK
    return _EITHER


def _joining_functions(result: ast.Name | ast.ListComp, model: SemanticModel) -> frozenset[str]:
    """Return the functions that join the items of a list."""
    places: list[ast.AST] = [result]
    target: ast.AST | None = result
    if isinstance(result, ast.ListComp):
        parent = model.parent(result)
        target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    if isinstance(target, ast.Name):
        scope = model.names.scope(target).lookup(target.id)
        places += model.names.reads(target.id, scope) if scope is not None and scope.is_function else []
    calls = [model.parent(place) for place in places]
    names = [model.names.qualified(call.func) for call in calls if isinstance(call, ast.Call)]
    return frozenset(name for name in names if name in _JOINS)


def _passes_sizes(value: ast.expr, own: set[str], model: SemanticModel) -> bool:
    """Whether the items contain sizes: `F.one_hot(action, size)` for heads of several sizes, whose results
    have different shapes.
    """
    for call in descendants(value):
        if not isinstance(call, ast.Call):
            continue
        for place, argument in enumerate((*call.args, *(keyword.value for keyword in call.keywords))):
            if not isinstance(argument, ast.Name) or argument.id not in own:
                continue
            if model.types.type_of(argument).tag is TypeTag.INT:
                return True
            if place and model.names.qualified(call.func) in _SIZED:
                return True
    return False


def _pairs(iterable: ast.expr, model: SemanticModel) -> tuple[ast.expr, ...]:
    """Return the sequences that a loop iterates over together, if there are several and one of them holds
    tensors.
    """
    match iterable:
        case ast.Call(func=func, args=[_, _, *_] as sequences, keywords=[]) if (
            model.names.qualified(func) == "builtins.zip"
        ):
            return tuple(sequences) if any(_holds_tensors(each, model) for each in sequences) else ()
    return ()


def _alone(iterable: ast.expr, values: list[ast.expr], model: SemanticModel) -> tuple[ast.expr, ...]:
    """Return a list of tensors that a loop iterates over alone, if it computes with operators only. Functions
    may give items of different shapes, such as padding does.
    """
    if not isinstance(iterable, (ast.Name, ast.Attribute)):
        return ()
    item = model.types.type_of(iterable).item
    if item is None or item.tag is not TypeTag.TENSOR:
        return ()
    called = any(isinstance(node, ast.Call) for value in values for node in descendants(value))
    return () if called else (iterable,)


def _holds_tensors(sequence: ast.expr, model: SemanticModel) -> bool:
    kind = model.types.type_of(sequence)
    if kind.tag is TypeTag.TENSOR:
        return True
    return kind.tag in (TypeTag.LIST, TypeTag.TUPLE) and (not kind.item or kind.item.tag is TypeTag.TENSOR)


def unbound_rows(iterable: ast.expr, model: SemanticModel) -> Iterator[ast.expr]:
    """Yield the tensors whose rows are iterated over."""
    match iterable:
        case ast.Call(func=func, args=[tensor, *_]) if model.names.qualified(func) in _UNBINDS:
            yield tensor
        case ast.Call(func=ast.Attribute(value=tensor, attr="unbind")):
            yield tensor
        case ast.Call(func=func, args=args) if model.names.qualified(func) in _ITERATES:
            for argument in args:
                yield from unbound_rows(argument, model)


def _is_joined(kept: ast.Name, model: SemanticModel) -> bool:
    """Whether a list is only passed to functions that concatenate or stack tensors, until the variable is
    assigned again.
    """
    scope = model.names.scope(kept).lookup(kept.id)
    if scope is None or not scope.is_function:
        return False
    joined = False
    made = model.dataflow.definitions(kept)
    for read in model.names.reads(kept.id, scope):
        if not any(each in made for each in model.dataflow.definitions(read)):
            continue
        match model.parent(read):
            case ast.Attribute(attr="append"):
                pass
            case ast.Call(func=func, args=[first, *_]) if first is read:
                if model.names.qualified(func) not in _JOINS:
                    return False
                joined = True
            case _:
                return False
    return joined


def _is_loss(total: ast.Name, model: SemanticModel) -> bool:
    """Whether a sum is differentiated, itself or after arithmetic: `(total / n).backward()`, `loss = total +
    entropy`, `loss.backward()`.
    """
    scope = model.names.scope(total).lookup(total.id)
    if scope is None or not scope.is_function:
        return False
    for read in model.names.reads(total.id, scope):
        place: ast.AST = read
        while isinstance(parent := model.parent(place), (ast.BinOp, ast.UnaryOp)):
            place = parent
        match parent:
            case ast.Attribute(attr="backward"):
                return True
            case ast.Assign(targets=[ast.Name(id=name)]) if name != total.id:
                uses = model.names.reads(name, scope)
                if any(getattr(model.parent(use), "attr", "") == "backward" for use in uses):
                    return True
    return False


def becomes_tensor(made: ast.ListComp, model: SemanticModel) -> bool:
    """Whether a list is joined to one tensor, itself, or a part of each of its items."""
    match model.parent(made):
        case ast.Call(func=func, args=[first, *_]) if first is made:
            return model.names.qualified(func) in _JOINS
        case ast.Assign(targets=[ast.Name() as target]):
            scope = model.names.scope(target).lookup(target.id)
            reads = model.names.reads(target.id, scope) if scope is not None and scope.is_function else []
            of_list = [
                read
                for read in reads
                if any(binding.value is made for binding in model.dataflow.definitions(read))
            ]
            return bool(of_list) and all(_joins(read, model) for read in of_list)
    return False


def _joins(read: ast.Name, model: SemanticModel) -> bool:
    """Whether a list is given to `torch.stack`, or `torch.stack([item[0] for item in list])` takes it
    apart.
    """
    place: ast.AST = read
    match model.parent(read):
        case ast.comprehension() as clause:
            around = model.parent(clause)
            match around:
                case ast.ListComp(elt=ast.Subscript(value=ast.Name()) | ast.Name()):
                    place = around
    match model.parent(place):
        case ast.Call(func=func, args=[first, *_]) if first is place:
            return model.names.qualified(func) in _JOINS
    return False


def _operations(value: ast.expr, own: set[str]) -> int:
    """Return the number of operations that compute a value from the items."""
    return sum(
        1
        for node in descendants(value)
        if isinstance(node, (ast.BinOp, ast.Call))
        or (isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant))
        if any(isinstance(part, ast.Name) and part.id in own for part in descendants(node))
    )


def changes_numbers(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is computed, rather than created or only given another shape:
    `torch.zeros_like(p).view(-1) if g is None else g.view(-1)`, of tensors that often differ in shape.
    """
    for node in descendants(value):
        match node:
            case ast.BinOp():
                return True
            case ast.UnaryOp(operand=operand) if not isinstance(operand, ast.Constant):
                return True
            case ast.Call(func=ast.Attribute(attr=method) as func):
                function = model.names.qualified(func)
                if function not in _CREATES if function is not None else method not in _RESHAPES:
                    return True
            case ast.Call():
                return True
    return False


def _computes(
    value: ast.expr, model: SemanticModel, own: set[str] | None = None, *, functions: bool = False
) -> bool:
    """Whether a value is arithmetic on tensors: operators, functions and methods of torch, losses; with
    `functions`, also functions of the project that have no effect. Networks are not, nor are tensors whose
    shape depends on the item (slices and `torch.arange` with `own` names).
    """
    for node in descendants(value):
        if isinstance(node, ast.Slice) and own and variable_names(node) & own:
            return False
        if isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda)):
            return False
        if not isinstance(node, ast.Call):
            continue
        kind = model.types.type_of(node.func)
        if kind.tag is TypeTag.MODULE:
            if not (kind.of.startswith("torch.nn.") and kind.of.endswith("Loss")):
                return False
            continue
        function = model.names.qualified(node.func) or ""
        if function in _FILLS and own and any(variable_names(argument) & own for argument in node.args):
            return False
        if function.startswith(("torch.", "builtins.", "numpy.")):
            continue
        if model.types.call_targets(node):
            if not functions or not model.effects.call_effect(node).quiet:
                return False
        elif not (isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS):
            return False
    return True
