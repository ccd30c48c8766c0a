"""A NumPy function called on a single number, or on a short list of numbers.

## What it does
Flags NumPy functions in hot code whose arguments are known to be numbers, not arrays:

- `np.linalg.norm(np.array(a) - np.array(b))` of two points, which `math.dist(a, b)` computes (likely, if it
  is not known that they are tuples of a few numbers);
- `np.clip(x, low, high)` of a number, also as the only item of an array (`np.clip(np.array([x]), -1, 1)[0]`);
- `np.max([a, b])`, `np.min`, `np.sum` and `np.mean` of a literal list or tuple of at most eight items;
- `np.sum`, `np.max` and `np.min` of a list that a comprehension makes of numbers (`np.sum([r * gamma**i for
  i, r in enumerate(rewards)])`);
- the same functions, and `np.mean`, of a local list to which only a few numbers are appended, and `np.mean`
  of a list that a comprehension makes of numbers;
- `np.argmax` and `np.argmin` of a list of numbers that is built in place, also of values that each
  environment step looks up in a table (`np.argmax([q[state, a] for a in range(2)])`; likely);
- `np.searchsorted` and `np.digitize` of one number in a Python list, which is converted on every call;
- `np.unravel_index` of one number in a loop, also of a key of a dict (`for action, child in
  children.items()`; likely);
- `np.any` and `np.all` of a list of truth values;
- `np.allclose` and `np.isclose` of two numbers, also of the sum of a dict's values (likely);
- `np.random.choice(items)`, which picks one item of a Python list, also by `p=`, and
  `np.random.choice(range(n), p=p)` where `p` differs from draw to draw;
- `np.random.uniform()`, and with numbers as bounds, in every environment step or for every item of a loop;
- `np.exp`, `np.sqrt`, `np.log`, `np.abs`, `np.maximum`, `np.isnan` and similar functions of a changing
  number, in every environment step or for every item of a loop; of a constant (`np.sqrt(self.dt)`) in every
  environment step, with low impact, unless tensors are computed from it.

A value of unknown type counts as a number if the function, or the class of an attribute, uses it as one: it
tests it (`if speed > limit`, `max(speed, limit)`) or converts it (`float(speed)`), or the result of the
call (`if np.isnan(loss)`, `float(np.sqrt(x + eps))`), or if the class assigns only numbers to the
attribute, or Python compares it with a number (`max(1, n - start)`). So do parts of a state, a position or a
velocity, the reward of one environment (that of a wrapper or of `TransformReward`, too, and a parameter
`reward` beside `done`), what `x.item()` and `x.shape[0]` read, and settings such as `self.eps_decay` in
arithmetic. A value of unknown type named like a list of actions counts as a list in
`np.random.choice(self.config.legal_actions)`. The message states the assumption.

The rule does not flag arguments that may be arrays, other arguments of unknown type, other functions of a
constant, code that only evaluates or renders, a single call per network update, which takes far longer
itself, and programs of language models, whose steps take a hundred milliseconds.

## Why is it slow
NumPy's functions are designed for arrays: they convert the argument to an array, find the loop for its
dtype, and wrap the result. Functions with several Python layers, such as `np.clip` and `np.mean`, take some
hundred times as long as comparing two numbers. `np.random.choice` converts the whole list to an array to
pick one item.

## Example
```python
import numpy as np


def run(env, policy, steps: int) -> float:
    total = 0.0
    observation = env.reset()
    for step in range(steps):
        observation, reward, done, info = env.step(policy(observation))
        shaped = np.clip(float(reward), -1.0, 1.0)
        total += shaped
    return total
```
Use instead:
```python
import numpy as np


def run(env, policy, steps: int) -> float:
    total = 0.0
    observation = env.reset()
    for step in range(steps):
        observation, reward, done, info = env.step(policy(observation))
        shaped = min(max(float(reward), -1.0), 1.0)
        total += shaped
    return total
```

## Fix safety
Unsafe. The result is a Python number where NumPy returned a NumPy scalar, which has methods like `item` and
`astype`, divides by zero with a warning, and has another `repr`. `min` and `max` return one of the
arguments with its own type. `math` raises an error where NumPy warns and returns `inf` or `nan` (the
logarithm of zero, the root of a negative number, an overflow). A sum may differ in the last digit.

`np.random.random()` draws the same number as `np.random.uniform()`, from the same random stream; code that
replaces `np.random.uniform` no longer reaches it.

An item picked by a random index is drawn from the same random stream. It is the item itself, where NumPy
returned a copy converted to the common dtype.

There is only advice where an attribute or method of the result is used, for draws by `p=` or with other
bounds, and where `math.floor` would return an int instead of a float.

## References
- https://docs.python.org/3/library/math.html
- https://numpy.org/doc/stable/reference/arrays.scalars.html
- https://numpy.org/doc/stable/reference/generated/numpy.clip.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Applicability,
    Driver,
    Edit,
    Finding,
    Fix,
    Heat,
    Rule,
    SemanticModel,
    TypeTag,
    descendants,
    numbers,
)
from rlint.rules.computation._shared.stratified_draws import is_drawn_per_iteration
from rlint.rules.computation.rl508_numpy_on_scalar.flat_indices import FLAT, flat_index
from rlint.rules.computation.rl508_numpy_on_scalar.places_in_lists import PLACES, place_in_list
from rlint.rules.computation.rl508_numpy_on_scalar.point_distances import point_distance
from rlint.rules.computation.rl508_numpy_on_scalar.scalar_calls import (
    CALLED,
    LONG,
    Scalar,
    is_plain,
    likely_scalar,
    scalar_call,
)
from rlint.rules.computation.rl508_numpy_on_scalar.single_draws import DRAWS, single_draw

_FIXED = "a function of a constant takes about a microsecond"
_ALONE = (ast.stmt, ast.keyword, ast.Tuple, ast.List, ast.Dict)


class NumpyOnScalar(Rule):
    """See the page above."""

    code = "RL508"
    name = "numpy-on-scalar"
    claims = ("time",)
    heat = Heat.HOT
    visits = (ast.Call,)
    callees = CALLED | DRAWS | FLAT | PLACES

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a call of numpy's with single numbers."""
        assert isinstance(node, ast.Call)
        if not (model.names.qualified(node.func) or "").startswith("numpy."):
            return
        called = model.source.text(node.func)
        found, unsure = scalar_call(node, model) or place_in_list(node, model), None
        distance = point_distance(node, model) if found is None else None
        if distance is not None and is_each_step(node, model):
            is_first = model.dataflow.equal_to(node)[:1] == [node]  # a second one is another rule's
            found = distance if is_first else None
        if found is None and (likely := flat_index(node, model) or likely_scalar(node, model)) is not None:
            found, unsure = likely
        if found is not None and not model.usage.is_evaluation(node):
            if found.assumes is not None and found is not distance and not is_for_steps(node, model):
                return  # a list of other values may be long
            minor = None
            if found.ufunc and all(is_fixed(given, model) for given in found.given):
                if not is_each_time(node, model):
                    return
                minor = _FIXED
            elif found.ufunc and not is_each_step(node, model):
                return
            message = (
                f"`{called}` converts {found.what} to an array, which takes longer than `{found.better}`"
            )
            text = " ".join((found.text or "").replace("{math}", f"math.{found.math}").split())
            advice = f"Write `{text}`" if text and len(text) < LONG else f"Use `{found.better}`"
            yield self.finding(
                model,
                node,
                message,
                fix=build_fix(found, model) if found.assumes is None else None,
                advice=advice,
                assumes=f"`{model.source.text(unsure)}` is a number" if unsure is not None else found.assumes,
                minor=minor,
            )
            return
        if is_drawn_per_iteration(node, model):
            return  # another rule's
        drawn = single_draw(node, model)
        if drawn is not None and (not drawn.often or is_each_step(node, model)):
            yield self.finding(
                model, node, drawn.message, fix=drawn.fix, advice=drawn.advice, assumes=drawn.assumes
            )


