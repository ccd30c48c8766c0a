"""Action bounds that are rebuilt on every clip or rescale, though they never change.

## What it does
Flags arrays and tensors that hot code computes from constant bounds, for `np.clip`, `torch.clamp`,
`np.maximum` and `np.minimum`, or to scale an action: `np.array(self.action_space.low)`, `-self.limits`,
`self.action_space.high - self.action_space.low`, `torch.as_tensor(self.low, device=self.device)`,
`env.action_space.high.mean()`. Also flags tensors that hot code makes of the bounds of a space for
any use: `action_space.low.clone().to(device)`. Also flags spaces that hot code constructs from settings
(`gym.spaces.Box(-1.0, 1.0, (self.n,))`, for example in a property), and arrays that it makes of limits in
settings and constants (`like.new_tensor(self.low)`, `torch.tensor(CONFIG["limits"]["low"])`) or of both ends
of a space (`np.array([space.low, space.high])`).

The rule does not flag plain attributes, which cost nothing, bounds computed from changing values, and
numbers. `recomputed-constant` covers arrays built only from constants, also as arguments of `clip`. The
rule does not suggest clipping in place with `out=`, which gains nothing.

## Why is it slow
An action has few numbers. Creating an array of bounds, or their difference, takes as long as the clip
itself. Copying it to a device takes many times as long.

## Example
```python
import numpy as np


class Agent:
    def __init__(self, env):
        self.action_space = env.action_space

    def act(self, raw):
        span = self.action_space.high - self.action_space.low
        return self.action_space.low + 0.5 * (raw + 1.0) * span
```
Use instead:
```python
import numpy as np


class Agent:
    def __init__(self, env):
        self.action_space = env.action_space
        self._span = self.action_space.high - self.action_space.low

    def act(self, raw):
        span = self._span
        return self.action_space.low + 0.5 * (raw + 1.0) * span
```

## Fix safety
Unsafe. The array is shared between calls: it must not be written to, and later changes to the bounds, in
the space or by a new assignment, are not picked up. An array created before a loop is created even if the
loop has no iterations.

There is only advice where the constructor does not visibly set the attributes that the bounds are computed
from, and where the bounds take the device or dtype of an argument.

## References
- https://numpy.org/doc/stable/reference/generated/numpy.clip.html
- https://docs.pytorch.org/docs/stable/generated/torch.clamp.html
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rlint.rule import (
    Applicability,
    Edit,
    Finding,
    Fix,
    Function,
    Heat,
    Rule,
    SemanticModel,
    descendants,
    last_name,
    last_names,
)
from rlint.rules.computation.rl507_per_call_clip_bounds.bounds import (
    CLIPS,
    MAKERS,
    ClipBound,
    bound_at,
    has_ends,
    is_end,
)
from rlint.rules.computation.rl507_per_call_clip_bounds.copied_ends import copied_end, copied_ends
from rlint.rules.computation.rl507_per_call_clip_bounds.made_again import SPACES, made_again
from rlint.rules.computation.rl507_per_call_clip_bounds.per_dimension import clamped_dimension

_SHARED = (
    "the array is shared between {0}: it must not be written to, and later changes to the bounds are not "
    "picked up"
)


class PerCallClipBounds(Rule):
    """See the page above."""

    code = "RL507"
    name = "per-call-clip-bounds"
    seeds = ("S1.D2",)
    claims = ("time",)
    heat = Heat.HOT
    visits = (ast.Call, ast.BinOp)
    callees = CLIPS | MAKERS | last_names(*SPACES) | {"new_tensor"}
    triggers = (*sorted(CLIPS), "space", "low", "high", "upper", "limit", "bound")

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for each bound that is recomputed."""
        candidates: list[ast.expr] = []
        if isinstance(node, ast.BinOp):
            candidates = [node] if has_ends(model) and is_of_space(node, model) else []
        elif isinstance(node, ast.Call):
            clamped = clamped_dimension(node, model)
            if clamped is not None and model.frequency.heat_of(node).level >= self.heat:
                yield self.finding(
                    model,
                    node,
                    f"`{model.source.text(clamped)}` is clamped dimension by dimension, and the bounds are "
                    f"read again for each",
                    advice="Keep both bounds as arrays or tensors, and clamp all dimensions in one call",
                )
                return
            candidates = candidates_of(node, model) if model.once(clips, model.syntax.module) else []
        reported = False
        for candidate in candidates:
            if not model.frequency.may_be_warm(candidate):
                return
            found = bound_at(candidate, model)
            if found is None:
                continue
            text = " ".join(model.source.text(candidate).split())
            if found.loop is not None:
                often = f"in every iteration of `{model.analysis.loops.header(found.loop)}`"
                advice = "Create it once, before the loop"
            else:
                function = model.function(candidate)
                often = f"on every call of `{function.name}`" if function is not None else "each time"
                advice = "Create it once in `__init__`, and keep it as an attribute"
            message = f"`{text}` is recomputed {often}, though the bounds never change"
            yield self.finding(model, candidate, message, fix=build_fix(found, model), advice=advice)
            reported = True
        if isinstance(node, ast.Call) and not reported:
            copied = list(self._copied(node, model)) if has_ends(model) else []
            yield from copied or self._made_again(node, model)

    def _made_again(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a space, or an array of limits, that hot code creates again."""
        what = made_again(call, model)
        if what is None or model.frequency.heat_of(call).level < self.heat:
            return
        text = " ".join(model.source.text(call).split())
        yield self.finding(
            model,
            call,
            f"`{text}` creates {what} again each time, though its values never change",
            advice="Create it once, in `__init__` or at module level, and keep it",
        )

    def _copied(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        end = copied_end(call, model)
        if end is None or model.frequency.heat_of(call).level < self.heat or is_part_of_bound(call, model):
            return
        first, *others = model.once(copied_ends, model.function(call) or model.syntax.module)
        if call is not first:
            return
        yield self.finding(
            model,
            call,
            f"`{model.source.text(end)}` is converted and copied again each time, though the bounds of a "
            "space never change",
            advice="Convert them once, where the space is known, and keep the result as an attribute (in a "
            "network, with `register_buffer`)",
            related=[(other, "is also converted again") for other in others],
        )


def clips(_module: ast.Module, model: SemanticModel) -> bool:
    """Whether the file clips any value, judging by the names of its calls."""
    every = model.names.calls_by_name
    return "" in every or not CLIPS.isdisjoint(every)


def candidates_of(call: ast.Call, model: SemanticModel) -> list[ast.expr]:
    """Return the bounds that a call creates, or is passed."""
    return [call] if is_bound_later(call, model) else list(bounds_of(call, model))


def bounds_of(call: ast.Call, model: SemanticModel) -> Iterator[ast.expr]:
    """Yield the bounds of a clipping call, as far as they are created in it."""
    for part in _places(call, model):
        if isinstance(part, ast.Call) or (
            isinstance(part, (ast.BinOp, ast.UnaryOp)) and not is_of_space(part, model)
        ):
            yield part


def _places(call: ast.Call, model: SemanticModel) -> list[ast.expr]:
    """Return the arguments of a call that are bounds; empty if it does not clip."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else last_name(call.func) or ""
    qualified = model.names.qualified(call.func)
    if qualified is not None:
        name = qualified.rpartition(".")[2]
        if not qualified.startswith(("numpy.", "torch.")):
            return []
    if name not in CLIPS:
        return []
    skipped = 1 if qualified is not None and name not in ("maximum", "minimum") else 0
    return [*call.args[skipped:], *(keyword.value for keyword in call.keywords)]


def is_bound_later(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a variable becomes the bound of a later `clamp`: `low = torch.as_tensor(self.low)`."""
    match model.names.targets(call):
        case [ast.Name() as name] if len(model.names.bindings(name)) == 1:
            pass
        case _:
            return False
    for read in model.names.reads(name.id, model.names.scope(name)):
        around = model.parent(read)
        around = model.parent(around) if isinstance(around, ast.keyword) else around
        if isinstance(around, ast.Call) and read in _places(around, model):
            return True
    return False


def is_of_space(node: ast.expr, model: SemanticModel) -> bool:
    """Whether an expression is computed from the bounds of spaces, and is not part of a larger such
    expression: `space.high - space.low`.
    """
    if not isinstance(node, ast.BinOp) or not _reads_space(node, model):
        return False
    parent = model.parent(node)
    while isinstance(parent, ast.UnaryOp):
        parent = model.parent(parent)
    if isinstance(parent, ast.BinOp) and bound_at(parent, model) is not None:
        return False
    return not _is_inside_call(node, model)


def _reads_space(node: ast.expr, model: SemanticModel) -> bool:
    ends = (part for part in descendants(node) if isinstance(part, ast.expr) and _is_end(part, model))
    return any(not _is_one_number(end, model) for end in ends)


def _is_one_number(end: ast.expr, model: SemanticModel) -> bool:
    """Whether an expression is one number: arithmetic on `space.nvec[0]` costs nothing."""
    match model.parent(end):
        case ast.Subscript(value=value, slice=ast.Constant(value=int())):
            return value is end
    return False


def _is_end(part: ast.expr, model: SemanticModel) -> bool:
    value: ast.expr | None = part
    if isinstance(part, ast.Name):
        definitions = model.dataflow.definitions(part) if isinstance(part.ctx, ast.Load) else []
        value = definitions[0].value if len(definitions) == 1 else None
    found: bool = value is not None and is_end(value, model)
    return found


def _is_inside_call(node: ast.expr, model: SemanticModel) -> bool:
    """Whether it is part of a bound that is reported as a whole."""
    parent = model.parent(node)
    if isinstance(parent, ast.Call) and node in parent.args:
        return bound_at(parent, model) is not None
    return False


def is_part_of_bound(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call is part of a bound that is reported as a whole, or becomes one."""
    if is_bound_later(call, model) and bound_at(call, model) is not None:
        return True
    part: ast.expr = call
    while isinstance(around := model.parent(part), ast.expr):
        if isinstance(around, ast.Call) and part in _places(around, model):
            return bound_at(part, model) is not None
        if isinstance(around, ast.BinOp) and bound_at(around, model) is not None:
            return True
        part = around
    return False


# -- fixes -------------------------------------------------------------------------------------


def build_fix(found: ClipBound, model: SemanticModel) -> Fix | None:
    """Create it before the loop, or in the constructor."""
    if not model.edit.is_relocatable(found.node) or found.loose:
        return None
    return _before_loop(found, model) if found.loop is not None else _in_constructor(found, model)


def _before_loop(found: ClipBound, model: SemanticModel) -> Fix | None:
    loop = found.loop
    assert isinstance(loop, ast.stmt)
    inside = set(descendants(loop))
    if any(binding.node in inside for name in found.inlined for binding in model.dataflow.definitions(name)):
        return None
    text = model.edit.code(found.node)
    name = model.importer.fresh_local(
        [name_for(found, model), f"{name_for(found, model)}_bound"], found.node, f"bound {text}"
    )
    indentation = model.source.indentation(model.syntax.statement(found.node))
    before = model.edit.insert_before(loop, f"{name} = {text}", indentation=indentation)
    if before is None:
        return None
    edits = (before.as_shared(), _in_place(found.node, name, model))
    reason = f"{_SHARED.format('iterations')}; it is created even if the loop does not run"
    return Fix(f"Create it before the loop, as `{name}`", Applicability.UNSAFE, edits, reason)


def _in_place(node: ast.expr, name: str, model: SemanticModel) -> Edit:
    """Insert the name, without parentheses that were only needed for an operation."""
    grouped = isinstance(model.parent(node), (ast.BinOp, ast.UnaryOp)) and isinstance(node, ast.BinOp)
    return model.edit.replace_group(node, name) if grouped else model.edit.replace(node, name)


def _in_constructor(found: ClipBound, model: SemanticModel) -> Fix | None:
    cls, function = model.class_of(found.node), model.function(found.node)
    made = model.method(cls, "__init__") if cls is not None else None
    if cls is None or made is None or function is None or function is made or found.inlined:
        return None
    own = function.args.args[0].arg if function.args.args else ""
    if not made.args.args or made.args.args[0].arg != own:
        return None
    anchor = _last_store(found, own, made)
    if anchor is None:
        return None
    text = model.edit.code(found.node)
    name = model.importer.fresh_name(
        f"_{name_for(found, model)}", f"bound {model.syntax.qualname(cls)} {text}"
    )
    indentation = model.source.indentation(model.syntax.statement(found.node))
    inserted = model.edit.insert_after(anchor, f"{own}.{name} = {text}", indentation=indentation)
    if inserted is None:
        return None
    edits = (inserted.as_shared(), _in_place(found.node, f"{own}.{name}", model))
    return Fix(
        f"Create it in `__init__`, as `{own}.{name}`", Applicability.UNSAFE, edits, _SHARED.format("calls")
    )


def _last_store(found: ClipBound, own: str, made: Function) -> ast.stmt | None:
    """Return the last constructor statement that assigns an input of the bounds."""
    if any(isinstance(node, ast.Return) for node in descendants(made)):
        return None
    last: ast.stmt | None = None
    for node in descendants(found.node):
        if not (
            isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == own
        ):
            continue
        stores = [
            statement
            for statement in made.body
            if isinstance(statement, (ast.Assign, ast.AnnAssign))
            and any(
                isinstance(target, ast.Attribute)
                and target.attr == node.attr
                and isinstance(target.ctx, ast.Store)
                and isinstance(target.value, ast.Name)
                and target.value.id == own
                for target in descendants(statement)
            )
        ]
        if len(stores) != 1:
            return None
        if last is None or stores[0].lineno > last.lineno:
            last = stores[0]
    return last


def name_for(found: ClipBound, model: SemanticModel) -> str:
    """Return a name: that of the variable which holds it here, or that of the bound from which it is
    created.
    """
    match model.names.targets(found.node):
        case [ast.Name(id=name)]:
            return name.strip("_") or "bound"
    match model.parent(found.node):
        case ast.keyword(arg="min" | "a_min"):
            return "low"
        case ast.keyword(arg="max" | "a_max"):
            return "high"
    ends = list(dict.fromkeys(array.attr for array in found.arrays))
    name = re.sub(r"\W", "", ends[0]) if len(ends) == 1 else "span"
    return name if name not in ("minimum", "maximum") else name[:3]
