"""Arrays that grow in a loop: the loops that carry them between iterations, and the reads on the way."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint import models
from rlint.frozen import frozen
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.semantics.dataflow.array_growth import ArrayGrowth, growth_of, same_place
from rlint.semantics.frequency.loops import AnyLoop
from rlint.semantics.model import SemanticModel
from rlint.syntax.queries import root_name
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.syntax_index import FUNCTIONS, LOOPS
from rlint.syntax.walk import descendants, is_in, names_bound

_SIZES = models.FORM_ATTRIBUTES | models.having(Trait.MEASURES, TypeTag.TENSOR) | {"__len__"}


@frozen
class LoopCarried:
    """The loops across whose iterations a variable keeps its grown value, innermost first.

    `starts` are the other bindings that its old value may come from; `restarts` those of them inside the
    loops (`if done: states = np.empty(...)`).
    """

    loops: tuple[AnyLoop, ...]
    starts: tuple[Binding, ...] = ()
    restarts: tuple[Binding, ...] = ()


@frozen
class CarriedReads:
    """Where a growing array is read: as a whole in each iteration, as a whole occasionally, or in part."""

    whole: tuple[ast.AST, ...] = ()
    rare: tuple[ast.AST, ...] = ()
    part: tuple[ast.AST, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.whole or self.rare or self.part)


def carried_by_loops(growth: ArrayGrowth, model: SemanticModel) -> LoopCarried:
    """Return the loops that carry the growing variable, attribute or entry; none if each iteration starts
    over.
    """
    around = tuple(loop for loop in model.frequency.loops(growth.statement) if isinstance(loop, LOOPS))
    if isinstance(growth.target, ast.Name):
        return _carried_name(growth, growth.target, around, model)
    loops: list[AnyLoop] = []
    for loop in around:
        if _sets_key(loop, growth, model):
            continue  # each iteration has an entry of its own
        if any(_rebinds(node, growth.target) for node in loop.body):
            break
        loops.append(loop)
    return LoopCarried(tuple(loops))


def _carried_name(
    growth: ArrayGrowth, target: ast.Name, around: tuple[AnyLoop, ...], model: SemanticModel
) -> LoopCarried:
    itself = growth.itself
    while isinstance(itself, ast.Subscript):
        itself = itself.value
    if not isinstance(itself, ast.Name) or itself.id != target.id:
        return LoopCarried(())
    known = model.dataflow.definitions(itself)
    if not any(binding.statement is growth.statement for binding in known):
        return LoopCarried(())
    starts = [binding for binding in known if not _is_growth_of(binding, target, model)]
    loops: list[AnyLoop] = []
    for loop in around:
        inside = [binding for binding in starts if is_in(binding.statement, loop) or binding.node is loop]
        if any(model.parent(binding.statement) is loop or binding.statement is loop for binding in inside):
            break
        loops.append(loop)
    restarts = [b for b in starts if loops and is_in(b.statement, loops[-1])]
    return LoopCarried(tuple(loops), tuple(starts), tuple(restarts))


def reads_in(growth: ArrayGrowth, region: ast.AST, model: SemanticModel) -> CarriedReads:
    """Return the reads of the growing value inside a loop or function, without the growth itself."""
    whole: list[ast.AST] = []
    rare: list[ast.AST] = []
    part: list[ast.AST] = []
    for node in _same_places(growth, region, model):
        if is_in(node, growth.itself) or _is_alias_only(node, growth, model):
            continue
        if _only_sized(node, model) or _is_own_update(node, growth, model) or _is_named(node, region, model):
            part.append(node)
        elif _is_rare(node, growth, model):
            rare.append(node)
        else:
            whole.append(node)
    return CarriedReads(tuple(whole), tuple(rare), tuple(part))


def _is_alias_only(read: ast.AST, growth: ArrayGrowth, model: SemanticModel) -> bool:
    """Whether a read only gives the growing value another name, by which it is concatenated and no other code
    uses it: `rows = self.rows`, `self.rows = np.append(rows, row)`.
    """
    alias = growth.itself
    if not isinstance(alias, ast.Name) or growth.in_place:
        return False
    scope = model.names.scope(alias).lookup(alias.id)
    bound = [each.value for each in model.dataflow.definitions(alias)]
    if scope is None or not scope.is_function or len(bound) != 1 or bound[0] is not read:
        return False
    return all(use is alias for use in model.names.reads(alias.id, scope))


def carried_by_calls(growth: ArrayGrowth, model: SemanticModel) -> bool:
    """Whether an attribute (or an entry of one, or a global) keeps its value between calls: the same function
    does not rebind it before it grows.
    """
    function = model.function(growth.statement)
    if function is None:
        return False
    root = root_name(growth.target)
    if root is None or not _outlives(root, function, growth, model):
        return False
    child: ast.AST = growth.statement
    for parent in model.ancestors(growth.statement):
        for block in (getattr(parent, name, None) for name in ("body", "orelse", "finalbody")):
            if not isinstance(block, list) or not any(statement is child for statement in block):
                continue
            for statement in block:
                if statement is child:
                    break
                if _rebinds_before_growth(statement, growth):
                    return False
        if parent is function:
            return True
        child = parent
    return True


def passed_back(growth: ArrayGrowth, model: SemanticModel) -> bool:
    """Whether a function makes a parameter grow, or begins it if it is empty (`if rows is None: rows = row`),
    and returns it: its callers likely pass the result in again.
    """
    itself, function = growth.itself, model.function(growth.statement)
    if not isinstance(growth.target, ast.Name) or not isinstance(itself, ast.Name) or function is None:
        return False
    bindings = model.dataflow.definitions(itself)
    if [binding.kind for binding in bindings] != [BindingKind.PARAMETER]:
        return False
    name = itself.id
    return any(
        isinstance(node, ast.If) and _tests_emptiness(node.test, name) for node in descendants(function)
    ) and any(
        isinstance(node, ast.Return)
        and isinstance(node.value, ast.Name)
        and any(b.statement is growth.statement for b in model.dataflow.definitions(node.value))
        for node in descendants(function)
    )


def _tests_emptiness(test: ast.expr, name: str) -> bool:
    match test:
        case ast.Compare(left=ast.Name(id=tested), ops=[ast.Is() | ast.IsNot()]):
            return tested == name
        case ast.Compare(left=ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=tested)])):
            return tested == name
    return False


def _outlives(root: ast.Name, function: ast.AST, growth: ArrayGrowth, model: SemanticModel) -> bool:
    """Whether a name refers to an object that outlives the call: `self`, a class, a global."""
    bindings = model.names.bindings(root)
    scope = model.names.scope(root)
    if isinstance(growth.target, ast.Name):
        return root.id in scope.globals or root.id in scope.nonlocals
    if scope.lookup(root.id) is not scope.function and bindings:
        return True
    first = [*function.args.posonlyargs, *function.args.args][:1] if isinstance(function, FUNCTIONS) else []
    owner = model.parent(function)
    return (
        isinstance(owner, ast.ClassDef)
        and bool(first)
        and len(bindings) == 1
        and bindings[0].kind is BindingKind.PARAMETER
        and bindings[0].node is first[0]
    )


def _rebinds_before_growth(statement: ast.AST, growth: ArrayGrowth) -> bool:
    """Whether a statement rebinds the array or its owner before it grows: `self.obs = base` or `self.data =
    {}` before `self.obs = np.concatenate((self.obs, goal))`.
    """
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
        return False
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    flat = [
        element
        for target in targets
        for element in (target.elts if isinstance(target, ast.Tuple) else [target])
    ]
    places = [growth.target]
    while isinstance(places[-1], (ast.Attribute, ast.Subscript)):
        places.append(places[-1].value)
    if not any(same_place(target, place) for target in flat for place in places):
        return False
    # its own growth, or a trim of itself, keeps the old value
    return not any(same_place(node, growth.target) for node in descendants(statement.value))


def _is_growth_of(binding: Binding, target: ast.Name, model: SemanticModel) -> bool:
    found = growth_of(binding.statement, model)
    return found is not None and same_place(found.target, target)


def _rebinds(node: ast.AST, target: ast.expr) -> bool:
    """Whether a statement of a loop's body rebinds the target or its owner in each iteration."""
    if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    flat = [element for t in targets for element in (t.elts if isinstance(t, ast.Tuple) else [t])]
    place: ast.AST = target
    while True:
        if any(same_place(element, place) for element in flat):
            return not any(same_place(part, target) for part in descendants(node.value))
        if not isinstance(place, (ast.Attribute, ast.Subscript)):
            return False
        place = place.value


