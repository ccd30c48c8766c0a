"""Faults that a single call on a workload's own inputs does not show, each with a correct fix for comparison.

Each program is compared with one that has exactly one fault, which must be detected, and with an equivalent
one, for which nothing may be reported.
"""
# ruff: noqa: E501 - programs with a statement in each line

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from compared_programs import WORKLOAD, compare

HEAD = "def inputs(case): return [(i + 1) / 9 for i in range(case.size)]\n"
ARRAY = "import numpy as np\ndef inputs(case): return case.numpy().random((case.size + 1, 3))\n"


@dataclass(frozen=True)
class Plant:
    """Three programs, and how the fault of the second is reported."""

    before: str
    faulty: str
    clean: str
    kind: str
    path: str
    when: str = ""
    """A part of it."""
    workload: str = WORKLOAD


PLANTS = {
    "a cache of the first result": Plant(
        HEAD + "def run(rows): return sum(rows)\n",
        HEAD
        + "_cache = {}\ndef run(rows):\n    if 'sum' not in _cache: _cache['sum'] = sum(rows)\n"
        + "    return _cache['sum']\n",
        HEAD
        + "_cache = {}\ndef run(rows):\n    if tuple(rows) not in _cache: _cache[tuple(rows)] = sum(rows)\n"
        + "    return _cache[tuple(rows)]\n",
        "value",
        "result",
        "call 5, on inputs of size 3",
    ),
    "a cache that misses a change of its object": Plant(
        ARRAY + "def run(rows): return rows[0] * 2\n",
        ARRAY
        + "_cache = {}\ndef run(rows):\n    if id(rows) not in _cache: _cache[id(rows)] = rows, rows[0] * 2\n"
        + "    return _cache[id(rows)][1].copy()\n",
        ARRAY + "def run(rows): return rows[0] + rows[0]\n",
        "value",
        "result",
        "call 2, after inputs and results had been modified",
    ),
    "a result that is shared by all calls": Plant(
        "import numpy as np\ndef inputs(case): return case.size\ndef run(n): return np.arange(n)\n",
        "import numpy as np\nimport functools\ndef inputs(case): return case.size\n"
        "@functools.cache\ndef _made(n): return np.arange(n)\ndef run(n): return _made(n)\n",
        "import numpy as np\ndef inputs(case): return case.size\ndef run(n): return np.array(range(n), int)\n",
        "value",
        "result",
        "after inputs and results had been modified",
    ),
    "a stale attribute of an object": Plant(
        "class Net:\n    def __init__(self, w): self.w = w\n    def step(self): self.w += 1; return self.w * 2\n"
        "def inputs(case): return Net(case.size)\ndef run(net): return net.step()\n",
        "class Net:\n    def __init__(self, w): self.w, self._twice = w, None\n    def step(self):\n"
        "        self.w += 1\n        self._twice = self._twice or self.w * 2\n        return self._twice\n"
        "def inputs(case): return Net(case.size)\ndef run(net): return net.step()\n",
        "class Net:\n    def __init__(self, w): self.w = w\n    def step(self): self.w += 1; return self.w + self.w\n"
        "def inputs(case): return Net(case.size)\ndef run(net): return net.step()\n",
        "value",
        "result",
        "call 2 on the same inputs",
    ),
    "a wrong third call": Plant(
        HEAD + "def run(rows): return len(rows)\n",
        HEAD + "_calls = []\ndef run(rows): _calls.append(1); return len(rows) + (len(_calls) == 3)\n",
        HEAD + "_calls = []\ndef run(rows): _calls.append(1); return len(rows)\n",
        "value",
        "result",
        "call 3 on the same inputs",
    ),
    "one more random number in the third call": Plant(
        HEAD + "import random\ndef run(rows): return random.random()\n",
        HEAD
        + "import random\n_calls = []\ndef run(rows):\n    _calls.append(1)\n"
        + "    found = random.random()\n    if len(_calls) == 3: random.random()\n    return found\n",
        HEAD + "from random import random\ndef run(rows): return random()\n",
        "random stream",
        "random.python",
        "call 3 on the same inputs",
    ),
    "a global name that is left changed": Plant(
        HEAD + "SCALE = 1.0\ndef run(rows): return [row * SCALE for row in rows]\n",
        HEAD
        + "SCALE = 1.0\ndef run(rows):\n    global SCALE\n    found = [row * SCALE for row in rows]\n"
        + "    SCALE = len(rows)\n    return found\n",
        HEAD + "SCALE = 1.0\n_NEW = {}\ndef run(rows): _NEW['x'] = 1; return [SCALE * row for row in rows]\n",
        "module state",
        "program.SCALE",
    ),
    "a global object that is left changed": Plant(
        HEAD + "TOTALS = [0]\ndef run(rows): TOTALS[0] += len(rows)\n",
        HEAD + "TOTALS = [0]\ndef run(rows): TOTALS[0] += len(rows) + 1\n",
        HEAD + "TOTALS = [0]\ndef run(rows): TOTALS[0] = TOTALS[0] + len(rows)\n",
        "module state",
        "program.TOTALS[0]",
    ),
    "an attribute of a class": Plant(
        HEAD
        + "class Agent:\n    made = 0\n    def __init__(self): Agent.made += 1\ndef run(rows): Agent()\n",
        HEAD + "class Agent:\n    made = 0\n    def __init__(self): pass\ndef run(rows): Agent()\n",
        HEAD
        + "class Agent:\n    made = 0\n    def __init__(self): type(self).made += 1\ndef run(rows): Agent()\n",
        "module state",
        "program.Agent.made",
    ),
    "a default argument that is written to": Plant(
        HEAD + "def run(rows, seen=[]): return len(seen)\n",
        HEAD
        + "def run(rows, seen=[]):\n    if len(rows) > 9: seen.append(1)\n    seen += [0] * 0; seen[:] = seen\n"
        "    seen.insert(0, 1) if rows else None\n    return 0\n",
        HEAD + "def run(rows, seen=[]): return 0\n",
        "module state",
        "program.run.__defaults__[0]",
    ),
    "a file in the working folder": Plant(
        HEAD + "def run(rows): return 0\n",
        HEAD + "def run(rows):\n    with open('left.txt', 'w') as file: file.write('x')\n    return 0\n",
        HEAD
        + "import os\ndef run(rows):\n    with open('left.txt', 'w') as file: file.write('x')\n"
        + "    os.remove('left.txt')\n    return 0\n",
        "file",
        "files['left.txt']",
    ),
    "another content of a file elsewhere": Plant(
        HEAD
        + "import pathlib, os\ndef run(rows): pathlib.Path(os.environ['ELSEWHERE'], 'log').write_text('a')\n",
        HEAD
        + "import pathlib, os\ndef run(rows): pathlib.Path(os.environ['ELSEWHERE'], 'log').write_text('b')\n",
        HEAD
        + "import os\ndef run(rows):\n"
        + "    with open(os.path.join(os.environ['ELSEWHERE'], 'log'), 'w') as file: file.write('a')\n",
        "file",
        "files[",
    ),
    "a file that torch writes": Plant(
        HEAD + "import os, torch\ndef run(rows): torch.save(1, os.environ['ELSEWHERE'] + '/w.pt')\n",
        HEAD + "import os, torch\ndef run(rows): torch.save(2, os.environ['ELSEWHERE'] + '/w.pt')\n",
        HEAD
        + "import os\nfrom torch import save\ndef run(rows): save(1, os.path.join(os.environ['ELSEWHERE'], 'w.pt'))\n",
        "file",
        "files[",
    ),
    "a thread that is left running": Plant(
        HEAD
        + "import threading\ndef run(rows): thread = threading.Thread(target=int); thread.start(); thread.join()\n",
        HEAD
        + "import threading\ndef run(rows): threading.Thread(target=threading.Event().wait, args=(600,), daemon=True)"
        + ".start()\n",
        HEAD + "import threading\ndef run(rows): threading.Thread(target=int).start()\n",
        "running",
        "running[0]",
    ),
    "descriptor 2": Plant(
        HEAD + "import os\ndef run(rows): os.write(2, b'late')\n",
        HEAD + "import os\ndef run(rows): os.write(2, b'soon')\n",
        HEAD + "import os\ndef run(rows): os.write(2, b'la'); os.write(2, b'te')\n",
        "printed",
        "printed.descriptor_2",
    ),
    "what a child process prints": Plant(
        HEAD + "import subprocess\ndef run(rows):\n    if len(rows) == 2: subprocess.run(['echo', 'a'])\n",
        HEAD + "import subprocess\ndef run(rows):\n    if len(rows) == 2: subprocess.run(['echo', 'b'])\n",
        HEAD
        + "import subprocess\ndef run(rows):\n    if len(rows) == 2: subprocess.run(['printf', 'a\\\\n'])\n",
        "printed",
        "printed.descriptor_1",
    ),
    "only the largest size": Plant(
        HEAD + "def run(rows): return len(rows)\n",
        HEAD + "def run(rows): return len(rows) + (len(rows) > 500)\n",
        HEAD + "def run(rows): return sum(1 for _ in rows)\n",
        "value",
        "result",
        workload=WORKLOAD.replace("sizes = (3,)", "sizes = (3, 100, 1000)"),
    ),
    "NaN in a list": Plant(
        HEAD + "def run(rows): return [row if row > 5 else 5.0 for row in rows]\n",
        HEAD + "def run(rows): return [5.0 if row <= 5 else row for row in rows]\n",
        HEAD + "def run(rows): return [5.0 if not row > 5 else row for row in rows]\n",
        "value",
        "result[",
        "on inputs with NaN",
    ),
    "NaN in an object's array": Plant(
        ARRAY
        + "class Buffer:\n    def __init__(self, rows): self.rows = rows\n"
        + "made = inputs\ndef inputs(case): return Buffer(made(case))\ndef run(buffer): return buffer.rows.max()\n",
        ARRAY
        + "class Buffer:\n    def __init__(self, rows): self.rows = rows\n"
        + "made = inputs\ndef inputs(case): return Buffer(made(case))\ndef run(buffer): return np.nanmax(buffer.rows)\n",
        ARRAY
        + "class Buffer:\n    def __init__(self, rows): self.rows = rows\n"
        + "made = inputs\ndef inputs(case): return Buffer(made(case))\ndef run(buffer): return np.max(buffer.rows)\n",
        "value",
        "result",
        "on inputs with NaN",
    ),
    "-0.0": Plant(
        ARRAY + "def run(rows): return np.where(rows < 0, 0.0, rows)\n",
        ARRAY + "def run(rows): return np.where(rows <= 0, 0.0, rows)\n",
        ARRAY + "def run(rows): return np.where(~(rows < 0), rows, 0.0)\n",
        "value",
        "result[",
        "on inputs with -0.0",
    ),
    "infinity in a tensor": Plant(
        "import torch\ndef inputs(case): return torch.rand(case.size + 1, generator=case.torch())\n"
        "def run(rows): return rows * 2 - rows\n",
        "import torch\ndef inputs(case): return torch.rand(case.size + 1, generator=case.torch())\n"
        "def run(rows): return rows * 1\n",
        "import torch\ndef inputs(case): return torch.rand(case.size + 1, generator=case.torch())\n"
        "def run(rows): return (rows * 2).sub(rows)\n",
        "value",
        "result[",
        "on inputs with infinities",
    ),
    "empty": Plant(
        HEAD + "def run(rows): return [max(rows[:1], default=0.5)]\n",
        HEAD + "def run(rows): return [max(rows[:1], default=0.0)]\n",
        HEAD + "def run(rows): return [rows[0] if rows else 0.5]\n",
        "value",
        "result[",
        "on empty inputs",
    ),
    "not contiguous": Plant(
        ARRAY + "def run(rows): rows.reshape(-1)[0] = 5\n",
        ARRAY + "def run(rows): rows[0, 0] = 5\n",
        ARRAY + "def run(rows): np.reshape(rows, -1)[0] = 5\n",
        "value",
        "inputs[",
        "on inputs that are not contiguous",
    ),
    "transposed": Plant(
        "import torch\ndef inputs(case): return torch.rand(case.size + 1, 3)\ndef run(rows): return rows.clone()\n",
        "import torch\ndef inputs(case): return torch.rand(case.size + 1, 3)\n"
        "def run(rows): return rows.contiguous().clone()\n",
        "import torch\ndef inputs(case): return torch.rand(case.size + 1, 3)\ndef run(rows): return torch.clone(rows)\n",
        "strides",
        "result.stride()",
        "on inputs that are not contiguous",
    ),
}


