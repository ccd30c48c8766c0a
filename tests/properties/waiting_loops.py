"""Programs that wait, and that follow a schedule."""

from __future__ import annotations

from random import Random

from properties.template import program


def waiting(rng: Random) -> str:
    """One thread passes numbers, and another polls for them; both in one call, as neither can wait alone."""
    return program(
        """
        import queue
        import threading
        import time

        def exchange():
            box = queue.<Queue>(<size>)
            ready = threading.Event()

            def produce():
                for number in range(<count>):
                    while box.full():
                        time.sleep(0.001)
                    box.put(number)
                ready.set()

            def take():
                while box.empty():
                    time.sleep(0.001)
                return box.get(<given>)

            def wait():
                while not ready.is_set():
                    time.sleep(0.001)
                    <inside>
                return ready.is_set()

            worker = threading.Thread(target=produce)
            worker.start()
            print(sorted(take() for _ in range(<count>)))
            print(wait())
            while worker.is_alive():
                time.sleep(0.001)
            print(box.empty(), worker.is_alive())

        exchange()
        """,
        Queue=rng.choice(("Queue", "LifoQueue", "SimpleQueue", "PriorityQueue")),
        size=rng.choice(("", "1", "maxsize=3")),
        count=rng.choice((1, 2, 5)),
        given=rng.choice(("", "True", "timeout=5", "block=True")),
        inside=rng.choice(("pass", "continue")),
    )


def schedule(rng: Random) -> str:
    """Tensors created on the host for a device; rates that follow a schedule."""
    return program(
        """
        import numpy as np
        import torch

        class Schedule:
            def __init__(self, start: float, device: torch.device):
                self.rate, self.device = start, device

            def weights(self, n: int):
                ones = torch.<make>.to(<device>)
                steps = torch.arange(n).to(self.device)
                frame = torch.from_numpy(np.full(n, 200, dtype=np.uint8)).<widen>
                return ones * self.rate, steps, frame

            def decay(self, update: int):
                self.rate = max(self.rate * 0.9, 0.1)
                return np.zeros(<numbers>), torch.<make2>

        schedule = Schedule(1.0, torch.device("cpu"))
        <training>
        for update in range(3):
            env.step(0)
            print(schedule.weights(update), schedule.decay(update))
            print("cuda" in str(schedule.weights(1)[0].device), str(schedule.weights(1)[0].device) == "cpu")
        """,
        make=rng.choice(
            (
                "zeros(n)",
                "ones(n, 1)",
                "full((n,), 2)",
                "eye(n)",
                "tensor([1, 2])",
                "tensor([0.1] * n)",
                "zeros(n, dtype=torch.float64)",
            )
        ),
        device=rng.choice(
            ("self.device", "device=self.device", "self.device, torch.float64", "torch.device('cpu')")
        ),
        widen=rng.choice(
            (
                "float().to(self.device)",
                "to(torch.float32).to(self.device)",
                "double().to(device=self.device)",
            )
        ),
        numbers=rng.choice(("update", "(update, 2)", "0")),
        make2=rng.choice(
            (
                "tensor(np.arange(update))",
                "FloatTensor(np.zeros(update, dtype=np.float32))",
                "Tensor(np.zeros((update, 1), dtype=np.float32))",
            )
        ),
    )
