"""Run an example of skrl with a seed, for fewer steps than it is written for.

python train_skrl.py SCRIPT STEPS
"""

import runpy
import sys
from typing import Any

import gymnasium
from skrl.trainers.torch import SequentialTrainer


def main(script: str, steps: int) -> None:
    """Run the script as `python SCRIPT --headless --seed 0`; its trainer takes so many steps."""
    build = SequentialTrainer.__init__

    def build_short(self: SequentialTrainer, *, cfg: dict[str, Any], **named: Any) -> None:
        quiet = {"timesteps": steps, "disable_progressbar": True, "close_environment_at_exit": False}
        build(self, cfg={**cfg, **quiet}, **named)

    make = gymnasium.make

    def make_seeded(*given: Any, **named: Any) -> gymnasium.Env[Any, Any]:
        env = make(*given, **named)
        env.reset(seed=0)
        env.action_space.seed(0)
        return env

    SequentialTrainer.__init__, gymnasium.make = build_short, make_seeded
    sys.argv = [script, "--headless", "--seed", "0"]
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
