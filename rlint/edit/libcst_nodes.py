"""LibCST nodes for `ast` nodes and vice versa: only statements that a rule examines are parsed."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from typing import Any

from rlint.edit.deferred_edit import CannotWriteError
from rlint.edit.parsed_code import by_libcst, code, expression
from rlint.edit.snippet import Snippet, as_line
from rlint.edit.source_text import SourceText
from rlint.edit.token_borders import separated
from rlint.findings import Edit
from rlint.parsing.imported_libcst import cst
from rlint.parsing.libcst_kinds import KINDS
from rlint.syntax.walk import descendants

_OPERATORS = (
    cst.Await,
    cst.BinaryOperation,
    cst.BooleanOperation,
    cst.Comparison,
    cst.Float,
    cst.GeneratorExp,
    cst.IfExp,
    cst.Integer,
    cst.Lambda,
    cst.NamedExpr,
    cst.Tuple,
    cst.UnaryOperation,
    cst.Yield,
)
_BY_START = (ast.stmt, ast.ExceptHandler, ast.arg)
"""Nodes whose ends differ in LibCST, which includes the default of a parameter."""


class LibcstNodes:
    """Parses the statements around nodes of one file, each once."""

    def __init__(self, source: SourceText) -> None:
        self._source = source
        self._parts: list[_Part] = []
        self._part_of: dict[cst.CSTNode, _Part] = {}

    @by_libcst
    def of(self, node: ast.AST) -> cst.CSTNode:
        """Return LibCST's node for a node of `ast`. Raise `CannotWriteError` if there is none."""
        part = self._part_around(node)
        found = part.slow.get(node)
        if found is None:
            raise CannotWriteError("LibCST reads the code in another way")
        return found

    def fast(self, node: cst.CSTNode) -> ast.AST:
        """Return the `ast` node for one of LibCST. Raise `TypeError` if there is none."""
        part, kind = self._part_of.get(node), type(node).__name__
        if part is None:
            raise TypeError(f"this `{kind}` is not a node of the checked file: it was newly created")
        found = part.fast.get(node)
        if found is None:
            raise TypeError(
                f"a `{kind}` such as `{code(node).strip()}` has no meaning of its own: query its parent "
                "instead"
            )
        return found

    def new_code(self, new: Any) -> str:
        """Return the text that replaces a node."""
        if isinstance(new, str):
            return new
        if isinstance(new, (list, tuple, cst.FlattenSentinel)):
            return "\n".join(map(self.new_code, new))
        return code(new) if isinstance(new, cst.CSTNode) else ""

    @by_libcst
    def replaced(self, node: cst.CSTNode, new: Any) -> tuple[Edit, ...]:
        """Return the edits that replace a node of the file by another, or by several statements."""
        part = self._part_of[node]
        new = self._sound(new)
        if isinstance(node, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            if isinstance(new, cst.BaseCompoundStatement) and isinstance(node, cst.BaseCompoundStatement):
                return part.edits_by(node, new)
            return part.snippet.edits({node: _lines(new)})
        new = expression(new) if isinstance(new, str) else new
        if not isinstance(new, cst.CSTNode):
            raise TypeError(f"a `{type(node).__name__}` is replaced by a node, not by {new!r}")
        return part.edits_by(node, new)

    @by_libcst
    def rewritten(
        self, node: ast.AST, transform: Callable[..., object], parts: Sequence[ast.AST]
    ) -> tuple[Edit, ...]:
        """Return the edits that replace the first LibCST node by the result of a function of the nodes."""
        old = self.of(node)
        return self.replaced(old, transform(old, *map(self.of, parts)))

    def _sound(self, new: Any) -> Any:
        """Put operands of new nodes in parentheses where precedence would change their meaning."""
        if isinstance(new, (list, tuple, cst.FlattenSentinel)):
            return [self._sound(each) for each in new]
        return new.visit(_Sound(self._part_of)) if isinstance(new, cst.CSTNode) else new

    def _part_around(self, node: ast.AST) -> _Part:
        """Return the lines around a node; those of an enclosing statement that is already parsed count as
        well.
        """
        source, parents = self._source, self._source.syntax.parents
        around: ast.AST | None = node
        while around is not None:
            neighbours = source.statements_sharing_lines(around) if isinstance(around, ast.stmt) else None
            if neighbours is not None:
                start, end = source.span(neighbours[0])[0], source.span(neighbours[1])[1]
                for part in self._parts:
                    if part.snippet.start <= start and end <= part.snippet.end:
                        return part
                made = _Part(Snippet(*neighbours, source), neighbours, source)
                self._parts.append(made)
                self._part_of.update(dict.fromkeys(made.nodes, made))
                return made
            around = parents.get(around)
        raise CannotWriteError("LibCST reads the code in another way")


class _Part:
    """Whole lines parsed by LibCST: from its nodes to those of `ast` (`fast`), and back (`slow`)."""

    def __init__(self, snippet: Snippet, neighbours: tuple[ast.stmt, ast.stmt], source: SourceText) -> None:
        self.snippet = snippet
        self._source = source
        self.fast: dict[cst.CSTNode, ast.AST] = {}
        self.slow: dict[ast.AST, cst.CSTNode] = {}
        self.nodes: list[cst.CSTNode] = []
        self._places = places = snippet.spans()
        by_place: dict[tuple[type[ast.AST], int], list[ast.AST]] = {}
        for node in _nodes_of(neighbours, source):
            if hasattr(node, "lineno"):
                by_place.setdefault((type(node), source.span(node)[0]), []).append(node)
        for slow, span in places.items():
            self.nodes.append(slow)
            start, end = span
            if isinstance(slow, (cst.Tuple, cst.GeneratorExp)) and slow.lpar:
                # these have parentheses of their own, which LibCST does not count
                start, end = places[slow.lpar[-1]][0], places[slow.rpar[0]][1]
            elif isinstance(slow, cst.Param):  # the stars of `*args`
                start = places[slow.name][0]
            for kind in KINDS.get(type(slow).__name__, ()):
                for fast in by_place.get((kind, start), ()):
                    if isinstance(fast, _BY_START) or source.span(fast)[1] == end:
                        self._pair(slow, fast)
        for slow in self.nodes:
            if slow not in self.fast:
                self._pair_by_part(slow)

    def _pair(self, slow: cst.CSTNode, fast: ast.AST) -> None:
        if fast not in self.slow and slow not in self.fast:
            self.fast[slow], self.slow[fast] = fast, slow

    def _pair_by_part(self, slow: cst.CSTNode) -> None:
        """Find the counterpart of a node whose position in `ast` differs or is missing, through one of its
        parts.
        """
        parents = self._source.syntax.parents
        match slow:
            case cst.WithItem(item=inner) | cst.CompFor(iter=inner) | cst.GeneratorExp(elt=inner):
                fast = parents.get(self.fast.get(inner) or ast.Pass())
                if isinstance(fast, KINDS[type(slow).__name__]):
                    self._pair(slow, fast)
            case cst.StarredElement(value=inner) | cst.Arg(star="*", value=inner):
                fast = parents.get(self.fast.get(inner) or ast.Pass())
                if isinstance(fast, ast.Starred):
                    self.fast[slow] = fast
            case cst.Arg(value=inner) | cst.Element(value=inner) | cst.Index(value=inner):
                fast = self.fast.get(inner)
                holder = parents.get(fast) if fast is not None else None
                if fast is not None:
                    self.fast[slow] = holder if isinstance(holder, ast.keyword) else fast
            case cst.SimpleStatementLine(body=[inner]):
                fast = self.fast.get(inner)
                if fast is not None:
                    self.fast[slow] = fast

    def edits_by(self, node: cst.CSTNode, new: cst.CSTNode) -> tuple[Edit, ...]:
        """Return the edits that replace one node by another, in parentheses if it needs them."""
        if isinstance(new, cst.BaseExpression) and isinstance(node, cst.BaseExpression) and not new.lpar:
            new = new.with_changes(lpar=node.lpar, rpar=node.rpar)  # the layout of their content is unchanged
        plain = self._with(node, new)
        if isinstance(new, cst.BaseExpression) and not new.lpar:
            wrapped = self._with(node, new.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()]))
            meant = self._meaning(wrapped)
            if meant is not None and self._meaning(plain) != meant:
                plain = wrapped
            plain = self._separated(node, plain)
        return self.snippet.edits_to(plain)

    def _separated(self, node: cst.CSTNode, lines: str) -> str:
        """Insert blanks beside the new code in changed lines if its tokens would join others."""
        text, left = self._source.syntax.text, getattr(node, "lpar", ())
        start, end = self._places[node]
        if left:
            start, end = self._places[left[0]][0], self._places[node.rpar[-1]][1]  # type: ignore[attr-defined]
        following = self.snippet.end - end
        place = start - self.snippet.start + len(self.snippet.header)
        new = lines[place : len(lines) - following]
        [edit] = separated([Edit(start, end, new)], text, self._source.syntax.mask)
        return lines[:place] + edit.text + lines[len(lines) - following :]

    def _with(self, node: cst.CSTNode, new: cst.CSTNode) -> str:
        return cst.ensure_type(self.snippet.module.visit(_Swapped(node, new)), cst.Module).code

    def _meaning(self, text: str) -> str | None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.dump(self._source.syntax.grammar.parse(text))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


