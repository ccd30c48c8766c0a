"""How often lines run, and why."""

from __future__ import annotations

import pytest

from project_builder import build, expression, model_of
from rlint.findings import Heat

STEP_LOOP = """
    import gymnasium as gym
    env = gym.make("CartPole-v1")
    obs, _ = env.reset()
    setup(env)
    for episode in range(100):
        start(episode)
        done = False
        while not done:
            action = choose(obs)
            obs, reward, terminated, truncated, _ = env.step(action)
            done = terminated or truncated
            for part in obs:
                each(part)
            if episode % 1000 == 0:
                rarely()
            if done:
                at_end()
        report(episode)
"""


@pytest.mark.parametrize(
    ("call", "heat"),
    [
        ("setup(env)", Heat.COLD),
        ("start(episode)", Heat.WARM),
        ("choose(obs)", Heat.HOT),
        ("each(part)", Heat.HOT),
        ("rarely()", Heat.WARM),
        ("at_end()", Heat.WARM),
        ("report(episode)", Heat.WARM),
    ],
)
def test_a_line_is_as_hot_as_its_loops(call: str, heat: Heat) -> None:
    """The loop that steps the environment is hot, the one around it is warm, the rest is cold."""
    model = model_of(STEP_LOOP)
    assert model.frequency.heat_of(expression(model, call)).level is heat


def test_a_loop_over_rollouts_is_warm_though_each_receives_a_message() -> None:
    """New weights come once in each round; a loop that only exchanges messages is hot."""
    model = model_of("""
        from multiprocessing import Pipe

        here, there = Pipe()

        def rollout(env, steps):
            obs = env.reset()
            for _ in range(steps):
                obs = env.step(act(obs))
            return obs

        def train(env, rounds):
            for _ in range(rounds):
                weights = here.recv()
                found = rollout(env, 100)
                learn_from(found)

        def serve():
            while True:
                command = there.recv()
                answer(command)
    """)
    assert model.frequency.heat_of(expression(model, "learn_from(found)")).level is Heat.WARM
    assert model.frequency.heat_of(expression(model, "answer(command)")).level is Heat.HOT


def test_a_loop_over_episodes_is_warm_though_their_beginning_takes_a_step() -> None:
    """A rollout takes many steps; a step in its reset does not make it a single step."""
    model = model_of("""
        def begin(env):
            env.reset()
            return env.step(0)

        def rollout(env, steps):
            obs = begin(env)
            for _ in range(steps):
                obs = env.step(act(obs))
            return obs

        def main(env):
            for worker in range(100):
                report(rollout(env, 1000))
        """)
    assert model.frequency.heat_of(expression(model, "report(rollout(env, 1000))")).level is Heat.WARM
    assert model.frequency.heat_of(expression(model, "act(obs)")).level is Heat.HOT


def test_heat_is_inherited_through_calls_across_files() -> None:
    """A buffer's method is hot because the training loop reaches it, and the chain says how."""
    models = build(
        {
            "buffer.py": """
                class Buffer:
                    def draw(self):
                        return pick(self.rows)
                """,
            "agent.py": """
                from buffer import Buffer
                class Agent:
                    def __init__(self):
                        self.buffer = Buffer()
                    def improve(self):
                        return self.buffer.draw()
                """,
            "train.py": """
                from agent import Agent
                def main(env, total):
                    agent = Agent()
                    step = 0
                    while step < total:
                        env.step(0)
                        agent.improve()
                        step += 1
                """,
        }
    )
    model = models["buffer.py"]
    heat = model.frequency.heat_of(expression(model, "pick(self.rows)"))
    assert heat.level is Heat.HOT
    assert heat.chain == ("train.py:6 while step < total", "Agent.improve", "Buffer.draw")


