"""Train the agent: `python train.py --steps 3000`."""

from __future__ import annotations

import argparse
import random

import numpy as np
import torch
from agent import Agent
from corridor import Corridor


def train(steps: int, seed: int) -> list[float]:
    """Return the returns of all episodes."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    env = Corridor(seed)
    agent = Agent(env.observation_size, env.actions)
    returns, episode = [], 0.0
    state = env.reset()
    for step in range(steps):
        action = agent.act(state, epsilon=max(0.05, 1.0 - step / 1000))
        next_state, reward, done = env.step(action)
        agent.memory.push(state, action, reward, next_state, done)
        episode += reward
        state = next_state
        if done:
            returns.append(episode)
            print(f"step {step}: return {episode:.0f}, mean {np.mean(returns):.1f}")
            state, episode = env.reset(), 0.0
        if len(agent.memory) >= 64:
            agent.learn()
    return returns


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    train(arguments.steps, arguments.seed)
