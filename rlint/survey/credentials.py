"""Removal of credentials from URLs, before they are shown, stored or logged."""

from __future__ import annotations

import re

_USER = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)[^/\s@]*@")
_TAIL = re.compile(r"[?].*", re.DOTALL)


def without_credentials(url: str) -> str:
    """Return a URL without user, password and query. `git@host:path` has none of them and stays."""
    return _TAIL.sub("", _USER.sub(r"\1", url))


def scrubbed(text: str, *urls: str) -> str:
    """Return a message, such as one of git, in which no URL has credentials. `urls` are known to occur."""
    for url in urls:
        text = text.replace(url, without_credentials(url))
    return _USER.sub(r"\1", text)
