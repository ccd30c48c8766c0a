"""Serialise objects as they are at one moment, including shared memory, views and gradients.

Like Python's pickling, but keeps what that loses (shared memory of arrays, strides, gradients), accepts what
it refuses (functions without a name in a module, locks), and supports stand-ins for other objects.
"""

from __future__ import annotations

import contextlib
import io
import marshal
import pickle
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from rlint.prove.record import restored_objects as restored
from rlint.prove.record.instrumented_code import code_path

_MOST_SEARCHED = 200_000
_NOTHING = object()


class UncopyableError(Exception):
    """An object cannot be serialised. `culprit` is it."""

    def __init__(self, reason: str, culprit: Any = None) -> None:
        super().__init__(reason)
        self.culprit = culprit


class TooLargeError(Exception):
    """The data exceeds the size limit."""


class OwnFiles:
    """The recorder's knowledge of the program's own files."""

    def __init__(self, roots: tuple[str, ...]) -> None:
        self.roots = roots
        self.notebook = ""
        """The notebook whose cells this process runs."""
        self.codes: dict[str, types.CodeType] = {}
        """The code of instrumented files, by path."""

    def owns(self, module: str) -> bool:
        """Whether a module is one of the program's own files."""
        return self.owns_file(self.file_of(sys.modules.get(module)))

    def file_of(self, module: Any) -> Any:
        """Return the file of a module; that of the notebook whose cells run."""
        if self.notebook and module is sys.modules.get("__main__"):
            return self.notebook
        return getattr(module, "__file__", None)

    def owns_file(self, file: Any) -> bool:
        """Whether a file is one of the program's own."""
        return (
            isinstance(file, str)
            and file.startswith(self.roots)
            and "site-packages" not in file
            and "dist-packages" not in file
        )


