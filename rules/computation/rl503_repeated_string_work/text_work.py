"""Methods that scan a string, and loops that call them on the same string."""

from __future__ import annotations

import ast

from rlint.rule import (
    AnyLoop,
    Applicability,
    Binding,
    BindingKind,
    EscapeLevel,
    Fix,
    Heat,
    Repetition,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    hoist_points,
    last_name,
    models,
)
from rlint.rules.computation._shared import names as text_names
from rlint.rules.computation._shared import worth

_TEXT = frozenset({TypeTag.STR, TypeTag.BYTES})
_TENSORS = frozenset({TypeTag.TENSOR, TypeTag.DISTRIBUTION})
METHODS = models.having(Trait.SCANS_TEXT, TypeTag.STR, TypeTag.BYTES)
"""Methods that scan a string."""
_ONLY_OF_TEXTS = models.having(Trait.ONLY_TEXT, TypeTag.STR)
_TEXTS_TAKEN = {
    name: (fewest, most)
    for fewest, most, names in (
        (0, 0, "capitalize casefold lower splitlines swapcase title upper"),
        (0, 1, "expandtabs lstrip rsplit rstrip split strip"),
        (1, 1, "count find partition removeprefix removesuffix rfind rpartition"),
        (2, 2, "replace"),
    )
    for name in names.split()
}
"""Number of string arguments of these methods. With strings that are not empty, they never fail."""


def is_text_work(node: ast.AST, model: SemanticModel) -> bool:
    """Whether this is a method that scans a string, on a value that certainly is a string."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if node.func.attr not in METHODS or isinstance(model.parent(node), ast.withitem):
        return False
    if all(isinstance(part, ast.Constant) for part in (node.func.value, *node.args)):
        return False  # a spelled-out constant
    return model.names.qualified(node.func) is None and model.types.type_of(node.func.value).tag in _TEXT


def is_hot(node: ast.expr, model: SemanticModel) -> bool:
    """Whether a node runs per step or sample. The pieces of a string are no more work than the string as a
    whole.
    """
    place = node
    for loop in model.frequency.loops(node):
        if isinstance(loop, ast.While):
            break
        iterated = loop.iter if isinstance(loop, (ast.For, ast.AsyncFor)) else loop.generators[0].iter
        if not isinstance(iterated, ast.Call) or not isinstance(iterated.func, ast.Attribute):
            break
        if iterated.func.attr not in ("split", "splitlines"):
            break
        place = iterated
    return model.frequency.heat_of(place).level is Heat.HOT


def is_dwarfed(node: ast.AST, model: SemanticModel) -> bool:
    """Whether each iteration also computes with tensors, beside which the cost for a short string is
    negligible.
    """
    loops, function = model.frequency.loops(node), model.function(node)
    for call in model.syntax.of_type(ast.Call):
        if model.function(call) is not function or not _computes(call, model):
            continue
        around = model.frequency.loops(call)
        if all(loop in around for loop in loops):
            return True
    return False


def _computes(call: ast.Call, model: SemanticModel) -> bool:
    if isinstance(call.func, ast.Attribute) and call.func.attr == "backward":
        return True
    return model.types.type_of(call).tag in _TENSORS or model.types.type_of(call.func).tag is TypeTag.MODULE


def is_name_of_weights(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the string is the name of a parameter or layer, from a loop over those of a network."""
    name: ast.expr = call
    while isinstance(name, ast.Call) and isinstance(name.func, ast.Attribute):
        name = name.func.value
    for binding in model.dataflow.definitions(name) if isinstance(name, ast.Name) else ():
        match binding.value:
            case ast.Call(func=ast.Attribute(value=owner, attr=attribute)):
                if attribute.startswith("named_") or model.types.type_of(owner).tag is TypeTag.STATE_DICT:
                    return True
    return False


