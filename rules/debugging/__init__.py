"""RL7xx: debugging left in the hot path."""