class _Bounded(io.BytesIO):
    """A file that refuses to grow beyond a limit."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit

    def write(self, data: Any) -> int:
        if self.tell() + len(data) > self._limit:
            raise TooLargeError
        return super().write(data)


class Capture(pickle.Pickler):
    """Serialises objects one after the other; shared parts are written once."""

    def __init__(self, program: OwnFiles, limit: int, stand_ins: dict[int, int] | None = None) -> None:
        self.file = _Bounded(limit)
        super().__init__(self.file, protocol=5)
        self._program = program
        self._stand_ins = stand_ins or {}
        self._storages: dict[int, Any] = {}
        self._arrays: dict[int, Any] = {}
        self._alive: list[Any] = []
        self.met: dict[int, Any] = {}
        """Functions and classes of the program, whose globals are needed, too."""
        self.cut = 0
        """Tensors whose graph is not recorded."""

    def reducer_override(self, obj: Any) -> Any:
        """Return how to pickle an object; NotImplemented for Python's default."""
        number = self._stand_ins.get(id(obj))
        if number is not None:
            return restored.StandIn, (number, type(obj).__qualname__, simple_attributes(obj))
        kind = type(obj)
        reducer = _REDUCERS.get(kind)
        if reducer is not None:
            return reducer(self, obj)
        if isinstance(obj, type):
            return self._class(obj)
        module = kind.__module__
        if self._program.owns(module):
            self.met.setdefault(id(kind), kind)
        if module.startswith(("torch", "numpy")):
            return self._numerical(obj, kind)
        if isinstance(obj, io.IOBase):
            return self._stream(obj)
        torch: Any = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "Tensor") and isinstance(obj, torch.Tensor):
            raise UncopyableError(f"a tensor of the class {kind.__qualname__}", obj)
        return NotImplemented

    # --- code ---

    def _class(self, obj: type) -> Any:
        if "<locals>" in obj.__qualname__:
            raise UncopyableError(f"the class {obj.__qualname__}, which is defined in a function", obj)
        if self._program.owns(obj.__module__):
            self.met.setdefault(id(obj), obj)
        return NotImplemented

    def function(self, obj: types.FunctionType) -> Any:
        """Serialise a function by its name in its module, or else by its code and its closure."""
        if self._program.owns(obj.__module__ or ""):
            self.met.setdefault(id(obj), obj)
        if _named(obj) is obj:
            return NotImplemented
        code, file = obj.__code__, obj.__code__.co_filename
        source: tuple[Any, ...] = (restored.marshalled_code, (marshal.dumps(code),))
        root = self._program.codes.get(file)
        if root is not None:
            path = code_path(root, code)
            if path is None:
                raise UncopyableError(f"the function {obj.__qualname__}, whose code is not in its file", obj)
            source = restored.own_code, (file, path)
        if obj.__module__ not in sys.modules or obj.__globals__ is not vars(sys.modules[obj.__module__]):
            raise UncopyableError(f"the function {obj.__qualname__}, which belongs to no module", obj)
        state = obj.__defaults__, obj.__kwdefaults__, vars(obj)
        arguments = _Code(*source), obj.__module__, obj.__name__, obj.__qualname__, obj.__closure__
        return restored.function, arguments, state, None, None, restored.set_function

    def cell(self, obj: types.CellType) -> Any:
        """Return a cell of a closure, which may refer back to its function."""
        try:
            held: tuple[Any, ...] = (obj.cell_contents,)
        except ValueError:
            held = ()
        return restored.cell, (), held, None, None, restored.set_cell

    def module(self, obj: types.ModuleType) -> Any:
        """Return a module by its name."""
        if sys.modules.get(obj.__name__) is not obj:
            raise UncopyableError(f"the module {obj.__name__}, which cannot be imported", obj)
        return restored.module, (obj.__name__,)

    def _stream(self, obj: io.IOBase) -> Any:
        for name in ("stdout", "stderr", "stdin", "__stdout__", "__stderr__", "__stdin__"):
            if obj is getattr(sys, name, None):
                return restored.stream, (name,)
        if isinstance(obj, (io.BytesIO, io.StringIO)):
            return NotImplemented
        raise UncopyableError(f"an open file ({type(obj).__qualname__})", obj)

    # --- arrays and tensors ---

    def _numerical(self, obj: Any, kind: type) -> Any:
        torch: Any = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "Tensor"):
            if kind in (torch.Tensor, torch.nn.Parameter, getattr(torch.nn, "Buffer", None)):
                return self._tensor(obj, kind, torch)
            if isinstance(obj, torch.Tensor):
                raise UncopyableError(f"a tensor of the class {kind.__qualname__}", obj)
            if isinstance(obj, torch.UntypedStorage):
                return self._storage(obj)
            if isinstance(obj, torch.Generator):
                return restored.torch_generator, (str(obj.device), bytes(obj.get_state().cpu().numpy()))
            if kind.__qualname__ in ("ScriptModule", "RecursiveScriptModule", "OptimizedModule"):
                raise UncopyableError(f"a compiled module ({kind.__qualname__})", obj)
        numpy: Any = sys.modules.get("numpy")
        if numpy is not None and kind is getattr(numpy, "ndarray", None) and not obj.dtype.hasobject:
            return self._array(obj, numpy, torch)
        return NotImplemented

    def _array(self, obj: Any, numpy: Any, torch: Any) -> Any:
        owner = obj
        while isinstance(owner.base, numpy.ndarray):
            owner = owner.base
        address = obj.__array_interface__["data"][0]
        if (
            owner is not obj
            and type(owner) is numpy.ndarray
            and (owner.flags.c_contiguous or owner.flags.f_contiguous)
        ):
            offset = address - owner.__array_interface__["data"][0]
            given = owner, obj.dtype, obj.shape, obj.strides, offset, bool(obj.flags.writeable)
            return restored.array_view, given
        base = owner.base
        if torch is not None and hasattr(torch, "Tensor") and isinstance(base, torch.Tensor):
            offset = address - base.untyped_storage().data_ptr()
            plain = base.detach() if base.grad_fn is not None else base
            self._alive.append(plain)
            return restored.array_of_tensor, (plain, obj.dtype, obj.shape, obj.strides, offset)
        self._arrays[address] = obj
        return NotImplemented

    def _tensor(self, obj: Any, kind: type, torch: Any) -> Any:
        if obj.layout is not torch.strided or obj.is_quantized or obj.device.type == "meta":
            raise UncopyableError(f"a tensor that is {obj.layout}", obj)
        if obj.is_conj() or obj.is_neg() or obj._backward_hooks:
            raise UncopyableError("a tensor with hooks, or with the conjugate or negative bit set", obj)
        held = obj.untyped_storage()
        key = held.data_ptr() or id(held)
        held = self._storages.setdefault(key, held)
        cut = obj.grad_fn is not None
        self.cut += cut
        gradient = obj.grad if obj.is_leaf else None
        place = obj.storage_offset(), tuple(obj.size()), obj.stride()
        dtype = str(obj.dtype).partition(".")[2]
        given = held, kind.__name__, dtype, place, obj.requires_grad, cut
        state = gradient, dict(vars(obj))
        return restored.tensor, given, state, None, None, restored.set_tensor

    def _storage(self, obj: Any) -> Any:
        torch: Any = sys.modules["torch"]
        array = self._arrays.get(obj.data_ptr())
        if obj.device.type == "cpu" and array is not None and array.nbytes == obj.nbytes():
            return restored.storage_of_array, (array,)
        if obj.device.type not in ("cpu", "cuda"):
            raise UncopyableError(f"a tensor on {obj.device.type}", obj)
        if obj.nbytes() > self.file._limit:
            raise TooLargeError
        plain = obj if obj.device.type == "cpu" else obj.cpu()
        data = torch.empty(0, dtype=torch.uint8).set_(plain).numpy().tobytes()
        return restored.storage, (data, str(obj.device))


