"""Fixes that build a constant tensor once."""

from __future__ import annotations

import ast

from rlint.rule import (
    Applicability,
    Edit,
    Fix,
    Function,
    SemanticModel,
    TypeTag,
    descendants,
    regex,
    vocabulary,
)
from rlint.rules.networks.rl315_recomputed_constant.constant import Hoisted
from rlint.rules.networks.rl315_recomputed_constant.constant_place import ConstantPlace, ConstantPlaceKind
from rlint.rules.networks.rl315_recomputed_constant.constant_text import means_the_same, text_of

_READABLE = 1_000_000
_SPACE = regex(r"\s")


def build_fix(found: Hoisted, destination: ConstantPlace, model: SemanticModel) -> Fix | None:
    """Build it in its new place and use it here; None if the source does not allow that."""
    if not model.edit.is_relocatable(found.node) or (
        found.loose and destination.kind != ConstantPlaceKind.LOOP
    ):
        return None
    if destination.kind == ConstantPlaceKind.LOOP:
        return _before_loop(found, destination, model)
    return (
        _in_module(found, model)
        if destination.kind == ConstantPlaceKind.MODULE
        else _in_constructor(found, destination, model)
    )


def name_for(found: Hoisted, model: SemanticModel) -> str:
    """Return a name: that of the variable which holds it here, or one derived from its constructor."""
    parent = model.parent(found.node)
    chosen = parent if isinstance(parent, ast.IfExp) else found.node
    match model.names.targets(chosen):
        case [ast.Name(id=name)]:
            return name.strip("_") or "constant"
    match model.parent(chosen):
        case ast.keyword(arg=str(name)):
            return name
    made = found.node
    while isinstance(made, (ast.Call, ast.Subscript)):
        if isinstance(made, ast.Subscript):
            made = made.value
        elif model.names.qualified(made.func) is None and isinstance(made.func, ast.Attribute):
            made = made.func.value
        else:
            break
    match made:
        case ast.Call(func=func, args=[ast.Constant(value=0 | 1 as number), *_]) if _of_number(func, model):
            return "one" if number else "zero"
        case ast.Call(func=func, args=[*given]):
            called = (model.names.qualified(func) or "").rpartition(".")[2]
            return vocabulary.CONSTANTS.get(called) or _of_one_number(called, given, model) or "constant"
    return "constant"


def _of_one_number(called: str, given: list[ast.expr], model: SemanticModel) -> str | None:
    """Return a name such as `log_10000` for `torch.log(torch.tensor(10000.0))`."""
    match given:
        case [ast.Call(func=func, args=[ast.Constant(value=int() | float() as number), *_])]:
            whole = _of_number(func, model) and number == number // 1 and 0 <= number < _READABLE
            return f"{called}_{int(number)}" if whole and called else None
    return None


def _of_number(func: ast.expr, model: SemanticModel) -> bool:
    return model.names.qualified(func) in ("torch.tensor", "torch.as_tensor", "torch.asarray")


# -- before a loop -----------------------------------------------------------------------------


def _before_loop(found: Hoisted, destination: ConstantPlace, model: SemanticModel) -> Fix | None:
    assert destination.loop is not None
    loop = (
        destination.loop
        if isinstance(destination.loop, ast.stmt)
        else model.syntax.statement(destination.loop)
    )
    if isinstance(loop, ast.While) and destination.loop is not loop:
        return None
    inside = set(descendants(loop))
    moved = {
        name for name in found.inlined if any(b.node in inside for b in model.dataflow.definitions(name))
    }
    text = text_of(found.node, found, model, inlined=moved, devices=True)
    if text is None:
        return None
    what = "tensor" if model.types.type_of(found.node).tag is TypeTag.TENSOR else "array"
    reason = (
        f"the {what} is shared between iterations and must not be written to; it is built even if the loop "
        f"does not run"
    )
    statement = model.parent(found.node)
    match statement:
        case ast.Assign(targets=[ast.Name(id=name) as target]):
            after = model.source.trailing_comment(statement)
            before = _inserted_before(loop, f"{name} = {text}{after}", statement, model)
            deleted = model.edit.delete_statement(statement)
            if (
                before
                and deleted
                and not _has_other_comment(found.node, statement, model)
                and not model.names.is_captured(name, model.names.scope(target))
            ):
                return Fix(f"Build `{name}` before the loop", Applicability.UNSAFE, (before, deleted), reason)
    wanted = name_for(found, model)
    key = f"once {model.source.span(loop)[0]} {model.source.text(found.node)}"
    name = model.importer.fresh_local([wanted, f"{wanted}_once", f"constant_{wanted}"], found.node, key)
    before = _inserted_before(loop, f"{name} = {text}", model.syntax.statement(found.node), model)
    if before is None:
        return None
    edits = (before.as_shared(), model.edit.replace(found.node, name))
    return Fix(f"Build it before the loop, as `{name}`", Applicability.UNSAFE, edits, reason)


def _inserted_before(loop: ast.stmt, code: str, statement: ast.stmt, model: SemanticModel) -> Edit | None:
    return model.edit.insert_before(loop, code, indentation=model.source.indentation(statement))


def _has_other_comment(node: ast.expr, statement: ast.stmt, model: SemanticModel) -> bool:
    """Whether a statement contains a comment outside of the expression that is moved."""
    (start, end), (first, last) = model.source.span(statement), model.source.span(node)
    return model.source.has_comment(start, first) or model.source.has_comment(last, end)


# -- in the module -----------------------------------------------------------------------------


