"""Whether the input of a network in a loop is one of several items that could be stacked."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rlint.rule import (
    LOOPS,
    AnyLoop,
    Binding,
    BindingKind,
    Driver,
    EffectKind,
    ItemKind,
    LoopItem,
    Scope,
    SemanticModel,
    Trait,
    TypeTag,
    axes_of,
    descendants,
    is_in,
    last_name,
    loop_variables,
    models,
    observations,
    one_row_batches,
    only_callee,
    regex,
)
from rlint.rules.networks._shared.same_input import nodes_run
from rlint.rules.networks.rl314_unbatched_forward.helpers import leaves_nothing, takes_step
from rlint.rules.networks.rl314_unbatched_forward.one_row import is_indexed, is_sample
from rlint.rules.networks.rl314_unbatched_forward.own_environments import is_own_step, is_restore

_ARRAYS = (TypeTag.TENSOR, TypeTag.NDARRAY)
TOKENS = regex(r"token|prompt|text|sentence|input_ids|graph|word", re.IGNORECASE)
_FOLLOWS = regex(r"load_state_dict|copy_|lerp|update|sync|target(?!.*(net|model|critic))", re.IGNORECASE)
PARTS = regex(r"batch|chunk|split|shard|part|group|loader", re.IGNORECASE)
_CHANGES = EffectKind.MUTATES | EffectKind.CONSUMES | EffectKind.ACCUMULATES_GRADIENTS
_RESHAPES = models.having(Trait.KEEPS_VALUES | Trait.KEEPS_ORDER, TypeTag.TENSOR, TypeTag.NDARRAY)
DEPTH = 6
_MOST_BINDINGS = 4


def single_item(
    call: ast.Call, loop: AnyLoop, model: SemanticModel, *, of_objects: bool = False
) -> LoopItem | None:
    """Return the loop variable from which the call's input is computed, if each iteration passes one item
    that does not depend on an earlier iteration; None if that is not known. With `of_objects`, an item may
    come from an object of a class of the project, which otherwise may yield batches.
    """
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    look = CallInput(call, loop, model, of_objects=of_objects)
    if not look.items or not all(look.follow(value, DEPTH) for value in given):
        return None
    if not look.found or any(TOKENS.search(name) for name in look.names()):
        return None
    single = look.one_of_many()
    return single if single is not None and not look.carried() else None


def names_in(value: ast.expr) -> Iterator[str]:
    """Yield the names of variables and attributes in an expression."""
    for node in descendants(value):
        name = getattr(node, "id", None) or getattr(node, "attr", None)
        if isinstance(name, str):
            yield name


def is_batch_of_many(item: LoopItem, model: SemanticModel) -> bool:
    """Whether it is one of a list of tensors: an encoding for each agent, a latent state for each step. Parts
    of one tensor are not, as they bound the memory of a pass.
    """
    kind = model.types.type_of(item.over)
    bound = [kind.item] if kind.tag is TypeTag.LIST and kind.item is not None else []
    if bound and not bound[0]:
        function = model.function(item.over)
        uses = descendants(function) if function is not None else ()
        bound = [
            model.types.type_of(use)
            for use in uses
            if isinstance(use, ast.Name) and use.id == item.name and isinstance(use.ctx, ast.Load)
        ]
    if not bound or any(each.tag is not TypeTag.TENSOR for each in bound):
        return False
    return not any(PARTS.search(name) for name in (item.name, last_name(item.over) or ""))


def part_bound(binding: Binding) -> ast.expr:
    """Return what a variable receives of a tuple display, as in `now, then = batch[:, t], batch[:, t + 1]`;
    else the whole value.
    """
    value = binding.value
    assert value is not None
    for place in binding.path:
        if not isinstance(value, (ast.Tuple, ast.List)) or not 0 <= place < len(value.elts):
            break
        if any(isinstance(each, ast.Starred) for each in value.elts):
            break
        value = value.elts[place]
    return value


def row_of(index: ast.expr) -> ast.expr:
    """Return `i` of the slice `i : i + 1`, which takes one row; else the index itself."""
    match index:
        case ast.Slice(
            lower=ast.Name() as first,
            upper=ast.BinOp(left=ast.Name(id=name), op=ast.Add(), right=ast.Constant(value=1)),
            step=None,
        ) if name == first.id:
            return first
    return index


class CallInput:
    """The inputs of a call's arguments, within one iteration of a loop."""

    def __init__(
        self,
        call: ast.Call,
        loop: AnyLoop,
        model: SemanticModel,
        *,
        of_objects: bool,
        may_draw: bool = False,
    ) -> None:
        self.call = call
        self.loop = loop
        self.model = model
        self.of_objects = of_objects
        self.may_draw = may_draw
        self.items = loop_variables.items_of(loop, model.names.qualified)
        self.parts: list[ast.expr] = []
        self.found: dict[str, LoopItem] = {}

    def follow(self, value: ast.expr, depth: int) -> bool:
        """Add an expression and the values of its names. Return False if it may depend on an earlier
        iteration, or on anything else that changes.
        """
        model = self.model
        if depth <= 0:
            return False
        self.parts.append(value)
        for node in descendants(value):
            if isinstance(node, ast.Call) and not self._only_computes(node):
                return False
            if (
                isinstance(node, ast.Name)
                and isinstance(node.ctx, ast.Load)
                and model.names.qualified(node) is None
            ):
                if any(node.id in scope.bindings for scope in self._scopes_in(value, node)):
                    continue
                if not self._name(node, depth):
                    return False
        return True

    def _only_computes(self, call: ast.Call) -> bool:
        """Whether a call only converts or computes, also by a network that keeps no state."""
        model = self.model
        if isinstance(call.func, ast.Attribute) and call.func.attr in _RESHAPES:
            return True
        if is_own_step(call, self.loop, model):
            return True
        run = model.nn.network_run(call)
        if run is not None and call.args:
            structure = model.nn.architecture(*run)
            return not (structure.recurrent or structure.attention or structure.keeps or structure.hooks)
        if model.gradients.gives_gradient(call):
            return False
        effect = model.effects.call_effect(call)
        if effect.quiet or self._only_puts_together(call):
            return True
        return self.may_draw and bool(model.types.call_targets(call)) and not effect.kind & _CHANGES

    def _only_puts_together(self, call: ast.Call) -> bool:
        """Whether a call runs a function of this file that keeps no state for a later iteration."""
        definition = only_callee(call, self.model)
        return definition is not None and self.model.once(leaves_nothing, definition)

    def _scopes_in(self, value: ast.expr, name: ast.Name) -> Iterator[Scope]:
        """Yield the scopes of comprehensions and lambdas within a value."""
        scope = self.model.names.scope(name)
        while any(node is scope.node for node in descendants(value)):
            yield scope
            if scope.parent is None:
                return
            scope = scope.parent

    def _name(self, name: ast.Name, depth: int) -> bool:
        bindings = self.model.dataflow.definitions(name)
        if not bindings or all(not self._is_inside(binding) for binding in bindings):
            return True
        if len(bindings) > _MOST_BINDINGS or not all(self._is_inside(binding) for binding in bindings):
            return False
        return all(self._binding(name, binding, depth) for binding in bindings)

    def _binding(self, name: ast.Name, binding: Binding, depth: int) -> bool:
        if binding.kind in (BindingKind.FOR, BindingKind.COMPREHENSION):
            item = self.items.get(name.id)
            if item is None or not self._binds(binding):
                return False
            self.found[name.id] = item
            return True
        if binding.kind not in (BindingKind.ASSIGN, BindingKind.WALRUS) or binding.value is None:
            return False
        if self.model.dataflow.order.position(binding.value) > self.model.dataflow.order.position(self.call):
            return False  # a value of an earlier iteration
        return self.follow(part_bound(binding), depth - 1)

    def _is_inside(self, binding: Binding) -> bool:
        return is_in(binding.node, self.loop)

    def _binds(self, binding: Binding) -> bool:
        """Whether the binding belongs to the loop itself, rather than to a nested one."""
        return any(node is binding.node for clause in self._clauses() for node in descendants(clause.target))

    def _clauses(self) -> list[ast.For | ast.AsyncFor | ast.comprehension]:
        if isinstance(self.loop, ast.While):
            return []
        return [self.loop] if isinstance(self.loop, (ast.For, ast.AsyncFor)) else [*self.loop.generators]

    def names(self) -> Iterator[str]:
        """Yield the names in all inputs of the call."""
        roots = [*self.parts, *(item.over for item in self.found.values())]
        for part in roots:
            yield from names_in(part)

    # -- is it one of many? ----------------------------------------------------------------------

    def one_of_many(self) -> LoopItem | None:
        """Return the loop variable that is known to be (or to select) one item, not a batch of them."""
        for part in self.parts:
            for node in descendants(part):
                wrapped = one_row_batches.only_row(node, self.model)
                if wrapped is not None:
                    item = self._item_in(wrapped)
                    if item is not None and (item.sort is not ItemKind.KEY or is_indexed(item, wrapped)):
                        return item
                if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
                    item = self._chosen(node)
                    if item is not None:
                        return item
                if isinstance(node, ast.Call):
                    item = self._chosen_by(node)
                    if item is not None:
                        return item
        return next((item for item in self.found.values() if self._is_one(item)), None)

    def _item_in(self, value: ast.expr, depth: int = DEPTH) -> LoopItem | None:
        for node in descendants(value) if depth else ():
            if isinstance(node, ast.Name):
                item = self.found.get(node.id)
                if item is not None:
                    return item
                for binding in self.model.dataflow.definitions(node):
                    if (
                        self._is_inside(binding)
                        and binding.kind is BindingKind.ASSIGN
                        and binding.value is not None
                    ):
                        return self._item_in(binding.value, depth - 1)
        return None

    def _chosen(self, node: ast.Subscript) -> LoopItem | None:
        """Return the counter in `states[i]`, `states[i : i + 1]` and `states[:, t]`, or the key in
        `obs[agent]`.
        """
        indices = axes_of(node.slice)
        for index in map(row_of, indices):
            item = self.found.get(index.id) if isinstance(index, ast.Name) else None
            if item is None:
                continue
            name = last_name(node.value) or ""
            if item.sort is ItemKind.COUNT:
                if len(indices) > 1 and isinstance(indices[0], ast.Slice):
                    return item  # only arrays and tensors have a second dimension
                known = self.model.types.type_of(node.value).tag in _ARRAYS
                return (
                    item
                    if known or observations.names_several(name) or observations.names_one(name)
                    else None
                )
            return item if observations.names_one(name) and not item.is_part else None
        return None

    def _chosen_by(self, call: ast.Call) -> LoopItem | None:
        """Return the counter passed to a function of this file that selects one step of a batch: `obs[:,
        t]`.
        """
        targets = self.model.types.call_targets(call)
        definition = self.model.types.definition(targets[0]) if len(targets) == 1 else None
        if definition is None:
            return None
        skipped = 1 if targets[0].is_method and not targets[0].is_static else 0
        parameters = [each.arg for each in (*definition.args.posonlyargs, *definition.args.args)][skipped:]
        given = [*zip(parameters, call.args, strict=False)]
        given += [(each.arg, each.value) for each in call.keywords if each.arg is not None]
        for parameter, value in given:
            item = self.found.get(value.id) if isinstance(value, ast.Name) else None
            if item is not None and item.sort is ItemKind.COUNT and takes_step(definition, parameter):
                return item
        return None

    def _is_one(self, item: LoopItem) -> bool:
        """Whether a loop variable is one row of an array, one transition, or one of many states."""
        if item.sort is not ItemKind.ELEMENT:
            return False
        kind = self.model.types.type_of(item.over)
        if kind.tag in _ARRAYS:
            return kind.rank != 1
        if is_sample(item.over, self.model) or is_batch_of_many(item, self.model):
            return True
        if not observations.names_one(item.name):
            return False
        name = last_name(item.over) or ""
        if kind.tag is TypeTag.INSTANCE and self.of_objects and not PARTS.search(name):
            return True
        return observations.names_several(name)

    # -- values carried between iterations ---------------------------------------------------------

    def carried(self) -> bool:
        """Whether the loop modifies the source of its inputs, trains, or may stop early."""
        used = {
            node.attr if isinstance(node, ast.Attribute) else node.id
            for part in (*self.parts, *(item.over for item in self.found.values()))
            for node in descendants(part)
            if isinstance(node, (ast.Attribute, ast.Name))
        } - set(self.found)
        own = {id(node) for clause in self._clauses() for node in descendants(clause.iter)}
        for node in nodes_run(self.loop):
            if id(node) in own:
                continue
            match node:
                case ast.Break() | ast.Return() | ast.Yield() | ast.YieldFrom() | ast.Await():
                    changes = self._leaves(node)
                case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
                    changes = name in used
                case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()):
                    changes = last_name(value) in used and not self._is_done_with(node)
                case ast.Call() if is_restore(node) or is_own_step(node, self.loop, self.model):
                    changes = False
                case ast.Call():
                    changes = self._steps(node) or self._reaches(node, used)
                case _:
                    changes = False
            if changes:
                return True
        return self._changes_weights()

    def _steps(self, call: ast.Call) -> bool:
        """Whether it steps an environment, other than one that belongs to the iteration."""
        if self.model.analysis.loops.driver_of(call) is not Driver.ENVIRONMENT_STEP:
            return False
        return not any(
            isinstance(node, ast.Name) and node.id in self.items for node in descendants(call.func)
        )

    def _reaches(self, call: ast.Call, used: set[str]) -> bool:
        """Whether a call with side effects is passed the source of the inputs, or is a method of it."""
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if isinstance(call.func, ast.Attribute):
            given.append(call.func.value)
        near = any(
            isinstance(value, (ast.Name, ast.Attribute)) and last_name(value) in used for value in given
        )
        if isinstance(call.func, ast.Attribute) and call.func.attr in _RESHAPES:
            return False
        if (
            not near
            or self.model.types.type_of(call.func).tag is TypeTag.MODULE
            or self.model.gradients.gives_gradient(call)
        ):
            return False
        effect, targets = self.model.effects.call_effect(call), self.model.types.call_targets(call)
        if targets and (not effect.kind & _CHANGES or all(each.name == "__init__" for each in targets)):
            return False  # a constructor stores its arguments
        return not (effect.quiet or self._only_puts_together(call))

    def _changes_weights(self) -> bool:
        """Whether the loop takes gradient steps that may reach the network, or changes its weights
        otherwise.
        """
        if not self.model.nn.takes_gradient_steps(self.loop):
            return False
        func = self.call.func
        if self.model.nn.is_optimized(func) is not False:
            return True
        calls = (node for node in nodes_run(self.loop) if isinstance(node, ast.Call))
        return any(_FOLLOWS.search(last_name(call.func) or "") for call in calls)

    def _leaves(self, node: ast.AST) -> bool:
        """Whether a `break` (or `return`, `yield` …) leaves this loop."""
        if not isinstance(node, ast.Break):
            return True
        around = (above for above in self.model.ancestors(node) if isinstance(above, LOOPS))
        return next(around, None) is self.loop

    def _is_done_with(self, target: ast.Subscript) -> bool:
        """Whether `states[i]` is assigned only after its iteration has passed it to the network."""
        index = target.slice
        own = isinstance(index, ast.Name) and index.id in self.found
        order = self.model.dataflow.order
        return own and order.position(self.call) < order.position(target)
