"""Conditions that only test the device of a program, and the drivers of loops."""

from __future__ import annotations

import ast

import pytest

from project_builder import build, expression, model_of
from rlint.semantics.frequency.drivers import Driver


def requests(test: str) -> bool:
    """Does a condition ask for nothing but the device?"""
    model = model_of(f"""
        import torch
        from torch.cuda import is_available
        if {test}:
            work()
        """)
    [statement] = [node for node in model.syntax.of_type(ast.If) if isinstance(node, ast.If)]
    return model.types.tests_device(statement.test)


@pytest.mark.parametrize(
    "test",
    [
        "torch.cuda.is_available()",
        "is_available()",
        "torch.backends.mps.is_available()",
        "torch.cuda.device_count() > 0",
        "use_cuda",
        "args.cuda",
        "self.use_gpu and torch.cuda.is_available()",
        'device.type == "cuda"',
        '"cuda" == self.device',
        '"cuda" in str(device)',
        'self.device != "cpu"',
        'str(device).startswith("cuda")',
        'env.device != torch.device("cpu")',
    ],
)
def test_tests_the_device(test: str) -> None:
    """Code under such a condition runs in each iteration on such machines."""
    assert requests(test)


@pytest.mark.parametrize(
    "test",
    [
        "torch.cuda.memory_reserved() > limit",
        "torch.cuda.is_available() and step % 100 == 0",
        "clear_cache",
        'mode == "cuda"',
        'device.name == "left"',
        "not done",
        "len(devices) > 4",
    ],
)
def test_requests_more(test: str) -> None:
    """An interval, a threshold or a setting decides how often something runs."""
    assert not requests(test)


def test_what_callers_drive_counts() -> None:
    """For a helper between generation and training, both are steps of the loop around it."""
    models = build(
        {
            "memory.py": """
                def tidy():
                    clear()
                """,
            "train.py": """
                from memory import tidy
                def train(llm, optimizer, prompts, rounds):
                    for _ in range(rounds):
                        answers = llm.generate(prompts)
                        optimizer.step()
                        tidy()
                def alone(network):
                    network.eval()
                """,
        }
    )
    assert {Driver.GENERATION, Driver.GRADIENT_STEP} <= models["memory.py"].frequency.drivers(
        expression(models["memory.py"], "clear()")
    )
    assert (
        models["train.py"].frequency.drivers(expression(models["train.py"], "network.eval()")) == frozenset()
    )


def test_hot_by_name_alone() -> None:
    """A method without visible callers runs once per step if its name says so, including its callees."""
    model = model_of("""
        class Agent:
            def act(self, observation):
                look()
                if self.steps % 100 == 0:
                    rarely()
                    other()
                return helper()
            def show(self):
                print(self)
        def helper():
            return help_out()
        def other():
            seldom()
        """)
    for call in ("look()", "help_out()"):
        assert model.frequency.runs_by_role(expression(model, call))
    for call in ("rarely()", "seldom()", "print(self)"):
        assert not model.frequency.runs_by_role(expression(model, call))
