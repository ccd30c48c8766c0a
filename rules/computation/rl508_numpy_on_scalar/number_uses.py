"""Values of unknown type that likely are single numbers, by what the code does with them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import partial

from rlint.rule import (
    Binding,
    BindingKind,
    SemanticModel,
    Trait,
    last_name,
    models,
    numbers,
    regex,
    same_code,
)

_COORDINATES = regex(
    r"(^|_)(pos|positions?|vel|velocity|velocities|qpos|qvel|xyz|xy|coords?|coordinates|rpy|euler)$"
)
_REWARDS = regex(r"^_?(raw_|extrinsic_|env_|ext_)?(reward|rew|rwd|r)$")
_OF_ONE_REWARD = regex(r"^_*(clip|normali[sz]e|scale|transform|shape|process|bound|preprocess)_reward$")
"""Functions of a single reward, if an environment step calls them."""
_DONES = regex(r"^(is_)?_?(done|terminal|terminated)$")
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_TAKE_NUMBERS = frozenset({"builtins.float", "builtins.int", "builtins.round"})
_COMPARE = frozenset({"builtins.max", "builtins.min"})
"""These compare their arguments, which fails for arrays."""
_ELEMENTWISE = models.having(Trait.ELEMENTWISE, "numpy") | {"numpy.clip"}
_OF_ITEMS = frozenset(f"numpy.{name}" for name in ("max", "min", "sum", "mean"))
_DEPTH = 6
_REWARD, _DONE = 1, 2
_STEP_RESULTS = (4, 5)


def names_coordinates(value: ast.expr) -> bool:
    """Whether a value is the position or velocity of one thing, by its name: `body.get_position()`."""
    name = last_name(value.func if isinstance(value, ast.Call) else value)
    return name is not None and bool(_COORDINATES.search(name.lower()))


def is_used_as_number(node: ast.expr, model: SemanticModel) -> bool:
    """Whether the function tests the variable as a number (`if speed > limit`), which raises an error for an
    array, or converts it to one: `float(speed)`. Attributes of `self` count if their class does so, and items
    (`action[0]`) and results of functions of numbers (`np.abs(action[1])`) if the function tests the same
    code elsewhere.
    """
    uses: Sequence[ast.expr]
    match node:
        case ast.Name():
            scope = model.names.scope(node).lookup(node.id)
            if scope is None or scope.parent is None:
                return False
            uses = model.names.reads(node.id, scope)
        case ast.Attribute(value=owner, attr=attribute) if model.names.is_self(owner):
            uses = [use for use in model.names.attribute_uses(attribute) if isinstance(use.ctx, ast.Load)]
        case ast.Subscript(value=ast.Name() as owner, slice=ast.Constant(value=int())):
            uses = _same_items(node, owner, model)
        case ast.Call(func=func) if model.names.qualified(func) in _ELEMENTWISE:
            uses = model.dataflow.equal_to(node)
        case _:
            return False
    if any(_has_parts(use, model) for use in uses):
        return False
    return any(
        _is_converted(use, model) or _is_tested(use, model) for use in map(partial(_whole, model), uses)
    )


def _same_items(item: ast.Subscript, owner: ast.Name, model: SemanticModel) -> list[ast.expr]:
    """Return the reads of the same item of a variable in the same function: `action[0]`."""
    scope = model.names.scope(owner).lookup(owner.id)
    if scope is None or scope.parent is None:
        return []
    around = (model.parent(use) for use in model.names.reads(owner.id, scope))
    return [
        each
        for each in around
        if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Load) and same_code(each, item)
    ]


def _whole(model: SemanticModel, value: ast.expr) -> ast.expr:
    """Return the arithmetic that a value is part of, and its absolute value: an array has as many
    elements.
    """
    while isinstance(outer := model.parent(value), ast.expr) and _keeps_size(outer, model):
        value = outer
    return value


def _keeps_size(outer: ast.expr, model: SemanticModel) -> bool:
    match outer:
        case ast.BinOp(op=op):
            return not isinstance(op, ast.MatMult)
        case ast.UnaryOp(op=op):
            return not isinstance(op, ast.Not)
        case ast.Call(func=func, args=[_], keywords=[]):
            return model.names.qualified(func) == "builtins.abs"
    return False


def is_number_by_use(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a result is converted to a number or tested as one truth value, also after arithmetic, which
    raises an error for arrays of several elements.
    """
    value = _whole(model, value)
    if _is_converted(value, model) or _is_tested(value, model) or _is_truth(value, model):
        return True
    match model.parent(value):
        case ast.Assign(targets=[ast.Name() as held]) as assigned:
            if len(model.names.bindings(held)) == 1:
                return is_used_as_number(held, model)
            return any(_is_tested(_whole(model, use), model) for use in _reads_of(held, assigned, model))
    return False


