"""The kind of an expression: what flows into it, and what is known of the things that make it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from rlint.project import batches, facts
from rlint.project.annotations import annotation_kind
from rlint.project.by_use import ByUse
from rlint.project.flow import Flow
from rlint.project.guards import last_name
from rlint.project.kind import UNKNOWN, Device, Kind, Tag
from rlint.project.names import Names
from rlint.syntax.scopes import Binding, How, Scope
from rlint.syntax.tree import FUNCTIONS, Function, Tree

_IMMUTABLE = frozenset({Tag.NONE, Tag.BOOL, Tag.INT, Tag.FLOAT, Tag.STR, Tag.BYTES, Tag.DEVICE, Tag.DTYPE,
                        Tag.NUMPY_SCALAR, Tag.RANGE, Tag.PATTERN, Tag.FUNCTION, Tag.CLASS})  # fmt: skip
_NUMBERS = (Tag.BOOL, Tag.INT, Tag.FLOAT)
_CONSTANTS: dict[type, Tag] = {
    bool: Tag.BOOL, int: Tag.INT, float: Tag.FLOAT, str: Tag.STR, bytes: Tag.BYTES, type(None): Tag.NONE,
}  # fmt: skip
_MADE_OF_FIRST = frozenset({"copy.copy", "copy.deepcopy"})
_GIVES_NO_SINGLE_TENSOR = frozenset(
    f"torch.nn.{name}"
    for name in "Module RNN LSTM GRU LSTMCell MultiheadAttention ModuleList ModuleDict DataParallel ParameterList "
    "ParameterDict parallel.DistributedDataParallel AdaptiveLogSoftmaxWithLoss".split()
)
_ITERATES = frozenset(
    {"builtins.iter", "builtins.reversed", "tqdm.tqdm", "itertools.cycle", "itertools.islice"}
)
_SAME_ITEMS = _ITERATES | {"builtins.sorted", "builtins.list", "tqdm.rich.tqdm", "rich.progress.track"}
_WRAPS_ITERABLES = _SAME_ITEMS | {"builtins.enumerate", "builtins.zip"}
_MOVED_WITH_ITS_MODULE = frozenset({"torch.nn.Parameter", "torch.nn.Buffer"})
_LOADER = re.compile(r"loader$|dataloader")
_DEPTH = 40


class Resolver(Protocol):
    """What the knowledge of one file asks the rest of the project."""

    def resolve(self, path: str, module: str) -> Kind:
        """The kind at the end of an access path such as `buffers.Replay().storage`, or UNKNOWN."""

    def parameter_kind(self, path: str, module: str, argument: str) -> Kind:
        """The kind that a function declares for the parameter which takes an argument."""


def is_immutable(kind: Kind) -> bool:
    """True where a value of this kind cannot change while a name is bound to it."""
    return kind.tag in _IMMUTABLE


class Kinds:
    """The kinds in one file.

    An unknown kind may carry in `of` the access path that leads to it (`buffers.Replay().storage`),
    for the project to resolve once all files are known.
    """

    def __init__(self, tree: Tree, names: Names, flow: Flow, project: Resolver | None) -> None:
        self.tree = tree
        self.names = names
        self.flow = flow
        self.project = project
        self._cache: dict[ast.AST, Kind] = {}
        self._bindings: dict[Binding, Kind] = {}
        self._depth = 0
        self._by_use = ByUse(tree, names, self._parameter_kind if project is not None else None)

    def kind_of(self, expression: ast.expr) -> Kind:
        """What is known of the value of an expression where it stands."""
        known = self._cache.get(expression)
        if known is not None:
            return known
        if self._depth > _DEPTH:
            return UNKNOWN
        self._cache[expression] = UNKNOWN  # a value that depends on itself is unknown
        self._depth += 1
        try:
            handler = self._HANDLERS.get(expression.__class__)
            kind = handler(self, expression) if handler else UNKNOWN
        finally:
            self._depth -= 1
        kind = self._resolved(kind)
        self._cache[expression] = kind
        return kind

    def binding_kind(self, binding: Binding) -> Kind:
        """The kind of the value that one binding gives to its name."""
        known = self._bindings.get(binding)
        if known is None:
            self._bindings[binding] = UNKNOWN
            known = self._resolved(self._bound(binding).aged())
            known = self._bindings[binding] = known or self._by_use.kind_of(binding) or known
        return known

    def used_as(self, name: str, scope: Scope) -> Kind:
        """What the uses of a variable of `scope` tell about its values, or UNKNOWN."""
        return self._by_use.kind_of(scope.bindings[name][0])

    def _parameter_kind(self, call: ast.Call, argument: str) -> Kind:
        assert self.project is not None
        path = self.names.qualified(call.func)
        if path is None and isinstance(call.func, ast.Attribute):
            owner = self.kind_of(call.func.value)
            path = f"{owner.of}().{call.func.attr}" if owner and owner.of else None
        return self.project.parameter_kind(path, self.names.module, argument) if path else UNKNOWN

    def _resolved(self, kind: Kind) -> Kind:
        if self.project is not None and not kind and kind.of:
            found = self.project.resolve(kind.of, self.names.module)
            return found or kind
        return kind

    # -- names ---------------------------------------------------------------------------------

    def _name(self, node: ast.Name) -> Kind:
        qualified = self.names.qualified(node)
        scope, _ = self.names.bindings(node)
        if scope is None:
            return Kind(Tag.FUNCTION, of=qualified) if qualified else UNKNOWN
        bindings = self.flow.reaching(node)
        if not bindings:
            return UNKNOWN
        kind = self.binding_kind(bindings[0])
        for binding in bindings[1:]:
            kind = kind.joined(self.binding_kind(binding))
        if kind.tag is Tag.BATCH and self._is_tested_tensor(node):
            return batches.part_of(kind)
        return kind

    def _is_tested_tensor(self, name: ast.Name) -> bool:
        """Does `name` stand where `isinstance(name, torch.Tensor)` or `torch.is_tensor(name)` holds?"""
        child: ast.AST = name
        for parent in self.tree.ancestors(name):
            chosen = parent.body if isinstance(parent, (ast.If, ast.IfExp)) else []
            if child is chosen or (isinstance(chosen, list) and child in chosen):
                match getattr(parent, "test", None):
                    case ast.Call(func=test, args=[ast.Name(id=tested), *classes]) if tested == name.id:
                        return self.names.qualified(test) in (
                            "builtins.isinstance",
                            "torch.is_tensor",
                        ) and all(self.names.qualified(cls) == "torch.Tensor" for cls in classes)
            child = parent
        return False

    def _bound(self, binding: Binding) -> Kind:
        how, value = binding.how, binding.value
        if how in (How.ASSIGN, How.WALRUS) and value is not None:
            annotation = getattr(binding.statement, "annotation", None)
            kind = self.kind_of(value)
            if annotation is not None and not kind:
                kind = annotation_kind(annotation, self.names) or kind
            return _along(kind, binding.path)
        if how is How.AUGMENT and value is not None and isinstance(binding.statement, ast.AugAssign):
            scope = self.tree.scope(binding.statement)
            prior = UNKNOWN
            for index, earlier in enumerate(self.flow.before(binding.name, binding.statement, scope)):
                if earlier is not binding:
                    kind = self.binding_kind(earlier)
                    prior = kind if index == 0 or not prior else prior.joined(kind)
            if prior.tag in (Tag.TENSOR, Tag.NDARRAY, Tag.LIST, Tag.SET, Tag.DEQUE, Tag.DICT):
                return prior
            return _arithmetic(prior, self.kind_of(value), binding.statement.op)
        if how in (How.FOR, How.COMPREHENSION) and value is not None:
            return self._iterated(value, binding.path)
        if how is How.WITH and value is not None:
            kind = self.kind_of(value)
            if kind.tag in (Tag.FILE, Tag.POOL, Tag.LOCK, Tag.CONNECTION, Tag.WRITER, Tag.ITERATOR,
                            Tag.PYTHON_MODULE):  # fmt: skip
                return kind
            return UNKNOWN
        if how is How.PARAMETER:
            return self._parameter(binding)
        if how is How.IMPORT:
            return Kind(of=facts.canonical(binding.target))
        if how is How.FUNCTION:
            return Kind(Tag.FUNCTION, of=f"{self.names.module}.{self.tree.qualname(binding.node)}")
        if how is How.CLASS:
            return Kind(Tag.CLASS, of=f"{self.names.module}.{self.tree.qualname(binding.node)}")
        return UNKNOWN

    def _parameter(self, binding: Binding) -> Kind:
        parameter = binding.node
        function = binding.statement
        if not isinstance(parameter, ast.arg) or not isinstance(function, FUNCTIONS):
            return UNKNOWN
        owner = self.receiver_class(parameter, function)
        if owner is not None:
            path = f"{self.names.module}.{self.tree.qualname(owner)}"
            return Kind(of=f"{path}()" if not is_classmethod(function) else path)
        if function.args.vararg is parameter:
            return Kind(Tag.TUPLE)
        if function.args.kwarg is parameter:
            return Kind(Tag.DICT)
        if parameter.annotation is not None:
            kind = annotation_kind(parameter.annotation, self.names)
            if kind.tag in (Tag.LOADER, Tag.TENSOR):
                passed = self._resolved(self._passed(parameter, function))
                return passed if refines(passed, kind) else kind
            if kind or kind.of:
                return kind
        return self._passed(parameter, function)

    def _passed(self, parameter: ast.arg, function: Function) -> Kind:
        return Kind(of=f"{self.names.module}.{self.tree.qualname(function)}@{parameter.arg}")

    def receiver_class(self, parameter: ast.arg, function: ast.AST) -> ast.ClassDef | None:
        """The class whose instance (or self) the parameter stands for, if it is a method's first."""
        if not isinstance(function, FUNCTIONS):
            return None
        parent = self.tree.parents.get(function)
        first = [*function.args.posonlyargs, *function.args.args][:1]
        if (
            isinstance(parent, ast.ClassDef)
            and first
            and first[0] is parameter
            and not is_staticmethod(function)
        ):
            return parent
        return None

    def _iterated(self, iterable: ast.expr, path: tuple[int, ...]) -> Kind:
        if isinstance(iterable, ast.Call):
            callee = self.names.qualified(iterable.func)
            if callee == "builtins.enumerate" and iterable.args and path:
                return Kind(Tag.INT) if path[0] == 0 else self._iterated(iterable.args[0], path[1:])
            if callee == "builtins.zip" and path and 0 <= path[0] < len(iterable.args):
                return self._iterated(iterable.args[path[0]], path[1:])
            if callee in _SAME_ITEMS and iterable.args:
                return self._iterated(iterable.args[0], path)
            if isinstance(iterable.func, ast.Attribute) and iterable.func.attr in ("items", "values", "keys"):
                owner = self.kind_of(iterable.func.value)
                if iterable.func.attr == "keys" or (iterable.func.attr == "items" and path[:1] == (0,)):
                    return Kind(Tag.STR) if owner.tag is Tag.STATE_DICT else UNKNOWN
                rest = path[1:] if iterable.func.attr == "items" else path
                known = owner.tag in (Tag.DICT, Tag.STATE_DICT, Tag.BATCH)
                return _along(item_of(owner), rest) if known else UNKNOWN
        if isinstance(iterable, ast.Name):
            # `bar = tqdm(enumerate(loader))`
            made = self.flow.reaching(iterable)
            if len(made) == 1 and made[0].how in (How.ASSIGN, How.WITH) and not made[0].path:
                value = made[0].value
                if isinstance(value, ast.Call) and self.names.qualified(value.func) in _WRAPS_ITERABLES:
                    return self._iterated(value, path)
        kind = self.kind_of(iterable)
        if self.project is not None and self._is_called_loader(iterable, kind):
            return _along(batches.BATCH_ON_HOST, path)
        if kind.tag in (Tag.INSTANCE, Tag.DATASET, Tag.REPLAY_BUFFER) and kind.of:
            kind = self._resolved(Kind(of=f"{kind.of}().__iter__()"))
        return _along(item_of(kind), path)

    def _is_called_loader(self, iterable: ast.expr, kind: Kind) -> bool:
        """Is this a parameter, or an attribute that holds one, whose name says that it is a loader?"""
        if kind or not _LOADER.search((last_name(iterable) or "").lower()):
            return False
        if isinstance(iterable, ast.Attribute):
            stored = [
                parent.value
                for store in self.tree.of_type(ast.Attribute)
                if store.attr == iterable.attr
                and isinstance(store.ctx, ast.Store)
                and isinstance(parent := self.tree.parents[store], (ast.Assign, ast.AnnAssign))
            ]
            return bool(stored) and all(value is not None and self._is_parameter(value) for value in stored)
        return self._is_parameter(iterable)

    def _is_parameter(self, expression: ast.expr) -> bool:
        made = self.flow.reaching(expression) if isinstance(expression, ast.Name) else []
        return bool(made) and all(binding.how is How.PARAMETER for binding in made)

    # -- attributes and calls ------------------------------------------------------------------

    def _attribute(self, node: ast.Attribute) -> Kind:
        qualified = self.names.qualified(node)
        if qualified is not None:
            return _library_value(qualified) or Kind(of=qualified)
        owner = self.kind_of(node.value)
        if owner.tag in (Tag.INSTANCE, Tag.MODULE, Tag.ENVIRONMENT, Tag.DATASET, Tag.REPLAY_BUFFER, Tag.THREAD,
                         Tag.PROCESS, Tag.OPTIMIZER) and owner.of:  # fmt: skip
            deferred = Kind(of=f"{owner.of}().{node.attr}")
            found = self._resolved(deferred)
            if found:
                return found
            return facts.attribute_kind(owner.tag, node.attr) or deferred
        if owner.tag is Tag.BATCH:
            return batches.attribute_of(owner, node.attr)
        if owner:
            kind = facts.attribute_kind(owner.tag, node.attr)
            if kind.tag is Tag.TENSOR and owner.tag is Tag.TENSOR and kind.device is Device.UNKNOWN:
                return batches.kept(owner, kind)
            if kind.tag is Tag.DEVICE and owner.tag is Tag.TENSOR:
                return replace(kind, device=owner.device)
            return kind
        return Kind(of=f"{owner.of}.{node.attr}") if owner.of else UNKNOWN

    def _call(self, node: ast.Call) -> Kind:
        qualified = self.names.qualified(node.func)
        if qualified is not None:
            known = facts.callable_fact(qualified, argument_count(node))
            if known is not None:
                return self._made(node, qualified, known.result)
            return Kind(of=f"{qualified}()")
        if isinstance(node.func, ast.Attribute):
            return self._method_result(node, node.func)
        callee = self.kind_of(node.func)
        if callee.tag is Tag.TOKENIZER:
            return batches.BATCH_ON_HOST if _gives_tensors(node) else UNKNOWN
        if callee.tag is Tag.MODULE:
            return self._called_module(callee)
        if callee.tag in (Tag.CLASS, Tag.FUNCTION) and callee.of:
            return Kind(of=f"{callee.of}()")
        return Kind(of=f"{callee.of}()") if not callee and callee.of else UNKNOWN

    def _called_module(self, module: Kind) -> Kind:
        if module.of.startswith("torch.nn."):
            return UNKNOWN if module.of in _GIVES_NO_SINGLE_TENSOR else Kind(Tag.TENSOR)
        return Kind(of=f"{module.of}().forward()") if module.of else UNKNOWN

    def _method_result(self, node: ast.Call, func: ast.Attribute) -> Kind:
        owner = self.kind_of(func.value)
        if owner.tag is Tag.PYTHON_MODULE:  # a value that offers what a module offers
            known = facts.callable_fact(f"{owner.of}.{func.attr}")
            return self._made(node, f"{owner.of}.{func.attr}", known.result) if known else UNKNOWN
        if owner.tag in (Tag.TENSOR, Tag.BATCH) and func.attr in ("to", "cuda", "cpu"):
            return self._moved(node, func.attr, owner)
        if owner.tag is Tag.BATCH:
            return batches.method_result(owner, func.attr, argument_count(node))
        if owner.tag is Tag.TENSOR and func.attr == "pin_memory":
            return replace(owner, of=batches.PINNED, fresh=True)
        if owner.tag is Tag.TOKENIZER and _gives_tensors(node):
            encoded = Kind(Tag.TENSOR, device=Device.HOST, fresh=True)
            return encoded if func.attr == "encode" else batches.BATCH_ON_HOST
        if owner.of and owner.tag in (Tag.INSTANCE, Tag.MODULE, Tag.ENVIRONMENT, Tag.DATASET, Tag.REPLAY_BUFFER,
                                      Tag.THREAD, Tag.PROCESS, Tag.OPTIMIZER):  # fmt: skip
            attribute = self._resolved(Kind(of=f"{owner.of}().{func.attr}"))
            if attribute.tag is Tag.MODULE:
                return self._called_module(attribute)
            found = self._resolved(Kind(of=f"{owner.of}().{func.attr}()"))
            if found:
                return found
        if owner:
            known = facts.method_fact(owner.tag, func.attr, argument_count(node))
            if known is None:
                return Kind(of=f"{owner.of}().{func.attr}()") if owner.of else UNKNOWN
            if owner.tag is Tag.MODULE and known.result.tag is Tag.MODULE:
                return owner
            if (
                known.result.tag is Tag.TENSOR
                and owner.tag is Tag.TENSOR
                and known.result.device is Device.UNKNOWN
            ):
                return batches.kept(owner, known.result)
            return known.result
        if owner.of:
            return Kind(of=f"{owner.of}.{func.attr}()")
        known = facts.method_on_unknown(func.attr, len(node.args) + len(node.keywords))
        return known.result if known else UNKNOWN

    def _made(self, node: ast.Call, qualified: str, result: Kind) -> Kind:
        """The result of a library call, with what its arguments choose."""
        if facts.canonical(qualified) in facts.FOLLOWS_ARGUMENT and node.args and not result:
            followed = self.kind_of(node.args[0])
            if followed.tag in (Tag.NDARRAY, Tag.TENSOR):
                return Kind(followed.tag, device=followed.device)
            return result
        if any(keyword.arg == "copy" for keyword in node.keywords):
            result = result.aged()
        if qualified in _MADE_OF_FIRST and node.args:
            copied = self.kind_of(node.args[0])
            return replace(copied, fresh=qualified == "copy.deepcopy") if copied else copied
        if result.tag is Tag.DEVICE and node.args:
            return replace(result, device=self.device_of(node.args[0]))
        if result.tag is Tag.LOADER:
            return replace(result, item=batches.batch_of_loader(node, self.kind_of))
        if qualified == "torch.utils.data.TensorDataset":
            held = [Kind(Tag.TENSOR) if self._is_moved(value) else self.kind_of(value) for value in node.args]
            return replace(result, item=batches.item_of_tensors(held))
        if qualified in _ITERATES and node.args:
            return replace(result, item=self._iterated(node.args[0], ()) or None)
        if qualified == "builtins.next" and node.args:
            iterator = self.kind_of(node.args[0])
            return item_of(iterator).aged() if iterator.tag is Tag.ITERATOR else result
        if qualified == batches.COLLATED and node.args:
            return batches.collated(item_of(self.kind_of(node.args[0])))
        if qualified == "torch.load":
            return batches.loaded(node, self.kind_of, self.device_of)
        if qualified in (
            "builtins.list",
            "builtins.tuple",
            "builtins.sorted",
            "builtins.set",
            "collections.deque",
        ):
            if node.args and qualified != "collections.deque":
                return replace(result, item=item_of(self.kind_of(node.args[0])) or None)
            return result
        if result.tag is Tag.TENSOR:
            if qualified == batches.FROM_NUMPY:
                return replace(result, of=qualified)
            for keyword in node.keywords:
                if keyword.arg == "device":
                    return replace(result, device=self.device_of(keyword.value))
                if keyword.arg is None:
                    return replace(result, device=Device.UNKNOWN)
            if result.device is Device.UNKNOWN and qualified not in _MOVED_WITH_ITS_MODULE:
                kinds = [self.kind_of(argument) for argument in node.args]
                kinds += [kind.item for kind in kinds if kind.tag in (Tag.LIST, Tag.TUPLE) and kind.item]
                devices = {kind.device for kind in kinds if kind.tag is Tag.TENSOR}
                if len(devices) == 1:
                    return replace(result, device=devices.pop())
            if any(keyword.arg == "pin_memory" and not _is_false(keyword.value) for keyword in node.keywords):
                return replace(result, of=batches.PINNED)
        return result

    def _is_moved(self, expression: ast.expr) -> bool:
        """Does an expression, or the variable that it is, come from a `.to(…)` or `.cuda()`?"""
        if isinstance(expression, ast.Name):
            return any(
                binding.how is How.ASSIGN
                and isinstance(binding.value, ast.Call)
                and self._is_moved(binding.value)
                for binding in self.flow.reaching(expression)
            )
        return (
            isinstance(expression, ast.Call)
            and isinstance(expression.func, ast.Attribute)
            and expression.func.attr in ("to", "cuda")
            and not self.kind_of(expression)
        )

    def _moved(self, node: ast.Call, method: str, owner: Kind) -> Kind:
        if method == "cpu":
            return replace(owner, of="", device=Device.HOST, fresh=False)
        if method == "cuda":
            return replace(owner, of="", device=Device.CUDA, fresh=False)
        targets = [keyword.value for keyword in node.keywords if keyword.arg == "device"] or node.args[:1]
        if not targets:
            return replace(owner, fresh=False)
        kind = self.kind_of(targets[0])
        if kind.tag is Tag.DTYPE:
            return replace(owner, fresh=False)
        if kind.tag is Tag.TENSOR:
            return replace(owner, of="", device=kind.device, fresh=False)
        return replace(owner, of="", device=self.device_of(targets[0]), fresh=False)

    def device_of(self, expression: ast.expr) -> Device:
        """The device that an expression names as an argument of `.to()`, `device=` or `torch.device()`."""
        if isinstance(expression, ast.Constant):
            if isinstance(expression.value, int) and not isinstance(expression.value, bool):
                return Device.CUDA
            if isinstance(expression.value, str):
                return device_named(expression.value)
            return Device.UNKNOWN
        kind = self.kind_of(expression)
        if kind.tag in (Tag.DEVICE, Tag.STR):
            return kind.device
        return Device.UNKNOWN

    # -- operators and displays ----------------------------------------------------------------

    def _constant(self, node: ast.Constant) -> Kind:
        if isinstance(node.value, str):
            return Kind(Tag.STR, device=device_named(node.value))
        tag = _CONSTANTS.get(type(node.value))
        return Kind(tag) if tag else UNKNOWN

    def _items(self, elements: list[ast.expr]) -> Kind | None:
        if not elements or len(elements) > 64:
            return None
        kind = self.kind_of(elements[0]).aged()
        for element in elements[1:]:
            kind = kind.joined(self.kind_of(element).aged())
        return kind or None

    def _list(self, node: ast.List) -> Kind:
        return Kind(Tag.LIST, item=self._items(node.elts), fresh=True)

    def _tuple(self, node: ast.Tuple) -> Kind:
        return Kind(Tag.TUPLE, item=self._items(node.elts), fresh=True)

    def _set(self, node: ast.Set) -> Kind:
        return Kind(Tag.SET, item=self._items(node.elts), fresh=True)

    def _dict(self, node: ast.Dict) -> Kind:
        return Kind(Tag.DICT, item=self._items(node.values), fresh=True)

    def _list_comp(self, node: ast.ListComp) -> Kind:
        return Kind(Tag.LIST, item=self.kind_of(node.elt).aged() or None, fresh=True)

    def _set_comp(self, node: ast.SetComp) -> Kind:
        return Kind(Tag.SET, fresh=True)

    def _dict_comp(self, node: ast.DictComp) -> Kind:
        return Kind(Tag.DICT, item=self.kind_of(node.value).aged() or None, fresh=True)

    def _generator(self, node: ast.GeneratorExp) -> Kind:
        return Kind(Tag.ITERATOR, item=self.kind_of(node.elt).aged() or None, fresh=True)

    def _text(self, node: ast.JoinedStr) -> Kind:
        match node.values:
            case [ast.Constant(value=str(head)), *_]:  # f"cuda:{rank}"
                return Kind(Tag.STR, device=device_named(head))
        return Kind(Tag.STR)

    def _binary(self, node: ast.BinOp) -> Kind:
        return _arithmetic(self.kind_of(node.left), self.kind_of(node.right), node.op)

    def _unary(self, node: ast.UnaryOp) -> Kind:
        if isinstance(node.op, ast.Not):
            return Kind(Tag.BOOL)
        kind = self.kind_of(node.operand)
        if kind.tag in (Tag.TENSOR, Tag.NDARRAY):
            return Kind(kind.tag, device=kind.device, fresh=True)
        return kind if kind.tag in _NUMBERS else UNKNOWN

    def _compare(self, node: ast.Compare) -> Kind:
        if len(node.ops) == 1:
            if isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
                return Kind(Tag.BOOL)
            sides = [self.kind_of(node.left), self.kind_of(node.comparators[0])]
            for tag in (Tag.TENSOR, Tag.NDARRAY):
                for side in sides:
                    if side.tag is tag:
                        return Kind(tag, device=side.device, fresh=True)
            if all(side.tag in (*_NUMBERS, Tag.STR) for side in sides):
                return Kind(Tag.BOOL)
        return UNKNOWN

    def _conditional(self, node: ast.IfExp) -> Kind:
        return self.kind_of(node.body).joined(self.kind_of(node.orelse))

    def _choice(self, node: ast.BoolOp) -> Kind:
        kind = self.kind_of(node.values[0])
        for value in node.values[1:]:
            kind = kind.joined(self.kind_of(value))
        return kind

    def _walrus(self, node: ast.NamedExpr) -> Kind:
        return self.kind_of(node.value).aged()

    def _subscript(self, node: ast.Subscript) -> Kind:
        return indexed(self.kind_of(node.value), self._index_step(node.slice))

    def _index_step(self, index: ast.expr) -> str:
        """How an index selects, as a step of an access path: one item, a part, or nobody knows."""
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        if any(isinstance(part, (ast.Slice, ast.List, ast.ListComp)) for part in parts):
            return "[:]"
        kinds = [self.kind_of(part) for part in parts]
        if any(kind.tag in (Tag.NDARRAY, Tag.LIST, Tag.TENSOR) for kind in kinds):
            return "[:]"
        return "[]" if all(kind.tag in (Tag.INT, Tag.STR, Tag.BOOL) for kind in kinds) else "[?]"

    _HANDLERS: dict[type[ast.AST], Callable[..., Kind]] = {
        ast.Name: _name, ast.Attribute: _attribute, ast.Call: _call, ast.Constant: _constant, ast.List: _list,
        ast.Tuple: _tuple, ast.Set: _set, ast.Dict: _dict, ast.ListComp: _list_comp, ast.SetComp: _set_comp,
        ast.DictComp: _dict_comp, ast.GeneratorExp: _generator, ast.JoinedStr: _text, ast.BinOp: _binary,
        ast.UnaryOp: _unary, ast.Compare: _compare, ast.IfExp: _conditional, ast.BoolOp: _choice,
        ast.NamedExpr: _walrus, ast.Subscript: _subscript,
    }  # fmt: skip


