"""Synchronisation of weights: copies of one network into another, in the forms that RL code uses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from rlint import models
from rlint.frozen import frozen
from rlint.models.effect import EffectKind
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.regex import regex
from rlint.semantics.nn.copied_networks import copies_in_attributes
from rlint.syntax.last_names import calls_like, last_name
from rlint.syntax.queries import dump_as_read, same_code
from rlint.syntax.scopes import BindingKind
from rlint.syntax.walk import descendants

if TYPE_CHECKING:
    from rlint.semantics.model import SemanticModel

# other objects that have a `state_dict`, by name if the type is not known
_NO_NETWORK = frozenset(
    "optim optimizer optimizers opt optimiser scheduler schedulers sched scaler stats rms normalizer "
    "tracker buffer sampler loader accelerator logger".split()
)
_FOLLOWER = frozenset(
    "target targets tgt targ targs tar trg old prev previous lagged lagging frozen delayed fixed prime "
    "reference ref slow".split()
)
_MARKS = ("t_{}", "{}_t", "{}_hat", "{}_bar", "{}_lag")
"""Names of the target network of a network."""
_NO_FOLLOWER = frozenset(
    "shared global worker workers remote best opponent opponents snapshot saved published publish backup "
    "league pool population collector explorer".split()
)
# a copy within these calls does not change their result
_KEEP_THE_VALUE = models.having(
    Trait.SAME_VALUES | Trait.CASTS | Trait.RELOCATES, TypeTag.TENSOR
) - models.having(Trait.GIVES_NUMBER, TypeTag.TENSOR)
_REFERENCE = frozenset({"ref", "reference"})
_COPYING = frozenset("soft hard polyak copy sync update ema blend average track".split())
# most names contain none of the words, not even as a part
_MAY_REVEAL_FOLLOWER = regex("|".join(sorted(_FOLLOWER)), re.IGNORECASE)
_MAY_REVEAL_COPY = regex("|".join(sorted(_COPYING)), re.IGNORECASE)
MAKES_A_DICT = frozenset({"builtins.dict", "collections.OrderedDict"})
_COPIES = frozenset({"torch.clone", "copy.deepcopy"})
_COPIES_WEIGHTS = frozenset({"load_state_dict", "parameters", "named_parameters"})
_HARMLESS = EffectKind.WRITES_OUTPUT | EffectKind.WARNS | EffectKind.READS_CLOCK


@frozen
class StateLoad:
    """`target.load_state_dict(...)`.

    `given` is the expression that creates the loaded state: the argument itself, or the value of a local name
    that is read only here and whose tensors no known code modifies in between. `may_modify` is code in
    between that could do so by running other code: a property, a generator, the method of an operator.
    `strict` says whether the argument of that name is passed.
    """

    call: ast.Call
    target: ast.expr
    argument: ast.expr
    given: ast.expr
    strict: bool | None
    may_modify: ast.AST | None = None


@frozen
class StateCopy:
    """`node` copies `original` unnecessarily; the tensors are those of the network `owner`."""

    node: ast.Call
    original: ast.expr
    owner: ast.expr
    whole_network: bool = False

    @property
    def deep(self) -> bool:
        """Whether the copy is made by `copy.deepcopy` rather than a tensor's `clone`."""
        return getattr(self.node.func, "attr", "deepcopy") != "clone"


def loaded_state(call: ast.Call, model: SemanticModel) -> StateLoad | None:
    """Return a call of `load_state_dict` that copies into a network.

    None for another call, if it takes over the tensors themselves (`assign=True`), or if a class of the
    project overrides the loading.
    """
    match call.func:
        case ast.Attribute(value=target, attr="load_state_dict"):
            pass
        case _:
            return None
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    arguments = call.args[:1] or [keywords[name] for name in ("state_dict",) if name in keywords]
    if None in keywords or len(call.args) > 2 or not arguments or isinstance(arguments[0], ast.Starred):
        return None
    assign = keywords.get("assign")
    if assign is not None and not (isinstance(assign, ast.Constant) and assign.value is False):
        return None
    if not may_be_network(target, model) or model.types.call_targets(call):
        return None
    strict = keywords.get("strict") or (call.args[1] if len(call.args) == 2 else None)
    known = None if strict is None else isinstance(strict, ast.Constant) and strict.value is True
    given = _maker(arguments[0], call, model)
    may_modify = _runs_other_code(given, call, model) if given is not arguments[0] else None
    return StateLoad(call, target, arguments[0], given, known, may_modify)


