"""Lists whose items are removed at the front: how long they become, and their other uses."""

from __future__ import annotations

import ast

from rlint.rule import (
    FUNCTIONS,
    Applicability,
    BindingKind,
    Edit,
    Fix,
    SemanticModel,
    TypeTag,
    UseKind,
    array_growth,
    descendants,
    frozen,
    last_name,
    numbers,
    regex,
)
from rlint.rules.buffers._shared.choice import can_be_edited

SHORT = 256
"""In a list of fewer items, moving the others costs nothing."""

_LONG = regex(
    r"capacity|limit|max_?(size|len|length|mem|memory|buffer)|maxlen|(buffer|memory|mem|replay|queue|pool)_(size|len)"
)
_WINDOW = regex(r"window|step|stack|frame|horizon|lookback|seq|context|patience|past")
_PLAIN = frozenset({"append", "clear", "extend"})
_ENDS = (ast.Constant(value=0), ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)))
_FIRST, _LAST = (ast.dump(end) for end in _ENDS)


@frozen
class QueueFront:
    """An operation at the front of a list, with the edit for a deque."""

    node: ast.expr | ast.stmt
    held: ast.Name | ast.Attribute | ast.Subscript
    shown: str
    edit: Edit


def front_of(node: ast.AST, model: SemanticModel) -> QueueFront | None:
    """Return the operation `x.pop(0)`, `del x[0]` or `x.insert(0, item)` of a variable, an attribute, or an
    entry of a dict.
    """
    match node:
        case ast.Call(
            func=ast.Attribute(value=(ast.Name() | ast.Attribute() | ast.Subscript()) as held, attr="pop"),
            args=[first],
        ):
            if not node.keywords and is_zero(first):
                return QueueFront(node, held, "pop(0)", model.edit.replace_method(node, ".popleft()"))
        case ast.Call(
            func=ast.Attribute(value=(ast.Name() | ast.Attribute() | ast.Subscript()) as held, attr="insert"),
            args=[first, item],
        ):
            if not node.keywords and is_zero(first):
                edit = model.edit.replace_method(node, f".appendleft({model.edit.as_argument(item)})")
                return QueueFront(node, held, "insert(0, …)", edit)
        case ast.Delete(
            targets=[
                ast.Subscript(value=(ast.Name() | ast.Attribute() | ast.Subscript()) as held, slice=first)
            ]
        ):
            if is_zero(first):
                return QueueFront(
                    node, held, "del", model.edit.replace(node, f"{model.edit.code(held)}.popleft()")
                )
    return None


def is_zero(expression: ast.expr) -> bool:
    """Whether an expression is the constant 0."""
    return isinstance(expression, ast.Constant) and expression.value == 0 and expression.value is not False


def is_kept_long(front: QueueFront, model: SemanticModel) -> bool:
    """Whether a test in the same function compares the length of the list with a limit that is not small, or
    a test around the operation does so for another list that is filled beside it.
    """
    function = model.function(front.node)
    wanted = ast.dump(front.held)
    tests = {
        inner
        for around in model.ancestors(front.node)
        if isinstance(around, (ast.If, ast.While))
        for inner in descendants(around.test)
    }
    for compared in model.syntax.of_type(ast.Compare):
        match compared:
            case ast.Compare(
                left=ast.Call(func=func, args=[ast.Name() | ast.Attribute() | ast.Subscript() as counted]),
                comparators=[limit],
            ):
                if model.names.qualified(func) != "builtins.len" or model.function(compared) is not function:
                    continue
                if (compared in tests or ast.dump(counted) == wanted) and is_large(limit, model):
                    return True
    return False


def is_large(limit: ast.expr, model: SemanticModel) -> bool:
    """Whether a limit is a number that is not small, or has a name that suggests so."""
    number = numbers.number_of(limit, model)
    if number is not None:
        return number.value >= SHORT
    name = (last_name(limit) or "").lower() if isinstance(limit, (ast.Name, ast.Attribute)) else ""
    return bool(_LONG.search(name)) and not _WINDOW.search(name)


def as_deque(front: QueueFront, model: SemanticModel) -> Fix | None:
    """Make the list a deque; None if it has uses that a deque does not support, or that are slow with one."""
    made = _made_at(front, model)
    if made is None:
        return None
    edits: list[Edit] = []
    plain = True
    for use in _uses(front, model):
        known = _use(use, model)
        if known is None:
            return None
        plain = plain and known[1]
        edits += known[0]
    statement = model.syntax.statement(made)
    name = model.names.spelled("collections.deque", statement)
    if name is None:
        imported = model.importer.module_import("collections", user=statement)
        if imported is None:
            return None
        name = "collections.deque"
        edits.append(imported[1])
    if not all(can_be_edited(node, model) for node in (made, front.node) if isinstance(node, ast.Call)):
        return None
    edits.append(model.edit.replace(made, f"{name}()"))
    reason = _doubt(front, model, plain=plain)
    # one fix for all places that belong together
    shared = tuple(edit.as_shared() for edit in edits)
    return Fix("Make it a deque", Applicability.UNSAFE if reason else Applicability.SAFE, shared, reason)


