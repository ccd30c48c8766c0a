"""Programs that learn and reward: answers, updates, logs."""

from __future__ import annotations

from random import Random

from properties.template import program


def answers(rng: Random) -> str:
    """Rewards for texts: answers are extracted from completions and compared with the correct ones."""
    pattern = rng.choice((r"<answer>(.*?)</answer>", r"\\d+", r"(a)|b", r"^x", "[0-9]+$", r"\\s+", "", "é"))
    return program(
        """
        import re
        <imports>

        def extract(text):
            match = re.<search>(r"<pattern>", text<flags>)
            return match.group(0).strip() if match else <none>

        def score(texts, gold: str):
            total = 0.0
            for text in texts:
                if <first> is not None and <second> == gold<change>:
                    total += 1.0
                if text.<method>() in <choices> or text.<method>().startswith("a"):
                    total += 0.5
                if gold.strip().lower() in text or gold.strip().lower() == "b":
                    total += 0.25
                for part in re.<split>(r"<pattern>", text):
                    total += len(part or "")
            return total

        TEXTS = ["<answer>4</answer>", "  12 ab", "", "a b\\nx", "B", "é4"]
        <training>
        for gold in ("4", " 12", "B ", ""):
            env.step(0)
            print(score(TEXTS, gold))
        """,
        imports=rng.choice(("", "from re import *", "import re as regex")),
        search=rng.choice(("search", "match", "fullmatch")),
        split=rng.choice(("split", "findall")),
        pattern=pattern,
        flags=rng.choice(("", ", re.DOTALL", ", flags=re.IGNORECASE | re.MULTILINE")),
        none=rng.choice(("None", "''", "text")),
        first=rng.choice(("extract(text)", "extract(text.lower())", "extract(text=text)")),
        second=rng.choice(("extract(text)", "extract(text.lower())", "extract(text=text)")),
        change=rng.choice(("", " and total < 9", ".strip()")),
        method=rng.choice(("lower", "strip", "upper")),
        choices=rng.choice(('["a", "b", "4"]', '{"a", "b"}', '("a", "ab")', '["a", gold]')),
    )


def update(rng: Random) -> str:
    """Gradient steps, a target network that follows, and advantages without a gradient."""
    return program(
        """
        import copy
        import torch
        from torch import nn

        torch.manual_seed(<seed>)

        class Critic(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.Sequential(nn.Linear(<width>, 3), nn.<activation>(), <extra>nn.Linear(3, 1))

            def forward(self, x):
                return self.layers(x)

        class Learner:
            def __init__(self):
                self.critic = Critic()
                self.target = copy.deepcopy(self.critic)
                self.optimizer = torch.optim.SGD(self.critic.parameters(), lr=0.1)
                self.tau = <tau>

            def follow(self):
                with torch.no_grad():
                    for target, source in zip(self.target.parameters(), self.critic.parameters()):
                        target.<data>copy_(<mix>)

            def publish(self, other):
                weights = {name: value.<copied> for name, value in self.critic.state_dict().items()}
                other.load_state_dict(weights)

            def update(self, states, rewards):
                old = [p.clone() for p in self.critic.parameters()]
                values = self.target(states)
                goals = rewards + 0.9 * values.<detached>
                loss = (self.critic(states) - goals).pow(2).mean()
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.follow()
                mask = torch.bernoulli(torch.ones_like(goals) * <p>)
                return loss.item(), mask.sum().item(), values

            def act(self, state):
                value = self.critic(state)
                return value.<number>

        learner, other = Learner(), Critic()
        for step in range(<steps>):
            states = torch.randn(<rows>, <width>)
            print(learner.update(states, torch.randn(<rows>, 1)))
            learner.publish(other)
            print([learner.act(state) for state in states])
        print([p.tolist() for p in (*learner.target.parameters(), *other.parameters())], torch.rand(1))
        """,
        seed=rng.randrange(99),
        width=rng.choice((1, 4)),
        activation=rng.choice(("Tanh", "ReLU", "Identity")),
        extra=rng.choice(("", "", "nn.Dropout(0.5), ", "nn.BatchNorm1d(3), ", "nn.LayerNorm(3), ")),
        tau=rng.choice((0, 1, 0.005, "torch.tensor(0.5)")),
        data=rng.choice(("data.", "")),
        mix=rng.choice(
            (
                "self.tau * source.data + (1 - self.tau) * target.data",
                "(1 - self.tau) * target.data + self.tau * source.data",
                "self.tau * source + (1.0 - self.tau) * target",
                "target.data * (1.0 - self.tau) + source.data * self.tau",
            )
        ),
        copied=rng.choice(("clone()", "cpu().clone()", "detach().clone()", "clone().detach()", "cpu()")),
        detached=rng.choice(("clone().detach()", "detach()", "detach().clone()")),
        p=rng.choice((0.5, 1, 0)),
        number=rng.choice(("item()", "detach().numpy().copy()", "clone().detach()", "argmax().item()")),
        steps=rng.choice((1, 2)),
        rows=rng.choice((1, 3)),
    )


def logging(rng: Random) -> str:
    """Numbers are read from tensors one by one, and stored."""
    return program(
        """
        import copy
        import numpy as np
        import torch

        def told(count):
            values = torch.<make>
            history, total = [], 0
            for i in range(<length>):
                history.append(values[i].item())
                <inside>
            for value in values:
                total += value.item()
            kept = copy.deepcopy(<kept>)
            counts = np.zeros(count<dtype>)
            for i in range(len(counts)):
                counts[i] = counts[i] <operator> <number>
            picked = values.reshape(-1)[range(len(values))]
            grid = torch.arange(count * 2).reshape(count, 2)
            chosen = grid[range(len(grid)), <column>]
            flat = <flat>
            return history, total, kept, counts, picked, chosen, flat

        <training>
        for count in (0, 1, 4):
            env.step(0)
            print(told(count))
        """,
        make=rng.choice(
            (
                "arange(count)",
                "zeros(count)",
                "linspace(0, 1, count)",
                "arange(count, dtype=torch.float64)",
                "ones(count, dtype=torch.bool)",
            )
        ),
        length=rng.choice(("len(values)", "values.shape[0]", "values.size(0)", "count")),
        inside=rng.choice(
            ("pass", "values[i] = 0", "history.append(values)", "if i > 1: break", "values = values + 1")
        ),
        kept=rng.choice(
            (
                "np.arange(count)",
                "np.zeros((count, 2))",
                "np.ones((2, count)).T",
                "np.zeros(count, dtype=object)",
            )
        ),
        dtype=rng.choice(("", ", dtype=np.float32", ", dtype=np.int64", ", dtype=np.uint8")),
        operator=rng.choice("+-*/"),
        number=rng.choice((2, 0.5, 3, -1, 300)),
        column=rng.choice(("torch.zeros(len(grid), dtype=torch.int64)", "1", "[0] * len(grid)")),
        flat=rng.choice(
            (
                "torch.cat([values, values]).reshape(-1).view(-1)",
                "torch.zeros(count, 2).contiguous().flatten()",
                "np.zeros((count, 2)).reshape(-1).flatten()",
                "torch.stack([values, values]).view(2, -1).reshape(2, -1)",
            )
        ),
    )
