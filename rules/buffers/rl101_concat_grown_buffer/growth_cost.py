"""Whether an array grows so far, and so often, that copying it each time is expensive."""

from __future__ import annotations

import ast

from rlint.rule import (
    AnyLoop,
    ArrayGrowth,
    Driver,
    EffectKind,
    Enum,
    Heat,
    LoopCarried,
    SemanticModel,
    array_growth,
    descendants,
    loop_carried,
    trip_count,
    vocabulary,
)

FEW_ROWS = 64
"""Copying fewer rows than this in total costs nothing."""
FEW_TENSORS = 256
"""For tensors, a list and one concatenation gain only from more rows on."""


class Cheap(Enum):
    """Why the growth of an array costs little, or cannot be avoided."""

    FEW_ROWS = "few rows are added in total"
    READ_WHOLE = "each iteration reads the whole array"
    DRAINED = "it is emptied when it has few rows"
    SET_UP = "it is set-up code that is not known to run often"
    RARE = "it is not known to be called often"
    NEW_CAPACITY = "the added part is as long as the array"
    TRIMMED = "it is cut to a length again"


def cost_in_loop(growth: ArrayGrowth, carried: LoopCarried, model: SemanticModel) -> Cheap | None:
    """Return None if the array grows by many parts in its loops, and the growth dominates their cost."""
    few = FEW_TENSORS if growth.join.function.startswith("torch.") else FEW_ROWS
    total = 1
    for loop in carried.loops:
        count = trip_count.passes(loop, model)
        if count is not None:
            total *= count
        elif not trip_count.over_components(loop, model):
            total = few
            break
        if any(_in_first_pass(binding.statement, loop, model) for binding in carried.restarts):
            break
    if total < few:
        return Cheap.FEW_ROWS
    if loop_carried.reads_in(growth, carried.loops[-1], model).whole:
        return Cheap.READ_WHOLE
    if is_drained_early(carried, model):
        return Cheap.DRAINED
    if model.frequency.heat_of(growth.statement).level > Heat.COLD:
        return None
    is_table = growth.join.function == "pd.concat"
    if is_table or not isinstance(growth.target, ast.Name) or is_set_up(growth, carried, model):
        return Cheap.SET_UP
    return None


def is_history(growth: ArrayGrowth, carried: LoopCarried, model: SemanticModel) -> bool:
    """Whether a variable holds the history of a rollout: each environment step adds a row and reads all."""
    statement = growth.statement
    return (
        bool(carried.loops)
        and isinstance(growth.target, ast.Name)
        and not is_drained_early(carried, model)
        and model.frequency.heat_of(statement).level > Heat.COLD
        and Driver.ENVIRONMENT_STEP in model.frequency.drivers(statement)
    )


