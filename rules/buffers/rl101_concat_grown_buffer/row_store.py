"""The fix for an array that grows as an attribute: storage with capacity for more rows."""

from __future__ import annotations

import ast

from rlint.rule import Applicability, ArrayGrowth, Edit, Fix, SemanticModel, array_growth, descendants

TITLE = "Keep the rows in preallocated storage"
REASON = (
    "`{name}` becomes a view: arrays read from it at different times share memory, so a write to one is "
    "visible in the other, and up to twice the memory is allocated"
)
STORE = """\
class {name}:
    \"\"\"Rows of an array in storage with room for more, so that adding some does not copy the others.\"\"\"

    def __init__(self):
        self.storage = {np}.empty(0)
        self.stop = 0

    def add(self, rows, new):
        \"\"\"Join `rows` and `new`; the result is a view of the storage up to where it is filled.\"\"\"
        rows, new = {np}.asarray(rows), {np}.asarray(new)
        if rows.ndim == 0 or rows.ndim != new.ndim or rows.shape[1:] != new.shape[1:]:
            raise ValueError(f"rows of shape {{new.shape}} do not fit those of shape {{rows.shape}}")
        size, dtype = len(rows) + len(new), {np}.promote_types(rows.dtype, new.dtype)
        store, stop = self.storage, self.stop
        is_tail = {np}.may_share_memory(rows[-1:], store[max(stop - 1, 0) : stop])
        alike = (rows.shape[1:], rows.strides, dtype) == (store.shape[1:], store.strides, store.dtype)
        if not (is_tail and alike) or stop + len(new) > len(store):
            self.storage = {np}.empty((2 * size, *rows.shape[1:]), dtype)
            self.storage[: len(rows)] = rows
            self.stop = len(rows)
        self.storage[self.stop : self.stop + len(new)] = new
        self.stop += len(new)
        return self.storage[self.stop - size : self.stop]
"""


def build(growth: ArrayGrowth, model: SemanticModel) -> Fix | None:
    """Return the fix, or None if the attribute is used in a way that it does not support."""
    target, node = growth.target, growth.join.node
    cls = model.class_of(growth.statement)
    if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name) or cls is None:
        return None
    if target.value.id != first_parameter(growth.statement, model):
        return None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not growth.join.plain:
        return None
    if len(growth.new) != 1 or growth.front or not growth.in_place:
        return None
    start = initial(cls, target, model)
    new = added(growth, start, model) if start is not None else None
    if start is None or new is None or not is_cut_only(cls, target, model) or has_slots(cls):
        return None
    numpy = model.source.text(node.func.value)
    unit = model.source.indent_unit(cls.body[0])
    known = existing(model)
    name = known or model.importer.fresh_name("RowStore")
    store = model.importer.fresh_name(
        f"_{target.attr.lstrip('_')}_store", f"{model.syntax.qualname(cls)}.{target.attr}"
    )
    edits: list[Edit | None] = [
        model.edit.insert_after(start, f"{first_parameter(start, model)}.{store} = {name}()"),
        model.edit.replace(node, f"{target.value.id}.{store}.add({new})"),
    ]
    if known is None:
        edits.append(definition(cls, name, numpy, unit, model))
    made = tuple(edit for edit in edits if edit is not None)
    if len(made) < len(edits):
        return None
    return Fix(TITLE, Applicability.UNSAFE, made, REASON.format(name=model.source.text(target)))


def initial(
    cls: ast.ClassDef, target: ast.Attribute, model: SemanticModel
) -> ast.Assign | ast.AnnAssign | None:
    """Return the statement of `__init__` that first sets the attribute."""
    init = model.method(cls, "__init__")
    for statement in init.body if init is not None else ():
        match statement:
            case (
                ast.Assign(targets=[ast.Attribute(attr=name)])
                | ast.AnnAssign(target=ast.Attribute(attr=name))
            ):
                if (
                    name == target.attr
                    and statement.value is not None
                    and is_array_start(statement.value, model)
                ):
                    return statement
    return None


def is_array_start(value: ast.expr, model: SemanticModel) -> bool:
    """Return the initial value `np.empty((0, d))`, or None."""
    if isinstance(value, ast.Call):
        return (model.names.qualified(value.func) or "").startswith("numpy.")
    return isinstance(value, ast.Constant) and value.value is None


