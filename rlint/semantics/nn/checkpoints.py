"""Calls that write a checkpoint: a network, an agent, or the whole training state."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rlint.models.value_type import TypeTag
from rlint.regex import regex
from rlint.semantics.frequency.guards import GuardKind
from rlint.syntax.last_names import last_name

if TYPE_CHECKING:
    from rlint.semantics.file_analysis import FileAnalysis
    from rlint.semantics.interprocedural.call_graph import CallGraph

_WEIGHTS = frozenset(
    """safetensors.torch.save_file safetensors.torch.save_model torch.distributed.checkpoint.async_save
    torch.distributed.checkpoint.save torch.distributed.checkpoint.save_state_dict torch.jit.save
    torch.save""".split()
)
_OBJECTS = frozenset({"pickle.dump", "cloudpickle.dump", "joblib.dump", "dill.dump"})
_SERIALIZES = frozenset(name + "s" for name in _OBJECTS - {"joblib.dump"}) | {"safetensors.torch.save"}
_WRITES = frozenset({"write", "write_bytes"})
_UNMISTAKABLE = frozenset(
    "save_pretrained save_checkpoint save_model save_weights save_replay_buffer".split()
)
_SAVE = _WEIGHTS | _OBJECTS
_OF_A_RUN = frozenset({"save", "save_state"})
"""Methods of objects that manage a training: `accelerator.save_state(folder)`."""
_NAMES = frozenset(name.rpartition(".")[2] for name in _SAVE) | _UNMISTAKABLE | _OF_A_RUN | _WRITES
"""The names of methods and functions that may write a checkpoint."""
_TRAINED_WEIGHTS = regex(
    r"agent|model|policy|(^|_)(q_?)?net(work)?s?($|_)|actor|critic|q_table|replay|memory|buffer|state_dict|weights"
    r"|params|checkpoint|ckpt|learner|optim|trainer"
)
_MANAGES = regex(r"^acc$|accelerator|fabric|(^|_)engine$|trainer")
_DATA = frozenset(
    {TypeTag.TENSOR, TypeTag.NDARRAY, TypeTag.STR, TypeTag.FLOAT, TypeTag.INT, TypeTag.BOOL, TypeTag.BYTES}
)
_DEPTH = 4
_MOST_ARGUMENTS = 2
"""Maximum number of arguments of a saving call: the path, and options."""


def writes_checkpoint(call: ast.Call, analysis: FileAnalysis) -> bool:
    """Whether a library call writes learned weights to a file. Data that is stored in parts is not a
    checkpoint.
    """
    if isinstance(call.func, ast.Attribute) and call.func.attr not in _NAMES:
        return False
    qualified = analysis.names.qualified(call.func)
    if qualified is not None and qualified in _SAVE:
        given = _given(call)
        if given is None or analysis.types.type_of(given).tag in _DATA:
            return False
        return qualified in _WEIGHTS or _holds_weights(given)
    if qualified is not None or not isinstance(call.func, ast.Attribute):
        return False
    if len(call.args) > _MOST_ARGUMENTS:
        return False  # `memory.save(state, action, reward)` stores a transition
    if call.func.attr in _WRITES:
        return bool(call.args) and _writes_pickled(call.args[0], analysis)
    owner = (last_name(call.func.value) or "").lower()
    if call.func.attr in _OF_A_RUN and _MANAGES.search(owner):
        return True
    return call.func.attr in _UNMISTAKABLE or (
        call.func.attr == "save" and owner not in ("self", "super") and bool(_TRAINED_WEIGHTS.search(owner))
    )


def _given(call: ast.Call) -> ast.expr | None:
    """Return what a call writes: its first argument, or the one called `obj`."""
    named = (keyword.value for keyword in call.keywords if keyword.arg == "obj")
    return call.args[0] if call.args else next(named, None)


def _holds_weights(given: ast.expr) -> bool:
    """Whether an expression is an agent or its weights, judging by its name, or a display that has one."""
    match given:
        case ast.Dict(keys=keys, values=values):
            named = (str(key.value).lower() for key in keys if isinstance(key, ast.Constant))
            return any(map(_holds_weights, values)) or any(map(_TRAINED_WEIGHTS.search, named))
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return any(map(_holds_weights, parts))
        case ast.Call(func=func):
            return bool(_TRAINED_WEIGHTS.search((last_name(func) or "").lower()))
    return bool(_TRAINED_WEIGHTS.search((last_name(given) or "").lower()))


def _writes_pickled(given: ast.expr, analysis: FileAnalysis) -> bool:
    """Whether a written value is the serialised form of weights: `file.write(pickle.dumps(agent))`."""
    if not isinstance(given, ast.Call) or analysis.names.qualified(given.func) not in _SERIALIZES:
        return False
    return bool(given.args) and _holds_weights(given.args[0])


def functions_that_save(analysis: FileAnalysis) -> set[str]:
    """Return the qualified names of the functions of a file that write a checkpoint themselves, in each
    call.
    """
    tree, conditions = analysis.syntax, analysis.loops.conditions
    found = set()
    for call in tree.of_type(ast.Call):
        if not writes_checkpoint(call, analysis):
            continue
        function = tree.function(call)
        if function is not None and all(guard.kind is GuardKind.RANK for guard in conditions.of(call)):
            found.add(tree.qualname(function))
    return found


def savers(graph: CallGraph) -> frozenset[str]:
    """Return the paths of all functions of a project that write a checkpoint in each call, themselves or
    through calls that they always make, to a limited depth.
    """
    functions = [f for module in graph.index.modules.values() for f in module.functions.values()]
    newest = {function.path for function in functions if function.saves}
    found = set(newest)
    for _ in range(_DEPTH):
        callers = {
            edge.caller.path
            for path in newest
            for edge in graph.callers(path)
            if all(guard.kind is GuardKind.RANK for guard in edge.site.guards)
        }
        newest = callers - found
        found |= newest
    return frozenset(found)