def _sets_key(loop: AnyLoop, growth: ArrayGrowth, model: SemanticModel) -> bool:
    """Whether the entry (or its owner) is selected by the loop variable, or by a value derived from it. What
    another branch binds, instead of growing, does not count: it begins the entries.
    """
    if not isinstance(loop, (ast.For, ast.AsyncFor)):
        return False
    inner = [node for part in loop.body for node in descendants(part) if isinstance(node, ast.For)]
    outer = {name for node in descendants(loop.target) for name in names_bound(node)}
    again = {id(name) for each in inner for name in _repeated_keys(each, outer)}
    again.update(
        id(node) for part in _other_branches(growth.statement, loop, model) for node in descendants(part)
    )
    own = {
        name
        for part in (loop.target, *loop.body)
        for node in descendants(part)
        if id(node) not in again
        for name in names_bound(node)
    }
    return any(isinstance(node, ast.Name) and node.id in own for node in descendants(growth.target))


def _other_branches(statement: ast.AST, loop: AnyLoop, model: SemanticModel) -> Iterator[ast.stmt]:
    """Yield the statements in a loop that run instead of a statement, depending on a condition."""
    child = statement
    for parent in model.ancestors(statement):
        if isinstance(child, ast.stmt):
            block, index = model.syntax.block(child)
            for before in block[:index]:
                if isinstance(before, ast.If) and isinstance(before.body[-1], ast.Continue):
                    yield from before.body
        if parent is loop:
            return
        if isinstance(parent, ast.If) and child is not parent.test:
            yield from parent.orelse if child in parent.body else parent.body
        child = parent


