"""The findings that come from the engine itself, not from a rule file: what suppression comments do."""

from __future__ import annotations

from rlint.frozen import frozen


@frozen
class EngineCode:
    """Code, name and page of a finding that the engine reports. All of them are opt-in."""

    code: str
    name: str
    fixes: str
    page: str


FAMILY = "suppressions"

UNUSED_SUPPRESSION = EngineCode(
    code="RL900",
    name="unused-suppression",
    fixes="safe",
    page="""\
A suppression comment that suppresses no finding.

## What it does
Flags `# noqa: RL101` and `# rlint: ignore[...]` where the rule they name was checked and found
nothing on that statement. A bare `# noqa` is never flagged: other tools may need it. Codes of
other tools are left alone.

## Why is it a problem
A comment that suppresses nothing today hides the next real finding on its line.

## Example
```python
total = sum(rewards)  # rlint: ignore[RL101]
```
Use instead:
```python
total = sum(rewards)
```

## Fix safety
Safe: only the comment changes. Codes of other tools in the same comment stay.
""",
)

UNKNOWN_SUPPRESSION_CODE = EngineCode(
    code="RL901",
    name="unknown-suppression-code",
    fixes="none",
    page="""\
A suppression comment that names a rule which does not exist.

## What it does
Flags codes of the form `RL` and digits in `# noqa: ...`, those that begin like the codes of a
plugin in use, and any code or name in `# rlint: ignore[...]`, that no rule has, and says which one
is nearest.

## Why is it a problem
The comment looks as if it suppressed a finding, but suppresses none.

## Example
```python
batch = torch.cat((batch, row))  # rlint: ignore[concat-grown-bufer]
```
Use instead:
```python
batch = torch.cat((batch, row))  # rlint: ignore[concat-grown-buffer]
```

## Fix safety
There is no fix: only the author knows which rule was meant.
""",
)

ENGINE_CODES: tuple[EngineCode, ...] = (UNUSED_SUPPRESSION, UNKNOWN_SUPPRESSION_CODE)