def _maker(argument: ast.expr, call: ast.Call, model: SemanticModel) -> ast.expr:
    """Return the call that created the argument, if no other code observes its mutation."""
    if not isinstance(argument, ast.Name):
        return argument
    scope = model.names.scope(argument).lookup(argument.id)
    bindings = model.names.bindings(argument)
    if scope is None or len(bindings) != 1 or model.names.is_captured(argument.id, scope):
        return argument
    binding = bindings[0]
    if binding.kind is not BindingKind.ASSIGN or binding.value is None or binding.path:
        return argument
    single = isinstance(binding.statement, ast.Assign) and len(binding.statement.targets) == 1
    if not single or len(model.names.reads(argument.id, scope)) != 1:
        return argument
    match model.syntax.statement(call):
        case ast.Expr(value=value) | ast.Assign(value=value) if value is call:
            return binding.value if _unchanged_between(binding.statement, call, model) else argument
    return argument


def _unchanged_between(first: ast.AST, second: ast.AST, model: SemanticModel) -> bool:
    """Whether no code between two statements mutates a tensor, or waits for code that does."""
    parts = model.dataflow.between(first, second)
    return parts is not None and all(
        _has_no_side_effects(node, model) for part in parts for node in descendants(part)
    )


def _has_no_side_effects(node: ast.AST, model: SemanticModel) -> bool:
    match node:
        case ast.Call():
            return model.effects.call_effect(node).does_only(_HARMLESS)
        case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
            return False
        case ast.AugAssign() | ast.Await() | ast.Yield() | ast.YieldFrom() | ast.withitem():
            return False
    return True


def _runs_other_code(given: ast.expr, call: ast.Call, model: SemanticModel) -> ast.AST | None:
    """Return what is evaluated between the creation of a state and the call that loads it, and may run code
    although it contains no call: it reads a property, uses an operator or an iterator, or frees an object.
    """
    frees = model.index.defines_method("__del__")
    parts: list[ast.AST] = [*(model.dataflow.between(given, call) or ()), call.func]
    for part in parts:
        if not model.effects.effect_of(part).does_only(_HARMLESS) or model.effects.may_exhaust(part):
            return part
        for node in descendants(part):
            if frees and isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                return part
            if _runs_method(node, model):
                return part
    return None


