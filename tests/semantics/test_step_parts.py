"""What a training step consists of: the networks that it updates, the calls of a line, the simulator."""

from __future__ import annotations

import pytest

from project_builder import build, find, model_of

AGENT = """
class Agent:
    def sample(self, states):
        return self.policy(states)

    def update(self, batch):
        actions = self.sample(batch.states)
        self.critic_loss(batch, self.sample(batch.next_states)).backward()
        self.critic_optimizer.step()
        self.actor_loss(batch, actions).backward()
        self.actor_optimizer.step()
        self.alpha_loss(batch).backward()
        self.alpha_optimizer.step()
"""


def test_optimizers_of_networks_are_counted() -> None:
    """Two of the three: that of the entropy coefficient steps a single number."""
    model = model_of(AGENT)
    assert model.sizes.updates(find(model, "self.sample(batch.states)")) == 2


def test_an_optimizer_counts_once() -> None:
    """Two branches of one step, by a gradient scaler or without."""
    model = model_of(
        """
def update(loss, optimizer, scaler):
    if scaler is not None:
        scaler.scale(loss).backward()
        scaler.step(optimizer)
    else:
        loss.backward()
        optimizer.step()
        optimizer.step()
"""
    )
    assert model.sizes.updates(find(model, "loss.backward()")) == 2


def test_the_updates_of_other_loops_do_not_count() -> None:
    """A warm-up trains another network before the main loop."""
    model = model_of(
        """
def train(loader, net, opt, encoder, encoder_opt):
    for batch in loader:
        encoder(batch).backward()
        encoder_opt.step()
    for batch in loader:
        net(batch).mean().backward()
        opt.step()
"""
    )
    assert model.sizes.updates(find(model, "net(batch).mean().backward()")) == 1


def test_updates_of_functions_that_the_loop_calls_count() -> None:
    """Those of the critic and of the actor, in functions of another file."""
    models = build(
        {
            "learn.py": """
def update_critic(critic, opt, batch):
    critic(batch).mean().backward()
    opt.step()

def update_actor(actor, opt, batch):
    actor(batch).mean().backward()
    opt.step()
""",
            "main.py": """
from learn import update_actor, update_critic

def train(loader, actor, critic, actor_opt, critic_opt):
    for batch in loader:
        state = batch.to("cuda")
        update_critic(critic, critic_opt, state)
        update_actor(actor, actor_opt, state)
""",
        }
    )
    model = models["main.py"]
    assert model.sizes.updates(find(model, 'batch.to("cuda")')) == 2


def test_the_calls_of_one_iteration_are_counted() -> None:
    """An update samples actions twice."""
    model = model_of(AGENT)
    assert model.sizes.runs(find(model, "self.policy(states)")) == 2
    assert model.sizes.runs(find(model, "self.sample(batch.states)")) == 1


def test_a_line_in_a_loop_runs_an_unknown_number_of_times() -> None:
    """For each agent of a step."""
    model = model_of(
        """
def train(env, agents):
    while True:
        env.step(0)
        for agent in agents:
            agent.act(env.state)
"""
    )
    assert model.sizes.runs(find(model, "agent.act(env.state)")) == 0


@pytest.mark.parametrize(
    ("imports", "waits"),
    [
        ("from unityagents import UnityEnvironment as Env", True),
        ("import gym\nfrom unityagents import UnityEnvironment as Env", True),
        ("import gym\nfrom smac.env import StarCraft2Env as Env\nother = gym.make('CartPole-v1')", False),
        ("import crafter\nfrom smac.env import StarCraft2Env as Env", False),
        ("from crafter import Env", False),
    ],
)
def test_programs_that_wait_for_a_simulator(imports: str, waits: bool) -> None:
    """Unless they also use environments that may be fast."""
    model = model_of(f"{imports}\nenv = Env()\nwhile True:\n    env.step(0)\n")
    assert bool(model.sizes.waits_for_simulator()) is waits
