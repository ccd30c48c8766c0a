"""Lists that only grow during training: where they are created, and where they grow."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.rule import (
    FUNCTIONS,
    BindingKind,
    Heat,
    SemanticModel,
    Trait,
    TypeTag,
    array_growth,
    defaults_of,
    models,
    mutable,
    trip_count,
)

_MAKES = frozenset({"builtins.list", "collections.deque"})
_GROWS = frozenset({"append", "extend", "appendleft", "insert"})
_SHRINKS = models.having(Trait.REMOVES, TypeTag.LIST, TypeTag.DEQUE, TypeTag.DICT) | {
    "rotate",
    "__setitem__",
    "__delitem__",
}
_CHANGES_DICT = models.mutators(TypeTag.DICT)
_ALLOCATES = models.having(Trait.ALLOCATES, "numpy", "torch") | models.having(
    Trait.FROM_DATA, "numpy", "torch"
)
_LONG = 2_000
"""A list that is read fewer times than this, in a loop that does not extend it, costs little."""


@mutable
class History:
    """A list that is created once and only grows: `starts` are the assignments of the empty list, `growths`
    the calls and statements that append to it. `changed` says whether single items are assigned,
    `read_by_other_file` whether other files read the list, which may remove items.
    """

    holder: ast.Name | ast.Attribute | ast.Subscript
    starts: list[ast.stmt]
    growths: list[ast.AST]
    changed: bool = False
    read_by_other_file: bool = False


def history_of(expression: ast.expr, model: SemanticModel) -> History | None:
    """Return the history of the list that an expression refers to; None unless it is created in code that
    runs once, grows in code that runs often, and surely is never trimmed, emptied or replaced.
    """
    uses: Sequence[ast.Name | ast.Attribute] | None
    match expression:
        case ast.Subscript(
            value=ast.Name() | ast.Attribute(value=ast.Name()) as record, slice=ast.Constant(value=str(key))
        ):
            return _history_of_entry(expression, record, key, model)
        case ast.Name():
            uses = _uses_of_name(expression, model)
        case ast.Attribute(value=ast.Name()):
            uses = _uses_of_attribute(expression, model)
        case _:
            return None
    found = History(expression, [], [])
    if uses is None or not all(_understood(use, found, model) for use in uses):
        return None
    found.read_by_other_file = isinstance(expression, ast.Attribute) and _is_read_by_other_file(
        expression, model
    )
    return found if _is_history(found, expression, model) else None


def _is_history(found: History, holder: ast.Name | ast.Attribute, model: SemanticModel) -> bool:
    """Whether a list is created once, and grows in code that runs often."""
    if not found.starts or not all(_is_made_once(start, holder, model) for start in found.starts):
        return False
    return any(model.frequency.heat_of(growth).level > Heat.COLD for growth in found.growths)


def given_history(parameter: ast.expr, model: SemanticModel) -> History | None:
    """Return the history that a call of the file passes for a parameter: `report(self.scores)`."""
    if not isinstance(parameter, ast.Name):
        return None
    function = model.function(parameter)
    bindings = model.dataflow.definitions(parameter)
    if not isinstance(function, FUNCTIONS) or [b.kind for b in bindings] != [BindingKind.PARAMETER]:
        return None
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    if parameter.id not in names:
        return None
    for call in model.names.calls_by_name.get(function.name, ()):
        if not any(model.types.definition(target) is function for target in model.types.call_targets(call)):
            continue
        place = names.index(parameter.id) - int(isinstance(call.func, ast.Attribute) and names[0] == "self")
        given = dict(enumerate(call.args)).get(place)
        given = given or next((each.value for each in call.keywords if each.arg == parameter.id), None)
        if isinstance(given, (ast.Name, ast.Attribute, ast.Subscript)):
            found = history_of(given, model)
            if found is not None and model.frequency.runs_each_pass(call):
                return found
    return None


def _history_of_entry(
    entry: ast.Subscript, record: ast.Name | ast.Attribute, key: str, model: SemanticModel
) -> History | None:
    """Return the history of a list in a dict: `log["loss"]` of `log = {"loss": [], "return": []}`."""
    uses: Sequence[ast.Name | ast.Attribute] | None
    uses = _uses_of_name(record, model) if isinstance(record, ast.Name) else _uses_of_attribute(record, model)
    found = History(entry, [], [])
    if uses is None or not all(_keeps_entry(use, key, found, model) for use in uses):
        return None
    if isinstance(record, ast.Attribute) and _is_read_by_other_file(record, model):
        return None
    return found if _is_history(found, record, model) else None


def _keeps_entry(use: ast.Name | ast.Attribute, key: str, found: History, model: SemanticModel) -> bool:
    """Record the effect of a use of a dict on the list under a key, as `_understood` does."""
    parent = model.parent(use)
    match parent:
        case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=value) if (
            target is use
        ):
            start = _entry_of(value, key, model)
            if start is not None and _is_empty(start, model):
                found.starts.append(parent)
                return True
            return False
        case ast.Subscript(value=owner, slice=ast.Constant(value=other)) as item if owner is use:
            if other != key:
                return True
            if isinstance(item.ctx, ast.Load):
                return _understood(item, found, model)
            outer = model.parent(item)
            adds = isinstance(outer, ast.AugAssign) and isinstance(outer.op, ast.Add)
            if outer is not None and (adds or _grows(outer, model)):
                found.growths.append(outer)
                return True
            return False
        case ast.Subscript(value=owner, ctx=ast.Load()) as item if owner is use:
            return _understood(item, found, model)
        case ast.Subscript() | ast.Delete():
            return False
        case ast.Attribute(attr=method):
            return method not in _CHANGES_DICT
    return isinstance(use.ctx, ast.Load)


def _entry_of(value: ast.expr | None, key: str, model: SemanticModel) -> ast.expr | None:
    """Return the first value of an entry of a dict, given the expression that creates the dict."""
    match value:
        case ast.Dict(keys=keys, values=values):
            named = zip(keys, values, strict=True)
            return next((v for k, v in named if isinstance(k, ast.Constant) and k.value == key), None)
        case ast.Call(func=func, args=[ast.Name(id="list")]) if (
            model.names.qualified(func) == "collections.defaultdict"
        ):
            return ast.List(elts=[], ctx=ast.Load())
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=given):
            return next((each.value for each in given if each.arg == key), None)
    return None


def is_worth_it(history: History, look: ast.AST, model: SemanticModel) -> bool:
    """Whether reading the whole list at `look` is expensive. Not if both happen per episode, a few times."""
    if model.frequency.heat_of(look).level is Heat.HOT:
        return True
    if any(model.frequency.heat_of(growth).level is Heat.HOT for growth in history.growths):
        return True
    counts = [trip_count.passes(loop, model) for loop in model.frequency.loops(look)[:1]]
    return not any(count is not None and count < _LONG for count in counts)


def is_read_again(history: History, look: ast.AST, model: SemanticModel) -> bool:
    """Whether a list that grows in each step is read repeatedly, if not in each of them."""
    grows = any(model.frequency.heat_of(growth).level is Heat.HOT for growth in history.growths)
    return grows and not model.usage.is_evaluation(look)


def _uses_of_name(name: ast.Name, model: SemanticModel) -> list[ast.Name] | None:
    scope = model.names.scope(name).lookup(name.id)
    bindings = model.names.bindings(name)
    if scope is None or any(
        binding.kind not in (BindingKind.ASSIGN, BindingKind.AUGMENT, BindingKind.ANNOTATE)
        for binding in bindings
    ):
        return None
    if scope.parent is None:
        return None if model.program.is_imported(name.id) else model.names.uses(name.id, scope)
    return None if model.names.is_captured(name.id, scope) else model.names.uses(name.id, scope)


def _uses_of_attribute(attribute: ast.Attribute, model: SemanticModel) -> list[ast.Attribute] | None:
    cls = model.class_of(attribute)
    name = attribute.attr
    if cls is None or (_is_read_by_other_file(attribute, model) and model.program.may_replace(name)):
        return None
    uses = model.names.attribute_uses(name)
    own = all(
        array_growth.same_place(use.value, attribute.value) and model.class_of(use) is cls for use in uses
    )
    return uses if own else None


def _is_read_by_other_file(attribute: ast.Attribute, model: SemanticModel) -> bool:
    return model.program.is_read_in_other_file(attribute.attr, of=attribute)


def _understood(use: ast.Name | ast.Attribute | ast.Subscript, found: History, model: SemanticModel) -> bool:
    """Record the effect of a use on the list; return False if it may shorten it, or let other code do so."""
    parent = model.parent(use)
    match parent:
        case ast.Assign(targets=[target], value=value) if target is use and _is_empty(value, model):
            found.starts.append(parent)
        case ast.Assign(targets=[target]) if target is use and _grows(parent, model):
            found.growths.append(parent)
        case ast.Assign(targets=[ast.Subscript(slice=ast.Slice() | ast.Tuple())], value=value) if (
            value is use
        ):
            pass  # the items are copied
        case ast.Tuple(elts=targets, ctx=ast.Store()):
            statement = model.parent(parent)
            match statement:
                case ast.Assign(targets=[target], value=ast.Tuple(elts=values)) if (
                    target is parent
                    and len(targets) == len(values)
                    and _is_empty(values[targets.index(use)], model)
                ):
                    found.starts.append(statement)
                case _:
                    return False
        case ast.AnnAssign(target=target, value=value) if target is use and (
            value is None or _is_empty(value, model)
        ):
            if value is not None:
                found.starts.append(parent)
        case ast.AugAssign(target=target, op=ast.Add()) if target is use:
            found.growths.append(parent)
        case ast.Attribute(attr=method):
            if method in _SHRINKS or not isinstance(model.parent(parent), ast.Call):
                return False
            if method in _GROWS:
                found.growths.append(model.syntax.statement(parent))
        case ast.Subscript(ctx=ast.Store(), slice=index) if not isinstance(index, ast.Slice):
            found.changed = True
        case ast.Subscript():
            return isinstance(parent.ctx, ast.Load)
        case ast.Assign() | ast.AnnAssign() | ast.NamedExpr() | ast.Global() | ast.Delete() | ast.AugAssign():
            return isinstance(use.ctx, ast.Load) and isinstance(parent, ast.AugAssign)
        case _:
            return isinstance(use.ctx, ast.Load)
    return True


def _grows(statement: ast.AST, model: SemanticModel) -> bool:
    """Whether an assignment concatenates an array with new rows, and cuts none: `x = np.append(x, row)`."""
    growth = array_growth.growth_of(statement, model) if isinstance(statement, ast.Assign) else None
    return growth is not None and not growth.bounds


def _is_made_once(start: ast.stmt, holder: ast.Name | ast.Attribute, model: SemanticModel) -> bool:
    """Whether the list is created at the start of the training: in code that runs once, for an attribute with
    its object.
    """
    function = model.function(start)
    if isinstance(holder, ast.Attribute):
        if getattr(function, "name", "") not in ("__init__", "__post_init__"):
            return False
    elif model.names.scope(start) is not model.names.scope(holder).lookup(holder.id):
        return False
    return model.frequency.heat_of(start).level is Heat.COLD


def _is_empty(value: ast.expr, model: SemanticModel) -> bool:
    match value:
        case ast.List(elts=[]):
            return True
        case ast.Call(func=func, args=[size, *_]) if model.names.qualified(func) in _ALLOCATES:
            return _is_zero(size)
        case ast.Call(func=func, args=[] | [ast.List(elts=[])], keywords=[]):
            return model.names.qualified(func) in _MAKES
        case ast.Name(id=name):
            # a default that is created once: `def __init__(self, losses=[])`
            bindings, function = model.dataflow.definitions(value), model.function(value)
            given = all(binding.kind is BindingKind.PARAMETER for binding in bindings)
            default = defaults_of(function.args).get(name) if function is not None and given else None
            return default is not None and _is_empty(default, model)
    return False


def _is_zero(size: ast.expr) -> bool:
    """Whether an array of this size, or of this list, has no rows: `np.zeros((0, 4))`, `np.array([])`."""
    match size:
        case ast.Constant(value=0) | ast.List(elts=[]):
            return True
        case ast.Tuple(elts=[first, *_]):
            return _is_zero(first)
    return False


def sum_edits(history: History, model: SemanticModel) -> tuple[str, list[ast.stmt]] | None:
    """Return the name for the sum of a list of numbers, with the two statements after which it is initialised
    and increased; None if it cannot be kept beside the list.
    """
    if history.changed or len(history.starts) != 1 or len(history.growths) != 1:
        return None
    if isinstance(history.holder, ast.Subscript):
        return None
    start, [growth] = history.starts[0], history.growths
    match growth:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append"), args=[added], keywords=[])):
            if model.types.type_of(added).tag not in (
                TypeTag.UNKNOWN,
                TypeTag.INT,
                TypeTag.FLOAT,
                TypeTag.BOOL,
                TypeTag.NUMPY_SCALAR,
            ):
                return None
        case _:
            return None
    if isinstance(history.holder, ast.Name):
        if model.names.scope(start) is not model.names.scope(growth):
            return None
        wanted = f"{history.holder.id}_sum"
        name = model.importer.fresh_local((wanted,), start, key=f"{wanted} {start.lineno}")
    else:
        name = model.importer.fresh_name(f"{history.holder.attr}_sum", key=f"sum of .{history.holder.attr}")
        name = f"{model.source.text(history.holder.value)}.{name}"
    return name, [start, growth]
