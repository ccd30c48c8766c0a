"""A constant tensor or array that is created again on every call or in every iteration.

## What it does
Flags tensors and arrays in code that runs per step that are created only from constants and configuration:
`torch.tensor([gamma**k for k in range(n)])`, `torch.eye(self.n_actions)`, `torch.arange(n, device=device)`,
`np.array([1.0, 0.5, 0.25])`, and values computed only from these. Constants are literals, module variables
that are assigned once, attributes that only the constructor sets, and, in a loop, values that the loop does
not change. Parameters of a constructor that have defaults count as constants if hot code creates the
objects, and so do parameters for which all callers pass the same setting
(`to_scalar(x, config.support_size)`; likely). The device and dtype of the tensors that a method receives
likely do not change, nor do the shapes of those that a grid, a table of offsets or a square mask is built for
(`torch.linspace(0, (batch_size - 1) * n, batch_size)`, `~torch.eye(x.shape[-1])`,
`torch.tril(torch.ones(t, t))`, `np.indices((h, w))`). Callers may pass different constants, directly or
through their own parameters, as the bounds of a grid (`torch.linspace(low, high, bins)`) or as a list that
becomes an array (`np.array(allowed) == value`; likely): the function only creates a few different values.
The number of bins, atoms or quantiles of a distribution likely is the same in all calls.
Functions of the project that create a tensor from their arguments count as constructors.
`np.arange(self.batch_size)` counts where it selects rows of a tensor
(`values[rows, actions]`), which converts it each time. Also flags tensors of one number on a device that are
only created for `torch.where`, which accepts the number itself.

Also flags computations whose inputs the constructor fixed: library functions on an array that only the
constructor assigns and that no method modifies (`np.argwhere(self.grid == 2)`, `np.pad(self.walls, 1)`), and
calls of functions and methods of the project that compute something, have no effects, and read nothing else
that changes; their arguments are constants or have a few values (`rotation_table(k)`). In the hook of a
gradient, masks of the shape of the gradient count (`torch.cat([torch.zeros_like(grad[:-1]), …])`). These
have only advice, and assume that no other file modifies the arrays. So do copies to a device of a tensor in
host memory that the module or the constructor creates from constants (`SUPPORT.to(x.device)`). Sizes and
bounds of spaces (`self.env.action_space.high`) and attributes that only the base class of a library can set
(`np.eye(self.nS)`) likely do not change.

The rule does not flag tensors that are written to, and values computed from an attribute that may be a
tensor, because trained weights are not constant. There is only advice for values that are stored or
returned, or that are computed from settings of an object that this program does not define
(`self.args.n_agents`, `self.envs.action_space[0].n`), or from data of unknown type that the constructor is
given (`torch.tensor(self.gammas)`). Arrays in host memory have low impact. Values for empty inputs, which are
rare, are not flagged (`x.mean() if x.numel() else torch.tensor(0.0)`).

## Why is it slow
A constructor allocates memory and converts a list number by number. On a CUDA device it launches a kernel,
and a list needs a blocking host-to-device copy. Reading a stored tensor costs one attribute access.

## Example
```python
import torch
from torch import nn


class LatentModel(nn.Module):
    def __init__(self, decay: float, steps: int) -> None:
        super().__init__()
        self.decay = decay
        self.steps = steps

    def loss(self, kl: torch.Tensor) -> torch.Tensor:
        w = torch.tensor([self.decay**k for k in range(self.steps)], device=kl.device)
        return (kl * w).sum(-1).mean()


def fit(model: LatentModel, optimizer: torch.optim.Optimizer, batches: list[torch.Tensor]) -> None:
    for kl in batches:
        optimizer.zero_grad()
        model.loss(kl).backward()
        optimizer.step()
```
Use instead:
```python
import torch
from torch import nn


class LatentModel(nn.Module):
    def __init__(self, decay: float, steps: int) -> None:
        super().__init__()
        self.decay = decay
        self.steps = steps
        self.register_buffer("_w", torch.tensor([self.decay**k for k in range(self.steps)]), persistent=False)

    def loss(self, kl: torch.Tensor) -> torch.Tensor:
        w = self._w
        return (kl * w).sum(-1).mean()


def fit(model: LatentModel, optimizer: torch.optim.Optimizer, batches: list[torch.Tensor]) -> None:
    for kl in batches:
        optimizer.zero_grad()
        model.loss(kl).backward()
        optimizer.step()
```

## Fix safety
Unsafe. The tensor is shared between calls: it must not be written to, and settings that change after the
constructor are not picked up. In a network it becomes a buffer, which is left out of the state dict and
moves with the network to other devices and other floating-point dtypes. For a loop, it is created before
the first iteration, even if there is none.

There is only advice where the constructor is not in the same class, and for module constants on a device,
because importing a module should not initialise a device.

## References
- https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer
- https://pytorch.org/tutorials/recipes/recipes/tuning_guide.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    EscapeLevel,
    Finding,
    Heat,
    Rule,
    SemanticModel,
    TypeTag,
    Use,
    UseKind,
    descendants,
)
from rlint.rules.networks.rl315_recomputed_constant.constant import Hoisted, constant_at
from rlint.rules.networks.rl315_recomputed_constant.constant_copies import copied_constant
from rlint.rules.networks.rl315_recomputed_constant.constant_fix import build_fix
from rlint.rules.networks.rl315_recomputed_constant.constant_place import (
    ConstantPlace,
    ConstantPlaceKind,
    constant_place,
)
from rlint.rules.networks.rl315_recomputed_constant.empty_inputs import is_for_empty_input
from rlint.rules.networks.rl315_recomputed_constant.gradient_hooks import is_in_gradient_hook
from rlint.rules.networks.rl315_recomputed_constant.grids import is_grid
from rlint.rules.networks.rl315_recomputed_constant.makers import (
    OF_DATA,
    is_computed_maker,
    is_maker,
)
from rlint.rules.networks.rl315_recomputed_constant.numbers_chosen import is_number_chosen
from rlint.rules.networks.rl315_recomputed_constant.repeated_results import may_be_repeated, repeated_result

_KEEPS_RESULTS = frozenset(
    {"functools.lru_cache", "functools.cache", "functools.cached_property", "torch.jit.script"}
)
_READS = frozenset({UseKind.OPERAND, UseKind.ATTRIBUTE, UseKind.COMPARED, UseKind.INDEX, UseKind.SHOWN})
_MANY = 4
_MINOR = "creates an array in host memory, which takes microseconds unless the array is large"


class RecomputedConstant(Rule):
    """See the page above."""

    code = "RL315"
    name = "recomputed-constant"
    seeds = ("S3.3", "S1.E3")
    claims = ("time",)
    visits = (ast.Call,)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for the first constructor in a constant expression."""
        assert isinstance(node, ast.Call)
        if not model.frequency.may_be_warm(node) and not is_in_gradient_hook(node, model):
            return
        if not is_maker(node, model):
            yield from self.copied(node, model)
            yield from self.repeated(node, model)
            return
        if not is_run_often(node, self.heat, model):
            return
        if is_number_chosen(node, model):
            yield self.finding(
                model,
                node,
                message_for_number(node, model),
                advice=f"Pass the number {model.source.text(node.args[0])} itself to `torch.where`",
            )
            return
        found = constant_at(node, model)
        if found is None:
            yield from self.repeated(node, model)
            return
        destination = constant_place(found, model)
        if destination is None and found.names:  # a part of it may depend on nothing
            found = constant_at(node, model, may_read_names=False)
            destination = constant_place(found, model) if found is not None else None
        if found is None or destination is None or is_kept_by_hand(found, model):
            return
        if queries_defaults(found.node, model) or is_for_empty_input(found.node, model):
            return
        only_read = is_only_read(found, model)
        if not only_read and not is_worth_a_word(found, destination, model):
            model.silent("{} is stored, modified or passed on", found.node)
            return
        yield self.finding(
            model,
            found.node,
            message_for(node, found, destination, model),
            fix=build_fix(found, destination, model) if only_read and found.is_sure else None,
            advice=advice_for(found, destination, model),
            assumes=assumption(found, model),
            minor=_MINOR if model.types.type_of(found.node).tag is TypeTag.NDARRAY else None,
        )

    def copied(self, node: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a copy to a device of a tensor that never changes."""
        held = copied_constant(node, model)
        if held is None or not is_run_often(node, self.heat, model) or is_kept_by_hand(Hoisted(node), model):
            return
        text = model.source.text(held)
        yield self.finding(
            model,
            node,
            f"`{text}` is in host memory and never changes, but is copied to the device each time",
            advice="Keep it on the device: in a network with `register_buffer(..., persistent=False)`, "
            "elsewhere copied once per device",
            assumes=f"no other code modifies `{text}` and the device is an accelerator",
        )

    def repeated(self, node: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a computation whose inputs the constructor fixed."""
        if may_be_repeated(node, model) and is_run_often(node, self.heat, model):
            found = repeated_result(node, model)
            if found is not None and not is_kept_by_hand(Hoisted(found.node), model):
                yield self.finding(
                    model,
                    found.node,
                    found.message(model),
                    advice=found.advice(),
                    assumes=found.assumption(model),
                    minor=_MINOR if model.types.type_of(found.node).tag is not TypeTag.TENSOR else None,
                )


def is_run_often(node: ast.AST, heat: Heat, model: SemanticModel) -> bool:
    """Whether code is hot, or runs in each backward pass."""
    return model.frequency.heat_of(node).level >= heat or is_in_gradient_hook(node, model)


def assumption(found: Hoisted, model: SemanticModel) -> str | None:
    """Return the assumption about settings that other code could change."""
    parts: list[str] = []
    sized = list(dict.fromkeys(f"`{model.source.text(of)}`" for of in found.sized))
    if sized:
        parts.append(f"{_joined(sized)} {'have' if len(sized) > 1 else 'has'} the same shape each time")
    names = list(dict.fromkeys(f"`{model.source.text(attribute)}`" for attribute in found.assumed))
    if names and not sized:
        parts.append(f"{_joined(names)} {'do' if len(names) > 1 else 'does'} not change during training")
    parameters = list(dict.fromkeys(f"`{name.id}`" for name in found.defaults))
    if parameters and not sized:
        parts.append(f"no caller passes another {_joined(parameters)}")
    passed = list(dict.fromkeys(f"`{name.id}`" for name in found.passed))
    if passed:
        parts.append(f"every caller passes a constant {_joined(passed)}")
    if parts:
        return " and ".join(parts)
    if found.helpers:
        return f"`{model.source.text(found.helpers[0].func)}` only creates a tensor from its arguments"
    return None


def queries_defaults(made: ast.expr, model: SemanticModel) -> bool:
    """Whether the code queries a default, which settings of the program may change:
    `torch.tensor(0).device`.
    """
    match model.parent(made):
        case ast.Attribute(attr="device" | "dtype"):
            return True
    return False


def message_for(call: ast.Call, found: Hoisted, destination: ConstantPlace, model: SemanticModel) -> str:
    """Return the message: what is built how often, and from what."""
    what = "tensor" if model.types.type_of(found.node).tag is TypeTag.TENSOR else "array"
    function = model.function(found.node)
    if destination.loop is not None:
        often = f"in every iteration of `{model.analysis.loops.header(destination.loop)}`"
        loops = model.frequency.loops(found.node)
        if loops and loops[0] is not destination.loop:
            often = f"in every iteration of `{model.analysis.loops.header(loops[0])}`"
    else:
        often = f"on every call of `{function.name}`" if function is not None else "each time"
        if function is not None and function.name == "__init__":
            cls = model.class_of(found.node)
            often = f"for every `{cls.name}`" if cls is not None else often
    read = list(dict.fromkeys(f"`{model.source.text(setting)}`" for setting in found.settings))
    read += dict.fromkeys(f"the shape of `{model.source.text(of)}`" for of in found.sized)
    of = _joined(["constants", *read]) if len(read) < _MANY else "constants and settings"
    if destination.kind == ConstantPlaceKind.LOOP and (found.names or found.loose):
        of = "values that the loop does not change"
    return f"`{model.source.text(call.func)}` creates the same {what} {often}: it only depends on {of}"


def message_for_number(call: ast.Call, model: SemanticModel) -> str:
    """Return the message for a tensor of one number that `torch.where` selects from."""
    function = model.function(call)
    often = f"on every call of `{function.name}`" if function is not None else "each time"
    return f"`{model.source.text(call.func)}` copies one number to the device {often}, only for `torch.where`"


def _joined(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def advice_for(found: Hoisted, destination: ConstantPlace, model: SemanticModel) -> str:
    """Return the advice: where to build it, or that a single number needs no tensor."""
    match found.node:
        case ast.Call(args=[ast.Constant(value=int() | float() as number), *_]) if model.names.qualified(
            found.node.func
        ) in ("torch.tensor", "torch.as_tensor", "torch.scalar_tensor"):
            return f"Use the number {number} itself where possible, or create the tensor once"
    if destination.kind == ConstantPlaceKind.LOOP:
        return "Build it once, before the loop"
    if found.sized:
        return "Keep it for the next call with the same shape"
    if destination.kind == ConstantPlaceKind.MODULE and (found.defaults or found.passed):
        if model.class_of(found.node) is None:
            return "Build it once per setting (`functools.lru_cache`), or build it once and pass it"
        return "Build it once, where the objects are created, and pass it to them"
    if destination.kind == ConstantPlaceKind.MODULE:
        return "Build it once, at module level, or keep it with the function's settings"
    if destination.kind == ConstantPlaceKind.NETWORK:
        return "Build it once in `__init__`, with `register_buffer(..., persistent=False)`"
    return "Build it once in `__init__` and keep it as an attribute"


def is_only_read(found: Hoisted, model: SemanticModel) -> bool:
    """Whether no code keeps the value, modifies it, or carries it to the next iteration."""
    parent = model.parent(found.node)
    match parent:
        case ast.Assign(targets=[target]) | ast.AnnAssign(target=target) | ast.NamedExpr(target=target):
            if not isinstance(target, ast.Name) or len(model.names.bindings(target)) > 1:
                return False
    escape_level = model.dataflow.use_of(found.node).escape_level
    if escape_level is EscapeLevel.HANDED:
        uses = model.dataflow.uses(found.node, frozenset({UseKind.METHOD, UseKind.ATTRIBUTE}))
        return all(_only_reads(use, model) for use in uses)
    return escape_level is EscapeLevel.READ


def _only_reads(use: Use, model: SemanticModel) -> bool:
    """Whether a use is a computation: a call of a library function or of a network, or an operator."""
    match use.kind, use.at:
        case UseKind.ARGUMENT, ast.Call(func=func):
            name = model.names.qualified(func) or ""
            reads = name.startswith(("torch.", "numpy.")) and not name.endswith("_")
            return reads or model.types.type_of(func).tag is TypeTag.MODULE
        case UseKind.METHOD, ast.Call(func=ast.Attribute(attr=method)):
            return not method.endswith("_")
        case UseKind.ITEM, ast.Subscript(ctx=context):
            return isinstance(context, ast.Load)
    return use.cause is None and use.kind in _READS


def is_worth_a_word(found: Hoisted, destination: ConstantPlace, model: SemanticModel) -> bool:
    """Whether building a constant that is returned, stored or an initial value is expensive. A value that is
    written to is not a constant, and a small array is built as fast as it is copied.
    """
    if model.dataflow.use_of(found.node).escape_level is EscapeLevel.CHANGED:
        return False
    makers = [
        part for part in descendants(found.node) if isinstance(part, ast.Call) and is_maker(part, model)
    ]
    if not any(is_computed_maker(maker, model) or is_grid(maker, model) for maker in makers):
        return False
    if destination.kind == ConstantPlaceKind.LOOP:
        return _is_looked_up(found.node, model)  # the items are copied or only looked at
    if model.types.type_of(found.node).tag is TypeTag.NDARRAY and not (
        found.settings or found.sized or found.defaults or found.passed or _is_looked_up(found.node, model)
    ):
        return False
    statement = model.syntax.statement(found.node)
    match statement:
        case ast.Assign(targets=[ast.Name() as target]) if not _is_looked_up(found.node, model):
            loops, bindings = model.frequency.loops(statement), model.names.bindings(target)
            if len(bindings) > 1 and any(_is_of_one_number(maker, model) for maker in makers):
                return False  # a start value that most calls replace
            return all(model.frequency.loops(binding.statement) == loops for binding in bindings)
    return True


def _is_looked_up(made: ast.expr, model: SemanticModel) -> bool:
    """Whether items are selected from a constant: `np.eye(n)[action]`."""
    parent = model.parent(made)
    return (
        isinstance(parent, ast.Subscript) and parent.value is made and not isinstance(parent.slice, ast.Slice)
    )


def _is_of_one_number(maker: ast.Call, model: SemanticModel) -> bool:
    given = maker.args[0] if maker.args else None
    return model.names.qualified(maker.func) in OF_DATA and isinstance(given, ast.Constant)


def is_kept_by_hand(found: Hoisted, model: SemanticModel) -> bool:
    """Whether it is in code that creates a missing value (`if key not in cache:`), or in a function whose
    results are cached.
    """
    child: ast.AST = found.node
    for node in model.ancestors(found.node):
        match node:
            case ast.FunctionDef(decorator_list=decorators) | ast.AsyncFunctionDef(decorator_list=decorators):
                made = (each.func if isinstance(each, ast.Call) else each for each in decorators)
                return any(model.names.qualified(each) in _KEEPS_RESULTS for each in made)
            case ast.ExceptHandler():
                return True
            case ast.If(test=test, orelse=[*others]) if child not in others and _tests_missing(test):
                return True
            case ast.IfExp(test=test, orelse=other) if child is not other and _tests_missing(test):
                return True
        child = node
    return False


def _tests_missing(test: ast.expr) -> bool:
    return any(map(_handles_missing_attribute, descendants(test)))


def _handles_missing_attribute(test: ast.AST) -> bool:
    match test:
        case ast.Compare(ops=[ast.NotIn() | ast.Is()]) | ast.Call(func=ast.Name(id="hasattr")):
            return True
    return False
