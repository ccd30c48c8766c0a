"""Types of values."""

from __future__ import annotations

import ast

import pytest

from project_builder import build, expression, model_of
from rlint.models.value_type import Device, TypeTag


@pytest.mark.parametrize(
    ("program", "used", "tag"),
    [
        ("import numpy as np\nx = np.zeros(3)\nprint(x)", "x", TypeTag.NDARRAY),
        ("import torch\nx = torch.zeros(3)\ny = x * 2 + 1\nprint(y)", "y", TypeTag.TENSOR),
        ("import torch\nx = torch.zeros(3)\nprint(x.cpu().numpy())", "x.cpu().numpy()", TypeTag.NDARRAY),
        ("from collections import deque\nx = deque(maxlen=3)\nprint(x)", "x", TypeTag.DEQUE),
        ("import threading\nstop = threading.Event()\nprint(stop)", "stop", TypeTag.EVENT),
        ("import torch.multiprocessing as mp\nq = mp.Queue()\nprint(q)", "q", TypeTag.QUEUE),
        ("def f(text: str):\n    print(text.lower())", "text.lower()", TypeTag.STR),
        (
            "from typing import Optional\nimport torch\ndef f(x: Optional[torch.Tensor]):\n    print(x)",
            "x",
            TypeTag.TENSOR,
        ),
        ("def f(xs: 'list[str]'):\n    for x in xs:\n        print(x)", "x", TypeTag.STR),
        (
            "import torch\nmodel = torch.nn.Linear(3, 3)\nprint(model.state_dict())",
            "model.state_dict()",
            TypeTag.STATE_DICT,
        ),
        ("import gym\nenv = gym.make('CartPole-v1')\nprint(env)", "env", TypeTag.ENVIRONMENT),
        ("x = 3\nx = load()\nprint(x)", "x", TypeTag.UNKNOWN),
        ("x = None\nif c:\n    x = 'a'\nprint(x)", "x", TypeTag.STR),
        ("x = 1\nfor i in y:\n    x = load(i)\n    print(x)", "x", TypeTag.UNKNOWN),
        (
            "import torch\ndef f(b: dict[str, torch.Tensor]):\n    for k in b:\n        print(k)",
            "k",
            TypeTag.UNKNOWN,
        ),
        (
            "import torch\ndef f(b: dict[str, torch.Tensor]):\n    print(list(b)[0])",
            "list(b)[0]",
            TypeTag.UNKNOWN,
        ),
        ("import torch\ndef f(b: dict[str, torch.Tensor]):\n    print(b['x'])", "b['x']", TypeTag.TENSOR),
        (
            "import torch\ndef f(n: torch.nn.Module):\n    for k in n.state_dict():\n        print(k)",
            "k",
            TypeTag.STR,
        ),
    ],
)
def test_the_kind_of_a_variable_is_that_of_what_flows_into_it(program: str, used: str, tag: TypeTag) -> None:
    """Types are inferred from constructors, operators, methods and annotations."""
    model = model_of(program)
    assert model.types.type_of(expression(model, used, last=True)).tag is tag


@pytest.mark.parametrize(
    ("annotated", "tag", "optional"),
    [
        ("text: str = None", TypeTag.STR, True),
        ("text: str = ''", TypeTag.STR, False),
        ("*, text: str = None", TypeTag.STR, True),
        ("text: list = ()", TypeTag.UNKNOWN, False),
        ("text: float = 0", TypeTag.FLOAT, False),
        ("text: int = 0.5", TypeTag.FLOAT, False),
    ],
)
def test_a_default_that_contradicts_an_annotation_counts(
    annotated: str, tag: TypeTag, optional: bool
) -> None:
    """An annotation is a claim, a default is evidence."""
    model = model_of(f"def f({annotated}):\n    print(text)")
    kind = model.types.type_of(expression(model, "text", last=True))
    assert (kind.tag, kind.optional) == (tag, optional)


@pytest.mark.parametrize(
    ("body", "used_up"),
    [
        ("print(sum(rows))", "rows"),
        ("print(sum(rows) / len(rows))", None),
        ("first = rows[0]\n    print(sum(rows))", None),
        ("if rows:\n        print(len(rows))\n    print(sum(rows))", "rows"),
        ("kept = iter(rows)\n    print(sum(kept))", "kept"),
        ("print(sum([1, 2]))", None),
        ("print(sum(rows.values()))", None),
    ],
)
def test_what_may_be_an_iterator_is_used_up(body: str, used_up: str | None) -> None:
    """Unless the value is surely also used in a way that fails for an iterator."""
    model = model_of(f"def f(rows):\n    {body}")
    call = max(model.syntax.of_type(ast.Call), key=lambda call: (call.lineno, ast.unparse(call).count("sum")))
    found = model.effects.may_exhaust(call)
    assert (ast.unparse(found) if found is not None else None) == used_up


