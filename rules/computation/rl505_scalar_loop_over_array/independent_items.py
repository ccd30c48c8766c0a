"""Loops and comprehensions with independent iterations, which operations on whole arrays replace."""

from __future__ import annotations

import ast
from typing import TypeAlias

from rlint.rule import (
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    is_in,
    last_name,
    models,
    regex,
    trip_count,
)
from rlint.rules.computation.rl505_scalar_loop_over_array.by_item import ItemLoop, made_into, shortened
from rlint.rules.computation.rl505_scalar_loop_over_array.carried_results import Reduction, reduction
from rlint.rules.computation.rl505_scalar_loop_over_array.elements import held_by
from rlint.rules.computation.rl505_scalar_loop_over_array.enough_iterations import saves_memory
from rlint.rules.computation.rl505_scalar_loop_over_array.iterations import Iteration
from rlint.rules.computation.rl505_scalar_loop_over_array.joined_items import changes_numbers

Loop: TypeAlias = "ast.For | ast.ListComp | ast.GeneratorExp"

_FEW = 12
_GRID = 2
_COMPUTES = 3
"""So many operations for each object make arrays worth keeping."""
_FROM_DATA = models.having(Trait.FROM_DATA, "numpy")
_TYPICAL, _TYPICAL_FEW = 32, 6
_FEWEST_OPERATIONS = 8
"""A loop that ends at the first match saves iterations; only much work for each outweighs that."""
_ARRAYS_OF = models.having(Trait.FROM_DATA | Trait.JOINS | Trait.LEGACY, "torch", "numpy")
_REDUCTIONS = models.having(
    Trait.REDUCES | Trait.SUMS | Trait.SUMMARISES | Trait.GIVES_INDEX, "numpy", "statistics"
) | {"builtins.sum", "builtins.min", "builtins.max", "math.fsum"}
GATHERING = _ARRAYS_OF | _REDUCTIONS | {"builtins.any", "builtins.all"}
"""Functions that make an array or a number of a sequence."""

OF_FEW = regex(
    r"(worker|agent|actor|player|process|rank|action|joint|motor|goal|dim|leg(?!al)|foot|feet|wheel|robot"
    r"|(?<!re)turn|teacher|class|channel|head|stage|phase)"
    r"(?!_(returns|rewards|obs|observations|states|values|advantages|log_?probs|batch))"
)
"""Names of numbers that are small: of agents, turns, heads; an agent has many returns."""
_SAMPLED = regex(r"(sampled?|candidate)_?actions?|action_(samples|candidates)")
"""Counts of actions that are drawn to represent a continuous space."""
_OF_STEPS = regex(r"zip\(.*(rewards|dones|terminals|next_states|log_?probs)\b")
"""Sequences with one item per step, such as `actions` beside `rewards`."""
_LOG_PROBS = regex(r"log_?probs?(_|$)")
_OF_ENVIRONMENTS = regex(r"env")
_REDUCES = {"argmax", "argmin"} | models.names_having(
    Trait.REDUCES | Trait.SUMS | Trait.SUMMARISES,
    "numpy",
    "torch",
    "builtins",
    "statistics",
    TypeTag.NDARRAY,
    TypeTag.TENSOR,
)
"""Functions and methods that make one number of several."""

_OF_OBJECTS = "Keep these values in arrays, and update them where an object changes"


def independent_loop(loop: ast.For, model: SemanticModel) -> ItemLoop | None:
    """Return what a loop computes from elements or rows of arrays, if its iterations are independent."""
    if loop.orelse:
        return None
    found = reduction(model, loop)
    if found is None or (found.objects and (not found.stored or len(found.loops) < _GRID)):
        return None
    if found.ends and not _visits_most(found, loop, model):
        return None
    if not found.arrays or not (found.stored or found.kept or ((found.sums or found.ends) and found.varies)):
        return None
    if any(made_into(kept, model, GATHERING) is None for kept, _ in found.kept):
        return None
    if not _worth(found, model) or _is_triangular(loop, model) or _leaves_values(found, loop, model):
        return None
    if all(trip_count.over_components(each, model) for each in found.loops):
        return None
    if found.stored:
        text = model.source.text(held_by(found.stored[0]))
        copies = not found.operations
        does = f"{'copies' if copies else 'computes'} `{text}` element by element"
        held: ast.expr = held_by(found.stored[0])
    elif found.kept:
        held = found.kept[0][0]
        does = f"computes `{model.source.text(held)}` item by item"
    else:
        held, does = _reduced(found, loop, model)
    return ItemLoop(
        held,
        does,
        _OF_OBJECTS if found.objects else _on_whole_arrays(loop, reduces=bool(found.sums)),
        depth=len(found.loops),
        sized=True,
        assumes=_assumed(found, model),
        heavy=found.operations + found.work >= _FEWEST_OPERATIONS and len(found.loops) == 1,
    )


