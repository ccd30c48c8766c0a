"""Conversions to a wider dtype that happen on the host, just before the data is copied to a device."""

from __future__ import annotations

import ast
from dataclasses import replace

from rlint.rule import (
    Binding,
    BindingKind,
    Device,
    SemanticModel,
    Trait,
    Type,
    TypeTag,
    Use,
    UseKind,
    element_types,
    frozen,
    is_constant,
    last_name,
    legacy_tensors,
    models,
    observations,
    regex,
)
from rlint.rules.transfers._shared.made import made_by

MAKERS = frozenset({"torch.tensor", "torch.as_tensor"})
CASTS = {"float": "float32", "double": "float64"}
NARROW = frozenset({"uint8", "int8", "int16", "uint16"})
_VIEWS = models.having(Trait.RESHAPES, TypeTag.TENSOR) | {"contiguous"}
_IMAGES = ("frame", "image", "img", "pixel", "screen", "rgb", "obs", "state", "observation")
_STEPS = regex(r"^_?(s|o|ob|x)_?(t|tm1|tp1|t1|next|prime|batch)$")
_SHORT = regex(r"^_?(next_?(s|o|ob|x)|(s|o|ob|x)_?(\d|n|next|prime|batch)?|n(s|o))$")
"""Short names, which are those of observations only if nothing else is that likely."""
_OTHER_STATES = regex(
    r"hidden|rnn|lstm|gru|cell|carry|belief|latent|core|proprio|vector|state_?dict|status|statistic|value"
)
_CHANNELS_FIRST = ((2, 0, 1), (0, 3, 1, 2), (0, 1, 4, 2, 3))
_BRANCHES = 4
"""Maximum number of assignments to a variable that are compared."""
_SCALE = (255, 255.0, 256, 256.0)
_DIVIDES = frozenset({"div", "div_", "divide", "true_divide"})
_MULTIPLIES = frozenset({"mul", "mul_", "multiply"})
_SAME_DATA = frozenset({UseKind.ATTRIBUTE, UseKind.ITEM, UseKind.METHOD})


@frozen
class WidenedMove:
    """`.to(device)` or `.cuda()`; `dtype` is the dtype that it converts to as well."""

    call: ast.Call
    source: ast.expr
    device: ast.expr | None
    dtype: ast.expr | None = None


@frozen
class Widening:
    """The call that widens, its receiver, and the resulting dtype. `scale` is the arithmetic on the result
    before the move.
    """

    cast: ast.Call
    data: ast.expr
    dtype: str
    scale: ast.expr | None = None
    is_apart: bool = False
    """Whether another statement converts, or a constructor that copies the data, too, or more than a division
    follows.
    """


def move_of(call: ast.Call, model: SemanticModel) -> WidenedMove | None:
    """Return a call as a move to a device that is not known to be the host. A move with `non_blocking=True`
    that is given a dtype as well is none, since it converts on the device.
    """
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr not in ("to", "cuda"):
        return None
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    waiting = named.pop("non_blocking", None)
    waits = waiting is None or is_constant(waiting, value=False)
    if func.attr == "cuda":
        return WidenedMove(call, func.value, None) if not call.args and not named else None
    if not named.keys() <= {"device", "dtype"} or len(call.args) + len(named) > 2:
        return None
    device, dtype = named.get("device"), named.get("dtype")
    for argument in call.args:
        if device is None and model.types.is_device(argument):
            device = argument
        elif dtype is None and device is not None and model.analysis.types.dtype_of(argument):
            dtype = argument
        else:
            return None
    if device is None or model.types.device_of(device) is Device.HOST:
        return None
    return WidenedMove(call, func.value, device, dtype) if waits or dtype is None else None


