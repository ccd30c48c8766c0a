"""Threads and processes: which worker runs a line, which locks are held, and which data is shared."""

from __future__ import annotations

import ast

import pytest

from project_builder import build, expression, find, model_of
from rlint.semantics.model import SemanticModel
from rlint.semantics.nn.torch_settings import THREADS
from rlint.semantics.threads.queues import DATA, METRICS, UNSURE


def runners(model: SemanticModel, source: str) -> tuple[list[tuple[str, bool]], bool]:
    """The kinds of workers that run an expression, whether there are many, and whether other code runs it,
    too.
    """
    found = model.threads.runners(expression(model, source))
    return [(start.sort, start.many) for start in found.starts], found.other_starts


@pytest.mark.parametrize(
    ("start", "sort", "many"),
    [
        ("threading.Thread(target=work, args=(q,)).start()", "thread", False),
        ("threading.Thread(None, work).start()", "thread", False),
        ("threading.Timer(1.0, work).start()", "thread", False),
        ("ctx.Process(target=work)", "process", False),
        ("for i in range(n):\n        mp.Process(target=work, args=(i,)).start()", "process", True),
        ("ps = [mp.Process(target=work) for i in range(n)]", "process", True),
        ("for i in range(n):\n        p = mp.Process(target=work)\n        p.join()", "process", False),
        ("tmp.spawn(work, args=(q,), nprocs=4)", "process", True),
        ("tmp.spawn(work, nprocs=1)", "process", False),
        ("with mp.Pool(4) as pool:\n        pool.map(work, range(9))", "process", True),
        ("pool = ThreadPoolExecutor()\n    pool.submit(work, q)", "thread", True),
        ("for i in range(n):\n        start_one(i)", "thread", True),
        ("[Actor(i) for i in range(n)]", "process", True),
        ("Actor(0).start()", "process", False),
    ],
)
def test_workers(start: str, sort: str, many: bool) -> None:
    """Targets of threads and processes, tasks of pools and `run` methods run in workers."""
    model = model_of(
        f"""
import threading
import multiprocessing as mp
import torch.multiprocessing as tmp
from concurrent.futures import ThreadPoolExecutor

ctx = mp.get_context("spawn")

class Actor(mp.Process):
    def run(self):
        work(0)

def helper(x):
    return compute(x)

def work(x):
    return helper(x)

def start_one(i):
    threading.Thread(target=work).start()

def main(n, q):
    {start}
"""
    )
    found, other_starts = runners(model, "compute(x)")
    wanted = ("thread", "start_one" in start) if sort == "thread" and "start_one" in start else (sort, many)
    assert wanted in found
    assert not other_starts


def test_workers_over_files() -> None:
    """A worker's function may be in another file; functions that the main program also calls run there,
    too.
    """
    models = build(
        {
            "worker.py": "def work(rank, counter):\n    step(rank)\n\ndef step(rank):\n    return rank + 1\n",
            "main.py": """
                import torch.multiprocessing as mp
                from worker import step, work

                def main():
                    for rank in range(4):
                        mp.Process(target=work, args=(rank, 0)).start()
                    step(0)

                main()
                """,
        }
    )
    place = expression(models["worker.py"], "rank + 1")
    found = models["worker.py"].threads.runners(place)
    assert models["worker.py"].threads.run_at_once([place])
    assert found.other_starts
    [start] = found.starts
    assert (start.launcher.qualname, start.target.qualname, start.sort) == ("main", "work", "process")
    call = expression(models["main.py"], "mp.Process(target=work, args=(rank, 0))")
    assert isinstance(call, ast.Call)
    assert models["main.py"].threads.workers_made(call) == [start]


def test_no_workers_are_started() -> None:
    """Without workers, everything runs in the main thread."""
    assert not model_of("def f(x):\n    return x + 1\n").threads.run_at_once([ast.Pass()])


def held(model: SemanticModel, source: str) -> list[str]:
    """The locks that are held while an expression is evaluated."""
    return [section.name for section in model.threads.locks_held(find(model, source))]


