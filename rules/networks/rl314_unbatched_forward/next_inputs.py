"""Data dependences between the iterations of a loop: whether a call's result reaches its next input."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    AnyLoop,
    Binding,
    BindingKind,
    EffectKind,
    LoopItem,
    SemanticModel,
    TypeTag,
    descendants,
    is_in,
    loop_variables,
    models,
)
from rlint.rules.networks._shared.same_input import nodes_run

_ADDS = models.mutators(TypeTag.LIST, TypeTag.DICT, TypeTag.DEQUE, TypeTag.SET)
_ROUNDS = 6
_NO_PARTS = (TypeTag.MODULE, TypeTag.TENSOR, TypeTag.NDARRAY)


class Iterations:
    """The values that the iterations of a loop read and write."""

    def __init__(self, loop: AnyLoop, model: SemanticModel) -> None:
        self.loop = loop
        self.model = model
        self.items: dict[str, LoopItem] = loop_variables.items_of(loop, model.names.qualified)
        self.nodes = list(nodes_run(loop))
        self._flows = list(self._found_flows())

    def reaches_next_input(self, call: ast.Call, inputs: list[ast.expr]) -> bool:
        """Whether a value that is computed from the result of a call may be an input of the call in a later
        iteration.
        """
        written = self._computed_from(call)
        return any(self._is_read(value, call, written, set()) for value in inputs)

    def items_in(self, inputs: list[ast.expr]) -> list[tuple[str, ast.Name]]:
        """Return the loop variables from which inputs are computed, with the places where they are read."""
        return [(node.id, node) for node in self.names_in(inputs) if self.is_item(node)]

    def is_item(self, name: ast.Name) -> bool:
        """Whether the loop itself binds a variable that is read."""
        return name.id in self.items and any(map(self._is_own, self.model.dataflow.definitions(name)))

    def names_in(self, inputs: list[ast.expr]) -> list[ast.Name]:
        """Return the variables, bound by the loop or in it, from which inputs are computed."""
        found: list[ast.Name] = []
        seen: set[ast.expr] = set()
        stack = list(inputs)
        while stack:
            value = stack.pop()
            if value in seen:
                continue
            seen.add(value)
            for node in descendants(value):
                if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
                    continue
                inside = [
                    binding
                    for binding in self.model.dataflow.definitions(node)
                    if is_in(binding.node, self.loop)
                ]
                if inside:
                    found.append(node)
                if not self.is_item(node):
                    stack += [binding.value for binding in inside if binding.value is not None]
        return found

    def values_of(self, name: ast.Name) -> list[ast.expr]:
        """Return the values that assignments in the loop give a variable."""
        return [
            binding.value
            for binding in self.model.dataflow.definitions(name)
            if binding.value is not None and is_in(binding.node, self.loop) and not self._is_own(binding)
        ]

    def depends_on(self, test: ast.expr, call: ast.Call) -> bool:
        """Whether an expression may be computed from the result of a call."""
        return _overlap(_keys(test), self._computed_from(call)) or is_in(call, test)

    def _is_own(self, binding: Binding) -> bool:
        """Whether the loop itself binds a name, rather than a loop in it."""
        if binding.kind is BindingKind.COMPREHENSION:
            return not isinstance(self.loop, (ast.For, ast.AsyncFor)) and is_in(binding.node, self.loop)
        return isinstance(self.loop, (ast.For, ast.AsyncFor)) and is_in(binding.node, self.loop.target)

    def _is_read(self, value: ast.expr, call: ast.Call, written: set[str], seen: set[ast.expr]) -> bool:
        if value in seen:
            return False
        seen.add(value)
        for node in descendants(value):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                key = _key(node)
                if "." in key and key.partition(".")[0] not in self.items and _overlap({key}, written):
                    root = key.partition(".")[0]
                    if not self._is_fresh(root):
                        return True
            if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
                continue
            bindings = self.model.dataflow.definitions(node)
            inside = [binding for binding in bindings if is_in(binding.node, self.loop)]
            if len(inside) < len(bindings) or not bindings:
                whole = not isinstance(self.model.parent(node), ast.Attribute)
                if node.id in written and whole:
                    return True  # what another iteration has written
            for binding in inside:
                if node.id in self.items and self._is_own(binding):
                    continue
                if binding.value is None or is_in(call, binding.value):
                    return True
                if self._is_read(binding.value, call, written, seen):
                    return True
        return False

    def _is_fresh(self, name: str) -> bool:
        """Whether each iteration binds a variable first: an object of its own."""
        first = next((flow for flow in self._flows if name in flow[1]), None)
        binds = first is not None and not isinstance(first[2], ast.Call)
        return first is not None and binds and not _overlap(first[0], {name})

    def _computed_from(self, call: ast.Call) -> set[str]:
        """Return the variables and attributes that a loop writes from the result of a call."""
        written: set[str] = set()
        inside = {flow[2] for flow in self._flows if is_in(call, flow[2]) or self._changes_object(flow[2])}
        for _ in range(_ROUNDS):
            before = len(written)
            for reads, writes, node in self._flows:
                if node is not call and (node in inside or _overlap(reads, written)):
                    written |= writes
            if len(written) == before:
                break
        return written

    def _changes_object(self, node: ast.AST) -> bool:
        """Whether a method of the object itself is known to change it, from whatever arguments."""
        return (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and not self.model.gradients.gives_gradient(node)
            and self.model.names.is_self(node.func.value)
            and bool(self.model.types.call_targets(node))
            and bool(self.model.effects.call_effect(node).kind & EffectKind.MUTATES)
        )

    def _found_flows(self) -> Iterator[tuple[set[str], set[str], ast.AST]]:
        """Yield what statements and calls of the loop read and write, in order."""
        flows: list[tuple[tuple[int, int], set[str], set[str], ast.AST]] = []
        for node in self.nodes:
            match node:
                case ast.Assign(value=value, targets=targets):
                    written = set().union(*map(_written, targets))
                case ast.AugAssign(value=value, target=target):
                    written = _written(target)
                case (
                    ast.AnnAssign(value=ast.expr() as value, target=target)
                    | ast.NamedExpr(value=value, target=target)
                ):
                    written = _written(target)
                case ast.For(iter=value, target=target) if node is not self.loop:
                    written = _written(target)
                case ast.Call(func=ast.Attribute(value=owner, attr=method), args=args, keywords=keywords):
                    if not self._may_change(node, owner, method):
                        continue
                    written = self._changed_by(node, owner)
                    value = ast.Tuple([*args, *(each.value for each in keywords)], ast.Load())
                case _:
                    continue
            place = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
            source = value if isinstance(node, ast.For) else node
            flows.append((place, _keys(value), written, source))
        for _, reads, written, source in sorted(flows, key=lambda flow: flow[0]):
            yield reads, written, source

    def _may_change(self, call: ast.Call, owner: ast.expr, method: str) -> bool:
        """Whether a method may store its arguments in its object."""
        if method in _ADDS:
            return True
        if self.model.gradients.gives_gradient(call) or self.model.names.qualified(call.func) is not None:
            return False
        if self.model.types.type_of(owner).tag in (TypeTag.MODULE, TypeTag.TENSOR, TypeTag.NDARRAY):
            return method.endswith("_") and self.model.types.type_of(owner).tag is TypeTag.TENSOR
        return not self.model.effects.call_effect(call).quiet

    def _changed_by(self, call: ast.Call, owner: ast.expr) -> set[str]:
        """Return what a method changes: the attributes that its functions set, or its whole object."""
        key = _key(owner)
        if not key:
            return set()
        targets = self.model.types.call_targets(call)
        if targets and self.model.names.is_self(owner):
            changes = bool(self.model.effects.call_effect(call).kind & EffectKind.MUTATES)
            found = {f"{key}.{name}" for each in targets for name, _ in each.sets}
            return found or ({key} if changes else set())
        return {key, *self._taken_from(owner)} if not self.model.names.is_self(owner) else set()

    def _taken_from(self, owner: ast.expr) -> set[str]:
        """Return the objects from which the loop takes the object that a method changes, such as the root of
        a tree for one of its nodes: `node = root`, `node = node.best_child()`.
        """
        found: set[str] = set()
        stack = [owner]
        for held in stack:
            if not isinstance(held, ast.Name) or self.is_item(held):
                continue
            for value in self.values_of(held):
                source = _object_of(value)
                key = _key(source)
                kind = self.model.types.type_of(source).tag
                if (
                    key
                    and key not in found
                    and kind not in _NO_PARTS
                    and not self.model.names.is_self(source)
                ):
                    found.add(key)
                    stack.append(source)
        return found


def _object_of(value: ast.expr) -> ast.expr:
    """Return the object of a method call, other values as they are."""
    match value:
        case ast.Call(func=ast.Attribute(value=owner)):
            return owner
    return value


def _written(target: ast.expr) -> set[str]:
    """Return what an assignment writes; a container for its item."""
    match target:
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return set().union(*map(_written, elts)) if elts else set()
        case ast.Starred(value=value) | ast.Subscript(value=value):
            return _written(value)
    key = _key(target)
    if not key and isinstance(target, ast.Attribute):
        return _written(target.value)  # of an item of a container
    return {key} if key else set()


def _keys(value: ast.AST) -> set[str]:
    """Return the variables and attributes that an expression reads: the longest chains."""
    found: set[str] = set()
    stack: list[ast.AST] = [value]
    while stack:
        node = stack.pop()
        key = _key(node)
        if key:
            found.add(key)
        else:
            stack.extend(ast.iter_child_nodes(node))
    return found


def _key(node: ast.AST) -> str:
    """Return `self.net` for the attribute, `x` for the variable; empty for other expressions."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _overlap(reads: set[str], written: set[str]) -> bool:
    """Whether an object that is read is written, or holds or belongs to one that is."""
    return any(
        read == write or read.startswith(f"{write}.") or write.startswith(f"{read}.")
        for read in reads
        for write in written
    )
