"""Options to run the jobs of `rlint verify` and `rlint prove` on a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rlint.harness.processes.process import JobRunner

_RAY = "Run on a Ray cluster, on nodes that have the device, one measurement per device at a time."
_ADDRESS = "With --ray: address of the cluster, or `auto` (default: start Ray on this machine)."


def cluster_options(decorated: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options `--ray` and `--address` to a command."""
    decorated = click.option("--address", metavar="ADDRESS", help=_ADDRESS)(decorated)
    return click.option("--ray", is_flag=True, help=_RAY)(decorated)


@contextmanager
def runner_of(options: dict[str, Any], device: str = "cpu") -> Iterator[JobRunner | None]:
    """Connect to the cluster in the options; None for this machine."""
    if not options["ray"]:
        if options["address"]:
            raise click.UsageError("`--address` needs `--ray`")
        yield None
        return
    from rlint.survey.jobs_on_ray import JobsOnRay
    from rlint.survey.on_ray import cluster

    with cluster(options["address"]) as ray:
        yield JobsOnRay(ray, device)
