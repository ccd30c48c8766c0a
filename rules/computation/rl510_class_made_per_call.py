"""A class that is defined again on every call of a function, such as a named tuple or dataclass.

## What it does
Flags these in functions that run per step, per update or per sample:

- calls of `namedtuple`, `NamedTuple`, `TypedDict`, `make_dataclass`, `Enum("Mode", names)`,
  `attrs.make_class` and `pydantic.create_model`;
- classes that derive from `NamedTuple`, `TypedDict`, `Enum`, `Protocol`, `torch.autograd.Function`,
  pydantic's `BaseModel` or a `ctypes` structure, and classes decorated with `dataclass` or by `attrs`;
- calls of a function of the project that defines any class and returns it (`Embedding(size)(x)`).

The rule does not flag:

- plain classes that the function uses itself, which take some microseconds;
- classes that read variables of the function around them, unless it returns them;
- classes that a call returns and other code then stores (`self.kind = make_kind(size)`);
- classes that the function returns, stores or passes on;
- classes in functions that cache their results (`functools.cache`);
- code that runs once.

## Why is it slow
To define such a class, Python generates the source of its methods and compiles it, or runs a metaclass that
examines each member, which can take longer than a step of an environment. Each call creates a different
class, so objects of two calls never have the same type.

## Example
```python
from collections import namedtuple


class Replay:
    def __init__(self) -> None:
        self.states = []
        self.rewards = []

    def sample(self, first: int, count: int):
        Batch = namedtuple("Batch", ["states", "rewards"])
        return Batch(self.states[first : first + count], self.rewards[first : first + count])
```
Use instead (by hand):
```python
from collections import namedtuple

Batch = namedtuple("Batch", ["states", "rewards"])


class Replay:
    def __init__(self) -> None:
        self.states = []
        self.rewards = []

    def sample(self, first: int, count: int):
        return Batch(self.states[first : first + count], self.rewards[first : first + count])
```

## Fix safety
There is no fix: if objects are compared, pickled or tested by `isinstance`, it matters which class they
belong to. Where the fields depend on arguments, keep the classes in a dict or a cached function.

## References
- https://docs.python.org/3/library/collections.html#collections.namedtuple
- https://docs.python.org/3/reference/datamodel.html#creating-the-class-object
- https://docs.python.org/3/library/functools.html#functools.cache
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    FUNCTIONS,
    BindingKind,
    EffectKind,
    Finding,
    Function,
    FunctionSummary,
    Rule,
    SemanticModel,
    TypeTag,
    descendants,
    is_in,
    vocabulary,
)

_MAKERS = vocabulary.CLASS_MAKERS
_HARMLESS = EffectKind.READS | EffectKind.UNKNOWN | EffectKind.INDIRECT
_PLAIN = "a plain class takes some microseconds"


class ClassMadePerCall(Rule):
    """RL510."""

    code = "RL510"
    name = "class-made-per-call"
    claims = ("time",)
    visits = (ast.ClassDef, ast.Call)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a class that is defined in a function that runs often, and could be defined
        outside.
        """
        function = model.function(node)
        if function is None or remembers(function, model):
            return
        if isinstance(node, ast.ClassDef):
            if (
                not is_compiled(node, model)
                or reads_function(node, model)
                or leaves(node.name, function, model)
            ):
                return
            what, called = f"the class `{node.name}`", node.name
        else:
            assert isinstance(node, ast.Call)
            made = maker_of(node, model)
            factory = factory_of(node, model) if made is None else None
            if factory is not None:
                yield self.by_factory(node, factory, model)
                return
            target = bound_to(node, model)
            if made is None or target is None or leaves(target, function, model):
                return
            what, called = f"a class by `{made}`", target
        yield self.finding(
            model,
            node,
            f"`{function.name}` defines {what} again on every call",
            advice=f"Define `{called}` once at module level, or cache it by its fields",
        )

    def by_factory(self, call: ast.Call, factory: FunctionSummary, model: SemanticModel) -> Finding:
        """Return the finding for a call of a function that defines a class."""
        return self.finding(
            model,
            call,
            f"`{model.source.text(call.func)}` defines a class again on every call",
            advice=f"Create the class once and keep it, or decorate `{factory.name}` with `functools.cache`, "
            "which keeps one for the same arguments",
            minor=None if any(kind.of in _MAKERS for kind in factory.returns) else _PLAIN,
        )


