"""The base class of rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from rlint.findings import (
    CodeExtent,
    Confidence,
    Finding,
    Fix,
    Heat,
    Impact,
    Related,
    Requirement,
    TrainingStep,
)

if TYPE_CHECKING:
    from rlint.semantics.model import SemanticModel
    from rlint.semantics.model_libcst import LibcstModel


def last_names(*paths: str) -> frozenset[str]:
    """Return the last parts of dotted names, for `Rule.callees`."""
    return frozenset(path.rpartition(".")[2] for path in paths)


class Rule:
    """A rule for one performance antipattern. A subclass is the only class in its file, and keeps no state.

    The module docstring of that file is the rule's page (`rlint rule CODE` prints it).
    """

    code: ClassVar[str]
    """The code, as in the file name: "RL205"."""
    name: ClassVar[str]
    """The name of the pattern (not of the remedy), as in the file name: "create-then-move"."""
    seeds: ClassVar[tuple[str, ...]] = ()
    """Sections of the seed documents that describe the pattern."""
    claims: ClassVar[tuple[str, ...]] = ()
    """Gains that the harness must confirm: "time", "cpu", "mem", "alloc", "sync:cuda", "exp"."""
    heat: ClassVar[Heat] = Heat.HOT
    """The lowest heat worth a finding. The engine drops findings in colder code and, unless this is COLD,
    passes no nodes of functions that are entirely cold.
    """
    opt_in: ClassVar[bool] = False
    """Off unless selected by code, name or ALL."""
    scales_with_network: ClassVar[bool] = False
    """Whether the saving grows with the network (a forward pass, a graph), so that its share of a step is the
    same for large and small networks.
    """
    concerns_evaluation: ClassVar[bool] = False
    """Whether the pattern is about evaluations. Findings of other rules have a low impact in code that only
    evaluates or shows a trained policy.
    """
    concerns_waiting: ClassVar[bool] = False
    """Whether the pattern is that code waits. Findings of other rules have a low impact in loops that wait
    for the clock.
    """
    assumed_size: ClassVar[int | None] = None
    """How many items a finding concerns where `size_of` does not tell, unless `concerns_many` says that they
    are many; None to assume those of the workloads.
    """
    transfers: ClassVar[int | None] = None
    """How many transfers or synchronisations a finding causes in one run, if those are its cost."""
    one_change_mends: ClassVar[CodeExtent | None] = None
    """The code in which one change usually mends all findings: only the first of them has an impact."""
    mended_with: ClassVar[tuple[str, ...]] = ()
    """The codes of rules: the change for a finding of theirs in the same file mends those of this rule."""
    visits: ClassVar[tuple[type, ...]] = ()
    """The node types to check: the engine passes nodes of exactly these `ast` types, in source order. They
    may be LibCST types instead: the statements of nodes that pass the filters below are then parsed by
    LibCST, and `model` is queried with its nodes. LibCST is then imported with the rule.
    """
    callees: ClassVar[frozenset[str]] = frozenset()
    """Names of the calls to check (all calls, if empty): the last part of the written or qualified name,
    `deepcopy` for `copy.deepcopy`.
    """
    attributes: ClassVar[frozenset[str]] = frozenset()
    """Names of the attributes (`x.T`) to check (all, if empty)."""
    triggers: ClassVar[tuple[str, ...]] = ()
    """Strings of which a file's text must contain at least one to be checked (all files, if empty)."""

    def concerns(self, model: Any) -> bool:  # noqa: ARG002 - most rules concern every file
        """Whether the rule can find anything in this file. Called once per file, before any node is
        checked.
        """
        return True

    def check(self, node: Any, model: Any) -> Iterator[Finding]:
        """Yield the findings at `node`, which is of one of the types in `visits`; `model` is the
        `SemanticModel` of the file.
        """
        raise NotImplementedError

    def size_of(self, node: Any, model: Any) -> int | None:  # noqa: ARG002 - most rules do not depend on it
        """Return how many items a finding at `node` likely concerns in one run, in the unit of the workloads
        of the rule's fixture (see `model.sizes`). The impact is that at this size; None if it is not known.
        """
        return None

    def concerns_many(self, node: Any, model: Any) -> bool:
        """Whether a finding at `node` likely concerns a batch, a rollout or an image, of unknown size."""
        return bool(model.sizes.has_many(node))

    def finding(  # noqa: PLR0913 - each keyword is one part of what a finding says
        self,
        model: SemanticModel | LibcstModel,
        node: Any,
        message: str,
        *,
        fix: Fix | None = None,
        advice: str | None = None,
        assumes: str | None = None,
        related: Sequence[tuple[Any, str]] = (),
        only_on: Sequence[str] = (),
        minor: str | None = None,
        stated: Impact | None = None,
        workload: str | None = None,
        size: int | None = None,
        transfers: int | None = None,
        slow_since: Requirement | None = None,
        throughout: TrainingStep | None = None,
    ) -> Finding:
        """Return a finding for `node`, with its place and its heat. A finding that `assumes` something (a
        clause to follow "if") is likely, not certain; so is one in code that only likely runs often.
        `related` are further places in this file, each with a message. `only_on` are the device types
        on which this finding has a cost, if other findings of the rule have a cost on all. `minor` says why
        this one costs little, whatever other findings of the rule cost. `stated` is the impact, if the
        finding is of another kind than was measured. `workload` names the workload of the rule's fixture that
        does the same, if not all do: the impact is estimated from its gain alone. `size` is used instead of
        `size_of(node, model)`, and `transfers` instead of the number of the rule. `slow_since` is the library
        version since which this has a cost.
        `throughout` is the step in which the cost arises, if the line itself runs once, such as one that
        turns on a mode.
        """
        start, end = model.span_of(node)
        first, last = model.logical_lines(node)
        heat = model.frequency.heat_of(node)
        steps, nested_steps = _steps(model, node, large=not self.scales_with_network)
        if throughout is not None:
            steps, nested_steps = (throughout,), ()
        minor = minor or self._why_rare(model, node)
        # minor findings, and most of those that state their impact, are compared with no step
        compares = heat.level is Heat.HOT and bool(steps) and minor is None and stated is None
        size = self.size_of(node, model) if size is None else size
        is_assumed = size is None and self.assumed_size is not None and not self.concerns_many(node, model)
        runs = model.sizes.runs(node)
        assumes = assumes or (heat.assumption if self.heat is not Heat.COLD else "") or None
        return Finding(
            code=self.code,
            name=self.name,
            message=message,
            path=model.path,
            start=start,
            end=end,
            first_line=first,
            last_line=last,
            heat=heat.level,
            chain=heat.chain,
            advice=advice,
            fix=fix,
            confidence=Confidence.LIKELY if assumes else Confidence.CERTAIN,
            assumption=assumes,
            steps=steps,
            nested_steps=nested_steps,
            collects=TrainingStep.GRADIENT in steps and model.sizes.learns_from_steps(node),
            environment_steps=model.sizes.steps_per_update(node) if compares else 0,
            scale=model.program.scale(),
            updates=model.sizes.updates(node),
            replayed_updates=0 if TrainingStep.GRADIENT in steps else model.sizes.replayed_updates(node),
            runs=runs,
            waits_for_simulator=model.sizes.waits_for_simulator(),
            only_on=tuple(only_on),
            minor=minor,
            stated=stated,
            workload=workload,
            size=self.assumed_size if is_assumed else size,
            is_size_assumed=is_assumed,
            transfers=self._transfers(model, node, runs) if transfers is None else transfers,
            slow_since=slow_since,
            throughout=throughout is not None,
            one_change_mends=self.one_change_mends,
            mended_with=self.mended_with,
            related=tuple(_related(model, place, said) for place, said in related),
        )

    def _transfers(self, model: SemanticModel | LibcstModel, node: Any, runs: int) -> int | None:
        """Return how many transfers a finding causes in one of its `runs`, with the iterations of inner loops
        if there are any.
        """
        if self.transfers is None or runs:
            return self.transfers
        return self.transfers * (model.sizes.passes_in_step(node) or 1)

    def _why_rare(self, model: SemanticModel | LibcstModel, node: Any) -> str | None:
        """Return why hot code at a node hardly runs in training."""
        usage = model.usage
        if usage.is_unused(node):
            return "no code of this project uses it"
        left_out = usage.why_left_out(node)
        if left_out:
            return left_out
        if not self.concerns_evaluation and usage.is_evaluation(node):
            return "it runs in evaluations, not in training"
        if not self.concerns_waiting and usage.is_in_real_time(node):
            return "it runs in a loop that waits for the clock in each iteration"
        phase = usage.phase(node)
        if phase:
            return f"it runs only {phase}"
        if model.branches.is_exploration(node):
            return "it runs only when the agent explores at random"
        if usage.is_overridden(node):
            return "all classes of this project override the method"
        unreached = model.branches.why_unreached(node)
        if unreached:
            return f"it does not run: {unreached}"
        off = model.branches.why_off(node)
        if off:
            return f"it only runs with other settings: {off}"
        per_item = self.heat is not Heat.COLD and model.frequency.heat_of(node).runs_per_item
        return "no training is known to run it" if per_item else None


def _steps(
    model: SemanticModel | LibcstModel, node: Any, *, large: bool
) -> tuple[tuple[TrainingStep, ...], tuple[TrainingStep, ...]]:
    """Return the training steps that an iteration around a node performs, and those that it performs many
    times; with `large`, count language models, too.
    """
    cadence = model.frequency.cadence(node)
    found = {driver.step for driver in cadence.drivers} if cadence is not None else set()
    inner = {driver.step for driver in cadence.inner} if cadence is not None else set()
    if found and model.sizes.is_once_per_rollout(node):
        inner.add(TrainingStep.ENVIRONMENT)
    if not large:
        pass
    elif model.program.uses_language_models():
        environment = TrainingStep.ENVIRONMENT in found  # such as the reward of each completion
        found |= {TrainingStep.TOKEN} if environment else {TrainingStep.GRADIENT, TrainingStep.TOKEN}
    return tuple(sorted(found, key=str)), tuple(sorted(inner - {TrainingStep.MESSAGE}, key=str))


def _related(model: SemanticModel | LibcstModel, place: Any, said: str) -> Related:
    start, end = model.span_of(place)
    return Related(model.path, start, end, said)
