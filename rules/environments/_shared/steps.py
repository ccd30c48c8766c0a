"""What is done in each step of a training: lines that nothing holds back."""

from __future__ import annotations

import ast

from rlint.rule import Cadence, Driver, Guard, GuardKind, SemanticModel, regex, roles

_TRAINS = regex(r"^(pre)?train($|_)|_train$|^training$|^learn($|_)")
_LARGE_MODELS = frozenset(
    """accelerate bitsandbytes colossalai deepspeed diffusers fairscale megatron openrlhf peft timm torchtune
    transformers transformer_engine trl unsloth verl vllm sglang""".split()
)


def step_of(beat: Cadence) -> Driver | None:
    """The step that a line keeps pace with: an environment step, a gradient step; None where it runs once
    for many of them, or where nobody knows.
    """
    if Driver.GENERATION in beat.drivers | beat.nested:
        return None
    if Driver.ENVIRONMENT_STEP in beat.drivers:
        return Driver.ENVIRONMENT_STEP  # those nested in it skip frames, or are made by `reset`
    many = beat.nested & {Driver.ENVIRONMENT_STEP, Driver.GRADIENT_STEP, Driver.BATCH}
    return Driver.GRADIENT_STEP if Driver.GRADIENT_STEP in beat.drivers and not many else None


def unguarded_step(node: ast.AST, model: SemanticModel, needs: str = "") -> Driver | None:
    """The step of a training that a node runs in each time, with nothing to hold it back; None otherwise.
    A condition that only asks whether what it `needs` is there holds nothing back.
    """
    beat = model.frequency.cadence(node)
    guards = beat.guards if beat is not None else ()
    if needs:
        guards = tuple(guard for guard in guards if not asks_for(guard, needs))
    if beat is None or held_back(guards) or not is_training(node, model):
        return None
    return step_of(beat)


def asks_for(guard: Guard, name: str) -> bool:
    """Whether a condition asks if something of a name is there: `writer is not None`."""
    return guard.kind is GuardKind.PRESENT and name in guard.text.replace(".", " ").split()


def held_back(guards: tuple[Guard, ...]) -> bool:
    """Whether there is a condition besides the one that picks a process out of several."""
    return any(guard.kind is not GuardKind.RANK for guard in guards)


def is_training(node: ast.AST, model: SemanticModel) -> bool:
    """Are gradient steps taken in the loop that runs a node? Or around it, or is the function or file called
    `train`, and neither is called otherwise (`evaluate`, `watch`)?
    """
    beat = model.frequency.cadence(node)
    if beat is None:
        return False
    if Driver.GRADIENT_STEP in beat.drivers | beat.nested:
        return True
    called = [name for path in beat.calls for name in path.split(".")]
    function = model.function(node)
    if function is not None:
        called += model.syntax.qualname(function).split(".")
    called.append(model.path.replace("\\", "/").rpartition("/")[2].removesuffix(".py"))
    if any(roles.looks_on(name) for name in called):
        return False
    return Driver.GRADIENT_STEP in model.frequency.drivers(node) or any(
        _TRAINS.search(name.lower()) for name in called
    )


def stands_free(node: ast.AST, model: SemanticModel) -> bool:
    """Does the loop that runs a node run itself whenever the program does: behind no condition but that
    the file is the program?
    """
    beat = model.frequency.cadence(node)
    return beat is None or is_free(beat.around)


def is_free(guards: tuple[Guard, ...]) -> bool:
    """Do conditions hold whenever the file is the program?"""
    return all(guard.kind is GuardKind.RANK or "__name__" in guard.text for guard in guards)


def is_for_training(way: tuple[str, ...]) -> bool:
    """Is none of the functions on the way from a training loop to a line for something else (`evaluate`)?"""
    return not any(roles.looks_on(part) for path in way for part in path.split(".")[-2:])


def trains_large_models(model: SemanticModel) -> bool:
    """Does a file train models of which one gradient step takes long, by the libraries that it imports?"""
    imported = (*model.module.imports.values(), *model.module.star_imports)
    return any(name.partition(".")[0] in _LARGE_MODELS or "tokenizer" in name.lower() for name in imported)