def factory_of(call: ast.Call, model: SemanticModel) -> FunctionSummary | None:
    """Return the function of the project that a call runs, if it returns a class that it defines, and neither
    it nor the caller keeps the class.
    """
    targets = model.types.call_targets(call)
    if len(targets) != 1 or targets[0].remembers:
        return None
    (target,) = targets
    defines = any(
        kind.tag is TypeTag.CLASS and (kind.of in _MAKERS or kind.of.startswith(f"{target.path}."))
        for kind in target.returns
    )
    if not defines or model.index.effect_of(target).kind & ~_HARMLESS:
        return None
    statement = model.syntax.statement(call)
    match statement:
        case ast.Assign(targets=[ast.Name() as name], value=value) if value is call:
            function = model.function(call)
            return target if function is not None and not leaves(name.id, function, model) else None
        case ast.Assign(value=value) | ast.AnnAssign(value=value) | ast.Return(value=value) if value is call:
            return None
    return target


def remembers(function: Function, model: SemanticModel) -> bool:
    """Whether a function keeps its results."""
    decorators = (each.func if isinstance(each, ast.Call) else each for each in function.decorator_list)
    return any((model.names.qualified(each) or "").startswith("functools.") for each in decorators)


def maker_of(call: ast.Call, model: SemanticModel) -> str | None:
    """Return the function by which a call creates a class."""
    name = model.names.qualified(call.func)
    return name.rpartition(".")[2] if name is not None and name in _MAKERS else None


def is_compiled(made: ast.ClassDef, model: SemanticModel) -> bool:
    """Whether methods are generated for a class, or a metaclass does much to define it."""
    named = [
        each.func if isinstance(each, ast.Call) else each for each in (*made.decorator_list, *made.bases)
    ]
    return any(model.names.qualified(each) in vocabulary.COSTLY_CLASSES for each in named)


def bound_to(call: ast.Call, model: SemanticModel) -> str | None:
    """Return the variable that holds a class; "" for one that is used directly, None for others."""
    match model.parent(call):
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
        case ast.Call(func=called) if called is call:
            return ""
    return None


def leaves(name: str, function: Function, model: SemanticModel) -> bool:
    """Whether the class itself, not its instances, is used outside of this call of the function."""
    return any(
        (isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names)
        or (
            isinstance(node, ast.Name)
            and node.id == name
            and isinstance(node.ctx, ast.Load)
            and not is_made_object(node, model)
        )
        for node in descendants(function)
    )


def is_made_object(use: ast.Name, model: SemanticModel) -> bool:
    """Whether a read of a class creates an instance, derives from it or is an annotation."""
    match model.parent(use):
        case ast.Call(func=called):
            return called is use
        case ast.ClassDef() | ast.arg() | ast.AnnAssign():
            return True
        case ast.Attribute(value=owner):
            return owner is use
        case ast.Subscript(value=owner, slice=index):
            return owner is use or index is use
    return False


def reads_function(made: ast.ClassDef, model: SemanticModel) -> bool:
    """Whether a class reads or sets variables of the enclosing function, other than classes in it."""
    for node in descendants(made):
        if isinstance(node, ast.Nonlocal):
            return True
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            continue
        home = model.names.scope(node).lookup(node.id)
        if home is None or not isinstance(home.node, FUNCTIONS) or is_in(home.node, made):
            continue
        if any(binding.kind is not BindingKind.CLASS for binding in home.bindings.get(node.id, ())):
            return True
    return False
