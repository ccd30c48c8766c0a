"""Observations of an environment: by origin, or by their conventional names."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rlint import models
from rlint.models.trait import Trait
from rlint.models.value_type import Type, TypeTag
from rlint.regex import regex
from rlint.syntax.last_names import last_name
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.walk import descendants

if TYPE_CHECKING:
    from rlint.semantics.model import SemanticModel

_ONE = regex(
    r"^_?(next_?|new_?|prev_?|previous_?|last_?|cur_?|current_?|final_?)?(obs|observation|state)"
    r"(_?(next|prime|new|t|tp1|t1|1|2|_)|_arr|_array|_vec|_vector|_np)?$"
)
_SEVERAL = regex(
    r"^_?(next_?|new_?|all_?|batch_?)*(obs|observations|states|state|obses)(_?(next|prime|new|_))?"
    r"(_?(batch|lst|list|buf|buffer|mb))?$"
)
_MANY = regex(r"^_?(\w+_)?(obs|observations|states)_?(batch|list|lst|buf|buffer|arr|array|tensor|all|n)?$")
_OF_AGENTS = regex(r"^_?(new_|next_|last_|prev_)?(obs|observation)(_next|_new)?_n_?$")
_ACTIONS = regex(
    r"^_?(\w+_)?(actions|acts)_?(batch|list|lst|buf|buffer|mb|all|n)?$|^(batch|b|mb)_?(action|act)s?$"
    r"|^(action|act)_batch$"
)
_OF_ARRAYS = models.having(Trait.COPIES | Trait.CASTS_TO | Trait.KEEPS_ORDER, TypeTag.NDARRAY)
_SAMPLES = regex(r"sample|batch")
_LISTS = (TypeTag.LIST, TypeTag.TUPLE)
_NESTED = 3
_LETTERS = frozenset({"s", "s_", "s_prime", "s2", "s1", "ns", "next_s", "o", "o2", "ob"})
_ACTION = frozenset({"a", "act", "action"})
_OTHER_FIELDS = (_ACTION, frozenset({"r", "rew", "reward"}))


def is_observation(expression: ast.expr, model: SemanticModel) -> bool:
    """Whether a value of unknown type is an observation, by `env.step()` and `env.reset()` or by its name
    (`state`, `next_obs`, `transition["obs"]`).
    """
    if model.types.type_of(expression):
        return False
    match expression:
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in _OF_ARRAYS:
            return is_observation(owner, model)
    if isinstance(expression, ast.Name):
        bindings = model.dataflow.definitions(expression)
        if any(_is_shown(binding, model) or is_part_of_transition(binding) for binding in bindings):
            return True
        if any(_is_one_of_list(binding, model) for binding in bindings):
            return True
    name = name_of(expression)
    return name is not None and bool(_ONE.search(name.lower()))


def is_from_environment(expression: ast.expr, model: SemanticModel, depth: int = _NESTED) -> bool:
    """Whether a value of unknown type comes from `env.step()` or `env.reset()`, through variables and
    functions that take it first, such as a running normalisation: `state = normalize(env.reset())`.
    """
    if model.types.type_of(expression) or depth < 0:
        return False
    match expression:
        case ast.Call(args=[inner, *_]):
            return _is_result_of_environment(expression, (), model) or is_from_environment(
                inner, model, depth - 1
            )
        case ast.Call():
            return _is_result_of_environment(expression, (), model)
        case ast.Name():
            pass
        case _:
            return False
    bindings = model.dataflow.definitions(expression)
    return any(
        _is_shown(binding, model)
        or (
            binding.kind is BindingKind.ASSIGN
            and not binding.path
            and binding.value is not None
            and is_from_environment(binding.value, model, depth - 1)
        )
        for binding in bindings
    )


def are_observations(expression: ast.expr, model: SemanticModel) -> bool:
    """Whether it is the tuple of all observations of a batch: one of several from `zip(*batch)`, or the
    field of `Transition(*zip(*batch))`.
    """
    match expression:
        case ast.Name(id=name):
            bindings = model.dataflow.definitions(expression)
        case ast.Attribute(value=ast.Name() as owner, attr=name):
            bindings = model.dataflow.definitions(owner)
        case _:
            return False
    whole = isinstance(expression, ast.Attribute)
    return (
        bool(bindings and _SEVERAL.search(name.lower()))
        and all(
            binding.kind is BindingKind.ASSIGN and bool(binding.path) is not whole for binding in bindings
        )
        and all(_is_transposed(binding.value, model, whole=whole) for binding in bindings)
    )


def is_list_of_observations(expression: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is named like observations (`states`, `next_obs_batch`) and surely is a list or tuple
    of which nothing else is known, except that it may contain such lists. In a sampled batch, a list named
    like one observation counts as well: `state, action, reward = memory.sample(64)`. So does a value of
    unknown type with the name of the list of all agents' observations: `obs_n`.
    """
    name = name_of(expression)
    kind = model.types.type_of(expression)
    if name is not None and not kind and _OF_AGENTS.search(name.lower()):
        return True
    if name is None or kind.tag not in _LISTS or not _holds_unknown(kind):
        return False
    if names_several(name):
        return True
    if isinstance(expression, ast.Attribute):
        # of a named tuple of whole columns
        return kind.tag is TypeTag.TUPLE and names_one(name) and _is_column(expression, model)
    return kind.tag is TypeTag.LIST and names_one(name) and _is_field_of_batch(expression, model)