class _Swapped(cst.CSTTransformer):
    """Replaces one node by another."""

    def __init__(self, node: cst.CSTNode, new: cst.CSTNode) -> None:
        super().__init__()
        self._node, self._new = node, new

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Do not visit the replaced node."""
        return node is not self._node

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> Any:
        """Return the replacement."""
        return self._new if original_node is self._node else updated_node


class _Sound(cst.CSTTransformer):
    """Puts operands in parentheses without which new code would be parsed differently."""

    def __init__(self, known: Collection[cst.CSTNode]) -> None:
        super().__init__()
        self._known = known

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Do not visit nodes that are in the file already."""
        return node not in self._known

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> Any:
        """Check one new expression, whose operands are correct."""
        node: Any = updated_node
        if original_node in self._known or not isinstance(node, cst.BaseExpression):
            return node
        bare = [
            place
            for place, each in enumerate(_operands(node))
            if isinstance(each, _OPERATORS) and not each.lpar
        ]
        if not bare or _is_read_so(node):
            return node
        for place in bare:
            node = _with_operand(node, place, is_wrapped=True)
        for place in bare:
            plain = _with_operand(node, place, is_wrapped=False)
            node = plain if _is_read_so(plain) else node
        return node


def _operands(node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """Yield the expressions that another consists of."""
    for child in node.children:
        if isinstance(child, cst.BaseExpression):
            yield child
        else:
            yield from _operands(child)


def _with_operand(node: cst.BaseExpression, place: int, *, is_wrapped: bool) -> cst.BaseExpression:
    """Return an expression with one of its operands in parentheses, or without them."""
    operand = list(_operands(node))[place]
    left, right = ([cst.LeftParen()], [cst.RightParen()]) if is_wrapped else ([], [])
    found = node.with_deep_changes(operand, lpar=left, rpar=right)
    assert isinstance(found, cst.BaseExpression)
    return found


def _is_read_so(node: cst.BaseExpression) -> bool:
    """Whether the text of an expression parses as that expression."""
    with suppress(cst.ParserSyntaxError, CannotWriteError):
        return expression(code(node)).deep_equals(node)
    return False


def _nodes_of(neighbours: tuple[ast.stmt, ast.stmt], source: SourceText) -> list[ast.AST]:
    """Return all nodes of the statements of a run."""
    block, first = source.syntax.block(neighbours[0])
    last = block.index(neighbours[1])
    buried = source.syntax.buried  # in f-strings, the positions of nodes are not reliable
    found = [node for statement in block[first : last + 1] for node in descendants(statement)]
    return [node for node in found if node not in buried]


def _lines(new: Any) -> Sequence[cst.BaseStatement]:
    """Return the statements that replace one: those of a block, if that is given."""
    if isinstance(new, cst.SimpleStatementSuite):
        return [cst.SimpleStatementLine(new.body, trailing_whitespace=new.trailing_whitespace)]
    if isinstance(new, cst.IndentedBlock):
        return _lines(list(new.body))
    given = [] if new is None or isinstance(new, cst.RemovalSentinel) else new
    found: list[cst.BaseStatement] = []
    for each in given if isinstance(given, (list, tuple, cst.FlattenSentinel)) else [given]:
        if isinstance(each, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            found.append(as_line(each) if isinstance(each, cst.BaseSmallStatement) else each)
        elif isinstance(each, cst.BaseStatement):
            found.append(each)
        else:
            raise TypeError(f"a statement is replaced by statements, not by {each!r}")
    return found