def _in_module(found: Hoisted, model: SemanticModel) -> Fix | None:
    if found.devices or _names_device(found):
        return None  # importing a module must not initialise a device
    text = text_of(found.node, found, model, inlined=set(found.inlined))
    needs = [binding.statement for name in found.globals for binding in model.names.bindings(name)]
    if text is None or not means_the_same(model.syntax.scopes[model.syntax.module].node, found, model):
        return None
    name = model.importer.fresh_name(name_for(found, model).upper(), f"once {_SPACE.sub('', text)}")
    defined = model.importer.module_constant(
        name,
        text,
        user=found.node,
        needs=[need for need in needs if isinstance(need, ast.stmt)],
        indentation=model.source.indentation(model.syntax.statement(found.node)),
    )
    if defined is None:
        return None
    what = "tensor" if model.types.type_of(found.node).tag is TypeTag.TENSOR else "array"
    reason = f"the {what} is shared between calls and must not be written to; it is created on import"
    return Fix(
        f"Build it once, as `{name}`",
        Applicability.UNSAFE,
        (*defined, model.edit.replace(found.node, name)),
        reason,
    )


def _names_device(found: Hoisted) -> bool:
    for node in descendants(found.node):
        if isinstance(node, ast.keyword) and node.arg == "device":
            return True
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("to", "cuda")
        ):
            return True
    return False


# -- in the constructor ------------------------------------------------------------------------


def _in_constructor(found: Hoisted, destination: ConstantPlace, model: SemanticModel) -> Fix | None:
    cls = model.class_of(found.node)
    made = model.method(cls, "__init__") if cls is not None else None
    function = model.function(found.node)
    if (
        cls is None
        or made is None
        or function is None
        or function is made
        or not function.args.args
        or not made.args.args
    ):
        return None
    own = made.args.args[0].arg
    if own != function.args.args[0].arg or (found.devices and destination.kind != ConstantPlaceKind.NETWORK):
        return None
    text = text_of(found.node, found, model, inlined=set(found.inlined))
    anchor = _anchor(found, destination, made, model)
    if text is None or anchor is None or not means_the_same(made, found, model):
        return None
    name = model.importer.fresh_name(
        f"_{name_for(found, model)}", f"once {model.syntax.qualname(cls)} {_SPACE.sub('', text)}"
    )
    value = f"{own}.{name} = {text}"
    if destination.kind == ConstantPlaceKind.NETWORK:
        value = f'{own}.register_buffer("{name}", {text}, persistent=False)'
    after, statement = anchor
    insert = model.edit.insert_after if after else model.edit.insert_before
    indentation = model.source.indentation(model.syntax.statement(found.node))
    inserted = insert(statement, value, indentation=indentation)
    if inserted is None:
        return None
    edits = (inserted.as_shared(), model.edit.replace(found.node, f"{own}.{name}"))
    return Fix(
        f"Build it once in `__init__`, as `{own}.{name}`",
        Applicability.UNSAFE,
        edits,
        _reason(found, destination, model),
    )


def _reason(found: Hoisted, destination: ConstantPlace, model: SemanticModel) -> str:
    read = list(dict.fromkeys(f"`{model.source.text(setting)}`" for setting in found.settings))
    parts = [
        "the tensor is shared between calls and must not be written to"
        if model.types.type_of(found.node).tag is TypeTag.TENSOR
        else "the array is shared between calls and must not be written to"
    ]
    if read:
        parts.append(f"{' and '.join(read)} must not change after the object is constructed")
    if destination.kind == ConstantPlaceKind.NETWORK:
        parts.append("as a buffer it follows the device and the precision of the network")
    return "; ".join(parts)


def _anchor(
    found: Hoisted, destination: ConstantPlace, made: Function, model: SemanticModel
) -> tuple[bool, ast.stmt] | None:
    """Return the last statement of the constructor that must run first; else the first statement, to insert
    before.
    """
    if any(isinstance(node, ast.Return) for node in descendants(made)):
        return None
    roots = {_root(setting) for setting in found.settings}
    last = -1
    inherits = destination.kind == ConstantPlaceKind.NETWORK
    cls = model.class_of(made)
    for attribute in roots:
        stores = [_place(node, made, model) for node in _stores(attribute, made, model)]
        if stores:
            last = max(last, *stores)
        elif cls is None or attribute not in model.syntax.scopes[cls].bindings:
            inherits = True
    if inherits:
        calls = model.names.calls_named("__init__", made)
        if not calls:
            return None
        last = max(last, *(_place(call, made, model) for call in calls))
    if last >= 0:
        return True, made.body[last]
    first = made.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return documented, first


def _stores(attribute: str, made: Function, model: SemanticModel) -> list[ast.AST]:
    """Return where a constructor sets an attribute, or calls a method of the class that does."""
    found: list[ast.AST] = []
    for use in model.names.attribute_uses(attribute):
        function = model.function(use)
        if function is None or not isinstance(use.ctx, ast.Store) or not model.names.is_self(use.value):
            continue
        if model.class_of(use) is model.class_of(made):
            found += [use] if function is made else model.names.calls_named(function.name, made)
    return found


def _root(setting: ast.Attribute) -> str:
    while isinstance(setting.value, ast.Attribute):
        setting = setting.value
    return setting.attr


def _place(node: ast.AST, made: Function, model: SemanticModel) -> int:
    """Return the index of the statement in a function's body that contains a node."""
    around = [node, *model.ancestors(node)]
    return next(index for index, statement in enumerate(made.body) if statement in around)
