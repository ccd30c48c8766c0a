"""A DQN agent, as it is often written."""

from __future__ import annotations

import random

import torch
from memory import ReplayMemory
from torch import nn


class Agent:
    """Acts epsilon-greedily, and learns from batches of transitions."""

    def __init__(self, observation_size: int, actions: int) -> None:
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.actions = actions
        self.q_network = self.make_network(observation_size)
        self.target_network = self.make_network(observation_size)
        self.target_network.load_state_dict(self.q_network.state_dict())
        self.optimizer = torch.optim.Adam(self.q_network.parameters(), lr=1e-3)
        self.memory = ReplayMemory(10_000)

    def make_network(self, observation_size: int) -> nn.Module:
        """Build a Q-network."""
        layers = [nn.Linear(observation_size, 64), nn.ReLU(), nn.Linear(64, self.actions)]
        return nn.Sequential(*layers).to(self.device)

    def act(self, state, epsilon: float) -> int:
        """Choose an action."""
        if random.random() < epsilon:
            return random.randrange(self.actions)
        values = self.q_network(torch.as_tensor(state[None]).to(self.device))
        return int(values.argmax())

    def learn(self, batch_size: int = 64, gamma: float = 0.99) -> float:
        """Take a gradient step."""
        states, actions, rewards, next_states, dones = self.memory.sample(batch_size)
        states = torch.tensor(states).to(self.device)
        next_states = torch.tensor(next_states).to(self.device)
        actions = torch.tensor(actions).to(self.device)
        rewards = torch.tensor(rewards).to(self.device)
        dones = torch.tensor(dones).float().to(self.device)
        values = self.q_network(states).gather(1, actions.unsqueeze(1)).squeeze(1)
        next_values = self.target_network(next_states).max(1)[0].detach()
        loss = nn.functional.mse_loss(values, rewards + gamma * next_values * (1 - dones))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.update_target(0.005)
        return loss.item()

    def update_target(self, tau: float) -> None:
        """Let the target network follow the Q-network."""
        for target, source in zip(self.target_network.parameters(), self.q_network.parameters()):
            target.data.copy_(tau * source.data + (1.0 - tau) * target.data)
