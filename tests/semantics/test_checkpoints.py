"""Calls that write a checkpoint in each run."""

from __future__ import annotations

import ast

import pytest

from project_builder import build, expression, model_of

AGENT = """
    import torch, pickle
    class Agent:
        def save(self, path):
            self._write(path)
        def _write(self, path):
            torch.save(self.net.state_dict(), path)
        def maybe_save(self, path):
            if self.steps % 100 == 0:
                self.save(path)
        def save_first(self, path, rank):
            if rank != 0:
                return
            self.save(path)
        def save_best(self, path, score):
            if score > self.best_score:
                torch.save(self.net.state_dict(), path)
        def remember(self, path):
            self.rows.append(path)
"""


@pytest.mark.parametrize(
    ("call", "saves"),
    [
        ("agent.save('x')", True),
        ("agent.save_first('x', 0)", True),
        ("agent.maybe_save('x')", False),
        ("agent.save_best('x', 1.0)", False),
        ("agent.remember('x')", False),
    ],
)
def test_methods_that_save(call: str, *, saves: bool) -> None:
    """A method writes a checkpoint if it always does so, at any call depth; selecting one process is no
    condition.
    """
    main = f"from agent import Agent\nagent = Agent()\n{call}\n"
    model = build({"agent.py": AGENT, "main.py": main})["main.py"]
    found = expression(model, call)
    assert isinstance(found, ast.Call)
    assert model.effects.writes_checkpoint(found) is saves


@pytest.mark.parametrize(
    ("call", "saves"),
    [
        ("torch.save(model, 'x')", True),
        ("torch.save({'net': net.state_dict()}, 'x')", True),
        ("torch.save(torch.zeros(3), 'x')", False),
        ("pickle.dump(agent, file)", True),
        ("pickle.dump(q_table, file)", True),
        ("pickle.dump(row, file)", False),
        ("save_file(model.state_dict(), 'x')", True),
        ("policy.save('x')", True),
        ("model.save_pretrained('x')", True),
        ("image.save('x')", False),
        ("np.save('x', model)", False),
    ],
)
def test_calls_of_libraries(call: str, *, saves: bool) -> None:
    """Checkpoints contain weights, agents or their buffers; not single tensors, images or rows of data."""
    imports = "import pickle, torch\nimport numpy as np\nfrom safetensors.torch import save_file\n"
    model = model_of(f"{imports}{call}\n")
    found = expression(model, call)
    assert isinstance(found, ast.Call)
    assert model.effects.writes_checkpoint(found) is saves
