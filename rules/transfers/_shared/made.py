"""Tensors that torch's constructors make, and the moves to a device that follow at once."""

from __future__ import annotations

import ast

from rlint.rule import (
    Binding,
    BindingKind,
    Device,
    SemanticModel,
    Trait,
    TypeTag,
    element_types,
    frozen,
    models,
)

_FILL = models.having(Trait.ALLOCATES | Trait.FROM_NUMBERS, "torch") | {"torch.scalar_tensor"}
_ROUND = frozenset({"torch.linspace", "torch.logspace"})
_DRAW = models.having(Trait.DRAWS_SHAPE | Trait.DRAWS_LIKE, "torch") | {"torch.normal"}
_CONVERT = frozenset({"torch.tensor", "torch.as_tensor", "torch.asarray"})
_DEFAULT = "torch.float32"
LEGACY = {
    f"torch.{name}": _DEFAULT if name in ("Tensor", "FloatTensor") else f"torch.{dtype}"
    for name, dtype in element_types.LEGACY.items()
}
"""Constructors that know no `device=`, and the type that they give."""
CASTS = {
    name: _DEFAULT if name == "float" else f"torch.{dtype}" for name, dtype in element_types.CASTS.items()
}
"""Methods that change the type of the numbers, and what to."""
_VIEWS = models.having(Trait.RESHAPES, TypeTag.TENSOR) | {"contiguous"}
_KEYWORDS = frozenset(
    "dtype size data fill_value start end step steps base low high n m input row col".split()
)
_EXACT_IN_ANY_TYPE = frozenset({"torch.zeros", "torch.ones", "torch.eye", "torch.arange"})
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return)
_ON_CONDITION = (
    *(ast.IfExp, ast.BoolOp, ast.Lambda, ast.comprehension),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
_OF_TO = ("device", "dtype", "non_blocking")
_NUMBERS = (TypeTag.INT, TypeTag.FLOAT, TypeTag.BOOL)
_DEPTH = 8


@frozen
class DeviceMove:
    """`.to(device)` or `.cuda()` of a tensor; `device` is None for the current CUDA device."""

    call: ast.Call
    source: ast.expr
    device: ast.expr | None
    dtype: ast.expr | None
    goes_on: bool  # without waiting


@frozen
class MadeTensor:
    """The constructors whose tensors an expression consists of, and what is done to them in it."""

    calls: tuple[ast.Call, ...]
    casts: tuple[ast.Call, ...] = ()
    is_computed: bool = False


def move_of(call: ast.Call, model: SemanticModel) -> DeviceMove | None:
    """The move that a call is, to a device that need not be the host."""
    match call:
        case ast.Call(func=ast.Attribute(value=source, attr="cuda"), args=[], keywords=keywords):
            unknown = {keyword.arg for keyword in keywords} - {"device", "non_blocking"}
        case ast.Call(func=ast.Attribute(value=source, attr="cuda"), args=[_], keywords=keywords):
            unknown = {keyword.arg for keyword in keywords} - {"non_blocking"}
        case ast.Call(func=ast.Attribute(value=source, attr="to"), args=args, keywords=keywords):
            unknown = {keyword.arg for keyword in keywords} - {*_OF_TO}
            if len(args) > len(_OF_TO) or not (args or keywords):
                return None
        case _:
            return None
    named = dict(zip(_OF_TO, call.args, strict=False))
    named |= {keyword.arg: keyword.value for keyword in keywords if keyword.arg is not None}
    if unknown or any(isinstance(value, (ast.Starred, ast.NamedExpr)) for value in named.values()):
        return None
    device = named.get("device")
    is_to = isinstance(call.func, ast.Attribute) and call.func.attr == "to"
    if device is None and is_to:
        return None
    if device is not None and (
        (is_to and not model.types.is_device(device)) or model.types.device_of(device) is Device.HOST
    ):
        return None
    waits = named.get("non_blocking")
    goes_on = waits is not None and not (isinstance(waits, ast.Constant) and not waits.value)
    return DeviceMove(call, source, device, named.get("dtype"), goes_on)


def made_by(expression: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> MadeTensor | None:
    """The constructors that make a tensor in this very expression; None where anything else takes part."""
    if depth == 0:
        return None
    match expression:
        case ast.BinOp(left=left, right=right):
            return _computed([left, right], model, depth)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _computed([operand], model, depth)
        case ast.Subscript(value=owner, slice=index) if is_view(index):
            return made_by(owner, model, depth - 1)
        case ast.Call(func=func):
            name = model.names.qualified(func)
            if name in ("torch.autograd.Variable", "torch.autograd.variable.Variable"):
                alone = len(expression.args) == 1 and not expression.keywords
                return made_by(expression.args[0], model, depth - 1) if alone else None
            if name is not None:
                return MadeTensor((expression,)) if is_constructor(expression, name, model) else None
            if isinstance(func, ast.Attribute):
                return _changed(expression, func, model, depth)
    return None


def _computed(operands: list[ast.expr], model: SemanticModel, depth: int) -> MadeTensor | None:
    calls: list[ast.Call] = []
    casts: list[ast.Call] = []
    for operand in operands:
        if model.types.type_of(operand).tag in _NUMBERS:
            continue
        made = made_by(operand, model, depth - 1)
        if made is None:
            return None
        calls += made.calls
        casts += made.casts
    return MadeTensor((*calls,), (*casts,), is_computed=True) if calls else None


def _changed(call: ast.Call, func: ast.Attribute, model: SemanticModel, depth: int) -> MadeTensor | None:
    made = made_by(func.value, model, depth - 1)
    if made is None or func.attr in _VIEWS:
        return made
    return MadeTensor(made.calls, (*made.casts, call), made.is_computed) if type_given(call, model) else None


def type_given(call: ast.Call, model: SemanticModel) -> str | None:
    """The type that a method call converts to, as it is or may be written at the call."""
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
    """Does an index only add axes or leave them (`[None]`, `[..., None]`, `[:, None]`)?"""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return all(
        (isinstance(part, ast.Constant) and part.value in (None, ...))
        or (isinstance(part, ast.Slice) and not (part.lower or part.upper or part.step))
        for part in parts
    )


def is_constructor(call: ast.Call, name: str, model: SemanticModel) -> bool:
    """Does a call make a tensor in host memory that could be made on the device as well?"""
    for keyword in call.keywords:
        is_no = isinstance(keyword.value, ast.Constant) and keyword.value.value is False
        if keyword.arg not in _KEYWORDS and not (keyword.arg == "requires_grad" and is_no):
            return False  # it has a device, draws from a generator of the host, is pinned, is a leaf …
    if name in LEGACY:
        return True
    types = [model.types.type_of(argument) for argument in call.args[:1]]
    if name in _CONVERT:
        if not types and name != "torch.tensor":
            return False
        given = types[0].tag if types else TypeTag.UNKNOWN
        # a tensor may lie on the device already, and `as_tensor` leaves it there
        return given is not TypeTag.TENSOR and (name == "torch.tensor" or given is not TypeTag.UNKNOWN)
    if name.endswith("_like"):
        return [(kind.tag, kind.device) for kind in types] == [(TypeTag.TENSOR, Device.HOST)]
    if name == "torch.normal":
        return all(kind.tag in _NUMBERS for kind in types) and len(call.args) + len(call.keywords) > 2
    return name in _FILL | _ROUND | _DRAW or name == "torch.arange"


def is_data(call: ast.Call, model: SemanticModel) -> bool:
    """Does a constructor copy data that the program holds, rather than make numbers itself?"""
    name = model.names.qualified(call.func)
    return name in _CONVERT or (name in LEGACY and not gives_size(call, model))


def gives_size(call: ast.Call, model: SemanticModel) -> bool:
    """Is an old constructor called with the sizes of a tensor (`torch.FloatTensor(4, 2)`)?"""
    return len(call.args) != 1 or model.types.type_of(call.args[0]).tag is TypeTag.INT


def difference(made: MadeTensor, model: SemanticModel) -> list[str]:
    """In what numbers that a constructor makes may differ when they are made on the device, as clauses."""
    names = {model.names.qualified(call.func) or "" for call in made.calls}
    found = []
    if names & _DRAW:
        found.append(
            f"`{min(names & _DRAW)}` draws from the random stream of the device, not from that of the host"
        )
    elif names & _ROUND:
        found.append(f"`{min(names & _ROUND)}` may round its last digits otherwise on a device")
    elif any(
        model.names.qualified(call.func) == "torch.arange" and not _counts(call, model) for call in made.calls
    ):
        found.append("`torch.arange` may round fractions otherwise on a device")
    elif made.is_computed:
        found.append("arithmetic may round its last digits otherwise on a device")
    elif made.casts and not names <= _EXACT_IN_ANY_TYPE:
        found.append(f"`{_method(made.casts[0])}` may convert otherwise on a device")
    return found


def _counts(call: ast.Call, model: SemanticModel) -> bool:
    """Does an `arange` give whole numbers?"""
    given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg != "dtype")]
    types = [model.types.type_of(keyword.value).of for keyword in call.keywords if keyword.arg == "dtype"]
    whole = all(name.removeprefix("torch.") in ("int64", "long", "int32", "int") for name in types)
    return whole and all(model.types.type_of(value).tag is TypeTag.INT for value in given)


