"""Whether autograd is off, which sinks a gradient has, and which networks an optimizer updates."""

from __future__ import annotations

import ast
import textwrap

import pytest

from project_builder import build, expression, model_of
from rlint.semantics.nn.autograd import Autograd
from rlint.semantics.nn.gradient_sinks import ENDS, SinkKind

HEAD = """
    import contextlib
    import copy
    import numpy
    import torch
    from torch import nn, no_grad, optim
    from torch.distributions import Categorical
    import torch.nn.functional as F


    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(4, 2)

        def forward(self, x):
            return torch.relu(self.body(x))

"""


def agent(body: str, *, before: str = "") -> str:
    """A program with an agent whose method `act` has this body."""
    indented = body.strip("\n").replace("\n", "\n            ")
    return f"""{HEAD}{before}
    class Agent:
        def __init__(self, env):
            self.net = Net()
            self.memory = []
            self.env = env

        def act(self, state, flag=None):
            {indented}
"""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("q = self.net(state)", Autograd.ON),
        ("with torch.no_grad():\n    q = self.net(state)", Autograd.OFF),
        ("with no_grad():\n    q = self.net(state)", Autograd.OFF),
        ("with torch.inference_mode():\n    q = self.net(state)", Autograd.OFF),
        ("with torch.inference_mode(False):\n    q = self.net(state)", Autograd.ON),
        ("with torch.set_grad_enabled(False):\n    q = self.net(state)", Autograd.OFF),
        ("with torch.set_grad_enabled(flag):\n    q = self.net(state)", Autograd.UNKNOWN),
        ("with torch.no_grad():\n    with torch.enable_grad():\n        q = self.net(state)", Autograd.ON),
        ("with open('x') as f, torch.no_grad():\n    q = self.net(state)", Autograd.OFF),
        (
            "with (torch.no_grad() if flag else contextlib.nullcontext()):\n    q = self.net(state)",
            Autograd.UNKNOWN,
        ),
        ("off = torch.no_grad()\nwith off:\n    q = self.net(state)", Autograd.OFF),
        ("with self.no_grad_context():\n    q = self.net(state)", Autograd.UNKNOWN),
        ("with self.lock:\n    q = self.net(state)", Autograd.ON),
        ("torch.set_grad_enabled(False)\nq = self.net(state)", Autograd.OFF),
        ("torch.set_grad_enabled(True)\nq = self.net(state)", Autograd.ON),
        ("torch.set_grad_enabled(flag)\nq = self.net(state)", Autograd.UNKNOWN),
        ("if flag:\n    torch.set_grad_enabled(False)\nq = self.net(state)", Autograd.UNKNOWN),
        ("torch.set_grad_enabled(False)\ntorch.set_grad_enabled(True)\nq = self.net(state)", Autograd.ON),
    ],
)
def test_blocks(body: str, said: Autograd) -> None:
    """A `with` block turns autograd off for its body; one that may do so leaves it unknown."""
    model = model_of(agent(body))
    assert model.gradients.autograd_at(expression(model, "self.net(state)")) is said


@pytest.mark.parametrize(
    ("decorator", "said"),
    [
        ("@torch.no_grad()", Autograd.OFF),
        ("@torch.no_grad", Autograd.OFF),
        ("@torch.inference_mode()", Autograd.OFF),
        ("@torch.enable_grad()", Autograd.ON),
        ("@staticmethod", Autograd.ON),
        ("@torch.jit.export", Autograd.ON),
        ("@eval_api", Autograd.UNKNOWN),
        ("@quiet", Autograd.UNKNOWN),
    ],
)
def test_decorators(decorator: str, said: Autograd) -> None:
    """So does a decorator; one of the file that concerns autograd leaves it unknown."""
    before = f"""
    def quiet(function):
        def wrapped(*args):
            with torch.no_grad():
                return function(*args)
        return wrapped


    {decorator}
    def choose(net: Net, state):
        return net(state).argmax().item()
    """
    model = model_of(HEAD + before)
    assert model.gradients.autograd_at(expression(model, "net(state)")) is said


