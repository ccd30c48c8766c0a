"""Lists whose items are removed at the front: how long they become, and their other uses."""

from __future__ import annotations

import ast

from rlint.rule import (
    Applicability,
    BindingKind,
    Edit,
    Fix,
    SemanticModel,
    TypeTag,
    UseKind,
    array_growth,
    descendants,
    dump_as_read,
    frozen,
    is_in,
    last_name,
    numbers,
    regex,
)
from rlint.rules.buffers._shared.choice import can_be_edited
from rlint.rules.buffers.rl112_list_as_queue.deque_doubts import doubt
from rlint.rules.buffers.rl112_list_as_queue.front_forms import kept_by, removed_first, rewritten_front

SHORT = 256
"""In a list of fewer items, moving the others costs nothing."""

_SHORT_CUT = 1_000
"""Cutting a list to fewer items than this takes less than a microsecond."""

_LONG = regex(
    r"capacity|limit|max_?(size|len|length|mem|memory|buffer|items|entries|rows)|maxlen|(^|_)cap$"
    r"|(buffer|memory|mem|replay|queue|pool)_(size|len)"
)
_WINDOW = regex(r"window|step|stack|frame|horizon|lookback|seq|context|patience|past")
_BUFFER = regex(r"replay|buffer|memory")
_SIZE = regex(r"^_?(size|max|n|length|max_n)$")
_PLAIN = frozenset({"append", "clear", "extend"})
_ENDS = (ast.Constant(value=0), ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)))
_FIRST, _LAST = (ast.dump(end) for end in _ENDS)


@frozen
class QueueFront:
    """An operation at the front of a list, with the edit for a deque."""

    node: ast.expr | ast.stmt
    held: ast.Name | ast.Attribute | ast.Subscript
    shown: str
    edit: Edit | None = None
    """None where the list is copied without its first items."""
    limit: ast.expr | None = None
    """The number of items that the statement itself keeps."""


