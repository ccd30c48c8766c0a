"""Impact of findings: from measured savings, costs of steps, and how often the place runs."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from fixture_folders import FIXTURES
from project_builder import build
from reports import finding
from rlint.cli import cli
from rlint.evidence import recorded
from rlint.evidence.impact import LEARNING_PER_ENVIRONMENT_STEP as LEARNING
from rlint.evidence.impact import Saving, WorkloadSaving, impact_of, saving_of
from rlint.evidence.occurrences import read_occurrences
from rlint.evidence.step_costs import step_costs
from rlint.findings import Heat, Impact, ImpactLevel, ProgramScale, TrainingStep
from rlint.harness.measure.count_steps import count_occurrences
from rlint.registry import catalogue
from rlint.registry.recorded_gain import Gain

ONE = replace(finding("x = cat(x)", "cat(x)"), steps=(TrainingStep.GRADIENT,))
SMALL, MEDIUM, LARGE = step_costs("cpu")[TrainingStep.GRADIENT]
MIDDLE = (SMALL * LARGE) ** 0.5


def measured(*seconds: float) -> Saving:
    """Return savings measured on a CPU, one for each workload: `w0`, `w1`, …."""
    return Saving("cpu", tuple(WorkloadSaving(f"w{number}", one) for number, one in enumerate(seconds)))


def findings_in(project: Path, code: str) -> list[dict[str, Any]]:
    """Return the findings of one rule, as `rlint check --output-format json` prints them."""
    options = ["--isolated", "--no-cache", "--select", code, "--output-format", "json"]
    ran = CliRunner().invoke(cli, ["check", *options, str(project)])
    found: list[dict[str, Any]] = json.loads(ran.output)
    return found


def test_steps_were_measured() -> None:
    """Each kind of step has a cost, larger for the large one; other devices have none."""
    costs = step_costs("cpu")
    assert set(costs) == {TrainingStep[name] for name in ("ENVIRONMENT", "GRADIENT", "TOKEN", "MESSAGE")}
    assert all(0 < small < medium < large for small, medium, large in costs.values())
    assert step_costs("abacus") == {}


@pytest.mark.parametrize(
    ("share", "level"), [(0.5, ImpactLevel.HIGH), (0.05, ImpactLevel.MEDIUM), (0.001, ImpactLevel.LOW)]
)
def test_the_level_is_the_share_of_the_step(share: float, level: ImpactLevel) -> None:
    """The saving, compared with a step between the small and the large one, and the basis of the estimate."""
    found = impact_of(ONE, measured(share * MIDDLE))
    assert found is not None
    assert found.level is level
    assert "a gradient step takes" in found.basis
    assert "measured on cpu" in found.basis


ENVIRONMENT = step_costs("cpu")[TrainingStep.ENVIRONMENT]


@pytest.mark.parametrize(
    ("scale", "step", "least", "most"),
    [
        (ProgramScale.SMALL, TrainingStep.GRADIENT, SMALL, MEDIUM),
        (ProgramScale.SIMULATED, TrainingStep.GRADIENT, SMALL, MEDIUM),
        (
            ProgramScale.SIMULATED,
            TrainingStep.ENVIRONMENT,
            ENVIRONMENT[1] + LEARNING * SMALL,
            ENVIRONMENT[2] + LEARNING * MEDIUM,
        ),
        (ProgramScale.MIXED, TrainingStep.GRADIENT, SMALL, LARGE),
        (
            ProgramScale.MIXED,
            TrainingStep.ENVIRONMENT,
            ENVIRONMENT[1] + LEARNING * SMALL,
            ENVIRONMENT[2] + LEARNING * LARGE,
        ),
        (ProgramScale.LARGE, TrainingStep.GRADIENT, MEDIUM, LARGE),
        (ProgramScale.SLOW, TrainingStep.GRADIENT, MEDIUM, LARGE),
    ],
)
def test_the_program_decides_how_long_its_steps_take(
    scale: ProgramScale, step: TrainingStep, least: float, most: float
) -> None:
    """The same saving has a high impact where steps are short, and a medium one where they are long."""
    place = replace(ONE, steps=(step,), scale=scale)
    levels = [impact_of(place, measured(share * (least * most) ** 0.5)) for share in (0.099, 0.101)]
    assert [found.level for found in levels if found] == [ImpactLevel.MEDIUM, ImpactLevel.HIGH]


def test_a_step_of_several_networks_takes_longer() -> None:
    """The measured gradient step updates one network; the large one stays an upper bound."""
    place = replace(ONE, scale=ProgramScale.SMALL)
    share = 0.0101 * (SMALL * MEDIUM) ** 0.5
    found = [impact_of(replace(place, updates=number), measured(share)) for number in (0, 1, 3)]
    assert [each.level for each in found if each] == [
        ImpactLevel.MEDIUM,
        ImpactLevel.MEDIUM,
        ImpactLevel.LOW,
    ]
    assert found[2] is not None
    assert "a gradient step of 3 networks takes" in found[2].basis


def test_a_program_with_a_replay_memory_learns_from_each_step() -> None:
    """A gradient step of all its networks for each environment step, instead of a third of one."""
    place = replace(ONE, steps=(TrainingStep.ENVIRONMENT,), scale=ProgramScale.SMALL)
    share = 0.011 * ((ENVIRONMENT[0] + LEARNING * SMALL) * (ENVIRONMENT[1] + LEARNING * MEDIUM)) ** 0.5
    found = [impact_of(replace(place, replayed_updates=number), measured(share)) for number in (0, 2)]
    assert [each.level for each in found if each] == [ImpactLevel.MEDIUM, ImpactLevel.LOW]
    assert found[1] is not None
    assert "with its share of learning" in found[1].basis


def test_a_place_that_several_calls_run_saves_as_often() -> None:
    """A sampling method that an update calls three times."""
    share = 0.004 * MIDDLE
    once, thrice = (impact_of(replace(ONE, runs=number), measured(share)) for number in (1, 3))
    assert once is not None
    assert thrice is not None
    assert (once.level, thrice.level) == (ImpactLevel.LOW, ImpactLevel.MEDIUM)
    assert "3 times; a gradient step takes" in thrice.basis


def test_the_step_of_a_simulator_takes_milliseconds() -> None:
    """What is much beside the step of a small environment is nothing beside that of a slow simulator."""
    place = replace(ONE, steps=(TrainingStep.ENVIRONMENT,), scale=ProgramScale.SMALL)
    small, slow = (
        impact_of(replace(place, waits_for_simulator=waits), measured(20e-6)) for waits in (0.0, 0.005)
    )
    assert small is not None
    assert slow is not None
    assert (small.level, slow.level) == (ImpactLevel.MEDIUM, ImpactLevel.LOW)
    assert "an environment step of a simulator, with its share of learning, takes 5" in slow.basis


@pytest.mark.parametrize(
    ("runs", "level"),
    [(1, ImpactLevel.LOW), (2, ImpactLevel.LOW), (3, ImpactLevel.UNKNOWN), (0, ImpactLevel.UNKNOWN)],
)
def test_a_few_transfers_cost_little_where_a_simulator_steps(runs: int, level: ImpactLevel) -> None:
    """Though they were not measured on a GPU; 0 runs are many, in a loop."""
    place = replace(
        ONE, steps=(TrainingStep.ENVIRONMENT,), only_on=("cuda",), waits_for_simulator=0.005, runs=runs
    )
    found = impact_of(place, measured(20e-6))
    assert found is not None
    assert found.level is level


@pytest.mark.parametrize(
    ("sizes", "shown"),
    [
        (((64, "rows"),), "each time (64 rows); "),
        (((64, "rows"), (64, "rows")), "each time (64 rows); "),
        (((7056, "numbers"), (16, "numbers")), "each time (16 or 7,056 numbers); "),
        (((8, "environments"), (256, "rows")), "each time (8 environments or 256 rows); "),
        (((1, "a"), (2, "b"), (3, "c")), "each time; "),
    ],
)
def test_the_sizes_that_were_measured_are_named(sizes: tuple[tuple[int, str], ...], shown: str) -> None:
    """Up to two; more would not be read."""
    counts = replace(ONE, message="a loop over the rows, numbers and environments")
    found = impact_of(counts, Saving("cpu", tuple(WorkloadSaving("w", MIDDLE, *size) for size in sizes)))
    assert found is not None
    assert shown in found.basis


def test_a_place_that_is_about_other_things_is_not_said_to_process_those_of_the_workload() -> None:
    """No `(here 5 agents)` for a loop over samples, nor `(8 agents)`."""
    team = WorkloadSaving("team", MIDDLE, 8, "agents", at_sizes=((4, MIDDLE), (8, MIDDLE)))
    saving = Saving("cpu", (team,))
    found = [
        impact_of(replace(ONE, message=message, size=size), saving)
        for message in ("runs once for each `agent_id` of the loop", "runs once for each sample")
        for size in (None, 5)
    ]
    assert [each.basis.partition(";")[0].partition("each time")[2] for each in found if each] == [
        " (8 agents)",
        " (here 5 agents)",
        "",
        " (here 5 items)",
    ]


def test_what_runs_rarely_matters_less() -> None:
    """The same saving once per episode is a hundredth of what it is in each step."""
    saving = measured(0.5 * MIDDLE)
    hot, warm = impact_of(ONE, saving), impact_of(replace(ONE, heat=Heat.WARM), saving)
    assert hot is not None
    assert warm is not None
    assert (hot.level, warm.level) == (ImpactLevel.HIGH, ImpactLevel.LOW)
    assert "once per 100 steps" in warm.basis


def test_steps_in_inner_loops_count_many_times() -> None:
    """An update of A2C comes after many environment steps; a transfer beside them matters little."""
    update = replace(ONE, nested_steps=(TrainingStep.ENVIRONMENT,))
    found = [impact_of(each, measured(0.05 * MIDDLE)) for each in (ONE, update)]
    assert [each and each.level for each in found] == [ImpactLevel.MEDIUM, ImpactLevel.LOW]
    assert found[1] is not None
    assert "; 100 environment steps with gradient step take " in found[1].basis
    moved = impact_of(update, Saving(only_on=("cuda",)))
    assert moved is not None
    assert (moved.level, "many environment steps" in moved.basis) == (ImpactLevel.LOW, True)


@pytest.mark.parametrize("heat", [Heat.WARM, Heat.HOT])
def test_what_processes_a_rollout_runs_once_for_its_steps(heat: Heat) -> None:
    """A loop over the 2,048 steps of a rollout, however often the training loop is said to run it."""
    once = replace(ONE, heat=heat)
    rollout = Saving("cpu", (WorkloadSaving("returns", 0.5 * MIDDLE, 2048, "steps", steps=2048),))
    each = Saving("cpu", (WorkloadSaving("grown", 0.5 * MIDDLE, 2048, "steps"),))
    found, of_each = impact_of(once, rollout), impact_of(replace(once, heat=Heat.HOT), each)
    assert found is not None
    assert of_each is not None
    assert found.level is ImpactLevel.LOW
    assert "; 2,048 environment steps with gradient step take " in found.basis
    assert of_each.level is ImpactLevel.HIGH


@pytest.mark.parametrize("place", [{"heat": Heat.WARM}, {"nested_steps": (TrainingStep.ENVIRONMENT,)}])
def test_a_batch_that_is_a_whole_rollout_is_compared_with_all_its_steps(place: dict[str, Any]) -> None:
    """The batch of 256 transitions takes 256 environment steps to collect; a sampled one does not."""
    batch = Saving("cpu", (WorkloadSaving("replayed", 0.5 * MIDDLE, 256, "transitions"),))
    sampled, collected = impact_of(ONE, batch), impact_of(replace(ONE, **place), batch)
    assert sampled is not None
    assert collected is not None
    assert (sampled.level, collected.level) == (ImpactLevel.HIGH, ImpactLevel.LOW)
    assert "; 256 environment steps with gradient step take " in collected.basis


@pytest.mark.parametrize("unit", ["frames", "pixels in a row"])
def test_images_do_not_count_where_no_network_takes_them(unit: str) -> None:
    """Unless the rule was measured with images only."""
    frames, rows = (WorkloadSaving(unit, MIDDLE, 4, unit), WorkloadSaving("rows", 0.05 * MIDDLE, 64, "rows"))
    saving = Saving("cpu", (frames, rows))
    scales = (ProgramScale.SMALL, ProgramScale.LARGE)
    counts = replace(ONE, message=f"a loop over the rows, or {unit}")
    vectors, images = (impact_of(replace(counts, scale=scale), saving) for scale in scales)
    assert vectors is not None
    assert images is not None
    assert ("(64 rows)" in vectors.basis, "(64 rows)" in images.basis) == (True, False)
    alone = impact_of(replace(counts, scale=ProgramScale.SMALL), Saving("cpu", (frames,)))
    assert alone is not None
    assert f"(4 {unit})" in alone.basis


def test_a_finding_that_names_its_workload_has_its_gain() -> None:
    """`choice(n)` gains microseconds, `choice(items)` milliseconds: one must not speak for the other."""
    saving = measured(0.001 * MIDDLE, MIDDLE)
    found = [impact_of(replace(ONE, workload=name), saving) for name in ("w0", "w1", "unknown")]
    assert [each and each.level for each in found] == [ImpactLevel.LOW, ImpactLevel.HIGH, None]


def test_savings_of_several_orders_of_magnitude_are_a_range() -> None:
    """The level is that of the geometric mean: the largest workload must not decide alone."""
    found = impact_of(ONE, measured(1e-6, 1e-4))
    assert found is not None
    assert found.basis.startswith("saves about 1 µs to 100 µs each time; ")
    assert found.level is ImpactLevel.LOW  # 10 µs of 3 ms; 50 µs were medium
    mostly_nothing = impact_of(ONE, measured(0.0, 0.0, MIDDLE))
    assert mostly_nothing is not None
    assert mostly_nothing.level is ImpactLevel.LOW


def test_steps_that_learn_from_environments_include_their_share() -> None:
    """A gradient step alone, and one whose loop also steps environments."""
    offline = impact_of(ONE, measured(0.0101 * MIDDLE))
    online = impact_of(replace(ONE, collects=True), measured(0.0101 * MIDDLE))
    assert offline is not None
    assert online is not None
    assert (offline.level, online.level) == (ImpactLevel.MEDIUM, ImpactLevel.LOW)
    assert "a gradient step, with a share of collecting, takes" in online.basis


@pytest.mark.parametrize("steps", [(TrainingStep.GRADIENT,), (TrainingStep.ENVIRONMENT,), ()])
def test_rare_updates_come_with_many_environment_steps(steps: tuple[TrainingStep, ...]) -> None:
    """From two on, all of them count; not beside whole rollouts, or for what costs in each step."""
    place = replace(ONE, steps=steps, collects=True)
    usual, seldom = (
        impact_of(replace(place, environment_steps=n), measured(0.05 * MIDDLE)) for n in (1, 100)
    )
    assert usual is not None
    assert seldom is not None
    assert (usual.level, seldom.level) == (ImpactLevel.MEDIUM, ImpactLevel.LOW)
    assert "each time; a gradient step with 100 environment steps takes" in seldom.basis
    assert "100 environment" not in usual.basis
    for other in (
        replace(place, nested_steps=(TrainingStep.TOKEN,), environment_steps=50),
        replace(place, throughout=True, environment_steps=50),
    ):
        found = impact_of(other, measured(MIDDLE))
        assert found is not None
        assert "50 environment" not in found.basis


def test_a_message_stands_for_the_step_that_it_requests() -> None:
    """Sending takes microseconds, so every saving would be a large share of that alone."""
    costs = step_costs("cpu")
    saving = measured(costs[TrainingStep.MESSAGE][0])
    found = impact_of(replace(ONE, steps=(TrainingStep.MESSAGE,)), saving)
    assert found is not None
    assert found.level is not ImpactLevel.HIGH
    assert "an environment step with message, with its share of learning, takes" in found.basis


def test_what_is_not_known_to_run_in_a_loop_matters_little() -> None:
    """However much its rule saves."""
    found = impact_of(replace(ONE, heat=Heat.COLD), measured(1000 * MIDDLE))
    assert found is not None
    assert found.level is ImpactLevel.LOW
    assert "not known to run in a training loop" in found.basis


def test_a_mode_that_is_turned_on_once_costs_in_each_step() -> None:
    """Anomaly detection is turned on by a line that runs once."""
    once = replace(ONE, heat=Heat.COLD, throughout=True)
    found = impact_of(once, measured(0.5 * MIDDLE))
    assert found is not None
    assert found.level is ImpactLevel.HIGH
    assert "each time; a gradient step takes" in found.basis


def test_a_finding_that_costs_little_by_itself_says_why() -> None:
    """Whether its rule was measured or not."""
    minor = replace(ONE, minor="the array has four elements")
    for saving in (None, measured(MIDDLE), Saving(only_on=("cuda",))):
        found = impact_of(minor, saving)
        assert found is not None
        assert (found.level, found.basis) == (ImpactLevel.LOW, "the array has four elements")


def test_a_finding_of_another_kind_states_its_impact() -> None:
    """Whole decodes are no forward passes; what runs rarely still costs little."""
    stated = Impact(ImpactLevel.HIGH, "each decodes a whole text")
    for saving in (None, measured(0.0), measured(MIDDLE)):
        assert impact_of(replace(ONE, stated=stated), saving) == stated
    rare = impact_of(replace(ONE, stated=stated, minor="in evaluations"), None)
    assert rare is not None
    assert rare.level is ImpactLevel.LOW


def test_a_step_of_several_kinds_costs_what_they_cost_together() -> None:
    """An environment step with a gradient step in each iteration."""
    both = replace(ONE, steps=(TrainingStep.ENVIRONMENT, TrainingStep.GRADIENT))
    alone = replace(ONE, steps=(TrainingStep.ENVIRONMENT,))
    saving = measured(5 * step_costs("cpu")[TrainingStep.ENVIRONMENT][0])
    found = [impact_of(each, saving) for each in (alone, both)]
    assert [each.level for each in found if each] == [ImpactLevel.HIGH, ImpactLevel.MEDIUM]


@pytest.mark.parametrize(
    ("transfers", "runs", "level"),
    [
        (None, 1, ImpactLevel.UNKNOWN),
        (1, 1, ImpactLevel.LOW),
        (6, 0, ImpactLevel.LOW),
        (7, 1, ImpactLevel.UNKNOWN),
        (2, 4, ImpactLevel.UNKNOWN),
    ],
)
def test_a_few_transfers_that_were_not_measured_rarely_matter(
    transfers: int | None, runs: int, level: ImpactLevel
) -> None:
    """Many in a step are shown without a rank, also those of several calls; few are not."""
    found = impact_of(replace(ONE, transfers=transfers, runs=runs), Saving(only_on=("cuda",)))
    assert found is not None
    assert found.level is level


def test_what_was_not_measured_is_not_ranked_high() -> None:
    """A claim only for GPUs is marked; a rule without figures has no impact; memory is not time."""
    found = impact_of(ONE, Saving(only_on=("cuda",)))
    assert found is not None
    assert found.level is ImpactLevel.UNKNOWN
    assert "not measured on a GPU" in found.basis
    adjacent = impact_of(replace(ONE, steps=(TrainingStep.TOKEN,)), Saving(only_on=("cuda",)))
    assert adjacent is not None
    assert (adjacent.level, "language model" in adjacent.basis) == (ImpactLevel.LOW, True)
    rare = impact_of(replace(ONE, heat=Heat.WARM), Saving(only_on=("cuda",)))
    assert rare is not None
    assert (rare.level, "once per round" in rare.basis) == (ImpactLevel.LOW, True)
    other_edits = impact_of(replace(ONE, only_on=("cuda",)), measured(1.0))
    assert other_edits == found
    assert impact_of(ONE, None) is None
    memory = impact_of(ONE, Saving("cpu", memory=5.5))
    assert memory is not None
    assert (memory.level, memory.basis) == (ImpactLevel.MEDIUM, "5.5 times less memory (on cpu)")
    nothing = impact_of(ONE, measured(0.0))
    assert nothing is not None
    assert nothing.level is ImpactLevel.LOW
    assert "no gain was measured" in nothing.basis


def test_the_recorded_evidence_gives_savings() -> None:
    """There is an impact for each rule with a measured time saving and counted steps."""
    known = 0
    for entry in catalogue.catalogue():
        if entry.module and read_occurrences(FIXTURES, entry.name) is not None:
            saving = saving_of(recorded.of(entry))
            known += saving is not None and bool(saving.workloads)
    assert known > 40


def test_no_rule_that_gains_time_lacks_an_impact() -> None:
    """The steps of its workloads were counted. RL610 names the time that it saves: a literal in the code."""
    without = [
        entry.code
        for entry in catalogue.catalogue()
        if entry.module and not entry.opt_in and read_occurrences(FIXTURES, entry.name) is None
        if any(one.gain is Gain.SOME for one in recorded.of(entry).recordings)
    ]
    assert without == ["RL610"]


def test_steps_of_a_workload_are_counted() -> None:
    """Three arrays grow in a rollout of 2,048 steps; returns are computed in one call, however long."""
    assert count_occurrences("RL101").by_workload["rollout"] == 3 * 2048
    assert count_occurrences("RL506").by_workload["returns"] == 1


PROGRAM = """\
import numpy as np


