"""Values that a function of this file returned (for RL318): the expressions of its `return` statements."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import BindingKind, Function, SemanticModel, TypeTag, descendants, element_at

_Step = int | str


def returned_values(value: ast.expr, model: SemanticModel) -> Iterator[list[ast.expr]]:
    """Yield, for each call that a value comes from, the expressions that the called function may return for
    it. Calls whose functions are not in this file are left out.

    In `loss, ratio = self.update(batch)`, `ratio` is what `update` returns second.
    """
    for node in descendants(value):
        match node:
            case ast.Call():
                results = _results(node, (), model)
                if results:
                    yield results
            case ast.Name(ctx=ast.Load()):
                for call, path in _calls_bound_to(node, model):
                    results = _results(call, path + _key_read(node, model), model)
                    if results:
                        yield results
                for call, path in _calls_iterated_for(node, model):
                    results = _results(call, path, model)
                    if results and all(isinstance(each, ast.Dict) for each in results):
                        yield results


def may_be_number(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a loop takes a value from a dict of a call's results, some of which may be numbers."""
    if not isinstance(value, ast.Name) or model.types.type_of(value).tag is TypeTag.TENSOR:
        return False
    return any(_calls_iterated_for(value, model))


def stored_items(value: ast.expr, model: SemanticModel) -> list[ast.expr]:
    """Return all values that functions of this file store in a dict under the key that is read from it:
    `value.item()` for `stats["loss"]` of `loss, stats = self.loss(batch)`, if that function calls
    `stats.update({"loss": value.item()})`. Empty if they are not known.
    """
    match value:
        case ast.Subscript(value=ast.Name() as name, slice=ast.Constant(value=str() as key)):
            pass
        case _:
            return []
    found: list[ast.expr] = []
    for call, path in _calls_bound_to(name, model):
        for result in _results(call, path, model):
            stored = list(_stored_under(key, result, model)) if isinstance(result, ast.Name) else []
            if not stored:
                return []
            found += stored
    return found


def _stored_under(key: str, returned: ast.Name, model: SemanticModel) -> Iterator[ast.expr]:
    """Yield what is stored under a key of a dict that a function returns, where it is written out."""
    scope = model.names.scope(returned).lookup(returned.id)
    for read in model.names.reads(returned.id, scope) if scope is not None else ():
        around = model.parent(read)
        display: ast.AST | None = None
        match around, model.parent(around) if around is not None else None:
            case ast.Attribute(attr="update"), ast.Call(args=[ast.Dict() as display]):
                pass
            case ast.Subscript(slice=ast.Constant(value=stored), ctx=ast.Store()), ast.Assign(value=value):
                if stored == key:
                    yield value
        if isinstance(display, ast.Dict):
            for name, value in zip(display.keys, display.values, strict=True):
                if isinstance(name, ast.Constant) and name.value == key:
                    yield value


def is_learned_in_other_file(value: ast.expr, model: SemanticModel) -> bool:
    """Whether functions of other files return a value, after they have called `backward` on it, or on a value
    computed from it.
    """
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and not value.args:
        if model.types.call_targets(value):
            break
        value = value.func.value  # `loss.mean()`
    made: list[tuple[ast.Call, tuple[_Step | None, ...]]] = []
    match value:
        case ast.Call():
            made = [(value, ())]
        case ast.Subscript(value=ast.Name() as name, slice=ast.Constant(value=int() | str() as key)):
            made = [(call, (*path, key)) for call, path in _calls_bound_to(name, model)]
        case ast.Name():
            made = list(_calls_bound_to(value, model))
            made += [(call, (*path, None)) for call, path in _calls_iterated_for(value, model)]
    return bool(made) and all(_is_learned(call, path, model) for call, path in made)


def _is_learned(call: ast.Call, path: tuple[_Step | None, ...], model: SemanticModel) -> bool:
    if len(path) > 1 or any(map(model.types.definition, model.types.call_targets(call))):
        return False
    return model.gradients.returns_learned(call, path[0] if path else -1)


def _calls_iterated_for(name: ast.Name, model: SemanticModel) -> Iterator[tuple[ast.Call, tuple[_Step, ...]]]:
    """Yield the calls whose dict a loop iterates over: for `value` in `for key, value in results.items()`."""
    for binding in model.dataflow.definitions(name):
        if binding.kind not in (BindingKind.FOR, BindingKind.COMPREHENSION):
            continue
        match binding.value, binding.path:
            case (ast.Call(func=ast.Attribute(value=results, attr="items")), (1,)) | (
                ast.Call(func=ast.Attribute(value=results, attr="values")),
                (),
            ):
                if isinstance(results, ast.Call):
                    yield results, ()
                elif isinstance(results, ast.Name):
                    yield from _calls_bound_to(results, model)


def _calls_bound_to(name: ast.Name, model: SemanticModel) -> Iterator[tuple[ast.Call, tuple[_Step, ...]]]:
    """Yield the calls whose results a variable holds, with the path to the part that it holds."""
    for binding in model.dataflow.definitions(name):
        if binding.kind is BindingKind.ASSIGN and isinstance(binding.value, ast.Call):
            yield binding.value, binding.path


def _key_read(name: ast.Name, model: SemanticModel) -> tuple[_Step, ...]:
    """Return the constant key with which a variable is read: `"loss"` in `results["loss"]`."""
    match model.parent(name):
        case ast.Subscript(value=value, slice=ast.Constant(value=int() | str() as key)) if value is name:
            return (key,)
    return ()


def _results(call: ast.Call, path: tuple[_Step, ...], model: SemanticModel) -> list[ast.expr]:
    """Return the expressions at a path of the results of a call; empty if one of them is not known."""
    found: list[ast.expr] = []
    for target in model.types.call_targets(call):
        function = model.types.definition(target)
        if function is None:
            return []
        for result in _returned(function, model):
            part = element_at(result, path)
            if part is None:
                return []
            found.append(part)
    return found


def _returned(function: Function, model: SemanticModel) -> Iterator[ast.expr]:
    for node in descendants(function):
        if isinstance(node, ast.Return) and node.value is not None and model.function(node) is function:
            yield node.value
