"""Constants in a YAML file by their keys, however deep these lie. To be imported only where there are such
files, because the library takes long to import.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import yaml

from rlint.regex import regex

OTHER: Final = object()
"""Stands for a list, a mapping, and a value that is filled in when a program reads the file."""
_DEEPEST = 40
"""Levels of nesting. No settings are as deep, and some parsers need minutes for thousands of levels."""
_FILLED_IN = regex(r"\$|\{\{|^\?\?\?$")
"""Strings such as `${env.name}`, and `???` of OmegaConf."""
_TAG = "tag:yaml.org,2002:"
_CONSTANTS = frozenset(_TAG + kind for kind in ("bool", "float", "int", "null", "str"))


def yaml_values(content: bytes) -> list[tuple[str, object]]:
    """Return the keys of all mappings in a YAML file, each with its value: a constant, or `OTHER`. Empty for
    a file that is no YAML, which no program can read.
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return list(_values(yaml.parse(content, Loader=loader)))
    except (yaml.YAMLError, ValueError, RecursionError):
        return []


class _Collection:
    """A mapping or list that is being read; of a mapping, the key whose value comes next."""

    def __init__(self, *, is_mapping: bool) -> None:
        self.is_mapping = is_mapping
        self.key: str | None = None


def _values(events: Iterator[yaml.Event]) -> Iterator[tuple[str, object]]:
    """Yield keys with their values from the parts of a file: no objects are made, because a small file can
    contain itself or its parts any number of times.
    """
    constant_of = _Constants()
    around: list[_Collection] = []
    for event in events:
        if isinstance(event, yaml.CollectionEndEvent):
            around.pop()
            continue
        if not isinstance(event, yaml.NodeEvent):
            continue
        inside = around[-1] if around else None
        if inside is not None and inside.is_mapping:
            scalar = event if isinstance(event, yaml.ScalarEvent) else None
            if inside.key is None:
                inside.key = scalar.value if scalar is not None else ""
            else:
                yield inside.key, OTHER if scalar is None else constant_of(scalar)
                inside.key = None
        if isinstance(event, yaml.CollectionStartEvent):
            around.append(_Collection(is_mapping=isinstance(event, yaml.MappingStartEvent)))
            if len(around) > _DEEPEST:
                return


class _Constants:
    """Converts scalars as `yaml.safe_load` does."""

    def __init__(self) -> None:
        self._resolver = yaml.resolver.Resolver()
        self._constructor = yaml.constructor.SafeConstructor()

    def __call__(self, event: yaml.ScalarEvent) -> object:
        """Return the constant of a scalar; `OTHER` for one of a type of the program's own."""
        tag = event.tag
        if tag is None or tag == "!":
            tag = self._resolver.resolve(yaml.ScalarNode, event.value, event.implicit)
        if tag not in _CONSTANTS or _FILLED_IN.search(event.value):
            return OTHER
        return self._constructor.construct_object(yaml.ScalarNode(tag, event.value))
