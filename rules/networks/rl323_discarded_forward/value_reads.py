"""Where code reads a value, or one item or field of it: through variables, pure computations, containers that
are never read, and the callers of the function that returns it.
"""

from __future__ import annotations

import ast

from rlint.rule import (
    FUNCTIONS,
    Function,
    FunctionSummary,
    SemanticModel,
    TypeTag,
    UseKind,
    frozen,
    last_name,
    models,
    separate_outputs,
    use_of,
    vocabulary,
)
from rlint.rules.networks.rl323_discarded_forward.result_fields import field_of_argument

_MOST = 60
"""Maximum number of places that one value is followed to."""
_CHANGES = models.mutators(TypeTag.LIST, TypeTag.SET, TypeTag.DEQUE, TypeTag.DICT) | vocabulary.STORES
_TAKES_KEY = frozenset({"get", "pop"})

Part = int | str | None
"""The item (by position or key) or field of a value that is followed; None is all of it."""


@frozen
class ValueReads:
    """The nodes of the function that need a value; none if no code does. `name` is the first variable that
    holds it, `returned_by` the function that returns it to callers, of which none reads it.
    """

    needed: tuple[ast.AST, ...]
    name: str = ""
    returned_by: str = ""
    kept_in: str = ""
    """An attribute of the own object that no code of the project reads."""


def reads_of_value(call: ast.Call, model: SemanticModel) -> ValueReads:
    """Return the nodes that need the value of a call."""
    return _Walk(model).reads(call, None)


def branches_reading(call: ast.Call, model: SemanticModel) -> tuple[ast.AST, ...]:
    """Return the nodes that need the value of a call; those in branches of `if` statements after it stand for
    all that the branch does with it.
    """
    return _Walk(model, enters_branches=False).reads(call, None).needed


def reads_of_field(call: ast.Call, field: str, model: SemanticModel) -> ValueReads:
    """Return the nodes that need one field of the value of a call: `scores` of `out = net.generate(x)`."""
    return _Walk(model).reads(call, field)