def argument_count(call: ast.Call) -> int | None:
    """How many arguments a call has; None where stars hide it."""
    if any(isinstance(value, ast.Starred) for value in call.args):
        return None
    if any(keyword.arg is None for keyword in call.keywords):
        return None
    return len(call.args) + len(call.keywords)


def item_of(kind: Kind) -> Kind:
    """The kind of what a value of this kind gives when it is iterated over (or indexed by one number)."""
    if kind.tag is Tag.LOADER:
        return kind.item or batches.BATCH_ON_HOST
    if kind.tag is Tag.BATCH:
        return batches.part_of(kind)
    if kind.tag is Tag.TENSOR:
        return Kind(Tag.TENSOR, of=kind.of, device=kind.device)
    if kind.tag in (Tag.PARAMETERS, Tag.STATE_DICT):
        return Kind(Tag.TENSOR)
    if kind.tag is Tag.RANGE:
        return Kind(Tag.INT)
    if kind.tag is Tag.STR:
        return Kind(Tag.STR)
    if kind.item is not None:
        return kind.item
    return Kind(of=f"{kind.of}[]") if not kind and kind.of else UNKNOWN


def refines(found: Kind, promised: Kind) -> bool:
    """Does what was found say the same as an annotation, and perhaps more?"""
    if found.tag is not promised.tag or found.optional is not promised.optional:
        return False
    if promised.item is None:
        return True
    return found.item is not None and refines(found.item, promised.item)


