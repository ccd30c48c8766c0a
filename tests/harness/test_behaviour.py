"""Planted changes of behaviour are detected, each under its name; equal behaviour is reported as the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from compared_programs import WORKLOAD, compare, differences, only

ROWS = """
import random

def inputs(case):
    return [case.random().random() for _ in range(case.size)]

def run(rows):
    return [row * 2 for row in rows]
"""


def test_equal_programs_are_the_same(tmp_path: Path) -> None:
    """A fix that only changes the method is compared with twenty seeds at each size, without a difference."""
    found = compare(tmp_path, ROWS, ROWS.replace("[row * 2 for row in rows]", "[row + row for row in rows]"))
    assert found.same
    assert (found.seeds, found.sizes, found.fewest) == (20, (1, 2, 3), 20)
    assert found.cases > 60
    assert found.notes == ()


PLANTED = {
    "value": (
        "def run(rows): return {'loss': sum(rows)}",
        "def run(rows): return {'loss': sum(rows) + 1e-9}",
        "result['loss']",
    ),
    "value: a sign": ("def run(rows): return 0.0", "def run(rows): return -0.0", "result"),
    "value: a list": (
        "def run(rows): return [1, 2, 3]",
        "def run(rows): return [1, 5, 3]",
        "result[1]",
    ),
    "value: a key": ("def run(rows): return {1, 2}", "def run(rows): return {1, 3}", "result"),
    "value: an entry": ("def run(rows): return {'a': 1}", "def run(rows): return {}", "result['a']"),
    "value: an argument": (
        "def run(rows): return rows.sort()",
        "def run(rows): rows.sort(); rows.append(rows.pop() * 2)",
        "inputs[",
    ),
    "type": ("def run(rows): return 1", "def run(rows): return 1.0", "result"),
    "type: a truth value": ("def run(rows): return 1", "def run(rows): return True", "result"),
    "type: a scalar": (
        "import numpy as np\ndef run(rows): return 0.5",
        "import numpy as np\ndef run(rows): return np.float64(0.5)",
        "result",
    ),
    "type: a class": (
        "class A: pass\nclass B: pass\ndef run(rows): return A()",
        "class A: pass\nclass B: pass\ndef run(rows): return B()",
        "result",
    ),
    "length": ("def run(rows): return rows[:]", "def run(rows): return rows[1:]", "result"),
    "order": (
        "def run(rows): return {'b': 1, 'a': 2}",
        "def run(rows): return {'a': 2, 'b': 1}",
        "result",
    ),
    "dtype": (
        "import numpy as np\ndef run(rows): return np.zeros(3)",
        "import numpy as np\ndef run(rows): return np.zeros(3, np.float32)",
        "result.dtype",
    ),
    "shape": (
        "import numpy as np\ndef run(rows): return np.zeros((3, 1))",
        "import numpy as np\ndef run(rows): return np.zeros(3)",
        "result.shape",
    ),
    "strides": (
        "import numpy as np\ndef run(rows): return np.zeros((2, 3))",
        "import numpy as np\ndef run(rows): return np.zeros((3, 2)).T",
        "result.strides",
    ),
    "device": (
        "import torch\ndef run(rows): return torch.empty(3, device='meta')",
        "import torch\ndef run(rows): return torch.empty(3)",
        "result.device",
    ),
    "requires_grad": (
        "import torch\ndef run(rows): return torch.ones(3, requires_grad=True)",
        "import torch\ndef run(rows): return torch.ones(3)",
        "result.requires_grad",
    ),
    "requires_grad: a leaf": (
        "import torch\nw = torch.ones(3, requires_grad=True)\ndef run(rows): return w * 1",
        "import torch\nw = torch.ones(3, requires_grad=True)\ndef run(rows): return w.data.requires_grad_()",
        "result.is_leaf",
    ),
    "aliasing": (
        "def run(rows): return rows",
        "def run(rows): return list(rows)",
        "inputs",
    ),
    "aliasing: memory": (
        "import numpy as np\ndef run(rows): x = np.ones((4, 3)); return x, x[1]",
        "import numpy as np\ndef run(rows): x = np.ones((4, 3)); return x, x[1].copy()",
        "result[1]",
    ),
    "attribute": (
        "class A: pass\ndef run(rows): return A()",
        "class A: pass\ndef run(rows): a = A(); a.seen = 1; return a",
        "result.seen",
    ),
    "attribute: one that is gone": (
        "class A: pass\ndef run(rows): a = A(); a._seen = 1; return a",
        "class A: pass\ndef run(rows): return A()",
        "result._seen",
    ),
    "attribute: bound of a deque": (
        "from collections import deque\ndef run(rows): return deque(maxlen=5)",
        "from collections import deque\ndef run(rows): return deque()",
        "result.maxlen",
    ),
    "exception": (
        "def run(rows): return rows[0]",
        "def run(rows): raise IndexError('no rows')",
        "run",
    ),
    "exception: its message": (
        "def run(rows): return rows[9] if len(rows) > 2 else 0",
        "def run(rows): return tuple(rows)[9] if len(rows) > 1 else 0",
        "run",
    ),
    "exception: in prepare": ("def run(rows): return 0", "def inputs(case): raise ValueError", "prepare"),
    "printed": ("def run(rows): print('step', 1)", "def run(rows): print('step', 2)", "printed"),
    "printed: as an error": (
        "import sys\ndef run(rows): print('late', file=sys.stderr)",
        "import sys\ndef run(rows): print('soon', file=sys.stderr)",
        "printed.stderr",
    ),
    "warned": (
        "import warnings\ndef run(rows): warnings.warn('slow')",
        "import warnings\ndef run(rows): warnings.warn('slow', DeprecationWarning)",
        "warned[0]",
    ),
    "logged": (
        "import logging\nlogging.getLogger('a').setLevel('INFO')\n"
        "def run(rows): logging.getLogger('a').info('%s rows', len(rows))",
        "import logging\nlogging.getLogger('a').setLevel('INFO')\n"
        "def run(rows): logging.getLogger('a').debug('%s rows', len(rows))",
        "logged[0]",
    ),
    "random stream": (
        "import random\ndef run(rows): random.random()",
        "import random\ndef run(rows): random.random(), random.random()",
        "random.python",
    ),
    "random stream: numpy": (
        "import numpy as np\ndef run(rows): np.random.rand(3)",
        "import numpy as np\ndef run(rows): np.random.rand(4)",
        "random.numpy",
    ),
    "random stream: torch": (
        "import torch\ndef run(rows): torch.rand(3)",
        "import torch\ndef run(rows): pass",
        "random.torch",
    ),
    "random stream: a generator": (
        "import numpy as np\ndef run(rows): g = np.random.default_rng(1); g.random(); return g",
        "import numpy as np\ndef run(rows): g = np.random.default_rng(1); return g",
        "result",
    ),
    "setting": (
        "import os\ndef run(rows): os.environ['AGENT'] = 'a'",
        "import os\ndef run(rows): pass",
        "settings.environ['AGENT']",
    ),
    "setting: torch": (
        "import torch\ndef run(rows): torch.set_grad_enabled(False)",
        "import torch\ndef run(rows): pass",
        "settings.torch.is_grad_enabled()",
    ),
    "gradient": (
        "import torch\ndef run(rows): w = torch.ones(3, requires_grad=True); return w, w * w",
        "import torch\ndef run(rows): w = torch.ones(3, requires_grad=True); return w, w * w.data",
        "result[1].backward(result[0])[0]",
    ),
    "gradient: accumulated": (
        "import torch\ndef run(rows): w = torch.ones(3, requires_grad=True); w.sum().backward(); return w",
        "import torch\ndef run(rows): w = torch.ones(3, requires_grad=True); return w",
        "result.grad",
    ),
    "gradient: of one of many results": (
        "import torch\ndef run(rows): w = torch.ones(3, requires_grad=True); "
        "return w, [w * i for i in range(30)]",
        "import torch\ndef run(rows): w = torch.ones(3, requires_grad=True); "
        "return w, [(w.data * 2 - w if i == 29 else w) * i for i in range(30)]",
        "result[1][15] and others.backward(result[0])[0]",
    ),
    "gradient: of a leaf out of sight": (
        "import torch\nw = torch.ones(3, requires_grad=True)\ndef run(rows): return (w * w).sum()",
        "import torch\nw = torch.ones(3, requires_grad=True)\ndef run(rows): return (w * w.detach()).sum()",
        "result.backward(a leaf of shape (3,), torch.float32, ",
    ),
}


@pytest.mark.parametrize(
    "planted",
    [
        pytest.param(name, marks=pytest.mark.slow if place % 2 else ())
        for place, name in enumerate(sorted(PLANTED))
    ],
)
def test_a_planted_change_is_caught_by_its_name(planted: str, tmp_path: Path) -> None:
    """Each change of behaviour is reported under its kind, at its path, the smallest case first."""
    before, after, path = PLANTED[planted]
    head = "def inputs(case): return [case.random().random() for _ in range(case.size + 1)]\n"
    two_sizes = WORKLOAD.replace("small_sizes = (1, 2)", "small_sizes = (1,)")
    found = compare(tmp_path, head + before, head + after, workload=two_sizes)
    assert not found.same
    assert found.sizes == (1, 3)
    one = found.differences[0]
    assert (one.kind, one.seed) == (planted.partition(":")[0], 0), str(one)
    assert one.path.startswith(path)
    assert one.before != one.after
    assert one.size == min(found.sizes) or planted == "exception: its message"


def test_a_single_element_of_another_array_is_compared(tmp_path: Path) -> None:
    """A column of one row has a meaningless stride, and is compared like any tensor."""
    column = (
        "import torch\ndef inputs(case): return 0\ndef run(_): return torch.arange(6.0).reshape(3, 2)[:1, 0]"
    )
    assert compare(tmp_path, column, column.replace("reshape(3, 2)", "reshape(-1, 2)")).same
    assert not compare(tmp_path, column, column.replace("arange(6.0)", "arange(1.0, 7.0)")).same


def test_a_difference_shows_the_first_element_and_both_values(tmp_path: Path) -> None:
    """For an array, the report shows which element differs, and how."""
    text = """
    import numpy as np

    def inputs(case):
        return np.full((4, 2), 0.25, np.float32)

    def run(rows):
        rows[3, 1] = VALUE
        return None
    """
    found = only(tmp_path, text.replace("VALUE", "0.1"), text.replace("VALUE", "0.5"))
    assert (found.path, found.before, found.after) == ("inputs[3, 1]", "0.1", "0.5")
    assert str(found) == "value of `inputs[3, 1]` at seed 0, size 1: 0.1 before, 0.5 after"


def test_long_texts_are_cut_around_what_differs(tmp_path: Path) -> None:
    """Of ten thousand printed characters, those around the first difference are shown."""
    text = "def inputs(case): return 0\ndef run(_): print('x' * 5000 + 'ANSWER' + 'x' * 5000)\n"
    found = only(tmp_path, text, text.replace("ANSWER", "answer"))
    assert "xANSWERx" in found.before
    assert "xanswerx" in found.after
    assert len(found.before) < 120


def test_private_attributes_that_a_fix_adds_are_noted_and_no_difference(tmp_path: Path) -> None:
    """An attribute that the fix adds as a cache is noted; its content is not compared."""
    text = """
    class Buffer:
        def __init__(self, rows):
            self.rows = rows
            ADDED

    def inputs(case):
        return Buffer([case.seed] * case.size)

    def run(buffer):
        return sum(buffer.rows)
    """
    found = compare(tmp_path, text.replace("ADDED", ""), text.replace("ADDED", "self._store = list(rows)"))
    assert found.same
    assert found.notes == ("the fix adds the attribute `inputs._store`",)


def test_parameters_that_would_be_saved_are_a_difference_whatever_their_names(tmp_path: Path) -> None:
    """A buffer with a leading underscore changes what `state_dict()` holds, unless it is not persistent."""
    text = """
    import torch

    def inputs(case):
        layer = torch.nn.Linear(2, 2)
        ADDED
        return layer

    def run(layer):
        return None
    """
    before = text.replace("ADDED", "")
    fleeting = text.replace("ADDED", "layer.register_buffer('_c', torch.ones(1), persistent=False)")
    assert compare(tmp_path, before, fleeting).same
    kept = text.replace("ADDED", "layer.register_buffer('_c', torch.ones(1))")
    found = only(tmp_path, before, kept)
    assert (found.kind, found.path) == ("length", "inputs.state_dict()")


def test_inputs_that_a_failing_run_has_changed_are_compared(tmp_path: Path) -> None:
    """If both raise the same exception, effects before it are still compared."""
    text = """
    def inputs(case):
        return [1, 2]

    def run(rows):
        if len(rows) == 2:
            rows.ACTION
        raise KeyError("empty at 0x7f3a2b1c")
    """
    harmless = """
    from rlint.harness import Workload

    class Example(Workload):
        sizes = (3,)
        small_sizes = (1, 2)

        def prepare(self, program, case):
            return program.inputs(case)

        def run(self, program, inputs):
            if inputs and program.__name__:
                return program.run(inputs) if inputs[0] else None
    """
    before = text.replace("ACTION", "append(3)").replace("[1, 2]", "[case.size - 1, 2]")
    after = before.replace("append(3)", "append(4)").replace("0x7f3a2b1c", "0x7f3a2b1d")
    found = only(tmp_path, before, after, harmless)
    assert (found.kind, found.path, found.size) == ("value", "inputs[2]", 2)


class TestWhatRealProjectsHaveShipped:
    """Optimisations that look right and are not."""

    SOFTPLUS = """
    import torch
    from torch import nn
    from torch.nn import functional as F

    class NoisyScale(nn.Module):
        def __init__(self):
            super().__init__()
            self.rho = nn.Parameter(torch.full((3,), -1.0))
            self._scale = None

        def scale(self):
            return F.softplus(self.rho)

        def forward(self, x):
            return x * self.scale()

    def inputs(case):
        model = NoisyScale()
        return model, torch.optim.SGD(model.parameters(), 0.1), torch.rand(2, 3, generator=case.torch())

    def run(inputs):
        model, optimiser, x = inputs
        for _ in range(3):
            optimiser.zero_grad()
            model(x).sum().backward()
            optimiser.step()
    """

    def test_a_cached_softplus_whose_second_backward_raises(self, tmp_path: Path) -> None:
        """The graph of the cached value is gone after the first backward."""
        cached = self.SOFTPLUS.replace(
            "return F.softplus(self.rho)",
            "if self._scale is None:\n"
            "                self._scale = F.softplus(self.rho)\n"
            "            return self._scale",
        )
        found = compare(tmp_path, self.SOFTPLUS, cached).differences[0]
        assert (found.kind, found.path, found.before) == ("exception", "run", "no exception")
        assert "backward through the graph a second time" in found.after

    def test_a_cached_softplus_that_freezes_its_parameter(self, tmp_path: Path) -> None:
        """If it is detached, nothing raises, but the parameter is no longer trained."""
        cached = self.SOFTPLUS.replace(
            "return F.softplus(self.rho)",
            "if self._scale is None:\n"
            "                self._scale = F.softplus(self.rho).detach().requires_grad_()\n"
            "            return self._scale",
        )
        found = differences(tmp_path, self.SOFTPLUS, cached)
        assert found["inputs[0].rho[0]"].kind == "value"
        assert found["inputs[0].rho[0]"].after == "-1"
        assert found["inputs[0].rho.grad"].kind == "gradient"

    def test_weights_normalised_from_the_second_call_on(self, tmp_path: Path) -> None:
        """The first call of the faster version returns raw priorities."""
        before = """
        import numpy as np

        class Sampler:
            def __init__(self, priorities):
                self.priorities = priorities

            def weights(self):
                weights = (len(self.priorities) * self.priorities) ** -0.4
                return weights / weights.max()

        def inputs(case):
            return Sampler(case.numpy().uniform(0.1, 1.0, size=case.size))

        def run(sampler):
            return [sampler.weights() for _ in range(3)]
        """
        after = before.replace(
            "self.priorities = priorities\n",
            "self.priorities = priorities\n                self._largest = None\n",
        ).replace(
            "return weights / weights.max()",
            "largest, self._largest = self._largest, weights.max()\n"
            "                return weights if largest is None else weights / largest",
        )
        found = only(tmp_path, before, after)
        assert (found.kind, found.path, found.before) == ("value", "result[0][0]", "1.0")

    def test_an_extraction_applied_once_instead_of_twice(self, tmp_path: Path) -> None:
        """Taking the text between tags is not idempotent where tags are nested."""
        before = """
        import re

        def extract(text):
            found = re.search(r"<answer>(.*)</answer>", text)
            return found.group(1) if found else text

        def inputs(case):
            depth = case.seed % 3
            return ["<answer>" * depth + str(case.seed) + "</answer>" * depth] * case.size

        def run(texts):
            return [float(extract(extract(text)).isdigit()) for text in texts]
        """
        found = only(tmp_path, before, before.replace("extract(extract(text))", "extract(text)"))
        assert (found.kind, found.path, found.seed) == ("value", "result[0]", 2)
        assert (found.before, found.after) == ("1.0", "0.0")

    def test_a_ring_buffer_whose_row_order_changes_what_is_sampled(self, tmp_path: Path) -> None:
        """If rows are in another order, the same draws select other rows."""
        before = """
        import numpy as np

        class Replay:
            def __init__(self, capacity):
                self.capacity, self.rows = capacity, []

            def add(self, row):
                self.rows.append(row)
                if len(self.rows) > self.capacity:
                    self.rows.pop(0)

            def sample(self, rng, count):
                return [self.rows[i] for i in rng.integers(len(self.rows), size=count)]

        def inputs(case):
            return Replay(4), case.size + 3, case.numpy()

        def run(inputs):
            replay, steps, rng = inputs
            for step in range(steps):
                replay.add(float(step))
            return replay.sample(rng, 5)
        """
        after = before.replace(
            "self.rows.append(row)\n"
            "                if len(self.rows) > self.capacity:\n"
            "                    self.rows.pop(0)",
            "if len(self.rows) < self.capacity:\n"
            "                    self.rows.append(row)\n"
            "                else:\n"
            "                    self.rows[self._next] = row\n"
            "                    self._next = (self._next + 1) % self.capacity",
        ).replace("self.rows = capacity, []", "self.rows = capacity, []; self._next = 0")
        outcome = WORKLOAD + (
            "\n    def outcome(self, program, inputs, result):\n        return {'batch': result}\n"
        )
        found = only(tmp_path, before, after, outcome)
        assert (found.kind, found.size) == ("value", 2)
        assert found.path.startswith("batch[")

    def test_a_list_of_views_onto_a_reused_observation_buffer(self, tmp_path: Path) -> None:
        """Without the copy, all stored observations are the last one."""
        before = """
        import numpy as np

        class Env:
            def __init__(self, seed):
                self.rng = np.random.default_rng(seed)
                self.buffer = np.zeros(2)

            def step(self):
                self.buffer[:] = self.rng.normal(size=2)
                return self.buffer[:]

        def inputs(case):
            return Env(case.seed), case.size

        def run(inputs):
            env, steps = inputs
            rollout = []
            for _ in range(steps):
                obs = env.step()
                rollout.append(obs.copy())
            return rollout
        """
        found = compare(tmp_path, before, before.replace("obs.copy()", "obs")).differences
        first = found[0]
        assert (first.kind, first.path, first.size) == ("aliasing", "inputs[0].buffer", 1)
        assert first.after == "memory of `result[0]`"
        values = [one for one in found if one.kind == "value"]
        assert [(one.path, one.size) for one in values] == [("result[0][0]", 2)]

    def test_a_device_move_skipped_because_a_stale_attribute_says_it_is_done(self, tmp_path: Path) -> None:
        """The cached attribute describes a network that has been replaced since."""
        before = """
        import torch
        from torch import nn

        class Agent:
            def __init__(self):
                self.device = torch.device("meta")
                self.net = nn.Linear(2, 2).to(self.device)
                self.on_device = True

            def reset(self):
                self.net = nn.Linear(2, 2)

            def act(self, x):
                self.net.to(self.device)
                return self.net(x.to(next(self.net.parameters()).device))

        def inputs(case):
            return Agent(), torch.rand(case.size, 2, generator=case.torch())

        def run(inputs):
            agent, x = inputs
            agent.reset()
            return agent.act(x)
        """
        after = before.replace(
            "self.net.to(self.device)\n",
            "if not self.on_device:\n                    self.net.to(self.device)\n",
        )
        found = differences(tmp_path, before, after)
        assert found["result.device"].kind == "device"
        assert (found["result.device"].before, found["result.device"].after) == ("meta", "cpu")
        assert found["inputs[0].net.weight.device"].kind == "device"
