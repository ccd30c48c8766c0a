"""References to functions with accessor names: the places to change if one is renamed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rlint import models
from rlint.models.trait import Trait
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.mentions.reference import ACCESSOR, ENDS, Reference, ReferenceKind
from rlint.syntax.import_statements import absolute_module
from rlint.syntax.last_names import calls_named, last_name
from rlint.syntax.syntax_index import FUNCTIONS, SyntaxIndex
from rlint.syntax.walk import place_in_order

_KEEP_THE_NAME = frozenset(
    {"builtins.staticmethod", "builtins.classmethod", "abc.abstractmethod", "functools.lru_cache"}
    | {"functools.cache", "torch.no_grad", "torch.inference_mode"}
)
_NAMED_FIRST = frozenset({"attrgetter", "import_module", "methodcaller"}) | {
    "__getattr__",
    "__getattribute__",
    "__import__",
}
_NAMED_SECOND = frozenset({"getattr", "hasattr", "setattr", "delattr"})
_BY_NAME = models.names_having(Trait.REFLECTS, "builtins", "importlib", "inspect", "operator") | {
    "__getattr__",
    "__getattribute__",
}


def mentions_of(analysis: FileAnalysis, attributes: frozenset[str]) -> tuple[Reference, ...]:
    """Return all places of a file with the names of accessors that it defines, imports or reads; `attributes`
    are the names of the attributes that it reads.
    """
    syntax = analysis.syntax
    names = {name for name in _names(syntax, attributes) if ACCESSOR.fullmatch(name)}
    if not names:
        return ()
    known = {mention.start: mention for mention in _known(names, analysis)}
    found = []
    for name in sorted(names):
        for start in _places_of(name, syntax.text):
            mention = known.get(start)
            if mention is None or mention.name != name:
                mention = Reference(name, start, ReferenceKind.OTHER)
            found.append(mention)
    return tuple(sorted(found, key=lambda mention: mention.start))


def _places_of(name: str, text: str) -> Iterator[int]:
    """Yield the offsets at which a name occurs in a text as a whole word. A pattern with lookarounds is tried
    at each character, and takes fifty times as long.
    """
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        if not _continues_name(text[start - 1 : start]) and not _continues_name(text[end : end + 1]):
            yield start
        start = text.find(name, end)


def _continues_name(character: str) -> bool:
    return character.isalnum() or character == "_"


def looks_up_names(analysis: FileAnalysis) -> bool:
    """Whether a file looks up names that are known only at run time."""
    syntax = analysis.syntax
    for node in syntax.of_type(ast.FunctionDef):
        assert isinstance(node, ast.FunctionDef)
        if node.name in _BY_NAME:
            return True
    return not all(map(_is_written_out, calls_named(_BY_NAME, syntax)))


def _is_written_out(call: ast.Call) -> bool:
    """Whether a look-up spells out the name: `getattr(agent, "steps")`."""
    name = last_name(call.func)
    if name not in _NAMED_FIRST | _NAMED_SECOND:
        return False
    given = call.args[1:] if name in _NAMED_SECOND else call.args
    return bool(given) and isinstance(given[0], ast.Constant)


def _names(syntax: SyntaxIndex, attributes: frozenset[str]) -> set[str]:
    """Return the names in a file that end as accessor names do."""
    functions = (*syntax.of_type(ast.FunctionDef), *syntax.of_type(ast.AsyncFunctionDef))
    defined = (node.name for node in functions)  # type: ignore[attr-defined]
    imported = (alias.name for node in syntax.of_type(ast.ImportFrom) for alias in node.names)
    every = attributes.union(syntax.written.attributes, syntax.variables.names, defined, imported)
    return {name for name in every if name.endswith(ENDS)}


def _known(names: set[str], analysis: FileAnalysis) -> Iterator[Reference]:
    """Yield the mentions that can be renamed."""
    syntax = analysis.syntax
    span = syntax.positions.span
    for function in syntax.of_type(ast.FunctionDef):
        assert isinstance(function, ast.FunctionDef)
        if function.name not in names:
            continue
        matched = re.compile(r"def\s+").match(syntax.text, span(function)[0])
        if matched is not None and _may_be_renamed(function, analysis):
            yield Reference(function.name, matched.end(), ReferenceKind.DEFINITION, syntax.qualname(function))
    for imported in syntax.of_type(ast.ImportFrom):
        assert isinstance(imported, ast.ImportFrom)
        base = absolute_module(imported.module or "", imported.level, syntax.package)
        for alias in imported.names:
            if alias.name in names:
                path = f"{base}.{alias.name}" if base else alias.name
                yield Reference(alias.name, span(alias)[0], ReferenceKind.IMPORT, path)
    variables = [name for used in names for name in syntax.variables.named(used)]
    for name in sorted(variables, key=place_in_order):
        if isinstance(name.ctx, ast.Load):
            yield Reference(name.id, span(name)[0], ReferenceKind.USE, analysis.names.qualified(name) or "")
    attributes = [attribute for used in names for attribute in syntax.written.attributes.get(used, ())]
    for attribute in sorted(attributes, key=place_in_order):
        if isinstance(attribute.ctx, ast.Load):
            start = span(attribute)[1] - len(attribute.attr)
            yield Reference(attribute.attr, start, ReferenceKind.USE, _path_of(attribute, analysis))


def _may_be_renamed(node: ast.FunctionDef, analysis: FileAnalysis) -> bool:
    """Whether nothing around a definition depends on its name: no decorator, no metaclass."""
    around = analysis.syntax.ancestors(node)
    owner = next(each for each in around if isinstance(each, (*FUNCTIONS, ast.ClassDef, ast.Module)))
    if isinstance(owner, ast.ClassDef) and (owner.keywords or owner.decorator_list):
        plain = {"dataclasses.dataclass", "abc.ABCMeta"}
        given = [keyword.value for keyword in owner.keywords]
        given += [each.func if isinstance(each, ast.Call) else each for each in owner.decorator_list]
        if not all(analysis.names.qualified(each) in plain for each in given):
            return False
    decorators = [each.func if isinstance(each, ast.Call) else each for each in node.decorator_list]
    known = all(analysis.names.qualified(each) in _KEEP_THE_NAME for each in decorators)
    return known and not isinstance(owner, FUNCTIONS)


def _path_of(node: ast.Attribute, analysis: FileAnalysis) -> str:
    """Return the access path of an attribute: of a module, a class, or an object whose class is known."""
    qualified = analysis.names.qualified(node)
    if qualified is not None:
        return qualified
    if isinstance(node.value, ast.Call) and last_name(node.value.func) == "super":
        owner = analysis.syntax.class_of(node)
        base = analysis.names.qualified(owner.bases[0]) if owner is not None and owner.bases else None
        return f"{base}.{node.attr}" if base else ""
    kind = analysis.types.type_of(node.value)
    if not kind.of or "{" in kind.of:
        return ""
    return f"{kind.of}().{node.attr}" if kind else f"{kind.of}.{node.attr}"
