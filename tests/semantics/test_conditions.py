"""The conditions between a line and the training loop that runs it."""

from __future__ import annotations

import textwrap

import pytest

from project_builder import build, expression, model_of
from rlint.findings import Heat
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.frequency.guards import GuardKind

LOOP = """
    import time
    import random
    import gymnasium
    PERIOD = 25
    def train(agent, args, rank, num_steps):
        env = gymnasium.make("CartPole-v1")
        best_score = 0
        for step in range(num_steps):
            obs, reward, done, truncated, info = env.step(agent.act())
            agent.learn(obs)
{body}
"""


def guards(body: str) -> list[tuple[GuardKind, str]]:
    """The kinds of the conditions that guard `line()`, and their counters."""
    model = model_of(LOOP.format(body=textwrap.indent(textwrap.dedent(body).strip(), " " * 12)))
    return [(guard.kind, guard.counter) for guard in model.frequency.guards(expression(model, "line()"))]


@pytest.mark.parametrize(
    "body",
    [
        "line()",
        "if not done:\n    line()",
        "if done: continue\nline()",
        "if done:\n    obs = env.reset()\nline()",
        "if done: break\nline()",
        "if done: return\nline()",
        "if len(buffer) < batch_size: continue\nline()",
        "if step > args.learning_starts:\n    line()",
        "if args.learning_starts < step:\n    line()",
        "if agent.training:\n    line()",
        "if step % 1 == 0:\n    line()",
        "line() if True else None",
        "for name, value in info.items():\n    line()",
        "try:\n    line()\nexcept ValueError:\n    pass",
        "with lock:\n    line()",
        "if step % 10:\n    line()",
        "if step % 10 == 0:\n    pass\nelse:\n    line()",
        "if done:\n    pass\nelif step % 10:\n    line()",
    ],
)
def test_nothing_that_is_worth_waiting_for(body: str) -> None:
    """A condition that holds in nearly every iteration is no guard."""
    assert guards(body) == []


@pytest.mark.parametrize(
    ("body", "counter"),
    [
        ("if step % 100 == 0:\n    line()", "step"),
        ("if not step % args.every:\n    line()", "step"),
        ("if (step + 1) % PERIOD == 0:\n    line()", "step + 1"),
        ("if step and step % 100 == 0 and args.verbose:\n    line()", "step"),
        ("if step % 100:\n    continue\nline()", "step"),
        ("if step % 100 != 0:\n    continue\nline()", "step"),
        ("if step % 100 == 0: line()\nelse: pass", "step"),
        ("if step % 100 != 0:\n    pass\nelse:\n    line()", "step"),
        ("step % 100 == 0 and line()", "step"),
        ("line() if step % 100 == 0 else None", "step"),
        ("if step - last_log >= args.interval:\n    line()", "step - last_log"),
        ("if step >= next_log:\n    line()", "step"),
        ("if step in milestones:\n    line()", "step"),
        ("if agent.should_log(step):\n    line()", ""),
        ("due = should_save(step, args.save_freq)\nif args.saves and due:\n    line()", ""),
    ],
)
def test_intervals(body: str, counter: str) -> None:
    """Intervals in all forms, and their counters."""
    found = guards(body)
    assert (GuardKind.INTERVAL, counter) in found
    assert all(sort in (GuardKind.INTERVAL, GuardKind.SWITCH, GuardKind.OTHER) for sort, _ in found)


@pytest.mark.parametrize(
    ("body", "sort"),
    [
        ("if rank == 0:\n    line()", GuardKind.RANK),
        ("if rank != 0: continue\nline()", GuardKind.RANK),
        ("if not rank:\n    line()", GuardKind.RANK),
        ("if accelerator.is_main_process:\n    line()", GuardKind.RANK),
        ("if torch.distributed.get_rank() == 0:\n    line()", GuardKind.RANK),
        ("if args.render:\n    line()", GuardKind.SWITCH),
        ("if agent.verbose > 1:\n    line()", GuardKind.SWITCH),
        ("if not args.quiet:\n    line()", GuardKind.SWITCH),
        ("if args.anything:\n    line()", GuardKind.SWITCH),
        ("if writer is not None:\n    line()", GuardKind.PRESENT),
        ("score = info['episodic_return']\nif score is not None:\n    line()", GuardKind.ENDS),
        ("if info['episode_return'] is not None:\n    line()", GuardKind.ENDS),
        ("if args.debug is True:\n    line()", GuardKind.SWITCH),
        ("if reward > best_score:\n    line()", GuardKind.BEST),
        ("if best_score < reward:\n    line()", GuardKind.BEST),
        ("if done or truncated:\n    line()", GuardKind.ENDS),
        ("if not done: continue\nline()", GuardKind.ENDS),
        ("if 'episode' in info:\n    line()", GuardKind.ENDS),
        ("if 'final_info' not in info: continue\nline()", GuardKind.ENDS),
        ("for i in finished:\n    line()", GuardKind.ENDS),
        ("if time.time() - last > 5:\n    line()", GuardKind.CLOCK),
        ("if step == 0:\n    line()", GuardKind.ONCE),
        ("if agent.model is None:\n    line()", GuardKind.ONCE),
        ("try:\n    pass\nexcept ValueError:\n    line()", GuardKind.FAILURE),
        ("if reward != reward:\n    line()\n    raise ValueError", GuardKind.FAILURE),
        ("if random.random() < 0.1:\n    line()", GuardKind.OTHER),
        ("if reward > 0:\n    line()", GuardKind.OTHER),
        ("match step:\n    case 3:\n        line()", GuardKind.OTHER),
        ("later = lambda: line()", GuardKind.OTHER),
        ("found = [line() for item in info if item.is_new]", GuardKind.OTHER),
        ("if done or reward > 0:\n    line()", GuardKind.OTHER),
    ],
)
def test_other_conditions(body: str, sort: GuardKind) -> None:
    """The kinds of conditions."""
    assert guards(body)[0] == (sort, "")