def indexed(owner: Kind, step: str) -> Kind:
    """The kind of `owner[index]`; `step` is "[]" for one item, "[:]" for a part, "[?]" where unknown."""
    if owner.tag in (Tag.STR, Tag.BYTES):
        return Kind(owner.tag) if owner.tag is Tag.STR or step == "[:]" else UNKNOWN
    if owner.tag is Tag.TENSOR:
        return Kind(Tag.TENSOR, device=owner.device)
    if owner.tag is Tag.BATCH:
        return batches.part_of(owner)
    if owner.tag in (Tag.DICT, Tag.STATE_DICT):
        return item_of(owner)
    if step == "[:]":
        if owner.tag in (Tag.LIST, Tag.TUPLE):
            return replace(owner, fresh=True)
        return Kind(Tag.NDARRAY) if owner.tag is Tag.NDARRAY else _deferred(owner, step)
    if owner.tag in (Tag.LIST, Tag.TUPLE, Tag.DEQUE, Tag.ITERATOR, Tag.LOADER, Tag.PARAMETERS):
        return item_of(owner)
    return _deferred(owner, step)


def _gives_tensors(call: ast.Call) -> bool:
    """Is a tokenizer asked for torch's tensors (`return_tensors="pt"`)?"""
    return any(
        keyword.arg == "return_tensors"
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value == "pt"
        for keyword in call.keywords
    )


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is False


