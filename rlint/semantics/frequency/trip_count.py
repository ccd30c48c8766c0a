"""How often a loop iterates: a constant number of times, once per part of an object, or unknown."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rlint import models
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.regex import regex
from rlint.semantics.frequency.driver_calls import STEPS_ENVIRONMENT
from rlint.semantics.types.numbers import number_of
from rlint.syntax.last_names import last_name
from rlint.syntax.syntax_index import COMPREHENSIONS, LOOPS
from rlint.syntax.walk import descendants

if TYPE_CHECKING:
    from rlint.semantics.model import SemanticModel

_PARTS = regex(
    r"(^|_)(layer|block|key|name|module|head|agent|player|critic|network|net|model|rank|device|gpu|param"
    r"|parameter|sensor|feature|camera|space|field|dim|axis|axes|channel|frame|stack|joint|leg|robot|worker"
    r"|shard|modalit|ensemble|quantile|fold|optim|optimizer|group|column|argument|arg|option)"
    r"(s|es|y|ies|_names?|_list)?$"
)
_COUNTS = regex(r"^(n|num|number_of|nb|max|total)_|(_count|_num)$|^n(?=[a-z]+s$)")
_TERMS = regex(r"(^|_)(cost|constraint|objective|criteri(on|a)|term|skill|option|goal)s?$")
"""Things that are counted in few numbers; a list of them may hold one for each step (`costs`)."""
_KEYS = regex(r"^(attr|body|field|joint|key|layer|name|sensor)(_name)?$")
"""Names of one part of an object whose parts are named."""
_DEPTHS = regex(r"(^|_)(depth|order|k|unroll_steps)$")
_SETTINGS = regex(
    r"(^|_)(seed|variant|config|cfg|conf|mode|algo|algorithm|method|agent_class|trial|experiment|env_name|env_id"
    r"|task_name|game|setting|hyperparam|hyperparameter|params_grid|grid|combination|ablation|checkpoint"
    r"|model_name|learning_rate|lr|batch_size|hidden|gamma|n_envs)(s|es)?$"
)
_DICT_VIEWS = ("keys", "values", "items")
_WRAPPERS = models.having(Trait.SAME_ITEMS | Trait.PAIRS_ITEMS, "builtins")


def passes(loop: ast.AST, model: SemanticModel) -> int | None:
    """Return the maximum number of iterations, if constants determine it, or the number of variables that
    the items of a comprehension are assigned to: `a, b = [x.cpu() for x in pair]`.
    """
    if isinstance(loop, COMPREHENSIONS):
        parent = model.parent(loop)
        if isinstance(parent, ast.Assign) and isinstance(target := parent.targets[0], (ast.Tuple, ast.List)):
            return None if any(isinstance(each, ast.Starred) for each in target.elts) else len(target.elts)
        return length_of(loop.generators[0].iter, model) if len(loop.generators) == 1 else None
    if not isinstance(loop, LOOPS) or isinstance(loop, ast.While):
        return None
    return length_of(loop.iter, model)


def over_components(loop: ast.AST, model: SemanticModel) -> bool:
    """Whether a loop iterates over the parts of an object (layers of a network, entries of a dict, agents of
    a team), which are few and fixed in number.
    """
    if not isinstance(loop, (ast.For, ast.AsyncFor)):
        return False
    return _names_components(loop.target, loop.iter, model)


def collects_components(loop: ast.AST, model: SemanticModel) -> bool:
    """Whether a comprehension with one loop iterates over the parts of an object."""
    if not isinstance(loop, COMPREHENSIONS) or len(loop.generators) != 1:
        return False
    return _names_components(loop.generators[0].target, loop.generators[0].iter, model)


def _names_components(target: ast.expr, iterable: ast.expr, model: SemanticModel) -> bool:
    last = target.elts[-1] if isinstance(target, ast.Tuple) and target.elts else target
    return bool(_KEYS.search(last_name(last) or "")) or _components(iterable, model)


def over_environments(
    loop: ast.For | ast.AsyncFor | ast.ListComp | ast.GeneratorExp, model: SemanticModel
) -> bool:
    """Whether a loop iterates over the rewards, flags or infos that a step of vectorised environments
    returns: one item per environment. Observations do not count, since a single environment returns an
    array, too.
    """
    iterable = loop.iter if isinstance(loop, (ast.For, ast.AsyncFor)) else loop.generators[0].iter
    return any(
        isinstance(name, ast.Name) and _is_returned_by_step(name, model) for name in descendants(iterable)
    )


def _is_returned_by_step(name: ast.Name, model: SemanticModel) -> bool:
    """Whether a variable may hold an item after the first of what `env.step(actions)` returns."""
    return any(
        binding.path > (0,)
        and isinstance(binding.value, ast.Call)
        and isinstance(binding.value.func, ast.Attribute)
        and binding.value.func.attr in STEPS_ENVIRONMENT
        for binding in model.dataflow.definitions(name)
    )


def over_settings(loop: ast.AST, model: SemanticModel) -> bool:
    """Whether a loop iterates over the settings that an experiment compares (seeds, algorithms, sizes), so
    that each iteration is a training or measurement of its own.
    """
    if not isinstance(loop, (ast.For, ast.AsyncFor)):
        return False
    names = [name.id for name in descendants(loop.target) if isinstance(name, ast.Name)]
    names += [last_name(loop.iter) or ""] if not isinstance(loop.iter, ast.Call) else []
    if any(_SETTINGS.search(name.lower()) for name in names):
        return True
    return any(_makes_network(statement, loop, model) for statement in loop.body)


def _makes_network(statement: ast.stmt, loop: ast.For | ast.AsyncFor, model: SemanticModel) -> bool:
    """Whether a statement creates a network of an iteration's own, or an optimizer for one: not a copy of a
    network that all iterations train, and not a new optimizer for it.
    """
    match statement:
        case ast.Assign(value=ast.Call() as made):
            pass
        case _:
            return False
    tag = model.types.type_of(made).tag
    if tag is TypeTag.OPTIMIZER:
        return not _takes_parameters_from_outside(made, loop)
    return tag is TypeTag.MODULE and not (model.names.qualified(made.func) or "").startswith("copy.")


def _takes_parameters_from_outside(optimizer: ast.Call, loop: ast.AST) -> bool:
    """Whether an optimizer gets the `parameters()` of a network that the loop does not create."""
    networks = [
        node.func.value
        for given in optimizer.args
        for node in descendants(given)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "parameters"
    ]
    read = {node.id for each in networks for node in descendants(each) if isinstance(node, ast.Name)}
    return bool(networks) and not any(
        isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in read
        for node in descendants(loop)
    )


def whole_number(expression: ast.expr | None, model: SemanticModel) -> int | None:
    """Return the value of an expression that is known to be a number, truncated to an integer; for a
    parameter its default, as its usual value.
    """
    number = number_of(expression, model) if expression is not None else None
    return int(number.value) if number is not None and abs(number.value) < float("inf") else None


def names_parts(name: str) -> bool:
    """Whether a lower-case name is that of parts of an object, which are few: `layers`, `self.agents`."""
    return bool(_PARTS.search(name))


def names_settings(name: str) -> bool:
    """Whether a lower-case name is that of the settings that an experiment compares: `seeds`."""
    return bool(_SETTINGS.search(name))


def is_number_of_parts(name: str) -> bool:
    """Whether a lower-case name is that of a number of parts: `n_layers`, `depth`."""
    bare = _COUNTS.sub("", name)
    return bool(bare != name and (_PARTS.search(bare) or _TERMS.search(bare))) or bool(_DEPTHS.search(name))


def length_of(iterable: ast.expr, model: SemanticModel) -> int | None:
    """Return the maximum number of items of an expression, if constants determine it."""
    if isinstance(iterable, (ast.Tuple, ast.List, ast.Set)):
        starred = any(isinstance(element, ast.Starred) for element in iterable.elts)
        return None if starred else len(iterable.elts)
    if isinstance(iterable, ast.Name):
        bindings = model.names.bindings(iterable)
        if (
            len(bindings) == 1
            and isinstance(bindings[0].value, (ast.Tuple, ast.List))
            and not bindings[0].path
        ):
            return length_of(bindings[0].value, model) if isinstance(bindings[0].value, ast.Tuple) else None
        return None
    if not isinstance(iterable, ast.Call) or not iterable.args:
        return None
    callee = model.names.qualified(iterable.func) or ""
    if callee == "builtins.range":
        numbers = [whole_number(argument, model) for argument in iterable.args]
        known = [number for number in numbers if number is not None]
        try:
            return len(range(*known)) if len(known) == len(numbers) else None
        except (TypeError, ValueError, OverflowError):
            return None
    if callee in _WRAPPERS or callee.startswith("tqdm"):
        lengths = [length_of(argument, model) for argument in iterable.args]
        found = [length for length in lengths if length is not None]
        return min(found) if found and callee != "builtins.list" else None
    return None


def _components(iterable: ast.expr, model: SemanticModel) -> bool:
    match iterable:
        case ast.Call(func=ast.Attribute(attr=method), args=[]) if method in _DICT_VIEWS:
            return True
        case ast.Call(func=ast.Attribute(attr="named_parameters" | "parameters" | "children" | "modules")):
            return True
        case ast.Call(func=func, args=[first, *rest]):
            callee = model.names.qualified(func) or ""
            if callee in _WRAPPERS or callee.startswith("tqdm"):
                return any(_components(argument, model) for argument in iterable.args)
            if callee == "builtins.range":
                return _is_count(rest[0] if rest else first, model)
            return False
    name = last_name(iterable)
    if name is None or isinstance(iterable, ast.Call):
        return False
    return bool(_PARTS.search(name.lower())) or _is_list_for_components(iterable, model)


def _is_list_for_components(iterable: ast.expr, model: SemanticModel) -> bool:
    """Whether a variable only holds a list with one item for each part of an object: `values` of `values =
    [critic(obs) for critic in self.critics]`.
    """
    if not isinstance(iterable, ast.Name):
        return False
    bindings = model.names.bindings(iterable)
    match [binding.value for binding in bindings]:
        case [ast.ListComp(generators=[ast.comprehension(iter=of, ifs=[])])] if not bindings[0].path:
            return not (isinstance(of, ast.Name) and of.id == iterable.id) and _components(of, model)
    return False


def _is_space(expression: ast.expr) -> bool:
    """Whether an expression is `env.action_space`, `self.envs.action_space[agent]`."""
    if isinstance(expression, ast.Subscript):
        expression = expression.value
    return (last_name(expression) or "").endswith(("action_space", "observation_space"))


def _is_count(end: ast.expr, model: SemanticModel) -> bool:
    """Whether an expression is a number of parts: `n_layers`, `self.num_agents`, `len(self.layers)`,
    `num_frames - 1`.
    """
    match end:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=ast.Constant()):
            return _is_count(left, model)
        case ast.Call(func=func, args=[argument]) if model.names.qualified(func) == "builtins.len":
            return _components(argument, model)
        case ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.UnaryOp() | ast.Constant(value=1)):
            return True  # the features of a batch
        case ast.Attribute(attr="shape" | "n" | "nvec", value=space) if _is_space(space):
            return True  # the components of an action
    return is_number_of_parts((last_name(end) or "").lower())