def _in_first_pass(statement: ast.AST, loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether a branch is for the first iteration of a loop: `for i in range(n): if i == 0: rows = row`."""
    match model.parent(statement), loop:
        case (
            ast.If(
                test=ast.Compare(
                    left=ast.Name(id=number), ops=[ast.Eq()], comparators=[ast.Constant(value=0)]
                ),
                body=body,
            ),
            ast.For(target=target, iter=ast.Call(func=func, args=[first, *rest])),
        ) if statement in body:
            counted = model.names.qualified(func)
            if counted == "builtins.enumerate" and isinstance(target, ast.Tuple) and not rest:
                target = target.elts[0]
            elif counted != "builtins.range" or (rest and trip_count.whole_number(first, model) != 0):
                return False
            return isinstance(target, ast.Name) and target.id == number
    return False


def cost_by_call(growth: ArrayGrowth, model: SemanticModel) -> Cheap | None:
    """Return None if an attribute, an entry, a global, or a parameter that is returned grows with each call
    of a function that is called often.
    """
    function = model.function(growth.statement)
    if function is None or model.frequency.heat_of(growth.statement).level is Heat.COLD:
        return Cheap.RARE
    passed_back = loop_carried.passed_back(growth, model)
    if not passed_back and not loop_carried.carried_by_calls(growth, model):
        return Cheap.RARE
    for read in loop_carried.reads_in(growth, function, model).whole:
        if not passed_back or not isinstance(model.parent(read), ast.Return):
            return Cheap.READ_WHOLE
    if any(array_growth.same_place(node, growth.target) for new in growth.new for node in descendants(new)):
        return Cheap.NEW_CAPACITY
    return Cheap.TRIMMED if is_trimmed(growth, model) and not is_sampled(growth, model) else None


def is_drained_early(carried: LoopCarried, model: SemanticModel) -> bool:
    """Whether the array is emptied when it has few rows (`if len(batch) >= 32:`)."""
    for binding in carried.restarts:
        parent = model.parent(binding.statement)
        if isinstance(parent, ast.If) and isinstance(parent.test, ast.Compare):
            limit = trip_count.whole_number(parent.test.comparators[-1], model)
            if limit is not None and 1 < limit <= FEW_ROWS:
                return True
    return False


def is_set_up(growth: ArrayGrowth, carried: LoopCarried, model: SemanticModel) -> bool:
    """Whether code runs once: set-up, plots, files."""
    function = model.function(growth.statement)
    if function is not None and vocabulary.SET_UP & set(function.name.strip("_").lower().split("_")):
        return True
    calls = (node for node in descendants(carried.loops[-1]) if isinstance(node, ast.Call))
    return any(model.effects.call_effect(call).kind & EffectKind.FILE_IO for call in calls)


def is_short_window(growth: ArrayGrowth, model: SemanticModel) -> bool:
    """Whether an expression is a window of constant length (`np.concatenate((frames[1:], frame))`) or of few
    rows.
    """
    cuts = [*growth.bounds, *trims(growth, model)]
    return any(is_short(cut) for cut in growth.bounds) or any(is_few(cut, model) for cut in cuts)


def is_short(cut: ast.Slice) -> bool:
    """Whether a slice drops as much as is added: `[1:]`, `[:-1]`, `[len(new):]`; not `[-capacity:]` or
    `[:capacity]`.
    """
    if cut.lower is not None and cut.upper is None:
        return not isinstance(cut.lower, ast.UnaryOp)
    return isinstance(cut.upper, ast.UnaryOp)


def is_few(cut: ast.Slice, model: SemanticModel) -> bool:
    """Whether a slice keeps few rows: `[-4:]`, `[:n_frames]` with a small constant."""
    kept = trip_count.whole_number(cut.lower or cut.upper, model)
    if kept is None or (kept > 0) is (cut.lower is not None):
        return False
    return abs(kept) <= FEW_ROWS


def trims(growth: ArrayGrowth, model: SemanticModel) -> list[ast.Slice]:
    """Return the slices by which other statements of the class or scope trim the growing value."""
    target = growth.target
    region = model.class_of(growth.statement) if isinstance(target, ast.Attribute) else None
    if region is None or not isinstance(target, ast.Attribute):
        return []
    found: list[ast.Slice] = []
    for node in model.names.attribute_uses(target.attr):
        part = model.parent(node)
        if (
            isinstance(part, ast.Subscript)
            and array_growth.same_place(node, target)
            and _is_kept(part, target, model)
        ):
            cuts = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
            found += [cut for cut in cuts if isinstance(cut, ast.Slice) and (cut.lower or cut.upper)]
    return found


def _is_kept(part: ast.Subscript, target: ast.expr, model: SemanticModel) -> bool:
    """Whether a slice is assigned back: `self.rows = self.rows[1:]`, `first, self.rows = self.rows[0],
    self.rows[1:]`.
    """
    match model.syntax.statement(part):
        case ast.Assign(targets=targets, value=value) if value is part:
            return any(array_growth.same_place(each, target) for each in targets)
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if part in values:
            index = values.index(part)
            return index < len(targets) and array_growth.same_place(targets[index], target)
    return False


def is_trimmed(growth: ArrayGrowth, model: SemanticModel) -> bool:
    """Whether the value is trimmed, here or elsewhere."""
    return bool(growth.bounds or trims(growth, model))


def is_sampled(growth: ArrayGrowth, model: SemanticModel) -> bool:
    """Whether rows are sampled from the growing value, as from a replay buffer, rather than all of it
    used.
    """
    root = growth.target
    while isinstance(root, ast.Subscript):
        root = root.value
    if not isinstance(root, ast.Attribute):
        return False
    whole = (ast.Slice, ast.Constant, ast.UnaryOp, ast.Tuple, ast.Attribute)
    for node in model.names.attribute_uses(root.attr):
        parent = model.parent(node)
        if isinstance(parent, ast.Subscript) and parent.value is node and not isinstance(parent.slice, whole):
            return True
    cls = model.class_of(growth.statement)
    if any(isinstance(cut.lower, (ast.Name, ast.Attribute)) for cut in trims(growth, model)):
        return False  # a queue that is drained from the front
    return cls is not None and any("sample" in n.name for n in cls.body if isinstance(n, ast.FunctionDef))