@pytest.mark.parametrize(
    ("made", "device"),
    [
        ("torch.zeros(3)", Device.HOST),
        ("torch.zeros(3, device='cuda')", Device.CUDA),
        ("torch.zeros(3, device=device)", Device.UNKNOWN),
        ("torch.zeros(3).cuda()", Device.CUDA),
        ("torch.zeros(3).to('cuda:0').cpu()", Device.HOST),
        ("torch.zeros(3).to(device)", Device.UNKNOWN),
        ("torch.zeros(3).to(torch.float64)", Device.HOST),
        ("torch.from_numpy(array)", Device.HOST),
    ],
)
def test_the_device_of_a_tensor(made: str, device: Device) -> None:
    """The device of a tensor follows from its creation and its moves."""
    model = model_of(f"import torch\ndevice = pick()\nx = {made}\nprint(x)\n")
    kind = model.types.type_of(expression(model, "x", last=True))
    assert (kind.tag, kind.device) == (TypeTag.TENSOR, device)


def test_attributes_of_classes_are_known_across_files() -> None:
    """The type of an attribute that `__init__` stores is known where the object is used."""
    models = build(
        {
            "buffer.py": """
                import numpy as np
                class Replay:
                    def __init__(self):
                        self.rows = np.zeros((10, 4))
                    def sample(self):
                        return self.rows[[1, 2]]
                """,
            "agent.py": """
                from buffer import Replay
                class Agent:
                    def __init__(self):
                        self.memory = None
                        self.memory = Replay()
                """,
            "train.py": """
                from agent import Agent
                def train(agent):
                    batch = agent.memory.sample()
                    print(agent.memory.rows, batch)
                train(Agent())
                """,
        }
    )
    model = models["train.py"]
    assert model.types.type_of(expression(model, "agent.memory")).of == "buffer.Replay"
    assert model.types.type_of(expression(model, "agent.memory.rows")).tag is TypeTag.NDARRAY
    assert model.types.type_of(expression(model, "batch", last=True)).tag is TypeTag.NDARRAY


def test_a_subclass_of_a_module_is_a_module() -> None:
    """Inheritance across the project determines the type of an instance."""
    models = build(
        {
            "base.py": "from torch import nn\nclass Base(nn.Module):\n    pass\n",
            "net.py": "from base import Base\nclass Net(Base):\n    pass\nnet = Net()\n",
        }
    )
    model = models["net.py"]
    assert model.types.type_of(expression(model, "net", last=True)).tag is TypeTag.MODULE


@pytest.mark.parametrize(
    ("made", "tag", "of"),
    [
        ("mp.get_context('spawn').Event()", TypeTag.EVENT, "multiprocessing.Event"),
        ("mp.get_context('spawn').Queue()", TypeTag.QUEUE, "multiprocessing.Queue"),
        ("mp.Manager().Event()", TypeTag.EVENT, "multiprocessing.managers.SyncManager.Event"),
    ],
)
def test_contexts_and_managers_make_what_the_module_makes(made: str, tag: TypeTag, of: str) -> None:
    """`context.Event()` is an event wherever the context was created, also in an attribute."""
    program = f"""
import multiprocessing as mp
class Learner:
    def __init__(self):
        self.maker = {made.rpartition(".")[0]}
        self.made = self.maker.{made.rpartition(".")[2]}
    def run(self):
        print(self.made)
x = {made}
print(x)
"""
    model = model_of(program)
    for used in ("x", "self.made"):
        kind = model.types.type_of(expression(model, used, last=True))
        assert (kind.tag, kind.of) == (tag, of)


@pytest.mark.parametrize(
    "start",
    [
        "threading.Thread(target=work, args=(stop, 3)).start()",
        "threading.Thread(target=work, args=[stop, *rest]).start()",
        "threading.Thread(target=work, kwargs={'stop': stop}).start()",
        "pool.submit(work, stop)",
    ],
)
def test_what_a_thread_is_given_is_known_in_its_target(start: str) -> None:
    """The arguments passed to a thread's target determine the types of its parameters."""
    model = model_of(
        f"""
import threading
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(2)
def work(stop, count=1):
    print(stop)
stop = threading.Event()
{start}
"""
    )
    assert model.types.type_of(expression(model, "stop")).tag is TypeTag.EVENT


