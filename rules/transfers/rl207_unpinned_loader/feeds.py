"""Where the batches of a loader go: the places that move them to a device."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Device,
    Function,
    FunctionSummary,
    Heat,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    models,
    parameter_of,
)

_WRAPPERS = models.having(Trait.SAME_ITEMS | Trait.PAIRS_ITEMS, "builtins", "itertools", "tqdm") - {
    "builtins.list",
    "builtins.reversed",
    "builtins.sorted",
    "builtins.tuple",
}
_TAKES_OVER = frozenset({"prepare", "prepare_data_loader", "setup", "setup_dataloaders"})
_DEPTH = 3


class Feeds:
    """What one loader feeds. `moved` are the calls that move its batches to something that may be a CUDA
    device; `taken_over` says that a library puts a loader of its own in its place.
    """

    def __init__(self, loader: ast.Call, model: SemanticModel) -> None:
        self.model = model
        self.moved: list[ast.Call] = []
        self.taken_over = False
        self._seen: set[ast.AST] = set()
        self._follow(loader, _DEPTH)

    @property
    def hot(self) -> list[ast.Call]:
        """The calls that run for each batch."""
        return [call for call in self.moved if self.model.frequency.heat_of(call).level is Heat.HOT]

    def target(self, call: ast.Call) -> Device:
        """The device that a call moves to."""
        named = _device_of(call)
        return Device.CUDA if named is None else self.model.types.device_of(named)

    # -- the loader ----------------------------------------------------------------------------

    def _follow(self, holder: ast.expr, depth: int) -> None:
        """Follow an expression that is the loader, or that iterates over it."""
        if holder in self._seen or depth <= 0:
            return
        self._seen.add(holder)
        model, parent = self.model, self.model.parent(holder)
        match parent:
            case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
                for read in self._reads(target):
                    self._follow(read, depth)
            case ast.For(iter=iterable, target=target) if iterable is holder:
                self._batches(target, parent, depth)
            case ast.comprehension(iter=iterable, target=target) if iterable is holder:
                self._batches(target, model.parent(parent) or parent, depth)
            case ast.Call(func=ast.Attribute(attr=method)) if method in _TAKES_OVER and holder in parent.args:
                self.taken_over = True
            case ast.Call(func=function) if holder is not function:
                qualified = model.names.qualified(function)
                if qualified in _WRAPPERS:
                    self._follow(parent, depth)
                elif qualified == "builtins.next":
                    bound = model.parent(parent)
                    if isinstance(bound, ast.Assign):
                        around = model.function(parent) or model.syntax.module
                        self._batches(bound.targets[0], around, depth)
                else:
                    for parameter in self._parameters(parent, holder):
                        self._follow(parameter, depth - 1)
            case ast.keyword():
                call = model.parent(parent)
                if isinstance(call, ast.Call):
                    for parameter in self._parameters(call, holder):
                        self._follow(parameter, depth - 1)

    def _reads(self, target: ast.expr) -> Iterator[ast.expr]:
        """The places that read a variable, or an attribute of the same class."""
        model = self.model
        if isinstance(target, ast.Name):
            scope = model.names.scope(target).lookup(target.id)
            if scope is not None and len(scope.bindings[target.id]) == 1:
                yield from model.names.reads(target.id, scope)
        elif isinstance(target, ast.Attribute):
            uses = model.names.attribute_uses(target.attr)
            if sum(not isinstance(use.ctx, ast.Load) for use in uses) == 1:
                own = model.class_of(target)
                yield from (
                    use for use in uses if isinstance(use.ctx, ast.Load) and model.class_of(use) is own
                )

    def _parameters(self, call: ast.Call, argument: ast.expr) -> Iterator[ast.Name]:
        """The places where the functions of this file that a call runs read an argument of it."""
        for summary in self.model.types.call_targets(call):
            function = self._definition(summary)
            name = parameter_of(argument, call, summary)
            if function is not None and name is not None:
                scope = self.model.syntax.scopes[function]
                if name in scope.bindings and len(scope.bindings[name]) == 1:
                    yield from self.model.names.reads(name, scope)

    def _definition(self, summary: FunctionSummary) -> Function | None:
        if summary.module != self.model.module.module:
            return None
        tree = self.model.syntax
        defined: list[Function] = [*tree.of_type(ast.FunctionDef), *tree.of_type(ast.AsyncFunctionDef)]
        return next((node for node in defined if tree.qualname(node) == summary.qualname), None)

    # -- the batches ---------------------------------------------------------------------------

    def _batches(self, target: ast.AST, inside: ast.AST, depth: int) -> None:
        """Note what moves a batch, or a part of it, in a loop or function."""
        names = {node.id for node in descendants(target) if isinstance(node, ast.Name)}
        nodes = list(descendants(inside))
        for _ in range(2):  # parts of parts: `for state, action in batch.items()`
            for node in nodes:
                match node:
                    case ast.Assign(targets=[part], value=value) | ast.For(target=part, iter=value):
                        pass
                    case ast.comprehension(target=part, iter=value):
                        pass
                    case _:
                        continue
                if _root(value) in names:
                    names |= {name.id for name in descendants(part) if isinstance(name, ast.Name)}
        for node in nodes:
            if not isinstance(node, ast.Call):
                continue
            match node.func:
                case ast.Attribute(value=owner, attr="to" | "cuda") if _root(owner) in names:
                    if self._may_be_cuda(node) and node not in self.moved:
                        self.moved.append(node)
                    continue
            for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
                if depth > 1 and isinstance(argument, ast.Name) and argument.id in names:
                    self._handed(node, argument, depth)

    def _handed(self, call: ast.Call, argument: ast.Name, depth: int) -> None:
        """Look into a function that is handed a batch."""
        for summary in self.model.types.call_targets(call):
            function = self._definition(summary)
            name = parameter_of(argument, call, summary)
            if function is not None and name is not None and function not in self._seen:
                self._seen.add(function)
                self._batches(ast.Name(name), function, depth - 1)

    def _may_be_cuda(self, call: ast.Call) -> bool:
        named = _device_of(call)
        if named is None:
            return isinstance(call.func, ast.Attribute) and call.func.attr == "cuda"
        return self.model.types.is_device(named) and self.model.types.device_of(named) in (
            Device.CUDA,
            Device.UNKNOWN,
        )


def lies_on_host(loader: ast.Call, model: SemanticModel) -> bool:
    """Does the data of a loader lie in host memory, as far as the source tells?"""
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


def _device_of(call: ast.Call) -> ast.expr | None:
    return next((word.value for word in call.keywords if word.arg == "device"), None) or (
        call.args[0] if call.args else None
    )


def _root(expression: ast.expr) -> str | None:
    """The variable that an expression takes a part of, or calls a method of."""
    while True:
        match expression:
            case ast.Call(func=ast.Attribute(value=owner)):
                expression = owner
            case ast.Attribute(value=owner) | ast.Subscript(value=owner) | ast.Starred(value=owner):
                expression = owner
            case ast.Name(id=name):
                return name
            case _:
                return None
