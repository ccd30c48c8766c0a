"""Where autograd is on, which gradients arise, and what becomes of them."""

from __future__ import annotations

import ast
from collections.abc import Collection

from rlint.semantics.file_analysis import Knowledge
from rlint.semantics.frequency.intervals import last_name
from rlint.semantics.frequency.loops import GRADIENT_STEP
from rlint.semantics.frequency.roles import LEARNS
from rlint.semantics.interprocedural.summary import FunctionSummary
from rlint.semantics.interprocedural.whole_program import Linked
from rlint.semantics.model_frequency import SitePace
from rlint.semantics.nn.autograd import Autograd, Callers
from rlint.semantics.nn.forward_calls import Forwards
from rlint.semantics.nn.gradient_flow import Gradients
from rlint.semantics.nn.gradient_sinks import Left
from rlint.semantics.nn.gradient_sources import Sources
from rlint.semantics.nn.optimizer_params import Optimized
from rlint.syntax.scopes import How
from rlint.syntax.syntax_index import Function
from rlint.syntax.walk import below


class SiteGradients(SitePace):
    """Where autograd is on, which gradients arise, and what becomes of them."""

    def __init__(self, path: str, knowledge: Knowledge, linked: Linked) -> None:
        super().__init__(path, knowledge, linked)
        self._outlets: dict[ast.expr, tuple[Left, ...]] = {}
        self._ends: dict[ast.expr, tuple[Left, ...]] = {}
        self._autograd = knowledge.autograd
        self._callers = Callers(linked.heat, linked.guesses)
        self._forwards = Forwards(linked.heat)
        self._gradients = Gradients(knowledge, self._autograd, linked.index)
        self._optimized = Optimized(knowledge)
        self._giving: dict[ast.Call, bool] = {}

    def definition(self, function: FunctionSummary) -> Function | None:
        """The def of a function of the project, where it stands in this very file."""
        return self._gradients.definition(function)

    def autograd_at(self, node: ast.AST) -> Autograd:
        """Is autograd off where a node runs: by a block, a decorator, or all calls of its function?"""
        said = self._autograd.at(node)
        function = self.tree.function(node)
        if said is not None or function is None:
            return said or Autograd.ON
        summary = self.summary_around(node)
        return self._callers.of(summary) if summary is not None else Autograd.UNKNOWN

    def gives_gradient(self, call: ast.Call) -> bool:
        """Does a call give what a network computed: the call of a network, or of a function of the project
        that returns what one computed? Whether autograd is off at the call is another question.
        """
        known = self._giving.get(call)
        if known is None:
            known = self._giving[call] = self._may_give_gradient(call)
        return known

    def _may_give_gradient(self, call: ast.Call) -> bool:
        if self._forwards.runs_network(self.kind_of(call.func)):
            anatomy = self.network(call.func)
            return anatomy.weights or not anatomy.complete  # without weights, it records nothing by itself
        return self._forwards.gives_gradient(self._gradients.path_of(call), self.module.module)

    def takes_gradient_steps(self, part: ast.AST) -> bool:
        """Are gradient steps taken in a part of the file: in its own lines or in functions that it calls?"""
        for node in below(part):
            if not isinstance(node, ast.Call):
                continue
            if self.knowledge.loops.driver_of(node) == GRADIENT_STEP or last_name(node.func) in LEARNS:
                return True
            if any(map(self._heat.learns, self.callables(node))):
                return True
        return False

    def outlets(self, expression: ast.expr) -> tuple[Left, ...]:
        """What becomes of the gradient that an expression's value carries: where it is cut off, learned
        from, stored, returned or handed to nobody knows whom.
        """
        known = self._outlets.get(expression)
        if known is None:
            known = self._outlets[expression] = self._gradients.outlets(expression)
        return known

    def ends(self, expression: ast.expr) -> tuple[Left, ...]:
        """The same where no gradient gets out; empty as soon as one is found to do so."""
        known = self._ends.get(expression)
        if known is None:
            known = self._ends[expression] = self._gradients.ends(expression)
        return known

    def variable_outlets(self, name: ast.Name) -> tuple[Left, ...]:
        """The same for what a variable holds, from the place on where the name binds or reads it."""
        return self._gradients.variable_outlets(name)

    def sources(self, expression: ast.expr, without: Collection[ast.expr] = ()) -> Sources:
        """The calls, parameters and attributes that the gradient of a value can come from, besides by way of
        the expressions `without`.
        """
        return self._gradients.sources(expression, without)

    def is_stepped(self, network: ast.expr) -> bool | None:
        """Does an optimizer step the weights of a network? None where nobody can say."""
        root = network
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        is_handed = (
            isinstance(root, ast.Name)
            and root.id not in ("self", "cls")
            and any(binding.how is How.PARAMETER for binding in self.definitions(root))
        )
        if not is_handed or not isinstance(root, ast.Name):
            return self._optimized.is_stepped(network)
        return self._optimized.is_handed_stepped(network, root.id, self.passed_names(root))

    def optimizers(self, node: ast.AST) -> dict[str, frozenset[str] | None]:
        """The optimizers made in the class around a node (outside of classes: in functions and at module
        level), by what they are kept as (`self.optimizer`), each with the networks whose parameters it was
        given (`self.actor`); None where others may be among them.
        """
        return self._optimized.optimizers_near(node)

    def share_parts(self, one: str, other: str) -> bool:
        """May two networks of this file, written so (`self.actor`, `self.critic`), have a part in common?"""
        return self._optimized.share(one, other)

    def runs_frozen(self, call: ast.Call) -> bool:
        """May the network that a call runs need no gradient, directly or in a function of the project?"""
        if self.is_frozen(call.func):
            return True
        if isinstance(call.func, ast.Attribute) and self.is_frozen(call.func.value):
            return True
        return any(
            path.removesuffix("()").rpartition(".")[2] in self.index.modules[target.module].frozen
            for target in self.callables(call)
            for path in target.gradient_from
        )

    def is_frozen(self, network: ast.expr) -> bool:
        """May the weights of a network need no gradient (`requires_grad_(False)`), here or where a class
        that it belongs to is defined?
        """
        if self._optimized.is_frozen(network):
            return True
        name = last_name(network)
        owner = self._class_around(network)
        near = [self.module.module]
        near += (
            [cls.module for cls in self.index.ancestry(owner) if not isinstance(cls, str)] if owner else []
        )
        made = self.class_of_value(network)
        if made is not None:
            near += [cls.module for cls in self.index.ancestry(made) if not isinstance(cls, str)]
        names = {name, *self.passed_names(network)} if isinstance(network, ast.Name) else {name}
        names.update([made.qualname] if made is not None else [])
        return any(names & self.index.modules[module].frozen for module in near)