TEXT = [
    "def f(x):\n    return x.strip(), use(x)",
    "import re\ndef f(x):\n    return re.search('a', x), use(x)",
    "def f(x):\n    return x.split('####')[-1], use(x)",
    "def f(xs):\n    return [x.lower() or use(x) for x in xs]",
    "def clean(text):\n    return text.strip()\ndef f(x):\n    return clean(x), use(x)",
    "def clean(text: str):\n    return text\ndef f(x):\n    return clean(text=x), use(x)",
    "def f(x):\n    if not isinstance(x, str):\n        return None\n    return x.strip(), use(x)",
]
ANYTHING = [
    "def f(x):\n    return x.split(8), use(x)",
    "def f(x):\n    x = g(x)\n    return x.strip(), use(x)",
    "def f(x):\n    if isinstance(x, list):\n        return x[0]\n    return x.strip(), use(x)",
    "def f(x, re):\n    return re.search('a', x), use(x)",
    "def f(x):\n    return x.strip, use(x)",
]


@pytest.mark.parametrize("program", [*TEXT, *ANYTHING])
def test_what_is_stripped_or_searched_is_text(program: str) -> None:
    """A parameter or loop variable without annotation is a string if only strings can be used in this way."""
    model = model_of(f"{program}\n")
    (argument,) = expression(model, "use(x)").args  # type: ignore[attr-defined]
    assert (model.types.type_of(argument).tag is TypeTag.STR) is (program in TEXT)


# --- tuples, element by element ---


def test_a_tuple_is_known_by_its_elements() -> None:
    """The parts of the result of a buffer's `sample` are distinguished when it is unpacked or indexed."""
    model = model_of("""
        import numpy as np
        import torch


        class Buffer:
            def __init__(self):
                self.states = np.zeros((1000, 4), dtype=np.float32)
                self.weights = torch.ones(1000)

            def sample(self, n: int):
                indices = np.random.randint(0, 1000, size=n)
                return self.states[indices], indices, self.weights[indices], "batch"


        def learn(buffer: Buffer):
            states, indices, weights, name = buffer.sample(32)
            batch = buffer.sample(32)
            print(states, indices, weights, name)
            print(batch[0], batch[-1], batch[1:], (batch + (1,))[-1])
    """)

    def tag(source: str) -> TypeTag:
        return model.types.type_of(expression(model, source, last=True)).tag

    assert [tag(name) for name in ("states", "indices", "weights", "name")] == [
        TypeTag.NDARRAY,
        TypeTag.NDARRAY,
        TypeTag.TENSOR,
        TypeTag.STR,
    ]
    assert tag("batch[0]") is TypeTag.NDARRAY
    assert tag("batch[-1]") is TypeTag.STR
    assert not model.types.type_of(expression(model, "batch[1:]")).parts
    assert tag("(batch + (1,))[-1]") is TypeTag.INT


def test_tuples_that_differ_agree_where_they_agree() -> None:
    """For two returns, only elements of the same type are known; with different lengths, none is."""
    model = model_of("""
        def pair(flag):
            return (1, "a") if flag else (2, 3.0)


        def odd(flag):
            if flag:
                return 1, "a"
            return 1, "a", 2


        first, second = pair(True)
        third, *rest = odd(True)
        print(first, second, third, rest)
    """)
    assert model.types.type_of(expression(model, "first", last=True)).tag is TypeTag.INT
    assert not model.types.type_of(expression(model, "second", last=True))
    assert not model.types.type_of(expression(model, "third", last=True))
    assert model.types.type_of(expression(model, "rest", last=True)).tag is not TypeTag.INT


def test_an_annotated_tuple_is_known_by_its_elements() -> None:
    """`tuple[np.ndarray, int]` declares each item, `tuple[int, ...]` all of them."""
    model = model_of("""
        import numpy as np


        def one() -> tuple[np.ndarray, int]: ...


        def many() -> tuple[int, ...]: ...


        array, number = one()
        first, second = many()
        print(array, number, second)
    """)
    assert model.types.type_of(expression(model, "array", last=True)).tag is TypeTag.NDARRAY
    assert model.types.type_of(expression(model, "number", last=True)).tag is TypeTag.INT
    assert model.types.type_of(expression(model, "second", last=True)).tag is TypeTag.INT


