"""Types inferred from uses, if nothing else determines them."""

from __future__ import annotations

import ast

import pytest

from project_builder import model_of
from rlint.models.value_type import TypeTag

_HEAD = """
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 3)
        self.rest = nn.Identity()

"""


@pytest.mark.parametrize(
    ("body", "tag", "optional"),
    [
        ("(self, x):\n        print(x)\n        x = F.relu(x)\n        return x", TypeTag.TENSOR, False),
        ("(self, x):\n        print(x)\n        x = self.body(x)\n        return x", TypeTag.TENSOR, False),
        ("(self, x=None):\n        print(x)\n        return torch.exp(x)", TypeTag.TENSOR, True),
        ("(self, xs):\n        for x in xs:\n            print(x, torch.exp(x))", TypeTag.TENSOR, False),
        ("(self, b):\n        x, y = b\n        print(x)\n        F.mse_loss(x, y)", TypeTag.TENSOR, False),
        ("(self, x):\n        print(x)\n        return self.rest(x)", TypeTag.UNKNOWN, False),
        ("(self, x):\n        print(x)\n        return F.mse_loss(self.y, x)", TypeTag.UNKNOWN, False),
        ("(self, x):\n        print(x)\n        return torch.exp(x), np.exp(x)", TypeTag.UNKNOWN, False),
        (
            "(self, x):\n        if not torch.is_tensor(x):\n            x = torch.tensor(x)\n"
            "        print(x)\n        return torch.exp(x)",
            TypeTag.UNKNOWN,
            False,
        ),
    ],
)  # fmt: skip
def test_what_only_takes_tensors_is_given_one(body: str, tag: TypeTag, optional: bool) -> None:
    """Functions and layers of torch raise for other types; values that are tested or converted may be
    anything.
    """
    model = model_of(f"{_HEAD}    def forward{body}\n")
    (printed,) = (
        call.args[0]
        for call in model.syntax.of_type(ast.Call)
        if isinstance(call.func, ast.Name) and call.func.id == "print"
    )
    kind = model.types.type_of(printed)
    assert (kind.tag, kind.optional) == (tag, optional)