def test_all_callers() -> None:
    """Autograd is off in a function if it is off in all callers."""
    helper = """
    class Agent:
        def __init__(self):
            self.net = Net()

        def values(self, state):
            return self.net(state)

        def act(self, state):
            with torch.no_grad():
                return self.values(state)
    """
    model = model_of(HEAD + helper)
    assert model.gradients.autograd_at(expression(model, "self.net(state)")) is Autograd.OFF
    model = model_of(
        HEAD + helper + "\n        def learn(self, state):\n            return self.values(state).mean()\n"
    )
    assert model.gradients.autograd_at(expression(model, "self.net(state)")) is Autograd.ON


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        ("", Autograd.ON),
        ("def learn(b, x):\n    return b.values(x).mean()", Autograd.ON),
        ("def play(a, x):\n    with torch.no_grad():\n        return a.values(x)", Autograd.UNKNOWN),
        (
            "def play(a, x):\n    with torch.no_grad():\n        return a.values(x)\n"
            "def learn(b, x):\n    return b.values(x).mean()",
            Autograd.ON,
        ),
        (
            "def play(a, x):\n    with torch.no_grad():\n        return a.values(x)\n"
            "def learn(b, x, y):\n    return b.values(x, y).mean()",
            Autograd.UNKNOWN,
        ),
    ],
)
def test_callers_that_are_not_certain(calls: str, said: Autograd) -> None:
    """If calls may run a function judging only by its name, one of them with autograd on suffices for on."""
    classes = "".join(
        f"class {name}:\n    def values(self, state):\n        return {value}\n"
        for name, value in (("Agent", "self.net(state)"), ("One", 1), ("Two", 2), ("Three", 3))
    )
    model = model_of(f"{textwrap.dedent(HEAD)}{classes}{calls}\n")
    assert model.gradients.autograd_at(expression(model, "self.net(state)")) is said


@pytest.mark.parametrize(("block", "said"), [("no_grad", Autograd.UNKNOWN), ("enable_grad", Autograd.ON)])
def test_callers_of_another_class(block: str, said: Autograd) -> None:
    """A runner in a derived class is called in the same way as that of its base class."""
    model = model_of(f"""{HEAD}
    class First:
        def act(self, x):
            return x

    class Second:
        def __init__(self):
            self.net = Net()

        def act(self, state):
            return self.net(state).detach()

    class Runner:
        alg: First

        def __init__(self):
            self.alg = First()

        def run(self, env):
            with torch.{block}():
                return self.alg.act(env.observation)
    """)
    assert model.gradients.autograd_at(expression(model, "self.net(state)")) is said


@pytest.mark.parametrize(("inside", "said"), [("", Autograd.ON), ("with torch.no_grad():", Autograd.OFF)])
def test_functions_that_call_each_other(inside: str, said: Autograd) -> None:
    """A cycle of calls decides nothing: the calls that enter it do, even if they run less often."""
    indent = "    " if inside else ""
    model = model_of(f"""{HEAD}
    class Agent:
        def __init__(self):
            self.net = Net()

        def step(self, env):
            while True:
                env.step(self.value(env.state).item())
                env.inner.run(self)

        def value(self, state):
            return self.net(state)

    class Inner:
        def run(self, agent: Agent):
            for _ in range(100):
                agent.step(self)

    class Outer:
        def __init__(self):
            self.agent = Agent()

        def run(self):
            {inside}
            {indent}self.agent.step(self)
    """)
    assert model.gradients.autograd_at(expression(model, "self.net(state)")) is said


def test_networks_of_an_object() -> None:
    """The caller of a network's `forward` is a method of another class."""
    model = model_of(f"""{HEAD}
    class Double(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = Net()

        def forward(self, state):
            return self.net(state)

    class Agent:
        def __init__(self):
            self.both = Double()

        def act(self, state):
            with torch.no_grad():
                return self.both(state)
    """)
    assert model.gradients.autograd_at(expression(model, "self.net(state)")) is Autograd.OFF


@pytest.mark.parametrize(("name", "said"), [("first", Autograd.OFF), ("second", Autograd.ON)])
def test_methods_that_are_overridden(name: str, said: Autograd) -> None:
    """A caller that only objects of another class run does not count for the method that they override."""
    model = model_of(f"""{HEAD}
    class Base:
        def __init__(self):
            self.first = Net()
            self.second = Net()

        def targets(self, states):
            return self.values(states)

        def values(self, states):
            return self.first(states)

        def loss(self, states):
            with torch.no_grad():
                return self.targets(states)

    class Derived(Base):
        def values(self, states):
            return self.second(states)

        def weighted(self, states):
            return self.targets(states)
    """)
    assert model.gradients.autograd_at(expression(model, f"self.{name}(states)")) is said


