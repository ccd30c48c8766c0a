"""Recorders of regions: which calls are recorded, within which budget, and into which files.

No failure here may affect the program: a record that fails is counted with its reason.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import pickle
import random
import sys
import threading
import time
from typing import Any

from rlint.prove.record import restored_objects as restored
from rlint.prove.record.capture import (
    Capture,
    MethodAnswers,
    OwnFiles,
    TooLargeError,
    UncopyableError,
    held_by,
    stand_in_for,
)
from rlint.prove.record.object_calls import LifeCall, ObjectCalls

MAGIC = b"rlint record 1\n"
_FIRST, _RESERVOIR = 3, 5
"""Calls recorded at the beginning, and further ones spread over the run."""
_MOST_FAILURES = 3
_LEAST_BUDGET, _SHARE, _MORE, _LESS = 1.5, 0.12, 1.5, 0.6
"""Seconds that recording may always take, the additional fraction of the run, and the factors for the first
records of a region and for later ones.
"""
_FLUSH = 0.5
_MOST_STAND_INS = 6
_OUTCOME_LIMIT = 16 * 2**20
_DEEPEST = 20
_LEAST_RECORDS = 2
_TOO_COSTLY = "recording more would have slowed the run down too much"
_THROWN = "its consumer, or what it awaits, raises an exception in it, which cannot be recorded"
_MOST_VALUES = 64
"""Maximum number of recorded values of a generator, or results awaited by a coroutine, per call."""
_clock = time.perf_counter


class RecordingProcess:
    """All recorders of a process, and their shared state."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config
        self.folder: str = config["folder"]
        self.key = bytes.fromhex(config["key"])
        self.limit: int = config["record_limit"]
        self.keep: int = config["keep"]
        self.program = OwnFiles(tuple(config["roots"]))
        self.started = _clock()
        self.spent = 0.0
        self.written = 0
        self.recorders: dict[int, Recorder] = {}
        self.object_calls: dict[int, ObjectCalls] = {}
        """By constructor, the calls of objects that a fix would create differently."""
        self.busy = False
        self.pid = os.getpid()
        self._flushed = 0.0
        self.lock = threading.Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)

    def recorder(self, region: dict[str, Any]) -> Recorder:
        """Return the recorder of a region, created when its file is loaded."""
        kind = SuspendedRecorder if region["suspends"] else Recorder
        return self.recorders.setdefault(region["id"], kind(self, region))

    def _after_fork(self) -> None:
        self.pid = os.getpid()
        self.started, self.spent, self.busy = _clock(), 0.0, False
        self.lock = threading.Lock()
        self._flushed = 0.0
        for one in self.recorders.values():
            one.after_fork()
        util: Any = sys.modules.get("multiprocessing.util")
        if util is not None:  # such a child ends without calling the functions of `atexit`
            util.register_after_fork(self, RecordingProcess._flush_at_end)

    def _flush_at_end(self) -> None:
        util: Any = sys.modules["multiprocessing.util"]
        util.Finalize(None, self.flush, kwargs={"now": True}, exitpriority=100)

    def affordable(self, records: int) -> bool:
        """Return whether another record is within the budget of time and of memory; the first ones of a
        region may take more, and later ones less, so that one region does not prevent others from being
        recorded.
        """
        elapsed = _clock() - self.started
        factor = _MORE if records < _LEAST_RECORDS else 1.0 if records < _FIRST else _LESS
        return self.spent < factor * (_LEAST_BUDGET + _SHARE * elapsed) and self.written < self.keep

    def flush(self, *, now: bool = False) -> None:
        """Write the counts, so that those of a killed process are not lost."""
        if not now and _clock() - self._flushed < _FLUSH:
            return
        self._flushed = _clock()
        state = {
            "pid": self.pid,
            "seconds": _clock() - self.started,
            "spent": self.spent,
            "executable": sys.executable,
            "regions": {str(number): one.counted() for number, one in self.recorders.items() if one.calls},
        }
        path = os.path.join(self.folder, f"stats-{self.pid}.json")
        try:
            with open(f"{path}.part", "w", encoding="utf-8") as file:
                json.dump(state, file)
            os.replace(f"{path}.part", path)
        except OSError:
            pass


