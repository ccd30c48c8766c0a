"""Code that runs in each step of a training, without a condition."""

from __future__ import annotations

import ast
from collections.abc import Callable

from rlint.rule import (
    AnyLoop,
    Cadence,
    Driver,
    Guard,
    GuardKind,
    SemanticModel,
    descendants,
    last_name,
    regex,
    roles,
    variable_names,
)
from rlint.rules.environments._shared.with_updates import runs_with_update

_TRAINS = regex(
    r"^(pre)?train($|_(?!(vec_)?envs?$))|_train$|^training$|^learn($|_)|^warm_?up($|_)|^pre_?fill"
)
_CHOOSES = regex(
    r"""^(not )?([A-Z][A-Z0-9_]{2,}|(args|opt|config|cfg)\.train(ing)?)$|^[\w.]+ ?[=!]= ?["'][\w./-]+["']$"""
)
_PLAYS = regex(r"(^|_)play(s|_game|_episode|_out|_one_\w+)?($|_)")
"""Names of functions that show a policy, or collect training data."""
_WATCHES = regex(
    r"render|show|display|watch|test|eval|play|demo|debug|verbos|human|visual|plot|log|video|window"
)
_OF_STEP = frozenset("action observation reward step step_wait".split())
"""Methods of environments and wrappers that are called for each step."""
_ENVIRONMENTS = regex(r"(^|Gym|Vec|Parallel|Multi\w*)(Env|Environment)$|Wrapper$")
_FEWEST_RESULTS = 2
_TESTED = regex(r"^self\.(\w+)( is not None)?$")
_MISSING = regex(r"^self\.\w+ is None$")
_LARGE_MODELS = frozenset(
    """bitsandbytes colossalai deepspeed diffusers fairscale megatron openrlhf peft timm torchtune
    transformers transformer_engine trl unsloth verl vllm sglang""".split()
)


def step_of(beat: Cadence) -> Driver | None:
    """Return the step with which a line runs: an environment step, a gradient step; None if it runs once for
    many of them, or if it is not known.
    """
    if Driver.GENERATION in beat.drivers | beat.nested:
        return None
    if Driver.ENVIRONMENT_STEP in beat.drivers:
        return Driver.ENVIRONMENT_STEP  # nested ones skip frames, or are part of `reset`
    many = beat.nested & {Driver.ENVIRONMENT_STEP, Driver.GRADIENT_STEP, Driver.BATCH}
    return Driver.GRADIENT_STEP if Driver.GRADIENT_STEP in beat.drivers and not many else None


def unguarded_step(
    node: ast.AST,
    model: SemanticModel,
    needs: str = "",
    apart_from: Callable[[Guard], bool] | None = None,
) -> Driver | None:
    """Return the training step in which a node always runs, without a condition; None otherwise. A condition
    that only tests whether an object that it `needs` exists does not count, nor do those `apart_from` which
    it runs in each step, nor those that govern a gradient step as well.
    """
    beat = model.frequency.cadence(node)
    guards = beat.guards if beat is not None else ()
    if apart_from is not None:
        guards = tuple(guard for guard in guards if not apart_from(guard))
    if needs:
        guards = tuple(guard for guard in guards if not tests_existence(guard, needs))
    guards = tuple(guard for guard in guards if not is_set_later(guard, node, model))
    if beat is None or not is_training(node, model):
        return None
    if held_back(guards):
        return Driver.GRADIENT_STEP if runs_with_update(node, model) else None
    return step_of(beat)


def step_of_own_environment(node: ast.AST, model: SemanticModel, *, in_loops: bool = False) -> Driver | None:
    """Return the environment step if a node always runs in the steps of an environment of the project,
    whatever trains on it. If `in_loops`, also in loops of its own.
    """
    function = model.function(node)
    cls = model.class_of(function) if function is not None else None
    if function is None or cls is None or not is_environment_class(cls, model):
        return None
    if roles.looks_on(cls.name) or (not in_loops and model.frequency.loops(node)):
        return None
    beat = model.frequency.cadence(node)
    if beat is not None:
        steps = not held_back(beat.guards) and step_of(beat) is Driver.ENVIRONMENT_STEP
    else:
        steps = function.name in _OF_STEP and not held_back(model.frequency.conditions(node))
    return Driver.ENVIRONMENT_STEP if steps else None


def is_environment_class(cls: ast.ClassDef, model: SemanticModel) -> bool:
    """Whether a class is an environment, or wraps one, judging by its methods and bases."""
    if model.method(cls, "step") is not None and model.method(cls, "reset") is not None:
        return True
    return any(_ENVIRONMENTS.search(last_name(base) or "") for base in cls.bases)


def is_set_later(guard: Guard, node: ast.AST, model: SemanticModel) -> bool:
    """Whether a condition only fails in the first step, as the same function then sets the attribute that it
    tests: `if self.last is not None: ...`, and `self.last = weights` after it.
    """
    found = _TESTED.search(guard.text)
    function = model.function(node) if found is not None else None
    if found is None or function is None or guard.kind not in (GuardKind.PRESENT, GuardKind.OTHER):
        return False
    for statement in function.body:
        match statement:
            case ast.Assign(targets=[ast.Attribute(value=owner, attr=name)], value=value) if (
                name == found[1] and statement.lineno > guard.line and model.names.is_self(owner)
            ):
                return not (isinstance(value, ast.Constant) and not value.value)
    return False


def tests_existence(guard: Guard, name: str) -> bool:
    """Whether a condition tests if an object of a name exists: `writer is not None`."""
    return guard.kind is GuardKind.PRESENT and name in guard.text.replace(".", " ").split()