def _reads_of(held: ast.Name, assigned: ast.Assign, model: SemanticModel) -> list[ast.Name]:
    """Return the reads of a variable that only this assignment determines."""
    scope = model.names.scope(held).lookup(held.id)
    reads = model.names.reads(held.id, scope) if scope is not None else []
    return [
        read
        for read in reads
        if [binding.statement for binding in model.dataflow.definitions(read)] == [assigned]
    ]


def holds_numbers(attribute: ast.Attribute, model: SemanticModel) -> bool:
    """Whether the class assigns only numbers to an attribute of `self`, such as those of a running mean:
    `self.mean = 0.0`, `self.mean += (x.item() - self.mean) / self.count`.
    """
    owner = model.class_of(attribute)
    if owner is None or not model.names.is_self(attribute.value):
        return False
    return model.once(_holds_numbers, (owner, attribute.attr))


def _holds_numbers(about: tuple[ast.ClassDef, str], model: SemanticModel) -> bool:
    return _are_numbers(about[1], about[0], model, set())


def _are_numbers(attribute: str, owner: ast.ClassDef, model: SemanticModel, assumed: set[str]) -> bool:
    """Whether all values of an attribute are numbers, if those in `assumed` are."""
    if attribute in assumed:
        return True
    assumed.add(attribute)
    stores = [
        use
        for use in model.names.attribute_uses(attribute)
        if isinstance(use.ctx, ast.Store) and model.class_of(use) is owner
    ]
    values = [getattr(model.parent(use), "value", None) for use in stores]
    starts = any(isinstance(value, ast.Constant) for value in [*values, *_declared_in(owner, attribute)])
    return starts and all(
        isinstance(value, ast.expr)
        and isinstance(model.parent(use), (ast.Assign, ast.AugAssign, ast.AnnAssign))
        and _computes_number(value, owner, model, assumed, _DEPTH)
        for use, value in zip(stores, values, strict=True)
    )


def _declared_in(owner: ast.ClassDef, attribute: str) -> Iterator[ast.expr]:
    """Yield the values that the body of a class gives an attribute: `beta = 0.4`."""
    for statement in owner.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == attribute:
                yield value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if name == attribute:
                yield value


def _computes_number(
    value: ast.expr, owner: ast.ClassDef, model: SemanticModel, assumed: set[str], depth: int
) -> bool:
    """Whether a value is a number, if the attributes in `assumed` are."""
    if numbers.is_number(value, model):
        return True
    if depth <= 0:
        return False

    def is_one(part: ast.expr) -> bool:
        return _computes_number(part, owner, model, assumed, depth - 1)

    match value:
        case ast.UnaryOp(operand=operand):
            return is_one(operand)
        case ast.BinOp(left=left, right=right):
            return is_one(left) and is_one(right)
        case ast.IfExp(body=body, orelse=orelse):
            return is_one(body) and is_one(orelse)
        case ast.Call(func=ast.Attribute(attr="item"), args=[]):
            return True
        case ast.Call(func=func, args=arguments) if model.names.qualified(func) in _COMPARE | _ELEMENTWISE:
            return all(is_one(argument) for argument in arguments)
        case ast.Call(func=func, args=[ast.List(elts=items) | ast.Tuple(elts=items)], keywords=[]):
            return model.names.qualified(func) in _OF_ITEMS and all(is_one(item) for item in items)
        case ast.Attribute(value=holder, attr=name) if model.names.is_self(holder):
            return _are_numbers(name, owner, model, assumed)
        case ast.Name():
            bindings = model.dataflow.definitions(value)
            return bool(bindings) and all(
                binding.kind is BindingKind.ASSIGN
                and not binding.path
                and binding.value is not None
                and is_one(binding.value)
                for binding in bindings
            )
    return False