def test_guards_outside_of_the_loop_do_not_count() -> None:
    """A condition around the whole loop does not guard its iterations."""
    text = textwrap.indent(textwrap.dedent(LOOP.format(body=" " * 12 + "line()")), "    ")
    model = model_of(f"if __name__ == '__main__':\n{text}\n    if rank == 0:\n        train()\n")
    beat = model.frequency.cadence(expression(model, "line()"))
    assert beat is not None
    assert beat.guards == ()
    nested = model_of(
        """
        import gymnasium
        env = gymnasium.make("CartPole-v1")
        for episode in range(100):
            if episode % 10 == 0:
                for step in range(200):
                    env.step(0)
                    line()
        """
    )
    beat = nested.frequency.cadence(expression(nested, "line()"))
    assert beat is not None
    assert beat.drivers == {Driver.ENVIRONMENT_STEP}
    assert beat.guards == ()
    assert [guard.counter for guard in beat.around] == ["episode"]


MAIN = """
    import gymnasium
    from helper import Agent, log
    env = gymnasium.make("CartPole-v1")
    agent = Agent()
    for step in range(10000):
        env.step(agent.act())
        {call}
"""
HELPER = """
    class Agent:
        def act(self):
            return 0
        def learn(self):
            self.loss.backward()
            self.optimizer.step()
            self.count += 1
            self.report()
        def report(self):
            line()
    def log(step):
        {guard}
        line()
"""


@pytest.mark.parametrize(
    ("call", "guard", "counters"),
    [
        ("log(step)", "pass", []),
        ("if step % 100 == 0: log(step)", "pass", ["step"]),
        ("log(step)", "if step % 50: return", ["step"]),
        ("if step % 100 == 0: log(step)", "if step % 50: return", ["step", "step"]),
        ("log(step); other = log(step) if step % 5 == 0 else 0", "pass", []),
    ],
)
def test_guards_in_callers_and_helpers(call: str, guard: str, counters: list[str]) -> None:
    """A condition counts anywhere between the loop and the line, also in another file."""
    models = build({"main.py": MAIN.format(call=call), "helper.py": HELPER.format(guard=guard)})
    model = models["helper.py"]
    line = expression(model, "line()", last=True)
    assert [guard.counter for guard in model.frequency.guards(line)] == counters


def test_next_to_a_gradient_step() -> None:
    """Functions that a training method calls run once per gradient step, even if it is seldom called."""
    call = "if step % 4 == 0: agent.learn()"
    models = build({"main.py": MAIN.format(call=call), "helper.py": HELPER.format(guard="pass")})
    model = models["helper.py"]
    beat = model.frequency.cadence(expression(model, "line()"))
    assert beat is not None
    assert beat.drivers == {Driver.GRADIENT_STEP}
    assert beat.guards == ()
    assert beat.calls == ("helper.Agent.report",)


def test_a_generator_that_plays() -> None:
    """An iteration over a generator takes all the steps that the generator takes for it."""
    model = model_of(
        """
        import gymnasium, torch
        def batches(env):
            while True:
                for _ in range(16):
                    batch = env.step(0)
                yield batch
        env = gymnasium.make("CartPole-v1")
        optimizer = torch.optim.Adam([])
        for batch in batches(env):
            optimizer.step()
            line()
        """
    )
    beat = model.frequency.cadence(expression(model, "line()"))
    assert beat is not None
    assert beat.drivers == {Driver.GRADIENT_STEP}
    assert beat.nested == {Driver.ENVIRONMENT_STEP}


def test_inner_loops_that_run_in_each_iteration() -> None:
    """A rollout before each update; not the loop around a place, an evaluation at times, or a few agents."""
    model = model_of(
        """
        import gymnasium, torch
        env, optimizer = gymnasium.make("CartPole-v1"), torch.optim.Adam([])
        for update in range(1000):
            for _ in range(128):
                env.step(0)
                inside()
            optimizer.step()
            line()
        for step in range(1000):
            env.step(0)
            if step % 100 == 0:
                for _ in range(10):
                    optimizer.step()
            for agent in agents:
                agent.optimizer.step()
            other()
        """
    )
    cadences = [
        model.frequency.cadence(expression(model, text)) for text in ("line()", "inside()", "other()")
    ]
    assert [beat and beat.inner for beat in cadences] == [{Driver.ENVIRONMENT_STEP}, frozenset(), frozenset()]


def test_no_beat() -> None:
    """Lines outside of training have their own conditions, and no cadence."""
    model = model_of("def f(step):\n    if step % 10 == 0:\n        line()\n")
    assert model.frequency.cadence(expression(model, "line()")) is None
    assert [guard.counter for guard in model.frequency.guards(expression(model, "line()"))] == ["step"]


@pytest.mark.parametrize(
    ("more", "level"),
    [
        ("", Heat.HOT),
        ("\n    def build(self):\n        self.tau = 1", Heat.COLD),
        ("\n    def later(self, tau):\n        self.tau = tau", Heat.COLD),
    ],
)
def test_a_setting_that_may_be_none_is_not_created_at_need(more: str, level: Heat) -> None:
    """`self.tau is None` decides for the whole run if only the constructor's caller sets it."""
    model = model_of(
        f"""
class Updater:
    def __init__(self, tau=None):
        self.tau = tau
{more}

    def on_step(self):
        if self.tau is None:
            line()
"""
    )
    assert model.frequency.heat_of(expression(model, "line()")).level is level