def test_callers_in_other_files() -> None:
    """Callers in other files count, and may have turned autograd off."""
    helper = (
        HEAD
        + """
    def choose(net: Net, state):
        return net(state).argmax().item()
    """
    )
    model = build(
        {
            "net.py": helper,
            "main.py": """
        import torch
        from net import Net, choose

        def play(net: Net, env):
            while True:
                with torch.inference_mode():
                    env.step(choose(net, env.reset()))
    """,
        }
    )["net.py"]
    assert model.gradients.autograd_at(expression(model, "net(state)")) is Autograd.OFF
    model = build(
        {
            "net.py": helper,
            "main.py": """
        import torch
        from net import Net, choose

        def play(net: Net, env):
            torch.set_grad_enabled(False)
            while True:
                env.step(choose(net, env.reset()))
    """,
        }
    )["net.py"]
    assert model.gradients.autograd_at(expression(model, "net(state)")) is Autograd.OFF


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("torch.set_grad_enabled(False)\nloss = net(x)\ntorch.set_grad_enabled(True)\nreturn loss", False),
        ("if test:\n    torch.set_grad_enabled(False)\nif test:\n    torch.set_grad_enabled(True)", False),
        ("if test:\n    torch.set_grad_enabled(False)\nif other:\n    torch.set_grad_enabled(True)", True),
        ("torch.set_grad_enabled(False)\nif x:\n    return net(x)\ntorch.set_grad_enabled(True)", True),
        ("torch.set_grad_enabled(True)\ntorch.set_grad_enabled(False)", True),
    ],
)
def test_functions_that_turn_autograd_off_for_their_own_code(body: str, left: bool) -> None:
    """If they turn it on again, it is on for the code after a call."""
    helper = f"import torch\n\ndef validate(net, x, test, other):\n{textwrap.indent(body, '    ')}\n"
    run = (
        HEAD
        + """
    from helper import validate

    def play(net: Net, state):
        validate(net, state, True, False)
        return net(state).argmax().item()
    """
    )
    model = build({"helper.py": helper, "run.py": run})["run.py"]
    wanted = Autograd.UNKNOWN if left else Autograd.ON
    assert model.gradients.autograd_at(expression(model, "net(state)")) is wanted


MODE_ONLY = """
class eval_mode:
    def __init__(self, *models):
        self.models = models
    def __enter__(self):
        self.before = [model.training for model in self.models]
        for model in self.models:
            model.train(False)
    def __exit__(self, *args):
        for model, state in zip(self.models, self.before):
            model.train(state)
"""
GENERATOR = """
from contextlib import contextmanager
@contextmanager
def eval_mode(model):
    model.eval()
    yield
    model.train()
"""
GRADIENTS_OFF = """
import torch
from contextlib import contextmanager
@contextmanager
def eval_mode(model):
    model.eval()
    with torch.no_grad():
        yield
    model.train()
"""


@pytest.mark.parametrize(
    ("helper", "said"),
    [
        (MODE_ONLY, Autograd.ON),
        (GENERATOR, Autograd.ON),
        (
            GENERATOR.replace("    model.eval", '    """Set a model up for inference."""\n    model.eval'),
            Autograd.ON,
        ),
        (GRADIENTS_OFF, Autograd.UNKNOWN),
        ("from library import eval_mode\n", Autograd.UNKNOWN),
        ("import library\nclass eval_mode(library.Mode): pass\n", Autograd.UNKNOWN),
        (f"import library\n{MODE_ONLY.replace('eval_mode:', 'eval_mode(library.Mode):')}", Autograd.UNKNOWN),
    ],
)
@pytest.mark.parametrize("off", ["", "with torch.no_grad():"])
def test_contexts_of_the_project(helper: str, said: Autograd, off: str) -> None:
    """A context named like evaluation only turns autograd off if its definition does; contexts around it
    still count, at the call and in its callers.
    """
    indent = "    " if off else ""
    model = build(
        {
            "utils.py": f"import torch\n{helper}",
            "agent.py": "import torch\nclass Agent:\n    def act(self, obs):\n        return self.net(obs)\n",
            "train.py": (
                "import torch\nimport utils\nfrom agent import Agent\n"
                "agent = Agent()\n"
                "def train(obs, envs):\n"
                f"    {off}\n    {indent}with utils.eval_mode(agent):\n"
                f"        {indent}agent.act(obs)\n        {indent}envs.step(obs)\n"
            ),
        }
    )
    expected = Autograd.OFF if off and said is Autograd.ON else said
    train, agent = model["train.py"], model["agent.py"]
    assert train.gradients.autograd_at(expression(train, "envs.step(obs)")) is expected
    assert agent.gradients.autograd_at(expression(agent, "self.net(obs)")) is expected


