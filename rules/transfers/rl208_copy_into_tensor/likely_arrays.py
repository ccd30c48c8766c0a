"""Values of unknown type that likely are arrays, and tensors of arrays that are used up at once."""

from __future__ import annotations

import ast

from rlint.rule import (
    FUNCTIONS,
    BindingKind,
    SemanticModel,
    Trait,
    TypeTag,
    models,
    observations,
    regex,
    roles,
)

_DRAWS = models.having(Trait.DRAWS_SHAPE, "numpy.random")
_PER_ELEMENT = models.having(Trait.ELEMENTWISE, "numpy") | models.having(Trait.PAIRWISE, "numpy")
_NUMBER = regex(r"step|eps|time|count|index|^(t|n|i|k)$|num|noise|deterministic|train|explor")
_VIEWS = models.having(Trait.RESHAPES, TypeTag.TENSOR)


def is_likely_array(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value of unknown type likely is an array: an observation, what a function that selects
    actions takes first, or random numbers of some shape.
    """
    if model.types.type_of(value):
        return False
    match value:
        case ast.Call(func=func, keywords=keywords) if _draws(func, model):
            return any(
                keyword.arg == "size"
                and not (isinstance(keyword.value, ast.Constant) and keyword.value.value is None)
                for keyword in keywords
            )
        case ast.Call(func=func) if model.names.qualified(func) in _PER_ELEMENT:
            return True  # of a number, the legacy constructors fail
    is_seen: bool = observations.is_observation(value, model)
    return is_seen or (isinstance(value, ast.Name) and _is_taken_to_act(value, model))


def _draws(func: ast.expr, model: SemanticModel) -> bool:
    """Whether a function of numpy draws random numbers, of a shape that its `size` may give."""
    name = model.names.qualified(func) or ""
    return name in _DRAWS or name.startswith("numpy.random.")


def _is_taken_to_act(name: ast.Name, model: SemanticModel) -> bool:
    """Whether a variable is the first parameter of a method that selects actions: `act(inputs)`."""
    bound = model.dataflow.definitions(name)
    function = model.function(name)
    if len(bound) != 1 or bound[0].kind is not BindingKind.PARAMETER or not isinstance(function, FUNCTIONS):
        return False
    if function.name not in roles.ACTS or model.class_of(function) is None or _NUMBER.search(name.id):
        return False
    return [each.arg for each in function.args.args[1:2]] == [name.id]


def is_used_up(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the statement copies the tensor, and keeps nothing of it: `target.copy_(torch.tensor(rows))`,
    `buffer[i] = torch.tensor(row)`, also of views.
    """
    value: ast.AST = call
    parent = model.parent(value)
    while isinstance(parent, ast.Attribute) and parent.attr in _VIEWS:
        view = model.parent(parent)
        if not isinstance(view, ast.Call) or view.func is not parent:
            return False
        value, parent = view, model.parent(view)
    match parent:
        case ast.Call(func=ast.Attribute(attr="copy_"), args=[source, *_]):
            return source is value
        case ast.Assign(targets=[ast.Subscript(value=target)]):
            return model.types.type_of(target).tag is TypeTag.TENSOR
    return False
