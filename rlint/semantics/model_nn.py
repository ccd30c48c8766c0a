"""Queries about networks: their parts, and how training uses them."""

from __future__ import annotations

import ast
from functools import partial

from rlint.models.value_type import TypeTag, alternatives
from rlint.semantics.effects.network_changes import NetworkChange
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.frequency.roles import LEARNS
from rlint.semantics.interprocedural.summary import FunctionSummary
from rlint.semantics.interprocedural.whole_program import WholeProgram
from rlint.semantics.model_dataflow import DataflowQueries
from rlint.semantics.model_frequency import FrequencyQueries
from rlint.semantics.model_names import NameQueries
from rlint.semantics.model_symbols import FileSymbols
from rlint.semantics.model_types import TypeQueries
from rlint.semantics.nn.architecture import NetworkPart, NetworkParts, PartKind
from rlint.semantics.nn.module_graph import Architecture, ModuleGraph, is_convolution, is_threaded
from rlint.semantics.nn.optimizer_params import OptimizerParams
from rlint.semantics.nn.train_eval_mode import sets_mode_around, trained_before
from rlint.semantics.nn.weight_sync import is_named_like_follower
from rlint.syntax.last_names import last_name
from rlint.syntax.queries import root_name
from rlint.syntax.scopes import BindingKind
from rlint.syntax.walk import descendants