def chooses_task(guard: Guard) -> bool:
    """Whether a condition selects what is trained, so that it holds in all steps of a run or in none:
    `ENV == "Pendulum"`, `if DISCRETE:`, `if args.train:`.
    """
    if guard.kind not in (GuardKind.OTHER, GuardKind.SWITCH):
        return False
    return bool(_CHOOSES.search(guard.text)) and not _WATCHES.search(guard.text.lower())


def held_back(guards: tuple[Guard, ...]) -> bool:
    """Whether there is a condition besides one that selects one process of several, or that creates what each
    step uses up.
    """
    return any(guard.kind is not GuardKind.RANK and not _is_used_up(guard) for guard in guards)


def _is_used_up(guard: Guard) -> bool:
    """Whether a condition creates an object again that each step sets to `None` after use; if it were created
    once, the kind of the condition would say so.
    """
    return guard.kind is GuardKind.OTHER and bool(_MISSING.search(guard.text))


def named_step(step: Driver, node: ast.AST, model: SemanticModel) -> str:
    """Return the step in words. A loop that takes a gradient step in each iteration is named by that, if the
    steps of environments are somewhere in the functions that it calls, such as a rollout at intervals.
    """
    beat = model.frequency.cadence(node)
    if step is Driver.ENVIRONMENT_STEP and beat is not None and Driver.GRADIENT_STEP in beat.drivers:
        loop = model.frequency.driving_loop(node)
        if loop is not None and not any(
            isinstance(call, ast.Call) and model.analysis.loops.driver_of(call) is Driver.ENVIRONMENT_STEP
            for call in descendants(loop)
        ):
            return Driver.GRADIENT_STEP.value
    return step.value


def is_training(node: ast.AST, model: SemanticModel) -> bool:
    """Whether gradient steps are taken in the loop that runs a node. Also true if they are taken around it,
    or the function or file is called `train`, unless either has a name for another purpose (`evaluate`,
    `watch`), or a person chooses the actions.
    """
    beat = model.frequency.cadence(node)
    if beat is None or is_played(node, model):
        return False
    if Driver.GRADIENT_STEP in beat.drivers | beat.nested or (beat.is_of_framework and not beat.calls):
        return True
    called = [name for path in (beat.within, *beat.calls) for name in path.split(".")]
    function = model.function(node)
    if function is not None:
        called += model.syntax.qualname(function).split(".")
    called.append(file_name(model))
    stores = any(model.once(stores_transitions, loop) for loop in model.frequency.loops(node)[:1])
    if any(roles.looks_on(name) and not (stores and _PLAYS.search(name.lower())) for name in called):
        return False
    return (
        stores
        or Driver.GRADIENT_STEP in model.frequency.drivers(node)
        or any(_TRAINS.search(name.lower()) for name in called)
        or any(map(is_for_training, model.usage.ways_from_training(node)))
    )


def file_name(model: SemanticModel) -> str:
    """Return the name of the file without its folder and extension."""
    return str(model.path.replace("\\", "/").rpartition("/")[2].removesuffix(".py"))


def stores_transitions(loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether a loop passes several results of an environment's step to one method, as only the collection of
    training data does: `memory.append((state, action, reward, following, done))`.
    """
    results: set[str] = set()
    passed: list[set[str]] = []
    for node in descendants(loop):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=result)) if result in results:
                results.add(name)  # the observation of the next step
            case ast.Assign(targets=[ast.Tuple() as target], value=ast.Call() as step) if (
                model.analysis.loops.driver_of(step) is Driver.ENVIRONMENT_STEP
            ):
                results |= variable_names(target)
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=method), args=[_, *_]) as call) if (
                not model.effects.writes_log(call) and not method.startswith("write")  # rows of a table
            ):
                passed.append(set().union(*map(variable_names, call.args)))
    return any(len(names & results) >= _FEWEST_RESULTS for names in passed)


def is_called_training(path: str) -> bool:
    """Whether a function has the name of a training: `Agent.train`."""
    return _TRAINS.search(path.rpartition(".")[2].lower()) is not None


def is_played(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a person chooses an action in each iteration of the loop around a node: `input("action? ")`."""
    loop = next(iter(model.frequency.loops(node)), None)
    return loop is not None and model.once(_reads_input, loop)


def _reads_input(loop: ast.AST, model: SemanticModel) -> bool:
    return any(
        isinstance(call, ast.Call)
        and (model.names.qualified(call.func) == "builtins.input" or "human" in (last_name(call.func) or ""))
        for call in descendants(loop)
    )


def stands_free(node: ast.AST, model: SemanticModel) -> bool:
    """Whether the loop that runs a node runs in every run of the program: under no condition except a test of
    `__name__`.
    """
    beat = model.frequency.cadence(node)
    return beat is None or is_free(beat.around)


def is_free(guards: tuple[Guard, ...]) -> bool:
    """Whether conditions hold whenever the file is the program."""
    return all(guard.kind is GuardKind.RANK or "__name__" in guard.text for guard in guards)


def is_for_training(way: tuple[str, ...]) -> bool:
    """Whether no function on the path from a training loop to a line has another purpose (`evaluate`)."""
    return not any(roles.looks_on(part) for path in way for part in path.split(".")[-2:])


def trains_large_models(model: SemanticModel) -> bool:
    """Whether a file trains models with slow gradient steps, judging by the libraries that it imports."""
    imported = (*model.module.imports.values(), *model.module.star_imports)
    return any(name.partition(".")[0] in _LARGE_MODELS or "tokenizer" in name.lower() for name in imported)