def _deferred(owner: Kind, step: str) -> Kind:
    return Kind(of=f"{owner.of}{step}") if not owner and owner.of else UNKNOWN


def _along(kind: Kind, path: tuple[int, ...]) -> Kind:
    for _ in path:
        kind = item_of(kind)
    return kind


def _arithmetic(left: Kind, right: Kind, operator: ast.operator) -> Kind:
    for tag in (Tag.TENSOR, Tag.NDARRAY):
        if left.tag is tag or right.tag is tag:
            devices = {side.device for side in (left, right) if side.tag is tag}
            return Kind(tag, device=devices.pop() if len(devices) == 1 else Device.UNKNOWN, fresh=True)
    if left.tag is Tag.STR and isinstance(operator, (ast.Add, ast.Mod)):
        return Kind(Tag.STR)
    if left.tag in _NUMBERS and right.tag in _NUMBERS:
        if isinstance(operator, ast.Div) or Tag.FLOAT in (left.tag, right.tag):
            return Kind(Tag.FLOAT)
        return Kind(Tag.INT) if not isinstance(operator, ast.Pow) else UNKNOWN
    if left.tag is right.tag and left.tag in (Tag.LIST, Tag.TUPLE) and isinstance(operator, ast.Add):
        return replace(left.joined(right), fresh=True)
    if left.tag is Tag.LIST and isinstance(operator, ast.Mult):
        return replace(left, fresh=True)
    if left.tag is Tag.PATH and isinstance(operator, ast.Div):
        return left
    return UNKNOWN


