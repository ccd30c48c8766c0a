"""What a method runs for each of its results, also by other methods of its object."""

from __future__ import annotations

from rlint.rule import ClassSummary, FunctionSummary, SemanticModel, Type, separate_outputs

_DEPTH = 3
_TRANSFORMED = "TransformedDistribution"


def outputs_with_squashing(
    function: FunctionSummary, cls: ClassSummary | None, model: SemanticModel
) -> list[frozenset[str]]:
    """Return what a method calls for each of its results (see `separate_outputs`). The log-probability of a
    transformed distribution that another method of the class returns is that of a squashed action.
    """
    found = []
    for names in function.outputs:
        is_squashed = separate_outputs.LOG_PROBABILITY in names and any(
            _gives_transformed(_method(name, cls, model)) for name in names
        )
        found.append(frozenset(names) | ({separate_outputs.LOGARITHM} if is_squashed else frozenset()))
    return found


def run_by(names: frozenset[str], cls: ClassSummary | None, model: SemanticModel) -> frozenset[str]:
    """Return these attributes of an object, and instead of its own methods what they call of the object:
    `critic` for `value`, if that calls `self.critic(x)`.
    """
    return _run_by(names, cls, model, _DEPTH)


def _run_by(
    names: frozenset[str], cls: ClassSummary | None, model: SemanticModel, depth: int
) -> frozenset[str]:
    found: set[str] = set()
    for name in names:
        method = _method(name, cls, model)
        calls = method.calls if method is not None and depth > 0 else ()
        called = frozenset(site.method for site in calls if site.receiver == "self")
        found |= _run_by(called - {name}, cls, model, depth - 1) if called else {name}
    return frozenset(found)


def _method(name: str, cls: ClassSummary | None, model: SemanticModel) -> FunctionSummary | None:
    method = model.index.method(cls, name) if cls is not None else None
    return method if isinstance(method, FunctionSummary) and not method.is_property else None


def _gives_transformed(method: FunctionSummary | None) -> bool:
    """Whether a method returns a transformed distribution, alone or first in a tuple."""
    return method is not None and any(_is_transformed(kind) for kind in method.returns)


def _is_transformed(kind: Type) -> bool:
    first = kind.parts[0] if kind.parts else kind
    return first.of.rpartition(".")[2] == _TRANSFORMED
