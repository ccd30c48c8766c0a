"""The semantic model for rules on LibCST nodes: each query takes such a node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rlint.edit.deferred_edit import DeferredEdit
from rlint.parsing.libcst_kinds import is_libcst

if TYPE_CHECKING:
    import ast

    from rlint.edit.libcst_nodes import LibcstNodes
    from rlint.findings import Edit
    from rlint.semantics.model import SemanticModel

_PARTS = frozenset(
    (
        "names program types dataflow effects frequency usage branches nn gradients threads source importer "
        "syntax"
    ).split()
)


class LibcstModel:
    """Queries the semantic model with LibCST nodes of this file in place of `ast` nodes.

    The `ast` nodes in answers can be passed to queries as well.
    """

    def __init__(self, model: SemanticModel) -> None:
        self._model = model
        self._nodes: LibcstNodes = model.edit.libcst
        self.path = model.path
        self.edit = LibcstEdits(model, self._nodes)
        self._parts: dict[str, _Part] = {}
        self._finders: dict[Callable[..., object], Callable[..., object]] = {}

    def __getattr__(self, name: str) -> Any:
        """Return a part of the model, or a method, that takes LibCST nodes."""
        if name not in _PARTS:
            return _taking(getattr(self._model, name), self._nodes)
        if name not in self._parts:
            self._parts[name] = _Part(getattr(self._model, name), self._nodes)
        return self._parts[name]

    def ast_of(self, node: Any) -> ast.AST:
        """Return the `ast` node at the same position."""
        return self._nodes.fast(node)

    def libcst_of(self, node: ast.AST) -> Any:
        """Return the LibCST node at the position of an `ast` node, by parsing the enclosing statement."""
        return self._nodes.of(node)

    def once(self, find: Callable[[Any, Any], Any], about: Any) -> Any:
        """Return the result of a function for a part of this file, computed once."""
        if find not in self._finders:
            self._finders[find] = lambda about, _: find(about, self)
        return self._model.once(self._finders[find], about)


class _Part:
    """A part of the semantic model."""

    def __init__(self, part: object, nodes: LibcstNodes) -> None:
        self._part, self._nodes = part, nodes

    def __getattr__(self, name: str) -> Any:
        """Return a method that takes LibCST nodes."""
        found = _taking(getattr(self._part, name), self._nodes)
        vars(self)[name] = found
        return found


class LibcstEdits(_Part):
    """Builds edits with LibCST nodes: `replace` takes a new node; other methods are those of the `ast`
    model.
    """

    def __init__(self, model: SemanticModel, nodes: LibcstNodes) -> None:
        super().__init__(model.edit, nodes)
        self._model = model

    def replace(self, node: Any, new: Any) -> Edit:
        """Replace a node of this file by a new node, or by the source of an expression. A statement may be
        replaced by several, or by None. Parentheses are added where they are needed.
        """
        if not is_libcst(type(node)):
            return self._model.edit.replace(node, new)
        start, end = self._model.source.span(self._nodes.fast(node))
        code = self._nodes.new_code(new)
        return DeferredEdit(start, end, code, lambda: self._nodes.replaced(node, new))

    def remove(self, statement: Any) -> Edit | None:
        """Delete a statement, with the comment above that belongs to it alone."""
        return self._model.edit.delete_statement(_fast(statement, self._nodes), comment=True)


def _taking(value: Any, nodes: LibcstNodes) -> Any:
    """Return a method that takes LibCST nodes, alone or in containers; other attributes are returned
    unchanged.
    """
    if not callable(value) or isinstance(value, type):
        return value

    def query(*args: Any, **kwargs: Any) -> Any:
        return value(
            *(_fast(each, nodes) for each in args),
            **{name: _fast(each, nodes) for name, each in kwargs.items()},
        )

    return query


def _fast(value: Any, nodes: LibcstNodes) -> Any:
    if is_libcst(type(value)):
        return nodes.fast(value)
    if isinstance(value, (list, tuple, set, frozenset)):
        return type(value)(_fast(each, nodes) for each in value)
    if isinstance(value, Mapping):
        return {_fast(key, nodes): _fast(each, nodes) for key, each in value.items()}
    if isinstance(value, Iterator):
        return (_fast(each, nodes) for each in value)
    return value
