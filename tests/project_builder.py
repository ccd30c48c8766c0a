"""Small projects for tests of the semantic model."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

from rlint.models.value_type import Type
from rlint.parsing.grammar import Reading
from rlint.parsing.parse import parse
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.summarise import summarise
from rlint.semantics.interprocedural.whole_program import WholeProgram
from rlint.semantics.likely_models import LikelyModels
from rlint.semantics.model import SemanticModel


def build(files: dict[str, str]) -> dict[str, SemanticModel]:
    """Build the sites of a project from its files' names and texts (indentation is taken off)."""
    known = {}
    for name, text in files.items():
        reading = parse(textwrap.dedent(text), name)
        assert isinstance(reading, Reading), reading
        parts = Path(name).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        dotted = ".".join(parts[:-1] if is_package else parts)
        package = dotted if is_package else dotted.rpartition(".")[0]
        known[name] = FileAnalysis(textwrap.dedent(text), reading, dotted, package)
    linked = WholeProgram([summarise(analysis, name) for name, analysis in known.items()])
    return {
        name: SemanticModel(name, analysis.linked(linked.index), linked) for name, analysis in known.items()
    }


def model_of(text: str) -> SemanticModel:
    """Build the site of a project of one file."""
    return build({"train.py": text})["train.py"]


def find(model: SemanticModel, source: str, *, last: bool = False) -> ast.AST:
    """Return the first (or last) expression or statement whose source text is exactly `source`."""
    found = [
        node
        for node in ast.walk(model.syntax.module)
        if isinstance(node, (ast.expr, ast.stmt)) and model.source.text(node) == source
    ]
    assert found, f"no node reads {source!r}"
    found.sort(key=model.source.span)
    return found[-1 if last else 0]


def expression(model: SemanticModel, source: str, *, last: bool = False) -> ast.expr:
    """Return the first (or last) expression whose source text is exactly `source`."""
    node = find(model, source, last=last)
    if isinstance(node, ast.Expr):
        node = node.value
    assert isinstance(node, ast.expr)
    return node


def both(text: str, source: str, *, last: bool = True, **others: str) -> tuple[Type, Type]:
    """Return the sure and the likely type of an expression in `train.py` that reads `source`."""
    files = {"train.py": text, **{f"{name}.py": other for name, other in others.items()}}
    known = {}
    for name, each in files.items():
        reading = parse(textwrap.dedent(each), name)
        assert isinstance(reading, Reading)
        known[name] = FileAnalysis(textwrap.dedent(each), reading, name[:-3], "")
    program = WholeProgram([summarise(analysis, name) for name, analysis in known.items()])
    sure = SemanticModel("train.py", known["train.py"].linked(program.index), program)
    likely = LikelyModels(sure, program).all
    node = expression(sure, source, last=last)
    assert isinstance(node, ast.expr)
    return sure.types.type_of(node), likely.types.type_of(node)
