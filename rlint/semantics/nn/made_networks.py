"""Whether two networks are constructed in the same way, and whether they can share memory, judging by the
code that constructs them.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rlint import models
from rlint.frozen import frozen
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.semantics.effects.namespace_writes import ANY_NAME
from rlint.semantics.effects.network_changes import ANY_NETWORK, NetworkChange
from rlint.semantics.effects.own_parts import (
    is_in_constructor,
    is_variable,
    names_registries,
    reparametrizes_a_network,
    replaces_own_part,
    takes_existing_parts,
)
from rlint.semantics.nn.architecture import CONTAINERS, is_layer
from rlint.syntax.last_names import last_name
from rlint.syntax.scopes import BindingKind
from rlint.syntax.walk import descendants

if TYPE_CHECKING:
    from rlint.semantics.model import SemanticModel

_MODES = frozenset({"eval", "train", "requires_grad_"})
_MOVES = models.having(Trait.CASTS | Trait.RELOCATES, TypeTag.MODULE)
_ADDS = models.having(Trait.ADDS_PART, TypeTag.MODULE) | {
    "__setattr__",
    "_apply",
    "register_parametrization",
    "set_",
    "setattr",
    "swap_tensors",
    "vector_to_parameters",
}
"""Calls that add a module or a tensor to a network, or replace a tensor's memory."""
LAZY_LAYERS = tuple(
    f"Lazy{name}{size}"
    for name, sizes in {
        "Linear": ("",), "Conv": "123", "ConvTranspose": "123", "BatchNorm": "123", "InstanceNorm": "123"
    }.items()
    for size in (f"{one}d" if one else "" for one in sizes)
)  # fmt: skip
"""Layers of `torch.nn` that have no parameters until their first forward pass."""
_GROWS = models.having(Trait.INSERTS | Trait.INSERTS_ALL | Trait.REMOVES, TypeTag.LIST, TypeTag.DICT)
_APPENDS = models.having(Trait.INSERTS | Trait.INSERTS_ALL, TypeTag.LIST)
_STATES = frozenset({"grad", "requires_grad", "training"})
"""Attributes of parameters and modules whose assignment does not change the parts of a network."""
_OF_LAYERS = frozenset({"data", "weight", "bias"})
"""Attributes of parameters and layers that hold tensors."""
_PLAIN = frozenset(
    {
        TypeTag.INT,
        TypeTag.FLOAT,
        TypeTag.BOOL,
        TypeTag.STR,
        TypeTag.NONE,
        TypeTag.NDARRAY,
        TypeTag.DEVICE,
        TypeTag.DTYPE,
    }
)
_READ = (ast.Name, ast.Attribute, ast.Constant, ast.UnaryOp, ast.BinOp, ast.Subscript)
_KEEPS_TENSORS = frozenset({"register_buffer", "register_parameter"})
_GIVEN = ("tensor", "param", "data")
_KEPT_BY_LAYERS = ("_weight", "weight", "pos_weight")
"""Arguments of layers and losses of `torch.nn` whose memory becomes that of a parameter or buffer."""
_DEPTH = 6


@frozen
class MadeNetwork:
    """How a network was constructed: by `call`, a constructor or `copy.deepcopy(copied)`, and the later calls
    that move it, as source.
    """

    call: ast.Call
    copied: ast.expr | None
    moves: tuple[str, ...]


