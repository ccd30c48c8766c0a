"""Result types of library functions that depend on their arguments."""

from __future__ import annotations

import ast
from functools import reduce

from rlint import models
from rlint.models import element_types
from rlint.models.trait import Trait
from rlint.models.value_type import PLAIN, UNKNOWN, Choice, Device, Type, TypeTag, deferred, with_choice
from rlint.semantics.types import batches
from rlint.semantics.types.algebra import (
    NUMBERS,
    OPTIONS,
    at_key,
    device_named,
    each_of,
    item_of,
    known_item,
    transposed,
)
from rlint.semantics.types.annotations import annotation_kind
from rlint.semantics.types.container_insertions import in_doubt
from rlint.semantics.types.dtype_inference import DtypeInference
from rlint.semantics.types.infer_base import ITERATES
from rlint.semantics.types.results import named_tuples, networks
from rlint.semantics.types.results.moved_items import moves_batches, moves_items
from rlint.semantics.types.results.several_tensors import SEVERAL, several_tensors
from rlint.syntax.last_names import last_name
from rlint.syntax.queries import is_constant
from rlint.syntax.scopes import BindingKind

_WRAPS = models.having(Trait.WRAPS, "torch", "torch.jit")
_PICKS = models.having(Trait.PICKS, "random")
_COPIES = models.having(Trait.COPIES, "copy")
_ELEMENTWISE = models.having(Trait.ELEMENTWISE, "numpy")
_PAIRWISE = models.having(Trait.PAIRWISE, "numpy")
_BOTH_METHODS = models.having(Trait.INDICES_SECOND, TypeTag.TENSOR)
_NUMBERS_OF = {
    **dict.fromkeys(element_types.FLOATS, PLAIN[TypeTag.FLOAT]),
    **dict.fromkeys(element_types.WHOLE, PLAIN[TypeTag.INT]),
    "bool": PLAIN[TypeTag.BOOL],
}
"""Result types of `item` on a tensor of such elements."""
_LIKELY_TENSOR = with_choice(UNKNOWN, Choice(Type(TypeTag.TENSOR)))
_DIMENSIONS = frozenset({"dim", "axis", "d", "size"})
_BOTH = models.having(Trait.INDICES_SECOND, "torch")
_MOVED_WITH_ITS_MODULE = frozenset({"torch.nn.Parameter", "torch.nn.Buffer"})
_PLAIN_BASES = frozenset({"abc.ABC", "builtins.object"})
_DEPTH = 4
_FROM_DATA = models.having(Trait.FROM_DATA, "torch")
_OF_HOST = frozenset({*NUMBERS, TypeTag.NUMPY_SCALAR, TypeTag.NDARRAY, TypeTag.LIST, TypeTag.TUPLE})
"""Types from whose values a torch function creates a tensor on the host."""
_NUMBER_LIKE = frozenset({*NUMBERS, TypeTag.NUMPY_SCALAR})
_CALLED = frozenset({TypeTag.FUNCTION, TypeTag.CLASS, TypeTag.UNKNOWN})
_ARRAYS = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR})


