"""Surveys on Ray: nodes that die, repositories that hang, Ctrl-C, and the findings of one machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from small_repositories import CLEAN, GROWS, MOVES, as_printed, checked, checked_here, make, options, placed

from patience import PATIENCE, soon
from process_trees import attentive
from rlint.survey.on_ray import RayExecutor
from rlint.survey.repository_list import SurveyedRepository, listed
from rlint.survey.result_store import ResultStore
from rlint.survey.run_records import finish_run, last_run, write_run
from rlint.survey.survey_run import survey

ray = pytest.importorskip("ray")
parquet = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("fsspec")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("ray"),
    pytest.mark.filterwarnings("ignore"),  # Ray's own
]

MEMORY = 80 * 2**20
LARGE = "".join(
    f"def f{number}(a, b):\n    return [a + {number}, b * a, (a, b)]\n" for number in range(20_000)
)


@pytest.fixture
def nodes() -> Iterator[Any]:
    """A cluster of four nodes on this machine, connected."""
    from ray.cluster_utils import Cluster

    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": MEMORY})
    try:
        for _ in range(3):
            cluster.add_node(num_cpus=1, object_store_memory=MEMORY)
        ray.init(address=cluster.address, log_to_driver=False)
        cluster.wait_for_nodes()
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def rows(store: ResultStore, name: str) -> list[dict[str, Any]]:
    """The rows of a run."""
    folder = Path(store.address(f"runs/{name}"))
    return [row for file in sorted(folder.glob("*.parquet")) for row in parquet.read_table(file).to_pylist()]


def entry_of(row: dict[str, Any]) -> dict[str, Any]:
    """The output of `rlint check` for a row of the table."""
    fix = None
    if row["fix"]:
        fix = {
            "applicability": row["fix"],
            "message": row["fix_title"],
            "reason": row["fix_reason"],
            "edits": json.loads(row["fix_edits"]),
            **({"other_files": row["fix_other_files"]} if row["fix_other_files"] is not None else {}),
        }
    return {
        "cell": row["cell"],
        "code": row["rule"],
        "name": row["name"],
        "confidence": row["confidence"],
        "assumption": row["assumption"],
        "impact": {"level": row["impact"], "basis": row["impact_basis"]} if row["impact"] else None,
        "message": row["message"],
        "advice": row["advice"],
        "filename": row["file"],
        "location": {"row": row["line"], "column": row["column"]},
        "end_location": {"row": row["end_line"], "column": row["end_column"]},
        "fingerprint": row["fingerprint"],
        "fix": fix,
        "heat": row["heat"],
        "heat_chain": row["heat_chain"],
        "measured": row["measured"],
        "related": json.loads(row["related"]),
        "noqa_row": row["noqa_line"],
        "severity": row["severity"],
        "url": row["url"],
    }


def test_a_node_that_dies_costs_nothing(nodes: Any, tmp_path: Path) -> None:
    """Over 120 repositories one of four nodes is killed half-way: the findings are those of one machine, once
    each, in the store and in the table. The next run checks only what changed.
    """
    tops = [make(tmp_path, number, (GROWS, MOVES, CLEAN)[: 1 + number % 3]) for number in range(120)]
    repositories = listed(map(str, tops), [])
    queried = options(tmp_path / "store")

    class Progress:
        """Kills a working node half-way."""

        done, killed = 0, False

        def advance(self, steps: int = 1) -> None:
            """Count, and kill."""
            self.done += steps
            busy = [node for node in nodes.worker_nodes if _tasks_of(node)]
            if self.done >= 50 and busy and not self.killed:
                self.killed = True
                for task in _tasks_of(busy[0]):  # a machine that dies takes all of its processes with it
                    task.kill()
                nodes.remove_node(busy[0], allow_graceful=False)

    executor, progress = RayExecutor(ray), Progress()
    results = survey(repositories, queried, executor, progress=progress)
    assert progress.killed
    assert [each.reason for each in results] == [""] * 120
    assert 1 <= sum(each.lost for each in results) <= 3
    assert soon(lambda: len([node for node in ray.nodes() if node["Alive"]]) == 3)
    store = ResultStore(queried.store)
    found = write_run(queried.store, "1", results, None, executor)
    finish_run(store, "1", "", results)
    assert checked(tops[0], "--isolated") == checked_here(tops[0], tmp_path / "expected.json")
    by_repository: dict[str, list[dict[str, Any]]] = {}
    for row in rows(store, "1"):
        by_repository.setdefault(row["repository"], []).append(entry_of(row))
    assert found.rows == sum(map(len, by_repository.values()))
    for result in results:
        top = result.repository.name
        expected = checked_here(Path(top), tmp_path / "expected.json")
        assert as_printed(store, result) == expected
        described = placed(by_repository.get(top, []), os.path.realpath(top))
        assert (json.dumps(described, indent=2) if described else "[]") + "\n" == expected

    (tops[7] / "module_0.py").write_text(CLEAN.replace("{number}", "1"), encoding="utf-8")
    again = survey(repositories, queried, RayExecutor(ray))
    assert [number for number, each in enumerate(again) if not each.kept] == [7]
    changed = write_run(queried.store, "2", again, last_run(store), RayExecutor(ray))
    assert {
        code: (one.new, one.removed) for code, one in changed.rules.items() if one.new or one.removed
    } == {"RL101": (0, 1)}


def test_the_worst_repositories_are_given_up(nodes: Any, tmp_path: Path) -> None:
    """One hangs, one uses too much memory, one kills its worker each time: the others are checked."""
    hanging = SurveyedRepository("ssh://host/r", "ssh://host/r", "", is_remote=True)
    heavy, deadly = make(tmp_path, 900, (LARGE,)), make(tmp_path, 901)
    repositories = [
        hanging,
        *listed([str(heavy), str(deadly)], []),
        *listed([str(make(tmp_path, number)) for number in range(12)], []),
    ]
    queried = options(tmp_path / "store", time_limit=15.0, memory_limit=150 * 2**20)
    executor = _Deadly(RayExecutor(ray), str(deadly))
    os.environ["GIT_SSH_COMMAND"] = "sleep 1000; false"
    try:
        results = survey(repositories, queried, executor, retries=2)
    finally:
        del os.environ["GIT_SSH_COMMAND"]
    # the first one: nodes started before the variable was set have no such host
    assert results[0].reason
    assert results[1].reason == "used more than 150 MB of memory"
    assert results[2].reason == "the worker process died, 3 times"
    assert [each.reason for each in results[3:]] == [""] * 12
    assert results[2].lost == 3


def _tasks_of(node: Any) -> list[psutil.Process]:
    """The processes of the tasks that run on a node now."""
    [raylet] = node.all_processes["raylet"]
    return [each for each in psutil.Process(raylet.process.pid).children() if "run_task" in each.name()]


class _Deadly:
    """Runs tasks on Ray, of which one ends its worker."""

    def __init__(self, inner: RayExecutor, name: str) -> None:
        self._inner, self._name = inner, name

        def die() -> None:  # defined here, so that it is pickled with its code
            os.kill(os.getpid(), signal.SIGKILL)

        self._die = die

    @property
    def slots(self) -> int:
        """As many as there are."""
        return self._inner.slots

    def submit(self, work: Any, *arguments: Any) -> object:
        """Start a task, or one that kills its worker."""
        if arguments[0].repository.name == self._name:
            return self._inner.submit(self._die)
        return self._inner.submit(work, *arguments)

    def finished(self) -> list[tuple[object, Any]]:
        """Wait."""
        return self._inner.finished()

    def stop(self) -> None:
        """End."""
        self._inner.stop()


def rlint(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the real program."""
    command = [sys.executable, "-m", "rlint", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=PATIENCE)


