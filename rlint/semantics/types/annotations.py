"""Types declared by annotations."""

from __future__ import annotations

import ast
from functools import lru_cache

from rlint import models
from rlint.models.value_type import UNKNOWN, Choice, Type, TypeTag, deferred, with_choice
from rlint.semantics.interprocedural.qualified_names import QualifiedNames
from rlint.semantics.types.algebra import known_item
from rlint.semantics.types.dtypes import library_dtype, tensor_class_dtype
from rlint.syntax.queries import axes_of
from rlint.syntax.scopes import BindingKind
from rlint.syntax.walk import children


def _kinds(**names: str) -> dict[str, TypeTag]:
    """Invert a mapping from tags, by the names of their members, to qualified names."""
    return {name: TypeTag[tag] for tag, several in names.items() for name in several.split()}


_PLAIN = _kinds(
    INT="builtins.int",
    FLOAT="builtins.float",
    STR="builtins.str",
    BYTES="builtins.bytes",
    BOOL="builtins.bool",
    TENSOR="torch.Tensor torch.FloatTensor torch.LongTensor torch.nn.Parameter",
    NDARRAY="numpy.ndarray numpy.typing.NDArray",
    DEVICE="torch.device",
    DTYPE="torch.dtype",
    MODULE="torch.nn.Module",
    OPTIMIZER="torch.optim.Optimizer",
    LOADER="torch.utils.data.DataLoader",
    DATASET="torch.utils.data.Dataset",
    DISTRIBUTION="torch.distributions.Distribution",
    ENVIRONMENT="gymnasium.Env gymnasium.vector.VectorEnv",
    SPACE="gymnasium.Space gymnasium.spaces.Space",
    EVENT="threading.Event multiprocessing.Event multiprocessing.synchronize.Event",
    THREAD="threading.Thread",
    PROCESS="multiprocessing.Process",
    QUEUE="queue.Queue multiprocessing.Queue multiprocessing.queues.Queue",
    DEQUE="collections.deque typing.Deque",
    PATH="pathlib.Path",
    PATTERN="re.Pattern",
    MATCH="re.Match",
    RANDOM_GENERATOR="numpy.random.Generator",
    LOGGER="logging.Logger",
)
_OF_ONE_TYPE = frozenset({"torch.FloatTensor", "torch.LongTensor"})
_CONTAINERS = _kinds(
    LIST="builtins.list typing.List",
    TUPLE="builtins.tuple typing.Tuple",
    SET="builtins.set typing.Set",
    DICT="builtins.dict typing.Dict",
    ITERATOR="typing.Iterator collections.abc.Iterator",
    UNKNOWN="typing.Iterable",
    DEQUE="collections.deque typing.Deque",
)
_OPEN_CONTAINERS = {
    f"{module}.{name}": shown
    for module in ("typing", "collections.abc")
    for names, shown in (
        ("Collection MutableSequence Sequence", "builtins.list"),
        ("Mapping MutableMapping", "builtins.dict"),
    )
    for name in names.split()
}
"""Protocols of containers, with the class that a value most likely has."""

_OF_ONE_ITEM = frozenset({TypeTag.LIST, TypeTag.DEQUE, TypeTag.SET, TypeTag.DICT})
_OF_SEVERAL_CLASSES = (
    TypeTag.EVENT,
    TypeTag.THREAD,
    TypeTag.PROCESS,
    TypeTag.QUEUE,
    TypeTag.MODULE,
    TypeTag.RANDOM_GENERATOR,
)


def annotation_kind(annotation: ast.expr, names: QualifiedNames) -> Type:
    """Return the type that an annotation declares; UNKNOWN (perhaps with a path to a class) if it declares
    none.
    """
    known = names.annotated.get(annotation)
    if known is None:
        names.annotated[annotation] = UNKNOWN  # an alias of itself, perhaps in quotes, declares nothing
        known = names.annotated[annotation] = _promised(annotation, names)
    return known


def container_kind(annotation: ast.expr, names: QualifiedNames) -> Type:
    """Return the type that an annotation declares for a container, also of objects of a class that other
    files define: `children: list["Node"]`.
    """
    kind = annotation_kind(annotation, names)
    if kind.tag not in _OF_ONE_ITEM or kind.item is not None or not isinstance(annotation, ast.Subscript):
        return kind
    return kind._replace(item=known_item(annotation_kind(axes_of(annotation.slice)[-1], names)))


def _promised(annotation: ast.expr, names: QualifiedNames) -> Type:
    match annotation:
        case ast.Name() | ast.Attribute():
            kind = _named(names.qualified(annotation))
            alias = _alias(annotation, names) if not kind else None
            return annotation_kind(alias, names) if alias is not None else kind
        case ast.Constant(value=None):
            return Type(TypeTag.NONE)
        case ast.Constant(value=str(text)):
            return _quoted(text, annotation, names)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _either([annotation_kind(part, names) for part in _alternatives(left, right)])
        case ast.Subscript(value=generic, slice=argument):
            return _generic(names.qualified(generic), argument, names)
    return UNKNOWN