class Recorder:
    """Records some of the calls of one region, and counts all."""

    def __init__(self, session: RecordingProcess, region: dict[str, Any]) -> None:
        self._session, self._region = session, region
        self._others: list[int] = region["unless"]
        self._object_calls: ObjectCalls | None = None
        if region["made"]:
            constructor, self._instance = region["made"]
            self._object_calls = session.object_calls.setdefault(constructor, ObjectCalls(constructor))
        self.calls = 0
        self.seconds = 0.0
        self.longest = 0.0
        self.records = 0
        self.failures: dict[str, int] = {}
        self.failed = 0
        self.unaffordable = 0
        """Calls that were not recorded because recording had taken too much of the run."""
        self._random = random.Random(region["id"])  # noqa: S311 - the program's own streams stay as they are
        self._next = 1
        self._stacks: dict[int, list[_Call]] = {}

    def after_fork(self) -> None:
        """Start over in a child process."""
        self.calls, self.seconds, self.longest, self.records, self.failed = 0, 0.0, 0.0, 0, 0
        self.failures, self._next = {}, 1
        self._stacks = {}

    def counted(self) -> dict[str, Any]:
        """Return the recorded counts as plain data."""
        running = [call for stack in self._stacks.values() for call in stack]
        return {
            "calls": self.calls,
            "seconds": self.seconds,
            "longest": self.longest,
            "records": self.records,
            "failures": self.failures or ({_TOO_COSTLY: self.unaffordable} if self.unaffordable else {}),
            "running": max((_clock() - call.started for call in running), default=0.0),
        }

    # --- what the program calls ---

    def begin(self) -> bool:
        """Count a call, and return whether it is to be recorded."""
        self.calls += 1
        call = _Call(_clock(), self._session.spent, sys.exc_info()[1])
        self._stacks.setdefault(self._key(), []).append(call)
        call.wanted = self.calls >= self._next and self._wanted()
        return call.wanted or (
            self._object_calls is not None
            and not self._session.busy
            and self._object_calls.open_to(self._region["id"])
        )

    def enter(self, names: dict[str, Any]) -> None:
        """Record the beginning of a call."""
        session = self._session
        started = _clock()
        if not session.lock.acquire(blocking=False):
            return
        try:
            call = self._stacks[self._key()][-1]
            session.busy = True
            object_calls = (
                self._object_calls.of(names) if self._object_calls is not None and call.wanted else {}
            )
            noted = call.life = self._live_on(names)
            if call.wanted:
                self._advance()
                try:
                    call.record = _Record(session, self._region, names, object_calls, noted)
                except Exception as error:  # noqa: BLE001 - the program must not notice
                    self._fail(error)
            call.depth = len(self._stacks[self._key()])
        finally:
            session.busy = False
            session.spent += _clock() - started
            session.lock.release()
            call.started = _clock()
            call.spent = session.spent

    def _live_on(self, names: dict[str, Any]) -> LifeCall | None:
        """Add the call to the life of its object."""
        if self._object_calls is None:
            return None

        def captured(given: dict[str, Any]) -> bytes:
            capture = Capture(self._session.program, self._session.limit)
            capture.dump(given)
            return capture.file.getvalue()

        given = {name: names[name] for name in self._region["names"] if name in names}
        affordable = self._session.affordable(self.records)
        return self._object_calls.add(
            self._region["id"], self._instance, given, captured if affordable else None
        )

    def returned(self, value: Any) -> Any:
        """Record the result of a call."""
        stack = self._stacks.get(self._key())
        if stack and stack[-1].record is not None:
            stack[-1].result = (value,)
        return value

    def end(self) -> bool:
        """Record the end of a call, and return whether there is more to record of it."""
        stack = self._stacks.get(self._key())
        if not stack:
            return False
        call = stack[-1]
        seconds = call.ran + (0.0 if call.paused else self._since(call))
        if len(stack) == 1:  # a recursive call is part of it
            self.seconds += max(seconds, 0.0)
        self.longest = max(self.longest, seconds)
        call.seconds = seconds
        if call.life is not None:
            call.life.end()
        if call.record is None:
            stack.pop()
            if self.calls < _FIRST or not self.calls & 63:
                self._session.flush()
            return False
        return True

    def _since(self, call: _Call) -> float:
        """Return the seconds that a call has run since it began or resumed, without those of recording."""
        return _clock() - call.started - (self._session.spent - call.spent)

    def _key(self) -> int:
        """Return the key that distinguishes concurrent calls; called by a hook."""
        return threading.get_ident()

    def leave(self, names: dict[str, Any]) -> None:
        """Record the end of a call."""
        session = self._session
        call = self._stacks[self._key()].pop()
        record = call.record
        started = _clock()
        assert record is not None
        error = sys.exc_info()[1]
        raised = error if error is not call.error and not call.result else None
        try:
            if call.paused and not isinstance(error, GeneratorExit):
                raise UncopyableError(_THROWN)  # noqa: TRY301 - a reason as others
            record.close(call.result, names, raised, call.seconds)
            session.written += record.write(self.calls, self.records)
            self.records += 1
        except Exception as error:  # noqa: BLE001 - the program must not notice
            self._fail(error)
        finally:
            session.flush(now=True)  # also if the process is killed later
            session.spent += _clock() - started

    # --- which calls ---

    def _wanted(self) -> bool:
        if self.failed >= _MOST_FAILURES or self._session.busy:
            return False
        if not self._session.affordable(self.records):
            self.unaffordable += 1
            return False
        others = self._session.recorders
        return not any(
            number in others and others[number].records >= _FIRST and others[number].longest < 1.0
            for number in self._others
        )

    def _advance(self) -> None:
        """Set the next call to record: each of the first ones, then calls at growing intervals."""
        taken = self.records + self.failed + 1
        if taken < _FIRST:
            self._next = self.calls + 1
        else:
            step = max(1, int(self.calls * (0.5 + self._random.random())))
            self._next = self.calls + step

    def _fail(self, error: Exception) -> None:
        self.failed += 1
        if str(error) == _THROWN:
            reason = _THROWN
        elif isinstance(error, TooLargeError):
            reason = f"its inputs are larger than {self._session.limit / 2**20:.0f} MB"
        elif isinstance(error, UncopyableError):
            reason = f"it reads {error}, which cannot be copied"
        else:
            reason = f"{type(error).__name__}: {error}"[:200]
        self.failures[reason] = self.failures.get(reason, 0) + 1


