"""Calls that run a sub-network, or compute a log-probability, for a result that is not used."""

from __future__ import annotations

import ast
from dataclasses import replace

from rlint.rule import (
    FUNCTIONS,
    ClassSummary,
    Driver,
    FunctionSummary,
    Heat,
    SemanticModel,
    Type,
    TypeTag,
    descendants,
    frozen,
    is_in_block,
    last_name,
    parameter_of,
    roles,
    separate_outputs,
    weight_sync,
)
from rlint.rules.networks._shared.seldom import is_rarely_reached
from rlint.rules.networks.rl323_discarded_forward.own_subnetworks import has_layers
from rlint.rules.networks.rl323_discarded_forward.parts_of_outputs import outputs_with_squashing, run_by
from rlint.rules.networks.rl323_discarded_forward.sinking import is_read

_MORE = frozenset({"last", "final", "next", "bootstrap"})
"""Words in the names of an observation after the rollout, of which there is one per environment."""


@frozen
class Unused:
    """The sub-networks that run for unused results: some attributes, or (`each`) all items of one but the
    first. With `log_probability`, the log-probability of a squashed action is computed as well.
    """

    attributes: tuple[str, ...]
    each: bool = False
    log_probability: bool = False
    option: str = ""
    """The parameter that turns the log-probability off, and changes no result that is used."""
    assumes: str = ""
    """What must hold: which class the network has."""


def unused_parts(call: ast.Call, model: SemanticModel) -> Unused | None:
    """Return the sub-networks that a call runs only for results that are not used."""
    used = _used_places(call, model)
    if (
        used is None
        or (_is_dwarfed(call, model) and not runs_per_round(call, model))
        or is_rarely_reached(call, model)
    ):
        return None
    functions = _fitting(_functions(call, model), call, model)
    found = {_unused_in(function, used, call, model) for function in functions}
    return found.pop() if len(found) == 1 else _of_one_class(functions, used, call, model)


