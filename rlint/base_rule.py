"""The class that rules derive from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from rlint.findings import Confidence, Finding, Fix, Heat, Related, TrainingStep

if TYPE_CHECKING:
    from rlint.semantics.model import SemanticModel
    from rlint.semantics.model_libcst import LibcstModel


def last_names(*paths: str) -> frozenset[str]:
    """The last parts of dotted names, as `Rule.callees` wants them."""
    return frozenset(path.rpartition(".")[2] for path in paths)


class Rule:
    """One performance antipattern. A subclass is the only class in its file, and keeps no state.

    The module docstring of that file is the rule's page (`rlint rule CODE` prints it).
    """

    code: ClassVar[str]
    """"RL205": as in the file's name."""
    name: ClassVar[str]
    """"create-then-move": states the pattern, not the remedy; as in the file's name."""
    seeds: ClassVar[tuple[str, ...]] = ()
    """The seed documents' sections that describe the pattern."""
    claims: ClassVar[tuple[str, ...]] = ()
    """What the harness must show: "time", "cpu", "mem", "alloc", "sync:cuda", "exp"."""
    heat: ClassVar[Heat] = Heat.HOT
    """The coldest code worth a finding; the engine drops findings in colder code, and hands over no nodes of
    functions that are cold all through unless it is COLD.
    """
    opt_in: ClassVar[bool] = False
    """Off unless selected by code, name or ALL."""
    scales_with_network: ClassVar[bool] = False
    """What the fix saves grows with the network (a forward pass, a graph): beside the step of a large one, it
    is as much of it as beside that of a small one.
    """
    visits: ClassVar[tuple[type, ...]] = ()
    """The engine passes nodes of exactly these types of `ast`, in source order. They may be types of LibCST
    instead: of what passes the filters below, the statement is parsed and its node passed, and `model` is
    asked by such nodes. LibCST is then imported with the rule.
    """
    callees: ClassVar[frozenset[str]] = frozenset()
    """Of the calls that it visits, the rule looks only at those of these names: the last part of what is
    called, as written or as qualified, `deepcopy` for `copy.deepcopy` (all calls, if empty).
    """
    attributes: ClassVar[frozenset[str]] = frozenset()
    """Of the attributes (`x.T`) that it visits, the rule looks only at those of these names (all, if empty).
    """
    triggers: ClassVar[tuple[str, ...]] = ()
    """The rule can find something only in a file whose text contains one of these (all files, if empty)."""

    def concerns(self, model: Any) -> bool:  # noqa: ARG002 - most concern every file
        """Whether the rule can find anything in this file. Called once, before any node is checked."""
        return True

    def check(self, node: Any, model: Any) -> Iterator[Finding]:
        """Yield what is wrong with `node`, of one of the types that the rule visits; `model` is the
        `SemanticModel` of the file.
        """
        raise NotImplementedError

    def finding(
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
    ) -> Finding:
        """Return the finding for `node`, with its place and its heat. One that `assumes` something (a clause
        to follow "if") is likely, not certain, and so is one in code that only likely runs often. `related`
        are further places in this file, each with what is to be said of it. `only_on` are the kinds of
        devices on which alone this one costs anything, where others of the rule cost on all.
        """
        start, end = model.span_of(node)
        first, last = model.logical_lines(node)
        heat = model.frequency.heat_of(node)
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
            steps=_steps(model, node, large=not self.scales_with_network),
            only_on=tuple(only_on),
            related=tuple(_related(model, place, said) for place, said in related),
        )


def _steps(model: SemanticModel | LibcstModel, node: Any, *, large: bool) -> tuple[TrainingStep, ...]:
    """Return the training steps that an iteration around a node performs; with `large`, count language
    models, too.
    """
    cadence = model.frequency.cadence(node)
    found = {driver.step for driver in cadence.drivers} if cadence is not None else set()
    if not large:
        pass
    elif TrainingStep.ENVIRONMENT in found:
        found |= {TrainingStep.TOKEN} if model.program.handles_tokens() else set()
    elif model.program.uses_language_models():
        found |= {TrainingStep.GRADIENT, TrainingStep.TOKEN}
    return tuple(sorted(found, key=str))


def _related(model: SemanticModel | LibcstModel, place: Any, said: str) -> Related:
    start, end = model.span_of(place)
    return Related(model.path, start, end, said)
