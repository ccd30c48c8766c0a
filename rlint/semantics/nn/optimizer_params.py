"""Networks that an optimizer updates, target networks, and frozen networks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property, lru_cache

from rlint import models
from rlint.frozen import frozen
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.regex import regex
from rlint.semantics.file_analysis import FileAnalysis
from rlint.syntax.assignments import value_assigned
from rlint.syntax.last_names import calls_like, last_name
from rlint.syntax.queries import is_constant
from rlint.syntax.scopes import BindingKind
from rlint.syntax.walk import descendants

_PARAMETERS = frozenset({"parameters", "named_parameters"})
_PASSES_ON = models.having(Trait.SAME_ITEMS, "builtins", "itertools") | {"builtins.filter", "builtins.sum"}
_MAKES_OPTIMIZER = regex(
    r"^(torch\.optim|torch\.optim\.\w+|apex\.optimizers|bitsandbytes\.optim)\."
    r"|^transformers\.(\w+\.)*(AdamW|Adafactor)$"
)
_FREEZES = regex(
    r"freeze(?!_?(bn|batch_?norm|norm|stat|running))|frozen"
    r"|(disable|without|no|off|(?<!re)set|toggle)_?(requires_?)?grad|requires_grad",
    re.IGNORECASE,
)
_SAME_OBJECT = models.having(Trait.RETURNS_SELF, TypeTag.MODULE)
_DEPTH = 8


@frozen
class SteppedParams:
    """The networks whose parameters the optimizers of a file or class received, as access texts
    (`self.actor`); `complete` says that there can be no others.
    """

    networks: frozenset[str] = frozenset()
    complete: bool = True

    def steps(self, network: str) -> bool | None:
        """Whether a network, or one that contains it, is updated. None if unknown."""
        if any(network == other or network.startswith((f"{other}.", f"{other}[")) for other in self.networks):
            return True
        return False if self.complete and self.networks else None


def _iterated(iterable: ast.expr, path: tuple[int, ...]) -> ast.expr:
    """Return what a loop variable at a path of the items iterates over: `target.parameters()` for the second
    variable of `for online, frozen in zip(net.parameters(), target.parameters())`.
    """
    match iterable, path:
        case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]), (1, *rest):
            return _iterated(inner, tuple(rest))
        case ast.Call(func=ast.Name(id="zip"), args=args), (place, *rest) if place < len(args):
            if not any(isinstance(each, ast.Starred) for each in args):
                return _iterated(args[place], tuple(rest))
    return iterable


class OptimizerParams:
    """The optimizers of one file, and its changes to the gradients of networks."""

    def __init__(self, analysis: FileAnalysis) -> None:
        self.analysis = analysis
        self.syntax = analysis.syntax
        self._stepped: dict[ast.ClassDef | None, SteppedParams] = {}
        self._optimizers: dict[ast.ClassDef | None, dict[str, frozenset[str] | None]] = {}

    def stepped_near(self, node: ast.AST) -> SteppedParams:
        """Return the networks updated by the optimizers created in the class around a node; outside of
        classes, by those created in functions or at module level.
        """
        cls = self.syntax.class_of(node)
        known = self._stepped.get(cls)
        if known is None:
            known = self._stepped[cls] = self._stepped_in(cls)
        return known

    def optimizers_near(self, node: ast.AST) -> dict[str, frozenset[str] | None]:
        """Return the optimizers that variables and attributes hold, in the same code as `stepped_near`: by
        access text, the networks that each received, None if there may be others.
        """
        cls = self.syntax.class_of(node)
        known = self._optimizers.get(cls)
        if known is None:
            known = self._optimizers[cls] = self._optimizers_in(cls)
        return known

    def _optimizers_in(self, cls: ast.ClassDef | None) -> dict[str, frozenset[str] | None]:
        found: dict[str, frozenset[str] | None] = {}
        for text, value in self._attributes_set:
            if not isinstance(value, ast.Call) or self.syntax.class_of(value) is not cls:
                continue
            if self._makes_optimizer(value):
                networks = self._given(value)
                known = found.get(text, networks)
                found[text] = networks if known == networks else None
        return found

    def is_stepped(self, network: ast.expr) -> bool | None:
        """Whether an optimizer steps the parameters of a network. None if unknown."""
        stepped = self.stepped_near(network)
        names = self.names_of(network)
        found: list[bool | None] = [stepped.steps(name) for name in names]
        if True in found:
            return True
        if None in found and not stepped.networks and stepped.complete:
            return self._steps_its_own(network, names)
        return None if None in found or not found else False

    def _steps_its_own(self, network: ast.expr, names: list[str]) -> bool | None:
        """Whether a network's own optimizer takes steps, if the enclosing class creates no others and
        networks have their own: `self.critic.optimizer.step()`. None if unknown.
        """
        owners = self._own_steps.get(self.syntax.class_of(network), frozenset())
        if not owners or self.analysis.types.type_of(network).tag is not TypeTag.MODULE:
            return None
        return any(name in owners for name in names)

    @cached_property
    def _own_steps(self) -> dict[ast.ClassDef | None, frozenset[str]]:
        """Return the networks whose own optimizer takes a step, by the class that calls `step`."""
        found: dict[ast.ClassDef | None, set[str]] = {}
        for use in self.syntax.written.attributes.get("step", ()):
            match use.value:
                case ast.Attribute(value=owner) as optimizer if (
                    self.analysis.types.type_of(owner).tag is TypeTag.MODULE
                    and self.analysis.types.type_of(optimizer).tag is TypeTag.OPTIMIZER
                ):
                    found.setdefault(self.syntax.class_of(use), set()).add(_access(owner) or "")
        return {cls: frozenset(owners) for cls, owners in found.items() if "" not in owners}

    def is_handed_stepped(self, network: ast.expr, parameter: str, passed: list[str]) -> bool | None:
        """Return the same for a network that callers pass to the function, under the names `passed`."""
        text = _access(network)
        if text is None or not passed or "" in passed:
            return None
        stepped = self.stepped_near(network)
        found = [stepped.steps(name + text[len(parameter) :]) for name in {*passed, parameter}]
        return True if True in found else None if None in found else False

    def share(self, one: str, other: str) -> bool:
        """Whether two networks may share a module: one is created with modules that other code holds, too, a
        part of it is set to one of the other's, or a call ties it to it.
        """
        for text, value in self._attributes_set:
            for near, far in ((one, other), (other, one)):
                if text == near and isinstance(value, ast.Call):
                    values = (*value.args, *(keyword.value for keyword in value.keywords))
                    held = [part for part in values if isinstance(part, (ast.Name, ast.Attribute))]
                    if any(self.analysis.types.type_of(part).tag is TypeTag.MODULE for part in held):
                        return True
                if text.startswith(f"{near}.") and (_access(_same(value)) or "").startswith((far, near)):
                    return True
        for call in self.syntax.of_type(ast.Call):
            if isinstance(call.func, ast.Attribute) and call.args and call.func.attr != "load_state_dict":
                texts = (_access(call.func.value) or "", _access(call.args[0]) or "")
                for near, far in ((one, other), (other, one)):
                    if texts[0].startswith(f"{near}.") and texts[1].startswith(f"{far}."):
                        return True
        return False

    def names_of(self, network: ast.expr) -> list[str]:
        """Return the access text of a network, and its other names."""
        text = _access(network)
        if text is None:
            return []
        names = [text]
        for target, value in self._attributes_set:
            if text == target or text.startswith(f"{target}."):
                other = _access(_same(value))
                if other is not None:
                    names.append(other + text[len(target) :])
        return names

    def is_frozen(self, network: ast.expr) -> bool:
        """Whether the parameters of a network may not require grad, by what this file does to variables of
        its name.
        """
        name = last_name(network)
        return name is not None and name in self.frozen

    @cached_property
    def frozen(self) -> frozenset[str]:
        """Return the last names of all networks whose parameters this file may freeze."""
        found: set[str] = set()
        attributes = self.syntax.written.attributes
        for node in (*attributes.get("requires_grad", ()), *attributes.get("requires_grad_", ())):
            if self._may_turn_off(node):
                found.update(self._turned_off(node.value))
        for call in calls_like(_FREEZES.search, self.syntax):
            values = [*call.args, *(keyword.value for keyword in call.keywords)]
            if isinstance(call.func, ast.Attribute) and self.analysis.names.qualified(call.func) is None:
                values.append(call.func.value)  # `critic.freeze()`, but not `torch.no_grad()`
            for value in values:
                found.update(self._network_names(value))
        return frozenset(found)

    def _may_turn_off(self, node: ast.Attribute) -> bool:
        """Whether the use of `requires_grad` or `requires_grad_` may set it to another value than True."""
        parents = self.syntax.parents
        if node.attr == "requires_grad_":
            call = parents.get(node)
            if not isinstance(call, ast.Call) or call.func is not node:
                return True
            values = [*call.args, *(keyword.value for keyword in call.keywords)]
            return bool(values) and not all(is_constant(value, value=True) for value in values)
        if not isinstance(node.ctx, ast.Store):
            return False
        statement = parents.get(node)
        return not (isinstance(statement, ast.Assign) and is_constant(statement.value, value=True))

    def _is_prefix(self, part: ast.Name | ast.Attribute) -> bool:
        """Whether a part only leads to a network: the `self` of `self.critic.parameters()`."""
        longer = self.syntax.parents.get(part)
        called = self.syntax.parents.get(longer) if isinstance(longer, ast.Attribute) else None
        return isinstance(longer, ast.Attribute) and not (
            isinstance(called, ast.Call) and called.func is longer
        )

    def _turned_off(self, owner: ast.expr) -> Iterator[str]:
        """Yield the networks whose `requires_grad` is set through a value: they or their parameters."""
        yield from self._network_names(owner)
        if isinstance(owner, ast.Name):
            for binding in self.analysis.definitions.reaching(owner):
                if binding.kind in (BindingKind.FOR, BindingKind.COMPREHENSION) and binding.value is not None:
                    for part in descendants(_iterated(binding.value, binding.path)):
                        if isinstance(part, (ast.Name, ast.Attribute)) and not self._is_prefix(part):
                            yield from self._network_names(part)
        function = self.syntax.function(owner)
        if function is not None:
            # everything that is passed to such a helper, or created by it
            yield f"{function.name}()"
            for call in self.syntax.of_type(ast.Call):
                if last_name(call.func) == function.name:
                    for value in call.args:
                        yield from self._network_names(value)
                    yield from self._assigned(call)

    def _network_names(self, value: ast.expr) -> Iterator[str]:
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            if self.analysis.names.qualified(value.func) is not None:
                break  # `copy.deepcopy(net).requires_grad_(False)`
            value = value.func.value
        if isinstance(value, ast.Call):
            yield from self._assigned(value)
            return
        name = last_name(value)
        if name is not None and name not in ("self", "parameters"):
            yield name
        if name == "self":
            cls = self.syntax.class_of(value)
            if cls is not None:
                yield cls.name

    def _assigned(self, value: ast.expr) -> Iterator[str]:
        """Yield the names that a value is assigned to."""
        statement = self.syntax.statement(value)
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                name = last_name(target)
                if name is not None:
                    yield name

    @cached_property
    def _attributes_set(self) -> list[tuple[str, ast.expr]]:
        """Return all `self.x = value` and `x = value` of this file, by the text of the target."""
        found = []
        for node in self.syntax.of_type(ast.Assign):
            for target in node.targets:
                for part in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
                    text, value = _access(part), value_assigned(part, self.syntax.parents)
                    if text is not None and value is not None:
                        found.append((text, value))
        return found

    def _stepped_in(self, cls: ast.ClassDef | None) -> SteppedParams:
        networks: set[str] = set()
        complete = True
        for call in self._calls_in.get(cls, ()):
            if not self._makes_optimizer(call):
                continue
            found = self._given(call)
            if found is None:
                complete = False
            else:
                networks |= found
        for use in self.syntax.written.attributes.get("add_param_group", ()):
            if self.syntax.class_of(use) is cls:
                complete = False
        return SteppedParams(frozenset(networks), complete)

    @cached_property
    def _calls_in(self) -> dict[ast.ClassDef | None, list[ast.Call]]:
        """Return the calls in each class, and outside of all."""
        found: dict[ast.ClassDef | None, list[ast.Call]] = {}
        for call in self.syntax.of_type(ast.Call):
            found.setdefault(self.syntax.class_of(call), []).append(call)
        return found

    def _given(self, call: ast.Call) -> frozenset[str] | None:
        """Return the networks whose parameters an optimizer is created with."""
        given = call.args[:1] or [k.value for k in call.keywords if k.arg in ("params", "parameters")]
        found = self._networks(given[0], _DEPTH) if given else None
        return frozenset(found) if found is not None else None

    def _makes_optimizer(self, call: ast.Call) -> bool:
        qualified = self.analysis.names.qualified(call.func) or ""
        if "lr_scheduler" in qualified:
            return False
        if _MAKES_OPTIMIZER.match(qualified):
            return self.analysis.types.type_of(call).tag is not TypeTag.SCHEDULER
        if self.analysis.types.type_of(call).tag is TypeTag.OPTIMIZER:
            return not isinstance(call.func, ast.Attribute) or call.func.attr not in _SAME_OBJECT
        # `optimizer_class(net.parameters())`
        return _is_optimizer_name(last_name(call.func) or "") and any(
            isinstance(part, ast.Attribute) and part.attr in _PARAMETERS
            for argument in call.args[:1]
            for part in descendants(argument)
        )

    def _networks(self, given: ast.expr, depth: int) -> set[str] | None:
        """Return the networks whose parameters an expression yields; None if there may be others."""
        if depth <= 0:
            return None
        match given:
            case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in _PARAMETERS:
                name = _access(owner)
                return {name} if name is not None else None
            case ast.Call(func=func, args=args):
                qualified = self.analysis.names.qualified(func) or ""
                if qualified in _PASSES_ON:
                    return self._union(args[-1:] if qualified == "builtins.filter" else args, depth)
                if qualified == "itertools.chain.from_iterable":
                    return self._union(args, depth)
                return None
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return self._union(elements, depth)
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and key.value == "params":
                        return self._networks(value, depth - 1)
                return None
            case ast.Starred(value=value):
                return self._networks(value, depth - 1)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._union([left, right], depth)
            case ast.ListComp(generators=[generator, *_]) | ast.GeneratorExp(generators=[generator, *_]):
                return self._networks(generator.iter, depth - 1)
            case ast.Name():
                return self._named(given, depth)
            case ast.Attribute():
                return self._attribute(given, depth)
        return None

    def _union(self, parts: list[ast.expr], depth: int) -> set[str] | None:
        found: set[str] = set()
        for part in parts:
            networks = self._networks(part, depth - 1)
            if networks is None:
                return None
            found |= networks
        return found

    def _named(self, name: ast.Name, depth: int) -> set[str] | None:
        found: set[str] = set()
        for binding in self.analysis.definitions.reaching(name):
            if (
                binding.kind not in (BindingKind.ASSIGN, BindingKind.AUGMENT)
                or binding.value is None
                or binding.path
            ):
                return None
            networks = self._networks(binding.value, depth - 1)
            if networks is None:
                return None
            found |= networks
        return found

    def _attribute(self, attribute: ast.Attribute, depth: int) -> set[str] | None:
        text = _access(attribute)
        values = [value for target, value in self._attributes_set if target == text]
        return self._union(values, depth) if values else None


@lru_cache(maxsize=4096)
def _is_optimizer_name(name: str) -> bool:
    return re.search(r"optim|^opt|adam|sgd|rms", name.lower()) is not None


def _same(value: ast.expr) -> ast.expr:
    """Return the value without trailing calls that return the same object."""
    while (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr in _SAME_OBJECT
    ):
        value = value.func.value
    return value


def _access(expression: ast.expr) -> str | None:
    """Return the source of a name, or of attributes and constant items of one."""
    match expression:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=owner, attr=name):
            inner = _access(owner)
            return f"{inner}.{name}" if inner is not None else None
        case ast.Subscript(value=owner, slice=ast.Constant(value=index)):
            inner = _access(owner)
            return f"{inner}[{index!r}]" if inner is not None else None
    return None