def _has_parts(use: ast.expr, model: SemanticModel) -> bool:
    """Whether the code reads an attribute or an item of the value, which numbers do not have."""
    parent = model.parent(use)
    return isinstance(parent, (ast.Attribute, ast.Subscript)) and parent.value is use


def _is_converted(use: ast.expr, model: SemanticModel) -> bool:
    match model.parent(use):
        case ast.Call(func=func, args=[argument], keywords=[]) if argument is use:
            called = model.names.qualified(func) or ""
            return called in _TAKE_NUMBERS or called.startswith("math.")
        case ast.Call(func=func, args=[_, _], keywords=[]):
            return (model.names.qualified(func) or "") in _COMPARE
    return False


def _is_tested(use: ast.expr, model: SemanticModel) -> bool:
    compared = model.parent(use)
    if not isinstance(compared, ast.Compare) or not all(isinstance(op, _ORDERS) for op in compared.ops):
        return False
    tested: ast.AST = compared
    while isinstance(outer := model.parent(tested), ast.BoolOp) or (
        isinstance(outer, ast.UnaryOp) and isinstance(outer.op, ast.Not)
    ):
        tested = outer
    return tested is not compared or (
        isinstance(outer, (ast.If, ast.While, ast.IfExp, ast.Assert)) and outer.test is tested
    )


def is_reward_of_one(binding: Binding, model: SemanticModel) -> bool:
    """Whether a variable is the reward of `env.step(action)`, of one environment: the function tests the
    `done` beside it as one truth value, or is that of a wrapper.
    """
    match binding.value, binding.statement:
        case (
            ast.Call(func=ast.Attribute(attr="step", value=owner)),
            ast.Assign(targets=[ast.Tuple(elts=targets)]),
        ) if binding.path == (_REWARD,) and len(targets) in _STEP_RESULTS:
            done = targets[_DONE]
        case _:
            return False
    if not isinstance(done, ast.Name) or "env" not in (last_name(owner) or ""):
        return False
    if isinstance(owner, ast.Attribute) and model.names.is_self(owner.value) and _wraps_one(owner, model):
        return True
    scope = model.names.scope(done).lookup(done.id)
    return scope is not None and any(_is_truth(use, model) for use in model.names.reads(done.id, scope))


def is_parameter_of_one(name: ast.Name, model: SemanticModel) -> bool:
    """Whether a parameter is the reward of one environment: that of `reward(self, reward)` of a wrapper, that
    of the function of `TransformReward(env, lambda reward: ...)`, or one beside a parameter `done`
    (`store(state, action, reward, next_state, done)`).
    """
    if (
        made := next((each for each in model.ancestors(name) if isinstance(each, ast.Lambda)), None)
    ) is not None:
        return _transforms_rewards(made, model)
    function = model.function(name)
    if function is None or not _REWARDS.search(name.id.lower()):
        return False
    parameters = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    if name.id not in parameters:
        return False
    if function.name == "reward" and len(parameters) == _REWARD + 1:
        return _wraps_one(name, model)
    if _OF_ONE_REWARD.search(function.name) and model.frequency.is_called_in_loops(name, steps=True):
        return True
    return any(_DONES.search(each.lower()) for each in parameters)


def _transforms_rewards(made: ast.Lambda, model: SemanticModel) -> bool:
    """Whether a lambda transforms the rewards of one environment, not of several (`envs`)."""
    match model.parent(made):
        case ast.Call(func=func, args=[env, given, *_]) if given is made:
            return last_name(func) == "TransformReward" and not (last_name(env) or "").lower().endswith("s")
    return False


def _wraps_one(node: ast.AST, model: SemanticModel) -> bool:
    """Whether the class around a node wraps a single environment, by its base: `gym.Wrapper`."""
    cls = model.class_of(node)
    bases = [last_name(base) or "" for base in cls.bases] if cls is not None else []
    return any(base.endswith("Wrapper") and not base.startswith("Vec") for base in bases)


def _is_truth(use: ast.expr, model: SemanticModel) -> bool:
    match model.parent(use):
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
            return test is use
        case ast.UnaryOp(op=ast.Not()) | ast.BoolOp():
            return True
    return False
