"""What a rule can ask about the code it looks at. Rules ask; none rebuilds the answers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TypeVar

from rlint.findings import Heat, Position
from rlint.project import work
from rlint.project.autograd import Autograd, AutogradHere, Callers
from rlint.project.beats import Beat, Beats
from rlint.project.changes import Changes
from rlint.project.channels import Made
from rlint.project.checkpoints import writes_checkpoint
from rlint.project.concurrency import Runners, Start
from rlint.project.conditions import Guard
from rlint.project.constants import Constants, Written
from rlint.project.descents import Walks, storage_of
from rlint.project.devices import asks_for_device, is_device
from rlint.project.effect import Effect
from rlint.project.fate import Use, Uses
from rlint.project.forwards import Forwards
from rlint.project.gradients import Gradients
from rlint.project.guards import last_name
from rlint.project.handed import takes_loop_items
from rlint.project.heat import COLD, HeatAt
from rlint.project.items import Place, maker_of, place_of
from rlint.project.kind import Device, Kind, Tag
from rlint.project.kind_algebra import is_immutable
from rlint.project.knowledge import Knowledge
from rlint.project.launches import makes_worker
from rlint.project.linked import Linked
from rlint.project.locks import Section
from rlint.project.lookups import OF_THE_FUNCTION, lookups
from rlint.project.loops import GRADIENT_STEP, AnyLoop
from rlint.project.modes import sets_mode_around
from rlint.project.modules import Anatomy, Modules
from rlint.project.order import Order
from rlint.project.origins import Sources
from rlint.project.outlets import Left
from rlint.project.parts import Parts
from rlint.project.repeats import Repeats, Repetition
from rlint.project.roles import LEARNS
from rlint.project.settled import Settled
from rlint.project.stepped import Optimized
from rlint.project.summary import ClassSummary, FunctionSummary, ModuleSummary
from rlint.project.sure_devices import SureDevices
from rlint.syntax.scopes import Binding, How, Scope
from rlint.syntax.toplevel import TopLevel
from rlint.syntax.tree import FUNCTIONS, Function, Loop
from rlint.syntax.walk import below

_Key = TypeVar("_Key", bound=Hashable)
_Found = TypeVar("_Found")


class Site(TopLevel):
    """One file of a project, as rules see it. The edits that a fix is made of come from `TopLevel`.

    `path` is the file's name as shown to the user; `tree` its syntax tree with parents and scopes.
    """

    def __init__(self, path: str, knowledge: Knowledge, linked: Linked) -> None:
        super().__init__(knowledge.tree)
        index, heat = linked.index, linked.heat
        self.path = path
        self.knowledge = knowledge
        self.index = index
        self._linked = linked
        self._heat = heat
        self._beats = Beats(heat)
        self._reads: dict[tuple[str, Scope], list[ast.Name]] = {}
        self._outlets: dict[ast.expr, tuple[Left, ...]] = {}
        self._captured: dict[tuple[str, Scope], bool] = {}
        self._found: dict[tuple[Callable[..., object], object], object] = {}
        self.order = Order(self.tree)
        self._changes = Changes(knowledge)
        self._work = work.Work(index)
        self._uses = Uses(knowledge)
        self._sure_devices = SureDevices(knowledge)
        self._repeats = Repeats(self.tree, self._changes, self.order)
        self._constants = Constants(knowledge.tree, knowledge.names, knowledge.flow)
        self._modules = Modules(index)
        self._autograd = AutogradHere(knowledge)
        self._callers = Callers(heat, linked.guesses)
        self._forwards = Forwards(heat)
        self._gradients = Gradients(knowledge, self._autograd, index)
        self._optimized = Optimized(knowledge)
        self._parts = Parts(knowledge)
        self._settled = Settled(index, heat)
        self._heats: dict[ast.AST, HeatAt] = {}
        self._callables: dict[ast.Call, list[FunctionSummary]] = {}
        self._giving: dict[ast.Call, bool] = {}
        self._warm: dict[ast.AST | None, bool] = {}
        self._warm_nodes: dict[type[ast.AST], list[ast.AST]] = {}

    # -- what things are -----------------------------------------------------------------------

    def qualified(self, expression: ast.expr) -> str | None:
        """The canonical dotted name of what an expression refers to, through imports and aliases:
        `numpy.concatenate`, `torch.nn.functional.relu`, `builtins.len`; None for the value of a variable.
        """
        return self.knowledge.names.qualified(expression)

    def spelled(self, qualified: str, at: ast.AST) -> str | None:
        """How a thing of a library is written at a place, by what is imported there; None without import."""
        return self.knowledge.names.spelled(qualified, at)

    def kind_of(self, expression: ast.expr) -> Kind:
        """What is known of an expression's value: tensor (and where), ndarray, module, lock, str …"""
        return self.knowledge.kinds.kind_of(expression)

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

    def callables(self, call: ast.Call) -> list[FunctionSummary]:
        """The functions of the project that a call may run (several where a method is overridden)."""
        known = self._callables.get(call)
        if known is None:
            known = self._callables[call] = self._find_callables(call)
        return known

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

    def definition(self, function: FunctionSummary) -> Function | None:
        """The def of a function of the project, where it stands in this very file."""
        return self._gradients.definition(function)

    def calls_named(self, name: str, function: Function | None) -> list[ast.Call]:
        """The calls in a function (or at module level) of what bears this name or is a method of it."""
        return self._calls.get((name, function), [])

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
        function = self.tree.function(node)
        summary = self.module.functions.get(self.tree.qualname(function) if function is not None else "")
        return summary is None or sets_mode_around(summary, self._heat.graph)

    def is_self(self, expression: ast.expr) -> bool:
        """Is this the first parameter of the method around it?"""
        return self._parts.is_self(expression)

    def is_setting(self, attribute: ast.Attribute) -> bool:
        """Does `self.x` (or `self.config.x`) keep the value that it got while its object was made, for all
        that the project does? Not so for objects that hot code makes.
        """
        if self._parts.is_self(attribute.value):
            return self._settled.is_settled(self._class_around(attribute), attribute.attr)
        if isinstance(attribute.value, ast.Attribute) and self.is_setting(attribute.value):
            return self._settled.is_settled(self.class_of_value(attribute.value), attribute.attr)
        return False

    # -- what things do ------------------------------------------------------------------------

    def effect_of(self, expression: ast.expr) -> Effect:
        """The effect of evaluating an expression, all its parts included."""
        return self.knowledge.effects.effect_of(expression)

    def call_effect(self, call: ast.Call) -> Effect:
        """The effect of a call, its arguments left out."""
        return self.knowledge.effects.call_effect(call)

    def is_cheap(self, call: ast.Call) -> bool:
        """Is the call too cheap for a second one to matter (`len`, `str.lower`, `tensor.view`, a function of
        the project that only looks something up)?
        """
        cheap = work.is_cheap(call, self.knowledge)
        if cheap is None:
            targets = self.callables(call)
            return bool(targets) and not any(self._work.does_work(target) for target in targets)
        return cheap

    def saves(self, call: ast.Call) -> bool:
        """Does a call write a checkpoint (what was learned, to a file) each time that it runs?"""
        targets = self.callables(call)
        if targets:
            return any(map(self._heat.saves, targets))
        return writes_checkpoint(call, self.knowledge)

    def answers_alike(self, expression: ast.expr) -> bool:
        """Does evaluating it again, with nothing done in between, surely give an equal value? Not so for
        what draws, changes something or is unknown, nor for what other threads, processes or files decide,
        nor for what is written too often to be compared.
        """
        if not self.effect_of(expression).quiet or self._repeats.is_given_up(expression):
            return False
        for node in below(expression):
            if work.looks_outside(node, self.knowledge):
                return False
            if isinstance(node, (ast.Name, ast.Attribute)) and last_name(node) in self._shared_tensors:
                return False
            if isinstance(node, ast.Call) and any(map(self._work.watches_others, self.callables(node))):
                return False
        return True

    def is_pure_work(self, function: FunctionSummary) -> bool:
        """Does calling a function of the project twice cost something and give the same twice?"""
        return (
            self.index.effect_of(function).quiet
            and self._work.does_work(function)
            and not self._work.watches_others(function)
        )

    def walks_down(self, node: ast.Call | Loop) -> list[Kind]:
        """What stores the trees of sums that a call, or a loop in all its passes, walks down once, from node
        to node, to where a given sum lies; empty where nothing does.
        """
        if isinstance(node, ast.Call):
            descents = self._linked.descents
            path = self.knowledge.effects.path_of(node) if descents.any else None
            return descents.of(path, self.knowledge.name) if path else []
        walk = self._walks.loops.get(node)
        storage = storage_of(walk, self.knowledge) if walk is not None else None
        return [storage] if storage is not None else []

    # -- what flows where ----------------------------------------------------------------------

    def definitions(self, name: ast.Name) -> list[Binding]:
        """The bindings whose value a name may have where it stands; never one too few."""
        return self.knowledge.flow.reaching(name)

    def bindings(self, name: ast.Name) -> list[Binding]:
        """Everything that binds this variable, anywhere in its scope; empty for a builtin."""
        return self.knowledge.names.bindings(name)[1]

    def scope(self, node: ast.AST) -> Scope:
        """The scope in which a node is evaluated."""
        return self.tree.scope(node)

    def keeps(self, name: ast.Name, first: ast.AST, second: ast.AST) -> bool:
        """Is a variable surely bound to nothing else after `first` and before `second`? The same bindings may
        reach both, and yet one of them may lie between, in a loop. False where in doubt.
        """
        return self.knowledge.flow.keeps(name, first, second)

    def bindings_before(self, name: str, node: ast.AST, scope: Scope) -> list[Binding]:
        """The bindings of a variable that may hold when the statement of `node` begins."""
        return self.knowledge.flow.before(name, self.tree.statement(node), scope)

    def uses(self, name: str, scope: Scope) -> list[ast.Name]:
        """All nodes that read, bind or delete the variable `name` of `scope`, nested functions included."""
        return self.tree.variables.uses(name, scope)

    def reads(self, name: str, scope: Scope) -> list[ast.Name]:
        """The nodes that read the variable `name` of `scope`, nested functions included."""
        known = self._reads.get((name, scope))
        if known is None:
            uses = self.uses(name, scope)
            known = self._reads[name, scope] = [node for node in uses if isinstance(node.ctx, ast.Load)]
        return list(known)

    def captured(self, name: str, scope: Scope) -> bool:
        """Is the variable used by a nested function, lambda or class, declared global, or may it be
        looked up by name (`locals()`, `exec`, `eval`)?
        """
        known = self._captured.get((name, scope))
        if known is None:
            known = self._captured[name, scope] = self._is_captured(name, scope)
        return known

    def _is_captured(self, name: str, scope: Scope) -> bool:
        if name in self.tree.declared:
            return True
        for node in self.uses(name, scope):
            inner = self.tree.scope(node)
            while inner.is_comprehension and inner.parent is not None:
                inner = inner.parent
            if inner is not scope:
                return True
        return any(self.tree.scope(call).function is scope for call in self._dynamic_lookups)

    def attribute_uses(self, attribute: str) -> list[ast.Attribute]:
        """All nodes of this file that read, set or delete an attribute of this name, on any object."""
        return self._attributes.get(attribute, [])

    def is_asked_for_weights(self, expression: ast.expr) -> bool:
        """Does this file ask what reads the same for its parameters or its state dict?"""
        asked = self._asked_for_weights.get(last_name(expression))
        return asked is not None and ast.dump(expression) in asked

    @cached_property
    def _asked_for_weights(self) -> dict[str | None, set[str]]:
        """As `ast.dump` writes it, by its last name."""
        found: dict[str | None, set[str]] = {}
        for name in ("parameters", "named_parameters", "state_dict", "load_state_dict", "zero_grad"):
            for use in self.attribute_uses(name):
                found.setdefault(last_name(use.value), set()).add(ast.dump(use.value))
        return found

    def is_attribute_read(self, attribute: str) -> bool:
        """Does any file of the project read an attribute of this name, on any object?"""
        return self._linked.words.is_attribute_read(attribute)

    def changes_what_it_loads(self) -> bool:
        """May a module of the project change the state dict that it is given to load, by a hook or itself?"""
        hooks = ("_register_load_state_dict_pre_hook", "register_load_state_dict_pre_hook")
        return self.index.defines_method("_load_from_state_dict") or any(map(self.is_attribute_read, hooks))

    def is_set_up(self, *settings: str) -> bool:
        """Does the program that this file belongs to read or import one of these names: functions that set
        something for the whole process, as `set_default_device`? What only tests set counts for tests.
        """
        return self._linked.words.program_names(settings, self.module.module, tests=self.module.is_test)

    def is_only_fed(self, attribute: str) -> bool:
        """Are all things of this name only added to, and maybe emptied, in all files of the project?"""
        return self._linked.words.is_only_fed(attribute)

    def is_told(self, speedup: str) -> bool:
        """Does any file of the project say so of how torch computes: a word of `rlint.project.speedups`?"""
        return self._linked.words.is_told(speedup)

    def is_imported_anywhere(self, path: str) -> bool:
        """Does any file of the project import what stands at a dotted path?"""
        return self._linked.words.is_imported(path)

    def attribute_tags(self, attribute: str) -> frozenset[Tag]:
        """What the classes of the project say that their attributes of this name are, where they do."""
        return self._linked.words.attribute_tags(attribute)

    def is_imported(self, name: str) -> bool:
        """Does another file of the project import a name of this module, or all of its names?"""
        return self._linked.words.imports(name, self.module.module)

    def between(self, first: ast.AST, second: ast.AST) -> list[ast.AST] | None:
        """The statements and expressions that may run after `first` and before `second`; None where
        `first` does not always run before `second`.
        """
        return self.knowledge.flow.between(first, second)

    def unchanged_between(self, expression: ast.expr, first: ast.AST, second: ast.AST) -> bool:
        """Has `expression` surely the same value at `second` as at `first`? False where in doubt."""
        return self._changes.unchanged_between(expression, first, second)

    def doubts_between(
        self, expression: ast.expr, first: ast.AST, second: ast.AST
    ) -> tuple[ast.AST, ...] | None:
        """What could change the value of `expression` between the two places only behind its back: by
        another name, or in a function that is not handed it. None where it is not surely unchanged else.
        """
        return self._changes.doubts_between(expression, first, second)

    def equal_to(self, call: ast.expr) -> list[ast.expr]:
        """The calls of the same function that read like this one, itself included, in the order of
        evaluation. Whether they give the same is another question.
        """
        return self._repeats.equal_to(call)

    def repetition(self, expression: ast.expr) -> Repetition | None:
        """The calls (or comprehensions) of the same function that read like this one, are evaluated after
        it with the same arguments, and only when it was evaluated; None where there are none.
        """
        return self._repeats.repetition(expression)

    def repeated(self, expression: ast.expr) -> Repetition | None:
        """The repetition that has this expression among the later evaluations."""
        return self._repeats.repeated(expression)

    def use_of(self, expression: ast.expr) -> Use:
        """What becomes of an expression's value: looked at, kept or changed, and computed with or not."""
        return self._uses.of(expression)

    def gives_immutable(self, call: ast.expr) -> bool:
        """Is what an expression gives surely a value that nobody can change, whichever it is?"""
        if is_immutable(self.kind_of(call)):
            return True
        match call:
            case ast.Call(func=ast.Attribute(attr="item"), args=[]):
                return True  # of an array or a tensor, the Python number
        targets = self.callables(call) if isinstance(call, ast.Call) else []
        return bool(targets) and all(self.index.returns_immutable(target) for target in targets)

    # -- gradients -----------------------------------------------------------------------------

    def autograd_at(self, node: ast.AST) -> Autograd:
        """Is autograd off where a node runs: by a block, a decorator, or all calls of its function?"""
        said = self._autograd.at(node)
        function = self.tree.function(node)
        if said is not None or function is None:
            return said or Autograd.ON
        summary = self.module.functions.get(self.tree.qualname(function))
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

    def once(self, find: Callable[[_Key, Site], _Found], about: _Key) -> _Found:
        """What a function finds out about a part of this file, looked for once. Rules keep nothing: what one
        of them asks of a whole loop, class or lock for each node in it, it asks by this.
        """
        key = find, about
        if key not in self._found:
            self._found[key] = find(about, self)
        return self._found[key]  # type: ignore[return-value]

    # -- how often things run ------------------------------------------------------------------

    def heat_of(self, node: ast.AST) -> HeatAt:
        """How often a node runs, and the chain that explains it."""
        known = self._heats.get(node)
        if known is None:
            known = self._heats[node] = self._heat_of(node)
        return known

    def _heat_of(self, node: ast.AST) -> HeatAt:
        function = self.tree.function(node)
        module = self.module
        summary = module.functions.get(self.tree.qualname(function) if function is not None else "")
        if summary is None:
            return COLD
        loops = self.knowledge.loops
        return self._heat.inside(
            summary, [loops.index[loop] for loop in loops.around(node)], loops.coldest(node)
        )

    def runs_each_pass(self, node: ast.AST) -> bool:
        """Does a node run each time that the code which makes it this hot runs: each environment step of
        the loop, each gradient step of the update? False behind an interval (`if step % n == 0`), at the
        node or at all calls that lead to it, and in all cases of doubt.
        """
        function = self.tree.function(node)
        summary = self.module.functions.get(self.tree.qualname(function) if function is not None else "")
        level = self.heat_of(node).level
        if summary is None or level is Heat.COLD:
            return False
        loops = self.knowledge.loops
        around = [loops.index[loop] for loop in loops.around(node)]
        return self._heat.each_pass(summary, around, level, own=loops.pacing.each_pass(node))

    def runs_by_role(self, node: ast.AST) -> bool:
        """Does a node run in each call of a function that is only known to be called often by its name
        (`act`, `store_transition`), as no code of the project calls it? `runs_each_pass` is False there.
        """
        function = self.tree.function(node)
        summary = self.module.functions.get(self.tree.qualname(function) if function is not None else "")
        if summary is None or not self._heat.by_role(summary) or self.loops(node):
            return False
        return self.knowledge.loops.pacing.each_pass(node) is not False

    def guards(self, node: ast.AST) -> tuple[Guard, ...]:
        """The conditions that a node stands behind, up to the training loop that runs it: around it, or in
        an early `continue` or `return`, here and at the calls that lead to it (on the way with the fewest).
        Those that hold in nearly every pass are left out.
        """
        beat = self.beat(node)
        return beat.guards if beat is not None else self.knowledge.loops.conditions.of(node)

    def conditions(self, node: ast.AST) -> tuple[Guard, ...]:
        """The conditions that a node stands behind in its own function, those around all loops included."""
        return self.knowledge.loops.conditions.of(node)

    def beat(self, node: ast.AST) -> Beat | None:
        """What the training loop that runs a node does in each pass, and the conditions between the two;
        None where no such loop is known.
        """
        function = self.tree.function(node)
        summary = self.module.functions.get(self.tree.qualname(function) if function is not None else "")
        if summary is None or self._heat.is_test(summary):
            return None
        loops = self.knowledge.loops
        around = [loops.index[loop] for loop in loops.around(node)]
        return self._beats.of(summary, around, loops.conditions.of(node))

    def driving_loop(self, node: ast.AST) -> AnyLoop | None:
        """The loop of a node's own function that gives its beat."""
        beat = self.beat(node)
        if beat is None or beat.calls:
            return None
        index = self.knowledge.loops.index
        return next((loop for loop in self.loops(node) if index[loop] == beat.loop), None)

    def drives(self, node: ast.AST) -> frozenset[str]:
        """What the function around a node, and those that call it while they are warm, do again and again:
        the drivers of `rlint.project.loops`.
        """
        function = self.tree.function(node)
        if function is None and self.module.cells and self.loops(node):
            return frozenset()  # what one cell of a notebook trains, another one only shows
        summary = self.module.functions.get(self.tree.qualname(function) if function is not None else "")
        return self._heat.drives(summary) if summary is not None else frozenset()

    def ways_from_training(self, node: ast.AST) -> list[tuple[str, ...]]:
        """The ways to a node from the loops that take gradient steps: the paths of the functions entered on
        each, that of the loop first and that of the node last.
        """
        function = self.tree.function(node)
        summary = self.module.functions.get(self.tree.qualname(function) if function is not None else "")
        if summary is None:
            return []
        loops = self.knowledge.loops
        around = [loops.index[loop] for loop in loops.around(node)]
        return self._heat.ways_from_training(summary, around)

    def asks_for_device(self, test: ast.expr) -> bool:
        """Does a condition ask for nothing but whether the program runs on an accelerator, or on which?"""
        return asks_for_device(test, self.qualified)

    def passed_names(self, name: ast.Name) -> list[str]:
        """What the arguments are called that calls in hot and warm code hand to the parameter `name`, one
        for each such call ("" for what has no name); empty for what is no parameter.
        """
        bindings = self.definitions(name)
        function = self.tree.function(name)
        if function is None or [binding.how for binding in bindings] != [How.PARAMETER]:
            return []
        summary = self.module.functions.get(self.tree.qualname(function))
        return self._heat.passed_names(summary, name.id) if summary is not None else []

    def is_called(self, node: ast.AST) -> bool:
        """Does code of the project, tests left out, call the function around a node?"""
        function = self.tree.function(node)
        summary = self.module.functions.get(self.tree.qualname(function) if function is not None else "")
        return summary is not None and bool(self._heat.callers(summary))

    def takes_loop_items(self, name: ast.Name) -> bool:
        """Is the parameter `name` handed the variable of a loop, another thing in each pass, by a call in
        warm or hot code, directly or through parameters of callers?
        """
        function = self.tree.function(name)
        summary = self.module.functions.get(self.tree.qualname(function) if function is not None else "")
        return summary is not None and takes_loop_items(self._heat, summary, name.id)

    def may_be_warm(self, node: ast.AST) -> bool:
        """Can any line of the function that runs a node be warmer than cold? Cheaper than `heat_of`."""
        function = self.tree.function(node)
        known = self._warm.get(function)
        if known is None:
            summary = self.module.functions.get(self.tree.qualname(function) if function is not None else "")
            known = self._warm[function] = summary is not None and self._heat.may_be_warm(summary)
        return known

    def warm_nodes(self, kind: type[ast.AST]) -> list[ast.AST]:
        """All nodes of exactly this type that may be warm, in source order."""
        known = self._warm_nodes.get(kind)
        if known is None:
            every: list[ast.AST] = self.tree.of_type(kind)
            known = self._warm_nodes[kind] = [node for node in every if self.may_be_warm(node)]
        return known

    def loops(self, node: ast.AST) -> list[AnyLoop]:
        """The loops and comprehensions of the same function that repeat a node, innermost first. A loop
        that the node's block leaves by `break`, `return` or `raise` is not among them.
        """
        return self.knowledge.loops.around(node)

    # -- threads, processes and what they share -------------------------------------------------

    def starts_at(self, call: ast.Call) -> list[Start]:
        """The workers that a call makes, each with the function that it will run, where that is known."""
        function = self._summary_around(call)
        found = [start for start in self._linked.concurrency.starts_of(function) if start.line == call.lineno]
        return found if found and makes_worker(call, self.knowledge) else []

    def starts(self) -> tuple[Start, ...]:
        """All lines of the program that this file belongs to which start workers."""
        return self._linked.concurrency.starts_in(self.module.module)

    def runners(self, node: ast.AST) -> Runners:
        """Who may run a node: the workers that were started with a function that leads to it, and whether
        code outside of workers does, too.
        """
        function = self._summary_around(node)
        return self._linked.concurrency.runners(function) if function is not None else Runners()

    def run_by(self, function: FunctionSummary) -> list[FunctionSummary]:
        """A function, and all that it runs in the same thread, as far as is known."""
        return self._linked.concurrency.run_by(function)

    def learns(self, function: FunctionSummary) -> bool:
        """Does a function, with all that it calls, take gradient steps?"""
        return self._heat.learns(function)

    def convolves(self, function: FunctionSummary) -> bool:
        """Is a function the forward pass of a network with convolutions?"""
        owner, _, name = function.qualname.rpartition(".")
        parts = self.index.modules[function.module].parts
        return name == "forward" and any(
            part.name.startswith("torch.nn.Conv")
            for key, every in parts.items()
            if key.startswith(f"{owner}.")
            for part in every
        )

    def program_says(self, word: str) -> bool:
        """Does a file of the program say how torch computes (the words of `rlint.project.speedups`)?"""
        return self._linked.words.program_says(word, self.module.module)

    def lock_sections(self) -> tuple[Section, ...]:
        """The parts of this file that run while a lock is held, one for each `with` or `acquire`."""
        return self.knowledge.locks.sections

    def sections_of(self, statement: ast.AST) -> list[Section]:
        """Those that a statement begins: several where a `with` takes several locks."""
        return self.knowledge.locks.begun_by(statement)

    def locks_held(self, node: ast.AST) -> tuple[Section, ...]:
        """The sections of the same function that hold a lock while a node runs, innermost first."""
        return self.knowledge.locks.held(node)

    def is_locked(self, node: ast.AST) -> bool:
        """Is a lock held while a node runs, by the function around it or by all calls that lead to it?"""
        if self.locks_held(node):
            return True
        function = self._summary_around(node)
        return function is not None and self._called_locked(function, 4)

    def _called_locked(self, function: FunctionSummary, depth: int) -> bool:
        callers = self._heat.graph.callers(function.path)
        return (
            depth > 0
            and bool(callers)
            and all(edge.site.locked or self._called_locked(edge.caller, depth - 1) for edge in callers)
        )

    def guarded(self, section: Section) -> frozenset[str]:
        """The names of the state that the lock of a section guards: what any section of that lock writes."""
        return self.knowledge.locks.guarded(section)

    def made(self, shared: ast.expr) -> tuple[Made, ...]:
        """How the queues, events or shared values are made that an expression may be, by its name and by
        what callers call it; empty where nobody knows.
        """
        return self._linked.channels.made(self._shared_names(shared), self.module.module)

    def carries(self, queue: ast.expr) -> str:
        """What the program puts into a queue: METRICS, DATA or UNSURE of `rlint.project.channels`."""
        return self._linked.channels.carries(self._shared_names(queue), self.module.module)

    def who(self, does: str, event: ast.expr) -> list[FunctionSummary]:
        """The functions of the program that do something with an event: "set", "clear", "wait" or "look"."""
        return self._linked.channels.signals(self._shared_names(event), self.module.module, does)

    def _shared_names(self, shared: ast.expr) -> set[str]:
        name = last_name(shared)
        if name is None:
            return set()
        is_parameter = isinstance(shared, ast.Name) and any(
            binding.how is How.PARAMETER for binding in self.definitions(shared)
        )
        return self._linked.channels.aliases(name, self._summary_around(shared), parameter=is_parameter)

    def _summary_around(self, node: ast.AST) -> FunctionSummary | None:
        function = self.tree.function(node)
        return self.module.functions.get(self.tree.qualname(function) if function is not None else "")

    # -- where things stand --------------------------------------------------------------------

    @cached_property
    def module(self) -> ModuleSummary:
        """The summary of this file."""
        return self.index.modules[self.knowledge.name]

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node that holds this one."""
        return self.tree.parents.get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The node's parent, its parent's parent, … up to the module."""
        return self.tree.ancestors(node)

    def function(self, node: ast.AST) -> Function | None:
        """The innermost def that runs a node (lambdas and comprehensions belong to it)."""
        return self.tree.function(node)

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        """The class whose method or body holds a node."""
        return self.tree.class_of(node)

    def method(self, cls: ast.ClassDef, name: str) -> Function | None:
        """The method that a class of this file defines itself."""
        for child in cls.body:
            if isinstance(child, FUNCTIONS) and child.name == name:
                return child
        return None

    def span_of(self, node: ast.AST) -> tuple[Position, Position]:
        """The place to underline: the node, or the header of a compound statement."""
        start, end = self.header_span(node)
        return self.tree.positions.position(start), self.tree.positions.position(end)

    def logical_lines(self, node: ast.AST) -> tuple[int, int]:
        """First and last line of the statement around a node, or of its header if it is compound."""
        statement: ast.AST = node
        while not isinstance(statement, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            statement = self.tree.parents[statement]
        start, end = self.header_span(statement)
        positions = self.tree.positions
        return positions.position(start).line, positions.position(end).line

    @cached_property
    def _walks(self) -> Walks:
        return Walks(self.tree)

    @cached_property
    def _shared_tensors(self) -> set[str | None]:
        """The names of tensors that several processes hold."""
        return {last_name(shared.value) for shared in self.attribute_uses("share_memory_")}

    @cached_property
    def _calls(self) -> dict[tuple[str, Function | None], list[ast.Call]]:
        found: dict[tuple[str, Function | None], list[ast.Call]] = {}
        for node in self.tree.of_type(ast.Call):
            match node.func:
                case ast.Name(id=name) | ast.Attribute(attr=name):
                    found.setdefault((name, self.tree.function(node)), []).append(node)
        return found

    @cached_property
    def _attributes(self) -> dict[str, list[ast.Attribute]]:
        found: dict[str, list[ast.Attribute]] = {}
        for node in self.tree.of_type(ast.Attribute):
            found.setdefault(node.attr, []).append(node)
        return found

    @cached_property
    def _dynamic_lookups(self) -> list[ast.Call]:
        return list(lookups(self.tree, {**OF_THE_FUNCTION, "globals": 9}))