def collect(env, steps):
    rewards = np.empty(0, dtype=np.float32)
    for _ in range(steps):
        _, reward, _, _, _ = env.step(env.action_space.sample())
        rewards = np.append(rewards, np.float32(reward))
    return rewards
"""


def test_findings_below_an_impact_are_left_out(tmp_path: Path) -> None:
    """The threshold applies on the command line, in all formats and in the exit status; a wrong name is an
    error.
    """
    (tmp_path / "train.py").write_text(PROGRAM)

    def run(*options: str) -> tuple[int, str]:
        before = Path.cwd()
        os.chdir(tmp_path)
        try:
            done = CliRunner().invoke(cli, ["check", "--isolated", "--no-cache", *options, "train.py"])
        finally:
            os.chdir(before)
        return done.exit_code, done.output

    status, text = run("--output-format", "json")
    (entry,) = json.loads(text)
    level = ImpactLevel[entry["impact"]["level"].upper()]
    assert status == 1
    assert "measured on cpu" in entry["impact"]["basis"]
    assert run("--min-impact", str(level))[0] == 1
    if level < ImpactLevel.HIGH:
        assert run("--min-impact", "high") == (0, "All checks passed!\n")
    assert run("--min-impact", "enormous")[0] == 2


@pytest.mark.parametrize(
    ("imported", "step"),
    [
        ("torch", "a gradient step takes"),
        ("transformers", "a gradient step with 100 tokens of a language model takes"),
        ("verl", "a gradient step with 100 tokens of a language model takes"),
    ],
)
def test_steps_of_language_models_take_longer(imported: str, step: str, tmp_path: Path) -> None:
    """The saving of a line is compared with the steps of language models if its file imports them."""
    (tmp_path / "train.py").write_text(
        f"import {imported}\nfrom torch import optim\ndef train(loader, model):\n"
        "    for batch in loader:\n        optimizer = optim.SGD(model.parameters(), lr=0.1)\n"
        "        model(batch).mean().backward()\n        optimizer.step()\n"
    )
    (found,) = findings_in(tmp_path, "RL609")
    assert step in found["impact"]["basis"]


REWARDS = """\
import torch