class _Code:
    """Represents the code of a function in its pickle."""

    def __init__(self, make: Callable[..., Any], given: tuple[Any, ...]) -> None:
        self.made = make, given

    def __reduce__(self) -> Any:
        return self.made


def _named(obj: types.FunctionType) -> Any:
    """Return the object that a function's module holds under its name."""
    found: Any = sys.modules.get(obj.__module__ or "")
    for part in obj.__qualname__.split("."):
        found = getattr(found, part, None)
    return found


def _refuse(what: str) -> Callable[[Capture, Any], Any]:
    def refuse(_: Capture, obj: Any) -> Any:
        raise UncopyableError(what, obj)

    return refuse


def _lock(_: Capture, obj: Any) -> Any:
    return restored.lock, ("RLock" if "RLock" in type(obj).__name__ else "Lock",)


def _reference(_: Capture, obj: Any) -> Any:
    target = obj()
    if target is None:
        raise UncopyableError("a dead weak reference", obj)
    return restored.reference, (target,)


def _proxy(_: Capture, obj: Any) -> Any:
    return restored.mapping_proxy, (dict(obj),)


_REDUCERS: dict[type, Callable[[Capture, Any], Any]] = {
    types.FunctionType: Capture.function,
    types.CellType: Capture.cell,
    types.ModuleType: Capture.module,
    types.GeneratorType: _refuse("a generator"),
    types.CoroutineType: _refuse("a coroutine"),
    types.FrameType: _refuse("a frame"),
    types.MappingProxyType: _proxy,
    type(threading.Lock()): _lock,
    type(threading.RLock()): _lock,
    threading.local: _refuse("thread-local values"),
    weakref.ReferenceType: _reference,
}

_PLAIN = (type(None), bool, int, float, complex, str, bytes)


def simple_attributes(obj: Any) -> dict[str, Any]:
    """Return the attributes of an object that need no stand-in: numbers and strings."""
    held = getattr(obj, "__dict__", None)
    if not isinstance(held, dict):
        return {}
    return {name: value for name, value in held.items() if type(value) in _PLAIN and isinstance(name, str)}


# --- stand-ins ---


