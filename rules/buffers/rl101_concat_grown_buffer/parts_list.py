"""The fix for an array that grows in one loop: a list of the parts, concatenated once after the loop."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from rlint.rule import (
    LOOPS,
    AnyLoop,
    Applicability,
    ArrayGrowth,
    BindingKind,
    Edit,
    Fix,
    LoopCarried,
    SemanticModel,
    Trait,
    Type,
    TypeTag,
    models,
    torch_settings,
)
from rlint.rules.buffers.rl101_concat_grown_buffer import empty_start, numpy_name, surely_fits, unseen

TITLE = "Collect the parts in a list and concatenate once"
AT_MODULE_LEVEL = "the global `{name}` keeps its initial value while the loop runs and after an error in it"
NO_PARTS = "if no parts are added, `{name}` stays the same array instead of becoming a copy"

OF_OWN_KIND = "the rows must be plain numeric arrays: no strings, no `None`, no `np.matrix`, no masked arrays"
TURNS_AUTOGRAD = (
    "if the loop runs code that enables or disables autograd, the concatenation now runs after it"
)
_MAKES_OWN_KIND = ("asmatrix", "bmat", "ma", "mat", "matrix", "todense")

_OF_ALL = models.having(Trait.KEEPS_VALUES | Trait.RESHAPES, TypeTag.TENSOR) - {"type"}
"""Methods that return all of their receiver in another form."""
NUMBERS = frozenset({TypeTag.FLOAT, TypeTag.INT, TypeTag.BOOL, TypeTag.NUMPY_SCALAR})


def build(growth: ArrayGrowth, carried: LoopCarried, model: SemanticModel) -> Fix | None:
    """Return the fix, or None if other code could observe the difference or the code cannot be edited."""
    loop, target, statement = carried.loops[-1], growth.target, growth.statement
    if (
        not isinstance(loop, LOOPS)
        or not isinstance(target, ast.Name)
        or not isinstance(statement, ast.Assign)
    ):
        return None
    scope = model.names.scope(statement).lookup(target.id)
    if scope is None or carried.restarts or not growth.direct or not growth.in_place or growth.bounds:
        return None
    if not growth.join.plain or not is_constant(growth.join.axis) or (growth.front and len(growth.new) > 1):
        return None
    if not unseen.is_unseen(target.id, growth, loop, scope, model):
        return None
    if not starts_before(carried, loop, model):
        return None
    name = model.importer.fresh_name(f"{target.id}_parts")
    rows = [copied(part, growth, model) for part in growth.new]
    joined = join(target.id, name, growth, model)
    if joined is None or any(row is None for row in rows):
        return None
    made = edits(growth, loop, statement, name, [row or "" for row in rows], joined, model)
    if made is None:
        return None
    if not scope.is_function:
        return Fix(TITLE, Applicability.UNSAFE, made, AT_MODULE_LEVEL.format(name=target.id))
    if any(isinstance(part, ast.Starred) for part in growth.new):
        return Fix(TITLE, Applicability.UNSAFE, made, NO_PARTS.format(name=target.id))
    if not growth.join.function.startswith("torch.") and _is_of_own_kind(growth.new, model):
        return Fix(TITLE, Applicability.UNSAFE, made, OF_OWN_KIND)
    if growth.join.function.startswith("torch.") and model.program.sets(torch_settings.GRAD_MODE):
        return Fix(TITLE, Applicability.UNSAFE, made, TURNS_AUTOGRAD)
    if not all(empty_start.is_own(binding, target.id, loop, scope, model) for binding in carried.starts):
        return Fix(TITLE, Applicability.UNSAFE, made, empty_start.REASON.format(name=target.id))
    if not surely_fits.surely_fit(growth, list(carried.starts), model):
        return Fix(TITLE, Applicability.UNSAFE, made, surely_fits.REASON.format(name=target.id))
    return Fix(TITLE, Applicability.SAFE, made)


def _is_of_own_kind(parts: Iterable[ast.expr], model: SemanticModel) -> bool:
    """Whether a part may be a matrix or a masked array, which the list would convert to a plain array; a
    string, which converts existing numbers to strings; or None, which converts them to objects.
    """
    types = [model.types.type_of(part) for part in parts]
    if any(kind.tag in (TypeTag.STR, TypeTag.BYTES, TypeTag.NONE) or kind.optional for kind in types):
        return True
    return model.program.is_imported_anywhere("numpy.ma") or any(
        model.program.is_imported_anywhere(f"numpy.{name}") or model.program.is_attribute_read(name)
        for name in _MAKES_OWN_KIND
    )


def edits(
    growth: ArrayGrowth,
    loop: AnyLoop,
    old: ast.stmt,
    name: str,
    rows: list[str],
    joined: str,
    model: SemanticModel,
) -> tuple[Edit, ...] | None:
    """Return the edits: an empty list before the loop, the parts appended to it instead of `old`, and the
    concatenation after the loop.
    """
    if not isinstance(loop, LOOPS):
        return None
    unit = model.source.indent_unit(loop)
    # Arrays that grow in one loop are fixed together: the lists of the others are created beside this one.
    around = [
        model.edit.insert_before(loop, f"{name} = []"),
        model.edit.insert_after(loop, f"if {name}:", f"{unit}{model.source.text(growth.target)} = {joined}"),
    ]
    made = [edit.as_shared() if edit is not None else None for edit in around]
    made.insert(1, model.edit.replace_statement(old, put(name, rows)))
    imported = numpy_name.missing_import(growth, model)
    if imported is not None and any(f"{numpy_name.MODULE}." in text for text in (*rows, joined)):
        made.append(imported)
    every = tuple(edit for edit in made if edit is not None)
    return every if len(every) == len(made) else None


def starts_before(carried: LoopCarried, loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether the variable surely is bound before the loop."""
    around = [loop, *model.ancestors(loop)]
    for binding in carried.starts:
        if binding.kind is BindingKind.PARAMETER:
            return True
        if isinstance(binding.value, ast.Constant):
            return False  # None: how the first concatenation treats it is checked elsewhere
        if binding.kind is BindingKind.ASSIGN and model.parent(binding.statement) in [
            model.parent(node) for node in around
        ]:
            return True
    return False


