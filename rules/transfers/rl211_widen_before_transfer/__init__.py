"""Byte frames converted to floating point on the host before they are copied to the device.

## What it does
Flags data of a small dtype (uint8, int8, int16) in hot code that is converted to a larger one before it is
copied to a device: `frames.float().to(device)`, `torch.from_numpy(frames.astype(np.float32)).cuda()`,
`(frames.float() / 255).to(device)`, `frames.to(device, torch.float32)` and `torch.tensor(frames,
dtype=torch.float32, device=device)`. The conversion may be a statement of its own, or part of a move by
`.type(torch.cuda.FloatTensor)`. The division may be a method or a product (`frames.float().div_(255)`).

Data of unknown dtype is flagged where it is divided by 255, where the channels of images are moved to the
front (`np.transpose(obs, (0, 3, 1, 2))`), and where it is named like an observation (`obs`,
`batch.next_states`) in code that works with a network that divides its input by 255. For a function that
converts any data (`def to_tensor(x)`), the names of what callers pass count as well. Constructors count as
conversions, too: `torch.FloatTensor(obs).to(device)`. So does a conversion before a move with
`non_blocking=True`, unless it is part of the move.

The conversion may also come some time before, in a helper or a method that prepares batches
(`frames.astype(np.float32) / 255.0`), if the dtype is known to be small or the result is divided by 255. If
the move is in other code, only observations count, in a program that uses devices; wrappers of environments
that only an option turns on do not. A dataset whose `__getitem__` converts and divides by 255 counts whatever
the names: the loader collates and copies batches of its samples.

The rule does not flag:

- data whose dtype is as large as the result's;
- small data such as flags;
- data that is already on the device;
- moves with `non_blocking=True` that convert as well (`.to(device, torch.float32, non_blocking=True)`), since
  they do so on the device;
- `torch.tensor(...)` of data of a known dtype followed by `.to(device)`, which `create-then-move` covers.

## Why is it slow
A float32 number takes four bytes, a byte of a frame one. The conversion on the host writes four times the
memory, and the host-to-device copy, the slowest part, transfers four times the bytes. A `.to()` that also
converts does so on the host before it copies. On the device the conversion takes next to no time.

On the CPU nothing is copied, and there is no gain. A single observation per step of one environment has few
bytes: such findings have a low impact.

## Example
```python
import numpy as np
import torch


class ReplayBuffer:
    def __init__(self, capacity: int, device: torch.device) -> None:
        self.frames = np.zeros((capacity, 4, 84, 84), dtype=np.uint8)
        self.device = device

    def sample(self, indices: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(self.frames[indices]).float().to(self.device)
```
Use instead:
```python
import numpy as np
import torch


class ReplayBuffer:
    def __init__(self, capacity: int, device: torch.device) -> None:
        self.frames = np.zeros((capacity, 4, 84, 84), dtype=np.uint8)
        self.device = device

    def sample(self, indices: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(self.frames[indices]).to(self.device).float()
```

## Fix safety
The fix copies first and converts afterwards.

Safe where the dtype is known to be smaller and the target is certainly a device.

Unsafe in these cases:

- Only a division by 255, here or in a network, or the order of axes suggests the dtype.
- Only the name of a variable suggests that it holds a device.
- There is a `view` in between. `view` needs a suitable memory layout, which the conversion may have
  created.
- Arithmetic moves to the device, which may round differently.
- The move does not wait (`non_blocking=True`): data that is written to before the copy has finished would
  arrive changed.
- A copy of an array that the program keeps is removed: `from_numpy` does not accept arrays with negative
  strides.

## References
- https://docs.pytorch.org/docs/stable/generated/torch.Tensor.to.html
- https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Applicability,
    Device,
    Edit,
    Finding,
    Fix,
    Heat,
    Rule,
    SemanticModel,
    Type,
    TypeTag,
    cst,
    element_types,
    last_name,
    last_names,
    models,
)
from rlint.rules.transfers._shared import device_moves
from rlint.rules.transfers._shared.datasets import loads_sample
from rlint.rules.transfers._shared.in_steps import is_only_in_environment_steps
from rlint.rules.transfers._shared.made import made_by
from rlint.rules.transfers.rl211_widen_before_transfer.widened import (
    CASTS,
    MAKERS,
    WidenedMove,
    Widening,
    are_frames,
    dtype_of_class,
    factor,
    has_moved_channels,
    is_scaled,
    move_of,
    narrowness,
    widening_before,
)
from rlint.rules.transfers.rl211_widen_before_transfer.widened_earlier import NAMES, widened_earlier

LONGEST_SHOWN = 40
_VIEWED = frozenset({"view", "view_as", "unflatten"})
"""Methods that need contiguous memory, which a conversion of a part of a tensor creates."""
_ONE = "a single observation has few bytes"
_DIMENSIONS_OF_BATCH = 4
_SEVERAL = ("gymnasium.vector", "gym.vector", "stable_baselines3.common.vec_env")
_MAKE_SEVERAL = last_names(*models.giving(TypeTag.ENVIRONMENT, *_SEVERAL)) - {"make"}
_OF_SEVERAL = _MAKE_SEVERAL | {"make_vec", "num_envs", "n_envs"}
"""Names that show that a program steps several environments at once."""


class WidenBeforeTransfer(Rule):
    code = "RL211"
    name = "widen-before-transfer"
    claims = ("time:cuda",)
    heat = Heat.HOT
    visits = (ast.Call,)
    callees = last_names(*MAKERS, "to", "cuda", "type") | NAMES

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        if not isinstance(node.func, (ast.Attribute, ast.Name)):
            return
        if model.frequency.heat_of(node).level < self.heat:
            return
        found = moved_by(node, model)
        if found is None:
            if last_name(node.func) in NAMES:
                yield from self._of_earlier(node, model)
            return
        data, kind, dtype, fix, converted = found
        shown = shown_data(data, model)
        is_assumed = are_frames(data, model) and not is_scaled(node, model)
        yield self.finding(
            model,
            node,
            f"{shown} is converted to {dtype} on the host, so {factor(kind, dtype)} the bytes are copied "
            f"to the device",
            fix=fix,
            advice=f"Copy it unconverted, and convert on the device: `.to(device).{method_of(dtype)}`",
            assumes=f"{shown} holds bytes" if is_assumed else None,
            related=[(converted, "converted here")] if converted is not None else (),
            minor=_ONE if is_one_frame(node, data, kind, model) else None,
        )

    def _of_earlier(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a conversion whose result is copied to a device by other code."""
        found = widened_earlier(call, model)
        if found is None or (found.move is not None and moved_by(found.move, model) is not None):
            return
        if model.usage.is_evaluation(call):
            return
        shown = shown_data(found.data, model)
        is_single = is_only_in_environment_steps(call, model) or model.frequency.cadence(call) is None
        if loads_sample(model.function(call), model):
            is_single = False  # the loader collates many
        yield self.finding(
            model,
            call,
            f"{shown} is converted to {found.dtype} on the host, so {factor(found.kind, found.dtype)} the "
            f"bytes are stored, and copied to the device",
            advice="Keep it as it is, and convert it on the device: `.to(device).float() / 255.0`",
            assumes=None if found.move is not None else "the result is copied to a device",
            related=[(found.move, "copied to the device here")] if found.move is not None else (),
            minor=_ONE if is_single else None,
        )


