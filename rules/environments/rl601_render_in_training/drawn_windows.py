"""Environments and wrappers that are created to draw or record each step of training."""

from __future__ import annotations

import ast

from rlint.rule import (
    FUNCTIONS,
    Driver,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    last_name,
    models,
    only_callee,
    output_words,
    regex,
    roles,
    root_name,
)
from rlint.rules.environments._shared.steps import (
    file_name,
    is_called_training,
    is_environment_class,
    is_free,
    stands_free,
    unguarded_step,
)

TO_WATCH = regex(r"eval|test|play|demo|watch|record|video|render|human")
_CREATES = regex(r"(?i)(^|_)(make|create)(_|$)|env$|environment$")
_MOST_STEPS = 5
"""Maximum number of wrappers and functions that are followed to the creation of an environment."""
_RECORDS = regex(r"Record|Monitor")
_LOOKS = models.having(Trait.ONLY_LOOKS, "builtins") | {"builtins.print"}


def window_option(call: ast.Call) -> ast.keyword | None:
    """Return the keyword with which a call creates an environment that draws each step in a window."""
    for keyword in call.keywords:
        drawn = output_words.WINDOW_OPTIONS.get(keyword.arg or "", ())
        if isinstance(keyword.value, ast.Constant) and keyword.value.value in drawn:
            return keyword
    return None