@pytest.mark.parametrize(
    ("program", "heat"),
    [
        ("class Agent:\n    def act(self, obs):\n        work()", Heat.HOT),
        ("class Agent:\n    def selectAction(self, obs):\n        work()", Heat.HOT),
        ("class Player:\n    def getBestAction(self, obs):\n        work()", Heat.HOT),
        ("class Player:\n    def evaluateLoss(self, obs):\n        work()", Heat.COLD),
        ("class ReplayBuffer:\n    def sample(self, n):\n        work()", Heat.HOT),
        ("from torch import nn\nclass Net(nn.Module):\n    def forward(self, x):\n        work()", Heat.HOT),
        ("import gym\nclass Maze(gym.Env):\n    def step(self, a):\n        work()", Heat.HOT),
        ("def test_length_reward(prompts, completions):\n    work()", Heat.COLD),
        ("def correctness_reward(prompts, completions):\n    work()", Heat.WARM),
        ("def correctness_reward(prompts, completions):\n    return [work() for c in completions]", Heat.HOT),
        ("def load_config(path):\n    work()", Heat.COLD),
        ("class Parser:\n    def add(self, x):\n        work()", Heat.COLD),
        ("for name in names:\n    work()", Heat.COLD),
        (
            "import threading\n"
            "def main():\n    for i in range(4):\n        threading.Thread(target=run).start()\n"
            "def run():\n    work()",
            Heat.COLD,
        ),
        ("def main(agent):\n    while True:\n        agent.learn(batch)\n        work()", Heat.HOT),
        (
            "def main(model):\n    for s in seeds:\n        model.learn(total_timesteps=9)\n        work()",
            Heat.COLD,
        ),
        ("def main(bar):\n    for s in seeds:\n        bar.update(1)\n        work()", Heat.COLD),
        ("def main(memory):\n    while True:\n        batch = memory.sample(32)\n        work()", Heat.HOT),
        ("def main(q):\n    while True:\n        item = queue.get()\n        work()", Heat.HOT),
        (
            "class Replay(torch.utils.data.IterableDataset):\n    def sample(self):\n        work()\n"
            "    def __iter__(self):\n        while True:\n            yield self.sample()",
            Heat.HOT,
        ),
        (
            "class Names:\n    def sample(self):\n        work()\n"
            "    def __iter__(self):\n        for name in self.names:\n            yield self.sample()",
            Heat.COLD,
        ),
        ("def main(inbox):\n    while True:\n        item = inbox.get()\n        work()", Heat.HOT),
        ("def main(inbox):\n    while going:\n        item = inbox.get(timeout=1)\n        work()", Heat.HOT),
        ("def main(slots):\n    for slot in slots:\n        text = slot.get()\n        work()", Heat.COLD),
        ("def main(table):\n    while going:\n        text = table.get(key)\n        work()", Heat.COLD),
        ("def main(loader):\n    for batch in loader:\n        work()", Heat.HOT),
        (
            "def main(env):\n    for it in range(9):\n"
            "        for t in range(128):\n            env.step(0)\n"
            "        loss.backward()\n        work()",
            Heat.WARM,
        ),
        (
            "def main(env):\n    while True:\n        env.step(0)\n"
            "        if broken:\n            work()\n            break",
            Heat.COLD,
        ),
        ("def act(x):\n    if bad(x):\n        raise ValueError(work())\n    return x", Heat.COLD),
        ("def act(x):\n    if bad(x):\n        text = work()\n        raise ValueError(text)", Heat.COLD),
        (
            "def act(x):\n    if bad(x):\n        try:\n            work()\n"
            "        finally:\n            raise ValueError(x)\n    return x",
            Heat.COLD,
        ),
        (
            "def act(x):\n    if bad(x):\n        work()\n        with lock:\n"
            "            raise ValueError(x)\n    return x",
            Heat.COLD,
        ),
        (
            "def act(x):\n    if bad(x):\n        work()\n        if x:\n            raise ValueError(x)",
            Heat.HOT,
        ),
        (
            "def act(x):\n    if good(x):\n        return x\n    text = work()\n    raise ValueError(text)",
            Heat.COLD,
        ),
        ("def act(x):\n    work()\n    if good(x):\n        return x\n    raise ValueError", Heat.HOT),
        ("def act(x):\n    assert x > 0, work()", Heat.COLD),
        ("def act(x):\n    assert work()", Heat.HOT),
        ("class QuantileLoss:\n    def __call__(self, q):\n        return work()", Heat.HOT),
        ("class Lossless:\n    def __call__(self, q):\n        return work()", Heat.COLD),
        ("def compute_policy_loss(q):\n    return work()", Heat.HOT),
        ("def compute_eval_loss(q):\n    return work()", Heat.COLD),
        ("def plot_loss(q):\n    return work()", Heat.COLD),
    ],
)
def test_roles_and_drivers(program: str, heat: Heat) -> None:
    """Without known callers, conventional names determine the heat; other functions are cold."""
    model = model_of(program)
    assert model.frequency.heat_of(expression(model, "work()")).level is heat


