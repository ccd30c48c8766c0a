"""Places where a boolean mask indexes tensors."""

from __future__ import annotations

import ast

from rlint.rule import (
    COMPREHENSIONS,
    LOOPS,
    BindingKind,
    Function,
    Scope,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    frozen,
    is_in,
    last_name,
    models,
    regex,
)

_COMPARES = models.having(Trait.COMPARES, "torch") | models.having(Trait.COMPARES, TypeTag.TENSOR)
_BITS = (ast.BitAnd, ast.BitOr, ast.BitXor)
_VALUES = (ast.In, ast.NotIn, ast.Is, ast.IsNot)
_NUMBERS = frozenset({TypeTag.INT, TypeTag.FLOAT, TypeTag.BOOL, TypeTag.NUMPY_SCALAR})
_NAMED = regex(r"(^|_)(masks?|dones?|valids?|alive|terminated|terminals?|truncated|finished|active)$")
"""Names of masks: a tensor of one of these names that is an index holds booleans."""
_IN_LOOP = 3
"""Number of uses that one in a loop counts for."""


@frozen
class MaskUse:
    """`subscript` reads or writes the elements selected by the mask `index`."""

    subscript: ast.Subscript
    index: ast.expr
    times: int
    is_in_loop: bool

    @property
    def is_alone(self) -> bool:
        """Whether there is no other index."""
        return self.subscript.slice is self.index


def is_mask(value: ast.expr, model: SemanticModel, depth: int = 3) -> bool:
    """Whether an expression is a boolean mask, by its syntax or its type."""
    match value:
        case ast.Compare(ops=[operator]):
            return not isinstance(operator, _VALUES)
        case ast.UnaryOp(op=ast.Invert(), operand=part) if depth:
            return is_mask(part, model, depth - 1)
        case ast.BinOp(left=left, op=operator, right=right) if depth and isinstance(operator, _BITS):
            return is_mask(left, model, depth - 1) or is_mask(right, model, depth - 1)
        case ast.Call(func=ast.Attribute(attr="bool"), args=[], keywords=[]):
            return True
        case ast.Call(func=ast.Attribute(attr="to" | "type"), args=args, keywords=keywords):
            given = (*args, *(keyword.value for keyword in keywords))
            if any(model.analysis.types.dtype_of(each) == "bool" for each in given):
                return True
        case ast.Name() if depth:
            return _holds_mask(value, model, depth - 1) or model.types.type_of(value).dtype == "bool"
        case ast.Call(func=called):
            path = model.names.qualified(called)
            if path in _COMPARES if path else last_name(called) in _COMPARES:
                return True
    return model.types.type_of(value).dtype == "bool" or is_named_mask(value, model)


def _holds_mask(name: ast.Name, model: SemanticModel, depth: int) -> bool:
    """Whether each value of a variable is a mask."""
    made = model.dataflow.definitions(name)
    return bool(made) and all(
        each.kind is BindingKind.ASSIGN
        and not each.path
        and each.value is not None
        and is_mask(each.value, model, depth)
        for each in made
    )


def is_named_mask(value: ast.expr, model: SemanticModel, read: ast.expr | None = None) -> bool:
    """Whether a tensor of unknown dtype in a dict or attribute is named like a mask: `batch["done"]`. What it
    is may be known only where a variable that holds it is read.
    """
    match value:
        case ast.Subscript(slice=ast.Constant(value=str(name))) | ast.Attribute(attr=name):
            kind = model.types.type_of(value) or (model.types.type_of(read) if read is not None else None)
            if kind is None:
                return False
            return bool(_NAMED.search(name)) and kind.tag is TypeTag.TENSOR and not kind.dtype
    return False


def uses_of_mask(mask: ast.Name, value: ast.expr, model: SemanticModel) -> list[MaskUse]:
    """Return the places where a variable that surely holds this mask is used as an index, in order."""
    found = []
    for read, subscript in model.once(_indices, (mask.id, model.names.scope(mask))):
        if model.function(read) is not model.function(mask):
            continue
        definitions = model.dataflow.definitions(read)
        if [each.value for each in definitions] == [value]:
            times = times_looked_up(subscript, model)
            loop = any(
                isinstance(above, (*LOOPS, *COMPREHENSIONS)) and not is_in(mask, above)
                for above in model.ancestors(read)
            )
            if times:
                found.append(MaskUse(subscript, read, _IN_LOOP if loop else times, loop))
    return found


def _indices(variable: tuple[str, Scope], model: SemanticModel) -> list[tuple[ast.Name, ast.Subscript]]:
    """Return the reads of a variable that are indices, with what they index."""
    reads = ((read, subscript_of(read, model)) for read in model.names.reads(*variable))
    return [(read, subscript) for read, subscript in reads if subscript is not None]


def uses_of_equal_masks(subscript: ast.Subscript, model: SemanticModel) -> list[MaskUse]:
    """Return the places of a function that are indexed by the same mask, written as an expression each time
    (`states[~done]`, `actions[~done]`), if this is the first of them.
    """
    mask = mask_expression(subscript, model)
    if mask is None:
        return []
    groups = model.once(_equal_masks, model.function(subscript) or model.syntax.module)
    uses = groups.get(model.source.text(mask), [])
    if not uses or uses[0].subscript is not subscript:
        return []
    lasting = [
        use
        for use in uses
        if use.subscript is subscript or model.dataflow.doubts_between(mask, mask, use.index) is not None
    ]
    return on_one_path(lasting, model.syntax.statement(subscript), model)


