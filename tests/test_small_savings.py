"""Findings that save little: what runs once for many steps, and data that does not stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from test_impact import findings_in

REPORTED = """\
import torch
from torch import nn


class Runner:
    def __init__(self, env, writer, device):
        self.env, self.writer, self.device = env, writer, device
        self.net = nn.Linear(4, 2).to(device)
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def run(self, iterations, plays):
        obs = self.env.reset()
        if plays:
            self.play(obs)
        else:
            for it in range(iterations):
                infos = []
                for _ in range(2048):
                    obs, reward, done, info = self.env.step(self.net(obs))
                    infos.append(info)
                    IN_STEP
                for _ in range(10):
                    loss = self.net(obs).mean()
                    self.optimizer.zero_grad()
                    loss.backward()
                    self.optimizer.step()
                AFTER_STEPS

    def log(self, found):
        for key in found["infos"][0]:
            values = torch.tensor([], device=self.device)
            for info in found["infos"]:
                values = torch.cat((values, info[key].to(self.device)))
            value = torch.mean(values)
            self.writer.add_scalar("episode/" + key, value, found["it"])
            print(f"{key}: {value:.4f}")


Runner(make(), make(), "cuda").run(1000, False)
"""


@pytest.mark.parametrize(
    ("in_step", "after_steps", "is_rare"),
    [("pass", "self.log(locals())", True), ("self.log(locals())", "pass", False)],
)
def test_reads_once_for_many_steps_cost_little(
    in_step: str, after_steps: str, is_rare: bool, tmp_path: Path
) -> None:
    """A report after each rollout and its updates, which a condition outside of the loop governs as well."""
    text = REPORTED.replace("IN_STEP", in_step).replace("AFTER_STEPS", after_steps)
    (tmp_path / "run.py").write_text(text)
    (found,) = findings_in(tmp_path, "RL202")
    assert ("compared with many" in found["impact"]["basis"]) == is_rare


PICKED = """\
import numpy as np
import torch
from torch import nn


class Memory:
    def __init__(self, net):
        self.net, self.optimizer = net, torch.optim.Adam(net.parameters())
        self.NAME_buffer = []

    def push(self, NAME):
        self.NAME_buffer.append(NAME)

    def sample(self, size):
        order = np.random.choice(len(self.NAME_buffer), size)
        picked = []
        for index in order:
            NAME = self.NAME_buffer[index]
            READ
            picked.append(NAME)
        return picked

    def train(self):
        while True:
            loss = sum(self.net(each.obs).mean() for each in self.sample(64))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
"""


@pytest.mark.parametrize(
    ("name", "read", "level"),
    [
        ("segment", "segment.times_used += 1", "low"),
        ("segment", "part = segment.obs[:8]", "medium"),
        ("transition", "pass", "medium"),
    ],
)
def test_whole_episodes_that_are_picked_gain_little(name: str, read: str, level: str, tmp_path: Path) -> None:
    """Their fields are not stacked to arrays, which indexing would replace."""
    (tmp_path / "run.py").write_text(PICKED.replace("NAME", name).replace("READ", read))
    (found,) = findings_in(tmp_path, "RL102")
    assert found["impact"]["level"] == level


CONVERTED = """\
import numpy as np
import torch
from torch import nn


def collect(env, net, steps):
    states = []
    obs = env.reset()
    env.step(0)  # wakes the simulator
    for _ in range(steps):
        obs, reward, done, info = env.step(net(obs))
        states.append(np.array(obs))
    return states


def loss_of(net, states):
    states = torch.tensor(states)
    return net(states).mean()


def train(env, net, optimizer, episodes, epochs):
    for _ in range(episodes):
        states = collect(env, net, 2048)
        for _ in PASSES:
            loss = loss_of(net, states)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


train(make(), nn.Linear(4, 2), make(), 1000, 4)
"""


@pytest.mark.parametrize(
    ("passes", "level"),
    [("range(1)", "low"), ("range(epochs)", "low"), ("range(4)", "low"), ("batches()", "high")],
)
def test_what_is_converted_once_per_pass_over_a_rollout_gains_little(
    passes: str, level: str, tmp_path: Path
) -> None:
    """Thousands of environment steps come before a few gradient steps; a loader may yield many batches."""
    (tmp_path / "run.py").write_text(CONVERTED.replace("PASSES", passes))
    (found,) = findings_in(tmp_path, "RL103")
    assert found["impact"]["level"] == level


ALLOCATED = """\
import numpy as np
import torch
from torch import nn


class Learner:
    def __init__(self, net, capacity):
        self.net, self.optimizer = net, torch.optim.Adam(net.parameters())
        self.codes = np.zeros((capacity, 10))

    def codes_of(self, labels):
        WHERE[np.arange(len(labels)), labels] = 1.0
        return torch.Tensor(USED)

    def train(self, batches):
        for labels in batches:
            loss = self.net(self.codes_of(labels)).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
