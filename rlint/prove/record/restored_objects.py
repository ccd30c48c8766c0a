"""Recreate the objects that a recorder has serialised. Names that occur in pickles of recorded calls."""

from __future__ import annotations

import importlib
import marshal
import sys
import threading
import types
import weakref
from typing import Any

CUT: list[Any] = []
"""Leaves that replace the graph before the recorded call, in the order in which they were restored."""
CODES: dict[str, types.CodeType] = {}
"""The code of the program's files in the arm that is restored for, by path."""
STAND_INS: dict[int, StandIn] = {}
LOG: list[tuple[str, Any, Any]] = []
"""Calls of stand-ins: the method and its arguments."""


class StandInError(Exception):
    """A stand-in was called in a way in which the recorded run did not call the real object."""


class StandIn:
    """Replaces an object that cannot be copied, and returns the results recorded for it."""

    def __init__(self, number: int, kind: str, values: dict[str, Any]) -> None:
        held = object.__getattribute__(self, "__dict__")
        held["_rlint_number"], held["_rlint_kind"] = number, kind
        held["_rlint_values"], held["_rlint_answers"] = values, {}
        STAND_INS[number] = self

    def __getattr__(self, name: str) -> Any:
        """Return a recorded attribute, or a method with recorded results."""
        held = object.__getattribute__(self, "__dict__")
        if name in held["_rlint_values"]:
            return held["_rlint_values"][name]
        if name in held["_rlint_answers"]:
            return StandInMethod(self, name)
        if name.startswith("__"):
            raise AttributeError(name)
        raise StandInError(f"`{name}` of {held['_rlint_kind']}, which cannot be copied, was not recorded")


class StandInMethod:
    """A method of a stand-in."""

    def __init__(self, owner: StandIn, name: str) -> None:
        self._owner, self._name = owner, name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Record the call, and return the result of the real method."""
        held = object.__getattribute__(self._owner, "__dict__")
        LOG.append((f"{held['_rlint_kind']}.{self._name}", args, kwargs))
        answers = held["_rlint_answers"][self._name]
        if not answers:
            raise StandInError(
                f"`{self._name}` of {held['_rlint_kind']} was called more often than in the run"
            )
        raised, value, streams = answers.pop(0)
        if streams is not None:
            set_streams(streams)
        if raised is not None:
            raise raised
        return value


def set_answers(number: int, answers: dict[str, list[Any]]) -> None:
    """Set a stand-in's results of the real object, by method."""
    if number in STAND_INS:
        held = object.__getattribute__(STAND_INS[number], "__dict__")
        held["_rlint_answers"] = {name: list(given) for name, given in answers.items()}


def module(name: str) -> types.ModuleType:
    """Return a module, imported if need be."""
    return sys.modules[name] if name in sys.modules else importlib.import_module(name)


def stream(name: str) -> Any:
    """Return a standard stream of the process."""
    return getattr(sys, name)


def lock(kind: str) -> Any:
    """Return an unlocked lock."""
    return threading.RLock() if kind == "RLock" else threading.Lock()


def mapping_proxy(held: dict[Any, Any]) -> Any:
    """Return a read-only view of a dict."""
    return types.MappingProxyType(held)


def reference(target: Any) -> Any:
    """Return a weak reference."""
    return weakref.ref(target)


# --- functions that no module holds under a name ---


def cell() -> types.CellType:
    """Return an empty cell of a closure."""
    return types.CellType()


def set_cell(target: types.CellType, held: tuple[Any, ...]) -> None:
    """Fill a cell, if it was full."""
    if held:
        target.cell_contents = held[0]


def marshalled_code(data: bytes) -> types.CodeType:
    """Return the code of a function that is not the program's own."""
    code = marshal.loads(data)  # noqa: S302 - from a record that was verified
    assert isinstance(code, types.CodeType)
    return code


def own_code(file: str, path: list[tuple[str, int]]) -> types.CodeType:
    """Return the code of a function of the program, in the text of this arm."""
    from rlint.prove.record.instrumented_code import code_at

    return code_at(CODES[file], path)


def function(
    code: types.CodeType, owner: str, name: str, qualname: str, closure: tuple[types.CellType, ...] | None
) -> types.FunctionType:
    """Return a function; values that may refer back to it are set later."""
    made = types.FunctionType(code, vars(module(owner)), name, None, closure)
    made.__qualname__ = qualname
    return made


def set_function(target: types.FunctionType, state: tuple[Any, Any, dict[str, Any]]) -> None:
    """Set the defaults and attributes of a function."""
    target.__defaults__, target.__kwdefaults__ = state[0], state[1]
    vars(target).update(state[2])


