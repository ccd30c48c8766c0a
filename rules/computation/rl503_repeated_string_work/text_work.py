"""Methods that go through a text, and the loops in which they do so with the same text."""

from __future__ import annotations

import ast

from rlint.models.kind import Tag
from rlint.rule import Fix, Heat, Safety
from rlint.rules.computation._shared import names as text_names
from rlint.rules.computation._shared import worth
from rlint.semantics.dataflow.common_subexpressions import Repetition
from rlint.semantics.dataflow.escape import Fate
from rlint.semantics.dataflow.extract_variable import can_be_replaced
from rlint.semantics.dataflow.hoist_points import is_reached, may_move_before
from rlint.semantics.frequency.loops import AnyLoop
from rlint.semantics.model import Site
from rlint.syntax.scopes import Binding, How
from rlint.syntax.walk import below

_TEXT = frozenset({Tag.STR, Tag.BYTES})
_TENSORS = frozenset({Tag.TENSOR, Tag.DISTRIBUTION})
METHODS = frozenset(
    """capitalize casefold count decode encode expandtabs find index join lower lstrip partition removeprefix
    removesuffix replace rfind rindex rpartition rsplit rstrip split splitlines strip swapcase title translate
    upper""".split()
)
"""What goes through a text."""
_ONLY_OF_TEXTS = frozenset("casefold endswith lower lstrip rstrip splitlines startswith strip upper".split())
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
"""How many texts these methods take. Given texts that are not empty, they fail for no text."""


def is_text_work(node: ast.AST, site: Site) -> bool:
    """Is this a method that goes through a text, of something that is a text for certain?"""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if node.func.attr not in METHODS or isinstance(site.parent(node), ast.withitem):
        return False
    if all(isinstance(part, ast.Constant) for part in (node.func.value, *node.args)):
        return False  # a constant that is spelled out
    return site.qualified(node.func) is None and site.kind_of(node.func.value).tag in _TEXT


def is_hot(node: ast.expr, site: Site) -> bool:
    """Does a node run per step or sample? The pieces of a text are no more work than the text as a whole."""
    place = node
    for loop in site.loops(node):
        if isinstance(loop, ast.While):
            break
        iterated = loop.iter if isinstance(loop, (ast.For, ast.AsyncFor)) else loop.generators[0].iter
        if not isinstance(iterated, ast.Call) or not isinstance(iterated.func, ast.Attribute):
            break
        if iterated.func.attr not in ("split", "splitlines"):
            break
        place = iterated
    return site.heat_of(place).level is Heat.HOT


def is_dwarfed(node: ast.AST, site: Site) -> bool:
    """Does each pass also compute with tensors, next to which work on a short text is nothing?"""
    loops, function = site.loops(node), site.function(node)
    for call in site.tree.of_type(ast.Call):
        if site.function(call) is not function or not _computes(call, site):
            continue
        around = site.loops(call)
        if all(loop in around for loop in loops):
            return True
    return False


def _computes(call: ast.Call, site: Site) -> bool:
    if isinstance(call.func, ast.Attribute) and call.func.attr == "backward":
        return True
    return site.kind_of(call).tag in _TENSORS or site.kind_of(call.func).tag is Tag.MODULE


def is_name_of_weights(call: ast.Call, site: Site) -> bool:
    """Is the text the name of a parameter or layer, as a loop over all of a network's gives them?"""
    name: ast.expr = call
    while isinstance(name, ast.Call) and isinstance(name.func, ast.Attribute):
        name = name.func.value
    for binding in site.definitions(name) if isinstance(name, ast.Name) else ():
        match binding.value:
            case ast.Call(func=ast.Attribute(value=owner, attr=attribute)):
                if attribute.startswith("named_") or site.kind_of(owner).tag is Tag.STATE_DICT:
                    return True
    return False


def is_spoken_for(node: ast.expr, site: Site) -> bool:
    """Does a finding about something larger, or about a function's call inside, speak for this one?"""
    for inner in below(node):
        if inner is node or not isinstance(inner, ast.Call):
            continue
        repeats = site.repetition(inner) is not None or site.repeated(inner) is not None
        if repeats and worth.is_worth_keeping(inner, site):
            return True
    return worth.is_covered(node, site) or _is_part_of_text_work(node, site)


def _is_part_of_text_work(node: ast.expr, site: Site) -> bool:
    for parent in site.ancestors(node):
        if isinstance(parent, ast.stmt):
            return False
        if isinstance(parent, ast.Call) and site.repeated(parent) is not None and is_text_work(parent, site):
            return True
    return False


def loop_with_same_text(call: ast.Call, site: Site) -> AnyLoop | None:
    """The outermost loop that makes a call again and again on a local variable which it leaves alone."""
    name = _root(call, site)
    loops = site.loops(call)
    if name is None or not loops or _is_chained(call, site) or _is_in_branch(call, loops[0], site):
        return None
    scope = site.scope(name).lookup(name.id)
    if scope is None or not scope.is_function or scope is not site.scope(name).function:
        return None
    if any(name.id in inner.globals | inner.nonlocals for inner in site.tree.scopes.values()):
        return None
    found = None
    for loop in loops:
        if isinstance(loop, ast.GeneratorExp) and len(scope.bindings[name.id]) > 1:
            break  # it may run when the variable has another value
        if any(loop in (binding.node, *site.ancestors(binding.node)) for binding in scope.bindings[name.id]):
            break
        found = loop
    return found


