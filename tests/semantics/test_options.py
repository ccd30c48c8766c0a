"""Command-line options, and values that are stored with them."""

from __future__ import annotations

import pytest

from project_builder import build, expression
from rlint.models.value_type import Type, TypeTag

_OPTIONS = """
import argparse
import torch

def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--num-steps", type=int, default=128)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--cuda", action="store_true")
    parser.add_argument("--name", default="ppo")
    parser.add_argument("--sizes", nargs="+", type=int, default=[64, 64])
    parser.add_argument("--track", type=lambda text: bool(strtobool(text)), default=False)
    parser.add_argument("--gamma", type=float, default=load())
    args = parser.parse_args()
    args.batch_size = int(args.num_steps * 4)
    args.device = torch.device("cuda" if args.cuda else "cpu")
    return args
"""
_TRAIN = """
from options import get_args

class Trainer:
    def __init__(self, args):
        self.args = args

    def fit(self):
        print(self.args.{name})

args = get_args()
trainer = Trainer(args)
print(args.{name})
"""


def _kind(name: str, used: str) -> Type:
    models = build({"options.py": _OPTIONS, "train.py": _TRAIN.replace("{name}", name)})
    model = models["train.py"]
    return model.types.type_of(expression(model, used))


@pytest.mark.parametrize(
    ("name", "tag", "optional"),
    [
        ("lr", TypeTag.FLOAT, False),
        ("num_steps", TypeTag.INT, False),
        ("seed", TypeTag.INT, True),
        ("cuda", TypeTag.BOOL, False),
        ("name", TypeTag.STR, False),
        ("sizes", TypeTag.LIST, False),
        ("track", TypeTag.BOOL, False),
        ("batch_size", TypeTag.INT, False),
        ("device", TypeTag.DEVICE, False),
        ("gamma", TypeTag.FLOAT, False),
        ("missing", TypeTag.UNKNOWN, False),
    ],
)
def test_options_have_the_type_that_their_parser_gives_them(name: str, tag: TypeTag, optional: bool) -> None:
    """Options are followed through a function of another file, and through an attribute that holds all of
    them.
    """
    for used in (f"args.{name}", f"self.args.{name}"):
        kind = _kind(name, used)
        assert (kind.tag, kind.optional) == (tag, optional)


def test_a_parser_of_another_file_gives_the_options_of_that_file() -> None:
    """Also if it is a module variable."""
    files = {
        "options.py": "import argparse\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--lr', type=float, default=1e-3)\n",
        "train.py": "from options import parser\nargs, rest = parser.parse_known_args()\n"
        "print(args.lr, rest)\n",
    }
    model = build(files)["train.py"]
    assert model.types.type_of(expression(model, "args.lr")).tag is TypeTag.FLOAT
    assert model.types.type_of(expression(model, "rest", last=True)).tag is TypeTag.LIST