def test_what_turns_autograd_for_the_whole_program() -> None:
    """After autograd was turned off permanently, its mode is unknown, also in functions called from there."""
    helper = """
    class Agent:
        def __init__(self):
            self.net = Net()

        def act(self, state):
            return self.net(state).argmax().item()
    """
    forward = """
    class Double(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = Net()

        def forward(self, state):
            return self.net(state).argmax().item()
    """
    run = "import torch\nfrom agent import Agent\n\ndef run(agent):\n    torch.set_grad_enabled(False)\n"
    for files in ({"agent.py": HEAD + helper, "run.py": run}, {"agent.py": HEAD + forward}):
        model = build(files)["agent.py"]
        assert model.gradients.autograd_at(expression(model, "self.net(state)")) is Autograd.UNKNOWN


@pytest.mark.parametrize(
    ("body", "outlets"),
    [
        ("return self.net(state).argmax().item()", {"index"}),
        ("return int(torch.argmax(self.net(state)))", {"index"}),
        ("q = self.net(state)\nreturn q.max(1)[1]", {"index"}),
        ("best, where = self.net(state).max(1)\nreturn where", {"index"}),
        ("best, where = torch.max(self.net(state), 1)\nreturn best", {"index", "returned"}),
        ("return self.net(state).max(1).indices", {"index"}),
        ("return self.net(state).max(1)[0].item()", {"number"}),
        ("return self.net(state).detach()", {"detached"}),
        ("return self.net(state).data.cpu().numpy()", {"detached"}),
        ("return torch.autograd.Variable(self.net(state))", {"detached"}),
        ("kept = numpy.zeros(3)\nkept[0] = self.net(state)", {"converted"}),
        ("kept = torch.zeros(3)\nkept[0] = self.net(state)\nreturn kept", {"returned"}),
        ("return self.net(state).cpu().detach().numpy()", {"detached"}),
        ("return self.net(state).cpu().numpy()", {"array"}),
        ("return self.net(state) > 0", {"number"}),
        ("print(self.net(state))", {"shown"}),
        ("return float(self.net(state))", {"converted"}),
        ("d = Categorical(logits=self.net(state))\nreturn d.sample().item()", {"detached"}),
        (
            "d = Categorical(logits=self.net(state))\na = d.sample()\nreturn a, d.log_prob(a)",
            {"detached", "returned"},
        ),
        ("self.q = self.net(state)", {"stored"}),
        ("self.memory.append(self.net(state))", {"stored"}),
        ("kept = []\nkept.append(self.net(state))\nreturn torch.stack(kept).mean().item()", {"number"}),
        ("kept = [self.net(s) for s in state]\nreturn torch.stack(kept)", {"returned"}),
        ("q = self.net(state)\nq.mean().backward()", {"learned"}),
        ("self.accelerator.backward(self.net(state).mean())", {"learned"}),
        ("self.scaler.scale(self.net(state).mean()).backward()", {"learned"}),
        ("g = torch.autograd.grad(self.net(state).sum(), state)", {"learned"}),
        ("q = self.net(state)\nreturn lambda: q", {"handed"}),
        ("return self.env.step(self.net(state))", {"handed"}),
        ("total = 0.0\nfor s in state:\n    total += self.net(s).mean()\nreturn total.item()", {"number"}),
        (
            "with torch.no_grad():\n    q = self.net(state)\nwith torch.no_grad():\n    p = q * 2\nreturn p",
            {"detached"},
        ),
        ("out = {}\nout['q'] = self.net(state)\nreturn out", {"returned"}),
        ("yield self.net(state)", {"handed"}),
    ],
)
def test_outlets(body: str, outlets: set[str]) -> None:
    """The sinks of a forward pass, through variables, pairs, containers and distributions."""
    model = model_of(agent(body))
    call = next(node for node in model.syntax.of_type(ast.Call) if ast.unparse(node.func) == "self.net")
    assert {left.label.value for left in model.gradients.sinks(call)} == outlets


