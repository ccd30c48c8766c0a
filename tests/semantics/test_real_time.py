"""Code in loops that wait for the clock in each iteration."""

from __future__ import annotations

import pytest

from tests.project_builder import build, find

WINDOW = """\
import gymnasium
import pygame
import rospy
import time
import torch
from session import Session


class Window:
    def __init__(self):
        self.session = Session()
        self.clock = pygame.time.Clock()
        self.speed = 4

    def update(self):
        for _ in range(self.speed):
            self.session.advance(0)

    def wait(self):
        WAIT


def show(window: Window, fps, args):
    clock = pygame.time.Clock()
    rate = rospy.Rate(10)
    while True:
        for event in pygame.event.get():
            window.session.advance(event)
        window.update()
        TICK


def train(session: Session):
    TRAIN


show(Window(), 60, parse())
train(Session())
"""
SESSION = """\
import gymnasium
import torch


class Session:
    def __init__(self):
        self.env = gymnasium.make("CartPole-v1")
        self.net = torch.nn.Linear(4, 2)
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def advance(self, state):
        self.net(state)
        self.env.step(state)

    def learn(self, state):
        self.net(state).sum().backward()
        self.optimizer.step()
"""
TRAIN = "for state in range(100_000): session.advance(state); session.learn(state)"


def is_in_real_time(tick: str, train: str = "pass", wait: str = "pass") -> bool:
    """Whether a step of the session only runs in a loop that waits."""
    text = WINDOW.replace("TICK", tick).replace("TRAIN", train).replace("WAIT", wait)
    model = build({"window.py": text, "session.py": SESSION})["session.py"]
    return model.usage.is_in_real_time(find(model, "self.env.step(state)"))


@pytest.mark.parametrize(
    "parts",
    [
        ("clock.tick(60)",),
        ("clock.tick(fps)",),
        ("window.clock.tick_busy_loop(30)",),
        ("rate.sleep()",),
        ("time.sleep(0.02)",),
        ("time.sleep(1 / 30)",),
        ("time.sleep(1.0 / fps)",),
        ("pygame.time.delay(20)",),
        ("window.wait()", "pass", "self.clock.tick(60)"),
    ],
)
def test_loops_that_wait(parts: tuple[str, ...]) -> None:
    """For the next frame, or the next message, themselves or in a function that they call."""
    assert is_in_real_time(*parts)


@pytest.mark.parametrize(
    "parts",
    [
        ("pass",),
        ("clock.tick()",),
        ("clock.tick(1000)",),
        ("time.sleep(0.001)",),
        ("time.sleep(args.delay)",),
        ("if args.render: time.sleep(0.1)",),
        ("clock.tick(args.speed)",),
        ("if args.render: clock.tick(60)",),
        ("clock.tick(60)", TRAIN),
        ("window.wait()", "pass", "if self.speed < 2: self.clock.tick(60)"),
    ],
)
def test_loops_that_do_not_wait(parts: tuple[str, ...]) -> None:
    """They only measure the time, wait for no known time, or a training runs the code as well."""
    assert not is_in_real_time(*parts)


def test_training_within_a_frame() -> None:
    """A loop over gradient steps does not wait, though the loop around it does."""
    assert not is_in_real_time("train(window.session); clock.tick(60)", TRAIN)
