"""Arguments for functions without callers: typical values of such parameters in reinforcement learning.

The argument depends on the parameter's name and annotation, and is drawn from usual and unusual values:
arrays where tensors are usual, numbers of numpy's, empty batches, environments that write each observation
into the same array or break down in the middle.
"""

from __future__ import annotations

import queue
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import numpy as np
import torch

from properties.stand_ins import WIDTH, Env, Net, Shapes

_TEXTS = (
    "<think>3 + 4</think><answer> 42 </answer>",
    "The answer is \\boxed{42}. #### 42",
    "step 1: x = 3.50, y = -7\n\nstep 2: Final Answer: 12,000",
    "<reasoning>because</reasoning>\n<answer>\nB\n</answer>\n",
    "",
    " ",
    "no numbers, the THE the",
    "(A) 1/2 = 0.5",
    "ß İ 42\u2028",
)


def _net(rng: Random, shapes: Shapes) -> Any:
    return Net(rng)


def _policy(rng: Random, shapes: Shapes) -> Any:
    count = [0]

    def act(state: Any, *_: Any) -> int:
        count[0] += 1
        return int(np.asarray(state, dtype=float).sum() > 0)

    return rng.choice((Net(rng), act))


def _array(rng: Random, *shape: int) -> Any:
    dtype = rng.choice((np.float32, np.float64, np.float64, np.int64))
    array = np.random.default_rng(rng.randrange(99)).normal(size=shape).round(2).astype(dtype)
    return array[::-1] if shape and rng.random() < 0.1 else array


def _tensor(rng: Random, *shape: int) -> Any:
    dtype = rng.choice((torch.float32, torch.float32, torch.float64, torch.int64))
    tensor = torch.as_tensor(_array(rng, *shape).copy()).to(dtype)
    if tensor.is_floating_point() and rng.random() < 0.25:
        tensor.requires_grad_()
        if rng.random() < 0.5:
            tensor = tensor * 1.0
    return tensor.t() if len(shape) == 2 and shape[0] == shape[1] and rng.random() < 0.2 else tensor


def _rows(rng: Random) -> int:
    return rng.choice((0, 1, 2, 3, 3, 5))


def _state(rng: Random, shapes: Shapes) -> Any:
    shape = rng.choice(((WIDTH,), (WIDTH,), (1, WIDTH), (3, WIDTH)))
    return rng.choice((_array, _tensor))(rng, *shape)


def _states(rng: Random, shapes: Shapes) -> Any:
    rows = _rows(rng)
    kind = rng.randrange(4)
    if kind == 0:
        return _array(rng, rows, WIDTH)
    if kind == 1:
        return _tensor(rng, rows, WIDTH)
    return [rng.choice((_array, _tensor) if kind == 2 else (_array,))(rng, WIDTH) for _ in range(rows)]


def _numbers(rng: Random, shapes: Shapes) -> Any:
    numbers = [rng.choice((0.0, 1.0, 0.5, -1.25, 3, True)) for _ in range(_rows(rng))]
    return rng.choice((list, list, list, np.array, tuple, torch.tensor))(numbers)


def _flags(rng: Random, shapes: Shapes) -> Any:
    flags = [rng.random() < 0.3 for _ in range(_rows(rng))]
    return rng.choice((list, list, np.array, torch.tensor))(flags)


def _batch(rng: Random, shapes: Shapes, items: int) -> Any:
    rows = rng.choice((1, 2, 3))
    if items < 2:
        return _tensor(rng, rows, WIDTH)
    return tuple(_tensor(rng, rows, WIDTH) for _ in range(items))


def _batches(name: str) -> Callable[[Random, Shapes], Any]:
    return lambda rng, shapes: [_batch(rng, shapes, shapes.of(name, 1)) for _ in range(rng.randrange(4))]


def _text(rng: Random, shapes: Shapes) -> Any:
    return rng.choice(_TEXTS)


def _texts(rng: Random, shapes: Shapes) -> Any:
    return [_text(rng, shapes) for _ in range(rng.randrange(4))]


def _count(rng: Random, shapes: Shapes) -> Any:
    return rng.choice((0, 1, 2, 3, 3, 5))


def _fraction(rng: Random, shapes: Shapes) -> Any:
    return rng.choice((0.0, 0.5, 0.99, 1.0))


def _indices(rng: Random, shapes: Shapes) -> Any:
    found = [rng.randrange(3) for _ in range(rng.randrange(4))]
    return rng.choice((list, np.array, tuple))(found)


def _dictionary(rng: Random, shapes: Shapes) -> Any:
    keys = ("obs", "state", "states", "action", "actions", "reward", "rewards", "mask", "a", "b")
    return {key: _tensor(rng, 3, WIDTH) for key in keys}


def _optimizer(rng: Random, shapes: Shapes) -> Any:
    return torch.optim.SGD(Net(rng).parameters(), lr=0.1)


def _device(rng: Random, shapes: Shapes) -> Any:
    return rng.choice((torch.device("cpu"), "cpu"))