def test_variables() -> None:
    """The sinks of a sum and of a list, from the point where a value is added."""
    body = """total, kept = 0.0, []
for s in state:
    q = self.net(s).mean()
    q.backward()
    total += q
    kept.append(q)
print(total.item())
self.memory = kept"""
    model = model_of(agent(body))
    (added,) = model.syntax.of_type(ast.AugAssign)
    assert isinstance(added.target, ast.Name)
    assert {left.label for left in model.gradients.variable_sinks(added.target)} == {SinkKind.NUMBER}
    kept = next(
        name
        for name in model.syntax.of_type(ast.Name)
        if model.source.text(model.parent(name) or name) == "kept.append"
    )
    assert {left.label for left in model.gradients.variable_sinks(kept)} == {SinkKind.STORED}


@pytest.mark.parametrize(
    ("helper", "outlet"),
    [
        ("return t.detach().cpu().numpy()", SinkKind.DETACHED),
        ("t = t.squeeze()\n        return t", SinkKind.STORED),
        ("LOG.append(t)", SinkKind.STORED),
    ],
)
def test_helpers(helper: str, outlet: SinkKind) -> None:
    """The effect of a helper on its argument counts, in this file and, if it detaches, in other files."""
    head = f"{HEAD}    LOG = []\n\n\n    def to_np(t):\n        {helper}\n\n"
    use = """
    class Agent:
        def __init__(self):
            self.net = Net()

        def act(self, state):
            self.q = to_np(self.net(state))
    """
    model = model_of(head + use)
    outlets = model.gradients.sinks(expression(model, "self.net(state)"))
    assert {left.label for left in outlets} == {outlet}


def test_helpers_in_other_files() -> None:
    """A small helper of another file that detaches its argument ends the gradient; one that only computes
    returns it; one that stores it may do anything.
    """
    model = build(
        {
            "tools.py": """
    import torch

    def to_np(t):
        return t.cpu().detach().numpy()

    def double(t):
        return t * 2

    def keep(t):
        kept.append(t)
        return t * 2

    kept = []
    """,
            "more.py": """
    import torch
    from tools import double, keep, to_np

    def values(q):
        return to_np(q.mean(-1))

    def twice(q):
        return double(double(q))

    def both(q):
        keep(q)
        return to_np(q)
    """,
            "agent.py": HEAD
            + """
    from more import both, twice, values
    from tools import double, keep, to_np


    class Agent:
        def __init__(self):
            self.net = Net()

        def act(self, state):
            return to_np(self.net(state))

        def learn(self, states, old):
            loss = double(self.net(old))
            print("loss {}".format(loss))
            return keep(self.net(states))

        def see(self, rows):
            return double(self.net(rows))

        def more(self, a, b, c):
            return values(self.net(a)), twice(self.net(b)), both(self.net(c))
    """,
        }
    )["agent.py"]
    for given, outlet in (
        ("state", SinkKind.DETACHED),
        ("old", SinkKind.SHOWN),
        ("states", SinkKind.HANDED),
        ("rows", SinkKind.RETURNED),
        ("a", SinkKind.DETACHED),
        ("b", SinkKind.RETURNED),
        ("c", SinkKind.HANDED),
    ):
        sinks = model.gradients.sinks(expression(model, f"self.net({given})"))
        assert {left.label for left in sinks} == {outlet}


@pytest.mark.parametrize(
    ("body", "outlet"),
    [
        ("cut = lambda t: t.detach().cpu()\nreturn cut(self.net(state))", SinkKind.DETACHED),
        (
            "cut = lambda t: t.detach().cpu()\nreturn list(map(cut, (state, self.net(state))))",
            SinkKind.DETACHED,
        ),
        ("return nest.map(lambda t: t.detach(), [self.net(state)])", SinkKind.DETACHED),
        ("return list(map(lambda t: t + 1, (state, self.net(state))))", SinkKind.RETURNED),
        ("return list(map(lambda s, t: t.item() + s, (flag,), (self.net(state),)))", SinkKind.NUMBER),
        ("return map(lambda t: self.env.step(t), [self.net(state)])", SinkKind.HANDED),
        (
            "cut = lambda t: t.detach()\nif flag:\n    cut = flag\nreturn cut(self.net(state))",
            SinkKind.HANDED,
        ),
    ],
)
def test_values_that_lambdas_are_given(body: str, outlet: SinkKind) -> None:
    """Values are followed through a lambda, called by its name or for each item of a collection."""
    model = model_of(agent(body))
    outlets = model.gradients.sinks(expression(model, "self.net(state)"))
    assert {left.label for left in outlets} == {outlet}