def front_of(node: ast.AST, model: SemanticModel) -> QueueFront | None:
    """Return the operation `x.pop(0)`, `del x[0]`, `x.insert(0, item)`, `x = x[1:]` or `del x[:1]` of a
    variable, an attribute, or an entry of a dict.
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
            if isinstance(first, ast.Slice) and _starts_at_front(first) and first.upper is not None:
                limit = kept_by(held, first.upper)
                if _is_number(first.upper) or limit is not None:
                    return QueueFront(node, held, "del", limit=limit)
        case ast.Assign(
            targets=[ast.Name() | ast.Attribute() | ast.Subscript() as held],
            value=ast.Subscript(value=source, slice=ast.Slice(lower=ast.expr() as lower, upper=None)),
        ):
            if array_growth.same_place(held, source) and _is_end_of_list(lower, model):
                return QueueFront(node, held, "slice")
    return _otherwise_written(node, model)


def _otherwise_written(node: ast.AST, model: SemanticModel) -> QueueFront | None:
    """Return the operation of `x.remove(x[0])`, and of an assignment that moves or copies the other items."""
    if isinstance(node, ast.Call):
        removed = removed_first(node)
        shown = model.source.text(node.func).rpartition(".")[2] if removed is not None else ""
        return QueueFront(node, removed, f"{shown}(…)") if removed is not None else None
    found = rewritten_front(node, model) if isinstance(node, ast.Assign) else None
    if found is None or not isinstance(node, ast.Assign):
        return None
    return QueueFront(node, found.held, "slice" if found.removes else "prepend", limit=found.limit)


def _starts_at_front(part: ast.Slice) -> bool:
    return part.lower is None or is_zero(part.lower)


def _is_number(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, int) and 0 < value.value < SHORT


def _is_end_of_list(lower: ast.expr, model: SemanticModel) -> bool:
    """Whether a slice from here leaves out a few items only: `x[1:]`, or the last ones of a long list:
    `x[-self.capacity:]`.
    """
    match lower:
        case ast.UnaryOp(op=ast.USub(), operand=kept):
            return is_large(kept, model)
    return _is_number(lower)


def is_zero(expression: ast.expr) -> bool:
    """Whether an expression is the constant 0."""
    return isinstance(expression, ast.Constant) and expression.value == 0 and expression.value is not False


def limit_of(front: QueueFront, model: SemanticModel) -> ast.expr | None:
    """Return the limit, if it is not small, with which a test in the same function compares the length of the
    list, or a test around the operation compares anything, such as the length of a list beside it or a
    counter: `if len(self) >= self.capacity`.
    """
    function = model.function(front.node)
    wanted = dump_as_read(front.held)
    if isinstance(front.node, ast.Assign) and (kept := _cut_to(front.node)) is not None:
        return kept  # has been compared already
    if front.limit is not None and is_large(_about(front.limit), model, _SHORT_CUT):
        return _about(front.limit)
    tests = {
        inner
        for around in model.ancestors(front.node)
        if isinstance(around, (ast.If, ast.While))
        for inner in descendants(around.test)
    }
    for compared in model.syntax.of_type(ast.Compare):
        assert isinstance(compared, ast.Compare)
        if model.function(compared) is not function or len(compared.comparators) != 1:
            continue
        for value, limit in (
            (compared.left, compared.comparators[0]),
            (compared.comparators[0], compared.left),
        ):
            counted = compared in tests or _is_length_of(value, wanted, model)
            if counted and is_large(limit, model) and not _is_window(value):
                return limit
    return None


def _about(limit: ast.expr) -> ast.expr:
    """Return `limit` of `limit - 1`."""
    match limit:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=ast.Constant()):
            return left
    return limit


def _cut_to(assign: ast.Assign) -> ast.expr | None:
    match assign.value:
        case ast.Subscript(slice=ast.Slice(lower=ast.UnaryOp(operand=kept))):
            return kept
    return None


def _is_length_of(value: ast.expr, wanted: str, model: SemanticModel) -> bool:
    match value:
        case ast.Call(func=func, args=[counted]):
            return model.names.qualified(func) == "builtins.len" and ast.dump(counted) == wanted
    return False


def _is_window(value: ast.expr) -> bool:
    """Whether a length that is compared is that of a window: `len(self.frames)`."""
    counted = value.args[0] if isinstance(value, ast.Call) and value.args else value
    return bool(_WINDOW.search((last_name(counted) or "").lower()))


def is_emptied_from_front(front: QueueFront, model: SemanticModel) -> bool:
    """Whether the operation is in a loop that runs until the list is empty, and adds no items to it: `while
    data: … del data[0]`.
    """
    wanted = dump_as_read(front.held)
    loop = next((around for around in model.ancestors(front.node) if isinstance(around, ast.While)), None)
    if (
        loop is None
        or front.shown not in ("pop(0)", "del", "slice")
        or loop not in model.frequency.loops(front.node)
    ):
        return False
    match loop.test:
        case ast.Compare(left=tested, ops=[ast.Gt() | ast.NotEq()], comparators=[ast.Constant(value=0)]):
            is_tested = _is_length_of(tested, wanted, model)
        case ast.Call():
            is_tested = _is_length_of(loop.test, wanted, model)
        case _:
            is_tested = ast.dump(loop.test) == wanted
    return is_tested and not any(
        _adds_items(node, front.held) for node in descendants(loop) if not is_in(node, front.node)
    )


def is_used_up(front: QueueFront, model: SemanticModel) -> bool:
    """Whether the list is an attribute that holds a copy of given items, to which no code of the file adds
    any: `self.todo = list(prompts)`, `self.todo.pop(0)`.
    """
    held = front.held
    if front.shown not in ("pop(0)", "del") or not isinstance(held, ast.Attribute):
        return False
    uses = model.names.attribute_uses(held.attr)
    stores = [use for use in uses if not isinstance(use.ctx, ast.Load)]
    made = [model.parent(use) for use in stores]
    if not made or not all(
        isinstance(each, ast.Assign) and _copies_given(each.value, model) for each in made
    ):
        return False
    return not model.program.is_read_in_other_file(held.attr, of=held) and not any(
        isinstance(method := model.parent(use), ast.Attribute) and method.attr in (*_PLAIN, "insert")
        for use in uses
    )


def _copies_given(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a list is made of all items of a parameter."""
    match value:
        case ast.Call(func=func, args=[ast.Name() as given, *_]):
            names = ("builtins.list", "builtins.sorted")
            bindings = model.dataflow.definitions(given)
            is_given = bool(bindings) and all(b.kind is BindingKind.PARAMETER for b in bindings)
            return model.names.qualified(func) in names and is_given
        case ast.ListComp(generators=[ast.comprehension(iter=ast.Name() as given)]):
            bindings = model.dataflow.definitions(given)
            return bool(bindings) and all(b.kind is BindingKind.PARAMETER for b in bindings)
    return False


