"""Lists whose items likely are arrays: fields of stored transitions, and values named like images."""

from __future__ import annotations

import ast

from rlint.rule import (
    BindingKind,
    SemanticModel,
    Trait,
    Type,
    TypeTag,
    containers,
    descendants,
    frozen,
    models,
    observations,
    regex,
)

_NAMED = regex(
    r"^_?(next_?|new_?|last_?|cur_?|current_?|desired_?|achieved_?)?"
    r"(frame|image|img|board|plane|pixel|array|arr|vec|vector|goal|feature|embedding|latent|logit|prob|hidden)s?_?$"
)
"""Names of values that hold several numbers each."""
_LISTS = (TypeTag.LIST, TypeTag.TUPLE, TypeTag.DEQUE, TypeTag.ITERATOR)
_PICKS = models.having(Trait.PICKS, "random", "numpy.random")
_DEPTH = 3


@frozen
class Element:
    """The `value` that becomes each item of a list, of the items `item` of the list `source`."""

    value: ast.expr
    item: str
    source: ast.expr


def unwrapped(data: ast.expr) -> ast.expr:
    """Return the iterable whose items a list contains: `rows` of `[*rows]`, `list(rows)`."""
    match data:
        case ast.List(elts=[ast.Starred(value=inner)]):
            return unwrapped(inner)
        case ast.Call(func=ast.Name(id="list" | "tuple"), args=[inner], keywords=[]):
            return unwrapped(inner)
    return data


def element_of(data: ast.expr) -> Element | None:
    """Return what is computed for each item: `row.frame` of `[row.frame for row in rows]`, also by `map`."""
    match unwrapped(data):
        case (
            ast.ListComp(elt=value, generators=[ast.comprehension(target=ast.Name(id=item), iter=source)])
            | ast.GeneratorExp(
                elt=value, generators=[ast.comprehension(target=ast.Name(id=item), iter=source)]
            )
        ):
            return Element(value, item, source)
        case ast.Call(
            func=ast.Name(id="map"),
            args=[ast.Lambda(args=ast.arguments(args=[argument]), body=value), source],
        ):
            return Element(value, argument.arg, source)
    return None


def are_likely_arrays(data: ast.expr, model: SemanticModel) -> bool:
    """Whether the items of a list of unknown items likely are arrays."""
    found = element_of(data)
    if found is not None:
        return _is_likely_array(found, model)
    held = unwrapped(data)
    if not isinstance(held, (ast.Name, ast.Attribute, ast.Subscript)):
        return False
    kind = model.types.type_of(held)
    if held is data and kind.tag not in _LISTS:
        return _is_filled_entry(held, model)
    if kind and (kind.tag not in _LISTS or kind.optional or kind.item or kind.parts):
        return False
    name = _name(held)
    if kind and (_NAMED.search(name) or observations.names_several(name)):
        return True
    if held is not data and (observations.names_one(name) or _NAMED.search(name)):
        return True
    return _is_field_of_transitions(held, model) or _holds_observations(held, model)


def _name(expression: ast.expr) -> str:
    return (observations.name_of(expression) or "").lower()


def _is_likely_array(found: Element, model: SemanticModel) -> bool:
    value = _base(found.value, model)
    kind = model.types.type_of(value)
    if kind:
        return value is not found.value and kind.tag is TypeTag.NDARRAY and kind.rank != 0
    if not any(isinstance(part, ast.Name) and part.id == found.item for part in descendants(value)):
        return False
    match value:
        case ast.Name():
            several = _name(found.source)
            return (
                bool(_NAMED.search(several))
                or observations.names_several(several)
                or (isinstance(found.source, ast.Attribute) and observations.names_one(several))
            )
        case ast.Attribute(value=ast.Name() | ast.Subscript(), attr=attr):
            named = observations.names_one(attr) or bool(_NAMED.search(attr.lower()))
            return named or _is_stored_array(attr, found.source, model)
        case ast.Subscript(slice=ast.Constant(value=str(key))):
            return observations.names_one(key) or bool(_NAMED.search(key.lower()))
        case ast.Subscript(value=ast.Name(), slice=ast.Constant(value=int(place))):
            return _is_stored_array(place, found.source, model)
    return False


def _base(value: ast.expr, model: SemanticModel) -> ast.expr:
    """Return what a value is a part or a normalisation of: `row.obs` for `norm(row.obs)`, `row.obs[:n]`."""
    match value:
        case ast.Subscript(value=inner, slice=ast.Slice()):
            return _base(inner, model)
        case ast.Call(func=func, args=[inner], keywords=[]) if not model.types.type_of(value):
            if (model.names.qualified(func) or "").startswith("builtins."):
                return value
            return _base(inner, model)
    return value