def rank(start: ast.Assign | ast.AnnAssign, model: SemanticModel) -> int | None:
    """Return the number of axes of the attribute's initial value."""
    match start.value:
        case ast.Call(func=func, args=[shape, *_]):
            maker = model.names.qualified(func)
            if maker in ("numpy.empty", "numpy.zeros", "numpy.ones"):
                if isinstance(shape, (ast.Tuple, ast.List)):
                    starred = any(isinstance(length, ast.Starred) for length in shape.elts)
                    return None if starred else len(shape.elts)
                return 1 if isinstance(shape, ast.Constant) else None
            if maker == "numpy.array" and isinstance(shape, ast.List):
                return (
                    1 if not any(isinstance(e, (ast.List, ast.Tuple, ast.Name)) for e in shape.elts) else None
                )
    return None


def added(growth: ArrayGrowth, start: ast.Assign | ast.AnnAssign, model: SemanticModel) -> str | None:
    """Return the arguments of `add` that are equivalent to the concatenation."""
    node, axis = growth.join.node, growth.join.axis
    part, rows = growth.new[0], model.source.text(growth.itself)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if isinstance(part, ast.Starred) or not model.edit.is_relocatable(part):
        return None
    numpy, new = model.source.text(node.func.value), model.source.text(part)
    by_rows = axis is None or (isinstance(axis, ast.Constant) and axis.value == 0)
    axes = rank(start, model)
    match growth.join.function, axis:
        case ("numpy.concatenate", _) | ("numpy.append", ast.Constant()) if by_rows:
            return f"{rows}, {new}"
        case "numpy.append", None if axes == 1:
            return f"{rows}, {numpy}.ravel({new})"
        case "numpy.vstack", None if axes == 2:
            return f"{rows}, {numpy}.atleast_2d({new})"
        case "numpy.hstack", None if axes == 1:
            return f"{rows}, {numpy}.atleast_1d({new})"
    return None


def is_cut_only(cls: ast.ClassDef, target: ast.Attribute, model: SemanticModel) -> bool:
    """Whether the class only lets the attribute grow, trims it and resets it. If it also copies it
    (`np.delete`), the storage would be refilled with each row.
    """
    for node in model.names.attribute_uses(target.attr):
        if isinstance(node.ctx, ast.Load) or model.class_of(node) is not cls:
            continue
        statement = model.syntax.statement(node)
        value = getattr(statement, "value", None)
        found = array_growth.growth_of(statement, model)
        if value is None or (found is not None and found.in_place and not found.front):
            continue
        if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice):
            value = (
                value.value
                if array_growth.same_place(value.value, target) and value.slice.upper is None
                else value
            )
            if array_growth.same_place(value, target):
                continue
        if any(array_growth.same_place(part, target) for part in descendants(value)):
            return False
    return True


def has_slots(cls: ast.ClassDef) -> bool:
    """Whether the class may not allow another attribute."""
    return any(
        isinstance(node, ast.Name) and node.id == "__slots__" for s in cls.body for node in descendants(s)
    )


def first_parameter(node: ast.AST, model: SemanticModel) -> str:
    """Return the name of the first parameter of the method around a node."""
    function = model.function(node)
    return function.args.args[0].arg if function is not None and function.args.args else ""


def existing(model: SemanticModel) -> str | None:
    """Return the name of the class that an earlier fix has added to the file."""
    for node in model.syntax.of_type(ast.ClassDef):
        adding = model.method(node, "add")
        if adding is None or not model.source.text(adding).startswith("def add(self, rows, new):"):
            continue
        numpy = next(
            (
                n.id
                for n in descendants(adding)
                if isinstance(n, ast.Name) and model.names.qualified(n) == "numpy"
            ),
            "",
        )
        if numpy and ast.dump(ast.parse(STORE.format(name=node.name, np=numpy)).body[0]) == ast.dump(node):
            return node.name
    return None


def definition(cls: ast.ClassDef, name: str, numpy: str, unit: str, model: SemanticModel) -> Edit | None:
    """Insert the class after the first one of the file."""
    if any(not isinstance(parent, (ast.Module, ast.If)) for parent in model.ancestors(cls)):
        return None
    block, _ = model.syntax.block(cls)
    anchor = next(statement for statement in block if isinstance(statement, ast.ClassDef))
    lines = STORE.format(name=name, np=numpy).splitlines()
    indented = [unit * ((len(line) - len(line.lstrip())) // 4) + line.lstrip() for line in lines]
    edit = model.edit.insert_after(anchor, "", "", *indented)
    return edit.as_shared() if edit is not None else None