def compute_reward_for_groups(scores: torch.Tensor, groups: list[list[int]]) -> list[float]:
    found = []
    for group in groups:
        for i in group:
            found.append(scores[i].item())
    return found
"""


@pytest.mark.parametrize(("imported", "low"), [("verl", True), ("numpy", False)])
def test_rewards_of_completions_cost_little(imported: str, low: bool, tmp_path: Path) -> None:
    """A reward function beside files that import a framework for language models runs beside generation."""
    together = "from . import rewards, trainer\n"
    trainer = f"import {imported}\nimport torch\n"
    (tmp_path / "lab").mkdir()
    for name, text in {"__init__": together, "trainer": trainer, "rewards": REWARDS}.items():
        (tmp_path / "lab" / f"{name}.py").write_text(text)
    (found,) = findings_in(tmp_path / "lab", "RL210")
    assert (found["impact"]["level"] == "low") is low


REPEATS = """\
from torch import optim


def train(loader, model):
    for batch in loader:
        optimizer = optim.SGD(model.parameters(), lr=0.1)
        (model(batch) - NAMED).mean().backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("files", "named", "tokens"),
    [
        ({}, "batch", False),
        ({}, 'batch["input_ids"]', True),
        ({}, 'batch["response_mask"]', True),
        ({"a.py": "import torch, transformers\n", "b.py": "import torch, vllm\n"}, "batch", True),
        (
            {
                "a.py": "import torch, transformers\n",
                "play.py": "import torch\ndef play(env):\n    while True:\n        env.step(0)\n",
            },
            "batch",
            False,
        ),
    ],
)
def test_programs_of_language_models_are_recognised_by_what_they_handle(
    files: dict[str, str], named: str, *, tokens: bool, tmp_path: Path
) -> None:
    """A file that processes tokens, or whose program mostly does so and steps no environment."""
    together = "".join(f"from . import {name.removesuffix('.py')}\n" for name in (*files, "train.py"))
    (tmp_path / "lab").mkdir()
    for name, text in {**files, "__init__.py": together, "train.py": REPEATS.replace("NAMED", named)}.items():
        (tmp_path / "lab" / name).write_text(text)
    (found,) = findings_in(tmp_path / "lab", "RL609")
    assert ("tokens of a language model" in found["impact"]["basis"]) == tokens