def is_spoken_for(node: ast.expr, model: SemanticModel) -> bool:
    """Whether a finding about a larger expression, or about a call inside of this one, includes this one."""
    for inner in descendants(node):
        if inner is node or not isinstance(inner, ast.Call):
            continue
        repeats = model.dataflow.repetition(inner) is not None or model.dataflow.repeated(inner) is not None
        if repeats and worth.is_worth_keeping(inner, model):
            return True
    return worth.is_covered(node, model) or _is_part_of_text_work(node, model)


def _is_part_of_text_work(node: ast.expr, model: SemanticModel) -> bool:
    for parent in model.ancestors(node):
        if isinstance(parent, ast.stmt):
            return False
        if (
            isinstance(parent, ast.Call)
            and model.dataflow.repeated(parent) is not None
            and is_text_work(parent, model)
        ):
            return True
    return False


def loop_with_same_text(call: ast.Call, model: SemanticModel) -> AnyLoop | None:
    """Return the outermost loop that repeats a call on a local variable which it does not assign."""
    name = _root(call, model)
    loops = model.frequency.loops(call)
    if name is None or not loops or _is_chained(call, model) or _is_in_branch(call, loops[0], model):
        return None
    scope = model.names.scope(name).lookup(name.id)
    if scope is None or not scope.is_function or scope is not model.names.scope(name).function:
        return None
    if any(name.id in inner.globals | inner.nonlocals for inner in model.syntax.scopes.values()):
        return None
    found = None
    for loop in loops:
        if isinstance(loop, ast.GeneratorExp) and len(scope.bindings[name.id]) > 1:
            break  # it may run when the variable has another value
        if any(loop in (binding.node, *model.ancestors(binding.node)) for binding in scope.bindings[name.id]):
            break
        found = loop
    return found


def _root(call: ast.Call, model: SemanticModel) -> ast.Name | None:
    """Return the variable at the root of a chain of such methods with constant arguments."""
    owner: ast.expr = call
    while isinstance(owner, ast.Call):
        if not is_text_work(owner, model) or owner.keywords or not isinstance(owner.func, ast.Attribute):
            return None
        if not all(isinstance(argument, ast.Constant) for argument in owner.args):
            return None
        owner = owner.func.value
    return owner if isinstance(owner, ast.Name) else None


