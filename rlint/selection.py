"""Which rules a file is checked with: `select` and `ignore` of several layers become a set of codes.

Within a layer the more specific selector wins (a code or name over RL10, that over RL1, that over
ALL); of two alike, `ignore`. A layer with `select` starts afresh; one without changes what the
layers before it chose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlint.errors import RlintError
from rlint.registry import RuleEntry, catalogue, resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rlint.config import Layer

_EXACT = 100
"""The specificity of a code or name; that of a prefix is its length, that of ALL is 0."""


def default_codes() -> frozenset[str]:
    """Every rule that is not opt-in."""
    return frozenset(entry.code for entry in catalogue() if not entry.opt_in)


def selected_codes(layers: Iterable[Layer]) -> frozenset[str]:
    """Return the codes that the layers, weakest first, select together."""
    codes = set(default_codes())
    for layer in layers:
        chosen: dict[str, bool] = {}
        for _, ignores, entries in sorted(_steps(layer), key=lambda step: step[:2]):
            chosen.update((entry.code, not ignores) for entry in entries)
        if "select" in layer.values:
            codes = set()
        for code, enabled in chosen.items():
            (codes.add if enabled else codes.discard)(code)
    return frozenset(codes)


def codes_of(selectors: Iterable[str], layer: Layer, key: str) -> frozenset[str]:
    """Return the codes, opt-in ones too, that `selectors` under `key` of `layer` mean."""
    return frozenset(entry.code for selector in selectors for entry in _resolve(selector, layer, key))


def _steps(layer: Layer) -> Iterator[tuple[int, bool, tuple[RuleEntry, ...]]]:
    """Yield specificity, whether it ignores, and the rules: sorted by these, the last word is right."""
    for key, ignores in (
        ("select", False),
        ("extend-select", False),
        ("ignore", True),
        ("extend-ignore", True),
    ):
        for selector in layer.values.get(key, ()):
            entries = _resolve(selector, layer, key)
            specificity = _specificity(selector, entries)
            if not ignores and 0 < specificity < _EXACT:
                entries = tuple(entry for entry in entries if not entry.opt_in)
            yield specificity, ignores, entries


def _specificity(selector: str, entries: tuple[RuleEntry, ...]) -> int:
    wanted = selector.strip()
    if wanted.upper() == "ALL":
        return 0
    exact = len(entries) == 1 and (wanted.upper() == entries[0].code or wanted.lower() == entries[0].name)
    return _EXACT if exact else len(wanted)


def _resolve(selector: str, layer: Layer, key: str) -> tuple[RuleEntry, ...]:
    try:
        return resolve(selector)
    except RlintError as error:
        head, mark, hint = str(error).partition("; ")
        raise RlintError(f"{head} in {layer.name_of(key)}{mark}{hint}") from error