def _is_stored_array(field: str | int, source: ast.expr, model: SemanticModel) -> bool:
    """Whether the field of each item of a list is an array where the items are put into the list."""
    stored = _stored_items(source, model, _DEPTH)
    values = [value for item in stored if (value := _field(item, field)) is not None]
    return bool(values) and len(values) == len(stored) and all(_is_array(value, model) for value in values)


def _stored_items(source: ast.expr, model: SemanticModel, depth: int) -> list[ast.expr]:
    """Return the expressions that become the items of a list, or of the list that they are drawn from."""
    if depth <= 0:
        return []
    match source:
        case ast.Name():
            bindings = model.dataflow.definitions(source)
            values = [each.value for each in bindings if each.kind is BindingKind.ASSIGN and not each.path]
            if len(bindings) == len(values) == 1 and values[0] is not None:
                inner = _stored_items(values[0], model, depth - 1)
                if inner:
                    return inner
        case ast.ListComp(elt=ast.Subscript(value=held)):
            return _stored_items(held, model, depth - 1)
        case ast.ListComp(elt=ast.Call(func=func, args=[held])) | ast.Call(func=func, args=[held, *_]) if (
            model.names.qualified(func) in _PICKS
        ):
            return _stored_items(held, model, depth - 1)
        case ast.Call(func=ast.Name(id="list" | "sorted" | "reversed"), args=[held, *_]):
            return _stored_items(held, model, depth - 1)
    return list(containers.contents(source, model) or ())


def _field(item: ast.expr, field: str | int) -> ast.expr | None:
    """Return a field of an item: by its place in a tuple, or by the name of an argument."""
    match item:
        case ast.Tuple(elts=elements) if isinstance(field, int) and 0 <= field < len(elements):
            return elements[field]
        case ast.Call(keywords=keywords) if isinstance(field, str):
            return next((each.value for each in keywords if each.arg == field), None)
        case ast.Dict(keys=keys, values=values):
            named = zip(keys, values, strict=True)
            return next((v for k, v in named if isinstance(k, ast.Constant) and k.value == field), None)
    return None


def _is_array(value: ast.expr, model: SemanticModel) -> bool:
    kind: Type = model.types.type_of(value)
    if kind:
        return kind.tag is TypeTag.NDARRAY and not kind.optional and kind.rank != 0
    if isinstance(value, ast.Name) and observations.names_one(value.id):
        return True
    return observations.is_observation(value, model)


def _is_field_of_transitions(held: ast.expr, model: SemanticModel) -> bool:
    """Whether a tuple is the `s` of `s, a, r, s2, done = memory.draw(n)`."""
    if not isinstance(held, ast.Name) or not observations.names_one(held.id):
        return False
    bindings = model.dataflow.definitions(held)
    return bool(bindings) and all(
        binding.kind is BindingKind.ASSIGN and observations.is_part_of_transition(binding)
        for binding in bindings
    )


def _holds_observations(held: ast.expr, model: SemanticModel) -> bool:
    """Whether only observations are put into a list: `[env.reset()[0] for env in envs]`."""
    stored = containers.contents(held, model) or ()
    return bool(stored) and all(
        (
            isinstance(each, ast.Subscript)
            and isinstance(each.value, ast.Call)
            and observations.is_from_environment(each.value, model)
        )
        or _is_array(each, model)
        for each in stored
    )


def _is_filled_entry(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a list is an entry of a dict of lists to which only arrays are appended: `v` of `for k, v in
    out.items()`, `out[k].append(np.array(row))`.
    """
    if not isinstance(value, ast.Name) or (model.types.type_of(value) and model.types.type_of(value).item):
        return False
    bindings = model.dataflow.definitions(value)
    if len(bindings) != 1 or bindings[0].kind not in (BindingKind.FOR, BindingKind.COMPREHENSION):
        return False
    match bindings[0].value, bindings[0].path:
        case ast.Call(func=ast.Attribute(value=ast.Name() as lists, attr="items"), args=[]), (1,):
            pass
        case ast.Call(func=ast.Attribute(value=ast.Name() as lists, attr="values"), args=[]), ():
            pass
        case _:
            return False
    scope = model.names.scope(lists).lookup(lists.id)
    stored: list[ast.expr] = []
    for use in model.names.uses(lists.id, scope) if scope is not None else ():
        entry = model.parent(use)
        method = model.parent(entry) if isinstance(entry, ast.Subscript) else None
        call = model.parent(method) if isinstance(method, ast.Attribute) else None
        if isinstance(call, ast.Call) and isinstance(method, ast.Attribute) and method.attr == "append":
            stored += call.args
    return bool(stored) and all(_is_array(each, model) for each in stored)
