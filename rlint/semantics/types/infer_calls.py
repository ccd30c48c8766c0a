"""The kinds of attributes and of what calls return."""

from __future__ import annotations

import ast
from typing import ClassVar

from rlint import models
from rlint.models.trait import Trait
from rlint.models.value_type import UNKNOWN, Device, Type, TypeTag, deferred
from rlint.semantics.types import batches, networks
from rlint.semantics.types.algebra import device_named, each_of, item_of, known_item, library_value
from rlint.semantics.types.dtype_inference import DtypeInference
from rlint.semantics.types.infer_base import ITERATES, Handlers
from rlint.semantics.types.random_draws import drawn
from rlint.syntax.queries import argument_count, is_constant
from rlint.syntax.scopes import BindingKind

_MADE_OF_FIRST = frozenset({"copy.copy", "copy.deepcopy"})
_WRAPS = models.having(Trait.WRAPS, "torch", "torch.jit")
_HOLDS_EACH = frozenset({"builtins.list", "builtins.tuple", "builtins.sorted", "builtins.set"})
_MADE_OF_ARGUMENTS = (
    _MADE_OF_FIRST
    | _HOLDS_EACH
    | ITERATES
    | {"builtins.dict", "builtins.next", "torch.load", "torch.utils.data.TensorDataset", batches.COLLATED}
    | _WRAPS
)
_WITH_DEVICES = frozenset({TypeTag.DEVICE, TypeTag.LOADER, TypeTag.MODULE, TypeTag.TENSOR})
_MOVED_WITH_ITS_MODULE = frozenset({"torch.nn.Parameter", "torch.nn.Buffer"})
_OF_CLASSES = frozenset(
    TypeTag[name]
    for name in "INSTANCE MODULE ENVIRONMENT DATASET REPLAY_BUFFER THREAD PROCESS OPTIMIZER".split()
)
"""Values that may be instances of classes of the project."""


