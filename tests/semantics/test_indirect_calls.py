"""Functions that run without a call by name: stored, passed on, or aliased."""

from __future__ import annotations

import textwrap

import pytest

from project_builder import build, expression, model_of
from rlint.findings import Heat

PROGRAM = """
import functools
import gymnasium
import torch
from functools import partial
from torch.utils.data import DataLoader

DEFINED

def main(args, steps):
    env = gymnasium.make("CartPole-v1")
    MADE
    for step in range(steps):
        obs = env.step(0)
        CALLED
"""
TABLE = " ".join(
    f"{kind}: {{'put': print, 'get': repr}}," for kind in ("bool", "int", "float", "list", "dict")
)
PLAIN = "def f(*given): return line(given)"
RUNNER = """
{plain}
class Runner:
    def __init__(self, given=None, other=None):
        {made}
    def run(self, obs):
        return {called}
"""


def heat_of_line(defined: str, made: str, called: str) -> tuple[Heat, bool]:
    """How hot `line(…)` is, and whether that is only likely."""
    text = (
        PROGRAM.replace("DEFINED", textwrap.dedent(defined)).replace("MADE", made).replace("CALLED", called)
    )
    model = model_of(text)
    heat = model.frequency.heat_of(expression(model, "line(given)"))
    return heat.level, bool(heat.assumption)


@pytest.mark.parametrize(
    ("made", "called"),
    [
        ("do = functools.partial(f, 1)", "do(obs)"),
        ("do = partial(f, 1)", "do(obs)"),
        ("do = torch.compile(f)", "do(obs)"),
        ("do = args.do or f", "do(obs)"),
        ("do = f if args.quick else args.do", "do(obs)"),
        ("do = {'f': f}[args.kind]", "do(obs)"),
        ("table = {'f': f}", "table[args.kind](obs)"),
        ("", "torch.vmap(f)(obs)"),
        ("", "sorted(obs, key=f)"),
        ("", "list(map(f, obs))"),
    ],
)
def test_after_a_name(made: str, called: str) -> None:
    """A name may refer to one of several functions, or to one that is bound to arguments or wrapped."""
    assert heat_of_line(PLAIN, made or "pass", called) == (Heat.HOT, False)


@pytest.mark.parametrize(
    ("made", "called"),
    [
        ("self.do = given or f", "self.do(obs)"),
        ("self.do = f if given is None else given", "self.do(obs)"),
        ("self.do = partial(f, 1)", "self.do(obs)"),
        ("self.do = {'f': f, 'g': given}", "self.do['f'](obs)"),
        ("self.do = [f, given]", "[do(obs) for do in self.do]"),
        ("self.do = {'f': self.own}", "self.do['f'](obs)"),
        (f"self.do = {{{TABLE} str: {{'put': given, 'get': f}}}}", "self.do[str]['get'](obs)"),
    ],
)
def test_in_an_attribute(made: str, called: str) -> None:
    """An attribute may hold one of several functions, or a collection of them."""
    runner = RUNNER.format(plain=PLAIN, made=made, called=called)
    runner += "    def own(self, obs):\n        return f(obs)\n"
    assert heat_of_line(runner, "runner = Runner()", "runner.run(obs)") == (Heat.HOT, False)


@pytest.mark.parametrize(
    ("method", "called"),
    [
        ("__len__(self)", "len(thing)"),
        ("__getitem__(self, i)", "thing[step]"),
        ("__setitem__(self, i, x)", "thing[step] = obs"),
        ("__iter__(self)", "for row in thing: pass"),
        ("__iter__(self)", "for i, row in enumerate(thing): pass"),
        ("__next__(self)", "for row in thing: env.step(row)"),
        ("__next__(self)", "for row, other in zip(rows, thing): env.step(row)"),
        ("__next__(self)", "row = next(thing)"),
        ("__add__(self, x)", "thing += (obs, step)"),
        ("__iadd__(self, x)", "thing += obs, step"),
        ("__enter__(self)", "with thing: pass"),
        ("__exit__(self, *raised)", "with thing: pass"),
        ("__del__(self)", "Thing()"),
        ("__call__(self, x)", "thing(obs)"),
    ],
)
def test_methods_that_syntax_calls(method: str, called: str) -> None:
    """Entering, iterating over, indexing, measuring, adding to, calling or deleting an object runs a method
    of its class.
    """
    defined = f"class Thing:\n    def __init__(self): pass\n    def {method}:\n        return line(given)\n"
    assert heat_of_line(defined, "thing = Thing()", called) == (Heat.HOT, False)