def have_same_form(first: ast.expr, second: ast.expr, model: SemanticModel) -> bool:
    """Whether two networks surely have parameters of the same shapes, dtypes and devices, in the same order:
    one is a deep copy of the other, or both are constructed by the same call and one loads the state of the
    other.
    """
    one, other = built(first, model), built(second, model)
    if may_be_changed_later(model, first, second):
        return False
    if _is_moved_later(first, model) or _is_moved_later(second, model):
        return False
    if _has_lazy_layers(model):
        return False  # their shapes are determined by the first input
    if model.once(reparametrizes_a_network, model.syntax.module):
        return False
    for made, source, rest in ((one, second, other), (other, first, one)):
        if made is not None and made.copied is not None:
            if ast.dump(made.copied) != ast.dump(source) or not _is_bound_once(source, model):
                continue
            since = rest.moves if rest is not None else ()
            return not model.index.defines_method("__deepcopy__") and (not made.moves or made.moves == since)
    if one is None or other is None or one.moves != other.moves or one.copied or other.copied:
        return False
    given = [*one.call.args, *(keyword.value for keyword in one.call.keywords)]
    same = ast.dump(one.call) == ast.dump(other.call) and all(
        isinstance(argument, _READ) or _is_new(argument, model) for argument in given
    )
    if not same or not _is_new(one.call, model) or not _have_equal_values(one.call, other.call, model):
        return False
    if model.types.class_of_value(one.call) is None:
        return True
    # what a constructor of the project creates may depend on more than its arguments
    return _is_loaded_from(first, second, one, model) or _is_loaded_from(second, first, other, model)


def _has_lazy_layers(model: SemanticModel) -> bool:
    return any(map(model.program.is_attribute_read, LAZY_LAYERS)) or any(
        model.program.is_imported_anywhere(f"torch.nn.{name}") for name in LAZY_LAYERS
    )


def _have_equal_values(first: ast.Call, second: ast.Call, model: SemanticModel) -> bool:
    """Whether the arguments of two calls with the same text also have the same values."""
    if model.source.span(second) < model.source.span(first):
        first, second = second, first
    pairs = zip(descendants(first), descendants(second), strict=True)
    return all(_has_equal_value(one, other, first, second, model) for one, other in pairs)


def _has_equal_value(
    one: ast.AST, other: ast.AST, first: ast.Call, second: ast.Call, model: SemanticModel
) -> bool:
    """Whether an argument (or a part of it) has the same value in both calls, apart from its own parts."""
    match one, other:
        case ast.Name(), ast.Name():
            if model.names.qualified(one) is not None and not is_variable(one, model):
                return True
            if one.id in model.syntax.declared:
                return False  # a function may rebind it in between
            definitions = model.dataflow.definitions(one)
            if definitions != model.dataflow.definitions(other):
                return False
            return len(model.names.bindings(one)) == 1 or model.dataflow.keeps(one, first, second)
        case ast.Attribute(attr=name), ast.Attribute() if model.names.qualified(one) is None:
            if not model.effects.effect_of(one).quiet:
                return False
            stores = [use for use in model.names.attribute_uses(name) if not isinstance(use.ctx, ast.Load)]
            if not stores or model.dataflow.unchanged_between(one, first, second):
                return True
            parts = model.dataflow.between(first, second)
            if parts is None:
                # in two methods: the constructor must have set it before both
                (store, *others) = stores
                setter = model.function(store)
                is_set_up = isinstance(setter, ast.FunctionDef) and setter.name == "__init__"
                return is_set_up and not others and model.source.span(store) < model.source.span(first)
            passed = {node for part in parts for node in descendants(part)}
            return passed.isdisjoint(stores) and all(
                model.function(store) is model.function(first) for store in stores
            )
        case ast.Subscript(), ast.Subscript():
            return model.dataflow.unchanged_between(one, first, second)
        case ast.Call(), ast.Call():
            return _is_new(one, model) or model.dataflow.unchanged_between(one, first, second)
    return True


def _is_loaded_from(target: ast.expr, source: ast.expr, made: MadeNetwork, model: SemanticModel) -> bool:
    """Whether a network surely loads the state of another after its construction, which raises unless all
    shapes are the same.
    """
    block, _ = model.syntax.block(model.syntax.statement(made.call))
    for use in model.names.attribute_uses("load_state_dict"):
        match model.parent(use):
            case (
                ast.Call(
                    args=[
                        ast.Call(func=ast.Attribute(value=loaded, attr="state_dict"), args=[], keywords=[])
                    ],
                    keywords=[],
                ) as call
            ) if ast.dump(use.value) == ast.dump(target) and ast.dump(loaded) == ast.dump(source):
                if any(isinstance(one, ast.Expr) and one.value is call for one in block):
                    return True
    return False


