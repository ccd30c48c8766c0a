"""Elements of a tensor that are read one by one: the loop or comprehension that iterates over them."""

from __future__ import annotations

import ast

from rlint.rule import COMPREHENSIONS, Binding, BindingKind, SemanticModel, TypeTag, descendants, frozen

CONVERSIONS = frozenset({"builtins.float", "builtins.int", "builtins.bool"})
FEWEST = 8
"""Reading fewer elements than this, by a literal, one by one costs little."""


@frozen
class TensorRead:
    """An expression that reads one element of `tensor`, in each iteration of `loop`.

    Either `element` is the loop's own variable, bound by `binding`, or the tensor is indexed by it.
    """

    call: ast.expr
    tensor: ast.expr
    loop: ast.AST
    binding: Binding
    is_indexed: bool
    is_plain: bool = True
    """Whether it reads the element itself, by the counter alone: the form that fixes rewrite."""


def operand_of(call: ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return the tensor that a call converts to a Python number: `x` in `x.item()`, `x.detach().item()` and
    `float(x)`.
    """
    match call:
        case ast.Call(func=ast.Attribute(value=owner, attr="item"), args=[], keywords=[]):
            while (moved := _moved(owner)) is not None:
                owner = moved
            return owner
        case ast.Call(func=ast.Name(id="float" | "int" | "bool") as func, args=[owner], keywords=[]):
            return owner if model.names.qualified(func) in CONVERSIONS else None
    return None


def _moved(value: ast.expr) -> ast.expr | None:
    """Return `x` of `x.detach()` and `x.cpu()`, which hold the same numbers."""
    match value:
        case ast.Call(func=ast.Attribute(value=owner, attr="detach" | "cpu"), args=[], keywords=[]):
            return owner
    return None


def read_of(call: ast.Call, model: SemanticModel) -> TensorRead | None:
    """Return the read of a call, if it is one of a loop over the elements of a tensor."""
    operand = operand_of(call, model)
    if isinstance(operand, ast.Name):
        binding = loop_variable(operand, model)
        tensor = iterated(binding, model) if binding is not None else None
        if binding is None or tensor is None or model.types.type_of(tensor).tag is not TypeTag.TENSOR:
            return None
        return TensorRead(call, tensor, binding.statement, binding, is_indexed=False)
    match operand:
        case ast.Subscript(value=tensor, slice=ast.Name() as index) if (
            model.types.type_of(tensor).tag is TypeTag.TENSOR
        ):
            binding = loop_variable(index, model)
            if (
                binding is None
                or not _counts(binding, model)
                or was_made_inside(tensor, binding.value, call, model)
            ):
                return None
            return TensorRead(call, tensor, binding.statement, binding, is_indexed=True)
    return None


def loop_variable(name: ast.Name, model: SemanticModel) -> Binding | None:
    """Return the only loop or comprehension of the same function that binds a name at its position."""
    made = model.dataflow.definitions(name)
    if len(made) != 1 or made[0].kind not in (BindingKind.FOR, BindingKind.COMPREHENSION):
        return None
    statement = made[0].statement
    if isinstance(statement, ast.AsyncFor) or not any(
        around is statement for around in model.ancestors(name)
    ):
        return None
    return made[0] if model.function(name) is model.function(statement) else None


def iterated(binding: Binding, model: SemanticModel) -> ast.expr | None:
    """Return the expression whose elements a loop binds to a name, inside of `enumerate` and `zip`."""
    value, path = binding.value, binding.path
    while isinstance(value, ast.Call) and path:
        called = model.names.qualified(value.func)
        if called == "builtins.enumerate" and value.args and path[0] == 1:
            value, path = value.args[0], path[1:]
        elif called == "builtins.zip" and 0 <= path[0] < len(value.args):
            value, path = value.args[path[0]], path[1:]
        else:
            return None
    return value if not path and not isinstance(value, ast.Starred) else None


def _counts(binding: Binding, model: SemanticModel) -> bool:
    """Whether the name is the counter, in steps of one, of a loop that may have many iterations."""
    match binding.value:
        case ast.Call(func=func, args=[ast.Constant(value=int(limit))]) if binding.path == ():
            return model.names.qualified(func) == "builtins.range" and limit >= FEWEST
        case ast.Call(func=func, args=[_] | [_, _]) if binding.path == ():
            return model.names.qualified(func) == "builtins.range"
        case ast.Call(func=func) if binding.path == (0,):
            return model.names.qualified(func) == "builtins.enumerate"
    return False


def was_made_inside(tensor: ast.expr, start: ast.expr | None, read: ast.expr, model: SemanticModel) -> bool:
    """Whether the indexed tensor is another one in each iteration of a loop, which evaluates `start` before
    the first, or written to in the loop.
    """
    return start is None or (
        not model.dataflow.unchanged_between(tensor, start, read)
        and model.dataflow.doubts_between(tensor, start, read) is None
    )


def is_whole(read: TensorRead, model: SemanticModel) -> bool:
    """Whether the counter iterates over exactly the indices of the tensor (`range(len(t))`, `t.shape[0]`)."""
    match read.binding.value:
        case ast.Call(args=[limit], keywords=[]) if (
            model.names.qualified(limit_owner(read)) == "builtins.range"
        ):
            pass
        case _:
            return False
    wanted = ast.dump(read.tensor)
    match limit:
        case ast.Call(func=ast.Name(id="len") as func, args=[owner], keywords=[]):
            return model.names.qualified(func) == "builtins.len" and ast.dump(owner) == wanted
        case ast.Subscript(value=ast.Attribute(value=owner, attr="shape"), slice=ast.Constant(value=0)):
            return ast.dump(owner) == wanted
        case ast.Call(func=ast.Attribute(value=owner, attr="size"), args=[ast.Constant(value=0)]):
            return ast.dump(owner) == wanted
        case ast.Call(func=ast.Attribute(value=owner, attr="numel" | "nelement"), args=[]):
            return ast.dump(owner) == wanted and model.types.type_of(owner).rank == 1
    return False


def limit_owner(read: TensorRead) -> ast.expr:
    """Return the function that creates the iterable of the loop."""
    assert isinstance(read.binding.value, ast.Call)
    return read.binding.value.func


def all_reads(read: TensorRead, model: SemanticModel) -> list[ast.Call] | None:
    """Return all calls that read the same elements in the loop; None if it does anything else with them."""
    found: list[ast.Call] = []
    if read.is_indexed:
        wanted = ast.dump(read.tensor)
        for node in descendants(read.loop):
            if isinstance(node, ast.Call):
                other = read_of(node, model)
                if other is not None and other.binding is read.binding and ast.dump(other.tensor) == wanted:
                    found.append(node)
        return found
    scope = model.names.scope(read.binding.node).lookup(read.binding.name)
    if scope is None:
        return None
    for use in model.names.uses(read.binding.name, scope):
        if isinstance(use.ctx, ast.Load):
            if read.binding not in model.dataflow.definitions(use):
                continue
            call = model.parent(use)
            call = model.parent(call) if isinstance(call, ast.Attribute) else call
            if not isinstance(call, ast.Call) or operand_of(call, model) is not use:
                return None
            if model.function(call) is not model.function(read.call):
                return None
            found.append(call)
    return found


def comprehension_of(read: TensorRead) -> ast.ListComp | ast.GeneratorExp | None:
    """Return the comprehension that only collects the numbers."""
    loop = read.loop
    if not isinstance(loop, (ast.ListComp, ast.GeneratorExp)) or len(loop.generators) != 1:
        return None
    generator = loop.generators[0]
    alone = loop.elt is read.call and not generator.ifs and not generator.is_async
    return loop if alone and isinstance(generator.target, ast.Name) else None


def is_comprehension(loop: ast.AST) -> bool:
    """Whether the loop is a comprehension, whose variable is not visible afterwards."""
    return isinstance(loop, COMPREHENSIONS)
