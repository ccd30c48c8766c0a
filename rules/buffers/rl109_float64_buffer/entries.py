"""Storages that are entries of a dict: `self.buffers = {"o": np.empty((size, width)), …}`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.rule import SemanticModel, frozen, regex, same_code
from rlint.rules.buffers.rl109_float64_buffer.keyed_parts import keyed_parts
from rlint.rules.buffers.rl109_float64_buffer.read_as import (
    HANDED_OUT,
    is_counted_up,
    is_float32,
    is_row_written,
    read_as,
)

_NUMBERED = regex(r"(prev_|last_|old_)?(a|u|acts?|actions?|idxs?|index|indices|ids?)(_idx|_ids?)?")
"""Keys of storages that likely are read as integers: actions."""
_VECTOR = regex(r"(^|_)(dims?|width)$")
"""Names of the lengths of vectors: `act_dim`."""


@frozen
class Entry:
    """The allocation of an entry. `surely`: all of its reads are known, and convert to float32."""

    shown: str
    call: ast.Call
    surely: bool


def entries(target: ast.expr, value: ast.Dict | ast.Call, model: SemanticModel) -> list[Entry]:
    """Return the entries of a dict that are written row by row, and whose rows are read."""
    if not isinstance(target, ast.Attribute):
        return []
    uses = [use for use in own_uses(target, model) if use is not target]
    if any(not isinstance(use.ctx, ast.Load) and not _is_reset(use, model) for use in uses):
        return []
    found = []
    for key, call in _pairs(value):
        parts = [part for use in uses for part in keyed_parts(use, key, model)]
        if any(is_counted_up(part, model) for part in parts):
            continue
        if not any(is_row_written(part, model) for part in parts):
            continue
        reads = [(part, dtype) for part in parts if (dtype := read_as(part, model)) is not None]
        read = [dtype for _, dtype in reads]
        if not any(dtype or isinstance(part, ast.Subscript) for part, dtype in reads):
            continue  # not read, or only as a whole: `{key: value.copy() for key, value in rows.items()}`
        if any(dtype not in ("", HANDED_OUT) and not is_float32(dtype) for dtype in read):
            continue
        surely = all(map(is_float32, read))
        if surely or not (is_numbered(key, call) or is_narrow(call)):
            found.append(Entry(f"{model.source.text(target)}[{key!r}]", call, surely))
    return found


def own_uses(target: ast.Attribute, model: SemanticModel) -> list[ast.Attribute]:
    """Return the uses of an attribute that may be of the same object, without those of `self` in a class
    unrelated to the class around the target.
    """
    uses = model.names.attribute_uses(target.attr)
    here = model.class_of(target)
    if here is None or not model.names.is_self(target.value):
        return uses
    return [
        use
        for use in uses
        if not model.names.is_self(use.value)
        or (there := model.class_of(use)) is here
        or (there is not None and (_is_derived(there) or _is_derived(here)))
    ]


def _is_derived(cls: ast.ClassDef) -> bool:
    """Whether a class has another base than `object`."""
    return any(not (isinstance(base, ast.Name) and base.id == "object") for base in cls.bases)


def _is_reset(use: ast.Attribute, model: SemanticModel) -> bool:
    """Whether a dict is assigned there, as by a reset, or None."""
    match model.parent(use):
        case ast.Assign(value=value) | ast.AnnAssign(value=value):
            return isinstance(value, ast.Dict) or (isinstance(value, ast.Constant) and value.value is None)
    return False


def listed(node: ast.stmt, model: SemanticModel) -> Entry | None:
    """Return the storage that is an item of a list or dict of such: `self.rows.append(np.zeros((size, n)))`,
    `self.rows = [np.zeros((size, n)) for n in widths]`, `self.rows[key] = np.zeros((size, n))`.
    """
    match node:
        case ast.Assign(targets=[ast.Subscript(value=held)], value=ast.Call() as made):
            pass
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=held, attr="append"), args=[made])):
            pass
        case ast.Assign(targets=[held], value=ast.ListComp(elt=made)):
            pass
        case _:
            return None
    if not isinstance(held, ast.Attribute) or not isinstance(made, ast.Call):
        return None
    parents = [model.parent(use) for use in own_uses(held, model)]
    parts = [parent for parent in parents if isinstance(parent, ast.Subscript)]
    how = judged(parts, made, held.attr, model)
    return Entry(f"{model.source.text(held)}[…]", made, how) if how is not None else None


def judged(parts: Sequence[ast.expr], made: ast.Call, name: str, model: SemanticModel) -> bool | None:
    """Whether all reads of a storage are known to convert to float32; None if it is not a storage of rows, or
    likely not read so.
    """
    if any(is_counted_up(part, model) for part in parts):
        return None
    read = [dtype for part in parts if (dtype := read_as(part, model)) is not None]
    if not read or not any(is_row_written(part, model) for part in parts):
        return None
    if all(map(is_float32, read)):
        return True
    if is_numbered(name, made):
        return None
    rows = [
        part for part in parts if read_as(part, model) == "" and isinstance(model.parent(part), ast.Subscript)
    ]
    if any(map(is_float32, read)) and rows and not _is_flat(made):
        computed = any(_is_updated_from(row, model) for row in rows)
        others = [dtype for dtype in read if dtype not in ("", HANDED_OUT) and not is_float32(dtype)]
        known = len(rows) == read.count("")
        return False if known and not others and not computed else None
    likely = all(dtype == HANDED_OUT or is_float32(dtype) for dtype in read)
    return False if likely and (any(map(is_float32, read)) or not is_narrow(made)) else None


def _is_flat(call: ast.Call) -> bool:
    """Whether an array has one dimension, such as the sums of a tree."""
    match shape_of(call):
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return len(elts) < 2 and not any(isinstance(each, ast.Starred) for each in elts)
        case ast.BinOp(op=ast.Add()) | ast.Call(args=[_, _, *_]):
            return False
    return True


def _is_updated_from(row: ast.expr, model: SemanticModel) -> bool:
    """Whether a statement computes a row from another one of the same storage."""
    statement = next((above for above in model.ancestors(row) if isinstance(above, ast.stmt)), None)
    if not isinstance(statement, ast.Assign):
        return False
    stored = [target.value for target in statement.targets if isinstance(target, ast.Subscript)]
    return any(same_code(held, row) for held in stored)


def _pairs(value: ast.Dict | ast.Call) -> list[tuple[str, ast.Call]]:
    pairs: list[tuple[str | None, ast.expr]] = []
    if isinstance(value, ast.Dict):
        pairs += [
            (key.value, item)
            for key, item in zip(value.keys, value.values, strict=True)
            if isinstance(key, ast.Constant) and isinstance(key.value, str)
        ]
    else:
        pairs += [(keyword.arg, keyword.value) for keyword in value.keywords]
    return [(key, item) for key, item in pairs if key is not None and isinstance(item, ast.Call)]


def is_numbered(name: str, made: ast.Call) -> bool:
    """Whether a storage likely is read as integers, judging by its name: the numbers of actions, but not
    vectors of a named dimension (`(size, action_dim)`).
    """
    if _NUMBERED.fullmatch(name.lower()) is None:
        return False
    match shape_of(made):
        case ast.Tuple(elts=[_, ast.Name(id=width) | ast.Attribute(attr=width)]):
            return not _VECTOR.search(width.lower())
    return True


def is_narrow(call: ast.Call) -> bool:
    """Whether there is one number per step, which is small beside observations: `(size, 1)`."""
    match shape_of(call):
        case ast.Tuple(elts=elts) | ast.List(elts=elts) if elts:
            return len(elts) == 1 or (isinstance(elts[-1], ast.Constant) and elts[-1].value == 1)
        case ast.BinOp(op=ast.Add()):
            return False  # `(size,) + shape`
        case ast.Call(args=[_, _, *_]):
            return False  # `combined_shape(size, width)`
    return True


def shape_of(call: ast.Call) -> ast.expr | None:
    """Return the argument for the shape of a function that allocates."""
    named = [keyword.value for keyword in call.keywords if keyword.arg == "shape"]
    return next(iter([*call.args[:1], *named]), None)
