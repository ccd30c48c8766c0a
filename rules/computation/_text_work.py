"""Methods that go through a text, and the loops in which they do so with the same text."""

from __future__ import annotations

import ast

from rlint.project.bind_once import can_be_replaced
from rlint.project.fate import Fate
from rlint.project.kind import Tag
from rlint.project.loops import AnyLoop
from rlint.project.repeats import Repetition
from rlint.project.site import Site
from rlint.rule import Fix, Heat, Safety
from rlint.rules.computation import _names, _worth
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
        if repeats and _worth.is_worth_keeping(inner, site):
            return True
    return _worth.is_covered(node, site) or _is_part_of_text_work(node, site)


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
    sure = all(
        _is_text_for_sure(binding, site) and not (caught and binding.how is How.PARAMETER)
        for binding in site.definitions(name)
    )
    if not sure and not _is_reached(call, loop, site):
        return None
    wanted = _names.of_result(call)
    new = site.free_local(wanted, call, f"hoist {site.span(call)[0]}")
    before = site.insert_before(statement, f"{new} = {site.operand(call)}")
    if before is None:
        return None
    edits = (before, *(site.replace(node, new) for node in (call, *again)))
    reason = f"`{name.id}` must be a text where the loop has nothing to go through, too"
    if caught:
        reason = f"`{name.id}` must be a text: before the loop, nothing catches an error"
    title = f"Do it once before the loop, as `{new}`"
    return Fix(title, Safety.SAFE if sure else Safety.UNSAFE, edits, None if sure else reason)


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


def _is_reached(call: ast.Call, loop: AnyLoop, site: Site) -> bool:
    """Does the first pass of the loop evaluate the call for certain?"""
    if not isinstance(loop, ast.stmt):
        part = loop.key if isinstance(loop, ast.DictComp) else loop.elt
        first = loop.generators[0].ifs[:1] or [part]
        if len(loop.generators) > 1 or call not in below(first[0]):
            return False
        return site.order.always_within(call, first[0])
    statement = site.tree.statement(call)
    if statement is loop:
        return site.order.always_within(call, loop)
    if site.parent(statement) is not loop or not site.order.always_within(call, statement):
        return False
    block, index = site.tree.block(statement)
    leaves = (ast.Continue, ast.Break, ast.Return, ast.Raise)
    return not any(isinstance(node, leaves) for before in block[:index] for node in below(before))


def _is_text_for_sure(binding: Binding, site: Site) -> bool:
    """Does what binds the variable say that it is a text: an annotation, or what makes the value?"""
    match binding:
        case Binding(how=How.PARAMETER, node=ast.arg(annotation=ast.expr() as annotation)):
            named = isinstance(annotation, ast.Name) and site.qualified(annotation) == "builtins.str"
            return named or (isinstance(annotation, ast.Constant) and annotation.value == "str")
        case Binding(how=How.ASSIGN | How.WALRUS, path=(), value=(ast.Constant() | ast.JoinedStr()) as value):
            return site.kind_of(value).tag in _TEXT
        case Binding(how=How.ASSIGN | How.WALRUS, path=(), value=ast.Call() as call):
            return site.qualified(call.func) == "builtins.str" or is_text_work(call, site)
    return False