"""


@pytest.mark.parametrize(
    ("where", "used", "level"),
    [
        ("codes = np.zeros((len(labels), 10))\n        codes", "codes", "low"),
        ("self.codes", "self.codes[labels]", "medium"),
    ],
)
def test_arrays_of_one_step_take_little_memory(where: str, used: str, level: str, tmp_path: Path) -> None:
    """A one-hot code of a batch is gone when the function returns."""
    (tmp_path / "run.py").write_text(ALLOCATED.replace("WHERE", where).replace("USED", used))
    found = findings_in(tmp_path, "RL109")
    assert level in {each["impact"]["level"] for each in found}


PLAYED = """\
import gym
from torch import nn, optim
from torch.distributions import Normal

net = nn.Linear(4, 2)
optimizer = optim.Adam(net.parameters())


def main(env, learns):
    if learns:
        while True:
            obs, reward, done, info = env.step(Normal(net(env.obs), 1.0).sample())
            net(obs).mean().backward()
            optimizer.step()
    obs = env.reset()
    while True:
        env.render()
        obs, reward, done, info = env.step(Normal(net(obs), 1.0).sample())


CALLED
"""


@pytest.mark.parametrize(
    ("called", "is_demonstration"),
    [
        ('if __name__ == "__main__":\n    main(gym.make("CartPole-v1"), False)', True),
        ('for game in range(9):\n    main(gym.make("CartPole-v1"), True)', False),
    ],
)
def test_a_script_that_renders_in_its_main_function(
    called: str, is_demonstration: bool, tmp_path: Path
) -> None:
    """Its loop without gradient steps is a demonstration, beside the one that learns."""
    (tmp_path / "run.py").write_text(PLAYED.replace("CALLED", called))
    found = findings_in(tmp_path, "RL321")
    reasons = [each["impact"]["basis"] for each in found if each["location"]["row"] > 17]
    assert [("evaluations" in reason) for reason in reasons] == [is_demonstration]


def levels(project: Path, code: str, text: str) -> list[str]:
    """Return the impact of each finding of a rule in a program, in order of the lines."""
    (project / "train.py").write_text(text)
    found = findings_in(project, code)
    return [each["impact"]["level"] for each in sorted(found, key=lambda each: int(each["location"]["row"]))]


ACTOR = """\
import torch
from torch import nn
from torch.distributions import Normal


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = LAYER
        self.loc, self.scale = nn.Linear(64, 2), nn.Parameter(torch.ones(2))

    def forward(self, obs):
        return Normal(loc=self.loc(self.body(obs)), scale=self.scale)


def collect(env, actor):
    obs = env.reset()
    while True:
        now = actor(obs)
        kept = Normal(loc=now.loc.clone(), scale=now.scale.clone())
        obs, reward, done, _ = env.step(kept.sample())
"""


@pytest.mark.parametrize(
    ("layer", "expected"),
    [("nn.Linear(4, 64)", ["medium", "low"]), ("nn.Conv2d(4, 64, 8)", ["low", "low"])],
)
def test_validation_matters_in_short_steps(layer: str, expected: list[str], tmp_path: Path) -> None:
    """Of a distribution that is no copy of another one, in programs without networks for images."""
    assert levels(tmp_path, "RL321", ACTOR.replace("LAYER", layer)) == expected


REPEATED = """\
import torch


class Critic:
    def learn(self, states, goals, n: int):
        rows = torch.as_tensor(states)
        other = torch.as_tensor(goals)
        ahead = rows.unsqueeze(1).repeat(1, COUNT, 1) - other
        return ahead.pow(2).sum(-1)
"""


@pytest.mark.parametrize(
    ("count", "expected"), [("other.shape[0]", "medium"), ("64", "medium"), ("4", "low"), ("n", "low")]
)
def test_few_copies_cost_little(count: str, expected: str, tmp_path: Path) -> None:
    """Many are those for each row of another tensor, or of a large constant."""
    assert levels(tmp_path, "RL325", REPEATED.replace("COUNT", count)) == [expected]


CHUNKS = """\
import torch
from torch import nn


class Agent:
    def __init__(self):
        self.critic = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 1))
        self.optimizer = torch.optim.Adam(self.critic.parameters())

    def learn(self, states: torch.Tensor, size: int):
        values = []
        for agent in range(states.shape[1]):
            values.append(self.critic(states[ROWS, agent]))
        loss = torch.cat(values).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