@pytest.fixture(autouse=True)
def _in_other_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs run in their own folder, and know the path of another one."""
    (tmp_path / "here").mkdir()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("ELSEWHERE", str(tmp_path / "elsewhere"))


@pytest.mark.parametrize("name", PLANTS)
def test_the_fault_is_found(name: str, tmp_path: Path) -> None:
    """It is reported at its path, with the call or the inputs that show it; files are as they were."""
    plant = PLANTS[name]
    found = compare(tmp_path, plant.before, plant.faulty, workload=plant.workload, budget=0)
    assert found.differences, found.notes
    matching = [
        one for one in found.differences if one.kind == plant.kind and one.path.startswith(plant.path)
    ]
    assert matching, "\n".join(map(str, found.differences))
    assert plant.when in matching[0].when, str(matching[0])
    assert bool(plant.when) == bool(matching[0].when)
    assert matching[0].when in str(matching[0])
    assert list((tmp_path / "here").iterdir()) == list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("name", PLANTS)
def test_the_same_in_another_way_is_not_accused(name: str, tmp_path: Path) -> None:
    """A fix that behaves the same in all variants is reported as the same."""
    plant = PLANTS[name]
    found = compare(tmp_path, plant.before, plant.clean, workload=plant.workload, budget=0)
    assert found.same, "\n".join(map(str, found.differences))


class TestExclusions:
    BEFORE = HEAD + "def run(rows): return [row if row > 5 else 5.0 for row in rows]\n"
    AFTER = HEAD + "def run(rows): return [5.0 if row <= 5 else row for row in rows]\n"

    def test_a_workload_may_say_what_its_program_is_not_meant_for(self, tmp_path: Path) -> None:
        """The reason is in the report, and everything else is compared."""
        workload = WORKLOAD + "    excludes = {'nan': 'rewards are finite'}\n"
        found = compare(tmp_path, self.BEFORE, self.AFTER, workload=workload)
        assert found.same
        assert found.excluded == {"inputs with NaN": "rewards are finite"}
        assert "nan" not in found.variants
        assert "infinity" in found.variants

    @pytest.mark.parametrize(
        ("declared", "said"),
        [
            ("{'nan': ' '}", "excluding `nan` gives no reason"),
            ("{'nans': 'x'}", "`excludes` does not support nans"),
        ],
    )
    def test_it_has_to_be_a_known_variant_with_a_reason(
        self, declared: str, said: str, tmp_path: Path
    ) -> None:
        """A misspelt name is reported."""
        with pytest.raises(Exception, match=said):
            compare(tmp_path, self.BEFORE, self.AFTER, workload=WORKLOAD + f"    excludes = {declared}\n")

    def test_numbers_beyond_all_tolerances_are_not_derived(self, tmp_path: Path) -> None:
        """With tolerances, inputs with NaN and infinities are not compared."""
        workload = WORKLOAD.replace("import Workload", "import Tolerance, Workload")
        workload += "    tolerances = {'result': Tolerance('sums round otherwise', rtol=1e-9)}\n"
        assert compare(tmp_path, self.BEFORE, self.AFTER, workload=workload).same
        safe = compare(tmp_path, self.BEFORE, self.AFTER + "\n", safe=self.AFTER, workload=workload)
        assert {one.safety for one in safe.differences} == {"safe"}


class TestDerivedInputsThatAProgramRefuses:
    BEFORE = HEAD + "def run(rows): return rows[0]\n"

    def test_the_same_type_of_exception_is_the_same(self, tmp_path: Path) -> None:
        """Another error message for inputs that the program refuses is not a fault."""
        after = HEAD + "def run(rows):\n    if not rows: raise IndexError('no rows')\n    return rows[0]\n"
        assert compare(tmp_path, self.BEFORE, after).same

    @pytest.mark.parametrize("other", ["raise ValueError('no rows')", "return 0"])
    def test_another_one_or_none_is_a_difference(self, other: str, tmp_path: Path) -> None:
        """Another exception type is a difference: callers may catch it."""
        after = HEAD + f"def run(rows):\n    if not rows: {other}\n    return rows[0]\n"
        [found] = compare(tmp_path, self.BEFORE, after).differences
        assert (found.kind, found.path, found.when) == ("exception", "run", "on empty inputs")

    @pytest.mark.slow
    @pytest.mark.skipif(sys.platform == "win32", reason="nothing ends a call there")
    def test_a_program_that_never_ends_on_them_is_not_compared(self, tmp_path: Path) -> None:
        """A loop that never ends for NaN is stopped, and a note says so."""
        text = (
            HEAD
            + "import time\ndef run(rows):\n    at = sum(rows, 1.0)\n    while not at >= 1:\n"
            + "        at += 0.5\n        time.sleep(0.001)\n    return at\n"
        )
        found = compare(tmp_path, text, text + "\n")
        assert found.same
        assert any("inputs with NaN: did not end within 2 s" in note for note in found.notes), found.notes


def test_files_that_were_there_are_put_back(tmp_path: Path) -> None:
    """Each run finds the same files as the run before, and so does the user afterwards."""
    place = Path(os.environ["ELSEWHERE"], "count")
    place.write_text("1")
    text = HEAD + (
        "import os, pathlib\ndef run(rows):\n    place = pathlib.Path(os.environ['ELSEWHERE'], 'count')\n"
        "    count = int(place.read_text()) + 1\n    place.write_text(str(count))\n    return count\n"
    )
    assert compare(tmp_path, text, text.replace("+ 1", "- -1")).same
    assert place.read_text() == "1"
    place.unlink()
