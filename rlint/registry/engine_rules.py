"""Codes of the engine itself, without a rule file: findings about suppression comments."""

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
Flags `# noqa: RL101` and `# rlint: ignore[...]` if the named rule was checked and has no finding on
that statement. A bare `# noqa` and the codes of other tools are never flagged.

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
Flags codes that belong to no rule: in `# noqa: ...`, codes of the form `RL` and digits and codes with
the prefix of a plugin in use; in `# rlint: ignore[...]`, any code or name. The message suggests the
most similar code or name.

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
