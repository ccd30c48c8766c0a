"""Comparison of rlint's version with `required-version`."""

from __future__ import annotations

from rlint.errors import RlintError


def satisfies(version: str, required: str) -> bool:
    """Whether `version` meets every clause of `required`, such as ">=0.1,<0.3" or "0.1.0"."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # takes 20 ms to load

    try:
        wanted = SpecifierSet(required if required[:1] in tuple("=!<>~") else f"=={required}")
    except InvalidSpecifier:
        raise RlintError(
            f'`required-version` must be like ">=0.1,<0.3" or "0.1.0", not {required!r}'
        ) from None
    return wanted.contains(version, prereleases=True)
