"""RL3xx: networks, gradients, targets."""
