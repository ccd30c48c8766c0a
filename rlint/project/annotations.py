"""What an annotation says about a value."""

from __future__ import annotations

import ast
from dataclasses import replace

from rlint.project import facts
from rlint.project.kind import UNKNOWN, Kind, Tag
from rlint.project.names import Names

_PLAIN = {
    "builtins.int": Tag.INT, "builtins.float": Tag.FLOAT, "builtins.str": Tag.STR, "builtins.bytes": Tag.BYTES,
    "builtins.bool": Tag.BOOL, "torch.Tensor": Tag.TENSOR, "torch.FloatTensor": Tag.TENSOR,
    "torch.LongTensor": Tag.TENSOR, "numpy.ndarray": Tag.NDARRAY, "numpy.typing.NDArray": Tag.NDARRAY,
    "torch.device": Tag.DEVICE, "torch.dtype": Tag.DTYPE, "torch.nn.Module": Tag.MODULE,
    "torch.optim.Optimizer": Tag.OPTIMIZER, "torch.utils.data.DataLoader": Tag.LOADER,
    "torch.utils.data.Dataset": Tag.DATASET, "gymnasium.Env": Tag.ENVIRONMENT,
    "gymnasium.vector.VectorEnv": Tag.ENVIRONMENT, "gymnasium.Space": Tag.SPACE, "gymnasium.spaces.Space": Tag.SPACE,
    "threading.Event": Tag.EVENT, "threading.Thread": Tag.THREAD, "multiprocessing.Process": Tag.PROCESS,
    "queue.Queue": Tag.QUEUE, "multiprocessing.Queue": Tag.QUEUE, "multiprocessing.queues.Queue": Tag.QUEUE,
    "collections.deque": Tag.DEQUE, "typing.Deque": Tag.DEQUE, "pathlib.Path": Tag.PATH, "re.Pattern": Tag.PATTERN,
    "re.Match": Tag.MATCH, "numpy.random.Generator": Tag.RANDOM_GENERATOR, "logging.Logger": Tag.LOGGER,
    "multiprocessing.synchronize.Event": Tag.EVENT, "multiprocessing.Event": Tag.EVENT,
    "torch.nn.Parameter": Tag.TENSOR, "torch.distributions.Distribution": Tag.DISTRIBUTION,
}  # fmt: skip
_CONTAINERS = {
    "builtins.list": Tag.LIST, "typing.List": Tag.LIST, "builtins.tuple": Tag.TUPLE, "typing.Tuple": Tag.TUPLE,
    "builtins.set": Tag.SET, "typing.Set": Tag.SET, "builtins.dict": Tag.DICT, "typing.Dict": Tag.DICT,
    "typing.Iterator": Tag.ITERATOR, "typing.Iterable": Tag.UNKNOWN, "collections.deque": Tag.DEQUE,
    "typing.Deque": Tag.DEQUE, "collections.abc.Iterator": Tag.ITERATOR,
}  # fmt: skip


def annotation_kind(annotation: ast.expr, names: Names) -> Kind:
    """The kind that an annotation promises; UNKNOWN (perhaps with a path to a class) where it does not."""
    match annotation:
        case ast.Constant(value=None):
            return Kind(Tag.NONE)
        case ast.Constant(value=str(text)):
            return _quoted(text, annotation, names)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return annotation_kind(left, names).joined(annotation_kind(right, names))
        case ast.Subscript(value=generic, slice=argument):
            return _generic(names.qualified(generic), argument, names)
        case ast.Name() | ast.Attribute():
            return _named(names.qualified(annotation))
    return UNKNOWN


def _named(qualified: str | None) -> Kind:
    if qualified is None:
        return UNKNOWN
    tag = _PLAIN.get(qualified) or _CONTAINERS.get(qualified)
    if tag is not None and tag is not Tag.UNKNOWN:
        concrete = qualified if tag in (Tag.EVENT, Tag.THREAD, Tag.PROCESS, Tag.QUEUE, Tag.MODULE) else ""
        return Kind(tag, of="" if qualified == "torch.nn.Module" else concrete)
    if qualified.startswith(("builtins.", "typing.", "collections.abc.")):
        return UNKNOWN
    made = facts.callable_fact(qualified)
    if made is not None and made.result:
        return made.result.aged()
    return Kind(of=f"{qualified}()")


def _generic(qualified: str | None, argument: ast.expr, names: Names) -> Kind:
    if qualified == "typing.Optional":
        inner = annotation_kind(argument, names)
        return replace(inner, optional=True) if inner else inner
    if qualified == "typing.Union" and isinstance(argument, ast.Tuple):
        kinds = [annotation_kind(part, names) for part in argument.elts]
        joined = kinds[0] if kinds else UNKNOWN
        for kind in kinds[1:]:
            joined = joined.joined(kind)
        return joined
    if qualified in ("typing.Annotated", "typing.Final", "typing.ClassVar"):
        first = argument.elts[0] if isinstance(argument, ast.Tuple) and argument.elts else argument
        return annotation_kind(first, names)
    if qualified == "numpy.typing.NDArray":
        return Kind(Tag.NDARRAY)
    tag = _CONTAINERS.get(qualified or "")
    if tag is None or tag is Tag.UNKNOWN:
        return UNKNOWN if qualified is None or tag is not None else _named(qualified)
    arguments = argument.elts if isinstance(argument, ast.Tuple) else [argument]
    arguments = [
        part for part in arguments if not (isinstance(part, ast.Constant) and part.value is Ellipsis)
    ]
    if tag is Tag.DICT:
        arguments = arguments[1:]
    kinds = [annotation_kind(part, names) for part in arguments]
    item = kinds[0] if kinds else UNKNOWN
    for kind in kinds[1:]:
        item = item.joined(kind)
    return Kind(tag, item=item or None)


def _quoted(text: str, at: ast.expr, names: Names) -> Kind:
    try:
        parsed = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return UNKNOWN
    parents = names.tree.parents
    stack: list[tuple[ast.AST, ast.AST]] = [(parsed, at)]
    while stack:  # the names in the string are looked up where the string stands
        node, parent = stack.pop()
        parents[node] = parent
        stack.extend((child, node) for child in ast.iter_child_nodes(node))
    return annotation_kind(parsed, names)
