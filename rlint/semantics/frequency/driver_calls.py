"""Recognise the calls and loops that drive training: by types, else by names."""

from __future__ import annotations

import ast

from rlint.models import vocabulary
from rlint.models.value_type import TypeTag
from rlint.regex import regex
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.types.infer import TypeInference
from rlint.syntax.last_names import last_name
from rlint.syntax.syntax_index import FUNCTIONS, LOOPS

_ENVIRONMENT = regex(r"env|^(game|sim|simulator|world|mdp)$")
_OPTIMIZER = regex(r"optim|^opt|_opt$|^scaler$|grad_scaler")
_NO_ENVIRONMENT = regex(
    r"sched|optim|^opt|_opt$|scaler|prof|accelerator|engine|writer|logger|progress|bar$|timer|clock|meter"
)
_QUEUE = regex(r"queue|(^|_)q$")
_CONNECTION = regex(r"conn|pipe|remote|sock")
_STORES = regex(r"buffer|memory|replay")
_LOADER = regex(r"loader$|dataloader")
_GENERATES = regex(r"model|llm|(^|_)lm$|policy|actor|engine|generator|vllm|pipeline|rollout")
STEPS_ENVIRONMENT = ("step", "step_wait", "vector_step")
"""Methods that may step an environment."""
_APPLIES = frozenset({"apply_gradients", "apply_updates", "train_on_batch"})
"""What changes weights by gradients in TensorFlow and JAX, whatever it is a method of."""
_OF_OPTIMIZER = frozenset({"apply", "minimize"})
"""Methods of optimizers there that do the same."""
OPTIMIZING = frozenset({"step", *_APPLIES, *_OF_OPTIMIZER})
"""Methods that change weights in a gradient step."""
STEPPING = frozenset({"backward", "manual_backward", *OPTIMIZING, *STEPS_ENVIRONMENT})
"""Methods that may take gradient steps."""
DRIVING = STEPPING | {"send", "put", "put_nowait"} | vocabulary.GENERATES | vocabulary.HANDS_OUT
"""Methods that may drive the code around them."""


def driver_of(call: ast.Call, types: TypeInference) -> Driver | None:
    """Return the kind of training driver that a call is: an environment step, an optimizer step, the arrival
    of a message …
    """
    func = call.func
    if not isinstance(func, ast.Attribute):
        return None
    method = func.attr
    if method in STEPS_ENVIRONMENT:
        return _step(call, func, types)
    if method == "send":
        return Driver.ENVIRONMENT_STEP if _orders_step(call) else None
    if method in ("backward", "manual_backward") or method in _APPLIES:
        return Driver.GRADIENT_STEP
    if method in _OF_OPTIMIZER:
        return Driver.GRADIENT_STEP if _is_optimizer(func.value, types) else None
    if method in ("get", "get_nowait", "recv", "recv_pyobj", "recv_bytes"):
        tag = types.type_of(func.value).tag
        if tag in (TypeTag.QUEUE, TypeTag.CONNECTION):
            return Driver.MESSAGE
        name = (last_name(func.value) or "").lower()
        pattern = _QUEUE if method.startswith("get") else _CONNECTION
        if tag is not TypeTag.UNKNOWN:
            return None
        is_named = bool(pattern.search(name)) or method == "get_nowait"
        return Driver.MESSAGE if is_named or _takes_next(call, types) else None
    if method in ("put", "put_nowait"):
        return Driver.MESSAGE if _sends_on(call, func, types) else None
    if method in ("sample", "sample_batch") and call.args:
        name = (last_name(func.value) or "").lower()
        return Driver.BATCH if _STORES.search(name) else None
    if method in ("generate", "generate_sequences", "generate_samples"):
        name = (last_name(func.value) or "").lower()
        return Driver.GENERATION if _GENERATES.search(name) else None
    return None


def _is_optimizer(owner: ast.expr, types: TypeInference) -> bool:
    """Whether an object of unknown class likely is an optimizer, not a module such as `scipy.optimize`."""
    is_named = bool(_OPTIMIZER.search((last_name(owner) or "").lower()))
    return is_named and types.names.qualified(owner) is None and not types.type_of(owner)