def _equal_masks(function: Function | ast.Module, model: SemanticModel) -> dict[str, list[MaskUse]]:
    """Return the places of a function that a mask expression indexes, by its source, in order."""
    found: dict[str, list[MaskUse]] = {}
    places = [node for node in descendants(function) if isinstance(node, ast.Subscript)]
    for subscript in sorted(places, key=model.source.span):
        mask = mask_expression(subscript, model)
        around = model.function(subscript) or model.syntax.module
        if mask is not None and around is function and (times := times_looked_up(subscript, model)):
            use = MaskUse(subscript, mask, times, is_in_loop=False)
            found.setdefault(model.source.text(mask), []).append(use)
    return found


def mask_expression(subscript: ast.Subscript, model: SemanticModel) -> ast.expr | None:
    """Return the index that is computed as a mask in place: `~done`, `rewards > 0`; or read from a dict or
    attribute: `batch["done"]`.
    """
    index = subscript.slice
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    for part in parts:
        match part:
            case ast.UnaryOp(op=ast.Invert()) | ast.BinOp(op=ast.BitAnd() | ast.BitOr() | ast.BitXor()):
                return part
            case ast.Compare(ops=[operator]) if not isinstance(operator, _VALUES):
                return part
            case ast.Subscript() | ast.Attribute() if is_named_mask(part, model):
                return part
    return None


def subscript_of(index: ast.Name, model: SemanticModel) -> ast.Subscript | None:
    """Return the subscript of which a name is an index, alone or with others."""
    around = model.parent(index)
    if isinstance(around, ast.Tuple):
        index_or_display: ast.AST = around
        around = model.parent(around)
    else:
        index_or_display = index
    if isinstance(around, ast.Subscript) and around.slice is index_or_display:
        return around
    return None


def times_looked_up(subscript: ast.Subscript, model: SemanticModel) -> int:
    """Return how often a subscript computes the indices of the mask: never for `del`, or to write a number,
    twice to modify elements in place.
    """
    if isinstance(subscript.ctx, ast.Load):
        return 1
    match model.parent(subscript):
        case ast.AugAssign(target=target) if target is subscript:
            return 2
        case ast.Assign(value=value):
            return 1 if _is_tensor_or_result(value, model) or is_item_for_each(value, model) else 0
    return 0


def is_item_for_each(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value of unknown type is the item that a loop over names picks: `fresh[name]`. What a mask
    stores under each name in turn is likely a tensor of rows, not one number for all.
    """
    if not isinstance(value, ast.Subscript) or not isinstance(value.slice, ast.Name):
        return False
    if model.types.type_of(value).tag is not TypeTag.UNKNOWN:
        return False
    bound = model.dataflow.definitions(value.slice)
    return bool(bound) and all(binding.kind is BindingKind.FOR for binding in bound)


def _is_tensor_or_result(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is a tensor, or a result of a call that is not known to be something else."""
    tag = model.types.type_of(value).tag
    if tag is not TypeTag.UNKNOWN or not isinstance(value, ast.Name):
        return tag is TypeTag.TENSOR
    bindings = model.dataflow.definitions(value)
    return bool(bindings) and all(isinstance(binding.value, ast.Call) for binding in bindings)


def on_one_path(uses: list[MaskUse], start: ast.stmt, model: SemanticModel) -> list[MaskUse]:
    """Return the largest set of uses that all run whenever a certain one of them runs."""
    branches = {use.subscript: branch_of(use.subscript, start, model) for use in uses}
    best: list[MaskUse] = []
    for branch in branches.values():
        together = [
            use
            for use in uses
            if branch[: len(branches[use.subscript])] == branches[use.subscript]
            and not is_left_before(use.subscript, branch[len(branches[use.subscript]) :])
        ]
        if sum(use.times for use in together) > sum(use.times for use in best):
            best = together
    return best


def is_left_before(place: ast.Subscript, branches: tuple[tuple[ast.AST, str], ...]) -> bool:
    """Whether a place comes after one of these branches, and the branch always returns or raises."""
    return any(
        isinstance(block := getattr(branch, part), list)
        and isinstance(block[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))
        and place.lineno > (branch.end_lineno or 0)
        for branch, part in branches
        if isinstance(branch, (ast.If, ast.Try))
    )


def branch_of(node: ast.AST, start: ast.stmt, model: SemanticModel) -> tuple[tuple[ast.AST, str], ...]:
    """Return the branches around a place that are not around `start` as well, from outside."""
    found = []
    below = node
    for around in model.ancestors(node):
        if is_in(start, around):
            break
        part = part_with(below, around)
        if isinstance(around, (ast.If, ast.IfExp, ast.BoolOp, ast.Try, ast.Match)) and part != "test":
            found.append((around, part))
        below = around
    return tuple(reversed(found))


def part_with(child: ast.AST, around: ast.AST) -> str:
    """Return the name of the part of a node that contains a child; the test of a branch counts for all."""
    for name, part in ast.iter_fields(around):
        if part is child or (isinstance(part, list) and any(each is child for each in part)):
            return name
    return ""


def statement_before(places: list[ast.Subscript], start: ast.AST, model: SemanticModel) -> ast.stmt | None:
    """Return the first statement in the innermost block around all places, outside of the loops that begin
    after `start`; None if that is a loop whose condition reads the mask.
    """
    chains = [
        [above for above in model.ancestors(place) if isinstance(above, ast.stmt)][::-1] for place in places
    ]
    shared = 0
    for level in zip(*chains, strict=False):
        if any(statement is not level[0] for statement in level):
            break
        shared += 1
    around = chains[0][: shared + 1]
    loops = [each for each in around if isinstance(each, LOOPS) and not is_in(start, each)]
    first = loops[0] if loops else around[-1]
    looks = isinstance(first, ast.While) and any(is_in(place, first.test) for place in places)
    return None if looks else first
