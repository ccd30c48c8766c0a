"""Messages between the directing machine of a survey and its workers: plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rlint.survey.repository_list import SurveyedRepository

CHECKED, KEPT, SPLIT, CHANGED, LEFT, UNFIT = "checked", "kept", "split", "changed", "left", "unfit"
"""Outcomes of a task: checked now, known from an earlier run, too large for one task, changed during the
check, not checked for a reason, or given to a node that must not be used.
"""


@dataclass(frozen=True)
class SurveyOptions:
    """The options of all tasks of a survey."""

    store: str = field(repr=False)
    """The URL under which results are stored. May hold credentials."""
    tool: str
    """The digest of rlint and Python, which must be the same on all nodes."""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Settings, in the form of options of `rlint check`."""
    configured: bool = False
    """Whether the configuration files of the repositories count."""
    time_limit: float = 300.0
    """Maximum seconds of one task."""
    memory_limit: int = 2 * 2**30
    """Maximum bytes of memory of one task."""
    part_size: int = 4_000_000
    """Bytes of source above which a repository is checked in parts."""


@dataclass(frozen=True)
class SurveyTask:
    """A repository, or one of the parts of a large one."""

    number: int
    """Number of the repository in the list."""
    repository: SurveyedRepository
    part: int = 0
    parts: int = 1
    commit: str = ""
    content: str = ""
    """The digest of all checked content, on which all parts must agree."""


@dataclass(frozen=True)
class TaskOutcome:
    """The outcome of a task."""

    status: str
    result: str = ""
    """The name under which the findings are stored."""
    commit: str = ""
    parts: int = 1
    content: str = ""
    reason: str = ""
    seconds: float = 0.0
    reused: int = 0
    """Files whose results an earlier run had stored."""