def _is_dwarfed(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the function also has a loop that runs more often, such as a rollout whose last value is
    computed once.
    """
    if model.frequency.heat_of(call).level is Heat.HOT:
        return False
    function = model.function(call)
    if function is None:
        return False
    loops = (node for node in descendants(function) if isinstance(node, (ast.For, ast.While)))
    return any(model.frequency.heat_of(loop.body[0]).level is Heat.HOT for loop in loops)


def runs_per_round(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call runs once before a number of gradient steps on the same data, and no loop of its
    function steps an environment.
    """
    if model.frequency.heat_of(call).level is Heat.HOT or _MORE & weight_sync.words_of(call, model):
        return False
    function = model.symbols.function_at(call)
    drivers = [loop.drivers for loop in function.loops] if function is not None else []
    return any(Driver.GRADIENT_STEP in each for each in drivers) and not any(
        Driver.ENVIRONMENT_STEP in each for each in drivers
    )


def _unused_in(
    function: FunctionSummary, used: frozenset[int], call: ast.Call, model: SemanticModel
) -> Unused | None:
    if function.runs_each:
        is_one = used == {0} and isinstance(model.parent(call), ast.Subscript)
        return Unused((function.runs_each,), each=True) if is_one and _gives_several(call, model) else None
    count = len(function.outputs)
    if not used or not count or any(place >= count or place < -count for place in used):
        return None
    cls = _class_of(function, call, model)
    outputs = outputs_with_squashing(function, cls, model)
    needed = run_by(frozenset().union(*(outputs[place] for place in used)), cls, model)
    dropped = [
        names for place, names in enumerate(outputs) if place not in used and place - count not in used
    ]
    switched = [each for each in function.switched_outputs if _is_on(each, function, call)]
    skipped = set(function.conditional_outputs) - {each.name for each in switched}
    computed = run_by(frozenset().union(*dropped) - skipped, cls, model) - needed
    is_squashed = (
        computed >= separate_outputs.SQUASHED
        and model.frequency.heat_of(call).level is Heat.HOT
        and not _only_evaluates(call, model)
        and not _is_dropped_by_all(function, model)
    )
    run = needed - separate_outputs.SQUASHED
    own = [names for each in dropped if run and run.isdisjoint(names := run_by(each, cls, model))]
    parts = {name for names in own for name in names}  # heads of a common trunk cost little
    parts |= {name for name in computed if run and _is_deep(name, cls, model)}
    networks = tuple(sorted(name for name in parts & computed if _is_network(name, cls, model)))
    if not networks and not is_squashed:
        return None
    options = [
        each.parameter
        for each in switched
        if is_squashed
        and each.name == separate_outputs.LOG_PROBABILITY
        and each.outcome
        and not any(place in used or place - count in used for place in each.places)
    ]
    return Unused(networks, log_probability=is_squashed, option=options[0] if options else "")


def _fitting(functions: list[FunctionSummary], call: ast.Call, model: SemanticModel) -> list[FunctionSummary]:
    """Return those functions which return as many values as a call unpacks, if any do."""
    match model.parent(call):
        case ast.Assign(targets=[ast.Tuple(elts=targets)]):
            return [each for each in functions if len(targets) in each.hands_back] or functions
    return functions


def _is_on(switch: separate_outputs.OutputSwitch, function: FunctionSummary, call: ast.Call) -> bool:
    """Whether a call surely makes a method call what a parameter of it decides about."""
    for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
        if parameter_of(argument, call, function) == switch.parameter:
            return isinstance(argument, ast.Constant) and bool(argument.value) is switch.outcome
    is_sure = not any(isinstance(each, ast.Starred) for each in call.args) and all(
        keyword.arg is not None for keyword in call.keywords
    )
    return is_sure and switch.default is switch.outcome


def _is_dropped_by_all(function: FunctionSummary, model: SemanticModel) -> bool:
    """Whether no caller reads the log-probability: then the method that computes it is reported."""
    read = model.dataflow.items_read(function)
    places = [
        place for place, names in enumerate(function.outputs) if separate_outputs.LOG_PROBABILITY in names
    ]
    return read is not None and bool(places) and read.isdisjoint(places)


def _of_one_class(
    methods: list[FunctionSummary], used: frozenset[int], call: ast.Call, model: SemanticModel
) -> Unused | None:
    """Return the same for a network of one of several classes, if the method of just one of them runs parts
    of it for nothing; for one of unknown class, if the method of just one class computes the log-probability.
    """
    called = call.func
    run = model.nn.network_run(call)
    if run is None:
        return None
    wasted = [(method, part) for method in methods if (part := _unused_in(method, used, call, model))]
    if len(methods) > 1 and wasted and not wasted[0][1].log_probability:
        if len({part for _, part in wasted}) > 1 and len(wasted) < len(methods):
            return None  # the classes have little in common
        owner = wasted[0][0].qualname.rpartition(".")[0]
        return replace(wasted[0][1], assumes=f"`{model.source.text(run[0])}` is a `{owner}`")
    if not isinstance(called, ast.Attribute):
        return None
    found = [
        method
        for method in methods or model.index.network_methods(called.attr)
        if (unused := _unused_in(method, used, call, model)) is not None and unused.log_probability
    ]
    if len(found) != 1:
        return None
    owner = found[0].qualname.rpartition(".")[0]
    return Unused((), log_probability=True, assumes=f"`{model.source.text(called.value)}` is a `{owner}`")


def _only_evaluates(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call is in the branch that is taken to evaluate the policy: `if evaluate:`."""
    for branch in model.ancestors(call):
        if not isinstance(branch, ast.If):
            continue
        names = [last_name(node) or "" for node in descendants(branch.test)]
        if any(map(roles.evaluates, names)):
            return is_in_block(call, branch.orelse if _is_negated(branch.test) else branch.body)
    return False


def _is_negated(test: ast.expr) -> bool:
    match test:
        case ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Compare(ops=[ast.Is() | ast.Eq()], comparators=[ast.Constant(value=False)]):
            return True
    return False


def _used_places(call: ast.Call, model: SemanticModel) -> frozenset[int] | None:
    """Return which of the results of a call are used, by position; None if all may be."""
    parent = model.parent(call)
    match parent:
        case ast.Subscript(slice=ast.Constant(value=int(place)), ctx=ast.Load()):
            return frozenset({place})
        case ast.Subscript(
            slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(place))), ctx=ast.Load()
        ):
            return frozenset({-place})
        case ast.Assign(targets=[ast.Tuple(elts=targets)]):
            scope = model.names.scope(call)
            if not isinstance(scope.node, FUNCTIONS):
                return None
            names = [_names_of(target) for target in targets]
            if not all(names):
                return None
            return frozenset(
                place for place, own in enumerate(names) if any(is_read(name, scope, model) for name in own)
            )
    return None


def _names_of(target: ast.expr) -> list[ast.Name]:
    """Return the variables of a target: `mean` and `std` of `(mean, std)`; empty if there are others."""
    match target:
        case ast.Name():
            return [target]
        case ast.Tuple(elts=[*parts]) if all(isinstance(part, ast.Name) for part in parts):
            return [part for part in parts if isinstance(part, ast.Name)]
    return []


def _functions(call: ast.Call, model: SemanticModel) -> list[FunctionSummary]:
    """Return the methods that a call may run: of `self.method(x)`, the one of the class around it."""
    found = model.types.call_targets(call)
    if len(found) > 1 and isinstance(call.func, ast.Attribute) and model.names.is_self(call.func.value):
        cls = model.types.class_of_value(call.func.value)
        own = model.index.method(cls, call.func.attr) if cls is not None else None
        found = [each for each in found if each is own] or found
    if found:
        return found
    run = model.nn.network_run(call)
    cls = model.types.class_of_value(run[0]) if run is not None else None
    method = model.index.method(cls, run[1]) if run is not None and cls is not None else None
    return [method] if isinstance(method, FunctionSummary) else []


def _is_network(name: str, cls: ClassSummary | None, model: SemanticModel) -> bool:
    return _attribute(name, cls, model).tag is TypeTag.MODULE


def _is_deep(name: str, cls: ClassSummary | None, model: SemanticModel) -> bool:
    """Whether an attribute is a network of several layers, such as the mixing network of QMIX, which costs
    much even if it shares its input with others.
    """
    part = model.index.class_of(_attribute(name, cls, model))
    return part is not None and has_layers(part, model)


def _attribute(name: str, cls: ClassSummary | None, model: SemanticModel) -> Type:
    return model.index.attribute(cls, name) if cls is not None else Type()


def _class_of(function: FunctionSummary, call: ast.Call, model: SemanticModel) -> ClassSummary | None:
    """Return the class of the object whose method a call runs: if that is not known, the one that defines
    the method.
    """
    run = model.nn.network_run(call)
    receiver = run[0] if run is not None else getattr(call.func, "value", None)
    cls = model.types.class_of_value(receiver) if receiver is not None else None
    if cls is not None and model.index.method(cls, function.name) is function:
        return cls
    return model.index.owner_of(function)


def _gives_several(call: ast.Call, model: SemanticModel) -> bool:
    """Whether other code of the file unpacks the results of the same network, so that there are several."""
    network = _network_name(call)
    return any(
        isinstance(assignment.value, ast.Call)
        and _network_name(assignment.value) == network
        and any(isinstance(target, ast.Tuple) and len(target.elts) > 1 for target in assignment.targets)
        for assignment in model.syntax.of_type(ast.Assign)
    )


def _network_name(call: ast.Call) -> str | None:
    called = call.func
    if isinstance(called, ast.Attribute) and called.attr == "forward":
        called = called.value
    return last_name(called)
