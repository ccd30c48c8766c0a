"""Likely types where nothing is sure, their assumptions, and their effect on findings."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from project_builder import both
from rlint.engine import api
from rlint.findings import Applicability, Confidence, Finding
from rlint.models.value_type import Device, TypeTag
from rlint.run_data import Target

BRANCH = """
    import torch

    def train(validate, x):
        if validate:
            y = torch.relu(x)
        else:
            y = helper(x)
        use(y)
"""


def test_a_join_keeps_what_one_branch_knows() -> None:
    """A variable whose type is unknown in one branch likely has that of the other, with its line."""
    sure, likely = both(BRANCH, "y")
    assert not sure
    assert likely.tag is TypeTag.TENSOR
    assert likely.assumes == ("`y` is a tensor, as in line 6",)


def test_what_contradicts_stays_unknown() -> None:
    """Neither of two contradictory types is likely."""
    sure, likely = both(BRANCH.replace("helper(x)", "'none'"), "y")
    assert not sure
    assert not likely


@pytest.mark.parametrize("begin", ["0", "False"])
def test_a_number_that_a_variable_begins_as_is_no_sign(begin: str) -> None:
    """A variable that starts as a number or flag may become anything."""
    _, likely = both(BRANCH.replace("torch.relu(x)", begin), "y")
    assert not likely


def test_a_tensor_that_is_moved_on_one_path_is_likely_on_the_accelerator() -> None:
    """With `if use_cuda: y = y.cuda()`, the device is likely the accelerator."""
    text = """
        import torch

        def train(use_cuda):
            y = torch.zeros(3)
            if use_cuda:
                y = y.cuda()
            use(y)
    """
    sure, likely = both(text, "y")
    assert sure.device is Device.UNKNOWN
    assert likely.device is Device.CUDA
    assert likely.assumes == ("`y` is on an accelerator",) or "as in" in likely.assumes[0]


def test_a_value_is_what_is_done_with_it() -> None:
    """Only tensors have `backward`, and only networks `parameters`, wherever the same value is used."""
    text = """
        import torch

        def step(loss, net, optimizer):
            use(loss)
            use(net)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    """
    sure, likely = both(text, "loss", last=False)
    assert not sure
    assert (likely.tag, likely.assumes) == (TypeTag.TENSOR, ("`loss` is a tensor, as in line 7",))
    sure, likely = both(text, "net", last=False)
    assert not sure
    assert likely.tag is TypeTag.MODULE


def test_a_use_of_another_binding_says_nothing() -> None:
    """Later values of a variable do not show its earlier type."""
    text = """
        import torch

        def step(x):
            use(x)
            x = convert(x)
            x.backward()
    """
    assert not both(text, "use(x)")[1]
    model_text = text.replace("use(x)", "use(x.first)")
    assert not both(model_text, "x.first")[1]


def test_a_variable_whose_type_is_tested_is_not_inferred_from_its_uses() -> None:
    """After an `isinstance` test, it may have several types."""
    text = """
        import torch

        def step(x):
            if isinstance(x, torch.Tensor):
                x = x.detach()
            use(x)
    """
    assert not both(text, "x")[1]


def test_attributes_say_where_they_are_visible() -> None:
    """The type of an attribute is likely that which the methods of its class imply, also in other files."""
    agent = """
        import torch

        class Agent:
            def __init__(self, loss):
                self.loss = loss

            def learn(self):
                self.loss.backward()
    """
    text = """
        from agent import Agent

        agent = Agent(load())
        use(agent.loss)
    """
    sure, likely = both(text, "agent.loss", agent=agent)
    assert not sure
    assert likely.tag is TypeTag.TENSOR
    assert likely.assumes == ("`Agent.loss` is a tensor, as in `agent.py:9`",)


def test_a_function_with_several_returns_likely_gives_what_one_of_them_says() -> None:
    """One return of unknown type does not hide the others."""
    text = """
        import torch

        def make(kind):
            if kind:
                return torch.ones(3)
            return load(kind)

        use(make(1))
    """
    sure, likely = both(text, "make(1)")
    assert not sure
    assert likely.tag is TypeTag.TENSOR
    assert likely.device is Device.UNKNOWN  # the device of the other is unknown


def test_an_assumption_is_handed_on() -> None:
    """Conclusions from a likely type depend on the same assumption, and on no second one."""
    _, likely = both(BRANCH.replace("use(y)", "z = y.mean()\n        use(z)"), "z")
    assert likely.tag is TypeTag.TENSOR
    assert likely.assumes == ("`y` is a tensor, as in line 6",)


TWICE = """\
import torch