@pytest.mark.parametrize(
    ("call", "heat"),
    [
        ("policy.evaluate(old_states, old_actions)", Heat.HOT),
        ("policy.evaluate_actions(batch.observations, actions=batch.actions)", Heat.HOT),
        ("policy.evaluate(torch.zeros(8)[index])", Heat.HOT),
        ("policy.eval_step(state)", Heat.HOT),
        ("policy._build_inputs(batch, 3)", Heat.HOT),
        ("policy.build_network(sizes)", Heat.WARM),
        ("policy.save_state(states)", Heat.WARM),
        ("policy.save_next_observations(observations)", Heat.HOT),
        ("policy.save_reward_done(reward, done)", Heat.HOT),
        ("policy.save_rewards(rewards, path)", Heat.WARM),
        ("policy.save_rewards()", Heat.WARM),
        ("policy._build_map()", Heat.HOT),
        ("policy.make_action_mask()", Heat.HOT),
        ("policy._build_mapper()", Heat.WARM),
        ("policy.evaluate(env, episodes)", Heat.WARM),
        ("policy.evaluate()", Heat.WARM),
    ],
)
def test_evaluating_a_policy_for_a_loss_is_no_evaluation(call: str, heat: Heat) -> None:
    """PPO calls `policy.evaluate(states, actions)` in each gradient step; playing episodes is rare."""
    name = call.partition("(")[0].rpartition(".")[2]
    model = model_of(
        "import torch\nclass Policy:\n"
        f"    def {name}(self, *given, **named):\n        return work(given)\n"
        "def update(policy: Policy, optimizer):\n"
        "    for epoch in range(80):\n"
        f"        loss = {call}\n        loss.backward()\n        optimizer.step()\n"
    )
    assert model.frequency.heat_of(expression(model, "work(given)")).level is heat


@pytest.mark.parametrize(
    ("made", "heat"),
    [
        ("self.robots = [Robot(i) for i in range(self.number)]", Heat.WARM),
        ("self.robots = [make(Robot(i)) for i in range(self.number)]", Heat.HOT),
    ],
)
def test_objects_of_an_object_are_few(made: str, heat: Heat) -> None:
    """What `reset` constructs for each robot runs once per episode, not once per step."""
    model = model_of(
        "class Robot:\n    def __init__(self, i):\n        work()\n"
        "class World:\n    def begin(self):\n"
        f"        {made}\n"
        "def train(env):\n    world = World()\n    for episode in range(100):\n        world.begin()\n"
        "        for t in range(100):\n            env.step(0)\n"
    )
    assert model.frequency.heat_of(expression(model, "work()")).level is heat


def test_tests_heat_nothing() -> None:
    """A training loop in a test is no training."""
    models = build(
        {"tests/test_agent.py": "def test_it(env):\n    while True:\n        env.step(0)\n        work()\n"}
    )
    model = models["tests/test_agent.py"]
    assert model.frequency.heat_of(expression(model, "work()")).level is Heat.COLD


def test_a_script_is_not_heated_by_another_next_to_it() -> None:
    """Programs that do not import each other do not affect each other's heat."""
    loop = "def main(env, agent):\n    while True:\n        env.step(0)\n        agent.improve_now()\n"
    agent = "class Agent:\n    def improve_now(self):\n        work()\n"
    apart = build({"one.py": loop, "two.py": agent})
    together = build({"one.py": f"import two\n{loop}", "two.py": agent})
    heats = [
        models["two.py"].frequency.heat_of(expression(models["two.py"], "work()")).level
        for models in (apart, together)
    ]
    assert heats == [Heat.COLD, Heat.HOT]


@pytest.mark.parametrize("name", ["extract_answer", "extract_boxed_answer", "is_equiv", "verify_solution"])
def test_helpers_that_look_at_each_answer_are_hot(name: str) -> None:
    """Reward helpers are hot even if the trainer that calls them is not in the project."""
    model = model_of(f"def {name}(text):\n    work()\n")
    assert model.frequency.heat_of(expression(model, "work()")).level is Heat.HOT


def test_calling_an_object_runs_its_call_method() -> None:
    """`reward(texts)` runs the `__call__` of the class of `reward`, not its constructor."""
    model = model_of(
        """
        class Judge:
            def __init__(self, words):
                self.words = sorted(words)

            def __call__(self, text):
                return self.words.index(text)

        def main(env):
            judge = Judge(["a"])
            for step in range(1000):
                obs, reward, done, info = env.step(0)
                judge(obs)
        """
    )
    assert model.frequency.heat_of(expression(model, "self.words.index(text)")).level is Heat.HOT
    assert model.frequency.heat_of(expression(model, "sorted(words)")).level is Heat.COLD
    [called] = model.types.call_targets(expression(model, "judge(obs)"))  # type: ignore[arg-type]
    assert called.name == "__call__"


