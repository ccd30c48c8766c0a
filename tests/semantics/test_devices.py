"""Which expressions are devices."""

from __future__ import annotations

import pytest

from project_builder import build, expression, model_of

SURE = [
    ("torch.device('cuda')", ""),
    ("'cuda:0'", ""),
    ("0", ""),
    ("DEVICE", "DEVICE = f'cuda:{load()}'"),
    ("DEVICE", "DEVICE = torch.device('cuda' if torch.cuda.is_available() else 'cpu')"),
    ("DEVICE", "DEVICE = 'cuda' if torch.cuda.is_available() else 'cpu'"),
    ("DEVICE", "DEVICE = torch.device('cuda') if load() else 'cpu'"),
    ("DEVICE or 'cpu'", "DEVICE = torch.device('cuda')"),
    ("x.device", "x = torch.zeros(3)"),
    ("next(net.parameters()).device", "net = torch.nn.Linear(2, 2)"),
    (
        "args.device",
        "import argparse\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('-d', '--device', default='auto')\nargs = parser.parse_args()",
    ),
    (
        "args.gpu_id",
        "import argparse\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--gpu-id', type=int, default=0)\nargs, _ = parser.parse_known_args()\n"
        "args = parser.parse_args()",
    ),
    (
        "args.dev",
        "import argparse\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--gpu', dest='dev')\nargs = parser.parse_args()\n"
        "args.dev = torch.device(args.dev)",
    ),
]
NOT_SURE = [
    ("device", "device = load()"),
    ("args.device", "args = load()"),
    ("config['device']", "config = load()"),
    ("torch.float32", ""),
    ("other", "other = torch.zeros(3)"),
    ("dtype", "dtype = torch.float32"),
    (
        "args.device",
        "import argparse\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--device', type=pick)\nargs = parser.parse_args()",
    ),
    (
        "args.device",
        "import argparse\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--device')\nargs = parser.parse_args()\nargs.device = load()",
    ),
]


@pytest.mark.parametrize(("used", "before"), SURE)
def test_what_is_made_of_devices_and_their_names_is_surely_a_device(used: str, before: str) -> None:
    """Devices are literals, `torch.device`, choices among them, attributes of tensors, and string options."""
    model = model_of(f"import torch\n{before}\nprint({used})\n")
    assert model.types.is_surely_device(expression(model, used, last=True))


@pytest.mark.parametrize(("used", "before"), NOT_SURE)
def test_a_name_alone_proves_no_device(used: str, before: str) -> None:
    """`.to(device)` may receive a dtype or a tensor, whatever the variable's name."""
    model = model_of(f"import torch\n{before}\nprint({used})\n")
    assert not model.types.is_surely_device(expression(model, used, last=True))


@pytest.mark.parametrize(
    ("parameter", "sure"),
    [
        ("device: torch.device", True),
        ("device: 'Union[str, torch.device]'", True),
        ("device: str | int | torch.device | None = None", True),
        ("device: Optional[Union[int, str, torch.device]] = None", True),
        ("device: str", True),
        ("device='cuda'", True),
        ("*, device=torch.device('cpu')", True),
        ("device", False),
        ("device='fp32'", False),
        ("device: torch.dtype", False),
        ("device: Union[torch.Tensor, torch.device]", False),
    ],
)
def test_a_parameter_is_a_device_by_its_annotation_or_its_default(parameter: str, sure: bool) -> None:
    """Default and annotation determine what may be passed; the parameter's name does not."""
    model = model_of(
        "from typing import Optional, Union\nimport torch\n"
        f"class Agent:\n    def __init__(self, {parameter}):\n        self.device = device\n"
        "    def act(self):\n        print(self.device)\n"
    )
    assert model.types.is_surely_device(expression(model, "device", last=True)) is sure
    assert model.types.is_surely_device(expression(model, "self.device", last=True)) is sure


def test_what_is_handed_to_torch_as_a_device_is_one() -> None:
    """`device=device` elsewhere in the function or the class raises for anything but a device."""
    model = model_of(
        """
        import torch

        class Agent:
            def __init__(self, device, other):
                self.device, self.other = device, other
                self.mask = torch.zeros(3, device=self.device)

            def act(self):
                print(self.device, self.other)

        def play(device, other):
            states = torch.ones(3, device=device)
            print(device, other)
        """
    )
    assert model.types.is_surely_device(expression(model, "self.device", last=True))
    assert model.types.is_surely_device(expression(model, "device", last=True))
    assert not model.types.is_surely_device(expression(model, "self.other", last=True))
    assert not model.types.is_surely_device(expression(model, "other", last=True))


def test_a_variable_that_is_bound_again_is_another_one() -> None:
    """A variable may be a device at one place and not at another."""
    model = model_of(
        """
        import torch

        def play(device):
            states = torch.ones(3, device=device)
            device = load()
            print(device)
        """
    )
    assert not model.types.is_surely_device(expression(model, "device", last=True))


def test_devices_are_known_across_files() -> None:
    """A class that inherits its device from a base class in another file has one."""
    models = build(
        {
            "base.py": """
                import torch

                def get_device(name) -> torch.device:
                    return torch.device(name)

                class Base:
                    def __init__(self, device="auto"):
                        self.device = get_device(device)
            """,
            "agent.py": """
                from base import Base

                class Agent(Base):
                    def act(self):
                        print(self.device)
            """,
        }
    )
    model = models["agent.py"]
    assert model.types.is_surely_device(expression(model, "self.device", last=True))
