"""Mini-batches of in-memory data: where they come from, and how to draw all indices at once."""

from __future__ import annotations

import ast
from dataclasses import field

from rlint.rule import Applicability, BindingKind, Edit, Fix, SemanticModel, descendants, frozen, mutable

_DATA = "torch.utils.data."
_INDEX_SAMPLERS = ("SubsetRandomSampler", "RandomSampler", "SequentialSampler")
_LOADER_PARAMETERS = ("dataset", "batch_size", "shuffle")
_PLAIN = frozenset({*_LOADER_PARAMETERS, "drop_last", "num_workers", "pin_memory"})


@frozen
class Batches:
    """The source of a loop's mini-batches, and the fix, if there is one."""

    name: str
    fix: Fix | None


@mutable
class _Found:
    """The call that an expression evaluates to, with the statements that bind the variables on the way."""

    call: ast.Call
    name: str
    holders: list[tuple[ast.Name, ast.stmt]] = field(default_factory=list)


def batches_of_indices(
    iterable: ast.expr, target: ast.expr, loop: ast.For, model: SemanticModel
) -> Batches | None:
    """Return the batches of `for indices in BatchSampler(SubsetRandomSampler(range(n)), batch_size,
    drop_last)`.
    """
    found = _made_by(iterable, model, ("BatchSampler",))
    given = _given(found.call, ("sampler", "batch_size", "drop_last")) if found is not None else None
    if found is None or given is None or set(given) != {"sampler", "batch_size", "drop_last"}:
        return None
    sampler = _made_by(given["sampler"], model, _INDEX_SAMPLERS)
    if sampler is None or len(sampler.call.args) != 1 or sampler.call.keywords:
        return None
    count = _count(sampler.call.args[0], sampler.name, model)
    if count is None:
        return None
    drop = given["drop_last"]
    fix = None
    if isinstance(drop, ast.Constant) and _only_indexes(target, loop, model):
        drawn = _drawn(
            count,
            given["batch_size"],
            model,
            in_order=sampler.name == "SequentialSampler",
            drop_last=drop.value is True,
        )
        parts = [sampler.call.args[0], given["batch_size"]]
        edits = _replaced(iterable, drawn, [found, sampler], parts, model) if drawn is not None else None
        if edits is not None:
            fix = Fix("Draw all indices at once", Applicability.UNSAFE, tuple(edits), _reason(sampler.name))
    return Batches(sampler.name, fix)


def _reason(sampler: str) -> str:
    if sampler == "RandomSampler":
        return "the shuffle differs, and there must be at least one whole batch"
    return "mini-batches of indices are tensors instead of lists, and there must be at least one whole batch"


def batches_of_rows(
    iterable: ast.expr, target: ast.expr, loop: ast.For, model: SemanticModel
) -> Batches | None:
    """Return the batches of `for states, actions in DataLoader(TensorDataset(all_states, all_actions),
    batch_size, shuffle)`.
    """
    found = _made_by(iterable, model, ("DataLoader",))
    given = _given(found.call, _LOADER_PARAMETERS) if found is not None else None
    if found is None or given is None or not set(given) <= _PLAIN or "dataset" not in given:
        return None
    if any(name in given and not _is_off(given[name]) for name in ("num_workers", "pin_memory")):
        return None
    size = given.get("batch_size")
    if size is None or (isinstance(size, ast.Constant) and size.value is None):
        return None
    dataset = _made_by(given["dataset"], model, ("TensorDataset",))
    if dataset is None or not dataset.call.args or dataset.call.keywords:
        return None
    return Batches(found.name, _rows_fix(iterable, target, loop, found, dataset, given, model))


def _rows_fix(
    iterable: ast.expr,
    target: ast.expr,
    loop: ast.For,
    found: _Found,
    dataset: _Found,
    given: dict[str, ast.expr],
    model: SemanticModel,
) -> Fix | None:
    tensors, names = dataset.call.args, target.elts if isinstance(target, ast.Tuple) else []
    shuffle, drop = given.get("shuffle"), given.get("drop_last")
    known = all(option is None or isinstance(option, ast.Constant) for option in (shuffle, drop))
    if len(names) != len(tensors) or not known or iterable is not loop.iter:
        return None
    if not all(isinstance(part, ast.Name) for part in names):
        return None
    if not all(isinstance(tensor, (ast.Name, ast.Attribute)) for tensor in tensors):
        return None
    held = {node.id for tensor in tensors for node in descendants(tensor) if isinstance(node, ast.Name)}
    if held & {part.id for part in names if isinstance(part, ast.Name)}:
        return None  # the loop rebinds the names of the tensors
    texts = [model.edit.code(tensor) for tensor in tensors]
    is_dropped = drop is not None and not _is_off(drop)
    drawn = _drawn(
        f"len({texts[0]})",
        given["batch_size"],
        model,
        in_order=shuffle is None or _is_off(shuffle),
        drop_last=is_dropped,
    )
    body = loop.body[0]
    indices = model.importer.fresh_local(("indices", "rows"), loop, f"{model.source.span(loop)[0]} indices")
    rows = ", ".join(f"{text}[{indices}]" for text in texts)
    bound = model.edit.insert_before(body, f"{model.source.text(target)} = {rows}")
    if drawn is None or bound is None:
        return None
    parts = [*tensors, given["batch_size"]]
    edits = _replaced(iterable, drawn, [found, dataset], parts, model)
    if edits is None:
        return None
    edits += [model.edit.replace(target, indices), bound]
    reason = (
        "the shuffle differs, and there must be at least one whole batch"
        if shuffle is not None and not _is_off(shuffle)
        else "there must be at least one whole batch"
    )
    return Fix("Index the tensors themselves", Applicability.UNSAFE, tuple(edits), reason)