def test_reward_objects_are_called_by_the_library() -> None:
    """The `__call__` of a class named like a reward counts as a reward function."""
    model = model_of(
        """
        class AccuracyReward:
            def __call__(self, completions):
                return [len(text) for text in completions]
        """
    )
    assert model.frequency.heat_of(expression(model, "len(text)")).level is Heat.HOT


def test_a_method_that_libraries_have_shows_nothing_of_its_class() -> None:
    """`row.to_dict()` is the method of the data frame, although a class of the project also has a
    `to_dict`.
    """
    model = build(
        {
            "meta.py": "class Meta:\n    def to_dict(self):\n        return look()\n",
            "data.py": """
            import torch
            import meta

            class Prompts(torch.utils.data.Dataset):
                def __init__(self, frame):
                    self.frame = frame

                def __getitem__(self, index):
                    row = self.frame.iloc[index].to_dict()
                    return row["prompt"]
            """,
        }
    )["meta.py"]
    assert model.frequency.heat_of(expression(model, "look()")).level is Heat.COLD


@pytest.mark.parametrize(
    ("body", "heat"),
    [
        ("if size not in self.masks: self.masks[size] = make()", Heat.WARM),
        ("if size in self.masks: return self.masks[size]\n            self.masks[size] = make()", Heat.WARM),
        ("if size not in self.masks: self.masks[self.size] = make()", Heat.HOT),
        ("if size not in masks: masks[size] = make()", Heat.HOT),
        ("if size in self.masks: self.masks[size] = make()", Heat.HOT),
        ("self.masks[size] = make()", Heat.HOT),
    ],
)
def test_what_a_dict_keeps_is_made_once_for_each_key(body: str, heat: Heat) -> None:
    """A dict that outlives the call; one that the caller passes may be new."""
    model = model_of(
        f"""
        class Agent:
            def mask(self, size, masks):
                {body.replace(chr(10) + " " * 12, chr(10) + " " * 16)}

            def train(self, env):
                while True:
                    self.mask(len(env.step(0)[0]), {{}})
        """
    )
    assert model.frequency.heat_of(expression(model, "make()")).level is heat


@pytest.mark.parametrize(
    ("declared", "heat"), [("global NOISE", Heat.COLD), ("NOISE = kept.get('noise')", Heat.HOT)]
)
def test_what_a_global_variable_keeps_is_made_once(declared: str, heat: Heat) -> None:
    """A local variable that is None may be None at each call."""
    model = model_of(
        f"""
        NOISE = None

        def noisy(action, kept):
            {declared}
            if NOISE is None:
                NOISE = make()
            return action + NOISE()

        def train(env, net):
            while True:
                env.step(noisy(net(env.obs), {{}}))
        """
    )
    assert model.frequency.heat_of(expression(model, "make()")).level is heat


@pytest.mark.parametrize(
    ("guard", "made", "heat"),
    [
        ("if self.model is not None: return", "self.model = load()", Heat.COLD),
        ("if self.model: return self.model", "self.model = {'vae': load()}", Heat.COLD),
        ("if hasattr(self, 'model'): return", "self.model = load()", Heat.COLD),
        ("if hasattr(self.env, 'model'): return", "self.other = load()", Heat.HOT),
        ("if self.model is None: return", "self.model = load()", Heat.HOT),
        ("if self.done: return", "load(); self.done = True", Heat.HOT),
        ("if self.model is not None: return", "self.other = load()", Heat.HOT),
        ("if self.other: return", "self.model = load()", Heat.HOT),
        ("if self.model is not None: pass", "self.model = load()", Heat.HOT),
    ],
)
def test_what_is_made_at_first_use_is_cold(guard: str, made: str, heat: Heat) -> None:
    """A function that returns early if the object already exists."""
    model = model_of(
        f"""
        class Agent:
            def ready(self):
                {guard}
                {made}

            def act(self, obs):
                self.ready()
                return self.model(obs)

        def rollout(agent: Agent, env, steps):
            obs = env.reset()
            for _ in range(steps):
                obs, reward, done, info = env.step(agent.act(obs))
        """
    )
    assert model.frequency.heat_of(expression(model, "load()")).level is heat


PLAYED_NOW_AND_THEN = """
import torch

class Agent:
    def train(self, batch):
        loss = self.loss(batch)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return {"loss": loss.item()}

def play(env, agent):
    observation, done = env.reset(), False
    while not done:
        observation, reward, done, info = env.step(agent.act(observation))

def fit(agent: Agent, replay, env, every):
    for step in range(1_000_000):
        agent.train(replay.sample(256))
        log(step)
        GUARD
"""