def is_list_of_actions(expression: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is named like actions (`actions`, `action_batch`) and surely is a list or tuple of
    which nothing else is known. As floats, they likely are those of continuous control: arrays.
    """
    name = name_of(expression)
    kind = model.types.type_of(expression)
    if name is None or kind.tag not in _LISTS or not _holds_unknown(kind):
        return False
    if isinstance(expression, ast.Attribute) and name.lower() in _ACTION:
        return _is_column(expression, model)
    return bool(_ACTIONS.search(name.lower()))


def _is_column(field: ast.Attribute, model: SemanticModel) -> bool:
    """Whether a tuple is one of the columns of a named tuple: a field of `Transition(*zip(*batch))`."""
    parts = model.types.type_of(field.value).parts
    return bool(parts) and all(part.tag is TypeTag.TUPLE for part in parts)


def _holds_unknown(kind: Type) -> bool:
    """Whether nothing is known of the items of a list, or of the items of the lists in it."""
    for _ in range(_NESTED):
        if kind.parts or kind.optional:
            return False
        if not kind.item:
            return True
        kind = kind.item
        if kind.tag not in _LISTS:
            return False
    return False


def _is_field_of_batch(expression: ast.expr, model: SemanticModel) -> bool:
    """Whether a variable is one of several results of a method that samples: `memory.sample(64)`."""
    if not isinstance(expression, ast.Name):
        return False
    bindings = model.dataflow.definitions(expression)
    return bool(bindings) and all(
        binding.kind is BindingKind.ASSIGN
        and len(binding.path) == 1
        and isinstance(binding.value, ast.Call)
        and bool(_SAMPLES.search(last_name(binding.value.func) or ""))
        for binding in bindings
    )


def become_observations(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is assigned to a variable named like observations, itself or converted: `state_batch`
    in `state_batch = torch.tensor(value).to(device)`.
    """
    node: ast.AST = value
    parent = model.parent(node)
    while parent is not None:
        match parent:
            case ast.Attribute():
                pass
            case ast.Call(func=func, args=arguments) if func is node or node in arguments[:1]:
                pass
            case _:
                break
        node, parent = parent, model.parent(parent)
    return any(names_several(last_name(target) or "") for target in model.names.targets(node))


def names_one(name: str) -> bool:
    """Whether it is a common name for one observation: `state`, `next_obs`, `s`."""
    return bool(_ONE.search(name.lower())) or name in _LETTERS


def names_several(name: str) -> bool:
    """Whether it is a common name for many observations: `states`, `next_obs_batch`, `observations`."""
    name = name.lower()
    return bool(_SEVERAL.search(name) or _MANY.search(name)) and not _ONE.search(name)


def name_of(expression: ast.expr) -> str | None:
    """Return the name by which a value is judged: of a variable or attribute, or its key in a dict."""
    match expression:
        case ast.Name() | ast.Attribute():
            return last_name(expression)
        case ast.Subscript(slice=ast.Constant(value=str(key))):
            return key
    return None


def _is_shown(binding: Binding, model: SemanticModel) -> bool:
    """Whether a value is the first item of `env.step(…)`, or of `env.reset()`."""
    value, path = binding.value, binding.path
    while isinstance(value, (ast.Tuple, ast.List)) and path and 0 <= path[0] < len(value.elts):
        value, path = value.elts[path[0]], path[1:]
    if binding.kind is not BindingKind.ASSIGN or path not in ((), (0,)):
        return False
    return _is_result_of_environment(value, path, model)


def _is_result_of_environment(value: ast.expr | None, path: tuple[int, ...], model: SemanticModel) -> bool:
    match value:
        case ast.Call(func=ast.Attribute(value=environment, attr="step" | "reset" as method)):
            if method == "step" and not path:
                return False
            kind = model.types.type_of(environment)
            if kind:
                return kind.tag is TypeTag.ENVIRONMENT
            return (last_name(environment) or "").lower().endswith(("env", "envs"))
    return False


def _is_one_of_list(binding: Binding, model: SemanticModel) -> bool:
    """Whether a loop or comprehension takes it from a list of observations."""
    if binding.kind not in (BindingKind.FOR, BindingKind.COMPREHENSION) or binding.path:
        return False
    return binding.value is not None and (
        are_observations(binding.value, model) or is_list_of_observations(binding.value, model)
    )


def is_part_of_transition(binding: Binding) -> bool:
    """Whether a value is `s` in `s, a, r, s_prime, done = transition`."""
    if binding.name not in _LETTERS or not binding.path:
        return False
    target = binding.statement
    targets = target.targets if isinstance(target, ast.Assign) else [getattr(target, "target", None)]
    for whole in targets:
        names = (
            {node.id.rstrip("_") for node in descendants(whole) if isinstance(node, ast.Name)}
            if whole
            else set()
        )
        if all(names & words for words in _OTHER_FIELDS):
            return True
    return False


def _is_transposed(value: ast.expr | None, model: SemanticModel, *, whole: bool = False) -> bool:
    """Whether an expression is `zip(*batch)`, perhaps in `map(list, …)`; for a whole transition,
    `Transition(*zip(*batch))`.
    """
    match value:
        case ast.Call(args=[ast.Starred(value=inner)]) if whole:
            return _is_transposed(inner, model)
        case ast.Call(func=func, args=[ast.Starred()], keywords=[]):
            return model.names.qualified(func) == "builtins.zip"
        case ast.Call(func=func, args=[ast.Name(id="list" | "tuple"), inner]):
            return model.names.qualified(func) == "builtins.map" and _is_transposed(inner, model)
        case ast.Call(func=func, args=[inner]):
            return model.names.qualified(func) in ("builtins.list", "builtins.tuple") and _is_transposed(
                inner, model
            )
    return False