def test_it_resumes_after_ctrl_c(tmp_path: Path) -> None:
    """Results from before an interrupt are reused, and no process of the first run is left."""
    tops = [make(tmp_path, number, (GROWS,)) for number in range(80)]
    (tmp_path / "list").write_text("".join(f"{top}\n" for top in tops), encoding="utf-8")
    command = ("survey", "--from", "list", "-j", "1", "--store", "store")
    with subprocess.Popen(
        attentive("-m", "rlint", *command),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        results = tmp_path / "store" / "groups"
        assert soon(lambda: len(list(results.rglob("*.gz"))) >= 5)
        os.killpg(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, errors
    assert "the same command resumes" in errors
    assert output == ""
    assert not (tmp_path / "store" / "runs").exists()
    assert soon(lambda: not _running(str(tmp_path)))
    kept = len(list(results.rglob("*.gz")))
    assert 5 <= kept < 80
    second = rlint(*command, cwd=tmp_path)
    assert second.returncode == 1, second.stderr
    known = int(second.stdout.split(" checked now, ")[1].split(" unchanged")[0])
    assert 5 <= known <= kept + 2
    assert "80 findings in 80 repositories" in second.stdout
    [run] = (tmp_path / "store" / "runs").iterdir()
    assert len(rows(ResultStore(str(tmp_path / "store")), run.name)) == 80
    third = rlint(*command, cwd=tmp_path)
    assert "0 checked now, 80 unchanged, 0 not checked" in third.stdout


def _running(text: str) -> list[int]:
    """The processes that work in a folder, or for one."""
    found = []
    for one in psutil.process_iter(["cwd", "cmdline"]):
        guards = "rlint.survey.guard" in " ".join(one.info["cmdline"] or ())
        if guards and str(one.info["cwd"]).startswith(text):
            found.append(one.pid)
    return found


def test_messages_of_the_command(tmp_path: Path) -> None:
    """A missing package or cluster is an error with an exit status."""
    none = rlint("survey", cwd=tmp_path)
    assert (none.returncode, "name the repositories" in none.stderr) == (2, True)
    removed = rlint("survey", "gone", "-j", "1", cwd=tmp_path)
    assert removed.returncode == 2
    assert "gone: not checked: no such folder on the node" in removed.stderr
    away = rlint("survey", "gone", "--address", "127.0.0.1:1", cwd=tmp_path)
    assert away.returncode == 2
    assert "the Ray cluster at 127.0.0.1:1 cannot be reached" in away.stderr