@pytest.mark.parametrize(
    ("guard", "level"),
    [
        ("if (step + 1) % every == 0: play(env, agent)", Heat.HOT),
        ("if step % 5000 == 0:\n            while running: env.step(agent.act(0))", Heat.HOT),
        ("if step % every == 0 or step == 999_999: play(env, agent)", Heat.HOT),
        ("if step % every == 0 or agent.wants_more: play(env, agent)", Heat.WARM),
        ("play(env, agent)", Heat.WARM),
        ("if agent.wants_more: play(env, agent)", Heat.WARM),
    ],
)
def test_episodes_that_are_played_now_and_then_make_no_batch_of_rollouts(guard: str, level: Heat) -> None:
    """A loop over gradient steps is hot even if it evaluates at intervals; one that plays an episode for each
    step collects rollouts.
    """
    model = model_of(PLAYED_NOW_AND_THEN.replace("GUARD", guard))
    assert model.frequency.heat_of(expression(model, "log(step)")).level is level


LEARNER = """
import torch

class Learner:
    def train(self, PARAMETERS):
        BODY

def step(self, loss):
    self.optimizer.zero_grad()
    loss.backward()
    self.optimizer.step()
"""
STEP = (
    "loss = self.loss(batch)\n        loss.backward()\n        self.optimizer.step()\n"
    "        self.update_targets()"
)
EPOCHS = (
    "for epoch in range(self.epochs):\n            loss = self.loss(batch, epoch)\n"
    "            loss.backward()\n"
    "            self.optimizer.step()\n        self.update_targets()"
)


@pytest.mark.parametrize(
    ("parameters", "body", "calls", "level"),
    [
        ("batch", STEP, "", Heat.HOT),
        ("batch", EPOCHS, "", Heat.WARM),
        ("epochs", EPOCHS.replace("batch", "epochs"), "", Heat.COLD),
        ("batch", STEP, "Learner().train(load())", Heat.COLD),
        ("env", "while True:\n            env.step(self.act())\n            self.optimizer.step()\n        "
         "self.update_targets()", "", Heat.COLD),
    ],
)  # fmt: skip
def test_what_learns_without_a_known_caller(parameters: str, body: str, calls: str, level: Heat) -> None:
    """A function that takes a gradient step itself runs once per step, if it has no known callers."""
    text = LEARNER.replace("PARAMETERS", parameters).replace("BODY", body) + calls
    model = model_of(text)
    assert model.frequency.heat_of(expression(model, "self.update_targets()")).level is level


@pytest.mark.parametrize(
    ("iterated", "heat"),
    [
        ("losses.items()", Heat.WARM),
        ("enumerate(losses.values())", Heat.WARM),
        ("network.named_parameters()", Heat.WARM),
        ("losses", Heat.HOT),
        ("range(count)", Heat.HOT),
    ],
)
def test_entries_of_a_dict_are_few(iterated: str, heat: Heat) -> None:
    """A loop over such items repeats a warm line only a few times."""
    model = model_of(
        f"""
        import gymnasium as gym

        def main(losses, network, count):
            env = gym.make("CartPole-v1")
            for episode in range(100):
                done = False
                while not done:
                    obs, reward, done, truncated, info = env.step(0)
                for entry in {iterated}:
                    report(entry)
        """
    )
    assert model.frequency.heat_of(expression(model, "report(entry)")).level is heat


def test_a_reset_is_warm_wherever_it_is_called() -> None:
    """A reset begins an episode, with or without a loop around it."""
    model = model_of(
        """
        import gymnasium as gym

        class Maze(gym.Env):
            def reset(self):
                return self.draw()

            def draw(self):
                return place()

            def step(self, action):
                return 0, 1.0, False, False, {}

        def main():
            env = Maze()
            for step in range(1000):
                obs, reward, done, truncated, info = env.step(0)
                env.reset()
        """
    )
    assert model.frequency.heat_of(expression(model, "place()")).level is Heat.WARM