@pytest.mark.parametrize(
    "made",
    [
        "net.register_forward_hook(f)",
        "net.weight.register_hook(f)",
        "for module in net.modules(): module.register_full_backward_hook(f)",
        "loader = DataLoader(args.rows, collate_fn=f)",
        "learner = args.build_learner(loss_fn=f)",
    ],
)
def test_what_libraries_call(made: str) -> None:
    """Hooks and collate functions likely run in each step of a training."""
    text = PROGRAM.replace("DEFINED", PLAIN).replace("MADE", f"net = torch.nn.Linear(1, 1)\n    {made}")
    model = model_of(text.replace("CALLED", "pass"))
    heat = model.frequency.heat_of(expression(model, "line(given)"))
    assert heat.level is Heat.HOT
    assert heat.assumption.startswith("`f` ")
    assert heat.assumption.endswith(" of a training")


def test_other_hooks_are_no_hooks_of_networks() -> None:
    """A registry of the program's own may call what it holds once."""
    text = PROGRAM.replace("DEFINED", PLAIN).replace("MADE", "args.register_mutation_hook(f)")
    model = model_of(text.replace("CALLED", "pass"))
    assert model.frequency.heat_of(expression(model, "line(given)")).level is Heat.COLD


def test_one_of_several_classes_of_which_one_lacks_the_method() -> None:
    """Other attributes keep their functions."""
    models = build(
        {
            "agents.py": """
                class Alone:
                    def act(self): pass
                class Team:
                    def act(self): pass
                    def weigh(self):
                        return line()
                """,
            "worker.py": """
                class Worker:
                    def __init__(self, env, agents):
                        self.env, self.agents = env, agents
                    def roll(self):
                        while True:
                            self.env.step(self.agents.weigh())
                """,
            "main.py": """
                from agents import Alone, Team
                from worker import Worker
                class Runner:
                    def __init__(self, args, env):
                        if args.team:
                            self.agents = Team()
                        else:
                            self.agents = Alone()
                        self.worker = Worker(env, self.agents)
                """,
        }
    )
    model = models["agents.py"]
    assert model.frequency.heat_of(expression(model, "line()")).level is Heat.HOT


def test_functions_for_workers_are_no_calls_of_those_that_start_them() -> None:
    """A thread runs its target once, however hot the place that starts it."""
    made = "import threading; threading.Thread(target=f).start()"
    assert heat_of_line(PLAIN, "pass", made) == (Heat.COLD, False)


@pytest.mark.parametrize(
    ("defined", "made", "called"),
    [
        (f"@ray.remote\n{PLAIN}", "", "f.remote(obs)"),
        (
            "@ray.remote\nclass Runner:\n    def run(self, given): return line(given)",
            "runner = Runner.remote()",
            "runner.run.remote(obs)",
        ),
        (
            "class Runner:\n    def __init__(self, given): self.given = line(given)",
            "Remote = ray.remote(Runner)",
            "Runner.remote(obs)",
        ),
    ],
)
def test_a_call_of_ray_runs_the_function_or_method(defined: str, made: str, called: str) -> None:
    """Code in another process runs as often as the call that requests it."""
    assert heat_of_line(f"import ray\n{defined}", made, called)[0] is Heat.HOT


def test_a_call_that_is_named_remote_runs_its_own_function() -> None:
    """A method of that name, on an object that is not a function."""
    defined = "class Runner:\n    def remote(self, given): return line(given)"
    assert heat_of_line(defined, "runner = Runner()", "runner.remote(obs)")[0] is Heat.HOT


@pytest.mark.parametrize("base", ["object", "torch.nn.Module"])
def test_objects_that_are_passed_and_called(base: str) -> None:
    """A parameter may be an object with its own `__call__`, including a network."""
    defined = f"""
    class Agent({base}):
        def __call__(self, *given):
            return line(given)

    def simulate(agent, env, steps):
        for _ in range(steps):
            env.step(agent(0))
    """
    assert heat_of_line(defined, "simulate(Agent(), env, steps)", "pass") == (Heat.HOT, False)


