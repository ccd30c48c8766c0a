"""Tensors that torch's constructors create, and directly following moves to a device."""

from __future__ import annotations

import ast
from dataclasses import replace

from rlint.rule import (
    Binding,
    BindingKind,
    Device,
    Enum,
    SemanticModel,
    Trait,
    TypeTag,
    element_types,
    frozen,
    is_in,
    last_name,
    legacy_tensors,
    models,
    regex,
    torch_settings,
    unpacked_options,
)
from rlint.rules.transfers._shared.made_arrays import RESHAPES, creates_array, wrapped_array

_FILL = models.having(Trait.ALLOCATES | Trait.FROM_NUMBERS, "torch") | {"torch.scalar_tensor"}
_ROUND = frozenset({"torch.linspace", "torch.logspace"})
DRAW = models.having(Trait.DRAWS_SHAPE | Trait.DRAWS_LIKE, "torch") | {"torch.normal"}
_CONVERT = frozenset({"torch.tensor", "torch.as_tensor", "torch.asarray"})
_DEFAULT = "torch.float32"
LEGACY = {
    f"torch.{name}": _DEFAULT if name in ("Tensor", "FloatTensor") else f"torch.{dtype}"
    for name, dtype in element_types.LEGACY.items()
}
"""Constructors without `device=`, and their dtypes."""
CASTS = {
    name: _DEFAULT if name == "float" else f"torch.{dtype}" for name, dtype in element_types.CASTS.items()
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
_NO_MOVE = regex(r"d?type|precision|float|half|double|long|^int|bool|cpu|host")
_KEYWORDS = frozenset(
    "dtype size data fill_value names start end step steps base low high n m input row col".split()
)
_EXACT_IN_ANY_TYPE = frozenset({"torch.zeros", "torch.ones", "torch.eye", "torch.arange"})
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return)
_NO_MASK = (ast.Is, ast.IsNot, ast.In, ast.NotIn)
_ON_CONDITION = (
    *(ast.IfExp, ast.BoolOp, ast.Lambda, ast.comprehension),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
_OF_TO = ("device", "dtype", "non_blocking")
_NUMBERS = (TypeTag.INT, TypeTag.FLOAT, TypeTag.BOOL)
_DEPTH = 8
_WRITES = frozenset({"scatter_", "index_fill_", "masked_fill_", "fill_diagonal_"}) | FIXED
"""Methods that fill a tensor, or parts of it, with a number."""
_MOST_WRITES = 2
"""Assignments to parts of a tensor: on the device, each launches a kernel of its own."""


@frozen
class DeviceMove:
    """`.to(device)` or `.cuda()` of a tensor; `device` is None for the current CUDA device."""

    call: ast.Call
    source: ast.expr
    device: ast.expr | None
    dtype: ast.expr | None
    continues: bool  # without waiting
    like: ast.expr | None = None
    """Return the tensor whose device is used: `x` in `.to(x)` and `.type_as(x)`."""
    options: ast.expr | None = None
    """The dict with the device: `x` in `.to(**x)`."""


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


@frozen
class Creation:
    """A tensor that is created in host memory and moved to a device at once."""

    move: DeviceMove
    made: MadeTensor
    binding: Binding | None
    """Return the assignment that created it, if that is another statement than the move."""
    is_conditional: bool
    """Whether it is moved only if there is a device: `if args.cuda:`."""
    writes: tuple[ast.stmt, ...] = ()
    """Statements that write to parts of it before the move: `mask[rows] = 0`."""
    again: tuple[ast.expr, ...] = ()
    """The other moves of the same tensor to the same device, and the places where it is returned."""


def move_of(call: ast.Call, model: SemanticModel) -> DeviceMove | None:
    """Return the move of a call, to a device that need not be the host."""
    match call:
        case ast.Call(func=ast.Attribute(value=source, attr="type_as"), args=[like], keywords=[]):
            return _move_to(like, call, source, model)
        case ast.Call(func=ast.Attribute(value=source, attr="type"), args=[to], keywords=[]):
            there = _is_device_type(to, model)
            return DeviceMove(call, source, None, None, continues=False) if there else None
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
    if unknown == {None}:
        return _move_by_options(call, source, model)
    if unknown or any(isinstance(value, (ast.Starred, ast.NamedExpr)) for value in named.values()):
        return None
    device = named.get("device")
    is_to = isinstance(call.func, ast.Attribute) and call.func.attr == "to"
    if device is None and is_to:
        return None
    if device is not None and is_to and not model.types.is_device(device):
        return _move_to(device, call, source, model) if len(named) == 1 else None
    if device is not None and model.types.device_of(device) is Device.HOST:
        return None
    waits = named.get("non_blocking")
    continues = waits is not None and not (isinstance(waits, ast.Constant) and not waits.value)
    return DeviceMove(call, source, device, named.get("dtype"), continues)


def _move_by_options(call: ast.Call, source: ast.expr, model: SemanticModel) -> DeviceMove | None:
    """Return the move of `x.to(**options)`."""
    match call:
        case ast.Call(
            func=ast.Attribute(attr="to"), args=[], keywords=[ast.keyword(arg=None, value=options)]
        ):
            given = unpacked_options(call, model.types.type_of) or {}
        case _:
            return None
    if "device" not in given or given.keys() - {*_OF_TO}:
        return None
    if model.types.device_of(given["device"]) is Device.HOST:
        return None
    return DeviceMove(call, source, None, None, "non_blocking" in given, options=options)


def _move_to(like: ast.expr, call: ast.Call, source: ast.expr, model: SemanticModel) -> DeviceMove | None:
    """Return the move to the device of another tensor."""
    kind = model.types.type_of(like)
    if kind.device is Device.HOST or kind.tag not in (TypeTag.TENSOR, TypeTag.UNKNOWN):
        return None
    if not kind and (
        not isinstance(like, (ast.Name, ast.Attribute, ast.Subscript))
        or _NO_MOVE.search((last_name(like) or "").lower())
        or (model.names.qualified(like) or "").startswith("torch.")
    ):
        return None
    return DeviceMove(call, source, None, None, continues=False, like=like)


def _is_device_type(named: ast.expr, model: SemanticModel, depth: int = 3) -> bool:
    """Whether this is a CUDA tensor type, at least if there is a device. `torch.cuda.FloatTensor if use_cuda
    else torch.FloatTensor`.
    """
    match named:
        case ast.Constant(value=str(name)):
            return name.startswith("torch.cuda.")
        case ast.IfExp(body=body, orelse=orelse) if depth > 0:
            return _is_device_type(body, model, depth - 1) or _is_device_type(orelse, model, depth - 1)
    if (
        "torch.cuda." in (model.names.qualified(named) or "")
        or "torch.cuda." in model.types.type_of(named).of
    ):
        return True
    if not isinstance(named, ast.Name) or depth <= 0:
        return False
    return any(
        binding.kind is BindingKind.ASSIGN
        and binding.value is not None
        and not binding.path
        and _is_device_type(binding.value, model, depth - 1)
        for binding in model.dataflow.definitions(named)
    )


def creation_of(move: DeviceMove, model: SemanticModel) -> Creation | None:
    """Return the creation that ends in a move; None if other calls than constructors create the tensor, or if
    it is used in host memory as well.
    """
    skipped = _skipped_by(move.call, model)
    binding, is_conditional = None, skipped is Skipped.BY_DEVICE
    writes: list[ast.stmt] = []
    again: list[ast.expr] = []
    if isinstance(move.source, ast.Name):
        before = made_before(
            move.source, move.call, model, may_be_conditional=True, writes=writes, again=again
        )
        if before is not None:
            binding, is_conditional = before
        elif is_conditional:
            return None
    made = made_by(binding.value if binding and binding.value else move.source, model)
    if made is None:
        return None
    if is_conditional and binding is None and not isinstance(move.source, ast.Name):
        is_conditional = False  # `zeros(3).cuda() if use_cuda else zeros(3)`
    return Creation(move, made, binding, is_conditional, (*writes,), (*again,))


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
    of_numbers = all(model.types.type_of(argument).tag in _NUMBERS for argument in given)
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
    return kind.tag in _NUMBERS or (not kind and isinstance(value, ast.Attribute))


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


def is_constructor(call: ast.Call, name: str, model: SemanticModel) -> bool:
    """Whether a call creates a tensor in host memory that could be created on the device as well."""
    for keyword in call.keywords:
        is_no = isinstance(keyword.value, ast.Constant) and keyword.value.value is False
        if name == "torch.normal" and keyword.arg in ("mean", "std"):
            continue
        if keyword.arg is None and _passes_on(keyword.value, model):
            continue
        if keyword.arg not in _KEYWORDS and not (keyword.arg == "requires_grad" and is_no):
            return False  # it has a device, draws from a host generator, is pinned, is a leaf …
    if name in LEGACY:
        return True
    types = [model.types.type_of(argument) for argument in call.args[:1]]
    if name in _CONVERT:
        if not types and name != "torch.tensor":
            return False
        given = types[0].tag if types and not model.types.excludes_tensor(call.args[0]) else TypeTag.UNKNOWN
        # a tensor may be on the device already, and `as_tensor` keeps it there
        return given is not TypeTag.TENSOR and (name == "torch.tensor" or given is not TypeTag.UNKNOWN)
    if name.endswith("_like"):
        return [(kind.tag, kind.device) for kind in types] == [(TypeTag.TENSOR, Device.HOST)]
    if name == "torch.normal":
        if any(keyword.arg == "size" for keyword in call.keywords):
            return True  # mean and deviation are numbers
        return all(kind.tag in _NUMBERS for kind in types) and len(call.args) + len(call.keywords) > 2
    return name in _FILL | _ROUND | DRAW or name == "torch.arange"


def _passes_on(unpacked: ast.expr, model: SemanticModel) -> bool:
    """Whether unpacked keywords are those of a lambda that moves what it creates: callers need name no device
    (`lambda *args, **kwargs: torch.tensor(*args, **kwargs).cuda()`).
    """
    around = next((part for part in model.ancestors(unpacked) if isinstance(part, ast.Lambda)), None)
    given = around.args.kwarg if around is not None else None
    return given is not None and isinstance(unpacked, ast.Name) and unpacked.id == given.arg


def draws_on_host(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call draws a tensor in host memory that could be drawn on the device as well."""
    name = model.names.qualified(call.func)
    if name not in DRAW or not is_constructor(call, name, model):
        return False
    return not model.program.sets(torch_settings.DEFAULT_DEVICE) and not legacy_tensors.has_device_around(
        call, model
    )


def is_created_on_device(creation: Creation, model: SemanticModel) -> bool:
    """Whether the constructors may create their tensors on a device anyway, because the program has set a
    default. Those named after a host tensor type do not.
    """
    names = {model.names.qualified(call.func) for call in creation.made.calls}
    if not names <= LEGACY.keys() - {"torch.Tensor"} and model.program.sets(torch_settings.DEFAULT_DEVICE):
        return True
    return legacy_tensors.has_device_around(creation.move.call, model)


def is_data(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a constructor copies existing data, rather than generating numbers."""
    name = model.names.qualified(call.func)
    return name in _CONVERT or (name in LEGACY and not gives_size(call, model))


def copies_nothing(creation: Creation, model: SemanticModel) -> bool:
    """Whether the tensor only shares the memory of an array: a legacy constructor gets an array of its own
    dtype (measured with torch 2.13: `torch.FloatTensor(float32_array)` copies nothing).
    """
    calls = creation.made.calls
    return bool(calls) and all(_shares_memory(call, model) for call in calls)


def _shares_memory(call: ast.Call, model: SemanticModel) -> bool:
    name = model.names.qualified(call.func)
    if name not in LEGACY or len(call.args) != 1:
        return False
    array = call.args[0]
    while isinstance(array, ast.Subscript):
        array = array.value  # rows have the dtype of the array
    source = model.types.type_of(array)
    return source.tag is TypeTag.NDARRAY and source.dtype == legacy_tensors.class_dtype(name)


def gives_size(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a legacy constructor is called with sizes (`torch.FloatTensor(4, 2)`)."""
    return len(call.args) != 1 or model.types.type_of(call.args[0]).tag is TypeTag.INT


def difference(made: MadeTensor, model: SemanticModel) -> list[str]:
    """Return how a constructor's numbers may differ if they are created on the device, as clauses."""
    names = {model.names.qualified(call.func) or "" for call in made.calls}
    found = []
    if made.filled_by is not None and (filled := _method(made.filled_by))[1:-2] not in FIXED:
        found.append(f"`{filled}` draws from the device's random stream instead of the host's")
    elif made.drawn_by is not None:
        drawn = model.names.qualified(made.drawn_by.func)
        found.append(f"`{drawn}` draws from the device's random stream instead of the host's")
    elif names & DRAW:
        found.append(f"`{min(names & DRAW)}` draws from the device's random stream instead of the host's")
    elif names & _ROUND:
        found.append(f"`{min(names & _ROUND)}` may be rounded differently on a device")
    elif any(
        model.names.qualified(call.func) == "torch.arange" and not _counts(call, model) for call in made.calls
    ):
        found.append("`torch.arange` may round floating-point steps differently on a device")
    elif made.is_computed:
        found.append("arithmetic may be rounded differently on a device")
    elif made.casts and not names <= _EXACT_IN_ANY_TYPE:
        found.append(f"`{_method(made.casts[0])}` may convert differently on a device")
    if made.expanded_by is not None:
        found.append(f"the result of `{_method(made.expanded_by)}` is a view and must not be written to")
    return found


def _counts(call: ast.Call, model: SemanticModel) -> bool:
    """Whether an `arange` yields integers."""
    given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg != "dtype")]
    types = [model.types.type_of(keyword.value).of for keyword in call.keywords if keyword.arg == "dtype"]
    whole = all(name.removeprefix("torch.") in ("int64", "long", "int32", "int") for name in types)
    return whole and all(model.types.type_of(value).tag is TypeTag.INT for value in given)


def _method(call: ast.Call) -> str:
    return f".{call.func.attr}()" if isinstance(call.func, ast.Attribute) else ""


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
    skipped = _skipped_by(use, model)
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


def _skipped_by(use: ast.expr, model: SemanticModel) -> Skipped:
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