def _made_by(expression: ast.expr, model: SemanticModel, classes: tuple[str, ...]) -> _Found | None:
    """Return the call of one of the classes that an expression is, or that is the value of its variable."""
    if isinstance(expression, ast.Call):
        qualified = model.names.qualified(expression.func) or ""
        name = qualified.removeprefix(_DATA)
        return _Found(expression, name) if qualified.startswith(_DATA) and name in classes else None
    if not isinstance(expression, ast.Name):
        return None
    bindings = model.dataflow.definitions(expression)
    if len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGN or bindings[0].path:
        return None
    value, statement = bindings[0].value, bindings[0].statement
    found = _made_by(value, model, classes) if isinstance(value, ast.Call) else None
    if found is not None and isinstance(statement, (ast.Assign, ast.AnnAssign)):
        found.holders.append((expression, statement))
    return found


def _given(call: ast.Call, parameters: tuple[str, ...]) -> dict[str, ast.expr] | None:
    """Return the arguments by name; None if star arguments hide some, or if there are more positional ones
    than these.
    """
    if any(isinstance(argument, ast.Starred) for argument in call.args) or len(call.args) > len(parameters):
        return None
    given = dict(zip(parameters, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg is None:
            return None
        given[keyword.arg] = keyword.value
    return given


def _count(source: ast.expr, sampler: str, model: SemanticModel) -> str | None:
    """Return the source of the number of rows that a sampler draws from; None if its indices are not 0 to n -
    1.
    """
    match source:
        case ast.Call(func=function, args=[inner]) if model.names.qualified(function) == "builtins.list":
            return _count(inner, sampler, model)
        case ast.Call(func=function, args=[number], keywords=[]) if (
            model.names.qualified(function) == "builtins.range"
        ):
            return model.edit.code(number)
    is_sized = sampler != "SubsetRandomSampler" and isinstance(source, (ast.Name, ast.Attribute))
    return f"len({model.edit.code(source)})" if is_sized else None


def _drawn(
    count: str, size: ast.expr, model: SemanticModel, *, in_order: bool, drop_last: bool
) -> str | None:
    """Return the text of all indices, split into mini-batches."""
    written = model.names.spelled("torch.arange" if in_order else "torch.randperm", size)
    if written is None:
        return None
    batch_size = model.edit.code(size)
    rows = f"{written}({count})"
    if drop_last:
        factor = f"({count})" if any(mark in count for mark in "+-*/% ") else count
        whole = model.edit.parenthesized(size) if not isinstance(size, ast.Constant) else batch_size
        rows += f"[: {factor} // {whole} * {whole}]"
    return f"{rows}.split({batch_size})"


def _replaced(
    iterable: ast.expr, drawn: str, made: list[_Found], parts: list[ast.expr], model: SemanticModel
) -> list[Edit] | None:
    """Return the edits that replace the iterable by `drawn`, and delete the variables that held its parts."""
    edits: list[Edit] = [model.edit.replace(iterable, drawn)]
    if not all(model.edit.is_relocatable(part) for part in (iterable, *parts)):
        return None
    for found in made:
        for name, statement in found.holders:
            scope = model.names.scope(name).lookup(name.id)
            deleted = model.edit.delete_statement(statement)
            if (
                scope is None
                or not scope.is_function
                or model.names.is_captured(name.id, scope)
                or deleted is None
            ):
                return None
            if [*model.names.reads(name.id, scope)] != [name]:
                return None
            edits.append(deleted)
        moved = [part for part in parts if any(node is part for node in descendants(found.call))]
        if found.holders and not all(_means_the_same(part, iterable, model) for part in moved):
            return None
    return edits


def _means_the_same(part: ast.expr, place: ast.expr, model: SemanticModel) -> bool:
    """Whether the variables of an expression refer to the same objects at another place. Modifications of
    these objects do not matter: a loader refers to its tensors, it does not copy them.
    """
    for node in descendants(part):
        if isinstance(node, ast.Name):
            scope = model.names.scope(node).lookup(node.id)
            if scope is not None and model.dataflow.definitions(node) != model.dataflow.bindings_before(
                node.id, place, scope
            ):
                return False
            if not model.dataflow.keeps(node, part, place):
                return False
        elif isinstance(node, ast.Attribute):
            stores = [
                use for use in model.names.attribute_uses(node.attr) if not isinstance(use.ctx, ast.Load)
            ]
            if any(model.function(store) is model.function(node) for store in stores):
                return False
    return True


def _only_indexes(target: ast.expr, loop: ast.For, model: SemanticModel) -> bool:
    """Whether the variable of a loop is used in it only as an index, or for its size."""
    if not isinstance(target, ast.Name):
        return False
    scope = model.names.scope(target).lookup(target.id)
    if scope is None or not scope.is_function:
        return False
    for read in model.analysis.reads_of(target, scope):
        parent, child = model.parent(read), read
        if isinstance(parent, ast.Tuple):
            parent, child = model.parent(parent), parent  # type: ignore[assignment]
        is_index = isinstance(parent, ast.Subscript) and parent.slice is child
        is_measured = isinstance(parent, ast.Call) and model.names.qualified(parent.func) == "builtins.len"
        if not (is_index or is_measured) or loop not in model.ancestors(read):
            return False
    return True


def _is_off(option: ast.expr) -> bool:
    return isinstance(option, ast.Constant) and not option.value
