"""The store of results: written data is read back, damaged data counts as missing, secrets are not shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("fsspec")

from rlint.errors import RlintError
from rlint.survey.result_store import ResultStore, bytes_of, data_of

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@pytest.mark.parametrize("scheme", ["", "file://", "memory:/"])
def test_any_url(scheme: str, tmp_path: Path) -> None:
    """A folder, a file URL and another file system behave the same."""
    store = ResultStore(f"{scheme}{tmp_path}/store")
    assert store.load("a/b.json.gz") is None
    assert store.folders("runs") == []
    store.store("a/b.json.gz", {"x": [1]})
    store.store("a/b.json.gz", {"x": [2]})
    store.write("runs/2/x", b"1")
    with store.open_to_write("runs/1/y") as file:
        file.write(b"12")
    assert store.load("a/b.json.gz") == {"x": [2]}
    assert store.folders("runs") == ["1", "2"]
    assert store.read("runs/1/y") == b"12"


@settings(max_examples=40)
@given(PLAIN, st.data())
def test_damage_is_noticed(value: object, data: st.DataObject) -> None:
    """Truncated data counts as missing; complete data is equal, byte for byte."""
    content = bytes_of(value)
    assert data_of(content) == value
    assert bytes_of(value) == content
    end = data.draw(st.integers(0, len(content) - 1))
    assert data_of(content[:end]) is None


def test_no_url_is_shown_with_its_secrets(tmp_path: Path) -> None:
    """Messages name the store without user and password."""
    with pytest.raises(RlintError) as error:
        ResultStore("nosuchthing://me:secret@bucket/a")
    assert "secret" not in str(error.value)
    assert "nosuchthing://bucket/a" in str(error.value)
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(RlintError, match="cannot be"):
        ResultStore(str(file)).store("a/b", 1)