def _is_in_branch(call: ast.Call, loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether the call is in a branch that only some iterations take, or in a handler."""
    child: ast.AST = call
    for parent in model.ancestors(call):
        if parent is loop:
            break
        if isinstance(parent, (ast.ExceptHandler, ast.match_case)):
            return True
        if isinstance(parent, (ast.If, ast.IfExp)) and child is not parent.test:
            return True
        child = parent
    return False


def _is_chained(call: ast.Call, model: SemanticModel) -> bool:
    """Whether this is only the first part of a chain that is invariant as a whole."""
    outer = model.syntax.method_call(call)
    return outer is not None and _root(outer, model) is not None


def hoist(call: ast.Call, loop: AnyLoop, repetition: Repetition | None, model: SemanticModel) -> Fix | None:
    """Move the call before the loop."""
    name = _root(call, model)
    again = repetition.again if repetition is not None else ()
    statement = loop if isinstance(loop, ast.stmt) else model.syntax.statement(loop)
    if name is None or not all(model.edit.is_relocatable(node) for node in (call, *again)):
        return None
    if statement is not loop and not _stays_ahead(loop, statement, model):
        return None
    if (
        not model.types.is_immutable(call)
        and model.dataflow.use_of(call).escape_level is not EscapeLevel.READ
    ):
        return None
    caught = _is_caught(call, statement, model)
    needs_str = any(isinstance(each, ast.Call) and each.args for each in descendants(call))
    fits = not _may_fail(call, model) and all(
        _is_made_text(b, name, statement, model, needs_str=needs_str)
        for b in model.dataflow.definitions(name)
    )
    safe = fits or (not caught and hoist_points.may_move_before(call, loop, model))
    if not safe and not hoist_points.is_reached(call, loop, model):
        return None
    wanted = text_names.of_result(call)
    new = model.importer.fresh_local(wanted, call, f"hoist {model.source.span(call)[0]}")
    before = model.edit.insert_before(statement, f"{new} = {model.edit.parenthesized(call)}")
    if before is None:
        return None
    edits = (before, *(model.edit.replace(node, new) for node in (call, *again)))
    reason = (
        f"`{model.source.text(call)}` must not fail: it now runs even if the loop has no iterations, and "
        f"before the loop's other code"
    )
    if caught:
        reason = f"`{model.source.text(call)}` must not fail: before the loop, its error is not caught"
    title = f"Call it once before the loop, as `{new}`"
    return Fix(title, Applicability.SAFE if safe else Applicability.UNSAFE, edits, None if safe else reason)


def _is_caught(call: ast.Call, statement: ast.AST, model: SemanticModel) -> bool:
    """Whether a block between a call and an enclosing statement catches exceptions, as a `with` may."""
    for around in model.ancestors(call):
        if around is statement:
            return False
        if isinstance(around, (ast.Try, ast.With, ast.AsyncWith)) or type(around).__name__ == "TryStar":
            return True
    return False


def _stays_ahead(loop: AnyLoop, statement: ast.stmt, model: SemanticModel) -> bool:
    """Whether a node may be evaluated before the statement that contains a comprehension, instead of in
    it.
    """
    if isinstance(statement, (ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    if any(isinstance(ancestor, ast.Lambda) for ancestor in model.ancestors(loop)):
        return False
    return model.dataflow.order.always_within(loop, statement)


def _is_made_text(
    binding: Binding, name: ast.Name, statement: ast.stmt, model: SemanticModel, *, needs_str: bool
) -> bool:
    """Whether the variable surely is a string: by its assignment, or because a string method was called on it
    already. An annotation alone is not proof, nor are methods that bytes also have if it `needs_str`.
    """
    match binding:
        case Binding(
            kind=BindingKind.ASSIGN | BindingKind.WALRUS,
            path=(),
            value=(ast.Constant() | ast.JoinedStr()) as value,
        ):
            return model.types.type_of(value).tag in _TEXT
        case Binding(kind=BindingKind.ASSIGN | BindingKind.WALRUS, path=(), value=ast.Call() as call):
            if model.names.qualified(call.func) == "builtins.str" or is_text_work(call, model):
                return True
    scope = model.names.scope(name).lookup(name.id)
    return scope is not None and any(
        _was_text(r, statement, model, needs_str=needs_str) for r in model.names.reads(name.id, scope)
    )


def _was_text(read: ast.Name, statement: ast.stmt, model: SemanticModel, *, needs_str: bool) -> bool:
    """Whether a method that only strings have has run on the variable, before a statement and with the same
    value. If it `needs_str`, those that bytes have as well count only if they were passed a string.
    """
    called = model.syntax.method_call(read)
    if called is None:
        return False
    within = model.syntax.statement(read)
    of_bytes_too = hasattr(bytes, last_name(called.func) or "") and not any(
        isinstance(given, ast.Constant) and isinstance(given.value, str) for given in called.args
    )
    if (
        last_name(called.func) not in _ONLY_OF_TEXTS
        or (needs_str and of_bytes_too)
        or within is statement
        or model.function(read) is not model.function(statement)
    ):
        return False
    return (
        model.dataflow.order.always_within(called, within)
        and model.dataflow.between(called, statement) is not None
        and model.dataflow.keeps(read, called, statement)
    )


def _may_fail(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a chain of methods with constant arguments may fail on a string."""
    owner: ast.expr = call
    while isinstance(owner, ast.Call) and isinstance(owner.func, ast.Attribute):
        given = [argument.value for argument in owner.args if isinstance(argument, ast.Constant)]
        fewest, most = _TEXTS_TAKEN.get(owner.func.attr, (1, 0))
        wanted = bytes if model.types.type_of(owner.func.value).tag is TypeTag.BYTES else str
        if not fewest <= len(given) <= most or not all(
            isinstance(value, wanted) and value for value in given
        ):
            return True
        owner = owner.func.value
    return False