class SuspendedRecorder(Recorder):
    """Records calls of generators and coroutines, which suspend; concurrent calls are distinguished by
    frames.
    """

    def begin(self) -> bool:
        """Count a call, and return whether it is to be recorded."""
        self._stacks.pop(id(sys._getframe(1)), None)  # an earlier frame at this address
        return super().begin()

    def pause(self, value: Any) -> Any:
        """Record the yielded or awaited value."""
        stack = self._stacks.get(id(sys._getframe(1)))
        if not stack:
            return value
        call = stack[-1]
        call.ran += 0.0 if call.paused else self._since(call)
        if call.record is not None:
            self._note(call, "values", value)
            if call.paused:
                call.record.broken = _THROWN
        call.paused = True
        return value

    def resume(self, value: Any) -> Any:
        """Record the value that is sent back."""
        stack = self._stacks.get(id(sys._getframe(1)))
        if not stack:
            return value
        call = stack[-1]
        if call.record is not None:
            self._note(call, "answers_given", value)
        call.paused = False
        call.started, call.spent = _clock(), self._session.spent
        return value

    def _key(self) -> int:
        frame = sys._getframe(2)
        if frame.f_code is SuspendedRecorder.begin.__code__:
            frame = sys._getframe(3)
        return id(frame)

    def _note(self, call: _Call, kind: str, value: Any) -> None:
        started = _clock()
        try:
            assert call.record is not None
            call.record.suspend(kind, value)
        except Exception as error:  # noqa: BLE001 - the program must not notice
            assert call.record is not None
            call.record.broken = str(error) or type(error).__name__
        finally:
            self._session.spent += _clock() - started