def widening_in(source: ast.expr, model: SemanticModel) -> Widening | None:
    """Return the widening conversion in the source of a move, ignoring views of its result."""
    if isinstance(source, ast.BinOp) and isinstance(source.op, ast.Div) and _is_scale(source.right):
        found = widening_in(source.left, model)
        if found is None or found.scale is not None or found.cast is not source.left:
            return None
        return Widening(found.cast, found.data, found.dtype, source)
    scaled = _scaled(source)
    if scaled is not None:
        found = widening_in(scaled, model)
        return replace(found, scale=source, is_apart=True) if found is not None else None
    current = source
    while isinstance(current, ast.Call):
        match current:
            case ast.Call(func=ast.Attribute(value=data, attr=method), args=[], keywords=[]) if (
                method in CASTS and model.types.type_of(data).tag is not TypeTag.NDARRAY
            ):
                return Widening(current, data, CASTS[method])
            case ast.Call(func=ast.Attribute(value=data, attr="to"), args=[dtype], keywords=[]):
                named = model.analysis.types.dtype_of(dtype)
                return Widening(current, data, named) if named in element_types.FLOATS else None
            case ast.Call(func=ast.Attribute(value=owner, attr=method)) if (
                method in _VIEWS and model.names.qualified(current.func) is None
            ):
                if any(model.types.type_of(argument).tag is TypeTag.DTYPE for argument in current.args):
                    return None  # `x.view(torch.int32)` reinterprets the bytes
                current = owner
            case ast.Call(func=func, args=[array], keywords=[]) if (
                model.names.qualified(func) == "torch.from_numpy"
            ):
                return _in_array(array, model)
            case _:
                return None
    return None


def _scaled(source: ast.expr) -> ast.expr | None:
    """Return what a method or a product divides by 255: `x` of `x.div_(255.0)` and `x * (1 / 255)`; also what
    is moved to the range around zero after that: `x / 255 - 0.5`.
    """
    match source:
        case ast.Call(func=ast.Attribute(value=data, attr=method), args=[by], keywords=[]) if _is_division(
            method, by
        ):
            return data
        case ast.BinOp(left=data, op=ast.Mult(), right=right) if _is_inverse(right):
            return data
        case ast.BinOp(left=ast.BinOp(op=ast.Div() | ast.Mult(), right=by) as data, right=ast.Constant()):
            return data if _is_scale(by) or _is_inverse(by) else None
    return None


def widening_before(source: ast.expr, model: SemanticModel) -> Widening | None:
    """Return the widening in the source of a move, in the statement before that creates it, or in a
    constructor of its tensor: `torch.FloatTensor(frames)`.
    """
    found: Widening | None
    if isinstance(source, ast.Name):
        every = [_in_assignment(binding, model) for binding in model.dataflow.definitions(source)[:_BRANCHES]]
        known = [each for each in every if each is not None]
        if not known or len(known) < len(every):
            return None
        found = next((each for each in known if are_frames(each.data, model)), known[0])
    else:
        found = widening_in(source, model)
        if found is not None:
            return found if made_by(source, model) is None else None
        found = _in_constructor(source, model)
    return replace(found, is_apart=True) if found is not None else None


def _in_assignment(binding: Binding, model: SemanticModel) -> Widening | None:
    if binding.kind is not BindingKind.ASSIGN or binding.path or binding.value is None:
        return None
    return widening_in(binding.value, model) or _in_constructor(binding.value, model)


def _in_constructor(source: ast.expr, model: SemanticModel) -> Widening | None:
    """Return the constructor that converts data of unknown dtype to floating point."""
    current = source
    while isinstance(current, ast.Call):
        name = model.names.qualified(current.func)
        if name is None:
            match current:
                case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in _VIEWS:
                    current = owner
                    continue
            return None
        if len(current.args) != 1:
            return None
        dtype = None
        if name in legacy_tensors.CLASSES and not current.keywords:
            dtype = legacy_tensors.class_dtype(name)
        elif name in MAKERS and [keyword.arg for keyword in current.keywords] == ["dtype"]:
            dtype = model.analysis.types.dtype_of(current.keywords[0].value)
        data = current.args[0]
        if dtype not in element_types.FLOATS or isinstance(data, (ast.List, ast.Constant)):
            return None
        return Widening(current, data, dtype)
    return None