def _visits_most(found: Reduction, loop: ast.For, model: SemanticModel) -> bool:
    """Whether a loop that ends at the first match is likely worth replacing: it computes much for each row of
    an array.
    """
    rows = model.types.type_of(loop.iter).tag not in (TypeTag.LIST, TypeTag.TUPLE, TypeTag.SET, TypeTag.DICT)
    return rows and found.operations + found.work >= _FEWEST_OPERATIONS


def independent_comprehension(made: ast.ListComp | ast.GeneratorExp, model: SemanticModel) -> ItemLoop | None:
    """Return what a comprehension computes from elements or rows of arrays."""
    found = Reduction(model)
    if any(clause.is_async for clause in made.generators):
        return None
    if not all(map(found.enter, made.generators)):
        return None
    values = [made.elt, *(test for clause in made.generators for test in clause.ifs)]
    if not all(map(found.computes, values)):
        return None
    if found.objects:
        return _of_objects(found, made, model)
    if (
        not found.arrays
        or not found.operations
        or not any(map(found.moves, values))
        or not any(_is_computed(value, model) for value in values)  # views that are only joined
        or not _worth(found, model, made)
    ):
        return None
    if any(saves_memory(array, model) for array in found.arrays):
        return None
    if trip_count.over_environments(made, model) or trip_count.collects_components(made, model):
        return None
    return ItemLoop(
        found.arrays[0],
        _does(made, model),
        _on_whole_arrays(made),
        depth=len(found.loops),
        paired=_of_steps(made.generators[0].iter, model),
        sized=True,
        assumes=_assumed(found, model),
    )


def _of_steps(iterable: ast.expr, model: SemanticModel) -> tuple[ast.expr, ...]:
    """Return the sequences that are iterated over together, if one has the log-probability of each step."""
    match iterable:
        case ast.Call(func=func, args=[_, _, *_] as sequences) if model.names.qualified(
            func
        ) == "builtins.zip" and any(_LOG_PROBS.search((last_name(each) or "").lower()) for each in sequences):
            return tuple(sequences)
    return ()


