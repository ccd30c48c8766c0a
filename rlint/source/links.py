"""Links in untrusted trees: whether a path is one, and whether it leads out of its tree."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_JUNCTION = (
    0xA0000003  # IO_REPARSE_TAG_MOUNT_POINT: Windows has such links of folders, which are not symbolic links
)


def is_link(path: str | Path) -> bool:
    """Whether a path is a symbolic link or a junction, dangling or not."""
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return False
    return stat.S_ISLNK(status.st_mode) or getattr(status, "st_reparse_tag", 0) == _JUNCTION


def end_outside(path: Path) -> Path | None:
    """Return the target of a linked file, if that is outside of the tree of the link.

    The tree is the link's folder and the repository around it, or the working folder. None for a path that is
    not a link. Raises OSError or RuntimeError for loops of links.
    """
    if not is_link(path):
        return None
    end, folder = path.resolve(), path.parent.resolve()
    repository = next((each for each in (folder, *folder.parents) if os.path.lexists(each / ".git")), folder)
    return None if end.is_relative_to(repository) or end.is_relative_to(Path.cwd().resolve()) else end