def _alias(annotation: ast.Name | ast.Attribute, names: QualifiedNames) -> ast.expr | None:
    """Return the type that a variable of the module stands for: `Batch = Dict[str, torch.Tensor]`."""
    scope, bindings = names.bindings(annotation) if isinstance(annotation, ast.Name) else (None, [])
    if scope is None or scope.parent is not None or len(bindings) != 1:
        return None
    value = bindings[0].value
    is_alias = bindings[0].kind is BindingKind.ASSIGN and isinstance(value, (ast.Subscript, ast.BinOp))
    return value if is_alias else None


@lru_cache(maxsize=4096)
def _named(qualified: str | None) -> Type:
    if qualified is None:
        return UNKNOWN
    tag = _PLAIN.get(qualified) or _CONTAINERS.get(qualified)
    if tag is not None and tag is not TypeTag.UNKNOWN:
        concrete = qualified if tag in _OF_SEVERAL_CLASSES else ""
        dtype = tensor_class_dtype(qualified[6:]) if qualified in _OF_ONE_TYPE else ""
        return Type(tag, of="" if qualified == "torch.nn.Module" else concrete, dtype=dtype)
    if qualified.startswith(("builtins.", "typing.", "collections.abc.")):
        return UNKNOWN
    made = models.callable_fact(qualified)
    if made is not None and made.result:
        return made.result.aged()
    return deferred(f"{qualified}()")


def _generic(qualified: str | None, argument: ast.expr, names: QualifiedNames) -> Type:
    if qualified == "typing.Optional":
        inner = annotation_kind(argument, names)
        return inner._replace(optional=True) if inner else inner
    if qualified == "typing.Union" and isinstance(argument, ast.Tuple):
        return _either([annotation_kind(part, names) for part in argument.elts])
    if qualified == "torchtyping.TensorType":
        return Type(TypeTag.TENSOR)
    if qualified in ("typing.Annotated", "typing.Final", "typing.ClassVar") or (qualified or "").startswith(
        "jaxtyping."
    ):
        first = argument.elts[0] if isinstance(argument, ast.Tuple) and argument.elts else argument
        return annotation_kind(first, names)
    if qualified == "numpy.typing.NDArray":
        return Type(TypeTag.NDARRAY, dtype=library_dtype(names.qualified(argument) or ""))
    if qualified == "numpy.ndarray":
        return Type(TypeTag.NDARRAY, dtype=_array_dtype(argument, names))
    if qualified in _OPEN_CONTAINERS:
        known = _generic(_OPEN_CONTAINERS[qualified], argument, names)
        return with_choice(UNKNOWN, Choice(known)) if known.item else UNKNOWN
    tag = _CONTAINERS.get(qualified or "")
    if tag is None or tag is TypeTag.UNKNOWN:
        return UNKNOWN if qualified is None or tag is not None else _named(qualified)
    arguments = [
        part for part in axes_of(argument) if not (isinstance(part, ast.Constant) and part.value is Ellipsis)
    ]
    if tag is TypeTag.DICT:
        arguments = arguments[1:]
    types = [annotation_kind(part, names) for part in arguments]
    item = types[0] if types else UNKNOWN
    for kind in types[1:]:
        item = item.joined(kind)
    parts = tuple(types) if tag is TypeTag.TUPLE and len(types) == len(axes_of(argument)) else ()
    return Type(tag, item=item or None, parts=parts)


def _alternatives(*parts: ast.expr) -> list[ast.expr]:
    found: list[ast.expr] = []
    for part in parts:
        match part:
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                found += _alternatives(left, right)
            case _:
                found.append(part)
    return found


def _either(types: list[Type]) -> Type:
    """Return the type of a value that has one of these types."""
    if any(kind.tag is TypeTag.DEVICE for kind in types):  # a device, or a value that can be converted to one
        named = [kind for kind in types if kind.tag not in (TypeTag.STR, TypeTag.INT)]
        types = named if all(kind.tag in (TypeTag.DEVICE, TypeTag.NONE) for kind in named) else types
    joined = types[0] if types else UNKNOWN
    for kind in types[1:]:
        joined = joined.joined(kind)
    return joined


def _array_dtype(argument: ast.expr, names: QualifiedNames) -> str:
    match argument:  # np.ndarray[Any, np.dtype[np.float32]]
        case ast.Tuple(elts=[_, ast.Subscript(value=generic, slice=named)]):
            if names.qualified(generic) == "numpy.dtype":
                return library_dtype(names.qualified(named) or "")
    return ""


def _quoted(text: str, at: ast.expr, names: QualifiedNames) -> Type:
    try:
        parsed = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return UNKNOWN
    parents = names.syntax.parents
    stack: list[tuple[ast.AST, ast.AST]] = [(parsed, at)]
    while stack:  # the names in the string are resolved at the position of the string
        node, parent = stack.pop()
        parents[node] = parent
        stack.extend((child, node) for child in children(node))
    return annotation_kind(parsed, names)
