"""Methods called on objects of unknown class: what networks of the project do in methods of that name."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from rlint.models.value_type import TypeTag
from rlint.semantics.interprocedural.call_targets import arguments_of, parameter_of
from rlint.semantics.nn.module_graph import MODULE_METHODS

if TYPE_CHECKING:
    from rlint.semantics.file_analysis import FileAnalysis
    from rlint.semantics.interprocedural.summary import FunctionSummary

_MOST = 24
"""A method name that more networks define says little about what it does."""


class NetworkMethods(Protocol):
    """Queries about the project."""

    def network_methods(self, name: str) -> list[FunctionSummary]:
        """Return the methods of this name that networks of the project define."""

    def holds_networks(self, name: str, *, in_networks: bool) -> bool:
        """Whether objects, or only networks, always hold networks in attributes of this name."""

    def holds_only_networks(self, name: str) -> bool:
        """Whether attributes of this name hold networks wherever their type is known."""


def is_held_by_other_classes(expression: ast.expr, analysis: FileAnalysis, index: NetworkMethods) -> bool:
    """Whether an attribute of `self` of unknown type has the name of attributes that hold networks in other
    classes of the project, and nothing else: `self.buffer_policy`, a parameter of the constructor.
    """
    return (
        isinstance(expression, ast.Attribute)
        and analysis.names.is_self(expression.value)
        and not analysis.types.type_of(expression)
        and index.holds_only_networks(expression.attr)
    )


def computes_by_name(
    call: ast.Call,
    analysis: FileAnalysis,
    index: NetworkMethods,
    has_weights_read: Callable[[ast.expr], bool],
) -> bool:
    """Whether a call runs a method, or a part, of a network of unknown class, and all methods of this name in
    networks of the project return the output of layers: `self.policy.target_q(states)`. An object of unknown
    type is a network if the file reads its weights.
    """
    called = call.func
    if not isinstance(called, ast.Attribute):
        return False
    if not is_open(call, analysis, TypeTag.MODULE) and not (
        is_open(call, analysis, TypeTag.UNKNOWN) and has_weights_read(called.value)
    ):
        return False
    methods = index.network_methods(called.attr)
    if not methods:
        return index.holds_networks(called.attr, in_networks=True)
    taking = taking_of(methods, call)
    return bool(taking) and all(map(computes, taking))


def runs_forward(call: ast.Call, analysis: FileAnalysis) -> bool:
    """Whether a call runs `forward` of a network of unknown class, which is a call of the network itself."""
    match call.func:
        case ast.Attribute(value=owner, attr="forward"):
            return is_open(call, analysis, TypeTag.MODULE) and not analysis.types.type_of(owner).of
    return False


def is_open(call: ast.Call, analysis: FileAnalysis, tag: TypeTag) -> bool:
    """Whether a call with arguments runs a method of an object whose class is unknown, or not all of whose
    possible classes have this method.
    """
    called = call.func
    if not isinstance(called, ast.Attribute) or called.attr in MODULE_METHODS or not arguments_of(call):
        return False
    if analysis.names.qualified(called) is not None:
        return False
    owner = analysis.types.type_of(called.value)
    if owner.tag is not tag or (owner.of and "{" not in owner.of and tag is not TypeTag.UNKNOWN):
        return False
    return not analysis.types.type_of(called)


def taking_of(methods: list[FunctionSummary], call: ast.Call) -> list[FunctionSummary]:
    """Return the methods that have parameters for the arguments of a call; empty if there are many."""
    taking = [method for method in methods if method.takes_more or _takes(method, call)]
    return taking if len(taking) <= _MOST else []


def _takes(method: FunctionSummary, call: ast.Call) -> bool:
    return all(parameter_of(argument, call, method) for argument in arguments_of(call))


def computes(method: FunctionSummary) -> bool:
    """Whether a method of a network returns the output of layers, and neither keeps it nor uses it in a
    loss.
    """
    return bool(method.gradient_from) and not method.keeps_gradient and not method.updates
