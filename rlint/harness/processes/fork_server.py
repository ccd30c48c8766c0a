"""The program of a fork server: imports heavy packages once, then forks a process for each job.

A fork server replaces a fresh interpreter whose imports are done, which takes seconds for torch. It never
runs a job itself, so each process starts in the state after the imports.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import signal
import socket
import sys

HANDED = 4
"""Descriptors that come with each request: the job's input, output and errors, and the one for its exit
status.
"""


def main() -> None:
    """Serve until the other end of the socket, whose descriptor is the first argument, is closed.

    Further arguments are the modules to import; those that are not installed are left out.
    """
    requests = socket.socket(fileno=int(sys.argv[1]))
    for name in sys.argv[2:]:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    sys.argv[1:] = []
    gc.freeze()  # imported modules are not garbage: each job would scan all of it, and copy its pages
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # processes that wait for a job are not waited for
    while True:
        data, descriptors, _, _ = socket.recv_fds(requests, 1, HANDED)
        if not data:
            os._exit(0)
        if os.fork() == 0:
            requests.close()
            _start_and_wait(*descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _start_and_wait(given: int, channel: int, errors: int, status_writer: int) -> None:
    """Fork the process of a job; report its number and, once it has ended, its status, one in each line."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    job = os.fork()
    if job == 0:
        os.setsid()  # a process group of its own, which is ended as a whole
        os.close(status_writer)
        for number, descriptor in enumerate((given, channel, errors)):
            os.dup2(descriptor, number)
            os.close(descriptor)
        from rlint.harness.processes import child

        child.main()
    for descriptor in (given, channel, errors):
        os.close(descriptor)  # their ends must be noticed when the job ends
    with contextlib.suppress(BrokenPipeError):
        os.write(status_writer, b"%d\n" % job)
        _, status = os.waitpid(job, 0)
        os.write(status_writer, b"%d\n" % os.waitstatus_to_exitcode(status))
    os._exit(0)
