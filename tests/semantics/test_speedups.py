"""Settings of a file for precision, compilers and devices."""

from __future__ import annotations

import pytest

from rlint.semantics.nn.torch_settings import COMPILED, CUDA, DYNAMO, PRECISION
from tests.project_builder import expression, model_of


@pytest.mark.parametrize(
    ("source", "described"),
    [
        ("import torch\nwith torch.autocast('cuda'):\n    pass\n", {PRECISION, CUDA}),
        ("def f():\n    from torch.cuda.amp import GradScaler\n", {PRECISION}),
        ("import torch as th\nnet = net.to(th.bfloat16)\n", {PRECISION}),
        ("from accelerate import Accelerator\n", {PRECISION}),
        ("parser.add_argument('--mixed-precision')\n", {PRECISION}),
        ("import torch\nnet = torch.compile(net)\n", {COMPILED, DYNAMO}),
        ("from torch import jit\nnet = jit.script(net)\n", {COMPILED}),
        ("net.compile()\n", {COMPILED}),
        ("from torch import compile as fast\n", {COMPILED, DYNAMO}),
        ("import numpy as np\nnp.set_printoptions(precision=3)\n", set()),
        ("import re\nword = re.compile('a')\n", set()),
        ("import torch\ndevice = 'cuda' if torch.cuda.is_available() else 'cpu'\n", {CUDA}),
        ("import torch\ntorch.cuda.manual_seed(0)\n", set()),
        ("net.cuda()\n", {CUDA}),
        ("name = 'half cheetah'\nexample = 'amplitude'\n", set()),
    ],
)
def test_what_is_reported(source: str, described: set[str]) -> None:
    """Imports, names, options and calls count, patterns and seeds do not."""
    assert model_of(source).module.speedups == described


def test_widths_of_linear_layers() -> None:
    """The smaller side counts, by position, name or variable; unknown sizes do not."""
    head = "import torch\nfrom torch import nn\nwidth = 2048\n"
    layers = "nn.Linear(17, width), nn.Linear(width, out_features=1024), nn.Linear(other, 4096)"
    model = model_of(f"{head}net = nn.Sequential({layers})\nuse(net)\n")
    assert model.nn.architecture(expression(model, "net", last=True)).width == 1024