def test_functions_of_other_files_that_run_what_they_are_given() -> None:
    """A function that calls its argument returns the output of a network, if it is passed one."""
    model = build(
        {
            "tools.py": """
    import torch

    def divergence(new, old, states):
        return (new(states) - old(states).detach()).pow(2).mean()

    def improve(net, states):
        loss = net(states).mean()
        loss.backward()
        return loss

    def chosen(pick, states):
        return pick(states)
    """,
            "agent.py": HEAD
            + """
    from tools import chosen, divergence, improve


    def search(states):
        net, other = Net(), Net()
        divergence(net, other, states)
        divergence(new=net, old=other, states=states)
        improve(net, states)
        chosen(len, states)
    """,
        }
    )["agent.py"]
    for call, gives in (
        ("divergence(net, other, states)", True),
        ("divergence(new=net, old=other, states=states)", True),
        ("improve(net, states)", False),
        ("chosen(len, states)", False),
    ):
        assert model.gradients.gives_gradient(expression(model, call)) is gives  # type: ignore[arg-type]


def test_forwards() -> None:
    """Outputs of networks carry gradients, and so do results of functions that return them, across files."""
    model = build(
        {
            "nets.py": HEAD
            + """
    class Policy(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Linear(4, 4), nn.ReLU())

        def forward(self, x):
            return self.body(x)

        def act(self, x):
            d = Categorical(logits=self.body(x))
            return d.sample().item()

        def values(self, x):
            return self.body(x)

        @torch.no_grad()
        def frozen_values(self, x):
            return self.body(x)
    """,
            "agent.py": """
    from torch import nn
    from nets import Policy

    class Agent:
        def __init__(self):
            self.policy = Policy()
            self.loss = nn.MSELoss()

        def look(self, x):
            return self.policy.values(x)

        def all(self, x):
            self.policy(x), self.policy.act(x), self.policy.values(x), self.policy.frozen_values(x)
            self.look(x), self.loss(x, x), nn.ReLU()(x)
    """,
        }
    )["agent.py"]
    given = {
        ast.unparse(call) for call in model.syntax.of_type(ast.Call) if model.gradients.gives_gradient(call)
    }
    assert given == {"self.policy(x)", "self.policy.values(x)", "self.look(x)"}


def test_what_learns_is_no_forward() -> None:
    """A function that takes a gradient step and returns its loss is not one that computes a value."""
    body = """loss = self.net(state).mean()
self.optimizer.zero_grad()
loss.backward()
self.optimizer.step()
return loss"""
    model = model_of(
        agent(body) + "\n        def run(self, state):\n            return self.act(state).item()\n"
    )
    call = expression(model, "self.act(state)")
    assert isinstance(call, ast.Call)
    assert not model.gradients.gives_gradient(call)


def test_what_keeps_is_no_forward() -> None:
    """Nor is one that stores the output for a later loss."""
    for body in (
        "q = self.net(state)\nself.memory.append(q)\nreturn q",
        "v = self.net(state)\nself.values = v\nreturn self.net(state)",
        "q = self.net(state)\nself.buffer.push(q)\nreturn q",
    ):
        model = model_of(
            agent(body) + "\n        def run(self, state):\n            return self.act(state).item()\n"
        )
        call = expression(model, "self.act(state)")
        assert isinstance(call, ast.Call)
        assert not model.gradients.gives_gradient(call)


def test_networks_that_are_handed_over() -> None:
    """The networks of a function are updated if those that its callers pass are, under any name."""
    text = f"""{HEAD}
    def learn(net, second, third, loader):
        for batch in loader:
            loss = (net(batch) - second(batch) - third(batch)).mean()
            loss.backward()


    def main(loader):
        one, two, three = Net(), Net(), Net()
        optimizer = optim.Adam([*one.parameters(), *two.parameters()])
        for _ in range(100):
            learn(one, two, three, loader)
            optimizer.step()
    """
    model = model_of(text)
    calls = {ast.unparse(call): call for call in model.syntax.of_type(ast.Call)}
    found = [model.nn.is_optimized(calls[f"{name}(batch)"].func) for name in ("net", "second", "third")]
    assert found == [True, True, False]


