"""Rule selection: `select` and `ignore` of several layers become a set of codes.

Within a layer the more specific selector wins (a code or name over RL10, that over RL1, that over ALL); if
two are equally specific, `ignore` wins. A layer with `select` starts afresh; one without modifies the
selection of the layers before it.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from rlint.config.fixability import Fixability
from rlint.errors import RlintError
from rlint.frozen import frozen
from rlint.registry.catalogue import RuleEntry, resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rlint.config.options import Layer


@frozen
class Rules:
    """The rules that a configuration may name: those of rlint, and of its plugins."""

    plugins: frozenset[str] = frozenset()
    """Plugins in use."""
    complete: bool = True
    """Whether all plugins are present: selectors may refer to rules of a missing one."""
    left_out: list[str] = field(default_factory=list, compare=False)
    """The selectors that match nothing, perhaps because a plugin is missing."""

    def all(self) -> tuple[RuleEntry, ...]:
        """Return all of them, by code."""
        return resolve("ALL", plugins=self.plugins)

    def named(self, selector: str, layer: Layer, key: str) -> tuple[RuleEntry, ...]:
        """Return the rules that a selector under `key` of `layer` means."""
        try:
            return resolve(selector, plugins=self.plugins)
        except RlintError as error:
            if layer.path is None and _is_known(selector):
                return ()  # an option applies to all folders, and others may have the plugin
            if not (self.complete or selector.strip().upper().startswith("RL")):
                self.left_out.append(selector.strip())
                return ()
            head, mark, hint = str(error).partition("; ")
            raise RlintError(f"{head} in {layer.name_of(key)}{mark}{hint}") from error


def _is_known(selector: str) -> bool:
    """Whether a selector matches a rule of any plugin in use."""
    try:
        return bool(resolve(selector))
    except RlintError:
        return False


_SELECTION = (("select", False), ("extend-select", False), ("ignore", True), ("extend-ignore", True))
_FIXABLE = (("fixable", False), ("extend-fixable", False), ("unfixable", True))
_SAFETY = (("extend-safe-fixes", False), ("extend-unsafe-fixes", True))
_SELECTING = ("select", "extend-select")
"""Keys whose prefixes do not include opt-in rules."""

_OWN = Rules()
_EXACT = 100
"""The specificity of a code or name; that of a prefix is its length, that of ALL is 0."""


def default_codes(rules: Rules = _OWN) -> frozenset[str]:
    """Return every rule that is not opt-in."""
    return frozenset(entry.code for entry in rules.all() if not entry.opt_in)


def selected_codes(layers: Iterable[Layer], rules: Rules = _OWN) -> frozenset[str]:
    """Return the codes that the layers, weakest first, select together."""
    codes = set(default_codes(rules))
    for layer in layers:
        on, off = _chosen(layer, _SELECTION, rules)
        if "select" in layer.values:
            codes = set()
        codes = (codes | on) - off
    return frozenset(codes)


def fixability(layers: Iterable[Layer], rules: Rules = _OWN) -> Fixability:
    """Return the settings for fixes of the layers, weakest first. `fixable` starts afresh, as `select`
    does.
    """
    fixable = everything = frozenset(entry.code for entry in rules.all())
    safe: frozenset[str] = frozenset()
    unsafe: frozenset[str] = frozenset()
    for layer in layers:
        if "fixable" in layer.values:
            fixable = frozenset()
        on, off = _chosen(layer, _FIXABLE, rules)
        fixable = (fixable | on) - off
        trusted, doubted = _chosen(layer, _SAFETY, rules)
        safe, unsafe = (safe | trusted) - doubted, (unsafe | doubted) - trusted
    return Fixability(everything - fixable, safe, unsafe)


def _chosen(
    layer: Layer, keys: Iterable[tuple[str, bool]], rules: Rules
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the codes that a layer enables and disables; the more specific selector wins, then `off`."""
    chosen: dict[str, bool] = {}
    for _, switches_off, entries in sorted(_steps(layer, rules, keys), key=lambda step: step[:2]):
        chosen.update((entry.code, not switches_off) for entry in entries)
    on = frozenset(code for code, enabled in chosen.items() if enabled)
    return on, frozenset(chosen.keys() - on)


def codes_of(selectors: Iterable[str], layer: Layer, key: str, rules: Rules) -> frozenset[str]:
    """Return the codes, including opt-in ones, that `selectors` under `key` of `layer` mean."""
    return frozenset(entry.code for selector in selectors for entry in rules.named(selector, layer, key))


def _steps(
    layer: Layer, rules: Rules, keys: Iterable[tuple[str, bool]]
) -> Iterator[tuple[int, bool, tuple[RuleEntry, ...]]]:
    """Yield specificity, whether it disables, and the rules: sorted by these, the last one decides."""
    for key, switches_off in keys:
        for selector in layer.values.get(key, ()):
            entries = rules.named(selector, layer, key)
            specificity = _specificity(selector, entries)
            if key in _SELECTING and 0 < specificity < _EXACT:
                entries = tuple(entry for entry in entries if not entry.opt_in)
            yield specificity, switches_off, entries


def _specificity(selector: str, entries: tuple[RuleEntry, ...]) -> int:
    wanted = selector.strip()
    if wanted.upper() == "ALL":
        return 0
    exact = len(entries) == 1 and (wanted.upper() == entries[0].code or wanted.lower() == entries[0].name)
    return _EXACT if exact else len(wanted)
