"""Programs that collect: rollouts, replay buffers, returns."""

from __future__ import annotations

from random import Random

from properties.template import DTYPES, FLOATS, program


def rollout(rng: Random) -> str:
    """Steps of an environment, concatenated one by one to arrays or tensors."""
    width = rng.choice((0, 1, 2, 4))
    dtype = rng.choice(FLOATS)
    row = rng.choice(("state[None]", "state.reshape(1, -1)", "[state]", "np.expand_dims(state, 0)"))
    return program(
        """
        import numpy as np
        import torch

        def step(state, action, time):
            state[...] = np.arange(<width>) * time + action
            return state, time / <divisor>, time > <last>

        def collect(steps):
            states = <start>
            rewards = <numbers>
            state = np.zeros(<width>, dtype=<dtype>)
            for time in range(steps):
                states = np.<join>((states, <row>), axis=0)
                state, reward, done = step(state, time % 2, time)
                rewards = np.append(rewards, <reward>)
                if done:
                    <leave>
            return states, rewards

        def values(rows):
            found = torch.empty((0, <width>), dtype=<type>)
            for row in rows:
                found = torch.cat([found, <tensor>], dim=0)
            return found

        for steps in (0, 1, 5):
            print(*[(one.dtype, one.shape, one.tolist()) for one in collect(steps)])
            print(values(collect(steps)[0]))
        """,
        width=width,
        dtype=dtype,
        divisor=rng.choice((2, 3, 7)),
        last=rng.choice((0, 2, 9)),
        start=rng.choice(
            (f"np.empty((0, {width}))", f"np.zeros((0, {width}), dtype={dtype})", f"np.ones((2, {width}))")
        ),
        numbers=rng.choice(("np.array([])", "np.empty(0, dtype=np.float32)", "np.zeros(1, dtype=np.int64)")),
        join="concatenate",
        row=row,
        reward=rng.choice(("reward", "np.float32(reward)", "[reward, time]", "time", "float(reward)")),
        leave=rng.choice(("break", "continue", "return states, rewards", "pass")),
        type=rng.choice(DTYPES),
        tensor=rng.choice(
            (
                "torch.as_tensor(row)[None]",
                "torch.from_numpy(row).unsqueeze(0)",
                "torch.tensor(row).reshape(1, -1)",
                "torch.tanh(torch.as_tensor(row, dtype=torch.float32)).unsqueeze(0)",
            )
        ),
    )


def replay(rng: Random) -> str:
    """A replay buffer that is filled, and sampled from."""
    return program(
        """
        import random
        import numpy as np
        import torch

        class Replay:
            def __init__(self, capacity):
                self.capacity = capacity
                self.states = np.zeros((capacity, <width>), dtype=<dtype>)
                self.rewards = np.zeros(<shape>, dtype=<dtype>)
                self._recent = []
                self.size = 0

            def add(self, state, reward):
                self.states[self.size % self.capacity] = state
                self.rewards[self.size % self.capacity] = reward
                self.size += 1
                self._recent.append(reward)
                if len(self._recent) > self.capacity:
                    <drop>

            def sample(self, n):
                indices = <draw>
                states = torch.<make>(np.array([self.states[i] for i in indices])<as_type>)
                rewards = torch.<make>([self.rewards[i] for i in indices]<as_type>)
                return states, rewards, len(self._recent)

            def batches(self, n):
                for _ in range(2):
                    index = np.random.choice(<population>, n<replace>)
                    yield torch.tensor(self.states[index]), torch.FloatTensor(np.float32(self.rewards[index]))

        np.random.seed(<seed>)
        random.seed(<seed>)
        buffer = Replay(<capacity>)
        <training>
        for step in range(<steps>):
            env.step(0)
            buffer.add(np.full(<width>, step), step / 2)
            if step > 1:
                print(buffer.sample(<n>))
                print([[part.tolist() for part in batch] for batch in buffer.batches(<n>)])
        print(np.random.rand(), random.random())
        """,
        width=rng.choice((0, 1, 3)),
        dtype=rng.choice((*FLOATS, "np.uint8")),
        shape=rng.choice(("capacity", "(capacity, 1)")),
        drop=rng.choice(("self._recent.pop(0)", "del self._recent[0]")),
        draw=rng.choice(
            (
                "np.random.randint(0, self.capacity, n)",
                "random.sample(range(self.capacity), n)",
                "np.random.choice(self.capacity, n)",
                "np.random.choice(self.capacity, n, replace=False)",
            )
        ),
        make=rng.choice(("tensor", "as_tensor")),
        as_type=rng.choice(("", ", dtype=torch.float32", ", dtype=torch.float64")),
        population=rng.choice(
            ("self.capacity", "range(self.capacity)", "np.arange(self.capacity)", "len(self.states)")
        ),
        replace=rng.choice(("", ", replace=False", ", True", ", replace=True")),
        seed=rng.randrange(99),
        capacity=rng.choice((3, 5)),
        steps=rng.choice((2, 7)),
        n=rng.choice((0, 1, 2, 3)),
    )


def returns(rng: Random) -> str:
    """Discounted returns, computed backwards."""
    return program(
        """
        import numpy as np
        import torch

        def discounted(rewards, gamma):
            <name> = <empty>
            running = <zero>
            <observe>
            for <target> in <reversed>:
                running = <reward> + gamma * running
                <insert>
                <inside>
            <behind>
            return <name>

        <training>
        for rewards in ([], [1.0], [1, 2.5, -1], <data>):
            env.step(0)
            print(discounted(rewards, <gamma>))
        """,
        name=rng.choice(("returns", "found")),
        **_returned(rng),
        empty=rng.choice(("[]", "list()")),
        zero=rng.choice(("0", "0.0", "torch.zeros(())")),
        data=rng.choice(("np.arange(3.0)", "torch.arange(3.0)", "(1, 2)", "[np.ones(2), np.ones(2)]")),
        gamma=rng.choice(("0.5", "1", "0.99")),
    )


def _returned(rng: Random) -> dict[str, str]:
    by_index = rng.random() < 0.3
    return {
        "target": "i" if by_index else "reward",
        "reversed": "range(len(rewards) - 1, -1, -1)"
        if by_index
        else "rewards[::-1]"
        if rng.random() < 0.3
        else "reversed(list(rewards))",
        "reward": "rewards[i]" if by_index else "reward",
        "insert": rng.choice(
            ("<name>.insert(0, running)", "<name> = [running] + <name>", "<name>.insert(0, (running, 1))")
        ),
        "observe": rng.choice(("pass", "alias = <name>", "peek = lambda: <name>")),
        "inside": rng.choice(
            (
                "pass",
                "if running > 2: break",
                "if len(<name>) > 1: continue",
                "last = <name>[0]",
                "print(<name>[-1])",
            )
        ),
        "behind": rng.choice(("pass", "<name>.append(0)", "<name>.reverse()", "print(<name>)")),
    }