def stand_in_for(roots: list[Any], culprit: Any, program: OwnFiles, self_object: Any) -> Any:
    """Return the object to replace by a stand-in: the outermost one of some package through which the roots
    reach the object that cannot be copied, else the innermost one of the program's, else that object itself.
    It is never the object whose method is recorded.
    """
    came_from: dict[int, Any] = {}
    seen = {id(one) for one in roots}
    pending = list(roots)
    alive = list(roots)
    while pending:
        node = pending.pop()
        if node is culprit:
            break
        for child in held_by(node):
            if id(child) not in seen:
                if len(seen) > _MOST_SEARCHED:
                    return culprit
                seen.add(id(child))
                alive.append(child)
                came_from[id(child)] = node
                pending.append(child)
    way = [culprit]
    while id(way[-1]) in came_from:
        way.append(came_from[id(way[-1])])
    patchable = [one for one in way if _can_stand_in(one)]
    outside = [one for one in patchable if not program.owns(type(one).__module__)]
    own = [one for one in patchable if not any(one is each for each in roots) and one is not self_object]
    return outside[-1] if outside else own[0] if own else culprit


def _can_stand_in(one: Any) -> bool:
    """Whether calls of an object's methods can be recorded, so that a stand-in can return the same."""
    module = type(one).__module__
    if module.partition(".")[0] in _NEVER and not module.startswith("torch.utils"):
        return False
    if not isinstance(getattr(one, "__dict__", None), dict):
        return False
    return not isinstance(one, (type, types.ModuleType, types.FunctionType)) and any(
        isinstance(value, types.FunctionType) and not name.startswith("_")
        for base in type(one).__mro__
        for name, value in vars(base).items()
    )


_NEVER = ("torch", "builtins", "collections", "functools", "argparse", "types", "threading", "logging")
"""Packages whose objects are the subject of the program, or to which too much of it refers."""


def held_by(node: Any) -> Iterator[Any]:
    """Yield the objects that an object refers to directly."""
    if isinstance(node, (str, bytes, int, float, types.ModuleType, type)):
        return
    if isinstance(node, dict):
        yield from node.values()
    elif isinstance(node, (list, tuple, set, frozenset)):
        yield from node
    elif isinstance(node, types.FunctionType):
        for one in node.__closure__ or ():
            with contextlib.suppress(ValueError):
                yield one.cell_contents
    elif isinstance(node, types.MethodType):
        yield node.__self__
    elif type(node).__module__ != "numpy":
        held = getattr(node, "__dict__", None)
        if isinstance(held, dict):
            yield from held.values()
        if type(node).__module__ == "collections" and hasattr(node, "__iter__"):
            yield from node
        for base in type(node).__mro__:
            names = vars(base).get("__slots__", ())
            for name in (names,) if isinstance(names, str) else names:
                value = getattr(node, name, _NOTHING)
                if value is not _NOTHING:
                    yield value


class MethodAnswers:
    """Records the results of an object's methods while a call is recorded."""

    def __init__(self, number: int, target: Any) -> None:
        self.number, self.target = number, target
        self.answers: dict[str, list[Any]] = {}
        self._depth = 0
        self._patched: list[str] = []

    def patch(self) -> None:
        """Wrap each public method of the object by a recorder."""
        held = getattr(self.target, "__dict__", None)
        if not isinstance(held, dict):
            return
        for base in type(self.target).__mro__:
            for name, value in list(vars(base).items()):
                if name.startswith("_") or name in held or not isinstance(value, types.FunctionType):
                    continue
                with contextlib.suppress(Exception):
                    object.__setattr__(self.target, name, self._listener(name, getattr(self.target, name)))
                    self._patched.append(name)

    def unpatch(self) -> None:
        """Restore the methods."""
        for name in self._patched:
            self.target.__dict__.pop(name, None)
        self._patched.clear()

    def _listener(self, name: str, method: Any) -> Any:
        def listen(*args: Any, **kwargs: Any) -> Any:
            self._depth += 1
            before = restored.streams() if self._depth == 1 else None
            raised, value = None, None
            try:
                value = method(*args, **kwargs)
            except BaseException as error:
                raised = error
                raise
            else:
                return value
            finally:
                self._depth -= 1
                if self._depth == 0:
                    after = restored.streams()
                    streams = None if _same_streams(before, after) else after
                    self.answers.setdefault(name, []).append((raised, value, streams))

        return listen


def _same_streams(before: Any, after: Any) -> bool:
    return all(
        repr(before.get(name)) == repr(after[name]) if name == "numpy" else before.get(name) == after[name]
        for name in after
    )