def learn(batches, optimizer):
    for batch in batches:
        loss = compute(batch)
        other = compare(batch)
        optimizer.zero_grad()
        (loss + other).backward()
        loss.backward()
        optimizer.step()
        print(loss.detach().cpu().numpy().sum())
        print(loss.detach().cpu().numpy().sum())
"""


def findings(folder: Path, text: str, *codes: str, jobs: int = 1) -> list[Finding]:
    """Check one file."""
    path = folder / "train.py"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    report = api.check([Target(None, path, "train.py", frozenset(codes))], jobs=jobs)
    assert not report.problems
    return list(report.findings)


SPIN = """\
import copy

import torch


def act(net, flag, env):
    while True:
        if flag:
            x = torch.zeros(3)
        else:
            x = read(env)
        kept = copy.deepcopy(x)
        env.step(kept)
"""


def test_a_likely_finding_names_its_one_assumption_and_has_no_safe_fix(tmp_path: Path) -> None:
    """A finding that only the likely model gives is likely, through all channels."""
    (found,) = findings(tmp_path, SPIN, "RL114")
    assert found.confidence is Confidence.LIKELY
    assert found.assumption == "`x` is a tensor, as in line 9"
    assert found.fix is None or found.fix.safety is Applicability.UNSAFE
    certain = findings(tmp_path, SPIN.replace("read(env)", "torch.ones(3)"), "RL114")
    assert [finding.confidence for finding in certain] == [Confidence.CERTAIN]


def test_other_rules_do_not_change_what_one_finds(tmp_path: Path) -> None:
    """Cached answers record that likelier ones exist."""
    alone = findings(tmp_path, SPIN, "RL114")
    adjacent = findings(tmp_path, SPIN, "RL114", "RL205", "RL501", "RL313", "RL301", "RL202")
    assert [each for each in adjacent if each.code == "RL114"] == alone


def test_only_what_takes_a_dimension_is_gathered_of_a_tensor() -> None:
    """`accelerator.gather(values)` says nothing; `q.gather(1, actions)` shows a tensor."""
    program = """
        import torch

        def train(accelerator, q, actions):
            accelerator.gather(actions)
            q.gather(1, actions)
            use(accelerator)
            use(q)
    """
    assert not both(program, "accelerator")[1]
    assert both(program, "q")[1].tag is TypeTag.TENSOR


def test_only_a_tensor_has_the_size_of_one_dimension() -> None:
    """`x.size(0)` shows a tensor, `group.size()` nothing."""
    program = """
        import torch

        def train(group, x):
            group.size()
            x.size(0)
            use(group)
            use(x)
    """
    assert not both(program, "group")[1]
    assert both(program, "x")[1].tag is TypeTag.TENSOR


def test_a_field_is_no_part_of_a_tensor() -> None:
    """A value indexed by a string is a table of some kind, whatever its other uses."""
    program = """
        import torch

        def train(data):
            data.detach()
            use(data["next", "done"])
            use(data[0, 1])
    """
    assert not both(program, 'data["next", "done"]')[1]
    assert both(program, "data[0, 1]")[1].tag is TypeTag.TENSOR


@pytest.mark.parametrize(
    "branch",
    [
        "if isinstance(x, list):\n    use(x)",
        "if isinstance(x, torch.Tensor):\n    pass\nelse:\n    use(x)",
        "if isinstance(x, torch.Tensor):\n    pass\nelif x.shape:\n    use(x)",
        "if not torch.is_tensor(x):\n    use(x)",
        "done = isinstance(x, (list, tuple)) and use(x)",
        "done = not isinstance(x, torch.Tensor) or isinstance(x, (float, int)) and use(x)",
        "y = 0 if isinstance(x, torch.Tensor) else use(x)",
    ],
)
def test_a_test_of_the_class_rules_out_tensors(branch: str) -> None:
    """Under an `isinstance` test, uses in other branches imply nothing."""
    program = "import torch\ndef train(validate, z):\n    x = torch.relu(z) if validate else helper(z)\n"
    program += textwrap.indent(branch, "    ")
    assert both(program, "x")[1].tag in (TypeTag.UNKNOWN, TypeTag.LIST)


def test_a_test_for_tensors_leaves_them() -> None:
    """Inside the branch for tensors, and outside any, the likely kind stays."""
    program = """
        import torch
        def train(validate, z):
            x = torch.relu(z) if validate else helper(z)
            if isinstance(x, (torch.Tensor, list)):
                use(x)
    """
    assert both(program, "x")[1].tag is TypeTag.TENSOR


@pytest.mark.parametrize(
    ("value", "tag"),
    [
        ("x.exp()", TypeTag.TENSOR),
        ("x.pow(2)", TypeTag.TENSOR),
        ("x.type(torch.float)", TypeTag.TENSOR),
        ("x.zero_()", TypeTag.TENSOR),
        ("x.log()", TypeTag.UNKNOWN),
        ("x.exp(2)", TypeTag.UNKNOWN),
        ("x.pow(2, 3)", TypeTag.UNKNOWN),
        ("x.type(kind)", TypeTag.UNKNOWN),
        ("x.item()", TypeTag.FLOAT),
        ("x.item(0)", TypeTag.UNKNOWN),
        ("x.shape[-1]", TypeTag.INT),
        ("x.size(0)", TypeTag.INT),
        ("x.shape[kind]", TypeTag.UNKNOWN),
        ("x.shape['rows']", TypeTag.UNKNOWN),
        ("x(text, return_tensors='pt')", TypeTag.BATCH),
        ("x(text, return_tensors='np')", TypeTag.UNKNOWN),
    ],
)
def test_what_is_read_from_a_value_of_unknown_type(value: str, tag: TypeTag) -> None:
    """Methods that only tensors have return tensors, and parts of a shape are numbers."""
    text = f"import torch\ndef train(x, kind, text):\n    y = {value}\n    use(y)\n"
    sure, likely = both(text, "y")
    assert not sure
    assert likely.tag is tag


def test_a_function_that_converts_arrays_likely_returns_a_tensor() -> None:
    """A function that makes a tensor of an array, and returns other values unchanged, is given a tensor
    otherwise.
    """
    helpers = """
        import numpy as np
        import torch

        def check(x):
            return torch.from_numpy(x) if type(x) == np.ndarray else x
    """
    text = """
        from helpers import check

        def act(net, observation, device):
            y = check(observation).to(device)
            return net(y)
    """
    sure, likely = both(text, "y", helpers=helpers)
    assert not sure
    assert likely.tag is TypeTag.TENSOR
    assert likely.assumes == ("`check()` is a tensor",)


@pytest.mark.parametrize(
    ("use", "shown"),
    [("net(x)", True), ("net.act(x)", False), ("net(x) if net.eval('x') else 0", True)],
)
def test_what_has_a_mode_and_is_called_is_a_network(use: str, shown: bool) -> None:
    """Agents have `eval()`, too, but are not called like functions."""
    _, likely = both(f"import torch\n\ndef test(net, x):\n    net.eval()\n    return {use}\n", "net")
    assert (likely.tag is TypeTag.MODULE) is shown