def _runs_method(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a node reads a property or item of an object of the project, or iterates over one, by a method
    that may have effects.
    """
    match node:
        case ast.Attribute(value=owner, attr=name, ctx=ast.Load()):
            methods: tuple[str, ...] = (name,)
        case ast.Subscript(value=owner, ctx=ast.Load()):
            methods = ("__getitem__",)
        case ast.For(iter=owner) | ast.comprehension(iter=owner):
            methods = ("__iter__", "__next__")
        case _:
            return False
    cls = model.types.class_of_value(owner)
    found = [model.index.method(cls, name) for name in methods] if cls is not None else []
    return any(
        method is not None
        and (method.is_property or not isinstance(node, ast.Attribute))
        and not model.index.effect_of(method).does_only(_HARMLESS)
        for method in found
    )


def state_owner(state: ast.expr, model: SemanticModel) -> ast.expr | None:
    """Return the network `net` of `net.state_dict()`, also through a name bound to it."""
    match state:
        case ast.Call(func=ast.Attribute(value=owner, attr="state_dict"), args=[], keywords=[]):
            return owner if may_be_network(owner, model) else None
        case ast.Name():
            bindings = model.dataflow.definitions(state)
            if len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGN and not bindings[0].path:
                value = bindings[0].value
                return state_owner(value, model) if isinstance(value, ast.Call) else None
    return None


def copied_state(given: ast.expr, model: SemanticModel) -> StateCopy | None:
    """Return the copy in an expression that is the copied state of a network."""
    item = item_of_dict(given, model)
    if item is not None:
        key, value, items = item
        found = copy_in(value, model)
        if found is None:
            return None
        owner = item_owner(key, found[2], items.target, items.iter, model)
        return StateCopy(found[0], found[1], owner) if owner is not None else None
    match given:
        case ast.Call(func=func, args=[state], keywords=[]) if model.names.qualified(func) == "copy.deepcopy":
            owner = state_owner(state, model)
            return StateCopy(given, state, owner) if owner is not None else None
        case ast.Call(
            func=ast.Attribute(
                value=ast.Call(func=func, args=[network], keywords=[]) as copy, attr="state_dict"
            ),
            args=[],
            keywords=[],
        ) if model.names.qualified(func) == "copy.deepcopy" and is_network(network, model):
            return StateCopy(copy, network, network, whole_network=True)
    return None


def item_of_dict(given: ast.expr, model: SemanticModel) -> tuple[str, ast.expr, ast.comprehension] | None:
    """Return key, value and loop of `{key: value for …}` and of `dict((key, value) for …)`."""
    match given:
        case ast.DictComp(key=ast.Name(id=key), value=value, generators=[items]):
            pass
        case ast.Call(
            func=func,
            args=[
                ast.GeneratorExp(elt=ast.Tuple(elts=[ast.Name(id=key), value]), generators=[items])
                | ast.ListComp(elt=ast.Tuple(elts=[ast.Name(id=key), value]), generators=[items])
            ],
            keywords=[],
        ) if model.names.qualified(func) in MAKES_A_DICT:
            pass
        case _:
            return None
    return None if items.ifs or items.is_async else (key, value, items)


def item_owner(
    key: str, tensor: ast.expr, target: ast.expr, iterable: ast.expr, model: SemanticModel
) -> ast.expr | None:
    """Return the network whose state contains `tensor` under `key`: `v` in `for key, v in
    net.state_dict().items()`, or `state[key]` in `for key in state`.
    """
    match target, iterable, tensor:
        case (
            ast.Tuple(elts=[ast.Name(id=first), ast.Name(id=second)]),
            ast.Call(func=ast.Attribute(value=state, attr="items"), args=[], keywords=[]),
            ast.Name(id=name),
        ) if first == key and second == name:
            return state_owner(state, model)
        case ast.Name(id=first), state, ast.Subscript(value=taken_from, slice=ast.Name(id=index)) if (
            first == key == index
        ):
            match state:
                case ast.Call(func=ast.Attribute(value=inner, attr="keys"), args=[], keywords=[]):
                    state = inner
            return state_owner(state, model) if same_code(taken_from, state) else None
    return None


def copy_in(value: ast.expr, model: SemanticModel) -> tuple[ast.Call, ast.expr, ast.expr] | None:
    """Return the outermost copy in `v.detach().clone().cpu()`, its argument, and `v`."""
    found: tuple[ast.Call, ast.expr] | None = None
    while True:
        match value:
            case ast.Call(func=ast.Attribute(value=inner, attr="clone")) if (
                model.names.qualified(value.func) is None
            ):
                found = found or (value, inner)
            case ast.Call(func=func, args=[inner], keywords=[]) if model.names.qualified(func) in _COPIES:
                found = found or (value, inner)
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _KEEP_THE_VALUE:
                pass
            case ast.Attribute(value=inner, attr="data"):
                pass
            case _:
                return (*found, value) if found else None
        value = inner


def may_be_network(expression: ast.expr, model: SemanticModel) -> bool:
    """Whether the value is a network, or unknown and not named like another kind of object."""
    tag = model.types.type_of(expression).tag
    return tag is TypeTag.MODULE or (tag is TypeTag.UNKNOWN and not words_of(expression, model) & _NO_NETWORK)


def is_network(expression: ast.expr, model: SemanticModel) -> bool:
    """Whether the value is a network: by its type, or because the file reads its parameters."""
    kind = model.types.type_of(expression)
    if kind.tag is not TypeTag.UNKNOWN:
        return kind.tag is TypeTag.MODULE and not kind.optional
    return model.nn.has_weights_read(expression)


def may_follow(access: ast.expr, model: SemanticModel) -> bool:
    """Whether an access, or the object that it is part of, may be a `called_follower`, judging by its
    names.
    """
    part = access
    while True:
        match part:
            case ast.Attribute(value=owner, attr=name):
                if _may_reveal_follower(name) or name in model.once(_copied_into, model.syntax.module):
                    return True
                part = owner
            case ast.Name(id=name):
                return _may_reveal_follower(name) or name in model.once(_loop_variables, model.syntax.module)
            case _:
                return not words_of(part, model).isdisjoint(_FOLLOWER)


def _loop_variables(_: ast.Module, model: SemanticModel) -> frozenset[str]:
    """Return the names of all loop variables of the file, which count as the iterated object."""
    loops: list[ast.For | ast.AsyncFor] = [
        *model.syntax.of_type(ast.For),
        *model.syntax.of_type(ast.AsyncFor),
    ]
    return frozenset(
        part.id for loop in loops for part in descendants(loop.target) if isinstance(part, ast.Name)
    )


def called_follower(network: ast.expr, model: SemanticModel) -> bool:
    """Whether a network is named like a target network, and the file copies weights into it or calls it a
    reference; or a network of any name, if a method copies the state of another one into it.
    """
    words = words_of(network, model)
    if words & (_NO_FOLLOWER | _NO_NETWORK):
        return False
    if not words & _FOLLOWER:
        return last_name(network) in model.once(_copied_into, model.syntax.module)
    return bool(words & _REFERENCE) or _receives_weights(network, model)  # a reference keeps its weights


def is_named_like_follower(name: str) -> bool:
    """Whether a name is that of a network which lags behind another one: `policy_old`, `target_critic`."""
    words = _split(name)
    return bool(words & _FOLLOWER) and not words & (_NO_FOLLOWER | _NO_NETWORK)


def only_receives_weights(network: ast.expr, model: SemanticModel) -> bool:
    """Whether an object that is no network itself holds a network that is named like a target network, copies
    weights into it, and reads its parameters for nothing else.
    """
    words = words_of(network, model)
    if words & (_NO_FOLLOWER | _NO_NETWORK) or not words & (_FOLLOWER - _REFERENCE):
        return False
    while isinstance(network, ast.Subscript):
        network = network.value  # one of several: `self.targets[i]`
    if not isinstance(network, ast.Attribute) or not model.names.is_self(network.value):
        return False
    if model.types.type_of(network.value).tag is TypeTag.MODULE:
        return False  # an optimizer may be created with all its parameters
    if any(
        last_name(use.value) == network.attr
        and not (_is_copied_in_pairs(use, model) or isinstance(_iterated_by(use, model), ast.For))
        for use in model.names.attribute_uses("parameters")
    ):
        return False
    return _receives_weights(network, model)


def _iterated_by(method: ast.Attribute, model: SemanticModel) -> ast.AST | None:
    """Return what is around the call of a method: a loop over its result, for instance."""
    call = model.parent(method)
    return model.parent(call) if isinstance(call, ast.Call) else None


def _receives_weights(network: ast.expr, model: SemanticModel) -> bool:
    name = last_name(network)
    for use in (*model.names.attribute_uses("load_state_dict"), *model.names.attribute_uses("parameters")):
        if last_name(use.value) == name and (
            use.attr == "load_state_dict" or _is_copied_in_pairs(use, model)
        ):
            return True
    if any(_copies_into(call, name, model) for call in model.once(_copying_calls, model.syntax.module)):
        return True
    return _is_copied_by_its_owner(network, model) or (
        isinstance(network, ast.Attribute) and network.attr in model.index.attribute_writes.copied_into
    )


def _copied_into(_: ast.Module, model: SemanticModel) -> frozenset[str]:
    """Return the attributes of `self` into which methods copy the state of another attribute, or that are
    made as a copy of one: `self.q_next.load_state_dict(self.q_eval.state_dict())`. None in files that set
    gradients, because workers compute gradients for a network that they copy.
    """
    found = {
        name
        for name, other in copies_in_attributes(model)
        if name != other and not _split(name) & (_NO_NETWORK | _NO_FOLLOWER)
    }
    for use in model.names.attribute_uses("load_state_dict"):
        match model.parent(use):
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(value=holder, attr=name)),
                args=[
                    ast.Call(
                        func=ast.Attribute(value=ast.Attribute(value=owner, attr=other), attr="state_dict")
                    )
                ],
            ) if name != other and model.names.is_self(holder) and model.names.is_self(owner):
                function = model.function(use)
                if (
                    function is not None
                    and not _split(name) & _NO_NETWORK
                    and not _split(other) & _NO_FOLLOWER
                ):
                    found.add(name)
    if found and any(
        isinstance(use.ctx, ast.Store)
        for each in ("grad", "_grad")
        for use in model.names.attribute_uses(each)
    ):
        return frozenset()
    return frozenset(found)


def _is_copied_by_its_owner(network: ast.expr, model: SemanticModel) -> bool:
    """Whether a network belongs to an object whose class, in another file, copies weights into it:
    `agent.target`.
    """
    match network:
        case ast.Attribute(value=owner) if not model.names.is_self(owner):
            cls = model.types.class_of_value(owner)
            if cls is not None and cls.module != model.module.module:
                return not _COPIES_WEIGHTS.isdisjoint(model.index.modules[cls.module].attributes_read)
    return False


def _copying_calls(_: ast.Module, model: SemanticModel) -> list[ast.Call]:
    """Return the calls of the file that copy, judging by their names."""
    return calls_like(_may_reveal_copy, model.syntax)


@lru_cache(maxsize=4096)
def _may_reveal_copy(name: str) -> bool:
    if _MAY_REVEAL_COPY.search(name) is None:
        return False
    return name == "deepcopy" or not _split(name).isdisjoint(_COPYING)


def _is_copied_in_pairs(use: ast.Attribute, model: SemanticModel) -> bool:
    """Whether an expression is `for t, p in zip(target.parameters(), net.parameters())`."""
    call = model.parent(use)
    zipped = model.parent(call) if call is not None else None
    return isinstance(zipped, ast.Call) and last_name(zipped.func) == "zip"


def _copies_into(call: ast.Call, name: str | None, model: SemanticModel) -> bool:
    """Whether an expression is `soft_update(net, target, tau)`, `target = copy.deepcopy(net)`."""
    if last_name(call.func) == "deepcopy":
        statement = model.syntax.statement(call)
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        return any(last_name(target) == name for target in targets)
    return any(last_name(argument) == name for argument in call.args)


def is_follower(target: ast.expr, source: ast.expr, model: SemanticModel) -> bool:
    """Whether `target` is a network that lags behind `source`: a target network, an old policy. False for a
    network that is passed to other processes, restored from it, or kept for later.
    """
    words = words_of(target, model)
    if not (words & _FOLLOWER or is_marked_copy(target, source)) or words & (_NO_FOLLOWER | _NO_NETWORK):
        return False
    if words_of(source, model) & (_FOLLOWER | _NO_FOLLOWER):
        return False
    if isinstance(target, ast.Name) and isinstance(source, ast.Name):
        given = model.frequency.passed_names(target) + model.frequency.passed_names(source)
        if any(not _split(name) & _FOLLOWER for name in model.frequency.passed_names(target)) or any(
            _split(name) & _NO_FOLLOWER for name in given
        ):
            return False  # a helper for all kinds of networks
    shape = ast.dump(target)
    return not any(dump_as_read(use.value) == shape for use in model.names.attribute_uses("share_memory"))


def is_marked_copy(target: ast.expr, source: ast.expr) -> bool:
    """Whether a network has the name of another one, marked as its copy: `self.t_agent` or `self.agent_t` of
    `self.agent`.
    """
    name, other = (last_name(each) or "" for each in (target, source))
    return bool(other) and name in {form.format(other) for form in _MARKS}


def words_of(expression: ast.expr, model: SemanticModel) -> set[str]:
    """Return the words in the names of an access: q and targets for `self.q_targets[i]`.

    A loop variable counts as the object that it is taken from: `for t, q in zip(self.targets, self.nets)`.
    """
    return set[str]().union(*map(_split, _names_in(expression, model)))


def _names_in(expression: ast.expr, model: SemanticModel) -> Iterator[str]:
    match expression:
        case ast.Attribute(value=owner, attr=name):
            yield name
            yield from _names_in(owner, model)
        case ast.Subscript(value=owner, slice=index):
            if isinstance(index, ast.Constant) and isinstance(index.value, str):
                yield index.value
            yield from _names_in(owner, model)
        case ast.Call(func=ast.Attribute(value=owner, attr="parameters" | "values" | "items" | "module")):
            yield from _names_in(owner, model)
        case ast.Call(func=func):
            yield last_name(func) or ""
        case ast.Name(id=name):
            yield name
            for binding in model.dataflow.definitions(expression):
                if binding.kind is BindingKind.FOR and binding.value is not None:
                    yield from _iterated_names(binding.value, binding.path, model)


def _iterated_names(iterable: ast.expr, path: tuple[int, ...], model: SemanticModel) -> Iterator[str]:
    match iterable:
        case ast.Call(func=ast.Name(id="zip"), args=args) if path and 0 <= path[0] < len(args):
            yield from _iterated_names(args[path[0]], path[1:], model)
        case ast.Call(func=ast.Name(id="enumerate"), args=[first, *_]) if path and path[0] == 1:
            yield from _iterated_names(first, path[1:], model)
        case ast.Tuple(elts=elements) | ast.List(elts=elements) if path and path[0] >= 0:
            for element in elements:
                if isinstance(element, (ast.Tuple, ast.List)) and path[0] < len(element.elts):
                    yield from _names_in(element.elts[path[0]], model)
        case ast.Call(func=ast.Attribute(attr="items" | "values")) | ast.Name() | ast.Attribute():
            yield from _names_in(iterable, model)


@lru_cache(maxsize=4096)
def _may_reveal_follower(name: str) -> bool:
    return _MAY_REVEAL_FOLLOWER.search(name) is not None and not _split(name).isdisjoint(_FOLLOWER)


@lru_cache(maxsize=4096)
def _split(name: str) -> frozenset[str]:
    """Split a name into words: `QTarget_net2` into q, target and net."""
    found, word = set(), ""
    for character in f"{name}_":
        starts = character.isupper() and word and not word[-1].isupper()
        if starts or not character.isalpha():
            if word:
                found.add(word.lower())
            word = ""
        if character.isalpha():
            word += character
    if name.lower().startswith("target") or name.lower().endswith("target"):
        found.add("target")
    return frozenset(found)
