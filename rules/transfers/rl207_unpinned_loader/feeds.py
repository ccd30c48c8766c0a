"""Where the batches of a loader go: the calls that move them to a device."""

from __future__ import annotations

import ast

from rlint.rule import (
    Cause,
    Device,
    Heat,
    SemanticModel,
    Trait,
    TypeTag,
    Use,
    UseKind,
    descendants,
    models,
    target_of_move,
)

_WRAPPERS = models.having(Trait.SAME_ITEMS | Trait.PAIRS_ITEMS, "builtins", "itertools", "tqdm") - {
    "builtins.list",
    "builtins.reversed",
    "builtins.sorted",
    "builtins.tuple",
}
_GIVES_ITEMS = _WRAPPERS | {"builtins.iter", "builtins.next"}
TAKES_OVER = frozenset({"prepare", "prepare_data_loader", "setup", "setup_dataloaders"})
_MOVES = ("to", "cuda")
_LEAVES_FILE = (Cause.CALLERS, Cause.OTHER_PLACE)
_PARTS = (UseKind.ITERATED, UseKind.ITEM, UseKind.ATTRIBUTE)


class Feeds:
    """What one loader feeds. `moved` are the calls that move its batches, or parts of them, to what may be a
    CUDA device, themselves or by a function that they are passed to; `taken_over` says that a library
    replaces the loader by one of its own, `is_returned` that callers in other files may get it.
    """

    def __init__(self, loader: ast.Call, model: SemanticModel) -> None:
        self.model = model
        uses = model.dataflow.uses_across_functions(loader, self._leads_on)
        moving = (_moving(use) for use in uses)
        moved = {call for call in moving if call is not None and self._may_be_cuda(call)}
        moved |= {call for call in map(self._moving_function, uses) if call is not None}
        self.moved = sorted(moved, key=lambda call: (call.lineno, call.col_offset))
        self.taken_over = any(map(_takes_over, uses))
        self.is_returned = any(use.cause in _LEAVES_FILE for use in uses)

    @property
    def hot(self) -> list[ast.Call]:
        """The calls that run for each batch."""
        return [call for call in self.moved if self.model.frequency.heat_of(call).level is Heat.HOT]

    def target(self, call: ast.Call) -> Device:
        """Return the device that a call moves to."""
        if _method_called(call) not in _MOVES:
            return Device.UNKNOWN  # a function moves the batch
        named = target_of_move(call)
        return Device.CUDA if named is None else self.model.types.device_of(named)

    def _moving_function(self, use: Use) -> ast.Call | None:
        """Return the call of a function of the project that moves its argument, if a use is one."""
        match use.kind, use.at:
            case UseKind.ARGUMENT, ast.Call() as call if self.model.effects.copies_to_device(call, use.node):
                return call
        return None

    def _leads_on(self, use: Use) -> bool:
        """Whether a use gives batches of the loader, or parts of a batch that are still on the host."""
        match use.kind, use.at:
            case UseKind.ARGUMENT, ast.Call(func=function):
                return self.model.names.qualified(function) in _GIVES_ITEMS
            case UseKind.METHOD, _:
                return _moving(use) is None
            case UseKind.ELEMENT, _:
                return isinstance(use.at, ast.Starred) or (
                    isinstance(use.at, (ast.Tuple, ast.List)) and self._is_returned_or_iterated(use.at)
                )
        return use.kind in _PARTS

    def _is_returned_or_iterated(self, display: ast.expr) -> bool:
        """Whether a tuple is returned, or a loop iterates over it: `for part in (states, actions)`."""
        around = self.model.parent(display)
        if isinstance(around, (ast.For, ast.AsyncFor, ast.comprehension)):
            return around.iter is display
        return isinstance(around, ast.Return)

    def _may_be_cuda(self, call: ast.Call) -> bool:
        named = target_of_move(call)
        if named is None:
            return isinstance(call.func, ast.Attribute) and call.func.attr == "cuda"
        return self.model.types.is_device(named) and self.model.types.device_of(named) in (
            Device.CUDA,
            Device.UNKNOWN,
        )


def _moving(use: Use) -> ast.Call | None:
    """Return the call of `to` or `cuda` that a use is."""
    match use.kind, use.at:
        case UseKind.METHOD, ast.Call(func=ast.Attribute(attr=method)) as call if method in _MOVES:
            return call
    return None


def _method_called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _takes_over(use: Use) -> bool:
    match use.kind, use.at:
        case UseKind.ARGUMENT, ast.Call(func=ast.Attribute(attr=method)):
            return method in TAKES_OVER
    return False


def gives_host_tensors(collate: ast.expr, model: SemanticModel) -> bool:
    """Whether a collate function of the project, or a lambda, returns a tuple or dict of tensors in host
    memory, or what a tokenizer returns.
    """
    kind = model.types.type_of(collate)
    if kind.tag is not TypeTag.FUNCTION:
        return False
    if isinstance(collate, ast.Lambda) and _encodes(collate.body, model):
        return True
    batch = kind.item or (model.index.resolve(f"{kind.of}()", "") if kind.of else kind)
    if batch.tag is TypeTag.BATCH:
        return batch.device is Device.HOST
    if batch.tag not in (TypeTag.TUPLE, TypeTag.DICT):
        return False
    devices = {part.device for part in batch.parts if part.tag is TypeTag.TENSOR}
    return Device.HOST in devices and devices <= {Device.HOST, Device.UNKNOWN}


def _encodes(batch: ast.expr, model: SemanticModel, depth: int = 2) -> bool:
    """Whether a batch is what a tokenizer or processor returns (`tokenizer(texts, return_tensors="pt")`),
    called here or by a function of this file.
    """
    if not isinstance(batch, ast.Call) or depth == 0:
        return False
    if any(word.arg == "return_tensors" for word in batch.keywords):
        return True
    functions = [model.analysis.definition(target) for target in model.types.call_targets(batch)]
    results = [
        node.value
        for function in functions
        if function is not None
        for node in descendants(function)
        if isinstance(node, ast.Return) and node.value is not None
    ]
    return (
        bool(results) and None not in functions and all(_encodes(each, model, depth - 1) for each in results)
    )


def is_on_host(loader: ast.Call, model: SemanticModel) -> bool:
    """Whether the data of a loader is in host memory, as far as the source determines it."""
    item = model.types.type_of(loader).item
    if item is not None and item.tag in (TypeTag.BATCH, TypeTag.TENSOR) and item.device is not Device.HOST:
        return False
    dataset = loader.args[0] if loader.args else None
    dataset = dataset or next((word.value for word in loader.keywords if word.arg == "dataset"), None)
    cls = model.types.class_of_value(dataset) if dataset is not None else None
    if cls is None:
        return True
    for kind in cls.attributes.values():
        known = model.index.resolve(kind.of, cls.module) if not kind and kind.of else kind
        if known.tag is TypeTag.TENSOR and known.device is not Device.HOST:
            return False
    return True
