"""Tensors and arrays that are allocated with the same size repeatedly, though no code keeps them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    FUNCTIONS,
    Autograd,
    EscapeLevel,
    Scope,
    SemanticModel,
    Trait,
    TypeTag,
    UseKind,
    descendants,
    element_types,
    frozen,
    is_in,
    models,
)
from rlint.rules.buffers.rl105_alloc_in_hot_loop.overwritten import overwritten_first

MAKERS = models.having(Trait.ALLOCATES, "torch", "numpy")
METHODS = frozenset({"new_empty", "new_zeros", "new_ones", "new_full"})
_NOT_WITH = frozenset({"requires_grad", "pin_memory", "out", None})
_OF_ARRAYS = frozenset({"shape", "dtype", "device", "ndim"})
"""Attributes of arrays and tensors that do not change."""
_RESIZES = models.having(
    Trait.INSERTS | Trait.INSERTS_ALL | Trait.REMOVES, TypeTag.LIST, TypeTag.DEQUE, TypeTag.SET, TypeTag.DICT
) | {"resize"}
_SIZES = models.having(Trait.OF_NUMBERS, "builtins") | {"builtins.list", "builtins.tuple"}
_ARRAYS = (TypeTag.TENSOR, TypeTag.NDARRAY)
_DEPTH = 4


@frozen
class Allocation:
    """`name = call(...)`, a statement of the body of `around`: of a loop, or of a function."""

    call: ast.Call
    name: ast.Name
    statement: ast.stmt
    around: ast.AST

    @property
    def in_loop(self) -> bool:
        """Whether it is in a loop; else it is in a function, on each call."""
        return not isinstance(self.around, FUNCTIONS)


def allocation_at(call: ast.Call, model: SemanticModel) -> Allocation | None:
    """Return the allocation of a call, of constant size, for a variable that is filled before it is read and
    that no code keeps.
    """
    if not _is_maker(call, model) or any(keyword.arg in _NOT_WITH for keyword in call.keywords):
        return None
    match model.parent(call):
        case ast.Assign(targets=[ast.Name() as name]) as statement:
            pass
        case ast.AnnAssign(target=ast.Name() as name) as statement:
            pass
        case _:
            return None
    around = model.parent(statement)
    if not isinstance(around, (ast.For, ast.While, ast.FunctionDef)) or statement not in around.body:
        return None
    found = Allocation(call, name, statement, around)
    if not found.in_loop and any(
        is_in(node, around) for kind in (ast.Yield, ast.YieldFrom) for node in model.syntax.of_type(kind)
    ):
        return None
    scope = model.names.scope(name)
    if (
        not scope.is_function
        or len(model.names.bindings(name)) != 1
        or model.names.is_captured(name.id, scope)
    ):
        return None
    described = _Arguments(found, model)
    if not all(map(described.stays, _parts(call))) or not overwritten_first(statement, name, model):
        return None
    return found if _stays_here(found, model) else None


def _is_maker(call: ast.Call, model: SemanticModel) -> bool:
    qualified = model.names.qualified(call.func)
    if qualified is not None:
        return qualified in MAKERS and model.types.type_of(call).dtype != element_types.OBJECT
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return method in METHODS and model.types.type_of(call).tag is TypeTag.TENSOR


def _parts(call: ast.Call) -> Iterator[ast.expr]:
    """Yield the arguments of an allocation, and its receiver."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in METHODS:
        yield call.func.value
    yield from call.args
    yield from (keyword.value for keyword in call.keywords)


# -- the same each time ------------------------------------------------------------------------