DENSE = """\
from torch import nn


class Dense(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
"""
RECURRENT = DENSE.replace("Linear", "LSTM")


@pytest.mark.parametrize(
    ("files", "scale"),
    [
        ({}, ProgramScale.SMALL),
        ({"net.py": "from torch import nn\n\nnet = nn.Conv2d(4, 32, 8)\n"}, ProgramScale.LARGE),
        ({"net.py": "from torch.nn import LSTM\n"}, ProgramScale.LARGE),
        ({"game.py": "import ale_py\n"}, ProgramScale.SIMULATED),
        (
            {"a.py": DENSE, "b.py": "import torch\n", "c.py": "from torch.nn import LSTM\n"},
            ProgramScale.MIXED,
        ),
        ({"a.py": "import torch\n", "c.py": RECURRENT}, ProgramScale.LARGE),
    ],
)
def test_networks_and_environments_determine_the_scale_of_a_program(
    files: dict[str, str], scale: ProgramScale, tmp_path: Path
) -> None:
    """A program is compared with the steps of its networks and environments, a library of both with all."""
    together = "".join(f"from . import {name.removesuffix('.py')}\n" for name in (*files, "train.py"))
    (tmp_path / "lab").mkdir()
    for name, text in {
        **files,
        "__init__.py": together,
        "train.py": REPEATS.replace("NAMED", "batch"),
    }.items():
        (tmp_path / "lab" / name).write_text(text)
    (found,) = findings_in(tmp_path / "lab", "RL609")
    expected = impact_of(replace(ONE, scale=scale), measured(1.0))
    assert expected is not None
    assert found["impact"]["basis"].partition("; ")[2] == expected.basis.partition("; ")[2]


@pytest.mark.parametrize(
    ("also", "scale"),
    [
        ("", ProgramScale.SLOW),
        ("import tensorboard\n", ProgramScale.SLOW),
        ("import torch\n", ProgramScale.SMALL),
    ],
)
def test_networks_of_tensorflow_take_long(also: str, scale: ProgramScale) -> None:
    """Each call of them does, unless the program computes with torch."""
    net = "import tensorflow as tf\nmodel = tf.keras.Sequential()\n"
    models = build({"lab/net.py": net, "lab/train.py": f"from lab.net import model\n{also}"})
    assert models["lab/train.py"].program.scale() is scale


READS = """\
import torch
from torch import nn

net, optimizer = nn.Linear(4, 2).cuda(), torch.optim.Adam([])


def train(loader):
    losses = []
    for batch in loader:
        value = net(batch.cuda())
        value.mean().backward()
        optimizer.step()
        losses.append((READ))
    return losses
"""


@pytest.mark.parametrize(("number", "level"), [(2, "low"), (6, "low"), (7, "unknown")])
def test_a_few_reads_of_a_step_cost_little(number: int, level: str, tmp_path: Path) -> None:
    """A step of milliseconds does not notice two reads of a loss; many reads take their share of it."""
    reads = ", ".join(f"value[{row}].sum().item()" for row in range(number))
    (tmp_path / "train.py").write_text(READS.replace("READ", reads))
    (found,) = findings_in(tmp_path, "RL202")
    assert found["impact"]["level"] == level


LOGGED = """\
import torch
from torch import nn

net = nn.LAYER
optimizer = torch.optim.Adam(net.parameters())


def train(loader):
    for batch in loader:
        loss = net(batch).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        WRITES


train(make())
"""
LINE = "print('loss', loss)"


@pytest.mark.parametrize(
    ("layer", "writes", "is_small"),
    [
        ("Conv2d(4, 2, 3)", LINE, True),
        ("Conv2d(4, 2, 3)", f"{LINE}\n        {LINE}", False),
        ("Linear(4, 2)", LINE, False),
    ],
)
def test_one_line_in_a_long_step_costs_little(
    layer: str, writes: str, is_small: bool, tmp_path: Path
) -> None:
    """The step of a network for images takes far longer than writing a line."""
    (tmp_path / "train.py").write_text(LOGGED.replace("LAYER", layer).replace("WRITES", writes))
    (found,) = findings_in(tmp_path, "RL604")
    assert ("one line beside" in found["impact"]["basis"]) == is_small


NEEDED = """\
import torch
from torch import nn

net, optimizer = nn.Linear(4, 2).cuda(), torch.optim.Adam([])


def train(loader, memory):
    losses = []
    for batch in loader:
        value = net(batch.cuda())
        loss = value.mean()
        loss.backward()
        optimizer.step()
        FIRST
        losses.append((value[0].sum().item(), value[1].sum().item(), value[2].sum().item(), loss.item()))
    return losses
"""