def test_sources() -> None:
    """The sources of a gradient are the networks from which the value was computed."""
    body = """q = self.net(state).gather(1, flag)
target = self.net(flag).max(1)[0].detach()
best = self.net(flag).argmax(1)
with torch.no_grad():
    other = self.net(state + 1)
loss = F.mse_loss(q, target + other + best)
return loss"""
    model = model_of(agent(body))
    (returned,) = [node for node in model.syntax.of_type(ast.Return) if ast.unparse(node) == "return loss"]
    assert isinstance(returned.value, ast.expr)
    sources = model.gradients.sources(returned.value)
    assert [ast.unparse(call) for call in sources.calls] == ["self.net(state)"]
    assert {name.id for name in sources.parameters} == {"state", "flag"}


@pytest.mark.parametrize(
    ("made", "network", "stepped"),
    [
        ("self.opt = optim.Adam(self.net.parameters(), lr=1e-3)", "self.net", True),
        ("self.opt = optim.Adam(self.net.parameters(), lr=1e-3)", "self.other", False),
        (
            "self.opt = optim.Adam(list(self.net.parameters()) + list(self.other.parameters()))",
            "self.other",
            True,
        ),
        (
            "self.opt = optim.Adam(itertools.chain(self.net.parameters(), self.other.parameters()))",
            "self.other",
            True,
        ),
        (
            "self.p = [*self.net.parameters()]\n            self.opt = optim.SGD(self.p, 0.1)",
            "self.net",
            True,
        ),
        (
            "p = [p for p in self.net.parameters() if p.requires_grad]\n            o = optim.SGD(p)",
            "self.other",
            False,
        ),
        ("self.opt = optim.Adam([{'params': self.net.parameters(), 'lr': 1e-3}])", "self.other", False),
        ("self.opt = optim.Adam(params=self.net.parameters())", "self.net.body", True),
        ("self.opt = optim.Adam(collect(self))", "self.other", None),
        ("self.opt = None", "self.other", None),
        (
            "self.alias = self.net.body\n            self.opt = optim.Adam(self.net.parameters())",
            "self.alias",
            True,
        ),
        ("self.opt = optim_class(self.net.parameters())", "self.other", False),
    ],
)
def test_stepped(made: str, network: str, stepped: bool | None) -> None:
    """The parameters that the optimizers of a class receive, across its methods, through lists and
    attributes.
    """
    model = model_of(f"""{HEAD}
    import itertools


    class Agent:
        def __init__(self, optim_class):
            self.net = Net()
            self.other = Net()
            self.build(optim_class)

        def build(self, optim_class):
            {made}

        def learn(self, x):
            return {network}(x)
    """)
    call = next(node for node in model.syntax.of_type(ast.Call) if ast.unparse(node) == f"{network}(x)")
    assert model.nn.is_optimized(call.func) is stepped


@pytest.mark.parametrize(
    "freezes",
    [
        "self.net.requires_grad_(False)",
        "self.net = Net().requires_grad_(False)",
        "self.net = copy.deepcopy(self.other).requires_grad_(False).to('cuda')",
        "for p in self.net.parameters():\n                p.requires_grad = False",
        "for p in self.net.parameters(): p.requires_grad_(False)",
        "freeze(self.net)",
        "self.net = make_frozen(Net())",
        "still(self.net)",
    ],
)
def test_frozen(freezes: str) -> None:
    """Networks whose weights require no gradient are recognised, however that was set."""
    model = model_of(f"""{HEAD}
    def still(network):
        for p in network.parameters():
            p.requires_grad = False


    class Agent:
        def __init__(self):
            self.net = Net()
            self.other = Net()
            {freezes}

        def act(self, x):
            return self.net(x), self.other(x)
    """)
    calls = {ast.unparse(call): call for call in model.syntax.of_type(ast.Call)}
    assert model.nn.is_frozen(calls["self.net(x)"].func)
    assert not model.nn.is_frozen(calls["self.other(x)"].func)


