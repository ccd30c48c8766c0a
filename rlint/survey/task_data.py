"""What travels between the machine that directs a survey and those that do its work: plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rlint.survey.repository_list import SurveyedRepository

CHECKED, KEPT, SPLIT, CHANGED, LEFT, UNFIT = "checked", "kept", "split", "changed", "left", "unfit"
"""What becomes of a task: checked now, known from an earlier run, too large for one task, changed while it
was checked, left behind for a reason, or given to a node that must not be used."""


@dataclass(frozen=True)
class SurveyOptions:
    """What applies to all tasks of a survey."""

    store: str = field(repr=False)
    """The URL that results are kept under. May hold credentials."""
    tool: str
    """The digest of rlint and Python, which must be the same on all nodes."""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Settings, as options of `rlint check` give them."""
    configured: bool = False
    """Whether the configuration files of the repositories count."""
    time_limit: float = 300.0
    """Seconds for one task."""
    memory_limit: int = 2 * 2**30
    """Bytes for one task."""
    part_size: int = 4_000_000
    """Bytes of source beyond which a repository is checked in parts."""


@dataclass(frozen=True)
class SurveyTask:
    """A repository, or one of the parts of a large one."""

    number: int
    """Of the repository in the list."""
    repository: SurveyedRepository
    part: int = 0
    parts: int = 1
    commit: str = ""
    content: str = ""
    """The digest of all that is to be checked, which all parts must agree on."""


@dataclass(frozen=True)
class TaskOutcome:
    """What became of a task."""

    status: str
    result: str = ""
    """The name under which the findings are stored."""
    commit: str = ""
    parts: int = 1
    content: str = ""
    reason: str = ""
    seconds: float = 0.0
    reused: int = 0
    """Files whose results an earlier run had kept."""
