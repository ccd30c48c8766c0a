"""Train an algorithm of stable-baselines3, or of sb3-contrib, and print the return of each episode.

python train_sb3.py ALGORITHM STEPS [ENVIRONMENT] [--sde]
"""

import importlib
import os
import sys
from pathlib import Path

import gymnasium
import torch
from stable_baselines3.common.monitor import Monitor

SMALL = {"learning_starts": 200, "buffer_size": 2000}
SETTINGS = {
    "PPO": {"n_steps": 256},
    "RecurrentPPO": {"n_steps": 128},
    "TQC": SMALL,
    "SAC": SMALL,
    "TD3": SMALL,
    "DDPG": SMALL,
    "DQN": {**SMALL, "train_freq": 2, "target_update_interval": 100},
    "QRDQN": {**SMALL, "train_freq": 2, "target_update_interval": 100},
}


def main(name: str, steps: int, environment: str, *, sde: bool) -> None:
    """Train with seed 0; keep all networks in `$TRUST_OUT`."""
    contributed = name in ("RecurrentPPO", "TQC", "QRDQN", "ARS", "TRPO")
    library = importlib.import_module("sb3_contrib" if contributed else "stable_baselines3")
    env = Monitor(gymnasium.make(environment))
    settings = {**SETTINGS.get(name, {}), **({"use_sde": True} if sde else {})}
    policy = "MlpLstmPolicy" if name.startswith("Recurrent") else "MlpPolicy"
    model = getattr(library, name)(policy, env, seed=0, device="cpu", **settings)
    model.learn(steps)
    for number, total in enumerate(env.get_episode_rewards()):
        print(f"episode {number} return {total!r}")
    torch.save(model.policy.state_dict(), Path(os.environ["TRUST_OUT"]) / "policy.pt")


if __name__ == "__main__":
    given = [each for each in sys.argv[1:] if not each.startswith("--")]
    main(given[0], int(given[1]), given[2] if given[2:] else "CartPole-v1", sde="--sde" in sys.argv)