"""


@pytest.mark.parametrize(("rows", "expected"), [("5", "medium"), ("size : size + 1024", "low")])
def test_bounded_parts_of_a_batch_are_batches(rows: str, expected: str, tmp_path: Path) -> None:
    """A network that runs on 1,024 rows for each agent saves little if it runs once."""
    assert levels(tmp_path, "RL314", CHUNKS.replace("ROWS", rows)) == [expected]


SEARCH = """\
import torch
from torch import nn


class Agent:
    def __init__(self, device):
        self.device = device
        self.critic = nn.Linear(4, 2).to(device)
        self.optimizer = torch.optim.Adam(self.critic.parameters())

    def search(self, step, gain, obs):
        for _ in range(self.attempts):
            self.replace(step)
            with torch.no_grad():
                new = self.critic(obs).mean()
                divergence = self.critic(obs).std()
            improvement = float(new) - float(gain)
            print(float(divergence), float(divergence.square()), float(divergence.sqrt()))
            print(float(divergence.exp()), float(divergence.log()), float(divergence.sin()))
            if improvement < 0:
                print("no gain")
            elif float(divergence) > self.limit:
                print("too far")
            else:
                LEAVE
            step = step * 0.5

    def learn(self, batches):
        for obs in batches:
            obs = obs.to(self.device)
            loss = self.critic(obs).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.search(loss, loss, obs)
"""


@pytest.mark.parametrize(("leave", "expected"), [("break", "low"), ("print('fine')", "unknown")])
def test_a_search_needs_what_it_reads(leave: str, expected: str, tmp_path: Path) -> None:
    """A line search that ends unless one of its tests fails waits for the device in each iteration."""
    assert set(levels(tmp_path, "RL202", SEARCH.replace("LEAVE", leave))) == {expected}


def test_parts_of_a_loss_are_as_few_as_what_they_belong_to(tmp_path: Path) -> None:
    """A list with one item for each optimizer has few items."""
    text = (
        SEARCH[: SEARCH.index("    def search")]
        + """\
    def learn(self, batches):
        for obs in batches:
            obs = obs.to(self.device)
            weights = [each.weight for each in self.optims]
            loss, parts = 0.0, {}
            for number, weight in enumerate(weights):
                part = self.critic(obs).mean() * weight
                loss = loss + part
                parts[f"loss/{number}"] = part.item()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
"""
    )
    assert levels(tmp_path, "RL202", text) == ["low"]


POLLED = """\
import threading
import time


class Learner:
    def start(self, pipes, stopped):
        threading.Thread(target=self.serve, args=(pipes, stopped)).start()

    def serve(self, pipes, stopped):
        while not stopped.is_set():
            time.sleep(PAUSE)
            for pipe in pipes:
                self.poll_pipe(pipe)

    def poll_pipe(self, pipe):
        while pipe.poll():
            self.rows.append(pipe.recv())
"""


@pytest.mark.parametrize(("pause", "expected"), [("1e-6", "high"), ("0.05", "low")])
def test_a_worker_that_polls_without_end_occupies_a_core(pause: str, expected: str, tmp_path: Path) -> None:
    """It runs beside all of training, though no training loop runs it."""
    assert levels(tmp_path, "RL401", POLLED.replace("PAUSE", pause)) == [expected]


BLENDED = """\
import IMPORTED


class Agent:
    def learn(self, loss, optimizer):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for old, new in zip(self.target_net.parameters(), self.net.parameters()):
            old.data.copy_(0.1 * new.data + 0.9 * old.data)
"""


@pytest.mark.parametrize(("imported", "expected"), [("torch", "medium"), ("torch, transformers", "low")])
def test_blending_weights_matters_less_the_more_tokens_a_step_has(
    imported: str, expected: str, tmp_path: Path
) -> None:
    """The gradient step of a language model uses each weight for each token."""
    assert levels(tmp_path, "RL304", BLENDED.replace("IMPORTED", imported)) == [expected]


PUT = """\
import multiprocessing

metrics_queue = multiprocessing.Queue(10)


def act(env, policy):
    obs = env.reset()
    while True:
        obs, reward, done, info = env.step(policy(obs))
        INSIDE
            metrics_queue.put(("reward", reward))
            obs = env.reset()


multiprocessing.Process(target=act).start()
"""


@pytest.mark.parametrize(("inside", "expected"), [("if done:", "low"), ("if True:", "high")])
def test_metrics_of_an_episode_hardly_fill_a_queue(inside: str, expected: str, tmp_path: Path) -> None:
    """Those of each step do, if the other side writes them to a log."""
    assert levels(tmp_path, "RL404", PUT.replace("INSIDE", inside)) == [expected]


def test_a_new_loss_takes_microseconds(tmp_path: Path) -> None:
    """`backward` of what it computes takes far longer."""
    text = """\
from torch import nn


def train(loader, optimizer, model):
    for batch in loader:
        nn.MSELoss()(model(batch), batch).backward()
        optimizer.step()