def device_named(name: str) -> Device:
    """The device that a string such as "cuda:0" names."""
    head = name.partition(":")[0]
    if head == "cpu":
        return Device.HOST
    if head == "cuda":
        return Device.CUDA
    return Device.OTHER if head in ("mps", "xpu", "meta", "xla", "hpu", "npu") else Device.UNKNOWN


_TORCH_DTYPES = frozenset(
    "float32 float64 float16 bfloat16 float double half int8 int16 int32 int64 int long short uint8 bool complex64 "
    "complex128".split()
)


def _library_value(qualified: str) -> Kind:
    if qualified.startswith("torch.") and qualified[6:] in _TORCH_DTYPES:
        return Kind(Tag.DTYPE, of=qualified)
    if qualified.startswith("numpy.") and qualified[6:].rstrip("0123456789_") in (
        "float",
        "int",
        "uint",
        "bool",
    ):
        return Kind(Tag.CLASS, of=qualified)
    if qualified in ("math.pi", "math.e", "math.inf", "numpy.pi", "numpy.e", "numpy.inf", "numpy.nan"):
        return Kind(Tag.FLOAT)
    if qualified in ("torch.pi", "torch.inf", "math.nan"):
        return Kind(Tag.FLOAT)
    return UNKNOWN


def is_staticmethod(function: ast.AST) -> bool:
    """Decorated with `@staticmethod`?"""
    return _decorated(function, "staticmethod")


def is_classmethod(function: ast.AST) -> bool:
    """Decorated with `@classmethod`?"""
    return _decorated(function, "classmethod")


def is_property(function: ast.AST) -> bool:
    """Decorated with `@property` or `@cached_property`?"""
    return _decorated(function, "property") or _decorated(function, "cached_property")


def _decorated(function: ast.AST, name: str) -> bool:
    return any(
        (isinstance(decorator, ast.Name) and decorator.id == name)
        or (isinstance(decorator, ast.Attribute) and decorator.attr == name)
        for decorator in getattr(function, "decorator_list", ())
    )