def _adds_items(node: ast.AST, held: ast.expr) -> bool:
    """Whether a node may add items to a list, or replaces it."""
    match node:
        case ast.Attribute(value=owner, attr=method):
            if method in (*_PLAIN, "insert") and array_growth.same_place(owner, held):
                return True
            return isinstance(node.ctx, ast.Store) and array_growth.same_place(node, held)
        case ast.Subscript(value=owner, ctx=ast.Store()):
            return array_growth.same_place(owner, held)
        case ast.Name(ctx=ast.Store()):
            return array_growth.same_place(node, held)
        case ast.AugAssign(target=target):
            return array_growth.same_place(target, held)
    return False


def is_added_to(front: QueueFront, model: SemanticModel) -> bool:
    """Whether the same function adds an item to the list."""
    function = model.function(front.node)
    return function is not None and any(
        isinstance(node, ast.Attribute)
        and node.attr in ("append", "insert")
        and array_growth.same_place(node.value, front.held)
        for node in descendants(function)
    )


def is_large(limit: ast.expr, model: SemanticModel, short: int = SHORT) -> bool:
    """Whether a limit is a number that is not small, or has a name that suggests so, also in a class that is
    named like a replay buffer: `self.size`.
    """
    number = numbers.number_of(limit, model)
    if number is not None:
        return number.value >= short
    name = (last_name(limit) or "").lower() if isinstance(limit, (ast.Name, ast.Attribute)) else ""
    if _WINDOW.search(name):
        return False
    cls = model.class_of(limit)
    is_buffer = cls is not None and _BUFFER.search(cls.name.lower()) is not None
    return bool(_LONG.search(name)) or (is_buffer and _SIZE.search(name) is not None)


def as_deque(front: QueueFront, model: SemanticModel) -> Fix | None:
    """Make the list a deque; None if it has uses that a deque does not support, or that are slow with one."""
    made = _made_at(front, model) if front.edit is not None else None
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
    if not plain:
        return f"`{held}` must not be modified during iteration, and access to its middle is slow"
    reason: str | None = doubt(front.held, _uses(front, model), model)
    return reason


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
            return None if front.edit is None else ([front.edit], True)
    match parent:
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
    """Whether this is surely a list, or an entry that the class begins as one: `self["states"] = []`,
    `self.rows = {"states": [], "actions": []}`.
    """
    kind = model.types.type_of(held)
    match held:
        case ast.Subscript(slice=ast.Constant(value=int()) | ast.UnaryOp()):
            return False  # an item of a list: the steps of one episode
    if kind or not isinstance(held, ast.Subscript):
        return kind.tag is TypeTag.LIST
    cls = model.class_of(held)
    if cls is None:
        return False
    for node in descendants(cls):
        match node:
            case ast.Assign(targets=targets, value=ast.List()):
                if any(array_growth.same_place(target, held) for target in targets):
                    return True
            case ast.Assign(targets=targets, value=ast.Dict(values=[*values])):
                are_lists = bool(values) and all(isinstance(value, ast.List) for value in values)
                if are_lists and any(array_growth.same_place(target, held.value) for target in targets):
                    return True
            case ast.Assign(targets=targets, value=ast.DictComp(value=ast.List())):
                if any(array_growth.same_place(target, held.value) for target in targets):
                    return True
    return False
