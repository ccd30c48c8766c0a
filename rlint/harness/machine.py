"""The measuring machine: processor, memory, versions. Imports none of the packages whose versions it
reports.
"""

from __future__ import annotations

import os
import platform
from importlib import metadata

import psutil

from rlint import __version__
from rlint.evidence.results import Machine
from rlint.harness.machine_devices import describe

_PACKAGES = ("torch", "numpy")
_LOOK = 0.3  # seconds for which the machine's load is observed


def busy() -> float:
    """Return the current load of all processors in per cent."""
    return psutil.cpu_percent(interval=_LOOK)


def describe_machine(accelerator: str = "") -> Machine:
    """Describe this machine and the running Python."""
    versions = {"rlint": __version__}
    installed = (one for name in _PACKAGES for one in metadata.distributions(name=name))
    versions.update({one.name: one.version for one in installed})
    return Machine(
        system=f"{platform.system()} {platform.machine()}",
        processor=describe("cpu"),
        cores=os.cpu_count() or 1,
        memory=psutil.virtual_memory().total,
        python=platform.python_version(),
        versions=versions,
        accelerator=accelerator or None,
    )
