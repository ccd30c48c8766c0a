"""A tensor or array created from a list of numbers that Python computes one by one.

## What it does
Flags tensors and arrays in code that runs per step that are created from a list of numbers with a closed
formula: `torch.tensor([gamma**k for k in range(n)])`, `np.array([2 * i + 1 for i in range(n)])`,
`torch.tensor(list(range(n)))`.

The rule does not flag lists that are known to have fewer than 64 numbers. If the numbers are the same each
time, create them once instead, as `recomputed-constant` advises.

The rule is opt-in: in real code such lists are rare and mostly short, and for a short list the vectorised
form is slower.

## Why is it slow
Python computes each number separately and creates an object for it, and the constructor reads the list
object by object. The vectorised form (a vector of exponents and one power of it) is a loop in C.

## Example
```python
import torch


class Agent:
    def __init__(self, net: torch.nn.Module, decay: float) -> None:
        self.net = net
        self.decay = decay

    def learn(self, states: torch.Tensor, rewards: torch.Tensor) -> None:
        scale = torch.tensor([self.decay**k for k in range(len(rewards))])
        loss = -(self.net(states).squeeze(-1) * rewards * scale).mean()
        loss.backward()
```
Use instead:
```python
import torch


class Agent:
    def __init__(self, net: torch.nn.Module, decay: float) -> None:
        self.net = net
        self.decay = decay

    def learn(self, states: torch.Tensor, rewards: torch.Tensor) -> None:
        scale = (self.decay**torch.arange(len(rewards), dtype=torch.float64)).to(torch.get_default_dtype())
        loss = -(self.net(states).squeeze(-1) * rewards * scale).mean()
        loss.backward()
```

## Fix safety
Unsafe:

- The vectors are computed in double precision, as Python computes, and rounded at the end, but a power may
  still differ in the last digit.
- An empty list gave floating-point numbers, whatever its formula.
- Integers overflow, while Python's integers do not.
- Devices without double precision raise an error.

There is only advice for formulas that call functions or use the loop variable more than once, and for
constructors with arguments that the fix does not support.

## References
- https://pytorch.org/docs/stable/generated/torch.arange.html
- https://numpy.org/doc/stable/reference/generated/numpy.arange.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Finding, Rule, SemanticModel, Trait, TypeTag, last_names, models
from rlint.rules.transfers.rl206_python_list_tensor.formulas import Formula, formula_of
from rlint.rules.transfers.rl206_python_list_tensor.vectors import build_fix

_MAKERS = models.having(Trait.FROM_DATA | Trait.LEGACY, "torch", "numpy")


class PythonListTensor(Rule):
    """See the page above."""

    code = "RL206"
    name = "python-list-tensor"
    seeds = ("S3.3",)
    claims = ("time",)
    opt_in = True
    visits = (ast.Call,)
    callees = last_names(*_MAKERS)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a constructor with a list of computed numbers as argument."""
        assert isinstance(node, ast.Call)
        if not node.args or model.names.qualified(node.func) not in _MAKERS:
            return
        formula = formula_of(node.args[0], model)
        if formula is None:
            return
        what = "tensor" if model.types.type_of(node).tag is TypeTag.TENSOR else "array"
        yield self.finding(
            model,
            node,
            f"The {what} is created from a list of numbers that Python {_does(formula, model)}",
            fix=build_fix(node, formula, model),
            advice=_advice(node, formula, model),
        )


def _does(formula: Formula, model: SemanticModel) -> str:
    if formula.element is None:
        return "counts one by one"
    return f"computes one by one: `{' '.join(model.source.text(formula.element).split())}`"


def _advice(call: ast.Call, formula: Formula, model: SemanticModel) -> str:
    library = "torch" if (model.names.qualified(call.func) or "").startswith("torch.") else "np"
    if formula.element is None or isinstance(formula.element, ast.Name):
        return f"Write `{library}.arange(...)`"
    return f"Compute it from `{library}.arange(...)` in one expression, or once if it never changes"