def test_a_network_of_another_file_that_is_moved_at_once_is_still_that_network() -> None:
    """`Network().to(device)` is the network, and its calls return the results of its `forward`."""
    models = build(
        {
            "model.py": """
                from torch import nn
                from torch.nn import functional as F

                class Network(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.layer = nn.Linear(4, 2)

                    def forward(self, x):
                        return F.log_softmax(self.layer(x), dim=1)
            """,
            "agent.py": """
                from model import Network

                class Agent:
                    def __init__(self, device):
                        self.network = Network().to(device=device)

                    def act(self, states):
                        print(self.network(states))
            """,
        }
    )
    model = models["agent.py"]
    assert model.types.type_of(expression(model, "self.network", last=True)).of == "model.Network"
    assert model.types.type_of(expression(model, "self.network(states)", last=True)).tag is TypeTag.TENSOR


@pytest.mark.parametrize(
    ("start", "step", "tag", "device"),
    [
        ("torch.zeros(3)", "x.to(device)", TypeTag.TENSOR, Device.UNKNOWN),
        ("torch.zeros(3)", "x.cuda()", TypeTag.TENSOR, Device.UNKNOWN),
        ("torch.zeros(3)", "x * 0.9 + 1", TypeTag.TENSOR, Device.HOST),
        ("torch.zeros(3)", "torch.cat([x, other])", TypeTag.TENSOR, Device.HOST),
        ("torch.zeros(3)", "x.tolist()", TypeTag.UNKNOWN, Device.UNKNOWN),
        ("torch.zeros(3)", "anything(x)", TypeTag.UNKNOWN, Device.UNKNOWN),
        ("torch.zeros(3)", "[x for _ in range(3)]", TypeTag.UNKNOWN, Device.UNKNOWN),
        ("anything()", "x.to(device)", TypeTag.UNKNOWN, Device.UNKNOWN),
        ("np.zeros(3)", "np.roll(x, 1)", TypeTag.NDARRAY, Device.UNKNOWN),
        ("[]", "x[1:]", TypeTag.LIST, Device.UNKNOWN),
        ("1.0", "x * 0.99", TypeTag.FLOAT, Device.UNKNOWN),
    ],
)
def test_what_follows_from_itself(start: str, step: str, tag: TypeTag, device: Device) -> None:
    """A variable in a loop, or an attribute, that is rebound to a value computed from itself has the type of
    both, if they agree.
    """
    local = model_of(
        "import numpy as np, torch\ndef f(anything, device):\n"
        f"    other = torch.zeros(1)\n    x = {start}\n"
        f"    while True:\n        print(x)\n        x = {step}\n"
    )
    of_variable = local.types.type_of(expression(local, "print(x)").args[0])
    stored = model_of(
        "import numpy as np, torch\nclass A:\n    def __init__(self, anything, device):\n"
        f"        self.x = {start}\n    def f(self, anything, device):\n        other = torch.zeros(1)\n"
        f"        self.x = {step.replace('x', 'self.x', 1)}\n"
        "        print(self.x)\n"
        "    def g(self):\n        use(self.x)\n"
    )
    of_attribute = stored.types.type_of(expression(stored, "use(self.x)").args[0])
    assert [(kind.tag, kind.device) for kind in (of_variable, of_attribute)] == [(tag, device)] * 2


def test_a_lambda_is_given_what_its_variable_is_called_with() -> None:
    """The parameter of `move = lambda x: x.cuda()` has the type of the arguments of `move(...)`."""
    model = model_of("""
        import numpy as np
        import torch

        def train(rows):
            net = torch.nn.Linear(3, 3)
            move = lambda x: use(x)
            cast = lambda y: show(y)
            other = lambda z: keep(z)
            move(net)
            cast(np.zeros(3))
            cast(np.ones(4))
            map(other, rows)
            other(net)
    """)
    for name, tag in (("x", TypeTag.MODULE), ("y", TypeTag.NDARRAY), ("z", TypeTag.UNKNOWN)):
        assert model.types.type_of(expression(model, name, last=True)).tag is tag


def test_a_lambda_with_too_many_calls_is_given_anything() -> None:
    """If there are many calls, one that is not examined may pass another type."""
    calls = "\n".join(f"            show(np.zeros({number}))" for number in range(30))
    model = model_of(f"""
        import numpy as np

        def train(net):
            show = lambda x: use(x)
{calls}
            show(net)
    """)
    assert model.types.type_of(expression(model, "x", last=True)).tag is TypeTag.UNKNOWN