def _method(call: ast.Call) -> str:
    return f".{call.func.attr}()" if isinstance(call.func, ast.Attribute) else ""


def made_before(name: ast.Name, move: ast.Call, model: SemanticModel) -> Binding | None:
    """The assignment that made the tensor which is moved here: nothing else has to do with it, and it is
    moved whenever it is made.
    """
    made = model.dataflow.definitions(name)
    if len(made) != 1 or made[0].kind is not BindingKind.ASSIGN or made[0].path or made[0].value is None:
        return None
    binding = made[0]
    statement, assignment = model.syntax.statement(move), binding.statement
    if not isinstance(assignment, (ast.Assign, ast.AnnAssign)) or not isinstance(statement, _SIMPLE):
        return None
    if isinstance(assignment, ast.Assign) and len(assignment.targets) > 1:
        return None
    block, place = model.syntax.block(statement)
    before, earlier = model.syntax.block(assignment)
    if block is not before or earlier >= place or _may_be_skipped(move, model):
        return None
    scope = model.names.scope(name).lookup(name.id)
    if (
        scope is None
        or model.names.is_captured(name.id, scope)
        or (scope.parent is None and model.program.is_imported(name.id))
    ):
        return None
    reads = [
        read for read in model.names.reads(name.id, scope) if binding in model.dataflow.definitions(read)
    ]
    return binding if reads == [name] else None


def _may_be_skipped(move: ast.Call, model: SemanticModel) -> bool:
    """Does the move stand in a part of its statement that is not always evaluated, or more than once?"""
    for node in model.ancestors(move):
        if isinstance(node, ast.stmt):
            return False
        if isinstance(node, _ON_CONDITION):
            return True
    return False
