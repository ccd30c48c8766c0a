"""Tensors that torch's constructors create, and the operations on them before they are used."""

from __future__ import annotations

import ast
from dataclasses import replace

from rlint.rule import (
    Binding,
    BindingKind,
    Enum,
    SemanticModel,
    Trait,
    TypeTag,
    element_types,
    frozen,
    is_in,
    models,
)
from rlint.rules.transfers._shared.made_arrays import RESHAPES, creates_array, wrapped_array
from rlint.rules.transfers._shared.tensor_constructors import (
    DEFAULT_TYPE,
    DRAW,
    NUMBERS,
    is_constructor,
    is_data,
)

CASTS = {
    name: DEFAULT_TYPE if name == "float" else f"torch.{dtype}" for name, dtype in element_types.CASTS.items()
}
"""Methods that change the dtype, and the new dtype."""
_EXPANDS = models.having(Trait.REPEATS, TypeTag.TENSOR) & models.having(Trait.CHEAP, TypeTag.TENSOR)
VIEWS = (models.having(Trait.RESHAPES | Trait.REPEATS, TypeTag.TENSOR) | {"contiguous"}) - _EXPANDS
_PICKS_PARTS = Trait.SAME_KIND | Trait.MIRRORS
_COMPUTES = models.having(
    Trait.ELEMENTWISE | Trait.PAIRWISE | Trait.LIMITS | _PICKS_PARTS, TypeTag.TENSOR
) - models.having(Trait.RELOCATES, TypeTag.TENSOR)
_COMPUTE = models.having(Trait.ELEMENTWISE | Trait.LIMITS | _PICKS_PARTS, "torch") | {"torch.normal"}
_VIEW = models.having(Trait.RESHAPES, "torch")
_JOIN = models.having(Trait.JOINS, "torch")
_FILLS_AGAIN = models.having(Trait.OVERWRITES, TypeTag.TENSOR) - {"copy_"}
FIXED = frozenset({"fill_", "zero_"})
_MEASURES = models.having(Trait.MEASURES, TypeTag.TENSOR) | {"device", "dtype", "is_cuda", "ndim", "shape"}
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return)
_NO_MASK = (ast.Is, ast.IsNot, ast.In, ast.NotIn)
_ON_CONDITION = (
    *(ast.IfExp, ast.BoolOp, ast.Lambda, ast.comprehension),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
_DEPTH = 8
_WRITES = frozenset({"scatter_", "index_fill_", "masked_fill_", "fill_diagonal_"}) | FIXED
"""Methods that fill a tensor, or parts of it, with a number."""
_MOST_WRITES = 2
"""Assignments to parts of a tensor: on the device, each launches a kernel of its own."""


@frozen
class MadeTensor:
    """The constructors whose tensors an expression consists of, and the operations on them."""

    calls: tuple[ast.Call, ...]
    casts: tuple[ast.Call, ...] = ()
    is_computed: bool = False
    filled_by: ast.Call | None = None
    """Return the method that overwrites all elements of the tensor: `.uniform_()`."""
    expanded_by: ast.Call | None = None
    """Return the method that repeats elements without a copy; the copy to the device is a full one."""
    drawn_by: ast.Call | None = None
    """Return the function that draws random numbers around the tensor's elements: `torch.normal(mean,
    std)`.
    """
    is_named: bool = False
    """Whether a variable holds it before the move."""
    drawn_from: str = ""
    """The class of the distribution whose numbers it consists of, as `Normal(0, 1).sample()`: their device is
    that of the distribution's parameters.
    """
    is_array: bool = False
    """Whether numpy creates it, and torch only wraps it: `torch.from_numpy(np.zeros(4))`."""


def made_by(expression: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> MadeTensor | None:
    """Return the constructors that create a tensor in this expression, or in the preceding lines; None if
    other values are involved.
    """
    if depth == 0:
        return None
    match expression:
        case ast.Name():
            before = made_before(expression, expression, model)
            value = before[0].value if before is not None else None
            made = made_by(value, model, depth - 1) if value is not None else None
            return replace(made, is_named=True) if made is not None else None
        case ast.BinOp(left=left, right=right):
            return _computed([left, right], model, depth)
        case ast.Compare(left=left, ops=[operator], comparators=[right]) if not isinstance(
            operator, _NO_MASK
        ):
            return _computed([left, right], model, depth)
        case ast.UnaryOp(op=ast.USub() | ast.Invert(), operand=operand):
            return _computed([operand], model, depth)
        case ast.Subscript(value=owner, slice=index) if is_view(index):
            return made_by(owner, model, depth - 1)
        case ast.Attribute(value=owner, attr="data"):
            return made_by(owner, model, depth - 1)
        case ast.Call(func=func):
            name = model.names.qualified(func)
            if name in ("torch.autograd.Variable", "torch.autograd.variable.Variable"):
                alone = len(expression.args) == 1 and all(map(_is_no_gradient, expression.keywords))
                return made_by(expression.args[0], model, depth - 1) if alone else None
            if name is not None and is_constructor(expression, name, model):
                return MadeTensor((expression,))
            array = wrapped_array(expression, name, model)
            if array is not None:
                return made_as_array(array, model, depth - 1)
            if name is not None:
                return _computed_by_function(expression, name, model, depth)
            if isinstance(func, ast.Attribute):
                drawn = _drawn(expression, func, model)
                return drawn if drawn is not None else _changed(expression, func, model, depth)
    return None


def made_as_array(array: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> MadeTensor | None:
    """Return the numpy call that creates an array in this expression, or in the preceding lines, with
    arithmetic on it.
    """
    if depth == 0:
        return None
    match array:
        case ast.Name():
            before = made_before(array, array, model)
            value = before[0].value if before is not None else None
            made = made_as_array(value, model, depth - 1) if value is not None else None
            return replace(made, is_named=True) if made is not None else None
        case ast.BinOp(left=left, right=right):
            operands = [operand for operand in (left, right) if not _is_number(operand, model)]
            made = made_as_array(operands[0], model, depth - 1) if len(operands) == 1 else None
            return replace(made, is_computed=True) if made is not None else None
        case ast.Call() if creates_array(array, model):
            return MadeTensor((array,), is_array=True)
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if (
            method in RESHAPES or method == "astype"
        ):
            return made_as_array(owner, model, depth - 1)
    return None


def _drawn(call: ast.Call, func: ast.Attribute, model: SemanticModel) -> MadeTensor | None:
    """Return the tensor of `Normal(0, 1).sample(shape)`; None if the parameters may be tensors."""
    if func.attr not in ("sample", "rsample"):
        return None
    owner: ast.expr | None = func.value
    if isinstance(owner, ast.Name):
        definitions = model.dataflow.definitions(owner)
        is_bound_once = len(definitions) == 1 and definitions[0].kind is BindingKind.ASSIGN
        owner = definitions[0].value if is_bound_once and not definitions[0].path else None
    if not isinstance(owner, ast.Call) or not owner.args:
        return None
    name = model.names.qualified(owner.func) or ""
    given = [*owner.args, *(keyword.value for keyword in owner.keywords)]
    of_numbers = all(model.types.type_of(argument).tag in NUMBERS for argument in given)
    if not of_numbers or not name.startswith("torch.distributions."):
        return None
    return MadeTensor((call,), drawn_from=name.rpartition(".")[2])


def _joined(call: ast.Call, model: SemanticModel, depth: int) -> MadeTensor | None:
    """Return the tensor of `torch.cat([torch.zeros(2), torch.ones(3)])`."""
    match call.args[:1]:
        case [ast.List(elts=[_, *_] as parts) | ast.Tuple(elts=[_, *_] as parts)]:
            made = [made_by(part, model, depth - 1) for part in parts]
        case _:
            return None
    known = [each for each in made if each is not None]
    if len(known) < len(made) or any(
        each.is_computed
        or each.filled_by
        or each.expanded_by
        or each.drawn_by
        or each.drawn_from
        or each.is_array
        for each in known
    ):
        return None
    return MadeTensor(
        tuple(part for each in known for part in each.calls),
        tuple(cast for each in known for cast in each.casts),
        is_named=any(each.is_named for each in known),
    )


def _computed(operands: list[ast.expr], model: SemanticModel, depth: int) -> MadeTensor | None:
    calls: list[ast.Call] = []
    casts: list[ast.Call] = []
    is_array, drawn_from = False, ""
    for operand in operands:
        if _is_number(operand, model):
            continue
        made = made_by(operand, model, depth - 1)
        if made is None:
            return None
        calls += made.calls
        casts += made.casts
        is_array |= made.is_array
        drawn_from = drawn_from or made.drawn_from
    if not calls:
        return None
    return MadeTensor((*calls,), (*casts,), is_computed=True, drawn_from=drawn_from, is_array=is_array)


def _is_no_gradient(keyword: ast.keyword) -> bool:
    """Whether a keyword is `requires_grad=False`, `volatile=True`."""
    return isinstance(keyword.value, ast.Constant) and (
        keyword.arg == "volatile" or (keyword.arg == "requires_grad" and keyword.value.value is False)
    )


def _computed_by_function(call: ast.Call, name: str, model: SemanticModel, depth: int) -> MadeTensor | None:
    """Return the tensor of `torch.clamp(torch.randn(4), -c, c)`, `torch.normal(torch.zeros(4), std)`."""
    if name in _JOIN:
        return _joined(call, model, depth)
    if name in _VIEW and call.args:
        return made_by(call.args[0], model, depth - 1)
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if name not in _COMPUTE or not given:
        return None
    made = made_by(given[0], model, depth - 1)
    if made is None and name in DRAW:
        made = _made_for_several(given[0], model)
    if made is None or not all(
        _is_number(part, model) or (name in DRAW and not model.types.type_of(part)) for part in given[1:]
    ):
        return None
    return replace(made, is_computed=True, drawn_by=call if name in DRAW else made.drawn_by)


def _made_for_several(operand: ast.expr, model: SemanticModel) -> MadeTensor | None:
    """Return the constructor of a tensor from which several others are drawn: `mean = torch.zeros(4)`."""
    made = model.dataflow.definitions(operand) if isinstance(operand, ast.Name) else []
    if len(made) != 1 or not isinstance(made[0].value, ast.Call) or made[0].path:
        return None
    name = model.names.qualified(made[0].value.func)
    is_sized = name is not None and is_constructor(made[0].value, name, model)
    return MadeTensor((made[0].value,), is_named=True) if is_sized else None


def _changed(call: ast.Call, func: ast.Attribute, model: SemanticModel, depth: int) -> MadeTensor | None:
    made = made_by(func.value, model, depth - 1)
    if made is None or func.attr in VIEWS or (func.attr == "detach" and not call.args):
        return made
    if func.attr in _EXPANDS:
        return replace(made, expanded_by=call)
    if func.attr in _COMPUTES and all(_is_number(part, model) for part in (*call.args, *call.keywords)):
        return replace(made, is_computed=True)
    if func.attr in _FILLS_AGAIN:
        return replace(made, filled_by=call)
    return replace(made, casts=(*made.casts, call)) if type_given(call, model) else None


def _is_number(part: ast.AST, model: SemanticModel) -> bool:
    value = part.value if isinstance(part, ast.keyword) else part
    if isinstance(value, ast.UnaryOp):
        value = value.operand
    if not isinstance(value, ast.expr):
        return False
    kind = model.types.type_of(value)
    return kind.tag in NUMBERS or (not kind and isinstance(value, ast.Attribute))


def type_given(call: ast.Call, model: SemanticModel) -> str | None:
    """Return the source of the dtype that a method call converts to."""
    match call:
        case ast.Call(func=ast.Attribute(attr=attr), args=[], keywords=[]) if attr in CASTS:
            return model.names.spelled(CASTS[attr], call)
        case ast.Call(func=ast.Attribute(attr="to" | "type"), args=[dtype], keywords=[]):
            pass
        case ast.Call(func=ast.Attribute(attr="to"), args=[], keywords=[ast.keyword("dtype", dtype)]):
            pass
        case _:
            return None
    return model.source.text(dtype) if model.types.type_of(dtype).tag is TypeTag.DTYPE else None


def is_view(index: ast.expr) -> bool:
    """Whether an index only adds axes or keeps them (`[None]`, `[..., None]`, `[:, None]`)."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return all(
        (isinstance(part, ast.Constant) and part.value in (None, ...))
        or (isinstance(part, ast.Slice) and not (part.lower or part.upper or part.step))
        for part in parts
    )


class Skipped(Enum):
    """Whether a part of a statement is evaluated whenever the statement is."""

    NEVER = "never"
    BY_DEVICE = "by device"
    """Moved only if there is a device: `x.cuda() if use_cuda else x`."""
    BY_OTHERS = "by others"


def made_before(
    name: ast.Name,
    use: ast.expr,
    model: SemanticModel,
    *,
    may_be_conditional: bool = False,
    writes: list[ast.stmt] | None = None,
    again: list[ast.expr] | None = None,
) -> tuple[Binding, bool] | None:
    """Return the assignment that created the tensor, and whether the use is under a condition that tests for
    a device. No other code uses the tensor in between, except for a few assignments of numbers to its parts,
    which are added to `writes`, if given. Further moves to the same device, and places where it is returned,
    are added to `again`. An unconditional use always follows the creation.
    """
    made = model.dataflow.definitions(name)
    if len(made) != 1 or made[0].kind is not BindingKind.ASSIGN or made[0].path or made[0].value is None:
        return None
    binding = made[0]
    statement, assignment = model.syntax.statement(use), binding.statement
    if not isinstance(assignment, (ast.Assign, ast.AnnAssign)) or not isinstance(statement, _SIMPLE):
        return None
    if isinstance(assignment, ast.Assign) and len(assignment.targets) > 1:
        return None
    skipped = skipped_by(use, model)
    block, place = model.syntax.block(statement)
    before, earlier = model.syntax.block(assignment)
    around: ast.stmt = statement
    if may_be_conditional and block is not before:
        outer = model.parent(statement)
        if not isinstance(outer, ast.If) or not model.types.tests_device(outer.test):
            return None
        around, skipped = outer, Skipped.BY_DEVICE if skipped is Skipped.NEVER else skipped
        block, place = model.syntax.block(outer)
    if block is not before or earlier >= place or skipped is Skipped.BY_OTHERS:
        return None
    is_conditional = skipped is Skipped.BY_DEVICE
    if is_conditional and not (may_be_conditional and _is_assigned_to(name.id, statement)):
        return None
    scope = model.names.scope(name).lookup(name.id)
    if (
        scope is None
        or model.names.is_captured(name.id, scope)
        or (scope.parent is None and model.program.is_imported(name.id))
    ):
        return None
    end = model.source.span(around)[1]
    for read in model.names.reads(name.id, scope):
        if read is name or binding not in model.dataflow.definitions(read) or measures(read, model):
            continue
        write = _write_between(read, before, model)
        if writes is not None and write is not None and len(writes) < _MOST_WRITES:
            writes.append(write)
            continue
        if again is not None and not is_conditional:
            other = read if _is_returned(read, model) else _same_move(read, use, model)
            if other is not None:
                again.append(other)
                continue
        if not is_conditional or not (model.source.span(read)[0] >= end or is_in(read, statement)):
            return None
    return binding, is_conditional


def _is_returned(read: ast.Name, model: SemanticModel) -> bool:
    """Whether a function returns the value of a variable, alone or in a tuple."""
    holder = model.parent(read)
    holder = model.parent(holder) if isinstance(holder, ast.Tuple) else holder
    return isinstance(holder, ast.Return)


def _same_move(read: ast.Name, use: ast.expr, model: SemanticModel) -> ast.Call | None:
    """Return the call that moves a variable's tensor in the same way as another one does."""
    method = model.parent(read)
    call = model.parent(method) if isinstance(method, ast.Attribute) else None
    if not isinstance(call, ast.Call) or call.func is not method:
        return None
    return call if ast.dump(call) == ast.dump(use) else None


def _write_between(read: ast.Name, block: list[ast.stmt], model: SemanticModel) -> ast.stmt | None:
    """Return the statement of a block that assigns a number, or another tensor that it creates, to a part of
    a tensor (`mask[rows] = 0`), or that writes to it by a method (`one_hot.scatter_(1, actions, 1)`). Data
    are copied in any case, but may be smaller than what they fill: `table[:, :] = torch.tensor(x)`.
    """
    part = model.parent(read)
    statement = model.syntax.statement(read)
    match statement:
        case ast.Assign(targets=[target], value=value) if target is part and statement in block:
            is_part = isinstance(part, ast.Subscript) and part.value is read
            is_plain = is_part and (_is_number(value, model) or _is_made(value, part, model))
            return statement if is_plain else None
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr=method) as called)):
            is_data = owner is part and isinstance(part, ast.Attribute) and part.attr == "data"
            is_written = method in _WRITES and (called is part or is_data)
            return statement if is_written and statement in block else None
    return None