def _root(call: ast.Call, site: Site) -> ast.Name | None:
    """The variable that a chain of such methods, all with constant arguments, starts from."""
    owner: ast.expr = call
    while isinstance(owner, ast.Call):
        if not is_text_work(owner, site) or owner.keywords or not isinstance(owner.func, ast.Attribute):
            return None
        if not all(isinstance(argument, ast.Constant) for argument in owner.args):
            return None
        owner = owner.func.value
    return owner if isinstance(owner, ast.Name) else None


def _is_in_branch(call: ast.Call, loop: AnyLoop, site: Site) -> bool:
    """Does the call stand in a branch that only some passes of the loop take, or in a handler?"""
    child: ast.AST = call
    for parent in site.ancestors(call):
        if parent is loop:
            break
        if isinstance(parent, (ast.ExceptHandler, ast.match_case)):
            return True
        if isinstance(parent, (ast.If, ast.IfExp)) and child is not parent.test:
            return True
        child = parent
    return False


def _is_chained(call: ast.Call, site: Site) -> bool:
    """Is this only the first part of a chain that stays the same as a whole?"""
    parent = site.parent(call)
    outer = site.parent(parent) if isinstance(parent, ast.Attribute) else None
    return isinstance(outer, ast.Call) and outer.func is parent and _root(outer, site) is not None


def hoist(call: ast.Call, loop: AnyLoop, repetition: Repetition | None, site: Site) -> Fix | None:
    """Do the work once, before the loop."""
    name = _root(call, site)
    again = repetition.again if repetition is not None else ()
    statement = loop if isinstance(loop, ast.stmt) else site.tree.statement(loop)
    if name is None or not all(can_be_replaced(node, site) for node in (call, *again)):
        return None
    if statement is not loop and not _stays_ahead(loop, statement, site):
        return None
    if not site.gives_immutable(call) and site.use_of(call).fate is not Fate.READ:
        return None
    caught = _is_caught(call, statement, site)
    fits = not _may_fail(call, site) and all(
        _is_made_text(b, name, statement, site) for b in site.definitions(name)
    )
    safe = fits or (not caught and may_move_before(call, loop, site))
    if not safe and not is_reached(call, loop, site):
        return None
    wanted = text_names.of_result(call)
    new = site.free_local(wanted, call, f"hoist {site.span(call)[0]}")
    before = site.insert_before(statement, f"{new} = {site.operand(call)}")
    if before is None:
        return None
    edits = (before, *(site.replace(node, new) for node in (call, *again)))
    reason = (
        f"`{site.text(call)}` must not fail where the loop has nothing to go through, or does something first"
    )
    if caught:
        reason = f"`{site.text(call)}` must not fail: before the loop, nothing catches an error"
    title = f"Do it once before the loop, as `{new}`"
    return Fix(title, Safety.SAFE if safe else Safety.UNSAFE, edits, None if safe else reason)


def _is_caught(call: ast.Call, statement: ast.AST, site: Site) -> bool:
    """Does something between a call and a statement around it catch errors, or may a `with` do so?"""
    for around in site.ancestors(call):
        if around is statement:
            return False
        if isinstance(around, (ast.Try, ast.With, ast.AsyncWith)) or type(around).__name__ == "TryStar":
            return True
    return False


def _stays_ahead(loop: AnyLoop, statement: ast.stmt, site: Site) -> bool:
    """May something be evaluated before the statement that holds a comprehension, instead of in it?"""
    if isinstance(statement, (ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    if any(isinstance(ancestor, ast.Lambda) for ancestor in site.ancestors(loop)):
        return False
    return site.order.always_within(loop, statement)


def _is_made_text(binding: Binding, name: ast.Name, statement: ast.stmt, site: Site) -> bool:
    """Is the variable surely a text: by what makes it, or since a method of texts was called on it already?
    An annotation only claims so.
    """
    match binding:
        case Binding(how=How.ASSIGN | How.WALRUS, path=(), value=(ast.Constant() | ast.JoinedStr()) as value):
            return site.kind_of(value).tag in _TEXT
        case Binding(how=How.ASSIGN | How.WALRUS, path=(), value=ast.Call() as call):
            if site.qualified(call.func) == "builtins.str" or is_text_work(call, site):
                return True
    scope = site.scope(name).lookup(name.id)
    return scope is not None and any(_was_text(r, statement, site) for r in site.reads(name.id, scope))


def _was_text(read: ast.Name, statement: ast.stmt, site: Site) -> bool:
    """Did a method that only texts have run on the variable, before a statement and with the same value?"""
    method = site.parent(read)
    called = site.parent(method) if method is not None else None
    if not isinstance(method, ast.Attribute) or not isinstance(called, ast.Call) or called.func is not method:
        return False
    within = site.tree.statement(read)
    if (
        method.attr not in _ONLY_OF_TEXTS
        or within is statement
        or site.function(read) is not site.function(statement)
    ):
        return False
    return (
        site.order.always_within(called, within)
        and site.between(called, statement) is not None
        and site.keeps(read, called, statement)
    )


def _may_fail(call: ast.Call, site: Site) -> bool:
    """May a chain of methods with constant arguments fail though it is called on a text?"""
    owner: ast.expr = call
    while isinstance(owner, ast.Call) and isinstance(owner.func, ast.Attribute):
        given = [argument.value for argument in owner.args if isinstance(argument, ast.Constant)]
        fewest, most = _TEXTS_TAKEN.get(owner.func.attr, (1, 0))
        wanted = bytes if site.kind_of(owner.func.value).tag is Tag.BYTES else str
        if not fewest <= len(given) <= most or not all(
            isinstance(value, wanted) and value for value in given
        ):
            return True
        owner = owner.func.value
    return False