class NetworkQueries:
    """Answers what a network consists of, which optimizer updates it, and in which mode it is. If parts of a
    network are not known, its architecture is not complete.
    """

    def __init__(
        self,
        analysis: FileAnalysis,
        program: WholeProgram,
        names: NameQueries,
        symbols: FileSymbols,
        types: TypeQueries,
        dataflow: DataflowQueries,
        frequency: FrequencyQueries,
    ) -> None:
        self._analysis = analysis
        self._index = program.index
        self._heat = program.heat
        self._network_changes = program.network_changes
        self._program_symbols = program.program_symbols
        self._names = names
        self._symbols = symbols
        self._types = types
        self._dataflow = dataflow
        self._frequency = frequency
        self._modules = ModuleGraph(program.index)
        self._parts = NetworkParts(analysis)
        self._optimized = OptimizerParams(analysis)
        self._networks_run: dict[ast.Call, tuple[ast.expr, str] | None] = {}

    def has_layers_by_mode(self) -> bool:
        """Whether the program of this file names a layer whose result depends on `train()` and `eval()`, or
        has a `forward` that reads the mode.
        """
        return self._program_symbols.has_layers_by_mode(self._symbols.module.module)

    def architecture(self, expression: ast.expr, method: str | None = "forward") -> Architecture:
        """Return what a network consists of (dropout, recurrent layers, unknown parts …) and does when
        `method` runs; all of it for None. Query it if `type_of` is MODULE or UNKNOWN.
        """
        found = self._built_of(self._parts.of(expression), expression, method)
        if found.weights or not found.complete:
            return found
        kind = self._types.type_of(expression)
        if kind.tag is not TypeTag.MODULE or not kind.of or kind.of.startswith("torch."):
            return found
        # an item of a container that other methods fill, or that a function returns
        classes = alternatives(kind.of)
        parts = tuple(NetworkPart(PartKind.INSTANCE, each, sure=len(classes) == 1) for each in classes)
        return self._built_of(parts, expression, method)

    def _built_of(
        self, parts: tuple[NetworkPart, ...], expression: ast.expr, method: str | None
    ) -> Architecture:
        return self._modules.built_of(
            parts, self._symbols.module.module, self._symbols.class_at(expression), method
        )

    def changed_by_other_files(self, change: NetworkChange) -> frozenset[str]:
        """Return the classes of networks that other files change in a way; `*` if the class of one is unknown
        or one of torch.
        """
        return self._network_changes.by_other_files(self._symbols.module.module, change)

    def network_run(self, call: ast.Call) -> tuple[ast.expr, str] | None:
        """Return the network that a call surely runs, and the method: `net` and "forward" for `net(x)`, `net`
        and "value" for `net.value(x)`.
        """
        try:
            return self._networks_run[call]
        except KeyError:
            found = self._networks_run[call] = self._find_network_run(call.func)
            return found

    def _find_network_run(self, called: ast.expr) -> tuple[ast.expr, str] | None:
        if self._types.type_of(called).tag is TypeTag.MODULE:
            return called, "forward"
        if isinstance(called, ast.Attribute) and self._types.type_of(called.value).tag is TypeTag.MODULE:
            return called.value, called.attr
        return None

    def why_in_training_mode(
        self, node: ast.AST, network: ast.expr, *, callers: bool = True, anywhere: bool = False
    ) -> str | None:
        """Return why a network is in training mode at a node; None if it may be in evaluation mode: the
        enclosing function, one that it calls, or (of its `callers`) one that leads to it, calls `eval()` or
        `train(mode)` on any object, or, with `anywhere`, any code of the program does on what may be the
        network. `train()` in a caller before the call is such a reason, whatever other functions call.
        """
        summary = self._symbols.function_at(node)
        if summary is None:
            return None
        root = root_name(network)
        if callers and root is not None and self._is_handed(root.id, node):
            caller = trained_before(summary, root.id, self._heat.graph)
            if caller is not None:
                return f"`{caller.shown}` calls `train()` before it"
        concerned = partial(self._may_be_called, network)
        if sets_mode_around(summary, self._heat.graph, concerned, callers=callers):
            return None
        if anywhere and any(map(concerned, self._switched_networks())):
            return None
        return "`eval()` is never called"

    def _is_handed(self, root: str, node: ast.AST) -> bool:
        """Whether a function receives a network from its caller: as an argument, or as its own object."""
        owner = self._symbols.class_at(node)
        return root not in ("self", "cls") or (
            owner is not None and self._index.class_kind(owner).tag is TypeTag.MODULE
        )

    def _switched_networks(self) -> frozenset[str]:
        return self._program_symbols.switched_networks(self._symbols.module.module)

    @staticmethod
    def _may_be_called(network: ast.expr, name: str) -> bool:
        """Whether a name may be one of a network: that of a target network is not, if it is an attribute."""
        own = last_name(network) if isinstance(network, ast.Attribute) else None
        return own is None or not is_named_like_follower(name) or is_named_like_follower(own)

    def is_optimized(self, network: ast.expr) -> bool | None:
        """Whether an optimizer updates the weights of a network. None if unknown."""
        root = network
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        is_handed = (
            isinstance(root, ast.Name)
            and root.id not in ("self", "cls")
            and any(binding.kind is BindingKind.PARAMETER for binding in self._dataflow.definitions(root))
        )
        if not is_handed or not isinstance(root, ast.Name):
            return self._optimized.is_stepped(network)
        return self._optimized.is_handed_stepped(network, root.id, self._frequency.passed_names(root))

    def optimizers(self, node: ast.AST) -> dict[str, frozenset[str] | None]:
        """Return the optimizers created in the class around a node (outside of classes: in functions and at
        module level), by the attribute or variable that holds them (`self.optimizer`), each with the networks
        whose parameters it received (`self.actor`); None if there may be others.
        """
        return self._optimized.optimizers_near(node)

    def share_modules(self, one: str, other: str) -> bool:
        """Whether two networks of this file, given by source (`self.actor`, `self.critic`), may share a
        module.
        """
        return self._optimized.share(one, other)

    def runs_frozen(self, call: ast.Call) -> bool:
        """Whether a call runs a network whose weights may not require grad, directly or in a function of the
        project.
        """
        if self.is_frozen(call.func):
            return True
        if isinstance(call.func, ast.Attribute) and self.is_frozen(call.func.value):
            return True
        return any(
            path.removesuffix("()").rpartition(".")[2] in self._index.modules[target.module].frozen
            for target in self._types.call_targets(call)
            for path in target.gradient_from
        )

    def is_frozen(self, network: ast.expr) -> bool:
        """Whether the weights of a network may not require grad (`requires_grad_(False)`), here or where a
        class that it belongs to is defined.
        """
        if self._optimized.is_frozen(network):
            return True
        name = last_name(network)
        owner = self._symbols.class_at(network)
        near = [self._symbols.module.module]
        near += (
            [cls.module for cls in self._index.ancestry(owner) if not isinstance(cls, str)] if owner else []
        )
        made = self._types.class_of_value(network)
        if made is not None:
            near += [cls.module for cls in self._index.ancestry(made) if not isinstance(cls, str)]
        names = {name, *self._frequency.passed_names(network)} if isinstance(network, ast.Name) else {name}
        names.update([made.qualname] if made is not None else [])
        return any(names & self._index.modules[module].frozen for module in near)

    def takes_gradient_steps(self, part: ast.AST) -> bool:
        """Whether gradient steps are taken in a part of the file: in its own lines or in functions that it
        calls.
        """
        for node in descendants(part):
            if not isinstance(node, ast.Call):
                continue
            if self._analysis.loops.driver_of(node) is Driver.GRADIENT_STEP or last_name(node.func) in LEARNS:
                return True
            if any(map(self._heat.learns, self._types.call_targets(node))):
                return True
        return False

    def learns(self, function: FunctionSummary) -> bool:
        """Whether a function, or a function that it calls, takes gradient steps."""
        return self._heat.learns(function)

    def convolves(self, function: FunctionSummary, *, or_iterates: bool = False) -> bool:
        """Whether a function is the forward pass of a network with convolutions, or with `or_iterates`
        recurrent layers.
        """
        is_wanted = is_threaded if or_iterates else is_convolution
        return any(map(is_wanted, self._layers_run_by(function)))

    def has_threaded_layers(self, network: ast.expr) -> bool:
        """Whether a network has convolutions or recurrent layers, which use several threads of the CPU even
        for one observation.
        """
        return any(map(is_threaded, self.architecture(network).layers))

    def _layers_run_by(self, function: FunctionSummary) -> list[str]:
        owner, _, name = function.qualname.rpartition(".")
        if name != "forward":
            return []
        parts = self._index.modules[function.module].parts
        return [part.name for key, every in parts.items() if key.startswith(f"{owner}.") for part in every]

    def has_weights_read(self, expression: ast.expr) -> bool:
        """Whether this file reads the parameters or state dict of an expression with the same source, or a
        function of the project does that it passes the value to.
        """
        reads = self._analysis.weight_reads
        return reads.include(expression) or reads.include_passed(expression, self._types.call_targets)

    def takes_frames(self) -> bool:
        """Whether the code of this file works with a network that divides its input by 255: observations are
        then frames in bytes.
        """
        return self._program_symbols.takes_frames(self._symbols.module.module)