@pytest.mark.parametrize(
    ("first", "is_needed"),
    [
        ("kl = value[3].sum().item()\n        if kl > 1:\n            break", True),
        ("errors = value.abs().detach().cpu().numpy()\n        memory.update(errors + 1e-6)", True),
        ("total_loss = loss.detach().cpu().numpy()\n        memory.log(total_loss)", False),
        ("memory.append(value[3].sum().item())", False),
        (
            "kl = value[3].sum().item()\n        if memory.limit is not None and kl > 1:\n            break",
            False,
        ),
    ],
)
def test_reads_with_one_that_the_program_needs_cost_little(
    first: str, is_needed: bool, tmp_path: Path
) -> None:
    """The device is waited for anyway."""
    (tmp_path / "train.py").write_text(NEEDED.replace("FIRST", first))
    (found,) = findings_in(tmp_path, "RL202")
    assert "5" in found["message"] or "3 more" in found["message"]
    assert ("needs one of the values" in found["impact"]["basis"]) == is_needed


def is_small(found: dict[str, Any]) -> bool:
    """Whether a transfer costs little in its place, not only as there are few of them."""
    return not found["impact"]["basis"].startswith("not measured on a GPU")


MOVED = """\
import torch
from torch import nn

LAYERS
optimizer = torch.optim.Adam(net.parameters())


def train(env, loader, state):
    for batch in loader:
        STEP
        made = CREATED.to(batch.device)
        nn.functional.mse_loss(net(batch), made).backward()
        optimizer.step()


def play(env, state):
    while True:
        state, done = env.step(net(state))
        state = state + OTHER.to(state.device)


train(make(), make(), make())
play(make(), make())
"""
DENSE_NET, CONVOLUTION = "net = nn.Linear(4, 2).cuda()", "net = nn.Conv2d(4, 2, 3).cuda()"


@pytest.mark.parametrize(
    ("layers", "created", "other", "small"),
    [
        (DENSE_NET, "torch.randn(64, 2)", "torch.zeros(env.num_envs)", [False, True]),
        (DENSE_NET, "torch.zeros(64, 2, 5)", "torch.randn(env.num_envs, 4)", [False, True]),
        (CONVOLUTION, "torch.zeros(64, 2, 5)", "torch.zeros(env.num_envs, 4)", [True, True]),
        (CONVOLUTION, "torch.rand(len(batch))", "torch.zeros(4)", [True, True]),
        (CONVOLUTION, "torch.randn(64, 2)", "torch.zeros(4)", [False, True]),
    ],
)
def test_copies_of_small_constants_cost_little(
    layers: str, created: str, other: str, small: list[bool], tmp_path: Path
) -> None:
    """One constant in each step, one copy beside the gradient step of a large network, and whatever is moved
    only to act.
    """
    text = MOVED.replace("LAYERS", layers).replace("STEP", "pass")
    (tmp_path / "train.py").write_text(text.replace("CREATED", created).replace("OTHER", other))
    assert [is_small(each) for each in findings_in(tmp_path, "RL205")] == small


def test_a_read_that_ends_a_loop_costs_little(tmp_path: Path) -> None:
    """Without it, the loop would run on."""
    text = READS_OF_PARTS.replace(
        "READ", "for _ in range(50):\n            values = values / 2\n            if values.sum() < 1:\n"
        "                break"
    )  # fmt: skip
    (tmp_path / "train.py").write_text(text)
    (found,) = findings_in(tmp_path, "RL202")
    assert found["impact"]["basis"].startswith("the loop needs what it reads")


READS_OF_PARTS = """\
import torch
from torch import nn

net, optimizer = nn.Linear(4, 2).cuda(), torch.optim.Adam([])


def train(loader, found):
    for batch in loader:
        values = net(batch.cuda())
        values.mean().backward()
        optimizer.step()
        parts = {"value": values, "half": values / 2}
        READ
"""


@pytest.mark.parametrize(
    ("read", "level"),
    [
        ("for name, each in parts.items():\n            found[name] = each.cpu()", "low"),
        ("first, last = [each.cpu() for each in parts.values()]", "low"),
        ("for row in range(64):\n            found[row] = values[row].cpu()", "unknown"),
        ("found += [weight.detach().cpu().numpy() for weight in net.parameters()]", "unknown"),
    ],
)
def test_one_read_for_each_of_a_few_parts_costs_little(read: str, level: str, tmp_path: Path) -> None:
    """Entries of a dict and agents are few; rows and weights are many."""
    (tmp_path / "train.py").write_text(READS_OF_PARTS.replace("READ", read))
    (found,) = findings_in(tmp_path, "RL202")
    assert found["impact"]["level"] == level


PLAYED = """\
import gym
from torch import nn, optim
from torch.distributions import Normal

net = nn.Linear(4, 2)
optimizer = optim.Adam(net.parameters())


def drawn(obs):
    return Normal(net(obs), 1.0).sample()


def NAME(env):
    obs = env.reset()
    for _ in range(1000):
        obs, reward, done, info = env.step(drawn(obs))


def fit(batches):
    for batch in batches:
        loss = net(batch).mean() + CALLED
        loss.backward()
        optimizer.step()


NAME(gym.make("CartPole-v1"))
"""


@pytest.mark.parametrize(
    ("name", "called", "only_evaluates"),
    [
        ("evaluate", "0", True),
        ("evaluate", "drawn(batch)", False),  # training calls it, too
        ("collect", "0", False),
    ],
)
def test_what_only_evaluations_run_has_a_low_impact(
    name: str, called: str, only_evaluates: bool, tmp_path: Path
) -> None:
    """A function that evaluates, and what only it calls."""
    (tmp_path / "train.py").write_text(PLAYED.replace("NAME", name).replace("CALLED", called))
    assert _is_for_evaluation(tmp_path) == only_evaluates


DEMONSTRATED = """\
import gym
from torch import nn, optim
from torch.distributions import Normal

net = nn.Linear(4, 2)
optimizer = optim.Adam(net.parameters())
env = gym.make("CartPole-v1")
if __name__ == "__main__":
    obs = env.reset()
    while True:
        SHOWN
        obs, reward, done, info = env.step(Normal(net(obs), 1.0).sample())
        LEARNS
"""


@pytest.mark.parametrize(
    ("file", "shown", "learns", "only_evaluates"),
    [
        ("run.py", "env.render()", "pass", True),
        ("enjoy.py", "pass", "pass", True),
        ("run.py", "pass", "pass", False),
        ("run.py", "env.render()", "net(obs).mean().backward(); optimizer.step()", False),
    ],
)
def test_a_loop_that_renders_and_does_not_learn_is_a_demonstration(
    file: str, shown: str, learns: str, only_evaluates: bool, tmp_path: Path
) -> None:
    """So is the code of a script with the name of one."""
    (tmp_path / file).write_text(DEMONSTRATED.replace("SHOWN", shown).replace("LEARNS", learns))
    assert _is_for_evaluation(tmp_path) == only_evaluates


OFFLINE = """\
from torch import nn, optim
from torch.distributions import Normal


class Learner:
    def __init__(self):
        self.net = nn.Linear(4, 2)
        self.optimizer = optim.Adam(self.net.parameters())

    def select_action(self, obs):
        return Normal(self.net(obs), 1.0).sample()

    def train(self, dataset):
        for batch in dataset:
            self.net(batch).mean().backward()
            self.optimizer.step()


def NAME(policy, env):
    for _ in range(10):
        obs, done = env.reset(), False
        while not done:
            obs, reward, done, _ = env.step(policy.select_action(obs))


def main(env, dataset):
    learner = Learner()
    while True:
        learner.train(dataset)
        NAME(learner, env)
        CALLED


main(make(), make())
"""


