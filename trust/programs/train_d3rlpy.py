"""Train an algorithm of d3rlpy online on a small task, and print the return of each episode.

python train_d3rlpy.py discrete_sac|FILE STEPS, where FILE defines a `CustomAlgoConfig`.
"""

import runpy
import sys
from typing import Any

import d3rlpy
import gymnasium


class Returns(gymnasium.Wrapper):  # type: ignore[misc]
    """Prints the return of each episode."""

    total = 0.0

    def step(self, action: Any) -> Any:
        """Step, and print at the end of an episode."""
        result = self.env.step(action)
        self.total += float(result[1])
        if result[2] or result[3]:
            print(f"return {self.total!r}")
            self.total = 0.0
        return result


def main(name: str, steps: int) -> None:
    """Train with seed 0."""
    d3rlpy.seed(0)
    env = Returns(gymnasium.make("CartPole-v1"))
    d3rlpy.envs.seed_env(env, 0)
    if name == "discrete_sac":
        encoder = d3rlpy.models.SimBaEncoderFactory(feature_size=16, hidden_size=32, n_blocks=1)
        config = d3rlpy.algos.DiscreteSACConfig(
            batch_size=32, actor_encoder_factory=encoder, critic_encoder_factory=encoder
        )
    else:
        config = runpy.run_path(name)["CustomAlgoConfig"]()
    config.create(device="cpu").fit_online(
        env,
        d3rlpy.dataset.create_fifo_replay_buffer(limit=2000, env=env),
        d3rlpy.algos.ConstantEpsilonGreedy(epsilon=0.3),
        n_steps=steps,
        n_steps_per_epoch=steps,
        update_start_step=100,
        logger_adapter=d3rlpy.logging.NoopAdapterFactory(),
        show_progress=False,
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