def _is_computed(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is the result of arithmetic or of a comparison."""
    compares = any(isinstance(node, (ast.Compare, ast.BoolOp)) for node in descendants(value))
    return compares or changes_numbers(value, model)


def _does(made: ast.ListComp | ast.GeneratorExp, model: SemanticModel) -> str:
    """Return what a comprehension does to each item."""
    tests = [test for clause in made.generators for test in clause.ifs]
    computes = _is_computed(made.elt, model) or not tests
    verb, value = ("computes", made.elt) if computes else ("tests", tests[0])
    iterated = ", ".join(shortened(clause.iter, model) for clause in made.generators)
    return f"{verb} `{shortened(value, model)}` for one item of `{iterated}` after the other"


def _on_whole_arrays(made: Loop, *, reduces: bool = False) -> str:
    """Return what to write instead, with the means that this loop needs."""
    nodes = descendants(made)
    reduces = reduces or any(
        isinstance(node, ast.Call) and last_name(node.func) in _REDUCES for node in nodes
    )
    tests = any(isinstance(node, (ast.If, ast.IfExp, ast.Compare, ast.BoolOp)) for node in nodes)
    means = ["index arrays", "slices"] if any(isinstance(node, ast.Subscript) for node in nodes) else []
    means += ["reductions along an axis"] * reduces + ["masks for conditions"] * tests
    listed = f"{', '.join(means[:-1])}, and {means[-1]}" if len(means) > 2 else " and ".join(means)
    return f"Compute on the whole arrays{', with ' * bool(means)}{listed}"


def _reduced(found: Reduction, loop: ast.For, model: SemanticModel) -> tuple[ast.expr, str]:
    """Return an array whose elements a loop reduces, or at least tests, and what it does to it."""
    values = [
        node.value
        for node in descendants(loop)
        if isinstance(node, (ast.AugAssign, ast.Assign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name) and target.id in found.sums
    ]
    read = [array for array in found.arrays if any(is_in(array, value) for value in values)]
    held = read[0] if read else found.arrays[0]
    counts = not read and all(isinstance(value, ast.Constant) for value in values)
    return held, f"{'tests' if counts else 'reduces'} `{model.source.text(held)}` element by element"


def _of_objects(
    found: Reduction, made: ast.ListComp | ast.GeneratorExp, model: SemanticModel
) -> ItemLoop | None:
    """Handle `np.array([child.prior / (child.count + 1) for child in node.children])`, which makes an array
    of numbers of objects.
    """
    call = model.parent(made)
    if not isinstance(call, ast.Call) or model.names.qualified(call.func) not in _FROM_DATA:
        return None
    if found.operations < _COMPUTES or not _worth(found, model, made):
        return None
    held = made.generators[0].iter
    return ItemLoop(
        held,
        f"computes with numbers of the objects in `{model.source.text(held)}` one by one",
        _OF_OBJECTS,
        sized=True,
    )


def kept_comprehension(made: ast.ListComp, model: SemanticModel) -> ItemLoop | None:
    """Return what a comprehension computes whose list is assigned to a variable, of which a call makes an
    array or a number: `shares = [np.exp(q) for q in row]`, then `shares / np.sum(shares)`.
    """
    match model.parent(made):
        case ast.Assign(targets=[ast.Name() as kept]) if made_into(kept, model, GATHERING) is not None:
            return independent_comprehension(made, model)
    return None


def gathered_items(call: ast.Call, model: SemanticModel) -> ast.ListComp | ast.GeneratorExp | None:
    """Return the comprehension of which a call makes an array or a number."""
    match call:
        case ast.Call(args=[(ast.ListComp() | ast.GeneratorExp()) as made, *_]):
            name = model.names.qualified(call.func)
            return made if name in GATHERING else None
    return None


def _is_triangular(loop: ast.For, model: SemanticModel) -> bool:
    """Whether the loop around a loop determines where it begins or ends: sums of all later items (RL506)."""
    outer = next((above for above in model.ancestors(loop) if isinstance(above, ast.For)), None)
    bounds = {node.id for node in descendants(loop.iter) if isinstance(node, ast.Name)}
    return outer is not None and isinstance(outer.target, ast.Name) and outer.target.id in bounds


def _leaves_values(found: Reduction, loop: ast.For, model: SemanticModel) -> bool:
    """Whether code after a loop reads what its last iteration has computed."""
    for name in found.bound - found.results:
        scope = model.names.scope(loop).lookup(name)
        if scope is None or not scope.is_function:
            continue
        for read in model.names.reads(name, scope):
            if is_in(read, loop):
                continue
            if any(is_in(each.statement, loop) for each in model.dataflow.definitions(read)):
                return True
    return False


def _worth(found: Iteration, model: SemanticModel, made: ast.AST | None = None) -> bool:
    """Whether there are many iterations in total, as far as is known."""
    if not found.operations and len(found.loops) < 2:
        return False
    total = 1
    for loop in found.loops:
        counted = made if made is not None and len(found.loops) == 1 else loop
        count = trip_count.passes(counted, model)
        if count is None and isinstance(loop, ast.For) and model.analysis.loops.is_bounded(loop):
            count = _TYPICAL_FEW
        if count is None:
            count = _TYPICAL_FEW if _is_few(loop, found, model) else _TYPICAL
        total *= count
    return total > _FEW


def _is_few(loop: ast.For | ast.comprehension, found: Iteration, model: SemanticModel) -> bool:
    text = model.source.text(loop.iter).lower()
    if OF_FEW.search(text) and not _SAMPLED.search(text) and not _OF_STEPS.search(text):
        return True
    if isinstance(loop, ast.For) and (
        trip_count.over_components(loop, model) or trip_count.over_environments(loop, model)
    ):
        return not _on_tensors(found, model)
    return bool(_OF_ENVIRONMENTS.search(text)) and not _on_tensors(found, model)


def _on_tensors(found: Iteration, model: SemanticModel) -> bool:
    arrays: list[ast.expr] = [held_by(target) for target in found.stored] or found.arrays
    return all(model.types.type_of(array).tag is TypeTag.TENSOR for array in arrays)


def _assumed(found: Iteration, model: SemanticModel) -> str | None:
    """Return what a loop over the environments of a simulator assumes, that they are many, or what is assumed
    of a variable of unknown type.
    """
    for loop in found.loops:
        match loop.iter:
            case ast.Call(args=[*_, counted]) if _OF_ENVIRONMENTS.search((last_name(counted) or "").lower()):
                return f"`{model.source.text(counted)}` is large"
    return found.assumed[0] if found.assumed else None