class _Walk:
    """One walk over the uses of a value."""

    def __init__(self, model: SemanticModel, *, enters_branches: bool = True) -> None:
        self.model = model
        self.enters_branches = enters_branches
        self.around: list[ast.AST] = []
        self.file = model.syntax.module
        self.needed: list[ast.AST] = []
        self.pending: list[tuple[ast.AST, Part]] = []
        self.seen: set[tuple[ast.AST, Part]] = set()
        self.name = self.returned_by = self.kept_in = ""

    def reads(self, call: ast.Call, part: Part) -> ValueReads:
        """Walk from the value of a call."""
        self.around = list(self.model.ancestors(call))
        self.pending.append((call, part))
        while self.pending:
            step = self.pending.pop()
            if step in self.seen:
                continue
            self.seen.add(step)
            if len(self.seen) > _MOST:
                return ValueReads((call,))
            self._use(*step)
        return ValueReads(tuple(self.needed), self.name, self.returned_by, self.kept_in)

    def _follow(self, node: ast.AST, part: Part = None) -> None:
        self.pending.append((node, part))

    def _need(self, node: ast.AST) -> None:
        self.needed.append(node)

    def _use(self, node: ast.AST, part: Part) -> None:
        if not self.enters_branches and self._is_in_branch(node):
            self._need(node)
            return
        use = use_of(node, self.model.syntax.parents)
        at = use.at
        match use.kind:
            case UseKind.DISCARDED:
                return
            case UseKind.SAME:
                self._follow(at, part)
            case UseKind.BOUND:
                for target in at.targets if isinstance(at, ast.Assign) else [at.target]:  # type: ignore[attr-defined]
                    self._target(target, part)
            case UseKind.ELEMENT:
                self._element(node, at, part)
            case UseKind.OPERAND:
                self._follow(at)
            case UseKind.COMPARED if isinstance(at, ast.Compare):
                self._follow(at)
            case UseKind.ADDED | UseKind.AUGMENTED:
                assert isinstance(at, ast.AugAssign)
                self._target(at.target, None)
            case UseKind.ATTRIBUTE:
                assert isinstance(at, ast.Attribute)
                if isinstance(at.ctx, ast.Load):
                    self._part(at, at.attr, part)
            case UseKind.ITEM:
                assert isinstance(at, ast.Subscript)
                if isinstance(at.ctx, ast.Load):
                    self._part(at, _constant(at.slice), part)
            case UseKind.METHOD:
                assert isinstance(at, ast.Call)
                self._method(at, part)
            case UseKind.ARGUMENT:
                assert isinstance(at, ast.Call)
                self._argument(use.node, at, part)
            case UseKind.RETURNED:
                self._returned(at, part)
            case _:
                self._need(node)

    def _is_in_branch(self, node: ast.AST) -> bool:
        """Whether a node is in an arm of a branch that does not contain the call."""
        child = node
        for above in self.model.ancestors(node):
            if isinstance(above, ast.If) and child is not above.test and above not in self.around:
                return True
            child = above
        return False

    def _part(self, at: ast.expr, chosen: int | str | None, part: Part) -> None:
        """Follow `value.name` or `value[key]`, if that may be the part that is followed."""
        if part is None:
            self._follow(at)
        elif chosen is None or isinstance(chosen, int) is not isinstance(part, int) or chosen == part:
            self._need(at)

    def _method(self, call: ast.Call, part: Part) -> None:
        method = last_name(call.func)
        if method in _CHANGES and isinstance(self.model.parent(call), ast.Expr):
            return  # `values.append(x)` reads no item
        if isinstance(part, str):
            key = _constant(call.args[0]) if call.args and method in _TAKES_KEY else None
            if key is None or key == part:
                self._need(call)
        elif self.model.effects.call_effect(call).quiet:
            self._follow(call)
        else:
            self._need(call)

    def _argument(self, node: ast.AST, call: ast.Call, part: Part) -> None:
        func = call.func
        if last_name(func) in _CHANGES and isinstance(func, ast.Attribute) and part is None:
            if isinstance(self.model.parent(call), ast.Expr):
                self._container(func.value, call)
            else:
                self._need(call)
            return
        field = field_of_argument(node, call, self.model)
        if field is not None:
            self._follow(call, field)
        elif part is None and self.model.effects.call_effect(call).quiet:
            self._follow(call)
        else:
            self._need(call)

    def _element(self, node: ast.AST, at: ast.AST, part: Part) -> None:
        match at:
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                if any(isinstance(each, ast.Starred) for each in elements):
                    self._follow(at)
                    return
                place = next(index for index, each in enumerate(elements) if each is node)
                self._follow(at, place)
            case ast.Dict(keys=keys, values=values):
                own = [key for key, value in zip(keys, values, strict=True) if value is node]
                key = _constant(own[0]) if own and own[0] is not None else None
                self._follow(at, key if isinstance(key, str) else None)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                self._follow(at)
            case _:
                self._need(node)

    def _target(self, target: ast.expr, part: Part) -> None:
        match target:
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                exact = isinstance(part, int) and not any(isinstance(each, ast.Starred) for each in elements)
                for place, element in enumerate(elements):
                    if not exact or place == part:
                        self._target(element, None)
            case ast.Starred(value=value):
                self._target(value, None)
            case ast.Name():
                self._variable(target, part)
            case ast.Subscript(value=ast.Name() as container):
                key = _constant(target.slice)
                self._held_by(container, target, key if isinstance(key, str) else None)
            case ast.Subscript(value=ast.Attribute() as container):
                self._container(container, target)
            case ast.Attribute():
                self._stored(target, target)
            case _:
                self._need(target)

    def _variable(self, name: ast.Name, part: Part) -> None:
        if (name, part) in self.seen:
            return  # `x += y` in a loop reads its own value
        self.seen.add((name, part))
        model = self.model
        scope = model.names.scope(name).lookup(name.id)
        binding = model.syntax.variables.bound_at(name)
        self.name = self.name or name.id
        if scope is None or binding is None or not isinstance(scope.node, FUNCTIONS):
            self._need(name)
            return
        if model.names.is_captured(name.id, scope):
            self._need(name)
            return
        for read in model.analysis.readers(binding, scope):
            if isinstance(read.ctx, ast.Load):
                self._follow(read, part)
            else:
                self._target(read, None)  # of `x += y`

    def _container(self, container: ast.expr, at: ast.expr) -> None:
        if isinstance(container, ast.Name):
            self._held_by(container, at, None)
        elif isinstance(container, ast.Attribute):
            self._stored(container, at)
        else:
            self._need(at)

    def _held_by(self, container: ast.Name, at: ast.expr, part: Part) -> None:
        """Follow a container that the function itself created."""
        bindings = self.model.dataflow.definitions(container)
        made = [each.value if not each.path else _item(each.value, each.path) for each in bindings]
        if not made or not all(isinstance(each, ast.expr) and _is_new(each) for each in made):
            self._need(at)
            return
        for binding in bindings:
            if isinstance(binding.node, ast.Name):
                self._variable(binding.node, part)
            else:
                self._need(at)

    def _stored(self, attribute: ast.Attribute, at: ast.expr) -> None:
        """Follow a value into an attribute of the own object: it is needed if any code reads that."""
        model, name = self.model, attribute.attr
        is_filled = at is not attribute and model.program.is_write_only(name)
        is_read = model.program.is_attribute_read(name) and not is_filled
        if is_read or not model.names.is_self(attribute.value) or model.once(_looks_up_attributes, self.file):
            self._need(at)
        else:
            self.kept_in = name

    def _returned(self, at: ast.AST, part: Part) -> None:
        model = self.model
        summary = model.symbols.function_at(at)
        function = model.function(at)
        if function is None or summary is None or not summary.qualname or summary.is_property:
            self._need(at)
            return
        aliases = model.once(other_names, function)
        read = model.dataflow.items_read(summary, aliases) if aliases is not None else None
        if part is None or not read or _is_read(part, read) or _is_found_at_calls(summary, part):
            self._need(at)  # a caller that drops the whole result is the place for a finding
        else:
            self.returned_by = function.name