def copied(part: ast.expr, growth: ArrayGrowth, model: SemanticModel) -> str | None:
    """Return the source of a part for the list: with memory of its own, if it is written to later."""
    if not model.edit.is_relocatable(part):
        return None
    function = growth.join.function
    starred = isinstance(part, ast.Starred)
    value = part.value if isinstance(part, ast.Starred) else part
    kind = model.types.type_of(value)
    if function.startswith("torch."):
        if starred:
            return f"*(part.clone() for part in {model.edit.parenthesized(value)})"
        return (
            model.source.text(value)
            if _is_new(value, TypeTag.TENSOR, model)
            else f"{model.edit.parenthesized(value)}.clone()"
        )
    module = numpy_name.numpy_name(growth, model)
    if starred:
        return f"*({module}.array(part) for part in {model.edit.parenthesized(value)})" if module else None
    if is_number(kind) and function in ("numpy.append", "numpy.r_"):
        return model.source.text(value) if growth.join.axis is None else None
    if function == "numpy.r_" and kind.tag is not TypeTag.NDARRAY and not isinstance(value, ast.List):
        return None  # numbers promote differently than arrays of one element
    fresh = _is_new(value, TypeTag.NDARRAY, model)
    if not fresh and module is None:
        return None
    if function == "numpy.append" and growth.join.axis is None:
        array = model.edit.parenthesized(value) if fresh else f"{module}.array({model.source.text(value)})"
        return f"{array}.ravel()"
    return model.source.text(value) if fresh else f"{module}.array({model.source.text(value)})"


def _is_new(value: ast.expr, tag: TypeTag, model: SemanticModel) -> bool:
    """Whether this expression itself creates the tensor or array, so that no other code writes to it: by its
    last call, or by an earlier one of which it is a view of everything (`torch.stack(rows).unsqueeze(0)`).
    """
    kind = model.types.type_of(value)
    if kind.tag is not tag:
        return False
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Call() as made, attr=method)) if method in _OF_ALL:
            return kind.fresh or _is_new(made, tag, model)
    return kind.fresh


def is_number(kind: Type) -> bool:
    """Whether a value of this type surely is one number."""
    return kind.tag in NUMBERS and not kind.optional


def put(name: str, rows: list[str]) -> str:
    """Return the statement that appends the parts of one iteration to the list."""
    if len(rows) == 1 and not rows[0].startswith("*"):
        return f"{name}.append({rows[0]})"
    if len(rows) == 1:
        return f"{name}.extend({rows[0].removeprefix('*').removeprefix('(').removesuffix(')')})"
    return f"{name}.extend([{', '.join(rows)}])"


def join(target: str | None, parts: str, growth: ArrayGrowth, model: SemanticModel) -> str | None:
    """Return the one concatenation after the loop: of the initial value, if any, and the parts."""
    found = growth.join
    every = f"*reversed({parts}), {target}" if growth.front else f"{target}, *{parts}"
    if isinstance(found.node, ast.Subscript):
        return f"{model.source.text(found.node.value)}[({every})]"
    function = model.source.text(found.node.func)
    axis = ""
    if found.axis is not None:
        named = next((k.arg for k in found.node.keywords if k.value is found.axis), None)
        axis = f", {named}={model.source.text(found.axis)}" if named else f", {model.source.text(found.axis)}"
    if found.function == "numpy.append":
        if growth.front:
            return None
        if found.axis is None and is_number(model.types.type_of(growth.new[0])):
            return f"{function}({target}, {parts})"
        module = numpy_name.numpy_name(growth, model)
        return f"{function}({target}, {module}.concatenate({parts}{axis}){axis})" if module else None
    if found.literal is None:
        return None
    if target is None:
        return f"{function}({parts}{axis})"
    first, last = ("[", "]") if isinstance(found.literal, ast.List) else ("(", ")")
    return f"{function}({first}{every}{last}{axis})"


def is_constant(axis: ast.expr | None) -> bool:
    """Whether there is no axis, or a literal one."""
    return (
        axis is None
        or isinstance(axis, ast.Constant)
        or (isinstance(axis, ast.UnaryOp) and isinstance(axis.operand, ast.Constant))
    )
