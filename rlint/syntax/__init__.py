"""The source as a tree: parsed once with the standard library, walked once, rewritten with LibCST."""