@pytest.mark.parametrize(
    ("name", "called", "only_evaluates"),
    [
        ("evaluate_policy", "pass", True),
        ("collect", "pass", False),
        ("evaluate_policy", "env.step(learner.select_action(0))", False),
    ],
)
def test_a_policy_that_acts_only_in_evaluations(
    name: str, called: str, only_evaluates: bool, tmp_path: Path
) -> None:
    """Offline learning steps environments in evaluations only."""
    (tmp_path / "train.py").write_text(OFFLINE.replace("NAME", name).replace("CALLED", called))
    assert _is_for_evaluation(tmp_path) == only_evaluates


def _is_for_evaluation(project: Path) -> bool:
    (found,) = findings_in(project, "RL321")
    assert (found["impact"]["level"] == "low") == ("evaluations" in found["impact"]["basis"])
    return "evaluations" in found["impact"]["basis"]


NETWORKS = """\
from torch import nn
from torch.distributions import Normal


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, obs):
        return self.layer(obs)


class NAME(Small):
    def forward(self, obs):
        return Normal(self.layer(obs), 1.0).rsample()
"""
TRAINING = """\
from torch import optim

IMPORTED

net = Small()
optimizer = optim.Adam(net.parameters())
for batch in range(10_000):
    loss = net(batch).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("name", "imported", "exported", "is_unused"),
    [
        ("Noisy", "from agents.networks import Small", "", True),
        ("Noisy", "from agents.networks import *", "", True),
        ("Noisy", "from agents import networks\nSmall = networks.Small", "", True),
        ("Noisy", "from agents.networks import Noisy as Small", "", False),
        ("Noisy", "from agents.networks import Small\nkinds = {'noisy': 'Noisy'}", "", False),
        (
            "Noisy",
            "from agents.networks import Small\nfrom agents import networks\nnetworks.Noisy",
            "",
            False,
        ),
        ("Noisy", "from agents.networks import Small", "from agents.networks import Noisy", False),
        ("Noisy", "import hydra\nfrom agents.networks import Small\nhydra.main()", "", True),
        ("Noisy", "import hydra\nfrom agents.networks import Small\nhydra.utils.call(1)", "", False),
        ("Noisy", "Small = type", "", False),  # the file may be a library of which no user is seen
        ("noisy", "from agents.networks import Small", "", False),
    ],
)
def test_classes_that_nothing_uses_have_a_low_impact(
    name: str, imported: str, exported: str, is_unused: bool, tmp_path: Path
) -> None:
    """In a file whose other classes are used; not if a package exports it, or a text may name it."""
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "__init__.py").write_text(exported)
    (tmp_path / "agents" / "networks.py").write_text(NETWORKS.replace("NAME", name))
    (tmp_path / "train.py").write_text(TRAINING.replace("IMPORTED", imported))
    (found,) = findings_in(tmp_path, "RL321")
    assert (found["impact"]["basis"] == "no code of this project uses it") == is_unused


UNUSED = """\
import tools
from torch.distributions import Normal


class Old:
    def act(self, obs):
        for _ in range(1000):
            obs = tools.ENV.step(Normal(obs, 1.0).rsample())
        return obs
"""


@pytest.mark.parametrize(
    ("imports", "reason"),
    [
        ("", "no script of this project reaches `old.agent`"),
        ("import old.agent\n\nold.agent.Old().act(1)", ""),
    ],
)
def test_files_that_no_script_reaches_have_a_low_impact(imports: str, reason: str, tmp_path: Path) -> None:
    """The reason names the file."""
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "__init__.py").write_text("")
    (tmp_path / "old" / "agent.py").write_text(UNUSED)
    (tmp_path / "tools.py").write_text(
        "import gymnasium\n\nENV = gymnasium.make('CartPole-v1')\nrun = lambda agent: agent.act(1)\n"
    )
    loop = "for _ in range(1000):\n    tools.ENV.step(0)"
    (tmp_path / "train.py").write_text(f"import tools\n{imports}\n\n{loop}\n")
    (found,) = findings_in(tmp_path, "RL321")
    assert (found["impact"]["basis"] == reason) == bool(reason)
    assert (found["impact"]["level"] == "low") == bool(reason)


@pytest.mark.parametrize(
    ("added", "is_left_out"),
    [
        ({}, True),
        ({"test_agent.py": "from old import agent\n\n\ndef test():\n    agent.Old().act(1)\n"}, True),
        ({"show.py": "from old import agent\n\nagent.Old().act(1)\n"}, False),
        ({"train.py": "def train(loss):\n    loss.backward()\n"}, False),  # nothing calls it
        ({"load.py": "import importlib\n\nimportlib.import_module(input())\n"}, False),
        ({"load.py": "import gin\n"}, False),
        ({"setup.py": "import setuptools\n\nsetuptools.setup()\n"}, False),
        ({"pyproject.toml": "[build-system]\n"}, False),
        ({"pyproject.toml": "[tool.ruff]\n"}, True),
        # one of several agents, which a script may import another time
        ({"ddpg.py": "class DDPG: pass\n", "sac.py": "class SAC: pass\n"}, False),
    ],
)
def test_files_next_to_programs_that_train_have_a_low_impact(
    added: dict[str, str], is_left_out: bool, tmp_path: Path
) -> None:
    """Programs that share no import with them, in a project that offers nothing to others."""
    (tmp_path / "old").mkdir()
    agent = UNUSED.replace("import tools\n", "").replace("tools.ENV", "self.env")
    program = "from networks import net\n\nfor _ in range(1000):\n    net(1).backward()\n"
    texts = {"old/agent.py": agent, "train.py": program, "networks.py": "net = abs\n"}
    for name, text in {**texts, "requirements.txt": "", **added}.items():
        (tmp_path / name).write_text(text)
    (found,) = findings_in(tmp_path, "RL321")
    reason = "no script of this project reaches `old.agent`"
    assert (found["impact"]["basis"] == reason) == is_left_out


PLOTTING = """\
import numpy as np
import torch

net = torch.nn.Linear(4, 2)
optimizer = torch.optim.Adam(net.parameters())
rewards = np.zeros(5000)


def smooth_rewards(rewards):
    mean = np.zeros_like(rewards)
    for place in range(50, len(rewards)):
        mean[place] = np.mean(rewards[place - 50 : place])
    return mean


def update(env):
    for _ in range(80):
        obs, reward, *_ = env.step(0)
        optimizer.zero_grad()
        net(torch.as_tensor(obs)).mean().backward()
        optimizer.step()
    IN_UPDATE


def main(env):
    BEFORE
    TRAINING
    AFTER
    for _ in range(1000):
        LATER


main(input())
"""


@pytest.mark.parametrize(
    ("parts", "is_after"),
    [
        ({"TRAINING": "update(env)", "AFTER": "smooth_rewards(rewards)"}, True),
        ({"TRAINING": "update(env)", "BEFORE": "smooth_rewards(rewards)"}, False),
        ({"TRAINING": "update(env)", "LATER": "smooth_rewards(rewards)"}, False),  # a main loop, perhaps
        ({"LATER": "update(env)", "IN_UPDATE": "smooth_rewards(rewards)"}, False),
        ({"AFTER": "smooth_rewards(rewards)"}, False),
        (
            {
                "TRAINING": "update(env)",
                "AFTER": "smooth_rewards(rewards)",
                "LATER": "update(env)\n        smooth_rewards(rewards)",
            },
            False,
        ),
    ],
)
def test_code_after_the_training_has_a_low_impact(
    parts: dict[str, str], is_after: bool, tmp_path: Path
) -> None:
    """Of which all calls follow a whole training, in no loop that may be a training itself."""
    text = PLOTTING
    for name in ("IN_UPDATE", "BEFORE", "TRAINING", "AFTER", "LATER"):
        text = text.replace(name, parts.get(name, "pass"))
    (tmp_path / "train.py").write_text(text)
    (found,) = findings_in(tmp_path, "RL505")
    assert (found["impact"]["basis"] == "it runs only after the training") == is_after


@pytest.mark.parametrize(
    ("compiled", "level"),
    [("torch.compile(net)", "low"), ("re.compile('a')", "medium"), ("net.compiled", "medium")],
)
def test_validation_that_torch_compile_turns_off_has_a_low_impact(
    compiled: str, level: str, tmp_path: Path
) -> None:
    """Wherever the program calls it."""
    (tmp_path / "train.py").write_text(DEMONSTRATED.replace("SHOWN", "pass").replace("LEARNS", "pass"))
    (tmp_path / "fast.py").write_text(f"import re\n\nimport torch\nfrom train import net\n\n{compiled}\n")
    (found,) = findings_in(tmp_path, "RL321")
    assert found["impact"]["level"] == level


KEEPING = """\
import torch