@pytest.mark.parametrize(
    ("header", "after", "heat"),
    [
        ("check_env()", "check_env()", Heat.COLD),
        ("check_env(env)", "check_env(Maze())", Heat.HOT),
        ("collect()", "collect()", Heat.HOT),
    ],
)
def test_trying_an_environment_out(header: str, after: str, heat: Heat) -> None:
    """A check next to the environment's definition is no training; a function with parameters may be."""
    model = model_of(
        f"""
        import gymnasium as gym

        class Maze(gym.Env):
            def reset(self):
                return 0

            def step(self, action):
                return 0, 1.0, False, False, {{}}

        def {header}:
            env = Maze()
            for step in range(1000):
                obs, reward, done, truncated, info = env.step(0)
                look(obs)

        if __name__ == "__main__":
            {after}
        """
    )
    assert model.frequency.heat_of(expression(model, "look(obs)")).level is heat


def test_a_function_imported_in_branches_is_each_of_them() -> None:
    """If the settings choose the algorithm, each of them is called by the loop."""
    models = build(
        {
            "ppo.py": "def learn(batch):\n    work(batch)\n",
            "trpo.py": "def learn(batch):\n    work(batch)\n",
            "main.py": "import gymnasium as gym\nfrom settings import algorithm\n"
            "if algorithm == 'ppo':\n    from ppo import learn\nelse:\n    from trpo import learn\n"
            "env = gym.make('CartPole-v1')\n"
            "while True:\n    learn(env.step(0))\n",
        }
    )
    for name in ("ppo.py", "trpo.py"):
        assert models[name].frequency.heat_of(expression(models[name], "work(batch)")).level is Heat.HOT


@pytest.mark.parametrize(
    ("made", "called"),
    [
        ("agent = Agent(env)", "agent.learn(env.step(0))"),
        ("class Run:\n    def __init__(self):\n        self.agent = Agent(env)\n", ""),
    ],
)
def test_a_class_imported_in_branches_is_each_of_them(made: str, called: str) -> None:
    """The methods of its object are those of each class that may be meant."""
    body = "class Agent:\n    def learn(self, batch):\n        work(batch)\n"
    loop = (
        f"while True:\n    {called}\n"
        if called
        else "    def all(self):\n        while True:\n            self.agent.learn(env.step(0))\n\n"
        "Run().all()\n"
    )
    models = build(
        {
            "ppo.py": body,
            "trpo.py": body,
            "main.py": "import gymnasium as gym\nfrom settings import algorithm\n"
            "if algorithm == 'ppo':\n    from ppo import Agent\nelse:\n    from trpo import Agent\n"
            f"env = gym.make('CartPole-v1')\n{made}\n{loop}",
        }
    )
    for name in ("ppo.py", "trpo.py"):
        assert models[name].frequency.heat_of(expression(models[name], "work(batch)")).level is Heat.HOT


def test_a_chain_of_known_calls_explains_more_than_a_shorter_guess() -> None:
    """A guess by the name of a variable is given as the reason if there is no other."""
    memory = """
        SIZE = 32

        class ReplayMemory:
            def sample(self):
                return pick(self)
    """
    guess = """
        from memory import SIZE

        def other(memory, optimizer, loss):
            for _ in range(10_000):
                memory.sample()
                loss.backward()
                optimizer.step()
    """
    known = """
        from memory import ReplayMemory

        class Agent:
            def __init__(self):
                self.memory = ReplayMemory()

            def learn(self, optimizer, loss):
                self.memory.sample()
                loss.backward()
                optimizer.step()

        def train(optimizer, loss):
            agent = Agent()
            for _ in range(10_000):
                agent.learn(optimizer, loss)
    """
    files = {"memory.py": memory, "a.py": guess}
    for further, last in (({}, "(guessed from memory.sample)"), ({"b.py": known}, "ReplayMemory.sample")):
        model = build(files | further)["memory.py"]
        heat = model.frequency.heat_of(expression(model, "pick(self)"))
        assert heat.level is Heat.HOT
        assert heat.chain[-1].endswith(last)


@pytest.mark.parametrize(
    ("call", "level"),
    [
        ("self.build_inputs(batch, t)", Heat.HOT),
        ("self.build_model()", Heat.WARM),
        ("self.save(batch)", Heat.WARM),
    ],
)
def test_what_is_made_of_arguments_in_each_step_is_made_often(call: str, level: Heat) -> None:
    """`self.build_inputs(batch, t)` runs in each step; methods that save, or take no arguments, do not."""
    name = call.partition("(")[0].removeprefix("self.")
    model = model_of(f"""
        import gymnasium as gym

        class Runner:
            def run(self, batch):
                env = gym.make("CartPole-v1")
                for t in range(100):
                    inputs = {call}
                    obs, reward, terminated, truncated, _ = env.step(inputs)

            def {name}(self, *given):
                return work(given)
    """)
    assert model.frequency.heat_of(expression(model, "work(given)")).level is level


