"""Where the batches of a loader go: the calls that move them to a device."""

from __future__ import annotations

import ast

from rlint.rule import Device, Heat, SemanticModel, Trait, TypeTag, Use, UseKind, models, target_of_move

_WRAPPERS = models.having(Trait.SAME_ITEMS | Trait.PAIRS_ITEMS, "builtins", "itertools", "tqdm") - {
    "builtins.list",
    "builtins.reversed",
    "builtins.sorted",
    "builtins.tuple",
}
_GIVES_ITEMS = _WRAPPERS | {"builtins.iter", "builtins.next"}
_TAKES_OVER = frozenset({"prepare", "prepare_data_loader", "setup", "setup_dataloaders"})
_MOVES = ("to", "cuda")
_PARTS = (UseKind.ITERATED, UseKind.ITEM, UseKind.ATTRIBUTE)


class Feeds:
    """What one loader feeds. `moved` are the calls that move its batches, or parts of them, to what may be a
    CUDA device; `taken_over` says that a library replaces the loader by one of its own.
    """

    def __init__(self, loader: ast.Call, model: SemanticModel) -> None:
        self.model = model
        uses = model.dataflow.uses_across_functions(loader, self._leads_on)
        moving = (_moving(use) for use in uses)
        moved = [call for call in moving if call is not None and self._may_be_cuda(call)]
        self.moved = sorted(moved, key=lambda call: (call.lineno, call.col_offset))
        self.taken_over = any(map(_takes_over, uses))

    @property
    def hot(self) -> list[ast.Call]:
        """The calls that run for each batch."""
        return [call for call in self.moved if self.model.frequency.heat_of(call).level is Heat.HOT]

    def target(self, call: ast.Call) -> Device:
        """Return the device that a call moves to."""
        named = target_of_move(call)
        return Device.CUDA if named is None else self.model.types.device_of(named)

    def _leads_on(self, use: Use) -> bool:
        """Whether a use gives batches of the loader, or parts of a batch that are still on the host."""
        match use.kind, use.at:
            case UseKind.ARGUMENT, ast.Call(func=function):
                return self.model.names.qualified(function) in _GIVES_ITEMS
            case UseKind.METHOD, _:
                return _moving(use) is None
            case UseKind.ELEMENT, _:
                is_returned = isinstance(use.at, ast.Tuple) and isinstance(
                    self.model.parent(use.at), ast.Return
                )
                return is_returned or isinstance(use.at, ast.Starred)
        return use.kind in _PARTS

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


def _takes_over(use: Use) -> bool:
    match use.kind, use.at:
        case UseKind.ARGUMENT, ast.Call(func=ast.Attribute(attr=method)):
            return method in _TAKES_OVER
    return False


def gives_host_tensors(collate: ast.expr, model: SemanticModel) -> bool:
    """Whether a collate function of the project returns a tuple or dict of tensors in host memory."""
    kind = model.types.type_of(collate)
    if kind.tag is not TypeTag.FUNCTION or not kind.of:
        return False
    batch = model.index.resolve(f"{kind.of}()", "")
    if batch.tag not in (TypeTag.TUPLE, TypeTag.DICT):
        return False
    devices = {part.device for part in batch.parts if part.tag is TypeTag.TENSOR}
    return Device.HOST in devices and devices <= {Device.HOST, Device.UNKNOWN}


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
