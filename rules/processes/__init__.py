"""RL4xx: processes, threads, locks."""
