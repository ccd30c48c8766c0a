"""RL5xx: repeated and scalar computation, text."""