def _repeated_keys(loop: ast.For, outer: set[str]) -> list[ast.expr]:
    """Return the names that an inner loop binds to the same keys in each iteration of an outer one, which
    binds the names `outer`: keys of dicts, and numbers of a range that do not depend on it.
    """
    match loop:
        case ast.For(target=ast.Name() as key, iter=ast.Call(func=ast.Attribute(attr="keys"))):
            return [key]
        case ast.For(
            target=ast.Tuple(elts=[ast.Name() as key, _]), iter=ast.Call(func=ast.Attribute(attr="items"))
        ):
            return [key]
        case ast.For(target=ast.Name() as key, iter=ast.Call(func=ast.Name(id="range"), args=limits)):
            used = {node.id for limit in limits for node in descendants(limit) if isinstance(node, ast.Name)}
            return [key] if not used & outer else []
    return []


def _same_places(growth: ArrayGrowth, region: ast.AST, model: SemanticModel) -> list[ast.AST]:
    target = growth.target
    if isinstance(target, ast.Name):
        scope = model.names.scope(target).lookup(target.id)
        nodes: list[ast.AST] = list(model.names.reads(target.id, scope)) if scope is not None else []
        return [node for node in nodes if is_in(node, region)]
    kind = type(target)
    return [
        node
        for node in descendants(region)
        if type(node) is kind
        and node is not target
        and isinstance(getattr(node, "ctx", None), ast.Load)
        and same_place(node, target)
    ]


def _only_sized(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a read does not traverse the whole array: its length, its shape, one row, an `is None` test."""
    match model.parent(node):
        case ast.Attribute(attr=name):
            return name in _SIZES
        case ast.Call(func=ast.Name() as func, args=[argument]) if argument is node:
            return model.names.qualified(func) == "builtins.len"
        case ast.Subscript(value=value) if value is node:
            return True
        case ast.Compare(ops=[ast.Is() | ast.IsNot()]):
            return True
    return False


def _is_named(node: ast.AST, region: ast.AST, model: SemanticModel) -> bool:
    """Whether a read only gives the array another name, which is first read after a loop: `samples = ids`."""
    match model.parent(node):
        case ast.Assign(targets=[ast.Name(id=name) as target], value=value) if value is node:
            scope = model.names.scope(target).lookup(name)
            return (
                isinstance(region, LOOPS)
                and scope is not None
                and scope.is_function
                and not any(is_in(read, region) for read in model.names.reads(name, scope))
            )
    return False


def _is_own_update(node: ast.AST, growth: ArrayGrowth, model: SemanticModel) -> bool:
    """Whether a statement modifies the same variable in another way: `buf = np.delete(buf, 0)`."""
    statement = model.syntax.statement(node)
    if statement is growth.statement:
        return False  # `ids = torch.cat([ids, model(ids)])`
    match statement:
        case ast.Assign(targets=[target]):
            return same_place(target, growth.target)
        case ast.AugAssign(target=target):
            return same_place(target, growth.target)
    return False


def _is_rare(node: ast.AST, growth: ArrayGrowth, model: SemanticModel) -> bool:
    """Whether a read happens in fewer iterations than the growth."""
    loops = model.frequency.loops(growth.statement)
    if loops and loops[0] not in model.frequency.loops(node):
        return True  # the read is after the loop
    child: ast.AST = node
    for parent in model.ancestors(node):
        if isinstance(parent, (*LOOPS, *FUNCTIONS)):
            break
        if isinstance(parent, ast.If) and child is not parent.test and not is_in(growth.statement, parent):
            block = parent.body if child in parent.body else parent.orelse
            if any(_rebinds(statement, growth.target) for statement in block):
                return True  # drained: used, then reset
        child = parent
    coldest = model.analysis.loops.coldest
    return coldest(node) < coldest(growth.statement)
