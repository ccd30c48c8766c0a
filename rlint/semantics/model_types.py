"""What things are: kinds, devices, constants, the functions and networks behind calls."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType

from rlint.models.kind import Device, Tag
from rlint.semantics.dataflow.immutability import Settled
from rlint.semantics.dataflow.item_origins import Place, maker_of, place_of
from rlint.semantics.file_analysis import Knowledge
from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary
from rlint.semantics.interprocedural.whole_program import Linked
from rlint.semantics.model_base import SiteBase
from rlint.semantics.nn.architecture import Parts
from rlint.semantics.nn.module_graph import Anatomy, Modules
from rlint.semantics.nn.train_eval_mode import sets_mode_around
from rlint.semantics.types.constants import Constants, Written
from rlint.semantics.types.devices import is_device
from rlint.semantics.types.sure_devices import SureDevices
from rlint.syntax.syntax_index import Function
from rlint.syntax.walk import place_in_order


class SiteValues(SiteBase):
    """What things are: kinds, devices, constants, the functions and networks behind calls."""

    def __init__(self, path: str, knowledge: Knowledge, linked: Linked) -> None:
        super().__init__(path, knowledge, linked)
        self.qualified = knowledge.names.qualified
        """The canonical dotted name of what an expression refers to, through imports and aliases:
        `numpy.concatenate`, `torch.nn.functional.relu`, `builtins.len`; None for the value of a variable.
        """
        self.kind_of = knowledge.kinds.kind_of
        """What is known of an expression's value: tensor (and where), ndarray, module, lock, str …"""
        self._sure_devices = SureDevices(knowledge)
        self._constants = Constants(knowledge.tree, knowledge.names, knowledge.flow)
        self._modules = Modules(linked.index)
        self._parts = Parts(knowledge)
        self._settled = Settled(linked.index, linked.heat)
        self._callables: dict[ast.Call, list[FunctionSummary]] = {}
        self._calls_named: dict[str, dict[Function | None, list[ast.Call]]] = {}
        self._networks_run: dict[ast.Call, tuple[ast.expr, str] | None] = {}

    def spelled(self, qualified: str, at: ast.AST) -> str | None:
        """How a thing of a library is written at a place, by what is imported there; None without import."""
        return self.knowledge.names.spelled(qualified, at)

    def device_of(self, expression: ast.expr) -> Device:
        """The device that an expression names where a device is expected (`"cuda"`, `self.device`, `0`)."""
        return self.knowledge.kinds.device_of(expression)

    def constant(
        self, expression: ast.expr, known: Mapping[str, int] = MappingProxyType({})
    ) -> Written | None:
        """The constant that an expression is (a literal, joined literals, a name bound to such), with a
        spelling for module level. `known` adds library constants by their qualified names.
        """
        return self._constants.written(expression, known)

    def is_device(self, expression: ast.expr) -> bool:
        """Does an expression name a device rather than a dtype or a tensor, where any of them may stand?"""
        return is_device(expression, self.kind_of(expression))

    def is_surely_device(self, expression: ast.expr) -> bool:
        """Is an expression a device for certain, so that it may be written where only a device is taken?"""
        return self._sure_devices.surely(expression)

    def class_of_value(self, expression: ast.expr) -> ClassSummary | None:
        """The class of the project that an expression's value is an instance of."""
        return self.index.class_of(self.kind_of(expression))

    def may_override(self, expression: ast.expr, *methods: str) -> bool:
        """Whether one of these methods of an object of a library may be another one than the library's: by a
        class of the project that overrides it, or in a file that sets it on objects.
        """
        return any(map(self._sets_method, methods)) or self.index.may_override(
            self.kind_of(expression), methods
        )

    def _sets_method(self, name: str) -> bool:
        written = self.tree.written
        return any(isinstance(use.ctx, ast.Store) for use in written.attributes.get(name, ())) or any(
            isinstance(argument, ast.Constant) and argument.value == name
            for call in written.calls_of(("setattr", "object"))
            for argument in call.args
        )

    def callables(self, call: ast.Call) -> list[FunctionSummary]:
        """The functions of the project that a call may run (several where a method is overridden)."""
        known = self._callables.get(call)
        if known is None:
            known = self._callables[call] = self._find_callables(call)
        return known

    def network_run(self, call: ast.Call) -> tuple[ast.expr, str] | None:
        """The network that a call surely runs, and by which of its methods: `net` and "forward" of `net(x)`,
        `net` and "value" of `net.value(x)`.
        """
        try:
            return self._networks_run[call]
        except KeyError:
            found = self._networks_run[call] = self._find_network_run(call.func)
            return found

    def _find_network_run(self, called: ast.expr) -> tuple[ast.expr, str] | None:
        if self.kind_of(called).tag is Tag.MODULE:
            return called, "forward"
        if isinstance(called, ast.Attribute) and self.kind_of(called.value).tag is Tag.MODULE:
            return called.value, called.attr
        return None

    def _find_callables(self, call: ast.Call) -> list[FunctionSummary]:
        qualified = self.qualified(call.func)
        path = qualified or ""
        if not path and isinstance(call.func, ast.Attribute):
            owner = self.kind_of(call.func.value)
            path = (
                (f"{owner.of}().{call.func.attr}" if owner else f"{owner.of}.{call.func.attr}")
                if owner.of
                else ""
            )
        elif not path:
            called = self.kind_of(call.func)
            path = f"{called.of}()" if called.tag is Tag.INSTANCE and called.of else called.of
        return self.index.callables(path, self.knowledge.name) if path else []

    def calls_named(self, name: str, function: Function | None) -> list[ast.Call]:
        """The calls in a function (or at module level) of what bears this name or is a method of it."""
        found = self._calls_named.get(name)
        if found is None:
            found = self._calls_named[name] = {}
            for call in self.tree.written.calls.get(name, ()):
                found.setdefault(self.tree.function(call), []).append(call)
        return found.get(function, [])

    def place_of(self, expression: ast.expr) -> Place | None:
        """What a variable stands for: itself, or an item of a list that a loop runs over."""
        return place_of(expression, self.knowledge)

    def maker_of(self, expression: ast.expr, *, items: bool) -> ast.expr | None:
        """The call that a value (or each of its items) was got from, or the function that was mapped."""
        return maker_of(expression, int(items), self.knowledge)

    def network(self, expression: ast.expr, method: str | None = "forward") -> Anatomy:
        """What a network consists of (dropout, recurrent layers, what nobody knows …) and does, as far as
        `method` runs it; all of it for None. Ask where `kind_of` says MODULE, or may not know.
        """
        return self._modules.built_of(
            self._parts.of(expression), self.module.module, self._class_around(expression), method
        )

    def _class_around(self, node: ast.AST) -> ClassSummary | None:
        owner = self.tree.class_of(node)
        return self.module.classes.get(self.tree.qualname(owner)) if owner is not None else None

    def sets_mode(self, node: ast.AST) -> bool:
        """May a network be in evaluation mode at a node: does the function around it, one that it calls, or
        one that leads to it, call `eval()` or `train(mode)` on anything?
        """
        summary = self.summary_around(node)
        return summary is None or sets_mode_around(summary, self._heat.graph)

    def is_self(self, expression: ast.expr) -> bool:
        """Is this the first parameter of the method around it?"""
        return self._parts.is_self(expression)

    def is_setting(self, attribute: ast.Attribute) -> bool:
        """Does `self.x` (or `self.config.x`) keep the value that it got while its object was made, for all
        that the project does? Not so for objects that hot code makes.
        """
        if self._parts.is_self(attribute.value):
            owner = self._class_around(attribute)
        elif isinstance(attribute.value, ast.Attribute) and self.is_setting(attribute.value):
            owner = self.class_of_value(attribute.value)
        else:
            return False
        if not self._settled.is_settled(owner, attribute.attr):
            return False
        self.knowledge.kinds.doubted |= owner is not None and self.index.is_restored(owner)
        return True

    @cached_property
    def calls_by_name(self) -> dict[str, list[ast.Call]]:
        """The calls by the last name of what is called, as it is written and as it is known: `vstack` for
        `numpy.row_stack`, `deepcopy` for `clone` below `from copy import deepcopy as clone`.
        """
        qualified = self.knowledge.names.qualified
        found = dict(self.tree.written.calls)
        renamed: dict[str, list[ast.Call]] = {}
        for written, calls in found.items():
            for call in calls:
                known = (qualified(call.func) or "").rpartition(".")[2]
                if known and known != written:
                    renamed.setdefault(known, []).append(call)
        for known, calls in renamed.items():
            found[known] = sorted([*found.get(known, ()), *calls], key=place_in_order)
        return found