HIERARCHY = """
class Base:
    def learn(self, epochs):
        for epoch in range(epochs):
            self.collect(self.env)
            self.update()

    def collect(self, env):
        obs = env.reset()
        for _ in range(2048):
            obs, reward, done, info = env.step(self.actor(obs))

    def update(self):
        for batch in self.loader:
            self.optimizer.zero_grad()
            self.update_actor(batch)
            self.optimizer.step()

    def update_actor(self, batch):
        self.actor(batch).backward()

class AtOnce(Base):
    def update(self):
        OVERRIDDEN

    def update_actor(self, batch):
        solve(self.actor(batch))

def main(env, epochs):
    AtOnce(env).learn(epochs)
"""


@pytest.mark.parametrize(
    ("overridden", "level"),
    [
        ("self.update_actor(self.data)", Heat.WARM),
        ("super().update()", Heat.HOT),
        ("Base.update(self)", Heat.HOT),
    ],
)
def test_an_overridden_method_runs_no_method_of_the_subclass(overridden: str, level: Heat) -> None:
    """A subclass that overrides a loop as well runs its own, unless it calls that of its base."""
    model = model_of(HIERARCHY.replace("OVERRIDDEN", overridden))
    assert model.frequency.heat_of(expression(model, "solve(self.actor(batch))")).level is level


@pytest.mark.parametrize(
    "library", ["import pytorch_lightning as pl", "import lightning as pl", "import lightning.pytorch as pl"]
)
def test_a_lightning_module_is_a_network(library: str) -> None:
    """Its `forward` runs in each forward pass."""
    model = model_of(
        f"""
        {library}

        class Net(pl.LightningModule):
            def forward(self, x):
                return encoded(x)
        """
    )
    assert model.frequency.heat_of(expression(model, "encoded(x)")).level is Heat.HOT


@pytest.mark.parametrize(("learns", "level"), [("loss.backward()", Heat.HOT), ("report()", Heat.WARM)])
def test_samples_at_intervals_do_not_make_a_training_loop_one_of_rollouts(learns: str, level: Heat) -> None:
    """A loop over gradient steps stays one if it generates a text now and then."""
    model = model_of(f"""
        def train(model, loader, steps):
            for step in range(steps):
                loss = model(next(loader))
                {learns}
                if step % 500 == 0:
                    show(model.generate(loss))
    """)
    assert model.frequency.heat_of(expression(model, "next(loader)")).level is level


@pytest.mark.parametrize(
    ("steps", "level"),
    [
        ("results = [e.step(a) for e, a in zip(envs, actions)]", Heat.HOT),
        ("for i, e in enumerate(self.envs): results[i] = e.step(actions[i])", Heat.HOT),
        ("results = [each.step(a) for each, a in zip(schedulers, actions)]", Heat.COLD),
        ("results = [a.step(e) for e, a in zip(envs, timers)]", Heat.COLD),
    ],
)
def test_a_loop_that_steps_several_environments_is_one_of_steps(steps: str, level: Heat) -> None:
    """The variable of a loop over environments is an environment, whatever it is called."""
    model = model_of(f"""
        def simulate(self, envs, schedulers, timers, agent, steps):
            results = {{}}
            for _ in range(steps):
                actions = agent(results)
                {steps}
                note(results)
    """)
    assert model.frequency.heat_of(expression(model, "note(results)")).level is level


def test_a_distinctive_method_may_be_of_any_class_that_defines_it() -> None:
    """A receiver named like one of two classes may still be of the other."""
    models = build(
        {
            "norms.py": """
                class RewardNorm:
                    def denormalize(self, x):
                        return x * 2

                class Scaler:
                    def denormalize(self, x):
                        return x + 1
            """,
            "buffer.py": """
                def compute(env, agent, reward_normalizer, steps):
                    for _ in range(steps):
                        x, reward, done, info = env.step(agent.act())
                        reward_normalizer.denormalize(x)
            """,
            "main.py": """
                import buffer
                import norms
            """,
        }
    )
    for value in ("x * 2", "x + 1"):
        found = expression(models["norms.py"], value)
        assert models["norms.py"].frequency.heat_of(found).level is Heat.HOT


