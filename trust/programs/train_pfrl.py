"""Train a DQN or a soft actor-critic of pfrl, and print the return of each episode.

python train_pfrl.py dqn|sac STEPS
"""

import os
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pfrl
import torch
from torch import nn


def dqn(observations: int, actions: int) -> pfrl.agent.AttributeSavingMixin:
    """A double DQN on uniform replay."""
    q_function = nn.Sequential(
        nn.Linear(observations, 32),
        nn.ReLU(),
        nn.Linear(32, actions),
        pfrl.q_functions.DiscreteActionValueHead(),
    )
    return pfrl.agents.DoubleDQN(
        q_function,
        torch.optim.Adam(q_function.parameters(), 1e-3),
        pfrl.replay_buffers.ReplayBuffer(2000),
        0.99,
        pfrl.explorers.ConstantEpsilonGreedy(0.2, lambda: np.random.randint(actions)),
        replay_start_size=100,
        target_update_interval=50,
        phi=lambda x: x.astype(np.float32),
    )


def sac(observations: int, actions: int) -> pfrl.agent.AttributeSavingMixin:
    """A soft actor-critic with a squashed Gaussian policy."""

    def squashed(x: torch.Tensor) -> torch.distributions.Distribution:
        mean, scale = torch.chunk(x, 2, dim=1)
        normal = torch.distributions.Normal(mean, scale.clamp(-5, 2).exp())
        return torch.distributions.TransformedDistribution(
            torch.distributions.Independent(normal, 1),
            [torch.distributions.transforms.TanhTransform(cache_size=1)],
        )

    def critic() -> tuple[nn.Module, torch.optim.Optimizer]:
        net = nn.Sequential(
            pfrl.nn.ConcatObsAndAction(), nn.Linear(observations + actions, 32), nn.ReLU(), nn.Linear(32, 1)
        )
        return net, torch.optim.Adam(net.parameters(), 1e-3)

    policy = nn.Sequential(
        nn.Linear(observations, 32),
        nn.ReLU(),
        nn.Linear(32, 2 * actions),
        pfrl.nn.lmbda.Lambda(squashed),
    )
    (first, first_optimizer), (second, second_optimizer) = critic(), critic()
    return pfrl.agents.SoftActorCritic(
        policy,
        first,
        second,
        torch.optim.Adam(policy.parameters(), 1e-3),
        first_optimizer,
        second_optimizer,
        pfrl.replay_buffers.ReplayBuffer(2000),
        0.99,
        replay_start_size=200,
        minibatch_size=32,
        phi=lambda x: x.astype(np.float32),
    )


def main(name: str, steps: int) -> None:
    """Train with seed 0; keep the agent's networks in `$TRUST_OUT`."""
    pfrl.utils.set_random_seed(0)
    env = gymnasium.make("CartPole-v1" if name == "dqn" else "Pendulum-v1")
    (observations,) = env.observation_space.shape
    agent = dqn(observations, int(env.action_space.n)) if name == "dqn" else sac(observations, 1)
    observation, _ = env.reset(seed=0)
    total = 0.0
    for _ in range(steps):
        action = agent.act(observation)
        observation, reward, ended, cut, _ = env.step(action if name == "dqn" else 2 * action)
        agent.observe(observation, reward, ended, ended or cut)
        total += float(reward)
        if ended or cut:
            print(f"return {total!r}")
            total = 0.0
            observation, _ = env.reset()
    agent.save(str(Path(os.environ["TRUST_OUT"]) / "agent"))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
