"""Write the results of fixes as a transaction: files that share a fix are written together, or not at all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rlint.findings import Problem
from rlint.fixing import apply_fixes
from rlint.source.atomic_write import replace_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlint.run_data import Changed


def write(changed: Sequence[Changed]) -> dict[str, Problem]:
    """Write new texts; return the obstacles by file name.

    Of files that share fixes, none is written if one cannot be. Each file is replaced in one step; if the
    program is killed between two of them, some hold the new text and some the old one.
    """
    problems: dict[str, Problem] = {}
    for group in groups(changed):
        problems.update(_write_group(group))
    return problems


def groups(changed: Sequence[Changed]) -> list[list[Changed]]:
    """Group the files that fixes connect, in the order of the files."""
    leader = {each.source.name: each.source.name for each in changed}

    def find(name: str) -> str:
        while leader[name] != name:
            name = leader[name]
        return name

    for each in changed:
        for other in each.shares:
            if other in leader:
                leader[find(other)] = find(each.source.name)
    found: dict[str, list[Changed]] = {}
    for each in changed:
        found.setdefault(find(each.source.name), []).append(each)
    return list(found.values())


def _write_group(group: Sequence[Changed]) -> dict[str, Problem]:
    if len(group) == 1:
        problem = apply_fixes.write(group[0].source, group[0].text)
        return {group[0].source.name: problem} if problem is not None else {}
    for each in group:
        problem = _obstacle(each)
        if problem is not None:
            return _none_written(group, each, problem)
    written: list[Changed] = []
    try:
        for each in group:
            problem = apply_fixes.write(each.source, each.text)
            if problem is not None:
                return {**_none_written(group, each, problem), **_restored(written)}
            written.append(each)
    except BaseException:
        _restored(written)  # the user interrupted between two files
        raise
    return {}


def _obstacle(each: Changed) -> Problem | None:
    """Return what would prevent writing a file, as far as can be determined beforehand."""
    name = each.source.name
    try:
        each.source.encode(each.text)
        target = each.source.path.resolve()
        if not target.stat().st_mode & 0o222 or not os.access(target, os.W_OK):
            return Problem(name, "not written: the file is read-only")
        if not os.access(target.parent, os.W_OK):
            return Problem(name, "not written: its folder is read-only")
        if target.read_bytes() != each.source.raw:
            return Problem(name, "not written: the file changed on disk since it was read")
    except UnicodeEncodeError as error:
        return Problem(
            name, f"not written: its encoding, {each.source.encoding}, cannot encode the fix: {error.reason}"
        )
    except (OSError, RuntimeError) as error:
        return Problem(name, f"not written: {(isinstance(error, OSError) and error.strerror) or error}")
    return None


def _none_written(group: Sequence[Changed], failed: Changed, problem: Problem) -> dict[str, Problem]:
    others = {
        each.source.name: Problem(
            each.source.name,
            f"not written: it shares a fix with {failed.source.name}, which cannot be written",
        )
        for each in group
    }
    return {**others, failed.source.name: problem}


def _restored(written: Sequence[Changed]) -> dict[str, Problem]:
    """Restore the old contents of written files, unless other programs have changed them since."""
    problems: dict[str, Problem] = {}
    for each in written:
        try:
            target = each.source.path.resolve()
            new = each.source.encode(each.text)
            if replace_file(target, each.source.raw, like=target.stat(), holding=new):
                continue
            reason = "the file changed on disk"
        except (OSError, RuntimeError) as error:
            reason = str(error)
        problems[each.source.name] = Problem(
            each.source.name, f"a fix that spans several files was written to this one only: {reason}"
        )
    return problems