def other_names(function: Function, model: SemanticModel) -> tuple[str, ...] | None:
    """Return the attributes of the own object that hold a function as well; None if other code may call it
    without a name.
    """
    if model.class_of(function) is not None and model.syntax.function(function) is None:
        uses: list[ast.Name] | list[ast.Attribute] = model.names.attribute_uses(function.name)
    else:
        scope = model.names.scope(function)
        uses = model.names.reads(function.name, scope)
    found: dict[str, None] = {}
    for use in uses:
        if model.syntax.call_of(use) is not None or not isinstance(use.ctx, ast.Load):
            continue
        match model.parent(use):
            case ast.Assign(targets=[ast.Attribute() as held]) if model.names.is_self(held.value):
                found[held.attr] = None
            case _:
                return None
    return tuple(found)


def _is_found_at_calls(function: FunctionSummary, part: int | str) -> bool:
    """Whether an item is the result of a sub-network of its own: calls that drop it are reported."""
    outputs = function.outputs
    if not isinstance(part, int) or part >= len(outputs):
        return False
    own = set(outputs[part]) - separate_outputs.SQUASHED
    others = {name for place, names in enumerate(outputs) if place != part for name in names}
    return bool(own) and bool(others - separate_outputs.SQUASHED) and own.isdisjoint(others)


def _is_read(part: int | str, read: frozenset[int | str]) -> bool:
    """Whether a part is among those that are read. A key may select the same item as a position."""
    other = str if isinstance(part, int) else int
    return part in read or any(isinstance(each, other) for each in read)


def _looks_up_attributes(_: ast.Module, model: SemanticModel) -> bool:
    """Whether code of the file may read attributes by names known only at run time."""
    return bool(model.names.attribute_uses("__dict__")) or any(
        model.names.qualified(node.func) in ("builtins.vars", "builtins.getattr")
        and not (len(node.args) > 1 and isinstance(node.args[1], ast.Constant))
        for node in model.syntax.of_type(ast.Call)
    )


def _constant(key: ast.expr) -> int | str | None:
    match key:
        case ast.Constant(value=int(place)) if not isinstance(place, bool):
            return place
        case ast.Constant(value=str(name)):
            return name
    return None


def _item(value: ast.expr | None, path: tuple[int, ...]) -> ast.expr | None:
    """Return the item of a tuple display that a variable receives: `[]` in `a, b = [], []`."""
    for place in path:
        if not isinstance(value, (ast.Tuple, ast.List)) or not 0 <= place < len(value.elts):
            return None
        value = value.elts[place]
    return value


def _is_new(value: ast.expr) -> bool:
    """Whether it is a new list or dict."""
    match value:
        case ast.List() | ast.Dict() | ast.ListComp() | ast.DictComp():
            return True
        case ast.Call(func=ast.Name(id="list" | "dict") | ast.Attribute(attr="deque" | "defaultdict")):
            return True
        case ast.Call(func=ast.Name(id="deque" | "defaultdict")):
            return True
    return False