class _Call:
    """A running call."""

    __slots__ = (
        "depth",
        "error",
        "life",
        "paused",
        "ran",
        "record",
        "result",
        "seconds",
        "spent",
        "started",
        "wanted",
    )

    def __init__(self, started: float, spent: float, error: BaseException | None) -> None:
        self.started, self.spent, self.error = started, spent, error
        self.record: _Record | None = None
        self.result: tuple[Any, ...] = ()
        self.depth, self.seconds = 0, 0.0
        self.wanted = self.paused = False
        self.life: LifeCall | None = None
        self.ran = 0.0
        """Seconds until it was last suspended."""


class _Record:
    """The data of one recorded call."""

    def __init__(
        self,
        session: RecordingProcess,
        region: dict[str, Any],
        names: dict[str, Any],
        object_calls: dict[str, list[tuple[int, bytes, str]]],
        noted: LifeCall | None,
    ) -> None:
        self._session, self._region = session, region
        self._object_calls = pickle.dumps(object_calls) if object_calls else b""
        self._noted = noted
        self._suspended: dict[str, list[bytes]] = {"values": [], "answers_given": []}
        self._unfinished = False
        self.broken = ""
        """Why it cannot be replayed after all."""
        self.streams = restored.streams()
        self.settings = _settings()
        held = {name: names[name] for name in region["names"] if name in names}
        self._held = held
        self._stand_ins: dict[int, Any] = {}
        self._globals: dict[str, dict[str, Any]] = {}
        self._inputs, self.cut = self._captured(held)
        self._identities = {name: id(value) for name, value in held.items() if hasattr(value, "__dict__")}
        self._answers = [
            MethodAnswers(number, target) for number, target in enumerate(self._stand_ins.values())
        ]
        for one in self._answers:
            one.patch()
        self._outcome = b""
        self._raised = ""
        self.seconds = 0.0
        if region["suspends"] and self._stand_ins:
            raise UncopyableError("an object that other code may use while it is suspended")

    def suspend(self, kind: str, value: Any) -> None:
        """Serialise the current state of a value that is yielded or sent back."""
        found = self._suspended[kind]
        if len(found) >= _MOST_VALUES:
            self._unfinished = True
            return
        if kind == "values" and not self._region["yields"]:
            found.append(b"")  # awaited objects are recreated
            return
        capture = Capture(self._session.program, self._session.limit)
        capture.dump(value)
        found.append(capture.file.getvalue())

    def _captured(self, held: dict[str, Any]) -> tuple[bytes, int]:
        """Serialise the names and the globals that their values may read; with stand-ins if needed."""
        while True:
            numbers = {key: number for number, key in enumerate(self._stand_ins)}
            capture = Capture(self._session.program, self._session.limit, numbers)
            try:
                capture.dump(held)
                capture.dump(_globals(capture, self._session, self._region, self._globals))
            except UncopyableError as error:
                if error.culprit is None or len(self._stand_ins) >= _MOST_STAND_INS:
                    raise
                self._stand_in_for(error.culprit, held)
            except TooLargeError:
                raise
            except Exception as error:
                culprit = _culprit([held, self._globals], self._session, numbers)
                if culprit is None or len(self._stand_ins) >= _MOST_STAND_INS:
                    raise UncopyableError(f"{error}"[:160]) from error
                self._stand_in_for(culprit, held)
            else:
                return capture.file.getvalue(), capture.cut

    def _stand_in_for(self, culprit: Any, held: dict[str, Any]) -> None:
        owner = stand_in_for([held, self._globals], culprit, self._session.program, held.get("self"))
        if id(owner) in self._stand_ins:
            raise UncopyableError(f"an object of {type(culprit).__qualname__}")
        self._stand_ins[id(owner)] = owner

    def close(
        self, result: tuple[Any, ...], names: dict[str, Any], raised: BaseException | None, seconds: float
    ) -> None:
        """Write the result of the call."""
        if self.broken:
            raise UncopyableError(self.broken)
        if self._unfinished and not self._region["yields"]:
            raise TooLargeError
        for one in self._answers:
            one.unpatch()
        self.seconds = seconds
        self._unfinished |= isinstance(raised, GeneratorExit)
        raised = None if self._unfinished else raised
        numbers = {key: number for number, key in enumerate(self._stand_ins)}
        if self._answers:
            capture = Capture(self._session.program, self._session.limit, numbers)
            capture.dump({one.number: one.answers for one in self._answers})
            self.answers = capture.file.getvalue()
        else:
            self.answers = b""
        if raised is not None:
            self._raised = type(raised).__qualname__
        live = {name: names[name] for name in self._region["live"] if name in names}
        capture = Capture(self._session.program, _OUTCOME_LIMIT, numbers)
        try:
            capture.dump((bool(result), result, live))
            self._outcome = capture.file.getvalue()
        except Exception:  # noqa: BLE001 - then it is not compared with the run
            self._outcome = b""

    def write(self, call: int, number: int) -> int:
        """Write the record into a file of its own, signed; return its size."""
        session = self._session
        suspended = pickle.dumps(self._suspended) if self._region["suspends"] else b""
        main = sys.modules.get("__main__")
        header = {
            "region": self._region["id"],
            "call": call,
            "pid": session.pid,
            "seconds": self.seconds,
            "raised": self._raised,
            "cut": self.cut,
            "unfinished": self._unfinished,
            "settings": self.settings,
            "identities": self._identities,
            "given": sorted({*self._held, *self._globals.get("__main__", {})}),
            "main": session.program.file_of(main),
            "argv": sys.argv,
            "path": sys.path,
            "cwd": _folder(),
            "modules": {
                name: session.program.file_of(module)
                for name, module in list(sys.modules.items())
                if session.program.file_of(module) in self._region["files"]
            },
            "parts": [
                len(self._inputs),
                len(self.answers),
                len(self._outcome),
                len(self._object_calls),
                len(suspended),
            ],
        }
        capture = Capture(session.program, session.limit)
        capture.dump(self.streams)
        streams = capture.file.getvalue()
        text = json.dumps(header).encode("utf-8")
        body = b"".join(
            [
                len(text).to_bytes(8, "big"),
                text,
                self._inputs,
                self.answers,
                self._outcome,
                self._object_calls,
                suspended,
                streams,
            ]
        )
        slot = number if number < _FIRST else _FIRST + (number - _FIRST) % _RESERVOIR
        if number >= _FIRST + _RESERVOIR:
            slot = _FIRST + random.Random(call).randrange(_RESERVOIR)  # noqa: S311 - a sample
        path = os.path.join(session.folder, f"record-{self._region['id']}-{session.pid}-{slot}.rec")
        signature = hmac.new(session.key, body, hashlib.sha256).digest()
        with open(f"{path}.part", "wb") as file:
            file.write(MAGIC + signature + body)
        os.replace(f"{path}.part", path)
        if self._noted is not None and number < _FIRST:  # such a file is not recorded
            self._noted.record = os.path.basename(path)
        return len(body)


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def _settings() -> dict[str, Any]:
    """Return the settings of the process at the start of the call."""
    found: dict[str, Any] = {}
    torch: Any = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "is_grad_enabled"):
        found = {
            "grad": torch.is_grad_enabled(),
            "inference": torch.is_inference_mode_enabled(),
            "dtype": str(torch.get_default_dtype()).partition(".")[2],
            "device": str(torch.get_default_device()) if hasattr(torch, "get_default_device") else "cpu",
            "threads": torch.get_num_threads(),
            "deterministic": torch.get_deterministic_debug_mode(),
            "cuda": torch.cuda.is_available() and torch.cuda.is_initialized(),
        }
    return found


