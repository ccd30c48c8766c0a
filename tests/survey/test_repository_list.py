"""Lists of repositories: folders and URLs, without duplicates and without visible credentials."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlint.errors import RlintError
from rlint.survey.credentials import scrubbed, without_credentials
from rlint.survey.repository_list import listed, repository_of

WORD = st.text("abcdefghijklmnopqrstuvwxyz0123456789-_.~%", min_size=1, max_size=12)


def test_a_file_has_one_a_line(tmp_path: Path) -> None:
    """Blank lines and comments are skipped, and duplicates are removed."""
    file = tmp_path / "list.txt"
    file.write_text("# ours\n\n a \n./a\nhttps://example.org/o/r.git#v1\ngit@example.org:o/r\n", "utf-8")
    found = listed([str(tmp_path / "a")], [file])
    assert [(each.name, each.revision, each.is_remote) for each in found] == [
        (str(tmp_path / "a"), "", False),
        ("https://example.org/o/r.git", "v1", True),
        ("git@example.org:o/r", "", True),
    ]
    assert found[1].shown == "https://example.org/o/r.git#v1"


@pytest.mark.parametrize(
    "text",
    [
        "ext::sh -c touch% x",
        "ext://sh",
        "https://example.org/o/r#--upload-pack=x",
        "https://example.org/a b",
        "ssh://-oProxyCommand=x/o#-x",
    ],
)
def test_what_git_must_not_see_is_refused(text: str, tmp_path: Path) -> None:
    """A URL cannot run a program: anything but a plain URL is refused, or is a folder."""
    try:
        found = repository_of(text, tmp_path)
    except RlintError:
        return
    assert not found.is_remote


@given(WORD, WORD, WORD)
def test_credentials_are_never_shown(user: str, password: str, path: str) -> None:
    """Name, identity, output and messages contain neither user nor password."""
    secret = f"{user}-user:{password}-password"
    url = f"https://{secret}@example.org/{path}?token={password}-token"
    found = repository_of(url, Path("/"))
    said = [found.name, repr(found), found.shown, scrubbed(f"fatal: {url} and http://{secret}@b/c", url)]
    assert not any(secret in each or f"{password}-token" in each for each in said)
    assert found.location == url
    assert found.identity == repository_of(f"https://other:one@example.org/{path}", Path("/")).identity


def test_names_without_secrets_stay() -> None:
    """URLs without credentials are shown unchanged."""
    for name in ("git@example.org:o/r", "https://example.org/o/r", "file:///a/b", "/a@b/c"):
        assert without_credentials(name) == name


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    """The message names it."""
    with pytest.raises(RlintError, match=r"list\.txt: cannot be read"):
        listed([], [tmp_path / "list.txt"])