def _generator(rng: Random, shapes: Shapes) -> Any:
    return np.random.default_rng(rng.randrange(9))


def _queue(rng: Random, shapes: Shapes) -> Any:
    made: queue.Queue[int] = queue.Queue()
    for item in range(4):
        made.put(item)
    return made


def _event(rng: Random, shapes: Shapes) -> Any:
    made = threading.Event()
    made.set()
    return made


def _any(rng: Random, shapes: Shapes) -> Any:
    makers = (_count, _fraction, _text, _state, _states, _numbers, _net, _texts, _dictionary, _any_odd)
    return rng.choice(makers)(rng, shapes)


def _any_odd(rng: Random, shapes: Shapes) -> Any:
    return rng.choice(
        (None, [], {}, "", True, float("nan"), (1, 2), [[1, 2], [3]], lambda *given: len(given))
    )


BY_NAME: tuple[tuple[str, Callable[[Random, Shapes], Any]], ...] = (
    (r".*envs?", Env),
    (r"(.*_)?(net|network|model|actor|critic|encoder|target|judge|shared|source|follower|a|b)(_net)?", _net),
    (r"(.*_)?(policy|agent|learner|act|learn|ask)", _policy),
    (r"(.*_)?(state|obs|observation|frame|x|row|following|grid|raw|weights)", _state),
    (r"(.*_)?(states|observations|frames|expert|tokens|logits|q_values|tensors|items|rows)", _states),
    (r"(.*_)?(rewards|values|returns|targets|lengths|ends|weights|advantages|found)", _numbers),
    (r"(.*_)?(dones?|terminated|truncated)s?", _flags),
    (r"(.*_)?(texts?|response|completion|gold|answer|word|prompt|command|solution|name|kind)", _text),
    (r"(.*_)?(responses|completions|golds|answers|words|prompts|solutions|names|tags)", _texts),
    (r"(.*_)?(steps?|n|k|size|count|updates|episodes|first|last|index|time|T|width|limit|level|first|second|"
     r"max_len|capacity|n_actions|state_dim|action_dim|n_bins|extra|actions|seed|delay)", _count),
    (r"(.*_)?(gamma|lam|lambda|tau|rate|epsilon|discount|probability|temperature|scale|lr|reward|speed|torque"
     r"|alpha|beta|low|high|lower|left|right|loss)", _fraction),
    (r"(.*_)?(indices|starts|chosen|idx)", _indices),
    (r"(.*_)?(queue|incoming|prompts|inbox)", _queue),
    (r"(.*_)?optimizer", _optimizer),
    (r"(.*_)?device", _device),
    (r"(.*_)?rng", _generator),
    (r"(.*_)?(explore|quiet|verbose|training|deterministic)", lambda rng, shapes: rng.random() < 0.5),
)  # fmt: skip
BY_ANNOTATION: tuple[tuple[str, Callable[[Random, Shapes], Any]], ...] = (
    (r"int", _count),
    (r"float( \| None)?", _fraction),
    (r"str", _text),
    (r"bool", lambda rng, shapes: rng.random() < 0.5),
    (r"(np|numpy)\.ndarray", lambda rng, shapes: _array(rng, _rows(rng), *rng.choice(((), (WIDTH,))))),
    (r"(torch\.|th\.)?Tensor", lambda rng, shapes: _tensor(rng, _rows(rng), *rng.choice(((), (WIDTH,))))),
    (r"((torch\.)?nn\.)?Module", _net),
    (r"torch\.device", _device),
    (r"(np\.random\.)?Generator", _generator),
    (r"list\[str\]", _texts),
    (r"list\[(float|bool)\]", _numbers),
    (r"list\[int\]", lambda rng, shapes: list(_indices(rng, shapes))),
    (r"list\[.*ndarray\]", lambda rng, shapes: [_array(rng, WIDTH) for _ in range(_rows(rng))]),
    (r"list\[.*Tensor\]", lambda rng, shapes: [_tensor(rng, WIDTH) for _ in range(_rows(rng))]),
    (r"dict(\[.*\])?", _dictionary),
    (r"(\w+\.)?Queue.*", _queue),
    (r"(\w+\.)?Event", _event),
    (r"(\w+\.)?ThreadPoolExecutor", lambda rng, shapes: ThreadPoolExecutor(1)),
)  # fmt: skip


def make(name: str, annotation: str, rng: Random, shapes: Shapes) -> Any:
    """A value for a parameter or a missing attribute of that name and annotation ("" for none)."""
    annotation = annotation.strip("\"'")
    for pattern, maker in BY_ANNOTATION:
        if annotation and re.fullmatch(pattern, annotation):
            return maker(rng, shapes)
    if name in shapes.unpacked or re.fullmatch(r"(.*_)?(loader|dataset|batches|dataloader|episodes)", name):
        return _batches(name)(rng, shapes)
    if rng.random() < 0.03:
        return _any(rng, shapes)
    for pattern, maker in BY_NAME:
        if re.fullmatch(pattern, name):
            return maker(rng, shapes)
    return _any(rng, shapes)