def _in_array(array: ast.expr, model: SemanticModel) -> Widening | None:
    match array:
        case ast.Call(func=ast.Attribute(value=data, attr="astype"), args=[dtype], keywords=[]):
            named = model.analysis.types.dtype_of(dtype)
            return Widening(array, data, named) if named in ("float32", "float64") else None
    return None


def narrowness(data: ast.expr, whole: ast.expr, model: SemanticModel, *, scaled: bool = False) -> Type | None:
    """Return the type of the data if it is narrow and large, else None. The dtype is unknown if only a
    division by 255 shows it, here or in the networks of the program.
    """
    kind = model.types.type_of(data)
    if kind.optional or (kind and kind.tag not in (TypeTag.TENSOR, TypeTag.NDARRAY)):
        return None
    if kind.device not in (Device.HOST, Device.UNKNOWN):
        return None
    scaled = scaled or is_scaled(whole, model)
    if not kind.dtype:
        return kind if scaled or are_frames(data, model) else None
    if kind.dtype not in NARROW:
        return None
    large = (kind.rank or 0) >= 3 or any(
        _names_images(name) or _SHORT.match(name) for name in names_of(data, model)
    )
    return kind if scaled or large else None


def are_frames(data: ast.expr, model: SemanticModel) -> bool:
    """Whether data of unknown dtype are likely frames in bytes: images of which the program moves the
    channels to the front, or observations, in code that works with a network that divides its input by 255.
    """
    if model.types.type_of(data).dtype:
        return False
    if has_moved_channels(data, model):
        return True
    return model.nn.takes_frames() and any(names_observations(name) for name in names_of(data, model))


def has_moved_channels(data: ast.expr, model: SemanticModel) -> bool:
    """Whether the axes of the data, or of one of the values of a variable, are those of images with the
    channels moved to the front: `np.transpose(frames, (0, 3, 1, 2))`.
    """
    if isinstance(data, ast.Call) and model.names.qualified(data.func) == "torch.from_numpy" and data.args:
        data = data.args[0]
    values: list[ast.expr | None] = [data]
    if isinstance(data, ast.Name):
        values += [binding.value for binding in model.dataflow.definitions(data) if not binding.path]
    return any(_moves_channels(value) for value in values)


def _moves_channels(value: ast.expr | None) -> bool:
    match value:
        case ast.Call(func=ast.Attribute(attr="transpose" | "permute"), args=[*_, ast.Tuple(elts=axes)]):
            pass
        case ast.Call(func=ast.Attribute(attr="transpose" | "permute"), args=axes):
            pass
        case _:
            return False
    order = tuple(axis.value for axis in axes if isinstance(axis, ast.Constant))
    return len(order) == len(axes) and order in _CHANNELS_FIRST


def names_observations(name: str) -> bool:
    """Whether it is a common name for observations or frames: `obs`, `next_states`, `s_t`, `pixels`."""
    if _OTHER_STATES.search(name):
        return False
    return (
        observations.names_one(name)
        or observations.names_several(name)
        or bool(_STEPS.match(name))
        or _names_images(name)
    )


def _names_images(name: str) -> bool:
    return any(word in name.lower() for word in _IMAGES)


def names_of(data: ast.expr, model: SemanticModel) -> list[str]:
    """Return the names of the data, of the entry that it is (`batch["frame"]`), and of its source; for a
    parameter, also those of the arguments that callers pass.
    """
    found = []
    while isinstance(data, (ast.Subscript, ast.Call, ast.NamedExpr, ast.Starred)):
        match data:
            case ast.Subscript(slice=ast.Constant(value=str(key))):
                found.append(key)
        data = (data.args[0] if data.args else data.func) if isinstance(data, ast.Call) else data.value
    found.append(last_name(data) or "")
    if isinstance(data, ast.Name):
        made = [
            binding.value
            for binding in model.dataflow.definitions(data)
            if binding.kind is BindingKind.ASSIGN
        ]
        found += [last_name(value.value) or "" for value in made if isinstance(value, ast.Subscript)]
        found += _names_passed(data, model)
    return found


