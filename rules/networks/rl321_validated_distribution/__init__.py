"""A distribution that is created in every step and validates its parameters and values.

## What it does
Flags distributions of `torch.distributions` that are created in hot or warm code with argument validation
on, which is the default: `Categorical(logits=logits)`, `Normal(mean, std)`, classes of the project that
inherit their constructor, call it by `super().__init__` or pass their `validate_args` on to it, classes that
are called through a variable or an attribute, and classes that a dict or `getattr(torch.distributions,
name)` selects. It also flags unknown classes that likely are distributions, judging by their arguments and
their use, with advice only, also if all parameters are unpacked (`self.kind(**parameters)`).

Three related patterns are flagged as well: a `MultivariateNormal` with a diagonal covariance, a softmax (also
a layer) or sigmoid whose result only goes to `argmax`, to `max` or `topk` for the indices, or to
`Categorical(logits=...)`, which normalises again, and a standard normal distribution of a class of the
project that is created for one draw.

The rule does not flag validation where the code has decided about it: in a program that calls
`set_default_validate_args`, in a call with `validate_args=False` or a variable, and in a `try` that catches
`ValueError`; one that catches all errors around a whole loop only ends the training in good order. A call
with `validate_args=True` gets advice only. The impact is low in programs that call `torch.compile`, which
turns validation off in the whole process, in programs of networks for images or sequences, whose steps take
far longer than the checks, and for copies of a distribution (`Normal(dist.loc.clone(), dist.scale.clone())`).

## Why is it slow
With validation, the constructor compares each parameter with its limits, and `log_prob` does the same with
each value. For the small tensors of a policy these comparisons take as long as the arithmetic. On a GPU
each of them synchronises with the device, because Python reads the result.

`OneHotCategorical`, `Multinomial` and the relaxed distributions create another distribution inside, which
their `validate_args` does not reach: for these the advice is to disable validation globally.

A `MultivariateNormal` factorises its covariance in the constructor and solves a triangular system in each
`log_prob`. With a diagonal covariance, its components are independent, and `Independent(Normal(mean, std),
1)` is the same distribution without either cost.

`softmax` keeps the order of its inputs, so `argmax` gives the same result without it. Replacing
`Categorical(probs=softmax(x))` by `Categorical(logits=x)` gains nothing once validation is off, so the rule
does not flag it.

## Example
```python
import torch
from torch.distributions import Categorical


def collect(env, policy, total_steps):
    obs = env.reset()
    for step in range(total_steps):
        dist = Categorical(logits=policy(obs))
        action = dist.sample()
        log_prob = dist.log_prob(action)
        obs, reward, done, info = env.step(action)
        policy.remember(obs, action, log_prob, reward, done)
```

Use instead:

```python
import torch
from torch.distributions import Categorical


def collect(env, policy, total_steps):
    obs = env.reset()
    for step in range(total_steps):
        dist = Categorical(logits=policy(obs), validate_args=False)
        action = dist.sample()
        log_prob = dist.log_prob(action)
        obs, reward, done, info = env.step(action)
        policy.remember(obs, action, log_prob, reward, done)
```

## Fix safety
All fixes are unsafe.

- Without validation, a network that has diverged gives distributions of NaN instead of a `ValueError`, and
  an action outside the support gets a meaningless log-probability. For valid arguments, samples and
  log-probabilities are identical to the bit.
- `Independent(Normal)` rounds differently, raises an error for the `log_prob` or the entropy of an empty
  batch, and has neither `covariance_matrix` nor `loc`. There is no fix where the file reads one of these,
  or compares distributions with `kl_divergence`.
- Without softmax, `argmax` may choose differently where two probabilities round to the same number.

Probabilities passed as `logits` are a mistake that the author has to correct, so there is only advice.

## References
- https://docs.pytorch.org/docs/stable/distributions.html#torch.distributions.distribution.Distribution.set_default_validate_args
- https://docs.pytorch.org/docs/stable/distributions.html#torch.distributions.independent.Independent
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Applicability,
    ClassSummary,
    CodeExtent,
    Finding,
    Fix,
    Heat,
    ProgramScale,
    Requirement,
    Rule,
    SemanticModel,
    TypeTag,
    UseKind,
    descendants,
    last_name,
    models,
    parameters,
    torch_settings,
)
from rlint.rules.networks._shared.seldom import runs_in_few_steps
from rlint.rules.networks.rl321_validated_distribution.base_constructors import (
    base_of_torch,
    is_super_constructor,
)
from rlint.rules.networks.rl321_validated_distribution.by_arguments import (
    ANY_CLASS,
    distribution_by_arguments,
    passes_no_setting,
)
from rlint.rules.networks.rl321_validated_distribution.diagonal import DiagonalNormal, diagonal_normal
from rlint.rules.networks.rl321_validated_distribution.kept_classes import (
    ANY_DISTRIBUTION,
    defaulted,
    kept_classes,
)
from rlint.rules.networks.rl321_validated_distribution.passing_constructors import base_by_argument
from rlint.rules.networks.rl321_validated_distribution.softmaxes import (
    SELECTS,
    NeedlessSoftmax,
    softmax_before_argmax,
    softmax_before_logits,
)
from rlint.rules.networks.rl321_validated_distribution.standard_normal import is_standard_normal_drawn

PACKAGE = "torch.distributions."
CHECKS_NOTHING = frozenset({"Independent"})
PASSES_ON = frozenset({"TransformedDistribution", "MixtureSameFamily"})
"""Distributions without parameters of their own, which only check values."""
BEFORE_VALIDATE_ARGS = {
    name.removeprefix(PACKAGE): names.index("validate_args")
    for name, names in parameters.PARAMETERS.items()
    if name.startswith(PACKAGE)
}
"""Number of positional parameters before `validate_args`; two, unless listed."""
PARAMETERS = frozenset(
    "loc scale logits probs concentration rate df low high covariance_matrix scale_tril".split()
)
"""Parameters of distributions that a distribution has as attributes, too."""
_OF_NUMBERS = "its parameters are numbers, which are checked in host memory"
_OF_DISTRIBUTION = "its parameters are those of another distribution, of which it is a copy or a part"
_LONG_STEP = "a step of a network for images or sequences takes far longer than the checks"
CATCHES_VALUES = frozenset({"builtins.ValueError"})
CATCHES = CATCHES_VALUES | {"builtins.Exception", "builtins.BaseException"}
_PARAMETERS = "its parameters when it is created"
_VALUES = "each value whose probability is computed"
_CHECKED = f"{_PARAMETERS}, and {_VALUES}"
_SINCE = Requirement("torch", "1.8", "distributions validate their arguments by default only")
_OF_VALUES = frozenset({"log_prob", "cdf", "icdf"})
"""The methods that check a value."""
_SWITCH = "`torch.distributions.Distribution.set_default_validate_args(False)`"
WITHOUT_VALIDATION = f"Pass `validate_args=False`, or disable validation globally at start-up: {_SWITCH}"
ONLY_GLOBALLY = (
    f"Disable validation globally at start-up: {_SWITCH}; "
    "`validate_args=False` does not reach the distribution that `{}` creates inside"
)
_OF_PROBABILITIES = frozenset({"Bernoulli", "Categorical", "OneHotCategorical"})
"""Distributions whose first parameter is `probs`."""


class ValidatedDistribution(Rule):
    code = "RL321"
    name = "validated-distribution"
    claims = ("time",)
    heat = Heat.WARM
    one_change_mends = CodeExtent.PROJECT
    visits = (ast.Call,)
    triggers = ("distributions", "softmax", "Softmax", "sigmoid", "Sigmoid")

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        if runs_in_few_steps(node, model):
            return
        called = node.func.attr if isinstance(node.func, ast.Attribute) else None
        qualified = model.names.qualified(node.func)
        if called in SELECTS or qualified == "torch.argmax":
            if (softmax := softmax_before_argmax(node, model)) is not None:
                yield self.needless(softmax, model)
            return
        if called == "__init__" and is_super_constructor(node.func, model):
            qualified = base_of_torch(node.func, model)
            if qualified is None or not is_distribution(qualified):
                return
        name = distribution(qualified, model) if qualified else kept_distribution(node.func, model)
        if name is None and qualified is not None:
            base = base_by_argument(node, qualified, model)
            name = distribution(base, model) if base is not None else None
        if name is None and qualified is not None and requests_validation(node):
            name = base_distribution(qualified, model)
        shown = distribution_by_arguments(node, model) if name is None and not qualified else None
        if shown is not None:
            yield from self.likely(node, shown, model)
            return
        if name is None:
            if qualified is not None and is_standard_normal_drawn(node, qualified, model):
                yield self.standard_normal(node, model)
            return
        if name == "MultivariateNormal" and (normal := diagonal_normal(node, model)) is not None:
            yield self.diagonal(node, normal, model)
        elif is_validated(node, name, model):
            yield self.validated(node, name, model)
        if name in ("Categorical", "OneHotCategorical"):
            softmax = softmax_before_logits(node, model)
            if softmax is not None:
                yield self.needless(softmax, model)

    def validated(self, call: ast.Call, name: str, model: SemanticModel) -> Finding:
        """Return a finding for a distribution that validates its arguments."""
        is_base = is_super_constructor(call.func, model)
        shown = f"`{model.source.text(call.func)}`" + (f" of `{name}`" if is_base else "")
        what = _VALUES if name in PASSES_ON else _CHECKED
        if name not in PASSES_ON and not is_base and not may_check_values(call, model):
            what = _PARAMETERS
        is_passed = name not in parameters.VALIDATES_INSIDE
        is_held = model.names.qualified(call.func) is None and not is_base
        parameter = defaulted(call.func, model) if is_held else None
        assumes = f"no caller passes another `{parameter}`" if parameter else None
        if call.args and isinstance(call.args[0], ast.Starred):
            assumes = f"`{model.source.text(call.args[0].value)}` holds no `validate_args`"
        return self.finding(
            model,
            call,
            f"{shown} checks {what}; on a GPU, each check synchronises with the device",
            fix=without_validation(call, model) if is_passed and not requests_validation(call) else None,
            advice=WITHOUT_VALIDATION if is_passed else ONLY_GLOBALLY.format(name),
            assumes=assumes,
            related=[
                (store, "replaces the function instead of calling it, so validation stays on")
                for store in model.once(replaced_setters, model.syntax.module)
            ],
            minor=turned_off(model) or why_cheap(call) or why_small(call, model),
            workload="acting",
            slow_since=_SINCE,
        )

    def likely(self, call: ast.Call, name: str, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a class that only its arguments and its use show to be a distribution."""
        if not model.program.is_imported_anywhere("torch") or not model.frequency.may_be_warm(call):
            return
        shown = model.source.text(call.func)
        assumes = f"`{shown}` is a class of `torch.distributions`"
        if name == ANY_CLASS:
            if model.program.mentions("validate_args") or model.program.mentions("set_default_validate_args"):
                return
            options = ", ".join(f"`{model.source.text(each.value)}`" for each in call.keywords)
            assumes += f" and {options} holds no `validate_args`"
        if name == "MultivariateNormal" and (normal := diagonal_normal(call, model)) is not None:
            yield self.diagonal(call, normal, model, assumes)
        elif name == ANY_CLASS or is_validated(call, name, model):
            yield self.finding(
                model,
                call,
                f"`{shown}` checks {_CHECKED}; on a GPU, each check synchronises with the device",
                advice=WITHOUT_VALIDATION,
                assumes=assumes,
                minor=turned_off(model) or why_small(call, model),
                workload="acting",
                slow_since=_SINCE,
            )

    def standard_normal(self, call: ast.Call, model: SemanticModel) -> Finding:
        """Return a finding for a standard normal distribution of which one sample is drawn."""
        return self.finding(
            model,
            call,
            f"`{model.source.text(call.func)}` creates a standard normal distribution for each draw",
            advice="Draw with `torch.randn_like`, which creates no distribution and validates nothing",
            minor=why_cheap(call),
            workload="acting",
        )

    def diagonal(
        self, call: ast.Call, normal: DiagonalNormal, model: SemanticModel, assumes: str | None = None
    ) -> Finding:
        """Return a finding for a covariance matrix where standard deviations suffice. Without a fix, if the
        class is not sure.
        """
        given = "factorises" if normal.parameter == "covariance_matrix" else "solves with"
        return self.finding(
            model,
            call,
            f"`MultivariateNormal` {given} a diagonal matrix each time",
            fix=None if assumes else normal.fix,
            advice="Use `Independent(Normal(mean, std), 1)` with the square roots of the diagonal: the same "
            "distribution without a matrix",
            assumes=assumes,
            workload="joints",
        )

    def needless(self, softmax: NeedlessSoftmax, model: SemanticModel) -> Finding:
        """Return a finding for a redundant softmax."""
        return self.finding(
            model,
            softmax.node,
            softmax.message,
            fix=softmax.fix,
            advice=softmax.advice,
            assumes=softmax.assumes,
            workload="acting",
        )