class ResultInference(DtypeInference):
    """Infers the results of library calls for their arguments."""

    def called(self, function: ast.expr) -> Type:
        """Return the type of calling a function or class, whatever its arguments."""
        if isinstance(function, ast.Lambda):
            return self.type_of(function.body).aged()
        qualified = self.names.qualified(function)
        if qualified is not None:
            known = models.callable_fact(qualified)
            return known.result if known is not None else self.resolved(deferred(f"{qualified}()"))
        kind = self.type_of(function)
        return self.resolved(deferred(f"{kind.of}()")) if kind.of and kind.tag in _CALLED else UNKNOWN

    def made(self, node: ast.Call, qualified: str, result: Type) -> Type:
        """Return the result of a library call, with what its arguments determine."""
        if node.keywords and any(keyword.arg == "copy" for keyword in node.keywords):
            result = result.aged()
        match result.tag:
            case TypeTag.TENSOR:
                return self._tensor(node, qualified, result)
            case TypeTag.DEVICE:
                return result._replace(device=self.device_of(node.args[0])) if node.args else result
            case TypeTag.DISTRIBUTION:
                return result._replace(device=self._common_device(node))
            case TypeTag.MODULE:
                return networks.holding(node, result, self.type_of)
            case TypeTag.LOADER:
                return result._replace(item=self._batch_of_loader(node))
        match qualified:
            case "torch.utils.data.TensorDataset":
                held = [
                    Type(TypeTag.TENSOR)
                    if self._is_moved(value)
                    else item_of(self.type_of(value.value))
                    if isinstance(value, ast.Starred)
                    else self.type_of(value)
                    for value in node.args
                ]
                return result._replace(item=batches.item_of_tensors(held))
            case named_tuples.NAMED_TUPLE:
                return named_tuples.class_made(node, result)
            case "torch.load":
                return batches.loaded(node, self.type_of, self.device_of)
            case "argparse.ArgumentParser":
                return result._replace(item=Type(TypeTag.INSTANCE, of=f"{self.names.module}.{OPTIONS}"))
            case batches.COLLATED if node.args:
                return batches.collated(item_of(self.type_of(node.args[0])))
            case "builtins.dict":
                return self._dict_of(node, result)
            case "collections.defaultdict" if len(node.args) == 1 and not node.keywords:
                # code may store other values, also through parts of the dict and their aliases
                return in_doubt(result._replace(item=known_item(self.called(node.args[0]).aged())))
            case "builtins.zip":
                return self._zipped(node, result)
        if not node.args or isinstance(node.args[0], ast.Starred):
            return result
        if qualified.startswith("numpy."):
            return self._of_numpy(node, models.canonical(qualified), result)
        if qualified.startswith("torch."):
            if qualified.removeprefix("torch.") in SEVERAL:
                return several_tensors(node, qualified, self.type_of(node.args[0])) or result
            if models.canonical(qualified) in _BOTH:
                if self._is_smaller_of_two(node):
                    return _LIKELY_TENSOR
                return self.reduced(self.type_of(node.args[0]), node.args[1:], node, result)
            if qualified in _WRAPS:
                return self.type_of(node.args[0]).aged()
            return result
        if qualified in ITERATES:
            return result._replace(item=known_item(self.iterated(node.args[0], ())))
        return self._of_first(node, qualified, result)

    def _of_first(self, node: ast.Call, qualified: str, result: Type) -> Type:
        """Return the result of a function that returns its first argument, or parts of it."""
        first = self.type_of(node.args[0])
        if qualified in _COPIES:
            return first._replace(fresh=qualified == "copy.deepcopy") if first else first
        if qualified in _PICKS:
            each = each_of(first)
            return result._replace(item=known_item(each)) if result.tag is TypeTag.LIST else each.aged()
        match qualified:
            case "builtins.next":
                known = first.tag in (TypeTag.ITERATOR, TypeTag.PARAMETERS)
                return item_of(first).aged() if known else result
            case "builtins.list" | "builtins.tuple" | "builtins.sorted" | "builtins.set":
                keeps = qualified in ("builtins.list", "builtins.tuple")
                parts = first.parts if keeps and first.tag is not TypeTag.DICT else ()
                return result._replace(item=known_item(each_of(first)), parts=parts)
            case "builtins.enumerate":
                return result._replace(item=_tuple(PLAIN[TypeTag.INT], each_of(first)))
            case "builtins.filter" if len(node.args) == 2:
                return result._replace(item=known_item(each_of(self.type_of(node.args[1]))))
            case "builtins.map" if len(node.args) > 1:
                given = self.called(node.args[0]).aged()
                parts = self.type_of(node.args[1]).parts if len(node.args) == 2 else ()
                return result._replace(item=known_item(given), parts=(given,) * len(parts))
            case "dataclasses.replace" if first.tag is TypeTag.INSTANCE:
                return first._replace(fresh=True)
            case "einops.rearrange" | "einops.reduce" | "einops.repeat" if first.tag in _ARRAYS:
                return Type(first.tag, device=first.device, dtype=first.dtype)
            case "builtins.max" | "builtins.min":
                return self._largest(node) or result
            case "builtins.sum":
                start = [self.type_of(argument) for argument in node.args[1:2]]
                return reduce(_sum_of, [each_of(first), *start, PLAIN[TypeTag.INT]]) or result
            case "builtins.abs":
                return (
                    first._replace(fresh=True)
                    if first.tag in (*_ARRAYS, TypeTag.INT, TypeTag.FLOAT)
                    else result
                )
            case "builtins.round":
                if first.tag in (TypeTag.INT, TypeTag.FLOAT):
                    return PLAIN[TypeTag.INT] if len(node.args) == 1 else PLAIN[first.tag]
            case "typing.cast" if len(node.args) == 2:
                return annotation_kind(node.args[0], self.names) or self.type_of(node.args[1])
            case "functools.partial" if len(node.args) == 1:
                path = self.names.qualified(node.args[0]) or (first.of if first.tag in _CALLED else "")
                return result._replace(of=path or "")
        return result

    def _of_numpy(self, node: ast.Call, qualified: str, result: Type) -> Type:
        """Return the result of a function of numpy, which is an array for an array and a scalar for a
        number.
        """
        if result.tag is not TypeTag.UNKNOWN:
            return result
        first = self.type_of(node.args[0])
        if qualified in models.FOLLOWS_ARGUMENT:
            if first.tag in _ARRAYS:
                return Type(first.tag, device=first.device)
            if qualified in _ELEMENTWISE and first.tag in _NUMBER_LIKE:
                return Type(TypeTag.NUMPY_SCALAR)
        if qualified in _PAIRWISE and len(node.args) > 1:
            sides = [first, self.type_of(node.args[1])]
            if all(side.tag in _NUMBER_LIKE for side in sides):
                return Type(TypeTag.NUMPY_SCALAR)
            if all(side.tag in _NUMBER_LIKE or side.tag is TypeTag.NDARRAY for side in sides):
                return Type(TypeTag.NDARRAY, fresh=True)
        return result

    def reduced(self, owner: Type, arguments: list[ast.expr], node: ast.Call, result: Type) -> Type:
        """Return the type of `max`, `min` and similar functions of a tensor: values and indices with a
        dimension; one tensor with another tensor.
        """
        if owner.tag is not TypeTag.TENSOR or owner.optional or result:
            return result
        other = self.type_of(arguments[0]) if arguments else UNKNOWN
        values = Type(TypeTag.TENSOR, device=owner.device, dtype=owner.dtype, fresh=True)
        if other.tag is TypeTag.TENSOR:
            return (
                values
                if other.device is owner.device and other.dtype == owner.dtype
                else Type(TypeTag.TENSOR)
            )
        named = any(keyword.arg in ("dim", "axis") for keyword in node.keywords)
        if other.tag is TypeTag.INT or (named and not arguments):
            return _tuple(values, values._replace(dtype="int64"))
        return result

    def _is_smaller_of_two(self, node: ast.Call) -> bool:
        """Whether a call likely is `torch.min(first, second)` of two tensors, of which at least one is of
        unknown type. The second argument may also be a dimension, but that usually is a literal.
        """
        match node:
            case ast.Call(args=[first, ast.Name() | ast.Attribute() | ast.Call() as second], keywords=[]):
                pass
            case _:
                return False
        kinds = (self.type_of(first), self.type_of(second))
        if all(kinds) or any(kind and kind.tag is not TypeTag.TENSOR for kind in kinds):
            return False
        return (last_name(second) or "").lower() not in _DIMENSIONS

    def by_owner(self, node: ast.Call, method: str, owner: Type, result: Type) -> Type:
        """Return the result of a method that returns an item of its object, or a value computed from it."""
        match owner.tag, method:
            case TypeTag.DICT | TypeTag.MODULE, "values" if owner.item is not None:
                return Type(TypeTag.ITERATOR, item=owner.item)
            case TypeTag.DICT | TypeTag.MODULE, "items" if owner.item is not None:
                return Type(TypeTag.ITERATOR, item=Type(TypeTag.TUPLE, parts=(UNKNOWN, owner.item)))
            case TypeTag.DICT, "get" | "pop" | "setdefault" if node.args:
                return self._taken(node, method, owner)
            case TypeTag.LIST | TypeTag.DEQUE, "pop" | "popleft":
                return item_of(owner)
            case ((TypeTag.LIST | TypeTag.DICT | TypeTag.DEQUE), "copy"):
                return owner._replace(fresh=True, optional=False)
            case TypeTag.TENSOR, "item":
                return _NUMBERS_OF.get(owner.dtype, result)
            case TypeTag.TENSOR, _ if method in SEVERAL:
                return several_tensors(node, method, owner) or result
            case TypeTag.TENSOR, "all" | "any":
                return result or Type(TypeTag.TENSOR, device=owner.device, dtype="bool", fresh=True)
            case TypeTag.TENSOR, _ if method in _BOTH_METHODS:
                return self.reduced(owner, node.args, node, result)
        return result

    def _taken(self, node: ast.Call, method: str, owner: Type) -> Type:
        """Return the type of a dict entry: `batch.get("mask")`, `options.pop("lr", 0.1)`."""
        match node.args[0]:
            case ast.Constant(value=str(key)):
                held, is_there = at_key(owner, key), key in owner.keys
            case _:
                held, is_there = item_of(owner), False
        if len(node.args) > 1:
            return held.joined(self.type_of(node.args[1]).aged())
        return held if method == "pop" or is_there or not held else held._replace(optional=True)

    def _largest(self, node: ast.Call) -> Type:
        """Return the type of `max` and `min` of numbers."""
        types = [self.type_of(argument) for argument in node.args]
        if len(types) == 1:
            types = [each_of(types[0])]
        types += [self.type_of(keyword.value) for keyword in node.keywords if keyword.arg == "default"]
        tags = {kind.tag for kind in types}
        if tags == {TypeTag.TENSOR}:
            return reduce(Type.joined, types).aged()
        if any(kind.optional for kind in types) or not tags <= {TypeTag.INT, TypeTag.FLOAT}:
            return UNKNOWN
        return PLAIN[TypeTag.INT if tags == {TypeTag.INT} else TypeTag.FLOAT]

    def _zipped(self, node: ast.Call, result: Type) -> Type:
        """Return the type of `zip(rows, places)`, `zip(*batch)`."""
        match node.args:
            case [ast.Starred(value=rows)]:
                return transposed(each_of(self.type_of(rows)), result)
            case [_, *_] if not any(isinstance(argument, ast.Starred) for argument in node.args):
                each = [each_of(self.type_of(argument)).aged() for argument in node.args]
                return result._replace(item=_tuple(*each))
        return result

    def _tensor(self, node: ast.Call, qualified: str, result: Type) -> Type:
        """Return the type, with its device, of a tensor that a torch function creates."""
        if qualified == batches.FROM_NUMPY:
            return result._replace(of=qualified)
        for keyword in node.keywords:
            if keyword.arg == "device":
                return result._replace(device=self.device_of(keyword.value))
            if keyword.arg is None:
                return result._replace(device=Device.UNKNOWN)
        if result.device is Device.HOST and qualified in _FROM_DATA and node.args:
            data = self.type_of(node.args[0])
            if data.tag is TypeTag.TENSOR:
                return result._replace(device=data.device)  # the copy of a tensor is on its device
        if result.device is Device.UNKNOWN and (
            qualified not in _MOVED_WITH_ITS_MODULE or self._is_without_module(node)
        ):
            types = [self.type_of(argument) for argument in node.args]
            if qualified in _FROM_DATA and types and types[0].tag in _OF_HOST:
                return result._replace(device=Device.HOST)
            if qualified in _FROM_DATA and types and not types[0] and self._is_of_numpy(node.args[0], _DEPTH):
                return result._replace(device=Device.HOST)
            if qualified == "torch.normal":
                types += [self.type_of(keyword.value) for keyword in node.keywords]
                if any(keyword.arg == "size" for keyword in node.keywords):
                    return result._replace(device=Device.HOST)
            types += [kind.item for kind in types if kind.tag in (TypeTag.LIST, TypeTag.TUPLE) and kind.item]
            devices = {kind.device for kind in types if kind.tag is TypeTag.TENSOR}
            if len(devices) == 1:
                return result._replace(device=devices.pop())
        for keyword in node.keywords:
            if keyword.arg == "pin_memory" and not is_constant(keyword.value, value=False):
                return result._replace(of=batches.PINNED)
        return result

    def _is_of_numpy(self, data: ast.expr, depth: int) -> bool:
        """Whether NumPy computes a value of unknown type, which then is in host memory: its functions refuse
        tensors on a device.
        """
        match data:
            case ast.BinOp(left=left, right=right):
                return self._is_of_numpy(left, depth) or self._is_of_numpy(right, depth)
            case ast.UnaryOp(operand=inner) | ast.Subscript(value=inner):
                return self._is_of_numpy(inner, depth)
            case ast.Call(func=func):
                return (self.names.qualified(func) or "").startswith("numpy.")
            case ast.Name() if depth > 0:
                made = self.definitions.reaching(data)
                return bool(made) and all(
                    each.kind is BindingKind.ASSIGN
                    and not each.path
                    and each.value is not None
                    and self._is_of_numpy(each.value, depth - 1)
                    for each in made
                )
        return False

    def _is_without_module(self, node: ast.Call) -> bool:
        """Whether a parameter is created by a class without bases, which no `module.to(…)` moves."""
        owner = self.syntax.class_of(node)
        return owner is not None and all(self.names.qualified(base) in _PLAIN_BASES for base in owner.bases)

    def of_distribution(self, node: ast.Call, owner: Type, result: Type) -> Type:
        """Return the type of a distribution's method: samples are on the device of its parameters. A tensor
        computed from an argument may be on another device, as numbers are accepted on any.
        """
        types = [self.type_of(value) for value in (*node.args, *(keyword.value for keyword in node.keywords))]
        if any(kind.tag in (TypeTag.TENSOR, TypeTag.UNKNOWN) for kind in types):
            return result
        return result._replace(device=owner.device)

    def _batch_of_loader(self, node: ast.Call) -> Type:
        """Return the type of the batches of a loader."""
        batch = batches.batch_of_loader(node, self.type_of)
        named = [keyword.value for keyword in node.keywords if keyword.arg == "dataset"]
        dataset = next(iter([*node.args[:1], *named]), None)
        collates = [self.type_of(keyword.value) for keyword in node.keywords if keyword.arg == "collate_fn"]
        if any(
            kind.of and moves_batches(kind, self.names.module, self.syntax, self.type_of) for kind in collates
        ):
            return Type(TypeTag.BATCH)
        if dataset is None or batch.device is not Device.HOST:
            return batch
        moved = moves_items(self.type_of(dataset), self.names.module, self.syntax, self.type_of)
        return Type(TypeTag.BATCH) if moved else batch

    def _common_device(self, node: ast.Call) -> Device:
        """Return the device of a distribution's parameters: numbers become CPU tensors."""
        given = (*node.args, *(keyword.value for keyword in node.keywords if keyword.arg))
        devices = set()
        for value in given:
            kind = self.type_of(value)
            if kind.tag not in (TypeTag.TENSOR, *NUMBERS):
                return Device.UNKNOWN
            devices.add(kind.device if kind.tag is TypeTag.TENSOR else Device.HOST)
        others = devices - {Device.HOST} or devices
        return others.pop() if len(others) == 1 else Device.UNKNOWN

    def _dict_of(self, node: ast.Call, result: Type) -> Type:
        """Return the type of `dict(obs=obs, done=done)`, `dict(other)`."""
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
        """Whether an expression, or the value of its variable, comes from `.to(…)` or `.cuda()`."""
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

    def device_of(self, expression: ast.expr) -> Device:
        """Return the device that an expression names as an argument of `.to()`, `device=` or
        `torch.device()`.
        """
        if isinstance(expression, ast.Constant):
            if isinstance(expression.value, int) and not isinstance(expression.value, bool):
                return Device.CUDA
            if isinstance(expression.value, str):
                return device_named(expression.value)
            return Device.UNKNOWN
        return self.device_named_by(self.type_of(expression))

    def device_named_by(self, kind: Type) -> Device:
        """Return the device that a value of this type names in such a position."""
        if kind.tag in (TypeTag.DEVICE, TypeTag.STR) and kind.device is not Device.UNKNOWN:
            return kind.device
        return self.open_device


def _tuple(*parts: Type) -> Type:
    """Return a tuple of values of these types."""
    return Type(TypeTag.TUPLE, item=known_item(reduce(Type.joined, parts)), fresh=True, parts=parts)


def _sum_of(left: Type, right: Type) -> Type:
    """Return the type of a sum, which begins with the number 0."""
    for tag in (TypeTag.TENSOR, TypeTag.NDARRAY):
        if tag in (left.tag, right.tag):
            return (left if left.tag is tag else right)._replace(fresh=True, of="", optional=False)
    numbers = {left.tag, right.tag}
    if numbers <= {TypeTag.INT, TypeTag.FLOAT}:
        return PLAIN[TypeTag.FLOAT if TypeTag.FLOAT in numbers else TypeTag.INT]
    return UNKNOWN