def creates_environment(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call creates an environment, judging by its type or the name of the function."""
    kind = model.types.type_of(call)
    if kind:
        return kind.tag is TypeTag.ENVIRONMENT
    return bool(_CREATES.search(last_name(call.func) or ""))


def connects_to_window(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the constructor of an environment opens the window of a simulator (`p.connect(p.GUI)`)."""
    if model.names.qualified(call.func) != "pybullet.connect" or not call.args:
        return False
    function, cls = model.function(call), model.class_of(call)
    return (
        model.names.qualified(call.args[0]) == "pybullet.GUI"
        and is_free(model.frequency.conditions(call))
        and function is not None
        and cls is not None
        and is_environment_class(cls, model)
        and not TO_WATCH.search(cls.name.lower())
    )


def records_everything(call: ast.Call) -> bool:
    """Whether a call creates a wrapper that records each episode: its trigger is always true."""
    if not _RECORDS.search(last_name(call.func) or ""):
        return False
    triggers = [keyword.value for keyword in call.keywords if keyword.arg in output_words.RECORD_TRIGGERS]
    return bool(triggers) and all(map(_is_always_true, triggers))


def _is_always_true(trigger: ast.expr) -> bool:
    match trigger:
        case ast.Lambda(body=ast.Constant(value=value)):
            return bool(value)
        case ast.Lambda(body=ast.Compare(left=ast.BinOp(op=ast.Mod(), right=ast.Constant(value=1)))):
            return True
    return False


def trains_here(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the file that creates an environment takes gradient steps or starts a training, and no name
    around the call speaks of another purpose.
    """
    if any(TO_WATCH.search(name.lower()) or roles.looks_on(name) for name in _names_around(call, model)):
        return False
    return any(
        _may_train(other, call, model) and not model.branches.why_unreached(other)
        for other in model.syntax.of_type(ast.Call)
    )


def _may_train(other: ast.Call, created: ast.Call, model: SemanticModel) -> bool:
    """Whether a call creates an optimizer or starts a training, which the same code does not do before it
    creates the environment: what follows a training shows its result.
    """
    if model.types.type_of(other).tag is TypeTag.OPTIMIZER:
        return True
    if not is_called_training(last_name(other.func) or ""):
        return False
    loops = model.frequency.loops(created)
    return (
        bool(loops) or model.function(other) is not model.function(created) or other.lineno > created.lineno
    )


def _names_around(call: ast.Call, model: SemanticModel) -> tuple[str, ...]:
    """Return the names of the file and of the functions and classes around a call."""
    function = model.function(call)
    file = file_name(model)
    return (file, *model.syntax.qualname(function).split(".")) if function is not None else (file,)


def is_place_of_training(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the code that creates an environment also creates an optimizer, or starts a training later."""
    function = model.function(call)
    if any(TO_WATCH.search(name.lower()) or roles.looks_on(name) for name in _names_around(call, model)):
        return False
    return any(
        model.function(other) is function
        and (
            (other.lineno > call.lineno and is_called_training(last_name(other.func) or ""))
            or model.types.type_of(other).tag is TypeTag.OPTIMIZER
        )
        for other in model.syntax.of_type(ast.Call)
    )


def receiver_of(call: ast.Call, model: SemanticModel) -> str | None:
    """Return the call that an environment is passed to, alone or in wrappers, by its source; None if it is
    not passed on, or its own steps are taken in the same code.
    """
    statement = model.syntax.statement(call)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if len(targets) != 1 or not isinstance(targets[0], ast.Name) or TO_WATCH.search(targets[0].id.lower()):
        return None
    scope = model.names.scope(targets[0]).lookup(targets[0].id)
    uses = model.names.reads(targets[0].id, scope) if scope is not None else []
    for use in uses:
        around = model.parent(use)
        if isinstance(around, ast.Attribute) and around.attr == "step":
            return None
    for use in uses:
        around = model.parent(use)
        around = model.parent(around) if isinstance(around, ast.keyword) else around
        if not isinstance(around, ast.Call) or around.func is use or use.lineno < call.lineno:
            continue
        name = last_name(around.func) or ""
        if model.names.qualified(around.func) not in _LOOKS and not TO_WATCH.search(name.lower()):
            return model.source.text(around.func)
    return None


def trained_step(name: ast.Name | ast.Attribute, model: SemanticModel) -> ast.Call | None:
    """Return the training step that uses the environment of this name, or that the same class keeps."""
    for attribute in model.names.attribute_uses("step"):
        call = model.parent(attribute)
        if not isinstance(call, ast.Call) or not _is_same(attribute.value, name, model):
            continue
        if unguarded_step(call, model) is Driver.ENVIRONMENT_STEP and stands_free(call, model):
            return call if not follows_training(call, model) else None
    return None


def follows_training(step: ast.Call, model: SemanticModel) -> bool:
    """Whether the loop around a step takes no gradient steps, and the same code trains before: it then shows
    the result.
    """
    beat = model.frequency.cadence(step)
    if beat is None or Driver.GRADIENT_STEP in beat.drivers | beat.nested:
        return False
    loops, function = model.frequency.loops(step), model.function(step)
    return bool(loops) and any(
        model.function(other) is function
        and other.lineno < loops[-1].lineno
        and is_called_training(last_name(other.func) or "")
        for other in model.syntax.of_type(ast.Call)
    )


def created_for(env: ast.expr, model: SemanticModel) -> list[ast.Attribute]:
    """Return where a class assigns the environment that it keeps, with a window."""
    if not isinstance(env, ast.Attribute) or not model.names.is_self(env.value):
        return []
    uses = [use for use in model.names.attribute_uses(env.attr) if isinstance(use.ctx, ast.Store)]
    return [
        use
        for use in uses
        if isinstance(call := model.names.assigned(use), ast.Call) and window_option(call) is not None
    ]


def is_without_mode(env: ast.expr, model: SemanticModel) -> bool:
    """Whether an environment was created by `gymnasium.make` without a `render_mode`. Those of gym drew in a
    window by default.
    """
    call = _creation(env, model)
    for _ in range(_MOST_STEPS):
        if call is None or _is_made_by_gymnasium(call, model):
            break
        inner = _returned(call, model) or (call.args[0] if call.args else None)
        call = _creation(inner, model) if inner is not None else None
    if call is None or not _is_made_by_gymnasium(call, model):
        return False
    return not any(keyword.arg in (None, "render_mode") for keyword in call.keywords)


def _is_made_by_gymnasium(call: ast.Call, model: SemanticModel) -> bool:
    if model.names.qualified(call.func) != "gymnasium.make":
        return False
    root = root_name(call.func)  # gym has the same qualified name
    return root is not None and model.module.imports.get(root.id, "").startswith("gymnasium")


def _returned(call: ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return what the function of this file that a call runs returns, if that is always the same variable."""
    function = only_callee(call, model)
    if not isinstance(function, FUNCTIONS):
        return None
    found = [node.value for node in descendants(function) if isinstance(node, ast.Return)]
    return found[0] if len(found) == 1 else None


def _creation(env: ast.expr, model: SemanticModel) -> ast.Call | None:
    """Return the call whose result is the only value of a variable, or of an attribute of `self`."""
    match env:
        case ast.Call():
            return env
        case ast.Name():
            bindings = model.dataflow.definitions(env)
            value = bindings[0].value if len(bindings) == 1 and not bindings[0].path else None
            return value if isinstance(value, ast.Call) else None
        case ast.Attribute(value=owner, attr=name) if model.names.is_self(owner):
            stores = [use for use in model.names.attribute_uses(name) if not isinstance(use.ctx, ast.Load)]
            value = model.names.assigned(stores[0]) if len(stores) == 1 else None
            return value if isinstance(value, ast.Call) else None
    return None


def _is_same(used: ast.expr, name: ast.Name | ast.Attribute, model: SemanticModel) -> bool:
    match used, name:
        case ast.Name(id=first), ast.Name(id=second):
            return first == second and model.names.scope(used) is model.names.scope(name)
        case ast.Attribute(value=owner, attr=first), ast.Attribute(value=holder, attr=second):
            own = model.names.is_self(owner) and model.names.is_self(holder)
            return own and first == second and model.class_of(used) is model.class_of(name)
    return False