def train(net, batches, optimizer):
    kept = 0
    for batch in batches:
        ratio = net(batch)
        loss = (ratio * batch).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        kept += KEPT
    return kept


net = torch.nn.Linear(4, 1)
train(net, torch.rand(9, 64, 4), torch.optim.Adam(net.parameters()))
"""


@pytest.mark.parametrize(
    ("kept", "level"), [("loss", "low"), ("ratio.mean()", "low"), ("ratio.square().sum()", "medium")]
)
def test_graphs_of_which_backward_freed_the_tensors_have_a_low_impact(
    kept: str, level: str, tmp_path: Path
) -> None:
    """A mean saves no tensor; a square saves the ratio."""
    (tmp_path / "train.py").write_text(KEEPING.replace("KEPT", kept))
    (found,) = findings_in(tmp_path, "RL318")
    assert found["impact"]["level"] == level


MOVING = """\
import torch
from torch import nn

device = torch.device("cuda")


def train(batches, optimizer):
    net = nn.Sequential(nn.LAYER, nn.ReLU()).to(device)
    for batch in batches:
        made = MADE.to(device)
        for part in PARTS:
            made = made + INNER.to(device)
        losses = [(net(batch) * made).mean(dim) for dim in range(8)]
        optimizer.zero_grad()
        sum(losses).mean().backward()
        optimizer.step()
        first, second, third, fourth, fifth, sixth, seventh, eighth = losses
        log(READ)
"""
NAMES = "first second third fourth fifth sixth seventh eighth".split()
EIGHT_READS = ", ".join(f"{name}.mean().item()" for name in NAMES)


def found_in_loop(tmp_path: Path, code: str, **parts: str) -> list[dict[str, Any]]:
    """Return a rule's findings in a training loop."""
    text = MOVING
    given = {"LAYER": "Linear(4, 4)", "MADE": "batch", "PARTS": "()", "INNER": "made", "READ": ""}
    for name, part in {**given, **parts}.items():
        text = text.replace(name, part)
    (tmp_path / "train.py").write_text(text)
    return findings_in(tmp_path, code)


@pytest.mark.parametrize(("layer", "level"), [("Linear(4, 4)", "unknown"), ("Conv2d(4, 4, 3)", "low")])
def test_reads_of_a_long_gradient_step_have_a_low_impact(layer: str, level: str, tmp_path: Path) -> None:
    """Eight reads take a tenth of a millisecond."""
    (found,) = found_in_loop(tmp_path, "RL202", LAYER=layer, READ=EIGHT_READS)
    assert found["impact"]["level"] == level


@pytest.mark.parametrize(
    ("parts", "few"),
    [
        ({"MADE": "torch.zeros(64, 1)"}, True),
        ({"MADE": "torch.linspace(-10, 10, 51)"}, True),
        ({"MADE": "torch.zeros(64, 18, 18)"}, False),
        ({"MADE": "torch.randn(64, 1)"}, True),
        ({"MADE": "torch.randn(64, 18)"}, False),
        ({"PARTS": "range(10)", "INNER": "torch.ones(64)"}, False),
    ],
)
def test_small_constants_of_a_gradient_step_have_a_low_impact(
    parts: dict[str, str], few: bool, tmp_path: Path
) -> None:
    """Not many random numbers, of which each step needs new ones, and nothing in an inner loop."""
    (found,) = found_in_loop(tmp_path, "RL205", **parts)
    assert is_small(found) == few
    assert (found["impact"]["level"] == "unknown") == ("PARTS" in parts)


@pytest.mark.parametrize(
    ("parameters", "level"), [("0, 1", "low"), ("loc=0.0, scale=1.0", "low"), ("batch, 1", "medium")]
)
def test_distributions_of_numbers_have_a_low_impact(parameters: str, level: str, tmp_path: Path) -> None:
    """No check of their parameters waits for a device."""
    text = f"""
import torch
from torch.distributions import Normal


def train(env, policy):
    batch = torch.as_tensor(env.reset())
    while True:
        noise = Normal({parameters})
        batch = torch.as_tensor(env.step(policy(batch) + noise.sample()))
        print(noise.log_prob(batch))
"""
    (tmp_path / "train.py").write_text(text)
    (found,) = findings_in(tmp_path, "RL321")
    assert found["impact"]["level"] == level


