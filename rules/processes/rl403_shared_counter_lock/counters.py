"""Sections that only count, and the number of locks that they acquire."""

from __future__ import annotations

import ast

from rlint.rule import LockSection, SemanticModel, Trait, TypeTag, descendants, last_name, models, root_of

_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return)
_NUMBERS = models.having(Trait.OF_NUMBERS, "builtins")
_MAKERS = frozenset({"__init__", "__new__", "__post_init__", "__setstate__"})


def next_section(section: LockSection, model: SemanticModel) -> LockSection | None:
    """Return the section of another lock that directly follows, if both update shared values."""
    block, index = model.syntax.block(section.node)
    following = model.threads.sections_begun(block[index + 1]) if index + 1 < len(block) else []
    for other in following:
        if other.name != section.name:
            return other if updates_values(section, model) and updates_values(other, model) else None
    return None


def inner_section(section: LockSection, model: SemanticModel) -> LockSection | None:
    """Return the section of another lock inside of a section, or acquired by the same `with`, for the same
    update.
    """
    for other in (
        *model.threads.sections_begun(section.node),
        *model.threads.sections_begun(section.body[-1]),
    ):
        if other is section or other.name == section.name or not updates_values(other, model):
            continue
        if other.node is section.node or (
            section.body[-1] is other.node and counts_only(section.body[:-1], model)
        ):
            return other
    return None


def updates_values(section: LockSection, model: SemanticModel) -> bool:
    """Whether a section updates a shared value, and otherwise only computes with numbers."""
    if not counts_only(section.body, model):
        return False
    written = [
        node.value
        for statement in section.body
        for node in descendants(statement)
        if isinstance(node, ast.Attribute) and node.attr == "value" and isinstance(node.ctx, ast.Store)
    ]
    return any(model.types.type_of(owner).tag is TypeTag.SHARED_VALUE for owner in written)


def counts_only(body: tuple[ast.stmt, ...], model: SemanticModel) -> bool:
    """Whether these statements are only sums."""
    for statement in body:
        if not isinstance(statement, _SIMPLE):
            return False
        for node in descendants(statement):
            if isinstance(node, ast.Call) and model.names.qualified(node.func) not in _NUMBERS:
                return False
            if isinstance(node, (ast.Subscript, ast.Await, ast.Yield, ast.Lambda)):
                return False
    return True


def one_of_several(section: LockSection, model: SemanticModel) -> tuple[str, str] | None:
    """Return the counter that a section guards, and those of the other sections of the same lock, if each
    guards only one counter. Only for the first section whose counter is not that of the lock's first section.
    """
    found = model.once(_counted_apart, model.analysis.locks.of_same_lock(section)[0])
    if found is None or found[0] != section:
        return None
    if not model.threads.worker_starts() and not model.types.type_of(section.lock).of.startswith(
        "multiprocessing."
    ):
        return None
    return found[1:]


def _counted_apart(first: LockSection, model: SemanticModel) -> tuple[LockSection, str, str] | None:
    """Return the first section of a lock with another counter than all before it, with its counter and the
    others; None unless each section has one counter. `first` is the first section of the lock.
    """
    sections = [one for one in model.analysis.locks.of_same_lock(first) if not _is_maker(one, model)]
    if len(sections) < 2 or not all(counts_only(one.body, model) for one in sections):
        return None
    counted = [counters_in(one, model) for one in sections]
    if any(len(names) != 1 for names in counted):
        return None
    names = [next(iter(each)) for each in counted]
    written = {name for one, name in zip(sections, names, strict=True) if _writes(one)}
    second = next((index for index, name in enumerate(names) if name != names[0]), None)
    if second is None or len(written) < 2:
        return None
    others = sorted(set(names) - {names[second]})
    return sections[second], names[second], " and ".join(f"`{name}`" for name in others)


def _is_maker(section: LockSection, model: SemanticModel) -> bool:
    function = model.function(section.node)
    return function is not None and function.name in _MAKERS


def _writes(section: LockSection) -> bool:
    return any(isinstance(statement, (ast.Assign, ast.AugAssign)) for statement in section.body)


def counters_in(section: LockSection, model: SemanticModel) -> set[str]:
    """Return the attributes of `self`, and the shared values, that a section reads or writes."""
    found: set[str] = set()
    for statement in section.body:
        for node in descendants(statement):
            match node:
                case ast.Attribute(value=owner, attr=name) if model.names.is_self(owner):
                    found.add(name)
                case ast.Attribute(attr="value", value=ast.Name() as owner):
                    found.add(last_name(owner) or "")
                case ast.Attribute() if not model.names.is_self(root_of(node)):
                    found |= {"", "?"}  # state of another object, whose identity is unknown
    return found