def test_a_network_without_a_call_of_its_own_runs_its_forward() -> None:
    """Calling a network runs `forward`."""
    defined = """
    class Agent(torch.nn.Module):
        def forward(self, *given):
            return line(given)

    def simulate(agent, env, steps):
        for _ in range(steps):
            env.step(agent(0))
    """
    assert heat_of_line(defined, "simulate(Agent(), env, steps)", "pass") == (Heat.HOT, False)


def test_bound_methods_that_subclasses_override() -> None:
    """`self.core`, passed to another method, may be the method of a subclass."""
    defined = """
    class Store:
        def locked(self, function, given):
            function(given)
        def put(self, row):
            self.locked(self.core, row)
        def core(self, row):
            pass

    class DeviceStore(Store):
        def core(self, *given):
            return line(given)
    """
    assert heat_of_line(defined, "store = DeviceStore()", "store.put(obs)") == (Heat.HOT, False)


def test_a_function_passed_to_a_setter_of_an_unknown_object_is_called_where_it_is_stored() -> None:
    """`agent.set_objective(score)` stores `score`; a method that stores nothing does not make it run."""
    model = model_of("""
        import gymnasium
        import factory

        class Agent:
            def set_objective(self, objective):
                self.objective = objective
            def show_report(self, report):
                print(report)
            def act(self, obs):
                return self.objective(obs)
            def report(self, obs):
                return self.report(obs)

        def make():
            agent = factory.make("agent")
            def score(obs):
                return hot_line(obs)
            def title(obs):
                return cold_line(obs)
            agent.set_objective(score)
            agent.show_report(title)
            return agent

        def main():
            env = gymnasium.make("CartPole-v1")
            agent = make()
            obs = env.reset()
            while True:
                obs = env.step(agent.act(obs))
    """)
    assert model.frequency.heat_of(expression(model, "hot_line(obs)")).level is Heat.HOT
    assert model.frequency.heat_of(expression(model, "cold_line(obs)")).level is Heat.COLD


BATCH = """
import functools

class Batch:
    DECORATOR
    def states(self):
        return line(self)

class Longer(Batch):
    pass
"""
READER = """
import gymnasium
from batch import Longer

def main(steps):
    env = gymnasium.make("CartPole-v1")
    batch = Longer()
    READ
    for step in range(steps):
        env.step(0)
        USED
"""


@pytest.mark.parametrize(
    ("decorator", "read", "used", "heat"),
    [
        ("@property", "", "print(batch.states)", Heat.HOT),
        ("@property", "print(batch.states)", "", Heat.COLD),
        ("@property", "print(batch.states)", "print(batch.states)", Heat.HOT),
        ("@functools.cached_property", "", "print(batch.states)", Heat.COLD),
        ("@property", "", "print(batch.actions)", Heat.COLD),
    ],
)
def test_a_property_runs_where_it_is_read(decorator: str, read: str, used: str, heat: Heat) -> None:
    """Also one that another file defines for a base class; one that is cached runs once."""
    files = {
        "batch.py": BATCH.replace("DECORATOR", decorator),
        "train.py": READER.replace("READ", read).replace("USED", used),
    }
    model = build(files)["batch.py"]
    assert model.frequency.heat_of(expression(model, "line(self)")).level is heat


PLAYED = """
class Team:
    def acts(self, given):
        return line(given)

def play(env, act):
    while not env.done:
        env.step(act(env.obs))

def train(env, rounds):
    team = Team()
    FIRST
    for _ in range(rounds):
        play(env, act=team.acts)
"""


@pytest.mark.parametrize("first", ["pass", "play(env, act=lambda obs: env.action_space.sample())"])
def test_a_method_that_only_some_calls_pass(first: str) -> None:
    """A lambda that another call passes for the same parameter does not hide it."""
    model = model_of(PLAYED.replace("FIRST", first))
    heat = model.frequency.heat_of(expression(model, "line(given)"))
    assert heat.level is Heat.HOT
    assert "Team.acts" in heat.chain[-1]
    assert "guessed from )" not in heat.chain[-1]