def _takes_next(call: ast.Call, types: TypeInference) -> bool:
    """Whether a loop takes the next item of a queue, judging by the arguments: `inbox.get(timeout=1)`, or
    `inbox.get()` in a `while` loop.
    """
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "get" or call.args:
        return False
    if call.keywords:
        return all(keyword.arg in ("block", "timeout") for keyword in call.keywords)
    loops = (around for around in types.syntax.ancestors(call) if isinstance(around, (*LOOPS, *FUNCTIONS)))
    return isinstance(next(loops, None), ast.While)


def _sends_on(call: ast.Call, func: ast.Attribute, types: TypeInference) -> bool:
    """Whether an endless loop passes what it makes to another thread or process: the loop of an actor."""
    around = (each for each in types.syntax.ancestors(call) if isinstance(each, (*LOOPS, *FUNCTIONS)))
    match next(around, None):
        case ast.While(test=ast.Constant(value=True | 1)):
            pass
        case _:
            return False
    tag = types.type_of(func.value).tag
    if tag is TypeTag.UNKNOWN:
        return bool(_QUEUE.search((last_name(func.value) or "").lower()))
    return tag is TypeTag.QUEUE


def _orders_step(call: ast.Call) -> bool:
    """Whether a message requests a worker to step its environment: `remote.send(("step", action))`."""
    described = call.args[0] if call.args else None
    if isinstance(described, (ast.Tuple, ast.List)) and described.elts:
        described = described.elts[0]
    elif isinstance(described, ast.Dict) and described.values:
        described = described.values[0]
    return isinstance(described, ast.Constant) and described.value in ("step", "step_async", "STEP")


def _step(call: ast.Call, func: ast.Attribute, types: TypeInference) -> Driver | None:
    tag = types.type_of(func.value).tag
    name = (last_name(func.value) or "").lower()
    if tag is TypeTag.ENVIRONMENT:
        return Driver.ENVIRONMENT_STEP
    if tag is TypeTag.OPTIMIZER:
        return Driver.GRADIENT_STEP
    if tag not in (TypeTag.UNKNOWN, TypeTag.INSTANCE, TypeTag.MODULE):
        return None
    if func.attr == "step_wait" and name not in ("self", "super"):
        return Driver.ENVIRONMENT_STEP
    if _ENVIRONMENT.search(name):
        return Driver.ENVIRONMENT_STEP
    if _OPTIMIZER.search(name):
        return Driver.GRADIENT_STEP
    if name in ("self", "super") or _NO_ENVIRONMENT.search(name):
        return None
    parent = types.syntax.parents.get(call)
    if (
        isinstance(parent, ast.Assign)
        and len(parent.targets) == 1
        and isinstance(parent.targets[0], ast.Tuple)
    ):
        return Driver.ENVIRONMENT_STEP if len(parent.targets[0].elts) in (4, 5) and call.args else None
    return None


def steps_item(call: ast.Call, target: ast.expr, iterable: ast.expr) -> bool:
    """Whether a call steps the loop variable of a loop over several environments: `e.step(a)` in `for e, a in
    zip(envs, actions)`.
    """
    match call.func:
        case ast.Attribute(value=ast.Name(id=item), attr=method) if method in STEPS_ENVIRONMENT and call.args:
            over = _iterated(item, target, iterable)
            return over is not None and bool(_ENVIRONMENT.search((last_name(over) or "").lower()))
    return False


def _iterated(name: str, target: ast.expr, iterable: ast.expr) -> ast.expr | None:
    """Return what a loop takes the values of its variable from."""
    match target, iterable:
        case ast.Name(id=bound), _:
            return iterable if bound == name else None
        case ast.Tuple(elts=[_, inner]), ast.Call(func=ast.Name(id="enumerate"), args=[iterated]):
            return _iterated(name, inner, iterated)
        case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=iterated):
            for part, over in zip(targets, iterated):  # noqa: B905
                found = _iterated(name, part, over)
                if found is not None:
                    return found
    return None


def is_loader(iterable: ast.expr, types: TypeInference) -> bool:
    """Whether a loop over an expression loads a batch in each iteration."""
    if isinstance(iterable, ast.Call):
        callee = types.names.qualified(iterable.func) or ""
        if callee in ("builtins.enumerate", "builtins.zip", "builtins.iter") or callee.startswith("tqdm"):
            return any(is_loader(argument, types) for argument in iterable.args)
    if types.type_of(iterable).tag is TypeTag.LOADER:
        return True
    return bool(_LOADER.search((last_name(iterable) or "").lower()))