def test_a_mapped_lambda_is_as_hot_as_the_call_that_maps_it() -> None:
    """`map(lambda part: …, batch)` runs it at once; a lambda that is only stored may never run."""
    model = model_of("""
        def train(optimizer, batches, store):
            for batch in batches:
                parts = map(lambda part: moved(part), batch)
                store.keep(lambda part: later(part))
                optimizer.step()
    """)
    assert model.frequency.heat_of(expression(model, "moved(part)")).level is Heat.HOT
    assert model.frequency.heat_of(expression(model, "later(part)")).level is not Heat.HOT


@pytest.mark.parametrize(
    ("after", "heat"),
    [
        ("if part == 1: self.parts = None", Heat.HOT),
        ("self.parts = None", Heat.HOT),
        ("pass", Heat.COLD),
        ("if self.done: self.parts = None", Heat.WARM),
        ("self.parts = other", Heat.COLD),
        ("try:\n    check()\nexcept ValueError:\n    self.parts = None", Heat.COLD),
    ],
)
def test_what_is_dropped_after_use_is_made_again(after: str, heat: Heat) -> None:
    """Objects that a method sets to `None` again are not only made at first use."""
    lines = after.replace("\n", "\n" + " " * 16)
    model = model_of(
        f"""
        class Learner:
            def learn(self, batch, part):
                if self.parts is None:
                    self.parts = split(batch)
                loss = self.parts.pop().mean()
                loss.backward()
                self.optimizer.step()
                {lines}

        def train(learner: Learner, batches):
            for batch in batches:
                learner.learn(batch, 0)
        """
    )
    assert model.frequency.heat_of(expression(model, "split(batch)")).level is heat


@pytest.mark.parametrize(
    ("last", "level"),
    [("break", Heat.COLD), ("print(batch)", Heat.HOT), ("if batch is None:\n        break", Heat.HOT)],
)
def test_a_loop_that_always_leaves_repeats_nothing(last: str, level: Heat) -> None:
    """The first batch of a loader: `for batch in loader: show(batch); break`."""
    model = model_of(
        "from torch.utils.data import DataLoader\n\n"
        "loader = DataLoader(rows)\n"
        f"for batch in loader:\n    show(batch)\n    {last}\n"
    )
    assert model.frequency.heat_of(expression(model, "show(batch)")).level is level


@pytest.mark.parametrize(("decorator", "level"), [("", Heat.HOT), ("@property", Heat.COLD)])
def test_a_call_means_no_property_of_a_class(decorator: str, level: Heat) -> None:
    """`advantages.spread()` does not call the property `spread` of another class."""
    model = model_of(f"""
        class RunningAdvantages:
            {decorator or "# a method"}
            def spread(self):
                return root(self)

        def train(batches, optimizer):
            for advantages, loss in batches:
                loss = loss / advantages.spread()
                loss.backward()
                optimizer.step()
    """)
    assert model.frequency.heat_of(expression(model, "root(self)")).level is level


@pytest.mark.parametrize(
    ("turns", "level"),
    [
        ("for i in range(self.ensemble_size)", Heat.HOT),
        ("for model in self.models", Heat.HOT),
        ("for i, model in enumerate(self.models)", Heat.HOT),
        ("for batch in self.batches", Heat.WARM),
    ],
)
def test_an_ensemble_that_learns_in_turn_takes_one_step(turns: str, level: Heat) -> None:
    """The loop around it is one of gradient steps, not one of epochs."""
    model = model_of(f"""
        import torch

        class Member:
            def learn(self, batch):
                self.net(batch).mean().backward()
                self.optimizer.step()

        class Agent:
            def train(self, batch):
                {turns}:
                    Member.learn(self.member, batch)

        def run(agent: Agent, iterations, updates):
            for _ in range(iterations):
                for update in range(updates):
                    agent.train(draw(agent))
    """)
    assert model.frequency.heat_of(expression(model, "draw(agent)")).level is level


@pytest.mark.parametrize(
    ("turns", "level"),
    [
        ("for i in range(self.n_agents)", Heat.WARM),
        ("for critic in self.critics", Heat.WARM),
        ("for row in self.rows", Heat.HOT),
    ],
)
def test_what_is_done_for_each_of_a_few_agents_is_no_hotter(turns: str, level: Heat) -> None:
    """Other loops of a function that runs once per episode iterate over its steps."""
    model = model_of(f"""
        import gymnasium as gym

        class Runner:
            def run(self, episodes):
                for episode in range(episodes):
                    state = self.env.reset()
                    done = False
                    while not done:
                        state, reward, done, _, _ = gym.make("Env").step(self.act(state))
                    self.report()

            def report(self):
                {turns}:
                    write(self)
    """)
    assert model.frequency.heat_of(expression(model, "write(self)")).level is level