class CallInference(DtypeInference):
    """What calls and attributes give, by the tables of facts and by the project."""

    def _of_attribute(self, node: ast.Attribute) -> Type:
        qualified = self.names.qualified(node)
        if qualified is not None:
            return library_value(qualified) or deferred(qualified)
        owner = self.type_of(node.value)
        if owner.tag is TypeTag.MODULE and node.attr == "module":
            inner = networks.wrapped(owner)
            if inner is not None:
                return inner
        if owner.tag in _OF_CLASSES and owner.of:
            path = f"{owner.of}().{node.attr}"
            return self.found_at(path) or models.attribute_kind(owner.tag, node.attr) or deferred(path)
        if owner.tag is TypeTag.BATCH:
            return batches.attribute_of(owner, node.attr)
        if owner.tag is not TypeTag.UNKNOWN:
            kind = models.attribute_kind(owner.tag, node.attr)
            kind = self.same_elements(owner, node.attr, kind)
            if kind.tag is TypeTag.TENSOR and owner.tag is TypeTag.TENSOR and kind.device is Device.UNKNOWN:
                return batches.kept(owner, kind)
            if kind.tag is TypeTag.DEVICE and owner.tag is TypeTag.TENSOR:
                return kind._replace(device=owner.device)
            return kind
        return deferred(f"{owner.of}.{node.attr}") if owner.of else UNKNOWN

    def _of_call(self, node: ast.Call) -> Type:
        found = self._result_of_call(node)
        if found.fresh and any(
            keyword.arg == "out" and not is_constant(keyword.value, None) for keyword in node.keywords
        ):
            return found._replace(fresh=False)  # it is what the argument holds
        return found

    def _result_of_call(self, node: ast.Call) -> Type:
        qualified = self.names.qualified(node.func)
        if qualified is not None:
            known = models.callable_fact(qualified, argument_count(node))
            if known is not None:
                if known.result.tag is TypeTag.UNKNOWN and qualified.startswith("numpy.random."):
                    return drawn(node, qualified.rpartition(".")[2], self.type_of)
                return self.with_elements(node, qualified, self._made(node, qualified, known.result))
            return deferred(f"{qualified}()")
        if isinstance(node.func, ast.Attribute):
            result = self._method_result(node, node.func)
            if result.tag in (TypeTag.TENSOR, TypeTag.NDARRAY):
                return self.with_elements_of(node, node.func.attr, self.type_of(node.func.value), result)
            return result
        callee = self.type_of(node.func)
        if callee.tag is TypeTag.TOKENIZER:
            return batches.BATCH_ON_HOST if _gives_tensors(node) else UNKNOWN
        if callee.tag is TypeTag.MODULE:
            return self._called_module(callee)
        if callee.tag in (TypeTag.CLASS, TypeTag.FUNCTION) and callee.of:
            return deferred(f"{callee.of}()")
        return deferred(f"{callee.of}()") if not callee and callee.of else UNKNOWN

    def _called_module(self, module: Type) -> Type:
        inner = networks.wrapped(module)
        if inner is not None:
            return self._called_module(inner) if inner else deferred(f"{inner.of}()")
        if networks.is_of_library(module):
            return networks.result_of_library(module)
        return deferred(f"{module.of}().forward()") if module.of else UNKNOWN

    def _method_result(self, node: ast.Call, func: ast.Attribute) -> Type:
        owner = self.type_of(func.value)
        if owner.tag is TypeTag.PYTHON_MODULE:  # a value that offers what a module offers
            known = models.callable_fact(f"{owner.of}.{func.attr}")
            return self._made(node, f"{owner.of}.{func.attr}", known.result) if known else UNKNOWN
        if owner.tag in (TypeTag.TENSOR, TypeTag.BATCH) and func.attr in ("to", "cuda", "cpu"):
            return self._moved(node, func.attr, owner)
        if owner.tag is TypeTag.BATCH:
            return batches.method_result(owner, func.attr, argument_count(node))
        if owner.tag is TypeTag.TENSOR and func.attr == "pin_memory":
            return owner._replace(of=batches.PINNED, fresh=True)
        if owner.tag is TypeTag.TOKENIZER and _gives_tensors(node):
            encoded = Type(TypeTag.TENSOR, device=Device.HOST, fresh=True)
            return encoded if func.attr == "encode" else batches.BATCH_ON_HOST
        if owner.of and owner.tag in _OF_CLASSES:
            attribute = self.found_at(f"{owner.of}().{func.attr}")
            if attribute.tag is TypeTag.MODULE:
                return self._called_module(attribute)
            found = self.found_at(f"{owner.of}().{func.attr}()")
            if found:
                return found
        if owner.tag is not TypeTag.UNKNOWN:
            known = models.method_fact(owner.tag, func.attr, argument_count(node))
            if known is None:
                return deferred(f"{owner.of}().{func.attr}()") if owner.of else UNKNOWN
            if owner.tag is TypeTag.MODULE and known.result.tag is TypeTag.MODULE:
                return owner
            if owner.tag is TypeTag.RANDOM_GENERATOR and not known.result:
                return drawn(node, func.attr, self.type_of)
            if (
                known.result.tag is TypeTag.TENSOR
                and owner.tag is TypeTag.TENSOR
                and known.result.device is Device.UNKNOWN
            ):
                return batches.kept(owner, known.result)
            return known.result
        if owner.of:
            return deferred(f"{owner.of}.{func.attr}()")
        known = models.method_on_unknown(func.attr, len(node.args) + len(node.keywords))
        return known.result if known else UNKNOWN

    def _made(self, node: ast.Call, qualified: str, result: Type) -> Type:
        """The result of a library call, with what its arguments choose."""
        if (
            node.args
            and result.tag is TypeTag.UNKNOWN
            and models.canonical(qualified) in models.FOLLOWS_ARGUMENT
        ):
            followed = self.type_of(node.args[0])
            if followed.tag in (TypeTag.NDARRAY, TypeTag.TENSOR):
                return Type(followed.tag, device=followed.device)
            return result
        if node.keywords and any(keyword.arg == "copy" for keyword in node.keywords):
            result = result.aged()
        if qualified not in _MADE_OF_ARGUMENTS and result.tag not in _WITH_DEVICES:
            return result
        if qualified in _MADE_OF_FIRST and node.args:
            copied = self.type_of(node.args[0])
            return copied._replace(fresh=qualified == "copy.deepcopy") if copied else copied
        if result.tag is TypeTag.DEVICE and node.args:
            return result._replace(device=self.device_of(node.args[0]))
        if result.tag is TypeTag.MODULE:
            return networks.holding(node, result, self.type_of)
        if qualified in _WRAPS and node.args:
            return self.type_of(node.args[0]).aged()
        if result.tag is TypeTag.LOADER:
            return result._replace(item=batches.batch_of_loader(node, self.type_of))
        if qualified == "torch.utils.data.TensorDataset":
            held = [
                Type(TypeTag.TENSOR) if self._is_moved(value) else self.type_of(value) for value in node.args
            ]
            return result._replace(item=batches.item_of_tensors(held))
        if qualified in ITERATES and node.args:
            return result._replace(item=self.iterated(node.args[0], ()) or None)
        if qualified == "builtins.next" and node.args:
            iterator = self.type_of(node.args[0])
            known = iterator.tag in (TypeTag.ITERATOR, TypeTag.PARAMETERS)
            return item_of(iterator).aged() if known else result
        if qualified == batches.COLLATED and node.args:
            return batches.collated(item_of(self.type_of(node.args[0])))
        if qualified == "torch.load":
            return batches.loaded(node, self.type_of, self.device_of)
        if qualified == "builtins.dict":
            return self._dict_of(node, result)
        if qualified in _HOLDS_EACH:
            return result._replace(item=each_of(self.type_of(node.args[0])) or None) if node.args else result
        if result.tag is TypeTag.TENSOR:
            if qualified == batches.FROM_NUMPY:
                return result._replace(of=qualified)
            for keyword in node.keywords:
                if keyword.arg == "device":
                    return result._replace(device=self.device_of(keyword.value))
                if keyword.arg is None:
                    return result._replace(device=Device.UNKNOWN)
            if result.device is Device.UNKNOWN and qualified not in _MOVED_WITH_ITS_MODULE:
                types = [self.type_of(argument) for argument in node.args]
                types += [
                    kind.item for kind in types if kind.tag in (TypeTag.LIST, TypeTag.TUPLE) and kind.item
                ]
                devices = {kind.device for kind in types if kind.tag is TypeTag.TENSOR}
                if len(devices) == 1:
                    return result._replace(device=devices.pop())
            for keyword in node.keywords:
                if keyword.arg == "pin_memory" and not is_constant(keyword.value, value=False):
                    return result._replace(of=batches.PINNED)
        return result

    def _dict_of(self, node: ast.Call, result: Type) -> Type:
        """`dict(obs=obs, done=done)`, `dict(other)`"""
        if node.args:
            given = self.type_of(node.args[0])
            known = len(node.args) == 1 and not node.keywords and given.tag is TypeTag.DICT
            return given._replace(fresh=True, optional=False) if known else result
        named = [keyword.arg for keyword in node.keywords]
        keys = tuple([name for name in named if name is not None])
        parts = tuple([self.type_of(keyword.value).aged() for keyword in node.keywords])
        if not parts or len(keys) < len(parts):
            return result
        item = parts[0]
        for part in parts[1:]:
            item = item.joined(part)
        return result._replace(item=known_item(item), keys=keys, parts=parts)

    def _is_moved(self, expression: ast.expr) -> bool:
        """Does an expression, or the variable that it is, come from a `.to(…)` or `.cuda()`?"""
        if isinstance(expression, ast.Name):
            return any(
                binding.kind is BindingKind.ASSIGN
                and isinstance(binding.value, ast.Call)
                and self._is_moved(binding.value)
                for binding in self.definitions.reaching(expression)
            )
        return (
            isinstance(expression, ast.Call)
            and isinstance(expression.func, ast.Attribute)
            and expression.func.attr in ("to", "cuda")
            and not self.type_of(expression)
        )

    def _moved(self, node: ast.Call, method: str, owner: Type) -> Type:
        if method == "cpu":
            return owner._replace(of="", device=Device.HOST, fresh=False)
        if method == "cuda":
            return owner._replace(of="", device=Device.CUDA, fresh=False)
        targets = [keyword.value for keyword in node.keywords if keyword.arg == "device"] or node.args[:1]
        if not targets:
            return owner._replace(fresh=False)
        kind = self.type_of(targets[0])
        if kind.tag is TypeTag.DTYPE:
            return owner._replace(fresh=False)
        if kind.tag is TypeTag.TENSOR:
            return owner._replace(of="", device=kind.device, fresh=False)
        return owner._replace(of="", device=self.device_of(targets[0]), fresh=False)

    def device_of(self, expression: ast.expr) -> Device:
        """The device that an expression names as an argument of `.to()`, `device=` or `torch.device()`."""
        if isinstance(expression, ast.Constant):
            if isinstance(expression.value, int) and not isinstance(expression.value, bool):
                return Device.CUDA
            if isinstance(expression.value, str):
                return device_named(expression.value)
            return Device.UNKNOWN
        kind = self.type_of(expression)
        if kind.tag in (TypeTag.DEVICE, TypeTag.STR):
            return kind.device
        return Device.UNKNOWN

    HANDLERS: ClassVar[Handlers] = {ast.Attribute: _of_attribute, ast.Call: _of_call}


def _gives_tensors(call: ast.Call) -> bool:
    """Is a tokenizer asked for torch's tensors (`return_tensors="pt"`)?"""
    return any(
        keyword.arg == "return_tensors"
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value == "pt"
        for keyword in call.keywords
    )
