"""Run a program under cProfile, or without it for a sampler, and end it early if requested.

This file is executed by the Python of the program, which need not have rlint: it imports the standard library
only, and works with Python 3.8.

    python runner.py OPTIONS-AS-JSON (script|module|code) TARGET [ARGUMENTS]...
"""

from __future__ import annotations

import cProfile
import io
import json
import marshal
import os
import runpy
import signal
import sys
import threading
import time
import types
from typing import Any

_LOOK = 0.05  # seconds between two checks of the clock and the counts
_PATIENCE = 10.0  # seconds that a program has to end after a request
_MOST_REQUESTS = 3


class _Recorder:
    """The profile of a run, and its file."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        self.process = os.getpid()
        self.profiler = cProfile.Profile() if options["profile"] else None
        self.stopped = False
        self.look = _LOOK
        self.written = False
        self.lock = threading.Lock()

    def steps(self) -> int:
        """Return the number of step calls so far: of the most called function of that name."""
        started = time.perf_counter()
        assert self.profiler is not None
        file, _, name = self.options["step"].rpartition(":")
        most = 0
        for entry in self.profiler.getstats():
            code = entry.code
            if isinstance(code, str) or code.co_name != name.rpartition(".")[2]:
                continue  # functions written in C have no code object
            if code.co_filename.replace("\\", "/").endswith(file):
                most = max(most, entry.callcount)
        # a large program has many functions: searching them must not dominate the measurement
        self.look = max(_LOOK, 50 * (time.perf_counter() - started))
        return most

    def write(self, status: int) -> None:
        """Write the profile, once, with the exit status of the program."""
        with self.lock:
            if self.written or os.getpid() != self.process:
                return
            self.written = True
        if self.profiler is not None:
            self.profiler.snapshot_stats()
            _replace(self.options["profile"], marshal.dumps(self.profiler.stats))
        result = {"status": status, "stopped": self.stopped}
        _replace(self.options["result"], json.dumps(result).encode("ascii"))


def _replace(path: str, data: bytes) -> None:
    part = f"{path}.{os.getpid()}-{os.urandom(6).hex()}.part"
    with open(part, "xb") as file:  # a new file: existing links are not followed
        file.write(data)
    os.replace(part, path)


def _watch(recorder: _Recorder, started: float) -> None:
    """End the program when it has run long enough: as Ctrl-C would, and by force if it does not end."""
    seconds, steps = recorder.options["seconds"], recorder.options["steps"]
    while True:
        time.sleep(recorder.look)
        if seconds is not None and time.monotonic() - started >= seconds:
            break
        if steps is not None and recorder.steps() >= steps:
            break
    recorder.stopped = True
    for _ in range(_MOST_REQUESTS):
        _interrupt()
        time.sleep(_PATIENCE)
    recorder.write(0)
    os._exit(0)


def _interrupt() -> None:
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)  # also ends a blocking wait
    else:
        import _thread

        _thread.interrupt_main()


def _on_terminate(_number: int, _frame: object) -> None:
    raise SystemExit(128 + signal.SIGTERM)


def _take_stdout(handed: int) -> None:
    """Make an inherited file the standard output, which a sampler kept for itself."""
    os.dup2(handed, 1)
    os.close(handed)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(line_buffering=os.isatty(1))


def _script(path: str) -> tuple[types.CodeType, str]:
    """Return the code of a script, and the module that it runs in."""
    path = os.path.abspath(path)
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec")
    _set_first_path(os.path.dirname(os.path.realpath(path)))
    return code, path


def _set_first_path(folder: str) -> None:
    """Put a folder first on the path, as Python does with that of its script, in place of this file's own
    folder.
    """
    if not (getattr(sys.flags, "safe_path", False) or sys.flags.isolated):
        sys.path[0] = folder


def _execute(kind: str, target: str) -> None:
    if kind == "module":
        _set_first_path(os.getcwd())
        runpy.run_module(target, run_name="__main__", alter_sys=True)
        return
    if kind == "script" and (os.path.isdir(target) or not _is_source(target)):
        runpy.run_path(target, run_name="__main__")
        return
    module = types.ModuleType("__main__")
    if kind == "code":
        _set_first_path("")
        code = compile(target, "<string>", "exec")
    else:
        code, module.__file__ = _script(target)
    module.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = module
    exec(code, module.__dict__)  # noqa: S102 - to run the program is what the user asked for


def _is_source(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(4)[:2] not in (b"PK", b"\x16\r") and not path.endswith(".pyc")


def _status_of(end: SystemExit) -> int:
    """Return the exit status of Python after `SystemExit`."""
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code & 0xFF
    sys.stderr.write(str(end.code) + "\n")
    return 1


def _show(error: BaseException) -> None:
    """Print a traceback as Python does, without the frames of this file."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename in (
        __file__,
        runpy.__file__,
        "<frozen runpy>",
    ):
        trace = trace.tb_next
    sys.excepthook(type(error), error.with_traceback(trace), trace)


def main() -> None:
    """Run the program in the arguments; its status is that of this process."""
    options, kind, target = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]
    sys.argv = [target if kind == "script" else "-m" if kind == "module" else "-c", *sys.argv[4:]]
    if options.get("stdout") is not None:
        _take_stdout(options["stdout"])
    recorder = _Recorder(options)
    with open(options["result"] + ".pid", "w") as file:
        file.write(str(os.getpid()))
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _on_terminate)  # a time limit of the system must not lose the profile
    limited = options["seconds"] is not None or options["steps"] is not None
    if limited:
        if signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, None):
            signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Thread(target=_watch, args=(recorder, time.monotonic()), daemon=True).start()
    if recorder.profiler is not None and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=recorder.profiler.disable)
    status = 0
    try:
        if recorder.profiler is not None:
            recorder.profiler.enable()
        try:
            _execute(kind, target)
        finally:
            at_interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the profile is written now
            if recorder.profiler is not None:
                recorder.profiler.disable()
    except SystemExit as end:
        status = _status_of(end)
    except KeyboardInterrupt as end:
        status = 130
        if not recorder.stopped:
            _show(end)
    except BaseException as error:  # noqa: BLE001 - shown as Python would
        status = 1
        _show(error)
    if os.getpid() == recorder.process:
        status = 0 if recorder.stopped else status
        recorder.write(status)
        if not recorder.stopped:
            signal.signal(signal.SIGINT, at_interrupt or signal.default_int_handler)
    sys.exit(status)


if __name__ == "__main__":
    main()