def test_gradient_steps_in_a_part() -> None:
    """A loop takes gradient steps itself, through a called function, or judging by the name of a method."""
    model = model_of(
        """
        def step(loss, optimizer):
            loss.backward()
            optimizer.step()


        def train(batches, optimizer, agent, net):
            for batch in batches:
                step(net(batch), optimizer)
            for batch in batches:
                agent.learn(batch)
            for batch in batches:
                net(batch)
        """
    )
    loops = [node for node in ast.walk(model.syntax.module) if isinstance(node, ast.For)]
    assert [model.nn.takes_gradient_steps(loop) for loop in loops] == [True, True, False]


OPTIMIZERS = """
    import torch
    from torch import nn

    class Agent:
        def __init__(self, encoder, more):
            self.actor = nn.Linear(4, 2)
            self.critic = nn.Linear(6, 1)
            self.first = nn.Sequential(encoder)
            self.trunk = nn.Linear(4, 4)
            self.head = Head(self.trunk)
            self.actor_opt = torch.optim.Adam(self.actor.parameters())
            self.critic_opt = torch.optim.SGD(list(self.critic.parameters()) + list(self.head.parameters()))
            self.both_opt = torch.optim.Adam([*self.actor.parameters(), *more])

        def learn(self):
            loss.backward()
            self.head.body.tie(self.critic.body)

    class Head(nn.Module):
        pass
"""


@pytest.mark.parametrize(
    ("more", "network", "stepped"),
    [
        ("pass", "self.net", True),
        ("pass", "self.other", False),
        ("self.other.optimizer.step()", "self.other", True),
        ("self.opt = optim.Adam(collect(self))", "self.other", None),
        ("self.opt = optim.Adam(self.other.parameters())", "self.other", True),
    ],
)
def test_networks_with_optimizers_of_their_own(more: str, network: str, stepped: bool | None) -> None:
    """If networks hold their optimizers, the network is updated whose own optimizer takes a step."""
    model = model_of(f"""{HEAD}
    class Own(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(4, 2)
            self.optimizer = optim.Adam(self.parameters())

        def forward(self, x):
            return self.body(x)


    class Agent:
        def __init__(self):
            self.net = Own()
            self.other = Own()

        def learn(self, x):
            {network}(x).sum().backward()
            self.net.optimizer.step()
            {more}
    """)
    call = next(node for node in model.syntax.of_type(ast.Call) if ast.unparse(node) == f"{network}(x)")
    assert model.nn.is_optimized(call.func) is stepped


def test_what_each_optimizer_steps() -> None:
    """Each optimizer of a class has the networks that it received; None if there may be others."""
    model = model_of(OPTIMIZERS)
    assert model.nn.optimizers(expression(model, "loss.backward()")) == {
        "self.actor_opt": frozenset({"self.actor"}),
        "self.critic_opt": frozenset({"self.critic", "self.head"}),
        "self.both_opt": None,
    }


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("self.actor", "self.critic", False),
        ("self.head", "self.actor", True),  # created with a module that other code also holds
        ("self.critic", "self.head", True),
    ],
)
def test_networks_that_share_parts(one: str, other: str, *, shared: bool) -> None:
    """Networks may share a part if one is created with a named module, or is tied to the other."""
    assert model_of(OPTIMIZERS).nn.share_modules(one, other) is shared


def test_values_stored_as_items_of_an_array() -> None:
    """What a method stores in items of numpy arrays becomes numbers, also if the class is in another file."""
    model = build(
        {
            "buffer.py": """
                import numpy as np
                import torch

                class Buffer:
                    def __init__(self, size):
                        self.values = np.zeros(size)
                        self.rows = [None] * size
                        self.at = 0

                    def add(self, value, row):
                        self.values[self.at] = value
                        self.rows[self.at] = row
                        self.at += 1
                """,
            "agent.py": HEAD
            + """
    from buffer import Buffer

    class Agent:
        def __init__(self):
            self.net = Net()
            self.buffer = Buffer(100)

        def keep(self, state, other):
            self.buffer.add(self.net(state), self.net(other))
    """,
        }
    )["agent.py"]
    assert {one.label for one in model.gradients.sinks(expression(model, "self.net(state)"))} <= ENDS
    assert not {one.label for one in model.gradients.sinks(expression(model, "self.net(other)"))} <= ENDS