def _culprit(roots: list[Any], session: RecordingProcess, numbers: dict[int, int]) -> Any:
    """Return the first object, from the outside in, that cannot be serialised although everything that it
    contains can.
    """
    node: Any = roots
    for _ in range(_DEEPEST):
        refusing = next(
            (
                (child, error)
                for child in held_by(node)
                for error in [_refusal(Capture(session.program, session.limit, numbers), child)]
                if error is not None
            ),
            None,
        )
        if refusing is None:
            break
        node, error = refusing
        if isinstance(error, UncopyableError):
            return error.culprit
    return None if node is roots else node


def _refusal(capture: Capture, value: Any) -> Exception | None:
    """Return why a value cannot be serialised; None if it can."""
    try:
        capture.dump(value)
    except Exception as error:  # noqa: BLE001 - any object may refuse, in its own words
        return error
    return None


def _globals(
    capture: Capture, session: RecordingProcess, region: dict[str, Any], found: dict[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Return the values of the program's modules that the code of a region may read, by module and name."""
    pending: list[tuple[str, Any]] = []
    for name, module in list(sys.modules.items()):
        if session.program.file_of(module) == region["path"]:
            pending.extend((name, one) for one in region["names"])
    seen: set[tuple[str, str]] = set()
    code_seen: set[int] = set()

    def take(value: Any, owner: str, depth: int = 0) -> None:
        code = getattr(value, "__code__", None)
        if code is not None and hasattr(code, "co_consts"):
            module = getattr(value, "__module__", owner)
            if id(code) not in code_seen and module and session.program.owns(module):
                code_seen.add(id(code))
                pending.extend((module, name) for name in _names_of(code))
        elif (
            isinstance(value, type)
            and depth < _DEEPEST
            and id(value) not in code_seen
            and session.program.owns(value.__module__)
        ):
            code_seen.add(id(value))
            for member in list(vars(value).values()):
                inner = getattr(member, "__func__", None) or getattr(member, "fget", None) or member
                take(getattr(inner, "__wrapped__", inner), value.__module__, depth + 1)
            for base in value.__mro__[1:]:
                take(base, base.__module__, depth + 1)
        wrapped = getattr(value, "__wrapped__", None)
        if wrapped is not None and depth < _DEEPEST and not isinstance(value, type):
            take(wrapped, owner, depth + 1)

    while True:
        for one in list(capture.met.values()):
            take(one, one.__module__)
        if not pending:
            return found
        while pending:
            owner, name = pending.pop()
            if (owner, name) in seen:
                continue
            seen.add((owner, name))
            values: dict[str, Any] = getattr(sys.modules.get(owner), "__dict__", {})
            if name not in values or (name.startswith("__") and name.endswith("__")):
                continue
            value = values[name]
            kind = type(value)
            if kind.__name__ == "module":
                if session.program.owns(value.__name__):
                    pending.extend((value.__name__, other) for _, other in list(seen))
                continue
            if isinstance(value, type) or kind.__name__ in ("function", "builtin_function_or_method"):
                take(value, owner)
                continue
            take(value, owner)
            take(kind, owner)
            found.setdefault(owner, {})[name] = value
        Capture.dump(_Trial(session.program, capture), found)


class _Trial(Capture):
    """Searches the data to be written for functions and classes of the program."""

    def __init__(self, program: OwnFiles, to: Capture) -> None:
        super().__init__(program, to.file._limit, to._stand_ins)
        self.met = to.met


def _names_of(code: Any) -> set[str]:
    found = set(code.co_names)
    for one in code.co_consts:
        if hasattr(one, "co_names"):
            found |= _names_of(one)
    return found
