"""Whether a program is about machine learning, judging by its text; rules check no others."""

from __future__ import annotations

from collections.abc import Collection, Iterable

_LIBRARIES = frozenset(
    """torch numpy jax tensorflow keras cupy mxnet paddle mlx tinygrad mindspore flax optax gym gymnasium
    pettingzoo stable_baselines3 sb3_contrib ray transformers trl vllm pandas scipy sklearn""".split()
)
_WORDS = {
    b"eward": (b"reward", b"Reward"),
    b"pisode": (b"episode", b"Episode"),
    b"ollout": (b"rollout", b"Rollout"),
    b"eplay": (b"replay_", b"ReplayBuffer"),
}
"""Words, grouped by common substrings: most texts do not even contain those."""
_SMALL = 50_000
"""Maximum bytes of source of a program that need not mention a library: a snippet, a script."""


def is_about_learning(content: bytes, imports: Iterable[str]) -> bool:
    """Whether a file imports a library for numerics or environments (`imports` are dotted names), or uses a
    term of reinforcement learning.
    """
    return any(path.partition(".")[0] in _LIBRARIES for path in imports) or any(
        common in content and (one in content or other in content) for common, (one, other) in _WORDS.items()
    )


def is_judged(files: Collection[tuple[int, bool]]) -> bool:
    """Whether a program is checked for more than its syntax, given the size of each file in bytes and whether
    it is about machine learning. Large programs without such a file (web frameworks, tools) are not learning
    code: their message loops and functions called `update` have nothing to do with training.
    """
    sizes, about_learning = zip(*files, strict=True)
    return any(about_learning) or sum(sizes) <= _SMALL