class _Arguments:
    """The arguments of an allocation: whether they are the same each time."""

    def __init__(self, found: Allocation, model: SemanticModel) -> None:
        self.model = model
        self.found = found

    def _is_inside(self, node: ast.AST) -> bool:
        return is_in(node, self.found.around)

    def stays(self, node: ast.expr) -> bool:
        """Whether an expression has the same value in each iteration, or on each call."""
        match node:
            case ast.Constant():
                return True
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                return self.model.names.qualified(node) is not None or self._attribute(node)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return all(map(self.stays, elements))
            case ast.Starred(value=value) | ast.UnaryOp(operand=value):
                return self.stays(value)
            case ast.BinOp(left=left, right=right):
                return self.stays(left) and self.stays(right)
            case ast.Subscript(value=value, slice=ast.Constant() | ast.UnaryOp() | ast.Slice()):
                return isinstance(value, (ast.Attribute, ast.Name)) and self.stays(value)
            case ast.Call(func=ast.Attribute(value=owner, attr="size"), keywords=[]):
                return self.stays(owner) and all(map(self.stays, node.args))
            case ast.Call(keywords=[]) if self.model.names.qualified(node.func) in _SIZES:
                return all(map(self.stays, node.args)) and all(map(self._keeps_length, node.args))
        return False

    def _keeps_length(self, part: ast.expr) -> bool:
        """Whether no code adds items to the list whose length is the size, or removes any."""
        names = [node for node in descendants(part) if isinstance(node, ast.Name)]
        reads = [read for name in names for read in self.model.names.reads(name.id, self._owner_class(name))]
        return not any(self._may_change_length(read) for read in reads if self._is_inside(read))

    def _may_change_length(self, read: ast.Name) -> bool:
        parent = self.model.parent(read)
        match parent:
            case ast.Subscript(slice=index, ctx=ctx):
                return isinstance(ctx, ast.Del) or (
                    isinstance(ctx, ast.Store) and isinstance(index, ast.Slice)
                )
            case ast.For() | ast.comprehension() | ast.BinOp() | ast.Compare():
                return False
            case ast.Call(func=func):
                return not (self.model.names.qualified(func) or "").startswith(
                    ("builtins.", "numpy.", "torch.")
                )
            case ast.Attribute(attr=attribute):
                return attribute in _RESIZES
        return True

    def _name(self, name: ast.Name) -> bool:
        if self.model.names.qualified(name) is not None:
            return True
        scope = self.model.names.scope(name).lookup(name.id)
        if scope is None or any(name.id in inner.globals for inner in self.model.syntax.scopes.values()):
            return False
        bindings = scope.bindings[name.id]
        if scope.parent is None and len(bindings) == 1:
            return True
        return self.found.in_loop and not any(self._is_inside(binding.node) for binding in bindings)

    def _attribute(self, node: ast.Attribute) -> bool:
        """Whether an attribute is a setting, or belongs to an array that stays the same; in a loop also one
        that only the function sets.
        """
        if self.model.types.is_setting(node):
            return True
        is_array = self.model.types.type_of(node.value).tag in _ARRAYS
        if is_array or (node.attr in _OF_ARRAYS and isinstance(node.value, ast.Name)):
            return self.stays(node.value)
        root = node.value
        if not isinstance(root, ast.Name) or self.model.names.is_self(root) or not self.stays(root):
            return False
        if any(
            self._is_inside(use) and self._may_change(use)
            for use in self.model.names.uses(root.id, self._owner_class(root))
        ):
            return False
        stored = any(
            self._is_inside(use) and not isinstance(use.ctx, ast.Load)
            for use in self.model.names.attribute_uses(node.attr)
        )
        here = self.model.function(node)
        return not stored and all(
            setter.module == self.model.module.module
            and here is not None
            and setter.qualname in ("", self.model.syntax.qualname(here))
            for _, setter in self.model.index.setters(node.attr)
        )

    def _owner_class(self, name: ast.Name) -> Scope:
        scope = self.model.names.scope(name)
        return scope.lookup(name.id) or scope

    def _may_change(self, use: ast.Name) -> bool:
        """Whether an object is passed on, or one of its methods runs."""
        return self.model.syntax.use(use).kind is not UseKind.ATTRIBUTE


