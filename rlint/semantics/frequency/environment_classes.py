"""Classes of a project that are environments, by the parameters and results of their `step`."""

from __future__ import annotations

from collections.abc import Iterator

from rlint.models.value_type import TypeTag
from rlint.regex import regex
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary, ModuleSummary

_NAMED = regex(r"(?i)env|game|simulat|world|wrapper|mdp")
_RESETS = ("reset_", "_reset")
"""First letters of methods that reset some of many environments: `reset_idx`."""
_PARTS = frozenset({4, 5})
"""The results of `step`: the observation, the reward, one flag or two, and the info, which may be missing."""


class EnvironmentClasses:
    """The environments among the classes of a project: those derived from a library's environment, and those
    with a `reset` and a `step` that takes an action and returns four or five values, or passes on the result
    of another `step`.
    """

    def __init__(self, index: ProjectIndex) -> None:
        self._index = index
        self._known: dict[str, bool] = {}

    def tag_of(self, cls: ClassSummary) -> TypeTag:
        """Return the tag of the instances of a class."""
        tag = self._index.class_kind(cls).tag
        if tag is not TypeTag.INSTANCE:
            return tag
        if cls.path not in self._known:
            self._known[cls.path] = self._is_environment(cls)
        return TypeTag.ENVIRONMENT if self._known[cls.path] else tag

    def defined_in(self, module: ModuleSummary) -> bool:
        """Whether a file defines an environment."""
        return any(self.tag_of(cls) is TypeTag.ENVIRONMENT for cls in module.classes.values())

    def is_reset(self, function: FunctionSummary) -> bool:
        """Whether a function is the `reset` of an environment."""
        if function.name != "reset" or not function.is_method:
            return False
        cls = self._index.owner_of(function)
        return cls is not None and self.tag_of(cls) is TypeTag.ENVIRONMENT

    def steps(self) -> Iterator[FunctionSummary]:
        """Yield the methods that are environment steps, without those of tests."""
        for module in self._index.modules.values():
            for cls in () if module.is_test else module.classes.values():
                if "step" in cls.methods and self.tag_of(cls) is TypeTag.ENVIRONMENT:
                    step = module.functions.get(f"{cls.qualname}.step")
                    if step is not None:
                        yield step

    def _is_environment(self, cls: ClassSummary) -> bool:
        step = self._index.method(cls, "step")
        if step is None or not step.call_parameters or not self._gives_a_transition(step, cls):
            return False
        if self._index.method(cls, "reset") is not None:
            return True
        if _NAMED.search(cls.qualname) and any(name.startswith(_RESETS) for name in cls.methods):
            return True
        outside = [base for base in self._index.ancestry(cls) if isinstance(base, str)]
        return any(_NAMED.search(base.rpartition(".")[2]) for base in outside)

    def _gives_a_transition(self, step: FunctionSummary, cls: ClassSummary) -> bool:
        if Driver.ENVIRONMENT_STEP in step.drivers:
            return True
        if not step.hands_back:
            return False
        return set(step.hands_back) <= _PARTS or (
            set(step.hands_back) <= _PARTS | {3} and bool(_NAMED.search(cls.qualname))
        )
