"""RL2xx: transfers and devices."""