def _doubt(front: QueueFront, model: SemanticModel, *, plain: bool) -> str | None:
    held = model.source.text(front.held)
    if isinstance(front.held, ast.Attribute):
        return (
            f"code that reads `{held}`, or unpickles an old object, must work with a deque instead of a list"
        )
    unguarded = [use for use in _uses(front, model) if not _is_guarded(use, model)]
    if any(map(model.usage.is_error_read, unguarded)):
        return f"if `{held}` is empty, the `IndexError` whose text the program reads has another text"
    if model.index.defines_method("__del__"):
        return "objects with `__del__` are deleted in another order"
    if not plain:
        return f"`{held}` must not be modified during iteration, and access to its middle is slow"
    return None


def _is_guarded(use: ast.expr, model: SemanticModel) -> bool:
    """Whether a use cannot fail on an empty list: it adds items, is a test, or runs under one."""
    parent, wanted = model.parent(use), ast.dump(use)
    if isinstance(parent, ast.Attribute) and parent.attr in (*_PLAIN, "insert"):
        return True
    if not isinstance(parent, (ast.Attribute, ast.Subscript)):
        return True
    child: ast.AST = use
    for around in model.ancestors(use):
        if isinstance(around, (*FUNCTIONS, ast.Lambda)):
            return False
        if isinstance(around, (ast.If, ast.While, ast.IfExp)):
            inside = child is around.body if isinstance(around, ast.IfExp) else child in around.body
            if inside and _needs_items(around.test, wanted):
                return True
        child = around
    return False


def _needs_items(test: ast.expr, held: str) -> bool:
    """Whether a test is only true if a list has items: `len(x) > limit`, or `x` itself."""
    match test:
        case ast.Compare(left=ast.Call(args=[counted]), ops=[ast.Gt() | ast.GtE()]):
            return ast.dump(counted) == held
    return ast.dump(test) == held


def _made_at(front: QueueFront, model: SemanticModel) -> ast.expr | None:
    """Return the initial empty list of the variable or attribute, if that is its only assignment."""
    held = front.held
    value: ast.expr | None = None
    if isinstance(held, ast.Subscript):
        return None
    if isinstance(held, ast.Name):
        bindings = model.names.bindings(held)
        scope = model.names.scope(held).lookup(held.id)
        if (
            scope is None
            or not scope.is_function
            or model.names.is_captured(held.id, scope)
            or len(bindings) != 1
        ):
            return None
        if (
            bindings[0].kind is BindingKind.ASSIGN
            and not bindings[0].path
            and isinstance(bindings[0].statement, ast.Assign)
        ):
            value = bindings[0].value
    else:
        others = [module for module in model.index.modules.values() if module is not model.module]
        if any(held.attr in cls.attributes for module in others for cls in module.classes.values()):
            return None  # a class in another file may assign a list to it
        stores = [use for use in model.names.attribute_uses(held.attr) if not isinstance(use.ctx, ast.Load)]
        parent = model.parent(stores[0]) if len(stores) == 1 else None
        function = model.function(stores[0]) if stores else None
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and function is not None:
            value = parent.value if function.name == "__init__" else None
    match value:
        case ast.List(elts=[]):
            return value
        case ast.Call(func=func, args=[], keywords=[]) if model.names.qualified(func) == "builtins.list":
            return value
    return None


def _uses(front: QueueFront, model: SemanticModel) -> list[ast.expr]:
    held = front.held
    if isinstance(held, ast.Subscript):
        return []
    if isinstance(held, ast.Name):
        scope = model.names.scope(held).lookup(held.id)
        return list(model.names.reads(held.id, scope)) if scope is not None else []
    return [use for use in model.names.attribute_uses(held.attr) if isinstance(use.ctx, ast.Load)]


def _use(use: ast.expr, model: SemanticModel) -> tuple[list[Edit], bool] | None:
    """Return the edits that a use needs, and whether a deque behaves like a list there; None if it does
    not.
    """
    parent = model.parent(use)
    around = model.parent(parent) if parent is not None else None
    for candidate in (around, parent, model.parent(around) if around is not None else None):
        front = front_of(candidate, model) if candidate is not None else None
        if front is not None and front.held is use:
            return [front.edit], True
    match parent:
        case ast.Attribute(attr="extend") if model.index.defines_method("__len__"):
            return [], False  # a list, unlike a deque, asks for the length of what it is extended with
        case ast.Attribute(attr=attr) if isinstance(around, ast.Call) and around.func is parent:
            if attr in _PLAIN or (attr == "pop" and not around.args):
                return [], True
        case ast.Call(func=func, args=[only]) if (
            only is use and model.names.qualified(func) == "builtins.len"
        ):
            return [], True
        case ast.Call(func=func, args=[first, *_]) if (
            first is use and model.names.qualified(func) == "random.sample"
        ):
            return [], False
        case ast.For(iter=iterable) if iterable is use:
            return [], False
        case ast.Subscript(slice=index, ctx=ast.Load()) if ast.dump(index) in (_FIRST, _LAST):
            return [], True
    return ([], True) if model.syntax.use(use).kind is UseKind.TESTED else None


def is_list(held: ast.expr, model: SemanticModel) -> bool:
    """Whether this is surely a list, or an entry that the class begins as one: `self["states"] = []`."""
    kind = model.types.type_of(held)
    if kind or not isinstance(held, ast.Subscript):
        return kind.tag is TypeTag.LIST
    cls = model.class_of(held)
    return cls is not None and any(
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.List)
        and any(array_growth.same_place(target, held) for target in node.targets)
        for node in descendants(cls)
    )
