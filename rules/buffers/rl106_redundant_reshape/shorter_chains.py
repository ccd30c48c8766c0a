"""Two consecutive shape changes that one call could make."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Applicability, Edit, Fix, SemanticModel, TypeTag, descendants, frozen, last_name
from rlint.rules.buffers.rl106_redundant_reshape.reshapes import (
    ARRAYS,
    SWAPS,
    Link,
    gives_any_shape,
    is_contiguous,
    keeps_order,
    link_at,
    never_fails,
    permutation,
    shape_of,
    whole,
)


@frozen
class Shorter:
    """A message about a chain, the shorter form, and its fix."""

    message: str
    advice: str
    fix: Fix | None


def shorter(last: Link, model: SemanticModel) -> Shorter | None:
    """Return the shorter chain in place of `last` and of the shape change before it."""
    first = link_at(last.of, model)
    if first is None or not all(model.effects.effect_of(given).quiet for given in (*first.args, *last.args)):
        return None
    if keeps_order(first, model):
        if gives_any_shape(last, model):
            return _without_first(first, last, model)
        if last.name == "unsqueeze":
            return _with_axis(first, last, model)
        if last.name == "squeeze" and first.name in ("unsqueeze", "squeeze"):
            return _squeezed(first, last, model)
        if last.name == "squeeze" and first.name in ("view", "reshape"):
            return _without_axis(first, last, model)
    if first.name in SWAPS and last.name in SWAPS:
        return _swapped(first, last, model)
    if first.name in ("t", "T") and _views_a_line(last, model):
        return _without_first(first, last, model)
    return None


def _views_a_line(link: Link, model: SemanticModel) -> bool:
    """Whether it is a `view` of a tensor with at most one axis that is not of size 1: `view(1, -1)`. As
    `view` never copies, a transposed matrix that it accepts has a single row or column.
    """
    first = link_at(link.of, model)
    sizes = shape_of(link, model) if link.name == "view" else None
    if first is None or sizes is None or model.types.type_of(first.of).tag is not TypeTag.TENSOR:
        return False
    return [whole(size) for size in sizes if whole(size) != 1] == [-1]


def _shown(link: Link) -> str:
    return f"`{link.name}`"


# -- the first is lost -------------------------------------------------------------------------


def _without_first(first: Link, last: Link, model: SemanticModel) -> Shorter | None:
    """Handle `x.flatten().reshape(n, 4)`."""
    if (
        last.is_method
        and not first.is_method
        and model.types.type_of(first.of).tag not in (*ARRAYS, TypeTag.UNKNOWN)
    ):
        return None  # a list has no such method: the function converts it to an array
    message = (
        f"{_shown(first)} before {_shown(last)} is redundant: the order of the values is the same without it"
    )
    what = model.source.text(first.of) if model.edit.is_relocatable(first.of) else "the value"
    advice = f"Remove {_shown(first)}: {_shown(last)} accepts `{' '.join(what.split())}` as it is"
    return Shorter(message, advice, _leave_out(first, last, model))


def _leave_out(first: Link, last: Link, model: SemanticModel) -> Fix | None:
    if not first.is_method and model.types.type_of(first.of).tag not in ARRAYS:
        return None  # functions accept lists, too
    edits = _drop(first, model)
    if edits is None:
        return None
    if last.name == "view" and first.name not in ("view", "t", "T"):
        if not isinstance(last.node, ast.Call) or not isinstance(last.node.func, ast.Attribute):
            return None
        edits.append(model.edit.rename_attribute(last.node.func, "reshape"))
    doubts = list(_doubts_without(first, last, model))
    return _fix(f"Remove `{first.name}`", edits, doubts)


def _doubts_without(first: Link, last: Link, model: SemanticModel) -> Iterator[str]:
    of = " ".join(model.source.text(first.of).split())
    kind = model.types.type_of(first.of)
    if kind.tag not in ARRAYS:
        yield f"`{of}` must be a tensor or an array"
    if not never_fails(first):
        yield f"whether `{of}` fits the `{first.name}` is no longer checked"
    numpy = kind.tag is TypeTag.NDARRAY
    copies = first.name in ("reshape", "flatten", "ravel")
    copies_anyway = numpy and last.name == "flatten" and last.is_method
    if copies and not copies_anyway and not is_contiguous(first.of, model):
        yield f"the result may be a view of `{of}` where it was a copy"
    is_new = kind.fresh and not _may_require_grad(first.of)
    if last.name == "flatten" and kind.tag is TypeTag.TENSOR and not (is_new or (kind.rank or 0) > 1):
        yield f"the result is `{of}` itself instead of a view if it has one dimension"


def _may_require_grad(made: ast.expr) -> bool:
    """Whether a new tensor may be a leaf that requires grad, which its view is not."""
    return any(
        isinstance(node, ast.Call)
        and (
            any(keyword.arg in ("requires_grad", None) for keyword in node.keywords)
            or last_name(node.func) in ("requires_grad_", "Parameter")
        )
        for node in descendants(made)
    )


# -- one axis more -----------------------------------------------------------------------------


def _with_axis(first: Link, last: Link, model: SemanticModel) -> Shorter | None:
    """Handle `x.view(-1).unsqueeze(1)`."""
    sizes = shape_of(first, model)
    axis = whole(last.args[0]) if len(last.args) == 1 else None
    if sizes is None or axis is None or not -len(sizes) - 1 <= axis <= len(sizes):
        return None
    place = axis % (len(sizes) + 1)
    texts = ["-1"] if first.name in ("flatten", "ravel") else [model.source.text(size) for size in sizes]
    at_the_end = place == len(texts)
    texts.insert(place, "1")
    method = "view" if first.name == "view" else "reshape"
    written = f"{method}({', '.join(texts)})"
    message = f"{_shown(first)} and {_shown(last)} create two tensors where `{written}` creates one"
    fix = None
    if model.edit.is_relocatable(last.node) and (
        first.is_method or model.types.type_of(first.of).tag is TypeTag.TENSOR
    ):
        doubts = []
        if model.types.type_of(first.of).tag is not TypeTag.TENSOR:
            doubts.append(f"`{' '.join(model.source.text(first.of).split())}` must be a tensor")
        if not (at_the_end and is_contiguous(first.of, model)):
            doubts.append("the stride of the axis of size 1 may differ")
        doubts += _doubts_about_text(first, last, sizes, model)
        fix = _fix(
            f"Write `{written}`",
            [model.edit.replace(last.node, f"{model.edit.parenthesized(first.of)}.{written}")],
            doubts,
        )
    return Shorter(message, f"Write `{written}`", fix)


# -- one axis less -----------------------------------------------------------------------------


def _without_axis(first: Link, last: Link, model: SemanticModel) -> Shorter | None:
    """Handle `x.view(n, -1, 1).squeeze(-1)`."""
    sizes = shape_of(first, model)
    axis = whole(last.args[0]) if len(last.args) == 1 else None
    if sizes is None or axis is None or len(sizes) < 2 or not -len(sizes) <= axis < len(sizes):
        return None
    if whole(sizes[axis]) != 1:
        return None
    texts = [model.source.text(size) for size in sizes]
    del texts[axis]
    written = f"{first.name}({', '.join(texts)})"
    message = f"{_shown(first)} and {_shown(last)} create two tensors where `{written}` creates one"
    fix = None
    if first.is_method and model.edit.is_relocatable(last.node):
        of = " ".join(model.source.text(first.of).split())
        known = model.types.type_of(first.of).tag in ARRAYS
        fix = _fix(
            f"Write `{written}`",
            [model.edit.replace(last.node, f"{model.edit.parenthesized(first.of)}.{written}")],
            [
                *([] if known else [f"`{of}` must be a tensor or an array"]),
                *_doubts_about_text(first, last, sizes, model),
            ],
        )
    return Shorter(message, f"Write `{written}`", fix)


def _doubts_about_text(
    first: Link, last: Link, sizes: list[ast.expr] | None, model: SemanticModel
) -> Iterator[str]:
    """Yield why code could observe that another operation creates the result. `reshape` fails unless it is
    passed a single size of -1, and otherwise ones.
    """
    tag = model.types.type_of(first.of).tag
    if tag is not TypeTag.NDARRAY and model.usage.is_shown(last.node):
        yield "a printed tensor shows another `grad_fn`"
    fits = sizes is not None and [whole(size) for size in sizes if whole(size) != 1] == [-1]
    if not fits and model.usage.reads_errors():
        yield "if the shape does not fit, the error has another text, and the program reads errors"


# -- squeezed ----------------------------------------------------------------------------------


def _squeezed(first: Link, last: Link, model: SemanticModel) -> Shorter | None:
    """Handle `x.unsqueeze(0).squeeze()`, `x.unsqueeze(0).squeeze(0)`, `x.squeeze().squeeze()`."""
    if not last.args and (first.name == "unsqueeze" or not first.args):
        message = f"{_shown(first)} before {_shown(last)} is redundant: the axis is removed again"
        if first.name == "squeeze":
            message = "the second `squeeze` has nothing left to remove"
        edits = _drop(first, model)
        known = model.types.type_of(first.of).tag in ARRAYS
        if edits is None or not (first.is_method or known):
            return Shorter(message, f"Remove {_shown(first)}", None)
        doubts = (
            []
            if known
            else [f"`{' '.join(model.source.text(first.of).split())}` must be a tensor or an array"]
        )
        if first.name == "unsqueeze":
            doubts.append("a missing axis no longer raises an error")
        return Shorter(message, f"Remove {_shown(first)}", _fix(f"Remove `{first.name}`", edits, doubts))
    axes = [whole(given) for given in (*first.args, *last.args)]
    if first.name == "unsqueeze" and len(axes) == 2 and None not in axes and axes[0] == axes[1]:
        return _nothing_done(first, last, model)
    return None


# -- axes swapped ------------------------------------------------------------------------------


def _swapped(first: Link, last: Link, model: SemanticModel) -> Shorter | None:
    """Handle `x.t().t()`, `x.permute(0, 2, 1).permute(0, 2, 1)`, `x.permute(0, 2, 3, 1).transpose(1, 2)`."""
    if first.name == last.name and first.name in ("t", "T", "mT"):
        return _nothing_done(first, last, model)
    rank = next((len(_axes(link)) for link in (first, last) if link.name == "permute"), None)
    if rank is None:
        rank = model.types.type_of(first.of).rank
    numpy = model.types.type_of(first.of).tag is TypeTag.NDARRAY
    if rank is None and not numpy:
        pairs = [{whole(given) for given in link.args} for link in (first, last)]
        swaps = all(
            link.name in ("transpose", "swapaxes", "swapdims") and len(link.args) == 2
            for link in (first, last)
        )
        return (
            _nothing_done(first, last, model)
            if swaps and pairs[0] == pairs[1] and None not in pairs[0]
            else None
        )
    before, after = permutation(first, rank, model), permutation(last, rank, model)
    if before is None or after is None or len(before) != len(after):
        return None
    order = [before[axis] for axis in after]
    if order == list(range(len(order))):
        return _nothing_done(first, last, model)
    method = "transpose" if numpy else "permute"
    written = f"{method}({', '.join(map(str, order))})"
    message = f"{_shown(first)} and {_shown(last)} create two views where `{written}` creates one"
    fix = None
    known = model.types.type_of(first.of).tag in ARRAYS
    if model.edit.is_relocatable(last.node) and (first.is_method or known):
        of = " ".join(model.source.text(first.of).split())
        doubts = [] if known else [f"`{of}` must be a tensor"]
        if first.name != last.name and model.types.type_of(first.of).rank != len(order):
            doubts.append(f"`{of}` must have {len(order)} axes: otherwise another error is raised")
        doubts += _doubts_about_text(first, last, None, model)
        fix = _fix(
            f"Write `{written}`",
            [model.edit.replace(last.node, f"{model.edit.parenthesized(first.of)}.{written}")],
            doubts,
        )
    return Shorter(message, f"Write `{written}`", fix)


def _axes(link: Link) -> list[ast.expr]:
    match link.args:
        case (ast.Tuple(elts=axes) | ast.List(elts=axes),):
            return axes
    return list(link.args)


# -- nothing is left ---------------------------------------------------------------------------


def _nothing_done(first: Link, last: Link, model: SemanticModel) -> Shorter:
    of = " ".join(model.source.text(first.of).split())
    message = f"{_shown(last)} undoes {_shown(first)}: the shape is that of `{of}` again"
    fix = None
    if model.edit.is_relocatable(last.node):
        doubts = [f"the result is `{of}` itself instead of a view, and its shape is no longer checked"]
        fix = _fix("Remove both", [model.edit.replace(last.node, model.edit.parenthesized(first.of))], doubts)
    return Shorter(message, "Remove both", fix)


def _drop(first: Link, model: SemanticModel) -> list[Edit] | None:
    """Replace a shape change by its receiver."""
    if not model.edit.is_relocatable(first.node):
        return None
    if first.is_method and isinstance(first.node, ast.Call):
        # the receiver is not part of the edit, so that all of a long chain is shortened in one pass
        return [model.edit.replace_method(first.node, "")]
    return [model.edit.replace(first.node, model.edit.parenthesized(first.of))]


def _fix(title: str, edits: list[Edit], doubts: list[str]) -> Fix:
    safety = Applicability.UNSAFE if doubts else Applicability.SAFE
    return Fix(title, safety, tuple(edits), "; ".join(doubts) or None)
