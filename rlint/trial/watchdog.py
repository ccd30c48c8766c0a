"""Clean up if rlint is killed: end the running command and delete the copy. It is a separate program.

It reads process numbers from its standard input, a line each (0: none runs). When that closes, rlint has
ended; then it kills the running process, and deletes the given folder.
"""

import contextlib
import os
import shutil
import signal
import sys


def main(folder: str) -> None:
    """Wait for the end of rlint."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    running = 0
    for line in sys.stdin.buffer:
        running = int(line)
    if running and hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(running, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1])
