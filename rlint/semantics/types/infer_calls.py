"""Types of attributes and of the results of calls."""

from __future__ import annotations

import ast
from typing import ClassVar

from rlint import models
from rlint.models.fact import MAY_WRITE
from rlint.models.trait import Trait
from rlint.models.value_type import UNKNOWN, Choice, Device, Type, TypeTag, deferred, with_choice
from rlint.semantics.types import batches
from rlint.semantics.types.algebra import library_value, parsed_options
from rlint.semantics.types.infer_base import Handlers
from rlint.semantics.types.results import named_tuples, networks
from rlint.semantics.types.results.environment_steps import SHOWS
from rlint.semantics.types.results.library_calls import ResultInference
from rlint.semantics.types.results.random_draws import drawn
from rlint.semantics.types.unpacked_arguments import unpacked_options
from rlint.syntax.queries import argument_count, is_constant, target_of_move

_OF_CLASSES = frozenset(
    TypeTag[name]
    for name in "INSTANCE MODULE ENVIRONMENT DATASET REPLAY_BUFFER THREAD PROCESS OPTIMIZER".split()
)
"""Types of values that may be instances of classes of the project."""
_LOG_METHODS = models.methods_of(TypeTag.LOGGER)
_LOGGER_CLASS = "logging.Logger"
_ENCODED = Choice(batches.BATCH_ON_HOST, is_read=True)
_WITH_ELEMENTS = (TypeTag.TENSOR, TypeTag.NDARRAY, TypeTag.NUMPY_SCALAR)


