"""What functions without visible callers likely do, and how often.

Heat follows calls. Of a function that no visible code calls, this package tells how often it likely runs: by
what its body does (`by_body`), or by names that are conventional in reinforcement learning (`by_name`). The
answers are likely, never sure.
"""
