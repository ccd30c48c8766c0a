"""Loops that run a network on one of many items after the other are hot, even in functions that run once."""

from __future__ import annotations

import textwrap

import pytest

from project_builder import build, expression, model_of
from rlint.findings import Heat
from rlint.semantics.frequency.answer import Frequency

_IMPORTS = "import torch\nfrom torch import nn\n\n\n"


def heat_of_line(text: str) -> Frequency:
    """The heat of `line()`."""
    model = model_of(_IMPORTS + textwrap.dedent(text))
    return model.frequency.heat_of(expression(model, "line()"))


@pytest.mark.parametrize(
    "text",
    [
        """
        def score(samples, device):
            scorer = nn.Linear(8, 1).to(device)
            for sample in samples:
                line()
                found = scorer(sample.to(device))
        """,
        """
        def score(scorer, samples, device):
            for index, sample in enumerate(samples):
                sample = sample.clone().to(device)
                line()
                found = scorer(sample)
        """,
        """
        def label(agent, kept):
            for index in range(len(kept["states"])):
                state = torch.tensor(kept["states"][index]).to(agent.device)
                line()
                values = agent.online(state)
        """,
        """
        def embed(encoder, images):
            encoder.eval()
            return [(encoder(image[None]), line()) for image in images]
        """,
        """
        @torch.no_grad()
        def judge(judge_of, texts):
            found = []
            for text in texts:
                found.append(judge_of(text))
                line()
            return found
        """,
        """
        class Labeller:
            def __init__(self):
                self.head = nn.Linear(8, 1)

            def label(self, rows):
                return [self.one(row) for row in rows]

            def one(self, row):
                line()
                return self.head(row)
        """,
        """
        def distances(critic, goal, candidates, device):
            goal = goal.to(device)
            for candidate in candidates:
                for _ in range(2):
                    line()
                found = critic(candidate.to(device), goal)
        """,
    ],
    ids=["typed", "moved", "counted", "comprehension", "no graph", "in a callee", "nested"],
)
def test_a_network_on_one_item_after_the_other(text: str) -> None:
    """The loop is hot if it has many iterations."""
    found = heat_of_line(text)
    assert found.level is Heat.HOT
    assert found.assumption.startswith("the loop `for ")
    assert found.assumption.endswith("has many iterations")


@pytest.mark.parametrize(
    "text",
    [
        """
        def vote(nets, seen, device):
            for net in nets:
                line()
                net(seen.to(device))
        """,
        """
        def each(actors, seen, device):
            for agent_id in actors.agent_ids:
                line()
                actors.net(seen[agent_id].to(device))
        """,
        """
        def look(net, samples, device):
            for index in range(4):
                line()
                net(samples[index].to(device))
        """,
        """
        def look(net, samples, device):
            for sample in samples[:8]:
                line()
                net(sample.to(device))
        """,
        """
        def look(net, samples, device):
            chosen = [samples[0], samples[-1]]
            for sample in chosen:
                line()
                net(sample.to(device))
        """,
        """
        class Stack(nn.Module):
            def stacked(self, steps):
                for step in steps:
                    line()
                    self.cell(step)

        def once(steps):
            return Stack().stacked(steps)
        """,
        """
        def unroll(cell, steps, hidden, device):
            for step in steps:
                line()
                hidden = cell(step.to(device), hidden)
        """,
        """
        def compare(make, seeds, data, device):
            for seed in seeds:
                line()
                make(seed).to(device)(data)
        """,
        """
        def store(kept, samples, device):
            for sample in samples:
                line()
                kept.append(sample.to(device))
        """,
        """
        def wave(net, data, device):
            for first in range(0, len(data), 64):
                line()
                net(data[first].to(device))
        """,
        """
        def check_net(net, samples, device):
            for sample in samples:
                line()
                net(sample.to(device))
        """,
    ],
    ids=[
        "networks",
        "agents",
        "few",
        "slice",
        "display",
        "network class",
        "recurrent",
        "seeds",
        "store",
        "batches",
        "check",
    ],
)
def test_other_loops_stay_cold(text: str) -> None:
    """Few items, parts of objects, states and inputs of one look: such loops are not taken for long."""
    assert heat_of_line(text).level is Heat.COLD


def test_what_is_surely_known_is_not_replaced() -> None:
    """A training loop around the items is the reason, without an assumption."""
    found = heat_of_line(
        """
        def train(net, optimizer, env, samples, device):
            for step in range(1000):
                env.step(0)
                for sample in samples:
                    line()
                    net(sample.to(device))
        """
    )
    assert (found.level, found.assumption) == (Heat.HOT, "")


def test_functions_of_other_files_run_the_network() -> None:
    """An item may reach the network through methods of other files."""
    model = build(
        {
            "nets.py": _IMPORTS + "class Net(nn.Module):\n    def forward(self, x):\n        return x\n",
            "agent.py": """
                from nets import Net


                class Agent:
                    def __init__(self):
                        self.net = Net()

                    def rate(self, row):
                        return self.net(row)
            """,
            "main.py": """
                from agent import Agent


                def rate_all(rows):
                    agent = Agent()
                    for row in rows:
                        line()
                        agent.rate(row)
            """,
        },
    )["main.py"]
    assert model.frequency.heat_of(expression(model, "line()")).level is Heat.HOT


def test_generators_run_with_the_loops_that_take_their_items() -> None:
    """What a generator does for each item runs with the steps of the loop; what it does before, once."""
    text = """
    class Rows:
        def batches(self, size):
            {before}
            for first in range(0, self.count, size):
                {inside}
                yield self.rows[first : first + size]

    class Learner:
        def __init__(self, net, optimizer):
            self.__rows = Rows()
            self.net, self.optimizer = net, optimizer

        def learn_once(self):
            for batch in self.__rows.batches(32):
                self.optimizer.zero_grad()
                self.net(batch).mean().backward()
                self.optimizer.step()
    """
    assert heat_of_line(text.format(before="pass", inside="line()")).level is Heat.HOT
    assert heat_of_line(text.format(before="line()", inside="pass")).level is Heat.COLD


def test_methods_of_a_protocol_are_those_of_all_classes_that_have_them() -> None:
    """A class need not inherit from the protocol."""
    found = heat_of_line(
        """
        from typing import Protocol


        class Reads(Protocol):
            def pull(self, net, graph) -> float: ...


        class Mean:
            def pull(self, net, graph):
                line()
                return net(graph).mean()


        def run(net, readers: list[Reads], graphs, device):
            for graph in graphs:
                graph = graph.to(device)
                found = [reader.pull(net, graph) for reader in readers]
        """
    )
    assert found.level is Heat.HOT
