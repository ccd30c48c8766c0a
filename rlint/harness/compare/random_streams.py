"""Seed random generators, and return their states as data that can be compared and shown."""

from __future__ import annotations

import random
import sys
from typing import TYPE_CHECKING, Any

from rlint.harness.compare.values import Stream, bytes_of

if TYPE_CHECKING:
    from rlint.harness.workload import Case


def seed_streams(case: Case) -> None:
    """Seed the random streams of Python, numpy and PyTorch, those that are loaded."""
    random.seed(f"{case.seed} {case.size}")
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed([case.seed, case.size])
    torch: Any = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "default_generator"):
        return
    # `torch.manual_seed` also queues the seed for each kind of device that may be used later, with a
    # traceback each time, which takes 3 ms.
    seed = case.seed * 1_000_003 + case.size
    torch.default_generator.manual_seed(seed)
    if case.device == "cuda" or torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(seed)
    if torch.backends.mps.is_available():
        torch.mps.manual_seed(seed)


def global_streams() -> dict[str, Stream]:
    """Return the random streams of Python, numpy and PyTorch, if loaded, by path: `random.torch.cuda[0]`."""
    found = {"random.python": python_stream(random._inst)}
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        found["random.numpy"] = legacy_numpy_stream(numpy.random.mtrand._rand)
    torch: Any = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "default_generator"):
        found["random.torch"] = torch_stream(torch.default_generator)
        if torch.cuda.is_initialized():
            for index, generator in enumerate(torch.cuda.default_generators):
                found[f"random.torch.cuda[{index}]"] = torch_stream(generator)
        if torch.backends.mps.is_available():
            found["random.torch.mps"] = _mps_stream(torch)
    return found


def python_stream(generator: random.Random) -> Stream:
    """Return the state of a generator of Python's own. A generator that draws from the system has none."""
    if isinstance(generator, random.SystemRandom):
        return Stream("system", lambda: "of the system")
    state = random.Random.getstate(generator)

    def draw() -> str:
        copy = random.Random()  # noqa: S311 - no secrets
        copy.setstate(state)
        return f"next draw {copy.random()!r}"

    return Stream(state, draw)


def legacy_numpy_stream(generator: Any) -> Stream:
    """Return the state of a numpy.random.RandomState."""
    state = generator.get_state(legacy=False)

    def draw() -> str:
        import numpy as np

        copy = np.random.RandomState()
        copy.set_state(state)
        return f"next draw {copy.random_sample()!r}"

    return Stream(_frozen(state), draw)


def numpy_stream(generator: Any) -> Stream:
    """Return the state of a numpy.random.Generator, or of the bit generator in one."""
    bits = getattr(generator, "bit_generator", generator)
    state = bits.state

    def draw() -> str:
        import numpy as np

        copy = type(bits)()
        copy.state = state
        return f"next draw {float(np.random.Generator(copy).random())!r}"

    return Stream(_frozen(state), draw)


def torch_stream(generator: Any) -> Stream:
    """Return the state of a torch.Generator, on whatever device."""
    state = generator.get_state()  # a copy, on the host

    def draw() -> str:
        import torch

        copy = torch.Generator(device=generator.device)
        copy.set_state(state)
        drawn = torch.rand(1, generator=copy, device=generator.device, dtype=torch.float32)
        return f"next draw {drawn.item():.9g}"

    return Stream(bytes_of(state), draw)


def _mps_stream(torch: Any) -> Stream:
    return Stream(bytes_of(torch.mps.get_rng_state()), lambda: "one state")


def _frozen(state: Any) -> object:
    """Return the same with arrays and dicts converted to values that can be compared by `==`."""
    if isinstance(state, dict):
        return tuple((key, _frozen(value)) for key, value in state.items())
    if hasattr(state, "tobytes"):
        return state.tobytes()
    return state