# -- nobody keeps it ---------------------------------------------------------------------------


def _stays_here(found: Allocation, model: SemanticModel) -> bool:
    """Whether no code holds it, or a view of it, when the next iteration (or call) begins."""
    uses = [
        use for use in model.names.uses(found.name.id, model.names.scope(found.name)) if use is not found.name
    ]
    if not uses or not all(is_in(use, found.around) and isinstance(use.ctx, ast.Load) for use in uses):
        return False
    if any(model.source.span(use) < model.source.span(found.name) for use in uses):
        return False
    tensor = model.types.type_of(found.call).tag is TypeTag.TENSOR
    if tensor and model.gradients.autograd_at(found.call) is not Autograd.OFF:
        return False  # tensors that autograd saved would be overwritten
    return any(not is_written(use, model) for use in uses) and all(
        is_written(use, model) or _is_only_read(use, found, model, _DEPTH) for use in uses
    )


def is_written(use: ast.Name, model: SemanticModel) -> bool:
    """Whether a statement is `buffer[...] = values`, `buffer.fill(0)`, `numpy.add(a, b, out=buffer)`."""
    parent = model.parent(use)
    match parent:
        case ast.Subscript(value=value, ctx=ast.Store()) if value is use:
            return not isinstance(model.parent(parent), (ast.For, ast.withitem))
        case ast.Attribute(attr=method):
            call = model.parent(parent)
            in_place = method == "fill" or models.is_in_place(method)
            return in_place and isinstance(call, ast.Call) and isinstance(model.parent(call), ast.Expr)
        case ast.keyword(arg="out"):
            return isinstance(model.parent(model.parent(parent) or parent), ast.Expr)
        case ast.Call(func=func, args=[first, *_]) if first is use:
            return model.names.qualified(func) == "numpy.copyto"
    return False


def _is_only_read(use: ast.expr, found: Allocation, model: SemanticModel, depth: int) -> bool:
    """Whether it is only read, at most through a variable of the same iteration."""
    if depth <= 0:
        return False
    parent = model.parent(use)
    if (
        isinstance(parent, ast.Call)
        and use in parent.args
        and isinstance(model.parent(parent), ast.Expr)
        and (model.names.qualified(parent.func) or "").startswith(("numpy.", "torch."))
    ):
        return True  # `torch.add(buffer, noise, out=tried)`, whose result is unused
    described = model.dataflow.use_of(use)
    if described.escape_level > EscapeLevel.HANDED or (
        described.escape_level is EscapeLevel.HANDED and not _is_network_input(use, model)
    ):
        return False
    if not described.held:
        return True
    statement = model.syntax.statement(use)
    match statement:
        case ast.Assign(targets=[ast.Name() as alias]) if len(model.names.bindings(alias)) == 1:
            pass
        case _:
            return False
    reads = [other for other in model.names.uses(alias.id, model.names.scope(alias)) if other is not alias]
    return model.parent(statement) is found.around and all(
        is_in(read, found.around)
        and model.source.span(read) > model.source.span(alias)
        and _is_only_read(read, found, model, depth - 1)
        for read in reads
    )


def _is_network_input(use: ast.expr, model: SemanticModel) -> bool:
    """Whether it is an input of a network, or a variable holds it whose uses decide: `net(buffer)`,
    `net(torch.from_numpy(buffer).to(device))`.
    """
    child: ast.AST = use
    for node in model.ancestors(use):
        if isinstance(node, ast.stmt):
            break
        if isinstance(node, ast.Call) and child is not node.func:
            qualified = model.names.qualified(node.func)
            if qualified is None:
                return model.types.type_of(node.func).tag is TypeTag.MODULE
            if not qualified.startswith(("torch.", "numpy.")):
                return False
        elif not isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
            return False
        child = node
    return isinstance(model.syntax.statement(use), ast.Assign) and model.dataflow.use_of(use).held