REPLAY = """
import random
from collections import deque

import numpy as np
import torch
from torch import nn

net = nn.LAYER
memory = deque(maxlen=100_000)


def train(env, optimizer):
    state = env.reset()
    while True:
        following, reward, done, _ = env.step(net(torch.as_tensor(state)))
        memory.append((state, reward, following, done))
        state = following
        states, rewards, followings, ends = zip(*random.sample(memory, 64))
        loss = net(torch.as_tensor(np.stack(states))).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("layer", "level"), [("Linear(4, 2)", "medium"), ("Conv2d(4, 2, 3)", "low")])
def test_buffers_of_images_gain_little_memory(layer: str, level: str, tmp_path: Path) -> None:
    """The objects of a transition are small beside a frame."""
    (tmp_path / "train.py").write_text(REPLAY.replace("LAYER", layer))
    (found,) = findings_in(tmp_path, "RL104")
    assert found["impact"]["level"] == level


SHARED = """
import torch
from torch import nn


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = TRUNK
        self.head, self.value = nn.Linear(64, 2), nn.Linear(64, 1)

    def policy(self, x):
        return self.head(torch.relu(self.trunk(x)))

    def values(self, x):
        return self.value(torch.relu(self.trunk(x)))

    def learn(self, x, optimizer):
        loss = self.policy(x).mean() + self.values(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def learn_backwards(self, x, optimizer):
        loss = self.values(x).mean() + self.policy(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train(batches):
    agent = Agent()
    optimizer = torch.optim.Adam(agent.parameters())
    for batch in batches:
        agent.learn(batch, optimizer)
        agent.learn_backwards(batch, optimizer)
"""


@pytest.mark.parametrize(
    ("trunk", "level"),
    [
        ("nn.Linear(4, 64)", "low"),
        ("nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64))", "medium"),
    ],
)
def test_a_dense_layer_that_runs_twice_costs_little(trunk: str, level: str, tmp_path: Path) -> None:
    """One finding for the two methods, whatever their order in the callers."""
    (tmp_path / "train.py").write_text(SHARED.replace("TRUNK", trunk))
    (found,) = findings_in(tmp_path, "RL313")
    assert found["impact"]["level"] == level


CURVE = ((8, 1e-5), (64, 8e-5), (1024, 1e-3))
SIZED = WorkloadSaving("w", 8e-5, 64, "rows", 1, CURVE)


@pytest.mark.parametrize(("size", "seconds"), [*CURVE, (4, 5e-6), (2, 2.5e-6), (16, 2e-5), (0, 8e-5)])
def test_a_saving_is_that_at_the_size_of_the_place(size: int, seconds: float) -> None:
    """As measured at that size, else on the line between the nearest two; a size of 0 is no size."""
    assert SIZED.at(size).seconds == pytest.approx(seconds)


@given(st.integers(1, 10**9), st.integers(1, 10**9))
def test_a_saving_does_not_shrink_with_the_size(first: int, second: int) -> None:
    """Whatever the size, also far beyond the measured ones."""
    small, large = sorted((first, second))
    assert 0 < SIZED.at(small).seconds <= SIZED.at(large).seconds * (1 + 1e-9)


def test_collected_steps_are_compared_with_as_many_steps() -> None:
    """Half of a rollout was collected in half of the steps; without a curve, nothing is known."""
    rollout = WorkloadSaving("w", 8e-5, 64, "steps", 64, CURVE)
    assert rollout.at(32).steps == 32
    assert WorkloadSaving("w", 8e-5, 64, "steps", 64).at(32).seconds == 8e-5


BATCH = """
import random
import numpy as np
import torch


def train(net, optimizer, memory):
    for step in range(100_000):
        rows = random.sample(memory, SIZE)
        states = torch.tensor([np.asarray(row) for row in rows], dtype=torch.float32)
        loss = net(states).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("size", "level"), [("2", "low"), ("1024", "high")])
def test_small_batches_matter_less(size: str, level: str, tmp_path: Path) -> None:
    """The same line, for two rows and for a thousand; the report says for how many."""
    (tmp_path / "train.py").write_text(BATCH.replace("SIZE", size))
    (found,) = findings_in(tmp_path, "RL103")
    assert found["impact"]["level"] == level
    assert f"here {int(size):,} " in found["impact"]["basis"]


EPOCHS = """
import torch
from torch.utils.data import DataLoader


def update(net, optimizer, memory, agents):
    for _ in range(10):
        loader = DataLoader(memory, 64)
        for batch in WHOLE:
            loss = net(batch).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def train(net, optimizer, env, memory, agents):
    for step in range(100_000):
        memory.append(env.step(net(env.state)))
        update(net, optimizer, memory, agents)
"""


@pytest.mark.parametrize(
    ("whole", "shown"), [("loader", "; 100 gradient steps take"), ("agents", "; a gradient step")]
)
def test_what_runs_once_per_epoch_is_compared_with_its_updates(
    whole: str, shown: str, tmp_path: Path
) -> None:
    """An inner loop over batches takes many gradient steps, one over a few agents a few."""
    (tmp_path / "train.py").write_text(EPOCHS.replace("WHOLE", whole))
    (found,) = findings_in(tmp_path, "RL609")
    assert shown in found["impact"]["basis"]


REPEATED_ROWS = """\
import torch
from torch import nn


class Learner:
    def __init__(self):
        self.critics = nn.ModuleList([nn.Linear(8, 1), nn.Linear(8, 1)])
        self.optimizer = torch.optim.Adam(self.critics.parameters())

    def learn(self, states: torch.Tensor, wanted: torch.Tensor):
        values = torch.stack([critic(states) for critic in self.critics], 0)
        targets = wanted.view(states.shape[0], COLUMNS).unsqueeze(0).repeat(values.shape[0], 1, 1)
        loss = torch.square(values - targets).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
"""


@pytest.mark.parametrize(("columns", "level"), [("1", "low"), ("-1", "medium")])
def test_repeated_numbers_have_a_low_impact(columns: str, level: str, tmp_path: Path) -> None:
    """Rows of one number each take microseconds to copy."""
    (tmp_path / "learner.py").write_text(REPEATED_ROWS.replace("COLUMNS", columns))
    (found,) = findings_in(tmp_path, "RL325")
    assert found["impact"]["level"] == level


LOSSES = """\
from torch import nn, optim


class Learner:
    def __init__(self):
        self.net = nn.Linear(8, 1)
        self.optimizer = optim.Adam(self.net.parameters())
        self.losses = []

    def learn(self, batches):
        losses = []
        for batch in batches:
            loss = self.net(batch).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            KEPT.append(loss)


def train(learner, loader):
    for batches in loader:
        learner.learn(batches)
"""


@pytest.mark.parametrize(("kept", "level"), [("losses", "low"), ("self.losses", "medium")])
def test_losses_of_one_call_have_a_low_impact(kept: str, level: str, tmp_path: Path) -> None:
    """Their list is gone when the function returns, and `backward` has freed what the graphs saved."""
    (tmp_path / "learner.py").write_text(LOSSES.replace("KEPT", kept))
    (found,) = findings_in(tmp_path, "RL318")
    assert found["impact"]["level"] == level


@pytest.mark.parametrize(("pause", "level"), [("0.05", "high"), ("0.0002", "medium")])
def test_a_pause_costs_its_length(tmp_path: Path, pause: str, level: str) -> None:
    """In every step, whatever a sleeping fixture was measured to gain."""
    (tmp_path / "train.py").write_text(
        "import time\n\n\ndef train(env, agent):\n    state = env.reset()\n    for _ in range(100_000):\n"
        f"        state, reward, done, info = env.step(agent.act(state))\n        time.sleep({pause})\n"
        "        agent.learn(state, reward)\n"
    )
    (found,) = findings_in(tmp_path, "RL610")
    assert found["impact"]["level"] == level
    assert f"takes {float(pause):.2g} s of every environment step" in found["impact"]["basis"]


NOISE = """\
import torch
from torch import nn


class Learner:
    def __init__(self, device="cuda"):
        self.device = device
        self.actor, self.critic = nn.Linear(8, 2).to(device), nn.Linear(10, 1).to(device)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters())
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters())

    def learn(self, states, batch_size, repeats):
        drawn = torch.rand(SIZE, 2).to(self.device)
        loss = self.critic(torch.cat([states, drawn], 1)).mean()
        self.critic_optimizer.zero_grad()
        loss.backward()
        self.critic_optimizer.step()
        loss = self.critic(torch.cat([states, self.actor(states)], 1)).mean()
        self.actor_optimizer.zero_grad()
        loss.backward()
        self.actor_optimizer.step()


def train(memory, steps):
    learner = Learner()
    for _ in range(steps):
        learner.learn(memory.sample(100), 100, 10)
"""


@pytest.mark.parametrize(
    ("size", "few"),
    [
        ("batch_size", True),
        ("len(states)", True),
        ("batch_size * repeats", False),
        ("8_000", False),
    ],
)
def test_one_small_tensor_matters_little_in_a_step_of_several_networks(
    size: str, few: bool, tmp_path: Path
) -> None:
    """Unless it has many numbers, or its rows are repeated."""
    (tmp_path / "learner.py").write_text(NOISE.replace("SIZE", size))
    (found,) = findings_in(tmp_path, "RL205")
    assert is_small(found) == few


RECURRENCE = """
import torch

class Storage:
    def __init__(self, num_steps=64):
        self.rewards = torch.zeros(num_steps, 1)

    def returns(self, gamma):
        total, found = torch.zeros(1), []
        for t in reversed(range(self.rewards.size(0))):
            total = self.rewards[t] + gamma * total
            found.append(total)
        return torch.stack(found)

def train(env, storage: Storage, agent, optimizer, updates, num_steps):
    for _ in range(updates):
        for step in range(num_steps):
            _, storage.rewards[step], _, _ = env.step(agent.act())
        optimizer.zero_grad()
        agent.loss(storage.returns(0.99)).backward()
        optimizer.step()
"""


def test_a_recurrence_is_as_long_as_a_rollout(tmp_path: Path) -> None:
    """The program sets it, where the loop itself does not tell how many steps there are."""
    (tmp_path / "train.py").write_text(RECURRENCE)
    (found,) = (each for each in findings_in(tmp_path, "RL506") if each["code"])
    assert "(here 64 steps)" in found["impact"]["basis"]