def test_sections() -> None:
    """`with`, `acquire` … `release`, the lock of a value and decorators hold locks, but not for code that
    runs later.
    """
    model = model_of(
        """
        import multiprocessing as mp
        import threading

        class Store:
            def __init__(self):
                self._guard = threading.Lock()
                self.total = mp.Value("l", 0)

            def f(self, path, other_lock):
                with self._guard, open(path) as file:
                    a(file)
                    later = lambda: b()
                with self.total.get_lock():
                    with other_lock:
                        c()
                self._guard.acquire()
                d()
                self._guard.release()
                e()
                self._guard.acquire()
                try:
                    g()
                finally:
                    self._guard.release()
                with blocks(path):
                    h()

            @synchronized
            def k(self):
                return l()
        """
    )
    assert held(model, "a(file)") == ["_guard"]
    assert held(model, "b()") == []
    assert held(model, "c()") == ["other_lock", "total"]
    assert held(model, "d()") == ["_guard"]
    assert held(model, "e()") == []
    assert held(model, "g()") == ["_guard"]
    assert held(model, "h()") == []
    assert held(model, "l()") == ["synchronized"]


def test_what_a_lock_guards() -> None:
    """A lock guards the state that its sections write, in all methods of the class."""
    model = model_of(
        """
        class Ring:
            def add(self, row):
                with self.lock:
                    self.rows[self.index] = row
                    self.index += 1

            def extend(self, rows):
                with self.lock:
                    self.size.value += len(rows)
                    self.pending.append(rows)
                with self.other:
                    self.free = 1
        """
    )
    assert model.threads.guarded_names(model.threads.lock_sections()[0]) == {
        "rows",
        "index",
        "size",
        "pending",
    }


def test_locked_by_all_callers() -> None:
    """A helper runs under a lock if all of its calls do."""
    text = """
        def bump(counter):
            counter.value += 1

        def work(lock, counter):
            with lock:
                bump(counter)
        """
    model = model_of(text)
    assert model.threads.is_locked(find(model, "counter.value += 1"))
    model = model_of(text + "\n            bump(counter)\n" + "        def other(c):\n            bump(c)\n")
    assert not model.threads.is_locked(find(model, "counter.value += 1"))


def test_how_shared_things_are_made() -> None:
    """By their names, through the arguments of workers, over files."""
    models = build(
        {
            "worker.py": "def work(q, free, seen):\n    q.put(1)\n    free.put(2)\n    seen.value = 3\n",
            "main.py": """
                import multiprocessing as mp
                from worker import work

                class System:
                    def __init__(self, size):
                        self.stats = mp.Queue(maxsize=size)
                        self.free = mp.Queue()
                        self.seen = mp.Value("l", 0, lock=False)

                    def start(self):
                        mp.Process(target=work, args=(self.stats, self.free, self.seen)).start()
                """,
        }
    )
    model = models["worker.py"]
    [bounded] = model.threads.channel_makers(expression(model, "q"))
    assert bounded.bounded
    [free] = model.threads.channel_makers(expression(model, "free"))
    assert free.bounded is False
    [seen] = model.threads.channel_makers(expression(model, "seen"))
    assert not seen.own_lock
    assert not seen.many


def test_many_of_one_name() -> None:
    """A value for each worker is not shared."""
    model = model_of("import multiprocessing as mp\nseen = [mp.Value('l', 0) for _ in range(4)]\nuse(seen)\n")
    assert [made.many for made in model.threads.channel_makers(expression(model, "seen", last=True))] == [
        True
    ]


@pytest.mark.parametrize(
    ("put", "cargo"),
    [
        ("q.put({'loss': loss, 'reward_mean': mean})", METRICS),
        ("q.put(metrics)", METRICS),
        ("q.put(('train', metrics))", METRICS),
        ("q.put({'obs': obs, 'reward': reward})", DATA),
        ("q.put((obs, action, reward))", DATA),
        ("q.put(net.state_dict())", DATA),
        ("q.put(np.zeros(4))", DATA),
        ("q.put(thing)", UNSURE),
        ("item = {'fps': fps}\n    q.put(item)", METRICS),
    ],
)
def test_what_queues_carry(put: str, cargo: str) -> None:
    """Metrics are recognised by names, data by names and types; other items are unknown."""
    model = model_of(f"import numpy as np\nfrom queue import Queue\nq = Queue()\ndef f(**kw):\n    {put}\n")
    assert model.threads.queue_content(expression(model, "q", last=True)) == cargo


@pytest.mark.parametrize(
    "source",
    [
        "import torch\ntorch.set_num_threads(1)\n",
        "import os\nos.environ['OMP_NUM_THREADS'] = '1'\n",
        "from torch import set_num_threads as limit\nlimit(1)\n",
        "import os\nos.environ.update(OMP_NUM_THREADS='1')\n",
    ],
)
def test_thread_counts(source: str) -> None:
    """Programs that set the number of torch threads are recognised."""
    assert model_of(source).program.sets(THREADS)
