"""RL1xx: buffers and memory."""
