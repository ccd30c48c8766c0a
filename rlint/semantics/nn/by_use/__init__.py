"""What the uses of results show of their gradients."""
