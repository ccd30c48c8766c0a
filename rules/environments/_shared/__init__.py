"""Code shared by several rules of this family."""