def _names_passed(data: ast.Name, model: SemanticModel) -> list[str]:
    """Return the names of the arguments that the program passes to a parameter of a function which converts
    any data: `def to_tensor(x)`, or `def to_tensor(*args)` for the first.
    """
    function = model.function(data)
    bindings = model.dataflow.definitions(data)
    if function is None or [binding.kind for binding in bindings] != [BindingKind.PARAMETER]:
        return []
    summary = model.symbols.function_at(data)
    parameters = summary.call_parameters if summary is not None else ()
    is_rest = function.args.vararg is not None and function.args.vararg.arg == data.id
    if data.id not in parameters and not (is_rest and not function.args.args):
        return []
    place = "0" if is_rest else str(parameters.index(data.id))
    names = [dict(site.names) for _, site in model.usage.call_sites(data)]
    return [each.get(data.id) or each.get(place) or "" for each in names]


def is_scaled(expression: ast.expr, model: SemanticModel) -> bool:
    """Whether the value is divided by 255, at once or later."""
    return any(divides(use) for use in model.dataflow.uses(expression, _SAME_DATA))


def divides(use: Use) -> bool:
    """Whether a use divides the value by 255."""
    match use.at:
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return left is use.node and _is_scale(right)
        case ast.AugAssign(target=target, op=ast.Div(), value=right):
            return target is use.node and _is_scale(right)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return left is use.node and _is_inverse(right)
        case ast.Call(func=ast.Attribute(attr=method), args=[by]) if use.kind is UseKind.METHOD:
            return _is_division(method, by)
    return False


def _is_division(method: str, by: ast.expr) -> bool:
    """Whether a method divides by 255: `x.div(255)`, `x.mul(1 / 255)`."""
    return (method in _DIVIDES and _is_scale(by)) or (method in _MULTIPLIES and _is_inverse(by))


def _is_inverse(value: ast.expr) -> bool:
    match value:
        case ast.BinOp(left=ast.Constant(value=1 | 1.0), op=ast.Div(), right=right):
            return _is_scale(right)
    return False


def _is_scale(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value in _SCALE


def dtype_of_class(named: ast.expr, model: SemanticModel, depth: int = 3) -> str:
    """Return the dtype of a tensor class, or of both of a choice: `torch.cuda.FloatTensor if use_cuda else
    torch.FloatTensor`; "" if it is not known.
    """
    match named:
        case ast.Constant(value=str(name)):
            return legacy_tensors.class_dtype(name.replace("torch.cuda.", "torch.")) or ""
        case ast.IfExp(body=body, orelse=orelse) if depth > 0:
            found = {dtype_of_class(part, model, depth - 1) for part in (body, orelse)}
            return found.pop() if len(found) == 1 else ""
        case ast.Name() if depth > 0 and model.names.qualified(named) is None:
            values = [each.value for each in model.dataflow.definitions(named) if not each.path]
            found = {dtype_of_class(value, model, depth - 1) for value in values if value is not None}
            return found.pop() if len(found) == 1 else ""
    name = model.names.qualified(named) or model.types.type_of(named).of
    return legacy_tensors.class_dtype(name.replace("torch.cuda.", "torch.")) or ""


def factor(kind: Type, dtype: str) -> str:
    """Return the factor between the numbers of bytes, in words."""
    times = element_types.BITS[dtype] // element_types.BITS[kind.dtype or "uint8"]
    return {2: "twice", 4: "four times", 8: "eight times"}.get(times, "more than")