class CallInference(ResultInference):
    """Infers the results of calls and attributes from the tables of models and the project."""

    def _of_attribute(self, node: ast.Attribute) -> Type:
        qualified = self.names.qualified(node)
        if qualified is not None:
            return library_value(qualified) or deferred(qualified)
        owner = self.type_of(node.value)
        if owner.tag is TypeTag.MODULE and node.attr == "module":
            inner = networks.wrapped(owner)
            if inner is not None:
                return inner
        if owner.of == networks.MODEL_OUTPUT:
            return networks.part_of_output(node.attr)
        if owner.tag in _OF_CLASSES and owner.of:
            path = f"{owner.of}().{node.attr}"
            return self.found_at(path) or models.attribute_kind(owner.tag, node.attr) or deferred(path)
        if owner.tag is TypeTag.BATCH:
            return batches.attribute_of(owner, node.attr)
        if owner.tag is not TypeTag.UNKNOWN:
            if owner.tag is TypeTag.TUPLE and owner.keys:
                return named_tuples.field_of(owner, node.attr)
            if owner.tag is TypeTag.TUPLE and owner.item is not None and owner.item.tag is TypeTag.TENSOR:
                return owner.item if node.attr in ("values", "indices") else UNKNOWN  # `topk` and its like
            if owner.tag is TypeTag.LOGGER and node.attr in _LOG_METHODS and not self._is_called(node):
                return Type(TypeTag.FUNCTION, of=f"{_LOGGER_CLASS}.{node.attr}")
            kind = models.attribute_kind(owner.tag, node.attr)
            kind = self.same_elements(owner, node.attr, kind)
            if kind.tag is TypeTag.TENSOR and owner.tag is TypeTag.TENSOR and kind.device is Device.UNKNOWN:
                return batches.kept(owner, kind)
            if kind.tag is TypeTag.DEVICE and owner.tag is TypeTag.TENSOR:
                return kind._replace(device=owner.device)
            return kind
        return deferred(f"{owner.of}.{node.attr}") if owner.of else UNKNOWN

    def _is_called(self, method: ast.Attribute) -> bool:
        """Whether a method is called where it is read, rather than stored or passed on."""
        around = self.syntax.parents.get(method)
        return isinstance(around, ast.Call) and around.func is method

    def _of_call(self, node: ast.Call) -> Type:
        found = self._result_of_call(node)
        if not found and _gives_tensors(node):
            return with_choice(found, _ENCODED)
        if found.fresh and self._may_return_argument(node):
            return found._replace(fresh=False)
        return found

    def _may_return_argument(self, node: ast.Call) -> bool:
        """Whether a call may write its result to an argument: `out=rows`, or `np.add(a, b, rows)`."""
        if any(keyword.arg == "out" and not is_constant(keyword.value, None) for keyword in node.keywords):
            return True
        qualified = self.names.qualified(node.func)
        known = models.callable_fact(qualified, argument_count(node)) if qualified is not None else None
        if known is None:
            return False
        unpacked = any(keyword.arg is None for keyword in node.keywords)
        return known.effect is MAY_WRITE or (
            unpacked and not known.traits & (Trait.ALLOCATES | Trait.DRAWS_SHAPE | Trait.DRAWS_LIKE)
        )

    def _result_of_call(self, node: ast.Call) -> Type:
        qualified = self.names.qualified(node.func)
        if qualified == "builtins.super":
            return self._next_class(node)
        if qualified is not None:
            known = models.callable_fact(qualified, argument_count(node))
            if known is not None:
                if known.result.tag is TypeTag.UNKNOWN and qualified.startswith("numpy.random."):
                    return drawn(node, qualified.rpartition(".")[2], self.type_of)
                return self.with_elements(node, qualified, self.made(node, qualified, known.result))
            made = self.found_at(qualified) if self.project is not None else UNKNOWN
            if named_tuples.is_class(made):
                return named_tuples.instance(made, node, self.given)
            return deferred(f"{qualified}()")
        if isinstance(node.func, ast.Attribute):
            result = self._method_result(node, node.func)
            if not result and node.func.attr in SHOWS:
                return self._shown_by_environment(node, node.func, result)
            if result.tag in _WITH_ELEMENTS:
                return self.with_elements_of(node, node.func.attr, self.type_of(node.func.value), result)
            return result
        callee = self.type_of(node.func)
        if callee.tag is TypeTag.TOKENIZER:
            return batches.BATCH_ON_HOST if _gives_tensors(node) else UNKNOWN
        if callee.tag is TypeTag.MODULE:
            return self._called_module(callee, node)
        if named_tuples.is_class(callee):
            return named_tuples.instance(callee, node, self.given)
        if callee.tag in (TypeTag.CLASS, TypeTag.FUNCTION) and callee.of:
            return deferred(f"{callee.of}()")
        if callee.tag is TypeTag.FUNCTION and callee.item is not None:
            return callee.item  # a lambda
        return deferred(f"{callee.of}()") if not callee and callee.of else UNKNOWN

    def _next_class(self, node: ast.Call) -> Type:
        """Return the type of `super()`, also as `super(Class, self)`, in a class with one base, which is a
        class of the project.
        """
        owner = self.syntax.class_of(node)
        if owner is None or len(owner.bases) != 1:
            return UNKNOWN
        match node.args:
            case [] | [ast.Name(id=owner.name), ast.Name()]:
                pass
            case _:
                return UNKNOWN
        base = self.names.qualified(owner.bases[0])
        if not base or models.callable_fact(base) is not None:
            return UNKNOWN
        created = f"{base}()"
        return deferred(created) if self.project is None else self.found_at(created).aged()  # it is `self`

    def _shown_by_environment(self, node: ast.Call, func: ast.Attribute, result: Type) -> Type:
        """Return the type of `env.step(…)` and `env.reset()`, including the likely type if it is unknown."""
        owner = self.type_of(func.value)
        if owner.tag not in (TypeTag.ENVIRONMENT, TypeTag.UNKNOWN):
            return result
        shown = self.environments.shown(node, owner)
        return with_choice(result, Choice(shown)) if shown else result

    def _called_module(self, module: Type, node: ast.Call) -> Type:
        inner = networks.wrapped(module)
        if inner is not None:
            return self._called_module(inner, node) if inner else deferred(f"{inner.of}()")
        if networks.is_of_library(module):
            return networks.result_of_library(module, [self.type_of(value) for value in node.args[:1]])
        return deferred(f"{module.of}().forward()") if module.of else UNKNOWN

    def _method_result(self, node: ast.Call, func: ast.Attribute) -> Type:
        owner = self.type_of(func.value)
        if owner.tag is TypeTag.PYTHON_MODULE:  # a value with the same functions as a module
            known = models.callable_fact(f"{owner.of}.{func.attr}")
            return self.made(node, f"{owner.of}.{func.attr}", known.result) if known else UNKNOWN
        if owner.keys and (owner.tag is TypeTag.TUPLE or named_tuples.is_class(owner)):
            found = named_tuples.result_of_method(owner, node, func.attr, self.given)
            if found:
                return found
        if owner.tag in (TypeTag.TENSOR, TypeTag.BATCH) and func.attr in ("to", "cuda", "cpu"):
            return self._moved(node, func.attr, owner)
        if owner.tag is TypeTag.BATCH:
            return batches.method_result(owner, func.attr, argument_count(node))
        if owner.of == "argparse.ArgumentParser" and func.attr.startswith("parse_"):
            return parsed_options(owner, func.attr)
        if owner.tag is TypeTag.TENSOR and func.attr == "pin_memory":
            return owner._replace(of=batches.PINNED, fresh=True)
        if owner.tag is TypeTag.TOKENIZER and _gives_tensors(node):
            encoded = Type(TypeTag.TENSOR, device=Device.HOST, fresh=True)
            return encoded if func.attr == "encode" else batches.BATCH_ON_HOST
        if owner.of and owner.tag in _OF_CLASSES:
            attribute = self.found_at(f"{owner.of}().{func.attr}")
            if attribute.tag is TypeTag.MODULE:
                return self._called_module(attribute, node)
            found = self.found_at(f"{owner.of}().{func.attr}()")
            if found:
                return found
        if owner.tag is TypeTag.MODULE and networks.is_of_library(owner):
            if func.attr == "forward":
                return self._called_module(owner, node)
            if func.attr == "generate":
                return networks.generated(owner, node)
        if owner.tag is not TypeTag.UNKNOWN:
            known = models.method_fact(owner.tag, func.attr, argument_count(node))
            if known is None:
                if owner.tag is TypeTag.MODULE and owner.item is not None:
                    return self.by_owner(node, func.attr, owner, UNKNOWN)
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
            if owner.tag is TypeTag.DISTRIBUTION and known.result.tag is TypeTag.TENSOR:
                return self.of_distribution(node, owner, known.result)
            return self.by_owner(node, func.attr, owner, known.result)
        if owner.of:
            return deferred(f"{owner.of}.{func.attr}()")
        known = models.method_on_unknown(func.attr, len(node.args) + len(node.keywords))
        return known.result if known else UNKNOWN

    def _moved(self, node: ast.Call, method: str, owner: Type) -> Type:
        if method == "cpu":
            return owner._replace(of="", device=Device.HOST, fresh=False, caveat=None)
        if method == "cuda":
            return owner._replace(of="", device=Device.CUDA, fresh=False, caveat=None)
        target = target_of_move(node)
        if target is None and any(keyword.arg is None for keyword in node.keywords):
            return owner._replace(of="", device=Device.UNKNOWN, fresh=False, caveat=None)
        if target is None:
            options = unpacked_options(node, self.type_of)
            if options is None:
                return owner._replace(of="", device=Device.UNKNOWN, fresh=False, caveat=None)
            if "device" in options:
                device = self.device_named_by(options["device"])
                return owner._replace(of="", device=device, fresh=False, caveat=None)
            return owner._replace(fresh=False)
        kind = self.type_of(target)
        if kind.tag is TypeTag.DTYPE:
            return owner._replace(fresh=False)
        if kind.tag is TypeTag.TENSOR:
            return owner._replace(of="", device=kind.device, fresh=False, caveat=None)
        return owner._replace(of="", device=self.device_of(target), fresh=False, caveat=None)

    HANDLERS: ClassVar[Handlers] = {ast.Attribute: _of_attribute, ast.Call: _of_call}


def _gives_tensors(call: ast.Call) -> bool:
    """Whether a tokenizer or processor is called for torch tensors (`return_tensors="pt"`)."""
    return any(
        keyword.arg == "return_tensors"
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value == "pt"
        for keyword in call.keywords
    )