def _is_made(value: ast.expr, part: ast.AST | None, model: SemanticModel) -> bool:
    """Whether a value is a tensor that its expression creates, without data of the host unless they fill all
    of the tensor.
    """
    made = made_by(value, model)
    if made is None or not isinstance(part, ast.Subscript):
        return False
    return is_view(part.slice) or not any(is_data(call, model) for call in made.calls)


def _is_assigned_to(name: str, statement: ast.stmt) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Name(id=target)]):
            return target == name
    return False


def measures(read: ast.Name, model: SemanticModel) -> bool:
    """Whether a use only reads the shape or dtype of a tensor."""
    parent = model.parent(read)
    return isinstance(parent, ast.Attribute) and parent.attr in _MEASURES


def skipped_by(use: ast.expr, model: SemanticModel) -> Skipped:
    """Return what decides whether a part of a statement is evaluated."""
    found = Skipped.NEVER
    child: ast.AST = use
    for node in model.ancestors(use):
        if isinstance(node, ast.stmt):
            return found
        if isinstance(node, ast.IfExp) and child is node.test:
            pass
        elif isinstance(node, ast.IfExp) and model.types.tests_device(node.test):
            found = Skipped.BY_DEVICE
        elif isinstance(node, _ON_CONDITION):
            return Skipped.BY_OTHERS
        child = node
    return found