def may_check_values(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the program may compute the probability of a value: not if only other methods and attributes
    of the distribution are used.
    """
    for use in model.dataflow.uses(call):
        if use.cause is not None:
            return True
        match use.at:
            case ast.Call(func=ast.Attribute(attr=method)) if use.kind is UseKind.METHOD:
                pass
            case ast.Attribute(attr=method) if use.kind is UseKind.ATTRIBUTE:
                pass
            case _:
                return True
        if method in _OF_VALUES:
            return True
    return False


def why_cheap(call: ast.Call) -> str | None:
    """Return why the validation of a distribution costs little: of numbers, it does not involve a device."""
    given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg != "validate_args")]
    return _OF_NUMBERS if given and all(isinstance(each, ast.Constant) for each in given) else None


def why_small(call: ast.Call, model: SemanticModel) -> str | None:
    """Return why the validation of a distribution matters little beside the step that it is a part of."""
    if is_copy(call):
        return _OF_DISTRIBUTION
    return _LONG_STEP if model.program.scale() is ProgramScale.LARGE else None


def is_copy(call: ast.Call) -> bool:
    """Whether each parameter of a distribution is read from another one: `Categorical(probs=old.probs[i])`,
    but not `Normal(self.loc, self.scale)`.
    """
    given = [*call.args, *(each.value for each in call.keywords if each.arg != "validate_args")]
    return bool(given) and all(
        any(
            isinstance(node, ast.Attribute) and node.attr in PARAMETERS and not is_self(node.value)
            for node in descendants(value)
        )
        for value in given
    )


def is_self(value: ast.expr) -> bool:
    """Whether it is `self`, whose attributes may have any name."""
    return isinstance(value, ast.Name) and value.id == "self"


def distribution(qualified: str, model: SemanticModel) -> str | None:
    """Return the torch class that a call creates an instance of, possibly by a subclass without a
    constructor.
    """
    if is_distribution(qualified):
        return qualified.removeprefix(PACKAGE)
    symbol = model.index.symbol(qualified, model.module.module)
    if not isinstance(symbol, ClassSummary):
        return None
    for base in model.index.ancestry(symbol):
        if isinstance(base, str):
            return base.removeprefix(PACKAGE) if is_distribution(base) else None
        if "__init__" in base.methods or "__new__" in base.methods:
            return None
    return None


def base_distribution(qualified: str, model: SemanticModel) -> str | None:
    """Return the first torch class that a class of the program extends, whatever its constructor does."""
    symbol = model.index.symbol(qualified, model.module.module)
    bases = model.index.ancestry(symbol) if isinstance(symbol, ClassSummary) else ()
    base = next((each for each in bases if isinstance(each, str)), "")
    return base.removeprefix(PACKAGE) if is_distribution(base) else None


def kept_distribution(called: ast.expr, model: SemanticModel) -> str | None:
    """Return the torch class that a variable or an attribute holds, if it can only hold such classes; of
    several, the one that is created with the fewest arguments.
    """
    if not isinstance(called, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
        return None
    found = [
        "Distribution" if name == ANY_DISTRIBUTION else distribution(name, model)
        for name in kept_classes(called, model)
    ]
    names = [name for name in found if name is not None]
    if not names or len(names) < len(found) or CHECKS_NOTHING & set(names):
        return None
    return min(names, key=lambda name: BEFORE_VALIDATE_ARGS.get(name, 2))


def turned_off(model: SemanticModel) -> str | None:
    """Return why validation costs nothing where the program calls `torch.compile`; None if it does not."""
    if not model.program.sets(torch_settings.DYNAMO):
        return None
    return "`torch.compile`, which the program calls, turns validation off in the whole process"


def is_distribution(qualified: str) -> bool:
    """Whether it is a distribution of torch, and not a transform or constraint."""
    fact = models.callable_fact(qualified) if qualified.startswith(PACKAGE) else None
    return fact is not None and fact.result.tag is TypeTag.DISTRIBUTION


def is_validated(call: ast.Call, name: str, model: SemanticModel) -> bool:
    """Whether the call creates a distribution that validates its arguments, by default or as it asks for."""
    if name in CHECKS_NOTHING or len(call.args) > BEFORE_VALIDATE_ARGS.get(name, 2):
        return False
    if call.args[1:] and any(isinstance(argument, ast.Starred) for argument in call.args):
        return False
    if name in _OF_PROBABILITIES and call.args and "logit" in (last_name(call.args[0]) or "").lower():
        return False  # logits are no probabilities: the validation raises an error
    if requests_validation(call):
        return not is_expected_to_fail(call, model)
    for keyword in call.keywords:
        if keyword.arg == "validate_args" or (
            keyword.arg is None and not passes_no_setting(keyword.value, model)
        ):
            return False
    return not model.program.mentions("set_default_validate_args") and not is_expected_to_fail(call, model)


def requests_validation(call: ast.Call) -> bool:
    """Whether a call passes `validate_args=True`."""
    return any(
        keyword.arg == "validate_args"
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is True
        for keyword in call.keywords
    )


def is_expected_to_fail(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the program handles a `ValueError` from the call. A handler of all errors around a whole loop
    only ends it in good order.
    """
    child: ast.AST = call
    in_loop = False
    for parent in model.ancestors(call):
        in_loop = in_loop or isinstance(parent, (ast.For, ast.AsyncFor, ast.While))
        if isinstance(parent, ast.Try) and child in parent.body:
            caught = CATCHES_VALUES if in_loop else CATCHES
            if any(_catches(handler, caught, model) for handler in parent.handlers):
                return True
        child = parent
    return False


def _catches(handler: ast.ExceptHandler, caught: frozenset[str], model: SemanticModel) -> bool:
    """Whether a handler catches an error of one of these classes; one without a class catches all."""
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    found = ("builtins.BaseException" if one is None else model.names.qualified(one) for one in types)
    return not caught.isdisjoint(found)


def without_validation(call: ast.Call, model: SemanticModel) -> Fix | None:
    """Add the keyword."""
    edit = model.edit.with_keyword(call, "validate_args", "False")
    in_text = any(isinstance(around, ast.JoinedStr) for around in model.ancestors(call))
    if edit is None or (in_text and not model.edit.is_relocatable(call)):
        return None
    reason = "parameters that are NaN or out of range no longer raise a `ValueError`"
    return Fix("Pass `validate_args=False`", Applicability.UNSAFE, (edit,), reason)


def replaced_setters(_module: ast.Module, model: SemanticModel) -> list[ast.Attribute]:
    """Return the assignments of a file that replace the function which turns validation off, by mistake:
    `Normal.set_default_validate_args = False`.
    """
    return [
        use
        for use in model.names.attribute_uses("set_default_validate_args")
        if isinstance(use.ctx, ast.Store)
    ]
