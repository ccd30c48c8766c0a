"""Calls that run a network, so that their results carry a gradient."""

from __future__ import annotations

from rlint import models
from rlint.models.gradient_rules import ANY_NETWORK, WITHOUT_PARAMETERS
from rlint.models.value_type import Type, TypeTag, alternatives
from rlint.semantics.frequency.heat import HeatMap
from rlint.semantics.interprocedural.summary import FunctionSummary

_DEPTH = 12


class ForwardCalls:
    """The networks of a project, and the functions that return outputs of networks."""

    def __init__(self, heat: HeatMap) -> None:
        self.index = heat.index
        self._heat = heat
        self._functions: dict[str, bool] = {}
        self._depth = 0

    def runs_network(self, called: Type) -> bool:
        """Whether calling a value of this type runs a network with weights, without changing the autograd
        mode.
        """
        if called.tag is not TypeTag.MODULE or called.of in WITHOUT_PARAMETERS:
            return False
        if "{" in called.of:
            return any(self.runs_network(called._replace(of=each)) for each in alternatives(called.of))
        cls = self.index.class_of(called)
        if cls is None:
            return called.of.startswith("torch.nn.") or not called.of.startswith("torch.")
        if cls.qualname.endswith("Loss"):
            return False
        forwards = self.index.implementations(cls, "forward") or self.index.implementations(cls, "__call__")
        return not forwards or any(bool(forward.gradient_from) for forward in forwards)

    def gives_gradient(self, path: str, module: str) -> bool:
        """Whether calling an access path returns the output of a network."""
        if not path or self._depth > _DEPTH:
            return False
        self._depth += 1
        try:
            if path.startswith("{") and path.endswith("}"):
                return any(self.gives_gradient(each, module) for each in alternatives(path))
            if self.runs_network(self.index.resolve(path.removesuffix("()"), module)):
                return True
            layer = models.callable_fact(path.removesuffix("()"))
            if layer is not None and path.endswith("()") and self.runs_network(layer.result):
                return True
            return any(self.returns_gradient(target) for target in self.index.callables(path, module))
        finally:
            self._depth -= 1

    def returns_gradient(self, function: FunctionSummary) -> bool:
        """Whether a project function returns the output of a network, with its gradient, and neither keeps it
        nor uses it in a loss.
        """
        if not self.leaves_gradient(function):
            return False
        known = self._functions.get(function.path)
        if known is None:
            self._functions[function.path] = False
            known = any(self.gives_gradient(path, function.module) for path in function.gradient_from)
            self._functions[function.path] = known
        return known

    def may_return_gradient(self, function: FunctionSummary) -> bool:
        """Whether a function likely returns the output of a network: it calls a method of one whose class is
        not known, and all networks of the project with this method return one.
        """
        if not self.leaves_gradient(function):
            return False
        for path in function.gradient_from:
            owner, _, name = path.rpartition(".")
            if owner and self._is_any_network(owner, function.module):
                methods = self.index.network_methods(name)
                if methods and all(map(self.returns_gradient, methods)):
                    return True
        return False

    def _is_any_network(self, path: str, module: str) -> bool:
        """Whether a path leads to a network of a class that is not known."""
        if path == ANY_NETWORK:
            return True
        kind = self.index.resolve(path, module)
        return kind.tag is TypeTag.MODULE and self.index.class_of(kind) is None

    def leaves_gradient(self, function: FunctionSummary) -> bool:
        """Whether a function leaves the gradient of its results to its callers: it neither keeps it nor uses
        it in a loss.
        """
        return not function.keeps_gradient and not self._heat.learns(function)
