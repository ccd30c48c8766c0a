"""Train an agent of ElegantRL on its pendulum, which needs gym 0.23.

python train_elegantrl.py AGENT STEPS, as in `AgentTD3`.
"""

import os
import sys
from pathlib import Path

import elegantrl.agents
from elegantrl import Config, train_agent
from elegantrl.envs.CustomGymEnv import PendulumEnv


class SeededPendulum(PendulumEnv):  # type: ignore[misc]
    """The same in each run."""

    def __init__(self) -> None:
        """Seed it."""
        super().__init__()
        self.env.seed(0)


def main(name: str, steps: int) -> None:
    """Train with seed 0; keep the networks in `$TRUST_OUT`."""
    pendulum = {
        "env_name": "Pendulum",
        "max_step": 200,
        "state_dim": 3,
        "action_dim": 1,
        "if_discrete": False,
    }
    config = Config(getattr(elegantrl.agents, name), SeededPendulum, pendulum)
    config.net_dims, config.horizon_len, config.batch_size = (32, 32), 50, 32
    config.gpu_id, config.num_threads, config.eval_times = -1, 1, 1
    config.break_step = steps
    config.cwd = str(Path(os.environ["TRUST_OUT"]) / "saved")
    train_agent(config)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