def share_nothing(first: ast.expr, second: ast.expr, model: SemanticModel) -> bool:
    """Whether two networks surely have no tensor in common, nor tensors that share memory."""
    if ast.dump(first) == ast.dump(second) or may_be_changed_later(model, first, second):
        return False
    one, other = built(first, model), built(second, model)
    if model.index.defines_method("__deepcopy__"):
        return False
    if _is_apart(one, model) and _is_apart(other, model):
        return True
    return any(
        made is not None
        and made.copied is not None
        and ast.dump(made.copied) == ast.dump(source)
        and _is_bound_once(source, model)
        for made, source in ((one, second), (other, first))
    )


def loading_doubt(target: ast.expr, source: ast.expr, model: SemanticModel) -> str | None:
    """Return the condition under which `target` may load the tensors of `source` without an intermediate
    copy; None if it always may.
    """
    name, other = model.source.text(target), model.source.text(source)
    if model.types.type_of(target).tag is not TypeTag.MODULE:
        return f"`{name}` must be a `torch.nn.Module`: objects of other classes may keep the loaded tensors"
    if model.types.may_override(target, "load_state_dict") or model.types.may_override(source, "state_dict"):
        return (
            f"The class of `{name}` or `{other}` must not override `load_state_dict` or `state_dict`, "
            "as classes here do"
        )
    if model.program.customizes_state_dicts():
        return f"A module in `{name}` may modify the tensors that it loads, which are those of `{other}`"
    if _has_lazy_layers(model):
        return f"`{name}` and `{other}` must not have lazy layers without parameters"
    if not share_nothing(target, source, model):
        return f"`{name}` and `{other}` must not share weights or their memory"
    return None


def built(network: ast.expr, model: SemanticModel) -> MadeNetwork | None:
    """Return the only call that constructs the value of a variable or of an attribute of `self`."""
    value = _only_value(network, model)
    moves = []
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        method = value.func.attr
        if method not in _MODES | _MOVES or model.names.qualified(value.func) is not None:
            break
        if method in _MOVES:
            moves.append(model.source.text(value)[len(model.source.text(value.func.value)) :])
        value = value.func.value
    if not isinstance(value, ast.Call):
        return None
    copied = None
    if model.names.qualified(value.func) == "copy.deepcopy":
        if len(value.args) != 1 or value.keywords:
            return None
        copied = value.args[0]
    return MadeNetwork(value, copied, tuple(reversed(moves)))


def _only_value(network: ast.expr, model: SemanticModel) -> ast.expr | None:
    """Return the value of the one assignment to a variable, or to an attribute of `self`."""
    store: ast.AST | None = None
    match network:
        case ast.Name():
            bindings = model.names.bindings(network)
            if len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGN:
                store = bindings[0].node
        case ast.Attribute(attr=name) if model.names.is_self(network.value):
            stores = [use for use in model.names.attribute_uses(name) if not isinstance(use.ctx, ast.Load)]
            if len(stores) == 1 and model.names.is_self(stores[0].value):
                store = stores[0] if model.class_of(stores[0]) is model.class_of(network) else None
    return model.names.assigned(store) if store is not None else None


def _is_bound_once(network: ast.expr, model: SemanticModel) -> bool:
    """Whether a variable or attribute of `self` is assigned once, or a parameter never."""
    if isinstance(network, ast.Name):
        return len(model.names.bindings(network)) == 1
    return _only_value(network, model) is not None


def _is_apart(made: MadeNetwork | None, model: SemanticModel) -> bool:
    return made is not None and (made.copied is not None or _is_new(made.call, model))


