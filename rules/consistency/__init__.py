"""RL8xx: consistency."""
