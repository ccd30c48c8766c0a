"""The reference steps: small, medium and large steps of the kinds in published RL code."""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from rlint.findings import TrainingStep

if TYPE_CHECKING:
    import numpy as np
    import torch
    from torch import nn

StepProgram = Callable[[], Callable[[], object]]
"""Sets a step up, and returns a function that runs it once."""


def small_rollout() -> Callable[[], object]:
    """Return a step of a pendulum with the forward pass of a policy of two hidden layers of 64 units."""
    return _acting(_small_net(3), _pendulum())


def medium_rollout() -> Callable[[], object]:
    """Return a step of an environment of pixels with a forward pass of the network of Mnih et al. (2015)."""
    return _acting(_large_net(), _pixels())


def large_rollout() -> Callable[[], object]:
    """Return a step of eight environments of pixels with one forward pass of that network."""
    return _acting(_large_net(), *(_pixels() for _ in range(8)))


def _acting(net: nn.Module, *environments: Callable[[], np.ndarray]) -> Callable[[], object]:
    import numpy as np
    import torch

    def step() -> object:
        observations = np.stack([environment() for environment in environments])
        with torch.no_grad():
            return net(torch.as_tensor(observations, dtype=torch.float32)).argmax(-1).tolist()

    return step


def _pendulum() -> Callable[[], np.ndarray]:
    """Return a step of a pendulum swing-up, computed with numpy as in the classic environments."""
    import numpy as np

    state = np.array([0.1, 0.2])
    rewards: deque[float] = deque(maxlen=200)

    def step() -> np.ndarray:
        angle, speed = state
        torque = np.clip(np.array([0.5]), -2.0, 2.0)[0]
        turned = ((angle + np.pi) % (2 * np.pi)) - np.pi
        cost = turned**2 + 0.1 * speed**2 + 0.001 * torque**2
        speed = np.clip(speed + (15.0 * np.sin(angle) + 3.0 * torque) * 0.05, -8, 8)
        state[:] = angle + speed * 0.05, speed
        rewards.append(-float(cost))
        observation: np.ndarray = np.array([np.cos(state[0]), np.sin(state[0]), state[1]], np.float32)
        return observation

    return step


def _pixels() -> Callable[[], np.ndarray]:
    """Return a step that draws four frames of 210 × 160 pixels, shrinks the last to 84 × 84 and stacks it."""
    import numpy as np

    screen = np.zeros((210, 160, 3), np.uint8)
    stack: np.ndarray = np.zeros((4, 84, 84), np.uint8)
    rows, columns = np.arange(84) * 210 // 84, np.arange(84) * 160 // 84
    place = [0]

    def step() -> np.ndarray:
        last = screen
        for _ in range(4):
            place[0] = (place[0] + 3) % 140
            screen[:] = 30
            screen[place[0] : place[0] + 40, 20:60] = (200, 72, 72)
            last, frame = screen.copy(), np.maximum(last, screen)
        gray = (frame @ np.array([0.299, 0.587, 0.114], np.float32)).astype(np.uint8)
        stack[:-1] = stack[1:]
        stack[-1] = gray[rows[:, None], columns]
        observation: np.ndarray = stack.copy()
        return observation

    return step


def small_update() -> Callable[[], object]:
    """Return a gradient step of two hidden layers of 64 units on 64 rows, with Adam."""
    import torch

    return _update(_small_net(8), torch.zeros(64, 8), torch.zeros(64, 2))


def medium_update() -> Callable[[], object]:
    """Return a gradient step of a recurrent layer of 64 units on 32 sequences of 32 steps, with Adam."""
    import torch
    from torch import nn

    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.recurrent, self.head = nn.GRU(8, 64, batch_first=True), nn.Linear(64, 2)

        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            outputs: torch.Tensor = self.head(self.recurrent(inputs)[0])
            return outputs

    return _update(Recurrent(), torch.zeros(32, 32, 8), torch.zeros(32, 32, 2))


def large_update() -> Callable[[], object]:
    """Return a gradient step of the network of Mnih et al. (2015) on 32 stacks of four frames, with Adam."""
    import torch

    return _update(_large_net(), torch.zeros(32, 4, 84, 84), torch.zeros(32, 6))


def _update(net: nn.Module, inputs: torch.Tensor, targets: torch.Tensor) -> Callable[[], object]:
    import torch
    from torch import nn

    optimizer = torch.optim.Adam(net.parameters())

    def step() -> object:
        loss = nn.functional.mse_loss(net(inputs), targets)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        return loss

    return step


def _small_net(inputs: int) -> nn.Module:
    from torch import nn

    hidden = (nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
    return nn.Sequential(*hidden, nn.Linear(64, 2))


def _large_net() -> nn.Module:
    from torch import nn

    return nn.Sequential(
        *(nn.Conv2d(4, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU()),
        *(nn.Conv2d(64, 64, 3), nn.ReLU(), nn.Flatten(), nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, 6)),
    )


def small_token() -> Callable[[], object]:
    """Return a forward pass of two transformer layers of 128 units over 64 tokens."""
    return _token(layers=2, width=128, length=64, batch=1)


def medium_token() -> Callable[[], object]:
    """Return a forward pass of four transformer layers of 256 units over 128 tokens."""
    return _token(layers=4, width=256, length=128, batch=1)


def large_token() -> Callable[[], object]:
    """Return a forward pass of eight transformer layers of 512 units over 128 tokens, for 4 sequences."""
    return _token(layers=8, width=512, length=128, batch=4)


def _token(*, layers: int, width: int, length: int, batch: int) -> Callable[[], object]:
    import torch
    from torch import nn

    layer = nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True, dropout=0.0)
    model = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).eval()
    tokens = torch.zeros(batch, length, width)

    def step() -> object:
        with torch.no_grad():
            return model(tokens)[:, -1].argmax(-1)

    return step


def small_message() -> Callable[[], object]:
    """Return a function that passes one transition of a few numbers through a queue between threads."""
    return _message(8)


def medium_message() -> Callable[[], object]:
    """Return a function that passes a stack of four frames, pickled as between processes."""
    return _message(4 * 84 * 84)


def large_message() -> Callable[[], object]:
    """Return a function that passes 32 stacks of four frames."""
    return _message(32 * 4 * 84 * 84)


def _message(numbers: int) -> Callable[[], object]:
    import pickle

    import numpy as np

    passing: queue.Queue[bytes] = queue.Queue()
    observation = np.zeros(numbers, np.float32 if numbers < 1_000 else np.uint8)

    def step() -> object:
        passing.put(pickle.dumps((observation, 0, 1.0, False)))
        return pickle.loads(passing.get())  # noqa: S301 - written two lines above

    return step


PROGRAMS: dict[TrainingStep, tuple[StepProgram, StepProgram, StepProgram]] = {
    TrainingStep.ENVIRONMENT: (small_rollout, medium_rollout, large_rollout),
    TrainingStep.GRADIENT: (small_update, medium_update, large_update),
    TrainingStep.TOKEN: (small_token, medium_token, large_token),
    TrainingStep.MESSAGE: (small_message, medium_message, large_message),
}
"""A small, a medium and a large step of each kind."""
