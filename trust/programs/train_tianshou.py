"""Train algorithms of tianshou as its tests do, without asking whether they got good.

python train_tianshou.py MODULE FUNCTION [ARGUMENT ...] [+ MODULE FUNCTION ...], in tianshou's folder: the
module of the test, as `test.discrete.test_dqn`, the function in it, and options that the module reads. Tests
that learn from recorded data get that of random actions with `--load_buffer_name random`.
"""

import argparse
import importlib
import inspect
import itertools
import pickle
import sys
import tempfile
from pathlib import Path

import gymnasium
import numpy as np
from tianshou.data import Batch, VectorReplayBuffer

_STEPS = 600


def random_steps(task: str) -> VectorReplayBuffer:
    """What random actions lead to, from seed 0."""
    env = gymnasium.make(task)
    env.action_space.seed(0)
    observation, _ = env.reset(seed=0)
    buffer = VectorReplayBuffer(_STEPS, 1)
    for _ in range(_STEPS):
        action = env.action_space.sample()
        following, reward, ended, cut, _ = env.step(action)
        buffer.add(
            Batch(
                obs=observation[None],
                act=np.array([action]),
                rew=np.array([reward]),
                terminated=np.array([ended]),
                truncated=np.array([cut]),
                obs_next=following[None],
                info={},
            )
        )
        observation = env.reset()[0] if ended or cut else following
    return buffer


def main(name: str, function: str) -> None:
    """Train as the function of the module does, with the options in `sys.argv`."""
    print(name)
    module = importlib.import_module(name)
    train = getattr(module, function)
    arguments: argparse.Namespace = module.get_args()
    with tempfile.TemporaryDirectory() as folder:
        if getattr(arguments, "load_buffer_name", None) == "random":
            recorded = Path(folder) / "buffer.pkl"
            recorded.write_bytes(pickle.dumps(random_steps(arguments.task)))
            arguments.load_buffer_name = str(recorded)
        queried = "enable_assertions" in inspect.signature(train).parameters
        train(arguments, **({"enable_assertions": False} if queried else {}))


if __name__ == "__main__":
    program = sys.argv[0]
    for ends, group in itertools.groupby(sys.argv[1:], lambda argument: argument == "+"):
        if not ends:
            sys.argv = [program, *group]
            main(sys.argv[1], sys.argv[2])
