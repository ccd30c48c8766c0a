"""Prioritised buffers that keep their transitions as objects in the leaves of a sum tree."""

from __future__ import annotations

import ast

from rlint.rule import Heat, SemanticModel, TypeTag, descendants, element_types, same_code
from rlint.rules.buffers._shared.store_class import is_store_class
from rlint.rules.buffers.rl104_object_replay_buffer.object_store import StoredItem, is_transition


def given_to_tree(node: ast.AST, model: SemanticModel) -> StoredItem | None:
    """Return the tree and the transition of `self.tree.add(priority, transition)`, in a buffer class."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Attribute(value=ast.Name(id="self")) as tree),
            args=[_, value],
            keywords=[],
        ):
            pass
        case _:
            return None
    if not is_store_class(model.class_of(node), model) or not is_transition(value, model):
        return None
    return StoredItem(tree, value) if model.effects.sum_trees(node, "walks_up") else None


def drawn_from_tree(stored: StoredItem, model: SemanticModel) -> ast.Call | None:
    """Return the call that takes one transition after the other out of the tree for a batch:
    `index, priority, transition = self.tree.get(target)` in a loop.
    """
    cls = model.class_of(stored.holder)
    for node in descendants(cls) if cls is not None else ():
        match node:
            case ast.Call(func=ast.Attribute(value=tree)) if same_code(tree, stored.holder):
                often = model.frequency.heat_of(node).level is Heat.HOT
                if often and model.frequency.loops(node) and model.effects.sum_trees(node, "walks_down"):
                    return node
    return None


def is_reported_there(stored: StoredItem, model: SemanticModel) -> bool:
    """Whether the tree itself keeps its transitions in an array of objects, which is reported where it writes
    them.
    """
    tree = model.types.class_of_value(stored.holder)
    return tree is not None and any(
        kind.tag is TypeTag.NDARRAY and kind.dtype == element_types.OBJECT
        for kind in tree.attributes.values()
    )
