"""Types that class tests imply for variables and attributes."""

from __future__ import annotations

import pytest

from project_builder import both
from rlint.models.value_type import TypeTag

_CLASS = """
import numpy as np
import torch


class Agent:
    def __init__(self, obs, net, fixed):
        self.obs = obs
        self.net = net
        self.fixed = fixed

    def observe(self, obs):
        self.obs = obs

    def act(self, x, y):
        {body}
"""
KNOWN = {
    "if isinstance(x, np.ndarray):\n    use(x)": TypeTag.NDARRAY,
    "if isinstance(x, (list, tuple)):\n    pass\nelif torch.is_tensor(x):\n    use(x)": TypeTag.TENSOR,
    "if not isinstance(x, torch.Tensor):\n    return\nuse(x)": TypeTag.TENSOR,
    "if not torch.is_tensor(x):\n    raise TypeError\nfor _ in y:\n    use(x)": TypeTag.TENSOR,
    "assert isinstance(x, dict)\nuse(x)": TypeTag.DICT,
    "y and isinstance(x, list) and use(x)": TypeTag.LIST,
    "if not isinstance(x, list) or y:\n    pass\nelse:\n    use(x)": TypeTag.LIST,
    "if isinstance(self.obs, np.ndarray):\n    use(self.obs)": TypeTag.NDARRAY,
    "if not isinstance(self.obs, np.ndarray):\n    return\nz = np.ones(3)\nuse(self.obs)": TypeTag.NDARRAY,
    "assert isinstance(self.fixed, np.ndarray)\nself.observe(y)\nuse(self.fixed)": TypeTag.NDARRAY,
    "if isinstance(x, Agent):\n    use(x)": TypeTag.INSTANCE,
    "if type(x) == torch.Tensor:\n    use(x)": TypeTag.TENSOR,
    "if type(x) is not np.ndarray:\n    return\nuse(x)": TypeTag.NDARRAY,
    "if y and type(self.fixed) is list:\n    use(self.fixed)": TypeTag.LIST,
}
UNKNOWN = [
    "if type(x) != torch.Tensor:\n    use(x)",
    "if type(x) == type(y):\n    use(x)",
    "if type(x) == torch.Tensor:\n    x = y\n    use(x)",
    "if x.type() == torch.Tensor:\n    use(x)",
    "if isinstance(x, np.ndarray):\n    pass\nuse(x)",
    "if isinstance(x, np.ndarray):\n    pass\nelse:\n    use(x)",
    "if isinstance(x, np.ndarray):\n    x = y\n    use(x)",
    "if isinstance(x, np.ndarray) or y:\n    use(x)",
    "if not isinstance(x, np.ndarray):\n    print(x)\nuse(x)",
    "if not isinstance(x, np.ndarray) and y:\n    return\nuse(x)",
    "if isinstance(x, np.ndarray):\n    for y in y:\n        use(x)\n        x = y",
    "if isinstance(x, (np.ndarray, list)):\n    use(x)",
    "if isinstance(self.obs, np.ndarray):\n    self.observe(y)\n    use(self.obs)",
    "if isinstance(self.obs, np.ndarray):\n    self.obs = y\n    use(self.obs)",
    "if isinstance(self.obs, np.ndarray):\n    y(self.net(y), use(self.obs))",
    "assert isinstance(self.fixed, np.ndarray)\nself = y\nuse(self.fixed)",
    "if isinstance(self.obs, np.ndarray):\n    y(lambda: use(self.obs))",
]


def _argument(body: str) -> str:
    return body.partition("use(")[2].partition(")")[0]


@pytest.mark.parametrize("body", [*KNOWN, *UNKNOWN])
def test_where_a_test_holds_the_class_is_known(body: str) -> None:
    """Types are narrowed in the branch of a test, after an `assert`, and after an `if` that otherwise leaves;
    not if the variable or attribute may have another value by then.
    """
    text = _CLASS.format(body=body.replace("\n", "\n        "))
    read = f"use({_argument(body)})"
    assert read in text
    sure, _ = both(text.replace(read, f"use({_argument(body)}[0:1], {_argument(body)})"), _argument(body))
    assert sure.tag is KNOWN.get(body, TypeTag.UNKNOWN)
