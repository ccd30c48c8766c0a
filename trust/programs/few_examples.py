"""A plugin for pytest: tests that hypothesis feeds get few examples, and the same ones in each run.

PYTHONPATH="$TRUST/programs:$PYTHONPATH" python -m pytest -p few_examples tests
"""

from typing import Any

from hypothesis import settings

_MOST = 3
_build = settings.__init__


def _build_few(self: settings, *given: Any, **named: Any) -> None:
    if "max_examples" in named:
        named["max_examples"] = min(named["max_examples"], _MOST)
    _build(self, *given, **named)


settings.__init__ = _build_few  # type: ignore[method-assign]
settings.register_profile("few", max_examples=_MOST, derandomize=True, database=None)
settings.load_profile("few")
