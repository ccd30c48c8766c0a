"""Distractors: imports, and parts of libraries and classes that the program replaces."""

from __future__ import annotations

import ast

from properties.adjacent import variable_of
from properties.draft import Draft, statements


def import_otherwise(draft: Draft) -> bool:
    """A module is imported in another way."""
    imports = [n for n in draft.tree.body if isinstance(n, (ast.Import, ast.ImportFrom))]
    imports = [n for n in imports if getattr(n, "module", "") != "__future__" and n.names[0].name != "*"]
    if not imports:
        return False
    node = draft.rng.choice(imports)
    index = draft.tree.body.index(node)
    match draft.rng.randrange(4):
        case 0:
            [outer] = statements("try:\n    pass\nexcept ImportError:\n    raise")
            outer.body = [node]  # type: ignore[attr-defined]
            draft.tree.body[index] = outer
        case 1 if isinstance(node, ast.Import):
            stars = [ast.ImportFrom(alias.name, [ast.alias("*")], 0) for alias in node.names]
            draft.tree.body[index + 1 : index + 1] = stars
        case 2 if isinstance(node, ast.ImportFrom):
            draft.tree.body[index : index + 1] = [node, ast.ImportFrom(node.module, [ast.alias("*")], 0)]
        case _:
            bound = node.names[0].asname or node.names[0].name.partition(".")[0]
            draft.tree.body[index + 1 : index + 1] = statements(
                f"if len('{bound}') > 99:\n    {bound} = None"
            )
    return True


def patch(draft: Draft) -> bool:
    """A function or method of a library that the pattern calls is replaced by one that reports each call."""
    place = draft.place()
    if place is None:
        return False
    called = [
        node.func
        for node in ast.walk(place.statement)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]
    called = [one for one in called if isinstance(one.value, ast.Name) and one.value.id in _MODULES]
    draft.use("SEEN")
    if called and draft.rng.random() < 0.7:
        function = ast.unparse(draft.rng.choice(called))
    else:
        function = draft.rng.choice(
            (
                "torch.Tensor.clone",
                "torch.Tensor.detach",
                "torch.Tensor.to",
                "torch.nn.Module.state_dict",
                "torch.Tensor.item",
                "torch.nn.Module.__call__",
            )
        )
        draft.use("torch")
    source = (
        f"def patched(*given, inner={function}, **named):\n"
        f"    SEEN.append('{function}')\n    return inner(*given, **named)\n"
        f"{function} = patched"
    )
    last = max(
        (i for i, n in enumerate(draft.tree.body) if isinstance(n, (ast.Import, ast.ImportFrom))), default=-1
    )
    draft.tree.body[last + 1 : last + 1] = statements(source)
    return True


_MODULES = ("np", "numpy", "torch", "re", "random", "copy", "time", "th", "F")


def watch_attributes(draft: Draft) -> bool:
    """A class reports each attribute that is set or read."""
    classes = [node for node in draft.tree.body if isinstance(node, ast.ClassDef)]
    if not classes:
        return False
    draft.use("SEEN")
    node = draft.rng.choice(classes)
    how = draft.rng.choice(("__setattr__", "__getattribute__"))
    if how == "__setattr__":
        source = (
            "def __setattr__(self, name, value):\n    SEEN.append(name)\n    super().__setattr__(name, value)"
        )
    else:
        source = (
            "def __getattribute__(self, name):\n"
            "    SEEN.append(name)\n    return super().__getattribute__(name)"
        )
    node.body.extend(statements(source))
    return True


def subclass(draft: Draft) -> bool:
    """Values are of a class that the program derives from the usual one."""
    place = draft.place()
    if place is None or (name := variable_of(draft, place)) is None:
        return False
    draft.use("SEEN", "torch")
    source = (
        "class Own(torch.Tensor):\n    @classmethod\n"
        "    def __torch_function__(cls, function, types, given=(), named=None):\n"
        "        SEEN.append(getattr(function, '__name__', ''))\n"
        "        return super().__torch_function__(function, types, given, named or {})"
    )
    draft.tree.body.extend(statements(source))
    place.block[place.index : place.index] = statements(
        f"if isinstance({name}, torch.Tensor): {name} = {name}.as_subclass(Own)"
    )
    return True
