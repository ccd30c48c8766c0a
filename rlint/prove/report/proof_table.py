"""A proof as a table in a terminal."""

from __future__ import annotations

from rlint.output.terminal import printable
from rlint.prove.proof import NOT_REACHED, NOT_RECORDED, Proof
from rlint.prove.report import proof_words


def render(proof: Proof, *, color: bool, width: int | None) -> str:
    """Return the table, the differences, and the fixes that could not be proven with their reasons."""
    import io

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(
        file=io.StringIO(), force_terminal=color, no_color=not color, width=width or 120, highlight=False
    )
    described = [one for one in proof.fixes if one.verdict not in (NOT_REACHED, NOT_RECORDED)]
    if described:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for title in proof_words.COLUMNS:
            table.add_column(title, justify="right" if title in proof_words.NUMBERS else "left")
        rows = [*described, *([proof.together] if proof.together is not None else [])]
        for one in rows:
            cells = map(printable, proof_words.cells(one))
            style = proof_words.STYLES.get(one.verdict, "")
            table.add_row(
                *(Text(cell, style=style if place == 2 else "") for place, cell in enumerate(cells))
            )
        console.print(table)
    for line in proof_words.sentences(proof):
        console.print(Text(printable(line)), soft_wrap=True)
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()
