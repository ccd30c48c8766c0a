"""Renaming a function or method in all files that use it."""

from __future__ import annotations

from rlint.rule import (
    Applicability,
    Edit,
    Fix,
    Function,
    ModuleSummary,
    OtherFileEdits,
    Reference,
    ReferenceKind,
    SemanticModel,
)
from rlint.rules.consistency.rl801_mixed_accessor_names.accessors import has_unknown_base

_REASON = "code outside of the project may call it by the old name"


def is_given_by_others(function: Function, model: SemanticModel) -> bool:
    """Whether a library may look up this name: whether it is a method of a class with an unknown base."""
    owner = model.class_of(function)
    if owner is None or model.parent(function) is not owner:
        return False
    summary = model.module.classes.get(model.syntax.qualname(owner))
    return summary is None or has_unknown_base(summary, model.index)


def renaming(old: str, new: str, model: SemanticModel) -> Fix | None:
    """Return the fix that renames all functions and methods of a name, wherever they are defined, imported,
    called or read; None if a place may refer to another object or another object may have the name, if names
    are looked up at run time, or if the new name is taken.
    """
    modules = list(model.index.modules.values())
    if any(module.looks_up_names or _holds(new, module) for module in modules):
        return None
    if model.importer.fresh_name(new, f"rename {old}") != new:
        return None
    edits: dict[str, tuple[Edit, ...]] = {}
    for module in modules:
        own = [mention for mention in module.mentions if mention.name == old]
        if not all(_can_change(mention, module, model) for mention in own):
            return None
        if own:
            edits[module.path] = tuple(Edit(mention.start, mention.start + len(old), new) for mention in own)
    here = edits.pop(model.module.path, None)
    if here is None:
        return None
    digests = {module.path: module.digest for module in modules}
    other_edits = tuple(OtherFileEdits(path, own, digests[path]) for path, own in sorted(edits.items()))
    return Fix(f"Rename it to `{new}`", Applicability.UNSAFE, here, _REASON, other_edits, takes_away=old)


def _holds(name: str, module: ModuleSummary) -> bool:
    return any(mention.name == name for mention in module.mentions)


def _can_change(mention: Reference, module: ModuleSummary, model: SemanticModel) -> bool:
    """Whether it is a definition that only the project uses, or surely refers to one."""
    if mention.sort is ReferenceKind.OTHER or not mention.path or "@" in mention.path:
        return False  # a parameter holds the arguments of callers, including unknown ones
    if mention.sort is ReferenceKind.DEFINITION:
        owner = module.classes.get(mention.path.rpartition(".")[0])
        return owner is None or not has_unknown_base(owner, model.index)
    meant = model.index.callables(mention.path, module.module)
    return bool(meant) and all(function.name == mention.name for function in meant)