"""
    assert levels(tmp_path, "RL609", text) == ["low"]


@pytest.mark.parametrize(
    ("polled", "expected"),
    [("any(worker.is_alive() for worker in workers)", "low"), ("workers[0].queue.empty()", "high")],
)
def test_a_worker_ends_once(polled: str, expected: str, tmp_path: Path) -> None:
    """A loop that waits for the end of workers runs once, whatever calls it."""
    text = f"""\
import time


def train(env, policy, workers):
    obs = env.reset()
    while True:
        obs, reward, done, info = env.step(policy(obs))
        while {polled}:
            time.sleep(0.01)
"""
    assert levels(tmp_path, "RL401", text) == [expected]


CHOSEN = """\
import gymnasium as gym
import numpy as np


class Discrete(gym.ActionWrapper):
    def __init__(self, env, bins):
        super().__init__(env)
        self.mesh = np.zeros((env.action_space.shape[0], bins))

    def action(self, chosen):
        return np.array([self.mesh[i][a] for i, a in enumerate(chosen)])
"""


def test_the_parts_of_one_action_are_few(tmp_path: Path) -> None:
    """A wrapper converts one action in each step of its environment."""
    assert levels(tmp_path, "RL505", CHOSEN) == ["low"]


@pytest.mark.parametrize(("rows", "level"), [("[[row]]", "low"), ("[row + i for i in range(512)]", "high")])
def test_a_single_row_is_converted_in_microseconds(rows: str, level: str, tmp_path: Path) -> None:
    """A list with one array, whatever the nesting, is one observation."""
    (tmp_path / "train.py").write_text(
        f"""\
import gymnasium as gym
import numpy as np
import torch


def train(net):
    env = gym.make("CartPole-v1")
    observation, _ = env.reset()
    while True:
        row = np.append(observation, 1.0)
        values = net(torch.tensor({rows}))
        observation, reward, done, truncated, _ = env.step(int(values.argmax()))
"""
    )
    found = [each for each in findings_in(tmp_path, "RL103") if each["code"] == "RL103"]
    assert [each["impact"]["level"] for each in found] == [level]


WATCHED = """\
import torch


class Screen:
    def __init__(self, net, device: torch.device):
        self.net = net.to(device)
        self.device = device

    def act(self, frame):
        pixels = torch.tensor(frame, dtype=torch.float32, device=self.device).div_(255)
        return self.net(pixels).argmax(-1).cpu().numpy()


def play(screen: Screen, num_envs: int):
    envs = MAKE
    frame, info = envs.reset()
    for _ in range(100_000):
        frame, reward, done, truncated, info = envs.step(screen.act(frame))
"""


@pytest.mark.parametrize(
    ("made", "level"),
    [("gymnasium.make('Pong')", "low"), ("gymnasium.make_vec('Pong', num_envs=num_envs)", "unknown")],
)
def test_one_frame_has_few_bytes(made: str, level: str, tmp_path: Path) -> None:
    """One frame per step of an environment is copied in microseconds, frames of many are not."""
    text = WATCHED.replace("MAKE", made)
    if level == "low":
        text = text.replace("(screen: Screen, num_envs: int)", "(screen: Screen)")
    (tmp_path / "run.py").write_text(f"import gymnasium\n{text}")
    (found,) = findings_in(tmp_path, "RL211")
    assert found["impact"]["level"] == level


BLENDED_AT_INTERVALS = """\
import copy
import sys

import torch
import yaml
from torch import nn


class Agent:
    def __init__(self, config):
        self.config = config
        self.net = nn.Linear(4, 2)
        self.target = copy.deepcopy(self.net)
        self.optimizer = torch.optim.Adam(self.net.parameters())
        self.updates = 0

    def update(self, states, returns):
        loss = (self.net(states) - returns).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        if self.updates % self.config.target_update == 0:
            tau = self.config.tau
            for own, other in zip(self.net.parameters(), self.target.parameters()):
                other.data.copy_(tau * own.data + (1 - tau) * other.data)
        self.updates += 1


def main(batches):
    with open("agent.yaml") as file:
        agent = Agent(yaml.safe_load(file)["agent"])
    for states, returns in batches:
        agent.update(states, returns)


main(torch.load(sys.argv[1]))
"""


@pytest.mark.parametrize(("interval", "expected"), [(100, "low"), (2, "medium")])
def test_the_interval_of_a_configuration_counts(interval: int, expected: str, tmp_path: Path) -> None:
    """A target that is blended every 100 steps costs a hundredth in each."""
    (tmp_path / "agent.yaml").write_text(f"agent:\n  target_update: {interval}\n  tau: 0.01\n")
    assert levels(tmp_path, "RL304", BLENDED_AT_INTERVALS) == [expected]
