"""What a program could observe of a deque in place of a list, besides its speed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rlint.rule import SemanticModel, Type, TypeTag, algebra
from rlint.rules.buffers._shared.lower_bounds import has_items

ADDS = frozenset({"append", "insert", "extend"})
_PLAIN = frozenset(
    {
        TypeTag.NONE,
        TypeTag.BOOL,
        TypeTag.INT,
        TypeTag.FLOAT,
        TypeTag.STR,
        TypeTag.BYTES,
        TypeTag.NUMPY_SCALAR,
    }
)
_ARRAYS = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR})
_SIZED = frozenset({TypeTag.LIST, TypeTag.TUPLE, TypeTag.STR, TypeTag.RANGE, *_ARRAYS})
"""Types whose length no code of the project computes."""


def doubt(held: ast.expr, uses: Sequence[ast.expr], model: SemanticModel) -> str | None:
    """Return the condition under which a deque in a variable behaves like the list; None if there is none."""
    name = model.source.text(held)
    if model.usage.reads_errors() and not all(_cannot_fail(use, uses, model) for use in uses):
        return f"if `{name}` is empty, the `IndexError` has another text, and the program reads errors"
    for use in uses:
        method, given = _added(use, model)
        if method == "extend" and not _is_sized(given, model):
            return f"no code may run when the length of `{model.source.text(given)}` is computed"
        if method and not all(_is_released_silently(kind, model) for kind in _items(method, given, model)):
            return f"no code may run when items of `{name}` are deleted: their order differs"
    return None


def _added(use: ast.expr, model: SemanticModel) -> tuple[str, ast.expr]:
    """Return the method that adds items at a use, with the item or items; "" if none does."""
    match model.parent(use):
        case ast.Attribute(attr=method) as attribute if method in ADDS:
            call = model.parent(attribute)
            if isinstance(call, ast.Call) and call.args:
                return method, call.args[-1]
    return "", use


def _items(method: str, given: ast.expr, model: SemanticModel) -> Iterator[Type]:
    """Yield the types of the items that are added."""
    kind = model.types.type_of(given)
    match given:
        case _ if method != "extend" or kind.tag in _ARRAYS:
            yield kind
        case ast.List(elts=items) | ast.Tuple(elts=items):
            yield from map(model.types.type_of, items)
        case ast.GeneratorExp(elt=item) | ast.ListComp(elt=item):
            yield model.types.type_of(item)
        case _:
            yield from kind.parts or (algebra.item_of(kind),)


def _is_sized(given: ast.expr, model: SemanticModel) -> bool:
    return isinstance(given, ast.GeneratorExp) or model.types.type_of(given).tag in _SIZED


def _is_released_silently(kind: Type, model: SemanticModel) -> bool:
    """Whether no code observes when an object is deleted: it is a number, a text, an array, or a tuple of
    those.
    """
    if kind.tag is TypeTag.TUPLE:
        parts = kind.parts or (kind.item or Type(),)
        return all(_is_released_silently(part, model) for part in parts)
    if kind.tag in _ARRAYS:
        return kind.dtype != "object" and not _observes_arrays(model)
    return kind.tag in _PLAIN


def _observes_arrays(model: SemanticModel) -> bool:
    """Whether code of the project may run when an array or tensor is deleted."""
    return model.index.defines_method("__del__") or any(
        target.partition(".")[0] == "weakref"
        for module in model.index.modules.values()
        for target in (*module.imports.values(), *module.star_imports)
    )


def _cannot_fail(use: ast.expr, uses: Sequence[ast.expr], model: SemanticModel) -> bool:
    """Whether a use cannot find the list empty: it adds items or counts them, or a test or an addition before
    it shows that there are some.
    """
    parent = model.parent(use)
    if not isinstance(parent, (ast.Attribute, ast.Subscript)):
        return True
    if isinstance(parent, ast.Attribute) and parent.attr in (*ADDS, "clear"):
        return True
    statement = model.syntax.statement(use)
    others = (each for each in uses if each is not use and model.syntax.statement(each) is statement)
    if any(isinstance(model.parent(each), (ast.Attribute, ast.Subscript)) for each in others):
        return False  # it may remove the last item
    return has_items(use, use, model) or any(_adds_before(each, use, model) for each in uses)


def _adds_before(earlier: ast.expr, use: ast.expr, model: SemanticModel) -> bool:
    """Whether an earlier use always adds an item, and none is removed before another use."""
    if _added(earlier, model)[0] not in ("append", "insert"):
        return False
    call = next(each for each in model.ancestors(earlier) if isinstance(each, ast.Call))
    return model.dataflow.unchanged_between(use, call, use)