def is_for_steps(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call is made for each step of an environment."""
    steps = Driver.ENVIRONMENT_STEP in model.frequency.drivers(call)
    return steps or bool(model.frequency.is_called_in_loops(call, steps=True))


def is_each_time(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a function of a constant is computed again in each step of an environment, and not beside a
    network: `self.sigma * np.sqrt(self.dt) * np.random.normal(size=self.size)`.
    """
    if not is_for_steps(call, model):
        return False
    for around in model.ancestors(call):
        if not isinstance(around, (ast.BinOp, ast.UnaryOp, ast.Call, ast.Attribute)):
            break
        if model.types.type_of(around).tag is TypeTag.TENSOR:
            return False
    return True


def is_each_step(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call is made for each step of an environment or each item of a loop, not once per update."""
    loops = model.frequency.loops(call)
    if loops and any(
        isinstance(node, ast.Attribute) and node.attr == "backward" for node in descendants(loops[0])
    ):
        return False  # which takes a thousand times as long
    return (
        bool(loops)
        or Driver.ENVIRONMENT_STEP in model.frequency.drivers(call)
        or model.frequency.runs_by_role(call)
        or model.frequency.is_called_in_loops(call)
    )


def is_fixed(given: ast.expr, model: SemanticModel) -> bool:
    """Whether it is a constant, or a setting of the object."""
    parts = [node for node in descendants(given) if isinstance(node, (ast.Name, ast.Attribute, ast.Call))]
    if any(isinstance(part, ast.Call) for part in parts):
        return False
    variables = [part for part in parts if model.names.qualified(part) is None]
    settings = [
        part for part in variables if isinstance(part, ast.Attribute) and model.types.is_setting(part)
    ]
    held = {inner for setting in settings for inner in descendants(setting)}
    return all(
        part in held or ((number := numbers.number_of(part, model)) is not None and number.fixed)
        for part in variables
    )


def build_fix(found: Scalar, model: SemanticModel) -> Fix | None:
    """Write the Python equivalent."""
    call = found.call
    if (
        found.text is None
        or not model.edit.is_relocatable(call)
        or isinstance(model.parent(call), ast.Attribute)
    ):
        return None
    if not all(is_plain(given) for given in found.given):
        return None
    if any(model.names.scope(call).lookup(name) is not None for name in found.needs):
        return None  # the builtin has another meaning here
    edits: list[Edit] = []
    text = found.text
    if found.math:
        spelled = model.names.spelled(f"math.{found.math}", call)
        if spelled is None:
            imported = model.importer.module_import("math", user=call)
            if imported is None:
                return None
            edits.append(imported[1])
            spelled = f"math.{found.math}"
        text = text.replace("{math}", spelled)
    if found.ufunc:  # the function of another name takes the same arguments
        edits.append(model.edit.replace(call.func, text.partition("(")[0]))
    else:
        edits.append(model.edit.replace(call, in_place(text, call, model)))
    return Fix(f"Use `{found.better}`", Applicability.UNSAFE, tuple(edits), reason_for(found))


def in_place(text: str, call: ast.Call, model: SemanticModel) -> str:
    """Return the text, in parentheses if precedence requires them."""
    parent = model.parent(call)
    alone = isinstance(parent, _ALONE) or (isinstance(parent, ast.Call) and call is not parent.func)
    return text if alone or not text.startswith("sum(") or " / " not in text else f"({text})"


def reason_for(found: Scalar) -> str:
    """Return the condition of the fix."""
    if found.math:
        return (
            "the result is a Python number, not a NumPy scalar, and `math` raises an error where NumPy warns"
        )
    return (
        "the result is a Python number, not a NumPy scalar, and `nan` may be ignored where NumPy returned it"
    )