_Widened = tuple[ast.expr, Type, str, Fix | None, ast.Call | None]
"""The data, their type, the dtype, the fix, and the conversion if it is in another statement."""


def shown_data(data: ast.expr, model: SemanticModel) -> str:
    """Return the source of the data in backticks, if it is short."""
    text = model.source.text(data)
    return "the data" if "\n" in text or len(text) > LONGEST_SHOWN else f"`{text}`"


def is_one_frame(call: ast.Call, data: ast.expr, kind: Type, model: SemanticModel) -> bool:
    """Whether a call copies one observation in each step of an environment, and not one for each of several
    environments, as far as the data show it.
    """
    if not is_only_in_environment_steps(call, model):
        return False
    if are_frames(data, model) and not is_scaled(call, model):
        return True
    is_batch = (kind.rank or 0) >= _DIMENSIONS_OF_BATCH or has_moved_channels(data, model)
    return not is_batch and not model.program.mentions(*_OF_SEVERAL)


def moved_by(call: ast.Call, model: SemanticModel) -> _Widened | None:
    """Return the finding for a call that copies to a device."""
    is_maker = model.names.qualified(call.func) in MAKERS
    return of_maker(call, model) if is_maker else of_move(call, model)


def of_move(call: ast.Call, model: SemanticModel) -> _Widened | None:
    """Return the finding for `.to(device)` and `.cuda()`."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "type":
        return of_type(call, call.func.value, model)
    move = move_of(call, model)
    if move is None:
        return None
    if move.dtype is not None:
        dtype = model.analysis.types.dtype_of(move.dtype)
        kind = narrowness(move.source, call, model) if dtype in element_types.FLOATS else None
        if kind is None or kind.tag is not TypeTag.TENSOR or kind.device is not Device.HOST:
            return None
        if made_by(move.source, model) is not None:
            return None
        fix = convert_after_transfer(call, move.dtype, move.device, kind, model)
        return move.source, kind, dtype, fix, None
    widening = widening_before(move.source, model)
    if widening is None:
        return None
    kind = narrowness(widening.data, call, model, scaled=widening.scale is not None)
    if kind is None:
        return None
    fix = None if widening.is_apart else fix_order(move, widening, kind, model)
    is_before = model.syntax.statement(widening.cast) is not model.syntax.statement(call)
    return widening.data, kind, widening.dtype, fix, widening.cast if is_before else None


def of_type(call: ast.Call, data: ast.expr, model: SemanticModel) -> _Widened | None:
    """Return the finding for `torch.from_numpy(frames).type(dtype)`, where `dtype` may be a type of floating
    point on a device: torch converts on the host before it copies.
    """
    move = device_moves.move_of(call, model)
    if move is None or call.keywords:
        return None
    dtype = dtype_of_class(call.args[0], model)
    kind = narrowness(data, call, model) if dtype in element_types.FLOATS else None
    if kind is None or kind.tag is not TypeTag.TENSOR or kind.device is not Device.HOST:
        return None
    return data, kind, dtype, None, None


def of_maker(call: ast.Call, model: SemanticModel) -> _Widened | None:
    """Return the finding for `torch.tensor(frames, dtype=torch.float32, device=device)`."""
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    if named.keys() != {"dtype", "device"} or len(call.args) != 1:
        return None
    dtype = model.analysis.types.dtype_of(named["dtype"])
    if dtype not in element_types.FLOATS or model.types.device_of(named["device"]) is Device.HOST:
        return None
    kind = narrowness(call.args[0], call, model)
    if kind is None or (kind and kind.tag is not TypeTag.NDARRAY):
        return None
    return (
        call.args[0],
        kind,
        dtype,
        convert_after_transfer(call, named["dtype"], named["device"], kind, model),
        None,
    )


def convert_after_transfer(
    call: ast.Call, dtype: ast.expr, device: ast.expr | None, kind: Type, model: SemanticModel
) -> Fix | None:
    """Remove the dtype from the call, and convert its result."""
    edit = model.edit.without_arguments(call, [dtype])
    if edit is None or is_in_text(call, model):
        return None
    edits = [edit, model.edit.insert_after_expression(call, f".to({model.source.text(dtype)})")]
    return fix_of(edits, doubt(kind, device, model))


def fix_order(move: WidenedMove, widening: Widening, kind: Type, model: SemanticModel) -> Fix | None:
    """Remove the conversion from the moved value, and insert it after the move."""
    call, cast = move.call, widening.cast
    if is_in_text(call, model) or not isinstance(cast.func, ast.Attribute):
        return None
    reason = doubt(kind, move.device, model)
    if not reason and any(keyword.arg == "non_blocking" for keyword in call.keywords):
        reason = f"`{model.source.text(widening.data)}` must not be written to while it is copied"
    if not reason and not _VIEWED.isdisjoint(methods_between(move.source, cast)):
        reason = (
            f"`{model.source.text(widening.data)}` must be contiguous for `view`: its conversion may well be"
        )
    if not reason and kind.tag is TypeTag.NDARRAY and not kind.fresh:
        reason = (
            f"`{model.source.text(widening.data)}` must not be a reversed array, which `from_numpy` refuses"
        )
    if not reason and widening.scale is not None:
        reason = "the division on the device may be rounded differently"
    method = method_of(widening.dtype)

    def moved_first(
        move: cst.Call, cast: cst.Call, scale: cst.BinaryOperation | None = None
    ) -> cst.BaseExpression:
        data = cst.ensure_type(cast.func, cst.Attribute).value
        moved = move.with_changes(lpar=[], rpar=[]).deep_replace(scale or cast, data)
        widened = cst.ensure_type(cst.parse_expression(f"moved.{method}"), cst.Call)
        widened = widened.with_deep_changes(widened.func, value=moved)
        result = widened if scale is None else scale.with_changes(left=widened)
        return result.with_changes(lpar=move.lpar, rpar=move.rpar)

    parts = (cast,) if widening.scale is None else (cast, widening.scale)
    return fix_of([model.edit.rewrite(call, moved_first, *parts, code=method)], reason)


def methods_between(moved: ast.expr, cast: ast.expr) -> set[str]:
    """Return the methods that are called on the result of a conversion before it is moved."""
    found = set()
    while moved is not cast and isinstance(moved, ast.Call) and isinstance(moved.func, ast.Attribute):
        found.add(moved.func.attr)
        moved = moved.func.value
    return found


def fix_of(edits: list[Edit], reason: str | None) -> Fix:
    """Return the fix, unsafe if there is a condition."""
    safety = Applicability.UNSAFE if reason else Applicability.SAFE
    return Fix("Copy first, convert on the device", safety, tuple(edits), reason)


def doubt(kind: Type, device: ast.expr | None, model: SemanticModel) -> str | None:
    """Return the condition of the fix; None if it is safe."""
    if not kind.dtype:
        return "the data must have a narrow dtype: data wider than the result should be converted first"
    if device is not None and not model.types.is_surely_device(device):
        return f"`{model.source.text(device)}` must be a device: `.to()` also accepts a dtype or a tensor"
    return None


def method_of(dtype: str) -> str:
    """Return the method call that converts a tensor to a dtype."""
    method = next((name for name, made in CASTS.items() if made == dtype), None)
    return f"{method}()" if method else f"to(torch.{dtype})"


def is_in_text(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the call is in an f-string."""
    return any(isinstance(around, ast.JoinedStr) for around in model.ancestors(call))
