"""Parts of large repositories, and results stored by content."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlint.run_data import FileResult, FileTask
from rlint.survey.part_groups import ContentChangedError, PartGroups, SplitNeededError
from rlint.survey.result_store import bytes_of, data_of
from rlint.survey.tool_digest import options_digest, tool_digest

SIZES = st.lists(st.lists(st.integers(0, 1000), min_size=1, max_size=3), min_size=1, max_size=12)


def groups_of(sizes: list[list[int]]) -> list[list[FileTask]]:
    """Groups of files with these sizes."""
    return [
        [
            FileTask(
                Path(f"{at}_{index}.py"),
                f"{at}_{index}.py",
                f"m{at}_{index}",
                "",
                frozenset({"RL101"}),
                None,
                size,
                digest=f"{at:02}{index:02}{size}",
            )
            for index, size in enumerate(group)
        ]
        for at, group in enumerate(sizes)
    ]


@given(SIZES, st.integers(1, 2000))
def test_parts_have_each_group_once(sizes: list[list[int]], most: int) -> None:
    """The parts together are the whole, and are disjoint, in any order."""
    groups = groups_of(sizes)
    whole = PartGroups("tool", {}, most=most)
    try:
        chosen = whole.chosen(groups)
    except SplitNeededError as needed:
        parts = [
            PartGroups("tool", {}, part=part, parts=needed.parts, most=most, content=needed.content)
            for part in range(needed.parts)
        ]
        shares = [part.chosen(groups[::-1] if number % 2 else groups) for number, part in enumerate(parts)]
        names = [job.name for share in shares for group in share for job in group]
        assert sorted(names) == sorted(job.name for group in groups for job in group)
        assert sum(part.files for part in parts) == len(names)
    else:
        assert list(chosen) == groups
        assert len(groups) == 1 or sum(map(sum, sizes)) <= most


def test_a_change_between_parts_is_noticed() -> None:
    """Parts of different contents are never merged."""
    with pytest.raises(SplitNeededError) as needed:
        PartGroups("tool", {}, most=10).chosen(groups_of([[8], [8]]))
    part = PartGroups("tool", {}, part=1, parts=2, most=10, content=needed.value.content)
    with pytest.raises(ContentChangedError):
        part.chosen(groups_of([[8], [9]]))


def test_results_are_known_by_content() -> None:
    """Results of unchanged content are found; those of changed content or another version are not."""
    [group], [other] = groups_of([[5]]), groups_of([[6]])
    first = PartGroups("tool", {}, most=100)
    result = FileResult(group[0].name)
    assert first.load(group) is None
    first.add(group, [result])
    stored = data_of(bytes_of(first.kept))
    again = PartGroups("tool", stored, most=100)
    assert again.load(group) == [result]
    assert again.kept == stored
    assert again.reused == 1
    assert again.load(other) is None
    assert PartGroups("tool2", stored, most=100).load(group) is None


@pytest.mark.parametrize("known", [{"x": 1}, {"x": [{"sorts": [], "values": []}]}, {"x": [None]}])
def test_damaged_results_count_as_none(known: dict[str, object]) -> None:
    """If the store contains invalid data, the group is checked again."""
    [group] = groups_of([[5]])
    one = PartGroups("tool", {}, most=100)
    one.add(group, [FileResult(group[0].name)])
    [key] = one.kept
    assert PartGroups("tool", {key: known["x"]}, most=100).load(group) is None


def test_results_of_other_files_are_refused() -> None:
    """Results of other files from the store are rejected."""
    [group] = groups_of([[5]])
    one = PartGroups("tool", {}, most=100)
    one.add(group, [FileResult("other.py")])
    assert PartGroups("tool", data_of(bytes_of(one.kept)), most=100).load(group) is None


def test_digests_depend_on_what_counts() -> None:
    """Settings in another order have the same digest, other settings do not."""
    assert options_digest({"a": 1, "b": 2}, configured=False) == options_digest(
        {"b": 2, "a": 1}, configured=False
    )
    assert options_digest({}, configured=False) != options_digest({}, configured=True)
    assert len(tool_digest()) == 64
