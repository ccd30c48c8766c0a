"""RL6xx: environments, logging, checkpoints."""