def _is_new(call: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> bool:
    """Whether a constructor surely creates all tensors of the network itself, and takes over none."""
    if not isinstance(call, ast.Call) or depth <= 0:
        return False
    path = model.names.qualified(call.func)
    if path is None or model.types.type_of(call).tag is not TypeTag.MODULE:
        return False
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if model.types.class_of_value(call) is None:
        if models.canonical(path) in CONTAINERS:
            return all(_is_new(argument, model, depth - 1) for argument in given)
        return is_layer(models.canonical(path)) and not _keeps_a_tensor(call, model)
    structure = model.nn.architecture(call, None)
    takes_over: bool = model.once(takes_existing_parts, model.syntax.module)
    if structure.classes & model.nn.changed_by_other_files(NetworkChange.TAKEN):
        return False
    return structure.complete and not structure.passes_on and not takes_over and not _may_share_memory(model)


def _may_share_memory(model: SemanticModel) -> bool:
    """Whether a class of the project may create a buffer or parameter from memory that other code holds: from
    a tensor not created for it.
    """
    found: bool = model.once(_holds_shared_tensors, model.syntax.module)
    return found or any(
        call.method in _KEEPS_TENSORS
        for module in model.index.modules.values()
        if module is not model.module
        for function in module.functions.values()
        for call in function.calls
    )


def _is_layer(call: ast.Call, model: SemanticModel) -> bool:
    return is_layer(models.canonical(model.names.qualified(call.func) or ""))


def _keeps_a_tensor(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the constructor of a layer or loss may take over a tensor that other code holds:
    `nn.Embedding(4, 2, _weight=table)`.
    """
    given = [argument for argument in call.args if model.types.type_of(argument).tag is TypeTag.TENSOR]
    given += [keyword.value for keyword in call.keywords if keyword.arg in _KEPT_BY_LAYERS]
    return any(
        isinstance(argument, ast.Name) or not (kind.fresh or kind.tag in _PLAIN)
        for argument in given
        for kind in (model.types.type_of(argument),)
    )


def _holds_shared_tensors(_: ast.Module, model: SemanticModel) -> bool:
    for keyword in model.syntax.of_type(ast.keyword):
        call = model.parent(keyword) if keyword.arg in _KEPT_BY_LAYERS else None
        if isinstance(call, ast.Call) and _is_layer(call, model) and _keeps_a_tensor(call, model):
            return True
    for call in model.syntax.written.calls_of(
        (*_KEEPS_TENSORS, "Parameter", "Buffer", "ParameterList", "ParameterDict")
    ):
        given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg in _GIVEN)]
        if not all(_is_made_for_it(argument, model) for argument in given):
            return True
    return False


def _is_made_for_it(tensor: ast.expr, model: SemanticModel) -> bool:
    match tensor:
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Dict(values=parts):
            return all(_is_made_for_it(part, model) for part in parts)
        case ast.ListComp(elt=part) | ast.GeneratorExp(elt=part) | ast.DictComp(value=part):
            return _is_made_for_it(part, model)
        case ast.Call(func=func) if (model.names.qualified(func) or "").rpartition(".")[2] == "Parameter":
            return True  # which is examined itself
        case ast.Constant(value=None):
            return False  # later values at that place are not known
    if isinstance(tensor, ast.Name):
        bindings = model.dataflow.definitions(tensor)
        if len(bindings) != 1 or bindings[0].value is None or bindings[0].path:
            return False
        tensor = bindings[0].value
    kind = model.types.type_of(tensor)
    return kind.tag in _PLAIN or kind.fresh


def _is_moved_later(network: ast.expr, model: SemanticModel) -> bool:
    """Whether a statement of its own moves a network to another device or dtype."""
    wanted = ast.dump(network)
    for method in _MOVES:
        for use in model.names.attribute_uses(method):
            if ast.dump(use.value) == wanted and isinstance(model.parent(model.parent(use) or use), ast.Expr):
                return True
    return False


def _may_change_a_network(store: ast.Attribute, model: SemanticModel) -> bool:
    """Whether an assigned attribute may belong to a network or a parameter, and its value be a tensor or a
    network.
    """
    value = getattr(model.parent(store), "value", None)
    if isinstance(value, ast.expr) and (
        isinstance(value, ast.Constant) or model.types.type_of(value).tag in _PLAIN
    ):
        return False
    if store.attr in _OF_LAYERS or _names_network(store.value, model):
        return True
    tag = model.types.type_of(value).tag if isinstance(value, ast.expr) else TypeTag.UNKNOWN
    return model.types.type_of(store.value).tag is TypeTag.UNKNOWN and (
        tag in (TypeTag.MODULE, TypeTag.TENSOR)
        or (isinstance(value, ast.expr) and _names_network(value, model))
    )


def _names_network(expression: ast.expr, model: SemanticModel) -> bool:
    return any(
        isinstance(part, (ast.Name, ast.Attribute))
        and model.types.type_of(part).tag in (TypeTag.MODULE, TypeTag.PARAMETERS, TypeTag.TENSOR)
        for part in descendants(expression)
    )


def _is_part_of_a_network(expression: ast.expr, model: SemanticModel) -> bool:
    """Whether a container is a network or belongs to one, outside of a network's constructor."""
    if is_in_constructor(expression, model):
        return False
    part = expression
    while isinstance(part, ast.Attribute):
        if model.types.type_of(part).tag is TypeTag.MODULE:
            return True
        part = part.value
    return model.types.type_of(part).tag is TypeTag.MODULE and not model.names.is_self(part)


def _has_own_metaclass(cls: ast.ClassDef) -> bool:
    """Whether a class has a metaclass other than `ABCMeta`, which may replace parts of each new object."""
    return any(
        keyword.arg == "metaclass" and last_name(keyword.value) != "ABCMeta" for keyword in cls.keywords
    )


def may_be_changed_later(model: SemanticModel, *networks: ast.expr, tensors: bool = True) -> bool:
    """Whether the file may put modules or tensors into existing networks, or let them share memory; or
    another file does that to one of `networks`, or replaces the memory of tensors: `weight.data = flat[:4]`.
    Without `tensors`, only modules count in other files.
    """
    found: bool = model.once(_changes_networks, model.syntax.module)
    return found or _concern(NetworkChange.ANY if tensors else NetworkChange.MODULES, networks, model)


def may_hold_integers(model: SemanticModel, *networks: ast.expr) -> bool:
    """Whether another file may create parameters without gradient for one of `networks`, the only ones that
    may hold integers, or cast it.
    """
    return _concern(NetworkChange.INTEGERS, networks, model)


def _concern(change: NetworkChange, networks: tuple[ast.expr, ...], model: SemanticModel) -> bool:
    """Whether other files may change one of some networks, or a part of it, in a way."""
    changed = model.nn.changed_by_other_files(change)
    if not changed or ANY_NETWORK in changed:
        return bool(changed)
    structures = [model.nn.architecture(network, None) for network in networks]
    return any(not structure.complete or structure.classes & changed for structure in structures)


def _changes_networks(_: ast.Module, model: SemanticModel) -> bool:
    written = model.syntax.written
    for store in written.attribute_stores:
        is_own = isinstance(store.value, ast.Name) and model.names.is_self(store.value)
        if store.attr not in _STATES and not is_own and _may_change_a_network(store, model):
            return True
        if is_own and replaces_own_part(store, model):
            return True
    if any(model.types.type_of(item.value).tag is TypeTag.MODULE for item in written.item_stores):
        return True  # `net[0] = other[0]`
    if names_registries(model) or any(map(_has_own_metaclass, model.syntax.of_type(ast.ClassDef))):
        return True
    if any(function.module != model.module.module for _, function in model.index.setters("data")):
        return True
    writes = model.analysis.names.writes
    if any(write.owner is not None and write.name != ANY_NAME for write in writes):
        return True
    for call in written.calls_of(_GROWS):
        if not isinstance(call.func, ast.Attribute) or not _is_part_of_a_network(call.func.value, model):
            continue
        # `agent.update(batch)` may run a method of the network's class, whose body is examined itself
        if call.func.attr in _APPENDS or not model.types.call_targets(call):
            return True
    for call in model.syntax.written.calls_of(_ADDS):
        if not (isinstance(call.func, ast.Attribute) and model.names.is_self(call.func.value)):
            return True
    return any(
        keyword.arg == "assign" and not (isinstance(keyword.value, ast.Constant) and not keyword.value.value)
        for call in model.syntax.written.calls_of(("load_state_dict",))
        for keyword in call.keywords
    )
