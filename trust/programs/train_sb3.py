"""Train an algorithm of stable-baselines3, or of sb3-contrib, and print the return of each episode.

python train_sb3.py ALGORITHM STEPS [ENVIRONMENT] [--SETTING=JSON ...], as in `--use_sde=true`.
"""

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

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
    "ARS": {"n_delta": 2},
    "DQN": {**SMALL, "train_freq": 2, "target_update_interval": 100},
    "QRDQN": {**SMALL, "train_freq": 2, "target_update_interval": 100},
}


def main(name: str, steps: int, environment: str, chosen: dict[str, Any]) -> None:
    """Train with seed 0 and the chosen settings; keep all networks in `$TRUST_OUT`."""
    contributed = name in ("RecurrentPPO", "TQC", "QRDQN", "ARS", "TRPO")
    library = importlib.import_module("sb3_contrib" if contributed else "stable_baselines3")
    env = Monitor(gymnasium.make(environment))
    settings = {**SETTINGS.get(name, {}), **chosen}
    policy = {"RecurrentPPO": "MlpLstmPolicy", "ARS": "LinearPolicy"}.get(name, "MlpPolicy")
    model = getattr(library, name)(policy, env, seed=0, device="cpu", **settings)
    model.learn(steps)
    for number, total in enumerate(env.get_episode_rewards()):
        print(f"episode {number} return {total!r}")
    torch.save(model.policy.state_dict(), Path(os.environ["TRUST_OUT"]) / "policy.pt")


if __name__ == "__main__":
    given = [each for each in sys.argv[1:] if not each.startswith("--")]
    settings = [each[2:].partition("=") for each in sys.argv[1:] if each.startswith("--")]
    main(
        given[0],
        int(given[1]),
        given[2] if given[2:] else "CartPole-v1",
        {name: json.loads(value) for name, _, value in settings},
    )