# --- arrays and tensors ---


def array_view(owner: Any, dtype: Any, shape: Any, strides: Any, offset: int, writeable: bool) -> Any:  # noqa: FBT001
    """Return an array that shares another one's memory."""
    numpy = module("numpy")
    flat = owner.reshape(-1, order="A" if owner.flags.c_contiguous else "F")
    found = numpy.ndarray(shape, dtype, flat, offset, strides)
    found.flags.writeable = writeable
    return found


def array_of_tensor(owner: Any, dtype: Any, shape: Any, strides: Any, offset: int) -> Any:
    """Return an array that shares the memory of a tensor."""
    numpy, torch = module("numpy"), module("torch")
    whole = torch.empty(0, dtype=torch.uint8).set_(owner.untyped_storage()).numpy()
    return numpy.ndarray(shape, dtype, whole, offset, strides)


def storage(data: Any, device: str) -> Any:
    """Return the memory of tensors."""
    torch = module("torch")
    memory = torch.empty(len(data), dtype=torch.uint8, device="cpu")
    if len(data):
        memory.copy_(torch.frombuffer(bytearray(data), dtype=torch.uint8))
    return (memory if device == "cpu" else memory.to(device)).untyped_storage()


def storage_of_array(owner: Any) -> Any:
    """Return the memory of an array, for tensors that share it."""
    torch, numpy = module("torch"), module("numpy")
    flat = owner.reshape(-1, order="A" if owner.flags.c_contiguous else "F")
    return torch.from_numpy(flat.view(numpy.uint8)).untyped_storage()


def tensor(held: Any, kind: str, dtype: str, place: tuple[int, Any, Any], grad: bool, cut: bool) -> Any:  # noqa: FBT001
    """Return a tensor in some memory. A tensor with a graph becomes a copy of a leaf that is recorded."""
    torch = module("torch")
    offset, size, stride = place
    with torch.inference_mode(mode=False), torch.no_grad():
        found = torch.empty(0, dtype=getattr(torch, dtype), device=held.device).set_(
            held, offset, size, stride
        )
    if kind == "Parameter":
        return torch.nn.Parameter(found, requires_grad=grad)
    if kind == "Buffer":
        return torch.nn.Buffer(found)
    if cut:
        leaf = found.requires_grad_()
        CUT.append(leaf)
        with torch.enable_grad():
            return _Copied.apply(leaf)
    return found.requires_grad_() if grad else found


class _Copied:
    """Autograd function that copies a tensor with its strides."""

    @staticmethod
    def apply(leaf: Any) -> Any:
        torch = module("torch")
        found = torch.empty_strided(leaf.size(), leaf.stride(), dtype=leaf.dtype, device=leaf.device)
        found.copy_(leaf)
        return found


def set_tensor(target: Any, state: tuple[Any, dict[str, Any]]) -> None:
    """Set the gradient and the attributes of a tensor."""
    gradient, held = state
    if gradient is not None and target.is_leaf:
        target.grad = gradient
    for name, value in held.items():
        setattr(target, name, value)


def torch_generator(device: str, state: bytes) -> Any:
    """Return a generator of PyTorch's."""
    torch = module("torch")
    made = torch.Generator(device=device)
    made.set_state(torch.frombuffer(bytearray(state), dtype=torch.uint8))
    return made


# --- random streams ---


def streams() -> dict[str, Any]:
    """Return the states of the process's random streams, of the loaded packages."""
    import random

    found: dict[str, Any] = {"python": random.getstate()}
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and "numpy.random" in sys.modules:
        found["numpy"] = numpy.random.get_state()
    torch: Any = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "default_generator"):
        found["torch"] = bytes(torch.default_generator.get_state().numpy())
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            found["cuda"] = [bytes(one.numpy()) for one in torch.cuda.get_rng_state_all()]
    return found


def set_streams(found: dict[str, Any]) -> None:
    """Restore the states of random streams."""
    import random

    random.setstate(found["python"])
    if "numpy" in found:
        module("numpy").random.set_state(found["numpy"])
    if "torch" in found:
        torch = module("torch")
        torch.default_generator.set_state(torch.frombuffer(bytearray(found["torch"]), dtype=torch.uint8))
        if "cuda" in found and torch.cuda.is_available():
            states = [torch.frombuffer(bytearray(one), dtype=torch.uint8) for one in found["cuda"]]
            torch.cuda.set_rng_state_all(states)
