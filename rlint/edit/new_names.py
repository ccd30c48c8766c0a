"""New names that edits introduce into a program, and whether they have the intended meaning there."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence

from rlint.edit.changed_statements import Piece, parsed_lines
from rlint.frozen import frozen
from rlint.parsing.positions import Positions
from rlint.regex import regex
from rlint.syntax.scopes import Binding, BindingKind, Scope
from rlint.syntax.syntax_index import DEFINITIONS, SyntaxIndex

_WORD = regex(r"[^\W\d]\w*")
_BUILTINS = frozenset(dir(builtins))
_ALWAYS = frozenset({"__file__", "__name__", "__doc__", "__class__"})


@frozen
class _Changed:
    """A changed piece as a program of its own, with its enclosing scope."""

    syntax: SyntaxIndex
    spans: list[tuple[int, int]]
    around: Scope

    def is_new(self, node: ast.AST) -> bool:
        """Whether a node is the text of an edit, or part of one."""
        start, end = self.syntax.positions.span(node)
        return any(first <= start and end <= last for first, last in self.spans)

    def new_bindings(self) -> Iterator[Binding]:
        """Yield the names that the edits bind in the scope around the piece."""
        for bindings in self.syntax.scopes[self.syntax.module].bindings.values():
            yield from filter(self.is_new_binding, bindings)

    def is_new_binding(self, binding: Binding) -> bool:
        """Whether a binding results from an edit, even if the edit only renames a function."""
        node = binding.node
        if not hasattr(node, "lineno"):
            return False
        if self.is_new(node):
            return True
        start, end = self.syntax.positions.span(node)
        names = (self.syntax.text[first:last] for first, last in self.spans if start < first and last < end)
        return isinstance(node, DEFINITIONS) and node.name in names


def misread_name(pieces: Sequence[Piece], syntax: SyntaxIndex) -> str | None:
    """Return a name that the edits of one fix read and that would not have the intended meaning: an import
    that a parameter shadows, a builtin that the file rebinds, or an unbound name.
    """
    changed = [_changed(piece, syntax) for piece in pieces if any(edit.text.strip() for edit in piece.edits)]
    try:
        return _misread(changed, pieces, syntax)
    finally:
        for each in changed:
            each.syntax.release()


def may_be_misread(code: str, place: int, lines: str, syntax: SyntaxIndex) -> bool:
    """Whether a name of new code, that is not yet in some lines around its position, may have another meaning
    there: a module variable, or a builtin, that is rebound in between.
    """
    names = set(_WORD.findall(code)).difference(_WORD.findall(lines))
    node = syntax.expression_before(place)
    here = syntax.scope(node) if node is not None else None
    for name in names:
        found = here.lookup(name) if here is not None else None
        if found is not None and name in _BUILTINS:
            return True
        if found is not None and found.parent is not None and name in found.module.bindings:
            return True
    return False


def _misread(changed: Sequence[_Changed], pieces: Sequence[Piece], syntax: SyntaxIndex) -> str | None:
    imported, bound = dict[str, Scope](), dict[str, Scope]()
    for each in changed:
        for binding in each.new_bindings():
            (imported if binding.kind is BindingKind.IMPORT else bound)[binding.name] = each.around
    known: set[str] | None = None
    for each in changed:
        for read in each.syntax.of_type(ast.Name):
            if not isinstance(read.ctx, ast.Load) or not each.is_new(read):
                continue
            if known is None:
                known = _known(pieces, syntax)
            is_new = read.id in imported or read.id in bound or read.id not in known
            if not is_new:
                continue
            if not _is_right(read, each, imported, bound) or _is_for_types(read, each, imported, syntax):
                return read.id
    return None


def _is_right(read: ast.Name, changed: _Changed, imported: dict[str, Scope], bound: dict[str, Scope]) -> bool:
    """Whether a name that is new at a position has the intended meaning."""
    name, here = read.id, changed.syntax.scope(read)
    inner = here.lookup(name)
    if inner is not None and inner.parent is not None:
        if all(map(changed.is_new_binding, inner.bindings[name])):
            return True  # a variable of the new code itself, such as that of its comprehension
        found: Scope | None = inner
    else:
        found = changed.around.lookup(name)
    defining_scope = imported.get(name) or bound.get(name)
    if defining_scope is not None:
        if found is not None and found is not defining_scope:
            return name in imported and found.parent is None
        return _sees(changed.around, defining_scope, within=here.parent is not None)
    module = changed.around.module
    if found is None:
        return name in _BUILTINS or name in _ALWAYS or bool(module.star_imports)
    if name in _BUILTINS:
        return False
    at_top = module.bindings.get(name)
    if found is not module and at_top and all(each.kind is BindingKind.IMPORT for each in at_top):
        return all(each.kind is BindingKind.IMPORT for each in found.bindings[name])
    return True


def _is_for_types(read: ast.Name, changed: _Changed, imported: dict[str, Scope], syntax: SyntaxIndex) -> bool:
    """Whether only type checkers evaluate the imports that bind a name: `if TYPE_CHECKING: import torch`."""
    found = changed.around.lookup(read.id)
    if found is None or read.id in imported:
        return False
    return all(
        binding.kind is BindingKind.IMPORT and _is_unevaluated(binding.statement, syntax)
        for binding in found.bindings[read.id]
    )


def _is_unevaluated(statement: ast.AST, syntax: SyntaxIndex) -> bool:
    """Whether a statement is in a block that only type checkers evaluate, or that never runs."""
    child = statement
    for around in syntax.ancestors(statement):
        if isinstance(around, ast.If) and child in around.body:
            match around.test:
                case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
                    return True
                case ast.Constant(value=value) if not value:
                    return True
        child = around
    return False


def _sees(scope: Scope, defining_scope: Scope, *, within: bool) -> bool:
    """Whether code in a scope, or in a function or comprehension in it, reads a binding of another scope."""
    if scope is defining_scope:
        return not (within and defining_scope.is_class)
    around: Scope | None = scope
    while around is not None and around is not defining_scope:
        around = around.parent
    return around is defining_scope and not defining_scope.is_class


def _changed(piece: Piece, syntax: SyntaxIndex) -> _Changed:
    lines = piece.rendered(syntax.text)
    parsed = parsed_lines(lines, syntax.grammar)
    assert parsed is not None, "pieces parse"
    reading, text = parsed
    more = len(text) - len(lines)
    spans = [(start + more, end + more) for start, end in piece.new_spans()]
    return _Changed(SyntaxIndex(text, reading), spans, _scope_around(piece, syntax))


def _scope_around(piece: Piece, syntax: SyntaxIndex) -> Scope:
    """Return the scope in which the statement of a piece, or its item, is evaluated."""
    known = piece.item or piece.neighbour
    if known is not None:
        return syntax.scope(known)
    node = syntax.statement_in(piece.start, piece.end)
    return syntax.scope(node) if node is not None else syntax.scopes[syntax.module]


def _known(pieces: Sequence[Piece], syntax: SyntaxIndex) -> set[str]:
    """Return the words in the lines that the edits change: in new code, they keep their meaning."""
    positions: Positions = syntax.positions
    found: set[str] = set()
    for piece in pieces:
        for edit in piece.edits:
            if edit.start != edit.end:
                first, last = positions.position(edit.start).line, positions.position(edit.end).line
                found.update(
                    _WORD.findall(syntax.text, positions.line_start(first), positions.line_end(last))
                )
    return found
